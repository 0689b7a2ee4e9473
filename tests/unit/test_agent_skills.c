/* test_agent_skills.c - grants, configurations and permissions of an agent, and what follows from them
 * together: which skills it may use now. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "api/tenants/erase.h"
#include "base/log.h"
#include "fixture.h"
#include "sessions/skillset.h"

static const char *make_skill(struct fixture *f, const char *token, const char *tenant,
	const char *slug, const char *visibility)
{
	return fixture_created(f, token,
		arena_printf(&f->arena,
			"{\"name\":\"S\",\"slug\":\"%s\",\"description\":\"D\","
			"\"instructions\":\"I\",\"visibility\":\"%s\"}",
			slug, visibility),
		"POST /tenant/%s/skills", tenant);
}

static struct answer grant(
	struct fixture *f, const char *token, const char *agent, const char *skill)
{
	return ask(f, token, arena_printf(&f->arena, "{\"skill_id\":\"%s\"}", skill),
		"POST /agents/%s/skills", agent);
}

/* The slugs the agent may use now, with a blank after each. */
static const char *usable(struct fixture *f, const char *tenant, const char *agent)
{
	const char *out = "";
	struct problem p = { 0 };
	struct list list;
	struct db *db;

	CHECK_INT(store_connect(f->app.store, &db, &f->arena, &p), 0);
	CHECK_INT(skillset_usable(db, &f->arena, tenant, agent, &list), 0);
	for (size_t i = 0; i < list.count; i++)
		out = arena_printf(
			&f->arena, "%s%s ", out, ((const struct usable_skill *)list.at)[i].slug);
	db_close(db);
	return out;
}

TEST(agent_skills_are_granted_switched_and_revoked)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "a");
	const char *skill = make_skill(f, f->admin, f->tenant_id, "one", "private");
	struct answer r = grant(f, f->admin, agent, skill);

	STATUS(r, 201);
	CHECK_STR(text_at(&r, "skill_id"), skill);
	CHECK(json_is_true(at(&r, "is_enabled")));
	CHECK(json_is_false(at(&r, "has_config")));
	r = ask(f, f->admin,
		arena_printf(&f->arena, "{\"skill_id\":\"%s\",\"is_enabled\":false}", skill),
		"POST /agents/%s/skills", agent);
	STATUS(r, 200);
	CHECK(json_is_true(at(&r, "is_enabled")));
	CHECK_STR(usable(f, f->tenant_id, agent), "one ");
	r = ask(f, f->admin, "{\"is_enabled\":false}", "PATCH /agents/%s/skills/%s", agent, skill);
	STATUS(r, 200);
	CHECK(json_is_false(at(&r, "is_enabled")));
	CHECK_STR(usable(f, f->tenant_id, agent), "");
	STATUS(ask(f, f->admin, "{}", "PATCH /agents/%s/skills/%s", agent, skill), 200);
	r = ask(f, f->admin, "{\"is_enabled\":null}", "PATCH /agents/%s/skills/%s", agent, skill);
	CHECK(refuses(&r, "is_enabled", "null"));
	r = ask(f, f->admin, NULL, "GET /agents/%s/skills", agent);
	CHECK_INT(json_integer_value(at(&r, "total")), 1);
	CHECK(json_is_false(at(&r, "items.0.is_enabled")));
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s/skills/%s", agent, skill), 204);
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s/skills/%s", agent, skill), 404);
	STATUS(ask(f, f->admin, "{}", "PATCH /agents/%s/skills/%s", agent, skill), 404);
	STATUS(ask(f, f->admin, NULL, "GET /agents/%s/skills/%s/config", agent, skill), 404);
	STATUS(ask(f, f->admin, "{}", "PATCH /agents/%s/skills/%s/config", agent, skill), 404);
	fixture_close(f);
}

TEST(agent_skills_are_those_the_giver_sees)
{
	struct fixture *f = fixture_open();
	const char *manager, *user = fixture_user(f, "m@example.org", &manager);
	const char *them, *they = fixture_user(f, "t@example.org", &them);
	const char *theirs = fixture_tenant(f, "theirs", they);
	const char *agent = fixture_agent(f, "a");
	const char *hidden = make_skill(f, f->admin, f->tenant_id, "hidden", "private");
	const char *secret = make_skill(f, them, theirs, "secret", "tenant");
	const char *shared = make_skill(f, them, theirs, "shared", "public");
	struct answer theirs_said, nowhere;

	fixture_member(f, f->tenant_id, user, "MEMBER");
	STATUS(ask(f, f->admin, "{\"role\":\"MANAGER\"}", "PUT /agents/%s/roles/%s", agent, user),
		201);
	theirs_said = grant(f, manager, agent, hidden);
	CHECK(refuses(&theirs_said, "skill_id", "not_found"));
	theirs_said = grant(f, f->admin, agent, secret);
	nowhere = grant(f, f->admin, agent, "caaaaaaaaaaaaaaaaaaaaaaaa");
	CHECK(refuses(&nowhere, "skill_id", "not_found"));
	CHECK(json_equal(at(&theirs_said, "errors"), at(&nowhere, "errors")));
	STATUS(grant(f, manager, agent, shared), 201);
	STATUS(grant(f, f->admin, agent, hidden), 201);
	CHECK_STR(usable(f, f->tenant_id, agent), "hidden shared ");

	test_step("no longer public: the grant stays, and does not count");
	STATUS(ask(f, them, "{\"visibility\":\"tenant\"}", "PATCH /tenant/%s/skills/%s", theirs,
		       shared),
		200);
	CHECK_STR(usable(f, f->tenant_id, agent), "hidden ");
	nowhere = ask(f, f->admin, NULL, "GET /agents/%s/skills", agent);
	CHECK_INT(json_integer_value(at(&nowhere, "total")), 2);
	STATUS(ask(f, f->admin,
		       arena_printf(&f->arena,
			       "{\"permissions\":[{\"skill_id\":\"%s\",\"allowed\":false}]}",
			       shared),
		       "PUT /agents/%s/skills/permissions", agent),
		200);
	STATUS(ask(f, them, "{\"visibility\":\"public\"}", "PATCH /tenant/%s/skills/%s", theirs,
		       shared),
		200);
	CHECK_STR(usable(f, f->tenant_id, agent), "hidden ");
	STATUS(ask(f, f->admin, "{\"permissions\":[]}", "PUT /agents/%s/skills/permissions", agent),
		200);
	STATUS(ask(f, them, "{\"visibility\":\"public\"}", "PATCH /tenant/%s/skills/%s", theirs,
		       shared),
		200);
	CHECK_STR(usable(f, f->tenant_id, agent), "hidden shared ");

	test_step("the tenant is closed");
	fixture_sql(f, "update tenants set status = 'closed' where id = $1", ARGS(T(theirs)));
	CHECK_STR(usable(f, f->tenant_id, agent), "hidden ");
	fixture_close(f);
}

TEST(agent_skills_are_bounded)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "a"), *last = NULL;
	struct answer r;

	for (int i = 0; i <= SKILLSET_MAX; i++) {
		if (last)
			STATUS(grant(f, f->admin, agent, last), 201);
		last = make_skill(
			f, f->admin, f->tenant_id, arena_printf(&f->arena, "s-%d", i), "tenant");
	}
	r = grant(f, f->admin, agent, last);
	STATUS(r, 409);
	CHECK(strstr(text_at(&r, "detail"), "200 skills"));
	fixture_close(f);
}

TEST(agent_skill_permissions_are_replaced_as_a_whole)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "a");
	const char *one = make_skill(f, f->admin, f->tenant_id, "one", "tenant");
	const char *two = make_skill(f, f->admin, f->tenant_id, "two", "tenant");
	const char *since;
	struct answer r;

#define PERMIT(text, ...)                                              \
	ask(f, f->admin, arena_printf(&f->arena, text, ##__VA_ARGS__), \
		"PUT /agents/%s/skills/permissions", agent)
	grant(f, f->admin, agent, one);
	grant(f, f->admin, agent, two);
	r = PERMIT(
		"{\"permissions\":[{\"skill_id\":\"%s\",\"allowed\":false},{\"skill_id\":\"%s\"}]}",
		one, two);
	STATUS(r, 200);
	CHECK_INT(json_integer_value(at(&r, "total")), 2);
	CHECK_STR(text_at(&r, "items.1.skill_id"), one);
	CHECK_STR(text_at(&r, "items.1.action"), "use");
	CHECK(json_is_false(at(&r, "items.1.allowed")));
	CHECK(json_is_true(at(&r, "items.0.allowed")));
	since = text_at(&r, "items.1.created_at");
	CHECK_STR(usable(f, f->tenant_id, agent), "two ");

	test_step("what is not listed goes, what stands stays");
	r = PERMIT("{\"permissions\":[{\"skill_id\":\"%s\",\"action\":\"use\",\"allowed\":false}]}",
		one);
	STATUS(r, 200);
	CHECK_INT(json_integer_value(at(&r, "total")), 1);
	CHECK_STR(text_at(&r, "items.0.created_at"), since);

	test_step("all or nothing");
	r = PERMIT("{\"permissions\":[{\"skill_id\":\"%s\"},{\"skill_id\":\"%s\"},"
		   "{\"skill_id\":\"%s\",\"action\":\"edit\"},"
		   "{\"skill_id\":\"caaaaaaaaaaaaaaaaaaaaaaaa\"}]}",
		one, one, two);
	CHECK(refuses(&r, "permissions[1].skill_id", "repeated"));
	CHECK(refuses(&r, "permissions[2].action", "choice"));
	CHECK(refuses(&r, "permissions[3].skill_id", "not_found"));
	r = ask(f, f->admin, NULL, "GET /agents/%s/skills/permissions", agent);
	CHECK_INT(json_integer_value(at(&r, "total")), 1);
	r = PERMIT("{}");
	CHECK(refuses(&r, "permissions", "required"));

	test_step("a permission grants nothing");
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s/skills/%s", agent, two), 204);
	STATUS(PERMIT("{\"permissions\":[{\"skill_id\":\"%s\"}]}", two), 200);
	CHECK_STR(usable(f, f->tenant_id, agent), "one ");
	STATUS(PERMIT("{\"permissions\":[]}"), 200);
	CHECK_INT(fixture_count(f, "select count(*) from agent_skill_permissions"), 0);
	fixture_close(f);
}

/* From here on the log goes to a file of its own, every line of it. */
static int log_begin(int *ret_real)
{
	int file = memfd_create("log", 0);

	*ret_real = dup(STDERR_FILENO);
	dup2(file, STDERR_FILENO);
	log_setup(LOG_DEBUG, LOG_TEXT);
	return file;
}

/* All that was logged. */
static const char *log_end(struct arena *a, int file, int real, size_t *ret_len)
{
	char *text;
	ssize_t got;

	log_setup(getenv("LODGE_TEST_LOG") ? LOG_DEBUG : LOG_SILENT, LOG_TEXT);
	dup2(real, STDERR_FILENO);
	*ret_len = (size_t)lseek(file, 0, SEEK_END);
	text = arena_alloc(a, *ret_len + 1);
	got = pread(file, text, *ret_len, 0);
	CHECK_INT(got, *ret_len);
	close(file);
	close(real);
	return text;
}

TEST(agent_skill_configs_are_sealed_and_told_to_nobody_else)
{
#define SECRET "hunter2-Zq9"
	struct fixture *f = fixture_open();
	const char *viewer, *user = fixture_user(f, "v@example.org", &viewer);
	const char *agent = fixture_agent(f, "a");
	const char *skill = make_skill(f, f->admin, f->tenant_id, "one", "tenant"), *log;
	int file, real;
	struct problem p = { 0 };
	struct chosen_skill chosen;
	struct answer r;
	struct db *db;
	size_t len;

	fixture_member(f, f->tenant_id, user, "MEMBER");
	grant(f, f->admin, agent, skill);
	r = ask(f, f->admin, NULL, "GET /agents/%s/skills/%s/config", agent, skill);
	STATUS(r, 200);
	CHECK(json_is_null(at(&r, "config")));
	file = log_begin(&real);
	f->app.settings.access_log = true;
	r = ask(f, f->admin, "{\"config\":{\"token\":\"" SECRET "\",\"n\":1.50}}",
		"PATCH /agents/%s/skills/%s/config", agent, skill);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "config.token"), SECRET);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/agents/%s/skills/%s/config", f->tenant_id, agent,
		skill);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "config.token"), SECRET);
	CHECK(strstr(r.body, "\"n\":1.50"));

	test_step("refusals do not repeat it");
	r = ask(f, viewer, NULL, "GET /agents/%s/skills/%s/config", agent, skill);
	STATUS(r, 403);
	CHECK(strstr(text_at(&r, "detail"), "agent:skills:write"));
	CHECK(!strstr(r.body, SECRET));
	r = ask(f, f->admin, "{\"config\":\"" SECRET "\"}", "PATCH /agents/%s/skills/%s/config",
		agent, skill);
	CHECK(refuses(&r, "config", "type"));
	CHECK(!strstr(r.body, SECRET));
	r = ask(f, f->admin, "{\"config\":{\"token\":\"" SECRET "\"",
		"PATCH /agents/%s/skills/%s/config", agent, skill);
	STATUS(r, 400);
	CHECK(!strstr(r.body, SECRET));

	test_step("nothing else shows it");
	r = ask(f, f->admin, NULL, "GET /agents/%s/skills", agent);
	CHECK(json_is_true(at(&r, "items.0.has_config")));
	CHECK(!strstr(r.body, SECRET));
	r = ask(f, f->admin, NULL, "GET /tenant/%s/skills/%s", f->tenant_id, skill);
	CHECK(!strstr(r.body, SECRET));
	r = ask(f, f->admin, NULL, "GET /tenant/%s/skills/%s/export", f->tenant_id, skill);
	CHECK(!memmem(r.body, r.body_len, SECRET, strlen(SECRET)));
	r = ask(f, f->admin, NULL, "GET /tenant/%s/audit-logs?action=agent_skill.config",
		f->tenant_id);
	CHECK_INT(json_integer_value(at(&r, "total")), 1);
	CHECK_STR(text_at(&r, "items.0.meta.config"), "set");
	CHECK(!strstr(r.body, SECRET));
	CHECK_INT(
		fixture_count(f, "select count(*) from audit_logs where meta like '%" SECRET "%'"),
		0);
	CHECK_INT(fixture_count(f,
			  "select count(*) from agent_skills where config_sealed is not null and "
			  "config_sealed not like '%" SECRET "%'"),
		1);

	test_step("a session opens it");
	CHECK_INT(store_connect(f->app.store, &db, &f->arena, &p), 0);
	CHECK_INT(skillset_choose(db, &f->arena, f->tenant_id, agent, skill, &chosen), 0);
	log = vault_open(f->app.vault, &f->arena, chosen.grant_id, chosen.config_sealed, &len);
	CHECK(log && memmem(log, len, SECRET, strlen(SECRET)));
	CHECK(!vault_open(f->app.vault, &f->arena, skill, chosen.config_sealed, &len));
	fixture_sql(f, "update agent_skills set is_enabled = 0", NO_ARGS);
	CHECK_INT(
		skillset_choose(db, &f->arena, f->tenant_id, agent, skill, &chosen), ERR_NOT_FOUND);
	db_close(db);

	test_step("null and absent clear it");
	for (int i = 0; i < 2; i++) {
		STATUS(ask(f, f->admin, "{\"config\":{\"a\":\"" SECRET "\"}}",
			       "PATCH /agents/%s/skills/%s/config", agent, skill),
			200);
		r = ask(f, f->admin, i ? "{}" : "{\"config\":null}",
			"PATCH /agents/%s/skills/%s/config", agent, skill);
		STATUS(r, 200);
		CHECK(json_is_null(at(&r, "config")));
		CHECK_INT(
			fixture_count(f,
				"select count(*) from agent_skills where config_sealed is not null"),
			0);
	}

	test_step("sealed with a key that is gone");
	fixture_sql(f, "update agent_skills set config_sealed = '00000000.AAAA'", NO_ARGS);
	r = ask(f, f->admin, NULL, "GET /agents/%s/skills/%s/config", agent, skill);
	STATUS(r, 409);
	CHECK(strstr(text_at(&r, "detail"), "present master key"));
	log = log_end(&f->arena, file, real, &len);
	CHECK(strstr(log, "/config"));
	CHECK(!strstr(log, SECRET));
	fixture_close(f);
}

TEST(agent_skills_go_with_the_skill_and_with_the_agent)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "a"), *skills[2];

	for (int i = 0; i < 2; i++) {
		skills[i] = make_skill(f, f->admin, f->tenant_id, i ? "one" : "two", "tenant");
		STATUS(grant(f, f->admin, agent, skills[i]), 201);
		STATUS(ask(f, f->admin, "{\"config\":{\"a\":1}}",
			       "PATCH /agents/%s/skills/%s/config", agent, skills[i]),
			200);
	}
	STATUS(ask(f, f->admin,
		       arena_printf(&f->arena,
			       "{\"permissions\":[{\"skill_id\":\"%s\"},{\"skill_id\":\"%s\"}]}",
			       skills[0], skills[1]),
		       "PUT /agents/%s/skills/permissions", agent),
		200);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/skills/%s", f->tenant_id, skills[0]), 204);
	CHECK_INT(fixture_count(f, "select count(*) from agent_skills"), 1);
	CHECK_INT(fixture_count(f, "select count(*) from agent_skill_permissions"), 1);
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s", agent), 204);
	CHECK_INT(fixture_count(f, "select count(*) from agent_skills"), 0);
	CHECK_INT(fixture_count(f, "select count(*) from agent_skill_permissions"), 0);
	CHECK_INT(fixture_count(f, "select count(*) from skills"), 1);
	fixture_close(f);
}

TEST(agent_skills_of_a_tenant_are_erased_with_it_everywhere)
{
	struct fixture *f = fixture_open();
	const char *them, *they = fixture_user(f, "t@example.org", &them);
	const char *theirs = fixture_tenant(f, "gone", they);
	const char *agent = fixture_agent(f, "a");
	const char *their_agent = fixture_agent_of(f, them, theirs, "a");
	const char *shared = make_skill(f, them, theirs, "shared", "public");
	int64_t left = 1;

	STATUS(ask(f, them, "x", "PUT /tenant/%s/skills/%s/file?path=a\nContent-Type: text/plain",
		       theirs, shared),
		201);
	STATUS(grant(f, f->admin, agent, shared), 201);
	STATUS(grant(f, them, their_agent, shared), 201);
	STATUS(ask(f, them,
		       arena_printf(&f->arena, "{\"permissions\":[{\"skill_id\":\"%s\"}]}", shared),
		       "PUT /agents/%s/skills/permissions", their_agent),
		200);
	STATUS(ask(f, them, NULL, "DELETE /tenant/%s", theirs), 204);
	CHECK_STR(usable(f, f->tenant_id, agent), "");
	erase_submit(&f->app);
	for (int i = 0; i < 30000 && left; i++) {
		STATUS(ask(f, f->admin, "{}", "PATCH /tenant/%s", f->tenant_id), 200);
		left = fixture_count(f, "select count(*) from tenants where slug = 'gone'");
	}
	CHECK_INT(left, 0);
	CHECK_INT(fixture_count(f, "select count(*) from skills"), 0);
	CHECK_INT(fixture_count(f, "select count(*) from skill_files"), 0);
	CHECK_INT(fixture_count(f, "select count(*) from agent_skills"), 0);
	CHECK_INT(fixture_count(f, "select count(*) from agent_skill_permissions"), 0);
	fixture_close(f);
}
