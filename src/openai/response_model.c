/* response_model.c - a response of a model: one call through the broker, as chat completions are, with what
 * came before it in the chain of responses.  It is stored, unless that is not wanted, before its end is told. */
#include <stdio.h>
#include <string.h>

#include "openai/conversations.h"
#include "openai/model_stream.h"
#include "openai/openai_events.h"
#include "api/service.h"
#include "openai/responses.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/json.h"
#include "call/listeners.h"
#include "broker/openai_out.h"
#include "contract/encode.h"

enum { ERROR_MAX = 64 << 10, TWIN_RETRY_S = 1 };

struct model_call {
	struct model_stream stream; /* first */
	struct chat chat;
	struct candidates candidates;
	struct response_row row;
	const char *model_id, *maker;
	const char *conversation; /* what was asked and answered joins it; or NULL */
	bool streams, stores, repeatable;
	struct response_out out;
	struct collected whole;
	struct arena scratch;
};

/* ---- meanwhile ---- */

static void model_call_begin(struct model_call *m)
{
	struct ResponseObject shown;

	model_say_dropped(m->stream.c, &m->chat, m->maker);
	call_stream_begin(m->stream.stream);
	response_show(&m->scratch, &m->row, &shown);
	response_out_begin(&m->out, &shown);
}

/* A call begins, grows or ends; what it is then is what was collected. */
static void model_call_calls(struct model_call *m, const struct event *e)
{
	struct arena *a = &m->scratch;
	const struct collected_call *c = m->whole.calls;
	const char *item = e->kind == EVENT_CALL_END && e->extra.at
				   ? arena_strndup(a, e->extra.at, e->extra.len)
				   : NULL;
	struct response_call call = { 0 };

	for (int i = 0; c && i < e->index; i++)
		c = c->next;
	if (!c)
		return;
	if (e->kind == EVENT_ARGUMENTS) {
		response_out_arguments(&m->out, e->index, text_plain(a, e->text));
		return;
	}
	call = (struct response_call){ .call_id = text_plain(a, c->id),
		.name = text_plain(a, c->name),
		.arguments = text_plain(a,
			(struct slice){ c->arguments.at ? c->arguments.at : "", c->arguments.len }),
		.extra = c->extra.at ? arena_strndup(a, c->extra.at, c->extra.len) : NULL,
		.namespace = item ? openai_text(a, item, "namespace") : NULL };
	if (e->kind == EVENT_CALL)
		response_out_call_begin(&m->out, e->index, &call);
	else
		response_out_call_end(&m->out, e->index, &call);
}

/* A message has been told but for what is noted in it (citations); others are the provider's own. */
static void model_call_item(struct model_call *m, const char *item)
{
	const char *type = openai_text(&m->scratch, item, "type");
	const char *content = openai_member(&m->scratch, item, "content");
	const char *status = openai_text(&m->scratch, item, "status");

	if (type && strcmp(type, "message") == 0)
		response_out_text_end(
			&m->out, NULL, content, !status || strcmp(status, "completed") == 0);
	else if (type)
		response_out_item(&m->out, &m->scratch, item);
}

static void model_call_on_event(void *data, const struct event *e)
{
	struct model_call *m = data;

	collect_take(&m->whole, e);
	switch (e->kind) {
	case EVENT_START:
		m->maker = e->maker;
		if (m->streams)
			model_call_begin(m);
		break;
	case EVENT_TEXT:
		response_out_text(&m->out, text_plain(&m->scratch, e->text), e->refusal);
		break;
	case EVENT_THOUGHT:
		response_out_thought(&m->out, text_plain(&m->scratch, e->text));
		break;
	case EVENT_SIGNATURE:
		response_out_thought_end(
			&m->out, response_seal(&m->scratch, m->maker,
					 text_plain(&m->scratch, e->text), e->redacted));
		break;
	case EVENT_CALL:
	case EVENT_ARGUMENTS:
	case EVENT_CALL_END:
		model_call_calls(m, e);
		break;
	case EVENT_ITEM:
		model_call_item(m, arena_strndup(&m->scratch, e->text.at, e->text.len));
		break;
	default:
		break;
	}
	call_stream_flush(m->stream.stream);
	arena_reset(&m->scratch);
}

/* ---- after it ---- */

static void model_call_release(struct model_call *m)
{
	response_out_close(&m->out);
	collect_close(&m->whole);
	arena_free(&m->scratch);
}

static enum stream_end tell_end(struct model_call *m)
{
	struct http_reply *reply = &m->stream.c->x->reply;
	struct ResponseObject shown;

	response_show(&m->scratch, &m->row, &shown);
	if (m->streams) {
		response_out_end(&m->out, &shown);
		call_stream_flush(m->stream.stream);
	} else {
		model_say_dropped(m->stream.c, &m->chat, m->maker);
		reply->status = 200;
		reply->type = "application/json";
		encode_object(&reply->body, &ResponseObject_schema, &shown);
		buf_putc(&reply->body, '\n');
	}
	model_call_release(m);
	return STREAM_COMPLETE;
}

static enum stream_end model_call_refuse(struct model_call *m, const struct problem *p)
{
	struct buf *text = call_stream_out(m->stream.stream);

	if (call_stream_begun(m->stream.stream)) {
		buf_clear(text);
		openai_event_problem(text, p);
		call_stream_flush(m->stream.stream);
	} else {
		call_write_problem(m->stream.c, p);
	}
	model_call_release(m);
	return STREAM_COMPLETE;
}

/* Into the conversation, unless that is gone meanwhile. */
static int model_call_join(struct model_call *m, struct db *db)
{
	struct call *c = m->stream.c;
	struct conversation v;
	enum tail_state state;
	int err = conversation_read(db, c->arena, m->row.tenant_id, m->conversation, &v);

	if (err)
		return err == ERR_NOT_FOUND ? 0 : err;
	err = conversation_settle(db, c->arena, &v, false, &state);
	if (!err)
		err = conversation_add(db, c->arena, &v, NULL, m->row.input);
	if (!err)
		err = conversation_add(db, c->arena, &v, NULL, m->row.output);
	if (!err && !m->stores)
		err = call_audit_also(c, (struct audit_entry){ .action = "conversation.add",
						 .resource_id = v.id,
						 .meta = arena_printf(c->arena,
							 "{\"model_id\":\"%s\"}", m->model_id) });
	return err;
}

/* The same key, answered while this call was under way: what is told is what is stored, so a stream that has said other
 * words already ends with a problem. */
static int take_twin(struct model_call *m, const struct response_row *twin)
{
	struct call *c = m->stream.c;
	const char *body = openai_text(c->arena, twin->asked, "body");

	if (!body || strcmp(body, c->body_hash) != 0)
		return ERR_IDEMPOTENCY;
	if (call_stream_begun(m->stream.stream))
		return ERR_CONFLICT;
	m->row = *twin;
	return 0;
}

static int model_call_store(void *state, struct db *db)
{
	struct model_call *m = state;
	struct call *c = m->stream.c;
	struct response_row twin;
	int err = m->repeatable
			  ? response_row_read(db, c->arena, m->row.tenant_id, m->row.id, &twin)
			  : ERR_NOT_FOUND;

	c->db = db;
	if (!err) /* the same request was answered meanwhile */
		return take_twin(m, &twin);
	if (err != ERR_NOT_FOUND)
		return err;
	err = m->stores ? response_row_add(db, &m->row) : 0;
	if (err == ERR_DUPLICATE && m->repeatable) /* another's, that was stored just now */
		return ERR_RETRY;
	if (!err && m->conversation && strcmp(m->row.status, "failed") != 0)
		err = model_call_join(m, db);
	return err || !m->stores ? err
				 : call_audit_also(c,
					   (struct audit_entry){ .action = c->route->audit,
						   .resource_id = m->row.id,
						   .meta = arena_printf(c->arena,
							   "{\"model_id\":\"%s\"}", m->model_id) });
}

static bool model_call_stored(void *state, int err)
{
	struct model_call *m = state;

	if (err)
		model_call_refuse(m, &(struct problem){ .err = err });
	else
		tell_end(m);
	return false;
}

/* What was said, as items; what it cost; how it ended. */
static void model_call_conclude(struct model_call *m, const struct completion_end *end)
{
	struct arena *a = m->stream.c->arena;
	const struct usage *u = &end->usage;
	bool cut = m->whole.finish == FINISH_LENGTH,
	     filtered = m->whole.finish == FINISH_CONTENT_FILTER;

	response_out_thought_end(&m->out, NULL);
	response_out_text_end(&m->out, NULL, NULL, !end->fault && !cut && !filtered);
	m->row.output = response_out_items(&m->out, a);
	m->row.completed_at = clock_now_us();
	m->row.usage = response_usage(a, u->input + u->cache_read + u->cache_write, u->cache_read,
		u->output, u->reasoning);
	m->row.status = end->fault ? "failed" : cut || filtered ? "incomplete" : "completed";
	if (cut || filtered)
		m->row.error = cut ? "{\"reason\":\"max_output_tokens\"}"
				   : "{\"reason\":\"content_filter\"}";
	if (end->fault) {
		struct buf b;

		buf_init(&b, ERROR_MAX);
		buf_lit(&b, "{\"code\":\"server_error\",\"message\":");
		json_write_string(&b, end->fault->sentence, strlen(end->fault->sentence));
		buf_putc(&b, '}');
		m->row.error = arena_take(a, &b);
	}
}

static enum stream_end end_response(void *state)
{
	static const struct stream_question storing = { READ_WRITE, model_call_store,
		model_call_stored };
	struct model_call *m = state;
	const struct completion_end *end = m->stream.end;
	int err;

	if (end->problem || end->cancelled)
		return model_call_refuse(
			m, end->problem ? end->problem : &(struct problem){ .err = ERR_STOPPING });
	if (end->fault && !call_stream_begun(m->stream.stream)) {
		model_fault_reply(m->stream.c, end->fault);
		model_call_release(m);
		return STREAM_COMPLETE;
	}
	model_call_conclude(m, end);
	if (!m->stores && !m->conversation)
		return tell_end(m);
	err = call_stream_ask(m->stream.stream, &storing);
	return err ? model_call_refuse(m, &(struct problem){ .err = ERR_BUSY }) : STREAM_ASKING;
}

static int start_response(void *state)
{
	struct model_call *m = state;
	struct call *c = m->stream.c;
	struct completion_asked asked = { .tenant_id = c->caller.tenant_id,
		.user_id = c->caller.user_id,
		.candidates = &m->candidates,
		.chat = &m->chat,
		.keeps = 3, /* collected, as items, and as the answer or the row */
		.sink = { .take = model_call_on_event } };
	int err;

	collect_open(&m->whole);
	response_out_open(
		&m->out, m->streams ? call_stream_out(m->stream.stream) : NULL, m->row.id);
	err = model_stream_start(&m->stream, &asked);
	if (err)
		model_call_release(m);
	return err;
}

static const struct stream_source response_source = {
	MODEL_SOURCE,
	.start = start_response,
	.last = end_response,
};

/* ---- a request that is repeated ---- */

static enum http_verdict answer_again(struct call *c)
{
	struct ResponseObject shown;

	response_show(c->arena, c->own, &shown);
	c->x->reply.status = 200;
	c->x->reply.type = "application/json";
	encode_object(&c->x->reply.body, &ResponseObject_schema, &shown);
	buf_putc(&c->x->reply.body, '\n');
	return HTTP_REPLIED;
}

/* The model is asked once: a repeat while the first is under way is told to come back for the answer. */
static int await_twin(struct call *c, const char *response_id)
{
	if (listeners_await(c, "response", response_id, 1))
		return 0;
	c->problem.code = "repeat_under_way";
	c->problem.retry_after_s = TWIN_RETRY_S;
	return call_fail(c, ERR_CONFLICT,
		"A request with this Idempotency-Key is under way: ask again in a moment for its answer.");
}

/* In a conversation a request acts once for its Idempotency-Key: the response has its id from the key, and what was
 * asked is noted with it.  *ret_answered if it was answered before. */
static int find_repeated(struct model_call *m, bool *ret_answered)
{
	struct call *c = m->stream.c;
	const char *key = http_header(&c->x->request, "idempotency-key"), *body;
	struct response_row *before = arena_new(c->arena, struct response_row);
	char hash[65];
	int err;

	*ret_answered = false;
	if (!key || !m->conversation || !m->stores)
		return 0;
	m->repeatable = true;
	credential_hash(arena_printf(c->arena, "%s\n%s\n%s", c->caller.hash ? c->caller.hash : "",
				m->conversation, key),
		hash);
	m->row.id = arena_printf(c->arena, "c%.*s", ID_LEN - 1, hash);
	m->row.asked = arena_printf(c->arena, "%.*s,\"body\":\"%s\"}",
		(int)strlen(m->row.asked) - 1, m->row.asked, c->body_hash);
	err = response_row_read(c->db, c->arena, m->row.tenant_id, m->row.id, before);
	if (err)
		return err == ERR_NOT_FOUND ? await_twin(c, m->row.id) : err;
	body = openai_text(c->arena, before->asked, "body");
	if (!body || strcmp(body, c->body_hash) != 0)
		return call_fail(c, ERR_IDEMPOTENCY,
			"This Idempotency-Key was used in this conversation for a request with another body.");
	c->own = before;
	c->deferred = answer_again;
	*ret_answered = true;
	return 0;
}

int response_model_start(
	struct call *c, const struct ResponseCreate *in, const struct gateway_named *named)
{
	struct model_call *m = arena_new(c->arena, struct model_call);
	struct candidates_asked asked = { .tenant_id = c->caller.tenant_id,
		.model_id = named->model_id,
		.user_id = c->caller.user_id,
		.chat = &m->chat,
		.vault = c->app->vault,
		.keys = broker_keys(service_of(c->app)->broker, c->arena),
		.now = c->now };
	bool answered = false;
	int err = response_row_new(c, in, &m->row);

	m->stream.c = c;
	m->model_id = named->model_id;
	m->streams = in->stream == 1;
	m->stores = in->store != 0;
	m->conversation = response_conversation(c->arena, in);
	if (!err)
		err = find_repeated(m, &answered);
	if (answered)
		return 0;
	if (!err && in->background == 1)
		err = call_field(c, "background", "conflict",
			"must be false: only agents work in the background");
	if (!err)
		err = response_chat(c, in, &m->row, &m->chat);
	if (err == RESPONSE_ASIDE)
		return 0;
	m->stream.stream = call_stream(c, &response_source, m);
	if (!err)
		err = candidates_find(c->db, c->arena, &asked, &m->candidates, &c->problem);
	/* What the tenant does not reach is not there. */
	if (err && c->problem.code && strcmp(c->problem.code, "model_not_reached") == 0)
		return gateway_unknown(c, in->model);
	return err;
}
