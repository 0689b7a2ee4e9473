/* test_tools.c - tools of a tenant and of its agents, bundles, and the secrets in them. */
#include "fixture.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/json_schema.h"
#include "base/log.h"
#include "sessions/agent_tools.h"
#include "sessions/builtin_tools.h"

#define SECRET "hush-hush-4711"

#define WEATHER                                                                                   \
	"{\"name\":\"weather\",\"kind\":\"http\",\"description\":\"Tells the weather.\","         \
	"\"input_schema\":{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"}}}," \
	"\"config\":{\"method\":\"GET\",\"url\":\"https://api.example.org/w?city={{city}}\","     \
	"\"headers\":{\"Authorization\":\"Bearer " SECRET "\",\"X-Region\":\"eu-" SECRET "\"}}}"

static const char *simple_tool(struct fixture *f, const char *name)
{
	return fixture_tool(f,
		arena_printf(&f->arena,
			"{\"name\":\"%s\",\"kind\":\"mcp\",\"description\":\"d\",\"config\":{\"url\":"
			"\"https://mcp.example.org/mcp\",\"tool\":\"t\"}}",
			name));
}

TEST(tools_builtin_schemas_compile)
{
	static const char *const wanted[] = { "time", "calculator", "http_fetch", "session_search",
		"memory_write", "memory_search", "subtask", "skill_read", "mail_search",
		"mail_read", "mail_send", "mail_reply" };
	struct json_violations v;
	struct arena a = { 0 };

	CHECK_INT(builtin_tool_count, sizeof wanted / sizeof *wanted);
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		const struct builtin_tool *t = builtin_tool(wanted[i]);
		struct json_schema *s;

		test_step("%s", wanted[i]);
		CHECK(t && strlen(t->description) > 10);
		s = t ? json_schema_compile(&a, t->input_schema, strlen(t->input_schema), &v)
		      : NULL;
		CHECK(s && json_schema_is_type(s, "object"));
	}
	arena_free(&a);
}

TEST(tools_are_made_read_changed_listed_and_deleted)
{
	struct fixture *f = fixture_open();
	const char *id = fixture_tool(f, WEATHER);
	struct answer r = ask(f, f->admin, NULL, "GET /tenant/%s/tools/%s", f->tenant_id, id);

	STATUS(r, 200);
	CHECK_STR(text_at(&r, "kind"), "http");
	CHECK_STR(text_at(&r, "config.headers.Authorization"), "********");
	CHECK_STR(text_at(&r, "config.url"), "https://api.example.org/w?city={{city}}");
	CHECK(json_is_false(at(&r, "repeat_safe")) && json_is_false(at(&r, "requires_approval")));
	STATUS(ask(f, f->admin, WEATHER, "POST /tenant/%s/tools", f->tenant_id), 409);
	r = ask(f, f->admin,
		"{\"name\":\"Weather.2\",\"requires_approval\":true,\"repeat_safe\":true}",
		"PATCH /tenant/%s/tools/%s", f->tenant_id, id);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "name"), "Weather.2");
	CHECK(json_is_true(at(&r, "repeat_safe")) && json_is_true(at(&r, "requires_approval")));
	STATUS(ask(f, f->admin, "{\"name\":null}", "PATCH /tenant/%s/tools/%s", f->tenant_id, id),
		422);
	simple_tool(f, "other");
	r = ask(f, f->admin, NULL, "GET /tenant/%s/tools?q=WEATH", f->tenant_id);
	CHECK_INT(json_integer_value(at(&r, "total")), 1);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/tools?kind=mcp", f->tenant_id);
	CHECK_STR(text_at(&r, "items.0.name"), "other");
	r = ask(f, f->admin, "{\"name\":\"other\"}", "PATCH /tenant/%s/tools/%s", f->tenant_id, id);
	STATUS(r, 409);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/tools/%s", f->tenant_id, id), 204);
	STATUS(ask(f, f->admin, NULL, "GET /tenant/%s/tools/%s", f->tenant_id, id), 404);
	fixture_close(f);
}

TEST(tools_are_refused_with_every_fault)
{
	struct fixture *f = fixture_open();
	struct answer r = ask(f, f->admin,
		"{\"name\":\"a b\",\"kind\":\"http\",\"input_schema\":{\"type\":\"object\",\"properties\":"
		"{\"a\":{\"unevaluatedItems\":true}},\"oneOf\":3}}",
		"POST /tenant/%s/tools", f->tenant_id);

	STATUS(r, 422);
	CHECK(refuses(&r, "name", "pattern"));
	r = ask(f, f->admin,
		"{\"name\":\"ab\",\"kind\":\"http\",\"input_schema\":{\"type\":\"object\",\"properties\":"
		"{\"a\":{\"unevaluatedItems\":true}},\"oneOf\":3}}",
		"POST /tenant/%s/tools", f->tenant_id);
	STATUS(r, 422);
	CHECK(refuses(&r, "description", "required") && refuses(&r, "config", "required"));
	CHECK(refuses(&r, "input_schema/properties/a/unevaluatedItems", "schema"));
	CHECK(refuses(&r, "input_schema/oneOf", "schema"));
	r = ask(f, f->admin,
		"{\"name\":\"ab\",\"kind\":\"http\",\"description\":\"d\",\"input_schema\":{\"type\":"
		"\"string\"},\"config\":{\"method\":\"GET\",\"url\":\"https://127.0.0.1/{{x}}\"}}",
		"POST /tenant/%s/tools", f->tenant_id);
	CHECK(refuses(&r, "input_schema", "type") && refuses(&r, "config.url", "address"));
	r = ask(f, f->admin,
		"{\"name\":\"ab\",\"kind\":\"http\",\"description\":\"d\",\"input_schema\":{\"not\":3},"
		"\"config\":{\"method\":\"GO\",\"url\":\"https://api.example.org/{{x}}\"}}",
		"POST /tenant/%s/tools", f->tenant_id);
	CHECK(refuses(&r, "input_schema/not", "schema") && refuses(&r, "config.method", "choice"));
	f->app.settings.allow_private_addresses = true;
	r = ask(f, f->admin,
		"{\"name\":\"ab\",\"kind\":\"http\",\"description\":\"d\",\"config\":{\"method\":\"GET\","
		"\"url\":\"http://127.0.0.1/{{x}}\",\"headers\":{\"A\":\"********\"}}}",
		"POST /tenant/%s/tools", f->tenant_id);
	STATUS(r, 422);
	CHECK(refuses(&r, "config.url", "place"));
	r = ask(f, f->admin,
		"{\"name\":\"ab\",\"kind\":\"http\",\"description\":\"d\",\"config\":{\"method\":\"GET\","
		"\"url\":\"http://127.0.0.1/\",\"headers\":{\"A\":\"********\"}}}",
		"POST /tenant/%s/tools", f->tenant_id);
	CHECK(refuses(&r, "config.headers.A", "masked"));
	/* what is built in is as the program has it */
	r = ask(f, f->admin,
		"{\"name\":\"clock\",\"kind\":\"builtin\",\"config\":{},\"repeat_safe\":true,"
		"\"input_schema\":{\"type\":\"object\"}}",
		"POST /tenant/%s/tools", f->tenant_id);
	CHECK(refuses(&r, "name", "choice") && refuses(&r, "config", "combination") &&
		refuses(&r, "repeat_safe", "combination") &&
		refuses(&r, "input_schema", "combination"));
	r = ask(f, f->admin, "{\"name\":\"time\",\"kind\":\"builtin\"}", "POST /tenant/%s/tools",
		f->tenant_id);
	STATUS(r, 201);
	CHECK(json_is_true(at(&r, "repeat_safe")) && at(&r, "input_schema.properties.time_zone"));
	r = ask(f, f->admin, "{\"name\":\"t\",\"config\":{}}", "PATCH /tenant/%s/tools/%s",
		f->tenant_id, text_at(&r, "id"));
	CHECK(refuses(&r, "name", "combination") && refuses(&r, "config", "combination"));
	/* a change is checked against what stays */
	r = ask(f, f->admin, "{\"input_schema\":{\"type\":\"object\"}}",
		"PATCH /tenant/%s/tools/%s", f->tenant_id, fixture_tool(f, WEATHER));
	CHECK(refuses(&r, "config.url", "place"));
	fixture_close(f);
}

/* What is sealed for a tool, opened. */
static const char *sealed_headers(struct fixture *f, const char *agent_id, const char *name)
{
	struct problem p = { 0 };
	struct db *db = NULL;
	struct list held;
	const char *out = NULL;

	CHECK(!store_connect(f->app.store, &db, &f->arena, &p));
	CHECK(!agent_tools_held(db, &f->arena, f->tenant_id, agent_id, &held));
	for (size_t i = 0; i < held.count; i++) {
		const struct held_tool *t = (const struct held_tool *)held.at + i;

		if (strcmp(t->name, name) == 0)
			out = vault_open_text(f->app.vault, &f->arena, t->id, t->sealed);
	}
	db_close(db);
	return out;
}

TEST(tools_keep_their_secrets_for_one_origin)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "a"), *id = fixture_tool(f, WEATHER);
	struct answer r;

	STATUS(ask(f, f->admin, arena_printf(&f->arena, "{\"tool_id\":\"%s\"}", id),
		       "POST /agents/%s/tools", agent),
		201);
	CHECK_STR(sealed_headers(f, agent, "weather"),
		"{\"Authorization\":\"Bearer " SECRET "\",\"X-Region\":\"eu-" SECRET "\"}");
	/* a mask keeps, a value replaces, what is not named goes */
	r = ask(f, f->admin,
		"{\"config\":{\"method\":\"POST\",\"url\":\"https://API.example.org:443/v2\",\"headers\":"
		"{\"Authorization\":\"********\",\"X-New\":\"n\"}}}",
		"PATCH /tenant/%s/tools/%s", f->tenant_id, id);
	STATUS(r, 200);
	CHECK_STR(sealed_headers(f, agent, "weather"),
		"{\"Authorization\":\"Bearer " SECRET "\",\"X-New\":\"n\"}");
	/* nobody has them sent to another place */
	r = ask(f, f->admin,
		"{\"config\":{\"method\":\"GET\",\"url\":\"https://evil.example/\",\"headers\":"
		"{\"Authorization\":\"********\"}}}",
		"PATCH /tenant/%s/tools/%s", f->tenant_id, id);
	CHECK(refuses(&r, "config.headers.Authorization", "masked"));
	r = ask(f, f->admin,
		"{\"config\":{\"method\":\"GET\",\"url\":\"https://api.example.org:444/\",\"headers\":"
		"{\"Authorization\":\"********\"}}}",
		"PATCH /tenant/%s/tools/%s", f->tenant_id, id);
	CHECK(refuses(&r, "config.headers.Authorization", "masked"));
	CHECK(strstr(sealed_headers(f, agent, "weather"), SECRET));
	fixture_close(f);
}

/* The test's own log, from here on; what was said before goes where it went. */
static FILE *catch_log(int *ret_old)
{
	FILE *log = tmpfile();

	log_setup(LOG_DEBUG, LOG_TEXT);
	fflush(stderr);
	*ret_old = dup(2);
	dup2(fileno(log), 2);
	return log;
}

/* How many lines hold the word; *ret_lines of them there are. */
static int log_lines_with(FILE *log, int old, const char *word, int *ret_lines)
{
	char line[4096];
	int found = 0;

	log_setup(getenv("LODGE_TEST_LOG") ? LOG_DEBUG : LOG_SILENT, LOG_TEXT);
	fflush(stderr);
	dup2(old, 2);
	close(old);
	rewind(log);
	for (*ret_lines = 0; fgets(line, sizeof line, log); ++*ret_lines)
		found += strstr(line, word) != NULL;
	fclose(log);
	return found;
}

TEST(tools_secrets_appear_nowhere)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "a"), *id;
	int old, lines;
	FILE *log = catch_log(&old);
	struct answer all[16];
	size_t n = 0;

	f->app.settings.access_log = true;
	all[n] = ask(
		f, f->admin, WEATHER, "POST /tenant/%s/tools\nIdempotency-Key: k1", f->tenant_id);
	id = text_at(&all[n++], "id");
	all[n++] = ask(f, f->admin, WEATHER, "POST /tenant/%s/tools", f->tenant_id);
	all[n++] = ask(f, f->admin, NULL, "GET /tenant/%s/tools", f->tenant_id);
	all[n++] = ask(f, f->admin, NULL, "GET /tenant/%s/tools/%s", f->tenant_id, id);
	all[n++] = ask(f, f->admin,
		"{\"config\":{\"method\":\"GET\",\"url\":\"https://api.example.org/\",\"headers\":"
		"{\"Authorization\":\"Basic " SECRET "\"}}}",
		"PATCH /tenant/%s/tools/%s", f->tenant_id, id);
	all[n++] = ask(f, f->admin,
		"{\"config\":{\"method\":\"NO\",\"url\":\"x\",\"headers\":{\"Host\":\"" SECRET
		"\",\"B\":\"" SECRET "\\n\",\"C\":\"{{" SECRET "\"}}}",
		"PATCH /tenant/%s/tools/%s", f->tenant_id, id);
	all[n++] = ask(f, f->admin,
		"{\"provider\":\"sonar\",\"base_url\":\"https://s.example\",\"organization\":\"o\","
		"\"token\":\"" SECRET "\"}",
		"PUT /tenant/%s/scanner", f->tenant_id);
	all[n++] = ask(f, f->admin, NULL, "GET /tenant/%s/scanner", f->tenant_id);
	all[n++] = ask(f, f->admin,
		"{\"provider\":\"S\",\"base_url\":\"s\",\"organization\":\"\",\"token\":\"" SECRET
		"\"}",
		"PUT /tenant/%s/scanner", f->tenant_id);
	all[n++] = ask(f, f->admin, NULL, "GET /tenant/%s/audit-logs", f->tenant_id);
	/* the settings of an agent's tool are shown to those who may change them, and to them alone */
	STATUS(ask(f, f->admin,
		       arena_printf(&f->arena,
			       "{\"tool_id\":\"%s\",\"configuration\":{\"key\":\"" SECRET "\"}}",
			       id),
		       "POST /agents/%s/tools", agent),
		201);
	STATUS(ask(f, f->admin, "{\"configuration\":{\"key\":\"2" SECRET "\"}}",
		       "PATCH /agents/%s/tools/%s", agent, id),
		200);
	all[n++] = ask(f, f->admin, "{\"configuration\":[\"" SECRET "\"]}",
		"PATCH /agents/%s/tools/%s", agent, id);
	all[n++] = ask(f, f->admin, NULL, "GET /tenant/%s/audit-logs", f->tenant_id);
	all[n++] = ask(f, f->admin, NULL, "DELETE /tenant/%s/tools/%s", f->tenant_id, id);
	for (size_t i = 0; i < n; i++)
		if (strstr(all[i].body ? all[i].body : "", SECRET) || strstr(all[i].head, SECRET))
			test_fail(__FILE__, __LINE__, "answer %zu tells: %s", i, all[i].body);
	CHECK_INT(
		fixture_count(f, "select count(*) from audit_logs where meta like '%" SECRET "%'"),
		0);
	CHECK_INT(fixture_count(f,
			  "select count(*) from tools where config like '%hush%' or sealed like "
			  "'%hush%'"),
		0);
	CHECK_INT(fixture_count(f, "select count(*) from scanners where token like '%hush%'"), 0);
	CHECK_INT(log_lines_with(log, old, SECRET, &lines), 0);
	CHECK(lines >= (int)n);
	fixture_close(f);
}

/* What would make every call fail is refused where it is set, with its place. */
TEST(tools_take_only_settings_that_suit_their_schema)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "a");
	const char *id = fixture_tool(f,
		"{\"name\":\"weather\",\"kind\":\"mcp\",\"description\":\"d\",\"config\":{\"url\":"
		"\"https://mcp.example.org/mcp\",\"tool\":\"t\"},\"input_schema\":{\"type\":\"object\","
		"\"properties\":{\"city\":{\"type\":\"string\"},\"units\":{\"enum\":[\"metric\","
		"\"imperial\"]}},\"required\":[\"city\"],\"additionalProperties\":false}}");
	static const struct {
		const char *configuration, *field; /* NULL: it is taken */
	} rows[] = {
		{ "{\"units\":\"kelvin " SECRET "\"}", "configuration/units" },
		{ "{\"city\":7,\"units\":\"metric\"}", "configuration/city" },
		{ "{\"units\":\"metric\"}" },
		{ "{\"units\":\"imperial\",\"nothing of the tool's\":1}" },
		{ "{}" },
	};
	struct answer r;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		test_step("%s", rows[i].configuration);
		for (int again = 0; again < 2; again++) {
			r = again ? ask(f, f->admin,
					    arena_printf(&f->arena, "{\"configuration\":%s}",
						    rows[i].configuration),
					    "PATCH /agents/%s/tools/%s", agent, id)
				  : ask(f, f->admin,
					    arena_printf(&f->arena,
						    "{\"tool_id\":\"%s\",\"configuration\":%s}", id,
						    rows[i].configuration),
					    "POST /agents/%s/tools", agent);
			CHECK(!strstr(r.body, SECRET) || !rows[i].field);
			if (rows[i].field && r.status != 404)
				CHECK(refuses(&r, rows[i].field, "schema"));
			else if (!rows[i].field)
				CHECK(r.status == 200 || r.status == 201);
		}
	}
	fixture_close(f);
}

TEST(tools_of_an_agent_are_granted_changed_and_revoked)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "a"), *id = simple_tool(f, "t");
	const char *body =
		arena_printf(&f->arena, "{\"tool_id\":\"%s\",\"configuration\":{\"n\":1}}", id);
	struct answer r =
		ask(f, f->admin, body, "POST /tenant/%s/agents/%s/tools", f->tenant_id, agent);

	STATUS(r, 201);
	CHECK_INT(json_integer_value(at(&r, "configuration.n")), 1);
	CHECK(json_is_true(at(&r, "is_enabled")));
	/* what stands is answered as it stands */
	r = ask(f, f->admin,
		arena_printf(&f->arena, "{\"tool_id\":\"%s\",\"is_enabled\":false}", id),
		"POST /agents/%s/tools", agent);
	STATUS(r, 200);
	CHECK_INT(json_integer_value(at(&r, "configuration.n")), 1);
	CHECK(json_is_true(at(&r, "is_enabled")));
	r = ask(f, f->admin, "{\"is_enabled\":false}", "PATCH /agents/%s/tools/%s", agent, id);
	STATUS(r, 200);
	CHECK(json_is_false(at(&r, "is_enabled")));
	CHECK_INT(json_integer_value(at(&r, "configuration.n")), 1);
	r = ask(f, f->admin, "{\"configuration\":null}", "PATCH /agents/%s/tools/%s", agent, id);
	CHECK_INT(json_object_size(at(&r, "configuration")), 0);
	r = ask(f, f->admin, NULL, "GET /agents/%s/tools", agent);
	CHECK_INT(json_integer_value(at(&r, "total")), 1);
	CHECK_STR(text_at(&r, "items.0.tool_id"), id);
	STATUS(ask(f, f->admin, "{\"tool_id\":\"c000000000000000000000000\"}",
		       "POST /agents/%s/tools", agent),
		404);
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s/tools/%s", agent, id), 204);
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s/tools/%s", agent, id), 404);
	STATUS(ask(f, f->admin, "{}", "PATCH /agents/%s/tools/%s", agent, id), 404);
	fixture_close(f);
}

/* The names of the tools an agent holds, with blanks between. */
static const char *held_names(struct fixture *f, const char *agent_id)
{
	struct problem p = { 0 };
	struct db *db = NULL;
	struct list held;
	const char *out = "";

	CHECK(!store_connect(f->app.store, &db, &f->arena, &p));
	CHECK(!agent_tools_held(db, &f->arena, f->tenant_id, agent_id, &held));
	for (size_t i = 0; i < held.count; i++)
		out = arena_printf(&f->arena, "%s%s%s", out, i ? " " : "",
			((const struct held_tool *)held.at)[i].name);
	db_close(db);
	return out;
}

TEST(tools_come_in_bundles)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "a"), *x = simple_tool(f, "x"),
		   *y = simple_tool(f, "y");
	const char *z = simple_tool(f, "z"), *bundle;
	struct answer r = ask(f, f->admin,
		arena_printf(&f->arena,
			"{\"name\":\"Web\",\"slug\":\"web\",\"tools\":[\"%s\",\"%s\"]}", y, x),
		"POST /tenant/%s/tool-bundles", f->tenant_id);

	STATUS(r, 201);
	bundle = text_at(&r, "id");
	CHECK_STR(text_at(&r, "tools.0.name"), "x");
	CHECK_STR(text_at(&r, "tools.1.id"), y);
	STATUS(ask(f, f->admin, "{\"name\":\"W\",\"slug\":\"web\"}", "POST /tenant/%s/tool-bundles",
		       f->tenant_id),
		409);
	r = ask(f, f->admin,
		arena_printf(&f->arena,
			"{\"name\":\"W\",\"slug\":\"w\",\"tools\":[\"%s\",\"c000000000000000000000000\"]}",
			x),
		"POST /tenant/%s/tool-bundles", f->tenant_id);
	CHECK(refuses(&r, "tools[1]", "unknown") && !refuses(&r, "tools[0]", "unknown"));
	r = ask(f, f->admin, NULL, "GET /tenant/%s/tool-bundles?q=WE", f->tenant_id);
	CHECK_INT(json_integer_value(at(&r, "total")), 1);
	CHECK_INT(json_array_size(at(&r, "items.0.tools")), 2);

	CHECK_STR(held_names(f, agent), "");
	r = ask(f, f->admin, arena_printf(&f->arena, "{\"bundle_id\":\"%s\"}", bundle),
		"POST /tenant/%s/agents/%s/tool-bundles", f->tenant_id, agent);
	STATUS(r, 201);
	CHECK_STR(text_at(&r, "bundle.slug"), "web");
	CHECK_STR(text_at(&r, "granted_by_user_id"), f->admin_id);
	STATUS(ask(f, f->admin, arena_printf(&f->arena, "{\"bundle_id\":\"%s\"}", bundle),
		       "POST /agents/%s/tool-bundles", agent),
		200);
	CHECK_STR(held_names(f, agent), "x y");
	r = ask(f, f->admin, NULL, "GET /agents/%s/tool-bundles", agent);
	CHECK_STR(text_at(&r, "items.0.bundle.tools.1.name"), "y");
	/* a direct grant that is disabled wins over the bundle */
	STATUS(ask(f, f->admin,
		       arena_printf(&f->arena, "{\"tool_id\":\"%s\",\"is_enabled\":false}", x),
		       "POST /agents/%s/tools", agent),
		201);
	STATUS(ask(f, f->admin, arena_printf(&f->arena, "{\"tool_id\":\"%s\"}", z),
		       "POST /agents/%s/tools", agent),
		201);
	CHECK_STR(held_names(f, agent), "y z");
	CHECK_STR(held_names(f, fixture_agent(f, "b")), "");
	/* agents follow a change of the bundle */
	r = ask(f, f->admin,
		arena_printf(&f->arena, "{\"description\":\"d\",\"tools\":[\"%s\"]}", z),
		"PATCH /tenant/%s/tool-bundles/%s", f->tenant_id, bundle);
	STATUS(r, 200);
	CHECK_INT(json_array_size(at(&r, "tools")), 1);
	CHECK_STR(held_names(f, agent), "z");
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s/tool-bundles/%s", agent, bundle), 204);
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s/tool-bundles/%s", agent, bundle), 404);
	ask(f, f->admin, arena_printf(&f->arena, "{\"bundle_id\":\"%s\"}", bundle),
		"POST /agents/%s/tool-bundles", agent);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/tool-bundles/%s", f->tenant_id, bundle),
		204);
	r = ask(f, f->admin, NULL, "GET /agents/%s/tool-bundles", agent);
	CHECK_INT(json_integer_value(at(&r, "total")), 0);
	fixture_close(f);
}

TEST(tools_that_are_deleted_leave_agents_and_bundles)
{
	struct fixture *f = fixture_open();
	const char *a = fixture_agent(f, "a"), *b = fixture_agent(f, "b"),
		   *id = simple_tool(f, "t");
	const char *grant = arena_printf(&f->arena, "{\"tool_id\":\"%s\"}", id);
	struct answer r;

	STATUS(ask(f, f->admin, grant, "POST /agents/%s/tools", a), 201);
	STATUS(ask(f, f->admin, grant, "POST /agents/%s/tools", b), 201);
	STATUS(ask(f, f->admin,
		       arena_printf(
			       &f->arena, "{\"name\":\"B\",\"slug\":\"b\",\"tools\":[\"%s\"]}", id),
		       "POST /tenant/%s/tool-bundles", f->tenant_id),
		201);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/tools/%s", f->tenant_id, id), 204);
	r = ask(f, f->admin, NULL, "GET /agents/%s/tools", a);
	CHECK_INT(json_integer_value(at(&r, "total")), 0);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/tool-bundles", f->tenant_id);
	CHECK_INT(json_array_size(at(&r, "items.0.tools")), 0);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/audit-logs?action=tool.delete", f->tenant_id);
	CHECK_INT(json_integer_value(at(&r, "items.0.meta.agents")), 2);
	CHECK_INT(json_integer_value(at(&r, "items.0.meta.bundles")), 1);
	/* and an agent that is deleted takes its grants along */
	id = simple_tool(f, "u");
	STATUS(ask(f, f->admin, arena_printf(&f->arena, "{\"tool_id\":\"%s\"}", id),
		       "POST /agents/%s/tools", a),
		201);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/agents/%s", f->tenant_id, a), 204);
	CHECK_INT(fixture_count(f, "select count(*) from agent_tools"), 0);
	fixture_close(f);
}

#define BIND(org, token)                                                                     \
	"{\"provider\":\"sonar\",\"base_url\":\"https://s.example\",\"organization\":\"" org \
	"\"" token "}"

TEST(scanner_is_bound_and_granted)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "a"), *id;
	struct answer r = ask(f, f->admin, "{}", "POST /agents/%s/scanner-grants", agent);

	STATUS(r, 409);
	CHECK(strstr(text_at(&r, "detail"), "No scanner is bound"));
	STATUS(ask(f, f->admin, NULL, "GET /tenant/%s/scanner", f->tenant_id), 404);
	STATUS(ask(f, f->admin, NULL, "GET /tenant/%s/scanner/repositories", f->tenant_id), 409);
	r = ask(f, f->admin, BIND("o", ""), "PUT /tenant/%s/scanner", f->tenant_id);
	CHECK(refuses(&r, "token", "required"));
	r = ask(f, f->admin, BIND("o", ",\"token\":\"t\""), "PUT /tenant/%s/scanner", f->tenant_id);
	STATUS(r, 201);
	r = ask(f, f->admin, BIND("o", ""), "PUT /tenant/%s/scanner", f->tenant_id);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "organization"), "o");
	r = ask(f, f->admin,
		"{\"provider\":\"sonar\",\"base_url\":\"https://evil.example\",\"organization\":\"o\"}",
		"PUT /tenant/%s/scanner", f->tenant_id);
	CHECK(refuses(&r, "token", "required"));
	r = ask(f, f->admin, NULL, "GET /tenant/%s/scanner/repositories", f->tenant_id);
	STATUS(r, 409);
	CHECK(strstr(text_at(&r, "detail"), "grant one by its name"));

	r = ask(f, f->admin, "{\"repo_name\":null}", "POST /tenant/%s/agents/%s/scanner-grants",
		f->tenant_id, agent);
	STATUS(r, 201);
	id = text_at(&r, "id");
	CHECK(json_is_null(at(&r, "repo_name")) && json_is_null(at(&r, "revoked_at")));
	r = ask(f, f->admin, "{}", "POST /agents/%s/scanner-grants", agent);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "id"), id);
	STATUS(ask(f, f->admin, "{\"repo_name\":\"handbook\"}", "POST /agents/%s/scanner-grants",
		       agent),
		201);
	r = ask(f, f->admin, "{\"repo_name\":\"\"}", "POST /agents/%s/scanner-grants", agent);
	CHECK(refuses(&r, "repo_name", "too_short"));
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s/scanner-grants/%s", agent, id), 204);
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s/scanner-grants/%s", agent, id), 404);
	r = ask(f, f->admin, "{}", "POST /agents/%s/scanner-grants", agent);
	STATUS(r, 201);
	CHECK(strcmp(text_at(&r, "id"), id) != 0);
	r = ask(f, f->admin, NULL, "GET /agents/%s/scanner-grants", agent);
	CHECK_INT(json_integer_value(at(&r, "total")), 3);
	CHECK_STR(text_at(&r, "items.2.id"), id);
	CHECK(json_is_string(at(&r, "items.2.revoked_at")));
	/* another organisation: what was granted was granted for the former one */
	STATUS(ask(f, f->admin, BIND("p", ""), "PUT /tenant/%s/scanner", f->tenant_id), 200);
	CHECK_INT(fixture_count(f, "select count(*) from scanner_grants where revoked_at is null"),
		0);
	STATUS(ask(f, f->admin, "{}", "POST /agents/%s/scanner-grants", agent), 201);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/scanner", f->tenant_id), 204);
	CHECK_INT(fixture_count(f, "select count(*) from scanner_grants where revoked_at is null"),
		0);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/scanner", f->tenant_id), 404);
	fixture_close(f);
}
