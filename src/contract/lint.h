/* lint.h - the tables are checked before anything is served from them.
 *
 * A table that compiles can still be wrong: a route without a permission, a
 * member without a row, a preset its own field would refuse.  The program
 * does not start with such a table; a test says so before it is built. */
#pragma once
#include "base/arena.h"
#include "contract/route.h"

/* 0, or ERR_INTERNAL with one sentence that names the culprit.  permission_name answers NULL for
 * a number that is no permission. */
int contract_lint(const struct resource *const *resources, size_t count,
	const char *(*permission_name)(int permission), struct arena *a, const char **ret_sentence);
