/* tool_outside.h - the work of tools that take their time: http_fetch, http tools, mcp tools.
 *
 * It waits, so it runs on the threads of tool_pool.c.  Secrets are opened
 * here and nowhere else: they go to the service they are for, and into no
 * answer. */
#pragma once
#include "access/vault.h"
#include "outside/fetch.h"
#include "sessions/tool_run.h"

enum { TOOL_MS = 30000 /* a call may take, unless its config says otherwise */ };

struct mcp_keep;

struct tool_outside {
	struct vault *vault;
	enum egress egress;
	struct mcp_keep *mcp; /* NULL: what a server hands out is given back at once */
};

/* Fills *ret, whatever happens.  The arena holds secrets after it: wipe it. */
void tool_outside_run(const struct tool_outside *o, struct arena *a, const struct tool_asked *in,
	const _Atomic bool *stop, struct tool_answer *ret);

/* Ends a session with a server that is no longer used, if there is one; false if there is none. */
bool tool_outside_tidy(const struct tool_outside *o, const _Atomic bool *stop);

/* The same for all of them, as far as one gets in so many milliseconds: nobody uses any of them again. */
void tool_outside_end(const struct tool_outside *o, int ms);

/* http_fetch: a page or document as text. */
struct web_page {
	const char *url;
	size_t max_bytes;
	enum egress egress;
	const _Atomic bool *stop;
};
/* False if nothing came back: the answer says why. */
bool web_page_read(struct arena *a, const struct web_page *in, struct tool_answer *ret);
