/* hub.c - the threads behind hub.h: who has something to hear, and who may still hear it.
 *
 * One thread reads and hands on.  Whoever has news for it (a notice, a new
 * watch, one that has room again) puts the session on a list; it takes the
 * whole list and serves it in one read transaction, so that the busier it is
 * the less an event costs.  A second thread asks each watch every few seconds
 * whether it may go on.  Neither ever waits for a listener. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "sessions/feed.h"
#include "sessions/topic.h"

enum {
	TABLE_MIN = 256,
	ROUND_MS = 10,	  /* between two rounds: what happens meanwhile goes together */
	RETRY_MS = 500,	  /* behind an error of the store */
	CHECK_BATCH = 64, /* watches in one read transaction */
	CHECK_TURN_MS = 100,
};

struct hub {
	struct store *store;
	struct feed *feed;
	struct arena arena; /* of the reading thread */
	pthread_t reader, checker;
	bool started;

	pthread_mutex_t lock; /* over all below, but for the counts */
	pthread_cond_t news, stopping;
	struct topic **table; /* by session */
	size_t table_size, topic_count, watch_count;
	struct topic *dirty, **dirty_last;
	struct watch *oldest, *newest; /* in the order in which they were last checked */
	bool stop;

	_Atomic uint64_t watches, events, reads;
};

/* ---- sessions by their id ---- */

static size_t hash_of(const char *id)
{
	size_t h = 14695981039346656037u;

	for (; *id; id++)
		h = (h ^ (unsigned char)*id) * 1099511628211u;
	return h;
}

static struct topic **slot_of(struct hub *h, const char *session_id)
{
	struct topic **at = &h->table[hash_of(session_id) & (h->table_size - 1)];

	while (*at && strcmp((*at)->session_id, session_id) != 0)
		at = &(*at)->chain;
	return at;
}

static void *must_zero(size_t count, size_t size)
{
	void *p = calloc(count, size);

	if (!p)
		abort();
	return p;
}

static void widen(struct hub *h)
{
	struct topic **old = h->table;
	size_t size = h->table_size;

	h->table_size = size * 2;
	h->table = must_zero(h->table_size, sizeof *h->table);
	for (size_t i = 0; i < size; i++) {
		struct topic *t = old[i], *next;

		for (; t; t = next) {
			struct topic **at = &h->table[hash_of(t->session_id) & (h->table_size - 1)];

			next = t->chain;
			t->chain = *at;
			*at = t;
		}
	}
	free(old);
}

static struct topic *topic_of(struct hub *h, const char *tenant_id, const char *session_id)
{
	struct topic **at = slot_of(h, session_id), *t = *at;

	if (t)
		return t;
	if (h->topic_count >= h->table_size) {
		widen(h);
		at = slot_of(h, session_id);
	}
	t = *at = must_zero(1, sizeof *t);
	t->empty = true;
	snprintf(t->tenant_id, sizeof t->tenant_id, "%s", tenant_id);
	snprintf(t->session_id, sizeof t->session_id, "%s", session_id);
	h->topic_count++;
	return t;
}

/* Under the lock. */
static void mark(struct hub *h, struct topic *t)
{
	if (t->is_dirty || h->stop)
		return;
	t->is_dirty = true;
	t->dirty = NULL;
	if (!h->dirty)
		pthread_cond_signal(&h->news);
	*h->dirty_last = t;
	h->dirty_last = &t->dirty;
}

static void mark_all(struct hub *h)
{
	for (size_t i = 0; i < h->table_size; i++)
		for (struct topic *t = h->table[i]; t; t = t->chain)
			mark(h, t);
}

/* "<tenant_id> <session_id> <seq>", on a thread of the store's. */
static void on_notice(void *ctx, const char *text)
{
	struct hub *h = ctx;
	const char *session = text ? strchr(text, ' ') : NULL;
	char id[ID_LEN + 1];
	struct topic *t;

	feed_hear(h->feed, text);
	pthread_mutex_lock(&h->lock);
	if (!text) {
		mark_all(h);
	} else if (session) {
		snprintf(id, sizeof id, "%.*s", (int)strcspn(session + 1, " "), session + 1);
		t = *slot_of(h, id);
		if (t)
			mark(h, t);
	}
	pthread_mutex_unlock(&h->lock);
}

/* ---- watches ---- */

static void unlist(struct hub *h, struct watch *w)
{
	if (!w->listed)
		return;
	*(w->before ? &w->before->behind : &h->oldest) = w->behind;
	*(w->behind ? &w->behind->before : &h->newest) = w->before;
	w->listed = false;
}

static void list_last(struct hub *h, struct watch *w)
{
	w->before = h->newest;
	w->behind = NULL;
	*(h->newest ? &h->newest->behind : &h->oldest) = w;
	h->newest = w;
	w->listed = true;
}

static void release(struct watch *w)
{
	struct hub *h = w->hub;

	if (atomic_fetch_sub(&w->refs, 1) > 1)
		return;
	watch_end(w);
	atomic_fetch_sub(&h->watches, 1);
}

/* No longer its topic's. */
static void let_go(struct watch *w)
{
	struct hub *h = w->hub;

	pthread_mutex_lock(&h->lock);
	unlist(h, w);
	w->topic = NULL; /* which may go before the last who holds the watch */
	h->watch_count--;
	pthread_mutex_unlock(&h->lock);
	release(w);
}

int hub_watch(struct hub *h, const char *tenant_id, const char *session_id, int64_t after,
	const struct watcher *watcher, struct watch **ret)
{
	struct watch *w = must_zero(1, sizeof *w);
	int err = 0;

	w->hub = h;
	w->watcher = *watcher;
	w->at = after;
	w->checked_ms = clock_mono_ms();
	atomic_init(&w->spoke_ms, w->checked_ms);
	atomic_init(&w->refs, 1);
	pthread_mutex_lock(&h->lock);
	if (h->stop || !h->started)
		err = ERR_STOPPING;
	else if (h->watch_count >= HUB_WATCHES_MAX)
		err = ERR_BUSY;
	if (!err) {
		*ret = w; /* before anything can be handed on */
		w->topic = topic_of(h, tenant_id, session_id);
		w->next = w->topic->incoming;
		w->topic->incoming = w;
		h->watch_count++;
		if (w->watcher.check)
			list_last(h, w);
		atomic_fetch_add(&h->watches, 1);
		mark(h, w->topic);
	}
	pthread_mutex_unlock(&h->lock);
	if (err)
		free(w);
	return err;
}

static void touch(struct watch *w)
{
	pthread_mutex_lock(&w->hub->lock);
	if (w->topic)
		mark(w->hub, w->topic);
	pthread_mutex_unlock(&w->hub->lock);
}

void hub_resume(struct watch *w)
{
	atomic_store(&w->resumed, true);
	touch(w);
}

void hub_unwatch(struct watch *w)
{
	atomic_store(&w->ended, true);
	touch(w);
}

/* ---- the thread that reads ---- */

static void wait_ms(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t ms)
{
	struct timespec due;

	clock_gettime(CLOCK_MONOTONIC, &due);
	due.tv_sec += ms / 1000;
	due.tv_nsec += ms % 1000 * 1000000;
	if (due.tv_nsec >= 1000000000) {
		due.tv_sec++;
		due.tv_nsec -= 1000000000;
	}
	pthread_cond_timedwait(cond, lock, &due);
}

/* The list of those to look at, with the watches that have come; NULL when it is time to stop.  The first
 * event behind a pause is handed on at once; of a storm, all that came in the same few milliseconds. */
static struct topic *take_dirty(struct hub *h, int64_t last_ms)
{
	struct topic *list;
	int64_t rest;

	pthread_mutex_lock(&h->lock);
	while (!h->dirty && !h->stop)
		pthread_cond_wait(&h->news, &h->lock);
	while (!h->stop && (rest = last_ms + ROUND_MS - clock_mono_ms()) > 0)
		wait_ms(&h->stopping, &h->lock, rest);
	list = h->stop ? NULL : h->dirty;
	if (list) {
		h->dirty = NULL;
		h->dirty_last = &h->dirty;
	}
	for (struct topic *t = list; t; t = t->dirty) {
		t->is_dirty = false;
		t->turn = t->dirty;
		while (t->incoming) {
			struct watch *w = t->incoming;

			t->incoming = w->next;
			topic_join(t, w);
		}
	}
	pthread_mutex_unlock(&h->lock);
	return list;
}

/* Behind its turn: again later, or gone if nobody listens. */
static void settle(struct hub *h, struct topic *t, bool again)
{
	struct topic *idle = NULL;

	pthread_mutex_lock(&h->lock);
	if (again) {
		mark(h, t);
	} else if (!t->watches && !t->incoming && !t->is_dirty) {
		*slot_of(h, t->session_id) = t->chain;
		h->topic_count--;
		idle = t;
	}
	pthread_mutex_unlock(&h->lock);
	if (idle) {
		topic_clear(idle);
		free(idle);
	}
}

static int connect_to(struct hub *h, struct db **db, struct arena *a)
{
	struct problem p = { 0 };
	int err;

	if (*db)
		return 0;
	err = store_connect(h->store, db, a, &p);
	if (err)
		log_warn("events cannot be read for a moment", LOG_S("error", p.detail));
	arena_reset(a);
	return err;
}

/* A connection that failed is made anew. */
static void give_up(struct db **db)
{
	if (!*db)
		return;
	log_warn("events cannot be read for a moment", LOG_S("error", db_error(*db)));
	db_rollback(*db);
	db_close(*db);
	*db = NULL;
}

static void serve(struct hub *h, struct topic *list, struct db **db)
{
	struct hub_stats stats = { 0 };
	int err = connect_to(h, db, &h->arena);

	if (!err)
		err = db_begin(*db, READ_ONLY);
	while (list) {
		struct topic *t = list;
		bool again = true;

		list = t->turn;
		if (!err)
			err = topic_pump(t, *db, let_go, &stats, &again);
		settle(h, t, again || err);
	}
	if (!err)
		db_rollback(*db);
	else
		give_up(db);
	atomic_fetch_add_explicit(&h->events, stats.events, memory_order_relaxed);
	atomic_fetch_add_explicit(&h->reads, stats.reads, memory_order_relaxed);
	if (err) {
		pthread_mutex_lock(&h->lock);
		if (!h->stop)
			wait_ms(&h->stopping, &h->lock, RETRY_MS);
		pthread_mutex_unlock(&h->lock);
	}
}

static void *read_main(void *arg)
{
	struct hub *h = arg;
	struct db *db = NULL;
	struct topic *list;
	int64_t last_ms = 0;

	while ((list = take_dirty(h, last_ms))) {
		last_ms = clock_mono_ms();
		serve(h, list, &db);
	}
	db_close(db);
	arena_free(&h->arena);
	return NULL;
}

/* ---- the thread that checks ---- */

/* Those whose time has come, held so that they cannot go meanwhile. */
static size_t take_due(struct hub *h, struct watch **due)
{
	int64_t now = clock_mono_ms();
	size_t count = 0;

	while (count < CHECK_BATCH && h->oldest && h->oldest->checked_ms + HUB_CHECK_MS <= now) {
		struct watch *w = h->oldest;

		unlist(h, w);
		w->checked_ms = now;
		list_last(h, w);
		if (atomic_load(&w->ended))
			continue;
		atomic_fetch_add(&w->refs, 1);
		due[count++] = w;
	}
	return count;
}

static bool is_quiet(struct watch *w)
{
	int64_t now = clock_mono_ms(), spoke = atomic_load(&w->spoke_ms);

	if (now - spoke < HUB_QUIET_MS)
		return false;
	atomic_store(&w->spoke_ms, now);
	return true;
}

/* While the store is away nobody can be told from those who may no longer listen: they stay, and hear
 * nothing new either. */
static void check_all(
	struct hub *h, struct watch **due, size_t count, struct db **db, struct arena *a)
{
	int err = connect_to(h, db, a);

	if (!err && (err = db_begin(*db, READ_ONLY)))
		give_up(db);
	for (size_t i = 0; i < count; i++) {
		struct watch *w = due[i];

		bool stays = err || w->watcher.check(w->watcher.ctx, *db, a, is_quiet(w));

		if (!stays)
			hub_unwatch(w);
		arena_reset(a);
		release(w);
	}
	if (!err)
		db_rollback(*db);
}

static void *check_main(void *arg)
{
	struct hub *h = arg;
	struct watch *due[CHECK_BATCH];
	struct arena a = { 0 };
	struct db *db = NULL;

	pthread_mutex_lock(&h->lock);
	while (!h->stop) {
		size_t count = take_due(h, due);

		if (!count) {
			wait_ms(&h->stopping, &h->lock, CHECK_TURN_MS);
			continue;
		}
		pthread_mutex_unlock(&h->lock);
		check_all(h, due, count, &db, &a);
		pthread_mutex_lock(&h->lock);
	}
	pthread_mutex_unlock(&h->lock);
	db_close(db);
	arena_free(&a);
	return NULL;
}

/* ---- life ---- */

struct hub *hub_new(struct store *store)
{
	struct hub *h = must_zero(1, sizeof *h);
	pthread_condattr_t monotonic;

	h->store = store;
	h->feed = feed_new(store);
	h->table_size = TABLE_MIN;
	h->table = must_zero(h->table_size, sizeof *h->table);
	h->dirty_last = &h->dirty;
	pthread_mutex_init(&h->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&h->news, &monotonic);
	pthread_cond_init(&h->stopping, &monotonic);
	pthread_condattr_destroy(&monotonic);
	store_listen(store, "events", on_notice, h);
	return h;
}

int hub_start(struct hub *h)
{
	if (feed_start(h->feed))
		return ERR_INTERNAL;
	if (pthread_create(&h->reader, NULL, read_main, h))
		return ERR_INTERNAL;
	if (pthread_create(&h->checker, NULL, check_main, h)) {
		pthread_mutex_lock(&h->lock);
		h->stop = true;
		pthread_cond_broadcast(&h->news);
		pthread_mutex_unlock(&h->lock);
		pthread_join(h->reader, NULL);
		return ERR_INTERNAL;
	}
	pthread_mutex_lock(&h->lock);
	h->started = true;
	pthread_mutex_unlock(&h->lock);
	return 0;
}

/* Once the threads are gone. */
static void end_all(struct hub *h)
{
	for (size_t i = 0; i < h->table_size; i++) {
		while (h->table[i]) {
			struct topic *t = h->table[i];

			h->table[i] = t->chain;
			while (t->incoming) {
				struct watch *w = t->incoming;

				t->incoming = w->next;
				topic_join(t, w);
			}
			while (t->watches) {
				struct watch *w = t->watches;

				t->watches = w->next;
				let_go(w);
			}
			topic_clear(t);
			free(t);
		}
	}
}

void hub_stop(struct hub *h)
{
	bool running;

	if (!h)
		return;
	feed_stop(h->feed);
	pthread_mutex_lock(&h->lock);
	running = h->started && !h->stop;
	h->stop = true;
	pthread_cond_broadcast(&h->news);
	pthread_cond_broadcast(&h->stopping);
	pthread_mutex_unlock(&h->lock);
	if (!running)
		return;
	pthread_join(h->reader, NULL);
	pthread_join(h->checker, NULL);
	end_all(h);
}

void hub_free(struct hub *h)
{
	if (!h)
		return;
	hub_stop(h);
	feed_free(h->feed);
	pthread_mutex_destroy(&h->lock);
	pthread_cond_destroy(&h->news);
	pthread_cond_destroy(&h->stopping);
	free(h->table);
	free(h);
}

void hub_check_now(struct hub *h)
{
	feed_check_now(h->feed);
	pthread_mutex_lock(&h->lock);
	for (struct watch *w = h->oldest; w; w = w->behind)
		w->checked_ms = INT64_MIN / 2;
	pthread_cond_broadcast(&h->stopping);
	pthread_mutex_unlock(&h->lock);
}

struct feed *hub_feed(struct hub *h)
{
	return h->feed;
}

struct hub_stats hub_stats(const struct hub *h)
{
	return (struct hub_stats){ atomic_load(&h->watches),
		atomic_load_explicit(&h->events, memory_order_relaxed),
		atomic_load_explicit(&h->reads, memory_order_relaxed) };
}
