/* jwt.c - see jwt.h: the parts, the signature, then the claims, each by a table or a rule of its own. */
#include "outside/jwt.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/crypto.h"
#include "base/json.h"
#include "contract/decode.h"

enum { AUDIENCES_MAX = 32 };
#define ENDS_MAX_S INT64_C(253402300799) /* the end of the year 9999 */

/* ---- the parts ---- */

struct token {
	const char *text;
	size_t header_len, signed_len; /* up to the first and the second dot */
	struct {
		uint8_t *at;
		size_t len;
	} header, payload;
	uint8_t signature[JWK_SIGNATURE_MAX];
	size_t signature_len;
};

static uint8_t *decode_token_part(struct arena *a, const char *text, size_t len, size_t *ret_len)
{
	uint8_t *bytes = arena_alloc(a, len + 1);

	return len && base64url_read(text, len, bytes, len, ret_len) ? bytes : NULL;
}

static bool split_token(struct arena *a, const char *text, size_t len, struct token *ret)
{
	const char *first = memchr(text, '.', len), *second;

	if (len > JWT_MAX || !first)
		return false;
	second = memchr(first + 1, '.', len - (size_t)(first + 1 - text));
	if (!second || memchr(second + 1, '.', len - (size_t)(second + 1 - text)))
		return false;
	*ret = (struct token){ .text = text,
		.header_len = (size_t)(first - text),
		.signed_len = (size_t)(second - text) };
	ret->header.at = decode_token_part(a, text, ret->header_len, &ret->header.len);
	ret->payload.at =
		decode_token_part(a, first + 1, (size_t)(second - first - 1), &ret->payload.len);
	return ret->header.at && ret->payload.at &&
	       base64url_read(second + 1, len - ret->signed_len - 1, ret->signature,
		       sizeof ret->signature, &ret->signature_len) &&
	       ret->signature_len;
}

/* ---- the signature ---- */

struct header {
	const char *alg, *kid, *typ;
	struct list crit;
};

FIELDS(header) = {
	FIELD(header, alg, .required = true, BOUNDS(1, 32)),
	FIELD(header, kid, .nullable = true, BOUNDS(0, 512)),
	FIELD(header, typ, .nullable = true, BOUNDS(0, 512)),
	FIELD(header, crit, .nullable = true, .item = TEXT, BOUNDS(0, 16)),
};
static SCHEMA(header, .internal = true);

/* The one key that can have made the signature; NULL if there is none, or more than one. */
static const struct jwk *choose_jwk(
	const struct jwks *keys, const struct header *h, const struct jwk_alg *alg)
{
	const struct jwk *list = keys->keys.at, *found = NULL;

	for (size_t i = 0; i < keys->keys.count; i++) {
		if (!jwk_allows(&list[i], alg))
			continue;
		if (h->kid && (!list[i].kid || strcmp(list[i].kid, h->kid) != 0))
			continue;
		if (found)
			return NULL;
		found = &list[i];
	}
	return found;
}

/* Tokens of other kinds, a notice of a sign-out among them, are signed with the same keys. */
static bool is_access_type(const char *typ)
{
	return !typ || strcasecmp(typ, "at+jwt") == 0 ||
	       strcasecmp(typ, "application/at+jwt") == 0 || strcasecmp(typ, "JWT") == 0;
}

static enum jwt_verdict check_signature(struct arena *a, const struct jwks *keys,
	const struct token *t, bool access, const char **ret_why)
{
	struct problem p = { 0 };
	const struct jwk_alg *alg;
	const struct jwk *key;
	struct header h;

	*ret_why = "the header is not one of a token";
	if (decode_body(NULL, a, &header_schema, UNKNOWN_IGNORED, (const char *)t->header.at,
		    t->header.len, &h, &p) ||
		h.crit.at)
		return JWT_REFUSED;
	*ret_why = "it is no access token";
	if (access && !is_access_type(h.typ))
		return JWT_REFUSED;
	*ret_why = "its algorithm is not among those accepted";
	alg = jwk_alg(h.alg);
	if (!alg)
		return JWT_REFUSED;
	*ret_why = "the provider has published no such key";
	key = choose_jwk(keys, &h, alg);
	if (!key)
		return JWT_UNKNOWN_KEY;
	*ret_why = "the signature is wrong";
	return jwk_verifies(key, alg, t->text, t->signed_len, t->signature, t->signature_len)
		       ? JWT_HOLDS
		       : JWT_REFUSED;
}

/* ---- the claims ---- */

struct claims {
	const char *iss, *sub, *azp, *nonce, *email, *name;
	const char *aud[AUDIENCES_MAX];
	size_t aud_count;
	double exp, iat, nbf;
	bool has_exp, has_iat, has_nbf;
	bool email_verified;
	bool bound; /* to a key of whoever it was given to */
};

static bool read_claim_text(struct json_reader *r, const char **ret)
{
	size_t len;

	return json_peek(r) == JSON_STRING && json_read_string(r, ret, &len) && strlen(*ret) == len;
}

/* A text, or a list of texts. */
static bool read_audience(struct json_reader *r, struct claims *c)
{
	if (json_peek(r) != JSON_ARRAY) {
		c->aud_count = 1;
		return read_claim_text(r, &c->aud[0]);
	}
	if (!json_enter_array(r))
		return false;
	while (json_next_item(r)) {
		if (c->aud_count == AUDIENCES_MAX || !read_claim_text(r, &c->aud[c->aud_count]))
			return false;
		c->aud_count++;
	}
	return !r->fault;
}

/* Some providers write the flag as a text. */
static bool read_verified(struct json_reader *r, struct claims *c)
{
	const char *text;

	if (json_peek(r) == JSON_BOOL)
		return json_read_bool(r, &c->email_verified);
	if (!read_claim_text(r, &text))
		return false;
	c->email_verified = strcmp(text, "true") == 0;
	return true;
}

static bool read_time(struct json_reader *r, double *ret, bool *ret_has)
{
	struct json_number n;

	*ret_has = true;
	if (json_peek(r) != JSON_NUMBER || !json_read_number(r, &n))
		return false;
	*ret = n.value;
	return true;
}

static bool read_claim(struct json_reader *r, const char *key, struct claims *c)
{
	const struct {
		const char *name, **to;
	} texts[] = {
		{ "iss", &c->iss },
		{ "sub", &c->sub },
		{ "azp", &c->azp },
		{ "nonce", &c->nonce },
		{ "email", &c->email },
		{ "name", &c->name },
	};
	const struct {
		const char *name;
		double *to;
		bool *has;
	} times[] = {
		{ "exp", &c->exp, &c->has_exp },
		{ "iat", &c->iat, &c->has_iat },
		{ "nbf", &c->nbf, &c->has_nbf },
	};

	if (json_peek(r) == JSON_NULL)
		return json_read_null(r);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (strcmp(texts[i].name, key) == 0)
			return read_claim_text(r, texts[i].to);
	for (size_t i = 0; i < sizeof times / sizeof *times; i++)
		if (strcmp(times[i].name, key) == 0)
			return read_time(r, times[i].to, times[i].has);
	if (strcmp(key, "aud") == 0)
		return read_audience(r, c);
	if (strcmp(key, "email_verified") == 0)
		return read_verified(r, c);
	c->bound |= strcmp(key, "cnf") == 0;
	return json_skip(r, NULL, NULL);
}

static bool read_claims(struct arena *a, const char *text, size_t text_len, struct claims *c)
{
	struct json_reader r;
	const char *key;
	size_t len;

	*c = (struct claims){ 0 };
	json_open(&r, a, text, text_len);
	if (json_peek(&r) != JSON_OBJECT || !json_enter_object(&r))
		return false;
	while (json_next_key(&r, &key, &len))
		if (strlen(key) != len ? !json_skip(&r, NULL, NULL) : !read_claim(&r, key, c))
			return false;
	return json_end(&r);
}

static bool claim_equals(const char *got, const char *wanted)
{
	return got && same_bytes(got, strlen(got), wanted, strlen(wanted));
}

static bool is_for(const struct claims *c, const char *audience)
{
	bool found = false;

	for (size_t i = 0; i < c->aud_count; i++)
		found |= claim_equals(c->aud[i], audience);
	if (c->azp && !claim_equals(c->azp, audience))
		return false;
	return found && (c->aud_count == 1 || c->azp);
}

static bool is_for_resource(const struct claims *c, const char *const *resources)
{
	bool found = false;

	for (; *resources; resources++)
		for (size_t i = 0; i < c->aud_count; i++)
			found |= claim_equals(c->aud[i], *resources);
	return found;
}

/* The first rule that the claims break, or NULL. */
static const char *broken_rule(const struct claims *c, const struct jwt_wanted *w)
{
	double now = (double)w->now_s;

	if (!claim_equals(c->iss, w->issuer))
		return "the issuer is another";
	if (w->resources ? !is_for_resource(c, w->resources) : !is_for(c, w->audience))
		return w->resources ? "it is for another resource" : "it is for another client";
	if (!c->has_exp || now >= c->exp + JWT_LEEWAY_S)
		return "it has ended";
	if (c->has_iat ? c->iat > now + JWT_LEEWAY_S || c->iat > c->exp : !w->resources)
		return "it was issued in the future";
	if (c->has_nbf && c->nbf > now + JWT_LEEWAY_S)
		return "it does not hold yet";
	if (!w->resources && !claim_equals(c->nonce, w->nonce))
		return "it answers another sign-in";
	if (w->resources && c->bound)
		return "it is bound to a key of its client's";
	if (!c->sub || !*c->sub || strlen(c->sub) > JWT_SUBJECT_MAX)
		return "it names nobody";
	return NULL;
}

/* A time beyond all days is the last one. */
static int64_t whole_seconds(double s)
{
	return s < (double)ENDS_MAX_S ? (int64_t)floor(s) : ENDS_MAX_S;
}

enum jwt_verdict jwt_verify(struct arena *a, const struct jwks *keys, const char *token, size_t len,
	const struct jwt_wanted *wanted, struct jwt_claims *ret, const char **ret_why)
{
	enum jwt_verdict verdict;
	struct claims c;
	struct token t;

	*ret_why = "it is not three parts of base64url";
	if (!split_token(a, token, len, &t))
		return JWT_REFUSED;
	verdict = check_signature(a, keys, &t, wanted->resources != NULL, ret_why);
	if (verdict != JWT_HOLDS)
		return verdict;
	*ret_why = "the claims cannot be read";
	if (!read_claims(a, (const char *)t.payload.at, t.payload.len, &c))
		return JWT_REFUSED;
	*ret_why = broken_rule(&c, wanted);
	if (*ret_why)
		return JWT_REFUSED;
	*ret = (struct jwt_claims){ .subject = c.sub,
		.email = c.email,
		.name = c.name,
		.email_verified = c.email_verified,
		.ends_s = whole_seconds(c.exp + JWT_LEEWAY_S) };
	return JWT_HOLDS;
}

const char *jwt_issuer(struct arena *a, const char *token, size_t len)
{
	struct claims c;
	struct token t;

	return split_token(a, token, len, &t) &&
			       read_claims(a, (const char *)t.payload.at, t.payload.len, &c)
		       ? c.iss
		       : NULL;
}

bool jwt_add_userinfo(struct arena *a, const char *text, size_t len, struct jwt_claims *claims)
{
	struct claims c;

	if (!read_claims(a, text, len, &c) || !claim_equals(c.sub, claims->subject))
		return false;
	claims->email = c.email;
	claims->email_verified = c.email_verified;
	claims->name = claims->name ? claims->name : c.name;
	return true;
}
