/* file_grow.c - a file as the answer that comes from elsewhere while it is sent.
 *
 * It is fetched into a file without a name, on a thread for disks, as fast as it
 * comes; the listener sends what is there and waits for what is not, so that
 * whoever reads slowly holds no thread and no memory.  The head goes out with
 * the first bytes, and until then a fault is told as anywhere.  The last byte is
 * held back until all of them are known to be right: what is cut off, or has
 * another digest, ends the connection and never looks whole. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/log.h"
#include "base/memory.h"
#include "call/steps.h"
#include "store/pool.h"

enum { HEAD_AFTER = 256 * 1024 }; /* what is shorter is proven before its head goes out */

struct file_growth {
	struct work work; /* first: it is handed back */
	struct call_source source;
	int fd;
	uint64_t at, len;	   /* the part that is wanted of it */
	uint64_t come;		   /* of that; the fetching thread's, as the next */
	struct sha256_run *digest; /* of all of it; NULL: of a part nobody knows it */
	_Atomic uint64_t there;	   /* what may be sent */
	_Atomic bool left;	   /* nobody reads it any more */
	pthread_mutex_t lock;	   /* over the next */
	int holds;
	struct call *call; /* whose head waits for the first bytes; or NULL */
	struct http_exchange *waiter;
	uint64_t wanted; /* by the waiter */
	bool over, whole;
};

static void growth_let_go(struct file_growth *g)
{
	int holds;

	pthread_mutex_lock(&g->lock);
	holds = --g->holds;
	pthread_mutex_unlock(&g->lock);
	if (holds)
		return;
	if (g->fd >= 0)
		close(g->fd);
	sha256_end(g->digest, NULL);
	g->source.let_go(g->source.from);
	pthread_mutex_destroy(&g->lock);
	free(g);
}

static void growth_left(void *growth)
{
	struct file_growth *g = growth;

	atomic_store(&g->left, true);
	growth_let_go(g);
}

/* The head may go out, or somebody waits for what is there now. */
static void tell_growth(struct file_growth *g, int err)
{
	uint64_t there = atomic_load(&g->there);
	struct http_exchange *x = NULL;
	struct call *c = NULL;
	bool over, whole;

	pthread_mutex_lock(&g->lock);
	over = g->over;
	whole = g->whole;
	if (g->call && (over || there >= HEAD_AFTER)) {
		c = g->call;
		g->call = NULL;
	} else if (g->waiter && (over || there >= g->wanted)) {
		x = g->waiter;
		g->waiter = NULL;
	}
	pthread_mutex_unlock(&g->lock);
	if (c)
		call_file_opened(c, over && !whole ? err : 0);
	else if (x)
		http_piece_done(x, !over || whole);
}

static bool write_growth(int fd, const char *at, size_t n)
{
	while (n) {
		ssize_t put = write(fd, at, n);

		if (put <= 0)
			return false;
		at += put;
		n -= (size_t)put;
	}
	return true;
}

static bool take_growth(void *ctx, const char *bytes, size_t n)
{
	struct file_growth *g = ctx;

	if (atomic_load(&g->left) || n > g->len - g->come || !write_growth(g->fd, bytes, n))
		return false;
	if (g->digest)
		sha256_add(g->digest, bytes, n);
	g->come += n;
	atomic_store(&g->there, g->come < g->len ? g->come : g->len - 1);
	tell_growth(g, 0);
	return true;
}

static bool digest_is_right(struct file_growth *g)
{
	uint8_t digest[SHA256_LEN];
	char hex[2 * SHA256_LEN + 1];

	if (!g->digest)
		return true;
	sha256_end(g->digest, digest);
	g->digest = NULL;
	hex_write(digest, sizeof digest, hex);
	return strcmp(hex, g->source.sha256) == 0;
}

static int fetch_growth(struct work *w, struct db *none)
{
	struct file_growth *g = (struct file_growth *)w;
	struct arena a = { 0 };
	struct problem p = { 0 };
	int err = g->source.fetch(g->source.from, g->at, g->len, take_growth, g, &a, &p);
	bool whole = !err && g->come == g->len && digest_is_right(g);

	(void)none;
	if (!err && !whole)
		err = problem_set(
			&p, &a, ERR_STORE, "The bytes of this object cannot be read just now.");
	pthread_mutex_lock(&g->lock);
	g->over = true;
	g->whole = whole;
	if (whole)
		atomic_store(&g->there, g->len);
	/* Whoever waits for the head is told with the sentence; nobody else has it meanwhile. */
	if (g->call && err)
		problem_set(&g->call->problem, g->call->arena, err, "%s",
			p.detail ? p.detail : error_row(err)->title);
	pthread_mutex_unlock(&g->lock);
	if (err && !atomic_load(&g->left))
		log_error("an object that is sent cannot be read to its end",
			LOG_S("error", p.detail ? p.detail : error_row(err)->title));
	tell_growth(g, err);
	arena_free(&a);
	return 0;
}

static void growth_fetched(struct work *w, int err)
{
	(void)err;
	growth_let_go((struct file_growth *)w);
}

void growth_await(struct file_growth *g, struct http_exchange *x, uint64_t upto)
{
	bool there, waits;

	pthread_mutex_lock(&g->lock);
	there = atomic_load(&g->there) >= upto;
	waits = !there && !g->over;
	if (waits) {
		g->waiter = x;
		g->wanted = upto;
	}
	pthread_mutex_unlock(&g->lock);
	if (!waits)
		http_piece_done(x, there);
}

int growth_begin(struct call *c, const struct call_source *source, struct http_file *part, bool all)
{
	struct file_growth *g = memory_zeroed(sizeof *g);
	int err;

	g->work = (struct work){ .run = fetch_growth, .done = growth_fetched };
	g->source = *source;
	g->at = part->at;
	g->len = part->len;
	g->fd = source->spool(source->from);
	g->digest = all ? sha256_begin() : NULL;
	g->call = c;
	g->holds = 2;
	pthread_mutex_init(&g->lock, NULL);
	/* It has only the part, from its first byte on. */
	part->fd = g->fd < 0 ? -1 : dup(g->fd);
	part->at = 0;
	part->there = &g->there;
	c->growth = g;
	arena_defer(c->arena, growth_left, g);
	err = part->fd < 0 ? ERR_BUSY : pool_submit(c->app->disk, c->caller.tenant_id, &g->work);
	if (err && part->fd >= 0) {
		close(part->fd);
		part->fd = -1;
	}
	if (err)
		growth_let_go(g);
	return err;
}
