/* master_key.h - the key that seals secrets at rest, proven to be this store's before anything is served. */
#pragma once
#include "access/vault.h"
#include "store/store.h"

/* Reads the keys and holds them against the store's mark: the one in force comes first.  The key and the mark are
 * made where neither is there. */
int master_key_load(struct vault_keys *keys, const char *path, struct db *db, struct arena *a,
	struct problem *p);

/* A connection, and the keys that are proven to be its store's; none if the store has none yet. */
int master_key_connect(const char *path, struct store *store, struct db **ret_db,
	struct vault_keys *keys, struct arena *a, struct problem *p);

/* Whoever changes the file is alone: a lock on its folder, because the file itself is replaced.  The system drops
 * it with the process. */
int master_key_lock(const char *path, struct arena *a, struct problem *p, int *ret_fd);

/* The key that comes next, kept beside the file from before anybody hears of it until all is done: a run that was
 * interrupted anywhere goes on with the key it had begun with.  With `make`, it is made where there is none. */
int master_key_next(const char *path, bool make, uint8_t ret[VAULT_KEY_LEN], struct arena *a,
	struct problem *p);
void master_key_next_done(const char *path, struct arena *a);
