/* session_recall.c - what was called and answered before a session began, into it: a client that keeps a
 * conversation itself brings all of it along, and the agent reads it as its own.
 *
 * Nothing of it is called or waited for here: there are messages, and no rows of calls. */
#include <string.h>

#include "sessions/session_tx.h"
#include "sessions/tool_run.h"

int session_recall(
	struct db *db, struct arena *a, const struct session_step *in, struct problem *problem)
{
	struct message_row m = { .role = in->call_id ? "tool" : "assistant",
		.author_id = in->author_id,
		.tool_call_id = in->call_id,
		.tool_calls = in->calls,
		.thoughts = in->thoughts,
		.content = in->call_id ? tool_cut(a, in->content) : in->content };
	struct session_tx p;
	int err;

	if (strlen(m.content) + (in->calls ? strlen(in->calls) : 0) +
			(in->thoughts ? strlen(in->thoughts) : 0) >
		SESSION_ANSWER_MAX)
		return problem_set(problem, a, ERR_TOO_LARGE,
			"A step that was made before holds at most %d bytes.", SESSION_ANSWER_MAX);
	err = tx_open(&p, db, a, in->tenant_id, in->session_id, in->now, problem);
	if (!err)
		err = session_parts_keep(db, a, PARTS_OF_SESSION, in->tenant_id, in->session_id,
			in->parts, &m.parts, problem);
	if (!err)
		err = tx_message_add(&p, &m);
	return err ? err : tx_close(&p);
}
