/* events.c - see events.h. */
#include "sessions/events.h"

#include "sessions/pen.h"

const char *const session_event_names[SESSION_EVENT_COUNT] = {
#define X(name, word, doc) word,
	SESSION_EVENTS(X)
#undef X
};

FIELDS(session_event_row) = {
	FIELD(session_event_row, seq),
	FIELD(session_event_row, kind),
	FIELD(session_event_row, data),
	FIELD(session_event_row, created_at),
};
static SCHEMA(session_event_row, .internal = true);

static const struct statement sql[] = {
	{ "events_read",
		"select seq, kind, data, created_at from session_events where tenant_id = $1 "
		"and session_id = $2 and seq > $3 order by seq limit $4",
		.row = &session_event_row_schema },
};
STATEMENT_SET(event_sql, sql);

int session_event_add(struct db *db, struct arena *a, const char *tenant_id, const char *session_id,
	enum session_event kind, const char *data, int64_t now, int64_t *ret_seq)
{
	struct pen p;
	int err = pen_open(&p, db, a, tenant_id, session_id, now, NULL);

	if (!err)
		err = pen_event(&p, kind, data);
	if (!err)
		err = pen_close(&p);
	if (!err && ret_seq)
		*ret_seq = p.row.last_event_id;
	return err;
}

int session_events_read(struct db *db, struct arena *a, const char *tenant_id,
	const char *session_id, int64_t after, size_t most, struct list *ret)
{
	return db_all(db, a, &sql[0], ret, most,
		ARGS(T(tenant_id), T(session_id), N(after), N((int64_t)most)));
}
