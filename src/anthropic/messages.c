/* messages.c - POST /v1/messages: a request in Anthropic's shape to an agent or a model.
 *
 * What is named and who may call it, the reservation, the ledger and the
 * stream are those of the chat completions (openai/gateway.h, model_stream.h);
 * here are the shape of the request and of the answer. */
#include "anthropic/messages.h"

#include <stdio.h>
#include <string.h>

#include "anthropic/messages_out.h"
#include "anthropic/messages_read.h"
#include "api/service.h"
#include "base/clock.h"
#include "call/operation.h"
#include "contract/anthropic_fault.h"
#include "openai/gateway.h"
#include "openai/model_stream.h"

struct messages_call {
	struct model_stream stream; /* first */
	struct chat chat;
	struct chat_error fault; /* of the body */
	struct messages_read read;
	struct candidates candidates;
	struct gateway_named named;
	char id[64];
	struct messages_out out;
};

/* ---- before ---- */

static void reply_status(struct call *c, int status)
{
	c->x->reply.status = anthropic_status(status);
	c->x->reply.type = "application/json";
	buf_printf(&c->x->reply.extra, "request-id: %s\r\n", c->x->request_id);
}

static void reply_fault(struct call *c, int status, const char *message)
{
	reply_status(c, status);
	anthropic_fault_write(&c->x->reply.body, status, message, c->x->request_id);
	buf_putc(&c->x->reply.body, '\n');
}

static enum http_verdict messages_answer_fault(struct call *c)
{
	const struct messages_call *m = c->own;

	reply_fault(c, 400, m->fault.message);
	return HTTP_REPLIED;
}

static void messages_read_as(struct call *c, const struct messages_asked *asked)
{
	struct messages_call *m = c->own = arena_new(c->arena, struct messages_call);
	const struct http_request *r = &c->x->request;

	if (messages_read(&m->chat, c->arena, (struct slice){ c->raw, c->raw_len }, asked, &m->read,
		    &m->fault) &&
		!*m->fault.message)
		strcpy(m->fault.message, "The body could not be read.");
	m->chat.version = http_header(r, ANTHROPIC_HEADER);
	m->chat.beta = http_header(r, "anthropic-beta");
}

static void messages_read_body(struct call *c)
{
	messages_read_as(c, &(struct messages_asked){ .counts = false });
}

/* True if what is wrong with the body is the answer. */
static int messages_refuse(struct call *c, bool *ret)
{
	const struct messages_call *m = c->own;

	*ret = *m->fault.message != '\0';
	if (*ret && arena_full(c->arena))
		return ERR_BUSY; /* it is not the body's fault */
	if (*ret)
		c->deferred = messages_answer_fault;
	return 0;
}

static const struct stream_source messages_source;

static int messages_look(struct call *c)
{
	struct messages_call *m = c->own;
	bool refused;
	int err = messages_refuse(c, &refused);

	if (err || refused)
		return err;
	err = gateway_candidates(c, &m->chat, &m->named, &m->candidates);
	m->stream.c = c;
	m->stream.stream = call_stream(c, &messages_source, m);
	return err;
}

/* ---- meanwhile ---- */

/* An answer to less than was asked says so. */
static void messages_say_dropped(struct messages_call *m)
{
	const struct chat *chat = &m->chat;
	bool other = strcmp(m->out.maker, "anthropic") != 0 && chat->elsewhere;
	struct buf *extra = &m->stream.c->x->reply.extra;

	buf_printf(extra, "request-id: %s\r\n", m->stream.c->x->request_id);
	if (!chat->dropped && !other)
		return;
	buf_printf(extra, "Lodge-Dropped: %s%s%s\r\n", chat->dropped ? chat->dropped : "",
		chat->dropped && other ? ", " : "", other ? chat->elsewhere : "");
}

static void messages_on_event(void *data, const struct event *e)
{
	struct messages_call *m = data;
	struct call_stream *s = m->stream.stream;

	/* Before anything was sent a failure has a status; messages_answer() gives it. */
	if (e->kind == EVENT_ERROR && !call_stream_begun(s))
		return;
	messages_out_take(&m->out, e);
	if (!m->chat.stream)
		return;
	if (e->kind == EVENT_START) {
		messages_say_dropped(m);
		call_stream_begin(s);
	} else {
		call_stream_flush(s);
	}
}

/* ---- after it ---- */

static void messages_fault_reply(struct call *c, const struct fault *f)
{
	const struct fault_row *row = &fault_rows[f->class];

	if (row->status == 429 || row->status == 503)
		buf_printf(&c->x->reply.extra, "Retry-After: %d\r\n",
			f->retry_after_s ? f->retry_after_s : 1);
	reply_fault(c, row->status, f->sentence);
}

/* The reply has not begun: it can still be any. */
static void messages_answer(struct messages_call *m, const struct completion_end *end)
{
	struct call *c = m->stream.c;

	if (end->problem) {
		call_write_problem(c, end->problem);
	} else if (end->cancelled) { /* nobody listens, or the service stops */
		call_write_problem(c, &(struct problem){ .err = ERR_STOPPING });
	} else if (end->fault) {
		messages_fault_reply(c, end->fault);
	} else if (m->out.overflowed) {
		buf_clear(&c->x->reply.body);
		reply_fault(c, 502, "The model's reply is too large.");
	} else {
		messages_say_dropped(m);
		c->x->reply.status = 200;
		c->x->reply.type = "application/json";
		buf_putc(&c->x->reply.body, '\n');
	}
}

static enum stream_end end_message(void *state)
{
	struct messages_call *m = state;

	if (!call_stream_begun(m->stream.stream)) {
		messages_answer(m, m->stream.end);
	} else if (m->stream.end->cancelled) {
		messages_out_error(call_stream_out(m->stream.stream), 503,
			"The service is stopping.", m->stream.c->x->request_id);
		call_stream_flush(m->stream.stream);
	}
	messages_out_close(&m->out);
	return STREAM_COMPLETE;
}

static int start_message(void *state)
{
	struct messages_call *m = state;
	struct call *c = m->stream.c;
	struct id id = id_new(NULL);
	struct messages_out_asked out = { .id = m->id,
		.request_id = c->x->request_id,
		.model = m->chat.model,
		.stream = m->chat.stream,
		.thinks = m->read.thinks };
	struct completion_asked asked = { .tenant_id = c->caller.tenant_id,
		.agent_id = m->named.agent_id,
		.user_id = c->caller.user_id,
		.loop = c->x->loop,
		.candidates = &m->candidates,
		.chat = &m->chat,
		.keeps = m->chat.stream ? 0 : 2, /* as blocks, and as the answer */
		.sink = { .take = messages_on_event } };
	int err;

	snprintf(m->id, sizeof m->id, "msg_%s", id.text);
	messages_out_open(&m->out, &out,
		m->chat.stream ? call_stream_out(m->stream.stream) : &c->x->reply.body);
	err = model_stream_start(&m->stream, &asked);
	if (err)
		messages_out_close(&m->out);
	return err;
}

static const struct stream_source messages_source = {
	MODEL_SOURCE,
	.start = start_message,
	.last = end_message,
};

/* `look` hands over to the run. */
OPERATION(createAnthropicMessage, NONE, NONE,
	.takes = (const char *const[]){ "application/json", NULL }, .gives = "application/json",
	.raw_body = &AnthropicMessageCreate_schema, .raw_reply = &AnthropicMessage_schema,
	.header = "Lodge-Dropped", .streams = true, .events = &message_event_stream,
	.open_query = true, .read = messages_read_body, .look = messages_look)
{
	return call_fail(c, ERR_INTERNAL, "A model call has no second step.");
}

/* ---- how much it would be ---- */

static void tokens_read_body(struct call *c)
{
	messages_read_as(c, &(struct messages_asked){ .counts = true });
}

static enum http_verdict tokens_answer(struct call *c)
{
	const struct messages_call *m = c->own;

	reply_status(c, 200);
	buf_printf(&c->x->reply.body, "{\"input_tokens\":%lld}\n",
		(long long)m->candidates.prompt_tokens);
	return HTTP_REPLIED;
}

/* By the same reckoning as the reservation, of whom the call would go to. */
static int tokens_look(struct call *c)
{
	struct messages_call *m = c->own;
	bool refused;
	int err = messages_refuse(c, &refused);

	if (err || refused)
		return err;
	err = gateway_candidates(c, &m->chat, &m->named, &m->candidates);
	c->deferred = tokens_answer;
	return err;
}

OPERATION(countAnthropicTokens, NONE, NONE,
	.takes = (const char *const[]){ "application/json", NULL }, .gives = "application/json",
	.raw_body = &AnthropicTokensAsked_schema, .raw_reply = &AnthropicTokens_schema,
	.open_query = true, .read = tokens_read_body, .look = tokens_look)
{
	return call_fail(c, ERR_INTERNAL, "Counting has no second step.");
}

#define ANTHROPIC \
	.tag = "Anthropic", .as_printed = true, .anthropic = true, .max_body = (size_t)32 << 20

static const struct route routes[] = {
	{ METHOD_POST, "/v1/messages", &createAnthropicMessage, PERM_LOGIN, 200,
		.unaudited = "each call is entered in the ledger", ANTHROPIC, .patient = true,
		.doc = "Have an agent or a model answer, as Anthropic's Messages API does: whole, or as a "
		       "stream of events." },
	{ METHOD_POST, "/v1/messages/count_tokens", &countAnthropicTokens, PERM_LOGIN, 200,
		.unaudited = "it changes nothing", ANTHROPIC,
		.doc = "Count the tokens of a conversation without asking a model." },
};
RESOURCE(messages, routes, NULL);
