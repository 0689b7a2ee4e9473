/* audit.h - the audit log, and sessions as auditors see them. */
#pragma once
#include "contract/schema.h"

struct AuditLogRead {
	const char *id, *tenant_id, *user_id, *agent_id, *action, *resource_type, *resource_id, *ip,
		*user_agent;
	struct json meta;
	struct moment created_at;
};
SCHEMA_DECLARED(AuditLogRead);

struct AuditSessionListItem {
	const char *id, *tenant_id, *agent_id, *status;
	struct moment created_at;
	const char *agent_name;
	struct moment completed_at;
	const char *created_by_id;
	int64_t message_count;
	struct moment started_at;
	const char *title, *user_email, *user_name;
};
SCHEMA_DECLARED(AuditSessionListItem);

struct AuditSessionListResponse {
	struct list items;
	int64_t total, page, per_page;
};
SCHEMA_DECLARED(AuditSessionListResponse);

struct AuditSessionDetailResponse {
	struct TaskSessionRead *session;
	struct list messages;
	int64_t total_tokens, completion_tokens, prompt_tokens, total_cost_cents;
	const char *user_email, *user_name;
};
SCHEMA_DECLARED(AuditSessionDetailResponse);
