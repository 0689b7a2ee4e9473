/* mail_domains.c - see mail_domains.h. */
#include "mailboxes/mail_domains.h"

#include "mail/reserved.h"
#include "mailboxes/mailbox.h"
#include "store/row.h"

/* Mailboxes whose address lies elsewhere, and one of them. */
struct mailboxes_left {
	int64_t count;
	const char *address;
};

FIELDS(mailboxes_left) = { ROW_FIELDS(mailboxes_left, count),
	ROW_NULLABLE(mailboxes_left, address) };
static SCHEMA(mailboxes_left, .internal = true);

enum { TENANT, SIGNING, SIGNS, LEFT, RESERVED };

static const struct statement sql[] = {
	[TENANT] = { "mail_domain_tenant",
		"select id as value from tenants where slug = $1 union all "
		"select id as value from tenants where id = $1",
		.row = &one_text_schema },
	[SIGNING] = { "mail_domains_signing",
		"select substr(name, 6) as value from mail_secrets where substr(name, 1, 5) = 'dkim:' "
		"order by name limit $1",
		.row = &one_text_schema, .scan = "a few secrets of the whole house" },
	[SIGNS] = { "mail_domain_signs", "select name as value from mail_secrets where name = $1",
		.row = &one_text_schema },
	[LEFT] = { "mail_domain_left",
		"select count(*) as count, min(address) as address from mailboxes "
		"where kind = 'external' and enabled = 1 and address not like $1",
		.row = &mailboxes_left_schema,
		.across = "what whoever runs the house must know when its domain has changed",
		.scan = "all mailboxes, when the service begins and when it is checked" },
	[RESERVED] = { "mail_domain_reserved",
		"select count(*) as count, min(address) as address from mailboxes "
		"where kind = 'external' and enabled = 1 and "
		"(select count(*) from agents a where a.tenant_id = mailboxes.tenant_id and "
		"a.id = mailboxes.agent_id and $1 like '%,' || a.slug || ',%' and "
		"mailboxes.address like a.slug || '@%') > 0",
		.row = &mailboxes_left_schema,
		.across = "what whoever runs the house must know of addresses that speak for it",
		.scan = "all mailboxes, when the service begins and when it is checked" },
};
STATEMENT_SET(mail_domains_sql, sql);

int mail_domain_known(struct db *db, struct arena *a, const char *domain)
{
	const char *label = mail_tenant_label(a, domain);
	struct one_text row;

	if (!label)
		return ERR_INVALID;
	return *label ? db_one(db, a, &sql[TENANT], &row, ARGS(T(label))) : 0;
}

int mail_domains_signing(struct db *db, struct arena *a, struct list *ret)
{
	return db_all(
		db, a, &sql[SIGNING], ret, MAIL_DOMAINS_MAX + 1, ARGS(N(MAIL_DOMAINS_MAX + 1)));
}

int mail_domain_left(struct db *db, struct arena *a, const char **ret)
{
	const char *domain = mailbox_policy()->domain;
	struct mailboxes_left left;
	int err;

	*ret = NULL;
	/* A domain has neither of the marks that stand for other letters there. */
	err = db_one(
		db, a, &sql[LEFT], &left, ARGS(T(*domain ? arena_printf(a, "%%.%s", domain) : "")));
	if (err || !left.count)
		return err;
	*ret = arena_printf(a,
		"%lld external mailbox%s, such as %s, %s no address under mail_domain, which is %s: mail to %s is refused; "
		"set mail_domain back, or POST /admin/mail/heal with {\"service\": \"external\"}, which %s",
		(long long)left.count, left.count == 1 ? "" : "es", left.address,
		left.count == 1 ? "has" : "have", *domain ? domain : "not set",
		left.count == 1 ? "it" : "them",
		*domain ? "gives addresses under it" : "switches external mail off");
	return 0;
}

int mail_domain_reserved(struct db *db, struct arena *a, const char **ret)
{
	const char *list = ",";
	struct mailboxes_left found;
	int err;

	*ret = NULL;
	for (const char *const *name = mail_reserved_locals; *name; name++)
		list = arena_printf(a, "%s%s,", list, *name);
	err = db_one(db, a, &sql[RESERVED], &found, ARGS(T(list)));
	if (err || !found.count)
		return err;
	*ret = arena_printf(a,
		"%lld external mailbox%s, such as %s, %s a reserved name as address, to which no mail is taken; "
		"POST /admin/mail/heal with {\"service\": \"external\"} gives another",
		(long long)found.count, found.count == 1 ? "" : "es", found.address,
		found.count == 1 ? "has" : "have");
	return 0;
}

int mail_domain_unsigned(struct db *db, struct arena *a, const char **ret)
{
	const struct mailbox_policy *policy = mailbox_policy();
	const char *domain = policy->domain;
	struct one_text row;
	int err;

	*ret = NULL;
	if (!policy->relays || !*domain)
		return 0;
	err = db_one(db, a, &sql[SIGNS], &row, ARGS(T(arena_printf(a, "dkim:%s", domain))));
	if (err == ERR_NOT_FOUND)
		*ret = arena_printf(a,
			"mail from %s and the tenants under it goes out unsigned, and others may not believe it: lodge mail dkim %s "
			"makes a key",
			domain, domain);
	return err == ERR_NOT_FOUND ? 0 : err;
}
