/* mail_wake.h - a message that sets its agent to work: its thread becomes a session, one for each thread. */
#pragma once
#include "mail/wake.h"
#include "mailboxes/mail_rules.h"

/* For a message that has just been added.  Where it wakes its agent, session and run are written into it; where that fails
 * for a reason of its own (the agent is off, nobody may have it work, the plan is used up) the reason is its error and the message
 * stays. */
int mail_wake(struct db *db, struct arena *a, struct mail_message_row *m,
	const struct mail_rules_held *rules, int64_t now);

/* A line for each of its files, as a model is told of them. */
const char *mail_files_told(struct arena *a, const struct mail_message_row *m);
/* The same for one that came from outside.  Who is proven to be a member has the agent work as themselves, anybody else as
 * nobody (sessions/actor.h).  `bar` is why nobody must be woken by it, or NULL; whatever the reason, it is the message's error. */
int mail_wake_outside(struct db *db, struct arena *a, struct mail_message_row *m,
	const struct mail_rules_held *rules, const char *bar, int64_t now);

extern const struct statement_set mail_wake_sql;
