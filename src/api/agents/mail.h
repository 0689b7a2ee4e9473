/* mail.h - mailboxes of agents, and their care by super administrators. */
#pragma once
#include "contract/route.h"

enum MailboxKind { MailboxKind_internal, MailboxKind_external };
extern const struct words MailboxKind_words;

struct AdminMailHealRequest {
	int service;
};
SCHEMA_DECLARED(AdminMailHealRequest);

struct AdminMailHealResult {
	int64_t provisioned;
	bool provisioning_enabled;
};
SCHEMA_DECLARED(AdminMailHealResult);

struct AdminMailboxRow {
	const char *id, *address, *tenant_id, *tenant_name, *agent_name;
	int64_t message_count;
	struct moment last_message_at;
	bool is_paused;
};
SCHEMA_DECLARED(AdminMailboxRow);

struct AgentMailboxRow {
	const char *id, *address;
	int kind;
	bool is_active;
	struct moment created_at;
};
SCHEMA_DECLARED(AgentMailboxRow);

struct AgentAttachmentRow {
	const char *id, *message_id, *filename, *content_type;
	int64_t size_bytes;
	struct moment created_at;
};
SCHEMA_DECLARED(AgentAttachmentRow);

/* Those whose operations are still to come. */
extern const struct to_come mail_to_come[];
