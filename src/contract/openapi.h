/* openapi.h - the published document, written from the tables that the service runs on.
 *
 * OpenAPI 3.1.0 with schemas in JSON Schema 2020-12.  Beyond the standard:
 * x-permission, x-permission-also and x-audit on operations; on fields x-max (a ceiling of ours
 * where the contract states none: bytes of text and JSON, items of lists,
 * value of numbers) and x-default (used when absent where the contract is
 * silent); on items of lists x-enum (what is taken where the contract says only
 * that it is text); on streams x-events (each event by its name: what it tells, and the schema of its
 * data).  The same tables give the same bytes. */
#pragma once
#include "base/buf.h"
#include "contract/route.h"

struct contract_parts {
	const struct resource *const *resources;
	size_t count;
	const char *version;				/* of the program */
	const char *public_url;				/* without a slash at its end */
	const char *cookie;				/* name of the console's cookie */
	const char *(*permission_name)(int permission); /* NULL for a number that is none */
	int permission_public;				/* of routes that ask for no credential */
};

/* The JSON Schema of an object that callers send, by itself.  Its fields have no types with names of their own. */
void openapi_object(struct buf *out, const struct schema *s);

/* The tables must have passed contract_lint(). */
void openapi_write(struct buf *out, const struct contract_parts *parts);
