/* beside.h - a copy of the store made or put back together with what belongs to it and is not in it. */
#pragma once
#include "store/store.h"

/* Run once the rows are on the disk and before the copy has its name, or (of a restore) once the copy is proven and before it is in
 * the store's place.  What it fails with ends the whole. */
struct store_beside {
	int (*run)(void *ctx, struct db *copy, int64_t version, struct arena *a, struct problem *p);
	void *ctx;
};
/* As store_backup(); `copy` is NULL there, and `version` 0. */
int store_backup_with(struct store *s, const char *path, const struct store_beside *beside,
	struct arena *a, struct problem *p);
/* Puts such a copy in the place of an SQLite store (`where` is sqlite:PATH) that nobody serves, after proving
 * it; the former store is kept under *ret_kept, NULL if there was none. */
int store_restore(const char *where, const char *file, const struct store_beside *beside,
	const char **ret_kept, struct arena *a, struct problem *p);
