/* keys_schemas.c - the tables for API keys. */
#include "api/keys.h"

FIELDS(ApiKeyCreate) = {
	FIELD(ApiKeyCreate, name, .need = true, .example = "\"nightly report\"",
		.doc = "What the key is for, so that it can be told from others."),
	FIELD(ApiKeyCreate, scopes, .item = TEXT, .example = "[\"agent:read\",\"session:read\"]",
		.doc = "Permissions the key is cut down to; absent for all of yours, an empty "
		       "list for none."),
	FIELD(ApiKeyCreate, expires_at, .nullable = true, .example = "\"2027-01-31T00:00:00.000Z\"",
		.doc = "When it stops working; null or absent for never."),
};
SCHEMA(ApiKeyCreate, .doc = "A key that acts as you, within this tenant.");

FIELDS(ApiKeyRead) = {
	FIELD(ApiKeyRead, id, .need = true, .id = true,
		.doc = "The key's entry; delete it to revoke the key."),
	FIELD(ApiKeyRead, name, .need = true, .example = "\"nightly report\"",
		.doc = "What the key is for."),
	FIELD(ApiKeyRead, created_at, .need = true, .doc = "When it was made."),
	FIELD(ApiKeyRead, last_used_at, .need = true, .nullable = true,
		.doc = "When it last opened a request; null if never."),
	FIELD(ApiKeyRead, expires_at, .need = true, .nullable = true, .example = "null",
		.doc = "When it stops working; null for never."),
	FIELD(ApiKeyRead, scopes, .item = TEXT, .example = "[\"agent:read\",\"session:read\"]",
		.doc = "Permissions the key is cut down to."),
};
SCHEMA(ApiKeyRead, .doc = "A key as it is listed; the key itself is never shown again.");

FIELDS(ApiKeyCreated) = {
	FIELD(ApiKeyCreated, id, .need = true, .id = true,
		.doc = "The key's entry; delete it to revoke the key."),
	FIELD(ApiKeyCreated, name, .need = true, .example = "\"nightly report\"",
		.doc = "What the key is for."),
	FIELD(ApiKeyCreated, created_at, .need = true, .doc = "When it was made."),
	FIELD(ApiKeyCreated, last_used_at, .need = true, .nullable = true, .example = "null",
		.doc = "When it last opened a request; null if never."),
	FIELD(ApiKeyCreated, expires_at, .need = true, .nullable = true, .example = "null",
		.doc = "When it stops working; null for never."),
	FIELD(ApiKeyCreated, scopes, .item = TEXT, .example = "[\"agent:read\",\"session:read\"]",
		.doc = "Permissions the key is cut down to."),
	FIELD(ApiKeyCreated, key, .need = true, .example = "\"lodge_key_example\"",
		.doc = "Send it as a bearer token. Store it now: it is shown this once."),
};
SCHEMA(ApiKeyCreated, .doc = "A new key, with the only sight of its value.");

const struct schema *const keys_schemas[] = {
	&ApiKeyCreate_schema,
	&ApiKeyRead_schema,
	&ApiKeyCreated_schema,
	NULL,
};
