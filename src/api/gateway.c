/* gateway.c - POST /v1/chat/completions: a request in OpenAI's shape to an agent or a model.
 *
 * The body is read once; `look` decides who may have what called, and the
 * run (broker/run.h) does the rest.  Until a model answers the reply is open,
 * so that a failure has its status; from the first piece of an answer on it
 * is a stream, where one was asked for.  It knows HTTP and OpenAI's shape,
 * and nothing of providers, prices or budgets. */
#include "api/gateway.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "api/api.h"
#include "base/clock.h"
#include "broker/openai_out.h"
#include "broker/run.h"
#include "call/chores.h"
#include "call/steps.h"

enum { TEXT_MAX = 64 << 20, QUIET_MS = 5000 };

struct gateway {
	struct call *c;
	struct chat chat;
	struct chat_error fault; /* of the body */
	struct plan plan;
	struct gateway_named named;
	char id[64];
	struct openai_out out;
	struct buf text; /* of the stream, not yet written */
	_Atomic bool begun;
	_Atomic int64_t spoke_ms;
	pthread_mutex_t lock; /* over the next */
	struct run *run;      /* NULL: it is over */
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
	g->c = c;
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

static void stop(struct gateway *g)
{
	pthread_mutex_lock(&g->lock);
	if (g->run)
		run_cancel(g->run);
	pthread_mutex_unlock(&g->lock);
}

/* On the loop: the peer has taken what there was, or is gone. */
static void on_room(struct http_exchange *x)
{
	struct gateway *g = ((struct call *)x->data)->own;

	pthread_mutex_lock(&g->lock);
	if (g->run)
		run_resume(g->run);
	pthread_mutex_unlock(&g->lock);
}

static void begin(struct gateway *g)
{
	struct http_exchange *x = g->c->x;

	x->reply.status = 200;
	x->reply.type = "text/event-stream";
	buf_lit(&x->reply.extra, "Cache-Control: no-cache\r\nX-Accel-Buffering: no\r\n");
	if (!http_stream_begin(x, on_room))
		stop(g);
	atomic_store(&g->spoke_ms, clock_mono_ms());
	atomic_store(&g->begun, true);
}

/* Written and held under one lock: room may be told of as soon as it is written, and a run that is held
 * behind that would never be told again. */
static void flush(struct gateway *g)
{
	enum http_flow flow;

	pthread_mutex_lock(&g->lock);
	flow = http_stream_write(g->c->x, g->text.at, g->text.len);
	if (flow == HTTP_STREAM_FULL && g->run)
		run_hold(g->run);
	pthread_mutex_unlock(&g->lock);
	g->text.len = 0;
	atomic_store_explicit(&g->spoke_ms, clock_mono_ms(), memory_order_relaxed);
	if (flow == HTTP_STREAM_GONE)
		stop(g);
}

static void on_event(void *data, const struct event *e)
{
	struct gateway *g = data;

	/* Before anything was sent a failure has a status; over() gives it. */
	if (e->kind == EVENT_ERROR && !atomic_load(&g->begun))
		return;
	openai_out_take(&g->out, e);
	if (!g->chat.stream)
		return;
	if (e->kind == EVENT_START)
		begin(g);
	else if (g->text.len)
		flush(g);
}

/* A stream that says nothing for long is taken for dead on its way. */
static bool on_tick(void *data)
{
	struct gateway *g = data;
	int64_t now = clock_mono_ms();

	if (http_left(g->c->x))
		return false;
	if (!atomic_load(&g->begun) || now - atomic_load(&g->spoke_ms) < QUIET_MS)
		return true;
	atomic_store(&g->spoke_ms, now);
	return http_stream_write(g->c->x, ":\n\n", 3) != HTTP_STREAM_GONE;
}

/* ---- behind it ---- */

/* The lock stays as long as the exchange: room() may still come. */
static void release(struct gateway *g)
{
	openai_out_close(&g->out);
	buf_free(&g->text);
}

static void write_fault(struct gateway *g, const struct fault *f)
{
	const struct fault_row *row = &fault_rows[f->class];
	struct http_reply *reply = &g->c->x->reply;

	reply->status = row->status;
	reply->type = "application/json";
	if (row->status == 429)
		buf_printf(&reply->extra, "Retry-After: %d\r\n",
			f->retry_after_s ? f->retry_after_s : 1);
	openai_write_error(row->status, f->sentence, NULL,
		f->class == FAULT_CONTEXT_LENGTH ? "context_length_exceeded" : row->word,
		&reply->body);
}

/* The reply has not begun: it can still be any. */
static void answer(struct gateway *g, const struct run_end *end)
{
	struct call *c = g->c;
	struct problem stopping = { .err = ERR_STOPPING };

	if (end->problem) {
		call_write_problem(c, end->problem);
	} else if (end->cancelled) { /* nobody listens, or the service stops */
		call_write_problem(c, &stopping);
	} else if (end->fault) {
		write_fault(g, end->fault);
	} else {
		c->x->reply.status = g->out.status;
		c->x->reply.type = "application/json";
	}
}

static void on_over(void *data, const struct run_end *end)
{
	struct gateway *g = data;
	struct http_exchange *x = g->c->x;
	bool begun = atomic_load(&g->begun);

	pthread_mutex_lock(&g->lock);
	g->run = NULL;
	pthread_mutex_unlock(&g->lock);
	if (!begun) {
		answer(g, end);
		release(g);
		http_finish(x);
		return;
	}
	if (end->cancelled) {
		buf_lit(&g->text, "data: ");
		openai_write_error(503, "The service is stopping.", NULL, "stopping", &g->text);
		buf_lit(&g->text, "\n\n");
		http_stream_write(x, g->text.at, g->text.len);
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
		.sink = { on_event, g },
		.over = on_over,
		.tick = on_tick,
		.data = g };
	int err;

	touch_credential(c->app, &c->caller, c->caller.last_used, c->now);
	snprintf(g->id, sizeof g->id, "chatcmpl-%s", id.text);
	pthread_mutex_init(&g->lock, NULL);
	buf_init(&g->text, TEXT_MAX);
	openai_out_open(&g->out, &out, g->chat.stream ? &g->text : &c->x->reply.body);
	err = run_start(c->app->broker, &asked, &g->run);
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
