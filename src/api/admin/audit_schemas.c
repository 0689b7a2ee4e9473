/* audit_schemas.c - the tables for the audit log, and sessions as auditors see them. */
#include "api/admin/audit.h"

#include "api/sessions/sessions.h"

FIELDS(AuditLogRead) = {
	FIELD(AuditLogRead, id, .required = true, .id = true,
		.doc = "The entry; entries sort by it in time."),
	FIELD(AuditLogRead, tenant_id, .required = true, .nullable = true, .id = true,
		.doc = "The tenant it happened in; null for what belongs to none."),
	FIELD(AuditLogRead, user_id, .required = true, .nullable = true, .id = true,
		.doc = "The user who did it; null when no user did."),
	FIELD(AuditLogRead, agent_id, .required = true, .nullable = true, .id = true,
		.doc = "The agent that did it or was meant; null when none was."),
	FIELD(AuditLogRead, action, .required = true, .example = "\"agent.update\"",
		.doc = "What was done, as resource and verb."),
	FIELD(AuditLogRead, resource_type, .required = true, .example = "\"agent\"",
		.doc = "The kind of thing it was done to."),
	FIELD(AuditLogRead, resource_id, .required = true, .nullable = true,
		.doc = "Which one; null when it has no id."),
	FIELD(AuditLogRead, ip, .required = true, .nullable = true, .example = "\"192.0.2.7\"",
		.doc = "Where the request came from; null for the service's own work."),
	FIELD(AuditLogRead, user_agent, .required = true, .nullable = true,
		.example = "\"curl/8.5.0\"", .doc = "What the client calls itself."),
	FIELD(AuditLogRead, meta, .required = true,
		.example = "{\"name\":{\"from\":\"Desk\",\"to\":\"Support desk\"}}",
		.doc = "What changed, field by field, old and new; never a secret."),
	FIELD(AuditLogRead, created_at, .required = true, .doc = "When it was done."),
};
SCHEMA(AuditLogRead, .doc = "One thing that was done, by whom, to what.");

FIELDS(AuditSessionListItem) = {
	FIELD(AuditSessionListItem, id, .required = true, .id = true, .doc = "The session."),
	FIELD(AuditSessionListItem, tenant_id, .required = true, .id = true,
		.doc = "The tenant it belongs to."),
	FIELD(AuditSessionListItem, agent_id, .required = true, .id = true,
		.doc = "The agent that works in it."),
	FIELD(AuditSessionListItem, status, .required = true, .example = "\"completed\"",
		.doc = "pending, running, waiting_approval, completed, failed or cancelled."),
	FIELD(AuditSessionListItem, created_at, .required = true, .doc = "When it was asked for."),
	FIELD(AuditSessionListItem, agent_name, .nullable = true, .example = "\"Support desk\"",
		.doc = "The agent's name."),
	FIELD(AuditSessionListItem, completed_at, .nullable = true,
		.doc = "When it ended; null while it is open."),
	FIELD(AuditSessionListItem, created_by_id, .nullable = true, .id = true,
		.doc = "The user who started it, if a user did."),
	FIELD(AuditSessionListItem, message_count, .preset = "0", .doc = "Messages in it so far."),
	FIELD(AuditSessionListItem, started_at, .nullable = true,
		.doc = "When work first began; null before that."),
	FIELD(AuditSessionListItem, title, .nullable = true, .example = "\"Order 1042\"",
		.doc = "What it is about; null until it is named."),
	FIELD(AuditSessionListItem, user_email, .nullable = true, .example = "\"ada@example.org\"",
		.doc = "Address of the user who started it."),
	FIELD(AuditSessionListItem, user_name, .nullable = true, .example = "\"Ada Example\"",
		.doc = "Name of the user who started it."),
};
SCHEMA(AuditSessionListItem, .doc = "A session in the auditors' list.");

FIELDS(AuditSessionListResponse) = {
	FIELD(AuditSessionListResponse, items, .required = true, .item = OBJECT,
		.of = &AuditSessionListItem_schema, .doc = "The sessions on this page."),
	FIELD(AuditSessionListResponse, total, .required = true, .example = "1",
		.doc = "Sessions that match, on all pages."),
	FIELD(AuditSessionListResponse, page, .required = true, .example = "1",
		.doc = "Number of this page, from 1."),
	FIELD(AuditSessionListResponse, per_page, .required = true, .example = "50",
		.doc = "The most sessions a page holds."),
};
SCHEMA(AuditSessionListResponse, .doc = "A page of the auditors' list of sessions, newest first.");

FIELDS(AuditSessionDetailResponse) = {
	FIELD(AuditSessionDetailResponse, session, .required = true, .of = &TaskSessionRead_schema,
		.doc = "The session."),
	FIELD(AuditSessionDetailResponse, messages, .required = true, .item = OBJECT,
		.of = &TaskMessageRead_schema,
		.doc = "All its messages, oldest first; deleted ones have deleted_at."),
	FIELD(AuditSessionDetailResponse, total_tokens, .required = true, .example = "1830",
		.doc = "Tokens of all its model calls, cached ones included."),
	FIELD(AuditSessionDetailResponse, completion_tokens, .preset = "0",
		.doc = "Tokens written by models."),
	FIELD(AuditSessionDetailResponse, prompt_tokens, .preset = "0",
		.doc = "Tokens read by models, from no cache."),
	FIELD(AuditSessionDetailResponse, total_cost_cents, .preset = "0",
		.doc = "What it cost, in cents of a dollar, half a cent rounded up."),
	FIELD(AuditSessionDetailResponse, user_email, .nullable = true,
		.example = "\"ada@example.org\"", .doc = "Address of the user who started it."),
	FIELD(AuditSessionDetailResponse, user_name, .nullable = true, .example = "\"Ada Example\"",
		.doc = "Name of the user who started it."),
};
SCHEMA(AuditSessionDetailResponse, .doc = "A whole session for auditors, with what it cost.");

const struct schema *const audit_schemas[] = {
	&AuditLogRead_schema,
	&AuditSessionListItem_schema,
	&AuditSessionListResponse_schema,
	&AuditSessionDetailResponse_schema,
	NULL,
};
