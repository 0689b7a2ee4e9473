/* mailbox.c - see mailbox.h. */
#include "mailboxes/mailbox.h"

#include <stdio.h>
#include <string.h>

#include "base/fold.h"
#include "base/id.h"
#include "mail/reserved.h"
#include "store/row.h"

static const char *const MailboxKind_list[] = {
	[MailboxKind_internal] = "internal",
	[MailboxKind_external] = "external",
	NULL,
};
const struct words MailboxKind_words = {
	.list = MailboxKind_list,
	.doc = "internal mailboxes live in this service; external ones reach the world.",
};

static struct mailbox_policy policy_now = { .domain = "",
	.provisions = true,
	.house = "",
	.authserv_id = "",
	.resolver = "",
	.bytes_max = 25 << 20,
	.new_recipients_day = 200 };

void mailbox_policy_set(const struct mailbox_policy *policy)
{
	policy_now = *policy;
}

const struct mailbox_policy *mailbox_policy(void)
{
	return &policy_now;
}

/* ---- addresses ---- */

enum { LABEL_MAX = 63 };

static bool is_label(const char *text, size_t len)
{
	if (!len || len > LABEL_MAX || text[0] == '-' || text[len - 1] == '-')
		return false;
	for (size_t i = 0; i < len; i++)
		if (!((text[i] >= 'a' && text[i] <= 'z') || (text[i] >= '0' && text[i] <= '9') ||
			    text[i] == '-'))
			return false;
	return true;
}

/* The name of internal addresses, or one under it: mail of the network must never look like theirs. */
static bool is_internal(const char *domain)
{
	static const char name[] = MAILBOX_INTERNAL_DOMAIN;
	size_t len = strlen(domain), n = sizeof name - 1;

	return len >= n && strcmp(domain + len - n, name) == 0 &&
	       (len == n || domain[len - n - 1] == '.');
}

bool mailbox_domain_valid(const char *text)
{
	size_t labels = 0;

	if (strlen(text) > MAILBOX_DOMAIN_MAX)
		return false;
	for (const char *p = text; *p; labels++) {
		size_t len = strcspn(p, ".");

		if (!is_label(p, len) || (p[len] && !p[len + 1]))
			return false;
		p += len + (p[len] == '.');
	}
	return !*text || (labels > 1 && !is_internal(text));
}

/* A slug as a name in an address, or the id in its place.  What looks like an id is nobody's slug here: it could be somebody
 * else's id. */
static const char *name_or_id(const char *slug, const char *id, size_t room)
{
	size_t len = strlen(slug);
	bool like_id = len == ID_LEN && slug[0] == 'c' && !strchr(slug, '-');

	return is_label(slug, len) && len <= room && !like_id ? slug : id;
}

/* An external address has room for a plus part as long as that beside an id. */
const char *mailbox_address(
	struct arena *a, enum MailboxKind kind, const struct mailbox_names *names)
{
	bool external = kind == MailboxKind_external;
	const char *agent = external && mail_reserved_local(names->agent_slug)
				    ? names->agent_id /* of a time before they were reserved */
				    : name_or_id(names->agent_slug, names->agent_id,
					      external ? ID_LEN : LABEL_MAX);
	const char *tenant = name_or_id(names->tenant_slug, names->tenant_id, LABEL_MAX);

	return arena_printf(a, "%s@%s.%s", agent, tenant,
		external ? policy_now.domain : MAILBOX_INTERNAL_DOMAIN);
}

/* ---- rows ---- */

FIELDS(mailbox_row) = { ROW_FIELDS(mailbox_row, tenant_id, id, agent_id),
	FIELD(mailbox_row, kind, .words = &MailboxKind_words),
	ROW_FIELDS(mailbox_row, address, enabled, paused, message_count, created_at),
	ROW_NULLABLE(mailbox_row, last_message_at) };
SCHEMA(mailbox_row, .internal = true);

/* What decides which mailboxes an agent is to have, and those it has. */
struct mailbox_facts {
	const char *tenant_id, *agent_id, *slug, *tenant_slug;
	bool tenant_external, agent_external;
	const char *internal_id, *external_id, *external_address;
	bool external_enabled;
};

FIELDS(mailbox_facts) = { ROW_FIELDS(mailbox_facts, tenant_id, agent_id, slug, tenant_slug,
				  tenant_external, agent_external, external_enabled),
	ROW_NULLABLE(mailbox_facts, internal_id, external_id, external_address) };
static SCHEMA(mailbox_facts, .internal = true);

enum {
	FIND,
	FIND_AT,
	FIND_OF,
	SLUG,
	PAUSE,
	COUNT,
	ADD,
	READDRESS,
	FACTS_ONE,
	FACTS_ALL,
	FACTS_TENANT
};

/* A page of agents first, and then what each has, by index: joined as a whole, PostgreSQL reads every mailbox for each page. */
#define EXTERNAL(column)                                                         \
	"(select e." column " from mailboxes e where e.tenant_id = a.tenant_id " \
	"and e.agent_id = a.id and e.kind = 'external')"
#define FACTS(where_)                                                                                                  \
	"select a.tenant_id, a.id as agent_id, a.slug, t.slug as tenant_slug, "                                        \
	"t.external_mail_enabled as tenant_external, a.external_mail_enabled as "                                      \
	"agent_external, (select i.id from mailboxes i where i.tenant_id = a.tenant_id "                               \
	"and i.agent_id = a.id and i.kind = 'internal') as internal_id, " EXTERNAL("id") " as external_id, " EXTERNAL( \
		"address") " as external_address, "                                                                    \
			   "coalesce(" EXTERNAL(                                                                       \
				   "enabled") ", 0) as external_enabled from (select g.tenant_id, g.id, g.slug, "      \
					      "g.external_mail_enabled from agents g where " where_                    \
					      ") a "                                                                   \
					      "join tenants t on t.id = a.tenant_id order by a.tenant_id, a.id"

static const struct statement sql[] = {
	[FIND] = { "mailbox_find", "select {*} from mailboxes where tenant_id = $1 and id = $2",
		.row = &mailbox_row_schema },
	[FIND_AT] = { "mailbox_at",
		"select {*} from mailboxes where tenant_id = $1 and address = $2",
		.row = &mailbox_row_schema },
	[FIND_OF] = { "mailbox_of",
		"select {*} from mailboxes where tenant_id = $1 and agent_id = $2 and kind = $3",
		.row = &mailbox_row_schema },
	[SLUG] = { "mailbox_tenant_slug", "select slug as value from tenants where id = $1",
		.row = &one_text_schema },
	[PAUSE] = { "mailbox_pause",
		"update mailboxes set paused = (paused & $3) | $4 where tenant_id = $1 and id = $2" },
	[COUNT] = { "mailbox_count",
		"update mailboxes set message_count = message_count + 1, last_message_at = $3 "
		"where tenant_id = $1 and id = $2" },
	[ADD] = { "mailbox_add", "insert into mailboxes ({*}) values ({$})",
		.row = &mailbox_row_schema },
	[READDRESS] = { "mailbox_readdress",
		"update mailboxes set enabled = $3, address = $4 where tenant_id = $1 and id = $2" },
	[FACTS_ONE] = { "mailbox_facts", FACTS("g.tenant_id = $1 and g.id = $2"),
		.row = &mailbox_facts_schema },
	[FACTS_ALL] = { "mailbox_facts_all",
		FACTS("(g.tenant_id, g.id) > ($1, $2) order by g.tenant_id, g.id limit $3"),
		.row = &mailbox_facts_schema, .across = "heals the mailboxes of all tenants",
		.scan = "a piece of all agents, in the order of their key" },
	[FACTS_TENANT] = { "mailbox_facts_tenant",
		FACTS("g.tenant_id = $1 and g.id > $2 order by g.id limit $3"),
		.row = &mailbox_facts_schema,
		.scan = "a piece of the tenant's agents, found by their key" },
};
STATEMENT_SET(mailbox_sql, sql);

int mailbox_find(struct db *db, struct arena *a, const char *tenant_id, const char *id,
	struct mailbox_row *ret)
{
	return db_one(db, a, &sql[FIND], ret, ARGS(T(tenant_id), T(id)));
}

int mailbox_at(struct db *db, struct arena *a, const char *tenant_id, const char *address,
	struct mailbox_row *ret)
{
	return db_one(db, a, &sql[FIND_AT], ret, ARGS(T(tenant_id), T(fold_ascii(a, address))));
}

int mailbox_of(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	enum MailboxKind kind, struct mailbox_row *ret)
{
	return db_one(db, a, &sql[FIND_OF], ret,
		ARGS(T(tenant_id), T(agent_id), T(MailboxKind_list[kind])));
}

int mailbox_domain_of(struct db *db, struct arena *a, const char *tenant_id, const char **ret)
{
	struct one_text slug;
	int err = *policy_now.domain ? db_one(db, a, &sql[SLUG], &slug, ARGS(T(tenant_id)))
				     : ERR_NOT_FOUND;

	*ret = err ? NULL
		   : arena_printf(a, "%s.%s", name_or_id(slug.value, tenant_id, LABEL_MAX),
			     policy_now.domain);
	return err == ERR_NOT_FOUND ? 0 : err;
}

int mailbox_pause(struct db *db, const char *tenant_id, const char *id, unsigned off, unsigned on)
{
	const int64_t both = MAILBOX_PAUSED_BY_PEOPLE | MAILBOX_PAUSED_BY_OPERATOR;

	return db_run(db, &sql[PAUSE], NULL,
		ARGS(T(tenant_id), T(id), N(both & ~(int64_t)off), N((int64_t)on)));
}

int mailbox_count(struct db *db, const char *tenant_id, const char *id, int64_t now)
{
	return db_run(db, &sql[COUNT], NULL, ARGS(T(tenant_id), T(id), N(now)));
}

/* ---- in line with the flags ---- */

static int add_mailbox(struct db *db, const struct mailbox_facts *f, int kind, const char *address)
{
	int64_t now;
	struct id id = id_new(&now);

	return db_put(db, &sql[ADD],
		&(struct mailbox_row){ .tenant_id = f->tenant_id,
			.id = id.text,
			.agent_id = f->agent_id,
			.kind = kind,
			.address = address,
			.enabled = true,
			.last_message_at = NIL,
			.created_at = now });
}

static int converge_external(
	struct db *db, const struct mailbox_facts *f, const char *address, bool wanted)
{
	return f->external_id ? db_run(db, &sql[READDRESS], NULL,
					ARGS(T(f->tenant_id), T(f->external_id), N(wanted),
						T(wanted ? address : f->external_address)))
			      : add_mailbox(db, f, MailboxKind_external, address);
}

static int converge_facts(
	struct db *db, struct arena *a, const struct mailbox_facts *f, struct mailbox_walk *w)
{
	const struct mailbox_names names = { f->agent_id, f->slug, f->tenant_id, f->tenant_slug };
	bool wanted = f->tenant_external && f->agent_external && *policy_now.domain;
	const char *outside = wanted ? mailbox_address(a, MailboxKind_external, &names) : NULL;
	bool changes = f->external_id
			       ? f->external_enabled != wanted ||
					 (wanted && strcmp(f->external_address, outside) != 0)
			       : wanted;
	int err = 0;

	if (!policy_now.provisions)
		return 0;
	if (w->internal && !f->internal_id) {
		w->changed++;
		if (!w->dry)
			err = add_mailbox(db, f, MailboxKind_internal,
				mailbox_address(a, MailboxKind_internal, &names));
	}
	if (!err && w->external && changes) {
		w->changed++;
		if (!w->dry)
			err = converge_external(db, f, outside, wanted);
	}
	return err;
}

int mailbox_converge(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	struct mailbox_walk *w)
{
	struct mailbox_facts f;
	int err = db_one(db, a, &sql[FACTS_ONE], &f, ARGS(T(tenant_id), T(agent_id)));

	return err ? err : converge_facts(db, a, &f, w);
}

int mailbox_walk(struct db *db, struct arena *a, struct mailbox_walk *w)
{
	const struct mailbox_facts *f;
	struct list rows = { 0 };
	int err = db_all(db, a, &sql[w->only_tenant ? FACTS_TENANT : FACTS_ALL], &rows,
		MAILBOX_WALK_PIECE,
		ARGS(T(w->only_tenant ? w->only_tenant : w->tenant_id), T(w->agent_id),
			N(MAILBOX_WALK_PIECE)));

	f = rows.at;
	for (size_t i = 0; !err && i < rows.count; i++)
		err = converge_facts(db, a, &f[i], w);
	w->more = rows.count == MAILBOX_WALK_PIECE;
	if (!err && rows.count) {
		snprintf(w->tenant_id, sizeof w->tenant_id, "%s", f[rows.count - 1].tenant_id);
		snprintf(w->agent_id, sizeof w->agent_id, "%s", f[rows.count - 1].agent_id);
	}
	return err;
}
