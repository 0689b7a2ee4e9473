/* answer.c - the steps of a connection that send a reply and, perhaps, take leave.
 *
 * Small replies are gathered in one page while further requests wait; a large
 * body is written from where it lies, a file by the kernel where the transport
 * can.  What the reply says is reply.c's and the handler's matter. */
#include "http/conn.h"

#include <errno.h>
#include <unistd.h>

enum { LINGER_BYTES = 8 * 1024 * 1024 };

/* Of a file: what is sent at a time, and what is read at a time where it is not in memory. */
enum { FILE_STEP = 256 * 1024, FILE_AHEAD = 1024 * 1024 };

/* Writes what is owed: 0 when all is written, HTTP_AGAIN or HTTP_DEAD. */
int http_conn_push(struct http_conn *c)
{
	struct http_box *b = c->state == CONN_FLUSH || c->state == CONN_STREAM ? c->box : NULL;
	const struct buf *body = b ? &b->x.reply.body : NULL;

	for (;;) {
		struct iovec iov[2];
		int count = 0;
		size_t head = http_owes_bytes(c) ? c->out->len - c->out->at : 0;
		size_t rest = body ? body->len - b->body_sent : 0;
		ssize_t n;

		if (head)
			iov[count++] = (struct iovec){ c->out->bytes + c->out->at, head };
		if (rest)
			iov[count++] = (struct iovec){ body->at + b->body_sent, rest };
		if (!count)
			break;
		if (!c->link.writable)
			return HTTP_AGAIN;
		n = c->link.transport->write(&c->link, iov, count);
		if (n < 0)
			return (int)n;
		c->rearm = true;
		if (head)
			c->out->at += (size_t)n < head ? (size_t)n : head;
		if (b && (size_t)n > head)
			b->body_sent += (size_t)n - head;
	}
	http_conn_drop(c, &c->out);
	return 0;
}

/* After the last reply.  With bytes unread, closing at once would destroy it on its way. */
static enum http_step conn_leave(struct http_conn *c)
{
	bool unread = c->abrupt || http_has_input(c) || c->link.readable;

	if (c->eof || !unread || !c->link.transport->lingers)
		return STEP_END;
	http_conn_drop(c, &c->in);
	c->link.transport->shut(&c->link);
	c->state = CONN_LINGER;
	c->link.readable = true;
	return STEP_ON;
}

static enum http_step next_request(struct http_conn *c)
{
	if (c->closing)
		return conn_leave(c);
	c->state = CONN_IDLE;
	c->rearm = true;
	return --c->budget <= 0 && (http_has_input(c) || c->link.readable) ? STEP_YIELD : STEP_ON;
}

/* What was only read may be asked for again; a change that was made is answered all the same. */
static bool is_spared(const struct http_box *b)
{
	return !b->spared && b->held > HTTP_UNCHARGED && b->x.reply.body.len > HTTP_UNCHARGED &&
	       (b->x.request.method == METHOD_GET || b->x.request.method == METHOD_HEAD);
}

/* Whoever takes the answer slowly holds no body for that: it has been read. */
static void give_back_body(struct http_box *b)
{
	buf_free(&b->piece);
	if (b->body.cap <= HTTP_UNCHARGED)
		return;
	buf_free(&b->body);
	b->x.request.body = "";
	b->x.request.body_len = 0;
}

enum http_step http_step_answer(struct http_conn *c)
{
	struct http_box *b = c->box;
	struct http_reply *r = &b->x.reply;
	size_t body, need;
	int err;

	give_back_body(b);
	if (!http_charge(&b->x) && is_spared(b)) {
		b->spared = true;
		return http_conn_fault(c, ERR_BUSY, HTTP_HOLDS_TOO_MUCH);
	}
	if (r->body.starved && !b->spared) {
		b->spared = true;
		return http_conn_fault(c, ERR_BUSY, HTTP_HOLDS_TOO_MUCH);
	}
	if (!http_reply_valid(r))
		return http_conn_fault(c, ERR_INTERNAL, "The answer could not be put into bytes.");
	need = HTTP_REPLY_HEAD + r->extra.len + (r->type ? strlen(r->type) : 0);
	if (http_owes_bytes(c) && c->loop->page_size - c->out->len < need &&
		(err = http_conn_push(c)) < 0)
		return err == HTTP_AGAIN ? STEP_WAIT : STEP_END;
	c->closing = c->closing || r->close || !b->x.request.keep_alive || c->loop->draining;
	if (!c->out)
		c->out = http_page_take(c->loop);
	c->out->len = (size_t)(http_reply_head(&b->x, c->closing, c->out->bytes + c->out->len) -
			       c->out->bytes);
	body = http_reply_has_body(&b->x) ? r->body.len : 0;
	if (body && body <= c->loop->page_size - c->out->len) {
		memcpy(c->out->bytes + c->out->len, r->body.at, body);
		c->out->len += body;
		body = 0;
	}
	b->body_sent = r->body.len - body;
	b->file_left = r->file && r->file->fd >= 0 ? r->file->len : 0;
	if (!body && !b->file_left && !c->closing && http_has_input(c)) {
		/* Another request waits: its reply goes into the same write. */
		http_conn_settle(c, true);
		return next_request(c);
	}
	c->state = CONN_FLUSH;
	return STEP_ON;
}

/* Whether the last byte of the next step is in memory: if it is not, the handler has it read, and the file is lent. */
static bool file_is_warm(struct http_conn *c, uint64_t at, uint64_t n)
{
	struct http_box *b = c->box;
	struct http_file *f = b->x.reply.file;
	char byte;
	struct iovec last = { &byte, 1 };
	bool comes = f->there && atomic_load(f->there) < at + n;
	uint64_t ahead = comes ? n : b->file_left < FILE_AHEAD ? b->file_left : FILE_AHEAD;

	if (!comes && b->file_warm >= n)
		return true;
	if (!comes && (!f->warm || preadv2(f->fd, &last, 1, (off_t)(at + n - 1), RWF_NOWAIT) >= 0 ||
			      errno != EAGAIN))
		return true;
	b->file_warm = ahead;
	b->lent = true;
	c->loop->kept++;
	f->warm(&b->x, f->fd, at, ahead);
	return false;
}

/* By the kernel, or through a page: bytes that are on their way, 0 if the file has no more, HTTP_AGAIN, HTTP_DEAD. */
static ssize_t send_file_bytes(struct http_conn *c, int fd, uint64_t at, size_t n)
{
	ssize_t got;
	int err;

	if (c->link.transport->send_file)
		return c->link.transport->send_file(&c->link, fd, (off_t)at, n);
	if (!c->out)
		c->out = http_page_take(c->loop);
	if (n > c->loop->page_size)
		n = c->loop->page_size;
	got = pread(fd, c->out->bytes, n, (off_t)at);
	if (got <= 0)
		return 0;
	c->out->len = (size_t)got;
	err = http_conn_push(c);
	return err == HTTP_DEAD ? err : got;
}

static enum http_step send_file_step(struct http_conn *c)
{
	struct http_box *b = c->box;
	struct http_file *f = b->x.reply.file;

	while (b->file_left) {
		uint64_t at = f->at + f->len - b->file_left;
		size_t want = b->file_left < FILE_STEP ? (size_t)b->file_left : FILE_STEP;
		ssize_t n;

		if (http_owes_bytes(c) || !c->link.writable)
			return STEP_WAIT;
		if (!file_is_warm(c, at, want))
			return STEP_WAIT;
		n = send_file_bytes(c, f->fd, at, want);
		if (n <= 0)
			return n == HTTP_AGAIN ? STEP_WAIT : STEP_END;
		c->rearm = true;
		b->file_left -= (uint64_t)n;
		b->file_warm -= b->file_warm < (uint64_t)n ? b->file_warm : (uint64_t)n;
		if (b->file_left && --c->budget <= 0)
			return STEP_YIELD;
	}
	return http_owes_bytes(c) ? STEP_WAIT : STEP_ON;
}

enum http_step http_step_flush(struct http_conn *c)
{
	enum http_step step;
	int err;

	if (c->box->lent)
		return STEP_WAIT;
	err = http_conn_push(c);
	if (err)
		return err == HTTP_AGAIN ? STEP_WAIT : STEP_END;
	step = send_file_step(c);
	if (step != STEP_ON)
		return step;
	http_conn_settle(c, true);
	return next_request(c);
}

enum http_step http_step_linger(struct http_conn *c)
{
	if (!c->in)
		c->in = http_page_take(c->loop);
	while (c->link.readable) {
		ssize_t n = c->link.transport->drain(&c->link, c->in->bytes, c->loop->page_size);

		if (n == HTTP_AGAIN)
			break;
		if (n <= 0 || (c->lingered += (uint32_t)n) > LINGER_BYTES)
			return STEP_END;
		if (--c->budget <= 0)
			return STEP_YIELD;
	}
	return STEP_WAIT;
}
