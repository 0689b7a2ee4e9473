/* relay.c - see relay.h. */
#include "serve/relay.h"

#include <string.h>

#include "outside/secret_file.h"

int relay_of(struct smtp_relay *ret, const struct settings *s, struct arena *a, struct problem *p)
{
	const char *path = s->smtp_relay_password_file, *fault = NULL, *at;

	*ret = (struct smtp_relay){ 0 };
	if (!*s->smtp_relay)
		return 0;
	at = strrchr(s->mail_from, '@');
	ret->url = s->smtp_relay;
	ret->hello = *s->mail_domain ? s->mail_domain : at + 1;
	ret->authorities = *s->smtp_relay_ca ? s->smtp_relay_ca : NULL;
	if (!*s->smtp_relay_user)
		return 0;
	ret->user = s->smtp_relay_user;
	ret->password = secret_file_read(a, path, &fault);
	return ret->password ? 0
			     : problem_set(p, a, ERR_USAGE,
				       "smtp_relay_password_file: the file %s: %s", path, fault);
}
