/* mail_schemas.c - the tables for mailboxes of agents, and their care by super administrators. */
#include "api/agents/mail.h"

static const char *const MailboxKind_list[] = {
	[MailboxKind_internal] = "internal",
	[MailboxKind_external] = "external",
	NULL,
};
const struct words MailboxKind_words = {
	.list = MailboxKind_list,
	.doc = "internal mailboxes live in this service; external ones reach the world.",
};

FIELDS(AdminMailHealRequest) = {
	FIELD(AdminMailHealRequest, service, .words = &MailboxKind_words,
		.otherwise = "\"internal\"",
		.doc = "internal gives a mailbox to every agent that lacks one; external brings "
		       "external mailboxes in line with the flags of tenant and agent."),
};
SCHEMA(AdminMailHealRequest,
	.doc = "Which mailboxes to put right; an empty object means the internal ones.");

FIELDS(AdminMailHealResult) = {
	FIELD(AdminMailHealResult, provisioned, .required = true, .example = "3",
		.doc = "How many mailboxes were made or changed by this run."),
	FIELD(AdminMailHealResult, provisioning_enabled, .preset = "true",
		.doc = "False when mail is switched off in the settings, so that nothing could be "
		       "made."),
};
SCHEMA(AdminMailHealResult, .doc = "What a healing run did.");

FIELDS(AdminMailboxRow) = {
	FIELD(AdminMailboxRow, id, .required = true, .id = true, .doc = "The mailbox."),
	FIELD(AdminMailboxRow, address, .required = true,
		.example = "\"support-desk@mail.example.org\"",
		.doc = "The address that mail is sent to."),
	FIELD(AdminMailboxRow, tenant_id, .required = true, .id = true,
		.doc = "The tenant it belongs to."),
	FIELD(AdminMailboxRow, tenant_name, .required = true, .example = "\"Example Ltd\"",
		.doc = "That tenant's name, so that a roster reads without a second call."),
	FIELD(AdminMailboxRow, agent_name, .required = true, .nullable = true,
		.example = "\"Support desk\"",
		.doc = "The agent that reads it; null when the mailbox has no agent."),
	FIELD(AdminMailboxRow, message_count, .required = true, .example = "128",
		.doc = "Messages received and sent, since the mailbox was made."),
	FIELD(AdminMailboxRow, last_message_at, .required = true, .nullable = true,
		.doc = "When the latest message came or went; null before the first."),
	FIELD(AdminMailboxRow, is_paused, .required = true,
		.doc = "True while the mailbox takes and sends no mail: the opposite of is_active."),
};
SCHEMA(AdminMailboxRow, .doc = "One mailbox in the super administrator's roster.");

FIELDS(AgentMailboxRow) = {
	FIELD(AgentMailboxRow, id, .required = true, .id = true, .doc = "The mailbox."),
	FIELD(AgentMailboxRow, address, .required = true,
		.example = "\"support-desk@mail.example.org\"",
		.doc = "The address that mail is sent to."),
	FIELD(AgentMailboxRow, kind, .required = true, .words = &MailboxKind_words,
		.doc = "internal mail stays within this service; external mail reaches the world."),
	FIELD(AgentMailboxRow, is_active, .required = true,
		.doc = "False while the mailbox is paused."),
	FIELD(AgentMailboxRow, created_at, .required = true, .doc = "When the mailbox was made."),
};
SCHEMA(AgentMailboxRow, .doc = "One mailbox of an agent.");

FIELDS(AgentAttachmentRow) = {
	FIELD(AgentAttachmentRow, id, .required = true, .id = true,
		.doc = "The attachment; its bytes are under /content."),
	FIELD(AgentAttachmentRow, message_id, .required = true, .id = true,
		.doc = "The message that carries it."),
	FIELD(AgentAttachmentRow, filename, .required = true, .example = "\"invoice.pdf\"",
		.doc = "As the sender named it; never used as a path."),
	FIELD(AgentAttachmentRow, content_type, .required = true, .example = "\"application/pdf\"",
		.doc = "As the sender declared it; not verified."),
	FIELD(AgentAttachmentRow, size_bytes, .required = true, .example = "48213",
		.doc = "Length of the decoded file."),
	FIELD(AgentAttachmentRow, created_at, .required = true, .doc = "When the message arrived."),
};
SCHEMA(AgentAttachmentRow, .doc = "A file that came or went with an agent's mail.");

const struct to_come mail_to_come[] = {
	{ &AdminMailHealRequest_schema, "Agents have no mailboxes yet." },
	{ &AdminMailHealResult_schema, "Agents have no mailboxes yet." },
	{ &AdminMailboxRow_schema, "Agents have no mailboxes yet." },
	{ &AgentMailboxRow_schema, "Agents have no mailboxes yet." },
	{ &AgentAttachmentRow_schema, "Agents have no mailboxes yet." },
	{ 0 },
};
