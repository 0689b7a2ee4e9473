/* mcp_ask.h - an agent at work for a client of the Model Context Protocol: begun, followed, ended. */
#pragma once
#include "mcp/mcp_out.h"

enum { MCP_WAITING_MAX = 32 }; /* calls of one person that wait in this process at a time */

/* The call is one more that the caller waits for; ERR_THROTTLED with a sentence if there are as many already. */
int mcp_ask_room(struct call *c);
/* In a transaction that writes: a session is begun or gone on with, the agent set to work, and the answer follows
 * (mcp_watch.c). */
int mcp_ask(struct call *c, const struct mcp_post *post, const struct mcp_spoken *said);
/* Ends the run that this client began with a request of that id, if it is still at work. */
int mcp_cancel(struct call *c, const struct mcp_post *post, const struct mcp_spoken *said);

/* ---- mcp_watch.c: what follows ---- */

struct mcp_begun {
	const char *agent_id, *session_id, *run_id;
	const char *after_id; /* the message that it answers */
	int64_t after;	      /* the last event before it */
};
/* Has the call answered by what becomes of the run; for the end of `apply`. */
void mcp_watch(struct call *c, const struct mcp_post *post, const struct mcp_spoken *said,
	const struct mcp_begun *begun);
/* Ends the run in the transaction under way, with its row in the audit log; one that is over already is none to end. */
int mcp_end_run(struct call *c, const char *agent_id, const char *session_id, const char *run_id);

extern const struct statement_set mcp_ask_sql, mcp_watch_sql;
