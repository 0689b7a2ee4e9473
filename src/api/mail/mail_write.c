/* mail_write.c - people write as an agent: new messages, answers, messages handed on, drafts that go out.
 *
 * The bytes of attachments come first (mail_files.c); then one transaction
 * writes every row of it. */
#include <string.h>

#include "api/mail/mail.h"
#include "api/mail/mail_files.h"
#include "base/id.h"
#include "mailboxes/mail_again.h"
#include "mailboxes/mail_post.h"

/* ---- sending ---- */

static int write_from(struct call *c, const char *mailbox_id, struct mailbox_row *ret)
{
	const struct caller *who = &c->caller;
	int err = mailbox_id ? mailbox_find(c->db, c->arena, who->tenant_id, mailbox_id, ret)
			     : mailbox_of(c->db, c->arena, who->tenant_id, who->agent_id,
				       MailboxKind_internal, ret);

	if (!err && strcmp(ret->agent_id, who->agent_id) != 0)
		err = ERR_NOT_FOUND;
	if (err == ERR_NOT_FOUND && mailbox_id)
		return call_field(c, "mailbox_id", "unknown", "is no mailbox of this agent");
	return err == ERR_NOT_FOUND
		       ? call_fail(c, ERR_CONFLICT, "The agent has no mailbox; it can be healed.")
		       : err;
}

static struct mail_message_row new_message(
	struct call *c, const struct mailbox_row *from, const char *text, const char *html)
{
	struct mail_message_row m =
		mail_new(c->arena, from, arena_strdup(c->arena, id_new(NULL).text), c->now);

	m.body = text;
	m.html = html;
	m.html_text = mail_shown(c->arena, html);
	m.size_bytes = (int64_t)(strlen(text) + (html ? strlen(html) : 0));
	m.by_user_id = c->caller.user_id;
	m.by_key_id = c->caller.kind == CREDENTIAL_KEY ? c->caller.key_id : NULL;
	return m;
}

static int send_or_keep(
	struct call *c, struct mail_posting *o, bool draft, struct MailMessageRead *out)
{
	int err = draft ? mail_draft(o) : mail_post(o);

	if (err)
		return err;
	c->audit.resource_id = o->m->id;
	c->audit.meta =
		arena_printf(c->arena, "{\"state\":\"%s\"}", MailState_words.list[o->m->state]);
	return mail_show(c, o->m->id, out);
}

static struct mail_posting posting_of(struct call *c, struct mail_message_row *m)
{
	return (struct mail_posting){
		.db = c->db, .a = c->arena, .p = &c->problem, .now = c->now, .m = m
	};
}

CHECK_STEP(createMail, MailCreate)
{
	mail_check_addresses(c, "to", &in->to);
	mail_check_addresses(c, "cc", &in->cc);
	mail_check_addresses(c, "bcc", &in->bcc);
	if (in->to.count + in->cc.count + in->bcc.count > MAIL_RECIPIENTS_MAX)
		call_field(c, "to", "too_many", "has with cc and bcc more than %d addresses",
			MAIL_RECIPIENTS_MAX);
	mail_check_files(c, &in->attachments);
}

BODY_STEP(createMail, look, MailCreate)
{
	createMail_check(c);
	return c->problem.err ? c->problem.err : mail_look_at_files(c, &in->attachments);
}

OPERATION(createMail, MailCreate, MailMessageRead, .check = createMail_check, .on_disk = true,
	.look = createMail_look, .prepare = mail_bring_files)
{
	struct mailbox_row from;
	struct mail_message_row m;
	struct mail_posting o = posting_of(c, &m);
	int err = write_from(c, in->mailbox_id, &from);

	if (err)
		return err;
	m = new_message(c, &from, in->text, in->html);
	m.subject = in->subject;
	m.recipients = mail_folded(c, &in->to);
	m.cc = mail_folded(c, &in->cc);
	m.bcc = mail_folded(c, &in->bcc);
	m.in_reply_to = in->in_reply_to;
	if (in->in_reply_to) {
		mail_list_add(c->arena, &m.refs, in->in_reply_to, 1);
		err = mail_thread_of(c->db, c->arena, &m, &m.thread_id);
	}
	if (err == ERR_NOT_FOUND)
		return call_field(c, "in_reply_to", "unknown", "is of no message in this mailbox");
	if (!err)
		err = mail_keep_files(c, &o);
	return err ? err : send_or_keep(c, &o, in->draft, out);
}

/* ---- answers ---- */

CHECK_STEP(replyMail, MailReplyCreate)
{
	mail_check_files(c, &in->attachments);
}

BODY_STEP(replyMail, look, MailReplyCreate)
{
	replyMail_check(c);
	return c->problem.err ? c->problem.err : mail_look_at_files(c, &in->attachments);
}

OPERATION(replyMail, MailReplyCreate, MailMessageRead, .check = replyMail_check, .on_disk = true,
	.look = replyMail_look, .prepare = mail_bring_files)
{
	struct mail_message_row to, m;
	struct mail_posting o = posting_of(c, &m);
	struct mailbox_row from;
	int err = mail_named(c, &to);

	if (!err && (to.state == MailState_draft || to.state == MailState_held))
		return call_fail(c, ERR_CONFLICT, MAIL_NOT_SENT_YET);
	if (!err)
		err = write_from(c, to.mailbox_id, &from);
	if (err)
		return err;
	m = new_message(c, &from, in->text, in->html);
	mail_refer(c->arena, &m, &to);
	m.subject = mail_reply_subject(c->arena, to.subject);
	if (!mail_address_reply(c->arena, &m, &to, in->all))
		return call_fail(c, ERR_CONFLICT, MAIL_NOBODY_WROTE);
	err = mail_keep_files(c, &o);
	return err ? err : send_or_keep(c, &o, in->draft, out);
}

/* ---- handed on ---- */

CHECK_STEP(forwardMail, MailForward)
{
	mail_check_addresses(c, "to", &in->to);
}

OPERATION(forwardMail, MailForward, MailMessageRead, .check = forwardMail_check, .takes_room = true)
{
	struct mail_message_row from, m;
	struct mail_posting o = posting_of(c, &m);
	struct list files = { 0 };
	struct mailbox_row box;
	const char *text;
	int err = mail_named(c, &from);

	forwardMail_check(c);
	if (!err)
		err = c->problem.err;
	if (!err)
		err = write_from(c, from.mailbox_id, &box);
	if (!err)
		err = mail_files_of(c->db, c->arena, &from, &files);
	if (err)
		return err;
	text = mail_forwarded(c->arena, in->text, from.sender, from.subject, from.body);
	if (!text)
		return call_field(c, "text", "too_long", "leaves no room for the message");
	m = new_message(c, &box, text, NULL);
	m.subject = mail_cut(
		c->arena, arena_printf(c->arena, "Fwd: %s", from.subject), MAIL_SUBJECT_MAX);
	m.recipients = mail_folded(c, &in->to);
	o.files = files.at;
	o.file_count = files.count;
	return send_or_keep(c, &o, false, out);
}

/* ---- drafts ---- */

/* Where a person who is signed in sends it, somebody has read it, whoever wrote it.  Nobody has what a program sends: an
 * answer that was kept for a person waits for one, and what was said by mail before keeps its hops. */
OPERATION(sendMail, NONE, MailMessageRead, .takes_room = true)
{
	struct mail_message_row m;
	struct mail_posting o = posting_of(c, &m);
	struct list files = { 0 };
	int err = mail_named(c, &m);

	if (!err && m.state != MailState_draft && m.state != MailState_held)
		return call_fail(c, ERR_CONFLICT, "Only a draft, or what is held, can be sent.");
	if (!err && m.state == MailState_held && c->caller.kind != CREDENTIAL_LOGIN)
		return call_fail(c, ERR_FORBIDDEN,
			"What is held is sent by a person who is signed in, not with a key or a token.");
	if (!err && m.automatic && c->caller.kind != CREDENTIAL_LOGIN)
		return call_fail(c, ERR_FORBIDDEN,
			"An agent wrote this draft, and it waits for a person who is signed in: it is not sent with a key or a token.");
	if (!err)
		err = mail_files_of(c->db, c->arena, &m, &files);
	if (err)
		return err;
	m.by_user_id = c->caller.user_id;
	m.by_key_id = c->caller.kind == CREDENTIAL_KEY ? c->caller.key_id : NULL;
	if (c->caller.kind == CREDENTIAL_LOGIN) {
		m.automatic = false;
		m.hops = 0;
	}
	o.stands = true;
	o.released = m.state == MailState_held;
	o.files = files.at;
	o.file_count = files.count;
	return send_or_keep(c, &o, false, out);
}

OPERATION(sendMailAgain, NONE, MailMessageRead)
{
	struct mail_message_row m;
	struct mail_posting o = posting_of(c, &m);
	int err = mail_named(c, &m);

	if (!err && m.state != MailState_bounced && m.state != MailState_failed)
		return call_fail(c, ERR_CONFLICT,
			"Only what came back, or could not be sent, is sent again.");
	if (!err)
		err = mail_again(&o);
	if (err)
		return err;
	c->audit.resource_id = m.id;
	return mail_show(c, m.id, out);
}

enum { MAIL_BODY_MAX = 40 << 20 };

static const struct route routes[] = {
	{ METHOD_POST, AGENT_MAIL, &createMail, PERM_AGENT_MAIL_WRITE, 202, "mail.create",
		.tag = "Mail", .max_body = MAIL_BODY_MAX,
		.doc = "Write a message as the agent: it is sent, or kept as a draft." },
	{ METHOD_POST, AGENT_MAIL "/{message_id}/reply", &replyMail, PERM_AGENT_MAIL_WRITE, 202,
		"mail.reply", .also = PERM_AGENT_MAIL_READ, .tag = "Mail",
		.max_body = MAIL_BODY_MAX, .doc = "Answer a message, in its thread." },
	{ METHOD_POST, AGENT_MAIL "/{message_id}/forward", &forwardMail, PERM_AGENT_MAIL_WRITE, 202,
		"mail.forward", .also = PERM_AGENT_MAIL_READ, .tag = "Mail",
		.doc = "Hand a message on to others, with its files." },
	{ METHOD_POST, AGENT_MAIL "/{message_id}/send", &sendMail, PERM_AGENT_MAIL_WRITE, 202,
		"mail.send", .also = PERM_AGENT_MAIL_READ, .tag = "Mail",
		.doc = "Send a draft, or what is held for its new recipients." },
	{ METHOD_POST, AGENT_MAIL "/{message_id}/send-again", &sendMailAgain, PERM_AGENT_MAIL_WRITE,
		202, "mail.send_again", .also = PERM_AGENT_MAIL_READ, .tag = "Mail",
		.doc = "Send what came back, or could not be sent, once more to those who did not get it." },
};
RESOURCE(mail_write, routes, NULL);
