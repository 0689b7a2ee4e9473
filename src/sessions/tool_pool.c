/* tool_pool.c - threads for tools that take their time; see tool_run.h.
 *
 * Calls wait in a line of their tenant.  A tenant has at most a quarter of
 * the threads, and the lines are served in turn, so that one tenant's
 * hanging tools hold up nobody else's.  A thread is started when there is
 * more to do than idle ones could, and ends when it has been idle for a while. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "sessions/mcp_keep.h"
#include "sessions/tool_outside.h"
#include "sessions/tool_text.h"

enum {
	THREADS_MOST = 128,
	SHARES = 4,		  /* a tenant has one of so many */
	TENANT_WAITING_MAX = 256, /* calls */
	WAITING_MAX = 4096,
	WAIT_MS = 60000, /* in line; then it is answered as failed */
	IDLE_S = 10,
};

struct line;

struct tool_work {
	struct tool_work *next, *prev; /* in its line, among the ended, or among those under way */
	struct tool_pool *pool;
	struct line *line;
	struct arena arena;
	struct held_tool tool;
	struct tool_asked in;
	int64_t queued_ms;
	bool waiting;
	_Atomic bool stop;
	void (*done)(void *data, const struct tool_answer *answer);
	void *data;
};

struct works {
	struct tool_work *first, *last;
	size_t count;
};

/* What one tenant has waiting and under way. */
struct line {
	struct line *next;
	struct works waiting;
	size_t running, held; /* held: all that point here, and those that were given up too */
	char tenant_id[];
};

struct tool_pool {
	pthread_mutex_t lock;
	pthread_cond_t more, gone;
	struct tool_outside outside;
	struct line *lines; /* those with anything, next in turn first */
	struct works under_way, ended;
	size_t waiting, threads, idle, most, share;
	_Atomic bool stopping;
};

/* ---- lists; all with the lock held ---- */

static void works_add(struct works *l, struct tool_work *w)
{
	w->next = NULL;
	w->prev = l->last;
	*(l->last ? &l->last->next : &l->first) = w;
	l->last = w;
	l->count++;
}

static void works_remove(struct works *l, struct tool_work *w)
{
	*(w->prev ? &w->prev->next : &l->first) = w->next;
	*(w->next ? &w->next->prev : &l->last) = w->prev;
	l->count--;
}

static struct line *line_of(struct tool_pool *p, const char *tenant_id)
{
	struct line **at = &p->lines, *line;
	size_t len = strlen(tenant_id) + 1;

	for (; *at; at = &(*at)->next)
		if (strcmp((*at)->tenant_id, tenant_id) == 0)
			return *at;
	line = calloc(1, sizeof *line + len);
	if (!line)
		abort();
	memcpy(line->tenant_id, tenant_id, len);
	*at = line;
	return line;
}

/* Out of the list; behind all others again if there is still something to it. */
static void line_turn(struct tool_pool *p, struct line *line)
{
	struct line **at = &p->lines;

	while (*at != line)
		at = &(*at)->next;
	*at = line->next;
	line->next = NULL;
	if (!line->held) {
		free(line);
		return;
	}
	while (*at)
		at = &(*at)->next;
	*at = line;
}

static void leave_line(struct tool_pool *p, struct tool_work *w)
{
	works_remove(&w->line->waiting, w);
	w->waiting = false;
	p->waiting--;
}

/* The next call that may run now, or NULL. */
static struct tool_work *take(struct tool_pool *p)
{
	struct tool_work *w = p->ended.first;

	if (w) {
		works_remove(&p->ended, w);
	} else {
		for (struct line *line = p->lines; line && !w; line = line->next)
			if (line->waiting.first && line->running < p->share)
				w = line->waiting.first;
		if (!w)
			return NULL;
		leave_line(p, w);
	}
	w->line->running++;
	line_turn(p, w->line);
	works_add(&p->under_way, w);
	return w;
}

/* ---- a call ---- */

static void run(struct tool_pool *p, struct tool_work *w)
{
	struct tool_answer answer = { .text = "" };

	if (!w->stop && clock_mono_ms() - w->queued_ms > WAIT_MS)
		tool_answer_fail(&w->arena, &answer,
			"The tool was not called: too many calls of tools were waiting before it.");
	else if (!w->stop)
		tool_outside_run(&p->outside, &w->arena, &w->in, &w->stop, &answer);
	if (w->stop)
		tool_answer_fail(&w->arena, &answer, "The call was cancelled.");
	w->done(w->data, &answer);
}

static void work_free(struct tool_work *w)
{
	arena_wipe(&w->arena);
	free(w);
}

/* Sessions with servers that nobody uses any more are ended by whoever has nothing else to do. */
static void tidy(struct tool_pool *p)
{
	pthread_mutex_unlock(&p->lock);
	while (!p->stopping && tool_outside_tidy(&p->outside, &p->stopping))
		;
	pthread_mutex_lock(&p->lock);
}

/* False if nothing came for a while, and nothing needs looking after. */
static bool await_more(struct tool_pool *p)
{
	struct timespec until;
	int err;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += IDLE_S;
	p->idle++;
	err = pthread_cond_timedwait(&p->more, &p->lock, &until);
	p->idle--;
	if (err != ETIMEDOUT)
		return true;
	tidy(p);
	return p->waiting || p->ended.count || (p->threads == 1 && mcp_keep_any(p->outside.mcp));
}

static void *pool_main(void *arg)
{
	struct tool_pool *p = arg;
	bool on = true;

	pthread_mutex_lock(&p->lock);
	while (on) {
		struct tool_work *w = take(p);

		if (!w) {
			on = !p->stopping && p->threads <= p->most && await_more(p);
			continue;
		}
		pthread_mutex_unlock(&p->lock);
		run(p, w);
		pthread_mutex_lock(&p->lock);
		works_remove(&p->under_way, w);
		w->line->running--;
		w->line->held--;
		line_turn(p, w->line);
		work_free(w);
	}
	p->threads--;
	pthread_cond_signal(&p->gone);
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* Sees to it that somebody looks; false if there is nobody and nobody can be had. */
static bool rouse(struct tool_pool *p, size_t most)
{
	pthread_t thread;

	if (p->waiting + p->ended.count > p->idle && p->threads < most &&
		!pthread_create(&thread, NULL, pool_main, p)) {
		pthread_detach(thread);
		p->threads++;
	}
	pthread_cond_signal(&p->more);
	return p->threads > 0;
}

/* ---- from outside ---- */

struct tool_pool *tool_pool_new(const struct tool_pool_settings *settings)
{
	struct tool_pool *p = calloc(1, sizeof *p);
	pthread_condattr_t monotonic;

	if (!p)
		abort();
	p->outside = (struct tool_outside){
		.vault = settings->vault, .reach = settings->reach, .mcp = mcp_keep_new()
	};
	p->most = settings->threads_most ? settings->threads_most : THREADS_MOST;
	p->share = p->most > SHARES ? p->most / SHARES : 1;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->more, &monotonic);
	pthread_cond_init(&p->gone, &monotonic);
	pthread_condattr_destroy(&monotonic);
	return p;
}

/* Takes it out of its line, to be answered by the next thread that is free. */
static void give_up(struct tool_pool *p, struct tool_work *w)
{
	w->stop = true;
	if (!w->waiting)
		return;
	leave_line(p, w);
	works_add(&p->ended, w);
	rouse(p, p->most + 1);
}

void tool_pool_free(struct tool_pool *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->stopping = true;
	for (struct line *line = p->lines; line; line = line->next)
		while (line->waiting.first)
			give_up(p, line->waiting.first);
	for (struct tool_work *w = p->under_way.first; w; w = w->next)
		w->stop = true;
	pthread_cond_broadcast(&p->more);
	while (p->threads)
		pthread_cond_wait(&p->gone, &p->lock);
	pthread_mutex_unlock(&p->lock);
	pthread_cond_destroy(&p->more);
	pthread_cond_destroy(&p->gone);
	pthread_mutex_destroy(&p->lock);
	mcp_keep_free(p->outside.mcp);
	free(p);
}

static const char *copied(struct arena *a, const char *text)
{
	return text ? arena_strdup(a, text) : NULL;
}

static struct tool_work *work_new(struct tool_pool *p, const struct tool_asked *in)
{
	struct tool_work *w = calloc(1, sizeof *w);
	const struct held_tool *t = in->tool;
	struct arena *a;

	if (!w)
		abort();
	a = &w->arena;
	w->pool = p;
	w->tool = *t;
	w->tool.id = copied(a, t->id);
	w->tool.name = copied(a, t->name);
	w->tool.kind = copied(a, t->kind);
	w->tool.description = copied(a, t->description);
	w->tool.input_schema = copied(a, t->input_schema);
	w->tool.config = copied(a, t->config);
	w->tool.sealed = copied(a, t->sealed);
	w->tool.grant_id = copied(a, t->grant_id);
	w->tool.configuration = copied(a, t->configuration);
	w->in = (struct tool_asked){
		.tenant_id = copied(a, in->tenant_id),
		.agent_id = copied(a, in->agent_id),
		.session_id = copied(a, in->session_id),
		.user_id = copied(a, in->user_id),
		.call_id = copied(a, in->call_id),
		.tool = &w->tool,
		.arguments = copied(a, in->arguments),
		.now = in->now,
	};
	w->queued_ms = clock_mono_ms();
	return w;
}

int tool_run_start(struct tool_pool *p, const struct tool_asked *in,
	void (*done)(void *data, const struct tool_answer *answer), void *data,
	struct tool_work **ret)
{
	struct tool_work *w = work_new(p, in);
	int err = 0;

	w->done = done;
	w->data = data;
	pthread_mutex_lock(&p->lock);
	w->line = line_of(p, in->tenant_id);
	w->line->held++;
	if (p->stopping)
		err = ERR_STOPPING;
	else if (w->line->waiting.count >= TENANT_WAITING_MAX || p->waiting >= WAITING_MAX)
		err = ERR_BUSY;
	if (!err) {
		works_add(&w->line->waiting, w);
		w->waiting = true;
		p->waiting++;
		*ret = w;
		if (!rouse(p, p->most)) {
			leave_line(p, w);
			err = ERR_BUSY;
		}
	}
	if (err) {
		w->line->held--;
		line_turn(p, w->line);
	}
	pthread_mutex_unlock(&p->lock);
	if (err)
		work_free(w);
	return err;
}

void tool_run_cancel(struct tool_work *w)
{
	struct tool_pool *p = w->pool;

	pthread_mutex_lock(&p->lock);
	give_up(p, w);
	pthread_mutex_unlock(&p->lock);
}
