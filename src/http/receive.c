/* receive.c - the steps of a connection that take a request in and hand it to the handler.
 *
 * A head is taken a line at a time out of the connection's page; a body goes
 * straight into a buffer that grows with what has come, never with what was
 * announced.  One that is handed on fills two pieces in turn: the one that the
 * handler has, and the next.  How a reply leaves is answer.c's matter. */
#include "http/conn.h"
#include "base/check.h"

enum { BODY_READ = 64 * 1024, BODY_NO_ROOM = -100 };

static enum http_step take_on(struct http_conn *c);

/* Reads into the page: a count, 0 at the end, HTTP_AGAIN or HTTP_DEAD. */
static ssize_t fill_page(struct http_conn *c)
{
	struct http_page *in = c->in;
	ssize_t n;

	if (c->eof)
		return 0;
	if (!c->link.readable)
		return HTTP_AGAIN;
	if (!in)
		in = c->in = http_page_take(c->loop);
	if (in->at == in->len) {
		in->at = in->len = 0;
	} else if (in->at) {
		memmove(in->bytes, in->bytes + in->at, in->len - in->at);
		in->len -= in->at;
		in->at = 0;
	}
	n = c->link.transport->read(&c->link, in->bytes + in->len, c->loop->page_size - in->len);
	if (n > 0)
		in->len += (size_t)n;
	c->eof = n == 0;
	return n;
}

static enum http_step apply_verdict(struct http_conn *c, enum http_verdict verdict)
{
	switch (verdict) {
	case HTTP_REPLIED:
		c->state = CONN_ANSWER;
		return STEP_ON;
	case HTTP_KEPT:
		c->loop->kept++;
		c->state = CONN_KEPT;
		return STEP_WAIT;
	default:
		return http_conn_fault(c, ERR_INTERNAL, "The request was left without an answer.");
	}
}

static enum http_step call_handler(struct http_conn *c)
{
	const struct http_handler *h = c->loop->handler;
	struct http_box *b = c->box;

	if (b->body.len) {
		buf_putc(&b->body, '\0');
		b->x.request.body = b->body.at;
		b->x.request.body_len = b->body.len - 1;
	}
	b->at_head = false;
	return apply_verdict(c, h->request(h->ctx, &b->x));
}

/* The handler answers without the body.  One that is here already is stepped over; else we close. */
static void pass_over_body(struct http_conn *c)
{
	const struct http_request *r = &c->box->x.request;
	size_t here = http_has_input(c) ? c->in->len - c->in->at : 0;

	if (!r->has_body)
		return;
	if (!r->chunked && r->content_length <= here)
		c->in->at += (size_t)r->content_length;
	else
		c->closing = c->abrupt = true;
}

static void say_continue(struct http_conn *c)
{
	static const char line[] = "HTTP/1.1 100 Continue\r\n\r\n";

	if (http_has_input(c))
		return;
	if (c->out && c->loop->page_size - c->out->len < sizeof line)
		http_conn_push(c);
	if (!c->out)
		c->out = http_page_take(c->loop);
	if (c->loop->page_size - c->out->len >= sizeof line) {
		memcpy(c->out->bytes + c->out->len, line, sizeof line - 1);
		c->out->len += sizeof line - 1;
	}
}

static enum http_step head_done(struct http_conn *c)
{
	const struct http_handler *h = c->loop->handler;
	struct http_box *b = c->box;
	enum http_verdict verdict;

	c->first = false;
	b->at_head = true; /* by another thread's leave it may be back before this returns */
	verdict = h->head(h->ctx, &b->x);
	if (verdict == HTTP_KEPT)
		return apply_verdict(c, verdict);
	b->at_head = false;
	if (verdict != HTTP_GO_ON) {
		pass_over_body(c);
		return apply_verdict(c, verdict);
	}
	return take_on(c);
}

/* The head is good: now the body. */
static enum http_step take_on(struct http_conn *c)
{
	struct http_box *b = c->box;
	const struct http_request *r = &b->x.request;

	if (!r->has_body)
		return call_handler(c);
	if (!r->chunked && r->content_length > b->x.max_body)
		return http_conn_fault(c, ERR_TOO_LARGE, "The body is larger than is taken here.");
	b->body.max = b->x.sink ? HTTP_PIECE + c->loop->page_size : (size_t)b->x.max_body + 1;
	b->body_left = r->content_length;
	if (b->head.wants_continue)
		say_continue(c);
	c->state = CONN_BODY;
	return STEP_ON;
}

void http_head_back(struct http_conn *c, bool goes_on)
{
	c->box->at_head = false;
	if (goes_on) {
		take_on(c);
		return;
	}
	pass_over_body(c);
	c->state = CONN_ANSWER;
}

enum http_step http_step_idle(struct http_conn *c)
{
	if (!http_has_input(c)) {
		ssize_t n = fill_page(c);

		if (n <= 0)
			return n == HTTP_AGAIN ? STEP_WAIT : STEP_END;
	}
	http_conn_begin(c);
	c->state = CONN_HEAD;
	return STEP_ON;
}

enum http_step http_step_head(struct http_conn *c)
{
	struct http_head *h = &c->box->head;

	for (;;) {
		ssize_t n;

		if (http_has_input(c)) {
			size_t used;
			int r = http_head_take(
				h, c->in->bytes + c->in->at, c->in->len - c->in->at, &used);

			c->in->at += used;
			if (r < 0)
				return http_conn_fault(c, r, h->fault);
			if (r == HTTP_DONE)
				return head_done(c);
		}
		n = fill_page(c);
		if (n == HTTP_AGAIN && !http_crowd_count(c))
			return http_conn_fault(c, ERR_BUSY, HTTP_HOLDS_TOO_MUCH);
		if (n == HTTP_AGAIN)
			return STEP_WAIT;
		if (n < 0 || (n == 0 && !http_has_begun(c)))
			return STEP_END;
		if (n == 0)
			return http_conn_fault(
				c, ERR_MALFORMED, "The head of the request breaks off.");
	}
}

/* Straight into its buffer, which grows with what has come, not with what was announced. */
static ssize_t read_plain_body(struct http_conn *c)
{
	struct http_box *b = c->box;
	size_t want = b->body_left < BODY_READ ? (size_t)b->body_left : BODY_READ;
	ssize_t n;

	if (b->x.sink && want > HTTP_PIECE - b->body.len)
		want = HTTP_PIECE - b->body.len;

	if (c->eof)
		return 0;
	if (!c->link.readable)
		return HTTP_AGAIN;
	if (!buf_room(&b->body, want + 1))
		return BODY_NO_ROOM;
	n = c->link.transport->read(&c->link, b->body.at + b->body.len, want);
	if (n > 0) {
		INVARIANT((size_t)n <= want && want <= b->body_left);
		b->body.len += (size_t)n;
		b->body_left -= (size_t)n;
	}
	c->eof = n == 0;
	return n;
}

/* Takes from the page: HTTP_MORE, HTTP_DONE, or an error with its sentence. */
static int take_request_body(struct http_conn *c, const char **ret_fault)
{
	struct http_box *b = c->box;
	size_t here = http_has_input(c) ? c->in->len - c->in->at : 0, used = here;
	int r = HTTP_MORE;

	if (b->x.request.chunked) {
		if (here)
			r = http_chunked_take(&b->chunked, c->in->bytes + c->in->at, here, &used,
				&b->body, b->x.max_body - b->sunk);
		*ret_fault = b->chunked.fault;
	} else {
		if (used > b->body_left)
			used = (size_t)b->body_left;
		if (used)
			buf_put(&b->body, c->in->bytes + c->in->at, used);
		b->body_left -= used;
		r = b->body_left ? HTTP_MORE : HTTP_DONE;
	}
	if (here)
		c->in->at += used;
	return r;
}

/* The piece that has come is the handler's, and the one before it is filled next. */
static void lend_piece(struct http_conn *c)
{
	struct http_box *b = c->box;
	struct buf full = b->body;

	b->body = b->piece;
	b->body.len = 0;
	b->body.max = full.max;
	b->piece = full;
	b->sunk += full.len;
	b->lent = true;
	c->loop->kept++;
	c->rearm = true;
	b->x.sink(&b->x, full.at, full.len);
}

/* Hands on what has come, if it is enough or all.  True if no more can be done before the last piece is back. */
static bool hands_on(struct http_conn *c)
{
	struct http_box *b = c->box;

	if (!b->x.sink || !b->body.len || (!b->whole && b->body.len < HTTP_PIECE))
		return b->lent && b->whole;
	if (!b->lent) {
		lend_piece(c);
		return b->whole;
	}
	return true;
}

void http_piece_back(struct http_conn *c, bool goes_on)
{
	struct http_box *b = c->box;

	if (!goes_on && c->state == CONN_FLUSH) {
		http_conn_close(c);
		return;
	}
	if (!goes_on) {
		c->closing = c->abrupt = c->closing || !b->whole;
		c->state = CONN_ANSWER;
	} else if (c->state == CONN_SINK) {
		c->state = CONN_BODY;
	}
	if (!c->ready)
		http_conn_run(c);
}

/* What the handler has meanwhile is its own to count. */
static bool body_fits(struct http_box *b)
{
	return (b->lent || http_charge(&b->x)) && !b->body.overflow;
}

enum http_step http_step_body(struct http_conn *c)
{
	struct http_box *b = c->box;

	for (;;) {
		const char *sentence = NULL;
		int r = b->whole ? HTTP_DONE : take_request_body(c, &sentence);
		ssize_t n;

		if (r < 0)
			return http_conn_fault(c, r, sentence);
		b->whole = r == HTTP_DONE;
		if (!body_fits(b))
			return http_conn_fault(c, ERR_BUSY, HTTP_HOLDS_TOO_MUCH);
		if (hands_on(c)) {
			c->state = CONN_SINK;
			return STEP_WAIT;
		}
		if (b->whole)
			return call_handler(c);
		if (--c->budget <= 0)
			return STEP_YIELD;
		n = b->x.request.chunked ? fill_page(c) : read_plain_body(c);
		if (n == HTTP_AGAIN)
			return STEP_WAIT;
		if (n == BODY_NO_ROOM)
			return http_conn_fault(c, ERR_BUSY, HTTP_HOLDS_TOO_MUCH);
		if (n < 0)
			return STEP_END;
		if (n == 0)
			return http_conn_fault(
				c, ERR_MALFORMED, "The body breaks off before its end.");
	}
}
