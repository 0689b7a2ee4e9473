/* response_out.c - what a model says, put together as items of a response and told as the events that OpenAI's
 * clients know; see responses.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "openai/openai_events.h"
#include "base/json.h"
#include "contract/encode.h"

enum { ITEMS_MAX_BYTES = 64 << 20 };

void response_out_open(struct response_out *o, struct buf *events, const char *tag)
{
	*o = (struct response_out){ .events = events, .tag = tag };
	buf_init(&o->text, ITEMS_MAX_BYTES);
}

void response_out_close(struct response_out *o)
{
	for (size_t i = 0; i < o->count; i++)
		free(o->items[i]);
	free(o->items);
	buf_free(&o->text);
}

/* ---- events ---- */

/* The members that events begin with. */
#define EVENT_HEAD(o, event) .type = openai_events[event].name, .sequence_number = (o)->sequence++
#define IN_ITEM(o, event, id, place) \
	EVENT_HEAD(o, event), .item_id = (id), .output_index = (int64_t)(place)

static void tell_whole(
	struct response_out *o, enum openai_event event, const struct ResponseObject *whole)
{
	if (o->events)
		OPENAI_EVENT(o->events, event, ResponseEvent,
			(&(struct ResponseEvent){ EVENT_HEAD(o, event), .response = whole }));
}

static void tell_item(
	struct response_out *o, enum openai_event event, size_t place, const char *item)
{
	if (o->events)
		OPENAI_EVENT(o->events, event, ResponseItemEvent,
			(&(struct ResponseItemEvent){ EVENT_HEAD(o, event),
				.output_index = (int64_t)place, .item = { item } }));
}

void response_out_begin(struct response_out *o, const struct ResponseObject *whole)
{
	tell_whole(o, OPENAI_EVENT_RESPONSE_CREATED, whole);
	tell_whole(o, OPENAI_EVENT_RESPONSE_IN_PROGRESS, whole);
}

/* ---- items ---- */

/* A place for the next item. */
static size_t new_place(struct response_out *o)
{
	if (o->count == o->room) {
		size_t room = o->room * 2 + 8;
		char **more = realloc(o->items, room * sizeof *more);

		if (!more)
			return o->count ? o->count - 1 : 0;
		o->items = more;
		o->room = room;
	}
	o->items[o->count] = NULL;
	return o->count++;
}

static void item_id(const struct response_out *o, const char *prefix, size_t place, char id[96])
{
	snprintf(id, 96, "%s_%.48s_%zu", prefix, o->tag, place);
}

/* An item that begins is told and forgotten; `object` is of that schema. */
static void begin_item(
	struct response_out *o, size_t place, const struct schema *s, const void *object)
{
	struct buf item;

	if (!o->events)
		return;
	buf_init(&item, ITEMS_MAX_BYTES);
	encode_object(&item, s, object);
	tell_item(o, OPENAI_EVENT_ITEM_ADDED, place, buf_text(&item));
	buf_free(&item);
}

/* One that is whole, in its place. */
static void complete_item(struct response_out *o, size_t place, const char *json)
{
	if (place >= o->count || o->items[place])
		return;
	o->items[place] = strdup(json);
	tell_item(o, OPENAI_EVENT_ITEM_DONE, place, json);
}

static void complete_object(
	struct response_out *o, size_t place, const struct schema *s, const void *object)
{
	struct buf item;

	buf_init(&item, ITEMS_MAX_BYTES);
	encode_object(&item, s, object);
	if (!item.overflow)
		complete_item(o, place, buf_text(&item));
	buf_free(&item);
}

/* ---- messages ---- */

/* The one part of a message, as JSON text in `b`. */
static const char *part_text(struct response_out *o, struct buf *b, const char *said)
{
	buf_init(b, ITEMS_MAX_BYTES);
	if (o->writing == WRITING_REFUSAL)
		encode_object(b, &ResponseRefusal_schema,
			&(struct ResponseRefusal){ .type = "refusal", .refusal = said });
	else
		encode_object(b, &ResponseText_schema,
			&(struct ResponseText){ .type = "output_text", .text = said });
	return buf_text(b);
}

static void tell_part(struct response_out *o, enum openai_event event, const char *part)
{
	if (o->events)
		OPENAI_EVENT(o->events, event, ResponsePartEvent,
			(&(struct ResponsePartEvent){
				IN_ITEM(o, event, o->item_id, o->index), .part = { part } }));
}

static void open_message(struct response_out *o, enum response_writing what)
{
	struct buf b;

	o->writing = what;
	o->text.len = 0;
	o->index = new_place(o);
	item_id(o, "msg", o->index, o->item_id);
	begin_item(o, o->index, &ResponseMessage_schema,
		&(struct ResponseMessage){ .id = o->item_id,
			.type = "message",
			.status = "in_progress",
			.role = "assistant",
			.content = { "[]" } });
	if (o->events) {
		tell_part(o, OPENAI_EVENT_PART_ADDED, part_text(o, &b, ""));
		buf_free(&b);
	}
}

void response_out_text(struct response_out *o, const char *text, bool refusal)
{
	enum response_writing what = refusal ? WRITING_REFUSAL : WRITING_TEXT;

	if (!*text)
		return;
	if (o->writing == WRITING_THOUGHT)
		response_out_thought_end(o, NULL);
	if (o->writing != what && o->writing)
		response_out_text_end(o, NULL, NULL, true);
	if (!o->writing)
		open_message(o, what);
	buf_puts(&o->text, text);
	if (o->events && refusal)
		OPENAI_EVENT(o->events, OPENAI_EVENT_REFUSAL_DELTA, ResponseRefusalDelta,
			(&(struct ResponseRefusalDelta){
				IN_ITEM(o, OPENAI_EVENT_REFUSAL_DELTA, o->item_id, o->index),
				.delta = text }));
	else if (o->events)
		OPENAI_EVENT(o->events, OPENAI_EVENT_TEXT_DELTA, ResponseTextDelta,
			(&(struct ResponseTextDelta){
				IN_ITEM(o, OPENAI_EVENT_TEXT_DELTA, o->item_id, o->index),
				.delta = text }));
}

static void tell_said(struct response_out *o, const char *said)
{
	if (o->events && o->writing == WRITING_REFUSAL)
		OPENAI_EVENT(o->events, OPENAI_EVENT_REFUSAL_DONE, ResponseRefusalDone,
			(&(struct ResponseRefusalDone){
				IN_ITEM(o, OPENAI_EVENT_REFUSAL_DONE, o->item_id, o->index),
				.refusal = said }));
	else if (o->events)
		OPENAI_EVENT(o->events, OPENAI_EVENT_TEXT_DONE, ResponseTextDone,
			(&(struct ResponseTextDone){
				IN_ITEM(o, OPENAI_EVENT_TEXT_DONE, o->item_id, o->index),
				.text = said }));
}

void response_out_text_end(
	struct response_out *o, const char *text, const char *content, bool complete)
{
	const char *part;
	struct buf b, list;

	if (o->writing != WRITING_TEXT && o->writing != WRITING_REFUSAL)
		return;
	if (text) {
		o->text.len = 0;
		buf_puts(&o->text, text);
	}
	part = part_text(o, &b, buf_text(&o->text));
	tell_said(o, buf_text(&o->text));
	tell_part(o, OPENAI_EVENT_PART_DONE, part);
	buf_init(&list, ITEMS_MAX_BYTES);
	buf_printf(&list, "[%s]", part);
	complete_object(o, o->index, &ResponseMessage_schema,
		&(struct ResponseMessage){ .id = o->item_id,
			.type = "message",
			.status = complete ? "completed" : "incomplete",
			.role = "assistant",
			.content = { content ? content : buf_text(&list) } });
	buf_free(&b);
	buf_free(&list);
	o->writing = WRITING_NOTHING;
}

/* ---- thoughts ---- */

static void tell_summary(struct response_out *o, enum openai_event event, const char *text)
{
	struct ResponseSummaryText part = { "summary_text", text };

	if (o->events)
		OPENAI_EVENT(o->events, event, ResponseSummaryPartEvent,
			(&(struct ResponseSummaryPartEvent){
				IN_ITEM(o, event, o->item_id, o->index), .part = &part }));
}

static void open_thought(struct response_out *o)
{
	o->writing = WRITING_THOUGHT;
	o->text.len = 0;
	o->index = new_place(o);
	item_id(o, "rs", o->index, o->item_id);
	begin_item(o, o->index, &ResponseReasoning_schema,
		&(struct ResponseReasoning){ .id = o->item_id, .type = "reasoning" });
}

void response_out_thought(struct response_out *o, const char *text)
{
	if (!*text)
		return;
	if (o->writing != WRITING_THOUGHT) {
		response_out_text_end(o, NULL, NULL, true);
		open_thought(o);
		tell_summary(o, OPENAI_EVENT_SUMMARY_PART_ADDED, "");
	}
	buf_puts(&o->text, text);
	if (o->events)
		OPENAI_EVENT(o->events, OPENAI_EVENT_SUMMARY_DELTA, ResponseSummaryDelta,
			(&(struct ResponseSummaryDelta){
				IN_ITEM(o, OPENAI_EVENT_SUMMARY_DELTA, o->item_id, o->index),
				.delta = text }));
}

void response_out_thought_end(struct response_out *o, const char *sealed)
{
	struct ResponseSummaryText part = { .type = "summary_text" };

	if (o->writing != WRITING_THOUGHT && !sealed)
		return;
	if (o->writing != WRITING_THOUGHT) {
		response_out_text_end(o, NULL, NULL, true);
		open_thought(o);
	}
	part.text = buf_text(&o->text);
	if (*part.text && o->events) {
		OPENAI_EVENT(o->events, OPENAI_EVENT_SUMMARY_DONE, ResponseSummaryDone,
			(&(struct ResponseSummaryDone){
				IN_ITEM(o, OPENAI_EVENT_SUMMARY_DONE, o->item_id, o->index),
				.text = part.text }));
		tell_summary(o, OPENAI_EVENT_SUMMARY_PART_DONE, part.text);
	}
	complete_object(o, o->index, &ResponseReasoning_schema,
		&(struct ResponseReasoning){ .id = o->item_id,
			.type = "reasoning",
			.summary = { &part, *part.text ? 1 : 0 },
			.encrypted_content = sealed });
	o->writing = WRITING_NOTHING;
}

/* ---- calls ---- */

static struct ResponseFunctionCall call_item(const char *id, const struct response_call *call)
{
	return (struct ResponseFunctionCall){ .id = id,
		.type = "function_call",
		.status = "in_progress",
		.call_id = call->call_id,
		.name = call->name,
		.arguments = "",
		.extra_content = { call->extra },
		.namespace = call->namespace };
}

void response_out_call_begin(struct response_out *o, int number, const struct response_call *call)
{
	struct ResponseFunctionCall item;
	char id[96];

	response_out_thought_end(o, NULL);
	response_out_text_end(o, NULL, NULL, true);
	number %= RESPONSE_CALLS_MAX;
	o->calls[number] = new_place(o);
	item_id(o, "fc", o->calls[number], id);
	item = call_item(id, call);
	begin_item(o, o->calls[number], &ResponseFunctionCall_schema, &item);
}

void response_out_arguments(struct response_out *o, int number, const char *more)
{
	size_t place = o->calls[number % RESPONSE_CALLS_MAX];
	char id[96];

	if (!o->events)
		return;
	item_id(o, "fc", place, id);
	OPENAI_EVENT(o->events, OPENAI_EVENT_ARGUMENTS_DELTA, ResponseArgumentsDelta,
		(&(struct ResponseArgumentsDelta){
			IN_ITEM(o, OPENAI_EVENT_ARGUMENTS_DELTA, id, place), .delta = more }));
}

void response_out_call_end(struct response_out *o, int number, const struct response_call *call)
{
	size_t place = o->calls[number % RESPONSE_CALLS_MAX];
	struct ResponseFunctionCall item;
	char id[96];

	item_id(o, "fc", place, id);
	if (o->events)
		OPENAI_EVENT(o->events, OPENAI_EVENT_ARGUMENTS_DONE, ResponseArgumentsDone,
			(&(struct ResponseArgumentsDone){
				IN_ITEM(o, OPENAI_EVENT_ARGUMENTS_DONE, id, place),
				.name = call->name, .arguments = call->arguments }));
	item = call_item(id, call);
	item.status = "completed";
	item.arguments = call->arguments;
	complete_object(o, place, &ResponseFunctionCall_schema, &item);
}

/* ---- others ---- */

void response_out_approval(
	struct response_out *o, const char *id, const char *name, const char *arguments)
{
	const struct ResponseApprovalRequest item = { .id = id,
		.type = "mcp_approval_request",
		.server_label = "lodge",
		.name = name,
		.arguments = arguments };
	size_t place = new_place(o);

	begin_item(o, place, &ResponseApprovalRequest_schema, &item);
	complete_object(o, place, &ResponseApprovalRequest_schema, &item);
}

/* With an id of ours, but for what is answered by its id. */
static void put_own_id(const struct response_out *o, size_t place, struct arena *a,
	const char *item, struct buf *b)
{
	const char *type = openai_text(a, item, "type"), *key, *value;
	bool asked = type && strcmp(type, "mcp_approval_request") == 0;
	struct json_reader r;
	size_t key_len, len;
	char id[96];

	item_id(o, "it", place, id);
	buf_putc(b, '{');
	if (!asked)
		buf_printf(b, "\"id\":\"%s\"", id);
	json_open(&r, a, item, strlen(item));
	json_enter_object(&r);
	while (json_next_key(&r, &key, &key_len) && json_skip(&r, &value, &len)) {
		if (!asked && strcmp(key, "id") == 0)
			continue;
		if (b->len > 1)
			buf_putc(b, ',');
		json_write_string(b, key, strlen(key));
		buf_putc(b, ':');
		buf_put(b, value, len);
	}
	buf_putc(b, '}');
}

void response_out_item(struct response_out *o, struct arena *a, const char *item)
{
	size_t place;
	struct buf b;

	response_out_thought_end(o, NULL);
	response_out_text_end(o, NULL, NULL, true);
	place = new_place(o);
	buf_init(&b, ITEMS_MAX_BYTES);
	put_own_id(o, place, a, item, &b);
	tell_item(o, OPENAI_EVENT_ITEM_ADDED, place, buf_text(&b));
	complete_item(o, place, buf_text(&b));
	buf_free(&b);
}

const char *response_out_items(struct response_out *o, struct arena *a)
{
	struct buf b;

	buf_init(&b, ITEMS_MAX_BYTES);
	buf_putc(&b, '[');
	for (size_t i = 0; i < o->count; i++)
		if (o->items[i])
			buf_printf(&b, "%s%s", b.len > 1 ? "," : "", o->items[i]);
	buf_putc(&b, ']');
	return arena_take(a, &b);
}

void response_out_end(struct response_out *o, const struct ResponseObject *whole)
{
	tell_whole(o,
		strcmp(whole->status, "completed") == 0	   ? OPENAI_EVENT_RESPONSE_COMPLETED
		: strcmp(whole->status, "incomplete") == 0 ? OPENAI_EVENT_RESPONSE_INCOMPLETE
							   : OPENAI_EVENT_RESPONSE_FAILED,
		whole);
}

const char *response_usage(
	struct arena *a, int64_t input, int64_t cached, int64_t output, int64_t reasoning)
{
	long long in = input, out = output;

	return arena_printf(a,
		"{\"input_tokens\":%lld,\"input_tokens_details\":{\"cached_tokens\":%lld},"
		"\"output_tokens\":%lld,\"output_tokens_details\":{\"reasoning_tokens\":%lld},"
		"\"total_tokens\":%lld}",
		in, (long long)cached, out, (long long)reasoning, in + out);
}
