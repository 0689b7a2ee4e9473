/* mcp_read.h - reading what a server of the Model Context Protocol says: messages, results, lists.
 *
 * With the cursor of json.h and not as a tree, so that a hostile answer takes
 * no more memory than a small multiple of its bytes.  Nothing here sends. */
#pragma once
#include "outside/mcp.h"
#include "outside/mcp_rpc.h"

/* One message, or the reply with this id among several in a list.  The slices lie in the text. */
void mcp_read_message(struct arena *a, struct slice text, int64_t id, struct mcp_message *ret);
/* The result of tools/call; false if it is none. */
bool mcp_read_result(struct arena *a, struct slice text, struct mcp_result *ret);
/* A page of tools/list, added to what is there; *ret_cursor is NULL after the last. */
struct mcp_tools {
	struct mcp_tool *list; /* room for MCP_TOOLS_MAX */
	size_t count;
	bool more; /* than that */
};
bool mcp_read_tools(
	struct arena *a, struct slice text, struct mcp_tools *tools, const char **ret_cursor);

/* ---- mcp_headers.c: what of a request goes into headers, too ---- */

/* The headers for arguments that the schema marks with x-mcp-header; at most MCP_PARAMS_MAX.  Without
 * arguments it only looks whether the marks are sound.  NULL, or what is wrong with them. */
const char *mcp_param_headers(struct arena *a, const char *schema, const char *arguments,
	struct fetch_header *list, size_t *ret_count);
