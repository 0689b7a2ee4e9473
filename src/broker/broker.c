/* broker.c - all runs of the process: their number, their ticks and their end; see run.h. */
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/log.h"
#include "broker/run_parts.h"
#include "http/http.h"

enum { EXTEND_MS = BOOKING_LEASE_S * 1000 / 3, LINGER_MS = 5000, WAIT_MS = 100 };

struct broker *broker_new(const struct broker_settings *settings)
{
	struct broker *b = calloc(1, sizeof *b);

	if (!b)
		abort();
	b->settings = *settings;
	if (!b->settings.runs_max)
		b->settings.runs_max = RUNS_MAX;
	if (!b->settings.extend_ms)
		b->settings.extend_ms = EXTEND_MS;
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->fewer, NULL);
	b->breaker = breaker_new();
	b->booking = run_booking;
	b->settling = run_settling;
	till_open(&b->booking, b->settings.store);
	till_open(&b->settling, b->settings.store);
	b->traffic = traffic_new(b->settings.runs_max);
	if (!b->traffic) {
		broker_free(b);
		return NULL;
	}
	return b;
}

void broker_free(struct broker *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < LANES_MAX; i++)
		traffic_free(b->lanes[i].traffic);
	traffic_free(b->traffic);
	breaker_free(b->breaker);
	till_close(&b->booking);
	till_close(&b->settling);
	pthread_mutex_destroy(&b->lock);
	pthread_cond_destroy(&b->fewer);
	free(b);
}

const struct broker_settings *broker_settings(const struct broker *b)
{
	return &b->settings;
}

/* ---- whose thread ---- */

void broker_loop_begins(struct broker *b, struct http_loop *loop)
{
	int at = http_loop_index(loop);

	if (at < LANES_MAX && !b->lanes[at].traffic)
		b->lanes[at] = (struct lane){ loop, traffic_new_on(loop, b->settings.runs_max) };
}

void broker_loop_ends(struct broker *b, struct http_loop *loop)
{
	int at = http_loop_index(loop);

	if (at < LANES_MAX && b->lanes[at].loop == loop && b->lanes[at].traffic)
		traffic_leave(b->lanes[at].traffic);
}

static struct traffic *lane_of(const struct broker *b, const struct http_loop *loop)
{
	int at = loop ? http_loop_index(loop) : LANES_MAX;

	if (at < LANES_MAX && b->lanes[at].loop == loop && b->lanes[at].traffic)
		return b->lanes[at].traffic;
	return b->traffic;
}

struct broker_stats broker_stats(struct broker *b)
{
	struct broker_stats s = { .begun = b->begun,
		.finished = b->finished,
		.failed = b->failed,
		.cancelled = b->cancelled,
		.refused = b->refused,
		.failovers = b->failovers };

	pthread_mutex_lock(&b->lock);
	s.open = b->count;
	pthread_mutex_unlock(&b->lock);
	return s;
}

/* ---- a run comes and goes ---- */

static const char *kept(struct arena *a, const char *text)
{
	return text ? arena_strdup(a, text) : NULL;
}

static struct run *run_new(struct broker *b, const struct run_asked *asked)
{
	struct run *r = calloc(1, sizeof *r);
	struct id id = id_new(NULL);

	if (!r)
		abort();
	r->broker = b;
	r->traffic = lane_of(b, asked->loop);
	r->asked = *asked;
	r->asked.tenant_id = kept(&r->arena, asked->tenant_id);
	r->asked.agent_id = kept(&r->arena, asked->agent_id);
	r->asked.user_id = kept(&r->arena, asked->user_id);
	r->asked.session_id = kept(&r->arena, asked->session_id);
	memcpy(r->id, id.text, sizeof r->id);
	buf_init(&r->body, RUN_BODY_MAX);
	pthread_mutex_init(&r->lock, NULL);
	r->holds = 1;
	return r;
}

static void run_free(struct run *r)
{
	if (r->replying)
		reply_close(&r->reply);
	buf_free(&r->body);
	arena_free(&r->arena);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

static int link_in(struct broker *b, struct run *r)
{
	int err;

	pthread_mutex_lock(&b->lock);
	err = b->stopping ? ERR_STOPPING : b->count >= b->settings.runs_max ? ERR_BUSY : 0;
	if (!err) {
		b->count++;
		r->next = b->first;
		if (r->next)
			r->next->prev = r;
		b->first = r;
	}
	pthread_mutex_unlock(&b->lock);
	return err;
}

void run_let_go(struct run *r)
{
	struct broker *b = r->broker;
	int holds;

	pthread_mutex_lock(&r->lock);
	holds = --r->holds;
	pthread_mutex_unlock(&r->lock);
	if (holds)
		return;
	pthread_mutex_lock(&b->lock);
	if (r->prev)
		r->prev->next = r->next;
	else
		b->first = r->next;
	if (r->next)
		r->next->prev = r->prev;
	run_free(r);
	if (!--b->count)
		pthread_cond_broadcast(&b->fewer);
	pthread_mutex_unlock(&b->lock);
}

int run_start(struct broker *b, const struct run_asked *asked, struct run **ret)
{
	struct run *r = run_new(b, asked);
	int err = link_in(b, r);

	if (err) {
		run_free(r);
		return err;
	}
	atomic_fetch_add_explicit(&b->begun, 1, memory_order_relaxed);
	if (ret)
		*ret = r;
	run_next(r); /* a plan has at least one */
	return 0;
}

/* ---- from other threads ---- */

static void cancel(struct run *r)
{
	if (r->cancelled || r->is_over)
		return;
	r->cancelled = true;
	if (r->in_transfer)
		traffic_cancel(r->traffic, &r->transfer);
	run_unpark(r);
}

void run_cancel(struct run *r)
{
	pthread_mutex_lock(&r->lock);
	cancel(r);
	pthread_mutex_unlock(&r->lock);
}

bool run_is_cancelled(struct run *r)
{
	bool yes;

	pthread_mutex_lock(&r->lock);
	yes = r->cancelled;
	pthread_mutex_unlock(&r->lock);
	return yes;
}

void run_hold(struct run *r)
{
	pthread_mutex_lock(&r->lock);
	r->held = true;
	if (r->in_transfer)
		traffic_hold(&r->transfer);
	pthread_mutex_unlock(&r->lock);
}

void run_resume(struct run *r)
{
	pthread_mutex_lock(&r->lock);
	r->held = false;
	if (r->in_transfer)
		traffic_resume(r->traffic, &r->transfer);
	run_unpark(r);
	pthread_mutex_unlock(&r->lock);
}

static void look_after(struct run *r, int64_t now_ms)
{
	bool again;

	pthread_mutex_lock(&r->lock);
	if (!r->is_over && r->asked.tick && !r->asked.tick(r->asked.data))
		cancel(r);
	/* Its end has come, but the provider does not close. */
	if (r->is_over && r->in_transfer && now_ms - r->over_ms > LINGER_MS)
		traffic_cancel(r->traffic, &r->transfer);
	run_unpark(r);
	if (now_ms - r->extended_ms >= r->broker->settings.extend_ms)
		run_extend(r, now_ms);
	again = r->settle_due;
	r->settle_due = false;
	pthread_mutex_unlock(&r->lock);
	if (again)
		run_settle_again(r);
}

void broker_tick(struct broker *b)
{
	int64_t now_ms = clock_mono_ms();

	/* Nothing that is done to a run here ends it on this thread. */
	pthread_mutex_lock(&b->lock);
	for (struct run *r = b->first; r; r = r->next)
		look_after(r, now_ms);
	pthread_mutex_unlock(&b->lock);
}

/* ---- the end ---- */

static void wait_for_none(struct broker *b, int ms)
{
	int64_t end = clock_mono_ms() + ms;

	pthread_mutex_lock(&b->lock);
	while (b->count && clock_mono_ms() < end) {
		struct timespec t;

		clock_gettime(CLOCK_REALTIME, &t);
		t.tv_nsec += WAIT_MS * 1000000L;
		t.tv_sec += t.tv_nsec / 1000000000L;
		t.tv_nsec %= 1000000000L;
		pthread_cond_timedwait(&b->fewer, &b->lock, &t);
		pthread_mutex_unlock(&b->lock);
		broker_tick(b);
		pthread_mutex_lock(&b->lock);
	}
	pthread_mutex_unlock(&b->lock);
}

void broker_stop(struct broker *b, int grace_ms)
{
	if (!b)
		return;
	pthread_mutex_lock(&b->lock);
	b->stopping = true;
	pthread_mutex_unlock(&b->lock);
	wait_for_none(b, grace_ms);
	pthread_mutex_lock(&b->lock);
	for (struct run *r = b->first; r; r = r->next)
		run_cancel(r);
	pthread_mutex_unlock(&b->lock);
	wait_for_none(b, RUN_STOP_MS);
	pthread_mutex_lock(&b->lock);
	if (b->count)
		log_error("model calls were not settled before the end; their leases will be",
			LOG_N("calls", (int64_t)b->count));
	pthread_mutex_unlock(&b->lock);
}

/* ---- chores ---- */

struct chore {
	struct work work;
	struct arena arena;
	int64_t now, lost;
};

static int chore_run(struct work *w, struct db *db)
{
	struct chore *c = (struct chore *)w;
	int err;

	arena_reset(&c->arena);
	err = budget_recover(db, &c->arena, c->now, &c->lost);
	return err ? err : budget_forget(db, c->now);
}

static void chore_done(struct work *w, int err)
{
	struct chore *c = (struct chore *)w;

	/* After an error the next round tries again. */
	if (!err && c->lost)
		log_warn("settled model calls of a process that is gone, as estimated",
			LOG_N("calls", c->lost));
	arena_free(&c->arena);
	free(c);
}

void broker_chores(struct broker *b)
{
	struct chore *c;

	if (!b->settings.accounting || !(c = calloc(1, sizeof *c)))
		return;
	c->work = (struct work){ .run = chore_run, .done = chore_done, .mode = READ_WRITE };
	c->now = clock_now_us();
	if (store_submit(b->settings.store, &c->work))
		chore_done(&c->work, ERR_BUSY);
}
