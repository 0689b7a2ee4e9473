/* oidc_parts.h - what the files about providers share: a provider with what is kept of it, and all of them. */
#pragma once
#include <pthread.h>

#include "base/crypto.h"
#include "outside/oidc.h"

enum oidc_document { FACTS, KEYS, DOCUMENTS };

struct oidc_provider {
	struct oidc *owner;
	struct oidc_provider *next;
	bool listed,
		was_listed; /* in the present list, and the one before; under the owner's lock */
	struct oidc_config config; /* but for the secret */
	enum egress egress;
	const char *facts_url;
	pthread_mutex_t lock; /* for what follows; never held while waiting for the provider */
	char *secret;
	struct kept_document {
		char *text;
		size_t len;
		int64_t until_ms, rests_until_ms;
	} kept[DOCUMENTS];
	int64_t refreshed_ms; /* when the keys were last fetched before their time */
	char why[256];	      /* it last failed */
};

enum { OIDC_SEEN_CELLS = 1024 };

/* An access token that was found to hold, by its digest; the last that fell on its cell. */
struct oidc_seen {
	uint8_t digest[SHA256_LEN]; /* of the token, and what it was wanted for */
	const struct oidc_provider *provider;
	char subject[JWT_SUBJECT_MAX + 1];
	int64_t ends_s, until_ms;
};

/* A provider stays where it is when the list no longer has it: somebody may be signing in there. */
struct oidc {
	struct arena arena;
	fetch_fn *fetch;
	bool allow_private;
	pthread_rwlock_t lock; /* over what follows */
	struct oidc_provider *first;
	size_t count;
	pthread_mutex_t seen_lock; /* over what follows; never taken before the other */
	struct oidc_seen seen[OIDC_SEEN_CELLS];
};

/* oidc.c: does the token hold, by the keys that are kept or, where it names another, anew from the provider?  ERR_UNAUTHENTICATED with
 * a few words; ERR_UPSTREAM, which is logged there. */
int oidc_verify(struct oidc_provider *p, const struct oidc_facts *facts, const char *token,
	const struct jwt_wanted *wanted, struct arena *a, struct jwt_claims *ret,
	const char **ret_why);
