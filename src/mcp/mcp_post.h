/* mcp_post.h - what a client of the Model Context Protocol says by one POST, read and held against its headers.
 *
 * A POST is one message; in the oldest revision it may be a list of them.
 * Reading needs nothing but the text, and so is fuzzed. */
#pragma once
#include "base/arena.h"
#include "outside/mcp_rpc.h"

enum {
	MCP_BATCH_MAX = 50,    /* messages of a list */
	MCP_ID_MAX = 256,      /* bytes of what a client calls its request */
	MCP_BODY_MAX = 4 << 20 /* bytes of a POST */
};

/* What is wrong with a message; no code: nothing. */
struct mcp_fault {
	enum mcp_code code;
	const char *message;
	const char *data; /* JSON text, or NULL */
};

/* One message of a client's.  Everything lies in the arena; what is NULL was not said, or is not of its type. */
struct mcp_spoken {
	enum mcp_kind kind;
	const char *method;
	const char *id;			 /* JSON text */
	const char *name, *uri, *cursor; /* of params */
	const char *arguments;		 /* of params; JSON text of an object */
	const char *version;		 /* of params, where it is `initialize` */
	const char *request_id;		 /* of params, where something is cancelled; JSON text */
	const char *progress_token;	 /* of _meta; JSON text */
	const char *meta_version;	 /* of _meta */
	bool has_capabilities;		 /* in _meta */
	bool bad_arguments, bad_cursor;	 /* there is one, and it is not of its type */
	struct mcp_fault fault;
};

struct mcp_post {
	struct mcp_spoken *list;
	size_t count;
	bool batch;		/* it came as a list, and is answered by one */
	bool modern;		/* it is of a revision without handshake */
	const char *session;	/* what Mcp-Session-Id says, or NULL */
	struct mcp_fault fault; /* of all of it */
	/* Which of them is being answered; NULL: who asks, and where, is not settled. */
	const struct mcp_spoken *answering;
};

/* What its headers say; NULL: absent. */
struct mcp_heads {
	const char *version, *method, *name, *session;
};

void mcp_post_read(struct arena *a, struct slice text, struct mcp_post *ret);
/* Which revision it is of, and whether its headers say the same as its messages do. */
void mcp_post_hold(struct arena *a, const struct mcp_heads *heads, struct mcp_post *post);
