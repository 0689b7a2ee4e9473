/* webhook_verify.c - is a request signed by who it should be?  See webhook.h.
 *
 * Every scheme comes down to some bytes, a key, and texts of which one must
 * be our own code of those bytes.  Ours is written in the sender's form and
 * the texts are compared, so that a code has one spelling only.  All secrets
 * and all texts are tried, whatever the outcome of the first. */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "outside/webhook.h"

#define WHSEC "whsec_"

enum {
	HEX_LEN = 2 * SHA256_LEN,
	BASE64_LEN = 44, /* of 32 bytes */
	CODES_MAX = 16,	 /* signatures in one header */
	KEY_MIN = 24,	 /* Standard Webhooks: bytes of a key */
	KEY_MAX = 64,
	TIME_DIGITS = 12,
	KEY_NEW = 32,
};

/* A header that must come exactly once, and not be empty. */
static const char *single_header(const struct webhook_in *in, const char *name)
{
	size_t count = 0;
	const char *value = in->header(in->ctx, name, &count);

	return count == 1 && value && *value ? value : NULL;
}

static bool time_holds(const struct webhook_provider *p, const char *text, size_t len, int64_t now)
{
	int64_t seconds = 0, off;

	if (!len || len > TIME_DIGITS || strspn(text, "0123456789") < len)
		return false;
	for (size_t i = 0; i < len; i++)
		seconds = seconds * 10 + (text[i] - '0');
	off = now / SECOND_US - seconds;
	return off <= p->tolerance_s && -off <= p->tolerance_s;
}

/* ---- what was sent: the bytes that are signed, and the codes ---- */

struct claimed_code {
	const char *at;
	size_t len;
};

struct signature_claim {
	const char *bytes;
	size_t len;
	bool base64;
	bool timely;
	struct claimed_code codes[CODES_MAX];
	size_t count;
};

static bool claim_code(struct signature_claim *c, const char *at, size_t len)
{
	if (c->count == CODES_MAX)
		return false;
	c->codes[c->count++] = (struct claimed_code){ at, len };
	return true;
}

/* head, then the body. */
static void claim_bytes(
	struct signature_claim *c, struct arena *a, const struct webhook_in *in, const char *head)
{
	size_t n = strlen(head);
	char *all = arena_raw(a, n + in->len + 1, 1);

	memcpy(all, head, n);
	if (in->len)
		memcpy(all + n, in->body, in->len);
	c->bytes = all;
	c->len = n + in->len;
}

static bool claim_body(
	const struct webhook_provider *p, const struct webhook_in *in, struct signature_claim *c)
{
	const char *header = single_header(in, p->signature);
	size_t skip = strlen(p->prefix);

	c->bytes = in->body;
	c->len = in->len;
	c->timely = true;
	return header && strncmp(header, p->prefix, skip) == 0 &&
	       claim_code(c, header + skip, strlen(header + skip));
}

static bool claim_slack(const struct webhook_provider *p, struct arena *a,
	const struct webhook_in *in, struct signature_claim *c)
{
	const char *header = single_header(in, p->signature),
		   *time = single_header(in, p->time_header);
	size_t skip = strlen(p->prefix);

	if (!header || !time || strncmp(header, p->prefix, skip) != 0)
		return false;
	c->timely = time_holds(p, time, strlen(time), in->now_us);
	claim_bytes(c, a, in, arena_printf(a, "v0:%s:", time));
	return claim_code(c, header + skip, strlen(header + skip));
}

static bool claim_stripe(const struct webhook_provider *p, struct arena *a,
	const struct webhook_in *in, struct signature_claim *c)
{
	const char *header = single_header(in, p->signature), *time = NULL;
	size_t time_len = 0;

	for (const char *at = header; at && *at;) {
		size_t len = strcspn(at, ",");

		if (len > 2 && strncmp(at, "t=", 2) == 0) {
			if (time)
				return false;
			time = at + 2;
			time_len = len - 2;
		} else if (len > 3 && strncmp(at, "v1=", 3) == 0) {
			if (!claim_code(c, at + 3, len - 3))
				return false;
		}
		at += len;
		at += *at == ',';
	}
	if (!time)
		return false;
	c->timely = time_holds(p, time, time_len, in->now_us);
	claim_bytes(c, a, in, arena_printf(a, "%.*s.", (int)time_len, time));
	return true;
}

/* Svix says svix- for webhook-.  Who sends both says one thing: what is not signed must not stand for what is. */
static const char *standard_header(const struct webhook_provider *p, const struct webhook_in *in,
	const char *name, const char *svix)
{
	size_t own = 0, other = 0;
	const char *value = in->header(in->ctx, name, &own);
	const char *alias = p->scheme == SIGNS_STANDARD ? in->header(in->ctx, svix, &other) : NULL;

	if (!other)
		return single_header(in, name);
	if (!own)
		return single_header(in, svix);
	return own == 1 && other == 1 && *value && strcmp(value, alias) == 0 ? value : NULL;
}

static bool claim_standard(const struct webhook_provider *p, struct arena *a,
	const struct webhook_in *in, struct signature_claim *c)
{
	const char *header = standard_header(p, in, "webhook-signature", "svix-signature"),
		   *id = standard_header(p, in, "webhook-id", "svix-id"),
		   *time = standard_header(p, in, "webhook-timestamp", "svix-timestamp");

	if (!header || !id || !time)
		return false;
	for (const char *at = header; *at;) {
		size_t len = strcspn(at, " ");

		if (len > 3 && strncmp(at, "v1,", 3) == 0 && !claim_code(c, at + 3, len - 3))
			return false;
		at += len;
		at += *at == ' ';
	}
	c->base64 = true;
	c->timely = time_holds(p, time, strlen(time), in->now_us);
	claim_bytes(c, a, in, arena_printf(a, "%s.%s.", id, time));
	return true;
}

static bool claim_read(const struct webhook_provider *p, struct arena *a,
	const struct webhook_in *in, struct signature_claim *c)
{
	switch (p->scheme) {
	case SIGNS_BODY:
		return claim_body(p, in, c);
	case SIGNS_SLACK:
		return claim_slack(p, a, in, c);
	case SIGNS_STRIPE:
		return claim_stripe(p, a, in, c);
	case SIGNS_STANDARD:
	case SIGNS_GITLAB:
		return claim_standard(p, a, in, c);
	}
	return false;
}

/* ---- what it should be ---- */

/* The key of a Standard Webhooks secret; 0 if it is none. */
static size_t standard_key(const char *secret, uint8_t out[KEY_MAX])
{
	size_t n = 0, skip = strlen(WHSEC);

	if (strncmp(secret, WHSEC, skip) != 0 ||
		sodium_base642bin(out, KEY_MAX, secret + skip, strlen(secret) - skip, NULL, &n,
			NULL, sodium_base64_VARIANT_ORIGINAL))
		return 0;
	return n >= KEY_MIN ? n : 0;
}

static bool takes_keys(const struct webhook_provider *p, const char *secret)
{
	return p->scheme == SIGNS_STANDARD ||
	       (p->scheme == SIGNS_GITLAB && strncmp(secret, WHSEC, strlen(WHSEC)) == 0);
}

static bool code_matches(
	const struct webhook_provider *p, const struct signature_claim *c, const char *secret)
{
	uint8_t key[KEY_MAX], mac[SHA256_LEN];
	char ours[HEX_LEN + 1];
	size_t n = 0, len = c->base64 ? BASE64_LEN : HEX_LEN;
	bool holds = false;

	if (takes_keys(p, secret)) {
		n = standard_key(secret, key);
		hmac_sha256(key, n, c->bytes, c->len, mac);
	} else {
		n = strlen(secret);
		hmac_sha256(secret, n, c->bytes, c->len, mac);
	}
	if (c->base64)
		sodium_bin2base64(
			ours, sizeof ours, mac, sizeof mac, sodium_base64_VARIANT_ORIGINAL);
	else
		hex_write(mac, sizeof mac, ours);
	for (size_t i = 0; i < c->count; i++)
		holds |= same_bytes(ours, len, c->codes[i].at, c->codes[i].len);
	wipe(key, sizeof key);
	return holds && n > 0;
}

/* GitLab's older way: the secret itself.  Hashes are compared, so that not even its length shows. */
static bool token_matches(const char *sent, const char *secret)
{
	uint8_t theirs[SHA256_LEN], ours[SHA256_LEN];

	sha256(sent, strlen(sent), theirs);
	sha256(secret, strlen(secret), ours);
	return same_bytes(theirs, sizeof theirs, ours, sizeof ours) && *secret;
}

bool webhook_verify(const struct webhook_provider *p, struct arena *a, const struct webhook_in *in,
	const char *const *secrets, size_t count)
{
	struct signature_claim c = { .bytes = in->body, .len = in->len };
	bool whole = claim_read(p, a, in, &c), holds = false;
	const char *token = p->scheme == SIGNS_GITLAB ? single_header(in, "x-gitlab-token") : NULL;

	for (size_t i = 0; i < count; i++) {
		const char *secret = secrets[i] ? secrets[i] : "";

		/* whoever sends the secret itself knows it, whatever its form */
		if (p->scheme == SIGNS_GITLAB)
			holds |= token_matches(token ? token : "", secret);
		if (p->scheme != SIGNS_GITLAB || takes_keys(p, secret))
			holds |= code_matches(p, &c, secret) && whole && c.timely;
	}
	return holds;
}

/* ---- a body that comes in pieces ---- */

struct webhook_stream {
	struct sha256_run *inner; /* of HMAC, whose outer half follows at the end */
	uint8_t outer[KEY_MAX];
	struct signature_claim claim;
	bool holds; /* so far: headers and secret are what they must be */
};
_Static_assert(KEY_MAX == 64, "a key is no longer than a block of SHA-256");

struct webhook_stream *webhook_stream_begin(
	struct arena *a, const struct webhook_in *in, const char *secret)
{
	struct webhook_stream *s = arena_new(a, struct webhook_stream);
	struct webhook_in head = *in;
	uint8_t inner[KEY_MAX] = { 0 };
	size_t n = standard_key(secret, inner);

	head.body = "";
	head.len = 0;
	s->claim = (struct signature_claim){ .bytes = "" };
	s->holds = claim_standard(&webhook_providers[WEBHOOK_STANDARD], a, &head, &s->claim) &&
		   s->claim.timely && n;
	memset(inner + n, 0, sizeof inner - n);
	for (size_t i = 0; i < sizeof inner; i++) {
		s->outer[i] = inner[i] ^ 0x5c;
		inner[i] ^= 0x36;
	}
	s->inner = sha256_begin();
	sha256_add(s->inner, inner, sizeof inner);
	sha256_add(s->inner, s->claim.bytes, s->claim.len);
	wipe(inner, sizeof inner);
	return s;
}

void webhook_stream_add(struct webhook_stream *s, const void *bytes, size_t n)
{
	sha256_add(s->inner, bytes, n);
}

bool webhook_stream_end(struct webhook_stream *s)
{
	struct sha256_run *outer = sha256_begin();
	uint8_t mac[SHA256_LEN];
	char ours[HEX_LEN + 1];
	bool same = false;

	sha256_end(s->inner, mac);
	s->inner = NULL;
	sha256_add(outer, s->outer, sizeof s->outer);
	sha256_add(outer, mac, sizeof mac);
	sha256_end(outer, mac);
	wipe(s->outer, sizeof s->outer);
	sodium_bin2base64(ours, sizeof ours, mac, sizeof mac, sodium_base64_VARIANT_ORIGINAL);
	for (size_t i = 0; i < s->claim.count; i++)
		same |= same_bytes(ours, BASE64_LEN, s->claim.codes[i].at, s->claim.codes[i].len);
	return same && s->holds;
}

/* ---- secrets ---- */

const char *webhook_secret_new(const struct webhook_provider *p, struct arena *a)
{
	uint8_t key[KEY_NEW];
	char text[BASE64_LEN + HEX_LEN + 1];

	random_bytes(key, sizeof key);
	if (p->scheme == SIGNS_STANDARD || p->scheme == SIGNS_GITLAB)
		sodium_bin2base64(
			text, sizeof text, key, sizeof key, sodium_base64_VARIANT_ORIGINAL);
	else
		hex_write(key, sizeof key, text);
	wipe(key, sizeof key);
	return arena_printf(a, "%s%s",
		p->scheme == SIGNS_STANDARD || p->scheme == SIGNS_GITLAB ? WHSEC : "", text);
}

const char *webhook_secret_fault(const struct webhook_provider *p, const char *text)
{
	uint8_t key[KEY_MAX];
	size_t len = strlen(text), n;

	if (takes_keys(p, text)) {
		n = standard_key(text, key);
		wipe(key, sizeof key);
		return n ? NULL : "must be whsec_ and 24 to 64 bytes in base64";
	}
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			return "must not hold control characters";
	return len < WEBHOOK_SECRET_MIN || len > WEBHOOK_SECRET_MAX
		       ? "must have 8 to 255 characters"
		       : NULL;
}
