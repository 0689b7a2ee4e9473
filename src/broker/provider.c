/* provider.c - the table of providers, and what is the same for all of them; see provider.h. */
#include "broker/provider.h"

#include <string.h>

#include "base/few.h"

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

const struct provider *provider_for(const char *kind, enum ModelEndpoint endpoint)
{
	if (endpoint == ModelEndpoint_chat)
		return provider_find(kind);
	return strcmp(kind, provider_openai.name) == 0 ? &endpoint_providers[endpoint] : NULL;
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

/* These are there for one kind alone; the others are told the same by other names. */
static bool is_told_otherwise(const struct chat_field *f)
{
	return f->shape && (text_is(f->name, "reasoning") || text_is(f->name, "logprobs") ||
				   text_is(f->name, "metadata"));
}

static bool carries_field(const struct provider *p, const struct chat_field *f)
{
	if (f->shape)
		return strcmp(f->shape, p->name) == 0;
	for (size_t i = 0; p->carries && p->carries[i]; i++)
		if (text_is(f->name, p->carries[i]))
			return true;
	return !p->carries;
}

const char *provider_loses(struct arena *a, const struct provider *p, const struct chat *c)
{
	struct few lost = { 0 };

	for (const struct chat_field *f = c->fields; f && !p->speak; f = f->next)
		if (!carries_field(p, f) && !is_told_otherwise(f) && !text_is(f->raw, "null"))
			few_add(&lost, f->name.at, f->name.len);
	return few_text(&lost, a);
}
