/* credential_cache.h - what was read about a credential, kept for as long as nobody has written anything.
 *
 * Inside a read transaction SQLite says whether any connection, of this
 * process or another, has committed since this one last looked.  While
 * nobody has, what was read then is what would be read now, so the row of a
 * credential need not be read again.  Where the engine cannot say so,
 * nothing is kept. */
#pragma once
#include "store/store.h"

/* The row as of the transaction under way, filled through its schema; false if it must be read. */
bool credential_cache_find(
	struct db *db, struct arena *a, const struct schema *s, const char *hash, void *row);
void credential_cache_keep(
	struct db *db, const struct schema *s, const char *hash, const void *row);
