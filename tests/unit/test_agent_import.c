/* test_agent_import.c - agents from files and back: what is made, by whom it may be, and that the same file is the same agent. */
#include "bundle_fixture.h"
#include "fixture.h"
#include "picture_fixture.h"

static struct answer import_bytes(struct fixture *f, const char *token, const char *tenant_id,
	const void *bytes, size_t len, const char *type, const char *query)
{
	return ask_bytes(f, token, bytes, len, "POST /tenant/%s/agents/import%s\nContent-Type: %s",
		tenant_id, query, type);
}

static struct answer import_example(struct fixture *f, const char *name, const char *query)
{
	size_t len;
	const char *text = bundle_example(&f->arena, name, &len);

	return import_bytes(f, f->admin, f->tenant_id, text, len, "application/json", query);
}

static int64_t count_of(struct fixture *f, const char *table)
{
	return fixture_count(f, arena_printf(&f->arena, "select count(*) from %s", table));
}

static bool warned(const struct answer *r, const char *of)
{
	json_t *list = at(r, "warnings");
	size_t i;
	json_t *item;

	json_array_foreach(list, i, item) if (strstr(json_string_value(item), of)) return true;
	return false;
}

TEST(agent_import_of_another_platform)
{
	struct fixture *f = fixture_open();
	int64_t agents = count_of(f, "agents");
	const char *id;
	struct answer r;

	fixture_tool(f, "{\"name\":\"find_train\",\"kind\":\"http\",\"description\":\"D\","
			"\"config\":{\"method\":\"GET\",\"url\":\"https://example.org/\"}}");

	test_step("tried, and nothing is there after it");
	r = import_example(f, "letta-2.af", "?dry_run=true");
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "agent_name"), "Trip planner EU");
	CHECK_INT(json_integer_value(at(&r, "messages_imported")), 4);
	CHECK_INT(json_integer_value(at(&r, "memories_imported")), 2);
	CHECK_INT(count_of(f, "agent_rows"), agents);
	CHECK_INT(count_of(f, "agent_imports"), 0);
	CHECK_INT(count_of(f, "messages"), 0);
	STATUS(ask(f, f->admin, NULL, "GET /tenant/%s/agents/%s", f->tenant_id,
		       text_at(&r, "agent_id")),
		404);

	test_step("made");
	r = import_example(f, "letta-2.af", "");
	STATUS(r, 201);
	id = text_at(&r, "agent_id");
	CHECK_STR(text_at(&r, "source_platform"), "letta");
	CHECK_STR(text_at(&r, "agent_slug"), "trip-planner-eu");
	CHECK_STR(text_at(&r, "model_slug_requested"), "openai/gpt-4o-mini");
	CHECK(json_is_null(at(&r, "model_slug_resolved")));
	CHECK(json_is_true(at(&r, "model_fallback_used")));
	CHECK_INT(json_array_size(at(&r, "tools_attached")), 1);
	CHECK_STR(text_at(&r, "tools_unmatched.0"), "send_message");
	CHECK_INT(json_integer_value(at(&r, "sessions_imported")), 1);
	CHECK(warned(&r, "\"Second\""));
	CHECK(warned(&r, "Trip planner (EU)"));
	r = ask(f, f->admin, NULL, "GET /tenant/%s/agents/%s", f->tenant_id, id);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "description_prompt"), "You plan trips by train.");
	r = ask(f, f->admin, NULL, "GET /tenant/%s/agents/%s/memories", f->tenant_id, id);
	CHECK_INT(json_array_size(at(&r, "items")), 2);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/agents/%s/sessions", f->tenant_id, id);
	CHECK_STR(text_at(&r, "items.0.title"), "To Lyon, please.");
	CHECK_STR(text_at(&r, "items.0.created_at"), "2026-03-01T10:00:01.000Z");
	CHECK_INT(json_integer_value(at(&r, "items.0.message_count")), 4);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/sessions/%s/messages", f->tenant_id,
		text_at(&r, "items.0.id"));
	CHECK_STR(text_at(&r, "items.3.content"), "To Lyon, please.");
	CHECK_STR(text_at(&r, "items.2.tool_calls.0.name"), "find_train");
	CHECK_STR(text_at(&r, "items.1.tool_call_id"), "call_a");

	test_step("again: the same agent, whatever name is asked for");
	r = import_example(f, "letta-2.af", "?name=Other");
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "agent_id"), id);
	CHECK(json_is_true(at(&r, "idempotent_reuse")));
	CHECK_INT(json_integer_value(at(&r, "messages_imported")), 0);
	CHECK_INT(json_array_size(at(&r, "warnings")), 0);
	CHECK_INT(count_of(f, "agent_rows"), agents + 1);

	test_step("deleted, it may come anew");
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/agents/%s", f->tenant_id, id), 204);
	r = import_example(f, "letta-2.af", "?name=Other");
	STATUS(r, 201);
	CHECK_STR(text_at(&r, "agent_slug"), "other");
	CHECK(strcmp(text_at(&r, "agent_id"), id) != 0);
	fixture_sweep(f);
	CHECK_INT(count_of(f, "agent_imports"), 1);
	CHECK_INT(fixture_count(f, "select count(*) from audit_logs where action = 'agent.import'"),
		3);
	fixture_close(f);
}

TEST(agent_import_names_and_refusals)
{
	struct fixture *f = fixture_open();
	static const char bo[] = "{\"name\":\"Bo\",\"first_mes\":\"x\",\"personality\":\"y\"}";
	int64_t agents = count_of(f, "agent_rows");
	struct answer r = import_example(f, "card-1.json", "?name=a_b");

	STATUS(r, 422);
	CHECK(refuses(&r, "name", "pattern"));
	r = import_bytes(f, f->admin, f->tenant_id, "{\"a\":1}", 7, "application/json", "");
	STATUS(r, 422);
	CHECK(refuses(&r, "body", "format"));
	r = import_bytes(f, f->admin, f->tenant_id, "x", 1, "application/x-tar", "");
	STATUS(r, 415);
	CHECK_INT(count_of(f, "agent_rows"), agents);

	test_step("a slug that is taken has a number");
	STATUS(import_example(f, "card-1.json", ""), 201);
	r = import_bytes(f, f->admin, f->tenant_id, bo, strlen(bo), "application/json", "");
	STATUS(r, 201);
	CHECK_STR(text_at(&r, "agent_slug"), "bo-2");

	test_step("the plan");
	fixture_sql(f, "update plans set max_agents = 1", NO_ARGS);
	r = import_example(f, "card-2.json", "");
	STATUS(r, 409);
	CHECK_STR(text_at(&r, "type"), "urn:lodge:problem:plan_limit");
	STATUS(import_example(f, "card-2.json", "?dry_run=true"), 409);
	fixture_close(f);
}

/* ---- there and back ---- */

static void paint_grades(int x, int y, uint8_t *rgba)
{
	rgba[0] = (uint8_t)(x * 3);
	rgba[1] = (uint8_t)(y * 5);
	rgba[2] = (uint8_t)(x ^ y);
	rgba[3] = 255;
}

static const char *full_agent(struct fixture *f)
{
	const char *id = fixture_created(f, f->admin,
		"{\"name\":\"Support desk\",\"slug\":\"desk\",\"kind\":\"coding\",\"hidden\":true,"
		"\"description\":\"D \\u00e9\",\"description_prompt\":\"Be kind.\",\"initial_greeting\":\"Hi\","
		"\"iteration_warn_threshold\":7,\"voice\":\"alloy\"}",
		"POST /tenant/%s/agents", f->tenant_id);
	const char *skill = fixture_created(f, f->admin,
		"{\"name\":\"PDF forms\",\"slug\":\"pdf-forms\",\"description\":\"Fills.\","
		"\"instructions\":\"# How\\n\",\"metadata\":{\"k\":\"v\"},\"allowed_tools\":[\"Read\"]}",
		"POST /tenant/%s/skills", f->tenant_id);
	const char *tool = fixture_tool(f,
		"{\"name\":\"look_up\",\"kind\":\"http\",\"description\":\"D\","
		"\"config\":{\"method\":\"GET\",\"url\":\"https://example.org/\"}}");
	struct picture p = picture_paint(300, 200, paint_grades);
	struct buf png;

	STATUS(ask(f, f->admin, "one\n",
		       "PUT /tenant/%s/skills/%s/file?path=references/a.md\nContent-Type: text/plain",
		       f->tenant_id, skill),
		201);
	STATUS(ask(f, f->admin, arena_printf(&f->arena, "{\"skill_id\":\"%s\"}", skill),
		       "POST /tenant/%s/agents/%s/skills", f->tenant_id, id),
		201);
	STATUS(ask(f, f->admin, arena_printf(&f->arena, "{\"tool_id\":\"%s\"}", tool),
		       "POST /tenant/%s/agents/%s/tools", f->tenant_id, id),
		201);
	STATUS(ask(f, f->admin, "{\"bootstrap_instructions\":\"First.\",\"is_active\":true}",
		       "PATCH /tenant/%s/agents/%s", f->tenant_id, id),
		200);
	STATUS(ask(f, f->admin, "{\"hourly_limit_usd\":2.5}", "PUT /tenant/%s/agents/%s/budget",
		       f->tenant_id, id),
		200);
	STATUS(ask(f, f->admin,
		       "{\"chat_rpm_limit\":5,\"working_hours_enabled\":true,\"working_hours_days\":[\"Mon\"],"
		       "\"working_hours_start\":\"09:00\"}",
		       "PUT /tenant/%s/agents/%s/chat-config", f->tenant_id, id),
		200);
	for (int i = 0; i < 3; i++)
		STATUS(ask(f, f->admin, arena_printf(&f->arena, "{\"content\":\"M%d\"}", i),
			       "POST /tenant/%s/agents/%s/memories", f->tenant_id, id),
			201);
	STATUS(ask(f, f->admin, "{\"content\":\"my own\",\"scope\":\"private\"}",
		       "POST /tenant/%s/agents/%s/memories", f->tenant_id, id),
		201);
	for (int i = 0; i < 2; i++)
		fixture_session(f, f->admin, id, arena_printf(&f->arena, "{\"title\":\"S%d\"}", i));
	buf_init(&png, 1 << 22);
	picture_fixture_png(&png, &p, KIND_RGB_8, false);
	STATUS(ask_bytes(f, f->admin, png.at, png.len,
		       "PUT /tenant/%s/agents/%s/avatar\nContent-Type: image/png", f->tenant_id,
		       id),
		200);
	buf_free(&png);
	picture_free(&p);
	return id;
}

static struct answer export_agent(struct fixture *f, const char *tenant_id, const char *id)
{
	return ask(f, f->admin, NULL, "GET /tenant/%s/agents/%s/export?sessions=true&memories=true",
		tenant_id, id);
}

TEST(agent_export_is_imported_as_it_was)
{
	struct fixture *f = fixture_open();
	const char *id = full_agent(f), *other = fixture_tenant(f, "other", f->admin_id);
	struct answer first = export_agent(f, f->tenant_id, id), second, r;

	STATUS(first, 200);
	CHECK(strstr(first.head, "desk.zip"));
	CHECK(!memmem(first.body, first.body_len, id, strlen(id)));
	CHECK(!memmem(first.body, first.body_len, "my own", 6));
	second = export_agent(f, f->tenant_id, id);
	CHECK_INT(first.body_len, second.body_len);
	CHECK(memcmp(first.body, second.body, first.body_len) == 0);

	test_step("where nothing matches");
	r = import_bytes(f, f->admin, other, first.body, first.body_len, "application/zip", "");
	STATUS(r, 201);
	CHECK_STR(text_at(&r, "source_platform"), "lodge");
	CHECK_STR(text_at(&r, "agent_slug"), "desk");
	CHECK_INT(json_integer_value(at(&r, "memories_imported")), 3);
	CHECK_INT(json_integer_value(at(&r, "sessions_imported")), 2);
	CHECK_INT(json_integer_value(at(&r, "skills_imported")), 1);
	CHECK_STR(text_at(&r, "tools_unmatched.0"), "look_up");

	test_step("where all matches, in the place of the first: the same bytes");
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/agents/%s", f->tenant_id, id), 204);
	fixture_sweep(f);
	r = import_bytes(
		f, f->admin, f->tenant_id, first.body, first.body_len, "application/zip", "");
	STATUS(r, 201);
	CHECK_INT(json_array_size(at(&r, "warnings")), 0);
	CHECK_INT(json_integer_value(at(&r, "skills_imported")), 1);
	second = export_agent(f, f->tenant_id, text_at(&r, "agent_id"));
	STATUS(second, 200);
	CHECK_INT(first.body_len, second.body_len);
	CHECK(first.body_len == second.body_len &&
		memcmp(first.body, second.body, first.body_len) == 0);
	CHECK_INT(fixture_count(f, "select count(*) from skills where slug = 'pdf-forms'"), 2);
	fixture_close(f);
}

/* What is set of a tool may be a secret, and may be what keeps it within bounds. */
TEST(agent_export_leaves_settings_and_switches_off)
{
	struct fixture *f = fixture_open();
	const char *id = fixture_agent(f, "a");
	const char *tool = fixture_tool(f,
		"{\"name\":\"look_up\",\"kind\":\"http\",\"description\":\"D\","
		"\"config\":{\"method\":\"GET\",\"url\":\"https://example.org/\"},"
		"\"input_schema\":{\"type\":\"object\",\"properties\":{\"q\":{\"type\":\"string\"}}}}");
	struct answer r;

	STATUS(ask(f, f->admin,
		       arena_printf(&f->arena,
			       "{\"tool_id\":\"%s\",\"configuration\":{\"q\":\"pinned-secret\"}}",
			       tool),
		       "POST /tenant/%s/agents/%s/tools", f->tenant_id, id),
		201);
	r = export_agent(f, f->tenant_id, id);
	STATUS(r, 200);
	CHECK(!memmem(r.body, r.body_len, "pinned-secret", 13));
	CHECK(memmem(r.body, r.body_len, "\"look_up\",\"is_enabled\":false", 28));
	r = import_bytes(f, f->admin, f->tenant_id, r.body, r.body_len, "application/zip", "");
	STATUS(r, 201);
	CHECK_STR(text_at(&r, "agent_slug"), "a-2");
	CHECK(warned(&r, "look_up"));
	CHECK_INT(fixture_count(f, "select count(*) from agent_tools where is_enabled = 1"), 1);
	fixture_close(f);
}

/* ---- rows ---- */

static struct answer import_made(struct fixture *f, const char *token, const char *members,
	const struct bundle_piece *pieces)
{
	struct answer r;
	struct buf zip;

	bundle_made(&zip, &f->arena, members, pieces);
	r = import_bytes(f, token, f->tenant_id, zip.at, zip.len, "application/zip", "");
	buf_free(&zip);
	return r;
}

#define AGENT "\"agent\":{\"name\":\"A\",\"slug\":\"a\"}"

TEST(agent_import_counts_what_fails)
{
	struct fixture *f = fixture_open();
	char *longest = arena_alloc(&f->arena, 9000);
	const char *lines;
	struct answer r;

	memset(longest, 'x', 8001);
	lines = arena_printf(&f->arena,
		"{\"content\":\"One\"}\n{\"content\":\"%s\"}\n{\"content\":\"Two\"}\n", longest);
	r = import_made(f, f->admin,
		AGENT
		",\"memories\":\"m\",\"skills\":[{\"folder\":\"s/bad\"},{\"folder\":\"s/good\"}]",
		(const struct bundle_piece[]){ { "m", lines }, { "s/bad/SKILL.md", "no head" },
			{ "s/good/SKILL.md", "---\nname: good\ndescription: d\n---\nx\n" },
			{ NULL, NULL } });
	STATUS(r, 201);
	CHECK_INT(json_integer_value(at(&r, "memories_imported")), 2);
	CHECK_INT(json_integer_value(at(&r, "memories_failed")), 1);
	CHECK_INT(json_integer_value(at(&r, "skills_imported")), 1);
	CHECK_INT(json_integer_value(at(&r, "skills_failed")), 1);
	CHECK_INT(fixture_count(f, "select count(*) from audit_logs where action = 'skill.import'"),
		1);
	CHECK(warned(&r, "Memory 2"));
	CHECK(warned(&r, "s/bad"));
	CHECK_INT(count_of(f, "memories"), 2);

	test_step("a skill of that name with another text stays as it is");
	r = import_made(f, f->admin, AGENT ",\"skills\":[{\"folder\":\"s/good\"}]",
		(const struct bundle_piece[]){
			{ "s/good/SKILL.md", "---\nname: good\ndescription: other\n---\nx\n" },
			{ NULL, NULL } });
	STATUS(r, 201);
	CHECK_INT(json_integer_value(at(&r, "skills_failed")), 1);
	CHECK(warned(&r, "another skill of this name"));

	test_step("sessions beyond the plan");
	fixture_sql(f, "update plans set max_sessions_per_day = 1", NO_ARGS);
	r = import_made(f, f->admin, AGENT ",\"sessions\":[\"1\",\"2\"]",
		(const struct bundle_piece[]){ { "1", "{}\n{\"role\":\"user\",\"content\":\"a\"}" },
			{ "2", "{}\n{\"role\":\"user\",\"content\":\"b\"}" }, { NULL, NULL } });
	STATUS(r, 201);
	CHECK_INT(json_integer_value(at(&r, "sessions_imported")), 1);
	CHECK_INT(json_integer_value(at(&r, "messages_imported")), 1);
	CHECK(warned(&r, "Session 2"));
	CHECK_INT(count_of(f, "messages"), 1);
	fixture_close(f);
}

TEST(agent_import_with_the_rights_of_a_member)
{
	struct fixture *f = fixture_open();
	const char *token, *id = fixture_user(f, "m@example.org", &token);
	struct answer r;

	fixture_member(f, f->tenant_id, id, "MEMBER");
	r = import_made(f, token, AGENT ",\"skills\":[{\"folder\":\"s\"}]",
		(const struct bundle_piece[]){
			{ "s/SKILL.md", "---\nname: s\ndescription: d\n---\n" }, { NULL, NULL } });
	STATUS(r, 201);
	CHECK_INT(json_integer_value(at(&r, "skills_failed")), 1);
	CHECK(warned(&r, "skills:write"));
	CHECK_INT(count_of(f, "skills"), 0);
	STATUS(ask(f, token, NULL, "GET /tenant/%s/agents/%s/export", f->tenant_id,
		       text_at(&r, "agent_id")),
		200);
	fixture_close(f);
}

/* The client of the tests refuses an answer that is not UTF-8. */
TEST(agent_import_cuts_names_between_characters)
{
	struct fixture *f = fixture_open();
	struct answer r;
	struct buf b;

	for (int shift = 0; shift < 3; shift++) {
		buf_init(&b, 1 << 20);
		buf_printf(
			&b, "{\"spec\":\"chara_card_v2\",\"data\":{\"name\":\"%.*s", shift, "aaa");
		for (int i = 0; i < 200; i++)
			buf_lit(&b, "\u65e5");
		buf_printf(&b, "\",\"character_book\":{\"entries\":[{\"content\":\"%.*s", shift,
			"aaa");
		for (int i = 0; i < 9000; i++)
			buf_lit(&b, "\u672c");
		buf_lit(&b, "\"}]}}}");
		r = import_bytes(f, f->admin, f->tenant_id, b.at, b.len, "application/json",
			"?dry_run=true");
		STATUS(r, 200);
		CHECK(warned(&r, "has signs that names here do not have"));
		CHECK(warned(&r, "Memory 1"));
		buf_free(&b);
		buf_init(&b, 1 << 20);
		buf_printf(&b, "{\"object\":\"assistant\",\"name\":\"A\",\"model\":\"%.*s", shift,
			"aaa");
		for (int i = 0; i < 200; i++)
			buf_lit(&b, "\u65e5");
		buf_lit(&b, "\"}");
		r = import_bytes(f, f->admin, f->tenant_id, b.at, b.len, "application/json",
			"?dry_run=true");
		STATUS(r, 200);
		CHECK(text_at(&r, "model_warning"));
		buf_free(&b);
	}
	fixture_close(f);
}

TEST(agent_import_takes_the_types_that_clients_send)
{
	static const struct {
		const char *type, *text;
		int status;
	} cases[] = {
		{ "text/yaml", "kind: app\napp:\n  name: A\n", 200 },
		{ "application/x-yaml", "kind: app\napp:\n  name: A\n", 200 },
		{ "text/plain; charset=utf-8", "# Rules\n", 200 },
		{ "text/plain", "Use tabs.\n", 422 },
		{ "text/markdown", "Use tabs.\n", 200 },
		{ "application/x-zip-compressed", "PK\5\6", 422 },
		{ "application/x-gzip", "\x1f\x8b..", 422 },
		{ "text/html", "# Rules\n", 415 },
	};
	struct fixture *f = fixture_open();

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		test_step("%s", cases[i].type);
		STATUS(import_bytes(f, f->admin, f->tenant_id, cases[i].text, strlen(cases[i].text),
			       cases[i].type, "?dry_run=true"),
			cases[i].status);
	}
	fixture_close(f);
}
