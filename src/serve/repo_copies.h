/* repo_copies.h - what `lodge backup`, `restore` and `check` do about the repositories of agents. */
#pragma once
#include "serve/settings.h"
#include "store/store.h"

/* From before the rows are copied on, until repo_backup_end(): nothing is removed or put in order.  *ret_lock may be -1: there
 * are none. */
int repo_backup_begin(const struct settings *s, int *ret_lock, struct arena *a, struct problem *p);
/* Copies them beside the copy of the store, FILE.repositories. */
int repo_backup(const struct settings *s, const char *file, struct arena *a, struct problem *p);
void repo_backup_end(int lock);
/* Puts them back, where there is such a folder. */
int repo_restore(const struct settings *s, const char *file, struct arena *a, struct problem *p);
/* With `links` what is in them too, with `objects` all of it. */
int repo_check_place(const struct settings *s, struct store *store, bool links, bool objects,
	struct arena *a, struct problem *p);
