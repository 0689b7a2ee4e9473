/* run_watch.c - see run_watch.h.
 *
 *   watching <-> looking -> ended
 *
 * While it looks into the store nothing is taken, so that only one thread
 * at a time has anything to do with it. */
#include "openai/run_watch.h"

#include <string.h>

#include "api/sessions/session_source.h"
#include "openai/openai_events.h"
#include "sessions/session_events.h"

struct run_watch {
	struct session_source source; /* first */
	struct run_watch_asked in;
	struct arena scratch;
	bool worked, rested; /* of whoever has the event or the look */
	int look_err;
	struct RunObject run;
	struct list words, waiting;
};

struct buf *run_watch_out(struct run_watch *w)
{
	return call_stream_out(w->source.stream);
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
	return w->source.c;
}

/* ---- looking into the store ---- */

static int run_watch_look(void *state, struct db *db)
{
	struct run_watch *w = state;
	int err = run_view_read(db, &w->scratch, &w->in.at, &w->run);

	if (err || !run_rests(w->run.status))
		return err;
	err = run_view_words(db, &w->scratch, &w->in.at, w->in.after_id, &w->words);
	return err ? err : run_view_waiting(db, &w->scratch, &w->in.at, &w->waiting);
}

static bool run_watch_looked(void *state, int err)
{
	struct run_watch *w = state;

	w->look_err = err;
	if (!err && run_rests(w->run.status)) {
		w->in.on->rested(w->in.ctx, w, &w->run, &w->words);
		w->rested = true;
		call_stream_flush(w->source.stream);
	}
	arena_reset(&w->scratch);
	return !err && !w->rested;
}

/* ---- events ---- */

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

static int64_t count_of(int64_t n)
{
	return n == NIL ? 0 : n;
}

static const char *word_of(const struct words *words, int i)
{
	return i < 0 ? "" : words->list[i];
}

static void now_working(struct run_watch *w)
{
	if (!w->worked && w->in.on->working)
		w->in.on->working(w->in.ctx, w);
	w->worked = true;
}

static void run_watch_take_message(struct run_watch *w, const struct hub_event *e)
{
	struct MessageEvent said;
	struct watched_message m;

	if (!session_event_read(&w->scratch, MESSAGE, e->data, e->len, &said) ||
		said.role == MessageRole_user)
		return;
	m = (struct watched_message){ .id = or_empty(said.id),
		.role = word_of(&MessageRole_words, said.role),
		.status = word_of(&MessageStatus_words, said.status),
		.content = or_empty(said.content),
		.tool_call_id = or_empty(said.tool_call_id),
		.tool_calls = said.tool_calls.text ? said.tool_calls.text : "[]",
		.prompt_tokens = count_of(said.prompt_tokens) + count_of(said.cache_read_tokens) +
				 count_of(said.cache_write_tokens),
		.completion_tokens = count_of(said.completion_tokens) };
	now_working(w);
	if (w->in.on->message)
		w->in.on->message(w->in.ctx, w, &m);
}

static void take_delta(struct run_watch *w, const struct hub_event *e)
{
	struct DeltaEvent said;

	now_working(w);
	if (!w->in.on->delta || !session_event_read(&w->scratch, DELTA, e->data, e->len, &said))
		return;
	said.message_id = or_empty(said.message_id);
	said.text = or_empty(said.text);
	w->in.on->delta(w->in.ctx, w, &said);
}

static void take_status(struct run_watch *w, const struct hub_event *e)
{
	struct StatusEvent said;

	if (session_event_read(&w->scratch, STATUS, e->data, e->len, &said) && said.run_id &&
		strcmp(said.run_id, w->in.at.run_id) == 0 && said.status == SESSION_STATE_RUNNING)
		now_working(w);
}

/* True if the run may rest now. */
static bool run_watch_take_event(struct run_watch *w, const struct hub_event *e)
{
	if (e->kind == SESSION_EVENT_MESSAGE)
		run_watch_take_message(w, e);
	else if (e->kind == SESSION_EVENT_DELTA)
		take_delta(w, e);
	else if (e->kind == SESSION_EVENT_STATUS)
		take_status(w, e);
	return session_run_may_rest(&w->scratch, w->in.at.run_id, e);
}

static enum hub_verdict take_or_look(void *state, const struct hub_event *e)
{
	static const struct stream_question looking = { READ_ONLY, run_watch_look,
		run_watch_looked };
	struct run_watch *w = state;
	bool rests = run_watch_take_event(w, e);
	enum http_flow flow = call_stream_flush(w->source.stream);

	arena_reset(&w->scratch);
	if (flow == HTTP_STREAM_GONE || !rests)
		return session_source_verdict(flow);
	if (call_stream_ask(w->source.stream, &looking) == 0)
		return HUB_PAUSE;
	w->look_err = ERR_BUSY;
	return HUB_END;
}

/* ---- the beginning and the end ---- */

static void open_watch(void *state)
{
	struct run_watch *w = state;

	if (w->in.on->opened)
		w->in.on->opened(w->in.ctx, w);
	arena_reset(&w->scratch);
}

static void tell_failure(struct run_watch *w, const struct problem *cause)
{
	struct buf *out = run_watch_out(w);

	if (!w->in.streams) {
		call_write_problem(w->source.c, cause);
		return;
	}
	buf_clear(out);
	openai_event_problem(out, cause);
	call_stream_flush(w->source.stream);
}

static enum stream_end end_watch(void *state)
{
	struct run_watch *w = state;
	struct buf *out = run_watch_out(w);
	int refusal = call_stream_refusal(w->source.stream);
	struct problem cause = { .err = w->look_err ? w->look_err
					: refusal   ? refusal
						    : ERR_STOPPING };

	if (!w->rested)
		tell_failure(w, &cause);
	else if (!w->in.streams)
		buf_put(&w->source.c->x->reply.body, out->at, out->len);
	arena_free(&w->scratch);
	return STREAM_COMPLETE;
}

/* As a stream, and whole. */
static const struct stream_source sources[] = {
	[true] = { SESSION_SOURCE, .first = open_watch, .start = session_source_start,
		.last = end_watch },
	[false] = { SESSION_SOURCE, .head_later = true, .first = open_watch,
		.start = session_source_start, .last = end_watch },
};

void run_watch(struct call *c, const struct run_watch_asked *in)
{
	struct run_watch *w = arena_new(c->arena, struct run_watch);

	w->in = *in;
	w->source = (struct session_source){ .c = c,
		.stream = call_stream(c, &sources[in->streams], w),
		.tenant_id = in->at.tenant_id,
		.session_id = in->at.session_id,
		.after = in->after,
		.take = take_or_look };
}
