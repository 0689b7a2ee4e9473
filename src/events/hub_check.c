/* hub_check.c - the thread that asks each watch every few seconds whether it may go on.
 *
 * Watches stand in the order in which they were last asked.  Those whose time
 * has come are asked in one read transaction, outside the lock; each is held
 * meanwhile, so that it cannot go. */
#include "base/clock.h"
#include "base/thread.h"
#include "events/feed.h"
#include "events/hub_parts.h"
#include "events/reading.h"

enum { CHECK_BATCH = 64 /* watches in one read transaction */, CHECK_TURN_MS = 100 };

void hub_unlist(struct hub *h, struct watch *w)
{
	if (!w->listed)
		return;
	*(w->before ? &w->before->newer : &h->oldest) = w->newer;
	*(w->newer ? &w->newer->before : &h->newest) = w->before;
	w->listed = false;
}

void hub_list_last(struct hub *h, struct watch *w)
{
	w->before = h->newest;
	w->newer = NULL;
	*(h->newest ? &h->newest->newer : &h->oldest) = w;
	h->newest = w;
	w->listed = true;
}

void hub_release(struct watch *w)
{
	struct hub *h = w->hub;

	if (atomic_fetch_sub(&w->refs, 1) > 1)
		return;
	watch_end(w);
	atomic_fetch_sub(&h->watches, 1);
}

/* Those whose time has come, held so that they cannot go meanwhile. */
static size_t take_due(struct hub *h, struct watch **due)
{
	int64_t now = clock_mono_ms();
	size_t count = 0;

	while (count < CHECK_BATCH && h->oldest && h->oldest->checked_ms + HUB_CHECK_MS <= now) {
		struct watch *w = h->oldest;

		hub_unlist(h, w);
		w->checked_ms = now;
		hub_list_last(h, w);
		if (atomic_load(&w->ended))
			continue;
		atomic_fetch_add(&w->refs, 1);
		due[count++] = w;
	}
	return count;
}

/* While the store is away nobody can be told from those who may no longer listen: they stay, and hear
 * nothing new either. */
static void check_all(
	struct hub *h, struct watch **due, size_t count, struct db **db, struct arena *a)
{
	int err = events_connect(h->store, db, a);

	if (!err && (err = db_begin(*db, READ_ONLY)))
		events_give_up(h->store, db);
	for (size_t i = 0; i < count; i++) {
		struct watch *w = due[i];

		bool stays = err || w->watcher.check(w->watcher.ctx, *db, a);

		if (!stays)
			hub_unwatch(w);
		arena_reset(a);
		hub_release(w);
	}
	if (!err)
		db_rollback(*db);
}

void *hub_check_main(void *hub)
{
	struct hub *h = hub;
	struct watch *due[CHECK_BATCH];
	struct arena a = { 0 };
	struct db *db = NULL;

	pthread_mutex_lock(&h->lock);
	while (!h->stop) {
		size_t count = take_due(h, due);

		if (!count) {
			thread_wait_ms(&h->stopping, &h->lock, CHECK_TURN_MS);
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

void hub_check_now(struct hub *h)
{
	feed_check_now(h->feed);
	pthread_mutex_lock(&h->lock);
	for (struct watch *w = h->oldest; w; w = w->newer)
		w->checked_ms = INT64_MIN / 2;
	pthread_cond_broadcast(&h->stopping);
	pthread_mutex_unlock(&h->lock);
}
