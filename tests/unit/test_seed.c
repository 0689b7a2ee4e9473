/* test_seed.c - what a tenant begins with, made with it and gone with it; and the model with which an
 * agent begins. */
#include "search_fixture.h"

#include <stdlib.h>
#include <unistd.h>

#include "api/tenants/erase.h"
#include "api/tenants/seed.h"
#include "sessions/builtin_tools.h"

static const char *id_of(const json_t *object)
{
	return json_string_value(json_object_get(object, "id"));
}

/* The object of a list whose member is this text; it fails without one. */
static json_t *one_of(struct answer r, const char *member, const char *text)
{
	json_t *item;
	size_t i;

	STATUS(r, 200);
	json_array_foreach(at(&r, "items"), i, item)
	{
		const char *have = json_string_value(json_object_get(item, member));

		if (have && strcmp(have, text) == 0)
			return item;
	}
	test_fail(__FILE__, __LINE__, "there is no %s %s", member, text);
	return NULL;
}

static int64_t total(struct fixture *f, const char *tenant_id, const char *what)
{
	struct answer r = ask(f, f->admin, NULL, "GET /tenant/%s/%s", tenant_id, what);

	STATUS(r, 200);
	return json_integer_value(at(&r, "total"));
}

static const char *new_tenant(struct fixture *f, const char *slug, const char *plan_id)
{
	const char *plan = plan_id ? arena_printf(&f->arena, ",\"plan_id\":\"%s\"", plan_id) : "";
	return fixture_created(f, f->admin,
		arena_printf(&f->arena, "{\"name\":\"New\",\"slug\":\"%s\"%s}", slug, plan),
		"POST /tenants");
}

static const char *new_plan(struct fixture *f, int max_agents)
{
	return fixture_created(f, f->admin,
		arena_printf(&f->arena, "{\"name\":\"P\",\"slug\":\"p%d\",\"max_agents\":%d}",
			max_agents, max_agents),
		"POST /admin/plans");
}

/* The demo model alone, in its chain and in what it could call now. */
static void check_calls_demo(struct fixture *f, const char *agent)
{
	struct answer chain = ask(f, f->admin, NULL, "GET /agents/%s/models", agent);
	struct answer catalog = ask(f, f->admin, NULL, "GET /agents/%s/models/catalog", agent);

	STATUS(chain, 200);
	CHECK_INT(json_array_size(at(&chain, "items")), 1);
	CHECK_STR(text_at(&chain, "items.0.access"), "full");
	CHECK_INT(json_integer_value(at(&chain, "items.0.priority")), 0);
	CHECK_STR(text_at(&catalog, "items.0.slug"), "demo");
	CHECK_STR(text_at(&catalog, "items.0.model_id"), text_at(&chain, "items.0.model_id"));
	CHECK(json_is_true(at(&catalog, "items.0.callable")));
}

static void check_agent(struct fixture *f, const char *tenant_id, const struct seed_agent *want)
{
	struct answer r =
		ask(f, f->admin, NULL, "GET /tenant/%s/agents?q=%s", tenant_id, want->slug);
	const char *id = id_of(one_of(r, "slug", want->slug));

	test_step("%s", want->slug);
	r = ask(f, f->admin, NULL, "GET /agents/%s", id); /* found by its place in the directory */
	STATUS(r, 200);
	CHECK(json_is_true(at(&r, "is_seed")));
	CHECK(json_is_false(at(&r, "plan_read_only")));
	CHECK_STR(text_at(&r, "created_by_id"), f->admin_id);
	CHECK_STR(text_at(&r, "description_prompt"), want->description_prompt);
	CHECK_STR(text_at(&r, "initial_greeting"), want->initial_greeting);
	r = ask(f, f->admin, NULL, "GET /agents/%s/roles", id);
	STATUS(r, 200);
	CHECK(strstr(r.body, f->admin_id) && strstr(r.body, "\"OWNER\""));
	r = ask(f, f->admin, NULL, "GET /tenant/%s/autocomplete?q=%.4s", tenant_id, want->name);
	STATUS(r, 200);
	CHECK(strstr(r.body, id));
	check_calls_demo(f, id);
	r = ask(f, f->admin, NULL, "GET /agents/%s/tool-bundles", id);
	CHECK_INT(json_array_size(at(&r, "items")), __builtin_popcount(want->bundles));
	for (int i = 0; i < SEED_BUNDLES; i++)
		CHECK((want->bundles >> i & 1) == (strstr(r.body, seed_bundles[i].name) != NULL));
	for (int i = 0; i < SEED_SKILLS; i++) {
		r = ask(f, f->admin, NULL, "GET /tenant/%s/skills?agent_id=%s", tenant_id, id);
		CHECK((want->skills >> i & 1) == (strstr(r.body, seed_skills[i].slug) != NULL));
	}
}

static void check_tools(struct fixture *f, const char *tenant_id)
{
	struct answer bundles = ask(f, f->admin, NULL, "GET /tenant/%s/tool-bundles", tenant_id);
	struct answer tools = ask(f, f->admin, NULL, "GET /tenant/%s/tools", tenant_id);
	size_t held = 0;

	CHECK_INT(json_array_size(at(&tools, "items")), builtin_tool_count);
	for (size_t i = 0; i < builtin_tool_count; i++) {
		json_t *tool = one_of(tools, "name", builtin_tools[i].name);

		test_step("%s", builtin_tools[i].name);
		CHECK(json_is_true(json_object_get(tool, "is_seed")));
		CHECK_STR(json_string_value(json_object_get(tool, "kind")), "builtin");
		CHECK(strstr(bundles.body, id_of(tool)) != NULL);
	}
	for (int i = 0; i < SEED_BUNDLES; i++) {
		json_t *bundle = one_of(bundles, "slug", seed_bundles[i].slug);

		held += json_array_size(json_object_get(bundle, "tools"));
	}
	CHECK_INT(held, builtin_tool_count);
}

static void check_seeded(struct fixture *f, const char *tenant_id)
{
	struct answer r;

	CHECK_INT(total(f, tenant_id, "agents"), SEED_AGENTS);
	CHECK_INT(total(f, tenant_id, "skills"), SEED_SKILLS);
	CHECK_INT(total(f, tenant_id, "tool-bundles"), SEED_BUNDLES);
	for (int i = 0; i < SEED_AGENTS; i++)
		check_agent(f, tenant_id, &seed_agents[i]);
	check_tools(f, tenant_id);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/skills", tenant_id);
	for (int i = 0; i < SEED_SKILLS; i++) {
		json_t *skill = one_of(r, "slug", seed_skills[i].slug);

		CHECK(json_is_true(json_object_get(skill, "is_seed")));
		CHECK_STR(json_string_value(json_object_get(skill, "visibility")), "tenant");
	}
	r = ask(f, f->admin, NULL, "GET /admin/tenants/%s", tenant_id);
	CHECK_INT(json_integer_value(at(&r, "agent_count")), SEED_AGENTS);
	CHECK_INT(json_integer_value(at(&r, "member_count")), 1);
	index_check(f, 0);
}

TEST(seed_comes_with_the_first_start)
{
	struct fixture *f = fixture_open_seeded();

	check_seeded(f, f->tenant_id);
	fixture_close(f);
}

TEST(seed_comes_with_a_new_tenant_and_is_its_own)
{
	struct fixture *f = fixture_open();
	const char *tenant = new_tenant(f, "new", NULL), *agent, *tool;
	struct answer r;

	check_seeded(f, tenant);
	CHECK_INT(total(f, f->tenant_id, "agents"), 0);

	test_step("it changes and goes like any other");
	r = ask(f, f->admin, NULL, "GET /tenant/%s/agents", tenant);
	agent = id_of(one_of(r, "slug", seed_agents[0].slug));
	r = ask(f, f->admin, "{\"name\":\"Ours\"}", "PATCH /agents/%s", agent);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "name"), "Ours");
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s", agent), 204);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/tools", tenant);
	tool = text_at(&r, "items.0.id");
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/tools/%s", tenant, tool), 204);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/skills", tenant);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/skills/%s", tenant,
		       text_at(&r, "items.0.id")),
		204);
	r = ask(f, f->admin, "{\"name\":\"Mine\",\"slug\":\"assistant\"}", "POST /tenant/%s/agents",
		tenant);
	STATUS(r, 201);
	CHECK(json_is_false(at(&r, "is_seed")));
	CHECK_INT(total(f, tenant, "agents"), SEED_AGENTS);
	CHECK_INT(total(f, tenant, "tools"), (int64_t)builtin_tool_count - 1);
	CHECK_INT(total(f, tenant, "skills"), SEED_SKILLS - 1);
	index_check(f, 0);
	fixture_close(f);
}

TEST(seed_keeps_within_the_plan)
{
	struct fixture *f = fixture_open();

	for (int room = 0; room <= SEED_AGENTS + 1; room++) {
		const char *tenant =
			new_tenant(f, arena_printf(&f->arena, "t%d", room), new_plan(f, room));
		int made = room < SEED_AGENTS ? room : SEED_AGENTS;

		test_step("room for %d", room);
		CHECK_INT(total(f, tenant, "agents"), made);
		CHECK_INT(total(f, tenant, "skills"), SEED_SKILLS);
		for (int i = 0; i < made; i++)
			check_agent(f, tenant, &seed_agents[i]);
		STATUS(ask(f, f->admin, "{\"name\":\"One more\",\"slug\":\"more\"}",
			       "POST /tenant/%s/agents", tenant),
			room > SEED_AGENTS ? 201 : 409);
	}
	CHECK_INT(
		fixture_count(f, "select count(*) from tenants where read_only_after is not null"),
		0);
	fixture_close(f);
}

TEST(seed_goes_with_its_tenant)
{
	static const char *const tables[] = { "agents", "agent_roles", "agent_models",
		"agent_skills", "agent_tool_bundles", "tool_bundle_tools", "tool_bundles", "tools",
		"skills", "directory", "search_things", "search_words", "members",
		"tenant_counts" };
	struct fixture *f = fixture_open();
	const char *tenant = new_tenant(f, "gone", NULL);

#define LEFT(table)                                                                                \
	fixture_count(f, arena_printf(&f->arena, "select count(*) from %s where tenant_id = '%s'", \
				 table, tenant))
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
		test_step("%s", tables[i]);
		CHECK(LEFT(tables[i]) > 0);
	}
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s", tenant), 204);
	erase_submit(&f->app);
	for (int i = 0; i < 2000 && fixture_count(f, "select count(*) from tenants") > 1; i++)
		usleep(10000);
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
		test_step("%s", tables[i]);
		CHECK_INT(LEFT(tables[i]), 0);
	}
	fixture_close(f);
}

/* The members that a body of this kind has, out of what was read. */
static const char *body_of(struct fixture *f, const struct answer *r, const char *const *members)
{
	json_t *body = json_object();
	const char *text;
	char *dumped;

	for (; *members; members++)
		json_object_set(body, *members, at(r, *members));
	dumped = json_dumps(body, 0);
	text = arena_strdup(&f->arena, dumped);
	free(dumped);
	json_decref(body);
	return text;
}

/* A tenant that has none of it takes all of it through the contract. */
TEST(seed_is_what_the_contract_admits)
{
	static const char *const agent_members[] = { "name", "slug", "description",
		"description_prompt", "initial_greeting", NULL };
	static const char *const bundle_members[] = { "name", "slug", "description", NULL };
	struct fixture *f = fixture_open();
	const char *tenant = new_tenant(f, "new", NULL);
	struct answer list = ask(f, f->admin, NULL, "GET /tenant/%s/agents", tenant), r;
	json_t *item;
	size_t i;

	json_array_foreach(at(&list, "items"), i, item)
	{
		r = ask(f, f->admin, NULL, "GET /agents/%s", id_of(item));
		STATUS(ask(f, f->admin, body_of(f, &r, agent_members), "POST /tenant/%s/agents",
			       f->tenant_id),
			201);
	}
	list = ask(f, f->admin, NULL, "GET /tenant/%s/tools", tenant);
	json_array_foreach(at(&list, "items"), i, item)
	{
		r = ask(f, f->admin,
			arena_printf(&f->arena, "{\"name\":\"%s\",\"kind\":\"builtin\"}",
				json_string_value(json_object_get(item, "name"))),
			"POST /tenant/%s/tools", f->tenant_id);
		STATUS(r, 201);
		CHECK(json_equal(at(&r, "input_schema"), json_object_get(item, "input_schema")));
		CHECK(json_equal(at(&r, "description"), json_object_get(item, "description")));
		CHECK(json_equal(at(&r, "repeat_safe"), json_object_get(item, "repeat_safe")));
	}
	list = ask(f, f->admin, NULL, "GET /tenant/%s/tool-bundles", tenant);
	json_array_foreach(at(&list, "items"), i, item)
	{
		struct answer one = { .json = item };

		STATUS(ask(f, f->admin, body_of(f, &one, bundle_members),
			       "POST /tenant/%s/tool-bundles", f->tenant_id),
			201);
	}
	fixture_close(f);
}

TEST(seed_skills_leave_as_skill_files_and_come_in_again)
{
	struct fixture *f = fixture_open();
	const char *tenant = new_tenant(f, "new", NULL);
	struct answer list = ask(f, f->admin, NULL, "GET /tenant/%s/skills", tenant);

	for (int i = 0; i < SEED_SKILLS; i++) {
		const char *id = id_of(one_of(list, "slug", seed_skills[i].slug));
		struct answer file =
			ask(f, f->admin, NULL, "GET /tenant/%s/skills/%s/SKILL.md", tenant, id);
		struct answer r;

		test_step("%s", seed_skills[i].slug);
		STATUS(file, 200);
		CHECK(strlen(seed_skills[i].instructions) < 5000);
		r = ask_bytes(f, f->admin, file.body, file.body_len,
			"POST /tenant/%s/skills/import\nContent-Type: text/markdown", f->tenant_id);
		STATUS(r, 201);
		CHECK_STR(text_at(&r, "name"), seed_skills[i].name);
		CHECK_STR(text_at(&r, "slug"), seed_skills[i].slug);
		CHECK_STR(text_at(&r, "description"), seed_skills[i].description);
		CHECK_STR(text_at(&r, "license"), "Apache-2.0");
		CHECK(strncmp(text_at(&r, "instructions"), seed_skills[i].instructions,
			      strlen(seed_skills[i].instructions) - 1) == 0);
		CHECK(json_is_false(at(&r, "is_seed")));
	}
	fixture_close(f);
}

/* ---- the default model ---- */

static const char *new_model(
	struct fixture *f, const char *slug, const char *kind, const char *more)
{
	const char *config = strcmp(kind, "openai") == 0
				     ? ",\"config\":{\"base_url\":\"https://m.example.org\","
				       "\"model\":\"m\",\"api_key\":\"k\"}"
				     : "";
	return fixture_created(f, f->admin,
		arena_printf(&f->arena, "{\"name\":\"%s\",\"slug\":\"%s\",\"kind\":\"%s\"%s%s}",
			slug, slug, kind, config, more),
		"POST /admin/models");
}

static const char *new_agent(struct fixture *f, const char *tenant_id)
{
	static int count;

	return fixture_created(f, f->admin,
		arena_printf(&f->arena, "{\"name\":\"A\",\"slug\":\"a%d\"}", ++count),
		"POST /tenant/%s/agents", tenant_id);
}

/* The model with which a new agent of the tenant begins; NULL for none. */
static const char *first_model(struct fixture *f, const char *tenant_id)
{
	struct answer r = ask(f, f->admin, NULL, "GET /agents/%s/models", new_agent(f, tenant_id));

	STATUS(r, 200);
	CHECK(json_array_size(at(&r, "items")) <= 1);
	return text_at(&r, "items.0.model_id");
}

#define TO_ALL ",\"available_to_all_tenants\":true"

TEST(seed_default_model_is_the_oldest_that_can_be_called)
{
	struct fixture *f = fixture_open();
	const char *other = fixture_tenant(f, "other", f->admin_id);
	const char *demo = first_model(f, f->tenant_id), *disabled, *closed, *late;

	CHECK(demo != NULL);
	test_step("none of these");
	new_model(f, "router", "router", TO_ALL);
	disabled = new_model(f, "disabled", "openai", TO_ALL ",\"status\":\"disabled\"");
	new_model(f, "trial", "openai", TO_ALL ",\"status\":\"experimental\"");
	fixture_sql(f, "update models set base_url = null where id = $1",
		ARGS(T(new_model(f, "nowhere", "openai", TO_ALL))));
	new_model(f, "demo-2", "demo", TO_ALL);
	closed = new_model(f, "closed", "openai", "");
	CHECK_STR(first_model(f, f->tenant_id), demo);

	test_step("what only one tenant reaches");
	STATUS(ask(f, f->admin, NULL, "PUT /admin/models/%s/tenants/%s", closed, f->tenant_id),
		201);
	late = new_model(f, "late", "openai", TO_ALL);
	CHECK_STR(first_model(f, f->tenant_id), closed);
	CHECK_STR(first_model(f, other), late);

	test_step("the oldest of several");
	fixture_sql(f, "update models set status = 'active' where id = $1", ARGS(T(disabled)));
	CHECK_STR(first_model(f, f->tenant_id), disabled);

	test_step("none at all");
	fixture_sql(f, "update models set status = 'disabled'", NO_ARGS);
	CHECK(first_model(f, other) == NULL);
	fixture_close(f);
}

TEST(seed_default_model_is_not_for_copies)
{
	struct fixture *f = fixture_open();
	const char *agent = new_agent(f, f->tenant_id), *models[3];
	struct answer r, copy;

	for (int i = 0; i < 3; i++)
		models[i] = new_model(f, arena_printf(&f->arena, "m%d", i), "demo", TO_ALL);
	STATUS(ask(f, f->admin,
		       arena_printf(&f->arena, "{\"model_ids\":[\"%s\",\"%s\",\"%s\"]}", models[2],
			       models[0], models[1]),
		       "PUT /agents/%s/models", agent),
		200);
	STATUS(ask(f, f->admin,
		       arena_printf(
			       &f->arena, "{\"agent_id\":\"%s\",\"access\":\"read_only\"}", agent),
		       "POST /tenant/%s/models/%s/agents", f->tenant_id, models[1]),
		200);
	r = ask(f, f->admin, NULL, "GET /agents/%s/models", agent);
	copy = ask(f, f->admin, "{\"name\":\"Copy\"}", "POST /agents/%s/clone", agent);
	STATUS(copy, 201);
	agent = text_at(&copy, "id");
	copy = ask(f, f->admin, NULL, "GET /agents/%s/models", agent);
	CHECK_INT(json_array_size(at(&copy, "items")), 3);
	for (size_t i = 0; i < 3; i++) {
		json_t *a = json_array_get(at(&r, "items"), i);
		json_t *b = json_array_get(at(&copy, "items"), i);

		CHECK_STR(json_string_value(json_object_get(b, "agent_id")), agent);
		json_object_del(a, "agent_id");
		json_object_del(b, "agent_id");
		CHECK(json_equal(a, b));
	}

	test_step("an empty chain stays empty");
	fixture_sql(f, "delete from agent_models", NO_ARGS);
	copy = ask(f, f->admin, "{\"name\":\"Copy\"}", "POST /agents/%s/clone", agent);
	copy = ask(f, f->admin, NULL, "GET /agents/%s/models", text_at(&copy, "id"));
	CHECK_INT(json_array_size(at(&copy, "items")), 0);
	fixture_close(f);
}
