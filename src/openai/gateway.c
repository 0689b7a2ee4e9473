/* gateway.c - POST /v1/chat/completions: a request in OpenAI's shape to an agent or a model.
 *
 * The body is read once; `look` decides who may have what called, and the
 * run (broker/completion.h) does the rest.  Until a model answers the reply is open,
 * so that a failure has its status; from the first piece of an answer on it
 * is a stream, where one was asked for.  It knows HTTP and OpenAI's shape,
 * and nothing of providers, prices or budgets. */
#include "openai/gateway.h"

#include <stdio.h>
#include <string.h>

#include "api/service.h"
#include "call/operation.h"
#include "openai/model_stream.h"
#include "openai/openai_events.h"
#include "base/clock.h"
#include "broker/openai_out.h"

struct gateway {
	struct model_stream stream; /* first */
	struct chat chat;
	struct chat_error fault; /* of the body */
	struct candidates candidates;
	struct gateway_named named;
	char id[64];
	const char *maker; /* the kind of provider that answers */
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
	buf_putc(&c->x->reply.body, '\n');
	return HTTP_REPLIED;
}

static void gateway_read_body(struct call *c)
{
	struct gateway *g = c->own = arena_new(c->arena, struct gateway);

	if (chat_read(&g->chat, c->arena, c->raw, c->raw_len, &g->fault) && !*g->fault.message)
		strcpy(g->fault.message, "The body could not be read.");
}

int gateway_candidates(
	struct call *c, struct chat *chat, struct gateway_named *named, struct candidates *ret)
{
	struct candidates_asked asked = { .chat = chat,
		.vault = c->app->vault,
		.keys = broker_keys(service_of(c->app)->broker, c->arena),
		.now = c->now };
	const char *model = text_plain(c->arena, chat->model);
	int err = gateway_tenant(c);

	if (!err)
		err = gateway_find(c, model, PERM_SESSION_WRITE, named);
	if (err)
		return err;
	chat_put_prompt(chat, named->description_prompt);
	asked.tenant_id = c->caller.tenant_id;
	asked.user_id = c->caller.user_id;
	asked.agent_id = named->agent_id;
	asked.model_id = named->model_id;
	err = candidates_find(c->db, c->arena, &asked, ret, &c->problem);
	/* What the tenant does not reach is not there. */
	if (err && !asked.agent_id && c->problem.code &&
		strcmp(c->problem.code, "model_not_reached") == 0)
		return gateway_unknown(c, model);
	return err;
}

static const struct stream_source gateway_source;

static int gateway_look(struct call *c)
{
	struct gateway *g = c->own;
	int err;

	if (*g->fault.message && arena_full(c->arena))
		return ERR_BUSY; /* it is not the body's fault */
	if (*g->fault.message) {
		c->deferred = answer_fault;
		return 0;
	}
	err = gateway_candidates(c, &g->chat, &g->named, &g->candidates);
	g->stream.c = c;
	g->stream.stream = call_stream(c, &gateway_source, g);
	return err;
}

/* ---- meanwhile: the answer on its way ---- */

/* An answer to less than was asked says so. */
static void say_dropped(struct gateway *g)
{
	model_say_dropped(g->stream.c, &g->chat, g->maker);
}

static void gateway_on_event(void *data, const struct event *e)
{
	struct gateway *g = data;
	struct call_stream *s = g->stream.stream;

	/* Before anything was sent a failure has a status; gateway_answer() gives it. */
	if (e->kind == EVENT_ERROR && !call_stream_begun(s))
		return;
	openai_out_take(&g->out, e);
	if (e->kind == EVENT_START)
		g->maker = e->maker;
	if (!g->chat.stream)
		return;
	if (e->kind == EVENT_START)
		say_dropped(g);
	if (e->kind == EVENT_START)
		call_stream_begin(s);
	else
		call_stream_flush(s);
}

/* ---- after it ---- */

/* The reply has not begun: it can still be any. */
static void gateway_answer(struct gateway *g, const struct completion_end *end)
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
		say_dropped(g);
		c->x->reply.status = g->out.status;
		c->x->reply.type = "application/json";
		buf_putc(&c->x->reply.body, '\n');
	}
}

static enum stream_end end_answer(void *state)
{
	struct gateway *g = state;
	struct buf *text = call_stream_out(g->stream.stream);

	if (!call_stream_begun(g->stream.stream)) {
		gateway_answer(g, g->stream.end);
	} else if (g->stream.end->cancelled) {
		stream_event_begin(text, &openai_events[OPENAI_EVENT_CHUNK_ERROR]);
		openai_write_error(503, "The service is stopping.", NULL, "stopping", text);
		stream_event_end(text);
		call_stream_flush(g->stream.stream);
	}
	openai_out_close(&g->out);
	return STREAM_COMPLETE;
}

static int start_answer(void *state)
{
	struct gateway *g = state;
	struct call *c = g->stream.c;
	struct id id = id_new(NULL);
	struct openai_out_asked out = { .id = g->id,
		.model = g->chat.model,
		.created_s = c->now / SECOND_US,
		.stream = g->chat.stream,
		.include_usage = g->chat.include_usage };
	struct completion_asked asked = { .tenant_id = c->caller.tenant_id,
		.agent_id = g->named.agent_id,
		.user_id = c->caller.user_id,
		.loop = c->x->loop,
		.candidates = &g->candidates,
		.chat = &g->chat,
		.keeps = !g->chat.stream,
		.sink = { .take = gateway_on_event } };
	int err;

	snprintf(g->id, sizeof g->id, "chatcmpl-%s", id.text);
	openai_out_open(&g->out, &out,
		g->chat.stream ? call_stream_out(g->stream.stream) : &c->x->reply.body);
	err = model_stream_start(&g->stream, &asked);
	if (err)
		openai_out_close(&g->out);
	return err;
}

static const struct stream_source gateway_source = {
	MODEL_SOURCE,
	.start = start_answer,
	.last = end_answer,
};

/* ---- where it happens ---- */

void gateway_loop_begins(struct app *app, struct http_loop *loop)
{
	if (service_of(app)->broker)
		broker_loop_begins(service_of(app)->broker, loop);
}

void gateway_loop_ends(struct app *app, struct http_loop *loop)
{
	if (service_of(app)->broker)
		broker_loop_ends(service_of(app)->broker, loop);
}

/* `look` hands over to the run. */
OPERATION(createChatCompletion, NONE, NONE,
	.takes = (const char *const[]){ "application/json", NULL }, .gives = "application/json",
	.raw_body = &ChatCompletionCreate_schema, .raw_reply = &ChatCompletion_schema,
	.header = "Lodge-Dropped", .streams = true, .events = &chat_event_stream,
	.open_query = true, .read = gateway_read_body, .look = gateway_look)
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
