/* sessions.c - the turns of this process: how they begin, are told to stop, and are waited for; see
 * sessions.h. */
#include "sessions/sessions.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "sessions/turn.h"

enum { READING_THREADS = 2, READING_WAITING_MAX = 10000 };

#define HOLD_US (7 * DAY_US)

/* ---- nobody wants it any more ---- */

static void cancel_errands(struct turn *t)
{
	for (struct errand *e = t->errands; e; e = e->next)
		if (e->state == ERRAND_AWAY && e->work)
			tool_run_cancel(e->work);
}

static void cancel_turn(struct turn *t)
{
	pthread_mutex_lock(&t->lock);
	t->cancelled = true;
	if (t->run)
		completion_cancel(t->run);
	cancel_errands(t);
	pthread_mutex_unlock(&t->lock);
}

/* "<session_id> <run_id>"; what a lost notice would have told, the next step finds out. */
static void on_cancel(void *ctx, const char *text)
{
	struct sessions *s = ctx;

	if (!text || strlen(text) < 2 * (size_t)ID_LEN + 1)
		return;
	pthread_mutex_lock(&s->lock);
	for (struct turn *t = s->first; t; t = t->next)
		if (strncmp(t->job->subject, text, ID_LEN) == 0 &&
			strcmp(t->run_id, text + ID_LEN + 1) == 0)
			cancel_turn(t);
	pthread_mutex_unlock(&s->lock);
}

/* ---- a turn comes and goes ---- */

bool turn_is_handed_over(const struct turn *t)
{
	return atomic_load(&t->stopping) && !store_is_sqlite(t->s->settings.store);
}

void turn_hold(struct turn *t)
{
	pthread_mutex_lock(&t->lock);
	t->holds++;
	pthread_mutex_unlock(&t->lock);
}

static void turn_free(struct turn *t)
{
	while (t->errands) {
		struct errand *e = t->errands;

		t->errands = e->next;
		arena_free(&e->arena);
		free(e);
	}
	if (t->flow.state != FLOW_NONE)
		collect_close(&t->heard);
	turn_carry_end(t);
	arena_free(&t->flow.arena);
	arena_free(&t->flow.scratch);
	arena_free(&t->mind);
	arena_free(&t->step);
	arena_free(&t->arena);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

void turn_let_go(struct turn *t)
{
	struct sessions *s = t->s;
	struct job *job = t->job;
	int holds, err;

	pthread_mutex_lock(&t->lock);
	INVARIANT(t->holds > 0);
	holds = --t->holds;
	pthread_mutex_unlock(&t->lock);
	if (holds)
		return;
	INVARIANT(t->stage == TURN_LEFT && !t->run);
	err = t->verdict;
	pthread_mutex_lock(&s->lock);
	if (t->prev)
		t->prev->next = t->next;
	else
		s->first = t->next;
	if (t->next)
		t->next->prev = t->prev;
	pthread_mutex_unlock(&s->lock);
	turn_free(t);
	job_over(job, err);
	pthread_mutex_lock(&s->lock);
	INVARIANT(s->count > 0);
	if (!--s->count)
		pthread_cond_broadcast(&s->fewer);
	pthread_mutex_unlock(&s->lock);
}

/* The payload is {"run_id":"..."}, as tx_job() writes it. */
static bool read_run_id(const char *payload, char out[ID_LEN + 1])
{
	static const char head[] = "{\"run_id\":\"";
	size_t n = sizeof head - 1;

	if (strncmp(payload, head, n) != 0 || strlen(payload) < n + ID_LEN)
		return false;
	memcpy(out, payload + n, ID_LEN);
	out[ID_LEN] = '\0';
	return true;
}

static void begin_turn_job(void *ctx, struct job *job)
{
	struct sessions *s = ctx;
	struct turn *t = memory_zeroed(sizeof *t);

	t->s = s;
	t->job = job;
	t->holds = 1;
	if (!read_run_id(job->payload, t->run_id))
		memset(t->run_id, '-', ID_LEN); /* of no run: the first step takes the job off */
	pthread_mutex_init(&t->lock, NULL);
	atomic_fetch_add_explicit(&s->turns, 1, memory_order_relaxed);
	pthread_mutex_lock(&s->lock);
	s->count++;
	t->next = s->first;
	if (t->next)
		t->next->prev = t;
	s->first = t;
	pthread_mutex_unlock(&s->lock);
	turn_begin(t);
}

/* Where others can take the session over, they do so at once: an answer that is on its way is begun anew by them.  A
 * tool is waited for, since what it does may be half done. */
static void turn_stop(struct turn *t)
{
	pthread_mutex_lock(&t->lock);
	atomic_store(&t->stopping, true);
	if (t->run && turn_is_handed_over(t))
		completion_cancel(t->run);
	pthread_mutex_unlock(&t->lock);
}

static void stop_turn_job(void *ctx, struct job *job)
{
	struct sessions *s = ctx;

	pthread_mutex_lock(&s->lock);
	for (struct turn *t = s->first; t; t = t->next)
		if (t->job == job)
			turn_stop(t);
	pthread_mutex_unlock(&s->lock);
}

/* ---- the whole ---- */

struct sessions *sessions_new(const struct sessions_settings *settings)
{
	struct sessions *s = memory_zeroed(sizeof *s);

	s->settings = *settings;
	sessions_hold(s, settings->hold_max_us);
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->fewer, NULL);
	store_listen(settings->store, SESSION_CANCEL_CHANNEL, on_cancel, s);
	return s;
}

void sessions_hold(struct sessions *s, int64_t hold_max_us)
{
	atomic_store(&s->hold_max_us, hold_max_us ? hold_max_us : HOLD_US);
}

void sessions_keep_files(struct sessions *s, struct bucket *bucket, struct pool *disk)
{
	s->bucket = bucket;
	s->disk = disk;
}

void sessions_join(struct sessions *s, struct broker *broker, struct tool_pool *tools)
{
	/* What a model is told is gathered from many rows before every call; on SQLite that would hold up every
	 * write if the writer did it. */
	static const struct pool_settings reading = { .threads = READING_THREADS,
		.threads_kept = READING_THREADS,
		.waiting = READING_WAITING_MAX,
		.waiting_each = READING_WAITING_MAX,
		.keeps_view = true };

	s->broker = broker;
	s->tools = tools;
	if (!s->reading && store_is_sqlite(s->settings.store))
		s->reading = pool_new(&reading);
}

struct job_kind sessions_job_kind(struct sessions *s)
{
	return (struct job_kind){ .name = "session.run",
		.begin = begin_turn_job,
		.stop = stop_turn_job,
		.condemned = begin_turn_job,
		.ctx = s };
}

void sessions_stop(struct sessions *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	while (s->count)
		pthread_cond_wait(&s->fewer, &s->lock);
	pthread_mutex_unlock(&s->lock);
	pool_free(s->reading);
	s->reading = NULL;
}

void sessions_free(struct sessions *s)
{
	if (!s)
		return;
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->fewer);
	free(s);
}

struct sessions_stats sessions_stats(struct sessions *s)
{
	struct sessions_stats out = { .turns = s->turns,
		.answers = s->answers,
		.tool_calls = s->tool_calls,
		.failed = s->failed };

	pthread_mutex_lock(&s->lock);
	out.open = s->count;
	pthread_mutex_unlock(&s->lock);
	return out;
}
