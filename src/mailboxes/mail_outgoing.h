/* mail_outgoing.h - a message of an external mailbox as the bytes that go to the relay.
 *
 * First everything it is made of is read from the store, and why it may not go
 * is found out; then, without a transaction, it is composed, signed and held
 * whole in memory.  The same rows give the same bytes. */
#pragma once
#include "base/buf.h"
#include "mailboxes/mail_dkim.h"
#include "mailboxes/mail_objects.h"
#include "mailboxes/mail_send.h"

enum { MAIL_LETTER_MAX = 48 << 20 }; /* bytes; attachments of 25 MiB are 35 in base64 */

struct mail_outgoing {
	struct mail_send_row send;
	struct mail_message_row m;
	struct mailbox_row from;
	const char *agent_name;
	struct mail_file *files;
	struct bucket_row *objects; /* of the files */
	size_t file_count;
	struct mail_dkim key; /* domain NULL: it goes unsigned */
	const char *why_not;  /* a sentence: it is not to be sent */
	struct buf bytes;     /* from `first` on; for buf_free() */
	size_t first;
	struct mail_address envelope; /* its sender */
};

/* ERR_NOT_FOUND: there is nothing to send any more. */
int mail_outgoing_read(struct db *db, struct arena *a, struct vault *vault, const char *tenant_id,
	const char *send_id, struct mail_outgoing *ret);
/* It waits for the bucket.  ERR_INVALID with a sentence: it can never be sent; another error with one: not now. */
int mail_outgoing_write(
	struct mail_outgoing *l, struct bucket *bucket, struct arena *a, const char **ret_fault);

extern const struct statement_set mail_outgoing_sql;
