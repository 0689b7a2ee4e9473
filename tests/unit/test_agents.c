/* test_agents.c - agents: made, read, listed, changed, removed, and seen by the right people. */
#include "fixture.h"

#include <stdlib.h>

#include "base/clock.h"

static const char *agent_with(struct fixture *f, const char *tenant, const char *token,
	const char *slug, const char *more)
{
	return fixture_created(f, token,
		arena_printf(
			&f->arena, "{\"name\":\"Agent %s\",\"slug\":\"%s\"%s}", slug, slug, more),
		"POST /tenant/%s/agents", tenant);
}

TEST(agents_live_from_create_to_delete)
{
	struct fixture *f = fixture_open();
	struct answer r = ask(f, f->admin,
		"{\"name\":\"Support desk\",\"slug\":\"desk\",\"kind\":\"coding\",\"iteration_warn_threshold\":5,"
		"\"description\":\"é\",\"voice\":\"alto\"}",
		"POST /tenant/%s/agents", f->tenant_id);
	const char *id = text_at(&r, "id"), *location = header_of(f, &r, "Location");

	STATUS(r, 201);
	CHECK_STR(text_at(&r, "code_ref"), "main");
	CHECK_STR(text_at(&r, "resource_class"), "small");
	CHECK_STR(text_at(&r, "skill_visibility_scope"), "private_only");
	CHECK_STR(text_at(&r, "created_by_id"), f->admin_id);
	CHECK(json_is_true(at(&r, "is_active")));
	STATUS(ask(f, f->admin, NULL, "GET %s", location), 200);
	r = ask(f, f->admin, NULL, "GET /agents/%s", id);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "description"), "é");

	r = ask(f, f->admin,
		"{\"description\":null,\"hidden\":null,\"iteration_warn_threshold\":null,"
		"\"name\":\"New name\",\"is_active\":false}",
		"PATCH /agents/%s", id);
	STATUS(r, 200);
	CHECK(json_is_null(at(&r, "description")));
	CHECK(json_is_false(at(&r, "hidden")));
	CHECK(json_is_null(at(&r, "iteration_warn_threshold")));
	CHECK_STR(text_at(&r, "name"), "New name");
	CHECK_STR(text_at(&r, "voice"), "alto");
	CHECK(strcmp(text_at(&r, "updated_at"), text_at(&r, "created_at")) >= 0);

	STATUS(ask(f, f->admin, NULL, "DELETE /v1/tenants/%s/agents/%s", f->tenant_id, id), 204);
	STATUS(ask(f, f->admin, NULL, "GET /agents/%s", id), 404);
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s", id), 404);
	CHECK_INT(fixture_count(f, "select count(*) from directory"), 0);
	CHECK_INT(fixture_count(f, "select count(*) from agent_roles"), 0);
	CHECK_INT(
		fixture_count(f, "select count(*) from audit_logs where action like 'agent.%'"), 3);
	CHECK_INT(
		fixture_count(f,
			"select count(*) from audit_logs where meta like '%\"from\":\"Support desk\"%'"),
		1);
	fixture_close(f);
}

TEST(agents_have_one_slug_in_a_tenant)
{
	struct fixture *f = fixture_open();
	const char *other = fixture_tenant(f, "other", f->admin_id);
	struct answer r;

	agent_with(f, f->tenant_id, f->admin, "same", "");
	agent_with(f, other, f->admin, "same", "");
	r = ask(f, f->admin, "{\"name\":\"X\",\"slug\":\"same\"}", "POST /tenant/%s/agents",
		f->tenant_id);
	STATUS(r, 409);
	CHECK(strstr(text_at(&r, "detail"), "same"));
	fixture_close(f);
}

TEST(agents_list_pages_by_number_and_by_key_with_the_same_rows)
{
	enum { AGENTS = 23 };
	struct fixture *f = fixture_open();
	const char *ids[AGENTS], *after = NULL;
	struct answer r;
	int seen = 0;

	for (int i = 0; i < AGENTS; i++)
		ids[i] = agent_with(
			f, f->tenant_id, f->admin, arena_printf(&f->arena, "s%d", i), "");
	for (int page = 1; page <= 5; page++) {
		r = ask(f, f->admin, NULL, "GET /tenant/%s/agents?page=%d&per_page=5", f->tenant_id,
			page);
		CHECK_INT(json_integer_value(at(&r, "total")), AGENTS);
		for (size_t i = 0; i < json_array_size(at(&r, "items")); i++)
			CHECK_STR(text_at(&r, arena_printf(&f->arena, "items.%zu.id", i)),
				ids[AGENTS - 1 - seen++]);
	}
	CHECK_INT(seen, AGENTS);
	seen = 0;
	do {
		r = ask(f, f->admin, NULL, "GET /tenant/%s/agents?per_page=4&total=false%s%s",
			f->tenant_id, after ? "&after=" : "", after ? after : "");
		CHECK(at(&r, "total") == NULL);
		for (size_t i = 0; i < json_array_size(at(&r, "items")); i++)
			CHECK_STR(text_at(&r, arena_printf(&f->arena, "items.%zu.id", i)),
				ids[AGENTS - 1 - seen++]);
		after = text_at(&r, "next_after");
	} while (after && seen <= AGENTS);
	CHECK_INT(seen, AGENTS);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/agents?sort=name&after=%s", f->tenant_id,
		ids[3]);
	CHECK(refuses(&r, "after", "combination"));
	r = ask(f, f->admin, NULL, "GET /tenant/%s/agents?sort=prompt", f->tenant_id);
	CHECK(refuses(&r, "sort", "choice"));
	r = ask(f, f->admin, NULL, "GET /tenant/%s/agents?sort=-name&per_page=1", f->tenant_id);
	CHECK_STR(text_at(&r, "items.0.name"), "Agent s9");
	r = ask(f, f->admin, NULL, "GET /tenant/%s/agents?sort=created_at&per_page=1",
		f->tenant_id);
	CHECK_STR(text_at(&r, "items.0.id"), ids[0]);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/agents?sort=-updated_at&per_page=1",
		f->tenant_id);
	CHECK_STR(text_at(&r, "items.0.id"), ids[AGENTS - 1]);
	fixture_close(f);
}

static int64_t listed(struct fixture *f, const char *token, const char *query)
{
	struct answer r = ask(f, token, NULL, "GET /tenant/%s/agents%s", f->tenant_id, query);

	STATUS(r, 200);
	CHECK_INT(json_array_size(at(&r, "items")), json_integer_value(at(&r, "total")));
	return json_integer_value(at(&r, "total"));
}

TEST(agents_list_filters)
{
	struct fixture *f = fixture_open();
	const char *id = agent_with(f, f->tenant_id, f->admin, "plain", "");

	agent_with(f, f->tenant_id, f->admin, "coder", ",\"kind\":\"coding\"");
	agent_with(f, f->tenant_id, f->admin, "secret", ",\"hidden\":true");
	agent_with(f, f->tenant_id, f->admin, "a-b", "");
	fixture_sql(f,
		"insert into favorites (tenant_id, user_id, agent_id, created_at) values ($1, $2, $3, 1)",
		ARGS(T(f->tenant_id), T(f->admin_id), T(id)));
	CHECK_INT(listed(f, f->admin, ""), 3);
	CHECK_INT(listed(f, f->admin, "?include_hidden=true"), 4);
	CHECK_INT(listed(f, f->admin, "?kind=coding"), 1);
	CHECK_INT(listed(f, f->admin, "?q=AGENT%20P"), 1);
	CHECK_INT(listed(f, f->admin, "?q=%25"), 0);
	CHECK_INT(listed(f, f->admin, "?q=a-b"), 1);
	CHECK_INT(listed(f, f->admin, "?favorite=true"), 1);
	CHECK_INT(listed(f, f->admin, "?favorite=false"), 2);
	fixture_close(f);
}

/* Every way in which a member can reach an agent, and what it lets them do. */
TEST(agents_are_reached_by_role_group_and_default)
{
	struct fixture *f = fixture_open();
	const char *token, *user = fixture_user(f, "m@example.org", &token), *guest_token;
	const char *guest = fixture_user(f, "g@example.org", &guest_token), *id;
	struct answer r;

	fixture_member(f, f->tenant_id, user, "MEMBER");
	fixture_member(f, f->tenant_id, guest, "GUEST");
	id = agent_with(f, f->tenant_id, f->admin, "one", "");

	test_step("the default role");
	STATUS(ask(f, token, NULL, "GET /agents/%s", id), 200);
	STATUS(ask(f, guest_token, NULL, "GET /agents/%s", id), 200);
	r = ask(f, token, "{\"voice\":\"x\"}", "PATCH /agents/%s", id);
	STATUS(r, 403);
	CHECK(strstr(text_at(&r, "detail"), "agent:write"));
	STATUS(ask(f, guest_token, "{\"name\":\"A\",\"slug\":\"g\"}", "POST /tenant/%s/agents",
		       f->tenant_id),
		403);

	test_step("without it");
	fixture_sql(f, "update agent_rows set default_role_enabled = 0", NO_ARGS);
	STATUS(ask(f, token, NULL, "GET /agents/%s", id), 404);
	CHECK_INT(listed(f, token, ""), 0);

	test_step("a role of one's own");
	fixture_sql(f,
		"insert into agent_roles (tenant_id, agent_id, user_id, role, created_at, updated_at) "
		"values ($1, $2, $3, 'VIEWER', 1, 1)",
		ARGS(T(f->tenant_id), T(id), T(user)));
	STATUS(ask(f, token, NULL, "GET /agents/%s", id), 200);
	STATUS(ask(f, token, "{\"voice\":\"x\"}", "PATCH /agents/%s", id), 403);
	CHECK_INT(listed(f, token, ""), 1);
	CHECK_INT(listed(f, guest_token, ""), 0);

	test_step("a group's role adds up");
	fixture_sql(f,
		"insert into groups (tenant_id, id, name, created_at, updated_at) values ($1, 'g', 'g', 1, 1)",
		ARGS(T(f->tenant_id)));
	fixture_sql(f,
		"insert into group_members (tenant_id, group_id, user_id, created_at) values ($1, 'g', $2, 1)",
		ARGS(T(f->tenant_id), T(user)));
	fixture_sql(f,
		"insert into agent_group_roles (tenant_id, agent_id, group_id, role, created_at, updated_at) "
		"values ($1, $2, 'g', 'MANAGER', 1, 1)",
		ARGS(T(f->tenant_id), T(id)));
	STATUS(ask(f, token, "{\"voice\":\"x\",\"hidden\":true}", "PATCH /agents/%s", id), 200);
	CHECK_INT(listed(f, token, ""), 0);
	CHECK_INT(listed(f, token, "?include_hidden=true"), 1);
	STATUS(ask(f, token, NULL, "DELETE /agents/%s", id), 403);

	test_step("admins only");
	fixture_sql(f, "update agent_rows set is_admin_only = 1", NO_ARGS);
	STATUS(ask(f, token, NULL, "GET /agents/%s", id), 404);
	STATUS(ask(f, f->admin, NULL, "GET /agents/%s", id), 200);
	fixture_close(f);
}

TEST(agents_of_another_tenant_are_not_there)
{
	struct fixture *f = fixture_open();
	const char *token, *user = fixture_user(f, "o@example.org", &token);
	const char *other = fixture_tenant(f, "other", user);
	const char *id = agent_with(f, f->tenant_id, f->admin, "one", "");
	const char *own = agent_with(f, other, token, "one", "");

	STATUS(ask(f, token, NULL, "GET /agents/%s", id), 404);
	STATUS(ask(f, token, NULL, "GET /tenant/%s/agents/%s", other, id), 404);
	STATUS(ask(f, token, NULL, "GET /tenant/%s/agents/%s", f->tenant_id, own), 404);
	STATUS(ask(f, token, "{}", "PATCH /agents/%s", id), 404);
	STATUS(ask(f, token, NULL, "DELETE /agents/%s", id), 404);
	STATUS(ask(f, token, NULL, "GET /tenant/%s/agents", f->tenant_id), 404);
	STATUS(ask(f, f->admin, NULL, "GET /tenant/%s/agents/%s", f->tenant_id, own), 404);
	fixture_close(f);
}

/* ---- every filter with every way of paging ---- */

struct agent_case {
	const char *id;
	bool coding, hidden, favorite, closed, named;
};

enum { VISIBILITY = 40 };

static void fill_cases(struct fixture *f, struct agent_case *agent_case, const char *token)
{
	for (int i = 0; i < VISIBILITY; i++) {
		agent_case[i] = (struct agent_case){ .coding = i % 2,
			.hidden = i % 5 == 0,
			.favorite = i % 3 == 0,
			.closed = i % 7 == 0,
			.named = i % 4 == 0 };
		agent_case[i].id = agent_with(f, f->tenant_id, f->admin,
			arena_printf(&f->arena, "%s%d", agent_case[i].named ? "needle-" : "s", i),
			agent_case[i].coding ? ",\"kind\":\"coding\"" : "");
		if (agent_case[i].favorite) {
			STATUS(ask(f, f->admin, NULL, "PUT /agents/%s/favorite", agent_case[i].id),
				201);
			STATUS(ask(f, token, NULL, "PUT /agents/%s/favorite", agent_case[i].id),
				201);
		}
		if (agent_case[i].hidden)
			STATUS(ask(f, f->admin, "{\"hidden\":true}", "PATCH /agents/%s",
				       agent_case[i].id),
				200);
		if (agent_case[i].closed)
			STATUS(ask(f, f->admin, "{\"enabled\":false}",
				       "PUT /agents/%s/default-role", agent_case[i].id),
				200);
	}
}

/* One bit for each filter. */
enum { BY_NAME = 1, BY_KIND = 2, BY_MARK = 4, BY_NO_MARK = 8, WITH_HIDDEN = 16, FILTERS = 32 };

static bool is_wanted(const struct agent_case *s, unsigned filter, bool admin)
{
	return (!(filter & BY_NAME) || s->named) && (!(filter & BY_KIND) || s->coding) &&
	       (!(filter & BY_MARK) || s->favorite) && (!(filter & BY_NO_MARK) || !s->favorite) &&
	       (!s->hidden || (admin && filter & WITH_HIDDEN)) && (admin || !s->closed);
}

static void check_pages(struct fixture *f, const struct agent_case *agent_case, const char *token,
	unsigned filter, bool by_key)
{
	const char *query = arena_printf(&f->arena, "per_page=3%s%s%s%s",
		filter & BY_NAME ? "&q=NEEDLE" : "", filter & BY_KIND ? "&kind=coding" : "",
		filter & BY_MARK      ? "&favorite=true"
		: filter & BY_NO_MARK ? "&favorite=false"
				      : "",
		filter & WITH_HIDDEN ? "&include_hidden=true" : "");
	bool admin = token == f->admin;
	const char *after = NULL;
	int want = 0, i = VISIBILITY, page = 1;
	struct answer r;

	for (int k = 0; k < VISIBILITY; k++)
		want += is_wanted(&agent_case[k], filter, admin);
	test_step("%s%s as %s", query, by_key ? " by key" : "", admin ? "admin" : "member");
	do {
		const char *where =
			by_key ? after ? arena_printf(&f->arena, "&after=%s", after) : ""
			       : arena_printf(&f->arena, "&page=%d", page++);
		size_t n;
		json_t *item;

		r = ask(f, token, NULL, "GET /tenant/%s/agents?%s%s", f->tenant_id, query, where);
		CHECK_INT(json_integer_value(at(&r, "total")), want);
		json_array_foreach(at(&r, "items"), n, item)
		{
			while (i > 0 && !is_wanted(&agent_case[i - 1], filter, admin))
				i--;
			CHECK(i > 0);
			if (i-- <= 0)
				return;
			CHECK_STR(json_string_value(json_object_get(item, "id")), agent_case[i].id);
			CHECK(json_is_true(json_object_get(item, "is_favorite")) ==
				agent_case[i].favorite);
		}
		after = text_at(&r, "next_after");
	} while (after);
	while (i > 0)
		CHECK(!is_wanted(&agent_case[--i], filter, admin));
}

TEST(agents_list_gives_every_page_of_every_filter)
{
	struct fixture *f = fixture_open();
	const char *token, *user = fixture_user(f, "m@example.org", &token);
	struct agent_case agent_case[VISIBILITY];

	fixture_member(f, f->tenant_id, user, "MEMBER");
	fill_cases(f, agent_case, token);
	for (unsigned filter = 0; filter < FILTERS; filter++) {
		if (filter & BY_MARK && filter & BY_NO_MARK)
			continue;
		check_pages(f, agent_case, f->admin, filter, false);
		check_pages(f, agent_case, f->admin, filter, true);
		check_pages(f, agent_case, token, filter, false);
		check_pages(f, agent_case, token, filter, true);
	}
	fixture_close(f);
}
