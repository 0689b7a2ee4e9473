/* letters.h - letters that the service writes to people, from the transaction that makes one necessary until the relay has it.
 *
 * They are no jobs: a job belongs to a tenant, and most of these belong to the
 * house.  A row says what a letter is about and nothing of what it will say:
 * that is found out when it is sent, so that whoever asks for a letter learns
 * nothing by how long the asking takes, and a link that has ended goes to
 * nobody.  The token of a link is made then too, and kept sealed for the next
 * try. */
#pragma once
#include "access/vault.h"
#include "store/store.h"

enum letter_kind {
	LETTER_INVITE,	 /* user_id and, in about, the tenant */
	LETTER_REGISTER, /* about: the registration */
	LETTER_RESET,	 /* about: the address, folded */
	LETTER_APPROVALS /* user_id and, in about, the tenant: those of the moment at which the letter was made */
};
extern const struct words letter_kind_words;

struct letter_row {
	const char *id;
	int kind;
	const char *user_id, *about;
	const char *sealed; /* the token of its link; NULL: none was made yet */
	int64_t attempts, send_at, created_at;
};
SCHEMA_DECLARED(letter_row);

#define LETTERS_CHANNEL "letters"

/* ---- in the transaction at hand ---- */

/* Whoever sends them is told when it is committed. */
int letter_add(
	struct db *db, enum letter_kind kind, const char *user_id, const char *about, int64_t now);
/* The next that is due, which nobody else takes for a while.  ERR_NOT_FOUND. */
int letter_next(struct db *db, struct arena *a, int64_t now, struct letter_row *ret);
/* The token of its link, for the tries to come. */
int letter_seal(
	struct db *db, struct arena *a, struct vault *vault, const char *id, const char *token);
int letter_drop(struct db *db, const char *id);
/* It could not be sent: once more, later each time.  *ret_last: this was the last try, and it is dropped. */
int letter_again(struct db *db, const struct letter_row *row, int64_t now, bool *ret_last);

/* How many wait for the relay, and since when the oldest does; 0: none. */
struct letters_waiting {
	int64_t count, oldest;
};
int letters_waiting(struct db *db, struct arena *a, struct letters_waiting *ret);

extern const struct statement_set letters_sql;
