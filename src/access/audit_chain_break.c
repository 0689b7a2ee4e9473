/* audit_chain_break.c - see audit_chain_break.h. */
#include "access/audit_chain_break.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access/audit_chain_row.h"
#include "base/crypto.h"

enum { META_READ, META_WRITE };

static const struct statement sql[] = {
	[META_READ] = { "chain_break_read", "select value from meta where key = $1",
		.row = &one_text_schema },
	[META_WRITE] = { "chain_break_write", "insert into meta (key, value) values ($1, $2) "
					      "on conflict (key) do update set value = $2" },
};
STATEMENT_SET(chain_break_sql, sql);

/* Number, time, and a mac over both. */
static const char *break_text(
	struct arena *a, const uint8_t key[CHAIN_KEY_LEN], const struct chain_break *b)
{
	const char *said = arena_printf(a, "break %lld %lld", (long long)b->seq, (long long)b->at);
	uint8_t mac[SHA256_LEN];
	digest text;

	hmac_sha256(key, CHAIN_KEY_LEN, said, strlen(said), mac);
	hex_write(mac, sizeof mac, text);
	return arena_printf(a, "%lld %lld %s", (long long)b->seq, (long long)b->at, text);
}

int chain_break_make(struct db *db, struct arena *a, struct vault *vault, int64_t now)
{
	uint8_t key[CHAIN_KEY_LEN];
	char head_text[CHAIN_HEAD_TEXT + 1];
	struct chain_head head = chain_head_first();
	struct chain_break broken = { .at = now };
	struct one_text row;
	const char *sealed;
	int err = db_one(db, a, &sql[META_READ], &row, ARGS(T("audit_head")));

	if (err && err != ERR_NOT_FOUND)
		return err;
	random_bytes(key, sizeof key);
	if (!err)
		chain_head_read(key, row.value, &head); /* not of this key, but read all the same */
	broken.seq = head.seq;
	chain_head_write(key, &head, head_text);
	sealed = vault_seal(vault, a, SEALED_AUDIT_KEY, CHAIN_KEY_CONTEXT, key, CHAIN_KEY_LEN);
	err = sealed ? db_run(db, &sql[META_WRITE], NULL, ARGS(T("audit_key"), T(sealed)))
		     : ERR_KEY;
	if (!err)
		err = db_run(db, &sql[META_WRITE], NULL, ARGS(T("audit_head"), T(head_text)));
	if (!err)
		err = db_run(db, &sql[META_WRITE], NULL,
			ARGS(T("audit_break"), T(break_text(a, key, &broken))));
	wipe(key, sizeof key);
	return err;
}

int chain_break_read(
	struct db *db, struct arena *a, const uint8_t key[CHAIN_KEY_LEN], struct chain_break *ret)
{
	struct one_text row;
	const char *again;
	char *end;
	int err = db_one(db, a, &sql[META_READ], &row, ARGS(T("audit_break")));

	*ret = (struct chain_break){ 0 };
	if (err)
		return err == ERR_NOT_FOUND ? 0 : err;
	ret->seq = strtoll(row.value, &end, 10);
	ret->at = strtoll(end, NULL, 10);
	again = break_text(a, key, ret);
	return same_bytes(again, strlen(again), row.value, strlen(row.value)) ? 0 : ERR_CONFLICT;
}
