/* say.c - our MCP client on the command line, for the tests that let it talk with real servers.
 *
 *   mcp-say list URL                        the server's tools, a JSON object a line
 *   mcp-say call TOOL ARGUMENTS ... URL     what each call gives; all in one session, which is ended
 *
 * The last line says what is known of the server.  In MCP_SAY_HEADER a header may be given. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/json.h"
#include "outside/mcp.h"

static void put(struct buf *b, const char *name, const char *text, size_t len)
{
	buf_printf(b, "%s\"%s\":", b->len > 1 ? "," : "", name);
	json_write_string(b, text, len);
}

static void print(struct buf *b)
{
	buf_puts(b, "}\n");
	fwrite(b->at, 1, b->len, stdout);
	b->len = 1;
}

static int list(struct arena *a, const struct mcp_way *way, struct mcp_peer *peer, struct buf *b)
{
	const char *why = "";
	struct mcp_tool *tools;
	size_t count;

	if (mcp_tools(a, way, peer, &tools, &count, &why)) {
		put(b, "why", why, strlen(why));
		print(b);
		return 1;
	}
	for (size_t i = 0; i < count; i++) {
		put(b, "name", tools[i].name, strlen(tools[i].name));
		buf_printf(b, ",\"input_schema\":%s", tools[i].input_schema);
		if (tools[i].fault)
			put(b, "fault", tools[i].fault, strlen(tools[i].fault));
		print(b);
	}
	return 0;
}

static const char *schema_of(
	struct arena *a, const struct mcp_way *way, struct mcp_peer *peer, const char *name)
{
	const char *why = "";
	struct mcp_tool *tools;
	size_t count = 0;

	mcp_tools(a, way, peer, &tools, &count, &why);
	for (size_t i = 0; i < count; i++)
		if (strcmp(tools[i].name, name) == 0)
			return tools[i].input_schema;
	return "{}";
}

static int call(struct arena *a, const struct mcp_way *way, struct mcp_peer *peer, const char *tool,
	const char *arguments, struct buf *b)
{
	const char *why = "";
	struct mcp_result got;

	if (mcp_call(a, way, peer, tool, arguments, schema_of(a, way, peer, tool), &got, &why)) {
		put(b, "why", why, strlen(why));
		print(b);
		return 1;
	}
	put(b, "text", got.text, got.len);
	buf_printf(b, ",\"failed\":%s,\"more\":%s", got.failed ? "true" : "false",
		got.more ? "true" : "false");
	print(b);
	return 0;
}

int main(int argc, char **argv)
{
	const char *given = getenv("MCP_SAY_HEADER"), *colon = given ? strchr(given, ':') : NULL;
	struct arena a = { 0 };
	struct mcp_peer peer = { 0 };
	struct fetch_header header = { "", "" };
	struct mcp_way way = { .egress = EGRESS_ANY,
		.headers = &header,
		.header_count = colon != NULL,
		.end_ms = clock_mono_ms() + 30000 };
	struct buf b;
	int bad = 0;

	if (argc < 3 || !crypto_init() || !fetch_init())
		return 2;
	if (colon)
		header = (struct fetch_header){ arena_strndup(&a, given, (size_t)(colon - given)),
			colon + 1 };
	way.url = argv[--argc];
	buf_init(&b, 64 << 20);
	buf_putc(&b, '{');
	if (strcmp(argv[1], "list") == 0)
		bad = list(&a, &way, &peer, &b);
	for (int i = 2; strcmp(argv[1], "call") == 0 && i + 1 < argc; i += 2)
		bad |= call(&a, &way, &peer, argv[i], argv[i + 1], &b);
	put(&b, "version", peer.version, strlen(peer.version));
	buf_printf(
		&b, ",\"era\":%d,\"session\":%s", (int)peer.era, *peer.session ? "true" : "false");
	mcp_end(&a, &way, &peer);
	print(&b);
	buf_free(&b);
	arena_free(&a);
	return bad;
}
