/* mail_rules.c - see mail_rules.h. */
#include "mailboxes/mail_rules.h"

#include <string.h>

#include "store/row.h"

const struct words MailReply_words = {
	.list = (const char *const[]){ "auto", "draft", "off", "always", NULL },
	.doc = "What becomes of the answer of a turn that mail began. auto: it is sent to agents and "
	       "proven members of the same tenant, and kept as a draft for everybody else; draft: always "
	       "kept as a draft; off: neither; always: sent to whoever wrote.",
};
const struct words MailWake_words = {
	.list = (const char *const[]){ "auto", "never", NULL },
	.doc = "Whether mail sets the agent to work. auto: mail whose sender is proven or in allow_from.",
};

#define NAMES(member, text)                                                              \
	FIELD(MailRules, member, .item = TEXT, .max = MAIL_RULES_MAX, .otherwise = "[]", \
		.distinct = true, .example = "[\"@example.org\"]", .doc = text)

FIELDS(MailRules) = {
	NAMES(allow_from,
		"Senders who may wake the agent although they are not proven: addresses, or "
		"@ and a domain."),
	NAMES(block_from, "Senders whose mail is stored as blocked, and wakes nobody."),
	NAMES(allow_to, "The only ones it may write to; of an empty list anybody."),
	FIELD(MailRules, reply, .words = &MailReply_words, .otherwise = "\"auto\"",
		.doc = "What becomes of answers."),
	FIELD(MailRules, wake, .words = &MailWake_words, .otherwise = "\"auto\"",
		.doc = "Whether mail sets the agent to work."),
};
SCHEMA(MailRules,
	.doc = "The rules of mail, of an agent or of a whole tenant; where both say something "
	       "the stricter holds, and both lists.");

struct mail_rules_row {
	const char *tenant_id, *agent_id;
	struct list allow_from, block_from, allow_to;
	int reply, wake;
};

#define LISTS(S)                                                                              \
	FIELD(S, allow_from, .item = TEXT), FIELD(S, block_from, .item = TEXT),               \
		FIELD(S, allow_to, .item = TEXT), FIELD(S, reply, .words = &MailReply_words), \
		FIELD(S, wake, .words = &MailWake_words)

FIELDS(mail_rules_row) = { ROW_FIELDS(mail_rules_row, tenant_id, agent_id), LISTS(mail_rules_row) };
static SCHEMA(mail_rules_row, .internal = true);

struct tenant_mail_rules_row {
	const char *tenant_id;
	struct list allow_from, block_from, allow_to;
	int reply, wake;
};

FIELDS(tenant_mail_rules_row) = { ROW_FIELDS(tenant_mail_rules_row, tenant_id),
	LISTS(tenant_mail_rules_row) };
static SCHEMA(tenant_mail_rules_row, .internal = true);

enum { AGENT_READ, TENANT_READ, AGENT_PUT, TENANT_PUT };

#define REPLACED                                                                   \
	"set allow_from = excluded.allow_from, block_from = excluded.block_from, " \
	"allow_to = excluded.allow_to, reply = excluded.reply, wake = excluded.wake"

static const struct statement sql[] = {
	[AGENT_READ] = { "mail_rules",
		"select r.allow_from, r.block_from, r.allow_to, r.reply, r.wake from mail_rules r "
		"where r.tenant_id = $1 and r.agent_id = $2",
		.row = &MailRules_schema },
	[TENANT_READ] = { "tenant_mail_rules",
		"select r.allow_from, r.block_from, r.allow_to, r.reply, r.wake "
		"from tenant_mail_rules r where r.tenant_id = $1",
		.row = &MailRules_schema },
	[AGENT_PUT] = { "mail_rules_put",
		"insert into mail_rules ({*}) values ({$}) on conflict (tenant_id, agent_id) "
		"do update " REPLACED,
		.row = &mail_rules_row_schema },
	[TENANT_PUT] = { "tenant_mail_rules_put",
		"insert into tenant_mail_rules ({*}) values ({$}) on conflict (tenant_id) "
		"do update " REPLACED,
		.row = &tenant_mail_rules_row_schema },
};
STATEMENT_SET(mail_rule_sql, sql);

int mail_rules_read(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	struct MailRules *ret)
{
	int err = agent_id ? db_one(db, a, &sql[AGENT_READ], ret, ARGS(T(tenant_id), T(agent_id)))
			   : db_one(db, a, &sql[TENANT_READ], ret, ARGS(T(tenant_id)));

	if (err != ERR_NOT_FOUND)
		return err;
	schema_init(&MailRules_schema, a, ret);
	return 0;
}

int mail_rules_write(
	struct db *db, const char *tenant_id, const char *agent_id, const struct MailRules *rules)
{
	struct mail_rules_row of_agent = { .tenant_id = tenant_id, .agent_id = agent_id };
	struct tenant_mail_rules_row of_tenant = { .tenant_id = tenant_id };

	schema_copy(&MailRules_schema, rules, &mail_rules_row_schema, &of_agent);
	schema_copy(&MailRules_schema, rules, &tenant_mail_rules_row_schema, &of_tenant);
	return agent_id ? db_put(db, &sql[AGENT_PUT], &of_agent)
			: db_put(db, &sql[TENANT_PUT], &of_tenant);
}

int mail_rules_held(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	struct mail_rules_held *ret)
{
	int err = mail_rules_read(db, a, tenant_id, NULL, &ret->tenant);

	return err ? err : mail_rules_read(db, a, tenant_id, agent_id, &ret->agent);
}

/* An address itself, or the domain behind its @. */
static bool list_names(const struct list *l, const char *address)
{
	const char *domain = strrchr(address, '@');

	return mail_listed(l, address) || (domain && mail_listed(l, domain));
}

bool mail_rules_block(const struct mail_rules_held *r, const char *sender)
{
	return list_names(&r->tenant.block_from, sender) ||
	       list_names(&r->agent.block_from, sender);
}

bool mail_rules_name(const struct mail_rules_held *r, const char *sender)
{
	return list_names(&r->tenant.allow_from, sender) ||
	       list_names(&r->agent.allow_from, sender);
}

bool mail_rules_reach(const struct mail_rules_held *r, const char *recipient)
{
	return (!r->tenant.allow_to.count || list_names(&r->tenant.allow_to, recipient)) &&
	       (!r->agent.allow_to.count || list_names(&r->agent.allow_to, recipient));
}

int mail_rules_reply(const struct mail_rules_held *r)
{
	static const int order[] = { MailReply_off, MailReply_draft, MailReply_always };

	for (size_t i = 0; i < sizeof order / sizeof *order; i++)
		if (r->tenant.reply == order[i] || r->agent.reply == order[i])
			return order[i];
	return MailReply_auto;
}

bool mail_rules_wake(const struct mail_rules_held *r)
{
	return r->tenant.wake == MailWake_auto && r->agent.wake == MailWake_auto;
}
