/* keys.h - API keys. */
#pragma once
#include "contract/schema.h"

struct ApiKeyCreate {
	const char *name;
	struct list scopes;
	struct moment expires_at;
};
SCHEMA_DECLARED(ApiKeyCreate);

struct ApiKeyRead {
	const char *id, *name;
	struct moment created_at, last_used_at, expires_at;
	struct list scopes;
};
SCHEMA_DECLARED(ApiKeyRead);

struct ApiKeyOwnerRead {
	const char *id, *user_id, *email, *name;
};
SCHEMA_DECLARED(ApiKeyOwnerRead);

struct ApiKeyCreated {
	const char *id, *name;
	struct moment created_at, last_used_at, expires_at;
	struct list scopes;
	const char *key;
};
SCHEMA_DECLARED(ApiKeyCreated);
