/* mcp_keep.h - what is known of MCP servers between calls, and the sessions that they have handed out.
 *
 * A server's session belongs to one session of an agent and to one set of
 * headers, so that nobody speaks in another's; the server's tools share it.  What is needed to end one
 * later is kept as it lies in the store: its secrets stay sealed. */
#pragma once
#include "outside/mcp.h"
#include "outside/tool_config.h"
#include "sessions/tool_run.h"

enum {
	MCP_KEPT_MAX = 1024,	       /* beyond that the oldest are ended */
	MCP_IDLE_MS = 5 * 60 * 1000,   /* then a session is ended */
	MCP_KNOWN_MS = 60 * 60 * 1000, /* then a server is asked anew what it speaks */
};

struct mcp_keep;

struct mcp_keep *mcp_keep_new(void);
void mcp_keep_free(struct mcp_keep *k);
bool mcp_keep_any(struct mcp_keep *k);

/* What is known, for a call of the tool in this session; nothing at first.  `config` has the values of
 * its headers. */
void mcp_keep_find(struct mcp_keep *k, const struct tool_asked *in,
	const struct tool_config *config, struct mcp_peer *ret);
/* What is known after it.  False if another call of the same session has a session there already, and so
 * this one has to be ended. */
bool mcp_keep_put(struct mcp_keep *k, const struct tool_asked *in, const struct tool_config *config,
	const struct mcp_peer *peer);

/* A session that has to be ended, taken out; the texts live in the arena. */
struct mcp_over {
	struct mcp_peer peer;
	struct held_tool tool; /* id, config and sealed */
};
bool mcp_keep_over(struct mcp_keep *k, struct arena *a, int64_t now_ms, struct mcp_over *ret);
