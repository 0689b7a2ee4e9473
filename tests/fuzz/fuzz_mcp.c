/* fuzz_mcp.c - whatever an MCP server may say: as one message, as the result of a tool, as a list of tools, as a
 * schema with marks, and whole, over the wire, in pieces.  And whatever a client may say to ours: as a POST, with each of its
 * lines as a header, and as the address of a resource. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "base/error.h"
#include "mcp/mcp_post.h"
#include "mcp/mcp_resources.h"
#include "outside/mcp_read.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	if (!crypto_init() || !fetch_init())
		abort();
	return 0;
}

static struct slice said;
static int asked;

/* The first byte says how it comes; the text is the answer to everything. */
static int answer(
	const struct fetch *in, struct arena *a, struct fetched *out, const char **ret_why)
{
	static const int statuses[] = { 200, 202, 307, 400, 401, 404, 500 };
	unsigned how = (unsigned char)said.at[0];
	size_t piece = 1 + how % 13;

	*ret_why = "";
	if (++asked > 1000)
		abort(); /* it goes round in circles */
	*out = (struct fetched){ .status = statuses[how % 7],
		.content_type = how & 0x40 ? "text/event-stream" : "application/json",
		.body = said.at + 1,
		.len = said.len - 1,
		.header = how & 0x20 ? arena_strndup(a, said.at + 1, said.len < 8 ? 0 : 7) : NULL,
		.location = how & 0x80 ? "https://mcp.example/there" : NULL };
	for (size_t i = 0; in->see && i < out->len; i += piece)
		if (!in->see(in->see_ctx, out, out->body + i,
			    out->len - i < piece ? out->len - i : piece))
			break;
	return 0;
}

static void converse(struct arena *a)
{
	struct mcp_way way = { .url = "https://mcp.example/mcp",
		.end_ms = 0 /* nothing is waited for */,
		.fetch = answer };
	struct mcp_peer peer = { 0 };
	struct mcp_result got;
	struct mcp_tool *tools;
	const char *why = NULL;
	size_t count;

	asked = 0;
	if (mcp_call(a, &way, &peer, "t", "{}", "{}", &got, &why) ? !why : !got.text)
		abort();
	peer = (struct mcp_peer){ 0 };
	asked = 0;
	if (mcp_tools(a, &way, &peer, &tools, &count, &why) ? !why : count > MCP_TOOLS_MAX)
		abort();
	mcp_end(a, &way, &peer);
}

/* The first line is what the headers say, the rest the body. */
static void post(struct arena *a, struct slice text)
{
	const char *end = memchr(text.at, '\n', text.len);
	size_t first = end ? (size_t)(end - text.at) : 0;
	const char *head = arena_strndup(a, text.at, first);
	struct mcp_heads heads[] = { { 0 }, { .version = head },
		{ MCP_VERSION_MODERN, head, head, head } };
	struct mcp_address at;

	text.at += end ? first + 1 : 0;
	text.len -= end ? first + 1 : 0;
	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
		struct mcp_post p;

		mcp_post_read(a, text, &p);
		mcp_post_hold(a, &heads[i], &p);
		if (p.count > MCP_BATCH_MAX || (!p.fault.code && !p.count))
			abort();
		for (size_t k = 0; !p.fault.code && k < p.count; k++)
			if (p.list[k].kind == MCP_REQUEST && !p.list[k].fault.code &&
				(!p.list[k].id || !p.list[k].method))
				abort();
	}
	if (mcp_address_read(a, head, &at) && (!at.id || (at.kind == MCP_ADDRESS_FILE && !at.path)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a = { 0 };
	struct mcp_tools tools = { 0 };
	struct slice text;
	struct fetch_header headers[MCP_PARAMS_MAX];
	struct mcp_message message;
	struct mcp_result result;
	const char *cursor;
	size_t count;

	if (!size)
		return 0;
	text = (struct slice){ arena_strndup(&a, (const char *)data, size), size };
	tools.list = arena_array(&a, struct mcp_tool, MCP_TOOLS_MAX);
	mcp_read_message(&a, text, 1, &message);
	if (message.kind == MCP_REPLY && message.failed && !message.error)
		abort();
	mcp_read_result(&a, text, &result);
	if (!result.text)
		abort();
	mcp_read_tools(&a, text, &tools, &cursor);
	if (!mcp_param_headers(&a, text.at, text.at, headers, &count))
		for (size_t i = 0; i < count; i++)
			for (const char *p = headers[i].value; *p; p++)
				if (*p != '\t' && (*p < ' ' || *p > '~'))
					abort();
	post(&a, text);
	said = text;
	converse(&a);
	arena_free(&a);
	return 0;
}
