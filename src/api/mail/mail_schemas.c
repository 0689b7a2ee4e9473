/* mail_schemas.c - the tables for mailboxes of agents, and their care by super administrators. */
#include "api/mail/mail.h"

#include "bucket/bucket.h"

enum { MAIL_CONTENT_MAX = 5 << 20 };

#define ONE_LINE \
	.pattern = "^[^\\x00-\\x1f\\x7f]*$", .rule = "must be one line without control characters"

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

FIELDS(MailboxUpdate) = {
	FIELD(MailboxUpdate, is_active, .required = true,
		.doc = "False pauses the mailbox, true lets it go on."),
};
SCHEMA(MailboxUpdate, .doc = "Pauses a mailbox, or lets it go on.");

FIELDS(AdminMailboxUpdate) = {
	FIELD(AdminMailboxUpdate, is_paused, .required = true,
		.doc = "True pauses the mailbox, false lets it go on."),
};
SCHEMA(AdminMailboxUpdate, .doc = "Pauses a mailbox, or lets it go on.");

#define ADDRESSES .item = TEXT, .example = "[\"back-desk@demo.lodge.internal\"]"

FIELDS(MailMessageRead) = {
	FIELD(MailMessageRead, id, .required = true, .id = true, .doc = "The message."),
	FIELD(MailMessageRead, mailbox_id, .required = true, .id = true,
		.doc = "The mailbox it is in."),
	FIELD(MailMessageRead, thread_id, .required = true, .id = true,
		.doc = "The thread it is part of."),
	FIELD(MailMessageRead, direction, .required = true, .words = &MailDirection_words,
		.doc = "Whether it came or went."),
	FIELD(MailMessageRead, state, .required = true, .words = &MailState_words,
		.doc = "Where it stands."),
	FIELD(MailMessageRead, verdict, .required = true, .words = &MailVerdict_words,
		.doc = "Whether the sender is who it says."),
	FIELD(MailMessageRead, from, .column = "sender", .required = true,
		.example = "\"front-desk@demo.lodge.internal\"", .doc = "The sender's address."),
	FIELD(MailMessageRead, to, .column = "recipients", .required = true, ADDRESSES,
		.doc = "Whom it is for."),
	FIELD(MailMessageRead, cc, .required = true, ADDRESSES, .doc = "Who else has it."),
	FIELD(MailMessageRead, bcc, .required = true, ADDRESSES,
		.doc = "Who has it without the others seeing that; of a message that came none are known."),
	FIELD(MailMessageRead, subject, .required = true, .example = "\"Invoices of May\"",
		.doc = "What it is about."),
	FIELD(MailMessageRead, preview, .required = true, .doc = "Its first words, on one line."),
	FIELD(MailMessageRead, text, .column = "body", .required = true, .prompt = true,
		.doc = "What it says."),
	FIELD(MailMessageRead, extracted_text, .nullable = true, .prompt = true,
		.doc = "The text without what it quotes; null where nothing is quoted."),
	FIELD(MailMessageRead, html_text, .nullable = true, .prompt = true,
		.doc = "What its HTML shows; null where it has none. The HTML itself is sent, never shown."),
	FIELD(MailMessageRead, labels, .required = true, .item = TEXT, .example = "[\"invoices\"]",
		.doc = "What people marked it with."),
	FIELD(MailMessageRead, unread, .required = true,
		.doc = "True until somebody says otherwise."),
	FIELD(MailMessageRead, attachments, .required = true, .item = OBJECT,
		.of = &AgentAttachmentRow_schema, .doc = "The files that came with it."),
	FIELD(MailMessageRead, message_id_header, .required = true,
		.example = "\"<c0h2v7@demo.lodge.internal>\"",
		.doc = "Its Message-ID, the same on both sides."),
	FIELD(MailMessageRead, in_reply_to, .nullable = true,
		.doc = "The Message-ID that it answers."),
	FIELD(MailMessageRead, references, .column = "refs", .required = true, .item = TEXT,
		.doc = "The Message-IDs that led to it."),
	FIELD(MailMessageRead, size_bytes, .required = true,
		.doc = "Length of its texts and files."),
	FIELD(MailMessageRead, session_id, .nullable = true, .id = true, .computed = true,
		.doc = "The session that it set to work, or that wrote it; null for none."),
	FIELD(MailMessageRead, error, .nullable = true,
		.doc = "Why it was not sent, or why nobody was woken; null if nothing is to be said."),
	FIELD(MailMessageRead, created_at, .required = true, .doc = "When it came or was written."),
	FIELD(MailMessageRead, sent_at, .nullable = true,
		.doc = "When it was sent; null if it was not."),
};
SCHEMA(MailMessageRead, .doc = "A message in one of the agent's mailboxes.");

#define THREAD_FIELDS(S)                                                                        \
	FIELD(S, id, .required = true, .id = true, .doc = "The thread."),                       \
		FIELD(S, subject, .required = true, .example = "\"Invoices of May\"",           \
			.doc = "The subject of its first message."),                            \
		FIELD(S, participants, .required = true, ADDRESSES,                             \
			.doc = "Who wrote in it or was written to; the first 100."),            \
		FIELD(S, message_count, .required = true, .doc = "Messages in it."),            \
		FIELD(S, unread_count, .required = true, .doc = "Those that are unread."),      \
		FIELD(S, last_message_id, .required = true, .id = true,                         \
			.doc = "The newest of them, which is what `after` of the list names."), \
		FIELD(S, last_message_at, .required = true, .doc = "When that came or went."),  \
		FIELD(S, session_id, .nullable = true, .id = true, .computed = true,            \
			.doc = "The session that the thread became; null for none.")

FIELDS(MailThreadRead) = { THREAD_FIELDS(MailThreadRead) };
SCHEMA(MailThreadRead, .doc = "A conversation by mail, in one mailbox.");

FIELDS(MailThreadDetail) = {
	THREAD_FIELDS(MailThreadDetail),
	FIELD(MailThreadDetail, messages, .required = true, .item = OBJECT, .computed = true,
		.of = &MailMessageRead_schema,
		.doc = "Its last 100 messages, the oldest first; the list of messages has all, by "
		       "thread_id."),
};
SCHEMA(MailThreadDetail, .doc = "A conversation by mail with its messages.");

#define LABELS_DOC "At most 20: small letters, digits and . _ - each of 64 signs at most."

#define RECIPIENTS \
	.item = TEXT, .max = MAIL_RECIPIENTS_MAX, .example = "[\"back-desk@demo.lodge.internal\"]"

#define OF_DRAFT " Only of a draft."

FIELDS(MailUpdate) = {
	FIELD(MailUpdate, unread, .doc = "False: somebody has read it."),
	FIELD(MailUpdate, labels, .item = TEXT, .max = MAIL_LABELS_MAX, .distinct = true,
		.example = "[\"invoices\"]", .doc = "All labels it is to have. " LABELS_DOC),
	FIELD(MailUpdate, to, AT_LEAST(1), RECIPIENTS, .doc = "Whom it is for." OF_DRAFT),
	FIELD(MailUpdate, cc, RECIPIENTS, .doc = "Who else has it." OF_DRAFT),
	FIELD(MailUpdate, subject, BOUNDS(0, MAIL_SUBJECT_MAX), ONE_LINE,
		.example = "\"Invoices of May\"", .doc = "What it is about, on one line." OF_DRAFT),
	FIELD(MailUpdate, text, .prompt = true, BOUNDS(0, MAIL_TEXT_MAX),
		.example = "\"Please check the invoices.\"",
		.doc = "What it says; its HTML goes with the former text." OF_DRAFT),
};
SCHEMA(MailUpdate, .partial = true,
	.doc = "What people note about a message, or write into a draft; what is left out stays.");

#define FILES                                                                            \
	.item = OBJECT, .of = &MailAttachmentCreate_schema, .max = MAIL_ATTACHMENTS_MAX, \
	.otherwise = "[]"

FIELDS(MailAttachmentCreate) = {
	FIELD(MailAttachmentCreate, filename, .required = true, BOUNDS(1, MAIL_FILENAME_MAX),
		.example = "\"invoice.pdf\"", .doc = "What it is called, without a folder."),
	FIELD(MailAttachmentCreate, content_type, .preset = "\"application/octet-stream\"",
		BOUNDS(1, BUCKET_TYPE_MAX), .pattern = "^[!-~]+/[!-~]+(; ?[ -~]+)?$",
		.rule = "must be a type such as application/pdf", .doc = "What it is."),
	FIELD(MailAttachmentCreate, content, .nullable = true, BOUNDS(0, MAIL_CONTENT_MAX),
		.example = "\"aGVsbG8=\"",
		.doc = "Its bytes in base64; larger ones lie in the bucket and are named by key."),
	FIELD(MailAttachmentCreate, key, .nullable = true, BOUNDS(1, BUCKET_KEY_MAX),
		.example = "\"out/invoice.pdf\"",
		.doc = "In place of content: the key of an object in the tenant's bucket."),
};
SCHEMA(MailAttachmentCreate, .doc = "A file to go with a message: its bytes, or where they lie.");

#define TEXT_RULE .required = true, .prompt = true, BOUNDS(0, MAIL_TEXT_MAX)
#define HTML_FIELD(S)                                                              \
	FIELD(S, html, .nullable = true, .prompt = true, BOUNDS(0, MAIL_TEXT_MAX), \
		.doc = "The same as HTML, for readers outside who show it. Here only the words in it are shown.")

FIELDS(MailCreate) = {
	FIELD(MailCreate, to, .required = true, AT_LEAST(1), RECIPIENTS, .doc = "Whom it is for."),
	FIELD(MailCreate, cc, RECIPIENTS, .otherwise = "[]", .doc = "Who else has it."),
	FIELD(MailCreate, bcc, RECIPIENTS, .otherwise = "[]",
		.doc = "Who has it without the others seeing that."),
	FIELD(MailCreate, subject, .required = true, BOUNDS(0, MAIL_SUBJECT_MAX), ONE_LINE,
		.example = "\"Invoices of May\"", .doc = "What it is about, on one line."),
	FIELD(MailCreate, text, TEXT_RULE, .example = "\"Please check the invoices.\"",
		.doc = "What it says."),
	HTML_FIELD(MailCreate),
	FIELD(MailCreate, attachments, FILES, .doc = "Files to go with it; 25 MiB together."),
	FIELD(MailCreate, in_reply_to, .nullable = true, BOUNDS(1, 998),
		.doc = "The Message-ID of a message in the same mailbox, whose thread it continues."),
	FIELD(MailCreate, mailbox_id, .nullable = true, .id = true,
		.doc = "The mailbox it goes out of; the agent's internal one if absent."),
	FIELD(MailCreate, draft, .preset = "false",
		.doc = "True: it is kept until somebody sends it."),
};
SCHEMA(MailCreate, .doc = "A message to be sent.");

FIELDS(MailReplyCreate) = {
	FIELD(MailReplyCreate, text, TEXT_RULE, .example = "\"They are all right.\"",
		.doc = "What it says."),
	HTML_FIELD(MailReplyCreate),
	FIELD(MailReplyCreate, all, .preset = "false",
		.doc = "True: to everybody who had the message, not only to its sender."),
	FIELD(MailReplyCreate, attachments, FILES, .doc = "Files to go with it; 25 MiB together."),
	FIELD(MailReplyCreate, draft, .preset = "false",
		.doc = "True: it is kept until somebody sends it."),
};
SCHEMA(MailReplyCreate, .doc = "An answer to a message.");

FIELDS(MailForward) = {
	FIELD(MailForward, to, .required = true, AT_LEAST(1), RECIPIENTS, .doc = "Whom it is for."),
	FIELD(MailForward, text, .prompt = true, BOUNDS(0, MAIL_BEFORE_MAX), .preset = "\"\"",
		.doc = "What is said before the message that is handed on."),
};
SCHEMA(MailForward, .doc = "Hands a message on, with its files.");

FIELDS(MailSuppression) = {
	FIELD(MailSuppression, id, .required = true, .id = true, .doc = "The entry."),
	FIELD(MailSuppression, address, .required = true, .example = "\"gone@example.org\"",
		.doc = "The address that nothing is sent to."),
	FIELD(MailSuppression, reason, .required = true, .example = "\"550 5.1.1 no such user\"",
		.doc = "Why."),
	FIELD(MailSuppression, created_at, .required = true, .doc = "Since when."),
};
SCHEMA(MailSuppression, .doc = "An address whose mail bounced hard, or who complained.");

FIELDS(MailWaiting) = {
	FIELD(MailWaiting, id, .required = true, .id = true, .doc = "The message."),
	FIELD(MailWaiting, agent_id, .required = true, .id = true, .doc = "Whose it is."),
	FIELD(MailWaiting, thread_id, .required = true, .id = true, .doc = "Its thread."),
	FIELD(MailWaiting, state, .required = true, .words = &MailState_words,
		.doc = "draft, or held for its new recipients."),
	FIELD(MailWaiting, from, .column = "sender", .required = true,
		.example = "\"desk@demo.lodge.internal\"", .doc = "The mailbox that it lies in."),
	FIELD(MailWaiting, to, .column = "recipients", .required = true, ADDRESSES,
		.doc = "Whom it is for."),
	FIELD(MailWaiting, cc, .required = true, ADDRESSES, .doc = "Who gets a copy."),
	FIELD(MailWaiting, subject, .required = true, .doc = "Its subject."),
	FIELD(MailWaiting, preview, .required = true, .doc = "How it begins."),
	FIELD(MailWaiting, error, .required = true, .nullable = true,
		.doc = "Why it was not sent; null where nobody wanted it sent yet."),
	FIELD(MailWaiting, created_at, .required = true, .doc = "When it was written."),
};
SCHEMA(MailWaiting, .doc = "A message of an agent that goes out when a person sends it.");
