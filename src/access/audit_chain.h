/* audit_chain.h - proof that the audit log is as it was written.
 *
 * After the commits, at most a second later, the chain's writer gives each audit row
 * the next number of one chain and a mac that covers the row and the mac
 * before it.  Whoever changes, removes, adds or moves a sealed row without
 * the master key breaks the chain, and `lodge check --audit` names the place.
 * What is personal enters the chain only as a salted digest, so that it can
 * be erased and the chain still holds; who erases leaves a mac of its own, so
 * that nobody else can pass a row off as erased.
 *
 * What the chain cannot show: a row that was removed or added before it was
 * sealed, and a store put back whole to an earlier state, by a restored copy
 * as by an intruder.  A restored store goes on from the end it holds; compare
 * that end with one noted elsewhere to learn what is missing. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "store/store.h"

enum { CHAIN_KEY_LEN = 32, CHAIN_BATCH = 200 };
/* What the vault binds the chain's key to. */
#define CHAIN_KEY_CONTEXT "audit chain key"

/* The key of a store's first chain; the store keeps it sealed, so that the master key can change. */
void chain_first_key(const uint8_t master_key[CHAIN_KEY_LEN], uint8_t ret[CHAIN_KEY_LEN]);

/* Seals up to CHAIN_BATCH rows, inside a transaction that has done nothing yet.  None if another
 * process is at it.  ERR_CONFLICT with a sentence in p if the chain was tampered with. */
int chain_extend(struct db *db, struct arena *a, const uint8_t key[CHAIN_KEY_LEN],
	int64_t *ret_sealed, struct problem *p);

/* Does that again and again, as work for the store. */
struct chain_writer;
struct chain_writer *chain_writer_new(struct store *s, const uint8_t key[CHAIN_KEY_LEN]);
/* Has rows sealed until none is left, unless that is under way.  Never waits. */
void chain_writer_wake(struct chain_writer *s);
/* After store_stop(). */
void chain_writer_free(struct chain_writer *s);

/* Erasing: with whose key, and when. */
struct audit_eraser {
	struct db *db;
	struct arena *arena;
	const uint8_t *key;
	int64_t now;
};

/* Erases what is personal in up to CHAIN_BATCH entries of a user (in one tenant, or with NULL where
 * there is none), or in one entry; those that are erased stay as they are.  0 when none is left. */
int audit_erase_user(const struct audit_eraser *e, const char *tenant_id, const char *user_id,
	int64_t *ret_erased);
int audit_erase_row(const struct audit_eraser *e, const char *id, int64_t *ret_erased);
/* The same over a tenant's entries in turn: looks at CHAIN_BATCH after the id *at ("" at first), which
 * becomes the last one seen, or NULL when all were. */
int audit_erase_tenant(
	const struct audit_eraser *e, const char *tenant_id, const char **at, int64_t *ret_erased);

struct chain_report {
	int64_t sealed, erased, waiting;
	const char *end; /* number and mac of the last row, to be noted elsewhere */
	/* The first thing that is wrong, or NULL: what, and the row it was found at. */
	const char *fault, *id;
	int64_t seq;
};

/* Walks the chain to its end, in transactions of its own and in bounded memory; the report's texts
 * are in a.  An error means that it could not be read, not that it is broken. */
int chain_check(
	struct db *db, struct arena *a, const uint8_t key[CHAIN_KEY_LEN], struct chain_report *ret);

extern const struct statement_set chain_sql, chain_check_sql;
