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
