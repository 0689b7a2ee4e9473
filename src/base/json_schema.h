/* json_schema.h - what a tool may be called with: a subset of JSON Schema 2020-12.
 *
 * A schema is compiled once, and refused with every keyword that is not known
 * here: what is not checked must not look as if it were.  An instance is then
 * held against it, and every violation is named with its place.  The subset:
 *
 *   type enum const                        properties required additionalProperties
 *   minimum maximum exclusiveMinimum       patternProperties propertyNames minProperties
 *   exclusiveMaximum multipleOf            maxProperties dependentRequired dependentSchemas
 *   minLength maxLength pattern            items prefixItems contains minContains
 *   allOf anyOf oneOf not if then else     maxContains minItems maxItems uniqueItems
 *   $ref (#, #/...) $defs definitions      true and false in place of a schema
 *
 * Without effect: title description default examples deprecated readOnly
 * writeOnly format contentEncoding contentMediaType $comment $schema, $id at
 * the top, and names that begin with x-.  Refused among others: $anchor,
 * $dynamicRef, references that leave the text, unevaluated*, and a reference
 * that leads back to itself without going deeper into the instance. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

enum {
	JSON_SCHEMA_TEXT_MAX = 64 * 1024, /* bytes of a schema */
	JSON_SCHEMA_RULES_MAX = 2048,	  /* schemas within a schema */
	JSON_SCHEMA_PATTERNS_MAX = 256,
	JSON_SCHEMA_PATTERN_MAX = 1024, /* bytes of a regular expression */
	JSON_SCHEMA_DEPTH_MAX = 256,	/* schemas within each other while an instance is checked */
	JSON_SCHEMA_STEPS_MAX = 10 * 1000 * 1000,
	JSON_SCHEMA_MS_MAX = 1000, /* for regular expressions, all together */
	JSON_VIOLATIONS_MAX = 32,
};

/* A place as a JSON pointer ("" is the whole), the keyword, and a sentence that goes on from the place. */
struct json_violation {
	const char *path, *keyword, *sentence;
};

struct json_violations {
	struct json_violation list[JSON_VIOLATIONS_MAX];
	size_t count, unlisted;
};

struct json_schema;

/* Lives as long as the arena.  NULL if it is refused; `faults` then says why, with places in the schema. */
struct json_schema *json_schema_compile(
	struct arena *a, const char *text, size_t len, struct json_violations *faults);
/* True if the instance satisfies the schema.  From any thread. */
bool json_schema_check(const struct json_schema *s, struct arena *a, const char *text, size_t len,
	struct json_violations *out);

/* The same for several that have so many steps together; what is left of them stays in *left. */
bool json_schema_check_within(const struct json_schema *s, struct arena *a, const char *text,
	size_t len, size_t *left, struct json_violations *out);

/* Whether `properties` at the top names it, and whether `type` at the top is this one alone. */
bool json_schema_has_property(const struct json_schema *s, const char *name, size_t len);
bool json_schema_is_type(const struct json_schema *s, const char *type);
