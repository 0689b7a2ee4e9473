/* provider_keys.c - see provider_keys.h. */
#include "broker/provider_keys.h"

#include <string.h>

#include "base/id.h"

struct sealed_key {
	const char *id, *base_url, *sealed;
};

FIELDS(sealed_key) = {
	FIELD(sealed_key, id),
	FIELD(sealed_key, base_url, .nullable = true),
	FIELD(sealed_key, sealed),
};
static SCHEMA(sealed_key, .internal = true);

enum { KEY_OPEN, KEY_PUT };

static const struct statement sql[] = {
	[KEY_OPEN] = { "provider_key_open",
		"select {*} from provider_keys where tenant_id = $1 and provider = $2",
		.row = &sealed_key_schema },
	[KEY_PUT] = { "provider_key_put",
		"insert into provider_keys (tenant_id, provider, id, base_url, sealed, created_at, "
		"updated_at) values ($1, $2, $3, $4, $5, $6, $6) "
		"on conflict (tenant_id, provider) do update set id = $3, base_url = $4, sealed = $5, "
		"updated_at = $6" },
};
STATEMENT_SET(provider_key_sql, sql);

int provider_key_unseal(
	struct vault *v, struct arena *a, const char *id, const char *sealed, const char **ret)
{
	*ret = vault_open_text(v, a, id, sealed);
	return *ret ? 0 : ERR_STORE;
}

int provider_key_open(struct db *db, struct vault *v, struct arena *a, const char *tenant_id,
	const char *provider, struct provider_key *ret)
{
	struct sealed_key row;
	int err = db_one(db, a, &sql[KEY_OPEN], &row, ARGS(T(tenant_id), T(provider)));

	if (err)
		return err;
	ret->base_url = row.base_url;
	return provider_key_unseal(v, a, row.id, row.sealed, &ret->api_key);
}

int provider_key_put(struct db *db, struct vault *v, struct arena *a, const char *tenant_id,
	const char *provider, const struct provider_key *key, int64_t now)
{
	struct id id = id_new(NULL);
	const char *sealed = vault_seal(v, a, id.text, key->api_key, strlen(key->api_key));

	return db_run(db, &sql[KEY_PUT], NULL,
		ARGS(T(tenant_id), T(provider), T(id.text), T(key->base_url), T(sealed), N(now)));
}
