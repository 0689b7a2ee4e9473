/* oidc.h - signing in at an OpenID provider: authorization code with PKCE, and an ID token at its end; and access tokens
 * that it gives to others for us.
 *
 * Providers are chosen by whoever runs the program.  What a provider
 * publishes about itself (its addresses, its keys) is fetched when needed and
 * kept for a while.  Whatever waits is for the slow pool; nothing here knows
 * the store, a user or a request. */
#pragma once
#include "base/error.h"
#include "outside/fetch.h"
#include "outside/jwt.h"

enum { OIDC_PROVIDERS_MAX = 16, OIDC_NAME_MAX = 32 };

/* ---- the setting ---- */

/* True if the text is a list of providers: NAME=ISSUER,CLIENT_ID,SECRET_FILE with blanks between. */
bool oidc_config_valid(const char *text);

struct oidc_config {
	const char *name, *issuer, *client_id, *secret_file;
	const char *secret; /* from the file */
};

/* Reads the list alone, of at most OIDC_PROVIDERS_MAX; how many they are, or -1 if it is none. */
int oidc_config_list(struct arena *a, const char *text, struct oidc_config *list);
/* Reads the list and the files it names; ERR_USAGE with a sentence. */
int oidc_config_read(const char *text, struct arena *a, struct oidc_config *ret, size_t *ret_count,
	struct problem *p);

/* ---- the providers ---- */

struct oidc;
struct oidc_provider;

/* Private addresses may be called only if asked for; `fetch` is fetch_run but in tests. */
struct oidc *oidc_new(
	const struct oidc_config *list, size_t count, bool allow_private, fetch_fn *fetch);
/* Whether there is room for another list: providers that are taken off it stay known, 64 since the start. */
bool oidc_takes(struct oidc *o, const struct oidc_config *list, size_t count);
/* Another list, for which there is room: new secrets count from the next sign-in on, and a provider that is gone
 * is not found any more.  True if anything differs. */
bool oidc_renew(struct oidc *o, const struct oidc_config *list, size_t count);
void oidc_free(struct oidc *o);
/* NULL if there is none of that name; o may be NULL.  What it gives lasts as long as o. */
struct oidc_provider *oidc_find(struct oidc *o, const char *name);
/* The names of those that are listed, oldest first, at most OIDC_PROVIDERS_MAX; how many they are.  o may be NULL. */
size_t oidc_names(struct oidc *o, struct arena *a, const char **list);
const char *oidc_issuer(const struct oidc_provider *p);

/* What a provider says about itself. */
struct oidc_facts {
	const char *issuer, *authorization_endpoint, *token_endpoint, *jwks_uri;
	const char *userinfo_endpoint; /* or NULL */
};

/* From memory, or from the provider.  ERR_UPSTREAM; why is logged here. */
int oidc_discover(struct oidc_provider *p, struct arena *a, struct oidc_facts *ret);

/* Why the provider last failed, as the end of a sentence; "" if it never did. */
const char *oidc_why(struct oidc_provider *p, struct arena *a);

struct oidc_flow {
	const char *redirect_uri, *state, *nonce, *verifier;
};

/* Where to send the browser. */
const char *oidc_authorize_url(const struct oidc_provider *p, const struct oidc_facts *facts,
	const struct oidc_flow *flow, struct arena *a);
/* The code for an ID token, and that for what it says.  ERR_UPSTREAM if the provider cannot be
 * reached, ERR_UNAUTHENTICATED if what it says is not good enough; why is logged here. */
int oidc_redeem(struct oidc_provider *p, const struct oidc_flow *flow, const char *code,
	struct arena *a, struct jwt_claims *ret);

/* ---- access tokens (oidc_token.c) ---- */

struct oidc_token {
	const char *text;
	const char *hash;	      /* a digest of the text */
	const char *const *resources; /* it must be for one of them; NULL-terminated */
};

/* Whose word it is, of whom, and when it ends. */
struct oidc_bearer {
	const char *provider, *subject;
	int64_t ends_s;
};

/* Whom a provider that is listed means by the token.  Without `waits` from memory, or ERR_BUSY where that does not say; else on a slow
 * thread.  ERR_UNAUTHENTICATED with a few words; ERR_UPSTREAM if the provider cannot be reached.  o may be NULL. */
int oidc_bearer(struct oidc *o, struct arena *a, const struct oidc_token *t, bool waits,
	struct oidc_bearer *ret, const char **ret_why);
