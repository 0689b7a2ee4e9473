/* agents.c - the agent resource: listing, making, reading, changing and removing agents. */
#include "api/agents.h"

#include <string.h>

#include "api/agent_row.h"
#include "api/api.h"
#include "api/bootstrap.h"
#include "api/plans.h"
#include "api/search.h"
#include "api/skills.h"
#include "base/fold.h"
#include "sessions/session.h"
#include "store/listing.h"

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

/* $1 tenant, $2 user.  The user's favourites are few: they are looked up once for the whole list. */
#define IS_FAVORITE                                              \
	"case when a.id in (select f.agent_id from favorites f " \
	"where f.tenant_id = $1 and f.user_id = $2) then 1 else 0 end"
#define LIST_COLUMNS "{a.*}, " IS_FAVORITE " as is_favorite"

/* What somebody who holds OWNER on every agent sees without filters: an index answers it alone. */
#define PLAIN_FROM "agents a where a.tenant_id = $1 and a.hidden = 0"

#define ROLE_RANK "case r.role when 'OWNER' then 3 when 'MANAGER' then 2 else 1 end"
#define ROLE_HELD                                                               \
	"(select max(" ROLE_RANK ") from agent_roles r where r.tenant_id = $1 " \
	"and r.agent_id = a.id and r.user_id = $2)"
#define GROUP_ROLE_HELD                                                             \
	"(select max(" ROLE_RANK ") from agent_group_roles r join group_members m " \
	"on m.tenant_id = $1 and m.group_id = r.group_id and m.user_id = $2 "       \
	"where r.tenant_id = $1 and r.agent_id = a.id)"

/* $3 1 if the caller holds OWNER on all, $4 include hidden, $5 kind, $6 pattern, $7 favourites only
 * or not */
#define LIST_FROM                                                              \
	"agents a where a.tenant_id = $1 "                                     \
	"and ($3 = 1 or (a.is_admin_only = 0 and (a.default_role_enabled = 1 " \
	"or " ROLE_HELD " >= 1 or " GROUP_ROLE_HELD " >= 1))) "                \
	"and (a.hidden = 0 or ($4 = 1 and ($3 = 1 "                            \
	"or " ROLE_HELD " >= 2 or " GROUP_ROLE_HELD " >= 2))) "                \
	"and (cast($5 as text) is null or a.kind = $5) "                       \
	"and (cast($6 as text) is null or a.name_folded like $6 escape '!' "   \
	"or a.slug like $6 escape '!') "                                       \
	"and (cast($7 as bigint) is null or $7 = " IS_FAVORITE ")"

enum {
	AGENT_LIST,
	AGENT_PLAIN = AGENT_LIST + LIST_SORTS + 6,
	AGENT_READ = AGENT_PLAIN + LIST_SORTS,
	AGENT_REMOVE,
	AGENT_UNFILE,
	AGENT_REMEMBER,
	AGENT_UNFILE_SESSIONS,
};

static const struct statement sql[] = {
	LIST_STATEMENTS(
		"agent_list", &AgentListRead_schema, LIST_COLUMNS, LIST_FROM, "a.id", "8", "9"),
	SORT_STATEMENTS("agent_by_name", &AgentListRead_schema, LIST_COLUMNS, LIST_FROM, "a.id",
		"8", "9", "a.name"),
	SORT_STATEMENTS("agent_by_creation", &AgentListRead_schema, LIST_COLUMNS, LIST_FROM, "a.id",
		"8", "9", "a.id"),
	SORT_STATEMENTS("agent_by_update", &AgentListRead_schema, LIST_COLUMNS, LIST_FROM, "a.id",
		"8", "9", "a.updated_at"),
	LIST_STATEMENTS(
		"agent_plain", &AgentListRead_schema, LIST_COLUMNS, PLAIN_FROM, "a.id", "3", "4"),
	[AGENT_READ] = { "agent_read", "select {*} from agents where tenant_id = $1 and id = $2",
		.row = &AgentRead_schema },
	[AGENT_REMOVE] = { "agent_remove", "delete from agents where tenant_id = $1 and id = $2" },
	[AGENT_REMEMBER] = { "agent_remember",
		"insert into former_agents (tenant_id, id, name) "
		"select tenant_id, id, name from agents where tenant_id = $1 and id = $2" },
	[AGENT_UNFILE] = { "agent_unfile", "delete from directory where id = $1" },
	[AGENT_UNFILE_SESSIONS] = { "agent_unfile_sessions",
		"delete from directory where id in "
		"(select s.id from sessions s where s.tenant_id = $1 and s.agent_id = $2)" },
};
STATEMENT_SET(agent_sql, sql);

OPERATION(listAgents, .list = true, .reply = &AgentListRead_schema, .query = &agent_query_schema,
	.sorts = &agent_sorts)
{
	const struct agent_query *in = c->query;
	const struct caller *who = &c->caller;
	const char *kind = in->kind < 0 ? NULL : AgentKind_words.list[in->kind];
	const char *pattern = in->q ? fold_pattern(c->arena, in->q) : NULL;
	bool plain = !kind && !pattern && in->favorite < 0 && !in->include_hidden && !c->page.sort;
	struct AgentListRead *row;
	int err;

	if (plain && caller_holds_all(who))
		err = call_list(c, &sql[AGENT_PLAIN], ARGS(T(who->tenant_id), T(who->user_id)));
	else
		err = call_list(c, &sql[AGENT_LIST],
			ARGS(T(who->tenant_id), T(who->user_id), N(caller_holds_all(who)),
				N(in->include_hidden), T(kind), T(pattern),
				N(in->favorite < 0 ? NIL : in->favorite)));
	row = c->items.at;
	for (size_t i = 0; !err && i < c->items.count; i++)
		row[i].plan_read_only = caller_reads_only(who, row[i].id);
	return err;
}

OPERATION(createAgent, .body = &AgentCreate_schema, .reply = &AgentRead_schema)
{
	const struct AgentCreate *in = c->body;
	struct agent_maker who = agent_maker_of(c);
	struct agent_row row;
	int err = plan_admits_agent(c);

	if (!err)
		err = agent_row_make(c->db, c->arena, &who, in, false, &row);
	if (err == ERR_DUPLICATE)
		return call_fail(c, ERR_TAKEN, "This tenant has an agent with the slug %s already.",
			in->slug);
	if (!err)
		agent_row_tell(c, &row);
	return err;
}

int agent_show(struct call *c)
{
	struct AgentRead *out = c->reply;
	int err = db_one(c->db, c->arena, &sql[AGENT_READ], out,
		ARGS(T(c->caller.tenant_id), T(c->caller.agent_id)));

	if (!err)
		out->plan_read_only = caller_reads_only(&c->caller, out->id);
	return err;
}

OPERATION(readAgent, .reply = &AgentRead_schema)
{
	return agent_show(c);
}

OPERATION(updateAgent, .body = &AgentUpdate_schema, .reply = &AgentRead_schema)
{
	struct agent_row before, after;
	int err = agent_row_read(c, &before);

	if (err)
		return err;
	after = before;
	schema_patch(&AgentUpdate_schema, c->body, &agent_row_schema, &after);
	err = agent_row_change(c, &before, &after);
	schema_copy(&agent_row_schema, &after, &AgentRead_schema, c->reply);
	return err;
}

/* What runs is ended.  What hangs on the agent goes with its row, all but the entries that find things by
 * their ids. */
int agent_remove(struct call *c)
{
	const struct caller *who = &c->caller;
	int err = session_cancel_agent(c->db, c->arena, who->tenant_id, who->agent_id, c->now);

	if (!err)
		err = db_run(c->db, &sql[AGENT_UNFILE_SESSIONS], NULL,
			ARGS(T(who->tenant_id), T(who->agent_id)));
	if (!err)
		err = db_run(c->db, &sql[AGENT_UNFILE], NULL, ARGS(T(who->agent_id)));
	if (!err)
		err = search_remove_agent(c->db, c->arena, who->tenant_id, who->agent_id);
	if (!err)
		err = db_run(c->db, &sql[AGENT_REMEMBER], NULL,
			ARGS(T(who->tenant_id), T(who->agent_id)));
	if (!err)
		err = db_run(
			c->db, &sql[AGENT_REMOVE], NULL, ARGS(T(who->tenant_id), T(who->agent_id)));
	if (!err)
		err = tenant_count(c->db, who->tenant_id, -1, 0);
	if (!err && who->read_only_after)
		err = plan_settle(c->db, c->arena, who->tenant_id);
	c->audit.resource_id = who->agent_id;
	return err;
}

OPERATION(deleteAgent)
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
RESOURCE(agents, routes, agents_schemas);
