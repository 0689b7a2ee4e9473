/* keys_schemas.c - the tables for API keys. */
#include "api/people/keys.h"

#include <string.h>

#include "access/permission.h"

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

const struct schema *const keys_schemas[] = {
	&ApiKeyCreate_schema,
	&ApiKeyRead_schema,
	&ApiKeyCreated_schema,
	NULL,
};
