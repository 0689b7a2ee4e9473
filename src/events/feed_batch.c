/* feed_batch.c - see feed_batch.h and feed.h.
 *
 * Two numbers are chosen so that what stands between them is not too much;
 * then its rows are read in the order of their ids, which is not the order of
 * their numbers: within a session events follow each other, and so the pieces
 * of one message can be told as one. */
#include "events/feed_batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/encode.h"

struct turn_row {
	const char *subject;
	int64_t seq;
	const char *kind, *about_id, *data; /* about_id: NULL in a session */
};

FIELDS(turn_row) = {
	FIELD(turn_row, subject),
	FIELD(turn_row, seq),
	FIELD(turn_row, kind),
	FIELD(turn_row, about_id),
	FIELD(turn_row, data),
};
static SCHEMA(turn_row, .internal = true);

enum { SESSION_BOUND, OTHER_BOUND, ROWS };

#define BETWEEN "tenant_id = $1 and feed > $2 and feed <= $3"
/* On SQLite a plus keeps the ids out of the choice of an index: the numbers say where to look. */
/* clang-format off */
#define ALL_ROWS(plus) \
	"select session_id as subject, seq, kind, cast(null as text) as about_id, data from " \
	"session_events where " BETWEEN \
	" and (" plus "session_id > $4 or (" plus "session_id = $4 and seq > $5)) union all " \
	"select id as subject, 0 as seq, kind, about_id, data from tenant_events where " \
	BETWEEN " and id > $4"
/* clang-format on */

static const struct statement sql[] = {
	[SESSION_BOUND] = { "feed_session_bound",
		"select feed from session_events where " BETWEEN
		" order by feed, session_id, seq limit 1 offset $4" },
	[OTHER_BOUND] = { "feed_other_bound", "select feed from tenant_events where " BETWEEN
					      " order by feed, id limit 1 offset $4" },
	[ROWS] = { "feed_rows", ALL_ROWS("+") " order by subject, seq",
		/* There the rows of an answer come all at once: no more than a turn of bytes and one. */
		.postgres =
			"select subject, seq, kind, about_id, data from (select r.*, "
			"sum(octet_length(data)) over (order by subject, seq) - octet_length(data) "
			"as before from (" ALL_ROWS("") ") r) s where before < 1048576 "
							"order by subject, seq",
		.row = &turn_row_schema },
};
STATEMENT_SET(feed_sql, sql);

/* ---- places ---- */

static bool read_place_number(const char **at, int64_t *ret)
{
	size_t len = strspn(*at, "0123456789");

	if (!len || len > 18)
		return false;
	*ret = strtoll(*at, NULL, 10);
	*at += len;
	return true;
}

static bool read_id(const char **at, char out[ID_LEN + 1])
{
	if (strlen(*at) < ID_LEN || !id_valid(*at, ID_LEN))
		return false;
	memcpy(out, *at, ID_LEN);
	out[ID_LEN] = '\0';
	*at += ID_LEN;
	return true;
}

static bool read_dash(const char **at)
{
	return *(*at)++ == '-';
}

static const struct feed_cursor nowhere = { .base = NIL, .bound = NIL };

bool feed_cursor_read(struct feed_cursor *ret, const char *text)
{
	struct feed_cursor p = nowhere;

	*ret = nowhere;
	if (!read_place_number(&text, &p.base))
		return false;
	if (*text && !(read_dash(&text) && read_place_number(&text, &p.bound) && read_dash(&text) &&
			     read_id(&text, p.tenant_id) && read_dash(&text) &&
			     read_id(&text, p.subject) && read_dash(&text) &&
			     read_place_number(&text, &p.seq)))
		return false;
	if (*text || (p.bound != NIL && p.bound <= p.base))
		return false;
	*ret = p;
	return true;
}

void feed_cursor_write(const struct feed_cursor *p, struct buf *out)
{
	buf_put_int(out, p->base);
	if (p->bound == NIL || !*p->subject)
		return;
	buf_putc(out, '-');
	buf_put_int(out, p->bound);
	buf_printf(out, "-%s-%s-", p->tenant_id, p->subject);
	buf_put_int(out, p->seq);
}

/* ---- telling ---- */

/* The text of a turn as it is made: one session at a time, the pieces of a message joined. */
struct turn_writer {
	const struct feed_batch *t;
	const char *tenant_id;
	char subject[ID_LEN + 1]; /* the last looked at, and: */
	bool seen;
	struct feed_cursor joined_at; /* after the pieces that wait to be told */
	char message_id[ID_LEN + 1];
	struct buf joined; /* their text */
	struct buf data;   /* of the event that is being written */
};

static void feed_put_event(struct turn_writer *g, const struct feed_cursor *at, const char *name,
	const struct FeedEvent *event)
{
	struct buf *b = g->t->text;
	size_t from;

	buf_lit(b, "id: ");
	feed_cursor_write(at, b);
	buf_printf(b, "\nevent: %s\ndata: ", name);
	from = b->len;
	encode_object(b, &FeedEvent_schema, event);
	for (size_t i = from; i < b->len; i++) /* between tokens: elsewhere JSON has none */
		if (b->at[i] == '\n' || b->at[i] == '\r')
			b->at[i] = ' ';
	buf_lit(b, "\n\n");
}

static void flush_deltas(struct turn_writer *g)
{
	struct DeltaEvent delta = { .message_id = g->message_id, .redacted = -1, .call = NIL };
	struct FeedEvent event = { .tenant_id = g->tenant_id,
		.session_id = g->joined_at.subject,
		.seq = g->joined_at.seq };

	if (!*g->message_id)
		return;
	buf_putc(&g->joined, '\0');
	delta.text = g->joined.overflow ? "" : g->joined.at;
	g->data.len = 0;
	encode_object(&g->data, &DeltaEvent_schema, &delta);
	buf_putc(&g->data, '\0');
	event.data.text = g->data.overflow ? "" : g->data.at;
	feed_put_event(g, &g->joined_at, session_event_names[SESSION_EVENT_DELTA], &event);
	g->joined.len = 0;
	*g->message_id = '\0';
}

static void feed_tell_event(
	struct turn_writer *g, const struct turn_row *row, const struct feed_cursor *at)
{
	const bool house = strcmp(g->tenant_id, FEED_HOUSE) == 0;
	const struct FeedEvent event = { .tenant_id = house ? NULL : g->tenant_id,
		.session_id = row->about_id ? NULL : row->subject,
		.seq = row->about_id ? NIL : row->seq,
		.data = { row->data } };

	feed_put_event(g, at, row->kind, &event);
}

/* True if it was taken among the pieces that wait. */
static bool join_delta(
	struct turn_writer *g, const struct turn_row *row, const struct feed_cursor *at)
{
	struct arena a = { 0 };
	struct DeltaEvent delta;
	bool good = event_read(&a, &DeltaEvent_schema, row->data, strlen(row->data), &delta) &&
		    delta.message_id && delta.text && !delta.thought && delta.call == NIL;

	if (good) {
		if (*g->message_id && (strcmp(g->message_id, delta.message_id) != 0 ||
					      strcmp(g->joined_at.subject, row->subject) != 0))
			flush_deltas(g);
		memcpy(g->message_id, delta.message_id, ID_LEN + 1);
		g->joined_at = *at;
		buf_puts(&g->joined, delta.text);
	}
	arena_free(&a);
	return good;
}

/* Once a session, not once an event. */
static bool is_seen(struct turn_writer *g, const struct turn_row *row)
{
	const struct feed_batch *t = g->t;
	struct feed_subject s = { .tenant_id = g->tenant_id,
		.session_id = row->about_id ? NULL : row->subject,
		.agent_id = row->about_id };
	struct ChangeEvent change;

	if (strcmp(g->subject, row->subject) != 0) {
		flush_deltas(g);
		snprintf(g->subject, sizeof g->subject, "%s", row->subject);
		if (strcmp(row->kind, FEED_CHANGE) == 0 &&
			event_read(t->arena, &ChangeEvent_schema, row->data, strlen(row->data),
				&change))
			s.change = &change;
		g->seen = t->watcher->sees(t->watcher->ctx, t->db, t->arena, &s);
	}
	return g->seen;
}

static void tell_row(struct turn_writer *g, const struct turn_row *row)
{
	struct feed_cursor *at = g->t->place;

	snprintf(at->tenant_id, sizeof at->tenant_id, "%s", g->tenant_id);
	snprintf(at->subject, sizeof at->subject, "%s", row->subject);
	at->seq = row->seq;
	if (is_seen(g, row) && !(strcmp(row->kind, session_event_names[SESSION_EVENT_DELTA]) == 0 &&
				       join_delta(g, row, at))) {
		flush_deltas(g);
		feed_tell_event(g, row, at);
	}
}

/* ---- reading ---- */

struct gathered_row {
	struct gathered_row *next;
	struct turn_row row;
};

/* Rows are told when all are read: who sees them is asked on the same connection. */
struct rows {
	struct arena *arena;
	struct gathered_row *first, **last;
	size_t bytes;
};

enum { ENOUGH = 1 };

static int gather_row(void *ctx, const void *from)
{
	struct rows *r = ctx;
	const struct turn_row *row = from;
	struct gathered_row *n = arena_new(r->arena, struct gathered_row);

	n->row = (struct turn_row){ .subject = arena_strdup(r->arena, row->subject),
		.seq = row->seq,
		.kind = arena_strdup(r->arena, row->kind),
		.about_id = row->about_id ? arena_strdup(r->arena, row->about_id) : NULL,
		.data = arena_strdup(r->arena, row->data) };
	*r->last = n;
	r->last = &n->next;
	r->bytes += strlen(row->data);
	return r->bytes >= FEED_BATCH_BYTES ? ENOUGH : 0;
}

/* One tenant's part of the turn, from its place on; *ret_more: not all of it. */
static int tell_tenant(struct turn_writer *g, bool *ret_more)
{
	const struct feed_batch *t = g->t;
	struct feed_cursor *p = t->place;
	bool within = strcmp(g->tenant_id, p->tenant_id) == 0;
	struct rows r = { .arena = t->arena, .last = &r.first };
	struct turn_row row;
	int err = db_each(t->db, &sql[ROWS], &row, gather_row, &r,
		ARGS(T(g->tenant_id), N(p->base), N(p->bound), T(within ? p->subject : ""),
			N(within ? p->seq : 0)));

	/* On PostgreSQL the answer may have been cut at as many bytes. */
	*ret_more = err == ENOUGH || r.bytes >= FEED_BATCH_BYTES;
	if (err && err != ENOUGH)
		return err;
	for (const struct gathered_row *n = r.first; n; n = n->next)
		tell_row(g, &n->row);
	flush_deltas(g);
	*g->subject = '\0';
	return 0;
}

static int lower_turn_bound(
	const struct feed_batch *t, const struct statement *st, const char *tenant_id)
{
	struct feed_cursor *p = t->place;
	int64_t feed;
	int err = db_int(
		t->db, st, &feed, ARGS(T(tenant_id), N(p->base), N(p->bound), N(FEED_BATCH_ROWS)));

	if (err)
		return err == ERR_NOT_FOUND ? 0 : err;
	/* Not into the middle of one transaction. */
	p->bound = feed - 1 > p->base ? feed - 1 : feed;
	return 0;
}

/* Up to the horizon, unless that is too much for a turn. */
static int choose_bound(const struct feed_batch *t)
{
	struct feed_cursor *p = t->place;
	int err = 0;

	p->bound = t->horizon;
	*p->tenant_id = *p->subject = '\0';
	for (size_t i = 0; i < t->tenant_count && !err; i++) {
		err = lower_turn_bound(t, &sql[SESSION_BOUND], t->tenants[i]);
		if (!err)
			err = lower_turn_bound(t, &sql[OTHER_BOUND], t->tenants[i]);
	}
	return err;
}

int feed_batch_run(const struct feed_batch *t)
{
	struct feed_cursor *p = t->place;
	struct turn_writer g = { .t = t };
	bool more = false;
	int err = 0;

	if (p->bound == NIL) {
		if (p->base >= t->horizon)
			return 0;
		err = choose_bound(t);
	}
	buf_init(&g.joined, 2 * (size_t)EVENT_DATA_MAX);
	buf_init(&g.data, 2 * (size_t)EVENT_DATA_MAX);
	for (size_t i = 0; i < t->tenant_count && !err && !more; i++) {
		if (strcmp(t->tenants[i], p->tenant_id) < 0)
			continue;
		g.tenant_id = t->tenants[i];
		err = tell_tenant(&g, &more);
		more = more ||
		       (!err && t->text->len >= FEED_BATCH_BYTES && i + 1 < t->tenant_count);
	}
	if (!err && (g.joined.overflow || g.data.overflow))
		err = ERR_BUSY; /* nothing of the turn was told: it is tried again */
	buf_free(&g.joined);
	buf_free(&g.data);
	if (!err && !more)
		*p = (struct feed_cursor){ .base = p->bound, .bound = NIL };
	return err;
}
