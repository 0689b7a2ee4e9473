/* mcp.h - a client of the Model Context Protocol over streamable HTTP, for its tools.
 *
 * The revision 2026-07-28 is tried first: every request carries its version,
 * and there are no sessions.  Servers that know only earlier ones are asked
 * with `initialize`, and may hand out a session.  Which of the two a server
 * is, and its session, is kept in a struct mcp_peer by whoever calls, and
 * learnt anew when it no longer holds.
 *
 * Whatever a server says is data.  It is bounded, and nothing in it is
 * followed: what it asks of us besides a ping is declined. */
#pragma once
#include "base/slice.h"
#include "outside/fetch.h"

enum {
	MCP_ANSWER_MAX = 8 << 20, /* bytes */
	MCP_SESSION_MAX = 256,
	MCP_TOOLS_MAX = 1000, /* that a server is believed to have */
	MCP_PAGES_MAX = 100,
	MCP_PARAMS_MAX = 32, /* arguments that go into headers, too */
};

/* What is known of a server; nothing at first. */
struct mcp_peer {
	enum { MCP_UNKNOWN, MCP_MODERN, MCP_LEGACY } era;
	char version[16];		   /* that is spoken */
	char session[MCP_SESSION_MAX + 1]; /* "": it has none */
};

/* How a server is reached. */
struct mcp_way {
	const char *url;
	const struct fetch_header *headers;
	size_t header_count;
	enum egress egress;
	const _Atomic bool *stop; /* as in struct fetch; or NULL */
	int64_t end_ms;		  /* of clock_mono_ms(): when everything must be over */
	fetch_fn *fetch;	  /* NULL: fetch_run */
};

/* What a tool said. */
struct mcp_result {
	bool failed;
	const char *text; /* for the model; of any length */
	size_t len;
	bool more;	 /* there is more to the answer than the text: pictures, sounds */
	const char *raw; /* the result as it came, JSON */
	size_t raw_len;
};

struct mcp_tool {
	const char *name, *title, *description; /* title, description: or NULL */
	const char *input_schema;		/* JSON text */
	const char
		*fault; /* why it cannot be called over HTTP, as the end of a sentence; or NULL */
};

/* Each waits.  ERR_UPSTREAM with a few words in *ret_why if nothing came of it. */

/* 0 whatever the server answers; a fault that it names is a result that failed.  `schema` is the tool's
 * input_schema: it says which arguments go into headers, too. */
int mcp_call(struct arena *a, const struct mcp_way *way, struct mcp_peer *peer, const char *tool,
	const char *arguments, const char *schema, struct mcp_result *ret, const char **ret_why);
/* All of the server's tools, in its order. */
int mcp_tools(struct arena *a, const struct mcp_way *way, struct mcp_peer *peer,
	struct mcp_tool **ret, size_t *ret_count, const char **ret_why);
/* Tells the server that its session is over, if there is one; what comes of it does not matter. */
void mcp_end(struct arena *a, const struct mcp_way *way, struct mcp_peer *peer);
