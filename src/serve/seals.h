/* seals.h - see seals.c. */
#pragma once
#include "access/vault.h"
#include "store/store.h"

/* Opens every sealed text; prints those that do not open, and returns ERR_CONFLICT if there are any. */
int seals_check(struct db *db, const struct vault_keys *keys, struct arena *a, struct problem *p);
