/* session_events.h - what the events of sessions tell: a struct and a table each, and the one table of all
 * events with the streams that carry them.
 *
 * The names are those of events/events.h.  A writer hands tx_tell() the
 * struct, a reader has it filled by session_event_read(); a struct that is not
 * the event's does not compile. */
#pragma once
#include "contract/event.h"
#include "events/events.h"
#include "sessions/message_fields.h"
#include "sessions/state.h"

enum ApprovalStatus {
	ApprovalStatus_pending,
	ApprovalStatus_approved,
	ApprovalStatus_denied,
	ApprovalStatus_cancelled
};
extern const struct words ApprovalStatus_words, WaitingFor_words, SessionEvent_words;

/* id comes first: the events of a message are found by how their data begins. */
struct MessageEvent {
	MESSAGE_MEMBERS(struct json);
};
SCHEMA_DECLARED(MessageEvent);

/* A call in a message, as it is stored and told. */
struct MessageCall {
	const char *id, *name;
	tri client;
	const char *alias;
	struct json arguments, extra_content;
};
SCHEMA_DECLARED(MessageCall);

struct ToolCallEvent {
	const char *id, *message_id, *call_id, *name;
	int state;
	struct json arguments;
};
SCHEMA_DECLARED(ToolCallEvent);

struct ApprovalRead {
	const char *id, *session_id, *agent_id, *tool_call_id, *tool_name;
	struct json arguments;
	struct list pinned;
	int status;
	const char *decided_by_id;
	struct moment created_at, decided_at;
	const char *session_title, *decided_by_name; /* in lists alone */
};
SCHEMA_DECLARED(ApprovalRead);

struct StatusEvent {
	int status;
	const char *run_id, *error;
	int waiting_for;
	struct moment waiting_until;
};
SCHEMA_DECLARED(StatusEvent);

struct UsageEvent {
	const char *run_id, *model_id;
	int64_t prompt_tokens, completion_tokens, cache_read_tokens, cache_write_tokens;
	struct money cost_usd;
};
SCHEMA_DECLARED(UsageEvent);

struct NoticeEvent {
	const char *code, *text, *run_id;
	struct moment at;
};
SCHEMA_DECLARED(NoticeEvent);

struct SessionEvent {
	const char *title;
	struct moment updated_at;
};
SCHEMA_DECLARED(SessionEvent);

/* All events; those of sessions stand first, at their constants. */
extern const struct stream_event stream_events[];
extern const size_t stream_event_count;
/* What GET S/events and an answered message carry, and what /me/events does. */
extern const struct event_stream session_event_stream, feed_event_stream;

/* session_event_MESSAGE is struct MessageEvent, and so on. */
#define X(name, word, type, doc) typedef struct type session_event_##name;
SESSION_EVENTS(X)
#undef X

/* As event_text() and event_read(), of an event by its constant without SESSION_EVENT_. */
#define session_event_text(a, kind, object)                     \
	event_text(a, stream_events[SESSION_EVENT_##kind].data, \
		(const session_event_##kind *){ object })
#define session_event_read(a, kind, json, len, ret)                        \
	event_read(a, stream_events[SESSION_EVENT_##kind].data, json, len, \
		(session_event_##kind *){ ret })

/* What a model said as a call's arguments, as JSON: itself without white space, or a string where it is none.
 * NULL: there is no memory for it. */
const char *call_arguments(struct arena *a, const char *said);
