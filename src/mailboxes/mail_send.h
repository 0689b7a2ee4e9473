/* mail_send.h - mail on its way to the outside, as rows: one for each recipient, with its job, and what becomes of the message.
 *
 *   queued -> sent                 the relay has it
 *          -> queued, later        not now: see mail_send_again()
 *          -> bounced              the relay refused it; or, from sent, it came back
 *          -> failed               not within 48 hours; or nobody wants it sent any more
 * A person may have those that bounced or failed sent again (mail_again.h): as new rows.
 *
 * The state and the error of the message follow from these.  Nothing here
 * speaks to a relay. */
#pragma once
#include "mail/delivery.h"
#include "mailboxes/mail_rows.h"
#include "outside/smtp.h"

#define MAIL_SEND_JOB "mail.send" /* its subject is the id of the row; a tenant's have one lane */

enum MailSendState {
	MailSendState_queued,
	MailSendState_sent,
	MailSendState_bounced,
	MailSendState_failed
};

struct mail_send_row {
	const char *tenant_id, *id, *agent_id, *message_id, *address;
	int state;
	int64_t attempts;
	const char *said; /* last, by the relay or about it; NULL: nothing yet */
	int64_t created_at;
};
SCHEMA_DECLARED(mail_send_row);

/* ---- in the transaction at hand ---- */

/* A message that was added goes to these, with a job each. */
int mail_send_add(struct db *db, struct arena *a, const struct mail_message_row *m,
	const char *const *addresses, size_t count, int64_t now);
/* ERR_NOT_FOUND: the message is gone. */
int mail_send_find(struct db *db, struct arena *a, const char *tenant_id, const char *id,
	struct mail_send_row *ret);
/* Those of a message, by their addresses: struct mail_send_row. */
int mail_sends_of(
	struct db *db, struct arena *a, const struct mail_message_row *m, struct list *ret);
/* These of the message's are over, and are sent to again as if for the first time.  They get other ids: a job or a report of the
 * former way finds nothing then. */
int mail_send_renew(struct db *db, struct arena *a, const struct mail_message_row *m,
	const struct mail_send_row *rows, size_t count, int64_t now);
/* What the relay said of it.  *ret_again: when to try again; NIL: it is over. */
int mail_send_tried(struct db *db, struct arena *a, const struct mail_send_row *row,
	const struct smtp_said *said, int64_t now, int64_t *ret_again);
/* It is not tried any more. */
int mail_send_failed(struct db *db, struct arena *a, const struct mail_send_row *row,
	const char *why, int64_t now);
/* It came back by its signed address, which is that of one recipient: whoever else the report names is not meant.  `told` is what the server says of a recipient, or NULL where there is nothing but `words`, the
 * beginning of the letter; who calls has seen that the letter is no automatic answer.  A message that is gone is no error. */
int mail_bounced(struct db *db, struct arena *a, const char *tenant_id, const char *send_id,
	const struct mail_delivery *told, const char *words, int64_t now);

/* Nothing is sent to it from this tenant. */
int mail_suppressed(struct db *db, const char *tenant_id, const char *address, bool *ret);

/* After so many attempts, of which the last was now, for what was queued then; NIL: not again. */
int64_t mail_send_again(int64_t created_at, int64_t attempts, int64_t now);

extern const struct statement_set mail_send_sql;
