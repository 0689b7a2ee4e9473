/* sessions.h - sessions, their messages, subtasks and files, approvals, memories, and what can be
 * mentioned. */
#pragma once
#include "contract/schema.h"

enum SessionStatus {
	SessionStatus_pending,
	SessionStatus_running,
	SessionStatus_waiting_approval,
	SessionStatus_completed,
	SessionStatus_failed,
	SessionStatus_cancelled
};
extern const struct words SessionStatus_words;

enum SessionOrigin {
	SessionOrigin_user,
	SessionOrigin_webhook,
	SessionOrigin_mail,
	SessionOrigin_subtask,
	SessionOrigin_api,
	SessionOrigin_benchmark
};
extern const struct words SessionOrigin_words;

enum MessageRole { MessageRole_user, MessageRole_assistant, MessageRole_tool, MessageRole_system };
extern const struct words MessageRole_words;

enum MessageStatus { MessageStatus_streaming, MessageStatus_complete, MessageStatus_failed };
extern const struct words MessageStatus_words;

enum MentionType {
	MentionType_agent,
	MentionType_user,
	MentionType_skill,
	MentionType_tool,
	MentionType_session
};
extern const struct words MentionType_words;

enum ApprovalStatus {
	ApprovalStatus_pending,
	ApprovalStatus_approved,
	ApprovalStatus_denied,
	ApprovalStatus_cancelled
};
extern const struct words ApprovalStatus_words;

struct SubtaskSummary {
	const char *id, *parent_session_id, *agent_id, *agent_name, *title;
	int status;
	int64_t message_count;
	struct moment created_at, started_at;
};
SCHEMA_DECLARED(SubtaskSummary);

struct ActiveSubtasksResponse {
	struct list subtasks;
	int64_t count;
};
SCHEMA_DECLARED(ActiveSubtasksResponse);

struct TaskSessionRead {
	const char *id, *tenant_id, *agent_id, *parent_session_id, *title;
	int status, origin;
	const char *created_by_id;
	int64_t iteration_count, message_count, last_event_id;
	const char *error;
	struct moment created_at, started_at, completed_at, updated_at;
	struct json metadata;
};
SCHEMA_DECLARED(TaskSessionRead);

struct SessionCreate {
	const char *title, *message;
	struct json metadata;
};
SCHEMA_DECLARED(SessionCreate);

struct SessionUpdate {
	uint64_t got;
	const char *title;
	struct json metadata;
};
SCHEMA_DECLARED(SessionUpdate);

struct SubtaskCreate {
	const char *agent_id, *title, *message;
};
SCHEMA_DECLARED(SubtaskCreate);

struct MessageCreate {
	const char *content;
};
SCHEMA_DECLARED(MessageCreate);

struct ToolCall {
	const char *id, *name;
	struct json arguments;
};
SCHEMA_DECLARED(ToolCall);

struct TaskMessageRead {
	const char *id, *session_id;
	int role, status;
	const char *content;
	struct list tool_calls;
	const char *tool_call_id, *model_id;
	int64_t prompt_tokens, completion_tokens, cache_read_tokens, cache_write_tokens;
	double cost_usd;
	struct moment created_at;
};
SCHEMA_DECLARED(TaskMessageRead);

struct ApprovalDecision {
	bool approved;
};
SCHEMA_DECLARED(ApprovalDecision);

struct ApprovalRead {
	const char *id, *session_id, *agent_id, *tool_call_id, *tool_name;
	struct json arguments;
	int status;
	const char *decided_by_id;
	struct moment created_at, decided_at;
};
SCHEMA_DECLARED(ApprovalRead);

struct MemoryRead {
	const char *id, *agent_id, *content, *source_session_id;
	struct moment created_at;
};
SCHEMA_DECLARED(MemoryRead);

struct MemoryCreate {
	const char *content;
};
SCHEMA_DECLARED(MemoryCreate);

struct SessionFileRead {
	const char *id, *session_id, *name, *content_type;
	int64_t size_bytes;
	struct moment created_at;
};
SCHEMA_DECLARED(SessionFileRead);

struct AutocompleteItem {
	const char *id, *label;
	int type;
	const char *detail;
};
SCHEMA_DECLARED(AutocompleteItem);

/* NULL-terminated: all of the above. */
extern const struct schema *const sessions_schemas[];
