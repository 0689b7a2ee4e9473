/* response_model.c - a response of a model: one call through the broker, as chat completions are, with what
 * came before it in the chain of responses.  It is stored, unless that is not wanted, before its end is told. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "api/openai_tools.h"
#include "api/responses.h"
#include "base/clock.h"
#include "base/json.h"
#include "broker/openai_out.h"
#include "broker/run.h"
#include "call/chores.h"
#include "call/steps.h"
#include "contract/encode.h"

enum { OUT_MAX = 64 << 20, QUIET_MS = 5000, CHAIN_MAX = 256 };

struct model_call {
	struct call *c;
	struct chat chat;
	struct plan plan;
	struct response_row row;
	bool streams, stores;
	struct response_out out;
	struct collected whole;
	struct buf text; /* of the stream, not yet written */
	struct arena scratch;
	_Atomic bool begun;
	_Atomic int64_t spoke_ms;
	struct work work;     /* storing it */
	pthread_mutex_t lock; /* over the next */
	struct run *run;      /* NULL: it is over */
};

/* ---- what the model is asked ---- */

static void add_parts(struct chat *chat, struct chat_message *m, const char *parts)
{
	struct json_reader r;
	const char *item;
	size_t len;

	json_open(&r, chat->arena, parts, strlen(parts));
	json_enter_array(&r);
	while (json_next_item(&r) && json_skip(&r, &item, &len)) {
		const char *part = arena_strndup(chat->arena, item, len);
		const char *url = openai_text(chat->arena, part, "image_url");
		const char *text = openai_text(chat->arena, part, "text");

		if (url)
			chat_image(chat_part_add(chat, m, PART_IMAGE_URL), chat_text(chat, url));
		else if (text)
			chat_part_add(chat, m, PART_TEXT)->text = chat_text(chat, text);
	}
}

static void add_item(struct chat *chat, const struct response_item *it)
{
	struct chat_message *m;

	switch (it->kind) {
	case ITEM_MESSAGE:
		m = chat_message_add(chat,
			strcmp(it->role, "user") == 0	  ? CHAT_USER
			: strcmp(it->role, "system") == 0 ? CHAT_SYSTEM
							  : CHAT_ASSISTANT,
			it->content ? NULL : it->text);
		if (it->content)
			add_parts(chat, m, it->content);
		break;
	case ITEM_CALL:
		/* Calls that stand together are of one message. */
		m = NULL;
		for (struct chat_message *last = chat->messages; last; last = last->next)
			m = last;
		if (!m || m->role != CHAT_ASSISTANT)
			m = chat_message_add(chat, CHAT_ASSISTANT, NULL);
		chat_call_add(chat, m, it->call_id, it->name, it->arguments);
		break;
	case ITEM_OUTPUT:
		chat_result_add(chat, it->call_id, it->text);
		break;
	case ITEM_APPROVAL:
	case ITEM_OTHER:
		break;
	}
}

static int add_items(struct model_call *m, const char *json, const char **ret_json)
{
	struct list items;
	const struct response_item *it;
	int err = response_items_read(m->c, json, m->row.id, &items, ret_json);

	it = items.at;
	for (size_t i = 0; !err && i < items.count; i++)
		add_item(&m->chat, &it[i]);
	return err;
}

/* What came before, oldest first. */
static int add_chain(struct model_call *m)
{
	struct response_row *chain[CHAIN_MAX];
	const char *id = m->row.previous_id;
	size_t n = 0;
	int err = 0;

	for (; !err && id; n++) {
		if (n == CHAIN_MAX)
			return call_field(m->c, "previous_response_id", "too_long",
				"must go back over at most %d responses", CHAIN_MAX);
		chain[n] = arena_new(m->c->arena, struct response_row);
		err = response_find(m->c, id, PERM_SESSION_READ, chain[n]);
		if (!err && chain[n]->agent_id)
			return call_field(m->c, "previous_response_id", "conflict",
				"must be a response of a model; go on with the agent instead");
		id = chain[n]->previous_id;
	}
	while (!err && n--) {
		err = add_items(m, chain[n]->input, NULL);
		if (!err)
			err = add_items(m, chain[n]->output, NULL);
	}
	return err;
}

static void add_tools(struct model_call *m, const char *functions)
{
	struct arena *a = m->c->arena;
	struct json_reader r;
	const char *item;
	size_t len;

	if (!functions)
		return;
	json_open(&r, a, functions, strlen(functions));
	json_enter_array(&r);
	while (json_next_item(&r) && json_skip(&r, &item, &len)) {
		const char *f = arena_strndup(a, item, len);

		chat_tool_add(&m->chat, openai_text(a, f, "name"), openai_text(a, f, "description"),
			openai_member(a, f, "parameters"));
	}
}

static int read_choice(struct model_call *m, const char *json)
{
	static const struct {
		const char *word;
		enum chat_choice choice;
	} words[] = { { "\"auto\"", CHOICE_AUTO }, { "\"none\"", CHOICE_NONE },
		{ "\"required\"", CHOICE_REQUIRED } };
	const char *type = json ? openai_text(m->c->arena, json, "type") : NULL;
	const char *name = json ? openai_text(m->c->arena, json, "name") : NULL;

	for (size_t i = 0; json && i < sizeof words / sizeof *words; i++)
		if (strcmp(json, words[i].word) == 0) {
			m->chat.tool_choice = words[i].choice;
			return 0;
		}
	if (!json)
		return 0;
	if (!type || strcmp(type, "function") != 0 || !name)
		return call_field(m->c, "tool_choice", "choice",
			"must be none, auto, required, or name a function");
	m->chat.tool_choice = CHOICE_NAMED;
	m->chat.tool_chosen = chat_text(&m->chat, name);
	return 0;
}

static int read_format(struct model_call *m, const char *text)
{
	struct arena *a = m->c->arena;
	const char *format = openai_member(a, text, "format");
	const char *type = openai_text(a, format, "type"), *schema, *name;

	if (!format || (type && strcmp(type, "text") == 0))
		return 0;
	if (type && strcmp(type, "json_object") == 0) {
		m->chat.format = FORMAT_OBJECT;
		return 0;
	}
	schema = openai_member(a, format, "schema");
	name = openai_text(a, format, "name");
	if (!type || strcmp(type, "json_schema") != 0 || !schema || *schema != '{' || !name)
		return call_field(m->c, "text.format", "choice",
			"must be text, json_object, or json_schema with a name and a schema");
	m->chat.format = FORMAT_SCHEMA;
	m->chat.format_name = chat_text(&m->chat, name);
	m->chat.format_schema = (struct slice){ schema, strlen(schema) };
	m->chat.format_strict = openai_member(a, format, "strict") &&
				strcmp(openai_member(a, format, "strict"), "true") == 0;
	return 0;
}

static int read_effort(struct model_call *m, const char *reasoning)
{
	const char *effort = openai_text(m->c->arena, reasoning, "effort");

	for (int i = EFFORT_NONE; effort && i < EFFORT_COUNT; i++)
		if (strcmp(chat_effort_names[i], effort) == 0) {
			m->chat.effort = (enum chat_effort)i;
			return 0;
		}
	return effort ? call_field(
				m->c, "reasoning.effort", "choice", "is not an effort known here")
		      : 0;
}

static int ask(struct model_call *m, const struct ResponseCreate *in)
{
	struct chat *chat = &m->chat;
	const char *functions;
	int err = openai_tools(m->c, "tools", in->tools.text, TOOL_FLAT, &functions);

	chat_open(chat, m->c->arena);
	chat->model = chat_text(chat, in->model);
	chat->max_tokens = in->max_output_tokens == NIL ? 0 : in->max_output_tokens;
	chat->temperature = in->temperature;
	chat->top_p = in->top_p;
	chat->stream = m->streams;
	chat->parallel_calls = in->parallel_tool_calls < 0 ? -1 : in->parallel_tool_calls == 1;
	if (in->instructions)
		chat_message_add(chat, CHAT_SYSTEM, in->instructions);
	if (!err)
		err = add_chain(m);
	if (!err)
		err = add_items(m, in->input.text, &m->row.input);
	if (!err && !chat->messages)
		err = call_field(m->c, "input", "required", "must say something");
	if (err)
		return err;
	add_tools(m, functions);
	err = read_choice(m, in->tool_choice.text);
	if (!err)
		err = read_format(m, in->text.text);
	return err ? err : read_effort(m, in->reasoning.text);
}

/* ---- meanwhile ---- */

static void stop(struct model_call *m)
{
	pthread_mutex_lock(&m->lock);
	if (m->run)
		run_cancel(m->run);
	pthread_mutex_unlock(&m->lock);
}

/* On the loop: the peer has taken what there was, or is gone. */
static void on_room(struct http_exchange *x)
{
	struct model_call *m = ((struct call *)x->data)->own;

	pthread_mutex_lock(&m->lock);
	if (m->run)
		run_resume(m->run);
	pthread_mutex_unlock(&m->lock);
}

/* Written and held under one lock: room may be told of as soon as it is written, and a run that is held
 * behind that would never be told again. */
static void flush(struct model_call *m)
{
	enum http_flow flow = HTTP_STREAM_OPEN;

	pthread_mutex_lock(&m->lock);
	if (m->text.len)
		flow = http_stream_write(m->c->x, m->text.at, m->text.len);
	if (flow == HTTP_STREAM_FULL && m->run)
		run_hold(m->run);
	pthread_mutex_unlock(&m->lock);
	m->text.len = 0;
	atomic_store_explicit(&m->spoke_ms, clock_mono_ms(), memory_order_relaxed);
	if (flow == HTTP_STREAM_GONE)
		stop(m);
}

static void begin(struct model_call *m)
{
	struct http_exchange *x = m->c->x;
	struct ResponseObject shown;

	atomic_store(&m->begun, true);
	atomic_store(&m->spoke_ms, clock_mono_ms());
	if (!m->streams)
		return;
	x->reply.status = 200;
	x->reply.type = "text/event-stream";
	buf_lit(&x->reply.extra, "Cache-Control: no-cache\r\nX-Accel-Buffering: no\r\n");
	if (!http_stream_begin(x, on_room))
		stop(m);
	response_show(&m->scratch, &m->row, &shown);
	response_out_begin(&m->out, &shown);
}

static void on_event(void *data, const struct event *e)
{
	struct model_call *m = data;

	collect_take(&m->whole, e);
	if (e->kind == EVENT_START && !atomic_load(&m->begun))
		begin(m);
	else if (e->kind == EVENT_TEXT)
		response_out_text(
			&m->out, m->row.id, text_decode(&m->scratch, e->text, &(size_t){ 0 }));
	if (m->streams)
		flush(m);
	arena_reset(&m->scratch);
}

/* A stream that says nothing for long is taken for dead on its way. */
static bool on_tick(void *data)
{
	struct model_call *m = data;
	int64_t now = clock_mono_ms();

	if (http_left(m->c->x))
		return false;
	if (!m->streams || !atomic_load(&m->begun) || now - atomic_load(&m->spoke_ms) < QUIET_MS)
		return true;
	atomic_store(&m->spoke_ms, now);
	return http_stream_write(m->c->x, ":\n\n", 3) != HTTP_STREAM_GONE;
}

/* ---- behind it ---- */

static void release(struct model_call *m)
{
	response_out_close(&m->out);
	collect_close(&m->whole);
	buf_free(&m->text);
	arena_free(&m->scratch);
}

static void finish(struct model_call *m)
{
	struct http_exchange *x = m->c->x;

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
		flush(m);
	} else {
		m->c->x->reply.status = 200;
		m->c->x->reply.type = "application/json";
		encode_object(&m->c->x->reply.body, &ResponseObject_schema, &shown);
	}
	finish(m);
}

static void refuse(struct model_call *m, const struct problem *p)
{
	if (atomic_load(&m->begun) && m->streams) {
		m->text.len = 0;
		buf_lit(&m->text, "event: error\ndata: ");
		openai_problem(&m->text, p);
		buf_lit(&m->text, "\n\n");
		flush(m);
	} else {
		call_write_problem(m->c, p);
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

static void write_fault(struct model_call *m, const struct fault *f)
{
	const struct fault_row *row = &fault_rows[f->class];
	struct http_reply *reply = &m->c->x->reply;

	reply->status = row->status;
	reply->type = "application/json";
	if (row->status == 429)
		buf_printf(&reply->extra, "Retry-After: %d\r\n",
			f->retry_after_s ? f->retry_after_s : 1);
	openai_write_error(row->status, f->sentence, NULL,
		f->class == FAULT_CONTEXT_LENGTH ? "context_length_exceeded" : row->word,
		&reply->body);
	finish(m);
}

/* What was said, as items; what it cost; how it ended. */
static void conclude(struct model_call *m, const struct run_end *end)
{
	struct arena *a = m->c->arena;
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

		buf_init(&b, OUT_MAX);
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

	pthread_mutex_lock(&m->lock);
	m->run = NULL;
	pthread_mutex_unlock(&m->lock);
	if (end->problem || end->cancelled) {
		refuse(m, end->problem ? end->problem : &stopping);
		return;
	}
	if (end->fault && !(atomic_load(&m->begun) && m->streams)) {
		write_fault(m, end->fault);
		return;
	}
	conclude(m, end);
	if (!m->stores)
		tell_end(m);
	else if (store_submit(m->c->app->store, &m->work))
		refuse(m, &(struct problem){ .err = ERR_BUSY });
}

static enum http_verdict follow(struct call *c)
{
	struct model_call *m = c->own;
	struct run_asked asked = { .tenant_id = c->caller.tenant_id,
		.user_id = c->caller.user_id,
		.plan = &m->plan,
		.chat = &m->chat,
		.sink = { on_event, m },
		.over = on_over,
		.tick = on_tick,
		.data = m };
	int err;

	touch_credential(c->app, &c->caller, c->caller.last_used, c->now);
	pthread_mutex_init(&m->lock, NULL);
	buf_init(&m->text, OUT_MAX);
	collect_open(&m->whole);
	response_out_open(&m->out, m->streams ? &m->text : NULL);
	m->work = (struct work){ .run = store, .done = stored, .mode = READ_WRITE };
	err = run_start(c->app->broker, &asked, &m->run);
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
	m->c = c;
	m->streams = in->stream == 1;
	m->stores = in->store != 0;
	if (!err && in->background == 1)
		err = call_field(c, "background", "conflict",
			"must be false: only agents work in the background");
	if (!err)
		err = ask(m, in);
	if (!err)
		err = plan_make(c->db, c->arena, &asked, &m->plan, &c->problem);
	/* What the tenant does not reach is not there. */
	if (err && c->problem.code && strcmp(c->problem.code, "model_not_reached") == 0)
		return gateway_unknown(c, in->model);
	c->follow = follow;
	return err;
}
