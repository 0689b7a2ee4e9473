/* vault.h - secrets at rest: sealed with the master key, opened with it or with one it replaced.
 *
 * A sealed text names its key, so that `lodge rekey` can change the key while
 * the service runs: the key file then holds the new key first and the former
 * ones behind it, every process reads the file again when it meets a name it
 * does not know, and what is sealed with a former key is sealed anew. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

enum { VAULT_KEYS = 4, VAULT_KEY_LEN = 32, VAULT_NAME_LEN = 8 };

struct vault_keys {
	size_t count;
	uint8_t key[VAULT_KEYS][VAULT_KEY_LEN]; /* the one that seals comes first */
};

/* Reads a key file: a line of 64 hexadecimal digits for each key.  ERR_NOT_FOUND if there is none. */
int vault_read(struct vault_keys *ret, const char *path, struct arena *a, struct problem *p);
/* Writes one, whole or not at all.  `replace` or ERR_RETRY if there is one already. */
int vault_write(const struct vault_keys *keys, const char *path, bool replace, struct arena *a,
	struct problem *p);
/* The name under which a key's seals go, with its terminator. */
void vault_name(const uint8_t key[VAULT_KEY_LEN], char out[VAULT_NAME_LEN + 1]);

struct vault;

/* The path is where to look again; NULL: nowhere. */
struct vault *vault_new(const struct vault_keys *keys, const char *path);
void vault_free(struct vault *v);
/* Looks whether the key file has changed, and takes it in. */
void vault_refresh(struct vault *v);

/* From any thread.  The context binds the text to its place. */
const char *vault_seal(
	struct vault *v, struct arena *a, const char *context, const void *bytes, size_t n);
/* NULL if it was not sealed here with a key that is known. */
void *vault_open(
	struct vault *v, struct arena *a, const char *context, const char *text, size_t *ret_n);
/* The same for what was text: NUL-terminated. */
const char *vault_open_text(
	struct vault *v, struct arena *a, const char *context, const char *text);
