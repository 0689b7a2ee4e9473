/* sessions_schemas.c - the tables for sessions, their messages, subtasks and files, approvals, memories,
 * and what can be mentioned. */
#include "api/sessions.h"
#include "sessions/session.h"

static const char *const SessionStatus_list[] = {
	[SessionStatus_pending] = "pending",
	[SessionStatus_running] = "running",
	[SessionStatus_waiting_approval] = "waiting_approval",
	[SessionStatus_completed] = "completed",
	[SessionStatus_failed] = "failed",
	[SessionStatus_cancelled] = "cancelled",
	NULL,
};
const struct words SessionStatus_words = {
	.title = "SessionStatus",
	.list = SessionStatus_list,
	.doc = "Where a session stands; a new message opens a completed one again.",
};

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

static const char *const MessageRole_list[] = {
	[MessageRole_user] = "user",
	[MessageRole_assistant] = "assistant",
	[MessageRole_tool] = "tool",
	[MessageRole_system] = "system",
	NULL,
};
const struct words MessageRole_words = {
	.list = MessageRole_list,
	.doc = "Who wrote a message.",
};

static const char *const MessageStatus_list[] = {
	[MessageStatus_streaming] = "streaming",
	[MessageStatus_complete] = "complete",
	[MessageStatus_failed] = "failed",
	NULL,
};
const struct words MessageStatus_words = {
	.list = MessageStatus_list,
	.doc = "Whether a message is still being written.",
};

static const char *const ApprovalStatus_list[] = {
	[ApprovalStatus_pending] = "pending",
	[ApprovalStatus_approved] = "approved",
	[ApprovalStatus_denied] = "denied",
	[ApprovalStatus_cancelled] = "cancelled",
	NULL,
};
const struct words ApprovalStatus_words = {
	.list = ApprovalStatus_list,
	.doc = "What became of a call that needs a person's word; cancelled with its run.",
};

static const char *const MentionType_list[] = {
	[MentionType_agent] = "agent",
	[MentionType_user] = "user",
	[MentionType_skill] = "skill",
	[MentionType_tool] = "tool",
	[MentionType_session] = "session",
	NULL,
};
const struct words MentionType_words = {
	.title = "MentionType",
	.list = MentionType_list,
	.doc = "What a mention in a message can point to.",
};

FIELDS(SubtaskSummary) = {
	FIELD(SubtaskSummary, id, .need = true, .id = true,
		.doc = "The subtask, a session of its own."),
	FIELD(SubtaskSummary, parent_session_id, .need = true, .id = true,
		.doc = "The session that started it."),
	FIELD(SubtaskSummary, agent_id, .need = true, .id = true,
		.doc = "The agent that works on it."),
	FIELD(SubtaskSummary, agent_name, .need = true, .example = "\"Support desk\"",
		.doc = "That agent's name."),
	FIELD(SubtaskSummary, title, .need = true, .example = "\"Look up the order\"",
		.doc = "What it is about."),
	FIELD(SubtaskSummary, status, .need = true, .words = &SessionStatus_words,
		.doc = "Where it stands."),
	FIELD(SubtaskSummary, message_count, .need = true, .example = "4",
		.doc = "Messages in it so far."),
	FIELD(SubtaskSummary, created_at, .need = true, .doc = "When it was asked for."),
	FIELD(SubtaskSummary, started_at, .need = true, .nullable = true,
		.doc = "When work on it began; null before that."),
};
SCHEMA(SubtaskSummary, .doc = "A session that another session started.");

FIELDS(ActiveSubtasksResponse) = {
	FIELD(ActiveSubtasksResponse, subtasks, .need = true, .item = OBJECT,
		.of = &SubtaskSummary_schema,
		.doc = "Those pending, running or waiting for approval, newest first."),
	FIELD(ActiveSubtasksResponse, count, .need = true, .example = "1",
		.doc = "How many there are."),
};
SCHEMA(ActiveSubtasksResponse, .doc = "Subtasks of a session that have not ended.");

#define METADATA_DOC "What whoever made it keeps beside it; Lodge does not read it."

FIELDS(TaskSessionRead) = {
	FIELD(TaskSessionRead, id, .need = true, .id = true, .doc = "The session."),
	FIELD(TaskSessionRead, tenant_id, .need = true, .id = true,
		.doc = "The tenant it belongs to."),
	FIELD(TaskSessionRead, agent_id, .need = true, .id = true,
		.doc = "The agent that works in it."),
	FIELD(TaskSessionRead, parent_session_id, .need = true, .nullable = true, .id = true,
		.example = "null", .doc = "The session that started it, if it is a subtask."),
	FIELD(TaskSessionRead, title, .need = true, .nullable = true, .example = "\"Order 1042\"",
		.doc = "What it is about; null until it is named."),
	FIELD(TaskSessionRead, status, .need = true, .words = &SessionStatus_words,
		.doc = "Where it stands."),
	FIELD(TaskSessionRead, origin, .need = true, .words = &SessionOrigin_words,
		.doc = "What started it."),
	FIELD(TaskSessionRead, created_by_id, .need = true, .nullable = true, .id = true,
		.doc = "The user who started it, if a user did."),
	FIELD(TaskSessionRead, iteration_count, .need = true, .example = "3",
		.doc = "Turns the agent has taken: each is one call to a model."),
	FIELD(TaskSessionRead, message_count, .need = true, .example = "6",
		.doc = "Messages in it so far."),
	FIELD(TaskSessionRead, last_event_id, .need = true, .example = "41",
		.doc = "Number of its latest event; resume the event stream behind it."),
	FIELD(TaskSessionRead, error, .need = true, .nullable = true, .example = "null",
		.doc = "Why it failed; null unless it did."),
	FIELD(TaskSessionRead, created_at, .need = true, .doc = "When it was asked for."),
	FIELD(TaskSessionRead, started_at, .need = true, .nullable = true,
		.doc = "When work first began; null before that."),
	FIELD(TaskSessionRead, completed_at, .need = true, .nullable = true, .example = "null",
		.doc = "When it ended; null while it is open."),
	FIELD(TaskSessionRead, updated_at, .need = true,
		.doc = "When anything in it last changed."),
	FIELD(TaskSessionRead, metadata, .need = true, .example = "{\"ticket\":\"1042\"}",
		.doc = METADATA_DOC),
};
SCHEMA(TaskSessionRead, .doc = "A session: a conversation with an agent and the work it does.");

#define TITLE_BOUNDS BOUNDS(1, 255)

FIELDS(SessionCreate) = {
	FIELD(SessionCreate, title, .nullable = true, TITLE_BOUNDS, .example = "\"Order 1042\"",
		.doc = "What it is about; without one it is named after its first message."),
	FIELD(SessionCreate, message, .nullable = true, AT_LEAST(1), .prompt = true,
		.ceiling = SESSION_MESSAGE_MAX, .example = "\"Where is my order?\"",
		.doc = "The first message; it sets the agent to work."),
	FIELD(SessionCreate, metadata, .otherwise = "{}", .example = "{\"ticket\":\"1042\"}",
		.doc = METADATA_DOC),
};
SCHEMA(SessionCreate, .doc = "A conversation to begin.");

FIELDS(SessionUpdate) = {
	FIELD(SessionUpdate, title, .nullable = true, TITLE_BOUNDS, .example = "\"Order 1042\"",
		.doc = "What it is about; null takes the name away."),
	FIELD(SessionUpdate, metadata, .example = "{\"ticket\":\"1042\"}", .doc = METADATA_DOC),
};
SCHEMA(SessionUpdate, .doc = "What changes of a session.", .partial = true);

FIELDS(SubtaskCreate) = {
	FIELD(SubtaskCreate, agent_id, .nullable = true, .id = true,
		.doc = "Who shall work on it; the session's own agent without it. It needs "
		       "session:write there too."),
	FIELD(SubtaskCreate, title, .need = true, TITLE_BOUNDS, .example = "\"Look up the order\"",
		.doc = "What it is about."),
	FIELD(SubtaskCreate, message, .need = true, AT_LEAST(1), .prompt = true,
		.ceiling = SESSION_MESSAGE_MAX, .example = "\"Where is order 1042?\"",
		.doc = "What is to be done; it sets the agent to work."),
};
SCHEMA(SubtaskCreate, .doc = "A piece of work to give away.");

FIELDS(MessageCreate) = {
	FIELD(MessageCreate, content, .need = true, AT_LEAST(1), .prompt = true,
		.ceiling = SESSION_MESSAGE_MAX, .example = "\"Where is my order?\"",
		.doc = "The text."),
};
SCHEMA(MessageCreate, .doc = "Something to say in a session.");

FIELDS(ToolCall) = {
	FIELD(ToolCall, id, .need = true, .example = "\"call_1\"",
		.doc = "Names the call within its session; the answer carries it as tool_call_id."),
	FIELD(ToolCall, name, .need = true, .example = "\"web.search\"",
		.doc = "The tool, by the name the model was given."),
	FIELD(ToolCall, arguments, .need = true, .example = "{\"query\":\"opening hours\"}",
		.doc = "What the model passes to the tool."),
};
SCHEMA(ToolCall, .doc = "A model's wish to run a tool.");

FIELDS(TaskMessageRead) = {
	FIELD(TaskMessageRead, id, .need = true, .id = true, .doc = "The message."),
	FIELD(TaskMessageRead, session_id, .need = true, .id = true,
		.doc = "The session it belongs to."),
	FIELD(TaskMessageRead, role, .need = true, .words = &MessageRole_words,
		.doc = "Who wrote it."),
	FIELD(TaskMessageRead, status, .need = true, .words = &MessageStatus_words,
		.example = "\"complete\"",
		.doc = "streaming while it is being written; content then holds what there is so "
		       "far."),
	FIELD(TaskMessageRead, content, .need = true, .prompt = true,
		.example = "\"Where is my order?\"", .doc = "The text."),
	FIELD(TaskMessageRead, tool_calls, .need = true, .item = OBJECT, .of = &ToolCall_schema,
		.example = "[]",
		.doc = "Tools the model asked for with this message; empty if none."),
	FIELD(TaskMessageRead, tool_call_id, .need = true, .nullable = true, .example = "null",
		.doc = "The call that a tool's message answers; null for other roles."),
	FIELD(TaskMessageRead, model_id, .need = true, .nullable = true, .id = true,
		.example = "null", .doc = "The model that wrote it; null if none did."),
	FIELD(TaskMessageRead, prompt_tokens, .need = true, .example = "0",
		.doc = "Input of the model call that came from no cache."),
	FIELD(TaskMessageRead, completion_tokens, .need = true, .example = "0",
		.doc = "Tokens the model wrote."),
	FIELD(TaskMessageRead, cache_read_tokens, .need = true, .example = "0",
		.doc = "Input read from the provider's cache."),
	FIELD(TaskMessageRead, cache_write_tokens, .need = true, .example = "0",
		.doc = "Input written to the provider's cache."),
	FIELD(TaskMessageRead, cost_usd, .computed = true, .need = true, .example = "0",
		.doc = "What the model call cost."),
	FIELD(TaskMessageRead, created_at, .need = true, .doc = "When the message was begun."),
};
SCHEMA(TaskMessageRead, .doc = "One message of a session.");

FIELDS(ApprovalDecision) = {
	FIELD(ApprovalDecision, approved, .need = true, .example = "true",
		.doc = "True runs the tool; false tells the model that it was refused."),
};
SCHEMA(ApprovalDecision, .doc = "A person's answer to a tool call that waits for one.");

FIELDS(ApprovalRead) = {
	FIELD(ApprovalRead, id, .need = true, .id = true, .doc = "The approval."),
	FIELD(ApprovalRead, session_id, .need = true, .id = true,
		.doc = "The session that waits for it."),
	FIELD(ApprovalRead, agent_id, .computed = true, .need = true, .id = true,
		.doc = "The agent that asks."),
	FIELD(ApprovalRead, tool_call_id, .computed = true, .need = true, .example = "\"call_1\"",
		.doc = "The call, as the message's tool_calls name it."),
	FIELD(ApprovalRead, tool_name, .need = true, .example = "\"refund\"",
		.doc = "The tool that it would run."),
	FIELD(ApprovalRead, arguments, .need = true, .example = "{\"order\":1042}",
		.doc = "What the tool would be given."),
	FIELD(ApprovalRead, status, .need = true, .words = &ApprovalStatus_words,
		.doc = "Whether it is decided, and how."),
	FIELD(ApprovalRead, decided_by_id, .need = true, .nullable = true, .id = true,
		.example = "null", .doc = "Who decided; null while nobody has."),
	FIELD(ApprovalRead, created_at, .need = true, .doc = "When it was asked for."),
	FIELD(ApprovalRead, decided_at, .need = true, .nullable = true, .example = "null",
		.doc = "When it was decided; null while it is not."),
};
SCHEMA(ApprovalRead, .doc = "A call of a tool that needs a person's word.");

FIELDS(MemoryRead) = {
	FIELD(MemoryRead, id, .need = true, .id = true, .doc = "The memory."),
	FIELD(MemoryRead, agent_id, .need = true, .id = true, .doc = "The agent that keeps it."),
	FIELD(MemoryRead, content, .need = true, .example = "\"Invoices go out on Mondays.\"",
		.doc = "What it keeps."),
	FIELD(MemoryRead, source_session_id, .need = true, .nullable = true, .id = true,
		.example = "null",
		.doc = "The session in which the agent wrote it; null if a person did."),
	FIELD(MemoryRead, created_at, .need = true, .doc = "When it was written."),
};
SCHEMA(MemoryRead, .doc = "Something an agent keeps between sessions.");

FIELDS(MemoryCreate) = {
	FIELD(MemoryCreate, content, .need = true, BOUNDS(1, 8000),
		.example = "\"Invoices go out on Mondays.\"",
		.doc = "What the agent shall know in every session."),
};
SCHEMA(MemoryCreate, .doc = "Something for an agent to keep.");

FIELDS(SessionFileRead) = {
	FIELD(SessionFileRead, id, .need = true, .id = true, .doc = "The file."),
	FIELD(SessionFileRead, session_id, .need = true, .id = true,
		.doc = "The session it belongs to."),
	FIELD(SessionFileRead, name, .need = true, .example = "\"http_fetch-1.txt\"",
		.doc = "What to save it as."),
	FIELD(SessionFileRead, content_type, .need = true, .example = "\"text/plain\"",
		.doc = "What kind of bytes they are."),
	FIELD(SessionFileRead, size_bytes, .need = true, .example = "51200", .doc = "How many."),
	FIELD(SessionFileRead, created_at, .need = true, .doc = "When it was kept."),
};
SCHEMA(SessionFileRead, .doc = "What was too long for a message: a tool's whole answer.");

FIELDS(AutocompleteItem) = {
	FIELD(AutocompleteItem, id, .need = true, .doc = "What the mention points to."),
	FIELD(AutocompleteItem, label, .need = true, .example = "\"Support desk\"",
		.doc = "What to show and to match."),
	FIELD(AutocompleteItem, type, .need = true, .words = &MentionType_words,
		.doc = "What kind of thing it is."),
	FIELD(AutocompleteItem, detail, .nullable = true, .example = "\"support-desk\"",
		.doc = "A second line that tells it from others of its name."),
};
SCHEMA(AutocompleteItem, .doc = "Something that can be mentioned in a message.");

const struct schema *const sessions_schemas[] = {
	&SubtaskSummary_schema,
	&ActiveSubtasksResponse_schema,
	&TaskSessionRead_schema,
	&ToolCall_schema,
	&TaskMessageRead_schema,
	&ApprovalDecision_schema,
	&ApprovalRead_schema,
	&MemoryRead_schema,
	&SessionFileRead_schema,
	&AutocompleteItem_schema,
	NULL,
};
