/* mail_rules.c - the rules of mail, of an agent and of a tenant, and the addresses that nothing is sent to. */
#include <string.h>

#include "api/mail/mail.h"
#include "base/fold.h"
#include "call/operation.h"
#include "contract/value.h"
#include "mailboxes/mail_rules.h"
#include "store/listing.h"

#define FROM "mail_suppressions p where p.tenant_id = $1"

enum { LIST_OF(SUPPRESSION_LIST), SUPPRESSION_DROP };

static const struct statement sql[] = {
	LISTING(SUPPRESSION_LIST, "mail_suppression_list", &MailSuppression_schema, "{p.*}", FROM,
		"p.id"),
	[SUPPRESSION_DROP] = { "mail_suppression_drop",
		"delete from mail_suppressions where tenant_id = $1 and id = $2" },
};
STATEMENT_SET(mail_suppression_sql, sql);

/* ---- rules ---- */

/* "a@example.org", or "@example.org" for all of a domain. */
static bool is_rule(const char *text)
{
	size_t len = strlen(text);

	if (len > MAILBOX_ADDRESS_MAX)
		return false;
	if (*text == '@') {
		char whole[MAILBOX_ADDRESS_MAX + 3] = "x";

		strcat(whole, text);
		return email_valid(whole, len + 1);
	}
	return email_valid(text, len);
}

static void check_rules(struct call *c, const struct MailRules *in)
{
	const struct {
		const char *field;
		const struct list *list;
	} lists[] = { { "allow_from", &in->allow_from }, { "block_from", &in->block_from },
		{ "allow_to", &in->allow_to } };

	for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
		for (size_t i = 0; i < lists[k].list->count; i++) {
			const char *one = ((const char *const *)lists[k].list->at)[i];

			if (one && !is_rule(one))
				call_field(c, arena_printf(c->arena, "%s[%zu]", lists[k].field, i),
					"address", "is neither an address nor @ and a domain");
		}
}

static struct list folded_rules(struct call *c, const struct list *l)
{
	const char **out = arena_array(c->arena, const char *, l->count + 1);

	for (size_t i = 0; i < l->count; i++)
		out[i] = fold_ascii(c->arena, ((const char *const *)l->at)[i]);
	return (struct list){ out, l->count };
}

static int set_rules(
	struct call *c, const char *agent_id, const struct MailRules *in, struct MailRules *out)
{
	struct MailRules before;
	int err = mail_rules_read(c->db, c->arena, c->caller.tenant_id, agent_id, &before);

	check_rules(c, in);
	if (!err)
		err = c->problem.err;
	if (err)
		return err;
	*out = *in;
	out->allow_from = folded_rules(c, &in->allow_from);
	out->block_from = folded_rules(c, &in->block_from);
	out->allow_to = folded_rules(c, &in->allow_to);
	call_changed(c, &MailRules_schema, &before, out);
	return mail_rules_write(c->db, c->caller.tenant_id, agent_id, out);
}

OPERATION(readMailRules, NONE, MailRules)
{
	return mail_rules_read(c->db, c->arena, c->caller.tenant_id, c->caller.agent_id, out);
}

CHECK_STEP(setMailRules, MailRules)
{
	check_rules(c, in);
}

OPERATION(setMailRules, MailRules, MailRules, .check = setMailRules_check)
{
	c->audit.resource_id = c->caller.agent_id;
	return set_rules(c, c->caller.agent_id, in, out);
}

OPERATION(readTenantMailRules, NONE, MailRules)
{
	return mail_rules_read(c->db, c->arena, c->caller.tenant_id, NULL, out);
}

OPERATION(setTenantMailRules, MailRules, MailRules, .check = setMailRules_check)
{
	c->audit.resource_id = c->caller.tenant_id;
	return set_rules(c, NULL, in, out);
}

/* ---- suppressions ---- */

LIST_OPERATION(listMailSuppressions, NONE, MailSuppression)
{
	return call_list(c, &sql[SUPPRESSION_LIST], ARGS(T(c->caller.tenant_id)));
}

OPERATION(deleteMailSuppression, NONE, NONE)
{
	int64_t removed = 0;
	int err = db_run(c->db, &sql[SUPPRESSION_DROP], &removed,
		ARGS(T(c->caller.tenant_id), T(call_param(c, "suppression_id"))));

	return err || removed ? err : call_fail(c, ERR_NOT_FOUND, "There is no such entry.");
}

#define TENANT_MAIL "/tenant/{tenant_id}/mail"

static const struct route routes[] = {
	{ METHOD_GET, AGENT_MAIL "/rules", &readMailRules, PERM_AGENT_MAIL_READ, 200, .tag = "Mail",
		.doc = "Read the agent's own rules of mail." },
	{ METHOD_PUT, AGENT_MAIL "/rules", &setMailRules, PERM_AGENT_MAIL_WRITE, 200,
		"mail_rules.set", .tag = "Mail", .doc = "Replace the agent's own rules of mail." },
	{ METHOD_GET, TENANT_MAIL "/rules", &readTenantMailRules, PERM_MAIL_WRITE, 200,
		.tag = "Mail", .doc = "Read the rules of mail that hold for all agents." },
	{ METHOD_PUT, TENANT_MAIL "/rules", &setTenantMailRules, PERM_MAIL_WRITE, 200,
		"mail_rules.set", .tag = "Mail",
		.doc = "Replace the rules of mail that hold for all agents." },
	{ METHOD_GET, TENANT_MAIL "/suppressions", &listMailSuppressions, PERM_MAIL_WRITE, 200,
		.tag = "Mail", .doc = "List the addresses that nothing is sent to any more." },
	{ METHOD_DELETE, TENANT_MAIL "/suppressions/{suppression_id}", &deleteMailSuppression,
		PERM_MAIL_WRITE, 204, "mail_suppression.delete", .tag = "Mail",
		.doc = "Let an address be written to again." },
};
RESOURCE(mail_rules, routes, NULL, &mail_suppression_sql);
