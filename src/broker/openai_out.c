/* openai_out.c - chunks and completions in OpenAI's shape; see openai_out.h. */
#include "broker/openai_out.h"

#include <string.h>

#include "contract/openai_fault.h"

enum { HEAD_MAX = 1 << 20 };

static const char *error_type(int status)
{
	switch (status) {
	case 401:
		return "authentication_error";
	case 403:
		return "permission_error";
	case 429:
		return "rate_limit_error";
	default:
		return status >= 500 ? "server_error" : "invalid_request_error";
	}
}

static void write_or_null(const char *text, struct buf *out)
{
	if (text && *text)
		json_write_string(out, text, strlen(text));
	else
		buf_lit(out, "null");
}

void openai_write_error(
	int status, const char *message, const char *param, const char *code, struct buf *out)
{
	openai_fault_write(out, &(struct OpenAIFault){ .message = message,
					.type = error_type(status),
					.param = param && *param ? param : NULL,
					.code = code && *code ? code : NULL });
}

void openai_write_usage(const struct usage *u, struct buf *out)
{
	int64_t prompt = u->input + u->cache_read + u->cache_write;

	buf_lit(out, "{\"prompt_tokens\":");
	buf_put_int(out, prompt);
	buf_lit(out, ",\"completion_tokens\":");
	buf_put_int(out, u->output);
	buf_lit(out, ",\"total_tokens\":");
	buf_put_int(out, prompt + u->output);
	buf_lit(out, ",\"prompt_tokens_details\":{\"cached_tokens\":");
	buf_put_int(out, u->cache_read);
	buf_lit(out, ",\"cache_write_tokens\":");
	buf_put_int(out, u->cache_write);
	buf_lit(out, "},\"completion_tokens_details\":{\"reasoning_tokens\":");
	buf_put_int(out, u->reasoning);
	buf_lit(out, "}}");
}

/* The members that chunks and completions begin with. */
static void write_head(const struct openai_out *o, const char *object, struct buf *out)
{
	buf_lit(out, "{\"id\":");
	json_write_string(out, o->asked.id, strlen(o->asked.id));
	buf_printf(out, ",\"object\":\"%s\",\"created\":%lld,\"model\":", object,
		(long long)o->asked.created_s);
	text_put_quoted(out, o->asked.model);
	buf_lit(out, ",\"choices\":[");
}

void openai_out_open(struct openai_out *o, const struct openai_out_asked *asked, struct buf *out)
{
	*o = (struct openai_out){ .asked = *asked, .out = out, .status = 200 };
	buf_init(&o->head, HEAD_MAX);
	if (asked->stream) {
		buf_lit(&o->head, "data: ");
		write_head(o, "chat.completion.chunk", &o->head);
	} else {
		collect_open(&o->whole);
		o->whole.apart = true;
	}
}

void openai_out_close(struct openai_out *o)
{
	buf_free(&o->head);
	if (!o->asked.stream)
		collect_close(&o->whole);
}

/* ---- the stream ---- */

static void chunk_begin(struct openai_out *o)
{
	buf_put(o->out, o->head.at, o->head.len);
	buf_lit(o->out, "{\"index\":0,\"delta\":{");
}

static void chunk_end(struct openai_out *o, struct slice logprobs, const char *reason)
{
	buf_lit(o->out, "},\"logprobs\":");
	text_put(o->out, logprobs.at ? logprobs : SLICE("null"));
	buf_lit(o->out, ",\"finish_reason\":");
	write_or_null(reason, o->out);
	buf_lit(o->out, "}]");
	if (o->asked.include_usage)
		buf_lit(o->out, ",\"usage\":null");
	buf_lit(o->out, "}\n\n");
}

static void chunk_of(struct openai_out *o, const char *member, const struct event *e)
{
	chunk_begin(o);
	buf_putc(o->out, '"');
	buf_puts(o->out, member);
	buf_lit(o->out, "\":");
	text_put_quoted(o->out, e->text);
	chunk_end(o, e->logprobs, NULL);
}

/* What some (Gemini) give along with a call, and want back. */
static void write_extra(struct slice extra, struct buf *out)
{
	if (!extra.at)
		return;
	buf_lit(out, ",\"extra_content\":");
	text_put(out, extra);
}

static void chunk_of_call(struct openai_out *o, const struct event *e)
{
	chunk_begin(o);
	buf_lit(o->out, "\"tool_calls\":[{\"index\":");
	buf_put_int(o->out, e->index);
	if (e->kind == EVENT_CALL) {
		buf_lit(o->out, ",\"id\":");
		text_put_quoted(o->out, e->id);
		buf_lit(o->out, ",\"type\":\"function\",\"function\":{\"name\":");
		text_put_quoted(o->out, e->name);
		buf_lit(o->out, ",\"arguments\":\"\"}");
		write_extra(e->extra, o->out);
		buf_lit(o->out, "}]");
	} else {
		buf_lit(o->out, ",\"function\":{\"arguments\":");
		text_put_quoted(o->out, e->text);
		buf_lit(o->out, "}}]");
	}
	chunk_end(o, (struct slice){ 0 }, NULL);
}

static void stream_end(struct openai_out *o, enum finish finish)
{
	chunk_begin(o);
	chunk_end(o, (struct slice){ 0 }, finish_names[finish]);
	if (o->asked.include_usage) {
		buf_put(o->out, o->head.at, o->head.len);
		buf_lit(o->out, "],\"usage\":");
		openai_write_usage(&o->usage, o->out);
		buf_lit(o->out, "}\n\n");
	}
	buf_lit(o->out, "data: [DONE]\n\n");
	o->ended = true;
}

static void write_fault(struct openai_out *o, const struct fault *f)
{
	const struct fault_row *row = &fault_rows[f->class];

	o->status = row->status;
	openai_write_error(row->status, f->sentence, NULL,
		f->class == FAULT_CONTEXT_LENGTH ? "context_length_exceeded" : row->word, o->out);
	o->ended = true;
}

static void take_streamed(struct openai_out *o, const struct event *e)
{
	switch (e->kind) {
	case EVENT_START:
		chunk_begin(o);
		buf_lit(o->out, "\"role\":\"assistant\",\"content\":\"\"");
		chunk_end(o, (struct slice){ 0 }, NULL);
		break;
	case EVENT_TEXT:
		chunk_of(o, e->refusal ? "refusal" : "content", e);
		break;
	case EVENT_THOUGHT:
		chunk_of(o, "reasoning_content", e);
		break;
	case EVENT_CALL:
	case EVENT_ARGUMENTS:
		chunk_of_call(o, e);
		break;
	case EVENT_SIGNATURE: /* these have no place in this shape */
	case EVENT_ITEM:
	case EVENT_BYTES:
	case EVENT_CALL_END:
	case EVENT_PIECE:
		break;
	case EVENT_USAGE:
		o->usage = e->usage;
		break;
	case EVENT_FINISH:
		stream_end(o, e->finish);
		break;
	case EVENT_ERROR:
		buf_lit(o->out, "data: ");
		write_fault(o, e->fault);
		buf_lit(o->out, "\n\n");
		break;
	}
}

/* ---- the whole ---- */

static void write_collected_thoughts(const struct collected *c, struct buf *out)
{
	bool any = false;

	for (const struct collected_thought *t = c->thoughts; t; t = t->next) {
		if (!t->text.len)
			continue;
		buf_puts(out, any ? "\\n\\n" : ",\"reasoning_content\":\"");
		any = true;
		buf_put(out, t->text.at, t->text.len);
	}
	if (any)
		buf_putc(out, '"');
}

static void write_calls(const struct collected *c, struct buf *out)
{
	for (const struct collected_call *call = c->calls; call; call = call->next) {
		buf_puts(out, call == c->calls ? ",\"tool_calls\":[" : ",");
		buf_lit(out, "{\"id\":");
		text_put_quoted(out, call->id);
		buf_lit(out, ",\"type\":\"function\",\"function\":{\"name\":");
		text_put_quoted(out, call->name);
		buf_lit(out, ",\"arguments\":");
		text_put_quoted(out, (struct slice){ call->arguments.at, call->arguments.len });
		buf_putc(out, '}');
		write_extra(call->extra, out);
		buf_putc(out, '}');
	}
	if (c->calls)
		buf_putc(out, ']');
}

static void write_whole(struct openai_out *o)
{
	const struct collected *c = &o->whole;

	write_head(o, "chat.completion", o->out);
	buf_lit(o->out, "{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":");
	if (c->text.len || (!c->calls && !c->refusal.len))
		text_put_quoted(o->out, (struct slice){ c->text.at, c->text.len });
	else
		buf_lit(o->out, "null");
	buf_lit(o->out, ",\"refusal\":");
	if (c->refusal.len)
		text_put_quoted(o->out, (struct slice){ c->refusal.at, c->refusal.len });
	else
		buf_lit(o->out, "null");
	write_collected_thoughts(c, o->out);
	write_calls(c, o->out);
	buf_lit(o->out, "},\"logprobs\":");
	text_put(o->out, c->logprobs.at ? c->logprobs : SLICE("null"));
	buf_printf(o->out, ",\"finish_reason\":\"%s\"}],\"usage\":", finish_names[c->finish]);
	openai_write_usage(&c->usage, o->out);
	buf_putc(o->out, '}');
	o->ended = true;
}

void openai_out_take(void *out, const struct event *e)
{
	struct openai_out *o = out;

	if (o->asked.stream) {
		take_streamed(o, e);
		return;
	}
	collect_take(&o->whole, e);
	if (o->whole.failed)
		write_fault(o, &o->whole.fault);
	else if (o->whole.finished)
		write_whole(o);
}
