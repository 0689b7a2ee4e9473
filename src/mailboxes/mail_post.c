/* mail_post.c - see mail_post.h.
 *
 * Whoever is written to within the house has a row of their own, with the same
 * Message-ID, in a thread of their own mailbox.  Mail to the outside would be
 * queued here for the relay; without one it is refused before anything is
 * written. */
#include "mailboxes/mail_post.h"

#include <string.h>
#include <strings.h>

#include "access/caller.h"
#include "base/id.h"
#include "mailboxes/mail_wake.h"

enum { SUPPRESSED, IS_ON };

static const struct statement sql[] = {
	[SUPPRESSED] = { "mail_suppressed",
		"select count(*) from mail_suppressions where tenant_id = $1 and address = $2" },
	[IS_ON] = { "mail_agent_is_on",
		"select count(*) from agents where tenant_id = $1 and id = $2 and is_active = 1" },
};
STATEMENT_SET(mail_post_sql, sql);

struct mail_message_row mail_new(
	struct arena *a, const struct mailbox_row *from, const char *id, int64_t now)
{
	return (struct mail_message_row){ .tenant_id = from->tenant_id,
		.agent_id = from->agent_id,
		.id = id,
		.mailbox_id = from->id,
		.direction = MailDirection_out,
		.state = MailState_draft,
		.verdict = MailVerdict_pass,
		.sender = from->address,
		.message_id_header = arena_printf(a, "<%s%s>", id, strchr(from->address, '@')),
		.created_at = now,
		.sent_at = NIL };
}

void mail_refer(struct arena *a, struct mail_message_row *m, const struct mail_message_row *to)
{
	const char *const *ref = to->refs.at;
	size_t first = to->refs.count >= MAIL_REFERENCES_MAX ? 2 : 0; /* the first of all stays */

	m->thread_id = to->thread_id;
	m->in_reply_to = to->message_id_header;
	m->refs = (struct list){ 0 };
	for (size_t i = 0; i < to->refs.count; i++)
		if (!i || i >= first)
			mail_list_add(a, &m->refs, ref[i], MAIL_REFERENCES_MAX);
	mail_list_add(a, &m->refs, to->message_id_header, MAIL_REFERENCES_MAX);
}

static void reply_to_all(
	struct arena *a, struct mail_message_row *m, const struct mail_message_row *to)
{
	const struct list *const from[] = { &to->recipients, &to->cc };

	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < from[k]->count; i++) {
			const char *one = ((const char *const *)from[k]->at)[i];

			if (strcmp(one, m->sender) != 0 && !mail_listed(&m->recipients, one))
				mail_list_add(a, k ? &m->cc : &m->recipients, one,
					MAIL_RECIPIENTS_MAX - m->recipients.count);
		}
}

void mail_address_reply(
	struct arena *a, struct mail_message_row *m, const struct mail_message_row *to, bool all)
{
	if (to->direction == MailDirection_out)
		m->recipients = to->recipients;
	else
		mail_list_add(a, &m->recipients, to->sender, 1);
	if (all)
		reply_to_all(a, m, to);
}

const char *mail_reply_subject(struct arena *a, const char *subject)
{
	return strncasecmp(subject, "re:", 3) == 0
		       ? subject
		       : mail_cut(a, arena_printf(a, "Re: %s", subject), MAIL_SUBJECT_MAX);
}

/* An error of the store's rows, said where the reason is that there is no room. */
static int stored(const struct mail_posting *o, int err)
{
	return err == ERR_NO_SPACE ? mail_no_room(o->db, o->a, o->m, o->p) : err;
}

int mail_draft(const struct mail_posting *o)
{
	int err;

	o->m->state = MailState_draft;
	err = mail_files_add(o->db, o->a, o->m, o->files, o->file_count);
	return stored(o, err ? err : mail_message_add(o->db, o->a, o->m));
}

/* ---- to whom ---- */

static bool is_inside(const char *address)
{
	static const char end[] = "." MAILBOX_INTERNAL_DOMAIN;
	size_t len = strlen(address), n = sizeof end - 1;

	return len > n && strcmp(address + len - n, end) == 0;
}

struct reached {
	struct mailbox_row boxes[MAIL_RECIPIENTS_MAX];
	size_t count;
};

static bool is_reached(const struct reached *r, const char *id)
{
	for (size_t i = 0; i < r->count; i++)
		if (strcmp(r->boxes[i].id, id) == 0)
			return true;
	return false;
}

static int refuse(const struct mail_posting *o, const char *field, size_t at, const char *code,
	const char *message)
{
	problem_field(o->p, o->a, arena_printf(o->a, "%s[%zu]", field, at), code, "%s", message);
	return 0;
}

/* Whoever has it sent writes to agents that they see: all others are not there for them. */
static int is_seen(const struct mail_posting *o, const char *agent_id, bool *ret)
{
	const struct caller_absent who = { o->m->tenant_id, agent_id, o->m->by_user_id,
		o->m->by_key_id };
	struct problem refused = { 0 };
	struct caller c;
	int err = o->m->by_user_id
			  ? caller_stand(&c, o->db, o->a, &who, PERM_AGENT_READ, o->now, &refused)
			  : ERR_NOT_FOUND;

	*ret = !err;
	return err && err != ERR_NOT_FOUND && refused.err != err ? err : 0;
}

static int reach_inside(const struct mail_posting *o, const char *field, size_t at,
	const char *address, struct reached *r)
{
	struct mailbox_row box;
	bool seen = false;
	int err = mailbox_at(o->db, o->a, o->m->tenant_id, address, &box);

	if (!err)
		err = is_seen(o, box.agent_id, &seen);
	if (err == ERR_NOT_FOUND || (!err && !seen))
		return refuse(o, field, at, "unknown", "is no address of this tenant");
	if (err)
		return err;
	if (strcmp(box.id, o->m->mailbox_id) == 0)
		return refuse(o, field, at, "self", "is the mailbox that it would be sent from");
	if (!mailbox_is_active(&box))
		return refuse(o, field, at, "inactive", "takes no mail at present");
	if (!is_reached(r, box.id) && r->count < MAIL_RECIPIENTS_MAX)
		r->boxes[r->count++] = box;
	return 0;
}

static int reach_outside(
	const struct mail_posting *o, const char *field, size_t at, const char *address)
{
	int64_t suppressed = 0;
	int err =
		db_int(o->db, &sql[SUPPRESSED], &suppressed, ARGS(T(o->m->tenant_id), T(address)));

	if (err)
		return err;
	return suppressed ? refuse(o, field, at, "suppressed",
				    "is not written to any more: mail to it came back")
			  : refuse(o, field, at, "no_relay",
				    "is outside, and no relay is set for mail to the outside");
}

static int reach_all(const struct mail_posting *o, struct reached *r)
{
	const struct {
		const char *field;
		const struct list *list;
	} lists[] = { { "to", &o->m->recipients }, { "cc", &o->m->cc }, { "bcc", &o->m->bcc } };
	struct mail_rules_held rules;
	int err = mail_rules_held(o->db, o->a, o->m->tenant_id, o->m->agent_id, &rules);

	r->count = 0;
	for (size_t k = 0; !err && k < sizeof lists / sizeof *lists; k++)
		for (size_t i = 0; !err && i < lists[k].list->count; i++) {
			const char *to = ((const char *const *)lists[k].list->at)[i];

			if (!mail_rules_reach(&rules, to))
				err = refuse(o, lists[k].field, i, "not_allowed",
					"is not among those whom the rules let the agent write to");
			else
				err = is_inside(to) ? reach_inside(o, lists[k].field, i, to, r)
						    : reach_outside(o, lists[k].field, i, to);
		}
	return err || o->p->count ? (err ? err : ERR_INVALID) : 0;
}

static int check_box(const struct mail_posting *o)
{
	struct mailbox_row from;
	int64_t on = 0;
	int err = mailbox_find(o->db, o->a, o->m->tenant_id, o->m->mailbox_id, &from);

	if (!err)
		err = db_int(o->db, &sql[IS_ON], &on, ARGS(T(o->m->tenant_id), T(o->m->agent_id)));
	if (!err && !on)
		return problem_set(
			o->p, o->a, ERR_CONFLICT, "The agent is switched off: it sends nothing.");
	if (!err && !mailbox_is_active(&from))
		return problem_set(
			o->p, o->a, ERR_CONFLICT, "The mailbox is paused: nothing goes out of it.");
	return err;
}

/* Everybody within the house has a copy of the texts. */
static int check_copies(const struct mail_posting *o, const struct reached *r)
{
	if (mail_held(o->m) * (int64_t)(r->count + 1) <= MAIL_COPIES_MAX)
		return 0;
	problem_field(o->p, o->a, "text", "too_large",
		"comes with everybody's copy of it to more than %d MiB", MAIL_COPIES_MAX >> 20);
	return ERR_INVALID;
}

int mail_check(const struct mail_posting *o)
{
	struct reached r;
	int err = check_box(o);

	if (!err)
		err = reach_all(o, &r);
	return err ? err : check_copies(o, &r);
}

/* ---- sent ---- */

static int deliver(const struct mail_posting *o, const struct mailbox_row *box)
{
	struct mail_message_row m = *o->m;
	struct mail_rules_held rules;
	int err = mail_rules_held(o->db, o->a, m.tenant_id, box->agent_id, &rules);

	if (err)
		return err;
	m.agent_id = box->agent_id;
	m.mailbox_id = box->id;
	m.id = arena_strdup(o->a, id_new(NULL).text);
	m.thread_id = NULL;
	m.direction = MailDirection_in;
	m.state = mail_rules_block(&rules, m.sender) ? MailState_blocked : MailState_received;
	m.bcc = m.labels = (struct list){ 0 };
	m.html = NULL; /* what it shows is kept; it itself is for readers outside */
	m.unread = true;
	m.created_at = o->now;
	m.sent_at = NIL;
	m.session_id = m.run_id = m.error = NULL;
	err = mail_thread_of(o->db, o->a, &m, &m.thread_id);
	if (err && err != ERR_NOT_FOUND)
		return err;
	m.size_bytes = 0;
	err = mail_files_add(o->db, o->a, &m, o->files, o->file_count);
	m.size_bytes = o->m->size_bytes;
	if (!err)
		err = mail_message_add(o->db, o->a, &m);
	return err ? err : mail_wake(o->db, o->a, &m, &rules, o->now);
}

int mail_post(const struct mail_posting *o)
{
	struct reached r;
	int err = check_box(o);

	if (!err)
		err = reach_all(o, &r);
	if (!err)
		err = check_copies(o, &r);
	if (err)
		return err;
	o->m->state = MailState_delivered;
	o->m->sent_at = o->now;
	o->m->error = NULL;
	if (o->stands)
		err = mail_message_sent(o->db, o->a, o->m);
	else
		err = mail_files_add(o->db, o->a, o->m, o->files, o->file_count);
	if (!err && !o->stands)
		err = mail_message_add(o->db, o->a, o->m);
	for (size_t i = 0; !err && i < r.count; i++)
		err = deliver(o, &r.boxes[i]);
	return stored(o, err);
}
