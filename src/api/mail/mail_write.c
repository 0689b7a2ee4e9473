/* mail_write.c - people write as an agent: new messages, answers, messages handed on, drafts that go out.
 *
 * The bytes of attachments come first, on a thread for disks, and lie in the
 * bucket by their digest; then one transaction writes every row of it. */
#include <string.h>

#include "api/bucket/bucket_object.h"
#include "api/mail/mail.h"
#include "api/service.h"
#include "base/base64.h"
#include "base/crypto.h"
#include "base/fold.h"
#include "base/id.h"
#include "contract/value.h"
#include "mailboxes/mail_post.h"

/* A file on its way through the steps. */
struct bringing {
	struct bucket_row object; /* that is named by key */
	struct object_made *made;
	const char *object_key;
	int64_t size_bytes;
};

struct writing {
	const struct MailAttachmentCreate *asked;
	struct bringing *files;
	size_t count;
};

/* ---- attachments ---- */

static int name_fault(struct call *c, size_t i, const struct MailAttachmentCreate *f)
{
	const char *field = arena_printf(c->arena, "attachments[%zu]", i);

	if (!f->content == !f->key)
		call_field(c, arena_printf(c->arena, "%s.content", field), "combination",
			"give either content or key");
	if (f->filename && (strpbrk(f->filename, "/\\") || strpbrk(f->filename, "\r\n")))
		call_field(c, arena_printf(c->arena, "%s.filename", field), "filename",
			"must be one name without a folder");
	return 0;
}

static void check_files(struct call *c, const struct list *attachments)
{
	const struct MailAttachmentCreate *f = attachments->at;

	for (size_t i = 0; i < attachments->count; i++)
		name_fault(c, i, &f[i]);
}

static int find_key(struct call *c, size_t i, struct writing *w)
{
	const char *field = arena_printf(c->arena, "attachments[%zu].key", i),
		   *key = w->asked[i].key;
	int err = caller_also(&c->caller, c->arena, PERM_BUCKET_READ, &c->problem);

	if (!err && (bucket_key_fault(key) || bucket_key_is_reserved(key)))
		return call_field(c, field, "unknown", "names no object");
	if (!err)
		err = bucket_row_find(
			c->db, c->arena, c->caller.tenant_id, key, &w->files[i].object);
	return err == ERR_NOT_FOUND ? call_field(c, field, "unknown", "names no object") : err;
}

/* Which files they are, before any byte of them is read. */
static int look_at_files(struct call *c, const struct list *attachments)
{
	struct writing *w = c->own = arena_new(c->arena, struct writing);
	int err = 0;

	*w = (struct writing){ .asked = attachments->at,
		.files = arena_array(c->arena, struct bringing, attachments->count + 1),
		.count = attachments->count };
	for (size_t i = 0; !err && i < w->count; i++)
		if (w->asked[i].key)
			err = find_key(c, i, w);
	return err;
}

static int bytes_of(struct call *c, const struct writing *w, size_t i, size_t room,
	const void **ret, size_t *ret_len)
{
	const char *text = w->asked[i].content;
	size_t len = text ? strlen(text) : 0;
	unsigned char *out;

	if (!text)
		return bucket_load(service_of(c->app)->bucket, &w->files[i].object, room, c->arena,
			ret, ret_len, &c->problem);
	out = arena_alloc(c->arena, base64_bytes(len) + 1);
	*ret = out;
	return base64_decode(text, len, out, ret_len)
		       ? 0
		       : call_field(c, arena_printf(c->arena, "attachments[%zu].content", i),
				 "base64", "is not base64");
}

/* On a thread for disks. */
static int bring_files(struct call *c)
{
	struct writing *w = c->own;
	size_t room = MAIL_BYTES_MAX;
	int err = 0;

	for (size_t i = 0; !err && i < w->count; i++) {
		struct bringing *f = &w->files[i];
		char hex[2 * SHA256_LEN + 1];
		uint8_t digest[SHA256_LEN];
		const void *bytes;
		size_t len = 0;

		err = bytes_of(c, w, i, room, &bytes, &len);
		if (err == ERR_TOO_LARGE || (!err && len > room))
			return call_field(c, "attachments", "too_large",
				"have more than %d MiB together", MAIL_BYTES_MAX >> 20);
		if (err)
			return err;
		room -= len;
		sha256(bytes, len, digest);
		hex_write(digest, sizeof digest, hex);
		f->object_key = mail_object_key(c->arena, hex);
		f->size_bytes = (int64_t)len;
		f->made = object_make_begin(c);
		err = object_make(c, f->made, bytes, len);
	}
	return err;
}

/* The rows that name the bytes. */
static int keep_files(struct call *c, struct mail_posting *o)
{
	const struct writing *w = c->own;
	struct mail_file *files = arena_array(c->arena, struct mail_file, w->count + 1);
	struct bucket_row row;
	int err = 0;

	for (size_t i = 0; !err && i < w->count; i++) {
		files[i] = (struct mail_file){ .filename = w->asked[i].filename,
			.content_type = w->asked[i].content_type,
			.size_bytes = w->files[i].size_bytes,
			.object_key = w->files[i].object_key };
		err = object_make_row(
			c, w->files[i].made, files[i].object_key, "application/octet-stream", &row);
	}
	c->standing = false; /* that bytes were there already is nobody's business */
	o->files = files;
	o->file_count = w->count;
	return err;
}

/* ---- addresses ---- */

static void check_addresses(struct call *c, const char *field, const struct list *l)
{
	const char *const *one = l->at;

	for (size_t i = 0; i < l->count; i++)
		if (one[i] && (strlen(one[i]) > MAILBOX_ADDRESS_MAX ||
				      !email_valid(one[i], strlen(one[i]))))
			call_field(c, arena_printf(c->arena, "%s[%zu]", field, i), "address",
				"is not an address such as desk@example.lodge.internal");
}

static struct list folded(struct call *c, const struct list *l)
{
	const char **out = arena_array(c->arena, const char *, l->count + 1);

	for (size_t i = 0; i < l->count; i++)
		out[i] = fold_ascii(c->arena, ((const char *const *)l->at)[i]);
	return (struct list){ out, l->count };
}

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
	check_addresses(c, "to", &in->to);
	check_addresses(c, "cc", &in->cc);
	check_addresses(c, "bcc", &in->bcc);
	if (in->to.count + in->cc.count + in->bcc.count > MAIL_RECIPIENTS_MAX)
		call_field(c, "to", "too_many", "has with cc and bcc more than %d addresses",
			MAIL_RECIPIENTS_MAX);
	check_files(c, &in->attachments);
}

BODY_STEP(createMail, look, MailCreate)
{
	createMail_check(c);
	return c->problem.err ? c->problem.err : look_at_files(c, &in->attachments);
}

OPERATION(createMail, MailCreate, MailMessageRead, .check = createMail_check, .on_disk = true,
	.look = createMail_look, .prepare = bring_files)
{
	struct mailbox_row from;
	struct mail_message_row m;
	struct mail_posting o = posting_of(c, &m);
	int err = write_from(c, in->mailbox_id, &from);

	if (err)
		return err;
	m = new_message(c, &from, in->text, in->html);
	m.subject = in->subject;
	m.recipients = folded(c, &in->to);
	m.cc = folded(c, &in->cc);
	m.bcc = folded(c, &in->bcc);
	m.in_reply_to = in->in_reply_to;
	if (in->in_reply_to) {
		mail_list_add(c->arena, &m.refs, in->in_reply_to, 1);
		err = mail_thread_of(c->db, c->arena, &m, &m.thread_id);
	}
	if (err == ERR_NOT_FOUND)
		return call_field(c, "in_reply_to", "unknown", "is of no message in this mailbox");
	if (!err)
		err = keep_files(c, &o);
	return err ? err : send_or_keep(c, &o, in->draft, out);
}

/* ---- answers ---- */

static void reply_to_all(
	struct call *c, struct mail_message_row *m, const struct mail_message_row *to)
{
	const struct list *const from[] = { &to->recipients, &to->cc };

	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < from[k]->count; i++) {
			const char *one = ((const char *const *)from[k]->at)[i];

			if (strcmp(one, m->sender) != 0 && !mail_listed(&m->recipients, one))
				mail_list_add(c->arena, k ? &m->cc : &m->recipients, one,
					MAIL_RECIPIENTS_MAX - m->recipients.count);
		}
}

/* What one wrote oneself is answered to whom it was for. */
static void address_reply(
	struct call *c, struct mail_message_row *m, const struct mail_message_row *to, bool all)
{
	if (to->direction == MailDirection_out)
		m->recipients = to->recipients;
	else
		mail_list_add(c->arena, &m->recipients, to->sender, 1);
	if (all)
		reply_to_all(c, m, to);
}

CHECK_STEP(replyMail, MailReplyCreate)
{
	check_files(c, &in->attachments);
}

BODY_STEP(replyMail, look, MailReplyCreate)
{
	replyMail_check(c);
	return c->problem.err ? c->problem.err : look_at_files(c, &in->attachments);
}

OPERATION(replyMail, MailReplyCreate, MailMessageRead, .check = replyMail_check, .on_disk = true,
	.look = replyMail_look, .prepare = bring_files)
{
	struct mail_message_row to, m;
	struct mail_posting o = posting_of(c, &m);
	struct mailbox_row from;
	int err = mail_named(c, &to);

	if (!err && to.state == MailState_draft)
		return call_fail(c, ERR_CONFLICT, "A draft is not answered, but sent.");
	if (!err)
		err = write_from(c, to.mailbox_id, &from);
	if (err)
		return err;
	m = new_message(c, &from, in->text, in->html);
	mail_refer(c->arena, &m, &to);
	m.subject = mail_reply_subject(c->arena, to.subject);
	address_reply(c, &m, &to, in->all);
	err = keep_files(c, &o);
	return err ? err : send_or_keep(c, &o, in->draft, out);
}

/* ---- handed on ---- */

static const char *forwarded_text(
	struct call *c, const char *before, const struct mail_message_row *m)
{
	return arena_printf(c->arena,
		"%s%s---------- Forwarded message ----------\nFrom: %s\nSubject: %s\n\n%s", before,
		*before ? "\n\n" : "", m->sender, m->subject, m->body);
}

CHECK_STEP(forwardMail, MailForward)
{
	check_addresses(c, "to", &in->to);
}

OPERATION(forwardMail, MailForward, MailMessageRead, .check = forwardMail_check)
{
	struct mail_message_row from, m;
	struct mail_posting o = posting_of(c, &m);
	struct list files = { 0 };
	struct mailbox_row box;
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
	m = new_message(c, &box, forwarded_text(c, in->text, &from), NULL);
	m.subject = arena_printf(c->arena, "Fwd: %s", from.subject);
	m.recipients = folded(c, &in->to);
	o.files = files.at;
	o.file_count = files.count;
	return send_or_keep(c, &o, false, out);
}

/* ---- drafts ---- */

/* A person has read it now, whoever wrote it. */
OPERATION(sendMail, NONE, MailMessageRead)
{
	struct mail_message_row m;
	struct mail_posting o = posting_of(c, &m);
	struct list files = { 0 };
	int err = mail_named(c, &m);

	if (!err && m.state != MailState_draft)
		return call_fail(c, ERR_CONFLICT, "Only a draft can be sent.");
	if (!err)
		err = mail_files_of(c->db, c->arena, &m, &files);
	if (err)
		return err;
	m.by_user_id = c->caller.user_id;
	m.by_key_id = c->caller.kind == CREDENTIAL_KEY ? c->caller.key_id : NULL;
	m.automatic = false;
	m.hops = 0;
	o.stands = true;
	o.files = files.at;
	o.file_count = files.count;
	return send_or_keep(c, &o, false, out);
}

enum { MAIL_BODY_MAX = 40 << 20 };

static const struct route routes[] = {
	{ METHOD_POST, AGENT_MAIL, &createMail, PERM_AGENT_MAIL_WRITE, 202, "mail.create",
		.tag = "Mail", .max_body = MAIL_BODY_MAX,
		.doc = "Write a message as the agent: it is sent, or kept as a draft." },
	{ METHOD_POST, AGENT_MAIL "/{message_id}/reply", &replyMail, PERM_AGENT_MAIL_WRITE, 202,
		"mail.reply", .tag = "Mail", .max_body = MAIL_BODY_MAX,
		.doc = "Answer a message, in its thread." },
	{ METHOD_POST, AGENT_MAIL "/{message_id}/forward", &forwardMail, PERM_AGENT_MAIL_WRITE, 202,
		"mail.forward", .tag = "Mail",
		.doc = "Hand a message on to others, with its files." },
	{ METHOD_POST, AGENT_MAIL "/{message_id}/send", &sendMail, PERM_AGENT_MAIL_WRITE, 202,
		"mail.send", .tag = "Mail", .doc = "Send a draft." },
};
RESOURCE(mail_write, routes, NULL);
