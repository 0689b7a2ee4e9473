/* hub.c - who listens to which session, and the thread that reads for them; see hub.h.
 *
 * Whoever has news for the thread (a notice, a new watch, one that has room
 * again) puts the session on a list; it takes the whole list and serves it in
 * one read transaction, so that the busier it is the less an event costs.  It
 * never waits for a listener. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/thread.h"
#include "events/feed.h"
#include "events/hub_parts.h"
#include "events/reading.h"

enum {
	ROUND_MS = 10,	/* between two rounds: what happens meanwhile goes together */
	RETRY_MS = 500, /* after an error of the store */
};

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
		hub_mark_all(h);
	} else if (session) {
		snprintf(id, sizeof id, "%.*s", (int)strcspn(session + 1, " "), session + 1);
		t = *hub_topic_slot(h, id);
		if (t)
			hub_mark(h, t);
	}
	pthread_mutex_unlock(&h->lock);
}

/* ---- watches ---- */

/* No longer its topic's. */
static void detach_watch(struct watch *w)
{
	struct hub *h = w->hub;

	pthread_mutex_lock(&h->lock);
	hub_unlist(h, w);
	w->topic = NULL; /* which may go before the last who holds the watch */
	h->watch_count--;
	pthread_mutex_unlock(&h->lock);
	hub_release(w);
}

int hub_watch(struct hub *h, const char *tenant_id, const char *session_id, int64_t after,
	const struct watcher *watcher, struct watch **ret)
{
	struct watch *w = memory_zeroed(sizeof *w);
	int err = 0;

	w->hub = h;
	w->watcher = *watcher;
	w->at = after;
	w->checked_ms = clock_mono_ms();
	atomic_init(&w->refs, 1);
	pthread_mutex_lock(&h->lock);
	if (h->stop || !h->started)
		err = ERR_STOPPING;
	else if (h->watch_count >= HUB_WATCHES_MAX)
		err = ERR_BUSY;
	if (!err) {
		*ret = w; /* before anything can be handed on */
		w->topic = hub_topic(h, tenant_id, session_id);
		w->next = w->topic->incoming;
		w->topic->incoming = w;
		h->watch_count++;
		if (w->watcher.check)
			hub_list_last(h, w);
		atomic_fetch_add(&h->watches, 1);
		hub_mark(h, w->topic);
	}
	pthread_mutex_unlock(&h->lock);
	if (err)
		free(w);
	return err;
}

/* ---- the thread that reads ---- */

/* The list of those to look at, with the watches that have come; NULL when it is time to stop.  The first
 * event after a pause is handed on at once; of a storm, all that came in the same few milliseconds. */
static struct topic *take_dirty(struct hub *h, int64_t last_ms)
{
	struct topic *list;
	int64_t rest;

	pthread_mutex_lock(&h->lock);
	while (!h->dirty && !h->stop)
		pthread_cond_wait(&h->news, &h->lock);
	while (!h->stop && (rest = last_ms + ROUND_MS - clock_mono_ms()) > 0)
		thread_wait_ms(&h->stopping, &h->lock, rest);
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

/* After its turn: again later, or gone if nobody listens. */
static void settle_topic(struct hub *h, struct topic *t, bool again)
{
	struct topic *idle = NULL;

	pthread_mutex_lock(&h->lock);
	if (again) {
		hub_mark(h, t);
	} else if (!t->watches && !t->incoming && !t->is_dirty) {
		*hub_topic_slot(h, t->session_id) = t->chain;
		INVARIANT(h->topic_count > 0);
		h->topic_count--;
		idle = t;
	}
	pthread_mutex_unlock(&h->lock);
	if (idle) {
		topic_clear(idle);
		free(idle);
	}
}

static void serve_topics(struct hub *h, struct topic *list, struct db **db)
{
	struct hub_stats stats = { 0 };
	int err = events_connect(h->store, db, &h->arena);

	if (!err)
		err = db_begin(*db, READ_ONLY);
	while (list) {
		struct topic *t = list;
		bool again = true;

		list = t->turn;
		if (!err)
			err = topic_pump(t, *db, detach_watch, &stats, &again);
		settle_topic(h, t, again || err);
	}
	if (!err)
		db_rollback(*db);
	else
		events_give_up(h->store, db);
	atomic_fetch_add_explicit(&h->events, stats.events, memory_order_relaxed);
	atomic_fetch_add_explicit(&h->reads, stats.reads, memory_order_relaxed);
	if (err) {
		pthread_mutex_lock(&h->lock);
		if (!h->stop)
			thread_wait_ms(&h->stopping, &h->lock, RETRY_MS);
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
		serve_topics(h, list, &db);
	}
	db_close(db);
	arena_free(&h->arena);
	return NULL;
}

/* ---- life ---- */

struct hub *hub_new(struct store *store)
{
	struct hub *h = memory_zeroed(sizeof *h);
	h->store = store;
	h->feed = feed_new(store);
	hub_topics_open(h);
	pthread_mutex_init(&h->lock, NULL);
	thread_cond_init(&h->news);
	thread_cond_init(&h->stopping);
	store_listen(store, "events", on_notice, h);
	return h;
}

int hub_start(struct hub *h)
{
	if (feed_start(h->feed))
		return ERR_INTERNAL;
	if (thread_start(&h->reader, read_main, h))
		return ERR_INTERNAL;
	if (thread_start(&h->checker, hub_check_main, h)) {
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
				detach_watch(w);
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
