/* messages_whole.c - one whole message in Anthropic's shape, and what it has in common with the events of a stream; see
 * messages_out.h. */
#include "anthropic/messages_out_parts.h"

#include <string.h>

#include "anthropic/messages_read.h"
#include "broker/anthropic_input.h"

void messages_write_usage(const struct usage *u, struct buf *out)
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

void messages_write_stop(const struct event *e, struct buf *out)
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

void messages_write_head(const struct messages_out *o, struct buf *out)
{
	buf_lit(out, "{\"id\":\"");
	buf_puts(out, o->asked.id);
	buf_lit(out, "\",\"type\":\"message\",\"role\":\"assistant\",\"model\":");
	text_put_quoted(out, o->asked.model);
	buf_lit(out, ",\"content\":[");
}

void messages_write_signature(
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
			messages_write_signature(o, b->id, b->signature, o->out);
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

void messages_write_whole(struct messages_out *o, const struct event *e)
{
	messages_write_head(o, o->out);
	for (const struct message_open *b = o->first; b; b = b->next) {
		if (b != o->first)
			buf_putc(o->out, ',');
		write_whole_block(o, b);
	}
	buf_lit(o->out, "],");
	messages_write_stop(e, o->out);
	buf_lit(o->out, ",\"usage\":");
	messages_write_usage(&o->usage, o->out);
	buf_putc(o->out, '}');
}
