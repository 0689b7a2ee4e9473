/* oidc_token.c - access tokens of a provider, shown to us as to a protected resource (RFC 9068); see oidc.h.
 *
 * A token that was found to hold is remembered for a minute, by its digest, so that whoever
 * asks often is neither verified each time nor waits for the slow pool; nothing else is remembered,
 * and a token that does not hold costs its sender's lane of the pool one look each time.  Why it
 * does not is told to whoever sent it and not to the log, which strangers would fill. */
#include "outside/oidc_parts.h"

#include <string.h>

#include "base/clock.h"

enum { SEEN_KEEP_MS = 60 * 1000 };

/* The same token may be good for one resource and not for another. */
static void digest_token(const struct oidc_token *t, struct arena *a, uint8_t out[SHA256_LEN])
{
	const char *text = t->hash;

	for (const char *const *r = t->resources; *r; r++)
		text = arena_printf(a, "%s\n%s", text, *r);
	sha256(text, strlen(text), out);
}

static struct oidc_seen *seen_cell_of(struct oidc *o, const uint8_t digest[SHA256_LEN])
{
	return &o->seen[(digest[0] | (size_t)digest[1] << 8) % OIDC_SEEN_CELLS];
}

static bool recall_token(
	struct oidc *o, struct arena *a, const uint8_t digest[SHA256_LEN], struct oidc_bearer *ret)
{
	struct oidc_seen *cell = seen_cell_of(o, digest);
	bool found;

	pthread_rwlock_rdlock(&o->lock);
	pthread_mutex_lock(&o->seen_lock);
	found = cell->provider && cell->provider->listed && clock_mono_ms() < cell->until_ms &&
		memcmp(cell->digest, digest, SHA256_LEN) == 0;
	if (found)
		*ret = (struct oidc_bearer){ .provider = cell->provider->config.name,
			.subject = arena_strdup(a, cell->subject),
			.ends_s = cell->ends_s };
	pthread_mutex_unlock(&o->seen_lock);
	pthread_rwlock_unlock(&o->lock);
	return found;
}

static void keep_token(struct oidc *o, const struct oidc_provider *p,
	const uint8_t digest[SHA256_LEN], const struct jwt_claims *claims)
{
	struct oidc_seen *cell = seen_cell_of(o, digest);

	pthread_mutex_lock(&o->seen_lock);
	*cell = (struct oidc_seen){
		.provider = p, .ends_s = claims->ends_s, .until_ms = clock_mono_ms() + SEEN_KEEP_MS
	};
	memcpy(cell->digest, digest, SHA256_LEN);
	memcpy(cell->subject, claims->subject, strlen(claims->subject) + 1);
	pthread_mutex_unlock(&o->seen_lock);
}

/* Of those with this issuer the one whose name is first: an issuer knows a person by one subject. */
static struct oidc_provider *find_by_issuer(struct oidc *o, const char *issuer)
{
	struct oidc_provider *found = NULL;

	pthread_rwlock_rdlock(&o->lock);
	for (struct oidc_provider *p = o->first; p; p = p->next)
		if (p->listed && strcmp(p->config.issuer, issuer) == 0 &&
			(!found || strcmp(p->config.name, found->config.name) < 0))
			found = p;
	pthread_rwlock_unlock(&o->lock);
	return found;
}

int oidc_bearer(struct oidc *o, struct arena *a, const struct oidc_token *t, bool waits,
	struct oidc_bearer *ret, const char **ret_why)
{
	struct jwt_wanted wanted = { .resources = t->resources,
		.now_s = clock_now_us() / SECOND_US };
	uint8_t digest[SHA256_LEN];
	struct oidc_provider *p;
	struct jwt_claims claims;
	struct oidc_facts facts;
	int err;

	digest_token(t, a, digest);
	if (o && recall_token(o, a, digest, ret))
		return 0;
	wanted.issuer = jwt_issuer(a, t->text, strlen(t->text));
	p = o && wanted.issuer ? find_by_issuer(o, wanted.issuer) : NULL;
	*ret_why = wanted.issuer ? "its issuer is none at whom people sign in here"
				 : "it names no issuer";
	if (!p)
		return ERR_UNAUTHENTICATED;
	if (!waits)
		return ERR_BUSY;
	wanted.issuer = p->config.issuer;
	err = oidc_discover(p, a, &facts);
	if (!err)
		err = oidc_verify(p, &facts, t->text, &wanted, a, &claims, ret_why);
	if (err)
		return err;
	keep_token(o, p, digest, &claims);
	*ret = (struct oidc_bearer){
		.provider = p->config.name, .subject = claims.subject, .ends_s = claims.ends_s
	};
	return 0;
}
