/* runner.c - see runner.h.
 *
 * One thread decides what to do next, and has it done by the store, one claim
 * at a time: while a claim is under way, places become free and jobs arrive,
 * and the next claim deals with all of them.  The thread also begins jobs and
 * asks them to stop; so a job is never asked to stop before it has begun.
 * Jobs that are over are reported from any thread, under the lock. */
#include "queue/runner.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/thread.h"
#include "queue/claim.h"

enum {
	LOOK_MS = 1000,	      /* between looks for what nobody told */
	LOOK_ALONE_MS = 5000, /* the same where no other process runs jobs */
	BUSY_PAUSE_MS = 20,   /* before asking again a store that had no room */
	SPARE_PICKS = 16,     /* tenants asked about beyond the places, as some have nothing */
	STOP_POLL_MS = 1000,
	DRAIN_MS = 30000, /* before those at work are asked to make room for one that runs alone */
};

struct runner {
	struct runner_settings settings;
	int64_t lease_ms, look_ms;
	pthread_mutex_t lock;
	pthread_cond_t more;	/* the thread has something to do */
	pthread_cond_t changed; /* who stops the runner may go on */
	pthread_t thread;
	bool started, stopping, told_to_stop, ended, abandoned;
	char owner[OWNER_LEN + 1];
	struct tenant_ring *tenant_ring;
	struct claimed *open, *freed, *failed;
	size_t open_count, backs; /* jobs here; pieces of work that put some back */
	struct claim claim;
	bool asked, answered; /* a claim is under way; it is over */
	int answer;
	size_t unasked;		/* tenants that waited and were not asked about */
	bool wanted;		/* there may be jobs to take */
	bool solo;		/* the one that runs must run alone */
	bool draining, cleared; /* one waits that must; those at work were asked to go */
	int64_t draining_since; /* monotonic milliseconds */
	bool look_now;
	int64_t due;				/* wall clock; 0: nothing delayed */
	int64_t looked_at, beaten_at, retry_at; /* monotonic milliseconds */
	struct runner_stats stats;
};

static void new_owner(struct runner *r)
{
	static _Atomic unsigned serial;

	snprintf(r->owner, sizeof r->owner, "%s.%u", queue_process(),
		atomic_fetch_add_explicit(&serial, 1, memory_order_relaxed));
	r->beaten_at = 0;
}

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
	new_owner(r);
	pthread_mutex_init(&r->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&r->more, &attr);
	pthread_cond_init(&r->changed, &attr);
	pthread_condattr_destroy(&attr);
	store_listen(settings->store, JOBS_CHANNEL, on_job_notice, r);
	return r;
}

static void link_taken(struct claimed **list, struct claimed *t)
{
	t->next = *list;
	t->link = list;
	if (t->next)
		t->next->link = &t->next;
	*list = t;
}

static void unlink_taken(struct claimed *t)
{
	*t->link = t->next;
	if (t->next)
		t->next->link = t->link;
	t->next = NULL;
	t->link = NULL;
}

static void drop_all(struct claimed **list)
{
	while (*list) {
		struct claimed *t = *list;

		*list = t->next;
		claimed_free(t);
	}
}

static void destroy_runner(struct runner *r)
{
	drop_all(&r->freed);
	claim_forget(&r->claim);
	arena_free(&r->claim.arena);
	tenant_ring_free(r->tenant_ring);
	pthread_cond_destroy(&r->more);
	pthread_cond_destroy(&r->changed);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

/* Under the lock.  Its place is free, and its lane has room. */
static void settle_job(struct runner *r, struct claimed *t)
{
	unlink_taken(t);
	tenant_ring_over(r->tenant_ring, t->ring_tenant);
	INVARIANT(r->open_count > 0);
	r->open_count--;
	r->solo &= r->open_count > 0;
	if (*t->job.lane && r->settings.lane_most && !r->ended) {
		tenant_ring_add(r->tenant_ring, t->job.tenant_id);
		link_taken(&r->freed, t);
	} else {
		claimed_free(t);
	}
	r->wanted = true;
	pthread_cond_signal(&r->more);
	pthread_cond_broadcast(&r->changed);
}

static void count_job_end(struct runner *r, const struct claimed *t)
{
	r->stats.finished += t->how == CLAIMED_FINISHED;
	r->stats.failed += t->how == CLAIMED_FAILED;
}

void job_over(struct job *job, int err)
{
	struct claimed *t = job->own;
	struct runner *r = job->runner;
	bool last;

	pthread_mutex_lock(&r->lock);
	t->over = true;
	if (r->ended) { /* it was handed back already */
		count_job_end(r, t);
		settle_job(r, t);
	} else if (err || t->how == CLAIMED_OPEN) {
		t->err = err ? err : ERR_INTERNAL;
		unlink_taken(t);
		link_taken(&r->failed, t);
		pthread_cond_signal(&r->more);
	} else {
		count_job_end(r, t);
		settle_job(r, t);
	}
	last = r->abandoned && r->open_count == 0;
	pthread_mutex_unlock(&r->lock);
	if (last)
		destroy_runner(r);
}

/* A job that ended in an error is requeued by the runner itself. */
struct back {
	struct work work;
	struct claimed *claimed;
};

static int back_run(struct work *w, struct db *db)
{
	struct claimed *t = ((struct back *)w)->claimed;
	bool stopping = t->err == ERR_STOPPING;
	int64_t now = clock_now_us();

	if (t->job.condemned)
		return t->kind->condemned
			       ? job_requeue(db, &t->job, now + SECOND_US, false, NULL, now)
			       : job_condemn(db, &t->job, now);
	return job_requeue(
		db, &t->job, stopping ? now : 0, !stopping, error_row(t->err)->title, now);
}

static void back_done(struct work *w, int err)
{
	struct back *b = (struct back *)w;
	struct claimed *t = b->claimed;
	struct runner *r = t->job.runner;

	pthread_mutex_lock(&r->lock);
	INVARIANT(r->backs > 0);
	r->backs--;
	if (err && err != ERR_CONFLICT) { /* the store is away: again, a little later */
		unlink_taken(t);
		link_taken(&r->failed, t);
		r->retry_at = clock_mono_ms() + BUSY_PAUSE_MS;
		pthread_cond_signal(&r->more);
		pthread_cond_broadcast(&r->changed);
	} else {
		r->stats.lost += err == ERR_CONFLICT;
		if (!err)
			count_job_end(r, t);
		settle_job(r, t);
	}
	pthread_mutex_unlock(&r->lock);
	free(b);
}

static void put_back_failed(struct runner *r)
{
	while (r->failed) {
		struct claimed *t = r->failed;
		struct back *b = memory_zeroed(sizeof *b);

		b->work = (struct work){ .run = back_run, .done = back_done, .mode = READ_WRITE };
		b->claimed = t;
		unlink_taken(t);
		link_taken(&r->open, t);
		r->backs++;
		if (store_submit(r->settings.store, &b->work) == 0)
			continue;
		r->backs--;
		free(b);
		unlink_taken(t);
		link_taken(&r->failed, t);
		r->retry_at = clock_mono_ms() + BUSY_PAUSE_MS;
		return;
	}
}

static void claim_done(struct work *w, int err)
{
	struct claim *claim = (struct claim *)w;
	struct runner *r = claim->runner;

	pthread_mutex_lock(&r->lock);
	r->answered = true;
	r->answer = err;
	pthread_cond_signal(&r->more);
	pthread_mutex_unlock(&r->lock);
}

static size_t free_places(const struct runner *r)
{
	bool none = r->stopping || r->solo || r->draining || r->open_count >= r->settings.most;

	return none ? 0 : r->settings.most - r->open_count;
}

/* Tenants that have as many places as they may have are passed by. */
static void pick_tenants(struct runner *r)
{
	struct claim *claim = &r->claim;
	size_t waiting = tenant_ring_waiting(r->tenant_ring), most = claim->places + SPARE_PICKS;

	claim->pick_count = 0;
	if (most > PICKS_MAX)
		most = PICKS_MAX;
	while (claim->places && waiting && claim->pick_count < most) {
		struct ring_tenant *ring_tenant = tenant_ring_next(r->tenant_ring);

		waiting--;
		if (!claim_may_have(ring_tenant->running, claim->places))
			tenant_ring_back(r->tenant_ring, ring_tenant, false);
		else
			claim->picks[claim->pick_count++] =
				(struct pick){ .ring_tenant = ring_tenant,
					.running_before = ring_tenant->running };
	}
	r->unasked = waiting;
}

static void return_picks(struct runner *r, bool failed)
{
	struct claim *claim = &r->claim;

	for (size_t i = 0; i < claim->pick_count; i++) {
		struct pick *p = &claim->picks[i];

		if (!failed && p->empty)
			tenant_ring_empty(r->tenant_ring, p->ring_tenant);
		else if (!failed && p->served)
			tenant_ring_back(r->tenant_ring, p->ring_tenant, false);
	}
	for (size_t i = claim->pick_count; i-- > 0;) {
		struct pick *p = &claim->picks[i];

		if (failed || !p->served)
			tenant_ring_back(r->tenant_ring, p->ring_tenant, true);
	}
	claim->pick_count = 0;
}

static bool lease_is_due(const struct runner *r, int64_t mono)
{
	return !r->beaten_at || mono - r->beaten_at >= r->lease_ms / 4;
}

static bool look_is_due(const struct runner *r, int64_t mono)
{
	return r->look_now || mono - r->looked_at >= r->look_ms;
}

static bool has_to_ask(const struct runner *r, int64_t mono, int64_t now)
{
	if (r->asked || mono < r->retry_at)
		return false;
	return look_is_due(r, mono) || (r->open_count && lease_is_due(r, mono)) ||
	       (r->due && now >= r->due && !r->stopping) || r->freed ||
	       (r->draining && !r->open_count && !r->stopping) ||
	       (r->wanted && free_places(r) && tenant_ring_waiting(r->tenant_ring));
}

static void submit_round(struct runner *r, int64_t mono, int64_t now)
{
	struct claim *claim = &r->claim;

	claim->now = now;
	claim->leased = r->beaten_at && r->open_count;
	claim->places = free_places(r);
	claim->look = look_is_due(r, mono);
	claim->due_now = claim->look || (r->due && now >= r->due);
	claim->idle = !r->open_count;
	claim->probe = (claim->due_now || r->draining) && !r->stopping && !r->solo;
	memcpy(claim->owner, r->owner, sizeof claim->owner);
	pick_tenants(r);
	claim->heartbeat = lease_is_due(r, mono) && (r->open_count || claim->pick_count);
	claim->asked_at = mono;
	claim->freed = r->freed;
	r->freed = NULL;
	r->wanted = r->look_now = false;
	r->asked = true;
	if (store_submit(r->settings.store, &claim->work)) {
		r->answered = true;
		r->answer = ERR_BUSY;
	}
}

/* A claim that failed may have been committed all the same, if the connection broke after it.  No claim
 * was answered since the first in doubt, so that all they took is known by its time. */
static void not_answered(struct runner *r)
{
	struct claim *claim = &r->claim;

	if (r->answer != ERR_BUSY) {
		claim->doubted_from = claim->doubted_from ? claim->doubted_from : claim->now;
		claim->doubted_to = claim->now;
		r->look_now = true;
	}
	return_picks(r, true);
	r->freed = r->claim.freed;
	if (r->freed)
		r->freed->link = &r->freed;
	r->claim.freed = NULL;
	r->wanted = true;
	r->look_now |= r->claim.look;
	r->retry_at = clock_mono_ms() + BUSY_PAUSE_MS;
}

/* Told outside the lock, on this thread; each is kept alive meanwhile. */
static void stop_all(struct runner *r)
{
	size_t count = 0;
	struct claimed **list = memory_zeroed((r->open_count + 1) * sizeof *list);

	for (struct claimed *t = r->open; t; t = t->next)
		if (t->kind->stop && !t->over)
			list[count++] = t;
	for (size_t i = 0; i < count; i++)
		list[i]->refs++;
	pthread_mutex_unlock(&r->lock);
	for (size_t i = 0; i < count; i++)
		list[i]->kind->stop(list[i]->kind->ctx, &list[i]->job);
	pthread_mutex_lock(&r->lock);
	for (size_t i = 0; i < count; i++)
		claimed_free(list[i]);
	free(list);
}

/* Others have taken them for dead and run our jobs.  Whoever runs one here is told so when he commits. */
static void lease_lost(struct runner *r)
{
	log_warn("the lease on jobs was lost: they are run elsewhere",
		LOG_N("jobs", (int64_t)r->open_count));
	new_owner(r);
	stop_all(r);
}

static void begin_job(struct claimed *t)
{
	if (!t->job.condemned) {
		t->kind->begin(t->kind->ctx, &t->job);
		return;
	}
	log_error("a job is not run any more: the process that ran it alone died",
		LOG_S("job_id", t->job.id), LOG_S("tenant_id", t->job.tenant_id),
		LOG_S("kind", t->job.kind), LOG_S("subject", t->job.subject));
	if (t->kind->condemned)
		t->kind->condemned(t->kind->ctx, &t->job);
	else
		job_over(&t->job, ERR_INTERNAL);
}

static void begin_all(struct runner *r)
{
	struct claimed *list[TAKE_MAX];
	size_t count = 0;

	while (r->claim.claimed) {
		struct claimed *t = r->claim.claimed;

		r->claim.claimed = t->next;
		t->job.runner = r;
		t->ring_tenant = tenant_ring_begun(r->tenant_ring, t->job.tenant_id);
		link_taken(&r->open, t);
		r->open_count++;
		list[count++] = t;
	}
	r->claim.claimed_last = &r->claim.claimed;
	r->stats.begun += count;
	pthread_mutex_unlock(&r->lock);
	for (size_t i = 0; i < count; i++)
		begin_job(list[i]);
	pthread_mutex_lock(&r->lock);
}

/* One waits that must run alone: what is at work comes to its end, or is asked to after a while. */
static void drain_jobs(struct runner *r, bool on, int64_t mono)
{
	if (r->draining && !on)
		r->wanted = true;
	if (!on)
		r->cleared = false;
	else if (!r->draining)
		r->draining_since = mono;
	r->draining = on;
	if (!on || r->cleared || mono - r->draining_since < DRAIN_MS)
		return;
	r->cleared = true;
	log_warn("a job waits that must run alone: those at work are asked to make room",
		LOG_N("jobs", (int64_t)r->open_count));
	stop_all(r);
}

static void claim_answered(struct runner *r)
{
	struct claim *claim = &r->claim;

	r->asked = r->answered = false;
	if (r->answer) {
		not_answered(r);
		return;
	}
	claim->doubted_from = claim->doubted_to = 0;
	drop_all(&claim->freed);
	if (claim->heartbeat_sent)
		r->beaten_at = claim->asked_at;
	if (claim->look)
		r->looked_at = claim->asked_at;
	if (claim->look) {
		claim->alone = false;
		claim->crashed = NULL;
	}
	if (claim->probe)
		drain_jobs(r, claim->drain, clock_mono_ms());
	if (claim->solo)
		log_warn("a job whose process died three times runs alone", LOG_N("jobs", 1));
	r->solo |= claim->solo;
	claim->at = claim->seen;
	if (claim->due_now)
		r->due = claim->due;
	return_picks(r, false);
	for (size_t i = 0; i < claim->found.count; i++)
		tenant_ring_add(
			r->tenant_ring, ((const struct one_text *)claim->found.at)[i].value);
	r->wanted |= claim->found.count || claim->more || r->unasked;
	if (claim->strange)
		log_warn("jobs of kinds that this program does not know are left to others",
			LOG_N("jobs", (int64_t)claim->strange));
	if (claim->lost)
		lease_lost(r);
	else if (!r->stopping)
		begin_all(r);
	claim_forget(claim); /* what was taken too late goes back with the rest */
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
			put_back_failed(r);
		if (r->answered)
			claim_answered(r);
		else if (r->stopping && !r->told_to_stop && !r->asked) {
			r->told_to_stop = true;
			stop_all(r);
			if (r->open_count)
				log_info("jobs at work were asked to come to an end",
					LOG_N("jobs", (int64_t)r->open_count));
			pthread_cond_broadcast(&r->changed);
		} else if (!r->ended && has_to_ask(r, mono, now))
			submit_round(r, mono, now);
		else
			wait_a_while(r, mono, now);
	}
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

int runner_start(struct runner *r)
{
	struct claim *claim = &r->claim;

	claim->work = (struct work){ .run = claim_run, .done = claim_done, .mode = STEP_BY_STEP };
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

void runner_stop(struct runner *r, int grace_ms)
{
	int64_t until = clock_mono_ms() + grace_ms;

	if (!r || !r->started)
		return;
	pthread_mutex_lock(&r->lock);
	r->stopping = true;
	pthread_cond_signal(&r->more);
	while ((r->open_count || !r->told_to_stop) && clock_mono_ms() < until)
		wait_until(r, sooner_due(until, clock_mono_ms() + STOP_POLL_MS));
	r->ended = true;
	pthread_cond_signal(&r->more);
	pthread_mutex_unlock(&r->lock);
	pthread_join(r->thread, NULL);
	pthread_mutex_lock(&r->lock);
	while (r->failed)
		settle_job(r, r->failed);
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
		destroy_runner(r);
}

struct runner_stats runner_stats(struct runner *r)
{
	struct runner_stats s;

	pthread_mutex_lock(&r->lock);
	s = r->stats;
	s.open = r->open_count;
	pthread_mutex_unlock(&r->lock);
	return s;
}
