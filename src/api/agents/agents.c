/* agents.c - the agent resource: listing, making, reading, changing and removing agents. */
#include "api/agents/agents.h"

#include <string.h>

#include "api/agents/agent_row.h"
#include "call/operation.h"
#include "api/erasure/gone.h"
#include "api/plans/plans.h"
#include "api/service.h"
#include "search/search.h"
#include "api/skills/skills.h"
#include "base/fold.h"
#include "base/same.h"
#include "git/ssh_key.h"
#include "mail/reserved.h"
#include "repos/host_sync.h"
#include "sessions/session.h"
#include "store/listing.h"
#include "store/row.h"

struct agent_query {
	const char *q;
	int kind;
	tri favorite;
	bool include_hidden;
};

FIELDS(agent_query) = {
	FIELD(agent_query, q, .nullable = true, BOUNDS(1, 255),
		.doc = "Only agents whose name or slug contains this, whatever the case."),
	FIELD(agent_query, kind, .nullable = true, .words = &AgentKind_words,
		.doc = "Only agents of this kind."),
	FIELD(agent_query, favorite, .nullable = true,
		.doc = "True: only the caller's favourites; false: only the others."),
	FIELD(agent_query, include_hidden, .preset = "false",
		.doc = "Also hidden agents, where the caller is MANAGER or above."),
};
SCHEMA(agent_query, .doc = "Filters of the list of agents.");

static const struct words agent_sorts = {
	.list = (const char *const[]){ "name", "created_at", "updated_at", NULL },
};

/* Who asks, and what they ask for. */
struct agent_list {
	const char *tenant_id, *user_id;
	bool holds_all, include_hidden; /* whether they hold OWNER on every agent */
	int kind;
	const char *pattern;
	tri favorite; /* only favourites, or only others */
};
FIELDS(agent_list) = { ROW_FIELDS(agent_list, tenant_id, user_id, holds_all, include_hidden),
	FIELD(agent_list, kind, .nullable = true, .words = &AgentKind_words),
	ROW_NULLABLE(agent_list, pattern, favorite) };
static SCHEMA(agent_list, .internal = true);

/* The user's favourites are few: they are looked up once for the whole list. */
#define IS_FAVORITE                                              \
	"case when a.id in (select f.agent_id from favorites f " \
	"where f.tenant_id = :tenant_id and f.user_id = :user_id) then 1 else 0 end"
#define LIST_COLUMNS "{a.*}, " IS_FAVORITE " as is_favorite"

/* What somebody who holds OWNER on every agent sees without filters: an index answers it alone. */
#define PLAIN_FROM "agents a where a.tenant_id = :tenant_id and a.hidden = 0"

#define ROLE_RANK "case r.role when 'OWNER' then 3 when 'MANAGER' then 2 else 1 end"
#define ROLE_HELD                                                                       \
	"(select max(" ROLE_RANK ") from agent_roles r where r.tenant_id = :tenant_id " \
	"and r.agent_id = a.id and r.user_id = :user_id)"
#define GROUP_ROLE_HELD                                                                     \
	"(select max(" ROLE_RANK ") from agent_group_roles r join group_members m "         \
	"on m.tenant_id = :tenant_id and m.group_id = r.group_id and m.user_id = :user_id " \
	"where r.tenant_id = :tenant_id and r.agent_id = a.id)"

#define LIST_FROM                                                                        \
	"agents a where a.tenant_id = :tenant_id "                                       \
	"and (:holds_all = 1 or (a.is_admin_only = 0 and (a.default_role_enabled = 1 "   \
	"or " ROLE_HELD " >= 1 or " GROUP_ROLE_HELD " >= 1))) "                          \
	"and (a.hidden = 0 or (:include_hidden = 1 and (:holds_all = 1 "                 \
	"or " ROLE_HELD " >= 2 or " GROUP_ROLE_HELD " >= 2))) "                          \
	"and (cast(:kind as text) is null or a.kind = :kind) "                           \
	"and (cast(:pattern as text) is null or a.name_folded like :pattern escape '!' " \
	"or a.slug like :pattern escape '!') "                                           \
	"and (cast(:favorite as bigint) is null or :favorite = " IS_FAVORITE ")"

enum {
	LIST_OF(AGENT_LIST),
	SORT_OF(AGENT_LIST, NAME),
	SORT_OF(AGENT_LIST, CREATION),
	SORT_OF(AGENT_LIST, UPDATE),
	LIST_OF(AGENT_PLAIN),
	AGENT_READ,
	AGENT_UNFILE,
	AGENT_REMEMBER,
};

static const struct statement sql[] = {
	LISTING(AGENT_LIST, "agent_list", &AgentListRead_schema, LIST_COLUMNS, LIST_FROM, "a.id",
		.args = &agent_list_schema),
	SORTING(AGENT_LIST, NAME, "agent_by_name", &AgentListRead_schema, LIST_COLUMNS, LIST_FROM,
		"a.id", "a.name", .args = &agent_list_schema),
	SORTING(AGENT_LIST, CREATION, "agent_by_creation", &AgentListRead_schema, LIST_COLUMNS,
		LIST_FROM, "a.id", "a.id", .args = &agent_list_schema),
	SORTING(AGENT_LIST, UPDATE, "agent_by_update", &AgentListRead_schema, LIST_COLUMNS,
		LIST_FROM, "a.id", "a.updated_at", .args = &agent_list_schema),
	LISTING(AGENT_PLAIN, "agent_plain", &AgentListRead_schema, LIST_COLUMNS, PLAIN_FROM, "a.id",
		.args = &agent_list_schema),
	[AGENT_READ] = { "agent_read", "select {*} from agents where tenant_id = $1 and id = $2",
		.row = &AgentRead_schema },
	[AGENT_REMEMBER] = { "agent_remember",
		"insert into former_agents (tenant_id, id, name) "
		"select tenant_id, id, name from agents where tenant_id = $1 and id = $2" },
	[AGENT_UNFILE] = { "agent_unfile",
		"delete from directory where tenant_id = $1 and id = $2" },
};
STATEMENT_SET(agent_sql, sql);

LIST_OPERATION(listAgents, agent_query, AgentListRead, .sorts = &agent_sorts)
{
	const struct caller *who = &c->caller;
	struct agent_list asked = { .tenant_id = who->tenant_id,
		.user_id = who->user_id,
		.holds_all = caller_holds_all(who),
		.include_hidden = in->include_hidden,
		.kind = in->kind,
		.pattern = in->q ? fold_pattern(c->arena, in->q) : NULL,
		.favorite = in->favorite };
	bool plain = asked.holds_all && in->kind < 0 && !in->q && in->favorite < 0 &&
		     !in->include_hidden && !c->page.sort;
	struct AgentListRead *row;
	int err = call_list(c, &sql[plain ? AGENT_PLAIN : AGENT_LIST], BY_NAME(agent_list, &asked));

	row = c->items.at;
	for (size_t i = 0; !err && i < c->items.count; i++)
		row[i].plan_read_only = caller_reads_only(who, row[i].id);
	return err;
}

/* Who shuts all but administrators out must be one who gives and takes roles. */
int agent_shut_permit(struct call *c, permissions held)
{
	return held & PERM(AGENT_ROLES_WRITE)
		       ? 0
		       : caller_lacks(c->arena, PERM_AGENT_ROLES_WRITE, &c->problem);
}

/* It would be an address of mail. */
static int check_agent_slug(struct call *c, const char *slug)
{
	return slug && mail_reserved_local(slug)
		       ? call_field(c, "slug", "reserved",
				 "is reserved: mail to it would speak for the service")
		       : 0;
}

CHECK_STEP(createAgent, AgentCreate)
{
	check_agent_slug(c, in->slug);
}

OPERATION(createAgent, AgentCreate, AgentRead, .check = createAgent_check)
{
	struct agent_maker who = agent_maker_of(c);
	struct agent_row row;
	int err = check_agent_slug(c, in->slug);

	if (!err)
		err = plan_admits_agent(c);
	if (!err && in->is_admin_only)
		err = agent_shut_permit(c, caller_cut(&c->caller, PERM(AGENT_ROLES_WRITE)));
	if (!err)
		err = agent_row_make(c->db, c->arena, &who, in, false, &row);
	if (err == ERR_DUPLICATE)
		return call_fail(c, ERR_TAKEN, "This tenant has an agent with the slug %s already.",
			in->slug);
	if (!err)
		agent_row_tell(c, &row, out);
	return err;
}

int agent_show(struct call *c, struct AgentRead *out)
{
	int err = db_one(c->db, c->arena, &sql[AGENT_READ], out,
		ARGS(T(c->caller.tenant_id), T(c->caller.agent_id)));

	if (!err)
		out->plan_read_only = caller_reads_only(&c->caller, out->id);
	return err;
}

OPERATION(readAgent, NONE, AgentRead)
{
	return agent_show(c, out);
}

/* Empty is none, as null is. */
static int check_key(struct call *c, const char *line)
{
	const char *key, *fault = line && *line ? ssh_key_fault(c->arena, line, &key) : NULL;

	return fault ? call_field(c, "ssh_public_key", "ssh_key", "%s", fault) : 0;
}

CHECK_STEP(updateAgent, AgentUpdate)
{
	check_key(c, in->ssh_public_key);
}

OPERATION(updateAgent, AgentUpdate, AgentRead, .check = updateAgent_check)
{
	struct agent_row before, after;
	int err = agent_row_read(c, &before);

	if (err)
		return err;
	call_merge(c, CHANGE(agent_row, &before, &after));
	err = check_key(c, in->ssh_public_key);
	if (!err && after.is_admin_only != before.is_admin_only)
		err = agent_shut_permit(c, c->caller.agent);
	if (!err && after.ssh_public_key && service_of(c->app)->host &&
		!same_text(before.ssh_public_key, after.ssh_public_key))
		err = host_sync_ask(c->db, c->arena, service_of(c->app)->host, c->caller.tenant_id,
			c->caller.agent_id, c->now);
	return err ? err : agent_row_change(c, &before, &after);
}

/* It is gone from here on, and with it what hangs on it, of which gone.c removes the rows.  So much of what runs is
 * ended at once as a transaction may take; gone.c ends the rest first. */
int agent_remove(struct call *c)
{
	const struct caller *who = &c->caller;
	int64_t ended;
	int err = session_cancel_agent(
		c->db, c->arena, who->tenant_id, who->agent_id, c->now, &ended);

	if (!err)
		err = db_run(
			c->db, &sql[AGENT_UNFILE], NULL, ARGS(T(who->tenant_id), T(who->agent_id)));
	if (!err)
		err = search_remove(
			c->db, c->arena, who->tenant_id, MentionType_agent, who->agent_id);
	if (!err)
		err = db_run(c->db, &sql[AGENT_REMEMBER], NULL,
			ARGS(T(who->tenant_id), T(who->agent_id)));
	if (!err)
		err = gone_agent(c->db, who->tenant_id, who->agent_id, c->now);
	if (!err)
		err = tenant_count(c->db, who->tenant_id, -1, 0);
	if (!err && who->read_only_after)
		err = plan_settle(c->db, c->arena, who->tenant_id);
	if (!err)
		c->afterwards = gone_submit;
	return err;
}

OPERATION(deleteAgent, NONE, NONE)
{
	return agent_remove(c);
}

static const struct route routes[] = {
	{ METHOD_GET, "/tenant/{tenant_id}/agents", &listAgents, PERM_TENANT_READ, 200,
		.tag = "Agents", .doc = "List the agents the caller can see, newest first." },
	{ METHOD_POST, "/tenant/{tenant_id}/agents", &createAgent, PERM_AGENTS_CREATE, 201,
		"agent.create", .tag = "Agents",
		.doc = "Create an agent; the caller becomes its OWNER." },
	{ METHOD_GET, "/tenant/{tenant_id}/agents/{agent_id}", &readAgent, PERM_AGENT_READ, 200,
		.tag = "Agents", .finds_agent = true, .doc = "Read an agent." },
	{ METHOD_PATCH, "/tenant/{tenant_id}/agents/{agent_id}", &updateAgent, PERM_AGENT_WRITE,
		200, "agent.update", .tag = "Agents", .finds_agent = true,
		.doc = "Change the fields that are sent; null clears." },
	{ METHOD_DELETE, "/tenant/{tenant_id}/agents/{agent_id}", &deleteAgent, PERM_AGENT_DELETE,
		204, "agent.delete", .tag = "Agents",
		.doc = "Delete an agent and everything that hangs on it." },
};
RESOURCE(agents, routes, NULL, &agent_sql);
