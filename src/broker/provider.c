/* provider.c - the table of providers, and what is the same for all of them; see provider.h. */
#include "broker/provider.h"

#include <string.h>

const struct provider *const providers[] = {
	&provider_openai,
	&provider_openai_responses,
	&provider_anthropic,
	&provider_demo,
	NULL,
};

const struct provider *provider_find(const char *kind)
{
	for (size_t i = 0; providers[i]; i++)
		if (strcmp(providers[i]->name, kind) == 0)
			return providers[i];
	return NULL;
}

const char *provider_url(struct arena *a, const struct provider *p, const struct target *t)
{
	const char *base = t->base_url && *t->base_url ? t->base_url : p->base_url, *host;
	size_t len;

	if (!base)
		return NULL;
	len = strlen(base);
	while (len && base[len - 1] == '/')
		len--;
	host = strstr(base, "://");
	host = host ? host + 3 : base;
	if (host < base + len && !memchr(host, '/', (size_t)(base + len - host)))
		return arena_printf(a, "%.*s/v1%s", (int)len, base, p->path);
	return arena_printf(a, "%.*s%s", (int)len, base, p->path);
}

int64_t provider_max_tokens(const struct chat *c, const struct target *t)
{
	if (!c->max_tokens || (t->max_tokens && t->max_tokens < c->max_tokens))
		return t->max_tokens;
	return c->max_tokens;
}

const char *chat_limit_name(const struct target *t)
{
	return !t->base_url || !*t->base_url || strstr(t->base_url, "//api.openai.com") ||
			       strstr(t->base_url, ".openai.azure.com")
		       ? "max_completion_tokens"
		       : "max_tokens";
}

bool chat_splices(const struct chat *c)
{
	return c->body.at && c->model_at.at;
}

/* A place in the body and what stands there instead. */
struct edit {
	const char *at;
	size_t old;
	struct slice text;
};

static void edit_add(struct edit *edits, size_t *n, const char *at, size_t old, struct slice text)
{
	size_t i = (*n)++;

	for (; i && edits[i - 1].at > at; i--)
		edits[i] = edits[i - 1];
	edits[i] = (struct edit){ at, old, text };
}

static bool options_null(const struct chat *c)
{
	return c->stream_options_at.at && *c->stream_options_at.at == 'n';
}

static bool options_empty(const struct chat *c)
{
	const char *p = c->stream_options_at.at + 1;

	while (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r')
		p++;
	return *p == '}';
}

void chat_splice(const struct chat *c, const struct target *t, struct buf *out)
{
	enum { MAX_EDITS = 3, FRONT_MAX = 128 };
	const char *p = c->body.at, *open = memchr(p, '{', c->body.len);
	int64_t limit = provider_max_tokens(c, t);
	struct edit edits[MAX_EDITS + 1];
	char number[24], front_text[FRONT_MAX];
	struct buf model, front = { .at = front_text, .cap = FRONT_MAX, .max = FRONT_MAX };
	size_t n = 0;

	buf_init(&model, c->body.len + 6 * strlen(t->model) + 16);
	json_write_string(&model, t->model, strlen(t->model));
	edit_add(edits, &n, c->model_at.at, c->model_at.len, (struct slice){ model.at, model.len });
	if (limit != c->max_tokens && c->max_tokens_at.at) {
		struct buf b = { .at = number, .cap = sizeof number, .max = sizeof number };

		buf_put_int(&b, limit);
		edit_add(edits, &n, c->max_tokens_at.at, c->max_tokens_at.len,
			(struct slice){ number, b.len });
	} else if (limit != c->max_tokens) {
		buf_printf(&front, "\"%s\":%lld,", chat_limit_name(t), (long long)limit);
	}
	if (c->stream && c->include_usage_at.at && !c->include_usage)
		edit_add(edits, &n, c->include_usage_at.at, c->include_usage_at.len, SLICE("true"));
	else if (c->stream && !c->include_usage_at.at && options_null(c))
		edit_add(edits, &n, c->stream_options_at.at, c->stream_options_at.len,
			SLICE("{\"include_usage\":true}"));
	else if (c->stream && !c->include_usage_at.at && c->stream_options_at.at)
		edit_add(edits, &n, c->stream_options_at.at + 1, 0,
			options_empty(c) ? SLICE("\"include_usage\":true")
					 : SLICE("\"include_usage\":true,"));
	else if (c->stream && !c->include_usage_at.at)
		buf_lit(&front, "\"stream_options\":{\"include_usage\":true},");
	/* One growth for all of it. */
	buf_room(out, c->body.len + model.len + front.len + 64);
	buf_put(out, p, (size_t)(open + 1 - p));
	buf_put(out, front.at, front.len);
	p = open + 1;
	for (size_t i = 0; i < n; i++) {
		buf_put(out, p, (size_t)(edits[i].at - p));
		text_put(out, edits[i].text);
		p = edits[i].at + edits[i].old;
	}
	buf_put(out, p, (size_t)(c->body.at + c->body.len - p));
	buf_free(&model);
}
