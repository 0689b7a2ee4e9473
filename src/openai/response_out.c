/* response_out.c - what a model says, put together as items of a response and told as the events that OpenAI's
 * clients know; see responses.h. */
#include <stdio.h>
#include <string.h>

#include "openai/openai_events.h"
#include "contract/encode.h"

enum { ITEMS_MAX_BYTES = 64 << 20 };

void response_out_open(struct response_out *o, struct buf *events)
{
	*o = (struct response_out){ .events = events };
	buf_init(&o->items, ITEMS_MAX_BYTES);
	buf_init(&o->text, ITEMS_MAX_BYTES);
}

void response_out_close(struct response_out *o)
{
	buf_free(&o->items);
	buf_free(&o->text);
}

/* ---- events ---- */

/* The members that events begin with. */
#define EVENT_HEAD(o, event) .type = openai_events[event].name, .sequence_number = (o)->sequence++
#define IN_ITEM(o, event) \
	EVENT_HEAD(o, event), .item_id = (o)->item_id, .output_index = (int64_t)(o)->index

static void tell_whole(
	struct response_out *o, enum openai_event event, const struct ResponseObject *whole)
{
	if (o->events)
		OPENAI_EVENT(o->events, event, ResponseEvent,
			(&(struct ResponseEvent){ EVENT_HEAD(o, event), .response = whole }));
}

static void tell_item(struct response_out *o, enum openai_event event, const char *item)
{
	if (o->events)
		OPENAI_EVENT(o->events, event, ResponseItemEvent,
			(&(struct ResponseItemEvent){ EVENT_HEAD(o, event),
				.output_index = (int64_t)o->index, .item = { item } }));
}

static void tell_part(struct response_out *o, enum openai_event event, const char *text)
{
	struct ResponseText part = { .type = "output_text", .text = text };

	if (o->events)
		OPENAI_EVENT(o->events, event, ResponsePartEvent,
			(&(struct ResponsePartEvent){ IN_ITEM(o, event), .part = &part }));
}

void response_out_begin(struct response_out *o, const struct ResponseObject *whole)
{
	tell_whole(o, OPENAI_EVENT_RESPONSE_CREATED, whole);
	tell_whole(o, OPENAI_EVENT_RESPONSE_IN_PROGRESS, whole);
}

/* ---- items ---- */

/* An item that begins is told and forgotten; `object` is of that schema. */
static void begin_item(struct response_out *o, const struct schema *s, const void *object)
{
	struct buf item;

	if (!o->events)
		return;
	buf_init(&item, ITEMS_MAX_BYTES);
	encode_object(&item, s, object);
	tell_item(o, OPENAI_EVENT_ITEM_ADDED, buf_text(&item));
	buf_free(&item);
}

/* One that is whole joins the others; where it stands among them. */
static size_t add_item(struct response_out *o, const struct schema *s, const void *object)
{
	size_t from;

	if (o->items.len)
		buf_putc(&o->items, ',');
	from = o->items.len;
	encode_object(&o->items, s, object);
	return from;
}

static const char *item_text(struct response_out *o, size_t from)
{
	const char *all = buf_text(&o->items);

	return o->items.overflow ? "" : all + from;
}

static void complete_item(struct response_out *o, size_t from)
{
	tell_item(o, OPENAI_EVENT_ITEM_DONE, item_text(o, from));
	o->index++;
}

/* ---- messages ---- */

static struct ResponseMessage message_item(
	struct response_out *o, const char *status, struct ResponseText *part)
{
	return (struct ResponseMessage){ .id = o->item_id,
		.type = "message",
		.status = status,
		.role = "assistant",
		.content = { part, part ? 1 : 0 } };
}

static void open_message(struct response_out *o, const char *message_id)
{
	struct ResponseMessage message;

	o->open = true;
	o->text.len = 0;
	snprintf(o->item_id, sizeof o->item_id, "msg_%s", message_id);
	message = message_item(o, "in_progress", NULL);
	begin_item(o, &ResponseMessage_schema, &message);
	tell_part(o, OPENAI_EVENT_PART_ADDED, "");
}

void response_out_text(struct response_out *o, const char *message_id, const char *text)
{
	if (!*text)
		return;
	if (!o->open)
		open_message(o, message_id);
	buf_puts(&o->text, text);
	if (o->events)
		OPENAI_EVENT(o->events, OPENAI_EVENT_TEXT_DELTA, ResponseTextDelta,
			(&(struct ResponseTextDelta){
				IN_ITEM(o, OPENAI_EVENT_TEXT_DELTA), .delta = text }));
}

void response_out_text_end(struct response_out *o, const char *text, bool complete)
{
	struct ResponseText part = { .type = "output_text" };
	struct ResponseMessage message =
		message_item(o, complete ? "completed" : "incomplete", &part);

	if (!o->open)
		return;
	o->open = false;
	if (text) {
		o->text.len = 0;
		buf_puts(&o->text, text);
	}
	part.text = buf_text(&o->text);
	if (o->events)
		OPENAI_EVENT(o->events, OPENAI_EVENT_TEXT_DONE, ResponseTextDone,
			(&(struct ResponseTextDone){
				IN_ITEM(o, OPENAI_EVENT_TEXT_DONE), .text = part.text }));
	tell_part(o, OPENAI_EVENT_PART_DONE, part.text);
	complete_item(o, add_item(o, &ResponseMessage_schema, &message));
}

/* ---- calls ---- */

/* An item's id is of letters and digits; a provider's call id may be anything. */
static void name_item(struct response_out *o, const char *prefix, const char *id)
{
	size_t n = (size_t)snprintf(o->item_id, sizeof o->item_id, "%s_", prefix);

	for (; *id && n < sizeof o->item_id - 1; id++)
		if ((*id >= '0' && *id <= '9') || (*id >= 'A' && *id <= 'Z') ||
			(*id >= 'a' && *id <= 'z') || *id == '_' || *id == '-')
			o->item_id[n++] = *id;
	o->item_id[n] = '\0';
}

static void tell_arguments(struct response_out *o, const char *name, const char *arguments)
{
	if (!o->events)
		return;
	OPENAI_EVENT(o->events, OPENAI_EVENT_ARGUMENTS_DELTA, ResponseArgumentsDelta,
		(&(struct ResponseArgumentsDelta){
			IN_ITEM(o, OPENAI_EVENT_ARGUMENTS_DELTA), .delta = arguments }));
	OPENAI_EVENT(o->events, OPENAI_EVENT_ARGUMENTS_DONE, ResponseArgumentsDone,
		(&(struct ResponseArgumentsDone){ IN_ITEM(o, OPENAI_EVENT_ARGUMENTS_DONE),
			.name = name, .arguments = arguments }));
}

void response_out_call(
	struct response_out *o, const char *call_id, const char *name, const char *arguments)
{
	struct ResponseFunctionCall call = { .id = o->item_id,
		.type = "function_call",
		.status = "in_progress",
		.call_id = call_id,
		.name = name,
		.arguments = "" };

	name_item(o, "fc", call_id);
	begin_item(o, &ResponseFunctionCall_schema, &call);
	tell_arguments(o, name, arguments);
	call.status = "completed";
	call.arguments = arguments;
	complete_item(o, add_item(o, &ResponseFunctionCall_schema, &call));
}

void response_out_approval(
	struct response_out *o, const char *id, const char *name, const char *arguments)
{
	size_t from = add_item(o, &ResponseApprovalRequest_schema,
		&(struct ResponseApprovalRequest){ .id = id,
			.type = "mcp_approval_request",
			.server_label = "lodge",
			.name = name,
			.arguments = arguments });

	tell_item(o, OPENAI_EVENT_ITEM_ADDED, item_text(o, from));
	complete_item(o, from);
}

const char *response_out_items(struct response_out *o, struct arena *a)
{
	return arena_printf(a, "[%.*s]", (int)o->items.len, o->items.at ? o->items.at : "");
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
