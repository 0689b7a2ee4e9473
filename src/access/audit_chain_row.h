/* audit_chain_row.h - an audit row with its seal, and the digests that bind one to the other.
 *
 * Only audit_chain.c, which makes the chain, and audit_chain_check.c, which walks it, use
 * this.  Digests are over named lengths, so that no two rows can be written
 * alike, and do not depend on the engine: a chain survives being copied. */
#pragma once
#include "access/audit_chain.h"
#include "store/store.h"

enum { DIGEST_TEXT = 64 };

/* Why its statements name no tenant. */
#define ONE_CHAIN "the rows of all tenants are one chain"

/* First what is not personal, then what is, then the seal: see the counts below. */
struct sealed_row {
	const char *id, *tenant_id, *agent_id, *action, *resource_type, *resource_id;
	struct moment created_at;
	const char *user_id, *ip, *user_agent, *meta;
	int64_t seal_seq;
	const char *seal_salt, *seal_public, *seal_personal, *seal_mac;
	struct moment erased_at;
	const char *erase_mac;
};
extern const struct schema sealed_row_schema;

typedef char digest[DIGEST_TEXT + 1]; /* in hexadecimal digits */

/* Where the chain ends: how many rows are in it, and the last one's mac. */
struct chain_head {
	int64_t seq;
	digest mac;
};

void chain_public(const struct sealed_row *row, digest out);
/* Keyed with the row's own salt: without it nobody can guess the fields from the digest. */
void chain_personal(const struct sealed_row *row, const char *salt, digest out);
/* Over the row's digests and its place: its number and the mac before it. */
void seal_mac(const uint8_t key[CHAIN_KEY_LEN], const struct chain_head *before,
	const struct sealed_row *row, digest out);

/* Over whose personal part was erased, and when: only the service can say so. */
void chain_erasure(const uint8_t key[CHAIN_KEY_LEN], const char *id, int64_t erased_at, digest out);

enum { CHAIN_HEAD_TEXT = 20 + 2 * (DIGEST_TEXT + 1) };
/* The head as it is kept, with a mac of its own, and back; false if it is not of this key. */
void chain_head_write(const uint8_t key[CHAIN_KEY_LEN], const struct chain_head *head,
	char out[CHAIN_HEAD_TEXT + 1]);
bool chain_head_read(const uint8_t key[CHAIN_KEY_LEN], const char *text, struct chain_head *ret);
/* The head before the first row. */
struct chain_head chain_head_first(void);
