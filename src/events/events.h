/* events.h - what happens in a session, as a numbered log that anybody may read from any point; and the
 * list of everything that is told.
 *
 * An event is written in the transaction of what it tells, under the
 * session's row, so that the numbers have no gaps and no reader ever sees one
 * before its predecessor.  Whoever listens is told by a notice
 * ("events", "<tenant_id> <session_id> <seq>") and reads the log.
 *
 * The list names each event's schema.  Those of what this room itself writes
 * stand below; the others, and the table that lint and document walk, are in
 * sessions/session_events.h. */
#pragma once
#include "contract/schema.h"
#include "store/store.h"

/* constant, name, schema of its data, what it tells: in a session's stream and in the feed */
#define SESSION_EVENTS(X)                                                                      \
	X(MESSAGE, "message", MessageEvent, "A message, whole, as it now stands.")             \
	X(DELTA, "delta", DeltaEvent, "More of a message that is being written.")              \
	X(TOOL_CALL, "tool_call", ToolCallEvent, "A call of a tool as it now stands.")         \
	X(APPROVAL, "approval", ApprovalRead, "An approval as it now stands.")                 \
	X(STATUS, "status", StatusEvent, "Where the session stands, and what it waits for.")   \
	X(USAGE, "usage", UsageEvent, "What one call to a model took.")                        \
	X(NOTICE, "notice", NoticeEvent,                                                       \
		"Something people should know, such as that a broken answer was begun again.") \
	X(SESSION, "session", SessionEvent, "The session has another name, or other metadata.")

/* The same, in the feed alone. */
#define FEED_AGENT "agent"
#define FEED_CHANGE "change"
#define FEED_EVENTS(X)                                                             \
	X(AGENT, FEED_AGENT, AgentEvent, "An agent was made, changed or removed.") \
	X(CHANGE, FEED_CHANGE, ChangeEvent, "Something in a list was made, changed or removed.")

/* Where that stands which belongs to no tenant, as if it were one; ids begin after it. */
#define FEED_HOUSE "c000000000000000000000000"

/* Tells nothing but itself: it has no data and is stored nowhere. */
#define FEED_RESET "reset"
#define FEED_RESET_DOC \
	"The place asked for is of another history, as of a store that was put back: read anew."

/* The code of the notice that a run, named by run_id, was cancelled while it waited. */
#define NOTICE_RUN_CANCELLED "run_cancelled"
/* The code of the notice that a model failed before it said anything, and the next of the chain was asked. */
#define NOTICE_FAILOVER "failover"

enum session_event {
#define X(name, word, type, doc) SESSION_EVENT_##name,
	SESSION_EVENTS(X)
#undef X
		SESSION_EVENT_COUNT
};

extern const char *const session_event_names[SESSION_EVENT_COUNT];

/* Bytes of an event's data, and of a text or a JSON in it: no answer of a model is longer. */
enum { EVENT_DATA_MAX = 64 << 20, EVENT_TEXT_MAX = 32 << 20 };

/* message_id comes first: the pieces of a message are found by how their data begins. */
struct DeltaEvent {
	const char *message_id, *text;
	const char *thought, *sealed,
		*maker; /* of what the model thinks; NULL: it is none of that */
	tri redacted;
	int64_t call; /* which call of a client's function; NIL: it is none of that */
	const char *call_id, *name, *arguments;
};
SCHEMA_DECLARED(DeltaEvent);

struct AgentEvent {
	const char *agent_id, *action;
};
SCHEMA_DECLARED(AgentEvent);

struct ChangeEvent {
	const char *resource, *id, *action, *agent_id, *user_id;
};
SCHEMA_DECLARED(ChangeEvent);

/* What surrounds an event in the feed. */
struct FeedEvent {
	const char *tenant_id, *session_id;
	int64_t seq;
	struct json data;
};
SCHEMA_DECLARED(FeedEvent);

/* The data of a stored event into its struct: what is missing in it, or not as the schema wants, is null there,
 * and what a newer program added is passed over.  False if it is no object. */
bool event_read(struct arena *a, const struct schema *s, const char *data, size_t len, void *ret);
/* The data of an event; NULL if it is larger than any may be, or there is no memory for it. */
const char *event_text(struct arena *a, const struct schema *s, const void *object);

struct session_event_row {
	int64_t seq;
	const char *kind, *data;
	int64_t created_at;
};
/* Those after `after`, oldest first: struct session_event_row. */
int session_events_read(struct db *db, struct arena *a, const char *tenant_id,
	const char *session_id, int64_t after, size_t most, struct list *ret);

extern const struct statement_set event_sql;
