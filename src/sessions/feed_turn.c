/* feed_turn.c - see feed_turn.h and feed.h.
 *
 * Two numbers are chosen so that what stands between them is not too much;
 * then its rows are read in the order of their ids, which is not the order of
 * their numbers: within a session events follow each other, and so the pieces
 * of one message can be told as one. */
#include "sessions/feed_turn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

struct turn_row {
	const char *subject;
	int64_t seq;
	const char *kind, *agent_id, *data;
};

FIELDS(turn_row) = {
	FIELD(turn_row, subject),
	FIELD(turn_row, seq),
	FIELD(turn_row, kind),
	FIELD(turn_row, agent_id),
	FIELD(turn_row, data),
};
static SCHEMA(turn_row, .internal = true);

enum { SESSION_BOUND, OTHER_BOUND, ROWS };

#define BETWEEN "tenant_id = $1 and feed > $2 and feed <= $3"
/* On SQLite a plus keeps the ids out of the choice of an index: the numbers say where to look. */
/* clang-format off */
#define ALL_ROWS(plus) \
	"select session_id as subject, seq, kind, cast(null as text) as agent_id, data from " \
	"session_events where " BETWEEN \
	" and (" plus "session_id > $4 or (" plus "session_id = $4 and seq > $5)) union all " \
	"select id as subject, 0 as seq, kind, about_id as agent_id, data from tenant_events where " \
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
			"select subject, seq, kind, agent_id, data from (select r.*, "
			"sum(octet_length(data)) over (order by subject, seq) - octet_length(data) "
			"as before from (" ALL_ROWS("") ") r) s where before < 1048576 "
							"order by subject, seq",
		.row = &turn_row_schema },
};
STATEMENT_SET(feed_sql, sql);

/* ---- places ---- */

static bool read_number(const char **at, int64_t *ret)
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

static const struct feed_place nowhere = { .base = NIL, .bound = NIL };

bool feed_place_read(struct feed_place *ret, const char *text)
{
	struct feed_place p = nowhere;

	*ret = nowhere;
	if (!read_number(&text, &p.base))
		return false;
	if (*text && !(read_dash(&text) && read_number(&text, &p.bound) && read_dash(&text) &&
			     read_id(&text, p.tenant_id) && read_dash(&text) &&
			     read_id(&text, p.subject) && read_dash(&text) &&
			     read_number(&text, &p.seq)))
		return false;
	if (*text || (p.bound != NIL && p.bound <= p.base))
		return false;
	*ret = p;
	return true;
}

void feed_place_write(const struct feed_place *p, struct buf *out)
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
struct telling {
	const struct feed_turn *t;
	const char *tenant_id;
	char subject[ID_LEN + 1]; /* the last looked at, and: */
	bool seen;
	struct feed_place joined_at; /* behind the pieces that wait to be told */
	char message_id[ID_LEN + 1];
	struct buf joined; /* their text, escaped */
};

static void put_head(struct telling *g, const struct feed_place *at, const char *kind)
{
	struct buf *b = g->t->text;

	buf_lit(b, "id: ");
	feed_place_write(at, b);
	buf_printf(b, "\nevent: %s\ndata: {\"tenant_id\":\"%s\",", kind, g->tenant_id);
}

static void flush(struct telling *g)
{
	struct buf *b = g->t->text;

	if (!*g->message_id)
		return;
	put_head(g, &g->joined_at, "delta");
	buf_printf(b,
		"\"session_id\":\"%s\",\"seq\":%lld,\"data\":{\"message_id\":\"%s\",\"text\":\"",
		g->joined_at.subject, (long long)g->joined_at.seq, g->message_id);
	buf_put(b, g->joined.at, g->joined.len);
	buf_lit(b, "\"}}\n\n");
	g->joined.len = 0;
	*g->message_id = '\0';
}

static void tell(struct telling *g, const struct turn_row *row, const struct feed_place *at)
{
	struct buf *b = g->t->text;
	size_t from;

	put_head(g, at, row->kind);
	if (!row->agent_id)
		buf_printf(b, "\"session_id\":\"%s\",\"seq\":%lld,", row->subject,
			(long long)row->seq);
	buf_lit(b, "\"data\":");
	from = b->len;
	buf_puts(b, row->data);
	for (size_t i = from; i < b->len; i++) /* between tokens: elsewhere JSON has none */
		if (b->at[i] == '\n' || b->at[i] == '\r')
			b->at[i] = ' ';
	buf_lit(b, "}\n\n");
}

/* {message_id, text}: true if it was taken among the pieces that wait. */
static bool join(struct telling *g, const struct turn_row *row, const struct feed_place *at)
{
	struct arena a = { 0 };
	struct json_reader r;
	const char *key, *id = NULL, *text = NULL;
	size_t key_len, id_len = 0, text_len = 0;
	bool good;

	json_open(&r, &a, row->data, strlen(row->data));
	json_enter_object(&r);
	while (json_next_key(&r, &key, &key_len)) {
		if (json_peek(&r) == JSON_STRING && key_len == 10 &&
			memcmp(key, "message_id", 10) == 0)
			json_read_escaped(&r, &id, &id_len);
		else if (json_peek(&r) == JSON_STRING && key_len == 4 &&
			 memcmp(key, "text", 4) == 0)
			json_read_escaped(&r, &text, &text_len);
		else
			json_skip(&r, NULL, NULL);
	}
	good = json_end(&r) && id && text && id_len == ID_LEN;
	if (good) {
		if (*g->message_id && (strncmp(g->message_id, id, ID_LEN) != 0 ||
					      strcmp(g->joined_at.subject, row->subject) != 0))
			flush(g);
		memcpy(g->message_id, id, ID_LEN);
		g->message_id[ID_LEN] = '\0';
		g->joined_at = *at;
		buf_put(&g->joined, text, text_len);
	}
	arena_free(&a);
	return good;
}

/* Once a session, not once an event. */
static bool is_seen(struct telling *g, const struct turn_row *row)
{
	const struct feed_turn *t = g->t;
	struct feed_subject s = { .tenant_id = g->tenant_id,
		.session_id = row->agent_id ? NULL : row->subject,
		.agent_id = row->agent_id };

	if (strcmp(g->subject, row->subject) != 0) {
		flush(g);
		snprintf(g->subject, sizeof g->subject, "%s", row->subject);
		g->seen = t->watcher->sees(t->watcher->ctx, t->db, t->arena, &s);
	}
	return g->seen;
}

static void tell_row(struct telling *g, const struct turn_row *row)
{
	struct feed_place *at = g->t->place;

	snprintf(at->tenant_id, sizeof at->tenant_id, "%s", g->tenant_id);
	snprintf(at->subject, sizeof at->subject, "%s", row->subject);
	at->seq = row->seq;
	if (is_seen(g, row) && !(strcmp(row->kind, "delta") == 0 && join(g, row, at))) {
		flush(g);
		tell(g, row, at);
	}
}

/* ---- reading ---- */

struct gathered {
	struct gathered *next;
	struct turn_row row;
};

/* Rows are told when all are read: who sees them is asked on the same connection. */
struct rows {
	struct arena *arena;
	struct gathered *first, **last;
	size_t bytes;
};

enum { ENOUGH = 1 };

static int gather(void *ctx, const void *from)
{
	struct rows *r = ctx;
	const struct turn_row *row = from;
	struct gathered *n = arena_new(r->arena, struct gathered);

	n->row = (struct turn_row){ .subject = arena_strdup(r->arena, row->subject),
		.seq = row->seq,
		.kind = arena_strdup(r->arena, row->kind),
		.agent_id = row->agent_id ? arena_strdup(r->arena, row->agent_id) : NULL,
		.data = arena_strdup(r->arena, row->data) };
	*r->last = n;
	r->last = &n->next;
	r->bytes += strlen(row->data);
	return r->bytes >= TURN_BYTES ? ENOUGH : 0;
}

/* One tenant's part of the turn, from its place on; *ret_more: not all of it. */
static int tell_tenant(struct telling *g, bool *ret_more)
{
	const struct feed_turn *t = g->t;
	struct feed_place *p = t->place;
	bool within = strcmp(g->tenant_id, p->tenant_id) == 0;
	struct rows r = { .arena = t->arena, .last = &r.first };
	struct turn_row row;
	int err = db_each(t->db, &sql[ROWS], &row, gather, &r,
		ARGS(T(g->tenant_id), N(p->base), N(p->bound), T(within ? p->subject : ""),
			N(within ? p->seq : 0)));

	/* On PostgreSQL the answer may have been cut at as many bytes. */
	*ret_more = err == ENOUGH || r.bytes >= TURN_BYTES;
	if (err && err != ENOUGH)
		return err;
	for (const struct gathered *n = r.first; n; n = n->next)
		tell_row(g, &n->row);
	flush(g);
	*g->subject = '\0';
	return 0;
}

static int lower(const struct feed_turn *t, const struct statement *st, const char *tenant_id)
{
	struct feed_place *p = t->place;
	int64_t feed;
	int err =
		db_int(t->db, st, &feed, ARGS(T(tenant_id), N(p->base), N(p->bound), N(TURN_ROWS)));

	if (err)
		return err == ERR_NOT_FOUND ? 0 : err;
	/* Not into the middle of one transaction. */
	p->bound = feed - 1 > p->base ? feed - 1 : feed;
	return 0;
}

/* Up to the horizon, unless that is too much for a turn. */
static int choose_bound(const struct feed_turn *t)
{
	struct feed_place *p = t->place;
	int err = 0;

	p->bound = t->horizon;
	*p->tenant_id = *p->subject = '\0';
	for (size_t i = 0; i < t->tenant_count && !err; i++) {
		err = lower(t, &sql[SESSION_BOUND], t->tenants[i]);
		if (!err)
			err = lower(t, &sql[OTHER_BOUND], t->tenants[i]);
	}
	return err;
}

int feed_turn_run(const struct feed_turn *t)
{
	struct feed_place *p = t->place;
	struct telling g = { .t = t };
	bool more = false;
	int err = 0;

	if (p->bound == NIL) {
		if (p->base >= t->horizon)
			return 0;
		err = choose_bound(t);
	}
	buf_init(&g.joined, (size_t)16 << 20);
	for (size_t i = 0; i < t->tenant_count && !err && !more; i++) {
		if (strcmp(t->tenants[i], p->tenant_id) < 0)
			continue;
		g.tenant_id = t->tenants[i];
		err = tell_tenant(&g, &more);
		more = more || (!err && t->text->len >= TURN_BYTES && i + 1 < t->tenant_count);
	}
	buf_free(&g.joined);
	if (!err && !more)
		*p = (struct feed_place){ .base = p->bound, .bound = NIL };
	return err;
}
