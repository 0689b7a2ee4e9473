/* chat_splice.c - a chat that came in OpenAI's shape goes out as it came, but for what the model's settings say;
 * and the limit of an answer, under the name that its provider knows.  See provider.h. */
#include <string.h>

#include "broker/provider.h"

int64_t provider_max_tokens(const struct chat *c, const struct target *t)
{
	if (!c->max_tokens || (t->max_tokens && t->max_tokens < c->max_tokens))
		return t->max_tokens;
	return c->max_tokens;
}

/* Where OpenAI's own models answer: they refuse the old name of the limit. */
static const char *const openai_hosts[] = {
	"//api.openai.com",
	".openai.azure.com",
	".cognitiveservices.azure.com",
	".services.ai.azure.com",
};

const char *chat_limit_name(const struct target *t)
{
	if (!t->base_url || !*t->base_url)
		return "max_completion_tokens";
	for (size_t i = 0; i < sizeof openai_hosts / sizeof *openai_hosts; i++)
		if (strstr(t->base_url, openai_hosts[i]))
			return "max_completion_tokens";
	return "max_tokens";
}

bool chat_splices(const struct chat *c)
{
	return c->body.at != NULL && c->shape == SHAPE_OPENAI;
}

static bool is_limit(struct slice name)
{
	return text_is(name, "max_tokens") || text_is(name, "max_completion_tokens");
}

static void put_member(struct buf *out, bool *first, struct slice name)
{
	buf_putc(out, *first ? '{' : ',');
	*first = false;
	text_put_quoted(out, name);
	buf_putc(out, ':');
}

/* The options as they came, but usage is asked for. */
static void put_stream_options(const struct chat *c, struct slice raw, struct buf *out)
{
	struct slice usage = c->include_usage_at;
	const char *end = raw.at + raw.len, *p = raw.at + 1;

	if (*raw.at == '{' && usage.at) {
		buf_put(out, raw.at, (size_t)(usage.at - raw.at));
		buf_lit(out, "true");
		buf_put(out, usage.at + usage.len, (size_t)(end - usage.at) - usage.len);
		return;
	}
	buf_lit(out, "{\"include_usage\":true");
	while (*raw.at == '{' && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
		p++;
	if (*raw.at == '{' && *p != '}') {
		buf_putc(out, ',');
		buf_put(out, p, (size_t)(end - p));
	} else {
		buf_putc(out, '}');
	}
}

/* The messages as they came, after the one that was put before them. */
static void put_prompted(const struct chat *c, struct slice raw, struct buf *out)
{
	buf_lit(out, "[{\"role\":\"system\",\"content\":");
	text_put_quoted(out, c->prompt->parts->text);
	buf_lit(out, "},");
	buf_put(out, raw.at + 1, raw.len - 1);
}

void chat_splice(const struct chat *c, const struct target *t, struct buf *out)
{
	const char *limit_name = chat_limit_name(t);
	int64_t limit = provider_max_tokens(c, t);
	bool first = true, asked = false;

	/* One growth for all of it. */
	buf_room(out, c->body.len + strlen(t->model) + 128);
	if (limit) {
		put_member(out, &first, (struct slice){ limit_name, strlen(limit_name) });
		buf_put_int(out, limit);
	}
	for (const struct chat_field *f = c->fields; f; f = f->next) {
		if (is_limit(f->name))
			continue;
		put_member(out, &first, f->name);
		if (text_is(f->name, "model")) {
			json_write_string(out, t->model, strlen(t->model));
		} else if (c->stream && text_is(f->name, "stream_options")) {
			put_stream_options(c, f->raw, out);
			asked = true;
		} else if (c->prompt && text_is(f->name, "messages")) {
			put_prompted(c, f->raw, out);
		} else {
			text_put(out, f->raw);
		}
	}
	if (c->stream && !asked) {
		put_member(out, &first, SLICE("stream_options"));
		buf_lit(out, "{\"include_usage\":true}");
	}
	buf_putc(out, '}');
}
