/* pool.c - see pool.h.  All of a pool is under its lock, which nobody holds while work runs. */
#include "store/pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/memory.h"
#include "base/thread.h"

struct works {
	struct work *first, **last;
	size_t count;
};

/* What one owner has waiting and running; one without either is not there. */
struct pool_lane {
	struct pool_lane *next;
	struct works waiting;
	size_t running;
	char owner[ID_LEN + 1];
};

struct pool {
	struct pool_settings set;
	pthread_mutex_t lock;
	pthread_cond_t more, gone;
	struct pool_lane *lanes; /* the first has the next turn */
	struct works withdrawn;	 /* from a lane, to be ended before the others have a turn */
	struct works running;
	size_t waiting; /* in lanes */
	size_t threads, idle, leaving;
	uint64_t begun;
	_Atomic bool stopping;
};

static __thread struct db *own; /* of a thread that has read */

struct db *pool_db(struct store *s)
{
	struct arena scratch = { 0 };
	struct problem p = { 0 };

	if (!own && store_connect(s, &own, &scratch, &p))
		store_complain(s, "the store cannot be read", p.detail);
	arena_free(&scratch);
	return own;
}

int pool_read(struct store *s, struct work *w, int (*run)(struct work *w, struct db *db))
{
	struct db *db = pool_db(s);

	w->run = run;
	return db ? store_read_here(s, db, w) : ERR_STORE;
}

static void let_view_go(void)
{
	if (own)
		store_rest(own);
}

/* ---- lists; all with the lock held ---- */

static void works_add(struct works *l, struct work *w)
{
	INVARIANT(!l->first == !l->count);
	if (!l->first)
		l->last = &l->first;
	w->next = NULL;
	*l->last = w;
	l->last = &w->next;
	l->count++;
}

static void works_remove(struct works *l, struct work *w)
{
	struct work **at = &l->first;

	INVARIANT(l->count > 0);
	while (*at != w) {
		INVARIANT(*at); /* it is in this list */
		at = &(*at)->next;
	}
	*at = w->next;
	if (!w->next)
		l->last = at;
	l->count--;
}

/* The owner's lane, made if there is none; NULL if there is no memory for it. */
static struct pool_lane *lane_of(struct pool *p, const char *owner)
{
	struct pool_lane **at = &p->lanes;

	while (*at && strncmp((*at)->owner, owner, ID_LEN) != 0)
		at = &(*at)->next;
	if (!*at && (*at = memory_try(sizeof **at))) {
		**at = (struct pool_lane){ 0 };
		memcpy((*at)->owner, owner, strnlen(owner, ID_LEN));
	}
	return *at;
}

static struct pool_lane **place_of(struct pool *p, const struct pool_lane *lane)
{
	struct pool_lane **at = &p->lanes;

	while (*at != lane) {
		INVARIANT(*at); /* it is in this pool */
		at = &(*at)->next;
	}
	return at;
}

static void stand_last(struct pool *p, struct pool_lane *lane)
{
	struct pool_lane **at = place_of(p, lane);

	*at = lane->next;
	lane->next = NULL;
	while (*at)
		at = &(*at)->next;
	*at = lane;
}

/* If there is nothing to it any more. */
static void lane_let_go(struct pool *p, struct pool_lane *lane)
{
	if (lane->running || lane->waiting.count)
		return;
	*place_of(p, lane) = lane->next;
	free(lane);
}

static void leave_lane(struct pool *p, struct work *w)
{
	works_remove(&w->lane->waiting, w);
	w->waiting = false;
	INVARIANT(p->waiting > 0);
	p->waiting--;
}

static bool has_turn(const struct pool *p, const struct pool_lane *lane)
{
	size_t left = p->set.threads_left;
	size_t each = p->set.threads > left ? p->set.threads - left : 1;

	return lane->waiting.count && lane->running < each;
}

/* What runs next, or NULL if nothing may.  Its lane has had its turn, and stands last. */
static struct work *pool_take(struct pool *p)
{
	struct work *w = p->withdrawn.first;
	struct pool_lane *lane = p->lanes;

	if (w) {
		works_remove(&p->withdrawn, w);
	} else {
		while (lane && !has_turn(p, lane))
			lane = lane->next;
		if (!lane)
			return NULL;
		w = lane->waiting.first;
		leave_lane(p, w);
		lane->running++;
		stand_last(p, lane);
	}
	works_add(&p->running, w);
	p->begun++;
	return w;
}

/* ---- threads ---- */

/* With the lock, which it lets go: the work is its owner's again once done() is called. */
static void run_one(struct pool *p, struct work *w)
{
	struct pool_lane *lane = w->lane;
	int err;

	pthread_mutex_unlock(&p->lock);
	err = w->run(w, NULL);
	pthread_mutex_lock(&p->lock);
	works_remove(&p->running, w);
	pthread_mutex_unlock(&p->lock);
	w->done(w, err);
	if (!p->set.keeps_view)
		let_view_go();
	pthread_mutex_lock(&p->lock);
	INVARIANT(lane->running > 0);
	lane->running--;
	lane_let_go(p, lane);
}

/* False if nothing came for a while, and nothing needs looking after. */
static bool await_more(struct pool *p)
{
	struct timespec until;
	bool stays = false;
	int err;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += p->set.idle_s;
	p->idle++;
	err = p->threads <= p->set.threads_kept
		      ? pthread_cond_wait(&p->more, &p->lock)
		      : pthread_cond_timedwait(&p->more, &p->lock, &until);
	INVARIANT(p->idle > 0 && p->idle <= p->threads);
	p->idle--;
	if (err != ETIMEDOUT)
		return true;
	pthread_mutex_unlock(&p->lock);
	if (p->set.idle)
		stays = p->set.idle(p->set.ctx, &p->stopping);
	pthread_mutex_lock(&p->lock);
	return p->waiting || p->withdrawn.count || (stays && p->threads == 1);
}

/* When it stops, what a lane with its share running has waiting is left to those who run that. */
static void *pool_main(void *arg)
{
	struct pool *p = arg;
	bool on = true;

	pthread_mutex_lock(&p->lock);
	while (on) {
		struct work *w = pool_take(p);

		if (w) {
			run_one(p, w);
			continue;
		}
		let_view_go();
		on = !p->stopping && p->threads <= p->set.threads && await_more(p);
	}
	INVARIANT(p->threads > 0);
	p->threads--; /* who comes now needs another one */
	p->leaving++;
	pthread_mutex_unlock(&p->lock);
	db_close(own);
	pthread_mutex_lock(&p->lock);
	INVARIANT(p->leaving > 0);
	p->leaving--;
	pthread_cond_signal(&p->gone);
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

static bool begin_thread(struct pool *p)
{
	pthread_t thread;

	if (thread_start(&thread, pool_main, p))
		return false;
	pthread_detach(thread);
	p->threads++;
	return true;
}

/* Sees to it that somebody looks; false if there is nobody and nobody can be had. */
static bool pool_rouse(struct pool *p, size_t most)
{
	if (p->waiting + p->withdrawn.count > p->idle && p->threads < most)
		begin_thread(p);
	pthread_cond_signal(&p->more);
	return p->threads > 0;
}

/* ---- from outside ---- */

struct pool *pool_new(const struct pool_settings *settings)
{
	struct pool *p = memory_zeroed(sizeof *p);
	pthread_condattr_t monotonic;

	p->set = *settings;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->more, &monotonic);
	pthread_cond_init(&p->gone, &monotonic);
	pthread_condattr_destroy(&monotonic);
	pthread_mutex_lock(&p->lock);
	while (p->threads < p->set.threads_kept && begin_thread(p))
		;
	if (p->threads <
		p->set.threads_kept) /* what one owner may have is reckoned from what there is */
		p->set.threads = p->set.threads_kept = p->threads ? p->threads : 1;
	pthread_mutex_unlock(&p->lock);
	return p;
}

struct pool *pool_new_shared(size_t threads, size_t waiting)
{
	return pool_new(&(struct pool_settings){
		.threads = threads,
		.threads_kept = threads,
		.threads_left = 1,
		.waiting = waiting,
		.waiting_each = waiting / POOL_SHARE,
	});
}

/* With the lock. */
static void withdraw_work(struct pool *p, struct work *w)
{
	w->withdrawn = true;
	if (!w->waiting)
		return;
	leave_lane(p, w);
	w->lane->running++; /* as good as */
	works_add(&p->withdrawn, w);
	pool_rouse(p, p->set.threads + 1); /* all may be in something that takes long */
}

void pool_free(struct pool *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->stopping = true;
	for (struct pool_lane *lane = p->lanes; lane && p->set.withdraws; lane = lane->next)
		while (lane->waiting.first)
			withdraw_work(p, lane->waiting.first);
	for (struct work *w = p->running.first; w && p->set.withdraws; w = w->next)
		w->withdrawn = true;
	pthread_cond_broadcast(&p->more);
	while (p->threads || p->leaving)
		pthread_cond_wait(&p->gone, &p->lock);
	pthread_mutex_unlock(&p->lock);
	pthread_cond_destroy(&p->more);
	pthread_cond_destroy(&p->gone);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

/* With the lock.  Who had nothing waiting stands last. */
static int stand_in_lane(struct pool *p, const char *owner, struct work *w)
{
	struct pool_lane *lane = p->waiting < p->set.waiting ? lane_of(p, owner) : NULL;
	bool taken;

	if (!lane)
		return ERR_BUSY;
	taken = !*owner || lane->waiting.count < p->set.waiting_each;
	if (taken) {
		if (!lane->waiting.count)
			stand_last(p, lane);
		w->lane = lane;
		w->waiting = true;
		works_add(&lane->waiting, w);
		p->waiting++;
		taken = pool_rouse(p, p->set.threads);
		if (!taken)
			leave_lane(p, w);
	}
	lane_let_go(p, lane);
	return taken ? 0 : ERR_BUSY;
}

int pool_submit(struct pool *p, const char *owner, struct work *w)
{
	int err;

	w->withdrawn = w->late = false;
	w->since_ms = clock_mono_ms();
	pthread_mutex_lock(&p->lock);
	err = p->stopping ? ERR_STOPPING : stand_in_lane(p, owner ? owner : "", w);
	pthread_mutex_unlock(&p->lock);
	return err;
}

void pool_withdraw(struct pool *p, struct work *w)
{
	pthread_mutex_lock(&p->lock);
	withdraw_work(p, w);
	pthread_mutex_unlock(&p->lock);
}

void pool_withdraw_late(struct pool *p, int most_ms)
{
	int64_t since = clock_mono_ms() - most_ms;

	pthread_mutex_lock(&p->lock);
	for (struct pool_lane *lane = p->lanes; lane; lane = lane->next)
		while (lane->waiting.first && lane->waiting.first->since_ms <= since) {
			lane->waiting.first->late = true;
			withdraw_work(p, lane->waiting.first);
		}
	pthread_mutex_unlock(&p->lock);
}

struct pool_stats pool_stats(struct pool *p)
{
	struct pool_stats s;

	pthread_mutex_lock(&p->lock);
	s = (struct pool_stats){ p->begun, p->waiting };
	pthread_mutex_unlock(&p->lock);
	return s;
}
