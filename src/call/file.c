/* file.c - a file as the answer: what RFC 9110 says of conditions and parts, and where the file is opened and read.
 *
 * Conditions are decided at once; only whoever wants bytes has the file opened,
 * on the threads for disks.  The listener sends it from there, and asks for
 * what is not in memory to be read ahead on the same threads. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "call/steps.h"
#include "store/pool.h"

struct file_sending {
	struct call_file what;
	struct http_file part;
	bool partly;
	uint64_t ahead_at, ahead_len;
	uint64_t first; /* byte of the part in the whole */
};

static bool read_place(const char **at, uint64_t *ret)
{
	char *end;

	if (**at < '0' || **at > '9')
		return false;
	*ret = strtoull(*at, &end, 10); /* what is too large is the largest, and beyond any file */
	*at = end;
	return true;
}

enum range_asked call_range(const char *text, uint64_t size, uint64_t *ret_at, uint64_t *ret_len)
{
	uint64_t first = 0, last = 0;
	bool has_first, has_last;

	if (!text || strncasecmp(text, "bytes=", 6) != 0)
		return RANGE_ALL;
	text += 6;
	has_first = read_place(&text, &first);
	if (*text++ != '-')
		return RANGE_ALL;
	has_last = read_place(&text, &last);
	if (*text || (!has_first && !has_last) || (has_first && has_last && last < first))
		return RANGE_ALL;
	if (!has_first) { /* so many at its end */
		first = last < size ? size - last : 0;
		if (!last || !size)
			return RANGE_NONE_SUCH;
		has_last = false;
	}
	if (first >= size)
		return RANGE_NONE_SUCH;
	if (!has_last || last >= size)
		last = size - 1;
	*ret_at = first;
	*ret_len = last - first + 1;
	return RANGE_PART;
}

static struct call *file_call_of(struct work *w)
{
	return (struct call *)((char *)w - offsetof(struct call, work));
}

/* ---- what is not in memory ---- */

static int read_ahead(struct work *w, struct db *none)
{
	enum { AT_ONCE = 64 * 1024 };
	const struct file_sending *s = file_call_of(w)->sending;
	char bytes[AT_ONCE];

	(void)none;
	for (uint64_t done = 0; done < s->ahead_len;) {
		ssize_t n = pread(s->part.fd, bytes, sizeof bytes, (off_t)(s->ahead_at + done));

		if (n <= 0)
			return ERR_INTERNAL;
		done += (uint64_t)n;
	}
	return 0;
}

static void was_read_ahead(struct work *w, int err)
{
	http_piece_done(file_call_of(w)->x, !err);
}

static void warm_file(struct http_exchange *x, int fd, uint64_t at, uint64_t len)
{
	struct call *c = x->data;

	(void)fd;
	if (c->growth) {
		growth_await(c->growth, x, at + len);
		return;
	}
	c->sending->ahead_at = at;
	c->sending->ahead_len = len;
	c->work = (struct work){ .run = read_ahead, .done = was_read_ahead };
	if (pool_submit(c->app->disk, c->caller.tenant_id, &c->work))
		http_piece_done(x, true); /* the loop reads it then, as slow as that is */
}

/* ---- the answer ---- */

static void put_file_head(struct call *c, int status)
{
	struct http_reply *r = &c->x->reply;
	struct file_sending *s = c->sending;

	r->status = status;
	buf_printf(&r->extra, "ETag: %s\r\nCache-Control: private, no-cache\r\n", s->what.tag);
	if (status == 304)
		return;
	buf_lit(&r->extra, "Accept-Ranges: bytes\r\n");
	if (status == 206)
		buf_printf(&r->extra, "Content-Range: bytes %llu-%llu/%llu\r\n",
			(unsigned long long)s->first,
			(unsigned long long)(s->first + s->part.len - 1),
			(unsigned long long)s->what.size);
	r->type = s->what.type;
	r->file = &s->part;
}

static int open_file(struct work *w, struct db *none)
{
	struct call *c = file_call_of(w);

	(void)none;
	return c->sending->what.open(c, &c->sending->part.fd);
}

void call_file_opened(struct call *c, int err)
{
	struct http_file *part = &c->sending->part;

	if (!err)
		put_file_head(c, c->sending->partly ? 206 : 200);
	else if (part->fd >= 0) {
		close(part->fd);
		part->fd = -1;
	}
	call_conclude(c, err);
	http_finish(c->x);
}

static void opened_file(struct work *w, int err)
{
	call_file_opened(file_call_of(w), err);
}

/* Where the bytes come from: a file, or elsewhere. */
static int submit_open(struct call *c)
{
	struct file_sending *s = c->sending;
	struct call_source source;

	if (s->part.len && s->what.source && s->what.source(c, &source))
		return growth_begin(c, &source, &s->part, !s->partly);
	c->work = (struct work){ .run = open_file, .done = opened_file };
	return pool_submit(c->app->disk, c->caller.tenant_id, &c->work);
}

static enum http_verdict refuse_range(struct call *c)
{
	call_conclude(c, call_fail(c, ERR_RANGE, "It has %llu bytes.",
				 (unsigned long long)c->sending->what.size));
	buf_printf(&c->x->reply.extra, "Content-Range: bytes */%llu\r\n",
		(unsigned long long)c->sending->what.size);
	return HTTP_REPLIED;
}

static enum http_verdict answer_now(struct call *c, int status)
{
	put_file_head(c, status);
	call_conclude(c, 0);
	return HTTP_REPLIED;
}

static enum http_verdict begin_file(struct call *c)
{
	const struct http_request *r = &c->x->request;
	const char *known = http_header(r, "if-none-match"), *only = http_header(r, "if-range");
	struct file_sending *s = c->sending;
	enum range_asked asked = RANGE_ALL;
	int err;

	if (known && call_etag_listed(known, s->what.tag, true))
		return answer_now(c, 304);
	if (r->method == METHOD_HEAD)
		return answer_now(c, 200);
	if (!only || strcmp(only, s->what.tag) == 0)
		asked = call_range(
			http_header(r, "range"), s->what.size, &s->part.at, &s->part.len);
	if (asked == RANGE_NONE_SUCH)
		return refuse_range(c);
	s->partly = asked == RANGE_PART;
	s->first = s->part.at;
	err = submit_open(c);
	if (!err)
		return HTTP_KEPT;
	call_conclude(c, err);
	return HTTP_REPLIED;
}

int call_send_file(struct call *c, const struct call_file *file)
{
	struct file_sending *s = arena_new(c->arena, struct file_sending);

	*s = (struct file_sending){ .what = *file,
		.part = { .fd = -1, .len = file->size, .warm = warm_file } };
	c->sending = s;
	c->deferred = begin_file;
	return 0;
}

int call_match(struct call *c, const char *tag)
{
	const char *wanted = http_header(&c->x->request, "if-match");
	const char *unwanted = http_header(&c->x->request, "if-none-match");

	if (wanted && (!tag || !call_etag_listed(wanted, tag, false)))
		return call_fail(c, ERR_PRECONDITION, "%s",
			tag ? "It has another ETag by now." : "There is nothing with that ETag.");
	if (unwanted && tag && call_etag_listed(unwanted, tag, false))
		return call_fail(c, ERR_PRECONDITION, "It is there already.");
	return 0;
}
