/* test_mcp_server.c - the Model Context Protocol as a client meets it: both kinds of revisions, tools, resources, who
 * may, and what is refused. */
#include <poll.h>

#include "oidc_fixture.h"
#include "openai_fixture.h"

/* As the protocol has them; jansson's names and those of our reader do not go together. */
enum {
	MCP_PARSE_ERROR = -32700,
	MCP_INVALID_REQUEST = -32600,
	MCP_METHOD_NOT_FOUND = -32601,
	MCP_INVALID_PARAMS = -32602,
	MCP_RESOURCE_NOT_FOUND = -32002,
	MCP_HEADER_MISMATCH = -32020,
	MCP_UNSUPPORTED_VERSION = -32022,
	MCP_BATCH_MAX = 50,
};

#define LEGACY "MCP-Protocol-Version: 2025-11-25\r\nAccept: application/json"
#define META                                                                     \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"," \
	"\"io.modelcontextprotocol/clientCapabilities\":{}}"
#define MODERN "MCP-Protocol-Version: 2026-07-28\r\nAccept: application/json"

/* A request of the older kind; `params` may be NULL. */
static struct answer rpc_at(struct fixture *f, const char *token, const char *path,
	const char *method, const char *params)
{
	const char *body =
		arena_printf(&f->arena, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"%s\"%s%s}",
			method, params ? ",\"params\":" : "", params ? params : "");

	return ask(f, token, body, "POST %s\n" LEGACY, path);
}

static struct answer rpc(
	struct fixture *f, const char *token, const char *method, const char *params)
{
	return rpc_at(f, token, "/mcp", method, params);
}

/* The same of the newer kind; `name` is for its header, or NULL. */
static struct answer modern(
	struct fixture *f, const char *method, const char *name, const char *params)
{
	const char *body = arena_printf(&f->arena,
		"{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"%s\",\"params\":{%s%s" META "}}",
		method, params ? params : "", params ? "," : "");

	return ask(f, f->admin, body, "POST /mcp\n" MODERN "\r\nMcp-Method: %s%s%s", method,
		name ? "\r\nMcp-Name: " : "", name ? name : "");
}

static struct answer use(
	struct fixture *f, const char *token, const char *tool, const char *arguments)
{
	return rpc(f, token, "tools/call",
		arena_printf(&f->arena, "{\"name\":\"%s\",\"arguments\":%s}", tool, arguments));
}

static int code_at(const struct answer *r)
{
	return (int)json_integer_value(at(r, "error.code"));
}

static bool offers(const struct answer *r, const char *tool)
{
	json_t *one;
	size_t i;

	json_array_foreach(at(r, "result.tools"), i, one)
	{
		if (strcmp(json_string_value(json_object_get(one, "name")), tool) == 0)
			return true;
	}
	return false;
}

static const char *ask_tool(struct openai_fixture *s)
{
	return arena_printf(&s->f->arena, "ask_%s", s->slug);
}

TEST(mcp_begins_with_a_handshake_of_each_older_revision)
{
	static const char *const asked[] = { "2025-03-26", "2025-06-18", "2025-11-25", "2024-11-05",
		"1900-01-01" };
	struct fixture *f = fixture_open();
	struct answer r;

	for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
		r = rpc(f, f->admin, "initialize",
			arena_printf(&f->arena,
				"{\"protocolVersion\":\"%s\",\"capabilities\":{},\"clientInfo\":"
				"{\"name\":\"t\",\"version\":\"1\"}}",
				asked[i]));
		STATUS(r, 200);
		CHECK_STR(text_at(&r, "result.protocolVersion"), i < 3 ? asked[i] : "2025-11-25");
		CHECK(at(&r, "result.capabilities.tools") &&
			at(&r, "result.capabilities.resources"));
		CHECK(header_of(f, &r, "Mcp-Session-Id") != NULL);
		CHECK(!at(&r, "result.resultType"));
	}
	CHECK_INT(code_at(&(struct answer){ .json = rpc(f, f->admin, "initialize", "{}").json }),
		MCP_INVALID_PARAMS);
	STATUS(ask(f, f->admin, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
		       "POST /mcp\n" LEGACY),
		202);
	r = rpc(f, f->admin, "ping", NULL);
	CHECK(json_object_size(at(&r, "result")) == 0);
	CHECK_INT(json_integer_value(at(&r, "id")), 7);
	STATUS(ask(f, f->admin, NULL, "GET /mcp\nAccept: text/event-stream"), 405);
	STATUS(ask(f, f->admin, NULL, "DELETE /mcp"), 405);
	fixture_close(f);
}

TEST(mcp_without_handshake_holds_headers_and_messages_together)
{
	static const struct {
		const char *head, *body;
		int status, code;
	} rows[] = {
		{ MODERN "\r\nMcp-Method: tools/list", "\"tools/list\",\"params\":{" META "}", 200,
			0 },
		{ MODERN "\r\nMcp-Method: tools/list", "\"tools/list\"", 400, MCP_INVALID_PARAMS },
		{ MODERN "\r\nMcp-Method: tools/list", "\"tools/list\",\"params\":{\"_meta\":{}}",
			400, MCP_INVALID_PARAMS },
		{ MODERN, "\"tools/list\",\"params\":{" META "}", 400, MCP_HEADER_MISMATCH },
		{ MODERN "\r\nMcp-Method: TOOLS/LIST", "\"tools/list\",\"params\":{" META "}", 400,
			MCP_HEADER_MISMATCH },
		{ MODERN "\r\nMcp-Method: tools/list\r\nMcp-Method: tools/list",
			"\"tools/list\",\"params\":{" META "}", 400, MCP_HEADER_MISMATCH },
		{ "Mcp-Method: tools/list", "\"tools/list\",\"params\":{" META "}", 400,
			MCP_HEADER_MISMATCH },
		{ LEGACY "\r\nMcp-Method: tools/list", "\"tools/list\",\"params\":{" META "}", 400,
			MCP_HEADER_MISMATCH },
		{ "MCP-Protocol-Version: 1900-01-01", "\"tools/list\"", 400,
			MCP_UNSUPPORTED_VERSION },
		{ MODERN "\r\nMcp-Method: tools/call\r\nMcp-Name: search",
			"\"tools/call\",\"params\":{\"name\":\"list_sessions\"," META "}", 400,
			MCP_HEADER_MISMATCH },
		{ MODERN "\r\nMcp-Method: tools/call\r\nMcp-Name: =?base64?bGlzdF9zZXNzaW9ucw==?=",
			"\"tools/call\",\"params\":{\"name\":\"list_sessions\"," META "}", 200, 0 },
		{ MODERN "\r\nMcp-Method: tools/call\r\nMcp-Name: =?base64?%%?=",
			"\"tools/call\",\"params\":{\"name\":\"list_sessions\"," META "}", 400,
			MCP_HEADER_MISMATCH },
		{ MODERN "\r\nMcp-Method: ping", "\"ping\",\"params\":{" META "}", 404,
			MCP_METHOD_NOT_FOUND },
		{ LEGACY, "\"server/discover\"", 200, MCP_METHOD_NOT_FOUND },
	};
	struct fixture *f = fixture_open();
	struct answer r;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		test_step("row %zu", i);
		r = ask(f, f->admin,
			arena_printf(&f->arena, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":%s}",
				rows[i].body),
			"POST /mcp\n%s", rows[i].head);
		STATUS(r, rows[i].status);
		CHECK_INT(code_at(&r), rows[i].code);
		CHECK_INT(json_integer_value(at(&r, "id")), 1);
	}
	r = modern(f, "server/discover", NULL, NULL);
	CHECK_STR(text_at(&r, "result.resultType"), "complete");
	CHECK_STR(text_at(&r, "result.supportedVersions.0"), "2026-07-28");
	CHECK_STR(text_at(&r, "result.cacheScope"), "private");
	CHECK_STR(header_of(f, &r, "Cache-Control"), "no-store");
	CHECK(!header_of(f, &r, "Mcp-Session-Id"));
	fixture_close(f);
}

TEST(mcp_refuses_what_is_no_message)
{
	static const struct {
		const char *body;
		int status, code;
	} rows[] = {
		{ "{", 400, MCP_PARSE_ERROR },
		{ "{} {}", 400, MCP_PARSE_ERROR },
		{ "7", 400, MCP_INVALID_REQUEST },
		{ "{\"id\":1,\"method\":\"ping\"}", 400, MCP_INVALID_REQUEST },
		{ "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", 400,
			MCP_INVALID_REQUEST },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", 400,
			MCP_INVALID_REQUEST },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}", 200,
			MCP_INVALID_PARAMS },
		{ "[]", 400, MCP_INVALID_REQUEST },
	};
	struct fixture *f = fixture_open();
	struct answer r;
	struct buf many;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		test_step("%s", rows[i].body);
		r = ask(f, f->admin, rows[i].body, "POST /mcp");
		STATUS(r, rows[i].status);
		CHECK_INT(code_at(&r), rows[i].code);
	}
	test_step("a list");
	r = ask(f, f->admin,
		"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"},{\"jsonrpc\":\"2.0\",\"method\":\"x\"},"
		"{\"jsonrpc\":\"2.0\",\"id\":\"b\",\"method\":\"tools/call\",\"params\":{\"name\":\"search\"}},"
		"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"nope\"}]",
		"POST /mcp");
	STATUS(r, 200);
	CHECK_INT((int)json_array_size(r.json), 3);
	CHECK_STR(text_at(&r, "1.id"), "b");
	CHECK(json_is_true(at(&r, "1.result.isError")));
	CHECK_INT((int)json_integer_value(at(&r, "2.error.code")), MCP_METHOD_NOT_FOUND);
	STATUS(ask(f, f->admin, "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]",
		       "POST /mcp\n" LEGACY),
		400);
	STATUS(ask(f, f->admin, "[{\"jsonrpc\":\"2.0\",\"method\":\"x\"}]", "POST /mcp"), 202);
	buf_init(&many, 1 << 20);
	for (int i = 0; i <= MCP_BATCH_MAX; i++)
		buf_printf(&many, "%c{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\"}",
			i ? ',' : '[', i);
	buf_putc(&many, ']');
	r = ask(f, f->admin, arena_take(&f->arena, &many), "POST /mcp");
	STATUS(r, 400);
	CHECK_INT(code_at(&r), MCP_INVALID_REQUEST);

	test_step("a page of another site");
	STATUS(ask(f, f->admin, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
		       "POST /mcp\nOrigin: http://evil.example.com"),
		403);
	STATUS(ask(f, f->admin, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
		       "POST /mcp\nOrigin: %s", f->app.settings.public_url),
		200);
	fixture_close(f);
}

TEST(mcp_agents_are_asked_and_gone_on_with)
{
	struct openai_fixture s;
	const char *session, *tool;
	struct answer r;
	int64_t before;

	openai_open(&s);
	tool = ask_tool(&s);
	r = rpc(s.f, s.f->admin, "tools/list", NULL);
	CHECK(offers(&r, tool) && offers(&r, "list_sessions") && offers(&r, "read_session") &&
		offers(&r, "search"));
	CHECK_STR(rpc(s.f, s.f->admin, "tools/list", NULL).body, r.body);
	before = fixture_count(
		s.f, "select count(*) from audit_logs where action = 'session.message'");
	r = use(s.f, s.f->admin, tool, "{\"message\":\"count to 5\"}");
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "result.content.0.text"), "1 2 3 4 5");
	CHECK_STR(text_at(&r, "result.structuredContent.text"), "1 2 3 4 5");
	CHECK_STR(text_at(&r, "result.structuredContent.status"), "completed");
	CHECK(json_is_false(at(&r, "result.isError")));
	session = text_at(&r, "result.structuredContent.session_id");
	CHECK(strstr(text_at(&r, "result.content.1.text"), session) != NULL);
	r = use(s.f, s.f->admin, tool,
		arena_printf(&s.f->arena, "{\"message\":\"count to 3\",\"session_id\":\"%s\"}",
			session));
	CHECK_STR(text_at(&r, "result.content.0.text"), "1 2 3");
	CHECK_STR(text_at(&r, "result.structuredContent.session_id"), session);
	CHECK_INT(fixture_count(
			  s.f, "select count(*) from audit_logs where action = 'session.message'"),
		before + 2);
	CHECK_INT(fixture_count(s.f, arena_printf(&s.f->arena,
					     "select count(*) from audit_logs where action = "
					     "'session.create' and resource_id = '%s'",
					     session)),
		1);

	test_step("as a stream, with progress");
	r = ask(s.f, s.f->admin,
		arena_printf(&s.f->arena,
			"{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\","
			"\"arguments\":{\"message\":\"count to 4\"},\"_meta\":{\"progressToken\":\"p\"}}}",
			tool),
		"POST /mcp\nAccept: application/json, text/event-stream");
	STATUS(r, 200);
	CHECK(strstr(header_of(s.f, &r, "Content-Type"), "text/event-stream") != NULL);
	CHECK(strstr(answer_unchunked(s.f, &r), "\"progressToken\":\"p\",\"progress\":1") != NULL);
	CHECK(strstr(answer_unchunked(s.f, &r), "\"text\":\"1 2 3 4\"") != NULL);

	test_step("without handshake");
	r = modern(s.f, "tools/call", tool,
		arena_printf(&s.f->arena,
			"\"name\":\"%s\",\"arguments\":{\"message\":\"count to 2\"}", tool));
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "result.resultType"), "complete");
	CHECK_STR(text_at(&r, "result.content.0.text"), "1 2");

	test_step("what was said");
	r = use(s.f, s.f->admin, "list_sessions", "{\"limit\":2}");
	CHECK_INT((int)json_array_size(at(&r, "result.structuredContent.sessions")), 2);
	r = use(s.f, s.f->admin, "list_sessions",
		arena_printf(&s.f->arena, "{\"after\":\"%s\"}",
			text_at(&r, "result.structuredContent.next")));
	CHECK_STR(text_at(&r, "result.structuredContent.sessions.0.id"), session);
	CHECK(!at(&r, "result.structuredContent.next"));
	r = use(s.f, s.f->admin, "read_session",
		arena_printf(&s.f->arena, "{\"session_id\":\"%s\",\"limit\":3}", session));
	CHECK_STR(text_at(&r, "result.structuredContent.messages.2.content"), "1 2 3");
	CHECK_STR(text_at(&r, "result.structuredContent.messages.1.role"), "user");
	r = use(s.f, s.f->admin, "read_session",
		arena_printf(&s.f->arena, "{\"session_id\":\"%s\",\"before\":\"%s\"}", session,
			text_at(&r, "result.structuredContent.next")));
	CHECK_STR(text_at(&r, "result.structuredContent.messages.0.content"), "count to 5");
	r = use(s.f, s.f->admin, "search", "{\"query\":\"help\",\"types\":[\"agent\"]}");
	CHECK_STR(text_at(&r, "result.structuredContent.results.0.id"), s.agent_id);
	openai_close(&s);
}

TEST(mcp_arguments_are_what_the_schema_says)
{
	static const char *const wrong[] = { "{}", "{\"message\":7}", "{\"message\":\"\"}",
		"{\"message\":\"x\",\"more\":1}", "{\"message\":\"x\",\"session_id\":\"no\"}",
		"{\"message\":\"x\",\"session_id\":5}", "[]", "7" };
	struct openai_fixture s;
	struct answer r;

	openai_open(&s);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		test_step("%s", wrong[i]);
		r = use(s.f, s.f->admin, ask_tool(&s), wrong[i]);
		STATUS(r, 200);
		CHECK(json_is_true(at(&r, "result.isError")));
	}
	r = use(s.f, s.f->admin, "ask_nobody", "{\"message\":\"x\"}");
	CHECK_INT(code_at(&r), MCP_INVALID_PARAMS);
	r = rpc(s.f, s.f->admin, "tools/call", "{}");
	CHECK_INT(code_at(&r), MCP_INVALID_PARAMS);
	r = rpc(s.f, s.f->admin, "tools/list", "{\"cursor\":7}");
	CHECK_INT(code_at(&r), MCP_INVALID_PARAMS);
	r = use(s.f, s.f->admin, "search", "{\"query\":\"x\",\"types\":[\"planet\"]}");
	CHECK(json_is_true(at(&r, "result.isError")));
	CHECK_INT(fixture_count(s.f, "select count(*) from session_rows"), 0);
	openai_close(&s);
}

TEST(mcp_an_agent_without_room_says_so_and_nothing_begins)
{
	struct openai_fixture s;
	struct answer r;

	openai_open(&s);
	STATUS(ask(s.f, s.f->admin, "{\"chat_rpm_limit\":1}", "PUT /agents/%s/chat-config",
		       s.agent_id),
		200);
	r = use(s.f, s.f->admin, ask_tool(&s), "{\"message\":\"count to 2\"}");
	CHECK(json_is_false(at(&r, "result.isError")));
	r = use(s.f, s.f->admin, ask_tool(&s), "{\"message\":\"count to 2\"}");
	STATUS(r, 200);
	CHECK(json_is_true(at(&r, "result.isError")));
	CHECK(!at(&r, "result.structuredContent"));
	CHECK_INT(fixture_count(s.f, "select count(*) from session_rows"), 1);
	openai_close(&s);
}

TEST(mcp_shows_each_caller_their_own)
{
	static const struct {
		const char *role;  /* in the tenant */
		const char *agent; /* on the agent, or NULL */
		bool may;
	} rows[] = { { "OWNER", NULL, true }, { "ADMIN", NULL, true }, { "MEMBER", NULL, true },
		{ "GUEST", NULL, false }, { "GUEST", "VIEWER", false },
		{ "GUEST", "MANAGER", true } };
	struct openai_fixture s;
	const char *tool, *token, *user, *session, *own;
	struct answer r;

	openai_open(&s);
	tool = ask_tool(&s);
	r = use(s.f, s.f->admin, tool, "{\"message\":\"count to 2\"}");
	session = text_at(&r, "result.structuredContent.session_id");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		test_step("%s, %s", rows[i].role, rows[i].agent ? rows[i].agent : "no role");
		user = fixture_user(s.f, arena_printf(&s.f->arena, "u%zu@example.org", i), &token);
		fixture_member(s.f, s.f->tenant_id, user, rows[i].role);
		if (rows[i].agent)
			STATUS(ask(s.f, s.f->admin,
				       arena_printf(
					       &s.f->arena, "{\"role\":\"%s\"}", rows[i].agent),
				       "PUT /agents/%s/roles/%s", s.agent_id, user),
				201);
		r = rpc(s.f, token, "tools/list", NULL);
		CHECK(offers(&r, tool) == rows[i].may);
		r = use(s.f, token, tool, "{\"message\":\"count to 2\"}");
		CHECK(json_is_false(at(&r, "result.isError")) == rows[i].may);
	}

	test_step("somebody who takes no part in it");
	user = fixture_user(s.f, "apart@example.org", &token);
	fixture_member(s.f, s.f->tenant_id, user, "MEMBER");
	r = use(s.f, token, tool,
		arena_printf(&s.f->arena, "{\"message\":\"x\",\"session_id\":\"%s\"}", session));
	CHECK(json_is_true(at(&r, "result.isError")));
	r = use(s.f, token, "read_session",
		arena_printf(&s.f->arena, "{\"session_id\":\"%s\"}", session));
	CHECK(json_is_true(at(&r, "result.isError")));
	r = rpc(s.f, token, "resources/read",
		arena_printf(&s.f->arena, "{\"uri\":\"lodge://sessions/%s\"}", session));
	CHECK_INT(code_at(&r), MCP_RESOURCE_NOT_FOUND);
	r = use(s.f, token, "list_sessions", "{}");
	CHECK_INT((int)json_array_size(at(&r, "result.structuredContent.sessions")), 0);

	test_step("another tenant");
	user = fixture_user(s.f, "far@example.org", &token);
	own = fixture_tenant(s.f, "far", user);
	r = rpc(s.f, token, "tools/list", NULL);
	CHECK(!offers(&r, tool));
	STATUS(rpc_at(s.f, token, arena_printf(&s.f->arena, "/mcp/%s", s.f->tenant_id), "ping",
		       NULL),
		404);
	STATUS(rpc_at(s.f, token, arena_printf(&s.f->arena, "/mcp/%s", own), "ping", NULL), 200);
	r = use(s.f, token, tool, "{\"message\":\"x\"}");
	CHECK_INT(code_at(&r), MCP_INVALID_PARAMS);
	r = use(s.f, token, "read_session",
		arena_printf(&s.f->arena, "{\"session_id\":\"%s\"}", session));
	CHECK(json_is_true(at(&r, "result.isError")));

	test_step("who is in several names one");
	fixture_member(s.f, s.f->tenant_id, user, "MEMBER");
	STATUS(rpc(s.f, token, "tools/list", NULL), 400);
	STATUS(rpc(s.f, token, "ping", NULL), 200);
	r = rpc_at(s.f, token, arena_printf(&s.f->arena, "/mcp/%s", s.f->tenant_id), "tools/list",
		NULL);
	CHECK(offers(&r, tool));

	test_step("a key with scopes");
	r = ask(s.f, s.f->admin, "{\"name\":\"k\",\"scopes\":[\"tenant:read\",\"session:read\"]}",
		"POST /tenant/%s/api-keys", s.f->tenant_id);
	STATUS(r, 201);
	token = text_at(&r, "key");
	r = rpc(s.f, token, "tools/list", NULL);
	CHECK(!offers(&r, tool) && offers(&r, "search"));
	r = use(s.f, token, tool, "{\"message\":\"x\"}");
	CHECK(json_is_true(at(&r, "result.isError")));
	STATUS(rpc_at(s.f, token, arena_printf(&s.f->arena, "/mcp/%s", own), "ping", NULL), 404);
	openai_close(&s);
}

static void refuses_cursor(struct fixture *f, const char *method, const char *cursor)
{
	struct answer r =
		rpc(f, f->admin, method, arena_printf(&f->arena, "{\"cursor\":\"%s\"}", cursor));

	test_step("%s %s", method, cursor);
	CHECK_INT(code_at(&r), MCP_INVALID_PARAMS);
}

/* As the page is handed out that ends with the slug; a thousand agents would be needed to see one. */
static const char *tools_cursor(struct fixture *f, const char *slug)
{
	char mark[65];

	credential_hash(arena_printf(&f->arena, "%s\ntools\n%s", f->tenant_id, slug), mark);
	return arena_printf(&f->arena, "%.12s%s", mark, slug);
}

TEST(mcp_tools_are_listed_by_cursors_that_were_handed_out)
{
	struct fixture *f = fixture_open();
	const char *cursor = tools_cursor(f, "many-1"), *other;
	struct answer r;

	for (int i = 1; i < 4; i++)
		fixture_created(f, f->admin,
			arena_printf(&f->arena, "{\"name\":\"Many\",\"slug\":\"many-%d\"}", i),
			"POST /tenant/%s/agents", f->tenant_id);
	r = rpc(f, f->admin, "tools/list", arena_printf(&f->arena, "{\"cursor\":\"%s\"}", cursor));
	STATUS(r, 200);
	CHECK(offers(&r, "ask_many-2") && offers(&r, "ask_many-3") && !offers(&r, "ask_many-1") &&
		!offers(&r, "search"));
	test_step("of another list, of another tenant, changed, made up");
	refuses_cursor(f, "tools/list", "");
	refuses_cursor(f, "tools/list", "many-1");
	refuses_cursor(f, "tools/list", arena_printf(&f->arena, "%sx", cursor));
	refuses_cursor(f, "tools/list", arena_printf(&f->arena, "x%s", cursor + 1));
	refuses_cursor(f, "tools/list", arena_printf(&f->arena, "%0*d", 300, 0));
	refuses_cursor(f, "resources/list", cursor);
	other = fixture_tenant(f, "other", f->admin_id);
	r = rpc_at(f, f->admin, arena_printf(&f->arena, "/mcp/%s", other), "tools/list",
		arena_printf(&f->arena, "{\"cursor\":\"%s\"}", cursor));
	CHECK_INT(code_at(&r), MCP_INVALID_PARAMS);
	fixture_close(f);
}

TEST(mcp_resources_are_listed_in_pages_and_read)
{
	struct openai_fixture s;
	const char *skill, *session, *cursor = NULL;
	size_t seen = 0;
	struct answer r;

	openai_open(&s);
	r = use(s.f, s.f->admin, ask_tool(&s), "{\"message\":\"count to 2\"}");
	session = text_at(&r, "result.structuredContent.session_id");
	for (int i = 0; i < 105; i++)
		skill = fixture_created(s.f, s.f->admin,
			arena_printf(&s.f->arena,
				"{\"name\":\"S\",\"slug\":\"s-%d\",\"description\":\"D\","
				"\"instructions\":\"Do \\\"it\\\".\"}",
				i),
			"POST /tenant/%s/skills", s.f->tenant_id);
	for (int page = 0; page < 5; page++) {
		r = rpc(s.f, s.f->admin, "resources/list",
			cursor ? arena_printf(&s.f->arena, "{\"cursor\":\"%s\"}", cursor) : NULL);
		STATUS(r, 200);
		if (!page)
			CHECK_STR(text_at(&r, "result.resources.0.uri"),
				arena_printf(&s.f->arena, "lodge://sessions/%s", session));
		seen += json_array_size(at(&r, "result.resources"));
		if (!at(&r, "result.nextCursor"))
			break;
		cursor = text_at(&r, "result.nextCursor");
	}
	CHECK_INT((int)seen, 106);
	refuses_cursor(s.f, "resources/list", "x");
	refuses_cursor(s.f, "resources/list", "s");
	refuses_cursor(s.f, "resources/list", arena_printf(&s.f->arena, "k%s", skill));
	refuses_cursor(s.f, "tools/list", cursor);
	r = rpc(s.f, s.f->admin, "resources/templates/list", NULL);
	CHECK_INT((int)json_array_size(at(&r, "result.resourceTemplates")), 3);
	r = rpc(s.f, s.f->admin, "resources/read",
		arena_printf(&s.f->arena, "{\"uri\":\"lodge://skills/%s\"}", skill));
	CHECK(strstr(text_at(&r, "result.contents.0.text"), "Do \"it\".") != NULL);
	r = rpc(s.f, s.f->admin, "resources/read",
		arena_printf(&s.f->arena, "{\"uri\":\"lodge://sessions/%s\"}", session));
	CHECK(strstr(text_at(&r, "result.contents.0.text"), "count to 2") != NULL);

	test_step("a file");
	STATUS(ask(s.f, s.f->admin, "data:text/plain;base64,aGVsbG8=",
		       "PUT /tenant/%s/skills/%s/file?path=a%%20b.txt", s.f->tenant_id, skill),
		201);
	r = rpc(s.f, s.f->admin, "resources/read",
		arena_printf(
			&s.f->arena, "{\"uri\":\"lodge://skills/%s/files/a%%20b.txt\"}", skill));
	CHECK_STR(text_at(&r, "result.contents.0.text"), "hello");

	test_step("nothing");
	r = modern(s.f, "resources/read", "lodge://nothing", "\"uri\":\"lodge://nothing\"");
	STATUS(r, 200);
	CHECK_INT(code_at(&r), MCP_INVALID_PARAMS);
	openai_close(&s);
}

/* ---- stopping ---- */

static int64_t runs_in(struct fixture *f, const char *status)
{
	return fixture_count(
		f, arena_printf(&f->arena, "select count(*) from session_runs where status = '%s'",
			   status));
}

/* A run that nobody works on: the fixture's runner takes no job meanwhile. */
TEST(mcp_a_client_stops_only_what_it_began)
{
	static const char *const stranger_cases[] = { "Mcp-Session-Id: other", "X-None: 1" };
	struct openai_fixture s;
	const char *digest_ask, *token;
	struct answer r;

	openai_open(&s);
	/* asked by a session of the protocol, and held up by an approval */
	r = ask(s.f, s.f->admin,
		"{\"name\":\"wait_for_me\",\"kind\":\"http\",\"description\":\"D\",\"requires_approval\":true,"
		"\"input_schema\":{\"type\":\"object\"},\"config\":{\"method\":\"GET\",\"url\":\"https://example.org/\"}}",
		"POST /tenant/%s/tools", s.f->tenant_id);
	STATUS(r, 201);
	STATUS(ask(s.f, s.f->admin,
		       arena_printf(&s.f->arena, "{\"tool_id\":\"%s\"}", text_at(&r, "id")),
		       "POST /agents/%s/tools", s.agent_id),
		201);
	digest_ask = arena_printf(&s.f->arena,
		"{\"jsonrpc\":\"2.0\",\"id\":41,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\","
		"\"arguments\":{\"message\":\"use tool wait_for_me with {}\"}}}",
		ask_tool(&s));
	r = ask(s.f, s.f->admin, digest_ask, "POST /mcp\n" LEGACY "\r\nMcp-Session-Id: mine");
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "result.structuredContent.status"), "waiting_approval");
	CHECK(strstr(text_at(&r, "result.content.0.text"), "wait_for_me") != NULL);
	for (size_t i = 0; i < 2; i++)
		STATUS(ask(s.f, s.f->admin,
			       "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":41}}",
			       "POST /mcp\n" LEGACY "\r\n%s", stranger_cases[i]),
			202);
	fixture_member(s.f, s.f->tenant_id, fixture_user(s.f, "o@example.org", &token), "OWNER");
	STATUS(ask(s.f, token,
		       "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":41}}",
		       "POST /mcp\n" LEGACY "\r\nMcp-Session-Id: mine"),
		202);
	STATUS(ask(s.f, s.f->admin,
		       "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"41\"}}",
		       "POST /mcp\n" LEGACY "\r\nMcp-Session-Id: mine"),
		202);
	CHECK_INT(runs_in(s.f, "cancelled"), 0);
	STATUS(ask(s.f, s.f->admin,
		       "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":41}}",
		       "POST /mcp\n" LEGACY "\r\nMcp-Session-Id: mine"),
		202);
	CHECK_INT(runs_in(s.f, "cancelled"), 1);
	CHECK_INT(fixture_count(
			  s.f, "select count(*) from audit_logs where action = 'session.cancel'"),
		1);
	openai_close(&s);
}

/* ---- credentials ---- */

TEST(mcp_tells_strangers_where_to_sign_in)
{
	struct fixture *f = provider_open();
	const char *place, *tenant = arena_printf(&f->arena, "/mcp/%s", f->tenant_id);
	struct answer r = rpc(f, NULL, "ping", NULL);

	STATUS(r, 401);
	place = arena_printf(&f->arena,
		"Bearer realm=\"lodge\", resource_metadata=\"%s/.well-known/oauth-protected-resource/mcp\"",
		f->app.settings.public_url);
	CHECK_STR(header_of(f, &r, "WWW-Authenticate"), place);
	r = rpc(f, "nonsense", "ping", NULL);
	STATUS(r, 401);
	CHECK(strstr(header_of(f, &r, "WWW-Authenticate"), "invalid_token") != NULL);
	r = ask(f, NULL, NULL, "GET /.well-known/oauth-protected-resource");
	STATUS(r, 200);
	r = ask(f, NULL, NULL, "GET /.well-known/oauth-protected-resource/mcp");
	CHECK_STR(text_at(&r, "authorization_servers.0"), PROVIDER_ISSUER);
	CHECK_STR(text_at(&r, "resource"),
		arena_printf(&f->arena, "%s/mcp", f->app.settings.public_url));
	r = ask(f, NULL, NULL, "GET /.well-known/oauth-protected-resource%s", tenant);
	CHECK_STR(text_at(&r, "resource"),
		arena_printf(&f->arena, "%s%s", f->app.settings.public_url, tenant));
	provider_close(f);
	f = fixture_open();
	STATUS(ask(f, NULL, NULL, "GET /.well-known/oauth-protected-resource/mcp"), 404);
	r = rpc(f, NULL, "ping", NULL);
	CHECK_STR(header_of(f, &r, "WWW-Authenticate"), "Bearer realm=\"lodge\"");
	fixture_close(f);
}
