/* exchange.c - exchanges and buffers, kept warm a loop, and the questions asked of a request.
 *
 * A pool is bounded, last in first out, and belongs to one thread.  An
 * exchange comes out of it clean; what one request made large is given back
 * rather than kept. */
#include "http/conn.h"

#include <stdio.h>
#include <stdlib.h>

enum { POOL_MAX = 64, KEEP_BUF = 32 * 1024 };
#define REPLY_MAX ((size_t)256 * 1024 * 1024)

const char *http_header(const struct http_request *r, const char *lower_name)
{
	size_t len = strlen(lower_name);

	for (size_t i = 0; i < r->header_count; i++)
		if (r->headers[i].name_len == len &&
			memcmp(r->headers[i].name, lower_name, len) == 0)
			return r->headers[i].value;
	return NULL;
}

size_t http_header_count(const struct http_request *r, const char *lower_name)
{
	size_t len = strlen(lower_name), count = 0;

	for (size_t i = 0; i < r->header_count; i++)
		count += r->headers[i].name_len == len &&
			 memcmp(r->headers[i].name, lower_name, len) == 0;
	return count;
}

static void *must_alloc(size_t size)
{
	void *p = malloc(size);

	if (!p) {
		fprintf(stderr, "lodge: out of memory (%zu bytes)\n", size);
		abort();
	}
	return p;
}

struct http_page *http_page_take(struct http_loop *l)
{
	struct http_page *p = l->pages;

	if (p) {
		l->pages = p->next;
		l->page_count--;
	} else {
		p = must_alloc(sizeof *p + l->page_size);
	}
	p->at = p->len = 0;
	return p;
}

void http_page_put(struct http_loop *l, struct http_page *p)
{
	if (l->page_count == POOL_MAX) {
		free(p);
		return;
	}
	p->next = l->pages;
	l->pages = p;
	l->page_count++;
}

static struct http_box *box_new(struct http_loop *l)
{
	struct http_box *b =
		must_alloc(sizeof *b + l->limits.max_headers * sizeof(struct http_header));

	memset(b, 0, sizeof *b);
	buf_init(&b->x.reply.extra, HTTP_EXTRA_MAX);
	buf_init(&b->x.reply.body, REPLY_MAX);
	b->x.loop = l;
	b->mail.open = http_conn_finish;
	b->mail.discard = http_conn_finish_late;
	b->stream.mail.open = http_stream_open;
	b->stream.mail.discard = http_stream_late;
	pthread_mutex_init(&b->stream.lock, NULL);
	return b;
}

struct http_box *http_box_take(struct http_loop *l)
{
	struct http_box *b = l->boxes;
	struct id id = id_new(NULL);

	if (b) {
		l->boxes = b->next;
		l->box_count--;
	} else {
		b = box_new(l);
	}
	memcpy(b->x.request_id, id.text, sizeof b->x.request_id);
	b->x.request = (struct http_request){
		.method = METHOD_OTHER,
		.method_text = "",
		.path = "",
		.query = "",
		.minor = 1,
		.headers = b->headers,
		.body = "",
		.began_us = l->now_us,
	};
	b->x.max_body = l->limits.max_body;
	b->head = (struct http_head){
		.request = &b->x.request,
		.headers = b->headers,
		.arena = &b->x.arena,
		.max_head = l->limits.max_head,
		.max_headers = l->limits.max_headers,
	};
	return b;
}

static void trim(struct buf *b, size_t max)
{
	if (b->cap > KEEP_BUF)
		buf_free(b);
	b->len = 0;
	b->max = max;
	b->overflow = false;
}

void http_box_clear_reply(struct http_box *b)
{
	b->x.reply.status = 0;
	b->x.reply.type = NULL;
	b->x.reply.close = b->x.reply.streams = false;
	b->x.reply.streamed = 0;
	trim(&b->x.reply.extra, HTTP_EXTRA_MAX);
	trim(&b->x.reply.body, REPLY_MAX);
}

static void clear_stream(struct http_stream *s)
{
	trim(&s->waiting, 0);
	s->room = NULL;
	s->begun = s->posted = s->wants_room = s->gone = s->left = s->cut = s->headed = s->ended =
		false;
}

void http_box_put(struct http_loop *l, struct http_box *b)
{
	arena_reset(&b->x.arena);
	http_box_clear_reply(b);
	trim(&b->body, 0);
	clear_stream(&b->stream);
	b->chunked = (struct http_chunked){ 0 };
	b->body_sent = 0;
	b->x.data = NULL;
	b->conn = NULL;
	if (l->box_count == POOL_MAX) {
		arena_free(&b->x.arena);
		buf_free(&b->x.reply.extra);
		buf_free(&b->x.reply.body);
		buf_free(&b->body);
		buf_free(&b->stream.waiting);
		pthread_mutex_destroy(&b->stream.lock);
		free(b);
		return;
	}
	b->next = l->boxes;
	l->boxes = b;
	l->box_count++;
}

void http_pools_free(struct http_loop *l)
{
	while (l->pages) {
		struct http_page *p = l->pages;

		l->pages = p->next;
		free(p);
	}
	l->page_count = 0;
	while (l->boxes) {
		struct http_box *b = l->boxes;

		l->boxes = b->next;
		l->box_count = POOL_MAX; /* so that it is freed, not put back */
		http_box_put(l, b);
	}
	l->box_count = 0;
}
