/* fuzz_jwt.c - tokens and key sets as a stranger could write them.  The text up to the first line
 * end is the token, the rest the set of keys; a set that is not one is replaced by one that is.
 * Nothing may hold, for nobody can sign for these keys, and every part is read the same again. */
#include "setup.h"

#include "base/crypto.h"
#include "outside/jwt.h"

static const char keys_text[] =
	"{\"keys\":[{\"kid\":\"r\",\"kty\":\"RSA\",\"e\":\"AQAB\",\"n\":\"x\"},"
	"{\"kid\":\"e\",\"kty\":\"EC\",\"crv\":\"P-256\","
	"\"x\":\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\","
	"\"y\":\"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0\"},"
	"{\"kid\":\"o\",\"kty\":\"OKP\",\"crv\":\"Ed25519\","
	"\"x\":\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\"}]}";

static const struct jwt_wanted wanted = {
	.issuer = "https://op.test", .audience = "lodge", .nonce = "n1", .now_s = 1800000000
};

/* As an access token, which is for a resource. */
static const struct jwt_wanted access_wanted = { .issuer = "https://op.test",
	.resources = (const char *const[]){ "https://me.test/mcp", NULL },
	.now_s = 1800000000 };

/* A part has one spelling only. */
static void check_spelling(struct arena *a, const char *text, size_t len)
{
	uint8_t *bytes = arena_alloc(a, len + 1);
	const char *again;
	size_t n;

	if (!base64url_read(text, len, bytes, len, &n))
		return;
	again = base64url_write(a, bytes, n);
	if (strlen(again) != len || memcmp(again, text, len) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *end = memchr(text, '\n', size), *why = NULL;
	size_t len = end ? (size_t)(end - text) : size;
	struct jwt_claims claims = { .subject = "s1" };
	struct arena a = { 0 };
	struct jwks keys, own;
	bool theirs = end && jwks_read(&a, end + 1, size - len - 1, &own);

	if (!jwks_read(&a, keys_text, sizeof keys_text - 1, &keys))
		abort();
	check_spelling(&a, text, len);
	if (jwt_verify(&a, &keys, text, len, &wanted, &claims, &why) == JWT_HOLDS || !why)
		abort();
	if (jwt_verify(&a, &keys, text, len, &access_wanted, &claims, &why) == JWT_HOLDS || !why)
		abort();
	jwt_issuer(&a, text, len);
	/* Whoever brings the keys along may sign; that it ends is all that is asked. */
	if (theirs)
		jwt_verify(&a, &own, text, len, &wanted, &claims, &why);
	claims.subject = "s1";
	if (jwt_add_userinfo(&a, text, len, &claims) && strcmp(claims.subject, "s1") != 0)
		abort();
	arena_free(&a);
	return 0;
}
