/* forget.c - see forget.h. */
#include "sessions/forget.h"

#include <string.h>

#include "sessions/session_file.h"
#include "sessions/session_tx.h"
#include "sessions/session.h"

enum { AT_ONCE_US = 1000000 }; /* what comes in one request is written within less */

enum { RUN_END, DROP_PIECES, EMPTY_EVENTS, DROP_SUMMARIES, DROP_FILE, DROP_MESSAGE };

/* $1 tenant, $2 session, $3 and $4 between which times, $5 how the data begins.  The times come first: they keep the text
 * of all other events from being read. */
#define EVENTS_OF(kind)                                                                 \
	"tenant_id = $1 and session_id = $2 and created_at >= $3 and created_at <= $4 " \
	"and kind = '" kind "' and data like $5"

static const struct statement sql[] = {
	[RUN_END] = { "forget_run_end",
		"select max(s.created_at, coalesce((select coalesce(r.ended_at, $4) from session_runs r "
		"where r.tenant_id = $1 and r.session_id = $2 and r.id = $3), 0)) "
		"from session_rows s where s.tenant_id = $1 and s.id = $2",
		.postgres =
			"select greatest(s.created_at, coalesce((select coalesce(r.ended_at, $4) "
			"from session_runs r where r.tenant_id = $1 and r.session_id = $2 "
			"and r.id = $3), 0)) from session_rows s where s.tenant_id = $1 and s.id = $2" },
	[DROP_PIECES] = { "forget_pieces", "delete from session_events where " EVENTS_OF("delta") },
	[EMPTY_EVENTS] = { "forget_events",
		"update session_events set data = $6 where " EVENTS_OF("message") },
	[DROP_SUMMARIES] = { "forget_summaries",
		"delete from session_summaries where tenant_id = $1 and session_id = $2 "
		"and last_message_id >= $3" },
	/* One that was brought apart, earlier, stays: it is whoever brought it's. */
	[DROP_FILE] = { "forget_file",
		"delete from session_files where tenant_id = $1 and session_id = $2 and id = $3 "
		"and created_at >= $4 and not exists (select 1 from messages m where m.tenant_id = $1 "
		"and m.session_id = $2 and m.id <> $5 and m.parts like $6)" },
	[DROP_MESSAGE] = { "forget_message",
		"delete from messages where tenant_id = $1 and session_id = $2 and id = $3" },
};
STATEMENT_SET(forget_sql, sql);

/* Its events were written when it was said, while its run went on, or when a thread became a session. */
static int empty_events(struct session_tx *p, const struct message_row *m, const char *emptied)
{
	int64_t until = 0;
	int err = db_int(p->db, &sql[RUN_END], &until,
		ARGS(T(p->tenant_id), T(p->session_id), T(m->run_id), N(p->now)));

	if (until < m->created_at)
		until = m->created_at;
	if (!err)
		err = db_run(p->db, &sql[DROP_PIECES], NULL,
			ARGS(T(p->tenant_id), T(p->session_id), N(m->created_at), N(until),
				T(arena_printf(p->a, "{\"message_id\":\"%s\"%%", m->id))));
	return err ? err
		   : db_run(p->db, &sql[EMPTY_EVENTS], NULL,
			     ARGS(T(p->tenant_id), T(p->session_id), N(m->created_at), N(until),
				     T(arena_printf(p->a, "{\"id\":\"%s\"%%", m->id)), T(emptied)));
}

/* The bytes that came with it, unless another message shows them too; what they were called stays with the message, for auditors. */
static int drop_files(struct session_tx *p, const struct message_row *m)
{
	const struct MessagePart *part = m->parts.at;
	int err = 0;

	for (size_t i = 0; !err && i < m->parts.count; i++) {
		struct list objects = { 0 };

		if (!part[i].file_id)
			continue;
		err = session_file_object(
			p->db, p->a, p->tenant_id, p->session_id, part[i].file_id, &objects);
		if (!err)
			err = db_run(p->db, &sql[DROP_FILE], NULL,
				ARGS(T(p->tenant_id), T(p->session_id), T(part[i].file_id),
					N(m->created_at - AT_ONCE_US), T(m->id),
					T(arena_printf(p->a, "%%\"%s\"%%", part[i].file_id))));
		if (!err)
			err = session_file_unname(p->db, p->a, p->tenant_id, &objects, p->now);
	}
	return err;
}

static void untitle_session(struct session_tx *p, const struct message_row *m)
{
	const char *title = session_title_of(p->a, m->content);

	if (!p->row.title || !title || strcmp(p->row.title, title) != 0)
		return;
	p->row.title = NULL;
	p->retitled = true;
}

int session_forget_message(struct db *db, struct arena *a, const char *tenant_id,
	const char *session_id, const char *id, int64_t now)
{
	struct message_row m, empty;
	struct MessageEvent event;
	const char *emptied;
	struct session_tx p;
	int err = tx_open(&p, db, a, tenant_id, session_id, now, NULL);

	if (!err)
		err = tx_message_read(&p, id, &m);
	if (err)
		return err;
	empty = m;
	empty.content = "";
	empty.parts = (struct list){ 0 };
	event = message_event(session_id, &empty);
	emptied = session_event_text(a, MESSAGE, &event);
	if (!emptied)
		return ERR_BUSY;
	untitle_session(&p, &m);
	err = empty_events(&p, &m, emptied);
	if (!err)
		err = db_run(
			db, &sql[DROP_SUMMARIES], NULL, ARGS(T(tenant_id), T(session_id), T(id)));
	if (!err)
		err = drop_files(&p, &m);
	if (!err)
		err = db_run(
			db, &sql[DROP_MESSAGE], NULL, ARGS(T(tenant_id), T(session_id), T(id)));
	if (!err)
		err = tx_event(&p, SESSION_EVENT_MESSAGE, emptied);
	p.row.message_count--;
	p.changed = true;
	return err ? err : tx_close(&p);
}
