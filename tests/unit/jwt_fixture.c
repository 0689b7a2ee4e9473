/* jwt_fixture.c - see jwt_fixture.h. */
#include "jwt_fixture.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/rsa.h>
#include <string.h>

#include "base/crypto.h"
#include "outside/jwk.h"
#include "t.h"

static void release(void *key)
{
	EVP_PKEY_free(key);
}

struct signer signer_new(struct arena *a, const char *alg, const char *kid)
{
	struct signer s = { .alg = alg, .kid = kid };

	if (strcmp(alg, "ES256") == 0)
		s.key = EVP_EC_gen("P-256");
	else if (strcmp(alg, "EdDSA") == 0)
		s.key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
	else
		s.key = EVP_RSA_gen(2048);
	CHECK(s.key);
	arena_defer(a, release, s.key);
	return s;
}

static const char *number(struct arena *a, const EVP_PKEY *key, const char *name, int len)
{
	uint8_t bytes[512];
	BIGNUM *n = NULL;

	CHECK(EVP_PKEY_get_bn_param(key, name, &n) == 1);
	if (!len)
		len = BN_num_bytes(n);
	CHECK_INT(BN_bn2binpad(n, bytes, len), len);
	BN_free(n);
	return base64url_write(a, bytes, (size_t)len);
}

const char *signer_jwk(struct arena *a, const struct signer *s, const char *members)
{
	const char *facts;
	uint8_t point[32];
	size_t len = sizeof point;

	if (strcmp(s->alg, "ES256") == 0) {
		facts = arena_printf(a,
			"\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"%s\",\"y\":\"%s\"",
			number(a, s->key, OSSL_PKEY_PARAM_EC_PUB_X, 32),
			number(a, s->key, OSSL_PKEY_PARAM_EC_PUB_Y, 32));
	} else if (strcmp(s->alg, "EdDSA") == 0) {
		CHECK(EVP_PKEY_get_raw_public_key(s->key, point, &len) == 1);
		facts = arena_printf(a, "\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"%s\"",
			base64url_write(a, point, len));
	} else {
		facts = arena_printf(a, "\"kty\":\"RSA\",\"n\":\"%s\",\"e\":\"%s\"",
			number(a, s->key, OSSL_PKEY_PARAM_RSA_N, 0),
			number(a, s->key, OSSL_PKEY_PARAM_RSA_E, 0));
	}
	return s->kid ? arena_printf(a, "{\"kid\":\"%s\",%s%s}", s->kid, facts, members)
		      : arena_printf(a, "{%s%s}", facts, members);
}

static const char *encode(struct arena *a, const char *text)
{
	return base64url_write(a, text, strlen(text));
}

/* From OpenSSL's form to two numbers side by side. */
static size_t to_pair(uint8_t *signature, size_t len)
{
	const uint8_t *at = signature;
	ECDSA_SIG *pair = d2i_ECDSA_SIG(NULL, &at, (long)len);

	CHECK(pair);
	BN_bn2binpad(ECDSA_SIG_get0_r(pair), signature, 32);
	BN_bn2binpad(ECDSA_SIG_get0_s(pair), signature + 32, 32);
	ECDSA_SIG_free(pair);
	return 64;
}

const char *signer_token(
	struct arena *a, const struct signer *s, const char *header, const char *payload)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	EVP_PKEY_CTX *how = NULL;
	bool eddsa = strcmp(s->alg, "EdDSA") == 0;
	uint8_t signature[512];
	size_t len = sizeof signature;
	const char *text;

	if (!header)
		header = s->kid ? arena_printf(a, "{\"alg\":\"%s\",\"kid\":\"%s\"}", s->alg, s->kid)
				: arena_printf(a, "{\"alg\":\"%s\"}", s->alg);
	text = arena_printf(a, "%s.%s", encode(a, header), encode(a, payload));
	CHECK(EVP_DigestSignInit(ctx, &how, eddsa ? NULL : EVP_sha256(), NULL, s->key) == 1);
	if (strcmp(s->alg, "PS256") == 0) {
		CHECK(EVP_PKEY_CTX_set_rsa_padding(how, RSA_PKCS1_PSS_PADDING) == 1);
		CHECK(EVP_PKEY_CTX_set_rsa_pss_saltlen(how, RSA_PSS_SALTLEN_DIGEST) == 1);
	}
	CHECK(EVP_DigestSign(ctx, signature, &len, (const uint8_t *)text, strlen(text)) == 1);
	EVP_MD_CTX_free(ctx);
	if (strcmp(s->alg, "ES256") == 0)
		len = to_pair(signature, len);
	return arena_printf(a, "%s.%s", text, base64url_write(a, signature, len));
}

const char *hmac_token(struct arena *a, const char *header, const char *payload, const void *secret,
	size_t secret_len)
{
	const char *text = arena_printf(a, "%s.%s", encode(a, header), encode(a, payload));
	uint8_t mac[SHA256_LEN];

	hmac_sha256(secret, secret_len, text, strlen(text), mac);
	return arena_printf(a, "%s.%s", text, base64url_write(a, mac, sizeof mac));
}
