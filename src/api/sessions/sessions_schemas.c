/* sessions_schemas.c - the tables for sessions, their messages, subtasks and files, approvals, memories,
 * and what can be mentioned. */
#include "api/sessions/sessions.h"
#include "search/search.h"
#include "sessions/session.h"

static const char *const SessionOrigin_list[] = {
	[SessionOrigin_user] = "user",
	[SessionOrigin_webhook] = "webhook",
	[SessionOrigin_mail] = "mail",
	[SessionOrigin_subtask] = "subtask",
	[SessionOrigin_api] = "api",
	[SessionOrigin_benchmark] = "benchmark",
	NULL,
};
const struct words SessionOrigin_words = {
	.list = SessionOrigin_list,
	.doc = "What started a session.",
};

FIELDS(SubtaskSummary) = {
	FIELD(SubtaskSummary, id, .required = true, .id = true,
		.doc = "The subtask, a session of its own."),
	FIELD(SubtaskSummary, parent_session_id, .required = true, .id = true,
		.doc = "The session that started it."),
	FIELD(SubtaskSummary, agent_id, .required = true, .id = true,
		.doc = "The agent that works on it."),
	FIELD(SubtaskSummary, agent_name, .required = true, .example = "\"Support desk\"",
		.doc = "That agent's name; empty if it is closed to the caller."),
	FIELD(SubtaskSummary, title, .required = true, .example = "\"Look up the order\"",
		.doc = "What it is about; empty if its agent is closed to the caller."),
	FIELD(SubtaskSummary, status, .required = true, .words = &session_state_words,
		.doc = "Where it stands."),
	FIELD(SubtaskSummary, message_count, .required = true, .example = "4",
		.doc = "Messages in it so far."),
	FIELD(SubtaskSummary, created_at, .required = true, .doc = "When it was asked for."),
	FIELD(SubtaskSummary, started_at, .required = true, .nullable = true,
		.doc = "When work on it began; null before that."),
};
SCHEMA(SubtaskSummary, .doc = "A session that another session started.");

FIELDS(ActiveSubtasksResponse) = {
	FIELD(ActiveSubtasksResponse, subtasks, .required = true, .item = OBJECT,
		.of = &SubtaskSummary_schema,
		.doc = "Those pending, running or waiting for approval, newest first."),
	FIELD(ActiveSubtasksResponse, count, .required = true, .example = "1",
		.doc = "How many there are."),
};
SCHEMA(ActiveSubtasksResponse, .doc = "Subtasks of a session that have not ended.");

#define METADATA_DOC "What whoever made it keeps beside it; Lodge does not read it."

FIELDS(TaskSessionRead) = {
	FIELD(TaskSessionRead, id, .required = true, .id = true, .doc = "The session."),
	FIELD(TaskSessionRead, tenant_id, .required = true, .id = true,
		.doc = "The tenant it belongs to."),
	FIELD(TaskSessionRead, agent_id, .required = true, .id = true,
		.doc = "The agent that works in it."),
	FIELD(TaskSessionRead, parent_session_id, .required = true, .nullable = true, .id = true,
		.example = "null", .doc = "The session that started it, if it is a subtask."),
	FIELD(TaskSessionRead, title, .required = true, .nullable = true,
		.example = "\"Order 1042\"", .doc = "What it is about; null until it is named."),
	FIELD(TaskSessionRead, status, .required = true, .words = &session_state_words,
		.doc = "Where it stands."),
	FIELD(TaskSessionRead, origin, .required = true, .words = &SessionOrigin_words,
		.doc = "What started it."),
	FIELD(TaskSessionRead, created_by_id, .required = true, .nullable = true, .id = true,
		.doc = "The user who started it, if a user did."),
	FIELD(TaskSessionRead, iteration_count, .required = true, .example = "3",
		.doc = "Turns the agent has taken: each is one call to a model."),
	FIELD(TaskSessionRead, message_count, .required = true, .example = "6",
		.doc = "Messages in it so far."),
	FIELD(TaskSessionRead, last_event_id, .required = true, .example = "41",
		.doc = "Number of its latest event; resume the event stream after it."),
	FIELD(TaskSessionRead, attention_at, .nullable = true, .example = "null",
		.doc = "When it had taken as many turns as the agent's iteration_warn_threshold; null "
		       "unless it has."),
	FIELD(TaskSessionRead, error, .required = true, .nullable = true, .example = "null",
		.doc = "Why it failed; null unless it did."),
	FIELD(TaskSessionRead, waiting_for, .nullable = true, .words = &WaitingFor_words,
		.example = "null",
		.doc = "What it waits for before it goes on by itself; null: for none of these."),
	FIELD(TaskSessionRead, waiting_until, .nullable = true, .example = "null",
		.doc = "When it is tried next; null while it waits: no time will help, only other limits."),
	FIELD(TaskSessionRead, created_at, .required = true, .doc = "When it was asked for."),
	FIELD(TaskSessionRead, started_at, .required = true, .nullable = true,
		.doc = "When work first began; null before that."),
	FIELD(TaskSessionRead, completed_at, .required = true, .nullable = true, .example = "null",
		.doc = "When it ended; null while it is open."),
	FIELD(TaskSessionRead, updated_at, .required = true,
		.doc = "When anything in it last changed."),
	FIELD(TaskSessionRead, metadata, .open = true, .required = true,
		.example = "{\"ticket\":\"1042\"}", .doc = METADATA_DOC),
};
SCHEMA(TaskSessionRead, .doc = "A session: a conversation with an agent and the work it does.");

#define TITLE_BOUNDS BOUNDS(1, 255)

FIELDS(SessionCreate) = {
	FIELD(SessionCreate, title, .nullable = true, TITLE_BOUNDS, .example = "\"Order 1042\"",
		.doc = "What it is about; without one it is named after its first message."),
	FIELD(SessionCreate, message, .nullable = true, AT_LEAST(1), .prompt = true,
		.ceiling = SESSION_MESSAGE_MAX, .example = "\"Where is my order?\"",
		.doc = "The first message; it sets the agent to work."),
	FIELD(SessionCreate, metadata, .open = true, .otherwise = "{}",
		.example = "{\"ticket\":\"1042\"}", .doc = METADATA_DOC),
};
SCHEMA(SessionCreate, .doc = "A conversation to begin.");

FIELDS(SessionUpdate) = {
	FIELD(SessionUpdate, title, .nullable = true, TITLE_BOUNDS, .example = "\"Order 1042\"",
		.doc = "What it is about; null takes the name away."),
	FIELD(SessionUpdate, metadata, .open = true, .example = "{\"ticket\":\"1042\"}",
		.doc = METADATA_DOC),
};
SCHEMA(SessionUpdate, .doc = "What changes of a session.", .partial = true);

FIELDS(SessionCancel) = {
	FIELD(SessionCancel, run_id, .nullable = true, .id = true,
		.doc = "The one run to end; what waits after it goes on. Without it all that runs and "
		       "waits in the session ends."),
};
SCHEMA(SessionCancel, .doc = "What is to end in a session.");

FIELDS(SessionBranch) = {
	FIELD(SessionBranch, message_id, .required = true, .id = true,
		.doc = "The last message that comes along."),
};
SCHEMA(SessionBranch, .doc = "Where another way on begins.");

FIELDS(SubtaskCreate) = {
	FIELD(SubtaskCreate, agent_id, .nullable = true, .id = true,
		.doc = "Who shall work on it; the session's own agent without it. It needs "
		       "session:write there too."),
	FIELD(SubtaskCreate, title, .required = true, TITLE_BOUNDS,
		.example = "\"Look up the order\"", .doc = "What it is about."),
	FIELD(SubtaskCreate, message, .required = true, AT_LEAST(1), .prompt = true,
		.ceiling = SESSION_MESSAGE_MAX, .example = "\"Where is order 1042?\"",
		.doc = "What is to be done; it sets the agent to work."),
};
SCHEMA(SubtaskCreate, .doc = "A piece of work to give away.");

FIELDS(MessageCreate) = {
	FIELD(MessageCreate, content, .required = true, AT_LEAST(1), .prompt = true,
		.ceiling = SESSION_MESSAGE_MAX, .example = "\"Where is my order?\"",
		.doc = "The text."),
	FIELD(MessageCreate, file_ids, .preset = "[]", .item = TEXT, .item_id = true,
		.distinct = true, BOUNDS(0, SESSION_PARTS_MAX), .example = "[]",
		.doc = "Files of the session that the agent is to be shown with it, after its text."),
};
SCHEMA(MessageCreate, .doc = "Something to say in a session.");

FIELDS(ToolCall) = {
	FIELD(ToolCall, id, .required = true, .example = "\"call_1\"",
		.doc = "Names the call within its session; the answer carries it as tool_call_id."),
	FIELD(ToolCall, name, .required = true, .example = "\"web.search\"",
		.doc = "The tool, by the name the model was given."),
	FIELD(ToolCall, arguments, .open = true, .required = true, .any = true,
		.ceiling = EVENT_TEXT_MAX, .example = "{\"query\":\"opening hours\"}",
		.doc = "What the model passes to the tool; a string if what it said is no JSON."),
};
SCHEMA(ToolCall, .doc = "A model's wish to run a tool.");

FIELDS(TaskMessageRead) = {
	MESSAGE_FIELDS(TaskMessageRead, 0, .item = OBJECT, .of = &ToolCall_schema),
	FIELD(TaskMessageRead, author_name, .computed = true, .nullable = true,
		.example = "\"Ann\"", .doc = "That person's name; null if they are gone."),
	FIELD(TaskMessageRead, deleted_at, .computed = true, .nullable = true, .example = "null",
		.doc = "When it was deleted from the conversation; those that were are shown to "
		       "auditors alone."),
	FIELD(TaskMessageRead, deleted_by_id, .computed = true, .nullable = true, .id = true,
		.example = "null", .doc = "Who deleted it."),
};
SCHEMA(TaskMessageRead, .doc = "One message of a session.");

FIELDS(ApprovalDecision) = {
	FIELD(ApprovalDecision, approved, .required = true, .example = "true",
		.doc = "True runs the tool; false tells the model that it was refused."),
};
SCHEMA(ApprovalDecision, .doc = "A person's answer to a tool call that waits for one.");

const struct words MemoryScope_words = {
	.title = "MemoryScope",
	.list = (const char *const[]){ "private", "shared", NULL },
	.doc = "Whose sessions come across a memory: those of one person, or everybody's.",
};

FIELDS(MemoryRead) = {
	FIELD(MemoryRead, id, .required = true, .id = true, .doc = "The memory."),
	FIELD(MemoryRead, agent_id, .required = true, .id = true,
		.doc = "The agent that keeps it."),
	FIELD(MemoryRead, content, .required = true, .example = "\"Invoices go out on Mondays.\"",
		.doc = "What it keeps."),
	FIELD(MemoryRead, source_session_id, .required = true, .nullable = true, .id = true,
		.example = "null",
		.doc = "The session in which the agent wrote it; null if a person did."),
	FIELD(MemoryRead, created_at, .required = true, .doc = "When it was written."),
	FIELD(MemoryRead, scope, .required = true, .words = &MemoryScope_words,
		.doc = "Whose sessions come across it."),
	FIELD(MemoryRead, user_id, .required = true, .nullable = true, .id = true,
		.example = "null",
		.doc = "The person whose it is; null for one that is shared, or that runs without a "
		       "person (webhooks) keep for themselves."),
};
SCHEMA(MemoryRead, .doc = "Something an agent keeps between sessions.");

FIELDS(MemoryCreate) = {
	FIELD(MemoryCreate, content, .required = true, BOUNDS(1, 8000),
		.example = "\"Invoices go out on Mondays.\"",
		.doc = "What the agent shall know in every session."),
	FIELD(MemoryCreate, scope, .preset = "\"shared\"", .words = &MemoryScope_words,
		.doc = "private: only in yours."),
};
SCHEMA(MemoryCreate, .doc = "Something for an agent to keep.");

FIELDS(SessionFileRead) = {
	FIELD(SessionFileRead, id, .required = true, .id = true, .doc = "The file."),
	FIELD(SessionFileRead, session_id, .required = true, .id = true,
		.doc = "The session it belongs to."),
	FIELD(SessionFileRead, name, .required = true, .example = "\"http_fetch-1.txt\"",
		.doc = "What to save it as."),
	FIELD(SessionFileRead, content_type, .required = true, .example = "\"text/plain\"",
		.doc = "What kind of bytes they are."),
	FIELD(SessionFileRead, size_bytes, .required = true, .example = "51200",
		.doc = "How many."),
	FIELD(SessionFileRead, created_at, .required = true, .doc = "When it was kept."),
};
SCHEMA(SessionFileRead, .doc = "What was too long for a message: a tool's whole answer.");

FIELDS(AutocompleteItem) = {
	FIELD(AutocompleteItem, id, .required = true, .doc = "What the mention points to."),
	FIELD(AutocompleteItem, label, .required = true, .example = "\"Support desk\"",
		.doc = "What to show and to match."),
	FIELD(AutocompleteItem, type, .required = true, .words = &MentionType_words,
		.doc = "What kind of thing it is."),
	FIELD(AutocompleteItem, detail, .nullable = true, .example = "\"support-desk\"",
		.doc = "A second line that tells it from others of its name."),
};
SCHEMA(AutocompleteItem, .doc = "Something that can be mentioned in a message.");
