/* mail.c - the messages of an agent: listed, read, marked, deleted. */
#include <string.h>

#include "api/mail/mail.h"
#include "api/service.h"
#include "base/fold.h"
#include "base/same.h"
#include "call/operation.h"
#include "contract/value.h"
#include "mailboxes/mail_objects.h"
#include "store/listing.h"
#include "store/row.h"

#define NO_MESSAGE "There is no such message."

struct mail_query {
	const char *mailbox_id, *thread_id;
	int direction, state;
	const char *label;
	tri unread;
	const char *q, *from, *to;
};

FIELDS(mail_query) = {
	FIELD(mail_query, mailbox_id, .nullable = true, .id = true,
		.doc = "Only messages of this mailbox."),
	FIELD(mail_query, thread_id, .nullable = true, .id = true,
		.doc = "Only messages of this thread."),
	FIELD(mail_query, direction, .nullable = true, .words = &MailDirection_words,
		.doc = "Only those that came, or that went."),
	FIELD(mail_query, state, .nullable = true, .words = &MailState_words,
		.doc = "Only messages in this state."),
	FIELD(mail_query, label, .nullable = true, BOUNDS(1, MAIL_LABEL_MAX),
		.doc = "Only messages with this label."),
	FIELD(mail_query, unread, .nullable = true,
		.doc = "Only those that are unread, or are not."),
	FIELD(mail_query, q, .nullable = true, BOUNDS(1, 255),
		.doc = "Only messages whose subject, sender or first words contain this, whatever the case."),
	FIELD(mail_query, from, .nullable = true, BOUNDS(1, MAILBOX_ADDRESS_MAX),
		.doc = "Only messages from this address."),
	FIELD(mail_query, to, .nullable = true, BOUNDS(1, MAILBOX_ADDRESS_MAX),
		.doc = "Only messages to this address, also as cc."),
};
static SCHEMA(mail_query, .doc = "Filters of the list of messages.");

struct mail_asked {
	const char *tenant_id, *agent_id, *mailbox_id, *thread_id;
	int direction, state;
	const char *label;
	tri unread;
	const char *pattern, *from, *to;
};

FIELDS(mail_asked) = { ROW_FIELDS(mail_asked, tenant_id, agent_id),
	ROW_NULLABLE(mail_asked, mailbox_id, thread_id, label, unread, pattern, from, to),
	FIELD(mail_asked, direction, .nullable = true, .words = &MailDirection_words),
	FIELD(mail_asked, state, .nullable = true, .words = &MailState_words) };
static SCHEMA(mail_asked, .internal = true);

#define OF_AGENT "mail_messages m where m.tenant_id = :tenant_id and m.agent_id = :agent_id "
#define FILTERED                                                                              \
	"and (cast(:mailbox_id as text) is null or m.mailbox_id = :mailbox_id) "              \
	"and (cast(:direction as text) is null or m.direction = :direction) "                 \
	"and (cast(:state as text) is null or m.state = :state) "                             \
	"and (cast(:label as text) is null or m.labels like :label escape '!') "              \
	"and (cast(:unread as bigint) is null or m.unread = :unread) "                        \
	"and (cast(:pattern as text) is null or m.subject_folded like :pattern escape '!' "   \
	"or m.preview_folded like :pattern escape '!' or m.sender like :pattern escape '!') " \
	"and (cast(:from as text) is null or m.sender = :from) "                              \
	"and (cast(:to as text) is null or m.recipients like :to escape '!' "                 \
	"or m.cc like :to escape '!')"

enum { LIST_OF(MAIL_LIST), LIST_OF(MAIL_THREAD), MAIL_READ };

static const struct statement sql[] = {
	LISTING(MAIL_LIST, "mail_list", &MailMessageRead_schema, MAIL_COLUMNS, OF_AGENT FILTERED,
		"m.id", .args = &mail_asked_schema),
	LISTING(MAIL_THREAD, "mail_list_thread", &MailMessageRead_schema, MAIL_COLUMNS,
		OF_AGENT "and m.thread_id = :thread_id " FILTERED, "m.id",
		.args = &mail_asked_schema),
	[MAIL_READ] = { "mail_read",
		"select " MAIL_COLUMNS " from mail_messages m where m.tenant_id = $1 "
		"and m.agent_id = $2 and m.id = $3",
		.row = &MailMessageRead_schema },
};
STATEMENT_SET(mail_api_sql, sql);

/* An item of a list that is kept as JSON. */
static const char *item_pattern(struct call *c, const char *item)
{
	return item ? fold_pattern(c->arena, arena_printf(c->arena, "\"%s\"", item)) : NULL;
}

LIST_OPERATION(listMail, mail_query, MailMessageRead)
{
	struct mail_asked asked = { .tenant_id = c->caller.tenant_id,
		.agent_id = c->caller.agent_id,
		.mailbox_id = in->mailbox_id,
		.thread_id = in->thread_id,
		.direction = in->direction,
		.state = in->state,
		.label = item_pattern(c, in->label),
		.unread = in->unread,
		.pattern = in->q ? fold_pattern(c->arena, in->q) : NULL,
		.from = in->from ? fold_ascii(c->arena, in->from) : NULL,
		.to = item_pattern(c, in->to) };

	return call_list(
		c, &sql[in->thread_id ? MAIL_THREAD : MAIL_LIST], BY_NAME(mail_asked, &asked));
}

int mail_named(struct call *c, struct mail_message_row *ret)
{
	int err = mail_message_find(c->db, c->arena, c->caller.tenant_id, c->caller.agent_id,
		call_param(c, "message_id"), ret);

	return err == ERR_NOT_FOUND ? call_fail(c, err, NO_MESSAGE) : err;
}

int mail_show(struct call *c, const char *id, struct MailMessageRead *out)
{
	int err = db_one(c->db, c->arena, &sql[MAIL_READ], out,
		ARGS(T(c->caller.tenant_id), T(c->caller.agent_id), T(id)));

	return err == ERR_NOT_FOUND ? call_fail(c, err, NO_MESSAGE) : err;
}

void mail_check_addresses(struct call *c, const char *field, const struct list *l)
{
	const char *const *one = l->at;

	for (size_t i = 0; i < l->count; i++)
		if (one[i] && (strlen(one[i]) > MAILBOX_ADDRESS_MAX ||
				      !email_valid(one[i], strlen(one[i]))))
			call_field(c, arena_printf(c->arena, "%s[%zu]", field, i), "address",
				"is not an address such as desk@example.lodge.internal");
}

struct list mail_folded(struct call *c, const struct list *l)
{
	const char **out = arena_array(c->arena, const char *, l->count + 1);

	for (size_t i = 0; i < l->count; i++)
		out[i] = fold_ascii(c->arena, ((const char *const *)l->at)[i]);
	return (struct list){ out, l->count };
}

OPERATION(readMail, NONE, MailMessageRead)
{
	return mail_show(c, call_param(c, "message_id"), out);
}

static int open_raw(struct call *c, int *ret_fd)
{
	return bucket_open(service_of(c->app)->bucket, c->own, ret_fd, c->arena, &c->problem);
}

OPERATION(readRawMail, NONE, NONE, .gives = "message/rfc822", .untagged = true, .own_tag = true,
	.gives_file = true)
{
	struct bucket_row *object = c->own = arena_new(c->arena, struct bucket_row);
	struct mail_message_row m;
	int err = mail_named(c, &m);

	if (!err && !m.object_key)
		return call_fail(c, ERR_NOT_FOUND,
			"This message has no bytes: it never came or went over the network.");
	if (!err)
		err = bucket_row_find(c->db, c->arena, m.tenant_id, m.object_key, object);
	if (err)
		return err;
	call_attach(c, arena_printf(c->arena, "%s.eml", m.id));
	buf_lit(&c->x->reply.extra, "Content-Security-Policy: sandbox; default-src 'none'\r\n");
	return call_send_file(c, &(struct call_file){ .size = (uint64_t)object->size_bytes,
					 .tag = arena_printf(c->arena, "\"%s\"", object->sha256),
					 .type = "message/rfc822",
					 .open = open_raw });
}

static bool is_label(const char *text)
{
	size_t len = strlen(text);

	return len && len <= MAIL_LABEL_MAX &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789._-") == len;
}

CHECK_STEP(updateMail, MailUpdate)
{
	const char *const *label = in->labels.at;

	for (size_t i = 0; i < in->labels.count; i++)
		if (label[i] && !is_label(label[i]))
			call_field(c, arena_printf(c->arena, "labels[%zu]", i), "label",
				"may have small letters, digits and . _ - only, at most %d",
				MAIL_LABEL_MAX);
	mail_check_addresses(c, "to", &in->to);
	mail_check_addresses(c, "cc", &in->cc);
}

#define GIVEN(name) schema_present(&MailUpdate_schema, in, name)

/* A draft is whatever its last writer makes of it; whether it may be sent is asked when it is. */
static int rewrite(struct call *c, const struct MailUpdate *in, struct mail_message_row *m)
{
	if (!GIVEN("to") && !GIVEN("cc") && !GIVEN("subject") && !GIVEN("text"))
		return 0;
	if (m->state != MailState_draft)
		return call_fail(c, ERR_CONFLICT, "Only a draft can be written anew.");
	if (GIVEN("to"))
		m->recipients = mail_folded(c, &in->to);
	if (GIVEN("cc"))
		m->cc = mail_folded(c, &in->cc);
	if (m->recipients.count + m->cc.count + m->bcc.count > MAIL_RECIPIENTS_MAX)
		return call_field(c, "to", "too_many", "has with cc and bcc more than %d addresses",
			MAIL_RECIPIENTS_MAX);
	if (GIVEN("subject"))
		m->subject = in->subject;
	if (GIVEN("text")) {
		m->size_bytes += (int64_t)strlen(in->text) - (int64_t)strlen(m->body) -
				 (m->html ? (int64_t)strlen(m->html) : 0);
		m->body = in->text;
		m->html = m->html_text = m->extracted_text = NULL;
	}
	return mail_message_rewrite(c->db, c->arena, m);
}

/* The audit log is read by others than mail: it has that a text was changed and how long it is, not what it says. */
static void measure_change(struct call *c, const char **before, const char **after)
{
	bool same = same_text(*before, *after);

	*before = *before ? arena_printf(c->arena, "(%zu bytes)", strlen(*before)) : NULL;
	*after = same	  ? *before
		 : *after ? arena_printf(c->arena, "(%zu bytes, others)", strlen(*after))
			  : NULL;
}

static void note_change(struct call *c, struct MailMessageRead before, struct MailMessageRead after)
{
	measure_change(c, &before.subject, &after.subject);
	measure_change(c, &before.preview, &after.preview);
	measure_change(c, &before.text, &after.text);
	measure_change(c, &before.extracted_text, &after.extracted_text);
	measure_change(c, &before.html_text, &after.html_text);
	call_changed(c, &MailMessageRead_schema, &before, &after);
}

OPERATION(updateMail, MailUpdate, MailMessageRead, .check = updateMail_check)
{
	struct MailMessageRead before;
	struct mail_message_row m;
	int err = mail_named(c, &m);

	if (!err)
		err = mail_show(c, m.id, &before);
	if (err)
		return err;
	updateMail_check(c);
	if (c->problem.err)
		return c->problem.err;
	if (GIVEN("labels"))
		m.labels = in->labels;
	err = rewrite(c, in, &m);
	if (!err)
		err = mail_message_mark(
			c->db, c->arena, &m, GIVEN("unread") ? in->unread : m.unread);
	if (!err)
		err = mail_show(c, m.id, out);
	if (!err)
		note_change(c, before, *out);
	return err;
}

OPERATION(deleteMail, NONE, NONE)
{
	struct mail_message_row m;
	int err = mail_named(c, &m);

	return err ? err : mail_remove(c->db, c->arena, &m, c->now);
}

static const struct route routes[] = {
	{ METHOD_GET, AGENT_MAIL, &listMail, PERM_AGENT_MAIL_READ, 200, .tag = "Mail",
		.doc = "List the agent's messages, newest first." },
	{ METHOD_GET, AGENT_MAIL "/{message_id}", &readMail, PERM_AGENT_MAIL_READ, 200,
		.tag = "Mail", .doc = "Read a message." },
	{ METHOD_GET, AGENT_MAIL "/{message_id}/raw", &readRawMail, PERM_AGENT_MAIL_READ, 200,
		.tag = "Mail", .doc = "The bytes of a message as they came over the network." },
	{ METHOD_PATCH, AGENT_MAIL "/{message_id}", &updateMail, PERM_AGENT_MAIL_WRITE, 200,
		"mail.update", .also = PERM_AGENT_MAIL_READ, .tag = "Mail",
		.doc = "Mark a message as read or unread, label it, or write a draft anew." },
	{ METHOD_DELETE, AGENT_MAIL "/{message_id}", &deleteMail, PERM_AGENT_MAIL_WRITE, 204,
		"mail.delete", .tag = "Mail",
		.doc = "Delete a draft or a message on this side; whoever else has it keeps it." },
};
RESOURCE(mail, routes, NULL, &mail_api_sql);
