/* run_watch.c - see run_watch.h.
 *
 *   watching <-> looking -> ended
 *
 * While it looks into the store the watch is paused, so that only one thread
 * at a time has anything to do with it.  The exchange ends when the watch is
 * gone and no look is under way, whichever is later. */
#include "api/run_watch.h"

#include <pthread.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "call/chores.h"
#include "call/steps.h"

enum { OUT_MAX = 64 << 20 };

struct run_watch {
	struct call *c;
	struct run_watch_asked in;
	struct buf out;
	struct arena scratch;
	bool worked, rested;   /* of whoever has the event or the look */
	int look_err, refused; /* refused: why its caller may follow it no more */
	struct RunObject run;
	struct list words, waiting;
	struct work work;

	pthread_mutex_t lock;
	struct watch *watch; /* NULL: gone */
	bool looking;
};

struct buf *run_watch_out(struct run_watch *w)
{
	return &w->out;
}

struct arena *run_watch_scratch(struct run_watch *w)
{
	return &w->scratch;
}

struct list run_watch_waiting(struct run_watch *w)
{
	return w->waiting;
}

struct call *run_watch_call(struct run_watch *w)
{
	return w->c;
}

/* ---- the end ---- */

static void finish(struct run_watch *w)
{
	struct http_exchange *x = w->c->x;
	struct problem cause = { .err = w->look_err  ? w->look_err
					: w->refused ? w->refused
						     : ERR_STOPPING };
	bool whole = w->rested;

	if (!whole && w->in.streams) {
		w->out.len = 0;
		buf_lit(&w->out, "event: error\ndata: ");
		openai_problem(&w->out, &cause);
		buf_lit(&w->out, "\n\n");
		http_stream_write(x, w->out.at, w->out.len);
	} else if (!whole) {
		call_write_problem(w->c, &cause);
	}
	arena_free(&w->scratch);
	if (w->in.streams) {
		buf_free(&w->out);
		http_stream_end(x, true);
	} else {
		if (whole)
			buf_put(&x->reply.body, w->out.at, w->out.len);
		buf_free(&w->out);
		http_finish(x);
	}
}

static void gone(void *ctx)
{
	struct run_watch *w = ctx;
	bool looking;

	pthread_mutex_lock(&w->lock);
	w->watch = NULL;
	looking = w->looking;
	pthread_mutex_unlock(&w->lock);
	if (!looking)
		finish(w);
}

/* ---- what was written goes out ---- */

static enum http_flow flush(struct run_watch *w)
{
	enum http_flow flow = HTTP_STREAM_OPEN;

	if (!w->in.streams || !w->out.len)
		return flow;
	flow = http_stream_write(w->c->x, w->out.at, w->out.len);
	w->out.len = 0;
	return flow;
}

/* On the loop: the peer has taken what there was, or is gone. */
static void on_room(struct http_exchange *x)
{
	struct run_watch *w = ((struct call *)x->data)->own;

	pthread_mutex_lock(&w->lock);
	if (w->watch && !w->looking)
		hub_resume(w->watch);
	pthread_mutex_unlock(&w->lock);
}

/* ---- looking into the store ---- */

static int look(struct work *work, struct db *db)
{
	struct run_watch *w = (struct run_watch *)((char *)work - offsetof(struct run_watch, work));
	int err = run_view_read(db, &w->scratch, &w->in.at, &w->run);

	if (err || !run_rests(w->run.status))
		return err;
	err = run_view_words(db, &w->scratch, &w->in.at, w->in.behind, &w->words);
	return err ? err : run_view_waiting(db, &w->scratch, &w->in.at, &w->waiting);
}

static void looked(struct work *work, int err)
{
	struct run_watch *w = (struct run_watch *)((char *)work - offsetof(struct run_watch, work));
	bool over;

	w->look_err = err;
	if (!err && run_rests(w->run.status)) {
		w->in.on->rested(w->in.ctx, w, &w->run, &w->words);
		w->rested = true;
		flush(w);
	}
	arena_reset(&w->scratch);
	pthread_mutex_lock(&w->lock);
	w->looking = false;
	over = !w->watch;
	if (w->watch && (w->rested || err))
		hub_unwatch(w->watch);
	else if (w->watch)
		hub_resume(w->watch);
	pthread_mutex_unlock(&w->lock);
	if (over)
		finish(w);
}

/* ---- events ---- */

static const char *text_in(struct run_watch *w, const char *data, const char *name)
{
	const char *text = openai_text(&w->scratch, data, name);

	return text ? text : "";
}

static int64_t count_in(struct run_watch *w, const char *data, const char *name)
{
	const char *json = openai_member(&w->scratch, data, name);
	struct json_number n = { 0 };
	struct json_reader r;

	if (!json)
		return 0;
	json_open(&r, &w->scratch, json, strlen(json));
	return json_read_number(&r, &n) && n.is_integer ? n.integer : 0;
}

static void now_working(struct run_watch *w)
{
	if (!w->worked && w->in.on->working)
		w->in.on->working(w->in.ctx, w);
	w->worked = true;
}

static void take_message(struct run_watch *w, const char *data)
{
	const char *calls = openai_member(&w->scratch, data, "tool_calls");
	struct watched_message m = { .id = text_in(w, data, "id"),
		.role = text_in(w, data, "role"),
		.status = text_in(w, data, "status"),
		.content = text_in(w, data, "content"),
		.tool_call_id = text_in(w, data, "tool_call_id"),
		.tool_calls = calls ? calls : "[]",
		.prompt_tokens = count_in(w, data, "prompt_tokens") +
				 count_in(w, data, "cache_read_tokens") +
				 count_in(w, data, "cache_write_tokens"),
		.completion_tokens = count_in(w, data, "completion_tokens") };

	if (strcmp(m.role, "user") == 0)
		return;
	now_working(w);
	if (w->in.on->message)
		w->in.on->message(w->in.ctx, w, &m);
}

/* True if the run may rest now. */
static bool take_event(struct run_watch *w, const struct hub_event *e)
{
	const char *data = arena_strndup(&w->scratch, e->data, e->len), *word;

	switch (e->kind) {
	case SESSION_EVENT_MESSAGE:
		take_message(w, data);
		return false;
	case SESSION_EVENT_DELTA:
		now_working(w);
		if (w->in.on->delta)
			w->in.on->delta(w->in.ctx, w, text_in(w, data, "message_id"),
				text_in(w, data, "text"));
		return false;
	case SESSION_EVENT_TOOL_CALL:
		word = text_in(w, data, "state");
		return strcmp(word, "waiting_client") == 0 || strcmp(word, "waiting_approval") == 0;
	case SESSION_EVENT_STATUS:
		word = text_in(w, data, "status");
		if (strcmp(text_in(w, data, "run_id"), w->in.at.run_id) != 0)
			return false;
		if (strcmp(word, "running") == 0)
			now_working(w);
		return strcmp(word, "pending") != 0 && strcmp(word, "running") != 0;
	case SESSION_EVENT_APPROVAL:
	case SESSION_EVENT_USAGE:
	case SESSION_EVENT_NOTICE:
	case SESSION_EVENT_COUNT:
		break;
	}
	return false;
}

static enum hub_verdict take(void *ctx, const struct hub_event *e)
{
	struct run_watch *w = ctx;
	bool rests;
	enum http_flow flow;

	pthread_mutex_lock(&w->lock); /* the head is on its way, and `watch` is set */
	pthread_mutex_unlock(&w->lock);
	rests = take_event(w, e);
	flow = flush(w);
	arena_reset(&w->scratch);
	if (flow == HTTP_STREAM_GONE)
		return HUB_END;
	if (!rests)
		return flow == HTTP_STREAM_FULL ? HUB_PAUSE : HUB_GO_ON;
	pthread_mutex_lock(&w->lock);
	w->looking = true;
	pthread_mutex_unlock(&w->lock);
	if (store_submit(w->c->app->store, &w->work) == 0)
		return HUB_PAUSE;
	w->looking = false;
	w->look_err = ERR_BUSY;
	return HUB_END;
}

/* Whoever was permitted once need not be any more. */
static bool check(void *ctx, struct db *db, struct arena *a, bool quiet)
{
	struct run_watch *w = ctx;
	const struct call *c = w->c;
	struct place place = { .tenant_id = w->in.at.tenant_id, .session_id = w->in.at.session_id };
	struct caller caller;
	struct problem p = { 0 };
	int err;

	if (http_left(c->x))
		return false;
	err = caller_load(&caller, db, a, &c->credential, clock_now_us(),
		c->app->settings.session_idle_us, &p);
	if (!err)
		err = caller_permit(&caller, db, a, PERM_SESSION_READ, &place, false, &p);
	if (err && err != ERR_STORE && err != ERR_BUSY && err != ERR_RETRY) {
		w->refused = err;
		return false;
	}
	return !quiet || !w->in.streams || http_stream_write(c->x, ":\n\n", 3) != HTTP_STREAM_GONE;
}

/* ---- the beginning ---- */

static void begin_stream(struct run_watch *w)
{
	struct http_exchange *x = w->c->x;

	x->reply.status = 200;
	x->reply.type = "text/event-stream";
	buf_lit(&x->reply.extra, "Cache-Control: no-cache\r\nX-Accel-Buffering: no\r\n");
	http_stream_begin(x, on_room);
}

static enum http_verdict follow(struct call *c)
{
	struct run_watch *w = c->own;
	struct watcher watcher = { .take = take, .gone = gone, .check = check, .ctx = w };
	struct problem p = { 0 };
	int err;

	touch_credential(c->app, &c->caller, c->caller.last_used, c->now);
	pthread_mutex_init(&w->lock, NULL);
	buf_init(&w->out, OUT_MAX);
	/* Nobody may take an event before the head is begun. */
	pthread_mutex_lock(&w->lock);
	err = hub_watch(c->app->hub, w->in.at.tenant_id, w->in.at.session_id, w->in.after, &watcher,
		&w->watch);
	if (err) {
		pthread_mutex_unlock(&w->lock);
		buf_free(&w->out);
		p.err = err;
		call_write_problem(c, &p);
		return HTTP_REPLIED;
	}
	if (w->in.streams)
		begin_stream(w);
	if (w->in.on->opened)
		w->in.on->opened(w->in.ctx, w);
	arena_reset(&w->scratch);
	flush(w);
	pthread_mutex_unlock(&w->lock);
	return HTTP_KEPT;
}

void run_watch(struct call *c, const struct run_watch_asked *in)
{
	struct run_watch *w = arena_new(c->arena, struct run_watch);

	w->c = c;
	w->in = *in;
	w->work = (struct work){ .run = look, .done = looked, .mode = READ_ONLY };
	c->own = w;
	c->follow = follow;
}
