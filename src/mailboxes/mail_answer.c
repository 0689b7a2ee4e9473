/* mail_answer.c - see mail_answer.h.
 *
 * Nobody reads such a reply before it goes, so that a row of them must end
 * whatever two agents say to each other: each carries one hop more than what it
 * answers, of which too many wake nobody (mail_wake.h), and there are so many to
 * one address and in one thread at most.
 * What may not be sent is kept as a draft, with the reason. */
#include "mailboxes/mail_answer.h"

#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/json.h"
#include "mailboxes/mail_post.h"

enum { ADDRESS_TEXT_MAX = 4096 }; /* of an address with every byte escaped twice */

enum { WOKEN_BY, LAST_WORDS, TO_ADDRESS, IN_THREAD };

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
		"select count(*) from mail_messages where tenant_id = $1 and agent_id = $2 and id > $3 "
		"and automatic = 1 and direction = 'out' and state <> 'draft' "
		"and (recipients like $4 escape '!' or cc like $4 escape '!' or bcc like $4 escape '!')" },
	[IN_THREAD] = { "mail_automatic_in",
		"select count(*) from mail_messages where tenant_id = $1 and agent_id = $2 "
		"and thread_id = $3 and automatic = 1 and created_at > $4 and state <> 'draft'" },
};
STATEMENT_SET(mail_answer_sql, sql);

int mail_woken_by(struct db *db, struct arena *a, const char *tenant_id, const char *run_id,
	struct mail_message_row *ret)
{
	return db_one(db, a, &sql[WOKEN_BY], ret, ARGS(T(tenant_id), T(run_id)));
}

/* Finds the address in a list of them as it is stored, for LIKE ... ESCAPE '!'. */
static const char *listed_pattern(struct arena *a, const char *address)
{
	struct buf quoted, out;

	buf_init(&quoted, ADDRESS_TEXT_MAX);
	buf_init(&out, ADDRESS_TEXT_MAX);
	json_write_string(&quoted, address, strlen(address));
	buf_putc(&out, '%');
	for (size_t i = 0; i < quoted.len; i++) {
		if (strchr("%_!", quoted.at[i]))
			buf_putc(&out, '!');
		buf_putc(&out, quoted.at[i]);
	}
	buf_putc(&out, '%');
	buf_free(&quoted);
	return arena_take(a, &out);
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
			const char *to = ((const char *const *)lists[k]->at)[i];
			int64_t count = 0;

			err = db_int(db, &sql[TO_ADDRESS], &count,
				ARGS(T(m->tenant_id), T(m->agent_id), T(hour.text),
					T(listed_pattern(a, to))));
			*ret = count > *ret ? count : *ret;
		}
	return err;
}

int mail_why_kept(struct db *db, struct arena *a, const struct mail_message_row *m, bool stranger,
	const char **ret, int64_t now)
{
	struct mail_rules_held rules;
	int64_t to_one = 0, in_thread = 0;
	int err = mail_rules_held(db, a, m->tenant_id, m->agent_id, &rules);

	if (!err)
		err = count_most(db, a, m, now, &to_one);
	if (!err)
		err = db_int(db, &sql[IN_THREAD], &in_thread,
			ARGS(T(m->tenant_id), T(m->agent_id), T(m->thread_id), N(now - DAY_US)));
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
