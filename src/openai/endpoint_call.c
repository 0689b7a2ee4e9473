/* endpoint_call.c - see endpoint_call.h. */
#include "openai/endpoint_call.h"

#include <string.h>

#include "api/service.h"
#include "broker/openai_out.h"
#include "openai/openai_events.h"

enum { VOICEBOX };

static const struct statement sql[] = {
	[VOICEBOX] = { "speech_voicebox", "select voicebox_enabled from tenants where id = $1" },
};
STATEMENT_SET(endpoint_call_sql, sql);

int speech_permitted(struct call *c)
{
	int64_t enabled = 0;
	int err = db_int(c->db, &sql[VOICEBOX], &enabled, ARGS(T(c->caller.tenant_id)));

	if (err || enabled)
		return err;
	c->problem.code = "voicebox_disabled";
	return call_fail(c, ERR_FORBIDDEN,
		"Speech is not open to this tenant; a super administrator opens it with "
		"voicebox_enabled.");
}

/* ---- meanwhile ---- */

static bool is_streamed(const struct endpoint_call *e)
{
	return e->media &&
	       (e->request.form == ENDPOINT_SOUND || strcmp(e->media, "text/event-stream") == 0);
}

static void begin_answer(struct endpoint_call *e, const struct event *start)
{
	struct call *c = e->stream.c;

	e->media = start->media ? arena_strdup(c->arena, start->media) : "application/json";
	if (e->request.dropped)
		buf_printf(&c->x->reply.extra, "Lodge-Dropped: %s\r\n", e->request.dropped);
	if (!is_streamed(e))
		return;
	if (e->request.form == ENDPOINT_SOUND)
		call_stream_begin_bytes(e->stream.stream, e->media);
	else
		call_stream_begin(e->stream.stream);
}

static void tell_broken_off(struct endpoint_call *e, int status, const char *why, const char *code)
{
	struct buf *text = call_stream_out(e->stream.stream);

	if (e->request.form == ENDPOINT_SOUND) /* its connection breaks off instead */
		return;
	stream_event_begin(text, &openai_events[OPENAI_EVENT_BROKEN_OFF]);
	openai_write_error(status, why, NULL, code, text);
	stream_event_end(text);
	call_stream_flush(e->stream.stream);
}

/* The end of an answer with embeddings: what the ledger is told, whatever the provider said. */
static void tell_tokens(struct endpoint_call *e, const struct usage *u)
{
	long long tokens = u->input + u->cache_read + u->cache_write;

	buf_printf(&e->stream.c->x->reply.body,
		",\"usage\":{\"prompt_tokens\":%lld,\"total_tokens\":%lld}}\n", tokens, tokens);
}

static void endpoint_on_event(void *data, const struct event *event)
{
	struct endpoint_call *e = data;

	switch (event->kind) {
	case EVENT_START:
		begin_answer(e, event);
		break;
	case EVENT_BYTES:
		if (is_streamed(e))
			call_stream_write(e->stream.stream, event->text.at, event->text.len);
		else
			buf_put(&e->stream.c->x->reply.body, event->text.at, event->text.len);
		break;
	case EVENT_USAGE:
		if (e->request.endpoint == ModelEndpoint_embeddings)
			tell_tokens(e, &event->usage);
		break;
	case EVENT_ERROR:
		if (call_stream_begun(e->stream.stream))
			tell_broken_off(e, fault_rows[event->fault->class].status,
				event->fault->sentence, fault_rows[event->fault->class].word);
		break;
	default:
		break;
	}
}

/* ---- after it ---- */

/* A model's failure: in OpenAI's shape, or as the house tells its own. */
static void tell_fault(struct call *c, const struct fault *f)
{
	const struct fault_row *row = &fault_rows[f->class];
	struct problem p = { .err = row->status == 400	 ? ERR_INVALID
				    : row->status == 429 ? ERR_THROTTLED
				    : row->status == 503 ? ERR_BUSY
				    : row->status == 504 ? ERR_TOO_SLOW
							 : ERR_UPSTREAM,
		.code = row->word,
		.detail = f->sentence };

	buf_clear(&c->x->reply.body);
	if (c->route->openai) {
		model_fault_reply(c, f);
		return;
	}
	p.retry_after_s = row->status == 429 ? (f->retry_after_s ? f->retry_after_s : 1) : 0;
	call_write_problem(c, &p);
}

static void answer_whole(struct endpoint_call *e, const struct completion_end *end)
{
	struct call *c = e->stream.c;
	struct http_reply *reply = &c->x->reply;
	struct problem stopping = { .err = ERR_STOPPING }, busy = { .err = ERR_BUSY };

	if (end->problem) {
		call_write_problem(c, end->problem);
	} else if (end->cancelled) {
		call_write_problem(c, &stopping);
	} else if (end->fault) {
		tell_fault(c, end->fault);
	} else if (reply->body.starved || reply->body.overflow) {
		buf_clear(&reply->body);
		call_write_problem(c, &busy);
	} else {
		reply->status = 200;
		reply->type = e->media;
	}
}

static enum stream_end endpoint_last(void *state)
{
	struct endpoint_call *e = state;
	const struct completion_end *end = e->stream.end;

	if (!call_stream_begun(e->stream.stream)) {
		answer_whole(e, end);
		return STREAM_COMPLETE;
	}
	if (end->cancelled)
		tell_broken_off(e, 503, "The service is stopping.", "stopping");
	return e->request.form == ENDPOINT_SOUND && (end->cancelled || end->fault)
		       ? STREAM_BROKEN
		       : STREAM_COMPLETE;
}

static int endpoint_start(void *state)
{
	struct endpoint_call *e = state;
	struct call *c = e->stream.c;
	struct completion_asked asked = { .tenant_id = c->caller.tenant_id,
		.agent_id = e->named.agent_id,
		.user_id = c->caller.user_id,
		.session_id = e->session_id,
		.loop = c->x->loop,
		.candidates = &e->candidates,
		.chat = &e->chat,
		.keeps = e->request.form != ENDPOINT_SOUND && e->request.form != ENDPOINT_EVENTS,
		.sink = { .take = endpoint_on_event } };

	return model_stream_start(&e->stream, &asked);
}

static const struct stream_source endpoint_source = {
	MODEL_SOURCE,
	.start = endpoint_start,
	.last = endpoint_last,
};

int endpoint_call_begin(struct endpoint_call *e, struct call *c)
{
	struct candidates_asked asked = { .tenant_id = c->caller.tenant_id,
		.user_id = c->caller.user_id,
		.agent_id = e->named.agent_id,
		.model_id = e->named.model_id,
		.chat = &e->chat,
		.vault = c->app->vault,
		.keys = broker_keys(service_of(c->app)->broker, c->arena),
		.now = c->now };
	int err;

	chat_open(&e->chat, c->arena);
	e->chat.request = &e->request;
	e->chat.model = e->request.model;
	e->chat.stream = e->request.form == ENDPOINT_EVENTS;
	err = candidates_find(c->db, c->arena, &asked, &e->candidates, &c->problem);
	e->stream.c = c;
	e->stream.stream = call_stream(c, &endpoint_source, e);
	return err;
}
