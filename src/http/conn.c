/* conn.c - one connection's life, as a table of states.
 *
 * Each state has a step that does what can be done now and says whether to go
 * on, to wait, or to end; and the deadline that holds while it waits.  One
 * request is under way at a time, replies leave in order, and several small
 * replies leave in one write.  What a request asks for is the handler's
 * matter; how bytes travel is the transport's. */
#include "http/conn.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/check.h"

enum { TURN_BUDGET = 32 }; /* requests, or reads of a body, before others have their turn */

void http_conn_drop(struct http_conn *c, struct http_page **page)
{
	if (*page)
		http_page_put(c->loop, *page);
	*page = NULL;
}

/* The exchange is over. */
void http_conn_settle(struct http_conn *c, bool complete)
{
	struct http_loop *l = c->loop;
	struct http_box *b = c->box;

	c->box = NULL;
	http_box_discharge(b);
	if (l->handler->sent)
		l->handler->sent(l->handler->ctx, &b->x, complete);
	http_box_put(l, b);
}

void http_conn_begin(struct http_conn *c)
{
	struct http_box *b = http_box_take(c->loop);

	b->conn = c;
	b->x.request.peer = c->peer;
	b->x.request.tls = c->link.transport == &http_secure;
	c->box = b;
	c->rearm = true;
}

/* The handler's thread may be writing its reply this moment, so another exchange is answered in
 * its place, under the same name.  What the request said is only read by both. */
static void stand_in(struct http_conn *c)
{
	struct http_box *late = c->box;
	const struct http_request *said = &late->x.request;
	struct http_request *r;
	struct arena *a;

	http_conn_begin(c);
	http_stream_abandon(late);
	r = &c->box->x.request;
	a = &c->box->x.arena;
	r->method = said->method;
	r->method_text = arena_strdup(a, said->method_text);
	r->path = arena_strndup(a, said->path, said->path_len);
	r->path_len = said->path_len;
	r->minor = said->minor;
	r->began_us = said->began_us;
	memcpy(c->box->x.request_id, late->x.request_id, sizeof late->x.request_id);
}

/* Answers in the handler's words and closes; takes the place of whatever reply was being made. */
enum http_step http_conn_fault(struct http_conn *c, int err, const char *sentence)
{
	const struct http_handler *h = c->loop->handler;
	struct http_box *b;

	if (c->box->lent)
		stand_in(c);
	b = c->box;
	http_count(&c->loop->faults, 1);
	http_box_clear_reply(b);
	h->fault(h->ctx, &b->x, err, sentence);
	if (!http_reply_valid(&b->x.reply)) {
		http_box_clear_reply(b);
		b->x.reply.status = error_row(err)->status;
	}
	b->x.reply.close = true;
	c->abrupt = true;
	c->state = CONN_ANSWER;
	return STEP_ON;
}

static enum http_step step_handshake(struct http_conn *c)
{
	switch (c->link.transport->handshake(&c->link)) {
	case 0:
		break;
	case HTTP_AGAIN:
		return STEP_WAIT;
	default:
		return STEP_END;
	}
	c->state = CONN_IDLE;
	c->rearm = true;
	c->link.readable = true;
	if (!c->refused)
		return STEP_ON;
	http_conn_begin(c);
	return http_conn_fault(c, ERR_BUSY, "There are too many connections.");
}

static enum http_step step_kept(struct http_conn *c)
{
	(void)c;
	return STEP_WAIT;
}

static const struct {
	enum http_step (*step)(struct http_conn *c);
	enum http_deadline deadline; /* while it waits */
} states[] = {
	[CONN_HANDSHAKE] = { step_handshake, DEADLINE_HEADER },
	[CONN_IDLE] = { http_step_idle, DEADLINE_IDLE },
	[CONN_HEAD] = { http_step_head, DEADLINE_HEADER },
	[CONN_BODY] = { http_step_body, DEADLINE_BODY },
	[CONN_SINK] = { step_kept, DEADLINE_DEFERRED },
	[CONN_KEPT] = { step_kept, DEADLINE_DEFERRED },
	[CONN_STREAM] = { http_step_stream, DEADLINE_REPLY },
	[CONN_ANSWER] = { http_step_answer, DEADLINE_REPLY },
	[CONN_FLUSH] = { http_step_flush, DEADLINE_REPLY },
	[CONN_LINGER] = { http_step_linger, DEADLINE_LINGER },
};

/* Before it waits, a connection writes what it owes and lets go of what it does not need. */
static void conn_rest(struct http_conn *c)
{
	enum http_deadline class = states[c->state].deadline;

	if (http_owes_bytes(c))
		class = DEADLINE_REPLY;
	else if (c->state == CONN_IDLE && c->first)
		class = DEADLINE_HEADER;
	else if (c->state == CONN_STREAM && !http_stream_owes(c))
		class = DEADLINE_DEFERRED; /* it is the maker who is waited for */
	if (class == DEADLINE_DEFERRED && c->box->x.patient)
		class = DEADLINE_PATIENT;
	if (class == DEADLINE_DEFERRED && c->box->x.late)
		class = DEADLINE_PROMPT;
	if (c->in && !http_has_input(c))
		http_conn_drop(c, &c->in);
	http_crowd_count(c);
	if (!c->armed || c->rearm || c->deadline != class)
		http_loop_arm(c, class);
	c->rearm = false;
}

static bool writes_itself(const struct http_conn *c)
{
	return c->state == CONN_ANSWER || c->state == CONN_FLUSH || c->state == CONN_STREAM;
}

void http_conn_run(struct http_conn *c)
{
	enum http_step step = STEP_ON;
	int err;

	INVARIANT(!c->closed && !http_loop_is_elsewhere(c->loop));
	c->budget = TURN_BUDGET;
	if (http_owes_bytes(c) && !writes_itself(c) && (err = http_conn_push(c)) < 0)
		step = err == HTTP_AGAIN ? STEP_WAIT : STEP_END;
	while (step == STEP_ON)
		step = states[c->state].step(c);
	if (step != STEP_END && http_owes_bytes(c) && !writes_itself(c) &&
		http_conn_push(c) == HTTP_DEAD)
		step = STEP_END;
	if (step == STEP_END) {
		http_conn_close(c);
		return;
	}
	conn_rest(c);
	if (step == STEP_YIELD)
		http_loop_ready(c);
}

/* The handler has the exchange, or a piece of it, and may be at work on it this moment. */
static bool is_made(const struct http_conn *c)
{
	return c->state == CONN_KEPT || (c->state == CONN_STREAM && !c->box->stream.ended) ||
	       (c->box && c->box->lent);
}

static void on_conn_event(struct http_source *s, uint32_t events)
{
	struct http_conn *c = (struct http_conn *)s;

	if (c->closed)
		return;
	if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
		c->link.readable = true;
	if (events & (EPOLLOUT | EPOLLHUP | EPOLLERR))
		c->link.writable = true;
	if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
		c->link.ending = true;
	if (is_made(c) && !c->box->lent && c->link.ending)
		http_stream_leave(c->box);
	if (is_made(c) && (events & (EPOLLHUP | EPOLLERR)))
		http_conn_close(c); /* nobody is left to answer; the exchange lives on alone */
	else if (!c->ready)
		http_conn_run(c);
}

struct http_conn *http_conn_new(struct http_loop *l, int fd, const struct http_transport *t)
{
	struct http_conn *c = calloc(1, sizeof *c);

	if (!c)
		return NULL;
	c->source.event = on_conn_event;
	c->loop = l;
	c->link = (struct http_link){ .transport = t, .fd = fd, .writable = true };
	c->first = true;
	return c;
}

void http_conn_adopt(struct http_conn *c)
{
	struct http_loop *l = c->loop;
	struct epoll_event e = {
		.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
		.data.ptr = &c->source,
	};

	l->open++;
	http_count(&l->connections, 1);
	c->state = c->link.transport->handshake ? CONN_HANDSHAKE : CONN_IDLE;
	c->rearm = true;
	if (c->link.fd >= 0 && epoll_ctl(l->epoll, EPOLL_CTL_ADD, c->link.fd, &e) < 0) {
		http_conn_close(c);
		return;
	}
	if (c->refused && c->state == CONN_IDLE) {
		http_conn_begin(c);
		http_conn_fault(c, ERR_BUSY, "There are too many connections.");
		http_conn_run(c);
	} else {
		conn_rest(c);
	}
}

bool http_conn_is_idle(const struct http_conn *c)
{
	return c->state == CONN_HANDSHAKE || (c->state == CONN_IDLE && !http_has_input(c)) ||
	       (c->state == CONN_HEAD && !http_has_begun(c));
}

bool http_conn_wakes(struct http_conn *c)
{
	c->link.readable = true;
	http_conn_run(c);
	return c->closed || !http_conn_is_idle(c);
}

void http_conn_expire(struct http_conn *c)
{
	static const struct http_late too_slow = { ERR_TOO_SLOW, "The answer took too long." };
	const struct http_late *late;

	if (c->deadline != DEADLINE_IDLE && c->deadline != DEADLINE_LINGER)
		http_count(&c->loop->timeouts, 1);
	switch ((enum http_deadline)c->deadline) {
	case DEADLINE_HEADER:
	case DEADLINE_BODY:
		if ((c->state != CONN_HEAD && c->state != CONN_BODY) || !http_has_begun(c))
			break;
		http_conn_fault(c, ERR_TIMEOUT, "The request took too long to arrive.");
		http_conn_run(c);
		return;
	case DEADLINE_DEFERRED:
	case DEADLINE_PATIENT:
	case DEADLINE_PROMPT:
		if (c->state != CONN_KEPT && c->state != CONN_SINK)
			break;
		late = c->box->x.late ? c->box->x.late : &too_slow;
		if (c->state == CONN_KEPT)
			stand_in(c);
		http_conn_fault(c, late->err, late->sentence);
		http_conn_run(c);
		return;
	default:
		break;
	}
	http_conn_close(c);
}

void http_conn_close(struct http_conn *c)
{
	struct http_loop *l = c->loop;

	INVARIANT(!c->closed && l->open > 0 && !http_loop_is_elsewhere(l));
	if (is_made(c))
		http_stream_abandon(c->box);
	else if (c->box)
		http_conn_settle(c, false);
	c->box = NULL;
	http_conn_drop(c, &c->in);
	http_conn_drop(c, &c->out);
	http_crowd_leave(c);
	if (c->armed)
		http_loop_disarm(c);
	/* A child that is being made has a copy of every descriptor: the end of ours is not the end of its events. */
	if (c->link.fd >= 0 && l->epoll >= 0)
		epoll_ctl(l->epoll, EPOLL_CTL_DEL, c->link.fd, NULL);
	c->link.transport->close(&c->link);
	c->closed = true;
	l->open--;
	http_count(&l->connections, -1);
	if (l->total)
		atomic_fetch_sub_explicit(l->total, 1, memory_order_relaxed);
	if (!c->ready) { /* else the ready list lets go of it */
		c->queue = l->dead;
		l->dead = c;
	}
}

void http_conn_finish(struct http_loop *l, struct http_mail *m)
{
	struct http_box *b = (struct http_box *)((char *)m - offsetof(struct http_box, mail));
	struct http_conn *c = b->conn;

	l->kept--;
	if (b->lent) {
		b->lent = false;
		if (c) {
			http_piece_back(c, b->goes_on);
			return;
		}
	}
	if (c && c->state == CONN_STREAM) {
		b->stream.ended = true;
		if (!c->ready)
			http_conn_run(c);
		return;
	}
	if (c) {
		if (b->at_head)
			http_head_back(c, b->goes_on);
		else
			c->state = CONN_ANSWER;
		http_conn_run(c);
		return;
	}
	http_box_discharge(b);
	if (l->handler->sent)
		l->handler->sent(l->handler->ctx, &b->x, false);
	http_box_put(l, b);
}

/* The loop has ended, and the handler's part in it: only the memory is left. */
void http_conn_finish_late(struct http_loop *l, struct http_mail *m)
{
	struct http_box *b = (struct http_box *)((char *)m - offsetof(struct http_box, mail));

	l->kept--;
	b->lent = false;
	http_box_put(l, b);
}
