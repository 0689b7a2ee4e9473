/* mail_answer.c - see mail_answer.h.
 *
 * Nobody reads such a reply before it goes, so that a row of them must end
 * whatever two agents say to each other: each carries one hop more than what it
 * answers, of which too many wake nobody (mail_wake.h), and there are so many to
 * one address and in one thread at most.
 * What may not be sent is kept as a draft, with the reason. */
#include "mailboxes/mail_answer.h"

#include <string.h>

#include "base/clock.h"
#include "base/id.h"
#include "mailboxes/mail_folds.h"
#include "mailboxes/mail_post.h"
#include "store/row.h"

enum { WOKEN_BY, LAST_WORDS, TO_ADDRESS, IN_THREAD, OF_DOMAIN };

/* What was sent by itself.  What members have sent is counted apart from what strangers have: else a stranger, or who only says
 * that they are a member, could use up what a member may. */
struct sent_itself {
	const char *tenant_id, *agent_id, *after, *thread_id;
	const char *base, *plus, *quoted; /* of a recipient: mail_folds.h */
	int64_t since, by_member;
};

FIELDS(sent_itself) = { ROW_FIELDS(
	sent_itself, tenant_id, agent_id, after, thread_id, base, plus, quoted, since, by_member) };
static SCHEMA(sent_itself, .internal = true);

#define ANY_LIKE(column)                                                               \
	column " like :base escape '!' or " column " like :plus escape '!' or " column \
	       " like :quoted escape '!'"
#define SENT_ITSELF                                                                                 \
	"select count(*) from mail_messages where tenant_id = :tenant_id and agent_id = :agent_id " \
	"and automatic = 1 and state <> 'draft' "                                                   \
	"and case when by_user_id is null then 0 else 1 end = :by_member "

static const struct statement sql[] = {
	[WOKEN_BY] = { "mail_woken_by",
		"select {*} from mail_messages where tenant_id = $1 and run_id = $2 "
		"order by id desc limit 1",
		.row = &mail_message_row_schema },
	[LAST_WORDS] = { "mail_last_words",
		"select content as value from messages where tenant_id = $1 and session_id = $2 "
		"and run_id = $3 and role = 'assistant' and status = 'complete' "
		"order by id desc limit 1",
		.row = &one_text_schema },
	[TO_ADDRESS] = { "mail_automatic_to",
		SENT_ITSELF "and id > :after and direction = 'out' and (" ANY_LIKE(
			"recipients") " or " ANY_LIKE("cc") " or " ANY_LIKE("bcc") ")",
		.args = &sent_itself_schema },
	[IN_THREAD] = { "mail_automatic_in",
		SENT_ITSELF "and thread_id = :thread_id and created_at > :since",
		.args = &sent_itself_schema },
	[OF_DOMAIN] = { "mail_unproven_of_domain",
		"select count(*) from mail_messages where tenant_id = $1 and agent_id = $2 and id > $3 "
		"and sender like $4 escape '!' and direction = 'in' and verdict <> 'pass' "
		"and run_id is not null" },
};
STATEMENT_SET(mail_answer_sql, sql);

int mail_woken_by(struct db *db, struct arena *a, const char *tenant_id, const char *run_id,
	struct mail_message_row *ret)
{
	return db_one(db, a, &sql[WOKEN_BY], ret, ARGS(T(tenant_id), T(run_id)));
}

/* How many went to that of its addresses that had most of them. */
static int count_most(
	struct db *db, struct arena *a, const struct mail_message_row *m, int64_t now, int64_t *ret)
{
	const struct list *const lists[] = { &m->recipients, &m->cc, &m->bcc };
	const struct id hour = id_least(now - HOUR_US);
	int err = 0;

	*ret = 0;
	for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
		for (size_t i = 0; !err && i < lists[k]->count; i++) {
			const struct mail_folds to =
				mail_folds_listed(a, ((const char *const *)lists[k]->at)[i]);
			struct sent_itself by = { m->tenant_id, m->agent_id, hour.text, "", to.base,
				to.plus, to.quoted, 0, m->by_user_id != NULL };
			int64_t count = 0;

			err = db_int(db, &sql[TO_ADDRESS], &count, BY_NAME(sent_itself, &by));
			*ret = count > *ret ? count : *ret;
		}
	return err;
}

int mail_why_kept(struct db *db, struct arena *a, const struct mail_message_row *m, bool stranger,
	const char **ret, int64_t now)
{
	struct sent_itself by = { m->tenant_id, m->agent_id, "", m->thread_id ? m->thread_id : "",
		"", "", "", now - DAY_US, m->by_user_id != NULL };
	struct mail_rules_held rules;
	int64_t to_one = 0, in_thread = 0;
	int err = mail_rules_held(db, a, m->tenant_id, m->agent_id, &rules);

	if (!err)
		err = count_most(db, a, m, now, &to_one);
	if (!err)
		err = db_int(db, &sql[IN_THREAD], &in_thread, BY_NAME(sent_itself, &by));
	*ret = NULL;
	if (err)
		return err;
	if (mail_rules_reply(&rules) == MailReply_draft)
		*ret = "The rules keep answers as drafts.";
	else if (stranger && mail_rules_reply(&rules) != MailReply_always)
		*ret = "Answers to people outside are kept as drafts, unless the rules say always.";
	else if (to_one >= MAIL_REPLIES_PER_HOUR)
		*ret = "An address of it had as many automatic answers as it may within an hour.";
	else if (in_thread >= MAIL_REPLIES_PER_THREAD_DAY)
		*ret = "This thread had as many automatic answers as it may within a day.";
	return 0;
}

/* Whom a letter says it is from may never have written it: so nobody's domain gets more than so much. */
static int check_domain(struct db *db, struct arena *a, const struct mail_message_row *woke,
	const char **ret, int64_t now)
{
	const struct id hour = id_least(now - HOUR_US);
	int64_t count = 0;
	int err = db_int(db, &sql[OF_DOMAIN], &count,
		ARGS(T(woke->tenant_id), T(woke->agent_id), T(hour.text),
			T(mail_folds_domain(a, woke->sender))));

	if (count > MAIL_UNPROVEN_PER_DOMAIN_HOUR)
		*ret = "Senders of this domain who are not proven had as many answers as they may within an hour.";
	return err;
}

static int try_post(void *ctx)
{
	return mail_post(ctx);
}

/* Sent, or if that is refused kept: nobody is there to be told. */
static int post_or_keep(struct mail_posting *o, const char *kept)
{
	struct mail_message_row blank = *o->m;
	int said = 0, err = kept ? 0 : db_attempt(o->db, try_post, o, true, &said);

	if (err || (!kept && !said))
		return err;
	*o->m = blank;
	o->m->error = kept;
	if (said)
		o->m->error = o->p->first    ? o->p->first->message
			      : o->p->detail ? o->p->detail
					     : error_row(said)->title;
	return mail_draft(o);
}

static int answer_mail(struct db *db, struct arena *a, const struct mail_message_row *woke,
	const struct mailbox_row *box, const char *words, int64_t now)
{
	struct problem refused = { 0 };
	const char *kept = NULL;
	struct mail_message_row m = mail_new(a, box, arena_strdup(a, id_new(NULL).text), now);
	struct mail_posting o = { .db = db, .a = a, .p = &refused, .now = now, .m = &m };
	int err;

	mail_refer(a, &m, woke);
	mail_list_add(a, &m.recipients, woke->sender, 1);
	m.subject = mail_reply_subject(a, woke->subject);
	m.body = words;
	m.size_bytes = (int64_t)strlen(words);
	m.hops = woke->hops + 1;
	m.automatic = true;
	m.by_user_id = woke->by_user_id;
	m.by_key_id = woke->by_key_id;
	m.session_id = woke->session_id;
	err = mail_why_kept(
		db, a, &m, box->kind == MailboxKind_external && !woke->by_user_id, &kept, now);
	if (!err && !kept && woke->verdict != MailVerdict_pass)
		err = check_domain(db, a, woke, &kept, now);
	return err ? err : post_or_keep(&o, kept);
}

int mail_answer(struct db *db, struct arena *a, const char *tenant_id, const char *session_id,
	const char *run_id, int64_t now)
{
	struct mail_message_row woke;
	struct mail_rules_held rules;
	struct mailbox_row box;
	struct one_text words;
	int err = mail_woken_by(db, a, tenant_id, run_id, &woke);

	if (!err)
		err = mail_rules_held(db, a, tenant_id, woke.agent_id, &rules);
	if (!err && mail_rules_reply(&rules) == MailReply_off)
		return 0;
	if (!err)
		err = mailbox_find(db, a, tenant_id, woke.mailbox_id, &box);
	if (!err)
		err = db_one(db, a, &sql[LAST_WORDS], &words,
			ARGS(T(tenant_id), T(session_id), T(run_id)));
	if (!err && *words.value)
		err = answer_mail(db, a, &woke, &box, words.value, now);
	if (err == ERR_NO_SPACE) {
		woke.error =
			"The answer was not kept as mail: the tenant's mail and bucket are full.";
		err = mail_message_save(db, a, &woke);
	}
	return err == ERR_NOT_FOUND ? 0 : err; /* a person spoke there, or nothing was said */
}
