/* jwk.c - see jwk.h.  A key is built for OpenSSL when a signature is to be checked, and not kept. */
#include "outside/jwk.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>
#include <sodium.h>
#include <string.h>

#include "contract/decode.h"

enum { RSA_BITS_MIN = 2048, RSA_BYTES_MAX = 1024, EXPONENT_MAX = 8, POINT_LEN = 32 };

FIELDS(jwk) = {
	FIELD(jwk, kty, .required = true, BOUNDS(1, 32)),
	FIELD(jwk, use, .nullable = true, BOUNDS(0, 32)),
	FIELD(jwk, alg, .nullable = true, BOUNDS(0, 32)),
	FIELD(jwk, kid, .nullable = true, BOUNDS(0, 512)),
	FIELD(jwk, crv, .nullable = true, BOUNDS(0, 32)),
	FIELD(jwk, n, .nullable = true, BOUNDS(0, 4096)),
	FIELD(jwk, e, .nullable = true, BOUNDS(0, 64)),
	FIELD(jwk, x, .nullable = true, BOUNDS(0, 512)),
	FIELD(jwk, y, .nullable = true, BOUNDS(0, 512)),
	FIELD(jwk, key_ops, .nullable = true, .item = TEXT, BOUNDS(0, 16)),
};
static SCHEMA(jwk, .internal = true);

FIELDS(jwks) = {
	FIELD(jwks, keys, .required = true, .item = OBJECT, .of = &jwk_schema,
		BOUNDS(0, JWK_KEYS_MAX)),
};
static SCHEMA(jwks, .internal = true);

bool jwks_read(struct arena *a, const char *text, size_t len, struct jwks *ret)
{
	struct problem p = { 0 };

	return !decode_body(NULL, a, &jwks_schema, UNKNOWN_IGNORED, text, len, ret, &p);
}

/* libsodium takes some bytes beyond ASCII for letters where a char has a sign. */
bool base64url_read(const char *text, size_t len, uint8_t *out, size_t most, size_t *ret_len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] >= 0x80)
			return false;
	return !sodium_base642bin(out, most, text, len, NULL, ret_len, NULL,
		sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}

char *base64url_write(struct arena *a, const void *bytes, size_t n)
{
	size_t room = sodium_base64_encoded_len(n, sodium_base64_VARIANT_URLSAFE_NO_PADDING);

	return sodium_bin2base64(
		arena_alloc(a, room), room, bytes, n, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}

/* ---- keys ---- */

static bool read_jwk_bytes(const char *text, uint8_t *out, size_t most, size_t *ret_len)
{
	return text && *text && base64url_read(text, strlen(text), out, most, ret_len);
}

/* A point that is not on the curve makes no key; the curve has no other points to fear. */
static EVP_PKEY *from_params(const char *type, OSSL_PARAM_BLD *b)
{
	OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(b);
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
	EVP_PKEY *key = NULL;

	if (!params || !ctx || EVP_PKEY_fromdata_init(ctx) != 1 ||
		EVP_PKEY_fromdata(ctx, &key, EVP_PKEY_PUBLIC_KEY, params) != 1)
		key = NULL;
	EVP_PKEY_CTX_free(ctx);
	OSSL_PARAM_free(params);
	return key;
}

static EVP_PKEY *build_rsa(const struct jwk *k)
{
	uint8_t n[RSA_BYTES_MAX], e[EXPONENT_MAX];
	size_t n_len, e_len;
	OSSL_PARAM_BLD *b;
	BIGNUM *bn, *be;
	EVP_PKEY *key = NULL;

	if (!read_jwk_bytes(k->n, n, sizeof n, &n_len) ||
		!read_jwk_bytes(k->e, e, sizeof e, &e_len))
		return NULL;
	b = OSSL_PARAM_BLD_new();
	bn = BN_bin2bn(n, (int)n_len, NULL);
	be = BN_bin2bn(e, (int)e_len, NULL);
	if (b && bn && be && BN_num_bits(bn) >= RSA_BITS_MIN && BN_is_odd(be) && !BN_is_one(be) &&
		OSSL_PARAM_BLD_push_BN(b, OSSL_PKEY_PARAM_RSA_N, bn) &&
		OSSL_PARAM_BLD_push_BN(b, OSSL_PKEY_PARAM_RSA_E, be))
		key = from_params("RSA", b);
	BN_free(bn);
	BN_free(be);
	OSSL_PARAM_BLD_free(b);
	return key;
}

static EVP_PKEY *build_ec(const struct jwk *k)
{
	uint8_t point[1 + 2 * POINT_LEN] = { POINT_CONVERSION_UNCOMPRESSED };
	size_t x_len, y_len;
	OSSL_PARAM_BLD *b;
	EVP_PKEY *key = NULL;

	if (!read_jwk_bytes(k->x, point + 1, POINT_LEN, &x_len) || x_len != POINT_LEN ||
		!read_jwk_bytes(k->y, point + 1 + POINT_LEN, POINT_LEN, &y_len) ||
		y_len != POINT_LEN)
		return NULL;
	b = OSSL_PARAM_BLD_new();
	if (b && OSSL_PARAM_BLD_push_utf8_string(b, OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) &&
		OSSL_PARAM_BLD_push_octet_string(b, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof point))
		key = from_params("EC", b);
	OSSL_PARAM_BLD_free(b);
	return key;
}

static EVP_PKEY *build_ed25519(const struct jwk *k)
{
	uint8_t point[POINT_LEN];
	size_t len;

	if (!read_jwk_bytes(k->x, point, sizeof point, &len) || len != POINT_LEN)
		return NULL;
	return EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, point, len);
}

/* ---- algorithms ---- */

static const struct jwk_alg {
	const char *name, *kty, *crv; /* a crv of NULL: the kind has none */
	EVP_PKEY *(*build)(const struct jwk *k);
	const EVP_MD *(*digest)(void); /* NULL: the algorithm has its own */
	int padding;		       /* RSA */
	bool pair;		       /* the signature is two numbers side by side */
} algs[] = {
	{ "RS256", "RSA", NULL, build_rsa, EVP_sha256, RSA_PKCS1_PADDING, false },
	{ "PS256", "RSA", NULL, build_rsa, EVP_sha256, RSA_PKCS1_PSS_PADDING, false },
	{ "ES256", "EC", "P-256", build_ec, EVP_sha256, 0, true },
	{ "EdDSA", "OKP", "Ed25519", build_ed25519, NULL, 0, false },
};

const struct jwk_alg *jwk_alg(const char *name)
{
	for (size_t i = 0; i < sizeof algs / sizeof *algs; i++)
		if (strcmp(algs[i].name, name) == 0)
			return &algs[i];
	return NULL;
}

bool jwk_allows(const struct jwk *key, const struct jwk_alg *alg)
{
	const char *const *ops = key->key_ops.at;
	bool may_verify = !ops;

	for (size_t i = 0; ops && i < key->key_ops.count; i++)
		may_verify |= ops[i] && strcmp(ops[i], "verify") == 0;
	return may_verify && strcmp(key->kty, alg->kty) == 0 &&
	       (!key->use || strcmp(key->use, "sig") == 0) &&
	       (!key->alg || strcmp(key->alg, alg->name) == 0) &&
	       (!alg->crv || (key->crv && strcmp(key->crv, alg->crv) == 0));
}

/* r and s, side by side, into the form OpenSSL takes; the length, or 0. */
static size_t pair_to_der(const uint8_t *signature, size_t len, uint8_t out[JWK_SIGNATURE_MAX])
{
	ECDSA_SIG *pair;
	BIGNUM *r, *s;
	int n;

	if (len != 2 * POINT_LEN)
		return 0;
	pair = ECDSA_SIG_new();
	r = BN_bin2bn(signature, POINT_LEN, NULL);
	s = BN_bin2bn(signature + POINT_LEN, POINT_LEN, NULL);
	if (!pair || !r || !s || !ECDSA_SIG_set0(pair, r, s)) {
		ECDSA_SIG_free(pair);
		BN_free(r);
		BN_free(s);
		return 0;
	}
	n = i2d_ECDSA_SIG(pair, &(uint8_t *){ out });
	ECDSA_SIG_free(pair);
	return n > 0 ? (size_t)n : 0;
}

static bool verify_jwk_signature(EVP_PKEY *key, const struct jwk_alg *alg, const void *bytes,
	size_t n, const uint8_t *signature, size_t len)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	EVP_PKEY_CTX *how = NULL;
	bool good = ctx && EVP_DigestVerifyInit(
				   ctx, &how, alg->digest ? alg->digest() : NULL, NULL, key) == 1;

	if (good && alg->padding)
		good = EVP_PKEY_CTX_set_rsa_padding(how, alg->padding) == 1;
	if (good && alg->padding == RSA_PKCS1_PSS_PADDING)
		good = EVP_PKEY_CTX_set_rsa_pss_saltlen(how, RSA_PSS_SALTLEN_DIGEST) == 1;
	good = good && EVP_DigestVerify(ctx, signature, len, bytes, n) == 1;
	EVP_MD_CTX_free(ctx);
	return good;
}

bool jwk_verifies(const struct jwk *key, const struct jwk_alg *alg, const void *bytes, size_t n,
	const uint8_t *signature, size_t signature_len)
{
	uint8_t der[JWK_SIGNATURE_MAX];
	EVP_PKEY *pkey;
	bool good;

	if (!jwk_allows(key, alg) || !signature_len)
		return false;
	if (alg->pair) {
		signature_len = pair_to_der(signature, signature_len, der);
		signature = der;
		if (!signature_len)
			return false;
	}
	pkey = alg->build(key);
	good = pkey && verify_jwk_signature(pkey, alg, bytes, n, signature, signature_len);
	EVP_PKEY_free(pkey);
	return good;
}
