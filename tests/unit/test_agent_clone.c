/* test_agent_clone.c - copies of agents: what comes along and what does not, their slugs, and what
 * happens when many come at once. */
#include "race.h"

#include <stdlib.h>

/* Posts to a list of the tenant, and gives the id of what was made. */
static const char *made(struct fixture *f, const char *path, const char *body)
{
	return fixture_created(f, f->admin, body, "POST /tenant/%s/%s", f->tenant_id, path);
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
	const char *id = made(f, "agents",
		"{\"name\":\"Source\",\"slug\":\"source\",\"kind\":\"analyst\",\"environment_mode\":"
		"\"isolated\",\"description\":\"\xf0\x9f\xa6\x89 d\",\"description_prompt\":"
		"\"\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d\",\"initial_greeting\":\"hi\","
		"\"image_ref\":\"i\",\"iteration_warn_threshold\":7,\"voice\":\"alto\",\"hidden\":true}");
	const char *copy;
	struct answer before, after, r;

	STATUS(ask(f, f->admin,
		       "{\"bootstrap_instructions\":\"b\",\"ssh_public_key\":\"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPyBtclRJhn1/1yW9SSvu3w0v40fQOKRh4djz7IMVDLR\",\"is_active\":false,"
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
	const char *id = made(f, "agents", "{\"name\":\"S\",\"slug\":\"s\"}");
	struct answer r;

	fixture_member(f, f->tenant_id, user, "MEMBER");
	fixture_member(f, f->tenant_id, guest, "GUEST");
	fixture_sql(f,
		"insert into session_rows (tenant_id, id, agent_id, status, origin, iteration_count, "
		"message_count, last_event_id, created_at, updated_at) "
		"values ($1, 's1', $2, 'completed', 'user', 0, 0, 0, 1, 1)",
		ARGS(T(f->tenant_id), T(id)));
	fixture_sql(f,
		"insert into integration_rows (tenant_id, id, agent_id, provider, label, is_active, "
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
	fixture_sql(f, "update agent_rows set is_admin_only = 1", NO_ARGS);
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
	const char *id = made(f, "agents", "{\"name\":\"S\",\"slug\":\"support-desk\"}");
	const char *x255, *slug;

	CHECK_STR(clone_slug(f, id, "Support Desk"), "support-desk-2");
	CHECK_STR(clone_slug(f, id, "Support Desk"), "support-desk-3");
	CHECK_STR(clone_slug(f, id, " -Support - Desk- "), "support-desk-4");
	CHECK_STR(clone_slug(f, id, "---"), "agent");
	CHECK_STR(clone_slug(f, id, "Postmaster"), "postmaster-2"); /* see mail/reserved.h */
	CHECK_STR(clone_slug(f, id, " "), "agent-2");
	CHECK_STR(clone_slug(f, id, "7 UP"), "7-up");
	for (int i = 5; i <= 40; i++)
		CHECK_STR(clone_slug(f, id, "Support Desk"),
			arena_printf(&f->arena, "support-desk-%d", i));

	test_step("a gap is filled or left, but the slug is free");
	fixture_sql(f, "delete from agent_rows where slug = 'support-desk-9'", NO_ARGS);
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
	const char *id = made(f, "agents", "{\"name\":\"S\",\"slug\":\"s\"}");
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
	const char *id = made(f, "agents", "{\"name\":\"S\",\"slug\":\"twin\"}");
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
	const char *id = made(f, "agents", "{\"name\":\"S\",\"slug\":\"s\"}");
	struct answer first = ask(
		f, f->admin, "{\"name\":\"C\"}", "POST /agents/%s/clone\nIdempotency-Key: k", id);
	struct answer again = ask(
		f, f->admin, "{\"name\":\"C\"}", "POST /agents/%s/clone\nIdempotency-Key: k", id);

	STATUS(first, 201);
	CHECK_STR(again.body, first.body);
	CHECK_INT(fixture_count(f, "select count(*) from agents"), 2);
	fixture_close(f);
}

TEST(clone_takes_models_skills_tools_and_bundles_along)
{
	struct fixture *f = fixture_open();
	struct arena *a = &f->arena;
	const char *agent = made(f, "agents", "{\"name\":\"Source\",\"slug\":\"source\"}");
	const char *skill = made(f, "skills",
		"{\"name\":\"S\",\"slug\":\"s\",\"description\":\"D\",\"instructions\":\"I\",\"visibility\":\"tenant\"}");
	const char *tool = made(f, "tools", "{\"name\":\"time\",\"kind\":\"builtin\"}");
	const char *bundle = made(f, "tool-bundles",
		arena_printf(a, "{\"name\":\"B\",\"slug\":\"b\",\"tools\":[\"%s\"]}", tool));
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
	CHECK(json_is_true(at(&r, "items.0.has_config")));
	r = ask(f, f->admin, NULL, "GET /agents/%s/skills/%s/config", copy, skill);
	CHECK_STR(text_at(&r, "config.token"), "very secret");
	r = ask(f, f->admin, NULL, "GET /agents/%s/skills/permissions", copy);
	CHECK_STR(text_at(&r, "items.0.skill_id"), skill);
	r = ask(f, f->admin, NULL, "GET /agents/%s/tools", copy);
	CHECK_STR(text_at(&r, "items.0.tool_id"), tool);
	CHECK_STR(text_at(&r, "items.0.configuration.token"), "very secret");
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
	r = ask(f, f->admin, NULL, "GET /agents/%s/tools", agent);
	CHECK_STR(text_at(&r, "items.0.configuration.token"), "very secret");
	fixture_close(f);
}

/* Who copies × whose tool it is to give × whether it has settings: the copy has the tool with its settings, or
 * has it switched off, or (without settings, and free to give) has it. */
TEST(clone_never_loosens_a_tool)
{
	struct fixture *f = fixture_open();
	struct arena *a = &f->arena;
	const char *agent = made(f, "agents", "{\"name\":\"Source\",\"slug\":\"source\"}");
	const char *free_tool = made(f, "tools", "{\"name\":\"time\",\"kind\":\"builtin\"}");
	const char *kept = made(f, "tools",
		"{\"name\":\"calculator\",\"kind\":\"builtin\",\"grantable_by\":\"admins\"}");
	const char *bundle = made(f, "tool-bundles",
		arena_printf(a, "{\"name\":\"B\",\"slug\":\"b\",\"tools\":[\"%s\"]}", kept));
	const char *manager_token, *reader_token;
	const char *manager = fixture_user(f, "manager@example.org", &manager_token);
	const char *reader = fixture_user(f, "reader@example.org", &reader_token);
	const struct {
		const char *token;
		bool manages, administers;
	} who[] = { { f->admin, true, true }, { manager_token, true, false },
		{ reader_token, false, false } };

	fixture_member(f, f->tenant_id, manager, "MEMBER");
	fixture_member(f, f->tenant_id, reader, "MEMBER");
	STATUS(ask(f, f->admin, "{\"role\":\"MANAGER\"}", "PUT /agents/%s/roles/%s", agent,
		       manager),
		201);
	STATUS(ask(f, f->admin, arena_printf(a, "{\"bundle_id\":\"%s\"}", bundle),
		       "POST /agents/%s/tool-bundles", agent),
		201);
	for (int pinned = 0; pinned < 2; pinned++)
		for (int admins = 0; admins < 2; admins++) {
			const char *tool = admins ? kept : free_tool;

			ask(f, f->admin, NULL, "DELETE /agents/%s/tools/%s", agent, tool);
			STATUS(ask(f, f->admin,
				       arena_printf(a, "{\"tool_id\":\"%s\"%s}", tool,
					       pinned ? ",\"configuration\":{\"pin\":\"s3cret\"}"
						      : ""),
				       "POST /agents/%s/tools", agent),
				201);
			for (size_t i = 0; i < sizeof who / sizeof *who; i++) {
				bool may = who[i].administers ||
					   (!admins && (!pinned || who[i].manages));
				struct answer r = ask(f, who[i].token, "{\"name\":\"Copy\"}",
					"POST /agents/%s/clone", agent);
				const char *copy = text_at(&r, "id"), *item = "items.0";

				STATUS(r, 201);
				r = ask(f, f->admin, NULL, "GET /agents/%s/tools", copy);
				for (size_t k = 0; k < json_array_size(at(&r, "items")); k++)
					if (strcmp(text_at(&r,
							   arena_printf(a, "items.%zu.tool_id", k)),
						    tool) == 0)
						item = arena_printf(a, "items.%zu", k);
				CHECK_STR(text_at(&r, arena_printf(a, "%s.tool_id", item)), tool);
				CHECK_INT(json_is_true(
						  at(&r, arena_printf(a, "%s.is_enabled", item))),
					may);
				CHECK_INT(json_object_size(at(
						  &r, arena_printf(a, "%s.configuration", item))),
					may && pinned);
				/* nor by the bundle that holds it */
				r = ask(f, f->admin, NULL, "GET /agents/%s/tool-bundles", copy);
				CHECK_INT(json_array_size(at(&r, "items")), who[i].administers);
			}
		}
	CHECK_INT(fixture_count(f,
			  "select count(*) from agent_tools where configuration like '%s3cret%'"),
		0);
	fixture_close(f);
}

/* Who copies × whether it has settings, and whether they can be read: the copy has the skill with its settings, or has
 * it switched off, or (without settings) has it. */
TEST(clone_never_loosens_a_skill)
{
	enum { NONE, SET, LOST, STATES };
	struct fixture *f = fixture_open();
	struct arena *a = &f->arena;
	const char *agent = made(f, "agents", "{\"name\":\"Source\",\"slug\":\"source\"}");
	const char *skill = made(f, "skills",
		"{\"name\":\"S\",\"slug\":\"s\",\"description\":\"D\",\"instructions\":\"I\",\"visibility\":\"tenant\"}");
	const char *manager_token, *reader_token, *path;
	const char *manager = fixture_user(f, "manager@example.org", &manager_token);
	const char *reader = fixture_user(f, "reader@example.org", &reader_token);
	struct answer r =
		ask(f, f->admin, "{\"name\":\"k\",\"scopes\":[\"agent:read\",\"agents:create\"]}",
			"POST /tenant/%s/api-keys", f->tenant_id);
	const struct {
		const char *token;
		bool reads;
	} who[] = { { f->admin, true }, { manager_token, true }, { reader_token, false },
		{ text_at(&r, "key"), false } };

	fixture_member(f, f->tenant_id, manager, "MEMBER");
	fixture_member(f, f->tenant_id, reader, "MEMBER");
	STATUS(ask(f, f->admin, "{\"role\":\"MANAGER\"}", "PUT /agents/%s/roles/%s", agent,
		       manager),
		201);
	STATUS(ask(f, f->admin, arena_printf(a, "{\"skill_id\":\"%s\"}", skill),
		       "POST /agents/%s/skills", agent),
		201);
	path = arena_printf(a, "PATCH /agents/%s/skills/%s/config", agent, skill);
	for (int state = 0; state < STATES; state++) {
		if (state == SET)
			STATUS(ask(f, f->admin, "{\"config\":{\"token\":\"s3cret\"}}", "%s", path),
				200);
		if (state == LOST)
			fixture_sql(f,
				"update agent_skills set config_sealed = 'v1.lost' where agent_id = $1",
				ARGS(T(agent)));
		for (size_t i = 0; i < sizeof who / sizeof *who; i++) {
			bool has = state == SET && who[i].reads;
			const char *copy;

			test_step("state %d, %zu", state, i);
			r = ask(f, who[i].token, "{\"name\":\"Copy\"}", "POST /agents/%s/clone",
				agent);
			STATUS(r, 201);
			copy = text_at(&r, "id");
			r = ask(f, f->admin, NULL, "GET /agents/%s/skills", copy);
			CHECK_STR(text_at(&r, "items.0.skill_id"), skill);
			CHECK_INT(json_is_true(at(&r, "items.0.is_enabled")), state == NONE || has);
			CHECK_INT(json_is_true(at(&r, "items.0.has_config")), has);
			r = ask(f, f->admin, NULL, "GET /agents/%s/skills/%s/config", copy, skill);
			STATUS(r, 200);
			CHECK_INT(json_object_size(at(&r, "config")), has);
		}
	}
	CHECK_INT(fixture_count(f,
			  "select count(*) from agent_skills where config_sealed like '%s3cret%'"),
		0);
	fixture_close(f);
}
