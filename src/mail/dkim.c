/* dkim.c - see dkim.h: signatures are found, and held against the message and the key. */
#include "mail/dkim.h"

#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/base64.h"
#include "mail/dkim_parts.h"

enum { VALUE_MAX = 16 * 1024, ED25519_LEN = 32, SIGNED_MAX = 1 << 20 };

static const char header_name[] = "DKIM-Signature";

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static struct slice trimmed(struct slice s)
{
	while (s.len && is_space(s.at[s.len - 1]))
		s.len--;
	while (s.len && is_space(*s.at)) {
		s.at++;
		s.len--;
	}
	return s;
}

/* ---- lists of tags: "v=1; a=rsa-sha256; …" ---- */

/* The value of a tag, with what blanks are in it; absent if it is not there.  *ret_ok is false for a tag that is there twice. */
static struct slice tag(struct slice list, const char *name, bool *ret_ok)
{
	const char *at = list.at, *end = list.at + list.len;
	struct slice found = { 0 };

	while (at < end) {
		const char *stop = memchr(at, ';', (size_t)(end - at)), *equals;
		struct slice key;

		stop = stop ? stop : end;
		equals = memchr(at, '=', (size_t)(stop - at));
		if (equals) {
			key = trimmed((struct slice){ at, (size_t)(equals - at) });
			if (key.len == strlen(name) && memcmp(key.at, name, key.len) == 0) {
				*ret_ok &= !found.at;
				found = (struct slice){ equals + 1, (size_t)(stop - equals - 1) };
			}
		}
		at = stop < end ? stop + 1 : end;
	}
	return found;
}

static bool tag_is(struct slice value, const char *text)
{
	value = trimmed(value);
	return value.at && value.len == strlen(text) && strncasecmp(value.at, text, value.len) == 0;
}

/* Whether a list with colons has this word, or is not there. */
static bool list_has(struct slice list, const char *word)
{
	const char *at = list.at, *end = list.at + list.len;

	if (!list.at)
		return true;
	while (at <= end) {
		const char *colon = at < end ? memchr(at, ':', (size_t)(end - at)) : NULL;

		colon = colon ? colon : end;
		if (tag_is((struct slice){ at, (size_t)(colon - at) }, word))
			return true;
		at = colon + 1;
	}
	return false;
}

static bool read_base64(struct arena *a, struct slice text, struct slice *ret)
{
	unsigned char *out;
	size_t len;

	if (!text.at || text.len > VALUE_MAX)
		return false;
	out = arena_raw(a, base64_bytes(text.len) + 1, 1);
	if (!base64_decode(text.at, text.len, out, &len) || !len)
		return false;
	*ret = (struct slice){ (const char *)out, len };
	return true;
}

/* A domain with small letters, or NULL. */
static const char *read_domain(struct arena *a, struct slice value)
{
	char *text;

	value = trimmed(value);
	if (!value.at || !mail_domain_valid(value.at, value.len))
		return NULL;
	text = arena_strndup(a, value.at, value.len);
	for (char *p = text; *p; p++)
		if (*p >= 'A' && *p <= 'Z')
			*p = (char)(*p | 0x20);
	return text;
}

static bool read_number(struct slice value, int64_t *ret)
{
	value = trimmed(value);
	*ret = 0;
	if (!value.len || value.len > 12)
		return false;
	for (size_t i = 0; i < value.len; i++) {
		if (value.at[i] < '0' || value.at[i] > '9')
			return false;
		*ret = *ret * 10 + (value.at[i] - '0');
	}
	return true;
}

/* ---- signatures ---- */

static bool ends_with_domain(const char *domain, const char *parent)
{
	size_t len = strlen(domain), n = strlen(parent);

	return len >= n && strcmp(domain + len - n, parent) == 0 &&
	       (len == n || domain[len - n - 1] == '.');
}

/* c=, whose two halves are simple where they are not said. */
static bool read_canonical(struct slice value, struct dkim_signature *s)
{
	const char *slash;
	struct slice head, body = { "simple", 6 };

	value = trimmed(value);
	if (!value.at)
		return true;
	slash = memchr(value.at, '/', value.len);
	head = (struct slice){ value.at, slash ? (size_t)(slash - value.at) : value.len };
	if (slash)
		body = (struct slice){ slash + 1, (size_t)(value.at + value.len - slash - 1) };
	s->relaxed_head = tag_is(head, "relaxed");
	s->relaxed_body = tag_is(body, "relaxed");
	return (s->relaxed_head || tag_is(head, "simple")) &&
	       (s->relaxed_body || tag_is(body, "simple"));
}

/* i=, which lies under d=; its local part says nothing to us. */
static bool read_identity(struct arena *a, struct slice value, struct dkim_signature *s)
{
	const char *at;

	s->identity_domain = s->domain;
	value = trimmed(value);
	if (!value.at)
		return true;
	at = value.len ? memrchr(value.at, '@', value.len) : NULL;
	if (!at)
		return false;
	s->identity_domain =
		read_domain(a, (struct slice){ at + 1, (size_t)(value.at + value.len - at - 1) });
	return s->identity_domain && ends_with_domain(s->identity_domain, s->domain);
}

/* Everything a signature says of itself; a sentence if it cannot count. */
static const char *read_signature(
	struct arena *a, struct slice list, int64_t now_s, struct dkim_signature *s)
{
	bool ok = true;
	struct slice v = tag(list, "v", &ok), alg = tag(list, "a", &ok), h = tag(list, "h", &ok),
		     l = tag(list, "l", &ok), x = tag(list, "x", &ok), q = tag(list, "q", &ok),
		     bh = tag(list, "bh", &ok), c = tag(list, "c", &ok), i = tag(list, "i", &ok),
		     t = tag(list, "t", &ok), hash;
	int64_t until;

	s->b_value = tag(list, "b", &ok);
	s->domain = read_domain(a, tag(list, "d", &ok));
	s->selector = read_domain(a, tag(list, "s", &ok));
	if (!ok)
		return "The signature says something twice.";
	if (!tag_is(v, "1") || !s->domain || !s->selector || !h.at)
		return "The signature is not complete.";
	s->ed25519 = tag_is(alg, "ed25519-sha256");
	if (!s->ed25519 && !tag_is(alg, "rsa-sha256"))
		return "The signature is of a kind that does not count.";
	if (l.at)
		return "The signature covers only a part of the body.";
	if (!list_has(h, "from"))
		return "The signature does not cover From.";
	if (q.at && !list_has(q, "dns/txt"))
		return "The key of the signature is not in the DNS.";
	if (x.at && (!read_number(x, &until) || until <= now_s))
		return "The signature has ended.";
	s->signed_at_s = -1;
	if ((t.at && !read_number(t, &s->signed_at_s)) || !read_canonical(c, s) ||
		!read_identity(a, i, s) || !read_base64(a, s->b_value, &s->bytes) ||
		!read_base64(a, bh, &hash) || hash.len != SHA256_LEN)
		return "The signature is not well formed.";
	memcpy(s->body_hash, hash.at, SHA256_LEN);
	s->names = arena_strndup(a, h.at, h.len);
	return NULL;
}

static void bad(struct dkim_signature *s, enum mail_verdict verdict, const char *fault)
{
	s->verdict = verdict;
	s->fault = fault;
}

void dkim_check_begin(
	struct arena *a, const char *message, size_t len, int64_t now_s, struct dkim_check *ret)
{
	uint8_t hash[2][SHA256_LEN];
	bool hashed[2] = { false, false };

	*ret = (struct dkim_check){ 0 };
	if (!dkim_split(a, message, len, ret))
		return;
	ret->at = arena_array(a, struct dkim_signature, DKIM_SIGNATURES_MAX);
	for (size_t i = 0; i < ret->field_count && ret->count < DKIM_SIGNATURES_MAX; i++) {
		struct dkim_signature *s = &ret->at[ret->count];
		const char *colon;

		if (!dkim_field_is(ret->fields[i], header_name, strlen(header_name)))
			continue;
		ret->count++;
		s->field = ret->fields[i];
		colon = memchr(s->field.at, ':', s->field.len);
		s->fault = read_signature(a,
			(struct slice){
				colon + 1, (size_t)(s->field.at + s->field.len - colon - 1) },
			now_s, s);
		if (s->fault)
			continue;
		if (!hashed[s->relaxed_body])
			dkim_hash_body(ret->body, s->relaxed_body, hash[s->relaxed_body]);
		hashed[s->relaxed_body] = true;
		if (memcmp(hash[s->relaxed_body], s->body_hash, SHA256_LEN) != 0)
			bad(s, MAIL_FAIL, "The body was changed after it was signed.");
		else
			s->key_name = arena_printf(a, "%s._domainkey.%s", s->selector, s->domain);
	}
}

/* ---- keys ---- */

/* The public key of a record, or NULL with a sentence and what the signature is then. */
static EVP_PKEY *read_key(struct arena *a, const struct dkim_signature *s, const char *record,
	enum mail_verdict *ret_verdict, const char **ret_fault)
{
	struct slice list = { record, strnlen(record, DKIM_RECORD_MAX + 1) }, bytes;
	bool ok = true;
	struct slice v = tag(list, "v", &ok), k = tag(list, "k", &ok), p = tag(list, "p", &ok),
		     h = tag(list, "h", &ok), service = tag(list, "s", &ok),
		     t = tag(list, "t", &ok);
	const unsigned char *at;
	EVP_PKEY *key;

	*ret_verdict = MAIL_FAIL;
	*ret_fault = "The record of the key is not well formed.";
	if (!ok || list.len > DKIM_RECORD_MAX || (v.at && !tag_is(v, "DKIM1")) || !p.at)
		return NULL;
	if (t.at && list_has(t, "y")) { /* as if it were not signed */
		*ret_verdict = MAIL_NONE;
		*ret_fault = "The key is there for tests alone.";
		return NULL;
	}
	*ret_fault = "The key was withdrawn.";
	if (!trimmed(p).len)
		return NULL;
	*ret_fault = "The key is not for this kind of signature.";
	if (!(k.at ? tag_is(k, s->ed25519 ? "ed25519" : "rsa") : !s->ed25519) ||
		!list_has(h, "sha256") || !(list_has(service, "email") || list_has(service, "*")))
		return NULL;
	if (t.at && list_has(t, "s") && strcmp(s->identity_domain, s->domain) != 0)
		return NULL;
	*ret_fault = "The key cannot be read.";
	if (!read_base64(a, p, &bytes))
		return NULL;
	at = (const unsigned char *)bytes.at;
	if (s->ed25519)
		return bytes.len == ED25519_LEN
			       ? EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, at, bytes.len)
			       : NULL;
	key = d2i_PUBKEY(NULL, &at, (long)bytes.len);
	if (key && EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA &&
		EVP_PKEY_get_bits(key) >= DKIM_BITS_MIN && EVP_PKEY_get_bits(key) <= DKIM_BITS_MAX)
		return key;
	if (key && EVP_PKEY_get_bits(key) < DKIM_BITS_MIN)
		*ret_fault = "The key has too few bits.";
	EVP_PKEY_free(key);
	return NULL;
}

/* What h= names, from the bottom of the message for a name that is there more than once. */
static bool put_named(
	struct arena *a, const struct dkim_check *c, const struct dkim_signature *s, struct buf *b)
{
	bool *used = arena_array(a, bool, c->field_count + 1);
	size_t count = 0;

	for (const char *p = s->names; *p;) {
		size_t n = strcspn(p, ":");
		struct slice name = trimmed((struct slice){ p, n });

		if (++count > DKIM_NAMES_MAX)
			return false;
		for (size_t i = c->field_count; i-- > 0;)
			if (!used[i] && name.len &&
				dkim_field_is(c->fields[i], name.at, name.len)) {
				used[i] = true;
				dkim_put_field(b, c->fields[i], s->relaxed_head);
				break;
			}
		p += n + (p[n] == ':');
	}
	return true;
}

/* The signature's own header with nothing behind b=, and no CR LF at its end. */
static void put_self(struct arena *a, const struct dkim_signature *s, struct buf *b)
{
	size_t before = (size_t)(s->b_value.at - s->field.at);
	size_t after = s->field.len - before - s->b_value.len;
	char *text = arena_raw(a, before + after + 1, 1);

	memcpy(text, s->field.at, before);
	memcpy(text + before, s->b_value.at + s->b_value.len, after);
	dkim_put_field(b, (struct slice){ text, before + after }, s->relaxed_head);
	b->len -= b->len >= 2 ? 2 : 0;
}

static bool verify(EVP_PKEY *key, const struct dkim_signature *s, const struct buf *b)
{
	const unsigned char *sig = (const unsigned char *)s->bytes.at;
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	uint8_t hash[SHA256_LEN];
	bool good = false;

	if (s->ed25519) { /* signs the hash, not the text */
		sha256(b->at, b->len, hash);
		good = ctx && EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, key) == 1 &&
		       EVP_DigestVerify(ctx, sig, s->bytes.len, hash, sizeof hash) == 1;
	} else {
		good = ctx && EVP_DigestVerifyInit(ctx, NULL, EVP_sha256(), NULL, key) == 1 &&
		       EVP_DigestVerify(
			       ctx, sig, s->bytes.len, (const unsigned char *)b->at, b->len) == 1;
	}
	EVP_MD_CTX_free(ctx);
	return good;
}

void dkim_check_key(struct arena *a, struct dkim_check *c, size_t which, const char *record)
{
	struct dkim_signature *s = &c->at[which];
	enum mail_verdict verdict;
	const char *fault;
	EVP_PKEY *key;
	struct buf b;

	if (s->fault || !s->key_name)
		return;
	if (!record) {
		bad(s, MAIL_NONE, "The key is not in the DNS.");
		return;
	}
	key = read_key(a, s, record, &verdict, &fault);
	if (!key) {
		bad(s, verdict, fault);
		return;
	}
	buf_init(&b, SIGNED_MAX);
	if (!put_named(a, c, s, &b)) {
		bad(s, MAIL_FAIL, "The signature names too many headers.");
	} else {
		put_self(a, s, &b);
		if (!b.overflow && b.len && verify(key, s, &b))
			s->verdict = MAIL_PASS;
		else
			bad(s, MAIL_FAIL, "The message was changed after it was signed.");
	}
	buf_free(&b);
	EVP_PKEY_free(key);
}

/* ---- what is covered ---- */

size_t dkim_fields_named(const struct dkim_check *c, const char *name)
{
	size_t count = 0;

	for (size_t i = 0; i < c->field_count; i++)
		count += dkim_field_is(c->fields[i], name, strlen(name));
	return count;
}

static size_t times_named(const struct dkim_signature *s, const char *name)
{
	size_t named = 0;

	for (const char *p = s->names; p && *p;) {
		size_t n = strcspn(p, ":");

		named += tag_is((struct slice){ p, n }, name);
		p += n + (p[n] == ':');
	}
	return named;
}

bool dkim_covers(const struct dkim_check *c, size_t which, const char *name)
{
	return times_named(&c->at[which], name) >= dkim_fields_named(c, name);
}

bool dkim_holds(const struct dkim_check *c, size_t which, const char *name)
{
	return times_named(&c->at[which], name) && dkim_covers(c, which, name);
}
