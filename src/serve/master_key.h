/* master_key.h - the key that seals secrets at rest: a file of 64 hex digits, readable by its owner only. */
#pragma once
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "store/store.h"

/* Reads the key and proves that it is this store's.  On a store that has none yet the file is made;
 * on one that has, a missing or wrong key is an error and nothing is touched. */
int master_key_load(
	uint8_t key[32], const char *path, struct db *db, struct arena *a, struct problem *p);
