/* repo_remote.c - see repo_remote.h. */
#include "api/repos/repo_remote.h"

#include <string.h>

#include "api/service.h"
#include "base/crypto.h"

enum egress repo_egress(const struct call *c)
{
	return c->app->settings.allow_private_addresses ? EGRESS_ANY : EGRESS_PUBLIC;
}

int repo_remote(struct call *c, const struct repository *row, struct remote *ret)
{
	struct repo_secrets secrets;
	int err = repo_secrets_open(c->app->vault, c->arena, row, &secrets);

	if (err)
		return call_fail(c, err,
			"The token of this repository cannot be opened with the present master key: give it anew.");
	*ret = (struct remote){ .url = row->url,
		.egress = repo_egress(c),
		.stop = &c->work.withdrawn,
		.known = row->refs_sha256 != NULL };
	remote_set_token(ret, c->arena, repo_token(&secrets, row, service_of(c->app)->host));
	return 0;
}

const char *repo_hook_url(const struct call *c, const char *id)
{
	return arena_printf(c->arena, "%s/hooks/repositories/%s", c->app->settings.public_url, id);
}

const char *repo_hook_secret(struct arena *a)
{
	enum { SECRET_BYTES = 24 };
	uint8_t bytes[SECRET_BYTES];
	char *text = arena_alloc(a, 2 * sizeof bytes + 1);

	random_bytes(bytes, sizeof bytes);
	hex_write(bytes, sizeof bytes, text);
	return text;
}

void repo_url_check(struct call *c, const char *field, const char *url)
{
	const char *fault = url ? remote_url_fault(url, repo_egress(c)) : NULL;

	if (fault)
		call_field(c, field, "address", "%s", fault);
}

void repo_token_check(struct call *c, const char *token)
{
	for (const char *at = token; at && *at; at++)
		if ((unsigned char)*at <= ' ' || (unsigned char)*at > '~') {
			call_field(c, "token", "token",
				"must not have blanks or characters outside ASCII");
			return;
		}
}

int repo_remote_fault(struct call *c, const struct remote_said *said, const char *url_field)
{
	switch (said->end) {
	case REMOTE_REFUSED:
		return call_field(c, "token", "refused", "does not open it. %s", said->why);
	case REMOTE_MISSING:
		return call_field(c, url_field, "missing", "leads nowhere. %s", said->why);
	default:
		return call_fail(c, ERR_UPSTREAM, "%s", said->why);
	}
}
