/* gateway.c - POST /v1/chat/completions: a request in OpenAI's shape to an agent or a model.
 *
 * The body is read once; `look` decides who may have what called, and the
 * run (broker/run.h) does the rest.  Until a model answers the reply is open,
 * so that a failure has its status; from the first piece of an answer on it
 * is a stream, where one was asked for.  It knows HTTP and OpenAI's shape,
 * and nothing of providers, prices or budgets. */
#include "api/gateway.h"

#include <stdio.h>
#include <string.h>

#include "api/model_stream.h"
#include "base/clock.h"
#include "broker/openai_out.h"
#include "call/chores.h"
#include "call/steps.h"

struct gateway {
	struct model_stream stream; /* first */
	struct chat chat;
	struct chat_error fault; /* of the body */
	struct plan plan;
	struct gateway_named named;
	char id[64];
	struct openai_out out;
};

/* ---- before: what is asked, by whom, of whom ---- */

static enum http_verdict answer_fault(struct call *c)
{
	const struct gateway *g = c->own;

	c->x->reply.status = 400;
	c->x->reply.type = "application/json";
	openai_write_error(
		400, g->fault.message, g->fault.param, "invalid_request", &c->x->reply.body);
	return HTTP_REPLIED;
}

/* Once, though `look` may run again. */
static struct gateway *read_body(struct call *c)
{
	struct gateway *g = c->own;

	if (g)
		return g;
	c->own = g = arena_new(c->arena, struct gateway);
	if (chat_read(&g->chat, c->arena, c->raw ? c->raw : "", c->raw_len, &g->fault) &&
		!*g->fault.message)
		strcpy(g->fault.message, "The body could not be read.");
	return g;
}

/* An agent speaks with its own words before the caller's. */
static void introduce(struct gateway *g)
{
	const char *one = g->named.description_prompt, *two = g->named.bootstrap_instructions;
	struct chat *chat = &g->chat;
	struct chat_message *first = chat->messages, *m;

	if ((!one || !*one) && (!two || !*two))
		return;
	if (chat->body.at == NULL) /* done already, for an earlier look */
		return;
	chat->messages = NULL;
	chat->last_message = &chat->messages;
	m = chat_message_add(chat, CHAT_SYSTEM,
		arena_printf(chat->arena, "%s%s%s", one ? one : "",
			one && *one && two && *two ? "\n\n" : "", two ? two : ""));
	m->next = first;
	chat->body = (struct slice){ 0 }; /* what goes out is no longer what came in */
}

static enum http_verdict follow(struct call *c);

static int look(struct call *c)
{
	const struct broker_settings *broker = broker_settings(c->app->broker);
	struct gateway *g = read_body(c);
	struct plan_asked asked = {
		.chat = &g->chat, .vault = c->app->vault, .keys = broker->keys, .now = c->now
	};
	const char *model;
	int err;

	if (*g->fault.message) {
		c->follow = answer_fault;
		return 0;
	}
	model = text_decode(c->arena, g->chat.model, &(size_t){ 0 });
	err = gateway_tenant(c);
	if (!err)
		err = gateway_find(c, model, PERM_SESSION_WRITE, &g->named);
	if (err)
		return err;
	introduce(g);
	asked.tenant_id = c->caller.tenant_id;
	asked.user_id = c->caller.user_id;
	asked.agent_id = g->named.agent_id;
	asked.model_id = g->named.model_id;
	err = plan_make(c->db, c->arena, &asked, &g->plan, &c->problem);
	/* What the tenant does not reach is not there. */
	if (err && !asked.agent_id && c->problem.code &&
		strcmp(c->problem.code, "model_not_reached") == 0)
		return gateway_unknown(c, model);
	c->follow = follow;
	return err;
}

/* ---- meanwhile: the answer on its way ---- */

static void on_event(void *data, const struct event *e)
{
	struct gateway *g = data;

	/* Before anything was sent a failure has a status; over() gives it. */
	if (e->kind == EVENT_ERROR && !atomic_load(&g->stream.begun))
		return;
	openai_out_take(&g->out, e);
	if (!g->chat.stream)
		return;
	if (e->kind == EVENT_START)
		model_stream_begin(&g->stream);
	else
		model_stream_flush(&g->stream);
}

/* ---- behind it ---- */

static void release(struct gateway *g)
{
	openai_out_close(&g->out);
	model_stream_close(&g->stream);
}

/* The reply has not begun: it can still be any. */
static void answer(struct gateway *g, const struct run_end *end)
{
	struct call *c = g->stream.c;
	struct problem stopping = { .err = ERR_STOPPING };

	if (end->problem) {
		call_write_problem(c, end->problem);
	} else if (end->cancelled) { /* nobody listens, or the service stops */
		call_write_problem(c, &stopping);
	} else if (end->fault) {
		model_fault_reply(c, end->fault);
	} else {
		c->x->reply.status = g->out.status;
		c->x->reply.type = "application/json";
	}
}

static void on_over(void *data, const struct run_end *end)
{
	struct gateway *g = data;
	struct http_exchange *x = g->stream.c->x;
	struct buf *text = &g->stream.text;

	model_stream_run_over(&g->stream);
	if (!atomic_load(&g->stream.begun)) {
		answer(g, end);
		release(g);
		http_finish(x);
		return;
	}
	if (end->cancelled) {
		buf_lit(text, "data: ");
		openai_write_error(503, "The service is stopping.", NULL, "stopping", text);
		buf_lit(text, "\n\n");
		model_stream_flush(&g->stream);
	}
	release(g);
	http_stream_end(x, true);
}

static enum http_verdict follow(struct call *c)
{
	struct gateway *g = c->own;
	struct id id = id_new(NULL);
	struct openai_out_asked out = { .id = g->id,
		.model = g->chat.model,
		.created_s = c->now / SECOND_US,
		.stream = g->chat.stream,
		.include_usage = g->chat.include_usage };
	struct run_asked asked = { .tenant_id = c->caller.tenant_id,
		.agent_id = g->named.agent_id,
		.user_id = c->caller.user_id,
		.loop = c->x->loop,
		.plan = &g->plan,
		.chat = &g->chat,
		.sink = { .take = on_event },
		.over = on_over };
	int err;

	touch_credential(c->app, &c->caller, c->caller.last_used, c->now);
	snprintf(g->id, sizeof g->id, "chatcmpl-%s", id.text);
	model_stream_open(&g->stream, c);
	openai_out_open(&g->out, &out, g->chat.stream ? &g->stream.text : &c->x->reply.body);
	err = model_stream_start(&g->stream, &asked);
	if (!err)
		return HTTP_KEPT;
	release(g);
	call_conclude(c, err);
	return HTTP_REPLIED;
}

/* ---- where it happens ---- */

void gateway_loop_begins(struct app *app, struct http_loop *loop)
{
	if (app->broker)
		broker_loop_begins(app->broker, loop);
}

void gateway_loop_ends(struct app *app, struct http_loop *loop)
{
	if (app->broker)
		broker_loop_ends(app->broker, loop);
}

/* `look` hands over to the run. */
OPERATION(createChatCompletion, .takes = (const char *const[]){ "application/json", NULL },
	.gives = "application/json", .streams = true, .open_query = true, .look = look)
{
	return call_fail(c, ERR_INTERNAL, "A model call has no second step.");
}

static const struct route routes[] = {
	{ METHOD_POST, "/v1/chat/completions", &createChatCompletion, PERM_LOGIN, 200,
		.unaudited = "each call is entered in the ledger", .tag = "OpenAI",
		.as_printed = true, .openai = true, .patient = true, .max_body = (size_t)32 << 20,
		.doc = "Have an agent or a model answer, as OpenAI's chat completions do: whole, or as a "
		       "stream of events." },
};
RESOURCE(gateway, routes, NULL);
