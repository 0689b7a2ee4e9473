/* test_agent_clone.c - copies of agents: what comes along and what does not, their slugs, and what
 * happens when many come at once. */
#include "race.h"

#include <stdlib.h>

static const char *make_agent(struct fixture *f, const char *token, const char *body)
{
	struct answer r = ask(f, token, body, "POST /tenant/%s/agents", f->tenant_id);

	STATUS(r, 201);
	return text_at(&r, "id");
}

static const char *clone_slug(struct fixture *f, const char *id, const char *name)
{
	struct answer r = ask(f, f->admin, arena_printf(&f->arena, "{\"name\":\"%s\"}", name),
		"POST /agents/%s/clone", id);

	STATUS(r, 201);
	return text_at(&r, "slug");
}

/* Equal but for what makes them two. */
static void check_same_settings(
	struct fixture *f, const struct answer *one, const struct answer *two)
{
	static const char *const own[] = { "id", "name", "slug", "created_at", "updated_at",
		"created_by_id", "created_by_agent_id" };
	json_t *a = json_deep_copy(one->json), *b = json_deep_copy(two->json);

	(void)f;
	for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
		json_object_del(a, own[i]);
		json_object_del(b, own[i]);
	}
	if (!json_equal(a, b)) {
		char *x = json_dumps(a, JSON_SORT_KEYS), *y = json_dumps(b, JSON_SORT_KEYS);

		test_fail(__FILE__, __LINE__, "the copy differs:\n%s\n%s", x, y);
		free(x);
		free(y);
	}
	json_decref(a);
	json_decref(b);
}

TEST(clone_copies_every_setting)
{
	struct fixture *f = fixture_open();
	const char *id = make_agent(f, f->admin,
		"{\"name\":\"Source\",\"slug\":\"source\",\"kind\":\"analyst\",\"environment_mode\":"
		"\"isolated\",\"description\":\"\xf0\x9f\xa6\x89 d\",\"description_prompt\":"
		"\"\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d\",\"initial_greeting\":\"hi\","
		"\"image_ref\":\"i\",\"iteration_warn_threshold\":7,\"voice\":\"alto\",\"hidden\":true}");
	const char *copy;
	struct answer before, after, r;

	STATUS(ask(f, f->admin,
		       "{\"bootstrap_instructions\":\"b\",\"ssh_public_key\":\"k\",\"is_active\":false,"
		       "\"editor_enabled\":true,\"external_mail_enabled\":false,"
		       "\"resource_class\":\"large\",\"can_author_skills\":true}",
		       "PATCH /agents/%s", id),
		200);
	STATUS(ask(f, f->admin, "{\"hourly_limit_usd\":0.3}", "PUT /agents/%s/budget", id), 200);
	STATUS(ask(f, f->admin, "{\"skill_visibility_scope\":\"tenant_allowed\"}",
		       "PUT /agents/%s/skill-visibility-scope", id),
		200);
	STATUS(ask(f, f->admin, "{\"enabled\":false}", "PUT /agents/%s/default-role", id), 200);
	STATUS(ask(f, f->admin,
		       "{\"chat_rpm_limit\":9,\"working_hours_enabled\":true,\"working_hours_days\":"
		       "[\"Mon\",\"Sun\"],\"working_hours_start\":\"08:00\","
		       "\"working_hours_end\":\"12:00\",\"working_hours_tz\":\"Asia/Tokyo\"}",
		       "PUT /agents/%s/chat-config", id),
		200);
	before = ask(f, f->admin, NULL, "GET /agents/%s", id);
	r = ask(f, f->admin, "{\"name\":\"The copy\"}", "POST /v1/agents/%s/clone", id);
	STATUS(r, 201);
	copy = text_at(&r, "id");
	CHECK(strcmp(copy, id) != 0);
	CHECK_STR(text_at(&r, "slug"), "the-copy");
	CHECK_STR(header_of(f, &r, "Location"),
		arena_printf(&f->arena, "/tenant/%s/agents/%s", f->tenant_id, copy));
	after = ask(f, f->admin, NULL, "GET /agents/%s", copy);
	check_same_settings(f, &before, &r);
	check_same_settings(f, &before, &after);
	r = ask(f, f->admin, NULL, "GET /agents/%s/budget", copy);
	CHECK_STR(r.body, "{\"hourly_limit_usd\":0.3}");
	r = ask(f, f->admin, NULL, "GET /agents/%s/default-role", copy);
	CHECK(json_is_false(at(&r, "enabled")));
	before = ask(f, f->admin, NULL, "GET /agents/%s/chat-config", id);
	after = ask(f, f->admin, NULL, "GET /agents/%s/chat-config", copy);
	CHECK_STR(after.body, before.body);
	CHECK(strstr(after.body, "Asia/Tokyo"));
	CHECK_INT(fixture_count(f, "select count(*) from agents a join agents b on a.kind = b.kind "
				   "and a.id <> b.id where a.kind = 'analyst'"),
		2);
	CHECK_INT(fixture_count(
			  f, arena_printf(&f->arena,
				     "select count(*) from audit_logs where action = 'agent.clone' "
				     "and agent_id = '%s' and meta like '%%%s%%'",
				     copy, id)),
		1);
	fixture_close(f);
}

TEST(clone_leaves_history_roles_and_marks_behind)
{
	struct fixture *f = fixture_open();
	const char *token, *user = fixture_user(f, "m@example.org", &token), *guest_token;
	const char *guest = fixture_user(f, "g@example.org", &guest_token), *copy;
	const char *id = make_agent(f, f->admin, "{\"name\":\"S\",\"slug\":\"s\"}");
	struct answer r;

	fixture_member(f, f->tenant_id, user, "MEMBER");
	fixture_member(f, f->tenant_id, guest, "GUEST");
	fixture_sql(f,
		"insert into sessions (tenant_id, id, agent_id, status, origin, iteration_count, "
		"message_count, last_event_id, created_at, updated_at) "
		"values ($1, 's1', $2, 'completed', 'user', 0, 0, 0, 1, 1)",
		ARGS(T(f->tenant_id), T(id)));
	fixture_sql(f,
		"insert into integrations (tenant_id, id, agent_id, provider, label, is_active, "
		"created_at, updated_at) values ($1, 'i1', $2, 'github', 'l', 1, 1, 1)",
		ARGS(T(f->tenant_id), T(id)));
	STATUS(ask(f, f->admin, NULL, "PUT /agents/%s/favorite", id), 201);
	r = ask(f, guest_token, "{\"name\":\"Mine\"}", "POST /agents/%s/clone", id);
	STATUS(r, 403);
	CHECK(strstr(text_at(&r, "detail"), "agents:create"));
	r = ask(f, token, "{\"name\":\"Mine\"}", "POST /agents/%s/clone", id);
	STATUS(r, 201);
	copy = text_at(&r, "id");
	CHECK_STR(text_at(&r, "created_by_id"), user);
	CHECK(json_is_null(at(&r, "avatar_sha256")));

	test_step("whoever copies owns the copy, and nothing of the source");
	r = ask(f, token, NULL, "GET /agents/%s/roles", copy);
	CHECK_INT(json_integer_value(at(&r, "total")), 1);
	CHECK_STR(text_at(&r, "items.0.user_id"), user);
	CHECK_STR(text_at(&r, "items.0.role"), "OWNER");
	STATUS(ask(f, token, "{\"voice\":\"v\"}", "PATCH /agents/%s", id), 403);
	STATUS(ask(f, token, NULL, "DELETE /agents/%s", copy), 204);
	CHECK_INT(fixture_count(f, "select count(*) from sessions"), 1);
	CHECK_INT(fixture_count(f, "select count(*) from favorites"), 1);
	CHECK_INT(fixture_count(f, "select count(*) from integrations"), 1);

	test_step("what cannot be seen cannot be copied");
	fixture_sql(f, "update agents set is_admin_only = 1", NO_ARGS);
	STATUS(ask(f, token, "{\"name\":\"Mine\"}", "POST /agents/%s/clone", id), 404);
	STATUS(ask(f, f->admin, "{\"name\":\"Mine\"}", "POST /agents/c%024d/clone", 1), 404);
	r = ask(f, f->admin, "{\"name\":\"No_way\",\"slug\":\"x\"}", "POST /agents/%s/clone", id);
	CHECK(refuses(&r, "name", "pattern"));
	CHECK(refuses(&r, "slug", "unknown_field"));
	fixture_close(f);
}

TEST(clone_slugs_come_from_the_name_and_are_unique)
{
	struct fixture *f = fixture_open();
	const char *id = make_agent(f, f->admin, "{\"name\":\"S\",\"slug\":\"support-desk\"}");
	const char *x255, *slug;

	CHECK_STR(clone_slug(f, id, "Support Desk"), "support-desk-2");
	CHECK_STR(clone_slug(f, id, "Support Desk"), "support-desk-3");
	CHECK_STR(clone_slug(f, id, " -Support - Desk- "), "support-desk-4");
	CHECK_STR(clone_slug(f, id, "---"), "agent");
	CHECK_STR(clone_slug(f, id, " "), "agent-2");
	CHECK_STR(clone_slug(f, id, "7 UP"), "7-up");
	for (int i = 5; i <= 40; i++)
		CHECK_STR(clone_slug(f, id, "Support Desk"),
			arena_printf(&f->arena, "support-desk-%d", i));

	test_step("a gap is filled or left, but the slug is free");
	fixture_sql(f, "delete from agents where slug = 'support-desk-9'", NO_ARGS);
	slug = clone_slug(f, id, "Support Desk");
	CHECK(strcmp(slug, "support-desk-9") == 0 || strcmp(slug, "support-desk-41") == 0);

	test_step("long names");
	x255 = arena_printf(&f->arena, "%0*d", 255, 0);
	CHECK_INT(strlen(clone_slug(f, id, x255)), 64);
	slug = clone_slug(f, id, x255);
	CHECK_INT(strlen(slug), 64);
	CHECK_STR(slug + 62, "-2");
	slug = clone_slug(f, id, arena_printf(&f->arena, "%0*d B", 63, 0));
	CHECK_INT(strlen(slug), 63);
	fixture_close(f);
}

TEST(clone_keeps_to_the_plan)
{
	struct fixture *f = fixture_open();
	const char *id = make_agent(f, f->admin, "{\"name\":\"S\",\"slug\":\"s\"}");
	struct answer r;

	fixture_sql(f, "update plans set max_agents = 2", NO_ARGS);
	STATUS(ask(f, f->admin, "{\"name\":\"S\"}", "POST /agents/%s/clone", id), 201);
	r = ask(f, f->admin, "{\"name\":\"S\"}", "POST /agents/%s/clone", id);
	STATUS(r, 409);
	CHECK_STR(text_at(&r, "type"), "urn:lodge:problem:plan_limit");
	CHECK_INT(fixture_count(f, "select count(*) from agents"), 2);
	fixture_close(f);
}

TEST(clones_at_the_same_moment_all_get_a_slug)
{
	enum { AT_ONCE = 8 };
	struct fixture *f = fixture_open();
	const char *id = make_agent(f, f->admin, "{\"name\":\"S\",\"slug\":\"twin\"}");
	struct racer racers[AT_ONCE];

	for (int i = 0; i < AT_ONCE; i++)
		racers[i] = (struct racer){ f->admin, "{\"name\":\"Twin\"}",
			arena_printf(&f->arena, "POST /agents/%s/clone", id) };
	race(f, racers, AT_ONCE);
	for (int i = 0; i < AT_ONCE; i++)
		STATUS(racers[i].answer, 201);
	CHECK_INT(
		fixture_count(f, "select count(distinct slug) from agents where slug like 'twin%'"),
		AT_ONCE + 1);
	CHECK_INT(fixture_count(f, "select count(*) from agents where slug = 'twin-9'"), 1);
	CHECK_INT(fixture_count(f, "select sum(agents) from tenant_counts"), AT_ONCE + 1);
	fixture_close(f);
}

TEST(clone_repeated_with_the_same_key_acts_once)
{
	struct fixture *f = fixture_open();
	const char *id = make_agent(f, f->admin, "{\"name\":\"S\",\"slug\":\"s\"}");
	struct answer first = ask(
		f, f->admin, "{\"name\":\"C\"}", "POST /agents/%s/clone\nIdempotency-Key: k", id);
	struct answer again = ask(
		f, f->admin, "{\"name\":\"C\"}", "POST /agents/%s/clone\nIdempotency-Key: k", id);

	STATUS(first, 201);
	CHECK_STR(again.body, first.body);
	CHECK_INT(fixture_count(f, "select count(*) from agents"), 2);
	fixture_close(f);
}

/* Posts and gives the id of what was made. */
static const char *made(struct fixture *f, const char *body, const char *path)
{
	struct answer r = ask(f, f->admin, body, "POST /tenant/%s/%s", f->tenant_id, path);

	STATUS(r, 201);
	return text_at(&r, "id");
}

TEST(clone_takes_models_skills_tools_and_bundles_along_without_their_secrets)
{
	struct fixture *f = fixture_open();
	struct arena *a = &f->arena;
	const char *agent = made(f, "{\"name\":\"Source\",\"slug\":\"source\"}", "agents");
	const char *skill = made(f,
		"{\"name\":\"S\",\"slug\":\"s\",\"description\":\"D\",\"instructions\":\"I\",\"visibility\":\"tenant\"}",
		"skills");
	const char *tool = made(f, "{\"name\":\"time\",\"kind\":\"builtin\"}", "tools");
	const char *bundle =
		made(f, arena_printf(a, "{\"name\":\"B\",\"slug\":\"b\",\"tools\":[\"%s\"]}", tool),
			"tool-bundles");
	struct answer r = ask(f, f->admin, NULL, "GET /agents/%s/models/catalog", agent);
	const char *model = text_at(&r, "items.0.model_id"), *copy;

	r = ask(f, f->admin, NULL, "PUT /agents/%s/models/catalog/%s", agent, model);
	CHECK(r.status == 200 || r.status == 201);
	STATUS(ask(f, f->admin, arena_printf(a, "{\"skill_id\":\"%s\"}", skill),
		       "POST /agents/%s/skills", agent),
		201);
	STATUS(ask(f, f->admin, "{\"config\":{\"token\":\"very secret\"}}",
		       "PATCH /agents/%s/skills/%s/config", agent, skill),
		200);
	STATUS(ask(f, f->admin, arena_printf(a, "{\"permissions\":[{\"skill_id\":\"%s\"}]}", skill),
		       "PUT /agents/%s/skills/permissions", agent),
		200);
	STATUS(ask(f, f->admin,
		       arena_printf(a,
			       "{\"tool_id\":\"%s\",\"configuration\":{\"token\":\"very secret\"}}",
			       tool),
		       "POST /agents/%s/tools", agent),
		201);
	STATUS(ask(f, f->admin, arena_printf(a, "{\"bundle_id\":\"%s\"}", bundle),
		       "POST /agents/%s/tool-bundles", agent),
		201);
	r = ask(f, f->admin, "{\"name\":\"Copy\"}", "POST /agents/%s/clone", agent);
	STATUS(r, 201);
	copy = text_at(&r, "id");
	r = ask(f, f->admin, NULL, "GET /agents/%s/models", copy);
	CHECK_STR(text_at(&r, "items.0.model_id"), model);
	r = ask(f, f->admin, NULL, "GET /agents/%s/skills", copy);
	CHECK_STR(text_at(&r, "items.0.skill_id"), skill);
	CHECK(json_is_false(at(&r, "items.0.has_config")));
	r = ask(f, f->admin, NULL, "GET /agents/%s/skills/permissions", copy);
	CHECK_STR(text_at(&r, "items.0.skill_id"), skill);
	r = ask(f, f->admin, NULL, "GET /agents/%s/tools", copy);
	CHECK_STR(text_at(&r, "items.0.tool_id"), tool);
	CHECK_INT(json_object_size(at(&r, "items.0.configuration")), 0);
	r = ask(f, f->admin, NULL, "GET /agents/%s/tool-bundles", copy);
	CHECK_STR(text_at(&r, "items.0.bundle.id"), bundle);
	/* Its own from here on. */
	STATUS(ask(f, f->admin, "{\"config\":{\"token\":\"another\"}}",
		       "PATCH /agents/%s/skills/%s/config", copy, skill),
		200);
	STATUS(ask(f, f->admin, "{\"configuration\":{\"a\":1}}", "PATCH /agents/%s/tools/%s", copy,
		       tool),
		200);
	r = ask(f, f->admin, NULL, "GET /agents/%s/skills/%s/config", agent, skill);
	CHECK_STR(text_at(&r, "config.token"), "very secret");
	fixture_close(f);
}
