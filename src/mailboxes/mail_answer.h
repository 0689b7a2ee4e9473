/* mail_answer.h - the answer of a turn that mail began becomes a reply, or a draft of one. */
#pragma once
#include "store/store.h"

enum {
	MAIL_REPLIES_HOUR = 10, /* automatic ones from an agent to one address, in an hour */
	MAIL_REPLIES_DAY = 30,	/* in one thread, in a day */
};

/* In the transaction in which a run of a session that mail began has come to its end; see session_on_answer(). */
int mail_answer(struct db *db, struct arena *a, const char *tenant_id, const char *session_id,
	const char *run_id, int64_t now);

extern const struct statement_set mail_answer_sql;
