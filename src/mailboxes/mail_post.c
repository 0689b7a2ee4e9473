/* mail_post.c - see mail_post.h.
 *
 * Whoever is written to within the house has a row of their own, with the same
 * Message-ID, in a thread of their own mailbox.  For those outside the message
 * is queued (mail_send.h), unless too many of them are new (mail_ramp.h).  An
 * address of another tenant is outside: what reaches it passes by the relay, a
 * verdict and that tenant's rules. */
#include "mailboxes/mail_post.h"

#include <string.h>
#include <strings.h>

#include "access/caller.h"
#include "base/id.h"
#include "mail/address.h"
#include "mailboxes/mail_ramp.h"
#include "mailboxes/mail_send.h"
#include "mailboxes/mail_wake.h"

enum { IS_ON, IS_LISTED };

/* In a statement with `agents a` and a user in it, as $3: a role from which on hidden agents are listed. */
#define MANAGES                                                                         \
	"(exists (select 1 from agent_roles r where r.tenant_id = a.tenant_id "         \
	"and r.agent_id = a.id and r.user_id = $3 and r.role in ('MANAGER', 'OWNER')) " \
	"or exists (select 1 from agent_group_roles g join group_members x "            \
	"on x.tenant_id = a.tenant_id and x.group_id = g.group_id and x.user_id = $3 "  \
	"where g.tenant_id = a.tenant_id and g.agent_id = a.id and g.role in ('MANAGER', 'OWNER')))"

static const struct statement sql[] = {
	[IS_ON] = { "mail_agent_is_on",
		"select count(*) from agents where tenant_id = $1 and id = $2 and is_active = 1" },
	[IS_LISTED] = { "mail_agent_is_listed",
		"select count(*) from agents a where a.tenant_id = $1 and a.id = $2 "
		"and (a.hidden = 0 or " MANAGES ")" },
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

/* The mailbox itself, whatever stands after a plus: answers come to an address with a token. */
static bool is_own(const char *address, const char *own)
{
	size_t local = strcspn(own, "@"), n = strcspn(address, "+@");

	return n == local && strncasecmp(address, own, n) == 0 &&
	       strcasecmp(address + strcspn(address, "@"), own + local) == 0;
}

static void reply_to_all(
	struct arena *a, struct mail_message_row *m, const struct mail_message_row *to)
{
	const struct list *const from[] = { &to->recipients, &to->cc };

	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < from[k]->count; i++) {
			const char *one = ((const char *const *)from[k]->at)[i];

			if (!is_own(one, m->sender) && !mail_listed(&m->recipients, one) &&
				m->recipients.count + m->cc.count < MAIL_RECIPIENTS_MAX)
				mail_list_add(
					a, k ? &m->cc : &m->recipients, one, MAIL_RECIPIENTS_MAX);
		}
}

bool mail_address_reply(
	struct arena *a, struct mail_message_row *m, const struct mail_message_row *to, bool all)
{
	if (to->direction == MailDirection_out)
		m->recipients = to->recipients;
	else if (*to->sender) /* else it has no From, and nobody wants to hear of it */
		mail_list_add(a, &m->recipients, to->sender, 1);
	if (all)
		reply_to_all(a, m, to);
	return m->recipients.count || m->cc.count;
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

	return (len > n && strcmp(address + len - n, end) == 0) ||
	       (len >= n && address[len - n] == '@' && strcmp(address + len - n + 1, end + 1) == 0);
}

struct reached {
	struct mailbox_row boxes[MAIL_RECIPIENTS_MAX];
	size_t count;
	const char *outside[MAIL_RECIPIENTS_MAX];
	size_t outside_count;
	struct mailbox_row external; /* of the agent; id NULL: it has none */
	const char *domain;	     /* of the tenant's external addresses; NULL: there are none */
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

/* Whoever has it sent writes to agents that they would find in a list: all others are not there for them. */
static int is_seen(const struct mail_posting *o, const char *agent_id, bool *ret)
{
	const struct caller_absent who = { o->m->tenant_id, agent_id, o->m->by_user_id,
		o->m->by_key_id };
	struct problem refused = { 0 };
	struct caller c;
	int err = o->m->by_user_id
			  ? caller_stand(&c, o->db, o->a, &who, PERM_AGENT_READ, o->now, &refused)
			  : ERR_NOT_FOUND;
	int64_t listed = 1;

	if (!err && !caller_holds_all(&c)) {
		err = db_int(o->db, &sql[IS_LISTED], &listed,
			ARGS(T(o->m->tenant_id), T(agent_id), T(o->m->by_user_id)));
		if (err)
			return err;
	}
	*ret = !err && listed;
	return err && err != ERR_NOT_FOUND && refused.err != err ? err : 0;
}

static int reach_box(const struct mail_posting *o, const char *field, size_t at,
	const struct mailbox_row *box, struct reached *r)
{
	bool seen = false;
	int err = is_seen(o, box->agent_id, &seen);

	if (err)
		return err;
	if (!seen)
		return refuse(o, field, at, "unknown", "is no address of this tenant");
	if (strcmp(box->agent_id, o->m->agent_id) == 0)
		return refuse(o, field, at, "self", "is the mailbox that it would be sent from");
	if (!mailbox_is_active(box))
		return refuse(o, field, at, "inactive", "takes no mail at present");
	if (!is_reached(r, box->id) && r->count < MAIL_RECIPIENTS_MAX)
		r->boxes[r->count++] = *box;
	return 0;
}

static int reach_inside(const struct mail_posting *o, const char *field, size_t at,
	const char *address, struct reached *r)
{
	struct mailbox_row box;
	int err = mailbox_at(o->db, o->a, o->m->tenant_id, address, &box);

	if (err == ERR_NOT_FOUND)
		return refuse(o, field, at, "unknown", "is no address of this tenant");
	return err ? err : reach_box(o, field, at, &box, r);
}

static bool is_outside_already(const struct reached *r, const char *address)
{
	for (size_t i = 0; i < r->outside_count; i++)
		if (strcmp(r->outside[i], address) == 0)
			return true;
	return false;
}

static int reach_relay(const struct mail_posting *o, const char *field, size_t at,
	const char *address, struct reached *r)
{
	bool suppressed = false;
	int err = mail_suppressed(o->db, o->m->tenant_id, address, &suppressed);

	if (err)
		return err;
	if (suppressed)
		return refuse(o, field, at, "suppressed",
			"is not written to any more: mail to it came back");
	if (!mailbox_policy()->relays)
		return refuse(o, field, at, "no_relay",
			"is outside, and no relay is set for mail to the outside");
	if (!r->external.id || !mailbox_is_active(&r->external))
		return refuse(o, field, at, "no_external_mailbox",
			"is outside, and the agent has no active mailbox for mail to the outside");
	if (!is_outside_already(r, address) && r->outside_count < MAIL_RECIPIENTS_MAX)
		r->outside[r->outside_count++] = address;
	return 0;
}

/* An external address of this tenant is one of the house, whatever stands after a plus; every other goes by the relay. */
static int reach_outside(const struct mail_posting *o, const char *field, size_t at,
	const char *address, struct reached *r)
{
	const char *domain = strrchr(address, '@'), *fault;
	struct mail_address parsed;
	struct slice base, plus;
	struct mailbox_row box;
	int err;

	if (!mail_address_parse(address, strlen(address), &parsed, &fault))
		return refuse(o, field, at, "address", "is no address that mail can be sent to");
	/* Such an address may stand in a letter of a stranger, who has it answered. */
	if (!smtp_path_is_plain(address))
		return refuse(o, field, at, "address",
			"has a blank, < or > before its @, which cannot be named to a mail server");
	mail_address_plus(&parsed, &base, &plus);
	err = mailbox_at(o->db, o->a, o->m->tenant_id,
		arena_printf(o->a, "%.*s%s", (int)base.len, base.at, domain), &box);
	if (!err)
		return reach_box(o, field, at, &box, r);
	if (err != ERR_NOT_FOUND)
		return err;
	/* Whether or not the agent could write there: else a hidden agent's address is told from one that nobody has. */
	if (r->domain && strcmp(r->domain, domain + 1) == 0)
		return refuse(o, field, at, "unknown", "is no address of this tenant");
	return reach_relay(o, field, at, address, r);
}

/* The agent's mailbox for mail to the outside, if it has one, and where the tenant's lie. */
static int find_external(const struct mail_posting *o, struct reached *r)
{
	int err = mailbox_of(
		o->db, o->a, o->m->tenant_id, o->m->agent_id, MailboxKind_external, &r->external);

	if (err)
		r->external.id = NULL;
	if (err && err != ERR_NOT_FOUND)
		return err;
	return mailbox_domain_of(o->db, o->a, o->m->tenant_id, &r->domain);
}

static int reach_all(const struct mail_posting *o, struct reached *r)
{
	const struct {
		const char *field;
		const struct list *list;
	} lists[] = { { "to", &o->m->recipients }, { "cc", &o->m->cc }, { "bcc", &o->m->bcc } };
	struct mail_rules_held rules;
	int err = mail_rules_held(o->db, o->a, o->m->tenant_id, o->m->agent_id, &rules);

	r->count = r->outside_count = 0;
	if (!err)
		err = find_external(o, r);
	for (size_t k = 0; !err && k < sizeof lists / sizeof *lists; k++)
		for (size_t i = 0; !err && i < lists[k].list->count; i++) {
			const char *to = ((const char *const *)lists[k].list->at)[i];

			if (!mail_rules_reach(&rules, to))
				err = refuse(o, lists[k].field, i, "not_allowed",
					"is not among those whom the rules let the agent write to");
			else
				err = is_inside(to) ? reach_inside(o, lists[k].field, i, to, r)
						    : reach_outside(o, lists[k].field, i, to, r);
		}
	return err || o->p->count ? (err ? err : ERR_INVALID) : 0;
}

int mail_check_box(const struct mail_posting *o)
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
	int err = mail_check_box(o);

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

/* It becomes a message of the external mailbox, with a thread there; a draft leaves the one it lay in. */
static int move_out(const struct mail_posting *o, const struct reached *r, bool *ret_moved)
{
	struct mail_message_row *m = o->m;
	int err = 0;

	*ret_moved =
		r->outside_count && r->external.id && strcmp(m->mailbox_id, r->external.id) != 0;
	if (!*ret_moved)
		return 0;
	if (o->stands)
		err = mail_message_remove(o->db, m);
	if (err)
		return err;
	m->held_bytes = 0;
	m->mailbox_id = r->external.id;
	m->sender = r->external.address;
	m->message_id_header = arena_printf(o->a, "<%s%s>", m->id, strchr(m->sender, '@'));
	m->thread_id = NULL;
	err = mail_thread_of(o->db, o->a, m, &m->thread_id);
	return err == ERR_NOT_FOUND ? 0 : err;
}

/* The row of whoever sends. */
static int keep_own(const struct mail_posting *o, bool moved)
{
	int err = 0;

	if (o->stands && !moved)
		return o->m->state == MailState_held ? mail_message_save(o->db, o->a, o->m)
						     : mail_message_sent(o->db, o->a, o->m, o->now);
	if (!o->stands)
		err = mail_files_add(o->db, o->a, o->m, o->files, o->file_count);
	return err ? err : mail_message_add(o->db, o->a, o->m);
}

static int send_out(const struct mail_posting *o, const struct reached *r)
{
	int err = mail_ramp_note(o->db, &r->external, r->outside, r->outside_count, o->now);

	return err ? err : mail_send_add(o->db, o->a, o->m, r->outside, r->outside_count, o->now);
}

int mail_post(const struct mail_posting *o)
{
	const char *held = NULL;
	struct reached r;
	bool moved = false;
	int err = mail_check_box(o);

	if (!err)
		err = reach_all(o, &r);
	if (!err)
		err = check_copies(o, &r);
	if (!err && r.outside_count && !o->released)
		err = mail_ramp_look(
			o->db, o->a, &r.external, r.outside, r.outside_count, o->now, &held);
	if (!err)
		err = move_out(o, &r, &moved);
	if (err)
		return err;
	o->m->state = held		? MailState_held
		      : r.outside_count ? MailState_queued
					: MailState_delivered;
	o->m->sent_at = o->m->state == MailState_delivered ? o->now : NIL;
	o->m->error = held;
	err = keep_own(o, moved);
	for (size_t i = 0; !err && !held && i < r.count; i++)
		err = deliver(o, &r.boxes[i]);
	if (!err && !held && r.outside_count)
		err = send_out(o, &r);
	return stored(o, err);
}
