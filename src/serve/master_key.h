/* master_key.h - the key that seals secrets at rest, proven to be this store's before anything is served. */
#pragma once
#include "access/vault.h"
#include "store/store.h"

/* Reads the keys and proves that one of them is this store's.  On a store that has none yet the file
 * is made; on one that has, a missing or wrong key is an error and nothing is touched. */
int master_key_load(struct vault_keys *keys, const char *path, struct db *db, struct arena *a,
	struct problem *p);
