/* test_agent_models.c - an agent's chain and its grants, users' grants, and the catalog: every reason
 * for which a model cannot be called, brought about and taken away again. */
#include "fixture.h"

#include <unistd.h>

#include "api/tenants/erase.h"
#include "base/id.h"
#include "broker/gate.h"

struct scene {
	struct fixture *f;
	const char *agent;
	const char *member_id, *member; /* a MEMBER of the tenant, and their login */
	const char *paid;		/* a hosted model that costs something, open to all */
};

static const char *make_model(struct fixture *f, const char *slug, const char *kind)
{
	const char *config = strcmp(kind, "openai") == 0
				     ? ",\"config\":{\"base_url\":\"https://m.example.org\","
				       "\"model\":\"m\",\"api_key\":\"k\"}"
				     : "";
	return fixture_created(f, f->admin,
		arena_printf(&f->arena,
			"{\"name\":\"%s\",\"slug\":\"%s\",\"kind\":\"%s\",\"pricing\":{\"prompt\":"
			"\"0.0000015\"},\"available_to_all_tenants\":true%s}",
			slug, slug, kind, config),
		"POST /admin/models");
}

static struct scene open_scene(void)
{
	struct scene s = { .f = fixture_open() };

	s.agent = fixture_agent(s.f, "a");
	s.member_id = fixture_user(s.f, "m@example.org", &s.member);
	fixture_member(s.f, s.f->tenant_id, s.member_id, "MEMBER");
	s.paid = make_model(s.f, "paid", "openai");
	return s;
}

static const char *put_chain(struct fixture *f, const char *const *ids, size_t count)
{
	const char *body = "{\"model_ids\":[";

	for (size_t i = 0; i < count; i++)
		body = arena_printf(&f->arena, "%s%s\"%s\"", body, i ? "," : "", ids[i]);
	return arena_printf(&f->arena, "%s]}", body);
}

#define CHAIN(f, ...)                                      \
	put_chain(f, (const char *const[]){ __VA_ARGS__ }, \
		sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))

/* "a b c": the slugs of the chain, in order. */
static const char *chain_of(struct fixture *f, const char *agent)
{
	struct answer r = ask(f, f->admin, NULL, "GET /agents/%s/models", agent), all;
	const char *out = "", *slug;
	size_t i, k;
	json_t *item, *model;

	STATUS(r, 200);
	all = ask(f, f->admin, NULL, "GET /admin/models?per_page=200");
	json_array_foreach(at(&r, "items"), i, item)
	{
		slug = "?";
		json_array_foreach(at(&all, "items"), k, model)
		{
			if (json_equal(json_object_get(model, "id"),
				    json_object_get(item, "model_id")))
				slug = json_string_value(json_object_get(model, "slug"));
		}
		out = arena_printf(&f->arena, "%s%s%s", out, *out ? " " : "", slug);
	}
	return out;
}

TEST(agent_models_chain_is_replaced_in_order)
{
	struct scene s = open_scene();
	struct fixture *f = s.f;
	const char *a = make_model(f, "a", "demo"), *b = make_model(f, "b", "demo");
	const char *c = make_model(f, "c", "demo"), *hidden = make_model(f, "hidden", "demo");
	const struct id nowhere = id_new(NULL);
	struct answer r;

	CHECK_STR(chain_of(f, s.agent), "demo");
	r = ask(f, f->admin, CHAIN(f, b, a, s.paid), "PUT /agents/%s/models", s.agent);
	STATUS(r, 200);
	CHECK_INT(json_integer_value(at(&r, "total")), 3);
	CHECK_STR(text_at(&r, "items.0.model_id"), b);
	CHECK_INT(json_integer_value(at(&r, "items.2.priority")), 2);
	CHECK_STR(text_at(&r, "items.0.access"), "full");
	CHECK_STR(chain_of(f, s.agent), "b a paid");

	test_step("what stays keeps its access and its time");
	fixture_sql(f,
		"update agent_models set access = 'read_only', created_at = 1000 where model_id = $1",
		ARGS(T(a)));
	r = ask(f, f->admin, CHAIN(f, c, a), "PUT /agents/%s/models", s.agent);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "items.1.access"), "read_only");
	CHECK_STR(text_at(&r, "items.1.created_at"), "1970-01-01T00:00:00.001Z");
	CHECK_STR(chain_of(f, s.agent), "c a");

	test_step("pages of a short list");
	r = ask(f, f->admin, NULL, "GET /agents/%s/models?per_page=1", s.agent);
	CHECK_INT(json_array_size(at(&r, "items")), 1);
	CHECK_STR(text_at(&r, "next_after"), c);
	r = ask(f, f->admin, NULL, "GET /agents/%s/models?per_page=1&page=2", s.agent);
	CHECK_STR(text_at(&r, "items.0.model_id"), a);
	CHECK(json_is_null(at(&r, "next_after")));
	r = ask(f, f->admin, NULL, "GET /agents/%s/models?after=%s&total=false", s.agent, c);
	CHECK_STR(text_at(&r, "items.0.model_id"), a);
	CHECK(!at(&r, "total"));
	STATUS(ask(f, f->admin, NULL, "GET /agents/%s/models?sort=priority", s.agent), 422);
	r = ask(f, f->admin, NULL, "GET /agents/%s/models?page=9", s.agent);
	CHECK_INT(json_array_size(at(&r, "items")), 0);

	test_step("every item that cannot be chosen is named");
	fixture_sql(
		f, "update models set available_to_all_tenants = 0 where id = $1", ARGS(T(hidden)));
	fixture_sql(f, "update models set status = 'deprecated' where id = $1", ARGS(T(b)));
	r = ask(f, f->admin, CHAIN(f, a, nowhere.text, hidden, b), "PUT /agents/%s/models",
		s.agent);
	CHECK(refuses(&r, "model_ids[1]", "unknown"));
	CHECK(refuses(&r, "model_ids[2]", "unknown"));
	CHECK(refuses(&r, "model_ids[3]", "status"));
	r = ask(f, f->admin, CHAIN(f, a, a), "PUT /agents/%s/models", s.agent);
	CHECK(refuses(&r, "model_ids[1]", "repeated"));
	r = ask(f, f->admin, "{\"model_ids\":[]}", "PUT /agents/%s/models", s.agent);
	CHECK(refuses(&r, "model_ids", "too_few"));
	r = ask(f, f->admin, CHAIN(f, a, a, a, a, a, a), "PUT /agents/%s/models", s.agent);
	CHECK(refuses(&r, "model_ids", "too_many"));
	CHECK_STR(chain_of(f, s.agent), "c a");
	STATUS(ask(f, s.member, CHAIN(f, a), "PUT /agents/%s/models", s.agent), 403);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/audit-logs?action=agent.set_models",
		f->tenant_id);
	CHECK_INT(json_integer_value(at(&r, "total")), 2);
	CHECK_STR(text_at(&r, "items.0.meta.model_ids.from.0"), b);
	CHECK_STR(text_at(&r, "items.0.meta.model_ids.to.0"), c);
	fixture_close(f);
}

static struct answer grant(
	struct scene *s, const char *token, const char *model, const char *agent, const char *rest)
{
	return ask(s->f, token, arena_printf(&s->f->arena, "{\"agent_id\":\"%s\"%s}", agent, rest),
		"POST /tenant/%s/models/%s/agents", s->f->tenant_id, model);
}

TEST(agent_models_grants_stand_tie_and_end_at_five)
{
	struct scene s = open_scene();
	struct fixture *f = s.f;
	const char *m[6], *agent = s.agent;
	struct answer r;

	for (int i = 0; i < 6; i++)
		m[i] = make_model(f, arena_printf(&f->arena, "m%d", i), "demo");
	r = ask(f, f->admin, NULL, "GET /agents/%s/models", agent);
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s/models/catalog/%s", agent,
		       text_at(&r, "items.0.model_id")),
		204);
	CHECK_STR(chain_of(f, agent), "");
	r = grant(&s, f->admin, m[0], agent, ",\"priority\":2");
	STATUS(r, 201);
	CHECK_STR(text_at(&r, "access"), "full");
	CHECK_INT(json_integer_value(at(&r, "priority")), 2);
	r = grant(&s, f->admin, m[0], agent, ",\"priority\":2");
	STATUS(r, 200);
	STATUS(grant(&s, f->admin, m[1], agent, ",\"priority\":2"), 201);
	STATUS(grant(&s, f->admin, m[2], agent, ",\"access\":\"read_only\""), 201);
	CHECK_STR(chain_of(f, agent), "m2 m0 m1");

	test_step("a standing grant takes on what is sent");
	r = grant(&s, f->admin, m[0], agent, ",\"access\":\"read_only\",\"priority\":4");
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "access"), "read_only");
	CHECK_STR(chain_of(f, agent), "m2 m1 m0");

	test_step("at the end, after a tie");
	r = ask(f, f->admin, NULL, "PUT /agents/%s/models/catalog/%s", agent, m[3]);
	STATUS(r, 201);
	CHECK(json_is_true(at(&r, "enabled")));
	CHECK_STR(text_at(&r, "agent_id"), agent);
	STATUS(ask(f, f->admin, NULL, "PUT /agents/%s/models/catalog/%s", agent, m[3]), 200);
	STATUS(ask(f, f->admin, NULL, "PUT /agents/%s/models/catalog/%s", agent, m[4]), 201);
	CHECK_STR(chain_of(f, agent), "m2 m1 m0 m3 m4");

	test_step("the sixth");
	r = grant(&s, f->admin, m[5], agent, "");
	STATUS(r, 409);
	CHECK(strstr(text_at(&r, "detail"), "5 models"));
	STATUS(ask(f, f->admin, NULL, "PUT /agents/%s/models/catalog/%s", agent, m[5]), 409);
	STATUS(grant(&s, f->admin, m[4], agent, ""), 200);
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s/models/catalog/%s", agent, m[4]), 204);
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s/models/catalog/%s", agent, m[4]), 404);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/models/%s/agents/%s", f->tenant_id, m[3],
		       agent),
		204);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/models/%s/agents/%s", f->tenant_id, m[3],
		       agent),
		404);
	CHECK_STR(chain_of(f, agent), "m2 m1 m0");

	test_step("bounds, and models that cannot be chosen");
	r = grant(&s, f->admin, m[5], agent, ",\"priority\":5");
	CHECK(refuses(&r, "priority", "too_large"));
	r = grant(&s, f->admin, m[5], agent, ",\"access\":\"none\"");
	CHECK(refuses(&r, "access", "choice"));
	fixture_sql(f, "update models set status = 'disabled' where id = $1", ARGS(T(m[5])));
	STATUS(grant(&s, f->admin, m[5], agent, ""), 409);
	fixture_sql(
		f, "update models set available_to_all_tenants = 0 where id = $1", ARGS(T(m[5])));
	STATUS(grant(&s, f->admin, m[5], agent, ""), 404);

	test_step("the agent goes, and its grants with it");
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s", agent), 204);
	CHECK_INT(fixture_count(f, "select count(*) from agent_models"), 0);
	fixture_close(f);
}

TEST(agent_models_grant_is_decided_on_the_agent_of_the_body)
{
	struct scene s = open_scene();
	struct fixture *f = s.f;
	const char *other_token, *other = fixture_user(f, "o@example.org", &other_token);
	const char *tenant = fixture_tenant(f, "other", other);
	const char *theirs = fixture_agent_of(f, other_token, tenant, "a");
	const struct id nowhere = id_new(NULL);
	struct answer r, none;

	r = grant(&s, s.member, s.paid, s.agent, "");
	STATUS(r, 403);
	CHECK(strstr(text_at(&r, "detail"), "agent:models:write"));
	STATUS(ask(f, f->admin, "{\"role\":\"MANAGER\"}", "PUT /agents/%s/roles/%s", s.agent,
		       s.member_id),
		201);
	STATUS(grant(&s, s.member, s.paid, s.agent, ""), 201);
	none = grant(&s, f->admin, s.paid, nowhere.text, "");
	r = grant(&s, f->admin, s.paid, theirs, "");
	STATUS(r, 404);
	STATUS(none, 404);
	CHECK_STR(text_at(&r, "detail"), text_at(&none, "detail"));
	STATUS(grant(&s, other_token, s.paid, s.agent, ""), 404);

	test_step("a bad body is told to those who see the tenant, and to nobody else");
	r = grant(&s, s.member, s.paid, "x", "");
	CHECK(refuses(&r, "agent_id", "pattern"));
	STATUS(grant(&s, other_token, s.paid, "x", ""), 404);
	STATUS(grant(&s, NULL, s.paid, "x", ""), 401);
	STATUS(ask(f, f->admin, "{}", "POST /agents/grants"), 422);
	STATUS(ask(f, NULL, "{}", "POST /agents/grants"), 401);

	test_step("an agent beyond the plan is not changed");
	fixture_sql(
		f, "update tenants set read_only_after = '' where id = $1", ARGS(T(f->tenant_id)));
	STATUS(grant(&s, f->admin, s.paid, s.agent, ""), 409);
	fixture_close(f);
}

TEST(user_models_are_granted_to_members_once)
{
	struct scene s = open_scene();
	struct fixture *f = s.f;
	const char *stranger = fixture_user(f, "s@example.org", NULL);
	struct answer r;

#define GRANT "/tenant/%s/models/%s/users/%s"
	STATUS(ask(f, f->admin, NULL, "GET " GRANT, f->tenant_id, s.paid, s.member_id), 404);
	r = ask(f, f->admin, NULL, "PUT " GRANT, f->tenant_id, s.paid, s.member_id);
	STATUS(r, 201);
	CHECK_STR(text_at(&r, "granted_by_id"), f->admin_id);
	STATUS(ask(f, f->admin, NULL, "PUT " GRANT, f->tenant_id, s.paid, s.member_id), 200);
	r = ask(f, f->admin, NULL, "GET " GRANT, f->tenant_id, s.paid, s.member_id);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "user_id"), s.member_id);
	STATUS(ask(f, s.member, NULL, "GET " GRANT, f->tenant_id, s.paid, s.member_id), 403);
	STATUS(ask(f, f->admin, NULL, "PUT " GRANT, f->tenant_id, s.paid, stranger), 404);
	STATUS(ask(f, f->admin, NULL, "PUT " GRANT, f->tenant_id, stranger, s.member_id), 404);
	STATUS(ask(f, f->admin, NULL, "DELETE " GRANT, f->tenant_id, s.paid, s.member_id), 204);
	STATUS(ask(f, f->admin, NULL, "DELETE " GRANT, f->tenant_id, s.paid, s.member_id), 404);

	test_step("who leaves the tenant leaves their grants");
	STATUS(ask(f, f->admin, NULL, "PUT " GRANT, f->tenant_id, s.paid, s.member_id), 201);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/members/%s", f->tenant_id, s.member_id),
		204);
	CHECK_INT(fixture_count(f, "select count(*) from user_models"), 0);
	fixture_close(f);
}

/* ---- the catalog ---- */

/* One model's entry, as this caller sees it. */
static json_t *entry(struct scene *s, const char *token, const char *model)
{
	struct answer r =
		ask(s->f, token, NULL, "GET /agents/%s/models/catalog?per_page=200", s->agent);
	json_t *item;
	size_t i;

	STATUS(r, 200);
	json_array_foreach(at(&r, "items"), i, item)
	{
		if (strcmp(json_string_value(json_object_get(item, "model_id")), model) == 0)
			return item;
	}
	return NULL;
}

static const char *reason(struct scene *s, const char *token, const char *model)
{
	json_t *e = entry(s, token, model);
	const char *why = json_string_value(json_object_get(e, "uncallable_reason"));

	if (!e)
		return "not listed";
	CHECK(json_is_true(json_object_get(e, "callable")) == !why);
	return why ? why : "callable";
}

static bool flag(json_t *e, const char *name)
{
	return json_is_true(json_object_get(e, name));
}

static bool is_null(json_t *e, const char *name)
{
	return json_is_null(json_object_get(e, name));
}

static void run(struct scene *s, const char *sql, const char *id)
{
	fixture_sql(s->f, sql, ARGS(T(id)));
}

#define SAYS(token, words) CHECK(strstr(reason(&s, token, s.paid), words))

TEST(catalog_shows_every_reason_why_not)
{
	struct scene s = open_scene();
	struct fixture *f = s.f;

	SAYS(s.member, "no grant on the model");
	STATUS(grant(&s, f->admin, s.paid, s.agent, ""), 201);
	SAYS(s.member, "The user needs a grant");
	SAYS(f->admin, "callable");
	STATUS(ask(f, f->admin, NULL, "PUT " GRANT, f->tenant_id, s.paid, s.member_id), 201);
	SAYS(s.member, "callable");
	STATUS(grant(&s, f->admin, s.paid, s.agent, ",\"access\":\"read_only\""), 200);
	SAYS(s.member, "read_only");
	STATUS(grant(&s, f->admin, s.paid, s.agent, ""), 200);

	run(&s, "update models set base_url = null where id = $1", s.paid);
	SAYS(s.member, "no address");
	run(&s, "update models set base_url = 'https://m.example.org' where id = $1", s.paid);
	SAYS(s.member, "callable");

	run(&s, "update agent_rows set is_active = 0 where id = $1", s.agent);
	SAYS(s.member, "switched off");
	run(&s, "update tenants set read_only_after = '' where id = $1", f->tenant_id);
	SAYS(s.member, "beyond the tenant's plan");
	run(&s, "update tenants set status = 'suspended' where id = $1", f->tenant_id);
	SAYS(f->admin, "abandoned, suspended or closed");
	run(&s, "update tenants set status = 'trial', read_only_after = null where id = $1",
		f->tenant_id);
	run(&s, "update agent_rows set is_active = 1 where id = $1", s.agent);
	SAYS(s.member, "callable");

	run(&s, "update models set available_to_all_tenants = 0 where id = $1", s.paid);
	SAYS(s.member, "not listed");
	STATUS(ask(f, f->admin, NULL, "PUT /admin/models/%s/tenants/%s", s.paid, f->tenant_id),
		201);
	SAYS(s.member, "callable");
	run(&s, "update models set status = 'experimental' where id = $1", s.paid);
	SAYS(s.member, "callable");
	run(&s, "update models set status = 'deprecated' where id = $1", s.paid);
	SAYS(s.member, "not listed");
	run(&s, "update models set status = 'disabled' where id = $1", s.paid);
	SAYS(s.member, "not listed");
	fixture_close(f);
}

TEST(catalog_shows_every_field)
{
	struct scene s = open_scene();
	struct fixture *f = s.f;
	json_t *e = entry(&s, s.member, s.paid);

	CHECK_STR(json_string_value(json_object_get(e, "slug")), "paid");
	CHECK_STR(json_string_value(json_object_get(e, "kind")), "openai");
	CHECK_STR(json_string_value(json_object_get(e, "status")), "active");
	CHECK_STR(json_string_value(json_object_get(e, "prompt_price_usd_per_token")), "0.0000015");
	CHECK(is_null(e, "completion_price_usd_per_token") && is_null(e, "access") &&
		is_null(e, "priority") && is_null(e, "context_window"));
	CHECK(!flag(e, "enabled") && !flag(e, "callable_via_router") && !flag(e, "is_free"));
	CHECK(json_is_false(json_object_get(e, "user_granted")));
	CHECK(json_is_false(json_object_get(e, "supports_tools")));
	STATUS(grant(&s, f->admin, s.paid, s.agent, ",\"priority\":3"), 201);
	e = entry(&s, s.member, s.paid);
	CHECK(flag(e, "enabled"));
	CHECK_STR(json_string_value(json_object_get(e, "access")), "full");
	CHECK_INT(json_integer_value(json_object_get(e, "priority")), 3);
	CHECK(flag(entry(&s, f->admin, s.paid), "user_granted"));

	test_step("where the layer of users does not apply");
	CHECK(is_null(entry(&s, s.member, make_model(f, "r", "router")), "user_granted"));
	CHECK(is_null(entry(&s, s.member, make_model(f, "d", "demo")), "user_granted"));
	run(&s, "update models set is_free = 1 where id = $1", s.paid);
	CHECK(is_null(entry(&s, s.member, s.paid), "user_granted"));
	CHECK_STR(reason(&s, s.member, s.paid), "callable");
	run(&s, "update models set is_free = 0 where id = $1", s.paid);
	SAYS(s.member, "The user needs a grant");
	STATUS(ask(f, f->admin, "{\"require_user_model_grants\":false}", "PATCH /tenant/%s",
		       f->tenant_id),
		200);
	CHECK(is_null(entry(&s, s.member, s.paid), "user_granted"));
	CHECK_STR(reason(&s, s.member, s.paid), "callable");
	fixture_close(f);
}

TEST(catalog_reaches_through_a_router)
{
	struct scene s = open_scene();
	struct fixture *f = s.f;
	const char *router = make_model(f, "auto", "router"), *free = make_model(f, "free", "demo");
	json_t *e;

	CHECK(strstr(reason(&s, f->admin, free), "no grant"));
	STATUS(grant(&s, f->admin, router, s.agent, ""), 201);
	e = entry(&s, f->admin, free);
	CHECK(flag(e, "callable_via_router") && flag(e, "callable") && !flag(e, "enabled"));
	e = entry(&s, f->admin, router);
	CHECK(!flag(e, "callable_via_router") && flag(e, "callable") && flag(e, "enabled"));

	test_step("users' grants still apply");
	e = entry(&s, s.member, s.paid);
	CHECK(flag(e, "callable_via_router") && !flag(e, "callable"));
	SAYS(s.member, "The user needs a grant");
	STATUS(ask(f, f->admin, NULL, "PUT " GRANT, f->tenant_id, s.paid, s.member_id), 201);
	SAYS(s.member, "callable");

	test_step("a model that is only to be shown is not called through a router either");
	STATUS(grant(&s, f->admin, free, s.agent, ",\"access\":\"read_only\""), 201);
	e = entry(&s, f->admin, free);
	CHECK(!flag(e, "callable_via_router") && !flag(e, "callable"));

	test_step("a router that cannot be called opens nothing");
	STATUS(grant(&s, f->admin, router, s.agent, ",\"access\":\"read_only\""), 200);
	SAYS(s.member, "no grant");
	STATUS(grant(&s, f->admin, router, s.agent, ""), 200);
	SAYS(s.member, "callable");
	run(&s, "update models set status = 'disabled' where id = $1", router);
	SAYS(s.member, "no grant");
	run(&s, "update models set status = 'active', available_to_all_tenants = 0 where id = $1",
		router);
	SAYS(s.member, "no grant");
	fixture_close(f);
}

/* ---- the gate itself ---- */

static const char *gate(struct scene *s, const char *user_id, const char *model)
{
	const struct gate_who who = { s->f->tenant_id, s->agent, user_id };
	const struct gate_rule *refusal;
	struct gate_facts facts;
	struct problem p = { 0 };
	struct db *db;
	int err;

	CHECK_INT(store_connect(s->f->app.store, &db, &s->f->arena, &p), 0);
	err = gate_load(db, &s->f->arena, &who, model, &facts);
	db_close(db);
	if (err)
		return err == ERR_NOT_FOUND ? "not found" : "error";
	refusal = gate_refusal(&facts);
	return refusal ? refusal->code : "";
}

TEST(gate_decides_alike_for_one_model)
{
	struct scene s = open_scene();
	struct fixture *f = s.f;
	const char *stranger = fixture_user(f, "s@example.org", NULL), *agent = s.agent;

	STATUS(grant(&s, f->admin, s.paid, s.agent, ""), 201);
	CHECK_STR(gate(&s, NULL, s.paid), "");
	CHECK_STR(gate(&s, f->admin_id, s.paid), "");
	CHECK_STR(gate(&s, s.member_id, s.paid), "user_grant_missing");
	CHECK_STR(gate(&s, stranger, s.paid), "user_not_member");
	CHECK_STR(gate(&s, s.member_id, stranger), "not found");
	s.agent = stranger;
	CHECK_STR(gate(&s, s.member_id, s.paid), "not found");
	s.agent = agent;
	run(&s, "update users set is_suspended = 1 where id = $1", s.member_id);
	CHECK_STR(gate(&s, s.member_id, s.paid), "user_suspended");
	CHECK_STR(gate(&s, NULL, s.paid), "");

	test_step("a super administrator drives where the tenant lets them in");
	run(&s, "update users set is_super_admin = 1 where id = $1", stranger);
	CHECK_STR(gate(&s, stranger, s.paid), "");
	run(&s, "update tenants set allow_superadmin_access = 0 where id = $1", f->tenant_id);
	CHECK_STR(gate(&s, stranger, s.paid), "user_not_member");

	test_step("what a catalog does not list");
	run(&s, "update models set status = 'deprecated' where id = $1", s.paid);
	CHECK_STR(gate(&s, NULL, s.paid), "");
	run(&s, "update models set available_to_all_tenants = 0 where id = $1", s.paid);
	CHECK_STR(gate(&s, NULL, s.paid), "model_not_reached");
	run(&s, "update models set status = 'disabled' where id = $1", s.paid);
	CHECK_STR(gate(&s, NULL, s.paid), "model_disabled");
	run(&s, "update tenants set status = 'closed' where id = $1", f->tenant_id);
	CHECK_STR(gate(&s, NULL, s.paid), "tenant_not_running");
	fixture_close(f);
}

TEST(models_of_an_erased_tenant_are_forgotten)
{
	struct scene s = open_scene();
	struct fixture *f = s.f;

	STATUS(grant(&s, f->admin, s.paid, s.agent, ""), 201);
	STATUS(ask(f, f->admin, NULL, "PUT " GRANT, f->tenant_id, s.paid, s.member_id), 201);
	STATUS(ask(f, f->admin, NULL, "PUT /admin/models/%s/tenants/%s", s.paid, f->tenant_id),
		201);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s", f->tenant_id), 204);
	erase_submit(&f->app);
	for (int i = 0; i < 30000 && fixture_count(f, "select count(*) from tenants"); i++)
		usleep(10000);
	CHECK_INT(fixture_count(f, "select count(*) from tenants"), 0);
	CHECK_INT(fixture_count(f, "select count(*) from agent_models"), 0);
	CHECK_INT(fixture_count(f, "select count(*) from user_models"), 0);
	CHECK_INT(fixture_count(f, "select count(*) from model_tenants"), 0);
	CHECK_INT(fixture_count(f, "select count(*) from models"), 2);
	fixture_close(f);
}
