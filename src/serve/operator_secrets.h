/* operator_secrets.h - what the files hold that settings name: the operator's keys at model providers, and the
 * secrets of OpenID providers.
 *
 * Read at start and again at every reload, as a whole: one file that is wrong, and nothing of it is used. */
#pragma once
#include "broker/broker.h"
#include "outside/oidc.h"
#include "serve/settings.h"

struct operator_secrets {
	struct broker_keys keys;
	struct oidc_config providers[OIDC_PROVIDERS_MAX];
	size_t provider_count;
};

/* Into the arena; ERR_USAGE with a sentence that names setting and file.  Whatever it returns, wipe it. */
int operator_secrets_read(
	struct operator_secrets *ret, const struct settings *s, struct arena *a, struct problem *p);
void operator_secrets_wipe(struct operator_secrets *o);
