/* topic.c - see topic.h.
 *
 * Those who are up to date are served from the ring, which is read once for
 * all of them.  One who is behind the ring reads pages of the log until the
 * ring has what comes next.  The log may have holes, where pieces of a
 * message were dropped once it was whole; the ring says what it covers. */
#include "events/topic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/memory.h"

struct log_row {
	int64_t seq;
	const char *kind, *data;
};

FIELDS(log_row) = {
	FIELD(log_row, seq),
	FIELD(log_row, kind),
	FIELD(log_row, data),
};
static SCHEMA(log_row, .internal = true);

enum { LOG_READ };

static const struct statement sql[] = {
	[LOG_READ] = { "hub_log_read",
		"select seq, kind, data from session_events where tenant_id = $1 "
		"and session_id = $2 and seq > $3 order by seq limit $4",
		/* There the rows of an answer come all at once: no more than a page of bytes and one. */
		.postgres =
			"select seq, kind, data from (select seq, kind, data, "
			"sum(octet_length(data)) over (order by seq) - octet_length(data) as before "
			"from session_events where tenant_id = $1 and session_id = $2 and seq > $3 "
			"order by seq limit $4) page where before < 262144 order by seq",
		.row = &log_row_schema },
};
STATEMENT_SET(hub_sql, sql);

/* A kind that this program does not know, from a newer one, is a notice. */
static enum session_event event_kind_of(const char *word)
{
	for (int i = 0; i < SESSION_EVENT_COUNT; i++)
		if (strcmp(session_event_names[i], word) == 0)
			return (enum session_event)i;
	return SESSION_EVENT_NOTICE;
}

static struct kept *keep_event(const struct topic *t, const struct log_row *row)
{
	enum session_event kind = event_kind_of(row->kind);
	size_t len = strlen(row->data), head;
	char line[96];
	struct kept *k;

	head = (size_t)snprintf(line, sizeof line,
		"id: %lld\nevent: %s\ndata: ", (long long)row->seq, session_event_names[kind]);
	k = memory_must(sizeof *k + head + len + 3);
	memcpy(k->text, line, head);
	memcpy(k->text + head, row->data, len);
	for (size_t i = head; i < head + len; i++) /* between tokens: elsewhere JSON has none */
		if (k->text[i] == '\n' || k->text[i] == '\r')
			k->text[i] = ' ';
	memcpy(k->text + head + len, "\n\n", 3);
	k->e = (struct hub_event){ .session_id = t->session_id,
		.seq = row->seq,
		.kind = kind,
		.data = k->text + head,
		.len = len,
		.frame = k->text,
		.frame_len = head + len + 2 };
	return k;
}

/* A page of the log, as it is read. */
struct log_page {
	const struct topic *topic;
	struct kept *events[PAGE_ROWS];
	size_t count, bytes;
	bool full;
};

enum { PAGE_IS_FULL = 1 };

static int take_row(void *ctx, const void *row)
{
	struct log_page *p = ctx;
	struct kept *k = keep_event(p->topic, row);

	INVARIANT(p->count < PAGE_ROWS && !p->full);
	p->events[p->count++] = k;
	p->bytes += k->e.frame_len;
	p->full = p->count == PAGE_ROWS || p->bytes >= PAGE_BYTES;
	return p->full ? PAGE_IS_FULL : 0;
}

static int read_log_page(struct topic *t, struct db *db, int64_t after, struct log_page *p)
{
	struct log_row row;
	int err;

	*p = (struct log_page){ .topic = t };
	err = db_each(db, &sql[LOG_READ], &row, take_row, p,
		ARGS(T(t->tenant_id), T(t->session_id), N(after), N(PAGE_ROWS)));
	return err == PAGE_IS_FULL ? 0 : err;
}

static void drop_page(struct log_page *p)
{
	for (size_t i = 0; i < p->count; i++)
		free(p->events[i]);
}

static void drop_oldest(struct topic *t)
{
	struct kept *k = t->ring[t->first];

	INVARIANT(t->count > 0 && t->bytes >= k->e.frame_len);
	t->from = k->e.seq;
	t->bytes -= k->e.frame_len;
	t->first = (t->first + 1) % RING_EVENTS;
	t->count--;
	free(k);
}

void topic_clear(struct topic *t)
{
	while (t->count)
		drop_oldest(t);
	INVARIANT(!t->bytes);
}

static void ring_push(struct topic *t, struct kept *k)
{
	while (t->count && (t->count == RING_EVENTS || t->bytes + k->e.frame_len > RING_BYTES))
		drop_oldest(t);
	INVARIANT(t->count < RING_EVENTS && k->e.seq > t->last);
	t->ring[(t->first + t->count++) % RING_EVENTS] = k;
	t->bytes += k->e.frame_len;
	t->last = k->e.seq;
}

void watch_end(struct watch *w)
{
	w->watcher.gone(w->watcher.ctx);
	free(w);
}

void topic_join(struct topic *t, struct watch *w)
{
	w->next = t->watches;
	t->watches = w;
	/* The ring is for those in front; who begins further back reads pages. */
	if (t->empty || w->at > t->last) {
		topic_clear(t);
		t->from = t->last = w->at;
		t->empty = false;
	}
}

/* False if the watch takes no more for now. */
static bool deliver_event(struct watch *w, const struct kept *k, struct hub_stats *stats)
{
	enum hub_verdict verdict;

	if (atomic_load_explicit(&w->ended, memory_order_relaxed))
		return false;
	INVARIANT(k->e.seq > w->at && !w->paused); /* each once, in order */
	verdict = w->watcher.take(w->watcher.ctx, &k->e);
	w->at = k->e.seq;
	stats->events++;
	if (verdict == HUB_PAUSE)
		w->paused = true;
	else if (verdict == HUB_END)
		atomic_store(&w->ended, true);
	return verdict == HUB_GO_ON;
}

/* What is new, to all who are in front.  The page is handed on from where it stands, so that the ring
 * need not hold it whole. */
static int pump_front(struct topic *t, struct db *db, struct hub_stats *stats, bool *ret_again)
{
	struct log_page p;
	int err = read_log_page(t, db, t->last, &p);
	int64_t front = t->last;

	stats->reads++;
	if (err || !p.count) {
		drop_page(&p);
		return err;
	}
	for (struct watch *w = t->watches; w; w = w->next) {
		if (w->paused || w->at < front)
			continue;
		for (size_t i = 0; i < p.count; i++)
			if (p.events[i]->e.seq > w->at && !deliver_event(w, p.events[i], stats))
				break;
	}
	for (size_t i = 0; i < p.count; i++)
		ring_push(t, p.events[i]);
	*ret_again = *ret_again || p.full;
	return 0;
}

/* One who is behind, but not behind the ring. */
static void serve_from_ring(struct topic *t, struct watch *w, struct hub_stats *stats)
{
	for (size_t i = 0; i < t->count; i++) {
		const struct kept *k = t->ring[(t->first + i) % RING_EVENTS];

		if (k->e.seq > w->at && !deliver_event(w, k, stats))
			return;
	}
	if (w->at < t->last)
		w->at = t->last;
}

/* One who is behind the ring: a page at a time. */
static int catch_up(
	struct topic *t, struct db *db, struct watch *w, struct hub_stats *stats, bool *ret_again)
{
	struct log_page p;
	int err = read_log_page(t, db, w->at, &p);
	size_t i = 0;

	stats->reads++;
	while (!err && i < p.count && deliver_event(w, p.events[i], stats))
		i++;
	if (!err && i == p.count && !p.full && w->at < t->last)
		w->at = t->last; /* there was nothing else up to there */
	*ret_again = *ret_again || (!err && i == p.count && p.full);
	drop_page(&p);
	return err;
}

static void drop_ended_watches(struct topic *t, void (*ended)(struct watch *w))
{
	struct watch **at = &t->watches;

	while (*at) {
		struct watch *w = *at;

		if (atomic_load(&w->ended)) {
			*at = w->next;
			ended(w);
		} else {
			at = &w->next;
		}
	}
}

int topic_pump(struct topic *t, struct db *db, void (*ended)(struct watch *w),
	struct hub_stats *stats, bool *ret_again)
{
	bool anybody = false;
	int err = 0;

	*ret_again = false;
	for (struct watch *w = t->watches; w; w = w->next) {
		if (atomic_exchange(&w->resumed, false))
			w->paused = false;
		if (w->paused || atomic_load(&w->ended))
			continue;
		if (w->at < t->last && w->at >= t->from)
			serve_from_ring(t, w, stats);
		anybody = anybody || (!w->paused && w->at >= t->last);
	}
	if (anybody)
		err = pump_front(t, db, stats, ret_again);
	for (struct watch *w = t->watches; w && !err; w = w->next)
		if (!w->paused && !atomic_load(&w->ended) && w->at < t->last)
			err = catch_up(t, db, w, stats, ret_again);
	drop_ended_watches(t, ended);
	return err;
}
