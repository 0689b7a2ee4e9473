/* credential.c - the credential of a request, read from its headers: a token in Authorization, or the
 * console's cookie.
 *
 * It knows how tokens look, and not whose they are: see caller.c. */
#include <string.h>
#include <strings.h>

#include "access/caller.h"
#include "base/base64.h"
#include "base/crypto.h"

enum {
	ISSUED_MAX = 16 * 1024, /* bytes of a token that another service gave */
	BASIC_MAX = 1024,	/* of a name and a password in base64 */
};

void credential_hash(const char *token, char out[65])
{
	uint8_t digest[SHA256_LEN];

	sha256(token, strlen(token), digest);
	hex_write(digest, sizeof digest, out);
}

static void take_token(struct credential *c, const char *token)
{
	size_t len = strlen(token);

	if (token_valid(TOKEN_KEY, token, len))
		c->kind = CREDENTIAL_KEY;
	else if (token_valid(TOKEN_LOGIN, token, len))
		c->kind = CREDENTIAL_LOGIN;
	else if (token_valid(TOKEN_MACHINE, token, len) && !c->cookie)
		c->kind = CREDENTIAL_MACHINE;
	else
		c->bad = true;
	if (!c->bad)
		credential_hash(token, c->hash);
}

/* The value of our cookie, copied out; false if it is not there. */
static bool find_cookie(const char *cookies, char *out, size_t room)
{
	const size_t name = strlen(COOKIE_NAME);

	for (const char *p = cookies; *p;) {
		size_t len = strcspn(p, ";");

		if (len > name && p[name] == '=' && memcmp(p, COOKIE_NAME, name) == 0 &&
			len - name - 1 < room) {
			memcpy(out, p + name + 1, len - name - 1);
			out[len - name - 1] = '\0';
			return true;
		}
		p += len;
		p += strspn(p, "; ");
	}
	return false;
}

/* The token of the header, or NULL. */
static const char *bearer_of(const char *authorization)
{
	return strncasecmp(authorization, "Bearer ", 7) == 0
		       ? authorization + 7 + strspn(authorization + 7, " ")
		       : NULL;
}

struct credential credential_read(const char *authorization, const char *cookies)
{
	struct credential c = { .kind = CREDENTIAL_NONE };
	const char *bearer = authorization ? bearer_of(authorization) : NULL;
	char token[TOKEN_MAX];

	if (authorization) {
		if (bearer)
			take_token(&c, bearer);
		else
			c.bad = true;
	} else if (cookies && find_cookie(cookies, token, sizeof token)) {
		c.cookie = true;
		take_token(&c, token);
	}
	return c;
}

/* Three parts of base64url with dots between, of which the first begins an object. */
static bool is_issued_form(const char *token)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	size_t len = strlen(token);

	if (len > ISSUED_MAX || strncmp(token, "eyJ", 3) != 0)
		return false;
	for (int part = 0; part < 3; part++) {
		size_t n = strspn(token, letters);

		if (!n || token[n] != (part < 2 ? '.' : '\0'))
			return false;
		token += n + 1;
	}
	return true;
}

struct credential credential_read_any(const char *authorization, const char *cookies)
{
	struct credential c = credential_read(authorization, cookies);
	const char *bearer = authorization && c.bad ? bearer_of(authorization) : NULL;

	if (!bearer || !is_issued_form(bearer))
		return c;
	c = (struct credential){ .kind = CREDENTIAL_ISSUED, .token = bearer };
	credential_hash(bearer, c.hash);
	return c;
}

struct credential credential_read_basic(struct arena *a, const char *authorization)
{
	static const char scheme[] = "Basic ";
	unsigned char *pair;
	const char *colon;
	size_t len;

	if (!authorization || strncasecmp(authorization, scheme, strlen(scheme)) != 0)
		return credential_read(authorization, NULL);
	authorization += strlen(scheme);
	len = strlen(authorization);
	pair = arena_alloc(a, base64_bytes(len) + 1);
	if (len > BASIC_MAX || !base64_decode(authorization, len, pair, &len) ||
		memchr(pair, '\0', len) || !(colon = strchr((char *)pair, ':')))
		return (struct credential){ .bad = true };
	return credential_read(arena_printf(a, "Bearer %s", colon + 1), NULL);
}
