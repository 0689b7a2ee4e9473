/* jwk.h - public keys as providers publish them (RFC 7517), and signatures by them (RFC 7518).
 *
 * Only signatures by public keys are known here: RS256, PS256, ES256 and
 * EdDSA (Ed25519).  A name that is not in the table, `none` and the HMACs
 * among them, has no meaning, and so no token can ask for it. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "contract/schema.h"

enum { JWK_SIGNATURE_MAX = 1024, JWK_KEYS_MAX = 100 };

/* A key as it was published: members of other kinds of key are NULL. */
struct jwk {
	const char *kty, *use, *alg, *kid, *crv, *n, *e, *x, *y;
	struct list key_ops;
};

struct jwks {
	struct list keys; /* of struct jwk */
};

/* False if the text is not a set of keys. */
bool jwks_read(struct arena *a, const char *text, size_t len, struct jwks *ret);

struct jwk_alg;
/* The row of an algorithm, or NULL. */
const struct jwk_alg *jwk_alg(const char *name);
/* True if the key is of the algorithm's kind and meant for signatures by it. */
bool jwk_allows(const struct jwk *key, const struct jwk_alg *alg);
/* True if the signature over the bytes is by the key, which allows the algorithm. */
bool jwk_verifies(const struct jwk *key, const struct jwk_alg *alg, const void *bytes, size_t n,
	const uint8_t *signature, size_t signature_len);

/* Base64url without padding, of one spelling only: decodes into at most `most` bytes, *ret_len of them. */
bool base64url_read(const char *text, size_t len, uint8_t *out, size_t most, size_t *ret_len);
/* NUL-terminated. */
char *base64url_write(struct arena *a, const void *bytes, size_t n);
