/* response_model.c - a response of a model: one call through the broker, as chat completions are, with what
 * came before it in the chain of responses.  It is stored, unless that is not wanted, before its end is told. */
#include <stdio.h>
#include <string.h>

#include "api/model_stream.h"
#include "api/responses.h"
#include "base/clock.h"
#include "base/json.h"
#include "broker/openai_out.h"
#include "call/chores.h"
#include "call/steps.h"
#include "contract/encode.h"

enum { ERROR_MAX = 64 << 10 };

struct model_call {
	struct model_stream stream; /* first */
	struct chat chat;
	struct plan plan;
	struct response_row row;
	bool streams, stores;
	struct response_out out;
	struct collected whole;
	struct arena scratch;
	struct work work; /* storing it */
};

/* ---- meanwhile ---- */

static void begin(struct model_call *m)
{
	struct ResponseObject shown;

	model_stream_begin(&m->stream);
	response_show(&m->scratch, &m->row, &shown);
	response_out_begin(&m->out, &shown);
}

static void on_event(void *data, const struct event *e)
{
	struct model_call *m = data;

	collect_take(&m->whole, e);
	if (e->kind == EVENT_START && m->streams)
		begin(m);
	else if (e->kind == EVENT_TEXT)
		response_out_text(
			&m->out, m->row.id, text_decode(&m->scratch, e->text, &(size_t){ 0 }));
	model_stream_flush(&m->stream);
	arena_reset(&m->scratch);
}

/* ---- behind it ---- */

static void release(struct model_call *m)
{
	response_out_close(&m->out);
	collect_close(&m->whole);
	model_stream_close(&m->stream);
	arena_free(&m->scratch);
}

static void finish(struct model_call *m)
{
	struct http_exchange *x = m->stream.c->x;

	release(m);
	if (x->reply.streams)
		http_stream_end(x, true);
	else
		http_finish(x);
}

static void tell_end(struct model_call *m)
{
	struct ResponseObject shown;

	response_show(&m->scratch, &m->row, &shown);
	if (m->streams) {
		response_out_end(&m->out, &shown);
		model_stream_flush(&m->stream);
	} else {
		m->stream.c->x->reply.status = 200;
		m->stream.c->x->reply.type = "application/json";
		encode_object(&m->stream.c->x->reply.body, &ResponseObject_schema, &shown);
	}
	finish(m);
}

static void refuse(struct model_call *m, const struct problem *p)
{
	struct buf *text = &m->stream.text;

	if (atomic_load(&m->stream.begun)) {
		text->len = 0;
		buf_lit(text, "event: error\ndata: ");
		openai_problem(text, p);
		buf_lit(text, "\n\n");
		model_stream_flush(&m->stream);
	} else {
		call_write_problem(m->stream.c, p);
	}
	finish(m);
}

static int store(struct work *w, struct db *db)
{
	struct model_call *m = (struct model_call *)((char *)w - offsetof(struct model_call, work));

	return response_row_add(db, &m->scratch, &m->row);
}

static void stored(struct work *w, int err)
{
	struct model_call *m = (struct model_call *)((char *)w - offsetof(struct model_call, work));
	struct problem p = { .err = err };

	if (err)
		refuse(m, &p);
	else
		tell_end(m);
}

/* What was said, as items; what it cost; how it ended. */
static void conclude(struct model_call *m, const struct run_end *end)
{
	struct arena *a = m->stream.c->arena;
	const struct usage *u = &end->usage;
	bool cut = m->whole.finish == FINISH_LENGTH,
	     filtered = m->whole.finish == FINISH_CONTENT_FILTER;
	size_t len;

	response_out_text_end(&m->out, NULL, !end->fault && !cut && !filtered);
	for (struct collected_call *call = m->whole.calls; call && !end->fault; call = call->next) {
		struct slice arguments = { call->arguments.at ? call->arguments.at : "",
			call->arguments.len };

		response_out_call(&m->out, text_decode(a, call->id, &len),
			text_decode(a, call->name, &len), text_decode(a, arguments, &len));
	}
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
		m->row.error = arena_strndup(a, b.at, b.len);
		buf_free(&b);
	}
}

static void on_over(void *data, const struct run_end *end)
{
	struct model_call *m = data;
	struct problem stopping = { .err = ERR_STOPPING };

	model_stream_run_over(&m->stream);
	if (end->problem || end->cancelled) {
		refuse(m, end->problem ? end->problem : &stopping);
		return;
	}
	if (end->fault && !atomic_load(&m->stream.begun)) {
		model_fault_reply(m->stream.c, end->fault);
		finish(m);
		return;
	}
	conclude(m, end);
	if (!m->stores)
		tell_end(m);
	else if (store_submit(m->stream.c->app->store, &m->work))
		refuse(m, &(struct problem){ .err = ERR_BUSY });
}

static enum http_verdict follow(struct call *c)
{
	struct model_call *m = c->own;
	struct run_asked asked = { .tenant_id = c->caller.tenant_id,
		.user_id = c->caller.user_id,
		.plan = &m->plan,
		.chat = &m->chat,
		.sink = { .take = on_event },
		.over = on_over };
	int err;

	touch_credential(c->app, &c->caller, c->caller.last_used, c->now);
	model_stream_open(&m->stream, c);
	collect_open(&m->whole);
	response_out_open(&m->out, m->streams ? &m->stream.text : NULL);
	m->work = (struct work){ .run = store, .done = stored, .mode = READ_WRITE };
	err = model_stream_start(&m->stream, &asked);
	if (!err)
		return HTTP_KEPT;
	release(m);
	call_conclude(c, err);
	return HTTP_REPLIED;
}

int response_model_start(struct call *c, const struct gateway_named *named)
{
	const struct ResponseCreate *in = c->body;
	const struct broker_settings *broker = broker_settings(c->app->broker);
	struct model_call *m = arena_new(c->arena, struct model_call);
	struct plan_asked asked = { .tenant_id = c->caller.tenant_id,
		.model_id = named->model_id,
		.user_id = c->caller.user_id,
		.chat = &m->chat,
		.vault = c->app->vault,
		.keys = broker->keys,
		.now = c->now };
	int err = response_row_new(c, in, &m->row);

	c->own = m;
	m->streams = in->stream == 1;
	m->stores = in->store != 0;
	if (!err && in->background == 1)
		err = call_field(c, "background", "conflict",
			"must be false: only agents work in the background");
	if (!err)
		err = response_chat(c, in, &m->row, &m->chat);
	if (!err)
		err = plan_make(c->db, c->arena, &asked, &m->plan, &c->problem);
	/* What the tenant does not reach is not there. */
	if (err && c->problem.code && strcmp(c->problem.code, "model_not_reached") == 0)
		return gateway_unknown(c, in->model);
	c->follow = follow;
	return err;
}
