/* mail_entry.h - what was read of an arrival becomes a message: its row, its thread, its files, and what follows from it. */
#pragma once
#include "bucket/bucket_carry.h"
#include "mail/reading.h"
#include "mailboxes/mail_arrival.h"
#include "mailboxes/mail_verdict.h"

enum { MAIL_ENTRY_PEOPLE_MAX = 200 }; /* of a To, and of a Cc */

struct mail_entry {
	const struct mail_arrival_row *arrival;
	const struct mail_read *read; /* NULL: it cannot be read, and `fault` says why */
	struct mail_judged judged;
	const char *fault;
	struct bucket_carry *carry; /* brings the files */
};

/* In the transaction at hand, all of it; the arrival is done with it.  ERR_BRING: see bucket_carry.h.  ERR_NOT_FOUND where the
 * mailbox has gone. */
int mail_entry(struct db *db, struct arena *a, const struct mail_entry *e, int64_t now);

/* Called in that transaction for a message of ours that came back: with what the mail server says of it (NULL: only that it came back)
 * and its first words.  Set once, before anything runs. */
void mail_on_bounce(int (*fn)(struct db *db, struct arena *a, const char *tenant_id,
	const char *message_id, const struct mail_delivery *told, const char *words, int64_t now));
