/* approval_letters.h - calls of tools that have waited for a person for more than an hour: one letter to those who may decide.
 *
 * Each call is told of once.  Those that are told of at the same time are marked with the same moment, and a letter
 * names what of them still waits when it is sent. */
#pragma once
#include "call/call.h"
#include "mailboxes/letter_text.h"
#include "mailboxes/letters.h"

/* Looks for them, now and then. */
void approval_letters_submit(struct app *app);
/* The same in a transaction. */
int approval_letters_make(struct db *db, struct arena *a, int64_t now);
int approval_letter_fill(const struct app *app, struct db *db, struct arena *a,
	const struct letter_row *row, struct letter *ret);

extern const struct statement_set approval_letter_sql;
