/* crowd.c - who goes when there is no room for another connection, and what those hold who keep us waiting.
 *
 * Whoever has not said what it wants goes before whoever has been served: so
 * those who open connections and say nothing drive out each other, from however
 * many addresses they come.  After them goes what rests between requests, the
 * one that has rested longest first.  Whoever has more than an address's share
 * of all connections goes before others of its kind, also in the middle of what
 * it is slow to send or to take, and gets in only in its own place.  What is
 * being worked on is never touched.
 *
 * Each loop looks among its own connections: nobody else may close them.  A
 * newcomer that finds no place in one loop is handed to the next. */
#include <sys/socket.h>

#include "http/conn.h"

enum { LOOKED_AT = 256 };

/* In order.  `first`: only where no head has been whole yet; `anybody`: not only of those who have more than
 * their share; `own`: also for a newcomer who has; `stranger`: only where nobody has looked at who sends it. */
static const struct eviction_turn {
	enum http_deadline class;
	bool first, anybody, own, stranger, stalled;
} turns[] = {
	{ DEADLINE_HEADER, .first = true, .own = true },
	{ DEADLINE_HEADER, .first = true, .anybody = true },
	{ DEADLINE_HEADER },
	{ DEADLINE_HEADER, .anybody = true },
	{ DEADLINE_IDLE, .own = true },
	{ DEADLINE_IDLE, .anybody = true },
	{ DEADLINE_LINGER, .anybody = true },
	{ DEADLINE_BODY },
	{ DEADLINE_BODY, .anybody = true, .stranger = true, .stalled = true },
	{ DEADLINE_REPLY, .stalled = true },
};

static bool has_too_many(const struct http_conn *c)
{
	return c->share && c->share->count > c->loop->limits.max_address;
}

/* One that was refused has no place to give. */
static bool may_go(const struct eviction_turn *t, const struct http_conn *c)
{
	const struct http_loop *l = c->loop;
	int64_t since = c->due - l->deadlines[t->class].ms;

	return c->deadline == t->class && !c->ready && !c->refused && (!t->first || c->first) &&
	       (t->anybody || has_too_many(c)) && (!t->stranger || !c->box->x.vouched) &&
	       (!t->stalled || since + l->limits.stalled_ms <= l->now_ms);
}

/* Below TLS, too: whatever has come may be a request. */
static bool has_unread(const struct http_conn *c)
{
	char byte;

	return recv(c->link.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

/* What has just asked something stays.  A head or a handshake is taken as far as it has come: a byte now and
 * then is not enough to stay. */
static bool conn_stays(const struct eviction_turn *t, struct http_conn *c)
{
	uint8_t was = c->state;

	if ((t->class != DEADLINE_HEADER && t->class != DEADLINE_IDLE) || !has_unread(c))
		return false;
	if (was == CONN_IDLE)
		return true;
	c->link.readable = true;
	http_conn_run(c);
	return !c->closed && (c->state != was || !may_go(t, c));
}

static bool conn_goes(const struct eviction_turn *t, struct http_conn *c)
{
	if (conn_stays(t, c))
		return false;
	if (c->closed)
		return true;
	http_count(&c->loop->replaced, 1);
	http_conn_close(c);
	return true;
}

static bool one_goes(struct http_loop *l, const struct eviction_turn *t)
{
	struct http_conn *c = l->deadlines[t->class].first, *next;

	for (int i = 0; c && i < LOOKED_AT; c = next, i++) {
		next = c->next;
		if (may_go(t, c) && conn_goes(t, c))
			return true;
	}
	return false;
}

bool http_crowd_makes_room(struct http_conn *newcomer)
{
	bool pushes = has_too_many(newcomer);

	for (size_t i = 0; i < sizeof turns / sizeof *turns; i++)
		if ((!pushes || turns[i].own) && one_goes(newcomer->loop, &turns[i]))
			return true;
	return false;
}

/* The pages it keeps, and what a head has made that is not whole. */
static size_t bytes_of(const struct http_conn *c)
{
	size_t pages = (size_t)(c->in != NULL) + (size_t)(c->out != NULL);
	size_t head = c->state == CONN_HEAD && c->box ? http_box_size(c->box) : 0;

	return pages * c->loop->page_size + head;
}

bool http_crowd_count(struct http_conn *c)
{
	struct http_loop *l = c->loop;
	size_t now = bytes_of(c);
	int64_t by = (int64_t)now - (int64_t)c->held;
	bool fits;

	if (!by)
		return true;
	c->held = (uint32_t)now;
	fits = http_loop_hold(l, by);
	if (!c->share)
		return fits;
	by += atomic_fetch_add_explicit(&c->share->held, by, memory_order_relaxed);
	return fits && (!l->limits.max_address_head || by <= (int64_t)l->limits.max_address_head);
}

void http_crowd_leave(struct http_conn *c)
{
	if (c->held)
		http_loop_hold(c->loop, -(int64_t)c->held);
	if (!c->share)
		return;
	atomic_fetch_sub_explicit(&c->share->held, c->held, memory_order_relaxed);
	http_share_put(c->loop->shares, c->share);
	c->share = NULL;
	c->held = 0;
}
