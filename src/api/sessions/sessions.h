/* sessions.h - sessions, their messages, subtasks and files, approvals, memories, and what can be
 * mentioned. */
#pragma once
#include "sessions/session_events.h"

enum SessionOrigin {
	SessionOrigin_user,
	SessionOrigin_webhook,
	SessionOrigin_mail,
	SessionOrigin_subtask,
	SessionOrigin_api,
	SessionOrigin_benchmark
};
extern const struct words SessionOrigin_words;

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
	struct moment attention_at;
	const char *error;
	int waiting_for;
	struct moment waiting_until, created_at, started_at, completed_at, updated_at;
	struct json metadata;
};
SCHEMA_DECLARED(TaskSessionRead);

struct SessionCreate {
	const char *title, *message;
	struct json metadata;
};
SCHEMA_DECLARED(SessionCreate);

struct SessionUpdate {
	uint64_t present;
	const char *title;
	struct json metadata;
};
SCHEMA_DECLARED(SessionUpdate);

struct SessionCancel {
	const char *run_id;
};
SCHEMA_DECLARED(SessionCancel);

struct SessionBranch {
	const char *message_id;
};
SCHEMA_DECLARED(SessionBranch);

struct SubtaskCreate {
	const char *agent_id, *title, *message;
};
SCHEMA_DECLARED(SubtaskCreate);

struct MessageCreate {
	const char *content;
	struct list file_ids;
};
SCHEMA_DECLARED(MessageCreate);

struct ToolCall {
	const char *id, *name;
	struct json arguments;
};
SCHEMA_DECLARED(ToolCall);

struct TaskMessageRead {
	MESSAGE_MEMBERS(struct list);
	const char *author_name;
	struct moment deleted_at;
	const char *deleted_by_id;
};
SCHEMA_DECLARED(TaskMessageRead);

struct ApprovalDecision {
	bool approved;
};
SCHEMA_DECLARED(ApprovalDecision);

enum MemoryScope { MemoryScope_private, MemoryScope_shared };
extern const struct words MemoryScope_words;

struct MemoryRead {
	const char *id, *agent_id, *content, *source_session_id;
	struct moment created_at;
	int scope;
	const char *user_id;
};
SCHEMA_DECLARED(MemoryRead);

struct MemoryCreate {
	const char *content;
	int scope;
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
