/* test_mcp.c - the MCP client against servers that exist only here: every turn of the handshakes, answers that
 * are wrong, late, foreign or too many, and what the model is told of them.  Real servers are tried in
 * tests/blackbox/mcp.test.mjs. */
#include "outside/mcp.h"

#include "base/clock.h"
#include "base/error.h"
#include "outside/mcp_read.h"
#include "t.h"

/* ---- a server that follows a script ---- */

struct line {
	const char *wants; /* must occur in the request: its method, headers and body */
	int status;
	const char *type, *body; /* %ID in the body is the request's id */
	const char *session, *location;
};

static struct {
	const struct line *next;
	int asked;
	const char *last;
} script;

static const char *request_text(struct arena *a, const struct fetch *in)
{
	const char *out = arena_printf(a, "%s %s\n", in->method ? in->method : "POST", in->url);

	for (size_t i = 0; i < in->header_count; i++)
		out = arena_printf(a, "%s%s: %s\n", out, in->headers[i].name, in->headers[i].value);
	return arena_printf(a, "%s\n%s", out, in->body ? in->body : "");
}

static const char *with_id(struct arena *a, const char *body, const char *request)
{
	const char *id = strstr(request, "\"id\":"), *at;

	while (id && (at = strstr(body, "%ID")) != NULL)
		body = arena_printf(a, "%.*s%.*s%s", (int)(at - body), body,
			(int)strspn(id + 5, "0123456789"), id + 5, at + 3);
	return body;
}

static int play(const struct fetch *in, struct arena *a, struct fetched *out, const char **ret_why)
{
	const struct line *l = script.next;

	script.asked++;
	script.last = request_text(a, in);
	if (!l || !l->wants) {
		test_fail(__FILE__, __LINE__, "not in the script: %s", script.last);
		*ret_why = "no script";
		return ERR_UPSTREAM;
	}
	script.next++;
	if (!strstr(script.last, l->wants))
		test_fail(__FILE__, __LINE__, "%s is not in %s", l->wants, script.last);
	if (!l->status) {
		*ret_why = "nobody is there";
		return ERR_UPSTREAM;
	}
	*out = (struct fetched){ .status = l->status,
		.content_type = l->type,
		.body = l->body ? with_id(a, l->body, script.last) : "",
		.header = l->session,
		.location = l->location };
	out->len = strlen(out->body);
	/* in small pieces, as they come from the network */
	for (size_t i = 0; in->see && i < out->len; i += 7)
		if (!in->see(in->see_ctx, out, out->body + i, out->len - i < 7 ? out->len - i : 7))
			break;
	return 0;
}

#define JSON "application/json"
#define EVENTS "text/event-stream"
#define REPLY(result) "{\"jsonrpc\":\"2.0\",\"id\":%ID,\"result\":" result "}"
#define FAULT(code, message) \
	"{\"jsonrpc\":\"2.0\",\"id\":%ID,\"error\":{\"code\":" code ",\"message\":\"" message "\"}}"
#define SAID(text) "{\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}]}"
#define DISCOVER                                                                                      \
	{                                                                                             \
		"server/discover", 200, JSON,                                                         \
			REPLY("{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"]}") \
	}
#define OLD                                                                 \
	{                                                                   \
		"server/discover", 400, JSON, FAULT("-32000", "No session") \
	}
#define INITIALIZE(id)                                                                           \
	{ "\"method\":\"initialize\"", 200, JSON, REPLY("{\"protocolVersion\":\"2025-06-18\"}"), \
		.session = id },                                                                 \
	{                                                                                        \
		"notifications/initialized", 202                                                 \
	}

/* "text", "failed: text", or "why: words". */
static const char *called(struct arena *a, struct mcp_peer *peer, const char *arguments,
	const char *schema, const struct line *lines)
{
	static const struct fetch_header headers[] = { { "Authorization", "Bearer x" },
		{ "Mcp-Method", "forged" }, { "Accept", "text/html" } };
	struct mcp_way way = { .url = "https://mcp.example/mcp",
		.headers = headers,
		.header_count = 3,
		.end_ms = clock_mono_ms() + 10000,
		.fetch = play };
	struct mcp_result got;
	const char *why = "";

	script.next = lines;
	script.asked = 0;
	if (mcp_call(a, &way, peer, "say.it", arguments, schema, &got, &why))
		return arena_printf(a, "why: %s", why);
	if (script.next->wants)
		test_fail(__FILE__, __LINE__, "not asked: %s", script.next->wants);
	return arena_printf(a, "%s%.*s", got.failed ? "failed: " : "", (int)got.len, got.text);
}

#define CALLED(peer, ...) \
	called(&a, peer, "{\"x\":1}", "{}", (const struct line[]){ __VA_ARGS__, { NULL } })

TEST(mcp_speaks_the_new_revision_first)
{
	struct arena a = { 0 };
	struct mcp_peer peer = { 0 };

	CHECK_STR(CALLED(&peer, DISCOVER, { "tools/call", 200, JSON, REPLY(SAID("hello")) }),
		"hello");
	CHECK_INT(peer.era, MCP_MODERN);
	CHECK(strstr(script.last, "\nMCP-Protocol-Version: 2026-07-28\n"));
	CHECK(strstr(script.last, "\nMcp-Method: tools/call\n") && !strstr(script.last, "forged"));
	CHECK(strstr(script.last, "\nMcp-Name: say.it\n"));
	CHECK(strstr(script.last, "\nAccept: application/json, text/event-stream\n"));
	CHECK(strstr(script.last, "\nAuthorization: Bearer x\n"));
	CHECK(strstr(script.last, "\"name\":\"say.it\",\"arguments\":{\"x\":1},\"_meta\":{"
				  "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\""));
	CHECK(!strstr(script.last, "Session"));
	/* known by now; as events, with others before it and a stream that stays open */
	CHECK_STR(
		CALLED(&peer,
			{ "tools/call", 200, EVENTS,
				": alive\n\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\n"
				"event: message\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":99999,\"result\":{}}\r\n\r\n"
				"data: {\"jsonrpc\":\"2.0\",\ndata: \"id\":%ID,\"result\":" SAID(
					"streamed") "}\n\n"
						    "data: {\"jsonrpc\":\"2.0\",\"id\":%ID,\"result\":" SAID(
							    "again") "}\n\n" }),
		"streamed");
	CHECK_STR(CALLED(&peer, { "tools/call", 404, JSON, FAULT("-32601", "no such method") }),
		"failed: The server answered with the error -32601: no such method");
	/* the server is an older one by now */
	CHECK_STR(CALLED(&peer, { "tools/call", 400, "text/html", "<p>?" }, OLD, INITIALIZE(NULL),
			  { "tools/call", 200, JSON, REPLY(SAID("old")) }),
		"old");
	CHECK_INT(peer.era, MCP_LEGACY);
	arena_free(&a);
}

TEST(mcp_falls_back_to_older_revisions)
{
	struct arena a = { 0 };
	struct mcp_peer peer = { 0 };

	CHECK_STR(CALLED(&peer, OLD, INITIALIZE("sess-1"),
			  { "Mcp-Session-Id: sess-1", 200, EVENTS,
				  "data: " REPLY(SAID("hi")) "\n\n" }),
		"hi");
	CHECK_STR(peer.version, "2025-06-18");
	CHECK(strstr(script.last, "\nMCP-Protocol-Version: 2025-06-18\n"));
	CHECK(!strstr(script.last, "_meta") && !strstr(script.last, "Mcp-Method"));
	/* the session stays, and is made anew once it is gone */
	CHECK_STR(CALLED(&peer, { "Mcp-Session-Id: sess-1", 200, JSON, REPLY(SAID("more")) }),
		"more");
	CHECK_STR(CALLED(&peer, { "Mcp-Session-Id: sess-1", 404, JSON, FAULT("-32001", "gone") },
			  INITIALIZE("sess-2"),
			  { "Mcp-Session-Id: sess-2", 200, JSON, REPLY(SAID("back")) }),
		"back");
	/* but only once */
	CHECK_STR(CALLED(&peer, { "sess-2", 404 }, INITIALIZE("sess-3"), { "sess-3", 404 }),
		"why: the server answered 404");
	/* a batch, and a server that pings and asks in between */
	peer = (struct mcp_peer){ .era = MCP_LEGACY, .version = "2025-03-26", .session = "s" };
	CHECK_STR(CALLED(&peer, { "tools/call", 200, JSON,
					"[{\"jsonrpc\":\"2.0\",\"method\":\"x\"}," REPLY(
						SAID("batch")) "]" }),
		"batch");
	CHECK_STR(
		CALLED(&peer,
			{ "tools/call", 200, EVENTS,
				"data: {\"jsonrpc\":\"2.0\",\"id\":\"p1\",\"method\":\"ping\"}\n\n"
				"data: {\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"sampling/createMessage\"}\n\n"
				"data: " REPLY(SAID("after")) "\n\n" },
			{ "{\"jsonrpc\":\"2.0\",\"id\":\"p1\",\"result\":{}}", 202 },
			{ "\"id\":7,\"error\":{\"code\":-32601", 202 }),
		"after");
	/* a server that closes the stream, and goes on after the last event when it is asked to */
	CHECK_STR(CALLED(&peer, { "tools/call", 200, EVENTS, "id: e-1\nretry: 10\ndata: \n\n" },
			  { "\nLast-Event-ID: e-1\n", 200, EVENTS, "id: e-2\ndata:\n\n" },
			  { "GET https://mcp.example/mcp\n", 200, EVENTS,
				  "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":" SAID(
					  "late") "}\n\n" }),
		"late");
	CHECK_STR(CALLED(&peer, { "tools/call", 200, EVENTS, "id: e-1\nretry: 10\ndata: \n\n" },
			  { "\nLast-Event-ID: e-1\n", 405 }),
		"why: the server's answer is no reply to the request");
	/* within its origin a server may send us on */
	CHECK_STR(CALLED(&peer, { "/mcp\n", 307, .location = "https://mcp.example/mcp/" },
			  { "https://mcp.example/mcp/\n", 200, JSON, REPLY(SAID("there")) }),
		"there");
	CHECK_STR(CALLED(&peer, { "/mcp\n", 307, .location = "https://other.example/mcp" }),
		"why: it redirects to https://other.example/mcp, which is not followed");
	arena_free(&a);
}

TEST(mcp_says_what_is_wrong_with_a_server)
{
	struct arena a = { 0 };
	struct mcp_peer peer = { 0 };

#define ANEW(...) (peer = (struct mcp_peer){ 0 }, CALLED(&peer, __VA_ARGS__))
	CHECK_STR(ANEW({ "server/discover", 0 }), "why: nobody is there");
	CHECK_STR(ANEW({ "server/discover", 401 }),
		"why: the server lets nobody in with these headers (401)");
	CHECK_STR(ANEW({ "server/discover", 404, "text/html", "<p>" }, { "initialize", 404 }),
		"why: the server answered 404 and does not speak the protocol at this address");
	CHECK_STR(ANEW(OLD, { "initialize", 200, JSON,
				    REPLY("{\"protocolVersion\":\"1999-01-01\"}") }),
		"why: the server speaks none of the revisions of the protocol that are known here");
	CHECK_STR(ANEW(OLD, { "initialize", 400, JSON, FAULT("-32602", "go away") }),
		"why: the server refused us: go away");
	CHECK_STR(
		ANEW({ "server/discover", 400, JSON,
			"{\"jsonrpc\":\"2.0\",\"id\":%ID,\"error\":{\"code\":-32022,\"message\":\"\","
			"\"data\":{\"supported\":[\"2030-01-01\"]}}}" }),
		"why: the server speaks none of the revisions of the protocol that are known here");
	CHECK_STR(
		ANEW({ "server/discover", 400, JSON,
			     "{\"jsonrpc\":\"2.0\",\"id\":%ID,\"error\":{\"code\":-32022,\"message\":\"\","
			     "\"data\":{\"supported\":[\"2025-11-25\"]}}}" },
			INITIALIZE(NULL), { "tools/call", 200, JSON, REPLY(SAID("fine")) }),
		"fine");
	CHECK_STR(ANEW(DISCOVER, { "tools/call", 500, "text/plain", "oops" }),
		"why: the server answered 500");
	CHECK_STR(ANEW(DISCOVER, { "tools/call", 200, JSON,
					 "{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}" }),
		"why: the server's answer is no reply to the request");
	CHECK_STR(ANEW(DISCOVER, { "tools/call", 200, JSON, "{\"id\":%ID,\"result\":{}}" }),
		"why: the server's answer is no reply to the request");
	CHECK_STR(ANEW(DISCOVER, { "tools/call", 200, EVENTS, "data: {}\n\n" }),
		"why: the server's answer is no reply to the request");
	CHECK_STR(ANEW(DISCOVER, { "tools/call", 200, JSON, REPLY("{\"x\":1}") }),
		"why: the server's answer is not the result of a tool");
	CHECK_STR(ANEW(DISCOVER, { "tools/call", 200, JSON, "{" }),
		"why: the server's answer is no reply to the request");
	CHECK_STR(ANEW(OLD, INITIALIZE("sp ace")), "why: the server's session has no usable name");
	arena_free(&a);
}

TEST(mcp_puts_marked_arguments_into_headers)
{
	static const char marked[] =
		"{\"type\":\"object\",\"properties\":{\"region\":{\"type\":\"string\",\"x-mcp-header\":"
		"\"Region\"},\"deep\":{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\","
		"\"x-mcp-header\":\"N\"}}},\"on\":{\"type\":\"boolean\",\"x-mcp-header\":\"On\"},"
		"\"x-mcp-header\":{\"type\":\"string\"}}}";
	static const struct {
		const char *schema, *fault;
	} bad[] = {
		{ "{\"x-mcp-header\":\"A\"}", "has an x-mcp-header where no argument is named" },
		{ "{\"properties\":{\"a\":{\"type\":\"number\",\"x-mcp-header\":\"A\"}}}",
			"has an x-mcp-header on something else than a string, an integer or a boolean" },
		{ "{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"A B\"}}}",
			"has an x-mcp-header that is not the name of a header" },
		{ "{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"\"}}}",
			"has an x-mcp-header that is not the name of a header" },
		{ "{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"A\"},\"b\":{\"type\":"
		  "\"string\",\"x-mcp-header\":\"a\"}}}",
			"has the same x-mcp-header twice" },
		{ "{\"properties\":{\"a\":{\"type\":\"array\",\"items\":{\"type\":\"string\","
		  "\"x-mcp-header\":\"A\"}}}}",
			"has an x-mcp-header where no argument is named" },
		{ "{\"anyOf\":[{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"A\"}}}]}",
			"has an x-mcp-header where no argument is named" },
	};
	static const struct {
		const char *plain, *header;
	} values[] = {
		{ "us-west1", "us-west1" },
		{ "Hello, \xe4\xb8\x96\xe7\x95\x8c", "=?base64?SGVsbG8sIOS4lueVjA==?=" },
		{ " padded ", "=?base64?IHBhZGRlZCA=?=" },
		{ "line1\nline2", "=?base64?bGluZTEKbGluZTI=?=" },
		{ "=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=" },
		{ "", "" },
	};
	struct arena a = { 0 };
	struct mcp_peer peer = { .era = MCP_MODERN };

	CHECK_STR(
		called(&a, &peer,
			"{\"region\":\"eu\",\"deep\":{\"n\":42.0},\"on\":true,\"x-mcp-header\":\"no\"}",
			marked,
			(const struct line[]){
				{ "tools/call", 200, JSON, REPLY(SAID("ok")) }, { NULL } }),
		"ok");
	CHECK(strstr(script.last, "\nMcp-Param-Region: eu\n") &&
		strstr(script.last, "\nMcp-Param-N: 42\n") &&
		strstr(script.last, "\nMcp-Param-On: true\n") && !strstr(script.last, ": no\n"));
	called(&a, &peer, "{\"region\":null}", marked,
		(const struct line[]){ { "tools/call", 200, JSON, REPLY(SAID("ok")) }, { NULL } });
	CHECK(!strstr(script.last, "Mcp-Param"));
	/* the server marks other arguments than it did: once more, as it says now */
	CHECK_STR(
		called(&a, &peer, "{\"region\":\"eu\"}", "{}",
			(const struct line[]){
				{ "tools/call", 400, JSON, FAULT("-32020", "mismatch") },
				{ "tools/list", 200, JSON,
					REPLY("{\"tools\":[{\"name\":\"say.it\",\"inputSchema\":{\"properties\":"
					      "{\"region\":{\"type\":\"string\",\"x-mcp-header\":\"R\"}}}}]}") },
				{ "Mcp-Param-R: eu", 200, JSON, REPLY(SAID("now")) }, { NULL } }),
		"now");
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		CHECK_STR(mcp_param_headers(&a, bad[i].schema, NULL, NULL, NULL), bad[i].fault);
	for (size_t i = 0; i < sizeof values / sizeof *values; i++)
		CHECK_STR(mcp_header_value(&a, values[i].plain, strlen(values[i].plain)),
			values[i].header);
	arena_free(&a);
}

TEST(mcp_results_become_text)
{
	static const struct {
		const char *result, *text;
		bool failed, more;
	} rows[] = {
		{ SAID("a"), "a" },
		{ "{\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"text\",\"text\":\"b\"}],"
		  "\"isError\":true}",
			"a\nb", true },
		{ "{\"content\":[]}", "" },
		{ "{\"content\":[{\"type\":\"image\",\"data\":\"AAAAAAAA\",\"mimeType\":\"image/png\"}]}",
			"[A block of image, image/png, about 6 bytes: it is no text and is not shown]",
			false, true },
		{ "{\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":\"file:///a\",\"text\":\"A\"}}]}",
			"[Resource file:///a]\nA" },
		{ "{\"content\":[{\"resource\":{\"uri\":\"file:///a\",\"blob\":\"AAAA\",\"mimeType\":\"x/y\"},"
		  "\"type\":\"resource\"}]}",
			"[A block of resource, x/y, file:///a, about 3 bytes: it is no text and is not "
			"shown]",
			false, true },
		{ "{\"content\":[{\"type\":\"resource_link\",\"uri\":\"file:///a\",\"name\":\"A\"}]}",
			"[Link to A: file:///a]" },
		{ "{\"content\":[{\"type\":\"hologram\"}]}",
			"[A block of hologram: it is no text and is not shown]", false, true },
		{ "{\"structuredContent\":{\"n\":1}}", "{\"n\":1}" },
		{ "{\"content\":[{\"type\":\"text\",\"text\":\"{ \\\"n\\\" : 1 }\"}],"
		  "\"structuredContent\":{\"n\":1}}",
			"{ \"n\" : 1 }" },
		{ "{\"structuredContent\":{\"n\":1},\"content\":[{\"type\":\"text\",\"text\":\"one\"}]}",
			"one\nStructured content: {\"n\":1}" },
		{ "{\"resultType\":\"complete\",\"content\":[{\"type\":\"text\",\"text\":\"a\"}]}",
			"a" },
		{ "{\"resultType\":\"input_required\",\"inputRequests\":{\"who\":{\"method\":"
		  "\"elicitation/create\",\"params\":{\"message\":\"Who are you?\"}},\"x\":1}}",
			"The tool was not run to its end: its server asks for something that cannot be "
			"given here. elicitation/create: Who are you?. something.",
			true },
		{ "{\"resultType\":\"task\"}",
			"The tool was not run to its end: its server asks for something that cannot be "
			"given here.",
			true },
	};
	struct arena a = { 0 };
	struct mcp_result got;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		test_step("%s", rows[i].result);
		CHECK(mcp_read_result(
			&a, (struct slice){ rows[i].result, strlen(rows[i].result) }, &got));
		CHECK_STR(got.text, rows[i].text);
		CHECK_INT(got.failed, rows[i].failed);
		CHECK_INT(got.more, rows[i].more);
	}
	arena_free(&a);
}

static const char *listed(struct arena *a, const struct line *lines)
{
	struct mcp_way way = {
		.url = "https://mcp.example/mcp", .end_ms = clock_mono_ms() + 10000, .fetch = play
	};
	struct mcp_peer peer = { .era = MCP_MODERN };
	const char *why = "", *out = "";
	struct mcp_tool *tools;
	size_t count;

	script.next = lines;
	if (mcp_tools(a, &way, &peer, &tools, &count, &why))
		return why;
	for (size_t i = 0; i < count; i++)
		out = arena_printf(a, "%s%s %s%s\n", out, tools[i].name, tools[i].input_schema,
			tools[i].fault ? " faulty" : "");
	return out;
}

TEST(mcp_lists_tools_page_by_page)
{
	struct arena a = { 0 };
	struct line endless[MCP_PAGES_MAX + 2];

	CHECK_STR(
		listed(&a,
			(const struct line[]){
				{ "\"params\":{\"_meta\"", 200, JSON,
					REPLY("{\"tools\":[{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\"}},"
					      "7,{\"title\":\"nameless\"}],\"nextCursor\":\"p\\\"2\"}") },
				{ "\"params\":{\"cursor\":\"p\\\"2\",\"_meta\"", 200, JSON,
					REPLY("{\"tools\":[{\"name\":\"b\",\"inputSchema\":{\"x-mcp-header\":\"A\"}}]}") },
				{ NULL } }),
		"a {\"type\":\"object\"}\nb {\"x-mcp-header\":\"A\"} faulty\n");
	for (size_t i = 0; i < MCP_PAGES_MAX + 1; i++)
		endless[i] = (struct line){ "tools/list", 200, JSON,
			REPLY("{\"tools\":[],\"nextCursor\":\"again\"}") };
	CHECK_STR(listed(&a, endless), "the server has too many tools");
	CHECK_STR(listed(&a, (const struct line[]){ { "tools/list", 200, JSON, REPLY("{}") },
				     { NULL } }),
		"the server's list of tools is not one");
	arena_free(&a);
}
