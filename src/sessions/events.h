/* events.h - what happens in a session, as a numbered log that anybody may read from any point.
 *
 * An event is written in the transaction of what it tells, under the
 * session's row, so that the numbers have no gaps and no reader ever sees one
 * before its predecessor.  Whoever listens is told by a notice
 * ("events", "<tenant_id> <session_id> <seq>") and reads the log. */
#pragma once
#include "store/store.h"

/* kind, what its data holds */
#define SESSION_EVENTS(X)                                                                        \
	X(MESSAGE, "message", "A message, whole, as it now stands: TaskMessageRead")             \
	X(DELTA, "delta", "{message_id, text}: more of a message that is being written")         \
	X(TOOL_CALL, "tool_call",                                                                \
		"{id, message_id, call_id, name, state, arguments}: as it now stands")           \
	X(APPROVAL, "approval", "An approval as it now stands")                                  \
	X(STATUS, "status", "{status, run_id, error}: the session's, as it now is")              \
	X(USAGE, "usage",                                                                        \
		"{run_id, model_id, the four kinds of tokens, cost_usd} of one call to a model") \
	X(NOTICE, "notice",                                                                      \
		"{code, text}: something people should know, such as a broken answer begun again")

enum session_event {
#define X(name, word, doc) SESSION_EVENT_##name,
	SESSION_EVENTS(X)
#undef X
		SESSION_EVENT_COUNT
};

extern const char *const session_event_names[SESSION_EVENT_COUNT];

enum { SESSION_EVENT_MAX = 4 << 20 }; /* bytes of data */

/* In the caller's transaction; *ret_seq may be NULL. */
int session_event_add(struct db *db, struct arena *a, const char *tenant_id, const char *session_id,
	enum session_event kind, const char *data, int64_t now, int64_t *ret_seq);

struct session_event_row {
	int64_t seq;
	const char *kind, *data;
	int64_t created_at;
};
/* Those behind `after`, oldest first: struct session_event_row. */
int session_events_read(struct db *db, struct arena *a, const char *tenant_id,
	const char *session_id, int64_t after, size_t most, struct list *ret);

extern const struct statement_set event_sql;
