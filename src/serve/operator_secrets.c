/* operator_secrets.c - see operator_secrets.h. */
#include "serve/operator_secrets.h"

#include <string.h>

#include "base/crypto.h"
#include "outside/secret_file.h"

static int read_operator_key(
	const char **ret, const char *name, const char *path, struct arena *a, struct problem *p)
{
	const char *fault = NULL;

	if (!*path)
		return 0;
	*ret = secret_file_read(a, path, &fault);
	return *ret ? 0 : problem_set(p, a, ERR_USAGE, "%s: the file %s: %s", name, path, fault);
}

int operator_secrets_read(
	struct operator_secrets *ret, const struct settings *s, struct arena *a, struct problem *p)
{
	int err;

	*ret = (struct operator_secrets){ 0 };
	err = oidc_config_read(s->oidc, a, ret->providers, &ret->provider_count, p);
	if (!err)
		err = read_operator_key(
			&ret->keys.openai, "openai_key_file", s->openai_key_file, a, p);
	if (!err)
		err = read_operator_key(
			&ret->keys.anthropic, "anthropic_key_file", s->anthropic_key_file, a, p);
	return err;
}

static void wipe_text(const char *text)
{
	if (text)
		wipe((char *)text, strlen(text));
}

void operator_secrets_wipe(struct operator_secrets *o)
{
	for (size_t i = 0; i < OIDC_PROVIDERS_MAX; i++)
		wipe_text(o->providers[i].secret);
	wipe_text(o->keys.openai);
	wipe_text(o->keys.anthropic);
	*o = (struct operator_secrets){ 0 };
}
