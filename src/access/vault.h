/* vault.h - secrets at rest: sealed with the master key, opened with it or with one it replaced.
 *
 * A sealed text names its key, so that `lodge rekey` can change the key while
 * the service runs.  The key file holds the keys that are known, in any order.
 * Which of them seals is said by the store: it holds a mark that only one key
 * opens.  A process follows the mark (see holders.h), and where it cannot it
 * has a fault, and seals nothing: what it would seal could be lost. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "access/sealed.h"
#include "base/arena.h"
#include "base/error.h"

enum { VAULT_KEYS = 4, VAULT_KEY_LEN = 32, VAULT_NAME_LEN = 8 };
enum { VAULT_NAMES_LEN = VAULT_KEYS * (VAULT_NAME_LEN + 1), VAULT_FAULT_LEN = 160 };

struct vault_keys {
	size_t count;
	uint8_t key[VAULT_KEYS][VAULT_KEY_LEN];
};

/* Reads a key file: a line of 64 hexadecimal digits for each key.  ERR_NOT_FOUND if there is none. */
int vault_read(struct vault_keys *ret, const char *path, struct arena *a, struct problem *p);
/* Writes one, whole or not at all, and durably.  With `replace`, in the place of the one that is there, with its
 * owner, group and mode (one writer at a time); else ERR_RETRY if there is one already. */
int vault_write(const struct vault_keys *keys, const char *path, bool replace, struct arena *a,
	struct problem *p);
/* The name under which a key's seals go, with its terminator. */
void vault_name(const uint8_t key[VAULT_KEY_LEN], char out[VAULT_NAME_LEN + 1]);
/* Where among the keys one of that name is, or -1. */
int vault_find(const struct vault_keys *keys, const char *name);

/* A few known bytes, sealed: they open only with the right key. */
const char *vault_mark(struct arena *a, const uint8_t key[VAULT_KEY_LEN]);
/* Which of the keys opens the mark, or -1. */
int vault_marked(const struct vault_keys *keys, const char *mark);

struct vault;

/* The path is where to look again; NULL: nowhere.  The first key seals, until a mark is followed. */
struct vault *vault_new(const struct vault_keys *keys, const char *path);
void vault_free(struct vault *v);
/* Looks whether the key file has changed, and takes it in. */
void vault_refresh(struct vault *v);
/* Seals with the key that opens the mark from now on.  False, and a fault, if none does. */
bool vault_follow(struct vault *v, const char *mark);
/* Until when that counts, in milliseconds of the monotonic clock. */
void vault_lease(struct vault *v, int64_t until_ms);
/* Why nothing is sealed here, without the name of a file; false if all is well. */
bool vault_fault(struct vault *v, char out[VAULT_FAULT_LEN]);
/* The names of all keys that are known, each with a blank after it. */
void vault_names(struct vault *v, char out[VAULT_NAMES_LEN + 1]);
/* The name of the one that seals. */
void vault_sealing(struct vault *v, char out[VAULT_NAME_LEN + 1]);

/* From any thread, and inside the transaction that stores it: `lodge rekey` waits for transactions, not for texts
 * under way.  The context binds the text to its row.  NULL while there is a fault: ERR_KEY for the caller. */
const char *vault_seal(struct vault *v, struct arena *a, enum sealed_place place,
	const char *context, const void *bytes, size_t n);
/* NULL if it was not sealed here with a key that is known: ERR_SECRET for the caller. */
void *vault_open(
	struct vault *v, struct arena *a, const char *context, const char *text, size_t *ret_n);
/* The same for what was text: NUL-terminated. */
const char *vault_open_text(
	struct vault *v, struct arena *a, const char *context, const char *text);
