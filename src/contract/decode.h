/* decode.h - from text to structs through the tables: bodies, query strings, presets.
 *
 * Every offending field is listed in the problem, not only the first.
 * Malformed text is ERR_BAD_JSON (or ERR_MALFORMED) with its place; a value
 * that breaks the contract is ERR_INVALID, and null in the struct, so that the rest can be looked at.
 * Without patterns the text is one that was checked before: what stands in JSON members is not looked at. */
#pragma once
#include "base/arena.h"
#include "base/error.h"
#include "contract/pattern.h"
#include "contract/schema.h"

/* A decode that ignores members it does not know (the OpenAI-style routes, a provider's answers)
 * says so. */
enum unknown { UNKNOWN_REFUSED, UNKNOWN_IGNORED };

int decode_body(const struct patterns *patterns, struct arena *a, const struct schema *s,
	enum unknown unknown, const char *text, size_t len, void *object, struct problem *p);

/* The same for an object inside a body that the body's own table takes as it comes; `path` is its place
 * there.  The text is known to be JSON. */
int decode_part(const struct patterns *patterns, struct arena *a, const struct schema *s,
	const char *path, const char *text, void *object, struct problem *p);

/* One or more structs filled from one query string: each parameter belongs to the first that has it. */
struct query_target {
	const struct schema *schema;
	void *object;
};

int decode_query(const struct patterns *patterns, struct arena *a,
	const struct query_target *targets, size_t count, enum unknown unknown, const char *query,
	size_t len, struct problem *p);

/* Percent-decoding of a path segment or query part; NULL if an escape is broken, or the result
 * is not UTF-8 or holds a NUL. */
char *percent_decode(struct arena *a, const char *text, size_t len, bool plus_is_space);
