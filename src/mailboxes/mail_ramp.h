/* mail_ramp.h - how many people a mailbox may begin to write to: few while it is young, so that an agent that runs wild is held.
 *
 * Whoever it has written to before is not new, nor whoever wrote to it first
 * and was proven to. */
#pragma once
#include "mailboxes/mail_rows.h"

enum {
	MAIL_RAMP_HOUR = 3,
	MAIL_RAMP_WEEK = 20
}; /* in its first hour; in a day of its first week */

/* ---- in the transaction at hand ---- */

/* *ret_why is a sentence if these are too many, else NULL. */
int mail_ramp_look(struct db *db, struct arena *a, const struct mailbox_row *from,
	const char *const *addresses, size_t count, int64_t now, const char **ret_why);
/* They are written to: they count if they are new, and are not new from now on. */
int mail_ramp_note(struct db *db, const struct mailbox_row *from, const char *const *addresses,
	size_t count, int64_t now);

extern const struct statement_set mail_ramp_sql;
