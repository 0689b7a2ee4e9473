/* mail_arrival.h - mail from outside, between the moment it was taken and the moment it is read.
 *
 * Whoever takes a message writes one for each mailbox, with the job that reads
 * it, in the commit before the sender is told that it is ours.  It names the raw
 * bytes until the message itself does; after that it is only remembered, so that
 * a message which comes again is the same one. */
#pragma once
#include "store/store.h"

#define MAIL_READ_JOB "mail.read" /* its subject is the arrival's id */

enum {
	MAIL_ARRIVAL_KNOWN_DAYS = 14,
	MAIL_READ_ATTEMPTS =
		400, /* while it is the machine that fails, and not the message: two days, at 7.5 minutes each */
};

struct mail_arrival_row {
	const char *tenant_id, *id, *agent_id, *mailbox_id;
	const char *known_by;  /* 64 hex digits: see mail/known.h */
	const char *sender;    /* of the envelope; "": the null path */
	const char *recipient; /* of the envelope, as it was given */
	const char *thread_id; /* that its signed plus part names; NULL: none */
	const char *
		bounced_id; /* what came back, by its signed address: the row of one recipient of a message (mail_send.h); NULL: nothing */
	bool by_lmtp; /* from the server in front: else nobody's word about the sender is believed */
	const char *object_key; /* the bytes; NULL once they are the message's */
	int64_t size_bytes;
	int64_t read_at; /* NIL: not yet */
	int64_t created_at;
};
SCHEMA_DECLARED(mail_arrival_row);

/* ---- in the transaction at hand ---- */

/* With its job.  *ret_known: the mailbox has had it before, and nothing was written. */
int mail_arrival_add(
	struct db *db, struct arena *a, const struct mail_arrival_row *in, bool *ret_known);
/* ERR_NOT_FOUND. */
int mail_arrival_find(struct db *db, struct arena *a, const char *tenant_id, const char *id,
	struct mail_arrival_row *ret);
/* It was read: the bytes are named by a message now, or by nobody. */
int mail_arrival_done(struct db *db, const char *tenant_id, const char *id, int64_t now);
/* Has those forgotten that were read MAIL_ARRIVAL_KNOWN_DAYS ago; does not wait. */
void mail_arrival_forget(struct store *store, int64_t now);

extern const struct statement_set mail_arrival_sql;
