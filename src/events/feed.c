/* feed.c - the thread behind feed.h.
 *
 * It sleeps until something happens in a tenant that somebody follows, then
 * takes all who follow it through a turn, in one read transaction, and rests
 * until a tenth of a second has passed.  One who is behind, or whose peer
 * is, costs the others nothing but that turn. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/thread.h"
#include "events/feed_number.h"
#include "events/feed_parts.h"
#include "events/reading.h"

enum { IDLE_MS = 500, RETRY_MS = 500, TEXT_MAX = 32 << 20 };

/* ---- news ---- */

/* Under the lock. */
static void wake_feed(struct feed *f)
{
	if (!f->dirty)
		pthread_cond_signal(&f->news);
	f->dirty = true;
}

void feed_hear(struct feed *f, const char *text)
{
	char id[ID_LEN + 1];
	struct followed *t;

	pthread_mutex_lock(&f->lock);
	if (!text) {
		for (size_t i = 0; i < FEED_TABLE; i++)
			for (t = f->table[i]; t; t = t->chain)
				t->dirty = true;
		wake_feed(f);
	} else {
		snprintf(id, sizeof id, "%.*s", (int)strcspn(text, " "), text);
		t = *feed_tenant_slot(f, id);
		if (t) {
			t->dirty = true;
			wake_feed(f);
		}
	}
	pthread_mutex_unlock(&f->lock);
}

void feed_check_now(struct feed *f)
{
	pthread_mutex_lock(&f->lock);
	f->check = true;
	wake_feed(f);
	pthread_mutex_unlock(&f->lock);
}

/* ---- watches ---- */

int feed_watch(struct feed *f, const struct feed_cursor *from, bool now,
	const struct feed_watcher *watcher, struct feed_watch **ret)
{
	struct feed_watch *w = memory_zeroed(sizeof *w);
	int err = 0;

	w->feed = f;
	w->watcher = *watcher;
	w->place = *from;
	w->until = now ? 0 : NIL;
	w->checked_ms = NIL;
	w->spoke_ms = clock_mono_ms();
	pthread_mutex_lock(&f->lock);
	if (f->stop || !f->running)
		err = ERR_STOPPING;
	else if (f->watch_count >= FEED_WATCHES_MAX)
		err = ERR_BUSY;
	if (!err) {
		*ret = w; /* before anything can be handed on */
		w->next = f->incoming;
		f->incoming = w;
		f->watch_count++;
		wake_feed(f);
		pthread_cond_signal(&f->hurry);
	}
	pthread_mutex_unlock(&f->lock);
	if (err)
		free(w);
	return err;
}

static void touch_feed(struct feed *f)
{
	pthread_mutex_lock(&f->lock);
	wake_feed(f);
	pthread_mutex_unlock(&f->lock);
}

void feed_resume(struct feed_watch *w)
{
	atomic_store(&w->resumed, true);
	touch_feed(w->feed);
}

void feed_unwatch(struct feed_watch *w)
{
	atomic_store(&w->ended, true);
	touch_feed(w->feed);
}

static void free_feed_watch(struct feed *f, struct feed_watch *w)
{
	pthread_mutex_lock(&f->lock);
	for (size_t i = 0; i < w->tenant_count; i++)
		feed_unfollow(f, w->tenants[i]);
	INVARIANT(f->watch_count > 0);
	f->watch_count--;
	pthread_mutex_unlock(&f->lock);
	w->watcher.gone(w->watcher.ctx);
	free(w);
}

static void drop_ended_feed_watches(struct feed *f)
{
	struct feed_watch **at = &f->watches;

	while (*at) {
		struct feed_watch *w = *at;

		if (!atomic_load(&w->ended)) {
			at = &w->next;
			continue;
		}
		*at = w->next;
		free_feed_watch(f, w);
	}
}

static int run_turn(struct feed *f, bool all, bool *ret_again)
{
	struct feed_span span = { 0 };
	int err = events_connect(f->store, &f->db, &f->arena);

	*ret_again = false;
	if (err)
		return err;
	err = db_begin(f->db, READ_ONLY);
	if (!err)
		err = feed_horizon(f->db, &f->arena, &span.horizon, &span.started);
	for (struct feed_watch *w = f->watches; w && !err; w = w->next)
		if (all || w->checked_ms == NIL)
			err = feed_visit(f, w, &span, ret_again);
	if (err)
		events_give_up(f->store, &f->db);
	else
		db_rollback(f->db);
	drop_ended_feed_watches(f);
	return err;
}

/* ---- the thread ---- */

/* Until there is something to do; false when it is time to stop.  Between two turns a tenth of a second
 * passes, but whoever is new is not kept waiting: *ret_all is false if it is for them alone. */
static bool await_turn(struct feed *f, int64_t last_ms, bool again, bool *ret_all)
{
	int64_t rest;
	bool stop;

	pthread_mutex_lock(&f->lock);
	if (!f->dirty && !again && !f->stop) {
		if (f->watches)
			thread_wait_ms(&f->news, &f->lock, IDLE_MS);
		else
			pthread_cond_wait(&f->news, &f->lock);
	}
	while (!f->stop && !f->incoming && (rest = last_ms + FEED_BATCH_MS - clock_mono_ms()) > 0)
		thread_wait_ms(&f->hurry, &f->lock, rest);
	*ret_all = last_ms + FEED_BATCH_MS <= clock_mono_ms();
	if (*ret_all)
		f->dirty = false;
	for (size_t i = 0; i < FEED_TABLE && *ret_all; i++) {
		for (struct followed *t = f->table[i]; t; t = t->chain) {
			t->look = t->dirty;
			t->dirty = false;
		}
	}
	for (struct feed_watch *w = f->watches; w && f->check && *ret_all; w = w->next)
		w->checked_ms = w->checked_ms == NIL ? NIL : 0;
	f->check = f->check && !*ret_all;
	while (f->incoming) {
		struct feed_watch *w = f->incoming;

		f->incoming = w->next;
		w->next = f->watches;
		f->watches = w;
	}
	stop = f->stop;
	pthread_mutex_unlock(&f->lock);
	return !stop;
}

static void *feed_main(void *arg)
{
	struct feed *f = arg;
	int64_t last_ms = 0;
	bool again = false, all, err;

	while (await_turn(f, last_ms, again, &all)) {
		if (all)
			last_ms = clock_mono_ms();
		err = run_turn(f, all, &again) != 0;
		again = again || !all;
		if (!err)
			continue;
		/* What was to be looked at is to be looked at still. */
		feed_hear(f, NULL);
		pthread_mutex_lock(&f->lock);
		if (!f->stop)
			thread_wait_ms(&f->hurry, &f->lock, RETRY_MS);
		pthread_mutex_unlock(&f->lock);
	}
	return NULL;
}

/* ---- life ---- */

struct feed *feed_new(struct store *store)
{
	struct feed *f = memory_zeroed(sizeof *f);
	f->store = store;
	buf_init(&f->text, TEXT_MAX);
	pthread_mutex_init(&f->lock, NULL);
	thread_cond_init(&f->news);
	thread_cond_init(&f->hurry);
	return f;
}

int feed_start(struct feed *f)
{
	int err;

	pthread_mutex_lock(&f->lock);
	err = thread_start(&f->thread, feed_main, f) ? ERR_INTERNAL : 0;
	f->running = !err;
	pthread_mutex_unlock(&f->lock);
	return err;
}

void feed_stop(struct feed *f)
{
	bool running;

	pthread_mutex_lock(&f->lock);
	running = f->running && !f->stop;
	f->stop = true;
	pthread_cond_broadcast(&f->news);
	pthread_cond_broadcast(&f->hurry);
	pthread_mutex_unlock(&f->lock);
	if (!running)
		return;
	pthread_join(f->thread, NULL);
	while (f->watches || f->incoming) {
		struct feed_watch **at = f->watches ? &f->watches : &f->incoming, *w = *at;

		*at = w->next;
		free_feed_watch(f, w);
	}
	db_close(f->db);
	arena_free(&f->arena);
}

void feed_free(struct feed *f)
{
	buf_free(&f->text);
	pthread_mutex_destroy(&f->lock);
	pthread_cond_destroy(&f->news);
	pthread_cond_destroy(&f->hurry);
	free(f);
}
