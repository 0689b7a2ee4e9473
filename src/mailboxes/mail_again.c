/* mail_again.c - see mail_again.h. */
#include "mailboxes/mail_again.h"

#include <string.h>

#include "mailboxes/mail_send.h"

/* Where the address stands in the message. */
static const char *place_of(const struct mail_posting *o, const char *address)
{
	const struct {
		const char *field;
		const struct list *list;
	} lists[] = { { "to", &o->m->recipients }, { "cc", &o->m->cc }, { "bcc", &o->m->bcc } };

	for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
		for (size_t i = 0; i < lists[k].list->count; i++)
			if (strcmp(((const char *const *)lists[k].list->at)[i], address) == 0)
				return arena_printf(o->a, "%s[%zu]", lists[k].field, i);
	return "to";
}

/* Is nothing sent to it?  *ret_code stays NULL if something is. */
static int is_kept_out(const struct mail_posting *o, const struct mail_rules_held *rules,
	const char *address, const char **ret_code, const char **ret_message)
{
	bool suppressed = false;
	int err = mail_suppressed(o->db, o->m->tenant_id, address, &suppressed);

	if (!err && suppressed) {
		*ret_code = "suppressed";
		*ret_message = "is not written to any more: mail to it came back";
	} else if (!err && !mail_rules_reach(rules, address)) {
		*ret_code = "not_allowed";
		*ret_message = "is not among those whom the rules let the agent write to";
	} else if (!err && !smtp_path_is_plain(address)) {
		*ret_code = "address";
		*ret_message =
			"has a blank, < or > before its @, which cannot be named to a mail server";
	}
	return err;
}

static int refuse_all(const struct mail_posting *o, const struct mail_rules_held *rules,
	const struct mail_send_row *row, size_t count)
{
	int err = 0;

	for (size_t i = 0; !err && i < count; i++) {
		const char *code = NULL, *message = NULL;

		err = is_kept_out(o, rules, row[i].address, &code, &message);
		if (code)
			problem_field(o->p, o->a, place_of(o, row[i].address), code, "%s", message);
	}
	return err ? err : ERR_INVALID;
}

/* Those who did not get it. */
static size_t gather_lacking(const struct list *rows, struct mail_send_row *out)
{
	const struct mail_send_row *row = rows->at;
	size_t count = 0;

	for (size_t i = 0; i < rows->count; i++)
		if (row[i].state == MailSendState_bounced || row[i].state == MailSendState_failed)
			out[count++] = row[i];
	return count;
}

int mail_again(const struct mail_posting *o)
{
	struct mail_send_row lacking[MAIL_RECIPIENTS_MAX], to[MAIL_RECIPIENTS_MAX];
	struct mail_rules_held rules;
	size_t count = 0, reached = 0;
	struct list rows = { 0 };
	int err = mail_check_box(o);

	if (!err)
		err = mail_rules_held(o->db, o->a, o->m->tenant_id, o->m->agent_id, &rules);
	if (!err)
		err = mail_sends_of(o->db, o->a, o->m, &rows);
	if (err)
		return err;
	count = gather_lacking(&rows, lacking);
	if (!count)
		return problem_set(o->p, o->a, ERR_CONFLICT, "Everybody it is for has it.");
	if (!mailbox_policy()->relays)
		return problem_set(o->p, o->a, ERR_CONFLICT,
			"No relay is set for mail to the outside: it cannot be sent.");
	for (size_t i = 0; !err && i < count; i++) {
		const char *code = NULL, *message = NULL;

		err = is_kept_out(o, &rules, lacking[i].address, &code, &message);
		if (!err && !code)
			to[reached++] = lacking[i];
	}
	if (!err && !reached)
		return refuse_all(o, &rules, lacking, count);
	return err ? err : mail_send_renew(o->db, o->a, o->m, to, reached, o->now);
}
