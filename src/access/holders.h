/* holders.h - which processes hold which master keys, and the key that is in force.
 *
 * The store holds a mark that only the key in force opens, and a row for every
 * process that seals: which keys it knows, with which one it seals, what is
 * wrong there.  A process writes its row in the transaction that reads the mark,
 * and what it read counts for HOLDER_LEASE_MS: then it seals nothing until the
 * next.  So whoever changes the mark, and then finds that every row follows it
 * or has not changed for longer than that, knows that nothing more is sealed
 * with the former key.  Clocks of different machines are never compared. */
#pragma once
#include "access/vault.h"
#include "base/id.h"
#include "store/store.h"

enum {
	HOLDER_HEARTBEAT_MS = 5000,
	HOLDER_LEASE_MS = 30000,
	HOLDER_DEAD_MS = 40000,
	HOLDER_NAME = 100
};

struct holder {
	struct vault *vault;
	char id[ID_LEN + 1];
	char name[HOLDER_NAME]; /* process and machine, for people */
};

struct holder_row {
	const char *id, *name;
	const char *sealing, *knows; /* names of keys */
	const char *fault;	     /* or "" */
	int64_t beat;		     /* another one with each sign of life */
	int64_t seen_at;
};

/* A sign of life, in one transaction of its own, and the mark followed. */
int holder_join(struct db *db, struct arena *a, struct holder *h, struct vault *vault);
/* It seals nothing more. */
void holder_leave(struct db *db, struct holder *h);

/* Gives signs of life again and again, as work for the store. */
struct keeper;
struct keeper *keeper_new(struct store *s, const struct holder *h);
/* Gives one if it is due, or something has changed.  Never waits. */
void keeper_wake(struct keeper *k);
/* After store_stop(). */
void keeper_free(struct keeper *k);

/* In a transaction that writes: with the mark, all that give signs of life. */
int holders_list(struct db *db, struct arena *a, struct list *ret);
int holder_forget(struct db *db, const struct holder_row *row);

/* The mark; NULL if the store has none yet. */
int key_mark_read(struct db *db, struct arena *a, const char **ret);
int key_mark_make(struct db *db, struct arena *a, const uint8_t key[VAULT_KEY_LEN]);
int key_mark_replace(struct db *db, struct arena *a, const uint8_t key[VAULT_KEY_LEN]);

/* The store's own time, and how many transactions of its user that began until then are still open.  On SQLite, where
 * whoever writes is alone, there are none. */
int store_now(struct db *db, int64_t *ret_us);
int store_open_since(struct db *db, int64_t us, int64_t *ret);

/* The name of the key that is being put in force, from the first step to the last; NULL: none is. */
int key_change_read(struct db *db, struct arena *a, const char **ret);
/* ERR_DUPLICATE if one is. */
int key_change_begin(struct db *db, const char *name);
int key_change_end(struct db *db);

extern const struct statement_set holders_sql;
