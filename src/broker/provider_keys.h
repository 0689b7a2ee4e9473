/* provider_keys.h - a tenant's own keys at providers: one for each kind of provider, sealed at rest.
 *
 * Who calls a provider for a tenant opens the key here; nobody reads it back.
 * A row is bound to its seal by its id, which is another one with every key. */
#pragma once
#include "access/vault.h"
#include "store/store.h"

struct provider_key {
	const char *api_key;
	const char *base_url; /* without slashes at its end; NULL: the provider's own */
};

/* The key of a row that the caller has read. */
int provider_key_unseal(
	struct vault *v, struct arena *a, const char *id, const char *sealed, const char **ret);
/* The provider is the word for a kind of model, such as openai.  ERR_NOT_FOUND if the tenant has none,
 * ERR_SECRET if it cannot be opened with any key that is known. */
int provider_key_open(struct db *db, struct vault *v, struct arena *a, const char *tenant_id,
	const char *provider, struct provider_key *ret);
/* Puts it in the place of what there was; the moment it was first put there stays. */
int provider_key_put(struct db *db, struct vault *v, struct arena *a, const char *tenant_id,
	const char *provider, const struct provider_key *key, int64_t now);

extern const struct statement_set provider_key_sql;
