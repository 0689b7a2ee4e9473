/* repo_moved.h - repositories of our own that stand elsewhere than their rows say: of pushes that the process did not live to note. */
#pragma once
#include "repos/repo.h"

/* Looks at so many, the next time at others, and calls `over` at the end of it; on threads of the pool and of the store.  Does not
 * wait.  What is younger than a minute is left to whoever is about to note it. */
void repo_moved_submit(struct repos *r, struct store *store, struct pool *pool, int64_t now,
	void (*over)(struct repos *r));
extern const struct statement_set repo_moved_sql;
