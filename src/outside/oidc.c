/* oidc.c - see oidc.h.
 *
 * Each provider has two documents: what it says about itself, and its keys.
 * Their text is kept as long as the provider says, an hour at most, and read
 * anew for each sign-in.  After a failure the provider is left alone for a
 * moment, so that one that hangs does not hold up the slow pool. */
#include "outside/oidc_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/log.h"
#include "contract/decode.h"
#include "outside/address.h"

enum {
	KEEP_MAX_S = 3600,	  /* a document, at the most */
	KEEP_PRESET_S = 300,	  /* if the provider does not say */
	KEEP_MIN_S = 60,	  /* whatever it says: strangers' tokens have it read, too */
	REST_MS = 2000,		  /* after a failure */
	REFRESH_EVERY_MS = 60000, /* keys that a token did not find */
	URL_MAX = 2000,
	KNOWN_MAX = 64, /* providers since the start, those that were taken off the list included */
};

FIELDS(oidc_facts) = {
	FIELD(oidc_facts, issuer, .required = true, BOUNDS(1, URL_MAX)),
	FIELD(oidc_facts, authorization_endpoint, .required = true, BOUNDS(1, URL_MAX)),
	FIELD(oidc_facts, token_endpoint, .required = true, BOUNDS(1, URL_MAX)),
	FIELD(oidc_facts, jwks_uri, .required = true, BOUNDS(1, URL_MAX)),
	FIELD(oidc_facts, userinfo_endpoint, .nullable = true, BOUNDS(1, URL_MAX)),
};
static SCHEMA(oidc_facts, .internal = true);

struct token_reply {
	const char *id_token, *access_token;
};

FIELDS(token_reply) = {
	FIELD(token_reply, id_token, .required = true, BOUNDS(1, JWT_MAX)),
	FIELD(token_reply, access_token, .nullable = true, BOUNDS(1, JWT_MAX)),
};
static SCHEMA(token_reply, .internal = true);

/* ---- the list ---- */

static enum egress provider_reach(const struct oidc_config *c, bool allow_private)
{
	if (allow_private)
		return EGRESS_ANY;
	return fetch_permits(c->issuer, EGRESS_LOOPBACK) && !fetch_permits(c->issuer, EGRESS_PUBLIC)
		       ? EGRESS_LOOPBACK
		       : EGRESS_PUBLIC;
}

static struct oidc_provider *add_oidc_provider(struct oidc *o, const struct oidc_config *c)
{
	struct oidc_provider *p = calloc(1, sizeof *p);
	size_t n = strlen(c->issuer);

	if (!p)
		abort();
	while (n && c->issuer[n - 1] == '/')
		n--;
	*p = (struct oidc_provider){
		.owner = o,
		.next = o->first,
		.config = { .name = arena_strdup(&o->arena, c->name),
			.issuer = arena_strdup(&o->arena, c->issuer),
			.client_id = arena_strdup(&o->arena, c->client_id) },
		.egress = provider_reach(c, o->allow_private),
		.facts_url = arena_printf(
			&o->arena, "%.*s/.well-known/openid-configuration", (int)n, c->issuer),
		.refreshed_ms = -REFRESH_EVERY_MS,
	};
	pthread_mutex_init(&p->lock, NULL);
	o->first = p;
	o->count++;
	return p;
}

static void drop_secret(struct oidc_provider *p)
{
	if (p->secret)
		wipe(p->secret, strlen(p->secret));
	free(p->secret);
	p->secret = NULL;
}

/* True if it was another. */
static bool set_secret(struct oidc_provider *p, const char *secret)
{
	bool differs;

	pthread_mutex_lock(&p->lock);
	differs = !p->secret || strcmp(p->secret, secret) != 0;
	if (differs) {
		drop_secret(p);
		p->secret = strdup(secret);
		if (!p->secret)
			abort();
	}
	pthread_mutex_unlock(&p->lock);
	return differs;
}

static struct oidc_provider *find_oidc_provider(const struct oidc *o, const struct oidc_config *c)
{
	struct oidc_provider *p = o->first;

	while (p &&
		(strcmp(p->config.name, c->name) != 0 || strcmp(p->config.issuer, c->issuer) != 0 ||
			strcmp(p->config.client_id, c->client_id) != 0))
		p = p->next;
	return p;
}

static size_t unknown_of(const struct oidc *o, const struct oidc_config *list, size_t count)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		n += !find_oidc_provider(o, &list[i]);
	return n;
}

/* Takes over one list; true if it says anything else than the one before. */
static bool take_over_list(struct oidc *o, const struct oidc_config *list, size_t count)
{
	size_t before = 0, stay = 0;
	bool differs = false;

	for (struct oidc_provider *p = o->first; p; p = p->next) {
		before += p->listed;
		p->was_listed = p->listed;
		p->listed = false;
	}
	for (size_t i = 0; i < count; i++) {
		struct oidc_provider *p = find_oidc_provider(o, &list[i]);

		if (!p)
			p = add_oidc_provider(o, &list[i]);
		differs |= set_secret(p, list[i].secret);
		p->listed = true;
		stay += p->was_listed;
	}
	return differs || before != count || stay != count;
}

bool oidc_takes(struct oidc *o, const struct oidc_config *list, size_t count)
{
	bool takes;

	pthread_rwlock_rdlock(&o->lock);
	takes = o->count + unknown_of(o, list, count) <= KNOWN_MAX;
	pthread_rwlock_unlock(&o->lock);
	return takes;
}

bool oidc_renew(struct oidc *o, const struct oidc_config *list, size_t count)
{
	bool differs;

	pthread_rwlock_wrlock(&o->lock);
	differs = take_over_list(o, list, count);
	pthread_rwlock_unlock(&o->lock);
	return differs;
}

struct oidc *oidc_new(
	const struct oidc_config *list, size_t count, bool allow_private, fetch_fn *fetch)
{
	struct oidc *o = calloc(1, sizeof *o);

	if (!o)
		abort();
	o->fetch = fetch;
	o->allow_private = allow_private;
	pthread_rwlock_init(&o->lock, NULL);
	pthread_mutex_init(&o->seen_lock, NULL);
	take_over_list(o, list, count);
	return o;
}

void oidc_free(struct oidc *o)
{
	if (!o)
		return;
	for (struct oidc_provider *p = o->first, *next; p; p = next) {
		next = p->next;
		for (int d = 0; d < DOCUMENTS; d++)
			free(p->kept[d].text);
		drop_secret(p);
		pthread_mutex_destroy(&p->lock);
		free(p);
	}
	pthread_rwlock_destroy(&o->lock);
	pthread_mutex_destroy(&o->seen_lock);
	arena_free(&o->arena);
	free(o);
}

struct oidc_provider *oidc_find(struct oidc *o, const char *name)
{
	struct oidc_provider *p;

	if (!o)
		return NULL;
	pthread_rwlock_rdlock(&o->lock);
	p = o->first;
	while (p && (!p->listed || strcmp(p->config.name, name) != 0))
		p = p->next;
	pthread_rwlock_unlock(&o->lock);
	return p;
}

size_t oidc_names(struct oidc *o, struct arena *a, const char **list)
{
	size_t count = 0;

	if (!o)
		return 0;
	pthread_rwlock_rdlock(&o->lock);
	for (const struct oidc_provider *p = o->first; p && count < OIDC_PROVIDERS_MAX; p = p->next)
		if (p->listed)
			list[count++] = arena_strdup(a, p->config.name);
	pthread_rwlock_unlock(&o->lock);
	return count;
}

const char *oidc_issuer(const struct oidc_provider *p)
{
	return p->config.issuer;
}

/* ---- documents ---- */

static int provider_complain(struct oidc_provider *p, int err, const char *what, const char *why)
{
	pthread_mutex_lock(&p->lock);
	snprintf(p->why, sizeof p->why, "%s", why);
	pthread_mutex_unlock(&p->lock);
	log_warn("a provider could not sign somebody in", LOG_S("provider", p->config.name),
		LOG_S("step", what), LOG_S("why", why));
	return err;
}

const char *oidc_why(struct oidc_provider *p, struct arena *a)
{
	const char *why;

	pthread_mutex_lock(&p->lock);
	why = arena_strdup(a, p->why);
	pthread_mutex_unlock(&p->lock);
	return why;
}

/* A copy of what is kept and still good: 0; ERR_NOT_FOUND; ERR_BUSY while the provider rests. */
static int recall_document(
	struct oidc_provider *p, enum oidc_document which, struct arena *a, struct fetched *out)
{
	struct kept_document *k = &p->kept[which];
	int64_t now = clock_mono_ms();
	int err = ERR_NOT_FOUND;

	pthread_mutex_lock(&p->lock);
	if (k->text && now < k->until_ms) {
		*out = (struct fetched){ .body = arena_strndup(a, k->text, k->len), .len = k->len };
		err = 0;
	} else if (now < k->rests_until_ms) {
		err = ERR_BUSY;
	}
	pthread_mutex_unlock(&p->lock);
	return err;
}

static void keep_document(
	struct oidc_provider *p, enum oidc_document which, const struct fetched *in)
{
	struct kept_document *k = &p->kept[which];
	int64_t age = in->max_age_s < 0		   ? KEEP_PRESET_S
		      : in->max_age_s < KEEP_MIN_S ? KEEP_MIN_S
						   : in->max_age_s;
	char *text = malloc(in->len + 1);

	if (!text)
		return;
	memcpy(text, in->body, in->len + 1);
	pthread_mutex_lock(&p->lock);
	free(k->text);
	k->text = text;
	k->len = in->len;
	k->until_ms = clock_mono_ms() + 1000 * (age > KEEP_MAX_S ? KEEP_MAX_S : age);
	k->rests_until_ms = 0;
	pthread_mutex_unlock(&p->lock);
}

static void let_rest(struct oidc_provider *p, enum oidc_document which)
{
	pthread_mutex_lock(&p->lock);
	p->kept[which].rests_until_ms = clock_mono_ms() + REST_MS;
	pthread_mutex_unlock(&p->lock);
}

static int fetch_document(struct oidc_provider *p, enum oidc_document which, const char *url,
	struct arena *a, struct fetched *out)
{
	static const char *const names[] = { [FACTS] = "discovery", [KEYS] = "keys" };
	struct fetch in = { .url = url, .egress = p->egress };
	const char *why = NULL;
	int err = p->owner->fetch(&in, a, out, &why);

	if (!err && out->status != 200) {
		why = arena_printf(a, "it answers %d", out->status);
		err = ERR_UPSTREAM;
	}
	if (!err)
		return 0;
	let_rest(p, which);
	return provider_complain(p, err, names[which], why);
}

/* Every address in it must be one that may be called; the browser is sent to the first. */
static bool facts_hold(const struct oidc_provider *p, struct arena *a, const struct fetched *got,
	struct oidc_facts *ret)
{
	struct problem ignored = { 0 };

	if (decode_body(NULL, a, &oidc_facts_schema, UNKNOWN_IGNORED, got->body, got->len, ret,
		    &ignored))
		return false;
	return strcmp(ret->issuer, p->config.issuer) == 0 &&
	       fetch_permits(ret->authorization_endpoint, p->egress) &&
	       !ret->authorization_endpoint[strcspn(
		       ret->authorization_endpoint, "\r\n\t \"<>\\^`{|}")] &&
	       fetch_permits(ret->token_endpoint, p->egress) &&
	       fetch_permits(ret->jwks_uri, p->egress);
}

int oidc_discover(struct oidc_provider *p, struct arena *a, struct oidc_facts *ret)
{
	struct fetched got;
	int err = recall_document(p, FACTS, a, &got);

	if (err == ERR_BUSY)
		return ERR_UPSTREAM;
	if (err)
		err = fetch_document(p, FACTS, p->facts_url, a, &got);
	else if (facts_hold(p, a, &got, ret))
		return 0;
	if (err)
		return err;
	if (!facts_hold(p, a, &got, ret)) {
		let_rest(p, FACTS);
		return provider_complain(p, ERR_UPSTREAM, "discovery",
			"the document is for another issuer, or names addresses it must not");
	}
	keep_document(p, FACTS, &got);
	return 0;
}

/* The keys; with `anew` from the provider, but not more often than every minute (ERR_BUSY). */
static int get_keys(struct oidc_provider *p, const struct oidc_facts *facts, bool anew,
	struct arena *a, struct jwks *ret)
{
	int64_t now = clock_mono_ms();
	struct fetched got;
	int err;

	if (anew) {
		pthread_mutex_lock(&p->lock);
		err = now - p->refreshed_ms < REFRESH_EVERY_MS ? ERR_BUSY : ERR_NOT_FOUND;
		if (err == ERR_NOT_FOUND)
			p->refreshed_ms = now;
		pthread_mutex_unlock(&p->lock);
	} else {
		err = recall_document(p, KEYS, a, &got);
	}
	if (err == ERR_BUSY)
		return anew ? ERR_BUSY : ERR_UPSTREAM;
	if (!err)
		return jwks_read(a, got.body, got.len, ret) ? 0 : ERR_UPSTREAM;
	err = fetch_document(p, KEYS, facts->jwks_uri, a, &got);
	if (err)
		return err;
	if (!jwks_read(a, got.body, got.len, ret)) {
		let_rest(p, KEYS);
		return provider_complain(
			p, ERR_UPSTREAM, "keys", "the document is not a set of keys");
	}
	keep_document(p, KEYS, &got);
	return 0;
}

/* ---- a sign-in ---- */

const char *oidc_authorize_url(const struct oidc_provider *p, const struct oidc_facts *facts,
	const struct oidc_flow *flow, struct arena *a)
{
	uint8_t challenge[SHA256_LEN];
	const char *endpoint = facts->authorization_endpoint;

	sha256(flow->verifier, strlen(flow->verifier), challenge);
	return arena_printf(a,
		"%s%cresponse_type=code&client_id=%s&redirect_uri=%s&scope=openid%%20email%%20profile"
		"&state=%s&nonce=%s&code_challenge=%s&code_challenge_method=S256",
		endpoint, strchr(endpoint, '?') ? '&' : '?', fetch_escape(a, p->config.client_id),
		fetch_escape(a, flow->redirect_uri), fetch_escape(a, flow->state),
		fetch_escape(a, flow->nonce), base64url_write(a, challenge, sizeof challenge));
}

static const char *secret_of(struct oidc_provider *p, struct arena *a)
{
	const char *secret;

	pthread_mutex_lock(&p->lock);
	secret = arena_strdup(a, p->secret);
	pthread_mutex_unlock(&p->lock);
	return secret;
}

/* An answer of 4xx is about the code, anything else about the provider. */
static int exchange_code(struct oidc_provider *p, const struct oidc_facts *facts,
	const struct oidc_flow *flow, const char *code, struct arena *a, struct token_reply *ret)
{
	struct fetch in = {
		.url = facts->token_endpoint,
		.egress = p->egress,
		.user = fetch_escape(a, p->config.client_id),
		.password = fetch_escape(a, secret_of(p, a)),
		.form = arena_printf(a,
			"grant_type=authorization_code&code=%s&redirect_uri=%s&code_verifier=%s",
			fetch_escape(a, code), fetch_escape(a, flow->redirect_uri),
			fetch_escape(a, flow->verifier)),
	};
	struct problem ignored = { 0 };
	const char *why = NULL;
	struct fetched got;
	int err = p->owner->fetch(&in, a, &got, &why);

	if (err)
		return provider_complain(p, err, "token", why);
	if (got.status != 200)
		return provider_complain(p,
			got.status / 100 == 4 ? ERR_UNAUTHENTICATED : ERR_UPSTREAM, "token",
			arena_printf(a, "it answers %d", got.status));
	if (decode_body(NULL, a, &token_reply_schema, UNKNOWN_IGNORED, got.body, got.len, ret,
		    &ignored))
		return provider_complain(
			p, ERR_UNAUTHENTICATED, "token", "the answer has no ID token");
	return 0;
}

int oidc_verify(struct oidc_provider *p, const struct oidc_facts *facts, const char *token,
	const struct jwt_wanted *wanted, struct arena *a, struct jwt_claims *ret,
	const char **ret_why)
{
	enum jwt_verdict verdict = JWT_REFUSED;
	struct jwks keys;
	int err = get_keys(p, facts, false, a, &keys);

	if (!err)
		verdict = jwt_verify(a, &keys, token, strlen(token), wanted, ret, ret_why);
	if (!err && verdict == JWT_UNKNOWN_KEY) {
		err = get_keys(p, facts, true, a, &keys);
		if (!err)
			verdict = jwt_verify(a, &keys, token, strlen(token), wanted, ret, ret_why);
		else if (err == ERR_BUSY)
			err = 0;
	}
	return err ? err : verdict == JWT_HOLDS ? 0 : ERR_UNAUTHENTICATED;
}

static int verify_id_token(struct oidc_provider *p, const struct oidc_facts *facts,
	const char *token, const struct jwt_wanted *wanted, struct arena *a, struct jwt_claims *ret)
{
	const char *why = NULL;
	int err = oidc_verify(p, facts, token, wanted, a, ret, &why);

	return err == ERR_UNAUTHENTICATED ? provider_complain(p, err, "ID token", why) : err;
}

/* A provider may leave the address out of the ID token and tell it only where one asks for it. */
static int ask_userinfo(struct oidc_provider *p, const struct oidc_facts *facts,
	const struct token_reply *tokens, struct arena *a, struct jwt_claims *ret)
{
	struct fetch in = {
		.url = facts->userinfo_endpoint, .egress = p->egress, .bearer = tokens->access_token
	};
	const char *why = NULL;
	struct fetched got;
	int err;

	if (!in.url || !in.bearer)
		return 0;
	err = p->owner->fetch(&in, a, &got, &why);
	if (err)
		return provider_complain(p, err, "userinfo", why);
	if (got.status != 200 || !jwt_add_userinfo(a, got.body, got.len, ret))
		return provider_complain(
			p, ERR_UNAUTHENTICATED, "userinfo", "the answer is not about this user");
	return 0;
}

int oidc_redeem(struct oidc_provider *p, const struct oidc_flow *flow, const char *code,
	struct arena *a, struct jwt_claims *ret)
{
	struct jwt_wanted wanted = { .issuer = p->config.issuer,
		.audience = p->config.client_id,
		.nonce = flow->nonce,
		.now_s = clock_now_us() / SECOND_US };
	struct token_reply tokens;
	struct oidc_facts facts;
	int err = oidc_discover(p, a, &facts);

	if (!err)
		err = exchange_code(p, &facts, flow, code, a, &tokens);
	if (!err)
		err = verify_id_token(p, &facts, tokens.id_token, &wanted, a, ret);
	return err || ret->email ? err : ask_userinfo(p, &facts, &tokens, a, ret);
}
