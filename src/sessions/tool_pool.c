/* tool_pool.c - tools that take their time, on threads of their own; see tool_run.h.
 *
 * A tenant has at most a quarter of the threads, so that one tenant's hanging
 * tools hold up nobody else's. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "sessions/mcp_keep.h"
#include "sessions/tool_outside.h"
#include "sessions/tool_text.h"
#include "store/pool.h"

enum {
	THREADS_MOST = 128,
	SHARES = 4,		  /* a tenant has one of so many */
	TENANT_WAITING_MAX = 256, /* calls */
	WAITING_MAX = 4096,
	WAIT_MS = 60000, /* in line; then it is answered as failed */
	IDLE_S = 10,
	GOODBYES_MS = 2000, /* for telling servers, at the end, that nobody comes back */
};

struct tool_work {
	struct work work;
	struct tool_pool *pool;
	struct arena arena;
	struct held_tool tool;
	struct tool_asked in;
	struct tool_answer answer;
	int64_t queued_ms;
	void (*done)(void *data, const struct tool_answer *answer);
	void *data;
};

struct tool_pool {
	struct pool *pool;
	struct tool_outside outside;
};

/* ---- a call ---- */

static int run_tool(struct work *work, struct db *none)
{
	struct tool_work *w = (struct tool_work *)work;

	(void)none;
	if (!work->withdrawn && clock_mono_ms() - w->queued_ms > WAIT_MS)
		tool_answer_fail(&w->arena, &w->answer,
			"The tool was not called: too many calls of tools were waiting before it.");
	else if (!work->withdrawn)
		tool_outside_run(
			&w->pool->outside, &w->arena, &w->in, &work->withdrawn, &w->answer);
	if (work->withdrawn)
		tool_answer_fail(&w->arena, &w->answer, "The call was cancelled.");
	return 0;
}

static void work_free(struct tool_work *w)
{
	arena_wipe(&w->arena);
	free(w);
}

static void tool_ran(struct work *work, int err)
{
	struct tool_work *w = (struct tool_work *)work;

	(void)err;
	w->done(w->data, &w->answer);
	work_free(w);
}

/* Sessions with servers that nobody uses any more are ended by whoever has nothing else to do. */
static bool look_after_servers(void *ctx, const _Atomic bool *stopping)
{
	struct tool_pool *p = ctx;

	while (!*stopping && tool_outside_tidy(&p->outside, stopping))
		;
	return mcp_keep_any(p->outside.mcp);
}

/* ---- from outside ---- */

struct tool_pool *tool_pool_new(const struct tool_pool_settings *settings)
{
	struct tool_pool *p = memory_zeroed(sizeof *p);
	size_t most = settings->threads_most ? settings->threads_most : THREADS_MOST;

	p->outside = (struct tool_outside){
		.vault = settings->vault, .egress = settings->egress, .mcp = mcp_keep_new()
	};
	p->pool = pool_new(&(struct pool_settings){ .threads = most,
		.threads_left = most - most / SHARES,
		.idle_s = IDLE_S,
		.waiting = WAITING_MAX,
		.waiting_each = TENANT_WAITING_MAX,
		.withdraws = true,
		.idle = look_after_servers,
		.ctx = p });
	return p;
}

struct pool *tool_pool_threads(struct tool_pool *p)
{
	return p->pool;
}

void tool_pool_free(struct tool_pool *p)
{
	if (!p)
		return;
	pool_free(p->pool);
	tool_outside_end(&p->outside, GOODBYES_MS);
	mcp_keep_free(p->outside.mcp);
	free(p);
}

static const char *copy_asked_text(struct arena *a, const char *text)
{
	return text ? arena_strdup(a, text) : NULL;
}

static struct tool_work *work_new(struct tool_pool *p, const struct tool_asked *in)
{
	struct tool_work *w = memory_zeroed(sizeof *w);
	const struct held_tool *t = in->tool;
	struct arena *a;

	a = &w->arena;
	w->work = (struct work){ .run = run_tool, .done = tool_ran };
	w->answer.text = "";
	w->pool = p;
	w->tool = *t;
	w->tool.id = copy_asked_text(a, t->id);
	w->tool.name = copy_asked_text(a, t->name);
	w->tool.kind = copy_asked_text(a, t->kind);
	w->tool.description = copy_asked_text(a, t->description);
	w->tool.input_schema = copy_asked_text(a, t->input_schema);
	w->tool.config = copy_asked_text(a, t->config);
	w->tool.sealed = copy_asked_text(a, t->sealed);
	w->tool.grant_id = copy_asked_text(a, t->grant_id);
	w->tool.configuration = copy_asked_text(a, t->configuration);
	w->in = (struct tool_asked){
		.tenant_id = copy_asked_text(a, in->tenant_id),
		.agent_id = copy_asked_text(a, in->agent_id),
		.session_id = copy_asked_text(a, in->session_id),
		.user_id = copy_asked_text(a, in->user_id),
		.call_id = copy_asked_text(a, in->call_id),
		.tool = &w->tool,
		.arguments = copy_asked_text(a, in->arguments),
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
	int err;

	w->done = done;
	w->data = data;
	*ret = w;
	err = pool_submit(p->pool, w->in.tenant_id, &w->work);
	if (err)
		work_free(w);
	return err;
}

void tool_run_cancel(struct tool_work *w)
{
	pool_withdraw(w->pool->pool, &w->work);
}
