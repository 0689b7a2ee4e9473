/* crypto.c - see crypto.h.  The digest is fetched once: looking it up by name on
 * every call costs more than hashing a short text.  HMAC is made of it here, for
 * OpenSSL's own looks itself up by name each time. */
#include "base/crypto.h"

#include <openssl/evp.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOKEN_RANDOM = 40, TOKEN_CHECK = 6 };
enum { ARGON_PASSES = 3, HMAC_BLOCK = 64, HASHING_MOST = 4 };
#define ARGON_MEMORY (32u * 1024 * 1024)

static EVP_MD *sha256_md;
static pthread_key_t sha256_ctx_key;
static unsigned char hash_key[crypto_shorthash_KEYBYTES];

/* Each hash of a password holds ARGON_MEMORY while it is made, so that only so many are made at once. */
static pthread_mutex_t hashing_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t hashing_room = PTHREAD_COND_INITIALIZER;
static int hashing;

static void ctx_free(void *ctx)
{
	EVP_MD_CTX_free(ctx);
}

bool crypto_init(void)
{
	if (sha256_md)
		return true;
	if (sodium_init() < 0 || pthread_key_create(&sha256_ctx_key, ctx_free))
		return false;
	crypto_shorthash_keygen(hash_key);
	sha256_md = EVP_MD_fetch(NULL, "SHA256", NULL);
	return sha256_md != NULL;
}

void random_bytes(void *out, size_t n)
{
	randombytes_buf(out, n);
}

uint64_t keyed_hash(const void *bytes, size_t n)
{
	uint64_t hash;

	_Static_assert(sizeof hash == crypto_shorthash_BYTES, "hash size");
	crypto_shorthash((unsigned char *)&hash, bytes, n, hash_key);
	return hash;
}

static void crypto_must(bool ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "lodge: %s failed\n", what);
		abort();
	}
}

static EVP_MD_CTX *own_ctx(void)
{
	EVP_MD_CTX *ctx = pthread_getspecific(sha256_ctx_key);

	if (!ctx) {
		ctx = EVP_MD_CTX_new();
		crypto_must(ctx && !pthread_setspecific(sha256_ctx_key, ctx), "EVP_MD_CTX_new");
	}
	return ctx;
}

void sha256(const void *bytes, size_t n, uint8_t out[SHA256_LEN])
{
	EVP_MD_CTX *ctx = own_ctx();

	crypto_must(EVP_DigestInit_ex2(ctx, sha256_md, NULL) && EVP_DigestUpdate(ctx, bytes, n) &&
			    EVP_DigestFinal_ex(ctx, out, NULL),
		"SHA-256");
}

struct sha256_run *sha256_begin(void)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();

	crypto_must(ctx && EVP_DigestInit_ex2(ctx, sha256_md, NULL), "SHA-256");
	return (struct sha256_run *)ctx;
}

void sha256_add(struct sha256_run *r, const void *bytes, size_t n)
{
	crypto_must(EVP_DigestUpdate((EVP_MD_CTX *)r, bytes, n), "SHA-256");
}

void sha256_end(struct sha256_run *r, uint8_t *out)
{
	if (r && out)
		crypto_must(EVP_DigestFinal_ex((EVP_MD_CTX *)r, out, NULL), "SHA-256");
	EVP_MD_CTX_free((EVP_MD_CTX *)r);
}

void hmac_sha256(
	const void *key, size_t key_len, const void *bytes, size_t n, uint8_t out[SHA256_LEN])
{
	uint8_t inner[HMAC_BLOCK] = { 0 }, outer[HMAC_BLOCK];
	EVP_MD_CTX *ctx = own_ctx();

	if (key_len > HMAC_BLOCK)
		sha256(key, key_len, inner);
	else if (key_len)
		memcpy(inner, key, key_len);
	for (int i = 0; i < HMAC_BLOCK; i++) {
		outer[i] = inner[i] ^ 0x5c;
		inner[i] ^= 0x36;
	}
	crypto_must(EVP_DigestInit_ex2(ctx, sha256_md, NULL) &&
			    EVP_DigestUpdate(ctx, inner, sizeof inner) &&
			    EVP_DigestUpdate(ctx, bytes, n) && EVP_DigestFinal_ex(ctx, out, NULL) &&
			    EVP_DigestInit_ex2(ctx, sha256_md, NULL) &&
			    EVP_DigestUpdate(ctx, outer, sizeof outer) &&
			    EVP_DigestUpdate(ctx, out, SHA256_LEN) &&
			    EVP_DigestFinal_ex(ctx, out, NULL),
		"HMAC-SHA-256");
	sodium_memzero(inner, sizeof inner);
	sodium_memzero(outer, sizeof outer);
}

bool same_bytes(const void *a, size_t a_len, const void *b, size_t b_len)
{
	return a_len == b_len && sodium_memcmp(a, b, a_len) == 0;
}

void wipe(void *bytes, size_t n)
{
	sodium_memzero(bytes, n);
}

void hex_write(const void *bytes, size_t n, char *out)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *b = bytes;

	for (size_t i = 0; i < n; i++) {
		out[2 * i] = digits[b[i] >> 4];
		out[2 * i + 1] = digits[b[i] & 15];
	}
	out[2 * n] = '\0';
}

bool hex_read(const char *text, size_t len, void *out, size_t n)
{
	size_t got;
	const char *end;

	return len == 2 * n && sodium_hex2bin(out, n, text, len, NULL, &got, &end) == 0 &&
	       got == n && end == text + len;
}

void seal(const uint8_t key[SEAL_KEY_LEN], const char *context, const void *bytes, size_t n,
	uint8_t *out)
{
	enum { NONCE = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES };
	unsigned long long len;

	_Static_assert(NONCE + crypto_aead_xchacha20poly1305_ietf_ABYTES == SEAL_EXTRA, "overhead");
	randombytes_buf(out, NONCE);
	crypto_aead_xchacha20poly1305_ietf_encrypt(out + NONCE, &len, bytes, n,
		(const uint8_t *)context, strlen(context), NULL, out, key);
}

bool unseal(const uint8_t key[SEAL_KEY_LEN], const char *context, const uint8_t *sealed, size_t n,
	void *out)
{
	enum { NONCE = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES };

	return n >= SEAL_EXTRA &&
	       crypto_aead_xchacha20poly1305_ietf_decrypt(out, NULL, NULL, sealed + NONCE,
		       n - NONCE, (const uint8_t *)context, strlen(context), sealed, key) == 0;
}

static void hashing_begins(void)
{
	pthread_mutex_lock(&hashing_lock);
	while (hashing == HASHING_MOST)
		pthread_cond_wait(&hashing_room, &hashing_lock);
	hashing++;
	pthread_mutex_unlock(&hashing_lock);
}

static void hashing_ends(void)
{
	pthread_mutex_lock(&hashing_lock);
	hashing--;
	pthread_cond_signal(&hashing_room);
	pthread_mutex_unlock(&hashing_lock);
}

bool password_hash(const char *password, size_t len, char out[PASSWORD_HASH_MAX])
{
	bool made;

	_Static_assert(PASSWORD_HASH_MAX >= crypto_pwhash_STRBYTES, "hash size");
	hashing_begins();
	made = crypto_pwhash_str(out, password, len, ARGON_PASSES, ARGON_MEMORY) == 0;
	hashing_ends();
	return made;
}

bool password_matches(const char *hash, const char *password, size_t len)
{
	bool same;

	hashing_begins();
	same = crypto_pwhash_str_verify(hash, password, len) == 0;
	hashing_ends();
	return same;
}

static const char base62[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/* Six digits over prefix and random part: catches typing errors without asking the store. */
static void token_checksum(const char *text, size_t len, char out[TOKEN_CHECK])
{
	uint8_t digest[SHA256_LEN];
	uint64_t n = 0;

	sha256(text, len, digest);
	for (int i = 0; i < 8; i++)
		n = n << 8 | digest[i];
	for (int i = 0; i < TOKEN_CHECK; i++, n /= 62)
		out[i] = base62[n % 62];
}

void token_new(const char *prefix, char out[TOKEN_MAX])
{
	size_t at = strlen(prefix);

	crypto_must(at + TOKEN_RANDOM + TOKEN_CHECK < TOKEN_MAX, "token prefix");
	memcpy(out, prefix, at);
	for (int i = 0; i < TOKEN_RANDOM; i++)
		out[at++] = base62[randombytes_uniform(62)];
	token_checksum(out, at, out + at);
	out[at + TOKEN_CHECK] = '\0';
}

bool token_valid(const char *prefix, const char *text, size_t len)
{
	size_t p = strlen(prefix);
	char check[TOKEN_CHECK];

	if (len != p + TOKEN_RANDOM + TOKEN_CHECK || memcmp(text, prefix, p) != 0)
		return false;
	token_checksum(text, len - TOKEN_CHECK, check);
	return same_bytes(check, sizeof check, text + len - TOKEN_CHECK, sizeof check);
}
