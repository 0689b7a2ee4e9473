/* broker.c - all runs of the process: their number, their ticks and their end; see completion.h. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/id.h"
#include "base/log.h"
#include "base/memory.h"
#include "broker/completion_parts.h"
#include "http/http.h"

enum { EXTEND_MS = RESERVATION_LEASE_S * 1000 / 3, LINGER_MS = 5000, WAIT_MS = 100 };

struct broker *broker_new(const struct broker_settings *settings)
{
	struct broker *b = memory_zeroed(sizeof *b);

	b->settings = *settings;
	b->settings.keys = (struct broker_keys){ 0 };
	pthread_rwlock_init(&b->keys_lock, NULL);
	broker_renew(b, &settings->keys);
	if (!b->settings.runs_max)
		b->settings.runs_max = RUNS_MAX;
	if (!b->settings.extend_ms)
		b->settings.extend_ms = EXTEND_MS;
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->fewer, NULL);
	b->breaker = breaker_new();
	b->reservation = completion_reserving;
	b->settling = completion_settling;
	group_commit_open(&b->reservation, b->settings.store);
	group_commit_open(&b->settling, b->settings.store);
	b->http = async_http_new(b->settings.runs_max);
	if (!b->http) {
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
		async_http_free(b->lanes[i].http);
	async_http_free(b->http);
	breaker_free(b->breaker);
	group_commit_close(&b->reservation);
	group_commit_close(&b->settling);
	broker_renew(b, &(struct broker_keys){ 0 });
	pthread_rwlock_destroy(&b->keys_lock);
	pthread_mutex_destroy(&b->lock);
	pthread_cond_destroy(&b->fewer);
	free(b);
}

const struct broker_settings *broker_settings(const struct broker *b)
{
	return &b->settings;
}

/* ---- the operator's keys ---- */

struct broker_keys broker_keys(struct broker *b, struct arena *a)
{
	const struct broker_keys *now = &b->settings.keys;
	struct broker_keys copy;

	pthread_rwlock_rdlock(&b->keys_lock);
	copy = (struct broker_keys){
		.openai = now->openai ? arena_strdup(a, now->openai) : NULL,
		.anthropic = now->anthropic ? arena_strdup(a, now->anthropic) : NULL,
	};
	pthread_rwlock_unlock(&b->keys_lock);
	return copy;
}

/* True if the one that is held was another. */
static bool renew_key(const char **held, const char *key)
{
	char *former = (char *)*held;

	if (!former == !key && (!key || strcmp(former, key) == 0))
		return false;
	*held = key ? strdup(key) : NULL;
	if (key && !*held)
		abort();
	if (former)
		wipe(former, strlen(former));
	free(former);
	return true;
}

struct broker_renewed broker_renew(struct broker *b, const struct broker_keys *keys)
{
	struct broker_renewed differ;

	pthread_rwlock_wrlock(&b->keys_lock);
	differ.openai = renew_key(&b->settings.keys.openai, keys->openai);
	differ.anthropic = renew_key(&b->settings.keys.anthropic, keys->anthropic);
	pthread_rwlock_unlock(&b->keys_lock);
	return differ;
}

/* ---- whose thread ---- */

void broker_loop_begins(struct broker *b, struct http_loop *loop)
{
	int at = http_loop_index(loop);

	if (at < LANES_MAX && !b->lanes[at].http)
		b->lanes[at] = (struct lane){ loop, async_http_new_on(loop, b->settings.runs_max) };
}

void broker_loop_ends(struct broker *b, struct http_loop *loop)
{
	int at = http_loop_index(loop);

	if (at < LANES_MAX && b->lanes[at].loop == loop && b->lanes[at].http)
		async_http_leave(b->lanes[at].http);
}

static struct async_http *broker_lane_of(const struct broker *b, const struct http_loop *loop)
{
	int at = loop ? http_loop_index(loop) : LANES_MAX;

	if (at < LANES_MAX && b->lanes[at].loop == loop && b->lanes[at].http)
		return b->lanes[at].http;
	return b->http;
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

/* ---- a completion comes and goes ---- */

static const char *keep_asked_text(struct arena *a, const char *text)
{
	return text ? arena_strdup(a, text) : NULL;
}

static struct completion *completion_new(struct broker *b, const struct completion_asked *asked)
{
	struct completion *r = memory_zeroed(sizeof *r);
	struct id id = id_new(NULL);

	r->broker = b;
	r->http = broker_lane_of(b, asked->loop);
	r->asked = *asked;
	r->asked.tenant_id = keep_asked_text(&r->arena, asked->tenant_id);
	r->asked.agent_id = keep_asked_text(&r->arena, asked->agent_id);
	r->asked.user_id = keep_asked_text(&r->arena, asked->user_id);
	r->asked.session_id = keep_asked_text(&r->arena, asked->session_id);
	r->asked.request_id = keep_asked_text(&r->arena, asked->request_id);
	memcpy(r->id, id.text, sizeof r->id);
	buf_init(&r->body, COMPLETION_BODY_MAX);
	pthread_mutex_init(&r->lock, NULL);
	r->holds = 1;
	return r;
}

static void completion_free(struct completion *r)
{
	if (r->replying)
		reply_close(&r->reply);
	buf_free(&r->body);
	held_count(r->broker->settings.held, &r->part, r->asked.tenant_id, 0);
	arena_free(&r->arena);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

static int link_run(struct broker *b, struct completion *r)
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

void completion_let_go(struct completion *r)
{
	struct broker *b = r->broker;
	int holds;

	pthread_mutex_lock(&r->lock);
	INVARIANT(r->holds > 0);
	holds = --r->holds;
	pthread_mutex_unlock(&r->lock);
	if (holds)
		return;
	INVARIANT(r->stage == COMPLETION_OVER && r->carriage == COMPLETION_CARRIED_NOT);
	INVARIANT(r->money == COMPLETION_UNRESERVED);
	pthread_mutex_lock(&b->lock);
	if (r->prev)
		r->prev->next = r->next;
	else
		b->first = r->next;
	if (r->next)
		r->next->prev = r->prev;
	completion_free(r);
	INVARIANT(b->count > 0);
	if (!--b->count)
		pthread_cond_broadcast(&b->fewer);
	pthread_mutex_unlock(&b->lock);
}

int completion_start(
	struct broker *b, const struct completion_asked *asked, struct completion **ret)
{
	struct completion *r = completion_new(b, asked);
	int err = link_run(b, r);

	if (err) {
		completion_free(r);
		return err;
	}
	atomic_fetch_add_explicit(&b->begun, 1, memory_order_relaxed);
	if (ret)
		*ret = r;
	INVARIANT(asked->candidates->count > asked->first);
	completion_next(r);
	return 0;
}

/* ---- from other threads ---- */

static void completion_cancel_locked(struct completion *r)
{
	if (r->cancelled || r->stage == COMPLETION_OVER)
		return;
	r->cancelled = true;
	if (r->carriage == COMPLETION_CARRIED_OUTSIDE)
		async_http_cancel(r->http, &r->transfer);
	completion_unpause(r);
}

void completion_cancel(struct completion *r)
{
	pthread_mutex_lock(&r->lock);
	completion_cancel_locked(r);
	pthread_mutex_unlock(&r->lock);
}

bool completion_is_cancelled(struct completion *r)
{
	bool yes;

	pthread_mutex_lock(&r->lock);
	yes = r->cancelled;
	pthread_mutex_unlock(&r->lock);
	return yes;
}

void completion_hold(struct completion *r)
{
	pthread_mutex_lock(&r->lock);
	r->held = true;
	if (r->carriage == COMPLETION_CARRIED_OUTSIDE)
		async_http_hold(&r->transfer);
	pthread_mutex_unlock(&r->lock);
}

void completion_resume(struct completion *r)
{
	pthread_mutex_lock(&r->lock);
	r->held = false;
	if (r->carriage == COMPLETION_CARRIED_OUTSIDE)
		async_http_resume(r->http, &r->transfer);
	completion_unpause(r);
	pthread_mutex_unlock(&r->lock);
}

static void look_after(struct completion *r, int64_t now_ms)
{
	bool again;

	pthread_mutex_lock(&r->lock);
	if (r->stage != COMPLETION_OVER && r->asked.tick && !r->asked.tick(r->asked.data))
		completion_cancel_locked(r);
	/* Its end has come, but the provider does not close. */
	if (r->stage == COMPLETION_OVER && r->carriage == COMPLETION_CARRIED_OUTSIDE &&
		now_ms - r->over_ms > LINGER_MS)
		async_http_cancel(r->http, &r->transfer);
	completion_unpause(r);
	if (now_ms - r->extended_ms >= r->broker->settings.extend_ms)
		completion_extend(r, now_ms);
	again = r->money == COMPLETION_SETTLE_DUE;
	if (again)
		completion_money_move(r, COMPLETION_SETTLING);
	pthread_mutex_unlock(&r->lock);
	if (again)
		completion_settle_again(r);
}

void broker_tick(struct broker *b)
{
	int64_t now_ms = clock_mono_ms();

	/* Nothing that is done to a completion here ends it on this thread. */
	pthread_mutex_lock(&b->lock);
	for (struct completion *r = b->first; r; r = r->next)
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
	for (struct completion *r = b->first; r; r = r->next)
		completion_cancel(r);
	pthread_mutex_unlock(&b->lock);
	wait_for_none(b, COMPLETION_STOP_MS);
	pthread_mutex_lock(&b->lock);
	if (b->count)
		log_error("model calls were not settled before the end; their leases will be",
			LOG_N("calls", (int64_t)b->count));
	pthread_mutex_unlock(&b->lock);
}

/* ---- maintenance ---- */

struct maintenance_task {
	struct work work;
	struct store *store;
	struct arena arena;
	int64_t now, lost;
};

static int maintenance_run(struct work *w, struct db *db)
{
	struct maintenance_task *c = (struct maintenance_task *)w;

	arena_reset(&c->arena);
	return budget_recover(db, &c->arena, c->now, &c->lost);
}

static void maintenance_done(struct work *w, int err)
{
	struct maintenance_task *c = (struct maintenance_task *)w;

	/* After an error the next round tries again. */
	if (!err && c->lost)
		log_warn("settled model calls of a process that is gone, as estimated",
			LOG_N("calls", c->lost));
	if (!err && c->lost == RECOVERED_AT_ONCE && store_submit(c->store, w) == 0)
		return; /* there may be more */
	arena_free(&c->arena);
	free(c);
}

void broker_maintain(struct broker *b)
{
	struct maintenance_task *c;

	if (!b->settings.accounting || !(c = calloc(1, sizeof *c)))
		return;
	c->work = (struct work){
		.run = maintenance_run, .done = maintenance_done, .mode = READ_WRITE
	};
	c->store = b->settings.store;
	c->now = clock_now_us();
	budget_forget(c->store, c->now);
	if (store_submit(c->store, &c->work))
		maintenance_done(&c->work, ERR_BUSY);
}
