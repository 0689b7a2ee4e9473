/* new_user.c - see new_user.h. */
#include "api/people/new_user.h"

#include "base/fold.h"
#include "base/id.h"
#include "store/row.h"

struct new_user_row {
	const char *id, *email, *email_folded, *name, *password_hash;
	bool is_super_admin;
	int64_t created_at, email_proven_at;
};

FIELDS(new_user_row) = {
	ROW_FIELDS(new_user_row, id, email, email_folded, is_super_admin, created_at),
	ROW_NULLABLE(new_user_row, name, password_hash, email_proven_at),
};
static SCHEMA(new_user_row, .internal = true);

static const struct statement sql[] = {
	{ "user_insert",
		"insert into users ({*}, is_suspended, updated_at) values ({$}, 0, :created_at)",
		.row = &new_user_row_schema },
};
STATEMENT_SET(new_user_sql, sql);

int user_make(struct db *db, struct arena *a, const struct new_user *in, const char **ret_id)
{
	int64_t now;
	struct id id = id_new(&now);

	*ret_id = arena_strdup(a, id.text);
	return db_put(db, &sql[0],
		&(struct new_user_row){ .id = id.text,
			.email = in->email,
			.email_folded = fold_ascii(a, in->email),
			.name = in->name,
			.password_hash = in->password_hash,
			.is_super_admin = in->is_super_admin,
			.created_at = now,
			.email_proven_at = in->proven ? now : NIL });
}
