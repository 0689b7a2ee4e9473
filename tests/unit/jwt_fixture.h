/* jwt_fixture.h - a provider's side of the matter, for tests: keys, key sets and signed tokens. */
#pragma once
#include <openssl/evp.h>

#include "base/arena.h"

struct signer {
	const char *alg, *kid;
	EVP_PKEY *key;
};

/* A fresh key for RS256, PS256, ES256 or EdDSA; freed with the arena. */
struct signer signer_new(struct arena *a, const char *alg, const char *kid);
/* The public half as a JWK; `members` (such as ",\"use\":\"sig\"") go into it too. */
const char *signer_jwk(struct arena *a, const struct signer *s, const char *members);
/* header.payload.signature; a header of NULL is made from the signer. */
const char *signer_token(
	struct arena *a, const struct signer *s, const char *header, const char *payload);
/* The same with a signature by HMAC-SHA256 under the given secret. */
const char *hmac_token(struct arena *a, const char *header, const char *payload, const void *secret,
	size_t secret_len);
