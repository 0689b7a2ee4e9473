/* mail_answer.h - the answer of a turn that mail began becomes a reply, or a draft of one. */
#pragma once
#include "mail/wake.h"
#include "mailboxes/mail_rows.h"

/* In the transaction in which a run of a session that mail began has come to its end; see session_on_answer(). */
int mail_answer(struct db *db, struct arena *a, const char *tenant_id, const char *session_id,
	const char *run_id, int64_t now);

/* The newest message that the run works on; ERR_NOT_FOUND if it is none of mail's. */
int mail_woken_by(struct db *db, struct arena *a, const char *tenant_id, const char *run_id,
	struct mail_message_row *ret);
/* Why a message that nobody reads before it goes is not sent by itself, or NULL; `stranger`: it answers one from outside. */
int mail_why_kept(struct db *db, struct arena *a, const struct mail_message_row *m, bool stranger,
	const char **ret, int64_t now);

extern const struct statement_set mail_answer_sql;
