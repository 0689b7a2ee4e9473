/* response_out.c - what a model says, put together as items of a response and told as the events that OpenAI's
 * clients know; see responses.h. */
#include <stdio.h>
#include <string.h>

#include "openai/responses.h"
#include "base/json.h"
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

static void put_json_text(struct buf *b, const char *text, size_t len)
{
	json_write_string(b, text ? text : "", len);
}

/* The beginning of an event, up to where its own members come. */
static bool begin_response_event(struct response_out *o, const char *type)
{
	if (!o->events)
		return false;
	buf_printf(o->events, "event: %s\ndata: {\"type\":\"%s\",\"sequence_number\":%lld", type,
		type, (long long)o->sequence++);
	return true;
}

static void end_response_event(struct response_out *o)
{
	buf_lit(o->events, "}\n\n");
}

static bool begin_in_item(struct response_out *o, const char *type)
{
	if (!begin_response_event(o, type))
		return false;
	buf_printf(o->events, ",\"item_id\":\"%s\",\"output_index\":%zu", o->item_id, o->index);
	return true;
}

static void tell_whole(struct response_out *o, const char *type, const struct ResponseObject *whole)
{
	if (!begin_response_event(o, type))
		return;
	buf_lit(o->events, ",\"response\":");
	encode_object(o->events, &ResponseObject_schema, whole);
	end_response_event(o);
}

static void tell_item(struct response_out *o, const char *type, const char *item, size_t len)
{
	if (!begin_response_event(o, type))
		return;
	buf_printf(o->events, ",\"output_index\":%zu,\"item\":", o->index);
	buf_put(o->events, item, len);
	end_response_event(o);
}

void response_out_begin(struct response_out *o, const struct ResponseObject *whole)
{
	tell_whole(o, "response.created", whole);
	tell_whole(o, "response.in_progress", whole);
}

/* ---- messages ---- */

static void put_text_part(struct buf *b, const char *text, size_t len)
{
	buf_lit(b, "{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":");
	put_json_text(b, text, len);
	buf_putc(b, '}');
}

static void put_message_item(struct response_out *o, struct buf *b, const char *status, bool filled)
{
	buf_printf(b,
		"{\"id\":\"%s\",\"type\":\"message\",\"status\":\"%s\",\"role\":\"assistant\","
		"\"content\":[",
		o->item_id, status);
	if (filled)
		put_text_part(b, o->text.at, o->text.len);
	buf_lit(b, "]}");
}

static void open_message(struct response_out *o, const char *message_id)
{
	struct buf item;

	o->open = true;
	o->text.len = 0;
	snprintf(o->item_id, sizeof o->item_id, "msg_%s", message_id);
	buf_init(&item, ITEMS_MAX_BYTES);
	put_message_item(o, &item, "in_progress", false);
	tell_item(o, "response.output_item.added", item.at, item.len);
	buf_free(&item);
	if (!begin_in_item(o, "response.content_part.added"))
		return;
	buf_lit(o->events, ",\"content_index\":0,\"part\":");
	put_text_part(o->events, "", 0);
	end_response_event(o);
}

void response_out_text(struct response_out *o, const char *message_id, const char *text)
{
	if (!*text)
		return;
	if (!o->open)
		open_message(o, message_id);
	buf_puts(&o->text, text);
	if (!begin_in_item(o, "response.output_text.delta"))
		return;
	buf_lit(o->events, ",\"content_index\":0,\"logprobs\":[],\"delta\":");
	put_json_text(o->events, text, strlen(text));
	end_response_event(o);
}

/* The item that stands in items from `from` on is complete. */
static void complete_item(struct response_out *o, size_t from)
{
	tell_item(o, "response.output_item.done", o->items.at + from, o->items.len - from);
	o->index++;
}

static size_t next_output_item(struct response_out *o)
{
	if (o->items.len)
		buf_putc(&o->items, ',');
	return o->items.len;
}

void response_out_text_end(struct response_out *o, const char *text, bool complete)
{
	size_t from;

	if (!o->open)
		return;
	o->open = false;
	if (text) {
		o->text.len = 0;
		buf_puts(&o->text, text);
	}
	if (begin_in_item(o, "response.output_text.done")) {
		buf_lit(o->events, ",\"content_index\":0,\"logprobs\":[],\"text\":");
		put_json_text(o->events, o->text.at, o->text.len);
		end_response_event(o);
	}
	if (begin_in_item(o, "response.content_part.done")) {
		buf_lit(o->events, ",\"content_index\":0,\"part\":");
		put_text_part(o->events, o->text.at, o->text.len);
		end_response_event(o);
	}
	from = next_output_item(o);
	put_message_item(o, &o->items, complete ? "completed" : "incomplete", true);
	complete_item(o, from);
}

/* ---- calls ---- */

static void put_call_item(struct response_out *o, struct buf *b, const char *status,
	const char *call_id, const char *name, const char *arguments)
{
	buf_lit(b, "{\"id\":");
	put_json_text(b, o->item_id, strlen(o->item_id));
	buf_printf(b, ",\"type\":\"function_call\",\"status\":\"%s\",\"call_id\":", status);
	put_json_text(b, call_id, strlen(call_id));
	buf_lit(b, ",\"name\":");
	put_json_text(b, name, strlen(name));
	buf_lit(b, ",\"arguments\":");
	put_json_text(b, arguments, strlen(arguments));
	buf_putc(b, '}');
}

/* An item's id is written between quotes as it is; a provider's call id may be anything. */
static void name_item(struct response_out *o, const char *prefix, const char *id)
{
	size_t n = (size_t)snprintf(o->item_id, sizeof o->item_id, "%s_", prefix);

	for (; *id && n < sizeof o->item_id - 1; id++)
		if ((*id >= '0' && *id <= '9') || (*id >= 'A' && *id <= 'Z') ||
			(*id >= 'a' && *id <= 'z') || *id == '_' || *id == '-')
			o->item_id[n++] = *id;
	o->item_id[n] = '\0';
}

void response_out_call(
	struct response_out *o, const char *call_id, const char *name, const char *arguments)
{
	struct buf item;
	size_t from;

	name_item(o, "fc", call_id);
	buf_init(&item, ITEMS_MAX_BYTES);
	put_call_item(o, &item, "in_progress", call_id, name, "");
	tell_item(o, "response.output_item.added", item.at, item.len);
	buf_free(&item);
	if (begin_in_item(o, "response.function_call_arguments.delta")) {
		buf_lit(o->events, ",\"delta\":");
		put_json_text(o->events, arguments, strlen(arguments));
		end_response_event(o);
	}
	if (begin_in_item(o, "response.function_call_arguments.done")) {
		buf_lit(o->events, ",\"name\":");
		put_json_text(o->events, name, strlen(name));
		buf_lit(o->events, ",\"arguments\":");
		put_json_text(o->events, arguments, strlen(arguments));
		end_response_event(o);
	}
	from = next_output_item(o);
	put_call_item(o, &o->items, "completed", call_id, name, arguments);
	complete_item(o, from);
}

void response_out_approval(
	struct response_out *o, const char *id, const char *name, const char *arguments)
{
	size_t from = next_output_item(o);

	buf_printf(&o->items,
		"{\"id\":\"%s\",\"type\":\"mcp_approval_request\",\"server_label\":\"lodge\",\"name\":",
		id);
	put_json_text(&o->items, name, strlen(name));
	buf_lit(&o->items, ",\"arguments\":");
	put_json_text(&o->items, arguments, strlen(arguments));
	buf_putc(&o->items, '}');
	tell_item(o, "response.output_item.added", o->items.at + from, o->items.len - from);
	complete_item(o, from);
}

const char *response_out_items(struct response_out *o, struct arena *a)
{
	return arena_printf(a, "[%.*s]", (int)o->items.len, o->items.at ? o->items.at : "");
}

void response_out_end(struct response_out *o, const struct ResponseObject *whole)
{
	static const char *const ends[] = { "completed", "incomplete", "failed" };
	const char *type = "response.failed";

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (strcmp(whole->status, ends[i]) == 0)
			type = i == 0	? "response.completed"
			       : i == 1 ? "response.incomplete"
					: "response.failed";
	tell_whole(o, type, whole);
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
