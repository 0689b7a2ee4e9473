/* messages_out.c - see messages_out.h.
 *
 * The events are written by hand, because text passes through as it came,
 * escapes and all; a test holds their bytes against the tables. */
#include "anthropic/messages_out_parts.h"

#include <string.h>

#include "contract/anthropic_fault.h"

enum { BLOCK_BYTES_MAX = 32 << 20 };

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
	messages_write_head(o, o->out);
	buf_lit(o->out, "],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":");
	messages_write_usage(&o->usage, o->out);
	buf_lit(o->out, "}}\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\n");
}

static void stream_finish(struct messages_out *o, const struct event *e)
{
	buf_lit(o->out, "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{");
	messages_write_stop(e, o->out);
	buf_lit(o->out, "},\"usage\":");
	messages_write_usage(&o->usage, o->out);
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
			messages_write_signature(o, none, none, o->out);
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
		messages_write_signature(o, e->id, e->text, o->out);
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

static void take_finish(struct messages_out *o, const struct event *e)
{
	block_close(o);
	if (o->asked.stream)
		stream_finish(o, e);
	else
		messages_write_whole(o, e);
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
	case EVENT_BYTES:
	case EVENT_ITEM: /* they have no shape here */
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
