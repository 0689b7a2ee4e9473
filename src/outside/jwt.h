/* jwt.h - is this token what it says, for us, now?  (RFC 7519, RFC 8725; ID tokens: OpenID Connect Core 3.1.3.7; access
 * tokens: RFC 9068)
 *
 * A token is three parts of base64url.  Nothing of it is believed before its
 * signature holds, except which key and algorithm it names, and those only
 * choose among what the provider published. */
#pragma once
#include "outside/jwk.h"

enum { JWT_MAX = 16 * 1024, JWT_LEEWAY_S = 60, JWT_SUBJECT_MAX = 255 };

/* What the token must say. */
struct jwt_wanted {
	const char *issuer;
	const char *audience, *nonce; /* of an ID token */
	/* Of an access token instead: it is for one of these, NULL-terminated. */
	const char *const *resources;
	int64_t now_s;
};

/* What a token that holds says. */
struct jwt_claims {
	const char *subject;
	const char *email, *name; /* NULL: not said */
	bool email_verified;
	int64_t ends_s; /* when it ends, the leeway included */
};

enum jwt_verdict {
	JWT_HOLDS,
	JWT_REFUSED,
	JWT_UNKNOWN_KEY, /* none of the keys is the one it names: they may have changed */
};

/* *ret_why is a few words for the log, if it does not hold. */
enum jwt_verdict jwt_verify(struct arena *a, const struct jwks *keys, const char *token, size_t len,
	const struct jwt_wanted *wanted, struct jwt_claims *ret, const char **ret_why);
/* Whose it claims to be, of which nothing is proven; NULL if it is no token. */
const char *jwt_issuer(struct arena *a, const char *token, size_t len);
/* Adds what a provider's userinfo says about the same subject; false if it is about another. */
bool jwt_add_userinfo(struct arena *a, const char *text, size_t len, struct jwt_claims *claims);
