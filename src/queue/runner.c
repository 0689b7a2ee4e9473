/* runner.c - see runner.h.
 *
 * One thread decides what to do next, and has it done by the store, one claim
 * at a time: while a claim is under way, places become free and jobs arrive,
 * and the next claim deals with all of them.  The thread also begins jobs and
 * asks them to stop; so a job is never asked to stop before it has begun.
 * Jobs that are over are reported from any thread, under the lock. */
#include "queue/runner_parts.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/thread.h"

enum {
	LOOK_MS = 1000,	      /* between looks for what nobody told */
	LOOK_ALONE_MS = 5000, /* the same where no other process runs jobs */
	STOP_POLL_MS = 1000,
};

/* On a thread of the store's. */
static void on_job_notice(void *ctx, const char *text)
{
	struct runner *r = ctx;

	int64_t at = text && *text == '@' ? strtoll(text + 1, NULL, 10) : 0;
	bool news = true;

	pthread_mutex_lock(&r->lock);
	if (at) {
		news = !r->due || at < r->due;
		r->due = news ? at : r->due;
	} else if (text && tenant_ring_add(r->tenant_ring, text)) {
		r->wanted = true;
	} else {
		r->look_now = true;
	}
	if (news)
		pthread_cond_signal(&r->more);
	pthread_mutex_unlock(&r->lock);
}

struct runner *runner_new(const struct runner_settings *settings)
{
	struct runner *r = memory_zeroed(sizeof *r);
	int64_t look = store_is_sqlite(settings->store) ? LOOK_ALONE_MS : LOOK_MS;
	pthread_condattr_t attr;

	r->settings = *settings;
	r->lease_ms = settings->lease_ms ? settings->lease_ms : JOB_LEASE_MS;
	r->look_ms = r->lease_ms / 4 < look ? r->lease_ms / 4 : look;
	r->tenant_ring = tenant_ring_new();
	runner_new_owner(r);
	pthread_mutex_init(&r->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&r->more, &attr);
	pthread_cond_init(&r->changed, &attr);
	pthread_condattr_destroy(&attr);
	store_listen(settings->store, JOBS_CHANNEL, on_job_notice, r);
	return r;
}

static int64_t sooner_due(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void wait_a_while(struct runner *r, int64_t mono, int64_t now)
{
	int64_t until = r->looked_at + r->look_ms;
	struct timespec t;

	if (r->open_count)
		until = sooner_due(until, r->beaten_at + r->lease_ms / 4);
	if (r->due && !r->stopping)
		until = sooner_due(until, mono + (r->due > now ? (r->due - now) / 1000 + 1 : 0));
	if (until < r->retry_at)
		until = r->retry_at;
	if (until <= mono) /* a claim is under way */
		until = mono + r->look_ms;
	t = (struct timespec){ .tv_sec = until / 1000, .tv_nsec = until % 1000 * 1000000 };
	pthread_cond_timedwait(&r->more, &r->lock, &t);
}

static void *runner_main(void *arg)
{
	struct runner *r = arg;

	pthread_mutex_lock(&r->lock);
	while (!r->ended || r->asked || r->backs) {
		int64_t mono = clock_mono_ms(), now = clock_now_us();

		if (r->failed && mono >= r->retry_at && !r->ended)
			runner_requeue_failed(r);
		if (r->answered)
			runner_answered(r);
		else if (r->stopping && !r->told_to_stop && !r->asked) {
			r->told_to_stop = true;
			runner_stop_jobs(r);
			if (r->open_count)
				log_info("jobs at work were asked to come to an end",
					LOG_N("jobs", (int64_t)r->open_count));
			pthread_cond_broadcast(&r->changed);
		} else if (!r->ended && runner_has_to_ask(r, mono, now))
			runner_ask(r, mono, now);
		else
			wait_a_while(r, mono, now);
	}
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

int runner_start(struct runner *r)
{
	struct claim *claim = &r->claim;

	claim->work =
		(struct work){ .run = claim_run, .done = runner_claim_done, .mode = STEP_BY_STEP };
	claim->runner = r;
	claim->settings = &r->settings;
	claim->lease_us = r->lease_ms * 1000;
	claim->claimed_last = &claim->claimed;
	claim->alone = store_is_sqlite(r->settings.store);
	claim->crashed = r->settings.crashed;
	r->look_now = true;
	r->started = thread_start(&r->thread, runner_main, r) == 0;
	return r->started ? 0 : ERR_INTERNAL;
}

struct hand_back_wait {
	struct hand_back back;
	struct runner *runner;
	bool done;
	int err;
};

static void hand_back_done(struct work *w, int err)
{
	struct hand_back_wait *h = (struct hand_back_wait *)w;

	pthread_mutex_lock(&h->runner->lock);
	h->done = true;
	h->err = err;
	pthread_cond_broadcast(&h->runner->changed);
	pthread_mutex_unlock(&h->runner->lock);
}

static void wait_until(struct runner *r, int64_t mono)
{
	struct timespec t = { .tv_sec = mono / 1000, .tv_nsec = mono % 1000 * 1000000 };

	pthread_cond_timedwait(&r->changed, &r->lock, &t);
}

/* Under the lock. */
static void hand_back(struct runner *r)
{
	struct hand_back_wait h = { .runner = r };
	int err, tries = 0;

	h.back.work =
		(struct work){ .run = hand_back_run, .done = hand_back_done, .mode = STEP_BY_STEP };
	memcpy(h.back.owner, r->owner, sizeof h.back.owner);
	h.back.now = clock_now_us();
	while ((err = store_submit(r->settings.store, &h.back.work)) == ERR_BUSY && tries++ < 100)
		wait_until(r, clock_mono_ms() + BUSY_PAUSE_MS);
	while (!err && !h.done)
		pthread_cond_wait(&r->changed, &r->lock);
	if (err || h.err)
		log_line(LOG_WARN,
			"jobs could not be handed back; others take them when the lease is over",
			NULL);
}

void runner_leave(struct runner *r)
{
	if (!r || !r->started)
		return;
	pthread_mutex_lock(&r->lock);
	r->stopping = true;
	pthread_cond_signal(&r->more);
	pthread_mutex_unlock(&r->lock);
}

void runner_stop(struct runner *r, int grace_ms)
{
	int64_t until = clock_mono_ms() + grace_ms;

	if (!r || !r->started)
		return;
	runner_leave(r);
	pthread_mutex_lock(&r->lock);
	while ((r->open_count || !r->told_to_stop) && clock_mono_ms() < until)
		wait_until(r, sooner_due(until, clock_mono_ms() + STOP_POLL_MS));
	r->ended = true;
	pthread_cond_signal(&r->more);
	pthread_mutex_unlock(&r->lock);
	pthread_join(r->thread, NULL);
	pthread_mutex_lock(&r->lock);
	while (r->failed)
		runner_settle_job(r, r->failed);
	hand_back(r);
	r->started = false;
	pthread_mutex_unlock(&r->lock);
}

void runner_free(struct runner *r)
{
	bool last;

	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	r->abandoned = true;
	r->ended = true;
	last = r->open_count == 0;
	pthread_mutex_unlock(&r->lock);
	if (last)
		runner_destroy(r);
}

struct runner_stats runner_stats(struct runner *r)
{
	struct runner_stats s;

	pthread_mutex_lock(&r->lock);
	s = r->stats;
	s.open = r->open_count;
	s.tenants = tenant_ring_waiting(r->tenant_ring);
	pthread_mutex_unlock(&r->lock);
	return s;
}
