/* mail_rows.c - see mail_rows.h. */
#include "mailboxes/mail_rows.h"

#include <string.h>

#include "base/fold.h"
#include "base/id.h"
#include "bucket/bucket.h"
#include "events/events.h"
#include "events/feed_number.h"
#include "store/row.h"

const struct words MailDirection_words = {
	.list = (const char *const[]){ "in", "out", NULL },
	.doc = "Whether it came or went.",
};
const struct words MailState_words = {
	.list = (const char *const[]){ "received", "unreadable", "held", "draft", "queued", "sent",
		"delivered", "bounced", "failed", "blocked", NULL },
	.doc = "received: it came; unreadable: it came and could not be read; blocked: it came from "
	       "somebody whom the rules keep out; draft: somebody is still to send it; held: it waits, "
	       "see error; queued, sent, delivered, bounced, failed: on its way out.",
};
const struct words MailVerdict_words = {
	.list = (const char *const[]){ "pass", "fail", "none", NULL },
	.doc = "Whether the sender is proven: pass, fail, or none if nothing is known.",
};

#define TEXTS(S, member) FIELD(S, member, .item = TEXT)

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

FIELDS(mail_message_row) = {
	ROW_FIELDS(mail_message_row, tenant_id, agent_id, id, mailbox_id, thread_id, sender,
		subject, preview, body, unread, message_id_header, size_bytes, hops, automatic,
		subject_folded, preview_folded, held_bytes, created_at),
	FIELD(mail_message_row, direction, .words = &MailDirection_words),
	FIELD(mail_message_row, state, .words = &MailState_words),
	FIELD(mail_message_row, verdict, .words = &MailVerdict_words),
	TEXTS(mail_message_row, recipients),
	TEXTS(mail_message_row, cc),
	TEXTS(mail_message_row, bcc),
	TEXTS(mail_message_row, labels),
	TEXTS(mail_message_row, refs),
	FIELD(mail_message_row, attachments, .item = OBJECT, .of = &AgentAttachmentRow_schema),
	ROW_NULLABLE(mail_message_row, extracted_text, html, html_text, in_reply_to, object_key,
		by_user_id, by_key_id, session_id, run_id, error, sent_at),
};
SCHEMA(mail_message_row, .internal = true);

FIELDS(mail_thread_row) = {
	ROW_FIELDS(mail_thread_row, tenant_id, agent_id, id, mailbox_id, subject, message_count,
		unread_count, last_message_id, last_message_at, created_at),
	TEXTS(mail_thread_row, participants),
	ROW_NULLABLE(mail_thread_row, session_id),
};
SCHEMA(mail_thread_row, .internal = true);

enum {
	MESSAGE_FIND,
	MESSAGE_ADD,
	MESSAGE_SAVE,
	MESSAGE_REMOVE,
	THREAD_FIND,
	THREAD_NAMED,
	THREAD_ADD,
	THREAD_SAVE,
	THREAD_RECOUNT,
	THREAD_REMOVE,
	THREAD_JOIN
};

#define OF_THREAD \
	"from mail_messages m where m.tenant_id = $1 and m.agent_id = $2 and m.thread_id = $3"

static const struct statement sql[] = {
	[MESSAGE_FIND] = { "mail_message",
		"select {*} from mail_messages where tenant_id = $1 and agent_id = $2 and id = $3",
		.row = &mail_message_row_schema },
	[MESSAGE_ADD] = { "mail_message_add", "insert into mail_messages ({*}) values ({$})",
		.row = &mail_message_row_schema },
	[MESSAGE_SAVE] = { "mail_message_save",
		"update mail_messages set {=} where tenant_id = :tenant_id "
		"and agent_id = :agent_id and id = :id",
		.row = &mail_message_row_schema },
	[MESSAGE_REMOVE] = { "mail_message_remove",
		"delete from mail_messages where tenant_id = $1 and agent_id = $2 and id = $3" },
	[THREAD_FIND] = { "mail_thread",
		"select {*} from mail_threads where tenant_id = $1 and agent_id = $2 and id = $3",
		.row = &mail_thread_row_schema },
	[THREAD_NAMED] = { "mail_thread_named",
		"select thread_id as value from mail_messages where tenant_id = $1 and mailbox_id = $2 "
		"and message_id_header = $3 order by id limit 1",
		.row = &one_text_schema },
	[THREAD_ADD] = { "mail_thread_add", "insert into mail_threads ({*}) values ({$})",
		.row = &mail_thread_row_schema },
	[THREAD_SAVE] = { "mail_thread_save",
		"update mail_threads set {=} where tenant_id = :tenant_id and agent_id = :agent_id "
		"and id = :id",
		.row = &mail_thread_row_schema },
	[THREAD_RECOUNT] = { "mail_thread_recount",
		"update mail_threads set message_count = (select count(*) " OF_THREAD "), "
		"unread_count = (select coalesce(sum(m.unread), 0) " OF_THREAD "), "
		"last_message_id = coalesce((select max(m.id) " OF_THREAD "), last_message_id), "
		"last_message_at = coalesce((select m.created_at " OF_THREAD
		" order by m.id desc limit 1), last_message_at) "
		"where tenant_id = $1 and agent_id = $2 and id = $3" },
	[THREAD_REMOVE] = { "mail_thread_remove",
		"delete from mail_threads where tenant_id = $1 and agent_id = $2 and id = $3 "
		"and message_count = 0" },
	[THREAD_JOIN] = { "mail_thread_join",
		"update mail_threads set session_id = $4 where tenant_id = $1 and agent_id = $2 "
		"and id = $3" },
};
STATEMENT_SET(mail_row_sql, sql);

/* ---- small things ---- */

bool mail_listed(const struct list *addresses, const char *address)
{
	const char *const *at = addresses->at;

	for (size_t i = 0; i < addresses->count; i++)
		if (strcmp(at[i], address) == 0)
			return true;
	return false;
}

void mail_list_add(struct arena *a, struct list *l, const char *text, size_t most)
{
	const char **out;

	if (l->count >= most)
		return;
	out = arena_array(a, const char *, l->count + 1);
	if (l->count)
		memcpy(out, l->at, l->count * sizeof *out);
	out[l->count] = text;
	*l = (struct list){ out, l->count + 1 };
}

/* ---- messages and threads ---- */

int mail_message_find(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	const char *id, struct mail_message_row *ret)
{
	return db_one(db, a, &sql[MESSAGE_FIND], ret, ARGS(T(tenant_id), T(agent_id), T(id)));
}

int mail_thread_find(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	const char *id, struct mail_thread_row *ret)
{
	return db_one(db, a, &sql[THREAD_FIND], ret, ARGS(T(tenant_id), T(agent_id), T(id)));
}

static int thread_named(struct db *db, struct arena *a, const struct mail_message_row *m,
	const char *header, const char **ret_id)
{
	struct one_text found;
	int err = db_one(db, a, &sql[THREAD_NAMED], &found,
		ARGS(T(m->tenant_id), T(m->mailbox_id), T(header)));

	*ret_id = err ? NULL : found.value;
	return err;
}

int mail_thread_of(
	struct db *db, struct arena *a, const struct mail_message_row *m, const char **ret_id)
{
	const char *const *ref = m->refs.at;
	int err = m->in_reply_to ? thread_named(db, a, m, m->in_reply_to, ret_id) : ERR_NOT_FOUND;

	for (size_t i = m->refs.count; err == ERR_NOT_FOUND && i > 0; i--)
		err = thread_named(db, a, m, ref[i - 1], ret_id);
	return err;
}

static void add_participants(
	struct arena *a, struct mail_thread_row *t, const struct mail_message_row *m)
{
	const struct list *const lists[] = { &m->recipients, &m->cc };

	if (*m->sender && !mail_listed(&t->participants, m->sender))
		mail_list_add(a, &t->participants, m->sender, MAIL_PARTICIPANTS_MAX);
	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < lists[k]->count; i++) {
			const char *one = ((const char *const *)lists[k]->at)[i];

			if (!mail_listed(&t->participants, one))
				mail_list_add(a, &t->participants, one, MAIL_PARTICIPANTS_MAX);
		}
}

static int begin_thread(struct db *db, struct arena *a, struct mail_message_row *m)
{
	static const char *none[1];
	struct mail_thread_row t = { .tenant_id = m->tenant_id,
		.agent_id = m->agent_id,
		.id = arena_strdup(a, id_new(NULL).text),
		.mailbox_id = m->mailbox_id,
		.subject = m->subject,
		.participants = { none, 0 },
		.message_count = 1,
		.unread_count = m->unread,
		.last_message_id = m->id,
		.last_message_at = m->created_at,
		.created_at = m->created_at };

	add_participants(a, &t, m);
	m->thread_id = t.id;
	return db_put(db, &sql[THREAD_ADD], &t);
}

static int continue_thread(struct db *db, struct arena *a, const struct mail_message_row *m)
{
	struct mail_thread_row t;
	int err = mail_thread_find(db, a, m->tenant_id, m->agent_id, m->thread_id, &t);

	if (err)
		return err;
	t.message_count++;
	t.unread_count += m->unread;
	if (strcmp(m->id, t.last_message_id) > 0) {
		t.last_message_id = m->id;
		t.last_message_at = m->created_at;
	}
	add_participants(a, &t, m);
	return db_put(db, &sql[THREAD_SAVE], &t);
}

static void derive(struct arena *a, struct mail_message_row *m)
{
	static const char *none[1];
	struct list *const lists[] = { &m->recipients, &m->cc, &m->bcc, &m->labels, &m->refs,
		&m->attachments };

	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		if (!lists[i]->at)
			*lists[i] = (struct list){ none, 0 };
	m->subject = mail_line(a, m->subject);
	m->preview = mail_line(a, mail_preview(a, m->body));
	m->subject_folded = fold(a, m->subject);
	m->preview_folded = fold(a, m->preview);
}

/* ---- what it counts for ---- */

static int64_t bytes_max(void)
{
	int64_t most = mailbox_policy()->tenant_bytes_max;

	return most ? most : INT64_MAX / 2;
}

static int64_t length_of(const char *text)
{
	return text ? (int64_t)strlen(text) : 0;
}

int64_t mail_held(const struct mail_message_row *m)
{
	return MAIL_ROW_BYTES + length_of(m->subject) + length_of(m->body) +
	       length_of(m->extracted_text) + length_of(m->html) + length_of(m->html_text);
}

static int hold(struct db *db, struct mail_message_row *m, int64_t most)
{
	int64_t now = mail_held(m);
	int err = bucket_hold_mail(db, m->tenant_id, most, now - m->held_bytes);

	m->held_bytes = now;
	return err;
}

int mail_no_room(
	struct db *db, struct arena *a, const struct mail_message_row *m, struct problem *p)
{
	return bucket_no_room(db, m->tenant_id, bytes_max(), 0, a, p);
}

/* What people write is told with its entry in the audit log. */
static int tell_mail(struct db *db, struct arena *a, const struct mail_message_row *m)
{
	if (m->direction == MailDirection_out && !m->automatic)
		return 0;
	return feed_changed(db, a, m->tenant_id,
		&(struct ChangeEvent){ .resource = "mail",
			.id = m->id,
			.action = "mail.receive",
			.agent_id = m->agent_id },
		m->created_at);
}

static int add_within(struct db *db, struct arena *a, struct mail_message_row *m, int64_t most)
{
	int err;

	derive(a, m);
	m->held_bytes = 0;
	err = hold(db, m, most);
	if (!err)
		err = m->thread_id ? continue_thread(db, a, m) : begin_thread(db, a, m);
	if (!err)
		err = db_put(db, &sql[MESSAGE_ADD], m);
	if (!err && m->state != MailState_draft && m->state != MailState_held)
		err = mailbox_count(db, m->tenant_id, m->mailbox_id, m->created_at);
	return err ? err : tell_mail(db, a, m);
}

int mail_message_add(struct db *db, struct arena *a, struct mail_message_row *m)
{
	return add_within(db, a, m, bytes_max());
}

int mail_message_take(struct db *db, struct arena *a, struct mail_message_row *m)
{
	return add_within(db, a, m, INT64_MAX / 2);
}

int mail_message_save(struct db *db, struct arena *a, struct mail_message_row *m)
{
	int err;

	derive(a, m);
	err = hold(db, m, bytes_max());
	return err ? err : db_put(db, &sql[MESSAGE_SAVE], m);
}

int mail_message_rewrite(struct db *db, struct arena *a, struct mail_message_row *m)
{
	struct mail_thread_row t;
	int err = mail_message_save(db, a, m);

	if (!err)
		err = mail_thread_find(db, a, m->tenant_id, m->agent_id, m->thread_id, &t);
	if (err)
		return err;
	if (t.message_count == 1) {
		t.subject = m->subject;
		t.participants = (struct list){ 0 };
	}
	add_participants(a, &t, m);
	return db_put(db, &sql[THREAD_SAVE], &t);
}

int mail_message_sent(struct db *db, struct arena *a, struct mail_message_row *m, int64_t now)
{
	int err = mail_message_save(db, a, m);

	return err ? err : mailbox_count(db, m->tenant_id, m->mailbox_id, now);
}

static int recount_thread(struct db *db, const struct mail_message_row *m)
{
	return db_run(db, &sql[THREAD_RECOUNT], NULL,
		ARGS(T(m->tenant_id), T(m->agent_id), T(m->thread_id)));
}

int mail_message_mark(struct db *db, struct arena *a, struct mail_message_row *m, bool unread)
{
	bool changes = m->unread != unread;
	int err;

	m->unread = unread;
	err = mail_message_save(db, a, m);
	return err || !changes ? err : recount_thread(db, m);
}

int mail_message_remove(struct db *db, const struct mail_message_row *m)
{
	const struct value thread[] = { T(m->tenant_id), T(m->agent_id), T(m->thread_id) };
	int err = db_run(
		db, &sql[MESSAGE_REMOVE], NULL, ARGS(T(m->tenant_id), T(m->agent_id), T(m->id)));

	if (!err)
		err = bucket_hold_mail(db, m->tenant_id, 0, -m->held_bytes);
	if (!err)
		err = recount_thread(db, m);
	return err ? err : db_run(db, &sql[THREAD_REMOVE], NULL, thread, 3);
}

int mail_thread_join(struct db *db, const struct mail_thread_row *t, const char *session_id)
{
	return db_run(db, &sql[THREAD_JOIN], NULL,
		ARGS(T(t->tenant_id), T(t->agent_id), T(t->id), T(session_id)));
}
