/* inproc.c - the server without sockets, on the caller's thread.
 *
 * The same connection over a transport of memory: what a test or a fuzzer
 * sends here goes the way of every request.  Of the deadlines only the one on
 * kept exchanges runs, for nothing else is ever waited for. */
#include "http/conn.h"

#include <poll.h>
#include <stdlib.h>

struct http_inproc {
	struct http_loop loop;
	struct http_handler handler;
	struct http_memory memory;
	struct http_conn *conn;
};

struct http_inproc *http_inproc_new(
	const struct http_limits *limits, const struct http_handler *handler)
{
	struct http_inproc *d = calloc(1, sizeof *d);

	if (!d)
		return NULL;
	d->handler = *handler;
	if (!http_loop_init(&d->loop, 0, limits, &d->handler)) {
		free(d);
		return NULL;
	}
	if (handler->loop_begin)
		handler->loop_begin(handler->ctx, &d->loop);
	return d;
}

/* Something is under way that its client need not say more for. */
static bool works_on(const struct http_conn *c)
{
	return c->state == CONN_KEPT || c->state == CONN_STREAM || c->state == CONN_SINK ||
	       (c->state == CONN_FLUSH && c->box && c->box->lent);
}

static void wait_for_mail(struct http_loop *l, int timeout_ms)
{
	struct pollfd p = { .fd = l->wake, .events = POLLIN };

	poll(&p, 1, timeout_ms);
	http_loop_tick(l);
	http_loop_mail(l);
}

/* Until the connection waits for its client, or is gone. */
static bool serve_door(struct http_inproc *d)
{
	struct http_conn *c = d->conn;
	struct http_loop *l = &d->loop;

	while (!c->closed && (c->ready || works_on(c))) {
		if (c->ready) {
			http_loop_run_ready(l);
			continue;
		}
		wait_for_mail(l, http_loop_timeout(l));
		if (!c->closed && works_on(c) && c->due <= l->now_ms)
			http_conn_expire(c);
	}
	if (c->closed)
		d->conn = NULL;
	http_loop_reap(l);
	if (d->loop.handler->rest)
		d->loop.handler->rest(d->loop.handler->ctx, &d->loop);
	return d->conn != NULL;
}

static bool feed_door(
	struct http_inproc *d, const char *bytes, size_t n, bool shut, struct buf *out)
{
	http_loop_tick(&d->loop);
	d->memory = (struct http_memory){ .at = bytes, .len = n, .shut = shut, .out = out };
	http_loop_mail(&d->loop); /* exchanges that came too late, and pieces that are back */
	if (d->conn && d->conn->closed) {
		d->conn = NULL;
		http_loop_reap(&d->loop);
		return false;
	}
	if (!d->conn) {
		d->conn = http_conn_new(&d->loop, -1, &http_memory);
		if (!d->conn)
			return false;
		d->conn->link.state = &d->memory;
		memcpy(d->conn->peer.text, "127.0.0.1", sizeof "127.0.0.1");
		d->conn->peer.loopback = true;
		http_conn_adopt(d->conn);
	}
	d->conn->link.readable = true;
	http_conn_run(d->conn);
	return serve_door(d);
}

bool http_inproc_send(struct http_inproc *d, const char *bytes, size_t n, struct buf *out)
{
	return feed_door(d, bytes, n, false, out);
}

bool http_inproc_half_close(struct http_inproc *d, struct buf *out)
{
	return d->conn && feed_door(d, "", 0, true, out);
}

void http_inproc_free(struct http_inproc *d)
{
	struct http_loop *l = &d->loop;
	int64_t due;

	if (d->conn)
		http_conn_close(d->conn);
	http_loop_reap(l);
	for (due = l->now_ms + l->limits.deferred_ms; l->kept && l->now_ms < due;)
		wait_for_mail(l, (int)(due - l->now_ms));
	if (l->handler->loop_end)
		l->handler->loop_end(l->handler->ctx, l);
	if (http_loop_fini(l))
		free(d);
}
