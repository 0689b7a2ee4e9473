/* mail.h - mailboxes of agents, and their care by super administrators. */
#pragma once
#include "mailboxes/mail_rows.h"

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

struct MailboxUpdate {
	bool is_active;
};
SCHEMA_DECLARED(MailboxUpdate);

struct AdminMailboxUpdate {
	bool is_paused;
};
SCHEMA_DECLARED(AdminMailboxUpdate);

/* ---- messages ---- */

struct MailMessageRead {
	const char *id, *mailbox_id, *thread_id;
	int direction, state, verdict;
	const char *from;
	struct list to, cc, bcc; /* const char * */
	const char *subject, *preview, *text, *extracted_text, *html_text;
	struct list labels; /* const char * */
	bool unread;
	struct list attachments; /* struct AgentAttachmentRow */
	const char *message_id_header, *in_reply_to;
	struct list references; /* const char * */
	int64_t size_bytes;
	const char *session_id, *error;
	struct moment created_at, sent_at;
};
SCHEMA_DECLARED(MailMessageRead);

struct MailThreadRead {
	const char *id, *subject;
	struct list participants; /* const char * */
	int64_t message_count, unread_count;
	const char *last_message_id;
	struct moment last_message_at;
	const char *session_id;
};
SCHEMA_DECLARED(MailThreadRead);

struct MailThreadDetail {
	const char *id, *subject;
	struct list participants; /* const char * */
	int64_t message_count, unread_count;
	const char *last_message_id;
	struct moment last_message_at;
	const char *session_id;
	struct list messages; /* struct MailMessageRead */
};
SCHEMA_DECLARED(MailThreadDetail);

struct MailUpdate {
	uint64_t present;
	bool unread;
	struct list labels, to, cc; /* const char * */
	const char *subject, *text;
};
SCHEMA_DECLARED(MailUpdate);

struct MailAttachmentCreate {
	const char *filename, *content_type, *content, *key;
};
SCHEMA_DECLARED(MailAttachmentCreate);

struct MailCreate {
	struct list to, cc, bcc; /* const char * */
	const char *subject, *text, *html;
	struct list attachments; /* struct MailAttachmentCreate */
	const char *in_reply_to, *mailbox_id;
	bool draft;
};
SCHEMA_DECLARED(MailCreate);

struct MailReplyCreate {
	const char *text, *html;
	bool all;
	struct list attachments; /* struct MailAttachmentCreate */
	bool draft;
};
SCHEMA_DECLARED(MailReplyCreate);

struct MailForward {
	struct list to; /* const char * */
	const char *text;
};
SCHEMA_DECLARED(MailForward);

struct MailSuppression {
	const char *id, *address, *reason;
	struct moment created_at;
};
SCHEMA_DECLARED(MailSuppression);

struct MailWaiting {
	const char *id, *agent_id, *thread_id;
	int state;
	const char *from;
	struct list to, cc; /* const char * */
	const char *subject, *preview, *error;
	struct moment created_at;
};
SCHEMA_DECLARED(MailWaiting);

#define AGENT_MAIL "/tenant/{tenant_id}/agents/{agent_id}/mail"
/* What a message is shown with: the session only while it is there. */
#define MAIL_COLUMNS                                                           \
	"{m.*}, (select s.id from sessions s where s.tenant_id = m.tenant_id " \
	"and s.id = m.session_id) as session_id"

struct call;
/* The message of the path; ERR_NOT_FOUND with a sentence. */
int mail_named(struct call *c, struct mail_message_row *ret);
/* Says at the field which of them is no address. */
void mail_check_addresses(struct call *c, const char *field, const struct list *l);
/* In small letters. */
struct list mail_folded(struct call *c, const struct list *l);
/* As it is stored, into a reply. */
int mail_show(struct call *c, const char *id, struct MailMessageRead *out);

/* Said to who would let one go on that is switched off. */
#define MAILBOX_DISABLED \
	"External mail is switched off for this agent or its tenant, or the service has no domain for it."
