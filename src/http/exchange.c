/* exchange.c - exchanges and buffers, kept warm a loop, and the questions asked of a request.
 *
 * A pool is bounded, last in first out, and belongs to one thread.  An
 * exchange comes out of it clean; what one request made large is given back
 * rather than kept. */
#include "http/conn.h"

#include "base/check.h"
#include "base/memory.h"

#include <stdlib.h>
#include <unistd.h>

enum { POOL_MAX = 64, KEEP_BUF = 32 * 1024, HOUSE_STEP = 256 * 1024 };
#define REPLY_MAX ((size_t)64 * 1024 * 1024)

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

/* The length of a page that lies in the pool, which no page in use has. */
static const size_t page_pooled = SIZE_MAX;

struct http_page *http_page_take(struct http_loop *l)
{
	struct http_page *p = l->pages;

	INVARIANT(!http_loop_is_elsewhere(l) && !p == !l->page_count);
	if (p) {
		INVARIANT(p->len == page_pooled);
		l->pages = p->next;
		l->page_count--;
	} else {
		p = memory_must(sizeof *p + l->page_size);
	}
	p->at = p->len = 0;
	return p;
}

void http_page_put(struct http_loop *l, struct http_page *p)
{
	INVARIANT(!http_loop_is_elsewhere(l) && p->at <= p->len && p->len <= l->page_size);
	if (l->page_count == POOL_MAX) {
		free(p);
		return;
	}
	p->len = page_pooled;
	p->next = l->pages;
	l->pages = p;
	l->page_count++;
}

static struct http_box *box_new(struct http_loop *l)
{
	struct http_box *b =
		memory_must(sizeof *b + l->limits.max_headers * sizeof(struct http_header));

	memset(b, 0, sizeof *b);
	b->x.arena.max = l->limits.max_arena;
	b->x.arena.meter = l->handler->house;
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

	INVARIANT(!http_loop_is_elsewhere(l) && !b == !l->box_count);
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

static bool is_news(int64_t by)
{
	return by >= HOUSE_STEP || by <= -HOUSE_STEP;
}

/* On another thread than the loop's.  What becomes less is the loop's to tell: so the house's count is never below
 * nothing. */
static void tell_aside(struct http_loop *l, struct memory_account *house, int64_t by)
{
	int64_t now = atomic_fetch_add(&l->held_aside, by) + by;
	int64_t told = atomic_load(&l->told_aside);

	if (now > told && is_news(now - told) &&
		atomic_compare_exchange_strong(&l->told_aside, &told, now))
		memory_account_add(house, now - told);
}

/* The house is told in large steps, so that loops need not write to one word for each request. */
static bool tell_house(struct http_loop *l, int64_t by)
{
	struct memory_account *house = l->handler->house;
	int64_t news;

	if (!house)
		return true;
	if (http_loop_is_elsewhere(l)) {
		tell_aside(l, house, by);
		return memory_account_has_room(house);
	}
	l->held += by;
	/* In this order: what is told meanwhile is rather counted twice, until the next time, than taken off. */
	news = l->held - l->told - atomic_load(&l->told_aside);
	news += atomic_load(&l->held_aside);
	if (is_news(news)) {
		l->told += news;
		memory_account_add(house, news);
	}
	return memory_account_has_room(house);
}

/* Books the difference; what is given back is never refused.  Of what the arena tells the house by itself
 * only the account hears. */
static bool charge_box(struct http_box *b, size_t now, size_t metered)
{
	struct http_loop *l = b->x.loop;
	int64_t by = (int64_t)now - (int64_t)b->held;
	struct memory_account *account = b->x.account;
	bool fits;

	if (!by && metered == b->metered)
		return true;
	fits = tell_house(l, by - ((int64_t)metered - (int64_t)b->metered));
	b->held = now;
	b->metered = metered;
	if (!account && now > HTTP_UNCHARGED && l->handler->account) {
		account = b->x.account = l->handler->account(l->handler->ctx, &b->x);
		by = (int64_t)now;
	}
	if (account) {
		memory_account_add(account, by);
		fits = fits && memory_account_has_room(account);
	}
	return fits || by < 0;
}

bool http_charge(struct http_exchange *x)
{
	struct http_box *b = (struct http_box *)x;

	b->made = b->body.cap + b->piece.cap + x->arena.total;
	return charge_box(b, b->made + x->reply.body.cap, x->arena.metered);
}

size_t http_box_size(const struct http_box *b)
{
	return sizeof *b + b->x.loop->limits.max_headers * sizeof *b->headers + b->x.arena.total;
}

bool http_loop_hold(struct http_loop *l, int64_t by)
{
	return tell_house(l, by);
}

bool http_box_has_room(const struct http_box *b)
{
	return memory_account_has_room(b->x.loop->handler->house) &&
	       memory_account_has_room(b->x.account);
}

void http_box_charge_more(struct http_box *b, size_t grown)
{
	if (grown)
		charge_box(b, b->held + grown, b->metered);
}

void http_box_name_account(struct http_box *b)
{
	const struct http_handler *h = b->x.loop->handler;

	if (b->x.account || !h->account)
		return;
	b->x.account = h->account(h->ctx, &b->x);
	if (b->x.account)
		memory_account_add(b->x.account, (int64_t)b->held);
}

bool http_box_charge_stream(struct http_box *b, size_t waiting)
{
	charge_box(b, b->made + b->x.reply.body.cap + waiting, b->metered);
	return http_box_has_room(b);
}

void http_box_discharge(struct http_box *b)
{
	charge_box(b, 0, 0);
}

static void trim_buf(struct buf *b, size_t max)
{
	if (b->cap > KEEP_BUF)
		buf_free(b);
	b->len = 0;
	b->max = max;
	b->overflow = b->starved = false;
}

void http_box_clear_reply(struct http_box *b)
{
	b->x.reply.status = 0;
	b->x.reply.type = NULL;
	b->x.reply.close = b->x.reply.streams = false;
	if (b->x.reply.file && b->x.reply.file->fd >= 0)
		close(b->x.reply.file->fd);
	b->x.reply.file = NULL;
	b->file_left = b->file_warm = 0;
	b->x.reply.streamed = 0;
	trim_buf(&b->x.reply.extra, HTTP_EXTRA_MAX);
	trim_buf(&b->x.reply.body, REPLY_MAX);
}

static void clear_stream(struct http_stream *s)
{
	trim_buf(&s->waiting, 0);
	s->room = NULL;
	s->begun = s->posted = s->wants_room = s->gone = s->left = s->cut = s->headed = s->ended =
		s->pressed = false;
}

void http_box_put(struct http_loop *l, struct http_box *b)
{
	INVARIANT(!b->lent);
	http_box_clear_reply(b);
	arena_reset(&b->x.arena);
	trim_buf(&b->body, 0);
	trim_buf(&b->piece, 0);
	clear_stream(&b->stream);
	b->chunked = (struct http_chunked){ 0 };
	b->body_sent = b->made = 0;
	b->sunk = 0;
	b->x.sink = NULL;
	http_box_discharge(b);
	b->x.data = NULL;
	b->x.account = NULL;
	b->x.vouched = false;
	b->at_head = b->goes_on = b->spared = b->whole = false;
	b->conn = NULL;
	if (l->box_count == POOL_MAX) {
		arena_free(&b->x.arena);
		buf_free(&b->x.reply.extra);
		buf_free(&b->x.reply.body);
		buf_free(&b->body);
		buf_free(&b->piece);
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
