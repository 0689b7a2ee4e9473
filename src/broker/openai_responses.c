/* openai_responses.c - OpenAI's responses API; the writing half, responses_read.c reads.
 *
 * A conversation is a list of items: messages, calls, results, and thoughts,
 * which come back sealed.  Nothing is stored at the provider: all of it goes
 * along each time. */
#include "broker/openai.h"
#include "broker/responses.h"

#include <string.h>

#define KIND "openai_responses"

enum { LEAST_OUTPUT = 16 }; /* tokens: fewer are refused here, so no fewer are reserved */

static size_t responses_headers(
	const struct target *t, struct provider_header out[PROVIDER_HEADERS_MAX])
{
	return provider_openai.headers(t, out);
}

static void responses_comma(bool *first, struct buf *out)
{
	if (!*first)
		buf_putc(out, ',');
	*first = false;
}

/* An address, or the data itself as one. */
static void responses_write_url(const struct chat_part *p, const char *member, struct buf *out)
{
	buf_printf(out, "\"%s\":\"", member);
	if (p->kind == PART_IMAGE_DATA || p->kind == PART_FILE_DATA) {
		buf_lit(out, "data:");
		text_put(out, p->media);
		buf_lit(out, ";base64,");
	}
	text_put(out, p->text);
	buf_putc(out, '"');
}

static void responses_write_part(const struct chat_part *p, bool said, struct buf *out)
{
	if (p->kind == PART_TEXT) {
		buf_puts(out, said ? "{\"type\":\"output_text\",\"text\":"
				   : "{\"type\":\"input_text\",\"text\":");
		text_put_quoted(out, p->text);
		buf_putc(out, '}');
		return;
	}
	if (p->kind == PART_AUDIO) {
		buf_lit(out, "{\"type\":\"input_audio\",\"input_audio\":{\"data\":");
		text_put_quoted(out, p->text);
		buf_lit(out, ",\"format\":");
		text_put_quoted(out, p->media);
		buf_lit(out, "}}");
		return;
	}
	if (p->kind == PART_FILE_URL || p->kind == PART_FILE_DATA) {
		buf_lit(out, "{\"type\":\"input_file\",");
		if (p->name.at) {
			buf_lit(out, "\"filename\":");
			text_put_quoted(out, p->name);
			buf_putc(out, ',');
		}
		responses_write_url(p, p->kind == PART_FILE_DATA ? "file_data" : "file_url", out);
		buf_putc(out, '}');
		return;
	}
	buf_lit(out, "{\"type\":\"input_image\",");
	responses_write_url(p, "image_url", out);
	buf_lit(out, ",\"detail\":");
	text_put_quoted(out, p->detail.len ? p->detail : SLICE("auto"));
	buf_putc(out, '}');
}

static void responses_write_parts(const struct chat_message *m, struct buf *out)
{
	bool said = m->role == CHAT_ASSISTANT, first = true;

	buf_putc(out, '[');
	for (const struct chat_part *p = m->parts; p; p = p->next) {
		if (p->kind == PART_OTHER || (said && p->kind != PART_TEXT))
			continue;
		responses_comma(&first, out);
		responses_write_part(p, said, out);
	}
	buf_putc(out, ']');
}

static void responses_write_thoughts(const struct chat_message *m, bool *first, struct buf *out)
{
	for (const struct chat_thought *t = m->thoughts; t; t = t->next) {
		if (strcmp(t->maker, KIND) != 0 || !t->signature.len)
			continue;
		responses_comma(first, out);
		buf_lit(out, "{\"type\":\"reasoning\",");
		if (t->id.len) { /* one that a client gave back has lost it, and does without */
			buf_lit(out, "\"id\":");
			text_put_quoted(out, t->id);
			buf_putc(out, ',');
		}
		buf_lit(out, "\"summary\":[");
		if (t->text.len) {
			buf_lit(out, "{\"type\":\"summary_text\",\"text\":");
			text_put_quoted(out, t->text);
			buf_putc(out, '}');
		}
		buf_lit(out, "],\"encrypted_content\":");
		text_put_quoted(out, t->signature);
		buf_putc(out, '}');
	}
}

static void write_calls(const struct chat_message *m, bool *first, struct buf *out)
{
	for (const struct chat_call *call = m->calls; call; call = call->next) {
		responses_comma(first, out);
		if (call->item.at) {
			text_put(out, call->item);
			continue;
		}
		buf_lit(out, "{\"type\":\"function_call\",\"call_id\":");
		text_put_quoted(out, call->id);
		buf_lit(out, ",\"name\":");
		text_put_quoted(out, call->name);
		buf_lit(out, ",\"arguments\":");
		text_put_quoted(out, call->arguments.len ? call->arguments : SLICE("{}"));
		buf_putc(out, '}');
	}
}

static void write_items(const struct chat_message *m, bool *first, struct buf *out)
{
	static const char *const roles[] = {
		[CHAT_SYSTEM] = "system",
		[CHAT_USER] = "user",
		[CHAT_ASSISTANT] = "assistant",
	};

	/* What came as items goes as items. */
	if (m->item.at) {
		responses_comma(first, out);
		text_put(out, m->item);
		write_calls(m, first, out);
		return;
	}
	if (m->role == CHAT_TOOL) {
		responses_comma(first, out);
		buf_lit(out, "{\"type\":\"function_call_output\",\"call_id\":");
		text_put_quoted(out, m->call_id);
		buf_lit(out, ",\"output\":");
		if (m->parts && m->parts->kind == PART_TEXT && !m->parts->next)
			text_put_quoted(out, m->parts->text);
		else
			responses_write_parts(m, out);
		buf_putc(out, '}');
		return;
	}
	responses_write_thoughts(m, first, out);
	if (m->parts) {
		responses_comma(first, out);
		buf_printf(
			out, "{\"type\":\"message\",\"role\":\"%s\",\"content\":", roles[m->role]);
		responses_write_parts(m, out);
		buf_putc(out, '}');
	}
	write_calls(m, first, out);
}

static void responses_write_tools(const struct chat *c, struct buf *out)
{
	size_t before = out->len;

	buf_lit(out, ",\"tools\":[");
	for (const struct chat_tool *t = c->tools; t; t = t->next) {
		buf_puts(out, t == c->tools ? "" : ",");
		buf_lit(out, "{\"type\":\"function\",");
		openai_write_tool(t, out);
		/* Both are demanded here, and strict is on unless it is off. */
		if (!t->parameters.at)
			buf_lit(out, ",\"parameters\":{\"type\":\"object\",\"properties\":{}}");
		if (!t->has_strict)
			buf_lit(out, ",\"strict\":false");
		buf_putc(out, '}');
	}
	if (!openai_write_hosted(c, KIND, !c->tools, out) && !c->tools) {
		out->len = before;
		return;
	}
	buf_putc(out, ']');
	openai_write_choice(c, KIND, "", "}", out);
}

/* text: the format, and how much is said. */
static void responses_write_format(const struct chat *c, struct buf *out)
{
	const struct chat_field *verbosity = chat_field_find(c, "verbosity", NULL);
	const char *comma = "";

	if (c->format == FORMAT_TEXT && !verbosity)
		return;
	buf_lit(out, ",\"text\":{");
	if (verbosity) {
		buf_lit(out, "\"verbosity\":");
		text_put(out, verbosity->raw);
		comma = ",";
	}
	if (c->format == FORMAT_OBJECT)
		buf_printf(out, "%s\"format\":{\"type\":\"json_object\"}", comma);
	if (c->format == FORMAT_SCHEMA) {
		buf_printf(out, "%s\"format\":{\"type\":\"json_schema\",\"name\":", comma);
		text_put_quoted(out, c->format_name.len ? c->format_name : SLICE("answer"));
		buf_lit(out, ",\"schema\":");
		text_put(out, c->format_schema);
		buf_puts(out, c->format_strict ? ",\"strict\":true}" : ",\"strict\":false}");
	}
	buf_putc(out, '}');
}

/* How hard to think.  What was thought comes back sealed, to be given back. */
static void responses_write_reasoning(const struct chat *c, struct buf *out)
{
	const struct chat_field *asked = chat_field_find(c, "reasoning", KIND);
	const struct chat_field *include = chat_field_find(c, "include", KIND);

	if (asked) {
		buf_lit(out, ",\"reasoning\":");
		text_put(out, asked->raw);
	} else if (c->effort) {
		buf_printf(out, ",\"reasoning\":{\"effort\":\"%s\"%s}",
			chat_effort_names[c->effort],
			c->effort > EFFORT_NONE ? ",\"summary\":\"auto\"" : "");
	}
	if (include) {
		buf_lit(out, ",\"include\":");
		text_put(out, include->raw);
	} else if (c->effort > EFFORT_NONE) {
		buf_lit(out, ",\"include\":[\"reasoning.encrypted_content\"]");
	}
}

/* Members that mean the same here and in chat completions. */
static const char *const shared_fields[] = { "metadata", "prompt_cache_key", "prompt_cache_options",
	"prompt_cache_retention", "safety_identifier", "service_tier", "top_logprobs", "user" };

static bool responses_knows(const struct chat_field *f)
{
	if (f->shape)
		return strcmp(f->shape, KIND) == 0 && !text_is(f->name, "reasoning") &&
		       !text_is(f->name, "include");
	for (size_t i = 0; i < sizeof shared_fields / sizeof *shared_fields; i++)
		if (text_is(f->name, shared_fields[i]))
			return true;
	return false;
}

static void responses_write_request(const struct chat *c, const struct target *t, struct buf *out)
{
	int64_t limit = provider_max_tokens(c, t);
	bool first = true;

	buf_lit(out, "{\"model\":");
	json_write_string(out, t->model, strlen(t->model));
	buf_lit(out, ",\"input\":[");
	for (const struct chat_message *m = c->messages; m; m = m->next)
		write_items(m, &first, out);
	buf_lit(out, "],\"store\":false");
	responses_write_tools(c, out);
	if (limit) {
		buf_lit(out, ",\"max_output_tokens\":");
		buf_put_int(out, limit < LEAST_OUTPUT ? LEAST_OUTPUT : limit);
	}
	openai_write_sampling(c, out);
	responses_write_reasoning(c, out);
	responses_write_format(c, out);
	for (const struct chat_field *f = c->fields; f; f = f->next) {
		if (!responses_knows(f))
			continue;
		buf_putc(out, ',');
		text_put_quoted(out, f->name);
		buf_putc(out, ':');
		text_put(out, f->raw);
	}
	buf_puts(out, c->stream ? ",\"stream\":true}" : "}");
}

static const char *const responses_carries[] = { "model", "messages", "stream", "stream_options",
	"temperature", "top_p", "max_completion_tokens", "max_tokens", "tools", "tool_choice",
	"parallel_tool_calls", "response_format", "reasoning_effort", "verbosity", "metadata",
	"prompt_cache_key", "prompt_cache_options", "prompt_cache_retention", "safety_identifier",
	"service_tier", "top_logprobs", "user", "store", NULL };

const struct provider provider_openai_responses = {
	.name = KIND,
	.base_url = "https://api.openai.com/v1",
	.path = "/responses",
	.least_output = LEAST_OUTPUT,
	.headers = responses_headers,
	.write = responses_write_request,
	.read_event = responses_read_event,
	.read_whole = responses_read_whole,
	.carries = responses_carries,
	.takes = CHAT_FILES | CHAT_FILE_URLS | CHAT_AUDIO,
};
