/* lint_schema.h - for lint.c alone: what the files of the lint share. */
#pragma once
#include "contract/types.h"

struct lint {
	struct arena *arena;
	const struct resource *const *resources;
	size_t count;
	const char *(*permission_name)(int permission);
	struct types types;
	const char *sentence;
};

/* Keeps the first sentence; false, so that a rule can end with it. */
bool lint_bad(struct lint *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Every rule on schemas, fields and words. */
bool lint_schemas(struct lint *l);
/* Every rule on streams of events; the routes are known to be sound. */
bool lint_events(struct lint *l);
