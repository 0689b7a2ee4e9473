/* crypto.h - the few cryptographic acts the service performs, each in one call.
 *
 * Hashes and HMAC come from OpenSSL, passwords and sealing from libsodium.
 * Nothing here decides what is secret; it only keeps it. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHA256_LEN 32
#define SEAL_KEY_LEN 32
#define SEAL_EXTRA 40 /* nonce and tag */
#define PASSWORD_HASH_MAX 128

/* Once, before any thread; false if a library will not start. */
bool crypto_init(void);

void random_bytes(void *out, size_t n);
/* For hash tables: nobody outside can choose texts that meet. */
uint64_t keyed_hash(const void *bytes, size_t n);
void sha256(const void *bytes, size_t n, uint8_t out[SHA256_LEN]);
/* The same over bytes that come one after the other; end() frees it and may be given NULL to write to. */
struct sha256_run;
struct sha256_run *sha256_begin(void);
void sha256_add(struct sha256_run *r, const void *bytes, size_t n);
void sha256_end(struct sha256_run *r, uint8_t *out);
void hmac_sha256(
	const void *key, size_t key_len, const void *bytes, size_t n, uint8_t out[SHA256_LEN]);
/* In constant time for equal lengths. */
bool same_bytes(const void *a, size_t a_len, const void *b, size_t b_len);
void wipe(void *bytes, size_t n);

/* out has room for 2 * n + 1. */
void hex_write(const void *bytes, size_t n, char *out);
bool hex_read(const char *text, size_t len, void *out, size_t n);

/* out has room for n + SEAL_EXTRA; context binds the sealed bytes to their place. */
void seal(const uint8_t key[SEAL_KEY_LEN], const char *context, const void *bytes, size_t n,
	uint8_t *out);
/* out has room for n - SEAL_EXTRA; false if the bytes were not sealed with this key and context. */
bool unseal(const uint8_t key[SEAL_KEY_LEN], const char *context, const uint8_t *sealed, size_t n,
	void *out);

/* Characters of a new password, wherever it is set. */
enum { PASSWORD_MIN = 8, PASSWORD_MAX = 1024 };

/* Argon2id; takes tens of milliseconds and 32 MiB: never on a loop.  Four are made at once at most, others
 * wait for them. */
bool password_hash(const char *password, size_t len, char out[PASSWORD_HASH_MAX]);
bool password_matches(const char *hash, const char *password, size_t len);

/* A credential: prefix, 40 random base-62 digits, 6 of checksum. */
#define TOKEN_MAX 64
void token_new(const char *prefix, char out[TOKEN_MAX]);
/* True if text has the shape and the checksum of a credential with this prefix. */
bool token_valid(const char *prefix, const char *text, size_t len);
