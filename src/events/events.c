/* events.c - see events.h. */
#include "events/events.h"

#include "base/buf.h"
#include "contract/decode.h"
#include "contract/encode.h"

const char *const session_event_names[SESSION_EVENT_COUNT] = {
#define X(name, word, type, doc) word,
	SESSION_EVENTS(X)
#undef X
};

FIELDS(DeltaEvent) = {
	FIELD(DeltaEvent, message_id, .required = true, .id = true, .doc = "The message."),
	FIELD(DeltaEvent, text, .required = true, .ceiling = EVENT_TEXT_MAX,
		.example = "\"Your order\"",
		.doc = "What comes next in it; empty where the piece is of what the model thinks, or of a "
		       "call."),
	FIELD(DeltaEvent, thought, .left_out = true, .nullable = true, .ceiling = EVENT_TEXT_MAX,
		.example = "\"They ask for\"",
		.doc = "More of what the model thinks; left out otherwise."),
	FIELD(DeltaEvent, sealed, .left_out = true, .nullable = true, .ceiling = EVENT_TEXT_MAX,
		.example = "null",
		.doc = "Ends the thought: what its provider wants back of it; left out otherwise."),
	FIELD(DeltaEvent, maker, .left_out = true, .nullable = true, .example = "\"anthropic\"",
		.doc = "The kind of provider that sealed it; left out otherwise."),
	FIELD(DeltaEvent, redacted, .left_out = true, .nullable = true, .example = "null",
		.doc = "True: its provider does not show it; left out otherwise."),
	FIELD(DeltaEvent, call, .left_out = true, .nullable = true, .example = "0",
		.doc = "Which call of a client's function it is of, from 0; left out otherwise."),
	FIELD(DeltaEvent, call_id, .left_out = true, .nullable = true, .ceiling = EVENT_TEXT_MAX,
		.example = "\"call_1\"", .doc = "That call."),
	FIELD(DeltaEvent, name, .left_out = true, .nullable = true, .example = "\"add\"",
		.doc = "The function."),
	FIELD(DeltaEvent, arguments, .left_out = true, .nullable = true, .ceiling = EVENT_TEXT_MAX,
		.example = "\"{\\\"a\\\":\"",
		.doc = "More of its arguments, as the model writes them."),
};
SCHEMA(DeltaEvent, .doc = "More of a message that is being written.");

FIELDS(AgentEvent) = {
	FIELD(AgentEvent, agent_id, .required = true, .id = true, .doc = "The agent."),
	FIELD(AgentEvent, action, .required = true, .example = "\"agent.update\"",
		.doc = "What was done, as the audit log names it."),
};
SCHEMA(AgentEvent, .doc = "An agent was made, changed or removed.");

FIELDS(ChangeEvent) = {
	FIELD(ChangeEvent, resource, .required = true, .example = "\"tool\"",
		.doc = "What kind of thing, as the audit log names it."),
	FIELD(ChangeEvent, id, .required = true, .nullable = true,
		.example = "\"c0ho6j4vjvqkepg63uggykn4b\"",
		.doc = "Which one, where it has a name of its own."),
	FIELD(ChangeEvent, action, .required = true, .example = "\"tool.update\"",
		.doc = "What was done, as the audit log names it."),
	FIELD(ChangeEvent, agent_id, .left_out = true, .nullable = true, .id = true,
		.doc = "The agent it belongs to, if one."),
	FIELD(ChangeEvent, user_id, .left_out = true, .nullable = true, .id = true,
		.doc = "Whose it is, where not everybody sees it."),
};
SCHEMA(ChangeEvent, .doc = "Something in a list was made, changed or removed.");

FIELDS(FeedEvent) = {
	FIELD(FeedEvent, tenant_id, .required = true, .nullable = true, .id = true,
		.doc = "Where it happened; null for what belongs to the whole service."),
	FIELD(FeedEvent, session_id, .left_out = true, .nullable = true, .id = true,
		.doc = "In which session; left out for what happened in none."),
	FIELD(FeedEvent, seq, .left_out = true, .nullable = true, .example = "41",
		.doc = "The event's number in that session; of joined pieces the last one's."),
	FIELD(FeedEvent, data, .open = true, .required = true, .ceiling = EVENT_DATA_MAX,
		.doc = "What the event tells."),
};
SCHEMA(FeedEvent, .doc = "An event as the stream of everything tells it.");

FIELDS(session_event_row) = {
	FIELD(session_event_row, seq),
	FIELD(session_event_row, kind),
	FIELD(session_event_row, data),
	FIELD(session_event_row, created_at),
};
static SCHEMA(session_event_row, .internal = true);

static const struct statement sql[] = {
	{ "events_read",
		"select seq, kind, data, created_at from session_events where tenant_id = $1 "
		"and session_id = $2 and seq > $3 order by seq limit $4",
		.row = &session_event_row_schema },
};
STATEMENT_SET(event_sql, sql);

bool event_read(struct arena *a, const struct schema *s, const char *data, size_t len, void *ret)
{
	struct problem p = { 0 };
	int err = decode_body(NULL, a, s, UNKNOWN_IGNORED, data, len, ret, &p);

	return !err || err == ERR_INVALID;
}

const char *event_text(struct arena *a, const struct schema *s, const void *object)
{
	const char *text = NULL;
	struct buf b;

	buf_init(&b, EVENT_DATA_MAX);
	encode_object(&b, s, object);
	if (!b.overflow)
		text = arena_strndup(a, b.at, b.len);
	buf_free(&b);
	return text;
}

int session_events_read(struct db *db, struct arena *a, const char *tenant_id,
	const char *session_id, int64_t after, size_t most, struct list *ret)
{
	return db_all(db, a, &sql[0], ret, most,
		ARGS(T(tenant_id), T(session_id), N(after), N((int64_t)most)));
}
