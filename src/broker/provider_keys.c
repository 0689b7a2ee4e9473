/* provider_keys.c - see provider_keys.h. */
#include "broker/provider_keys.h"

#include <string.h>

#include "base/id.h"
#include "store/row.h"

struct sealed_key {
	const char *id, *base_url, *sealed;
};

FIELDS(sealed_key) = {
	FIELD(sealed_key, id),
	FIELD(sealed_key, base_url, .nullable = true),
	FIELD(sealed_key, sealed),
};
static SCHEMA(sealed_key, .internal = true);

struct provider_key_row {
	const char *tenant_id, *provider, *id, *base_url, *sealed;
	int64_t created_at, updated_at;
};

FIELDS(provider_key_row) = {
	ROW_FIELDS(provider_key_row, tenant_id, provider, id, sealed, created_at, updated_at),
	ROW_NULLABLE(provider_key_row, base_url),
};
static SCHEMA(provider_key_row, .internal = true);

enum { KEY_OPEN, KEY_PUT };

static const struct statement sql[] = {
	[KEY_OPEN] = { "provider_key_open",
		"select {*} from provider_keys where tenant_id = $1 and provider = $2",
		.row = &sealed_key_schema },
	[KEY_PUT] = { "provider_key_put",
		"insert into provider_keys ({*}) values ({$}) "
		"on conflict (tenant_id, provider) do update set id = :id, base_url = :base_url, "
		"sealed = :sealed, updated_at = :updated_at",
		.row = &provider_key_row_schema },
};
STATEMENT_SET(provider_key_sql, sql);

int provider_key_unseal(
	struct vault *v, struct arena *a, const char *id, const char *sealed, const char **ret)
{
	*ret = vault_open_text(v, a, id, sealed);
	return *ret ? 0 : ERR_SECRET;
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
	const char *sealed =
		vault_seal(v, a, SEALED_PROVIDER_KEY, id.text, key->api_key, strlen(key->api_key));

	if (!sealed)
		return ERR_KEY;
	return db_put(db, &sql[KEY_PUT],
		&(struct provider_key_row){ .tenant_id = tenant_id,
			.provider = provider,
			.id = id.text,
			.base_url = key->base_url,
			.sealed = sealed,
			.created_at = now,
			.updated_at = now });
}
