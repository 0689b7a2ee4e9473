/* mcp_wire.h - one request to an MCP server and its answer, as JSON or as a stream of events. */
#pragma once
#include "outside/mcp_read.h"

/* A conversation with one server, on one thread. */
struct mcp_line {
	struct arena *arena;
	const struct mcp_way *way;
	struct mcp_peer *peer;
	struct fetch_line *line;
	const char *url; /* where the server has sent us on to, within its origin */
	int64_t last_id;
};

struct mcp_request {
	const char *method;
	struct slice params; /* the members of the object, as JSON; may be empty */
	const char *name;    /* for the header Mcp-Name, or NULL */
	const struct fetch_header *more;
	size_t more_count;
	bool notice; /* no reply is wanted */
	bool modern; /* with the version in the request, and the headers that go with it */
};

struct mcp_exchange {
	int status;
	struct mcp_message message; /* MCP_NOTHING if there was none for us */
	const char *session;	    /* handed out with the answer, or NULL */
};

/* ERR_UPSTREAM with a few words if nobody answered. */
int mcp_exchange(struct mcp_line *l, const struct mcp_request *in, struct mcp_exchange *ret,
	const char **ret_why);
/* DELETE, for the end of a session. */
void mcp_delete(struct mcp_line *l);
