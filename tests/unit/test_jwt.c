/* test_jwt.c - ID tokens: what holds, and everything that must not. */
#include <openssl/pem.h>

#include "base/crypto.h"
#include "jwt_fixture.h"
#include "outside/address.h"
#include "outside/fetch.h"
#include "outside/jwt.h"
#include "t.h"

#define NOW 1800000000
#define CLAIMS_BUT_TIMES \
	"\"iss\":\"https://op.test\",\"sub\":\"s1\",\"aud\":\"lodge\",\"nonce\":\"n1\""
#define TIMES "\"iat\":1800000000,\"exp\":1800000300"
#define EMAIL "\"email\":\"a@example.org\",\"email_verified\":true"

static const char payload[] = "{" CLAIMS_BUT_TIMES "," TIMES "," EMAIL "}";
static const struct jwt_wanted wanted = {
	.issuer = "https://op.test", .audience = "lodge", .nonce = "n1", .now_s = NOW
};
static const char *const algs[] = { "RS256", "PS256", "ES256", "EdDSA" };
enum { ALGS = sizeof algs / sizeof *algs };

static struct jwks keys_of(struct arena *a, const char *list)
{
	const char *text = arena_printf(a, "{\"keys\":[%s]}", list);
	struct jwks keys = { 0 };

	CHECK(jwks_read(a, text, strlen(text), &keys));
	return keys;
}

static enum jwt_verdict verdict(struct arena *a, const struct jwks *keys, const char *token)
{
	struct jwt_claims claims;
	const char *why = NULL;
	enum jwt_verdict v = jwt_verify(a, keys, token, strlen(token), &wanted, &claims, &why);

	CHECK((v == JWT_HOLDS) == !why);
	return v;
}

TEST(jwt_every_algorithm_holds_with_its_own_key_only)
{
	struct arena a = { 0 };
	struct signer s[ALGS];
	const char *all = "";
	struct jwks keys;

	for (int i = 0; i < ALGS; i++) {
		s[i] = signer_new(&a, algs[i], arena_printf(&a, "k%d", i));
		all = arena_printf(&a, "%s%s%s", all, i ? "," : "",
			signer_jwk(&a, &s[i], i % 2 ? ",\"use\":\"sig\"" : ""));
	}
	keys = keys_of(&a, all);
	for (int i = 0; i < ALGS; i++) {
		const char *token = signer_token(&a, &s[i], NULL, payload), *why;
		struct jwt_claims claims;

		test_step("%s", algs[i]);
		CHECK_INT(jwt_verify(&a, &keys, token, strlen(token), &wanted, &claims, &why),
			JWT_HOLDS);
		CHECK_STR(claims.subject, "s1");
		CHECK_STR(claims.email, "a@example.org");
		CHECK(claims.email_verified && !claims.name);
		for (int k = 0; k < ALGS; k++) {
			const char *header =
				arena_printf(&a, "{\"alg\":\"%s\",\"kid\":\"k%d\"}", algs[i], k);

			if (k != i)
				CHECK(verdict(&a, &keys,
					      signer_token(&a, &s[i], header, payload)) !=
					JWT_HOLDS);
		}
	}
	arena_free(&a);
}

TEST(jwt_a_key_is_used_only_as_it_was_published)
{
	struct arena a = { 0 };
	struct signer s = signer_new(&a, "RS256", "k"), other = signer_new(&a, "RS256", "other");
	static const struct {
		const char *members;
		bool holds;
	} rows[] = {
		{ "", true },
		{ ",\"alg\":\"RS256\",\"use\":\"sig\"", true },
		{ ",\"key_ops\":[\"verify\"]", true },
		{ ",\"x5c\":[\"AAAA\"],\"unknown\":{\"a\":1}", true },
		{ ",\"alg\":\"PS256\"", false },
		{ ",\"alg\":\"RS512\"", false },
		{ ",\"use\":\"enc\"", false },
		{ ",\"key_ops\":[\"sign\"]", false },
		{ ",\"key_ops\":[]", false },
	};
	const char *token = signer_token(&a, &s, NULL, payload);
	struct jwks keys;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		test_step("%s", rows[i].members);
		keys = keys_of(&a, signer_jwk(&a, &s, rows[i].members));
		CHECK_INT(verdict(&a, &keys, token), rows[i].holds ? JWT_HOLDS : JWT_UNKNOWN_KEY);
	}
	test_step("which key");
	keys = keys_of(&a, signer_jwk(&a, &other, ""));
	CHECK_INT(verdict(&a, &keys, token), JWT_UNKNOWN_KEY);
	keys = keys_of(&a, "");
	CHECK_INT(verdict(&a, &keys, token), JWT_UNKNOWN_KEY);
	token = signer_token(&a, &s, "{\"alg\":\"RS256\"}", payload);
	keys = keys_of(&a, signer_jwk(&a, &s, ""));
	CHECK_INT(verdict(&a, &keys, token), JWT_HOLDS);
	keys = keys_of(
		&a, arena_printf(&a, "%s,%s", signer_jwk(&a, &s, ""), signer_jwk(&a, &other, "")));
	CHECK_INT(verdict(&a, &keys, token), JWT_UNKNOWN_KEY);
	arena_free(&a);
}

TEST(jwt_no_header_talks_us_into_another_check)
{
	struct arena a = { 0 };
	struct signer s = signer_new(&a, "RS256", "k");
	const char *jwk = signer_jwk(&a, &s, "");
	struct jwks keys = keys_of(&a, jwk);
	static const char *const headers[] = {
		"{\"alg\":\"none\",\"kid\":\"k\"}",
		"{\"alg\":\"None\",\"kid\":\"k\"}",
		"{\"alg\":\"\",\"kid\":\"k\"}",
		"{\"kid\":\"k\"}",
		"{\"alg\":null,\"kid\":\"k\"}",
		"{\"alg\":[\"RS256\"],\"kid\":\"k\"}",
		"{\"alg\":\"HS256\",\"kid\":\"k\"}",
		"{\"alg\":\"RS512\",\"kid\":\"k\"}",
		"{\"alg\":\"RS256 \",\"kid\":\"k\"}",
		"{\"alg\":\"PS256\",\"kid\":\"k\"}",
		"{\"alg\":\"ES256\",\"kid\":\"k\"}",
		"{\"alg\":\"EdDSA\",\"kid\":\"k\"}",
		"{\"alg\":\"RS256\",\"alg\":\"RS256\",\"kid\":\"k\"}",
		"{\"alg\":\"RS256\",\"kid\":\"k\",\"crit\":[\"exp\"]}",
		"{\"alg\":\"RS256\",\"kid\":\"k\",\"crit\":[]}",
		"{\"alg\":\"RS256\",\"kid\":\"k\\u0000\"}",
		"{\"alg\":\"RS256\",\"kid\":\"nobody's\"}",
		"{\"alg\":\"RS256\",\"kid\":\"k\"} ,",
		"[]",
		"",
	};
	const char *pem, *text;
	BIO *out = BIO_new(BIO_s_mem());
	long len;

	CHECK_INT(verdict(&a, &keys,
			  signer_token(&a, &s,
				  "{\"alg\":\"RS256\",\"jku\":\"https://x\","
				  "\"jwk\":{},\"typ\":\"JWT\",\"kid\":\"k\"}",
				  payload)),
		JWT_HOLDS);
	for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
		test_step("%s", headers[i]);
		text = signer_token(&a, &s, headers[i], payload);
		CHECK(verdict(&a, &keys, text) != JWT_HOLDS);
		CHECK(verdict(&a, &keys,
			      arena_strndup(&a, text, (size_t)(strrchr(text, '.') + 1 - text))) !=
			JWT_HOLDS);
	}
	test_step("the public key as a secret");
	CHECK(PEM_write_bio_PUBKEY(out, s.key) == 1);
	len = BIO_get_mem_data(out, (char **)&pem);
	CHECK(verdict(&a, &keys,
		      hmac_token(&a, "{\"alg\":\"HS256\",\"kid\":\"k\"}", payload, pem,
			      (size_t)len)) != JWT_HOLDS);
	CHECK(verdict(&a, &keys,
		      hmac_token(&a, "{\"alg\":\"RS256\",\"kid\":\"k\"}", payload, pem,
			      (size_t)len)) != JWT_HOLDS);
	CHECK(verdict(&a, &keys,
		      hmac_token(&a, "{\"alg\":\"HS256\",\"kid\":\"k\"}", payload, jwk,
			      strlen(jwk))) != JWT_HOLDS);
	BIO_free(out);
	arena_free(&a);
}

TEST(jwt_every_claim_is_held_against_what_is_wanted)
{
	struct arena a = { 0 };
	struct signer s = signer_new(&a, "EdDSA", "k");
	struct jwks keys = keys_of(&a, signer_jwk(&a, &s, ""));
	static const struct {
		const char *claims;
		bool holds;
	} rows[] = {
		{ CLAIMS_BUT_TIMES "," TIMES, true },
		{ CLAIMS_BUT_TIMES "," TIMES ",\"azp\":\"lodge\",\"extra\":[1,{\"a\":null}]",
			true },
		{ CLAIMS_BUT_TIMES ",\"iat\":1800000060,\"exp\":1800000300", true },
		{ CLAIMS_BUT_TIMES ",\"iat\":1799999000,\"exp\":1799999941", true },
		{ CLAIMS_BUT_TIMES ",\"iat\":1800000000.5,\"exp\":1800000300.5", true },
		{ CLAIMS_BUT_TIMES ",\"iat\":1800000061,\"exp\":1800000300", false },
		{ CLAIMS_BUT_TIMES ",\"iat\":1799999000,\"exp\":1799999940", false },
		{ CLAIMS_BUT_TIMES ",\"iat\":1799999000,\"exp\":1700000000", false },
		{ CLAIMS_BUT_TIMES ",\"iat\":1800000000", false },
		{ CLAIMS_BUT_TIMES ",\"exp\":1800000300", false },
		{ CLAIMS_BUT_TIMES ",\"iat\":\"1800000000\",\"exp\":1800000300", false },
		{ CLAIMS_BUT_TIMES "," TIMES ",\"nbf\":1800000061", false },
		{ CLAIMS_BUT_TIMES "," TIMES ",\"azp\":\"other\"", false },
		{ CLAIMS_BUT_TIMES "," TIMES ",\"email_verified\":1", false },
		{ CLAIMS_BUT_TIMES "," TIMES ",\"email\":7", false },
		{ CLAIMS_BUT_TIMES "," TIMES ",\"sub\":\"s2\"", false },
#define REST "\"sub\":\"s1\",\"nonce\":\"n1\"," TIMES
		{ "\"iss\":\"https://op.test/\",\"aud\":\"lodge\"," REST, false },
		{ "\"iss\":\"https://op.tes\",\"aud\":\"lodge\"," REST, false },
		{ "\"aud\":\"lodge\"," REST, false },
		{ "\"iss\":\"https://op.test\"," REST, false },
		{ "\"iss\":\"https://op.test\",\"aud\":\"other\"," REST, false },
		{ "\"iss\":\"https://op.test\",\"aud\":[]," REST, false },
		{ "\"iss\":\"https://op.test\",\"aud\":[\"lodge\"]," REST, true },
		{ "\"iss\":\"https://op.test\",\"aud\":[\"lodge\",\"other\"]," REST, false },
		{ "\"iss\":\"https://op.test\",\"aud\":[\"other\",\"lodge\"],\"azp\":\"lodge\"," REST,
			true },
		{ "\"iss\":\"https://op.test\",\"aud\":[\"lodge\",7]," REST, false },
		{ "\"iss\":\"https://op.test\",\"aud\":\"lodge\\u0000\"," REST, false },
#undef REST
#define REST "\"iss\":\"https://op.test\",\"aud\":\"lodge\"," TIMES
		{ "\"sub\":\"s1\"," REST, false },
		{ "\"sub\":\"s1\",\"nonce\":\"n2\"," REST, false },
		{ "\"sub\":\"s1\",\"nonce\":\"n1 \"," REST, false },
		{ "\"sub\":\"\",\"nonce\":\"n1\"," REST, false },
		{ "\"sub\":7,\"nonce\":\"n1\"," REST, false },
		{ "\"nonce\":\"n1\"," REST, false },
		{ "\"sub\":\"s1\",\"nonce\":\"n1\"," REST "},{", false },
		{ "", false },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *text = arena_printf(&a, "{%s}", rows[i].claims);

		test_step("%s", text);
		CHECK_INT(verdict(&a, &keys, signer_token(&a, &s, NULL, text)),
			rows[i].holds ? JWT_HOLDS : JWT_REFUSED);
	}
	arena_free(&a);
}

TEST(jwt_an_access_token_is_for_a_resource)
{
	struct arena a = { 0 };
	struct signer s = signer_new(&a, "EdDSA", "k");
	struct jwks keys = keys_of(&a, signer_jwk(&a, &s, ""));
	const struct jwt_wanted access = { .issuer = "https://op.test",
		.resources = (const char *const[]){ "https://me.test/mcp", "https://me.test/mcp/t",
			NULL },
		.now_s = NOW };
#define FOR "\"iss\":\"https://op.test\",\"sub\":\"s1\",\"aud\":\"https://me.test/mcp\""
	static const struct {
		const char *typ, *claims;
		bool holds;
	} rows[] = {
		{ "at+jwt", FOR "," TIMES, true },
		{ "AT+JWT", FOR "," TIMES, true },
		{ "application/at+jwt", FOR "," TIMES, true },
		{ "JWT", FOR ",\"azp\":\"somebody\",\"scope\":\"a b\"," TIMES, true },
		{ "JWT", FOR ",\"exp\":1800000300", true },
		{ "id+jwt", FOR "," TIMES, false },
		{ "dpop+jwt", FOR "," TIMES, false },
		{ "", FOR "," TIMES, false },
		{ "JWT", FOR ",\"iat\":1800000000", false },
		{ "JWT", FOR ",\"exp\":1799999940", false },
		{ "JWT", FOR ",\"exp\":1800000300,\"nbf\":1800000061", false },
		{ "JWT", FOR ",\"exp\":1800000300,\"iat\":1800000061", false },
		{ "JWT", FOR ",\"cnf\":{\"jkt\":\"x\"}," TIMES, false },
		{ "JWT", FOR ",\"cnf\":null," TIMES, true },
#undef FOR
#define FOR "\"iss\":\"https://op.test\",\"sub\":\"s1\"," TIMES
		{ "JWT", FOR, false },
		{ "JWT", FOR ",\"aud\":\"https://me.test/mcp/\"", false },
		{ "JWT", FOR ",\"aud\":\"https://me.test\"", false },
		{ "JWT", FOR ",\"aud\":[\"lodge\",\"https://me.test/mcp/t\"]", true },
		{ "JWT", FOR ",\"aud\":[]", false },
		{ "JWT",
			"\"iss\":\"https://op.test/\",\"sub\":\"s1\",\"aud\":\"https://me.test/mcp\"," TIMES,
			false },
		{ "JWT", "\"iss\":\"https://op.test\",\"aud\":\"https://me.test/mcp\"," TIMES,
			false },
#undef FOR
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *header = arena_printf(
			&a, "{\"alg\":\"EdDSA\",\"kid\":\"k\",\"typ\":\"%s\"}", rows[i].typ);
		const char *token =
			signer_token(&a, &s, header, arena_printf(&a, "{%s}", rows[i].claims));
		struct jwt_claims claims;
		const char *why = NULL;

		test_step("%s %s", rows[i].typ, rows[i].claims);
		CHECK_INT(jwt_verify(&a, &keys, token, strlen(token), &access, &claims, &why),
			rows[i].holds ? JWT_HOLDS : JWT_REFUSED);
		if (rows[i].holds)
			CHECK_INT(claims.ends_s, 1800000360);
	}
	test_step("whose it claims to be");
	CHECK_STR(jwt_issuer(&a, "e30.eyJpc3MiOiJ4In0.AA", 22), "x");
	CHECK(!jwt_issuer(&a, "e30.e30.AA", 10) && !jwt_issuer(&a, "e30.AA", 6));
	arena_free(&a);
}

TEST(jwt_a_token_that_is_cut_or_changed_does_not_hold)
{
	struct arena a = { 0 };
	const char *why;
	struct jwt_claims claims;

	for (int i = 0; i < ALGS; i++) {
		struct signer s = signer_new(&a, algs[i], "k");
		struct jwks keys = keys_of(&a, signer_jwk(&a, &s, ""));
		const char *token = signer_token(&a, &s, NULL, payload);
		size_t len = strlen(token);

		test_step("%s", algs[i]);
		for (size_t n = 0; n < len; n++)
			CHECK(jwt_verify(&a, &keys, token, n, &wanted, &claims, &why) != JWT_HOLDS);
		for (size_t n = 0; n < len; n++) {
			char *changed = arena_strdup(&a, token);

			changed[n] ^= (char)(1 << n % 7);
			CHECK(jwt_verify(&a, &keys, changed, len, &wanted, &claims, &why) !=
				JWT_HOLDS);
		}
		for (const char *more = "=.A\n "; *more; more++)
			CHECK(verdict(&a, &keys, arena_printf(&a, "%s%c", token, *more)) !=
				JWT_HOLDS);
		CHECK(verdict(&a, &keys, arena_printf(&a, " %s", token)) != JWT_HOLDS);
		CHECK(verdict(&a, &keys, arena_printf(&a, "%s.", token)) != JWT_HOLDS);
	}
	arena_free(&a);
}

TEST(jwt_weak_and_broken_keys_verify_nothing)
{
	struct arena a = { 0 };
	struct signer s = signer_new(&a, "RS256", "k");
	const char *token = signer_token(&a, &s, NULL, payload);
	static const char *const broken[] = {
		"{\"kid\":\"k\",\"kty\":\"RSA\"}",
		"{\"kid\":\"k\",\"kty\":\"RSA\",\"n\":\"AQAB\",\"e\":\"AQAB\"}",
		"{\"kid\":\"k\",\"kty\":\"RSA\",\"n\":\"????\",\"e\":\"AQAB\"}",
		"{\"kid\":\"k\",\"kty\":\"oct\",\"k\":\"AAAA\"}",
	};
	static const char *const points[] = {
		"{\"kid\":\"k\",\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"AA\",\"y\":\"AA\"}",
		"{\"kid\":\"k\",\"kty\":\"EC\",\"crv\":\"P-256\","
		"\"x\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\","
		"\"y\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"}",
	};
	static const char *const sets[] = { "", "[]", "{}", "{\"keys\":{}}", "{\"keys\":[1]}",
		"{\"keys\":[{}]}", "{\"keys\":[]}x" };
	struct jwks keys;

	for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
		keys = keys_of(&a, broken[i]);
		CHECK(verdict(&a, &keys, token) != JWT_HOLDS);
	}
	for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
		uint8_t zero[64] = { 0 };

		keys = keys_of(&a, points[i]);
		CHECK(!jwk_verifies(keys.keys.at, jwk_alg("ES256"), "x", 1, zero, sizeof zero));
	}
	for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
		CHECK(!jwks_read(&a, sets[i], strlen(sets[i]), &keys));
	test_step("a sound ES256 key and a signature of nought");
	s = signer_new(&a, "ES256", "k");
	keys = keys_of(&a, signer_jwk(&a, &s, ""));
	CHECK(!jwk_verifies(keys.keys.at, jwk_alg("ES256"), "x", 1, (uint8_t[64]){ 0 }, 64));
	arena_free(&a);
}

TEST(fetch_goes_only_where_it_may)
{
	static const struct {
		const char *url;
		bool public, loopback, any;
	} rows[] = {
		{ "https://op.example.com/a?b=c", true, true, true },
		{ "https://op.example.com:8443/", true, true, true },
		{ "http://op.example.com/", false, false, true },
		{ "http://127.0.0.1:8080/", false, true, true },
		{ "http://localhost/", false, true, true },
		{ "https://[::1]/", false, true, true },
		{ "https://127.1/", false, true, true },
		{ "https://10.0.0.1/", false, false, true },
		{ "https://[::ffff:192.168.0.1]/", false, false, true },
		{ "https://169.254.169.254/", false, false, true },
		{ "https://[fd00::1]/", false, false, true },
		{ "https://[64:ff9b::a00:1]/", false, false, true },
		{ "https://user:word@op.example.com/", false, false, false },
		{ "https://op.example.com/#here", false, false, false },
		{ "ftp://op.example.com/", false, false, false },
		{ "file:///etc/passwd", false, false, false },
		{ "op.example.com", false, false, false },
		{ "", false, false, false },
	};
	static const struct {
		const char *host;
		enum address_kind kind;
	} hosts[] = {
		{ "8.8.8.8", ADDRESS_PUBLIC },
		{ "172.15.0.1", ADDRESS_PUBLIC },
		{ "172.31.255.255", ADDRESS_PRIVATE },
		{ "100.127.0.1", ADDRESS_PRIVATE },
		{ "100.128.0.1", ADDRESS_PUBLIC },
		{ "255.255.255.255", ADDRESS_PRIVATE },
		{ "0.0.0.0", ADDRESS_PRIVATE },
		{ "[::]", ADDRESS_PRIVATE },
		{ "[2606:4700::1]", ADDRESS_PUBLIC },
		{ "[fe80::1]", ADDRESS_PRIVATE },
		{ "[::ffff:127.0.0.1]", ADDRESS_LOOPBACK },
		{ "[::1]", ADDRESS_LOOPBACK },
		{ "[::127.0.0.1]", ADDRESS_PRIVATE },
		{ "[::ffff:0:127.0.0.1]", ADDRESS_PRIVATE },
		{ "127.0.0.1.", ADDRESS_LOOPBACK },
		{ "localhost.", ADDRESS_LOOPBACK },
		{ "LocalHost.", ADDRESS_LOOPBACK },
		{ "notlocalhost", ADDRESS_PUBLIC },
		{ "localhost.example.org", ADDRESS_PUBLIC },
		{ "name", ADDRESS_PUBLIC },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		test_step("%s", rows[i].url);
		CHECK_INT(fetch_permits(rows[i].url, EGRESS_PUBLIC), rows[i].public);
		CHECK_INT(fetch_permits(rows[i].url, EGRESS_LOOPBACK), rows[i].loopback);
		CHECK_INT(fetch_permits(rows[i].url, EGRESS_ANY), rows[i].any);
	}
	for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
		test_step("%s", hosts[i].host);
		CHECK_INT(address_kind_of_host(hosts[i].host), hosts[i].kind);
	}
}
