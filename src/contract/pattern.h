/* pattern.h - the patterns of the tables, compiled once at start-up and matched from any thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "contract/schema.h"

struct patterns;

/* Compiles every pattern of the schemas (and of those they refer to); *ret_bad names one that
 * does not compile, and then the answer is NULL. */
struct patterns *patterns_new(
	const struct schema *const *schemas, size_t count, const char **ret_bad);
void patterns_free(struct patterns *p);
/* True if the whole text matches; without patterns (p is NULL: a preset, which lint has tried) always. */
bool patterns_match(const struct patterns *p, const char *pattern, const char *text, size_t len);
