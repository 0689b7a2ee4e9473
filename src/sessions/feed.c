/* feed.c - the thread behind feed.h.
 *
 * It sleeps until something happens in a tenant that somebody follows, then
 * takes all who follow it through a turn, in one read transaction, and rests
 * until a tenth of a second has passed.  One who is behind, or whose peer
 * is, costs the others nothing but that turn. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "call/feed_number.h"
#include "sessions/feed_turn.h"

enum { TABLE = 1024, IDLE_MS = 500, RETRY_MS = 500, TEXT_MAX = 32 << 20 };

/* A tenant that somebody follows. */
struct followed {
	struct followed *chain;
	size_t refs;
	bool dirty; /* under the lock */
	bool look;  /* the thread's: this turn */
	char id[ID_LEN + 1];
};

struct feed_watch {
	struct feed_watch *next;
	struct feed *feed;
	struct feed_watcher watcher;
	struct feed_place place;
	int64_t until;	    /* a number it ends behind; NIL: none; 0: not known yet */
	int64_t need;	    /* a number it must come to */
	int64_t checked_ms; /* NIL: never */
	int64_t spoke_ms;
	bool paused;
	_Atomic bool resumed, ended;
	struct followed *tenants[FEED_TENANTS_MAX]; /* sorted */
	size_t tenant_count;
};

struct feed {
	struct store *store;
	struct db *db;
	struct arena arena;
	struct buf text;
	pthread_t thread;
	bool running;
	struct feed_watch *watches; /* the thread's */

	pthread_mutex_t lock; /* over all below */
	pthread_cond_t news, hurry;
	struct followed *table[TABLE];
	struct feed_watch *incoming;
	size_t watch_count;
	bool dirty, check, stop;
};

static void *must_zero(size_t size)
{
	void *p = calloc(1, size);

	if (!p)
		abort();
	return p;
}

/* ---- tenants that are followed; under the lock ---- */

static struct followed **slot_of(struct feed *f, const char *id)
{
	size_t h = 5381;
	struct followed **at;

	for (const char *p = id; *p; p++)
		h = h * 33 ^ (unsigned char)*p;
	at = &f->table[h % TABLE];
	while (*at && strcmp((*at)->id, id) != 0)
		at = &(*at)->chain;
	return at;
}

static struct followed *follow(struct feed *f, const char *id)
{
	struct followed **at = slot_of(f, id);

	if (!*at) {
		*at = must_zero(sizeof **at);
		snprintf((*at)->id, sizeof(*at)->id, "%s", id);
	}
	(*at)->refs++;
	return *at;
}

static void unfollow(struct feed *f, struct followed *t)
{
	if (--t->refs)
		return;
	*slot_of(f, t->id) = t->chain;
	free(t);
}

static void wake(struct feed *f)
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
		for (size_t i = 0; i < TABLE; i++)
			for (t = f->table[i]; t; t = t->chain)
				t->dirty = true;
		wake(f);
	} else {
		snprintf(id, sizeof id, "%.*s", (int)strcspn(text, " "), text);
		t = *slot_of(f, id);
		if (t) {
			t->dirty = true;
			wake(f);
		}
	}
	pthread_mutex_unlock(&f->lock);
}

void feed_check_now(struct feed *f)
{
	pthread_mutex_lock(&f->lock);
	f->check = true;
	wake(f);
	pthread_mutex_unlock(&f->lock);
}

/* ---- watches ---- */

int feed_watch(struct feed *f, const struct feed_place *from, bool now,
	const struct feed_watcher *watcher, struct feed_watch **ret)
{
	struct feed_watch *w = must_zero(sizeof *w);
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
		wake(f);
		pthread_cond_signal(&f->hurry);
	}
	pthread_mutex_unlock(&f->lock);
	if (err)
		free(w);
	return err;
}

static void touch(struct feed *f)
{
	pthread_mutex_lock(&f->lock);
	wake(f);
	pthread_mutex_unlock(&f->lock);
}

void feed_resume(struct feed_watch *w)
{
	atomic_store(&w->resumed, true);
	touch(w->feed);
}

void feed_unwatch(struct feed_watch *w)
{
	atomic_store(&w->ended, true);
	touch(w->feed);
}

static void let_go(struct feed *f, struct feed_watch *w)
{
	pthread_mutex_lock(&f->lock);
	for (size_t i = 0; i < w->tenant_count; i++)
		unfollow(f, w->tenants[i]);
	f->watch_count--;
	pthread_mutex_unlock(&f->lock);
	w->watcher.gone(w->watcher.ctx);
	free(w);
}

/* ---- a turn ---- */

/* Which tenants, and may they still? */
static bool check(struct feed *f, struct feed_watch *w)
{
	struct followed *before[FEED_TENANTS_MAX];
	size_t count = w->tenant_count;
	struct list tenants = { 0 };
	bool good = w->watcher.check(w->watcher.ctx, f->db, &f->arena, &tenants);

	w->checked_ms = clock_mono_ms();
	if (!good)
		return false;
	memcpy(before, w->tenants, count * sizeof *before);
	pthread_mutex_lock(&f->lock);
	w->tenant_count = 0;
	for (size_t i = 0; i < tenants.count && i < FEED_TENANTS_MAX; i++)
		w->tenants[w->tenant_count++] = follow(f, ((const char *const *)tenants.at)[i]);
	for (size_t i = 0; i < count; i++)
		unfollow(f, before[i]);
	pthread_mutex_unlock(&f->lock);
	return true;
}

static void put_place(struct buf *b, const struct feed_place *p)
{
	buf_lit(b, "id: ");
	feed_place_write(p, b);
	buf_lit(b, "\n\n");
}

/* Where it stands at first: an id without an event moves the reader's place and shows nothing. */
static void settle_place(struct feed *f, struct feed_watch *w, int64_t horizon, int64_t started)
{
	struct feed_place *p = &w->place;

	if (p->base != NIL && (p->base > horizon || (p->bound != NIL && p->bound > horizon))) {
		/* Of another history: a store that was put back. */
		buf_lit(&f->text, "event: reset\ndata: {}\n\n");
		p->base = NIL;
	}
	if (p->base == NIL) {
		*p = (struct feed_place){ .base = horizon, .bound = NIL };
		put_place(&f->text, p);
	}
	if (w->until == 0)
		w->until = started;
}

static int turn_of(struct feed *f, struct feed_watch *w, int64_t horizon, int64_t started)
{
	const char *tenants[FEED_TENANTS_MAX];
	struct feed_turn turn = { .db = f->db,
		.arena = &f->arena,
		.horizon = horizon,
		.watcher = &w->watcher,
		.tenants = tenants,
		.tenant_count = w->tenant_count,
		.place = &w->place,
		.text = &f->text };
	struct feed_place before = w->place;
	enum hub_verdict verdict = HUB_GO_ON;
	int err;

	f->text.len = 0;
	f->text.overflow = false;
	settle_place(f, w, horizon, started);
	for (size_t i = 0; i < w->tenant_count; i++)
		tenants[i] = w->tenants[i]->id;
	err = feed_turn_run(&turn);
	if (err || f->text.overflow) {
		w->place = before;
		return err ? err : ERR_INTERNAL;
	}
	if (!f->text.len && clock_mono_ms() - w->spoke_ms >= HUB_QUIET_MS)
		put_place(&f->text, &w->place);
	if (f->text.len) {
		verdict = w->watcher.take(w->watcher.ctx, f->text.at, f->text.len);
		w->spoke_ms = clock_mono_ms();
	}
	w->paused = verdict == HUB_PAUSE;
	if (verdict == HUB_END ||
		(w->until != NIL && w->place.bound == NIL && w->place.base >= w->until))
		atomic_store(&w->ended, true);
	return 0;
}

static bool is_behind(const struct feed_watch *w)
{
	return w->place.bound != NIL || w->place.base < w->need || w->place.base == NIL;
}

/* Whoever has something to hear, or must be asked whether they may. */
static int visit(
	struct feed *f, struct feed_watch *w, int64_t horizon, int64_t started, bool *ret_again)
{
	int64_t now = clock_mono_ms();
	int err = 0;

	if (atomic_exchange(&w->resumed, false))
		w->paused = false;
	for (size_t i = 0; i < w->tenant_count; i++)
		if (w->tenants[i]->look)
			w->need = started;
	if (w->checked_ms == NIL || now - w->checked_ms >= HUB_CHECK_MS) {
		if (w->checked_ms == NIL)
			w->need = started;
		if (!check(f, w))
			atomic_store(&w->ended, true);
	}
	if (!w->paused && !atomic_load(&w->ended) &&
		(is_behind(w) || now - w->spoke_ms >= HUB_QUIET_MS))
		err = turn_of(f, w, horizon, started);
	*ret_again = *ret_again || (!w->paused && !atomic_load(&w->ended) && is_behind(w));
	arena_reset(&f->arena);
	return err;
}

static void drop_ended(struct feed *f)
{
	struct feed_watch **at = &f->watches;

	while (*at) {
		struct feed_watch *w = *at;

		if (!atomic_load(&w->ended)) {
			at = &w->next;
			continue;
		}
		*at = w->next;
		let_go(f, w);
	}
}

static int connect_to(struct feed *f)
{
	struct problem p = { 0 };
	int err = f->db ? 0 : store_connect(f->store, &f->db, &f->arena, &p);

	if (err)
		log_warn("the feed cannot be read for a moment", LOG_S("error", p.detail));
	arena_reset(&f->arena);
	return err;
}

static int run_turn(struct feed *f, bool all, bool *ret_again)
{
	int64_t horizon = 0, started = 0;
	int err = connect_to(f);

	*ret_again = false;
	if (err)
		return err;
	err = db_begin(f->db, READ_ONLY);
	if (!err)
		err = feed_horizon(f->db, &f->arena, &horizon, &started);
	for (struct feed_watch *w = f->watches; w && !err; w = w->next)
		if (all || w->checked_ms == NIL)
			err = visit(f, w, horizon, started, ret_again);
	if (err)
		log_warn("the feed cannot be read for a moment", LOG_S("error", db_error(f->db)));
	db_rollback(f->db);
	if (err) {
		db_close(f->db);
		f->db = NULL;
	}
	drop_ended(f);
	return err;
}

/* ---- the thread ---- */

static void wait_ms(struct feed *f, pthread_cond_t *cond, int64_t ms)
{
	struct timespec due;

	clock_gettime(CLOCK_MONOTONIC, &due);
	due.tv_sec += ms / 1000;
	due.tv_nsec += ms % 1000 * 1000000;
	if (due.tv_nsec >= 1000000000) {
		due.tv_sec++;
		due.tv_nsec -= 1000000000;
	}
	pthread_cond_timedwait(cond, &f->lock, &due);
}

/* Until there is something to do; false when it is time to stop.  Between two turns a tenth of a second
 * passes, but whoever is new is not kept waiting: *ret_all is false if it is for them alone. */
static bool await(struct feed *f, int64_t last_ms, bool again, bool *ret_all)
{
	int64_t rest;
	bool stop;

	pthread_mutex_lock(&f->lock);
	if (!f->dirty && !again && !f->stop) {
		if (f->watches)
			wait_ms(f, &f->news, IDLE_MS);
		else
			pthread_cond_wait(&f->news, &f->lock);
	}
	while (!f->stop && !f->incoming && (rest = last_ms + FEED_TURN_MS - clock_mono_ms()) > 0)
		wait_ms(f, &f->hurry, rest);
	*ret_all = last_ms + FEED_TURN_MS <= clock_mono_ms();
	if (*ret_all)
		f->dirty = false;
	for (size_t i = 0; i < TABLE && *ret_all; i++) {
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

	while (await(f, last_ms, again, &all)) {
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
			wait_ms(f, &f->hurry, RETRY_MS);
		pthread_mutex_unlock(&f->lock);
	}
	return NULL;
}

/* ---- life ---- */

struct feed *feed_new(struct store *store)
{
	struct feed *f = must_zero(sizeof *f);
	pthread_condattr_t monotonic;

	f->store = store;
	buf_init(&f->text, TEXT_MAX);
	pthread_mutex_init(&f->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&f->news, &monotonic);
	pthread_cond_init(&f->hurry, &monotonic);
	pthread_condattr_destroy(&monotonic);
	return f;
}

int feed_start(struct feed *f)
{
	int err;

	pthread_mutex_lock(&f->lock);
	err = pthread_create(&f->thread, NULL, feed_main, f) ? ERR_INTERNAL : 0;
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
		let_go(f, w);
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
