/* session_events.c - see session_events.h. */
#include "sessions/session_events.h"

#include <string.h>

#include "base/buf.h"
#include "base/json.h"

const struct words MessageRole_words = {
	.list = (const char *const[]){ [MessageRole_user] = "user",
		[MessageRole_assistant] = "assistant",
		[MessageRole_tool] = "tool",
		[MessageRole_system] = "system",
		NULL },
	.doc = "Who wrote a message.",
};

const struct words MessageStatus_words = {
	.list = (const char *const[]){ [MessageStatus_streaming] = "streaming",
		[MessageStatus_complete] = "complete",
		[MessageStatus_failed] = "failed",
		NULL },
	.doc = "Whether a message is still being written.",
};

const struct words ApprovalStatus_words = {
	.list = (const char *const[]){ [ApprovalStatus_pending] = "pending",
		[ApprovalStatus_approved] = "approved",
		[ApprovalStatus_denied] = "denied",
		[ApprovalStatus_cancelled] = "cancelled",
		NULL },
	.doc = "What became of a call that needs a person's word; cancelled with its run.",
};

const struct words WaitingFor_words = {
	.title = "WaitingFor",
	.list = (const char *const[]){ "hours", "rate", "budget", NULL },
	.doc = "What an agent has no room of: its working hours, its messages in a minute or an hour, its "
	       "budget for the hour.",
};

const struct words SessionEvent_words = {
	.title = "SessionEventKind",
	.list =
		(const char *const[]){
#define X(name, word, type, doc) [SESSION_EVENT_##name] = (word),
			SESSION_EVENTS(X)
#undef X
				NULL },
	.doc = "The events of a session, by their names.",
};

FIELDS(MessageEvent) = {
	MESSAGE_FIELDS(MessageEvent, EVENT_TEXT_MAX, .array = true, .of = &MessageCall_schema),
};
SCHEMA(MessageEvent, .doc = "A message, whole, as it now stands.");

FIELDS(MessageCall) = {
	FIELD(MessageCall, id, .required = true, .example = "\"call_1\"",
		.doc = "Names the call within its session; the answer carries it as tool_call_id."),
	FIELD(MessageCall, name, .required = true, .example = "\"web.search\"", .doc = "The tool."),
	FIELD(MessageCall, client, .left_out = true, .nullable = true, .example = "true",
		.doc = "True: whoever began the run runs it; left out otherwise."),
	FIELD(MessageCall, alias, .left_out = true, .nullable = true, .example = "\"web_search_2\"",
		.doc = "The name that the model was given, where it is not that of the tool."),
	FIELD(MessageCall, arguments, .open = true, .required = true, .nullable = true, .any = true,
		.ceiling = EVENT_TEXT_MAX, .example = "{\"query\":\"opening hours\"}",
		.doc = "What the model passes to the tool; a string if what it said is no JSON."),
	FIELD(MessageCall, extra_content, .open = true, .left_out = true, .nullable = true,
		.ceiling = EVENT_TEXT_MAX, .example = "null",
		.doc = "What its provider gave along with the call and is given back; left out "
		       "otherwise."),
};
SCHEMA(MessageCall, .doc = "A call of a tool in a message.");

FIELDS(ToolCallEvent) = {
	FIELD(ToolCallEvent, id, .required = true, .id = true, .doc = "The call."),
	FIELD(ToolCallEvent, message_id, .required = true, .id = true,
		.doc = "The message that makes it."),
	FIELD(ToolCallEvent, call_id, .required = true, .example = "\"call_1\"",
		.doc = "The call, as the message's tool_calls name it."),
	FIELD(ToolCallEvent, name, .required = true, .example = "\"web.search\"",
		.doc = "The tool."),
	FIELD(ToolCallEvent, state, .required = true, .words = &call_state_words,
		.example = "\"running\"", .doc = "Where it stands."),
	FIELD(ToolCallEvent, arguments, .open = true, .required = true, .nullable = true,
		.any = true, .ceiling = EVENT_TEXT_MAX, .example = "{\"query\":\"opening hours\"}",
		.doc = "What the tool is given, secrets masked; a string if what the model said is no "
		       "JSON."),
};
SCHEMA(ToolCallEvent, .doc = "A call of a tool as it now stands.");

FIELDS(ApprovalRead) = {
	FIELD(ApprovalRead, id, .required = true, .id = true, .doc = "The approval."),
	FIELD(ApprovalRead, session_id, .required = true, .id = true,
		.doc = "The session that waits for it."),
	FIELD(ApprovalRead, agent_id, .computed = true, .required = true, .id = true,
		.doc = "The agent that asks."),
	FIELD(ApprovalRead, tool_call_id, .computed = true, .required = true,
		.example = "\"call_1\"", .doc = "The call, as the message's tool_calls name it."),
	FIELD(ApprovalRead, tool_name, .required = true, .example = "\"refund\"",
		.doc = "The tool that it would run."),
	FIELD(ApprovalRead, arguments, .open = true, .required = true,
		.example = "{\"order\":1042}",
		.doc = "What the tool would be given: the model's arguments with what is set for the agent "
		       "in their places; secrets are masked."),
	FIELD(ApprovalRead, pinned, .item = TEXT, .example = "[]",
		.doc = "Names of the arguments that are set for the agent, and not by the model."),
	FIELD(ApprovalRead, status, .required = true, .words = &ApprovalStatus_words,
		.doc = "Whether it is decided, and how."),
	FIELD(ApprovalRead, decided_by_id, .required = true, .nullable = true, .id = true,
		.example = "null", .doc = "Who decided; null while nobody has."),
	FIELD(ApprovalRead, created_at, .required = true, .doc = "When it was asked for."),
	FIELD(ApprovalRead, decided_at, .required = true, .nullable = true, .example = "null",
		.doc = "When it was decided; null while it is not."),
	FIELD(ApprovalRead, session_title, .computed = true, .left_out = true, .nullable = true,
		.example = "\"Order 1041\"",
		.doc = "What the session is called; left out where it has no name, and in events."),
	FIELD(ApprovalRead, decided_by_name, .computed = true, .left_out = true, .nullable = true,
		.example = "\"Ada Example\"",
		.doc = "What the one who decided is called; left out while nobody has, and in events."),
};
SCHEMA(ApprovalRead, .doc = "A call of a tool that needs a person's word.");

FIELDS(StatusEvent) = {
	FIELD(StatusEvent, status, .required = true, .words = &session_state_words,
		.example = "\"running\"", .doc = "Where the session stands."),
	FIELD(StatusEvent, run_id, .required = true, .nullable = true, .id = true,
		.doc = "The run that this is about; null if there was none yet."),
	FIELD(StatusEvent, error, .required = true, .nullable = true, .example = "null",
		.doc = "Why it failed; null unless it did."),
	FIELD(StatusEvent, waiting_for, .required = true, .nullable = true,
		.words = &WaitingFor_words, .example = "null",
		.doc = "What it waits for before it goes on by itself; null: for none of these."),
	FIELD(StatusEvent, waiting_until, .required = true, .nullable = true, .example = "null",
		.doc = "When it is tried next; null while it waits: no time will help, only other limits."),
};
SCHEMA(StatusEvent, .doc = "Where a session stands, and what it waits for.");

FIELDS(UsageEvent) = {
	FIELD(UsageEvent, run_id, .required = true, .id = true, .doc = "The run that called."),
	FIELD(UsageEvent, model_id, .required = true, .doc = "The model; empty if none answered."),
	FIELD(UsageEvent, prompt_tokens, .required = true, .example = "120",
		.doc = "Input that came from no cache."),
	FIELD(UsageEvent, completion_tokens, .required = true, .example = "40",
		.doc = "Tokens the model wrote."),
	FIELD(UsageEvent, cache_read_tokens, .required = true, .example = "0",
		.doc = "Input read from the provider's cache."),
	FIELD(UsageEvent, cache_write_tokens, .required = true, .example = "0",
		.doc = "Input written to the provider's cache."),
	FIELD(UsageEvent, cost_usd, .required = true, .example = "0.00021", .doc = "What it cost."),
};
SCHEMA(UsageEvent, .doc = "What one call to a model took.");

FIELDS(NoticeEvent) = {
	FIELD(NoticeEvent, code, .required = true, .example = "\"" NOTICE_RUN_CANCELLED "\"",
		.doc = "What it is, for programs."),
	FIELD(NoticeEvent, text, .required = true,
		.example = "\"A run that waited was cancelled.\"",
		.doc = "What it is, for people."),
	FIELD(NoticeEvent, run_id, .left_out = true, .nullable = true, .id = true,
		.doc = "The run that it is about, where that is one that waits."),
	FIELD(NoticeEvent, at, .left_out = true, .nullable = true,
		.doc = "When it was said; left out in what an older version wrote."),
};
SCHEMA(NoticeEvent, .doc = "Something people should know.");

FIELDS(SessionEvent) = {
	FIELD(SessionEvent, title, .required = true, .nullable = true, .example = "\"Order 1041\"",
		.doc = "What it is called now; null: nothing."),
	FIELD(SessionEvent, updated_at, .required = true, .doc = "When that was said."),
};
SCHEMA(SessionEvent, .doc = "A session was given another name, or other metadata.");

enum { OF_SESSION = 1, OF_FEED = 2 };

const struct stream_event stream_events[] = {
#define X(name, word, type, text) \
	[SESSION_EVENT_##name] = { word, &type##_schema, OF_SESSION | OF_FEED, .doc = text },
	SESSION_EVENTS(X)
#undef X
#define X(name, word, type, text) { word, &type##_schema, OF_FEED, .doc = text },
		FEED_EVENTS(X)
#undef X
			{ FEED_RESET, NULL, OF_FEED, .bare = true, .doc = FEED_RESET_DOC },
};
const size_t stream_event_count = sizeof stream_events / sizeof *stream_events;

const struct event_stream session_event_stream = {
	.title = "SessionStreamEvent",
	.table = stream_events,
	.count = sizeof stream_events / sizeof *stream_events,
	.bit = OF_SESSION,
};
const struct event_stream feed_event_stream = {
	.title = "FeedStreamEvent",
	.table = stream_events,
	.count = sizeof stream_events / sizeof *stream_events,
	.bit = OF_FEED,
	.envelope = &FeedEvent_schema,
};

const char *call_arguments(struct arena *a, const char *said)
{
	size_t len = strlen(said);
	struct json_reader r;
	const char *text;
	struct buf b;

	buf_init(&b, 6 * len + 2); /* what escapes make of it at most */
	json_open(&r, a, said, len);
	if (json_skip(&r, NULL, NULL) && json_end(&r))
		json_write_compact(&b, said, len);
	else
		json_write_string(&b, said, len);
	text = b.overflow ? NULL : arena_strndup(a, b.at, b.len);
	buf_free(&b);
	return text;
}
