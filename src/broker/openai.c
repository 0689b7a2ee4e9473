/* openai.c - OpenAI's chat completions, and all that speak like it: vLLM, llama.cpp, Ollama, ...
 *
 * The writing half; openai_read.c reads.  A request that came in this very
 * shape goes out as it came (chat_splice); what was built here, or came by
 * another way, is written from the chat. */
#include "broker/openai.h"

#include <string.h>

static size_t openai_headers(
	const struct target *t, struct provider_header out[PROVIDER_HEADERS_MAX])
{
	size_t n = 0;

	out[n++] = (struct provider_header){ "Content-Type", "", "application/json" };
	if (t->api_key && *t->api_key)
		out[n++] = (struct provider_header){ "Authorization", "Bearer ", t->api_key };
	return n;
}

static const char *const role_names[] = {
	[CHAT_SYSTEM] = "system",
	[CHAT_USER] = "user",
	[CHAT_ASSISTANT] = "assistant",
	[CHAT_TOOL] = "tool",
};

static void write_image(const struct chat_part *p, struct buf *out)
{
	buf_lit(out, "{\"type\":\"image_url\",\"image_url\":{\"url\":\"");
	if (p->kind == PART_IMAGE_DATA) {
		buf_lit(out, "data:");
		text_put(out, p->media);
		buf_lit(out, ";base64,");
	}
	text_put(out, p->text);
	buf_putc(out, '"');
	if (p->detail.at) {
		buf_lit(out, ",\"detail\":");
		text_put_quoted(out, p->detail);
	}
	buf_lit(out, "}}");
}

static void write_file(const struct chat_part *p, struct buf *out)
{
	buf_lit(out, "{\"type\":\"file\",\"file\":{");
	if (p->name.at) {
		buf_lit(out, "\"filename\":");
		text_put_quoted(out, p->name);
		buf_putc(out, ',');
	}
	buf_lit(out, "\"file_data\":\"data:");
	text_put(out, p->media);
	buf_lit(out, ";base64,");
	text_put(out, p->text);
	buf_lit(out, "\"}}");
}

static void write_audio(const struct chat_part *p, struct buf *out)
{
	buf_lit(out, "{\"type\":\"input_audio\",\"input_audio\":{\"data\":");
	text_put_quoted(out, p->text);
	buf_lit(out, ",\"format\":");
	text_put_quoted(out, p->media);
	buf_lit(out, "}}");
}

static void openai_write_part(const struct chat_part *p, struct buf *out)
{
	switch (p->kind) {
	case PART_TEXT:
		buf_lit(out, "{\"type\":\"text\",\"text\":");
		text_put_quoted(out, p->text);
		buf_putc(out, '}');
		break;
	case PART_IMAGE_URL:
	case PART_IMAGE_DATA:
		write_image(p, out);
		break;
	case PART_FILE_URL: /* no candidate: see provider.takes */
	case PART_FILE_DATA:
		write_file(p, out);
		break;
	case PART_AUDIO:
		write_audio(p, out);
		break;
	case PART_OTHER:
		text_put(out, p->raw);
		break;
	}
}

/* Results of tools are text here; what else they gave follows them as the user's. */
static bool is_result_media(const struct chat_message *m, const struct chat_part *p)
{
	return m->role == CHAT_TOOL && p->kind != PART_TEXT && p->kind != PART_OTHER;
}

static bool has_result_media(const struct chat_message *m)
{
	for (const struct chat_part *p = m->parts; p; p = p->next)
		if (is_result_media(m, p))
			return true;
	return false;
}

static void write_result_media(
	const struct chat_message *from, const struct chat_message *to, struct buf *out)
{
	bool any = false;

	for (const struct chat_message *m = from; m != to; m = m->next)
		for (const struct chat_part *p = m->parts; p; p = p->next) {
			if (!is_result_media(m, p))
				continue;
			buf_puts(out, any ? "," : ",{\"role\":\"user\",\"content\":[");
			any = true;
			openai_write_part(p, out);
		}
	if (any)
		buf_lit(out, "]}");
}

static void write_result_text(const struct chat_message *m, struct buf *out)
{
	bool any = false;

	buf_putc(out, '"');
	for (const struct chat_part *p = m->parts; p; p = p->next) {
		if (p->kind != PART_TEXT)
			continue;
		buf_puts(out, any ? "\\n" : "");
		any = true;
		text_put(out, p->text);
	}
	buf_puts(out, any ? "\"" : "See what follows.\"");
}

static void write_content(const struct chat_message *m, struct buf *out)
{
	buf_lit(out, ",\"content\":");
	if (has_result_media(m)) {
		write_result_text(m, out);
		return;
	}
	if (!m->parts) {
		/* An assistant that only called tools said nothing; for others that is an empty text. */
		buf_puts(out, m->role == CHAT_ASSISTANT ? "null" : "\"\"");
		return;
	}
	if (m->parts->kind == PART_TEXT && !m->parts->next) {
		text_put_quoted(out, m->parts->text);
		return;
	}
	buf_putc(out, '[');
	for (const struct chat_part *p = m->parts; p; p = p->next) {
		if (p != m->parts)
			buf_putc(out, ',');
		openai_write_part(p, out);
	}
	buf_putc(out, ']');
}

/* Those who think aloud want to be told what they thought; OpenAI itself refuses the member. */
static void openai_write_thoughts(const struct chat_message *m, struct buf *out)
{
	bool any = false;

	for (const struct chat_thought *t = m->thoughts; t; t = t->next) {
		if (strcmp(t->maker, "openai") != 0 || !t->text.len)
			continue;
		buf_puts(out, any ? "\\n\\n" : ",\"reasoning_content\":\"");
		any = true;
		text_put(out, t->text);
	}
	if (any)
		buf_putc(out, '"');
}

static void openai_write_message(const struct chat_message *m, bool aloud, struct buf *out)
{
	buf_lit(out, "{\"role\":\"");
	buf_puts(out, role_names[m->role]);
	buf_putc(out, '"');
	if (m->name.at) {
		buf_lit(out, ",\"name\":");
		text_put_quoted(out, m->name);
	}
	if (m->call_id.at) {
		buf_lit(out, ",\"tool_call_id\":");
		text_put_quoted(out, m->call_id);
	}
	write_content(m, out);
	if (aloud)
		openai_write_thoughts(m, out);
	for (const struct chat_call *call = m->calls; call; call = call->next) {
		buf_puts(out, call == m->calls ? ",\"tool_calls\":[" : ",");
		buf_lit(out, "{\"id\":");
		text_put_quoted(out, call->id);
		buf_lit(out, ",\"type\":\"function\",\"function\":{\"name\":");
		text_put_quoted(out, call->name);
		buf_lit(out, ",\"arguments\":");
		text_put_quoted(out, call->arguments.len ? call->arguments : SLICE("{}"));
		buf_putc(out, '}');
		if (aloud && call->extra.at) {
			buf_lit(out, ",\"extra_content\":");
			text_put(out, call->extra);
		}
		buf_putc(out, '}');
	}
	buf_puts(out, m->calls ? "]}" : "}");
}

void openai_write_tool(const struct chat_tool *t, struct buf *out)
{
	buf_lit(out, "\"name\":");
	text_put_quoted(out, t->name);
	if (t->description.at) {
		buf_lit(out, ",\"description\":");
		text_put_quoted(out, t->description);
	}
	if (t->parameters.at) {
		buf_lit(out, ",\"parameters\":");
		text_put(out, t->parameters);
	}
	if (t->has_strict)
		buf_puts(out, t->strict ? ",\"strict\":true" : ",\"strict\":false");
}

bool openai_write_hosted(const struct chat *c, const char *kind, bool first, struct buf *out)
{
	bool any = false;

	for (const struct chat_hosted *h = c->hosted; h; h = h->next) {
		if (strcmp(h->shape, kind) != 0)
			continue;
		if (!first || any)
			buf_putc(out, ',');
		any = true;
		text_put(out, h->raw);
	}
	return any;
}

void openai_write_choice(const struct chat *c, const char *kind, const char *before,
	const char *after, struct buf *out)
{
	static const char *const choices[] = {
		[CHOICE_AUTO] = "\"auto\"",
		[CHOICE_NONE] = "\"none\"",
		[CHOICE_REQUIRED] = "\"required\"",
	};

	if (c->choice_raw.at && strcmp(c->choice_shape, kind) == 0) {
		buf_lit(out, ",\"tool_choice\":");
		text_put(out, c->choice_raw);
	} else if (c->tool_choice == CHOICE_NAMED) {
		buf_lit(out, ",\"tool_choice\":{\"type\":\"function\",");
		buf_puts(out, before);
		buf_lit(out, "\"name\":");
		text_put_quoted(out, c->tool_chosen);
		buf_puts(out, after);
	} else if (c->tool_choice) {
		buf_lit(out, ",\"tool_choice\":");
		buf_puts(out, choices[c->tool_choice]);
	}
	if (c->parallel_calls >= 0)
		buf_puts(out, c->parallel_calls ? ",\"parallel_tool_calls\":true"
						: ",\"parallel_tool_calls\":false");
}

static void openai_write_tools(const struct chat *c, struct buf *out)
{
	size_t before = out->len;

	buf_lit(out, ",\"tools\":[");
	for (const struct chat_tool *t = c->tools; t; t = t->next) {
		buf_puts(out, t == c->tools ? "" : ",");
		buf_lit(out, "{\"type\":\"function\",\"function\":{");
		openai_write_tool(t, out);
		buf_lit(out, "}}");
	}
	if (!openai_write_hosted(c, "openai", !c->tools, out) && !c->tools) {
		out->len = before;
		return;
	}
	buf_putc(out, ']');
	openai_write_choice(c, "openai", "\"function\":{", "}}", out);
}

static void openai_write_format(const struct chat *c, struct buf *out)
{
	if (c->format == FORMAT_OBJECT)
		buf_lit(out, ",\"response_format\":{\"type\":\"json_object\"}");
	if (c->format != FORMAT_SCHEMA)
		return;
	buf_lit(out, ",\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":");
	text_put_quoted(out, c->format_name.len ? c->format_name : SLICE("answer"));
	buf_lit(out, ",\"schema\":");
	text_put(out, c->format_schema);
	buf_puts(out, c->format_strict ? ",\"strict\":true}}" : "}}");
}

void openai_write_sampling(const struct chat *c, struct buf *out)
{
	if (!isnan(c->temperature)) {
		buf_lit(out, ",\"temperature\":");
		json_write_number(out, c->temperature);
	}
	if (!isnan(c->top_p)) {
		buf_lit(out, ",\"top_p\":");
		json_write_number(out, c->top_p);
	}
}

static void write_limits(const struct chat *c, const struct target *t, struct buf *out)
{
	int64_t limit = provider_max_tokens(c, t);

	if (limit)
		buf_printf(out, ",\"%s\":%lld", chat_limit_name(t), (long long)limit);
	openai_write_sampling(c, out);
	for (const struct chat_stop *s = c->stop; s; s = s->next) {
		buf_puts(out, s == c->stop ? ",\"stop\":[" : ",");
		text_put_quoted(out, s->text);
	}
	if (c->stop)
		buf_putc(out, ']');
	if (c->has_seed) {
		buf_lit(out, ",\"seed\":");
		buf_put_int(out, c->seed);
	}
	if (c->effort)
		buf_printf(out, ",\"reasoning_effort\":\"%s\"", chat_effort_names[c->effort]);
}

static void openai_write_request(const struct chat *c, const struct target *t, struct buf *out)
{
	bool aloud = strcmp(chat_limit_name(t), "max_tokens") == 0, first = true;
	const struct chat_message *results = NULL; /* the first of those that stand together */

	if (chat_splices(c)) {
		chat_splice(c, t, out);
		return;
	}
	buf_lit(out, "{\"model\":");
	json_write_string(out, t->model, strlen(t->model));
	buf_lit(out, ",\"messages\":[");
	for (const struct chat_message *m = c->messages; m; m = m->next) {
		if (m->item.at && !m->parts && !m->calls) /* for others alone */
			continue;
		if (!first)
			buf_putc(out, ',');
		first = false;
		openai_write_message(m, aloud, out);
		if (m->role == CHAT_TOOL && !results)
			results = m;
		if (results && (!m->next || m->next->role != CHAT_TOOL)) {
			write_result_media(results, m->next, out);
			results = NULL;
		}
	}
	buf_putc(out, ']');
	openai_write_tools(c, out);
	write_limits(c, t, out);
	openai_write_format(c, out);
	if (c->stream)
		buf_lit(out, ",\"stream\":true,\"stream_options\":{\"include_usage\":true}");
	for (const struct chat_field *f = c->fields; f; f = f->next) {
		if (f->understood || c->shape != SHAPE_OPENAI ||
			(f->shape && strcmp(f->shape, "openai") != 0))
			continue;
		buf_putc(out, ',');
		text_put_quoted(out, f->name);
		buf_putc(out, ':');
		text_put(out, f->raw);
	}
	buf_putc(out, '}');
}

const struct provider provider_openai = {
	.name = "openai",
	.base_url = "https://api.openai.com/v1",
	.path = "/chat/completions",
	.headers = openai_headers,
	.write = openai_write_request,
	.read_event = openai_read_event,
	.read_whole = openai_read_whole,
	.takes = CHAT_FILES | CHAT_AUDIO | CHAT_OTHER_PARTS,
};
