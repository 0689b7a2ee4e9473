/* machine_key.c - see machine_key.h. */
#include "access/machine_key.h"

#include <string.h>

#include "access/audit.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "base/id.h"
#include "store/row.h"

FIELDS(machine_key) = {
	FIELD(machine_key, id),
	FIELD(machine_key, name),
	FIELD(machine_key, purpose, .words = &machine_purpose_words),
	FIELD(machine_key, created_at),
	FIELD(machine_key, last_used_at),
};
static SCHEMA(machine_key, .internal = true);

struct machine_key_row {
	const char *id, *name, *hash;
	int purpose;
	int64_t created_at;
};

FIELDS(machine_key_row) = {
	ROW_FIELDS(machine_key_row, id, name, hash, created_at),
	FIELD(machine_key_row, purpose, .words = &machine_purpose_words),
};
static SCHEMA(machine_key_row, .internal = true);

enum { MACHINE_INSERT, MACHINE_REMOVE, MACHINE_LIST };

static const struct statement sql[] = {
	[MACHINE_INSERT] = { "machine_key_insert", "insert into machine_keys ({*}) values ({$})",
		.row = &machine_key_row_schema },
	[MACHINE_REMOVE] = { "machine_key_remove", "delete from machine_keys where id = $1" },
	[MACHINE_LIST] = { "machine_key_list",
		"select id, name, purpose, created_at, last_used_at from machine_keys order by id",
		.row = &machine_key_schema, .scan = "a few, for whoever runs the program" },
};
STATEMENT_SET(machine_key_sql, sql);

int machine_key_make(struct db *db, struct arena *a, const char *name, enum machine_purpose purpose,
	const char **ret_token, const char **ret_id)
{
	const char *word = machine_purpose_words.list[purpose];
	char token[TOKEN_MAX], hash[65];
	struct id id = id_new(NULL);
	int err;

	token_new(TOKEN_MACHINE, token);
	credential_hash(token, hash);
	*ret_token = arena_strdup(a, token);
	*ret_id = arena_strdup(a, id.text);
	wipe(token, sizeof token);
	err = db_put(db, &sql[MACHINE_INSERT],
		&(struct machine_key_row){ .id = *ret_id,
			.name = name,
			.hash = hash,
			.purpose = (int)purpose,
			.created_at = clock_now_us() });
	return err ? err
		   : audit_write(db, a,
			     &(struct audit_entry){ .action = "machine_key.create",
				     .resource_id = *ret_id,
				     .meta = arena_printf(a, "{\"for\":\"%s\"}", word) });
}

int machine_key_revoke(struct db *db, struct arena *a, const char *id)
{
	int64_t removed = 0;
	int err = db_run(db, &sql[MACHINE_REMOVE], &removed, ARGS(T(id)));

	if (!err && !removed)
		return ERR_NOT_FOUND;
	return err ? err
		   : audit_write(db, a,
			     &(struct audit_entry){
				     .action = "machine_key.revoke", .resource_id = id });
}

int machine_key_list(struct db *db, struct arena *a, struct list *ret)
{
	return db_all(db, a, &sql[MACHINE_LIST], ret, MACHINE_KEYS_MAX, NO_ARGS);
}
