/* runner.c - see runner.h.
 *
 * One thread decides what to do next, and has it done by the store, one round
 * at a time: while a round is under way, places become free and jobs arrive,
 * and the next round deals with all of them.  The thread also begins jobs and
 * asks them to stop; so a job is never asked to stop before it has begun.
 * Jobs that are over are reported from any thread, under the lock. */
#include "queue/runner.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "queue/round.h"

enum {
	LOOK_MS = 1000,	      /* between looks for what nobody told */
	LOOK_ALONE_MS = 5000, /* the same where no other process runs jobs */
	BUSY_PAUSE_MS = 20,   /* before asking again a store that had no room */
	SPARE_PICKS = 16,     /* tenants asked about beyond the places, as some have nothing */
	STOP_POLL_MS = 1000,
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
	struct turns *turns;
	struct taken *open, *freed, *failed;
	size_t open_count, backs; /* jobs here; pieces of work that put some back */
	struct round round;
	bool asked, answered; /* a round is under way; it is over */
	int answer;
	size_t unasked; /* tenants that waited and were not asked about */
	bool wanted;	/* there may be jobs to take */
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
static void heard(void *ctx, const char *text)
{
	struct runner *r = ctx;

	int64_t at = text && *text == '@' ? strtoll(text + 1, NULL, 10) : 0;
	bool news = true;

	pthread_mutex_lock(&r->lock);
	if (at) {
		news = !r->due || at < r->due;
		r->due = news ? at : r->due;
	} else if (text && turns_add(r->turns, text)) {
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
	struct runner *r = calloc(1, sizeof *r);
	int64_t look = store_is_sqlite(settings->store) ? LOOK_ALONE_MS : LOOK_MS;
	pthread_condattr_t attr;

	if (!r)
		abort();
	r->settings = *settings;
	r->lease_ms = settings->lease_ms ? settings->lease_ms : JOB_LEASE_MS;
	r->look_ms = r->lease_ms / 4 < look ? r->lease_ms / 4 : look;
	r->turns = turns_new();
	new_owner(r);
	pthread_mutex_init(&r->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&r->more, &attr);
	pthread_cond_init(&r->changed, &attr);
	pthread_condattr_destroy(&attr);
	store_listen(settings->store, JOBS_CHANNEL, heard, r);
	return r;
}

static void link_in(struct taken **list, struct taken *t)
{
	t->next = *list;
	t->link = list;
	if (t->next)
		t->next->link = &t->next;
	*list = t;
}

static void link_out(struct taken *t)
{
	*t->link = t->next;
	if (t->next)
		t->next->link = t->link;
	t->next = NULL;
	t->link = NULL;
}

static void drop_all(struct taken **list)
{
	while (*list) {
		struct taken *t = *list;

		*list = t->next;
		taken_free(t);
	}
}

static void destroy(struct runner *r)
{
	drop_all(&r->freed);
	round_forget(&r->round);
	arena_free(&r->round.arena);
	turns_free(r->turns);
	pthread_cond_destroy(&r->more);
	pthread_cond_destroy(&r->changed);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

/* Under the lock.  Its place is free, and its lane has room. */
static void settle(struct runner *r, struct taken *t)
{
	link_out(t);
	turns_over(r->turns, t->turn);
	r->open_count--;
	if (*t->job.lane && r->settings.lane_most && !r->ended) {
		turns_add(r->turns, t->job.tenant_id);
		link_in(&r->freed, t);
	} else {
		taken_free(t);
	}
	r->wanted = true;
	pthread_cond_signal(&r->more);
	pthread_cond_broadcast(&r->changed);
}

static void count_end(struct runner *r, const struct taken *t)
{
	r->stats.finished += t->how == TAKEN_FINISHED;
	r->stats.failed += t->how == TAKEN_FAILED;
}

void job_over(struct job *job, int err)
{
	struct taken *t = job->own;
	struct runner *r = job->runner;
	bool last;

	pthread_mutex_lock(&r->lock);
	t->over = true;
	if (r->ended) { /* it was handed back already */
		count_end(r, t);
		settle(r, t);
	} else if (err || t->how == TAKEN_OPEN) {
		t->err = err ? err : ERR_INTERNAL;
		link_out(t);
		link_in(&r->failed, t);
		pthread_cond_signal(&r->more);
	} else {
		count_end(r, t);
		settle(r, t);
	}
	last = r->abandoned && r->open_count == 0;
	pthread_mutex_unlock(&r->lock);
	if (last)
		destroy(r);
}

/* A job that ended in an error is put back by the runner itself. */
struct back {
	struct work work;
	struct taken *taken;
};

static int back_run(struct work *w, struct db *db)
{
	struct taken *t = ((struct back *)w)->taken;
	bool stopping = t->err == ERR_STOPPING;
	int64_t now = clock_now_us();

	return job_put_back(
		db, &t->job, stopping ? now : 0, !stopping, error_row(t->err)->title, now);
}

static void back_done(struct work *w, int err)
{
	struct back *b = (struct back *)w;
	struct taken *t = b->taken;
	struct runner *r = t->job.runner;

	pthread_mutex_lock(&r->lock);
	r->backs--;
	if (err && err != ERR_CONFLICT) { /* the store is away: again, a little later */
		link_out(t);
		link_in(&r->failed, t);
		r->retry_at = clock_mono_ms() + BUSY_PAUSE_MS;
		pthread_cond_signal(&r->more);
		pthread_cond_broadcast(&r->changed);
	} else {
		r->stats.lost += err == ERR_CONFLICT;
		if (!err)
			count_end(r, t);
		settle(r, t);
	}
	pthread_mutex_unlock(&r->lock);
	free(b);
}

static void put_back_failed(struct runner *r)
{
	while (r->failed) {
		struct taken *t = r->failed;
		struct back *b = calloc(1, sizeof *b);

		if (!b)
			abort();
		b->work = (struct work){ .run = back_run, .done = back_done, .mode = READ_WRITE };
		b->taken = t;
		link_out(t);
		link_in(&r->open, t);
		r->backs++;
		if (store_submit(r->settings.store, &b->work) == 0)
			continue;
		r->backs--;
		free(b);
		link_out(t);
		link_in(&r->failed, t);
		r->retry_at = clock_mono_ms() + BUSY_PAUSE_MS;
		return;
	}
}

static void round_done(struct work *w, int err)
{
	struct round *round = (struct round *)w;
	struct runner *r = round->runner;

	pthread_mutex_lock(&r->lock);
	r->answered = true;
	r->answer = err;
	pthread_cond_signal(&r->more);
	pthread_mutex_unlock(&r->lock);
}

static size_t places(const struct runner *r)
{
	return r->stopping || r->open_count >= r->settings.most ? 0
								: r->settings.most - r->open_count;
}

/* Tenants that have as many places as they may have are passed by. */
static void pick_tenants(struct runner *r)
{
	struct round *round = &r->round;
	size_t waiting = turns_waiting(r->turns), most = round->places + SPARE_PICKS;

	round->pick_count = 0;
	if (most > PICKS_MAX)
		most = PICKS_MAX;
	while (round->places && waiting && round->pick_count < most) {
		struct turn *turn = turns_next(r->turns);

		waiting--;
		if (!round_may_have(turn->running, round->places))
			turns_back(r->turns, turn, false);
		else
			round->picks[round->pick_count++] =
				(struct pick){ .turn = turn, .running_before = turn->running };
	}
	r->unasked = waiting;
}

static void return_picks(struct runner *r, bool failed)
{
	struct round *round = &r->round;

	for (size_t i = 0; i < round->pick_count; i++) {
		struct pick *p = &round->picks[i];

		if (!failed && p->empty)
			turns_empty(r->turns, p->turn);
		else if (!failed && p->served)
			turns_back(r->turns, p->turn, false);
	}
	for (size_t i = round->pick_count; i-- > 0;) {
		struct pick *p = &round->picks[i];

		if (failed || !p->served)
			turns_back(r->turns, p->turn, true);
	}
	round->pick_count = 0;
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
	       (r->wanted && places(r) && turns_waiting(r->turns));
}

static void ask(struct runner *r, int64_t mono, int64_t now)
{
	struct round *round = &r->round;

	round->now = now;
	round->leased = r->beaten_at && r->open_count;
	round->places = places(r);
	round->look = look_is_due(r, mono);
	round->due_now = round->look || (r->due && now >= r->due);
	memcpy(round->owner, r->owner, sizeof round->owner);
	pick_tenants(r);
	round->beat = lease_is_due(r, mono) && (r->open_count || round->pick_count);
	round->asked_at = mono;
	round->freed = r->freed;
	r->freed = NULL;
	r->wanted = r->look_now = false;
	r->asked = true;
	if (store_submit(r->settings.store, &round->work)) {
		r->answered = true;
		r->answer = ERR_BUSY;
	}
}

/* A round that failed may have been committed all the same, if the connection broke behind it.  No round
 * was answered since the first in doubt, so that all they took is known by its time. */
static void not_answered(struct runner *r)
{
	struct round *round = &r->round;

	if (r->answer != ERR_BUSY) {
		round->doubted_from = round->doubted_from ? round->doubted_from : round->now;
		round->doubted_to = round->now;
		r->look_now = true;
	}
	return_picks(r, true);
	r->freed = r->round.freed;
	if (r->freed)
		r->freed->link = &r->freed;
	r->round.freed = NULL;
	r->wanted = true;
	r->look_now |= r->round.look;
	r->retry_at = clock_mono_ms() + BUSY_PAUSE_MS;
}

/* Told outside the lock, on this thread; each is kept alive meanwhile. */
static void stop_all(struct runner *r)
{
	size_t count = 0;
	struct taken **list = calloc(r->open_count + 1, sizeof *list);

	if (!list)
		abort();
	for (struct taken *t = r->open; t; t = t->next)
		if (t->kind->stop && !t->over)
			list[count++] = t;
	for (size_t i = 0; i < count; i++)
		list[i]->refs++;
	pthread_mutex_unlock(&r->lock);
	for (size_t i = 0; i < count; i++)
		list[i]->kind->stop(list[i]->kind->ctx, &list[i]->job);
	pthread_mutex_lock(&r->lock);
	for (size_t i = 0; i < count; i++)
		taken_free(list[i]);
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

static void begin_all(struct runner *r)
{
	struct taken *list[TAKE_MAX];
	size_t count = 0;

	while (r->round.taken) {
		struct taken *t = r->round.taken;

		r->round.taken = t->next;
		t->job.runner = r;
		t->turn = turns_begun(r->turns, t->job.tenant_id);
		link_in(&r->open, t);
		r->open_count++;
		list[count++] = t;
	}
	r->round.taken_last = &r->round.taken;
	r->stats.begun += count;
	pthread_mutex_unlock(&r->lock);
	for (size_t i = 0; i < count; i++)
		list[i]->kind->begin(list[i]->kind->ctx, &list[i]->job);
	pthread_mutex_lock(&r->lock);
}

static void answered(struct runner *r)
{
	struct round *round = &r->round;

	r->asked = r->answered = false;
	if (r->answer) {
		not_answered(r);
		return;
	}
	round->doubted_from = round->doubted_to = 0;
	drop_all(&round->freed);
	if (round->beaten)
		r->beaten_at = round->asked_at;
	if (round->look)
		r->looked_at = round->asked_at;
	if (round->look)
		round->alone = false;
	round->at = round->seen;
	if (round->due_now)
		r->due = round->due;
	return_picks(r, false);
	for (size_t i = 0; i < round->found.count; i++)
		turns_add(r->turns, ((const struct one_text *)round->found.at)[i].value);
	r->wanted |= round->found.count || round->more || r->unasked;
	if (round->strange)
		log_warn("jobs of kinds that this program does not know are left to others",
			LOG_N("jobs", (int64_t)round->strange));
	if (round->lost)
		lease_lost(r);
	else if (!r->stopping)
		begin_all(r);
	round_forget(round); /* what was taken too late goes back with the rest */
}

static int64_t sooner(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void wait_a_while(struct runner *r, int64_t mono, int64_t now)
{
	int64_t until = r->looked_at + r->look_ms;
	struct timespec t;

	if (r->open_count)
		until = sooner(until, r->beaten_at + r->lease_ms / 4);
	if (r->due && !r->stopping)
		until = sooner(until, mono + (r->due > now ? (r->due - now) / 1000 + 1 : 0));
	if (until < r->retry_at)
		until = r->retry_at;
	if (until <= mono) /* a round is under way */
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
			answered(r);
		else if (r->stopping && !r->told_to_stop && !r->asked) {
			r->told_to_stop = true;
			stop_all(r);
			pthread_cond_broadcast(&r->changed);
		} else if (!r->ended && has_to_ask(r, mono, now))
			ask(r, mono, now);
		else
			wait_a_while(r, mono, now);
	}
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

int runner_start(struct runner *r)
{
	struct round *round = &r->round;

	round->work = (struct work){ .run = round_run, .done = round_done, .mode = STEP_BY_STEP };
	round->runner = r;
	round->settings = &r->settings;
	round->lease_us = r->lease_ms * 1000;
	round->taken_last = &round->taken;
	round->alone = store_is_sqlite(r->settings.store);
	r->look_now = true;
	r->started = pthread_create(&r->thread, NULL, runner_main, r) == 0;
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
		wait_until(r, sooner(until, clock_mono_ms() + STOP_POLL_MS));
	r->ended = true;
	pthread_cond_signal(&r->more);
	pthread_mutex_unlock(&r->lock);
	pthread_join(r->thread, NULL);
	pthread_mutex_lock(&r->lock);
	while (r->failed)
		settle(r, r->failed);
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
		destroy(r);
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
