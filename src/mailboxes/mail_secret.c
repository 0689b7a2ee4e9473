/* mail_secret.c - see mail_secret.h. */
#include "mailboxes/mail_secret.h"

#include <string.h>

#include "base/crypto.h"

enum { READ, WRITE, MAKE };

static const struct statement sql[] = {
	[READ] = { "mail_secret_read", "select sealed as value from mail_secrets where name = $1",
		.row = &one_text_schema },
	[WRITE] = { "mail_secret_write",
		"insert into mail_secrets (name, sealed, created_at) values ($1, $2, $3) "
		"on conflict (name) do update set sealed = excluded.sealed, created_at = excluded.created_at" },
	[MAKE] = { "mail_secret_make",
		"insert into mail_secrets (name, sealed, created_at) values ($1, $2, $3) "
		"on conflict (name) do nothing" },
};
STATEMENT_SET(mail_secret_sql, sql);

static uint8_t token_key[MAIL_KEY_LEN];

int mail_secret_read(struct db *db, struct arena *a, struct vault *vault, const char *name,
	const char **ret, size_t *ret_len)
{
	struct one_text row;
	char *text;
	void *plain;
	int err = db_one(db, a, &sql[READ], &row, ARGS(T(name)));

	if (err)
		return err;
	plain = vault_open(vault, a, name, row.value, ret_len);
	if (!plain)
		return ERR_SECRET;
	text = arena_alloc(a, *ret_len + 1);
	memcpy(text, plain, *ret_len);
	text[*ret_len] = '\0';
	*ret = text;
	return 0;
}

static int store_secret(struct db *db, struct arena *a, struct vault *vault, int how,
	const char *name, const void *bytes, size_t len, int64_t now)
{
	const char *sealed = vault_seal(vault, a, SEALED_MAIL_SECRET, name, bytes, len);

	return sealed ? db_run(db, &sql[how], NULL, ARGS(T(name), T(sealed), N(now))) : ERR_KEY;
}

int mail_secret_write(struct db *db, struct arena *a, struct vault *vault, const char *name,
	const char *bytes, size_t len, int64_t now)
{
	return store_secret(db, a, vault, WRITE, name, bytes, len, now);
}

int mail_token_key_load(struct db *db, struct arena *a, struct vault *vault, int64_t now)
{
	const char *key = NULL;
	size_t n = 0;
	uint8_t fresh[MAIL_KEY_LEN];
	int err = mail_secret_read(db, a, vault, "token", &key, &n);

	if (err == ERR_NOT_FOUND) {
		random_bytes(fresh, sizeof fresh);
		err = store_secret(db, a, vault, MAKE, "token", fresh, sizeof fresh, now);
		if (!err) /* another process may have been first */
			err = mail_secret_read(db, a, vault, "token", &key, &n);
	}
	if (!err && n != MAIL_KEY_LEN)
		err = ERR_SECRET;
	if (!err)
		memcpy(token_key, key, MAIL_KEY_LEN);
	return err;
}

const uint8_t *mail_token_key(void)
{
	return token_key;
}
