/* mail_answer.h - the answer of a turn that mail began becomes a reply, or a draft of one. */
#pragma once
#include "mail/wake.h"
#include "store/store.h"

/* In the transaction in which a run of a session that mail began has come to its end; see session_on_answer(). */
int mail_answer(struct db *db, struct arena *a, const char *tenant_id, const char *session_id,
	const char *run_id, int64_t now);

extern const struct statement_set mail_answer_sql;
