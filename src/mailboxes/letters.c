/* letters.c - see letters.h. */
#include "mailboxes/letters.h"

#include <string.h>

#include "base/clock.h"
#include "base/id.h"
#include "store/row.h"

/* As long as one try may take, and longer than the relay may be silent. */
#define TAKEN_US (30 * MINUTE_US)

const struct words letter_kind_words = {
	.list = (const char *const[]){ "invite", "register", "reset", "approvals", NULL },
	.doc = "What a letter is about.",
};

FIELDS(letter_row) = {
	FIELD(letter_row, id),
	FIELD(letter_row, kind, .words = &letter_kind_words),
	FIELD(letter_row, user_id, .nullable = true),
	FIELD(letter_row, about),
	FIELD(letter_row, sealed, .nullable = true),
	FIELD(letter_row, attempts),
	FIELD(letter_row, send_at),
	FIELD(letter_row, created_at),
};
SCHEMA(letter_row, .internal = true);

FIELDS(letters_waiting) = { ROW_FIELDS(letters_waiting, count, oldest) };
static SCHEMA(letters_waiting, .internal = true);

enum {
	LETTER_ADD,
	LETTER_NEXT,
	LETTER_TAKE,
	LETTER_SEAL,
	LETTER_DROP,
	LETTER_AGAIN,
	LETTERS_WAITING
};

static const struct statement sql[] = {
	[LETTER_ADD] = { "letter_add", "insert into letters ({*}) values ({$})",
		.row = &letter_row_schema },
	[LETTER_NEXT] = { "letter_next",
		"select {*} from letters where send_at <= $1 order by send_at, id limit 1",
		.row = &letter_row_schema },
	[LETTER_TAKE] = { "letter_take", "update letters set send_at = $2 where id = $1" },
	[LETTER_SEAL] = { "letter_seal", "update letters set sealed = $2 where id = $1" },
	[LETTER_DROP] = { "letter_drop", "delete from letters where id = $1" },
	[LETTER_AGAIN] = { "letter_again",
		"update letters set attempts = $2, send_at = $3 where id = $1" },
	[LETTERS_WAITING] = { "letters_waiting",
		"select count(*) as count, coalesce(min(created_at), 0) as oldest from letters",
		.row = &letters_waiting_schema,
		.scan = "those on their way, when metrics are read" },
};
STATEMENT_SET(letters_sql, sql);

/* Before the next try. */
static const int64_t pauses[] = { 1 * MINUTE_US, 5 * MINUTE_US, 15 * MINUTE_US, 60 * MINUTE_US,
	180 * MINUTE_US, 360 * MINUTE_US };

int letter_add(
	struct db *db, enum letter_kind kind, const char *user_id, const char *about, int64_t now)
{
	struct id id = id_new(NULL);
	int err = db_put(db, &sql[LETTER_ADD],
		&(struct letter_row){ .id = id.text,
			.kind = kind,
			.user_id = user_id,
			.about = about,
			.send_at = now,
			.created_at = now });

	return err ? err : db_notice(db, LETTERS_CHANNEL, "");
}

int letter_next(struct db *db, struct arena *a, int64_t now, struct letter_row *ret)
{
	int err = db_one(db, a, &sql[LETTER_NEXT], ret, ARGS(N(now)));

	return err ? err : db_run(db, &sql[LETTER_TAKE], NULL, ARGS(T(ret->id), N(now + TAKEN_US)));
}

int letter_seal(
	struct db *db, struct arena *a, struct vault *vault, const char *id, const char *token)
{
	const char *sealed = vault_seal(vault, a, SEALED_LETTER, id, token, strlen(token));

	return sealed ? db_run(db, &sql[LETTER_SEAL], NULL, ARGS(T(id), T(sealed))) : ERR_KEY;
}

int letter_drop(struct db *db, const char *id)
{
	return db_run(db, &sql[LETTER_DROP], NULL, ARGS(T(id)));
}

int letter_again(struct db *db, const struct letter_row *row, int64_t now, bool *ret_last)
{
	*ret_last = row->attempts >= (int64_t)(sizeof pauses / sizeof *pauses);
	return *ret_last ? letter_drop(db, row->id)
			 : db_run(db, &sql[LETTER_AGAIN], NULL,
				   ARGS(T(row->id), N(row->attempts + 1),
					   N(now + pauses[row->attempts])));
}

int letters_waiting(struct db *db, struct arena *a, struct letters_waiting *ret)
{
	return db_one(db, a, &sql[LETTERS_WAITING], ret, NO_ARGS);
}
