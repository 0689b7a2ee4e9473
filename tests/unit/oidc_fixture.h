/* oidc_fixture.h - a fixture with an OpenID provider of our own in the place of the outside. */
#pragma once
#include "fixture.h"
#include "jwt_fixture.h"

#define PROVIDER_ISSUER "https://op.test"

/* What the provider would say, and what it was asked. */
struct provider_says {
	struct arena *arena;
	struct signer signer;
	const char *sub, *email, *nonce, *challenge;
	bool verified, down, wrong_issuer;
	int facts_asked, keys_asked, tokens_asked;
};
extern struct provider_says provider;

struct fixture *provider_open(void);
void provider_close(struct fixture *f);

/* A flow that has been begun: the browser's cookie, and the state. */
struct begun {
	const char *cookie, *state;
};

struct begun provider_begin_at(struct fixture *f, const char *target);
struct begun provider_begin(struct fixture *f);
struct answer provider_finish(struct fixture *f, const struct begun *b, const char *code);
/* From beginning to end, as whoever the provider would say. */
struct answer provider_sign_in(struct fixture *f);
/* The address is allowed by the tenant. */
const char *provider_allow(struct fixture *f, const char *tenant_id, const char *email);
