/* stream.c - a reply that is sent while it is made.
 *
 * Its maker, on any thread, puts bytes into a buffer under a lock and posts
 * a note to the loop; the loop takes the whole buffer, sends it, and then
 * takes the next.  So a stream holds at most two buffers, each a little over
 * HTTP_STREAM_HIGH, however slow the peer is.  Both are charged to whoever is
 * after the exchange; while there is no room for them the maker is asked to
 * wait after each piece.  A stream that has sent all it had keeps little of
 * them: it may rest for days.  What the bytes are is the maker's matter; when it
 * makes them is, too. */
#include "http/conn.h"

#include <sys/socket.h>

#include "base/check.h"

enum { STREAM_MAX = 64 * 1024 * 1024, CHUNK_LINE = 24 };

/* What an empty buffer may keep: where nothing waits, and where more is on its way. */
enum { KEEP_AT_REST = 16 * 1024, KEEP_IN_FLOW = 4 * HTTP_STREAM_HIGH };

static struct http_box *box_of(struct http_exchange *x)
{
	return (struct http_box *)x;
}

/* Under the lock: whoever takes the bytes must find the note already on its way. */
static void stream_post(struct http_box *b)
{
	if (!b->stream.posted)
		http_loop_post(b->x.loop, &b->stream.mail);
	b->stream.posted = true;
}

bool http_stream_begin(struct http_exchange *x, void (*room)(struct http_exchange *x))
{
	struct http_stream *s = &box_of(x)->stream;
	bool gone;

	if (!http_reply_valid(&x->reply))
		return false;
	pthread_mutex_lock(&s->lock);
	gone = s->gone;
	INVARIANT(!s->begun);
	if (!gone) {
		s->begun = true;
		s->room = room;
		s->pressed = !http_box_has_room(box_of(x));
		x->reply.body.len = 0;
		x->reply.streams = true;
		stream_post(box_of(x));
	}
	pthread_mutex_unlock(&s->lock);
	return !gone && x->request.method != METHOD_HEAD;
}

bool http_stream_has_room(struct http_exchange *x)
{
	struct http_stream *s = &box_of(x)->stream;
	bool room;

	pthread_mutex_lock(&s->lock);
	http_box_name_account(box_of(x));
	room = http_box_has_room(box_of(x));
	pthread_mutex_unlock(&s->lock);
	return room;
}

enum http_flow http_stream_write(struct http_exchange *x, const void *bytes, size_t n)
{
	struct http_stream *s = &box_of(x)->stream;
	enum http_flow flow = HTTP_STREAM_GONE;

	pthread_mutex_lock(&s->lock);
	if (s->begun && !s->gone && !s->cut && x->request.method != METHOD_HEAD) {
		size_t cap = s->waiting.cap;

		s->waiting.max = STREAM_MAX;
		buf_put(&s->waiting, bytes, n);
		http_box_charge_more(box_of(x), s->waiting.cap - cap);
		s->cut = s->waiting.overflow;
		if (!s->cut)
			flow = s->waiting.len < (s->pressed ? 1 : HTTP_STREAM_HIGH)
				       ? HTTP_STREAM_OPEN
				       : HTTP_STREAM_FULL;
		/* Others may write in between, when there is room again: who waits is told all the same. */
		s->wants_room = s->wants_room || flow == HTTP_STREAM_FULL;
		if (s->waiting.len)
			stream_post(box_of(x));
	}
	pthread_mutex_unlock(&s->lock);
	return flow;
}

void http_stream_end(struct http_exchange *x, bool whole)
{
	struct http_stream *s = &box_of(x)->stream;

	pthread_mutex_lock(&s->lock);
	s->cut = s->cut || !whole;
	pthread_mutex_unlock(&s->lock);
	http_finish(x);
}

bool http_left(struct http_exchange *x)
{
	struct http_stream *s = &box_of(x)->stream;
	bool left;

	pthread_mutex_lock(&s->lock);
	left = s->gone || s->left;
	pthread_mutex_unlock(&s->lock);
	return left;
}

bool http_gone(struct http_exchange *x)
{
	struct http_stream *s = &box_of(x)->stream;
	bool gone;

	pthread_mutex_lock(&s->lock);
	gone = s->gone;
	pthread_mutex_unlock(&s->lock);
	return gone;
}

/* The loop's side */

void http_stream_leave(struct http_box *b)
{
	pthread_mutex_lock(&b->stream.lock);
	b->stream.left = true;
	pthread_mutex_unlock(&b->stream.lock);
}

void http_stream_open(struct http_loop *l, struct http_mail *m)
{
	struct http_box *b =
		(struct http_box *)((char *)m - offsetof(struct http_box, stream.mail));
	struct http_conn *c = b->conn;

	(void)l;
	pthread_mutex_lock(&b->stream.lock);
	b->stream.posted = false;
	pthread_mutex_unlock(&b->stream.lock);
	if (!c)
		return;
	c->state = CONN_STREAM;
	if (!c->ready)
		http_conn_run(c);
}

void http_stream_late(struct http_loop *l, struct http_mail *m)
{
	(void)l;
	(void)m;
}

void http_stream_abandon(struct http_box *b)
{
	struct http_stream *s = &b->stream;
	bool wanted;

	b->conn = NULL;
	pthread_mutex_lock(&s->lock);
	s->gone = true;
	wanted = s->wants_room;
	s->wants_room = false;
	pthread_mutex_unlock(&s->lock);
	if (wanted && s->room)
		s->room(&b->x);
}

bool http_stream_owes(const struct http_conn *c)
{
	return http_owes_bytes(c) || c->box->body_sent < c->box->x.reply.body.len;
}

static bool is_chunked(const struct http_box *b)
{
	return b->x.request.minor > 0;
}

static void stream_put_line(struct http_conn *c, const char *text, size_t n)
{
	if (!c->out)
		c->out = http_page_take(c->loop);
	INVARIANT(c->out->len <= c->loop->page_size && n <= c->loop->page_size - c->out->len);
	memcpy(c->out->bytes + c->out->len, text, n);
	c->out->len += n;
}

/* "1f4\r\n" and its length: a printf would be a good part of what an event costs. */
static size_t chunk_line(char out[CHUNK_LINE], size_t n)
{
	static const char digits[] = "0123456789abcdef";
	int shift = 60;
	size_t len = 0;

	while (shift && !(n >> shift))
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		out[len++] = digits[n >> shift & 15];
	out[len++] = '\r';
	out[len++] = '\n';
	return len;
}

/* 0, or what http_conn_push() says when the page is full of earlier replies. */
static int stream_put_head(struct http_conn *c)
{
	struct http_box *b = c->box;
	struct http_reply *r = &b->x.reply;
	size_t need = HTTP_REPLY_HEAD + r->extra.len + (r->type ? strlen(r->type) : 0);
	int err;

	if (http_owes_bytes(c) && c->loop->page_size - c->out->len < need &&
		(err = http_conn_push(c)) < 0)
		return err;
	c->closing = c->closing || r->close || !b->x.request.keep_alive || c->loop->draining ||
		     !is_chunked(b);
	if (!c->out)
		c->out = http_page_take(c->loop);
	c->out->len = (size_t)(http_reply_head(&b->x, c->closing, c->out->bytes + c->out->len) -
			       c->out->bytes);
	INVARIANT(c->out->len <= c->loop->page_size);
	b->stream.headed = true;
	return 0;
}

static void stream_give_back(struct buf *empty, size_t keep)
{
	if (empty->cap > keep)
		buf_free(empty);
}

/* Takes what waits as the next chunk; all before it has been sent.  False if nothing waits. */
static bool stream_take_chunk(struct http_conn *c)
{
	struct http_box *b = c->box;
	struct http_stream *s = &b->stream;
	struct buf *body = &b->x.reply.body, full;
	char line[CHUNK_LINE];
	bool wanted;

	body->len = b->body_sent = 0;
	pthread_mutex_lock(&s->lock);
	full = s->waiting;
	stream_give_back(body, full.len ? KEEP_IN_FLOW : KEEP_AT_REST);
	if (!full.len) {
		stream_give_back(&s->waiting, KEEP_AT_REST);
	} else {
		s->waiting = *body;
		*body = full;
	}
	wanted = full.len && s->wants_room;
	s->wants_room = s->wants_room && !wanted;
	pthread_mutex_unlock(&s->lock);
	if (!full.len)
		return false;
	b->x.reply.streamed += full.len;
	if (is_chunked(b)) {
		stream_put_line(c, line, chunk_line(line, full.len));
		body->max = STREAM_MAX + 2;
		buf_lit(body, "\r\n");
	}
	if (wanted && s->room)
		s->room(&b->x);
	return true;
}

/* The maker has said its last.  A stream that is not whole must not look as if it were: without
 * chunks only a reset tells. */
static enum http_step stream_conclude(struct http_conn *c)
{
	static const struct linger reset = { .l_onoff = 1 };
	struct http_box *b = c->box;

	c->closing = c->closing || c->loop->draining;
	if (b->stream.cut) {
		if (!is_chunked(b) && c->link.fd >= 0)
			setsockopt(c->link.fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
		return STEP_END;
	}
	if (is_chunked(b) && b->x.request.method != METHOD_HEAD)
		stream_put_line(c, "0\r\n\r\n", 5);
	c->state = CONN_FLUSH;
	return STEP_ON;
}

/* Those that would hold more than there is room for make nothing while something of theirs waits. */
static void stream_charge(struct http_box *b)
{
	struct http_stream *s = &b->stream;

	pthread_mutex_lock(&s->lock);
	s->pressed = !http_box_charge_stream(b, s->waiting.cap);
	pthread_mutex_unlock(&s->lock);
}

/* What it has grown to is counted whether or not the peer takes anything. */
enum http_step http_step_stream(struct http_conn *c)
{
	int err = c->box->stream.headed ? 0 : stream_put_head(c);
	bool more = true;

	while (more && !err && !(err = http_conn_push(c)))
		more = stream_take_chunk(c) && --c->budget > 0;
	stream_charge(c->box);
	if (!err && c->budget <= 0)
		return STEP_YIELD;
	if (err)
		return err == HTTP_AGAIN ? STEP_WAIT : STEP_END;
	return c->box->stream.ended ? stream_conclude(c) : STEP_WAIT;
}
