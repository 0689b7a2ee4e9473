/* mcp_watch.c - see mcp_ask.h: an answer that follows a run to where it rests, whole or as a stream.
 *
 *   watching <-> looking -> rested          -> (ending the run) -> over
 *
 * It reads the session's events, tells a client that wants it how far the agent
 * is, and once the run may rest looks into the store.  What the agent wrote
 * is text in the result and nothing else.  In the revision without handshake
 * whoever hangs up stops the run, which is nobody else's: it began with this call. */
#include <string.h>

#include "api/sessions/session_rows.h"
#include "api/sessions/session_source.h"
#include "base/clock.h"
#include "call/listeners.h"
#include "mcp/mcp_ask.h"
#include "sessions/session_events.h"

enum { PROGRESS_MS = 1000, WAITING_NAMES = 8 };

struct seen_run {
	const char *status, *error;
};

FIELDS(seen_run) = {
	FIELD(seen_run, status),
	FIELD(seen_run, error, .nullable = true),
};
static SCHEMA(seen_run, .internal = true);

enum { RUN_SEEN, RUN_WAITS, RUN_SAID };

static const struct statement sql[] = {
	[RUN_SEEN] = { "mcp_run",
		"select status, error from session_runs where tenant_id = $1 and session_id = $2 "
		"and id = $3",
		.row = &seen_run_schema },
	[RUN_WAITS] = { "mcp_run_waits",
		"select name as value from session_calls where tenant_id = $1 and session_id = $2 "
		"and run_id = $3 and state = 'waiting_approval' order by message_id, position limit $4",
		.row = &one_text_schema },
	[RUN_SAID] = { "mcp_run_said",
		"select content as value from messages where tenant_id = $1 and session_id = $2 "
		"and id > $4 and run_id = $3 and role = 'assistant' and content <> '' "
		"order by id desc limit 1",
		.row = &one_text_schema },
};
STATEMENT_SET(mcp_watch_sql, sql);

struct mcp_watch {
	struct session_source source; /* first */
	struct mcp_begun begun;
	const char *id, *progress_token;
	bool modern, streams;
	struct arena scratch;
	int64_t progress, told_ms;
	/* Of the look. */
	int look_err;
	const char *status, *text;
	bool failed, rested;
};

/* ---- who waits ---- */

int mcp_ask_room(struct call *c)
{
	if (listeners_await(c, "mcp", c->caller.user_id, MCP_WAITING_MAX))
		return 0;
	return call_fail(c, ERR_THROTTLED,
		"You wait for %d answers already; ask again when one has come.", MCP_WAITING_MAX);
}

/* ---- looking into the store ---- */

static const char *waits_text(struct arena *a, const struct list *names)
{
	const struct one_text *name = names->at;
	struct buf b;

	buf_init(&b, 64 * 1024);
	buf_lit(&b, "The agent waits until a person approves its use of");
	for (size_t i = 0; i < names->count; i++)
		buf_printf(&b, "%s %s", i ? "," : "", name[i].value);
	buf_lit(&b, ".");
	return arena_take(a, &b);
}

static bool is_status(const struct seen_run *run, const char *status)
{
	return strcmp(run->status, status) == 0;
}

static int look_at_run(void *state, struct db *db)
{
	struct mcp_watch *w = state;
	const struct value run_place[] = { T(w->source.tenant_id), T(w->source.session_id),
		T(w->begun.run_id), T(w->begun.after_id) };
	struct list waits = { 0 };
	struct one_text said;
	struct seen_run run;
	int err = db_one(db, &w->scratch, &sql[RUN_SEEN], &run, run_place, 3);

	w->status = NULL;
	if (!err && (is_status(&run, "in_progress") || is_status(&run, "requires_action")))
		err = db_all(db, &w->scratch, &sql[RUN_WAITS], &waits, WAITING_NAMES,
			ARGS(run_place[0], run_place[1], run_place[2], N(WAITING_NAMES)));
	if (err || is_status(&run, "queued") || (is_status(&run, "in_progress") && !waits.count) ||
		(is_status(&run, "requires_action") && !waits.count))
		return err;
	err = db_one(db, &w->scratch, &sql[RUN_SAID], &said, run_place, 4);
	if (err && err != ERR_NOT_FOUND)
		return err;
	w->text = err ? "" : said.value;
	w->status = waits.count ? "waiting_approval" : run.status;
	w->failed = is_status(&run, "failed") || is_status(&run, "cancelled");
	if (waits.count)
		w->text = waits_text(&w->scratch, &waits);
	else if (is_status(&run, "cancelled"))
		w->text = "The agent was stopped.";
	else if (w->failed)
		w->text = run.error ? run.error : "The agent failed.";
	return 0;
}

/* ---- words ---- */

static void event_begin(struct mcp_watch *w, struct buf *out)
{
	if (w->streams)
		buf_lit(out, "event: message\ndata: ");
}

static void event_end(struct mcp_watch *w, struct buf *out)
{
	buf_puts(out, w->streams ? "\n\n" : "\n");
}

static void put_progress(struct mcp_watch *w, const char *message)
{
	struct buf *out = call_stream_out(w->source.stream);

	if (!w->streams || !w->progress_token)
		return;
	event_begin(w, out);
	buf_printf(out,
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{"
		"\"progressToken\":%s,\"progress\":%lld",
		w->progress_token, (long long)++w->progress);
	mcp_put_text(out, "message", message);
	buf_lit(out, "}}");
	event_end(w, out);
	w->told_ms = clock_mono_ms();
}

/* What models read is in the first text; the second is for clients that know no structured content. */
static void put_answer(struct mcp_watch *w)
{
	struct buf *out = call_stream_out(w->source.stream);
	const char *place = arena_printf(&w->scratch,
		"\"session_id\":\"%s\",\"run_id\":\"%s\",\"status\":\"%s\"", w->source.session_id,
		w->begun.run_id, w->status);

	event_begin(w, out);
	mcp_result_begin(out, w->modern, w->id);
	buf_lit(out, "\"content\":[{\"type\":\"text\"");
	mcp_put_text(out, "text", w->text);
	buf_lit(out, "},{\"type\":\"text\"");
	mcp_put_text(out, "text", arena_printf(&w->scratch, "{%s}", place));
	buf_printf(out, "}],\"structuredContent\":{%s", place);
	mcp_put_text(out, "text", w->text);
	buf_printf(out, "},\"isError\":%s", w->failed ? "true" : "false");
	mcp_result_end(out);
	event_end(w, out);
}

static bool run_looked(void *state, int err)
{
	struct mcp_watch *w = state;

	w->look_err = err;
	if (!err && w->status) {
		put_answer(w);
		w->rested = true;
		call_stream_flush(w->source.stream);
	}
	arena_reset(&w->scratch);
	return !err && !w->rested;
}

/* ---- events ---- */

static void tell_call(struct mcp_watch *w, const struct hub_event *e)
{
	struct ToolCallEvent said;

	if (session_event_read(&w->scratch, TOOL_CALL, e->data, e->len, &said) && said.name &&
		said.state == CALL_STATE_RUNNING)
		put_progress(w, arena_printf(&w->scratch, "The agent uses %s.", said.name));
}

static void tell_status(struct mcp_watch *w, const struct hub_event *e)
{
	struct StatusEvent said;

	if (session_event_read(&w->scratch, STATUS, e->data, e->len, &said) &&
		said.status == SESSION_STATE_RUNNING)
		put_progress(w, "The agent is at work.");
}

static enum hub_verdict take_mcp_event_of_run(void *state, const struct hub_event *e)
{
	static const struct stream_question looking = { READ_ONLY, look_at_run, run_looked };
	struct mcp_watch *w = state;
	bool rests = session_run_may_rest(&w->scratch, w->begun.run_id, e);
	enum http_flow flow;

	if (e->kind == SESSION_EVENT_TOOL_CALL)
		tell_call(w, e);
	else if (e->kind == SESSION_EVENT_STATUS && !rests)
		tell_status(w, e);
	else if (e->kind == SESSION_EVENT_DELTA && clock_mono_ms() - w->told_ms >= PROGRESS_MS)
		put_progress(w, "The agent is writing.");
	flow = call_stream_flush(w->source.stream);
	arena_reset(&w->scratch);
	if (flow == HTTP_STREAM_GONE || !rests)
		return session_source_verdict(flow);
	if (call_stream_ask(w->source.stream, &looking) == 0)
		return HUB_PAUSE;
	w->look_err = ERR_BUSY;
	return HUB_END;
}

/* ---- the end ---- */

int mcp_end_run(struct call *c, const char *agent_id, const char *session_id, const char *run_id)
{
	struct session_ender by = session_ender_of(c);
	struct problem over = { 0 };
	int err = session_cancel_run(
		c->db, c->arena, c->caller.tenant_id, session_id, run_id, &by, c->now, &over);

	if (err == ERR_CONFLICT || err == ERR_NOT_FOUND)
		return 0;
	return err ? err
		   : call_audit_also(c, (struct audit_entry){ .action = "session.cancel",
						.resource_id = session_id,
						.agent_id = agent_id,
						.meta = arena_printf(
							c->arena, "{\"run_id\":\"%s\"}", run_id) });
}

static int end_left_run(void *state, struct db *db)
{
	struct mcp_watch *w = state;
	struct call *c = w->source.c;

	c->db = db;
	c->now = clock_now_us();
	return mcp_end_run(c, w->begun.agent_id, w->source.session_id, w->begun.run_id);
}

static bool left_run_ended(void *state, int err)
{
	struct mcp_watch *w = state;

	(void)err; /* nobody is there to hear of it; the run goes on then */
	arena_free(&w->scratch);
	return false;
}

static void tell_trouble(struct mcp_watch *w)
{
	struct buf *out = call_stream_out(w->source.stream);
	int refusal = call_stream_refusal(w->source.stream);
	const struct problem cause = { .err = w->look_err ? w->look_err
					      : refusal	  ? refusal
							  : ERR_STOPPING };

	if (!w->streams) {
		call_write_problem(w->source.c, &cause);
		return;
	}
	buf_clear(out);
	event_begin(w, out);
	mcp_put_error(out, w->id,
		&(struct mcp_fault){ MCP_INTERNAL_ERROR, error_row(cause.err)->title, NULL });
	event_end(w, out);
	call_stream_flush(w->source.stream);
}

static enum stream_end end_mcp_watch(void *state)
{
	static const struct stream_question ending = { READ_WRITE, end_left_run, left_run_ended };
	struct mcp_watch *w = state;
	struct http_exchange *x = w->source.c->x;
	struct buf *out = call_stream_out(w->source.stream);

	if (!w->rested && w->modern && http_left(x) &&
		call_stream_ask(w->source.stream, &ending) == 0)
		return STREAM_ASKING;
	if (!w->rested) {
		tell_trouble(w);
	} else if (!w->streams) {
		x->reply.status = 200;
		x->reply.type = "application/json";
		buf_lit(&x->reply.extra, "Cache-Control: no-store\r\n");
		buf_put(&x->reply.body, out->at, out->len);
	}
	arena_free(&w->scratch);
	return STREAM_COMPLETE;
}

/* ---- the beginning ---- */

/* As a stream, and whole. */
static const struct stream_source sources[] = {
	[true] = { SESSION_SOURCE, .start = session_source_start, .last = end_mcp_watch },
	[false] = { SESSION_SOURCE, .head_later = true, .start = session_source_start,
		.last = end_mcp_watch },
};

static bool takes_events(const struct call *c)
{
	const char *accept = http_header(&c->x->request, "accept");

	return accept && strstr(accept, "text/event-stream");
}

void mcp_watch(struct call *c, const struct mcp_post *post, const struct mcp_spoken *said,
	const struct mcp_begun *begun)
{
	struct mcp_watch *w = arena_new(c->arena, struct mcp_watch);

	w->begun = *begun;
	w->id = said->id;
	w->progress_token = said->progress_token;
	w->modern = post->modern;
	w->streams = takes_events(c);
	w->source = (struct session_source){ .c = c,
		.stream = call_stream(c, &sources[w->streams], w),
		.tenant_id = c->caller.tenant_id,
		.session_id = begun->session_id,
		.after = begun->after,
		.take = take_mcp_event_of_run };
}
