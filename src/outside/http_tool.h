/* http_tool.h - calling an http tool: its request made from arguments, sent, and redirects followed.
 *
 * An argument fills the place it was given and no more: in the path it cannot
 * add or leave a segment, in the query it cannot add a parameter, in a JSON
 * body it cannot leave its string, in a header it cannot begin a line.  What
 * would is refused before anything is sent. */
#pragma once
#include "outside/tool_config.h"

enum {
	HTTP_TOOL_ANSWER_MAX = 8 << 20, /* what is longer is cut */
	HTTP_TOOL_REDIRECTS_MAX = 5,
	HTTP_TOOL_REQUEST_MAX = 1 << 20,
};

/* The request for these arguments, a JSON object that input_schema has accepted.  ERR_INVALID with a
 * sentence for the model in *ret_why; the sentence holds no secret. */
int http_tool_render(const struct tool_config *config, const struct json_node *arguments,
	struct arena *a, struct fetch *ret, const char **ret_why);

/* Renders, sends and follows.  0 whatever the status; ERR_INVALID as above; ERR_UPSTREAM with a few words
 * that name no header.  It waits: for a thread that may.  `stop` as in struct fetch. */
int http_tool_run(const struct tool_config *config, const char *arguments, size_t len,
	enum egress egress, const _Atomic bool *stop, fetch_fn *fetch, struct arena *a,
	struct fetched *ret, const char **ret_why);

/* True for an answer that says where else to look. */
bool http_is_redirect(const struct fetched *answer);
