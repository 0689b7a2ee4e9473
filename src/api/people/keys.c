/* keys.c - API keys: programs acting as the member who made them, cut down to scopes. */
#include "api/people/keys.h"

#include <string.h>

#include "access/permission.h"
#include "base/crypto.h"
#include "call/operation.h"
#include "contract/value.h"
#include "store/listing.h"

/* The contract bounds no name from below; one that says nothing is refused all the same. */
static const char *check_name(const char *text)
{
	return text[strspn(text, " \t\r\n")] ? NULL : "must not be blank";
}

#define SCOPES_SHOWN                                                                              \
	.item = TEXT, .words = &permission_words, .left_out = true,                               \
	.example = "[\"agent:read\",\"session:read\"]",                                           \
	.doc = "Permissions the key is cut down to: an empty list for none. The field is absent " \
	       "for a key that is not cut down: it may all that its owner may, but "              \
	       "session:approve."

FIELDS(ApiKeyCreate) = {
	FIELD(ApiKeyCreate, name, .required = true, .check = check_name,
		.example = "\"nightly report\"",
		.doc = "What the key is for, so that it can be told from others."),
	FIELD(ApiKeyCreate, scopes, .item = TEXT, .words = &permission_words,
		.example = "[\"agent:read\",\"session:read\"]",
		.doc = "Permissions the key is cut down to; absent for all of yours but "
		       "session:approve, which a key has only where it is named; an empty list "
		       "for none. A key that is made with a key has at most the scopes of that "
		       "one."),
	FIELD(ApiKeyCreate, expires_at, .nullable = true, .example = "\"2027-01-31T00:00:00.000Z\"",
		.doc = "When it stops working; null or absent for never, or, where it is made "
		       "with a key, for the end of that one, which is also the latest."),
};
SCHEMA(ApiKeyCreate, .doc = "A key that acts as you, within this tenant.");

FIELDS(ApiKeyRead) = {
	FIELD(ApiKeyRead, id, .required = true, .id = true,
		.doc = "The key's entry; delete it to revoke the key."),
	FIELD(ApiKeyRead, name, .required = true, .example = "\"nightly report\"",
		.doc = "What the key is for."),
	FIELD(ApiKeyRead, created_at, .required = true, .doc = "When it was made."),
	FIELD(ApiKeyRead, last_used_at, .required = true, .nullable = true,
		.doc = "When it last opened a request; null if never."),
	FIELD(ApiKeyRead, expires_at, .required = true, .nullable = true, .example = "null",
		.doc = "When it stops working; null for never."),
	FIELD(ApiKeyRead, scopes, SCOPES_SHOWN),
};
SCHEMA(ApiKeyRead, .doc = "A key as it is listed; the key itself is never shown again.");

FIELDS(ApiKeyOwnerRead) = {
	FIELD(ApiKeyOwnerRead, id, .required = true, .id = true, .doc = "The key's entry."),
	FIELD(ApiKeyOwnerRead, user_id, .required = true, .id = true, .doc = "Whom it acts as."),
	FIELD(ApiKeyOwnerRead, email, .required = true, .example = "\"ada@example.org\"",
		.doc = "Their address."),
	FIELD(ApiKeyOwnerRead, name, .required = true, .nullable = true,
		.example = "\"Ada Example\"", .doc = "Their name."),
};
SCHEMA(ApiKeyOwnerRead, .doc = "Whose a key is.");

FIELDS(ApiKeyCreated) = {
	FIELD(ApiKeyCreated, id, .required = true, .id = true,
		.doc = "The key's entry; delete it to revoke the key."),
	FIELD(ApiKeyCreated, name, .required = true, .example = "\"nightly report\"",
		.doc = "What the key is for."),
	FIELD(ApiKeyCreated, created_at, .required = true, .doc = "When it was made."),
	FIELD(ApiKeyCreated, last_used_at, .required = true, .nullable = true, .example = "null",
		.doc = "When it last opened a request; null if never."),
	FIELD(ApiKeyCreated, expires_at, .required = true, .nullable = true, .example = "null",
		.doc = "When it stops working; null for never."),
	FIELD(ApiKeyCreated, scopes, SCOPES_SHOWN),
	FIELD(ApiKeyCreated, key, .required = true, .example = "\"lodge_key_example\"",
		.doc = "Send it as a bearer token. Store it now: it is shown this once."),
};
SCHEMA(ApiKeyCreated, .doc = "A new key, with the only sight of its value.");

struct key_row {
	const char *tenant_id, *id, *user_id, *name, *hash, *made_with_id;
	struct list scopes;
	struct moment created_at, expires_at, last_used_at;
};

FIELDS(key_row) = {
	FIELD(key_row, tenant_id),
	FIELD(key_row, id),
	FIELD(key_row, user_id),
	FIELD(key_row, name),
	FIELD(key_row, hash),
	FIELD(key_row, made_with_id, .nullable = true),
	FIELD(key_row, scopes, .item = TEXT, .nullable = true),
	FIELD(key_row, created_at),
	FIELD(key_row, expires_at, .nullable = true),
	FIELD(key_row, last_used_at, .nullable = true),
};
static SCHEMA(key_row, .internal = true);

/* $1 tenant, $2 1 if the caller may see everybody's, $3 user */
#define LIST_WHERE "k.tenant_id = $1 and ($2 = 1 or k.user_id = $3)"
#define LIST_FROM "api_keys k where " LIST_WHERE
#define OWNERS_FROM "api_keys k join users u on u.id = k.user_id where " LIST_WHERE

enum { LIST_OF(KEY_LIST), LIST_OF(OWNER_LIST), KEY_INSERT, KEY_OWNER, KEY_REMOVE };

static const struct statement sql[] = {
	LISTING(KEY_LIST, "key_list", &ApiKeyRead_schema, "{k.*}", LIST_FROM, "k.id"),
	LISTING(OWNER_LIST, "key_owner_list", &ApiKeyOwnerRead_schema,
		"k.id, k.user_id, u.email, u.name", OWNERS_FROM, "k.id"),
	[KEY_INSERT] = { "key_insert", "insert into api_keys ({*}) values ({$})",
		.row = &key_row_schema },
	[KEY_OWNER] = { "key_owner",
		"select user_id as value from api_keys where tenant_id = $1 and id = $2",
		.row = &one_text_schema },
	/* With those that were made with it, and with those. */
	[KEY_REMOVE] = { "key_remove",
		"with recursive gone (id) as (select k.id from api_keys k where k.tenant_id = $1 "
		"and k.id = $2 and ($3 = 1 or k.user_id = $4) union select m.id from gone g "
		"join api_keys m on m.tenant_id = $1 and m.made_with_id = g.id) "
		"delete from api_keys where tenant_id = $1 and id in (select g.id from gone g)",
		.scan = "the keys found, which are few" },
};
STATEMENT_SET(key_sql, sql);

static bool sees_all(const struct call *c)
{
	return c->caller.tenant >> PERM_APIKEYS_WRITE & 1;
}

LIST_OPERATION(listApiKeys, NONE, ApiKeyRead)
{
	return call_list(c, &sql[KEY_LIST],
		ARGS(T(c->caller.tenant_id), N(sees_all(c)), T(c->caller.user_id)));
}

LIST_OPERATION(listApiKeyOwners, NONE, ApiKeyOwnerRead)
{
	return call_list(c, &sql[OWNER_LIST],
		ARGS(T(c->caller.tenant_id), N(sees_all(c)), T(c->caller.user_id)));
}

/* Every scope must be a permission, and none that the key in use does not have itself. */
static int check_scopes(struct call *c, const struct list *scopes)
{
	const char *const *names = scopes->at;

	for (size_t i = 0; i < scopes->count; i++) {
		const char *field = arena_printf(c->arena, "scopes[%zu]", i);
		int permission = permission_by_name(names[i]);

		if (!permission)
			call_field(c, field, "choice", "must be one of: %s",
				words_listed(c->arena, &permission_words));
		else if (!caller_cut(&c->caller, UINT64_C(1) << permission))
			call_field(c, field, "beyond", "is not among the scopes of the key in use");
	}
	return c->problem.err;
}

/* A key does not outlive the one that made it, so that what was lent for a day is not kept; nor does it outlive
 * its revocation. */
static void check_key_end(struct call *c, struct moment *expires_at)
{
	int64_t most = c->caller.kind == CREDENTIAL_KEY ? c->caller.expires_at : NIL;

	if (expires_at->us == NIL)
		expires_at->us = most;
	else if (expires_at->us <= c->now)
		call_field(c, "expires_at", "past", "must lie in the future");
	else if (most != NIL && expires_at->us > most)
		call_field(c, "expires_at", "beyond", "is later than the end of the key in use");
}

/* The scopes of the key in use, as a list. */
static struct list own_scopes(struct call *c)
{
	const char **names = arena_array(c->arena, const char *, PERM_COUNT);
	struct list list = { .at = names };

	for (int p = PERM_NONE + 1; p < PERM_COUNT; p++)
		if (c->caller.scopes >> p & 1)
			names[list.count++] = permission_name(p);
	return list;
}

CHECK_STEP(createApiKey, ApiKeyCreate)
{
	struct moment expires_at = in->expires_at;

	check_scopes(c, &in->scopes);
	check_key_end(c, &expires_at);
}

OPERATION(createApiKey, ApiKeyCreate, ApiKeyCreated, .check = createApiKey_check)
{
	struct key_row row = { .tenant_id = c->caller.tenant_id,
		.user_id = c->caller.user_id,
		.name = in->name,
		.made_with_id = c->caller.kind == CREDENTIAL_KEY ? c->caller.key_id : NULL,
		.scopes = in->scopes,
		.expires_at = in->expires_at,
		.last_used_at = { NIL } };
	char token[TOKEN_MAX], hash[65];
	struct id id = id_new(&row.created_at.us);
	int err;

	check_scopes(c, &in->scopes);
	check_key_end(c, &row.expires_at);
	if (c->problem.err)
		return c->problem.err;
	if (c->caller.role < 0)
		return call_fail(c, ERR_CONFLICT,
			"A key acts as a member, and you are not one of this tenant.");
	if (!in->scopes.at && c->caller.scoped)
		row.scopes = own_scopes(c);
	token_new(TOKEN_KEY, token);
	credential_hash(token, hash);
	row.id = arena_strdup(c->arena, id.text);
	row.hash = hash;
	err = db_put(c->db, &sql[KEY_INSERT], &row);
	schema_copy(&key_row_schema, &row, &ApiKeyCreated_schema, out);
	out->key = arena_strdup(c->arena, token);
	c->audit.owner_id = row.user_id;
	return err;
}

OPERATION(revokeApiKey, NONE, NONE)
{
	int64_t removed = 0;
	const char *id = call_param(c, "id");
	struct one_text owner = { 0 };
	int err = db_one(
		c->db, c->arena, &sql[KEY_OWNER], &owner, ARGS(T(c->caller.tenant_id), T(id)));

	if (!err)
		err = db_run(c->db, &sql[KEY_REMOVE], &removed,
			ARGS(T(c->caller.tenant_id), T(id), N(sees_all(c)), T(c->caller.user_id)));
	if (err == ERR_NOT_FOUND || (!err && !removed))
		return call_fail(c, ERR_NOT_FOUND, "There is no such key.");
	c->audit.owner_id = owner.value;
	return err;
}

static const struct route routes[] = {
	{ METHOD_GET, "/tenant/{tenant_id}/api-keys", &listApiKeys, PERM_APIKEYS_OWN, 200,
		.tag = "API keys",
		.doc = "List the caller's keys, or with apikeys:write everybody's." },
	{ METHOD_GET, "/tenant/{tenant_id}/api-key-owners", &listApiKeyOwners, PERM_APIKEYS_OWN,
		200, .tag = "API keys", .doc = "Whose the keys are that the list of keys shows." },
	{ METHOD_POST, "/tenant/{tenant_id}/api-keys", &createApiKey, PERM_APIKEYS_OWN, 201,
		"api_key.create", .tag = "API keys",
		.doc = "Create a key that acts as the caller; its value is shown this once." },
	{ METHOD_DELETE, "/tenant/{tenant_id}/api-keys/{id}", &revokeApiKey, PERM_APIKEYS_OWN, 204,
		"api_key.revoke", .tag = "API keys",
		.doc = "Revoke a key and those that were made with it, at once and everywhere." },
};
RESOURCE(keys, routes, NULL, &key_sql);
