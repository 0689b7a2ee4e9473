/* dkim_sign.c - signatures on what is sent, relaxed on both sides; see dkim.h.  From, and what a reader goes by, is named once
 * more than it is there, so that nobody can add another behind our back. */
#include <openssl/evp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/memory.h"
#include "mail/dkim_parts.h"

enum { SIGNED_MAX = 1 << 20, SIGNATURE_MAX = DKIM_BITS_MAX / 8, FOLD = 70, ED25519_LEN = 32 };

struct dkim_key {
	EVP_PKEY *pkey;
	bool ed25519;
};

static const struct {
	const char *name;
	bool again; /* named once more than it is there */
} signed_headers[] = {
	{ "From", true },
	{ "To", true },
	{ "Cc", true },
	{ "Subject", true },
	{ "Date", true },
	{ "Message-ID", true },
	{ "Reply-To", true },
	{ "In-Reply-To", false },
	{ "References", false },
	{ "MIME-Version", false },
	{ "Content-Type", true },
	{ "Content-Transfer-Encoding", false },
	{ "Auto-Submitted", false },
	{ "List-Unsubscribe", false },
	{ "List-Unsubscribe-Post", false },
};

struct dkim_key *dkim_key_read(const char *pem, size_t len, const char **ret_fault)
{
	BIO *bio = BIO_new_mem_buf(pem, (int)len);
	EVP_PKEY *pkey = bio ? PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL) : NULL;
	struct dkim_key *k;

	BIO_free(bio);
	ERR_clear_error();
	*ret_fault = "This is no private key in PEM.";
	if (!pkey)
		return NULL;
	*ret_fault = "The key must be of Ed25519, or of RSA with 1024 to 8192 bits.";
	if (EVP_PKEY_get_base_id(pkey) != EVP_PKEY_ED25519 &&
		(EVP_PKEY_get_base_id(pkey) != EVP_PKEY_RSA ||
			EVP_PKEY_get_bits(pkey) < DKIM_BITS_MIN ||
			EVP_PKEY_get_bits(pkey) > DKIM_BITS_MAX)) {
		EVP_PKEY_free(pkey);
		return NULL;
	}
	*ret_fault = NULL;
	k = memory_zeroed(sizeof *k);
	k->pkey = pkey;
	k->ed25519 = EVP_PKEY_get_base_id(pkey) == EVP_PKEY_ED25519;
	return k;
}

void dkim_key_free(struct dkim_key *k)
{
	if (k)
		EVP_PKEY_free(k->pkey);
	free(k);
}

static const char *base64_text(struct arena *a, const void *bytes, size_t len)
{
	size_t n = base64_length(len);
	char *text = arena_raw(a, n + 1, 1);

	base64_encode(bytes, len, text);
	text[n] = '\0';
	return text;
}

const char *dkim_key_record(struct arena *a, const struct dkim_key *k)
{
	unsigned char raw[ED25519_LEN], *der = NULL;
	size_t raw_len = sizeof raw;
	const char *text;
	int len;

	if (k->ed25519) {
		EVP_PKEY_get_raw_public_key(k->pkey, raw, &raw_len);
		return arena_printf(a, "v=DKIM1; k=ed25519; p=%s", base64_text(a, raw, raw_len));
	}
	len = i2d_PUBKEY(k->pkey, &der);
	text = arena_printf(
		a, "v=DKIM1; k=rsa; p=%s", base64_text(a, der, len > 0 ? (size_t)len : 0));
	OPENSSL_free(der);
	return text;
}

/* ---- the header ---- */

static size_t count_fields(const struct dkim_check *m, const char *name)
{
	size_t n = 0;

	for (size_t i = 0; i < m->field_count; i++)
		n += dkim_field_is(m->fields[i], name, strlen(name));
	return n;
}

/* The fields that are signed, from the bottom for a name, into b; their names, with colons, into h. */
static void put_signed(const struct dkim_check *m, struct buf *b, struct buf *h)
{
	for (size_t i = 0; i < sizeof signed_headers / sizeof *signed_headers; i++) {
		const char *name = signed_headers[i].name;
		size_t there = count_fields(m, name);

		for (size_t k = m->field_count; k-- > 0;)
			if (dkim_field_is(m->fields[k], name, strlen(name)))
				dkim_put_field(b, m->fields[k], true);
		for (size_t k = 0; k < there + signed_headers[i].again; k++) {
			if (h->len)
				buf_puts(h, k || i % 4 ? ":" : ":\r\n\t");
			buf_puts(h, name);
		}
	}
}

static bool sign(const struct dkim_key *k, const struct buf *b, unsigned char *out, size_t *len)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	uint8_t hash[SHA256_LEN];
	bool good;

	if (k->ed25519) {
		sha256(b->at, b->len, hash);
		good = ctx && EVP_DigestSignInit(ctx, NULL, NULL, NULL, k->pkey) == 1 &&
		       EVP_DigestSign(ctx, out, len, hash, sizeof hash) == 1;
	} else {
		good = ctx && EVP_DigestSignInit(ctx, NULL, EVP_sha256(), NULL, k->pkey) == 1 &&
		       EVP_DigestSign(ctx, out, len, (const unsigned char *)b->at, b->len) == 1;
	}
	EVP_MD_CTX_free(ctx);
	return good;
}

/* Base64 over as many lines as it takes. */
static void put_folded(struct buf *b, const char *text)
{
	for (size_t len = strlen(text), i = 0; i < len; i += FOLD) {
		buf_lit(b, "\r\n\t");
		buf_put(b, text + i, len - i < FOLD ? len - i : FOLD);
	}
}

const char *dkim_sign(struct arena *a, const struct dkim_key *k, const char *domain,
	const char *selector, int64_t now_s, const char *message, size_t len)
{
	unsigned char bytes[SIGNATURE_MAX];
	uint8_t hash[SHA256_LEN];
	struct dkim_check m = { 0 };
	struct buf b, names, field;
	size_t n = sizeof bytes;
	bool good;

	if (!dkim_split(a, message, len, &m) || count_fields(&m, "From") != 1)
		return NULL;
	buf_init(&b, SIGNED_MAX);
	buf_init(&names, SIGNED_MAX);
	buf_init(&field, SIGNED_MAX);
	put_signed(&m, &b, &names);
	dkim_hash_body(m.body, true, hash);
	buf_printf(&field,
		"DKIM-Signature: v=1; a=%s-sha256; c=relaxed/relaxed;\r\n\td=%s; s=%s; t=%lld;\r\n"
		"\th=%s;\r\n\tbh=%s;\r\n\tb=",
		k->ed25519 ? "ed25519" : "rsa", domain, selector, (long long)now_s,
		buf_text(&names), base64_text(a, hash, sizeof hash));
	dkim_put_field(&b, (struct slice){ field.at, field.len }, true);
	b.len -= 2;
	good = !b.overflow && !names.overflow && !field.overflow && sign(k, &b, bytes, &n);
	put_folded(&field, base64_text(a, bytes, good ? n : 0));
	buf_lit(&field, "\r\n");
	buf_free(&b);
	buf_free(&names);
	if (good && !field.overflow)
		return arena_take(a, &field);
	buf_free(&field);
	return NULL;
}
