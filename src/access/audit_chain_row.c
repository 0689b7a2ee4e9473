/* audit_chain_row.c - see audit_chain_row.h. */
#include "access/audit_chain_row.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/crypto.h"

/* The most a row's fields come to; the ceilings of what is written lie far below. */
enum { FIELDS_MAX = 4 * 1024 * 1024 };

FIELDS(sealed_row) = {
	FIELD(sealed_row, id),
	FIELD(sealed_row, tenant_id, .nullable = true),
	FIELD(sealed_row, agent_id, .nullable = true),
	FIELD(sealed_row, action),
	FIELD(sealed_row, resource_type),
	FIELD(sealed_row, resource_id, .nullable = true),
	FIELD(sealed_row, created_at),
	FIELD(sealed_row, user_id, .nullable = true),
	FIELD(sealed_row, ip, .nullable = true),
	FIELD(sealed_row, user_agent, .nullable = true),
	FIELD(sealed_row, meta),
	FIELD(sealed_row, seal_seq, .nullable = true),
	FIELD(sealed_row, seal_salt, .nullable = true),
	FIELD(sealed_row, seal_public, .nullable = true),
	FIELD(sealed_row, seal_personal, .nullable = true),
	FIELD(sealed_row, seal_mac, .nullable = true),
	FIELD(sealed_row, erased_at, .nullable = true),
	FIELD(sealed_row, erase_mac, .nullable = true),
};
SCHEMA(sealed_row, .internal = true);

enum { PUBLIC_END = 7, PERSONAL_END = 11 };

void chain_first_key(const uint8_t master_key[CHAIN_KEY_LEN], uint8_t ret[CHAIN_KEY_LEN])
{
	static const char use[] = "audit chain";

	hmac_sha256(master_key, CHAIN_KEY_LEN, use, sizeof use - 1, ret);
}

/* name:length:value, or name:- for null. */
static void put_seal_text(struct buf *b, const char *name, const char *text)
{
	if (!text) {
		buf_printf(b, "%s:-\n", name);
		return;
	}
	buf_printf(b, "%s:%zu:", name, strlen(text));
	buf_puts(b, text);
	buf_putc(b, '\n');
}

static void put_seal_number(struct buf *b, const char *name, int64_t n)
{
	char text[24];

	snprintf(text, sizeof text, "%lld", (long long)n);
	put_seal_text(b, name, n == NIL ? NULL : text);
}

static void put_fields(struct buf *b, const struct sealed_row *row, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		const struct field *f = &sealed_row_fields[i];
		const void *at = (const char *)row + f->at;

		if (f->kind == MOMENT)
			put_seal_number(b, f->name, ((const struct moment *)at)->us);
		else
			put_seal_text(b, f->name, *(const char *const *)at);
	}
}

/* The digest of what was put, keyed or not, as text; the buffer goes. */
static void finish_seal_digest(struct buf *b, const void *key, size_t key_len, digest out)
{
	uint8_t bytes[SHA256_LEN];

	if (b->overflow)
		buf_lit(b, "too long");
	if (key)
		hmac_sha256(key, key_len, b->at, b->len, bytes);
	else
		sha256(b->at, b->len, bytes);
	hex_write(bytes, sizeof bytes, out);
	buf_free(b);
}

void chain_public(const struct sealed_row *row, digest out)
{
	struct buf b;

	buf_init(&b, FIELDS_MAX);
	put_fields(&b, row, 0, PUBLIC_END);
	finish_seal_digest(&b, NULL, 0, out);
}

void chain_personal(const struct sealed_row *row, const char *salt, digest out)
{
	struct buf b;

	buf_init(&b, FIELDS_MAX);
	put_fields(&b, row, PUBLIC_END, PERSONAL_END);
	finish_seal_digest(&b, salt, strlen(salt), out);
}

void seal_mac(const uint8_t key[CHAIN_KEY_LEN], const struct chain_head *before,
	const struct sealed_row *row, digest out)
{
	struct buf b;

	buf_init(&b, FIELDS_MAX);
	put_seal_text(&b, "before", before->mac);
	put_seal_number(&b, "seq", row->seal_seq);
	put_seal_text(&b, "id", row->id);
	put_seal_text(&b, "public", row->seal_public);
	put_seal_text(&b, "personal", row->seal_personal);
	finish_seal_digest(&b, key, CHAIN_KEY_LEN, out);
}

void chain_erasure(const uint8_t key[CHAIN_KEY_LEN], const char *id, int64_t erased_at, digest out)
{
	struct buf b;

	buf_init(&b, FIELDS_MAX);
	put_seal_text(&b, "erased", id);
	put_seal_number(&b, "at", erased_at);
	finish_seal_digest(&b, key, CHAIN_KEY_LEN, out);
}

struct chain_head chain_head_first(void)
{
	struct chain_head head = { 0 };

	for (size_t i = 0; i < DIGEST_TEXT; i++)
		head.mac[i] = '0';
	return head;
}

static void head_mac(const uint8_t key[CHAIN_KEY_LEN], const struct chain_head *head, digest out)
{
	struct buf b;

	buf_init(&b, FIELDS_MAX);
	put_seal_number(&b, "head", head->seq);
	put_seal_text(&b, "mac", head->mac);
	finish_seal_digest(&b, key, CHAIN_KEY_LEN, out);
}

void chain_head_write(const uint8_t key[CHAIN_KEY_LEN], const struct chain_head *head,
	char out[CHAIN_HEAD_TEXT + 1])
{
	digest own;

	head_mac(key, head, own);
	snprintf(out, CHAIN_HEAD_TEXT + 1, "%lld %s %s", (long long)head->seq, head->mac, own);
}

bool chain_head_read(const uint8_t key[CHAIN_KEY_LEN], const char *text, struct chain_head *ret)
{
	char again[CHAIN_HEAD_TEXT + 1], *end;

	*ret = chain_head_first();
	ret->seq = strtoll(text, &end, 10);
	if (*end != ' ' || strlen(end) != 2 * (DIGEST_TEXT + 1))
		return false;
	memcpy(ret->mac, end + 1, DIGEST_TEXT);
	chain_head_write(key, ret, again);
	return same_bytes(again, strlen(again), text, strlen(text));
}
