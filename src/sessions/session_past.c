/* session_past.c - a conversation that was held elsewhere, into a session of its own.
 *
 * Its messages are rows and no events, as in a branch: nobody listened while
 * they were said.  They keep the times they had, and count for nothing that is
 * limited or paid by the day but the session itself, which is begun now. */
#include <string.h>

#include "sessions/session_tx.h"
#include "store/row.h"

struct past_times {
	const char *tenant_id, *id;
	int64_t created_at, updated_at;
};

FIELDS(past_times) = { ROW_FIELDS(past_times, tenant_id, id, created_at, updated_at) };
static SCHEMA(past_times, .internal = true);

enum { PAST_MESSAGE, PAST_TIMES };

static const struct statement sql[] = {
	[PAST_MESSAGE] = { "session_past_message", "insert into messages ({*}) values ({$})",
		.row = &message_row_schema },
	[PAST_TIMES] = { "session_past_times",
		"update session_rows set created_at = :created_at, updated_at = :updated_at "
		"where tenant_id = :tenant_id and id = :id",
		.args = &past_times_schema },
};
STATEMENT_SET(session_past_sql, sql);

/* Nothing was said later than now. */
static int64_t not_later(int64_t us, int64_t otherwise, int64_t now)
{
	if (us == NIL)
		us = otherwise;
	return us > now ? now : us;
}

static int put_past(struct session_tx *p, const struct session_past_message *said, int64_t before,
	int64_t *ret_at)
{
	struct message_row m = { .tenant_id = p->tenant_id,
		.session_id = p->session_id,
		.id = tx_next_id(p),
		.role = said->role,
		.status = "complete",
		.tool_call_id = said->call_id,
		.metadata = "",
		.tool_calls = said->calls ? said->calls : "[]",
		.thoughts = "",
		.content = said->content,
		.created_at = not_later(said->said_at, before, p->now) };

	*ret_at = m.created_at;
	return db_put(p->db, &sql[PAST_MESSAGE], &m);
}

static const char *past_title(struct arena *a, const struct session_past *in)
{
	if (in->title)
		return in->title;
	for (size_t i = 0; i < in->count; i++)
		if (strcmp(in->messages[i].role, "user") == 0)
			return session_title_of(a, in->messages[i].content);
	return NULL;
}

int session_take_over(struct db *db, struct arena *a, const struct session_past *in,
	const char **ret_id, struct problem *problem)
{
	int64_t begun = not_later(in->begun_at, in->now, in->now), last = begun;
	struct session_tx p;
	int err = session_begin(&p, db, a,
		&(struct session_new){ .tenant_id = in->tenant_id,
			.agent_id = in->agent_id,
			.created_by_id = in->created_by_id,
			.origin = in->origin,
			.title = past_title(a, in),
			.now = in->now },
		problem);

	for (size_t i = 0; !err && i < in->count; i++)
		err = put_past(&p, &in->messages[i], last, &last);
	if (err)
		return err;
	*ret_id = p.session_id;
	p.row.message_count = (int64_t)in->count;
	err = tx_notice(&p, "imported", "This conversation was held elsewhere.");
	if (!err)
		err = tx_close(&p);
	return err ? err
		   : db_run(db, &sql[PAST_TIMES], NULL,
			     BY_NAME(past_times,
				     &((struct past_times){ in->tenant_id, *ret_id, begun,
					     not_later(in->ended_at, last, in->now) })));
}
