/* audit_chain_break.h - the audit log's chain after its key was lost.
 *
 * With the master key goes the key of the chain, and nobody can prove any more
 * what was sealed with it.  The chain then goes on with a new key from where it
 * was, and the store says so: up to which row nothing is proven, and when that
 * was decided, with a mac of the new key, so that nobody without it can declare
 * a break to hide what he changed. */
#pragma once
#include "access/audit_chain.h"
#include "access/vault.h"

struct chain_break {
	int64_t seq; /* the last row of which the seal is not proven; 0: there was no break */
	int64_t at;
};

/* Inside a transaction: a new key for the chain, sealed with the vault's, and the break. */
int chain_break_make(struct db *db, struct arena *a, struct vault *vault, int64_t now);
/* ERR_CONFLICT if what is there was not written with the key. */
int chain_break_read(
	struct db *db, struct arena *a, const uint8_t key[CHAIN_KEY_LEN], struct chain_break *ret);

extern const struct statement_set chain_break_sql;
