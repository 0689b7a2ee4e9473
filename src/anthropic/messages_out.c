/* messages_out.c - see messages_out.h.
 *
 * The events are written by hand, because text passes through as it came,
 * escapes and all; a test holds their bytes against the tables. */
#include "anthropic/messages_out.h"

#include <string.h>

#include "anthropic/messages_read.h"
#include "broker/anthropic_input.h"
#include "contract/anthropic_fault.h"

enum { BLOCK_BYTES_MAX = 32 << 20 };

enum message_block_kind { OPEN_TEXT, OPEN_THOUGHT, OPEN_CALL, OPEN_FOREIGN };

/* A block: in a stream it is only a number, else all of it is gathered. */
struct message_open {
	struct message_open *next;
	enum message_block_kind kind;
	int64_t index;
	int call;
	bool over, redacted;
	struct slice id, name, signature;
	struct buf text, citations;
};

void messages_out_open(
	struct messages_out *o, const struct messages_out_asked *asked, struct buf *out)
{
	*o = (struct messages_out){ .asked = *asked, .out = out, .maker = "" };
	o->last = &o->first;
}

void messages_out_close(struct messages_out *o)
{
	for (struct message_open *b = o->first; b; b = b->next) {
		buf_free(&b->text);
		buf_free(&b->citations);
	}
	arena_free(&o->arena);
	o->first = o->open = NULL;
}

static struct slice out_keep(struct messages_out *o, struct slice s)
{
	return s.at ? (struct slice){ arena_strndup(&o->arena, s.at, s.len), s.len } : s;
}

static void write_messages_usage(const struct usage *u, struct buf *out)
{
	buf_lit(out, "{\"input_tokens\":");
	buf_put_int(out, u->input);
	buf_lit(out, ",\"cache_creation_input_tokens\":");
	buf_put_int(out, u->cache_write);
	buf_lit(out, ",\"cache_read_input_tokens\":");
	buf_put_int(out, u->cache_read);
	buf_lit(out, ",\"cache_creation\":{\"ephemeral_5m_input_tokens\":");
	buf_put_int(out, u->cache_write);
	buf_lit(out, ",\"ephemeral_1h_input_tokens\":0},\"output_tokens\":");
	buf_put_int(out, u->output);
	buf_lit(out, ",\"output_tokens_details\":{\"thinking_tokens\":");
	buf_put_int(out, u->reasoning);
	buf_lit(out, "},\"server_tool_use\":null,\"service_tier\":\"standard\"}");
}

static void write_stop_reason(const struct event *e, struct buf *out)
{
	static const char *const words[FINISH_COUNT] = {
		[FINISH_STOP] = "end_turn",
		[FINISH_LENGTH] = "max_tokens",
		[FINISH_TOOL_CALLS] = "tool_use",
		[FINISH_CONTENT_FILTER] = "refusal",
	};
	bool stopped = e->stop.at && e->finish == FINISH_STOP;

	buf_lit(out, "\"stop_reason\":");
	if (e->reason.at && e->finish != FINISH_TOOL_CALLS)
		json_write_string(out, e->reason.at, e->reason.len);
	else
		buf_printf(out, "\"%s\"", stopped ? "stop_sequence" : words[e->finish]);
	buf_lit(out, ",\"stop_sequence\":");
	if (e->stop.at)
		text_put_quoted(out, e->stop);
	else
		buf_lit(out, "null");
}

static void write_message_head(const struct messages_out *o, struct buf *out)
{
	buf_lit(out, "{\"id\":\"");
	buf_puts(out, o->asked.id);
	buf_lit(out, "\",\"type\":\"message\",\"role\":\"assistant\",\"model\":");
	text_put_quoted(out, o->asked.model);
	buf_lit(out, ",\"content\":[");
}

/* A thought of a provider that is not Anthropic's is signed so that it finds its way back. */
static void write_signature(
	const struct messages_out *o, struct slice id, struct slice signature, struct buf *out)
{
	buf_putc(out, '"');
	if (strcmp(o->maker, "anthropic") != 0) {
		buf_lit(out, FOREIGN_SIGNATURE);
		buf_puts(out, o->maker);
		buf_putc(out, ':');
		text_put(out, id);
		buf_putc(out, ':');
	}
	text_put(out, signature);
	buf_putc(out, '"');
}

/* ---- the stream ---- */

static void stream_block_begin(const struct messages_out *o, const struct message_open *b)
{
	buf_lit(o->out, "event: content_block_start\ndata: "
			"{\"type\":\"content_block_start\",\"index\":");
	buf_put_int(o->out, b->index);
	buf_lit(o->out, ",\"content_block\":");
}

static void stream_delta_begin(const struct messages_out *o, int64_t index)
{
	buf_lit(o->out, "event: content_block_delta\ndata: "
			"{\"type\":\"content_block_delta\",\"index\":");
	buf_put_int(o->out, index);
	buf_lit(o->out, ",\"delta\":");
}

static void stream_block_end(const struct messages_out *o, int64_t index)
{
	buf_lit(o->out, "event: content_block_stop\ndata: "
			"{\"type\":\"content_block_stop\",\"index\":");
	buf_put_int(o->out, index);
	buf_lit(o->out, "}\n\n");
}

static void stream_start(struct messages_out *o)
{
	buf_lit(o->out, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":");
	write_message_head(o, o->out);
	buf_lit(o->out, "],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":");
	write_messages_usage(&o->usage, o->out);
	buf_lit(o->out, "}}\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\n");
}

static void stream_finish(struct messages_out *o, const struct event *e)
{
	buf_lit(o->out, "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{");
	write_stop_reason(e, o->out);
	buf_lit(o->out, "},\"usage\":");
	write_messages_usage(&o->usage, o->out);
	buf_lit(o->out, "}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n");
}

void messages_out_error(struct buf *out, int status, const char *message, const char *request_id)
{
	buf_lit(out, "event: error\ndata: ");
	anthropic_fault_write(out, status, message, request_id);
	buf_lit(out, "\n\n");
}

/* ---- blocks ---- */

static struct message_open *block_add(struct messages_out *o, enum message_block_kind kind)
{
	struct message_open *b = arena_new(&o->arena, struct message_open);

	b->kind = kind;
	b->index = o->count++;
	buf_init(&b->text, BLOCK_BYTES_MAX);
	buf_init(&b->citations, BLOCK_BYTES_MAX);
	*o->last = b;
	o->last = &b->next;
	return b;
}

/* Text, a thought or something foreign ends. */
static void block_close(struct messages_out *o)
{
	struct message_open *b = o->open;
	const struct slice none = { 0 };

	o->open = NULL;
	if (!b)
		return;
	if (b->kind == OPEN_THOUGHT && !b->signature.at && !b->redacted &&
		strcmp(o->maker, "anthropic") != 0) {
		b->signature = SLICE("");
		if (o->asked.stream) {
			stream_delta_begin(o, b->index);
			buf_lit(o->out, "{\"type\":\"signature_delta\",\"signature\":");
			write_signature(o, none, none, o->out);
			buf_lit(o->out, "}}\n\n");
		}
	}
	if (o->asked.stream)
		stream_block_end(o, b->index);
}

static struct message_open *block_of(struct messages_out *o, enum message_block_kind kind)
{
	static const char *const begins[] = {
		[OPEN_TEXT] = "{\"type\":\"text\",\"text\":\"\"}}\n\n",
		[OPEN_THOUGHT] =
			"{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}}\n\n",
	};

	if (o->open && o->open->kind == kind)
		return o->open;
	block_close(o);
	o->open = block_add(o, kind);
	if (o->asked.stream) {
		stream_block_begin(o, o->open);
		buf_puts(o->out, begins[kind]);
	}
	return o->open;
}

static void block_gather(struct messages_out *o, struct message_open *b, struct slice text)
{
	text_put(&b->text, text);
	o->overflowed |= b->text.overflow;
}

static void take_words(struct messages_out *o, const struct event *e)
{
	bool text = e->kind == EVENT_TEXT;
	struct message_open *b = block_of(o, text ? OPEN_TEXT : OPEN_THOUGHT);

	if (!o->asked.stream) {
		block_gather(o, b, e->text);
		return;
	}
	stream_delta_begin(o, b->index);
	buf_puts(o->out, text ? "{\"type\":\"text_delta\",\"text\":"
			      : "{\"type\":\"thinking_delta\",\"thinking\":");
	text_put_quoted(o->out, e->text);
	buf_lit(o->out, "}}\n\n");
}

static void take_signature(struct messages_out *o, const struct event *e)
{
	struct message_open *b;

	if (e->redacted) {
		block_close(o);
		o->open = b = block_add(o, OPEN_THOUGHT);
		b->redacted = true;
	} else {
		b = block_of(o, OPEN_THOUGHT);
	}
	b->signature = out_keep(o, e->text);
	b->id = out_keep(o, e->id);
	if (o->asked.stream && e->redacted) {
		stream_block_begin(o, b);
		buf_lit(o->out, "{\"type\":\"redacted_thinking\",\"data\":");
		text_put_quoted(o->out, e->text);
		buf_lit(o->out, "}}\n\n");
	} else if (o->asked.stream) {
		stream_delta_begin(o, b->index);
		buf_lit(o->out, "{\"type\":\"signature_delta\",\"signature\":");
		write_signature(o, e->id, e->text, o->out);
		buf_lit(o->out, "}}\n\n");
	}
	block_close(o);
}

static struct message_open *call_of(const struct messages_out *o, int call)
{
	for (struct message_open *b = o->first; b; b = b->next)
		if (b->kind == OPEN_CALL && b->call == call)
			return b;
	return NULL;
}

static void take_call_begin(struct messages_out *o, const struct event *e)
{
	struct message_open *b;

	block_close(o);
	b = block_add(o, OPEN_CALL);
	b->call = e->index;
	if (o->asked.stream) {
		stream_block_begin(o, b);
		buf_lit(o->out, "{\"type\":\"tool_use\",\"id\":");
		text_put_quoted(o->out, e->id);
		buf_lit(o->out, ",\"name\":");
		text_put_quoted(o->out, e->name);
		buf_lit(o->out, ",\"input\":{}}}\n\n");
	} else {
		b->id = out_keep(o, e->id);
		b->name = out_keep(o, e->name);
	}
}

static void take_call_more(struct messages_out *o, const struct event *e)
{
	struct message_open *b = call_of(o, e->index);

	if (!b || b->over)
		return;
	if (e->kind == EVENT_CALL_END) {
		b->over = true;
		if (o->asked.stream)
			stream_block_end(o, b->index);
	} else if (o->asked.stream) {
		stream_delta_begin(o, b->index);
		buf_lit(o->out, "{\"type\":\"input_json_delta\",\"partial_json\":");
		text_put_quoted(o->out, e->text);
		buf_lit(o->out, "}}\n\n");
	} else {
		block_gather(o, b, e->text);
	}
}

/* What only this shape has.  A piece of a text that came whole is a citation of it. */
static void take_piece(struct messages_out *o, const struct event *e)
{
	struct message_open *b = o->open;

	if (e->piece == PIECE_END) {
		block_close(o);
		return;
	}
	if (e->piece == PIECE_BLOCK) {
		block_close(o);
		o->open = b = block_add(o, OPEN_FOREIGN);
	}
	if (!b)
		return;
	if (o->asked.stream && e->piece == PIECE_BLOCK)
		stream_block_begin(o, b);
	else if (o->asked.stream)
		stream_delta_begin(o, b->index);
	if (o->asked.stream) {
		text_put(o->out, e->text);
		buf_lit(o->out, "}\n\n");
	} else if (e->piece == PIECE_BLOCK) {
		block_gather(o, b, e->text);
	} else if (b->kind == OPEN_TEXT) {
		if (b->citations.len)
			buf_putc(&b->citations, ',');
		text_put(&b->citations, e->text);
	}
}

/* ---- the whole ---- */

/* {"type":"citations_delta","citation":...} as the citation that it is. */
static void write_citations(struct messages_out *o, const struct message_open *b)
{
	struct json_reader r;
	const char *key;
	struct slice one;
	size_t len;
	bool any = false;
	char *list;

	if (!b->citations.len || b->citations.overflow)
		return;
	list = arena_alloc(&o->arena, b->citations.len + 2);
	list[0] = '[';
	memcpy(list + 1, b->citations.at, b->citations.len);
	list[b->citations.len + 1] = ']';
	json_open(&r, &o->arena, list, b->citations.len + 2);
	json_enter_array(&r);
	while (json_next_item(&r)) {
		json_enter_object(&r);
		while (json_next_key(&r, &key, &len)) {
			if (strcmp(key, "citation") != 0) {
				json_skip(&r, NULL, NULL);
			} else if (text_read_raw(&r, &one) && one.at) {
				buf_puts(o->out, any ? "," : ",\"citations\":[");
				text_put(o->out, one);
				any = true;
			}
		}
	}
	if (any)
		buf_putc(o->out, ']');
}

static void write_whole_block(struct messages_out *o, const struct message_open *b)
{
	struct slice text = { b->text.at ? b->text.at : "", b->text.len };

	switch (b->kind) {
	case OPEN_TEXT:
		buf_lit(o->out, "{\"type\":\"text\",\"text\":");
		text_put_quoted(o->out, text);
		write_citations(o, b);
		buf_putc(o->out, '}');
		break;
	case OPEN_THOUGHT:
		if (b->redacted) {
			buf_lit(o->out, "{\"type\":\"redacted_thinking\",\"data\":");
			text_put_quoted(o->out, b->signature);
		} else {
			buf_lit(o->out, "{\"type\":\"thinking\",\"thinking\":");
			text_put_quoted(o->out, text);
			buf_lit(o->out, ",\"signature\":");
			write_signature(o, b->id, b->signature, o->out);
		}
		buf_putc(o->out, '}');
		break;
	case OPEN_CALL:
		buf_lit(o->out, "{\"type\":\"tool_use\",\"id\":");
		text_put_quoted(o->out, b->id);
		buf_lit(o->out, ",\"name\":");
		text_put_quoted(o->out, b->name);
		buf_lit(o->out, ",\"input\":");
		anthropic_write_input(&o->arena, text, o->out);
		buf_putc(o->out, '}');
		break;
	case OPEN_FOREIGN:
		text_put(o->out, text);
	}
}

static void write_whole_message(struct messages_out *o, const struct event *e)
{
	write_message_head(o, o->out);
	for (const struct message_open *b = o->first; b; b = b->next) {
		if (b != o->first)
			buf_putc(o->out, ',');
		write_whole_block(o, b);
	}
	buf_lit(o->out, "],");
	write_stop_reason(e, o->out);
	buf_lit(o->out, ",\"usage\":");
	write_messages_usage(&o->usage, o->out);
	buf_putc(o->out, '}');
}

static void take_finish(struct messages_out *o, const struct event *e)
{
	block_close(o);
	if (o->asked.stream)
		stream_finish(o, e);
	else
		write_whole_message(o, e);
}

void messages_out_take(void *out, const struct event *e)
{
	struct messages_out *o = out;
	/* Thoughts that nobody asked for are kept from those who would not know what they are. */
	bool shown = o->asked.thinks || strcmp(o->maker, "anthropic") == 0;

	switch (e->kind) {
	case EVENT_START:
		o->maker = e->maker ? e->maker : "";
		o->usage = e->usage;
		if (o->asked.stream)
			stream_start(o);
		break;
	case EVENT_THOUGHT:
		if (shown)
			take_words(o, e);
		break;
	case EVENT_TEXT:
		if (e->text.len)
			take_words(o, e);
		break;
	case EVENT_SIGNATURE:
		if (shown)
			take_signature(o, e);
		break;
	case EVENT_CALL:
		take_call_begin(o, e);
		break;
	case EVENT_ARGUMENTS:
	case EVENT_CALL_END:
		take_call_more(o, e);
		break;
	case EVENT_PIECE:
		take_piece(o, e);
		break;
	case EVENT_ITEM: /* it has no shape here */
		break;
	case EVENT_USAGE:
		o->usage = e->usage;
		break;
	case EVENT_FINISH:
		take_finish(o, e);
		break;
	case EVENT_ERROR:
		if (o->asked.stream)
			messages_out_error(o->out, fault_rows[e->fault->class].status,
				e->fault->sentence, o->asked.request_id);
		break;
	}
}
