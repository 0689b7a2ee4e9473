/* anthropic_splice.c - a chat that came in Anthropic's shape goes out as it came, so that nothing of it is lost; see
 * anthropic.h.
 *
 * Each member is what came in, but for the model and the limit.  What the
 * reader marked (a thought that another provider signed, a life in the cache
 * that has another price) is patched where it stands, and an agent's own
 * words go before the caller's system. */
#include "broker/anthropic.h"

#include <string.h>

bool anthropic_splices(const struct chat *c)
{
	return c->body.at != NULL && c->shape == SHAPE_ANTHROPIC;
}

/* The patches are in the order of the body, and so are the members. */
static const struct chat_patch *put_patched(
	const struct chat_patch *p, struct slice raw, struct buf *out)
{
	const char *at = raw.at, *end = raw.at + raw.len;

	while (p && p->at.at < at)
		p = p->next;
	for (; p && p->at.at < end; p = p->next) {
		buf_put(out, at, (size_t)(p->at.at - at));
		text_put(out, p->with);
		at = p->at.at + p->at.len;
	}
	buf_put(out, at, (size_t)(end - at));
	return p;
}

static void put_prompt(const struct chat *c, struct buf *out)
{
	buf_lit(out, "\"system\":[{\"type\":\"text\",\"text\":");
	text_put_quoted(out, c->prompt->parts->text);
	buf_putc(out, '}');
}

static bool is_blank(struct slice s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!memchr(" \t\r\n", s.at[i], 4))
			return false;
	return true;
}

/* A text, or blocks, as more blocks. */
static void put_system(const struct chat *c, struct slice raw, struct buf *out)
{
	struct slice inside = { raw.at + 1, raw.len > 2 ? raw.len - 2 : 0 };

	put_prompt(c, out);
	if (*raw.at == '"' && inside.len) {
		buf_lit(out, ",{\"type\":\"text\",\"text\":");
		text_put_quoted(out, inside);
		buf_putc(out, '}');
	} else if (*raw.at == '[' && !is_blank(inside)) {
		buf_putc(out, ',');
		put_patched(c->patches, inside, out);
	}
	buf_putc(out, ']');
}

/* What is thought counts as written, and must leave room: a limit that was lowered lowers it too. */
static bool put_thinking(const struct chat *c, int64_t limit, struct buf *out)
{
	enum { LEAST = 1024 };

	if (!c->thinking_budget || c->thinking_budget < limit)
		return false;
	if (limit > LEAST) {
		buf_lit(out, ",\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":");
		buf_put_int(out, limit - 1);
		buf_putc(out, '}');
	} else {
		buf_lit(out, ",\"thinking\":{\"type\":\"disabled\"}");
	}
	return true;
}

static void put_name(struct buf *out, struct slice name)
{
	buf_putc(out, ',');
	text_put_quoted(out, name);
	buf_putc(out, ':');
}

void anthropic_splice(const struct chat *c, const struct target *t, struct buf *out)
{
	int64_t limit = provider_max_tokens(c, t);
	const struct chat_patch *patch = c->patches;
	bool system = false;

	buf_room(out, c->body.len + strlen(t->model) +
			      (c->prompt ? c->prompt->parts->text.len : 0) + 128);
	buf_lit(out, "{\"model\":");
	json_write_string(out, t->model, strlen(t->model));
	buf_lit(out, ",\"max_tokens\":");
	buf_put_int(out, limit ? limit : DEFAULT_MAX_TOKENS);
	for (const struct chat_field *f = c->fields; f; f = f->next) {
		if (text_is(f->name, "model") || text_is(f->name, "max_tokens"))
			continue;
		if (c->prompt && text_is(f->name, "system")) {
			buf_putc(out, ',');
			put_system(c, f->raw, out);
			system = true;
			continue;
		}
		if (limit < c->max_tokens && text_is(f->name, "thinking") &&
			put_thinking(c, limit, out))
			continue;
		put_name(out, f->name);
		patch = put_patched(patch, f->raw, out);
	}
	if (c->prompt && !system) {
		buf_putc(out, ',');
		put_prompt(c, out);
		buf_putc(out, ']');
	}
	buf_putc(out, '}');
}
