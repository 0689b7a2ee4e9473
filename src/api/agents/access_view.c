/* access_view.c - why somebody may do what they may on an agent; and handing an agent over. */
#include <string.h>

#include "api/agents/agents.h"
#include "call/operation.h"
#include "api/agents/roles.h"

struct way_row {
	const char *through, *name;
	int64_t rank;
};

FIELDS(way_row) = {
	FIELD(way_row, through),
	FIELD(way_row, name, .nullable = true),
	FIELD(way_row, rank),
};
static SCHEMA(way_row, .internal = true);

struct standing {
	const char *user_id;
	int role;
	bool is_super_admin, is_admin_only, default_role_enabled;
};

FIELDS(standing) = {
	FIELD(standing, user_id),
	FIELD(standing, role, .words = &tenant_role_words),
	FIELD(standing, is_super_admin),
	FIELD(standing, is_admin_only),
	FIELD(standing, default_role_enabled),
};
static SCHEMA(standing, .internal = true);

enum { VIEW_WAYS, VIEW_STANDING, OWNER_DEMOTE, OWNER_SET };

#define RANK "case r.role when 'OWNER' then 3 when 'MANAGER' then 2 else 1 end as rank"

static const struct statement sql[] = {
	[VIEW_WAYS] = { "view_ways",
		"select 'user' as through, null as name, " RANK " from agent_roles r "
		"where r.tenant_id = $1 and r.agent_id = $2 and r.user_id = $3 union all "
		"select 'group' as through, g.name, " RANK " from agent_group_roles r "
		"join group_members m on m.tenant_id = $1 and m.group_id = r.group_id "
		"and m.user_id = $3 join groups g on g.tenant_id = $1 and g.id = r.group_id "
		"where r.tenant_id = $1 and r.agent_id = $2 order by through desc, name",
		.row = &way_row_schema },
	[VIEW_STANDING] = { "view_standing",
		"select u.id as user_id, m.role, u.is_super_admin, a.is_admin_only, "
		"a.default_role_enabled from agents a join users u on u.id = $3 "
		"left join members m on m.tenant_id = $1 and m.user_id = u.id and m.status = 'active' "
		"where a.tenant_id = $1 and a.id = $2",
		.row = &standing_schema },
	[OWNER_DEMOTE] = { "owner_demote",
		"update agent_roles set role = 'MANAGER', updated_at = $3 "
		"where tenant_id = $1 and agent_id = $2 and role = 'OWNER'" },
	[OWNER_SET] = { "owner_set",
		"insert into agent_roles (tenant_id, agent_id, user_id, role, created_at, updated_at) "
		"values ($1, $2, $3, 'OWNER', $4, $4) on conflict (tenant_id, agent_id, user_id) "
		"do update set role = 'OWNER', updated_at = $4" },
};
STATEMENT_SET(access_sql, sql);

/* What is gathered while the ways are walked. */
struct access_ways {
	struct call *c;
	struct AccessWay *ways;
	size_t count;
	permissions held;
};

static void add_way(struct access_ways *g, const char *role, const char *through, const char *name,
	permissions gives)
{
	g->ways[g->count++] = (struct AccessWay){ role, through, name };
	g->held |= gives;
}

static void add_standing(struct access_ways *g, const struct standing *s)
{
	bool admin = s->role == ROLE_OWNER || s->role == ROLE_ADMIN;

	if (admin)
		add_way(g, tenant_role_words.list[s->role], "tenant", NULL,
			permissions_of_agent_role(AGENT_OWNER));
	if (s->is_super_admin && g->c->caller.through_super &&
		strcmp(s->user_id, g->c->caller.user_id) == 0)
		add_way(g, "OWNER", "super_admin", NULL, permissions_of_agent_role(AGENT_OWNER));
	if (!admin && s->role >= 0 && s->default_role_enabled && !s->is_admin_only)
		add_way(g, tenant_role_words.list[s->role], "default", NULL,
			permissions_of_baseline((enum tenant_role)s->role));
}

static int describe_access(struct call *c, const char *user_id, struct AccessView *out)
{
	enum { WAYS_MAX = 1000 };
	const struct caller *who = &c->caller;
	struct access_ways g = { .c = c };
	struct standing standing;
	struct list rows;
	const char **names = arena_array(c->arena, const char *, PERM_COUNT);
	int err = db_one(c->db, c->arena, &sql[VIEW_STANDING], &standing,
		ARGS(T(who->tenant_id), T(who->agent_id), T(user_id)));

	if (!err)
		err = db_all(c->db, c->arena, &sql[VIEW_WAYS], &rows, WAYS_MAX,
			ARGS(T(who->tenant_id), T(who->agent_id), T(user_id)));
	if (err == ERR_NOT_FOUND ||
		(!err && standing.role < 0 && strcmp(user_id, who->user_id) != 0))
		return call_fail(c, ERR_NOT_FOUND, "There is no such member of the tenant.");
	if (err)
		return err;
	g.ways = arena_array(c->arena, struct AccessWay, rows.count + 3);
	add_standing(&g, &standing);
	for (size_t i = 0; i < rows.count && !standing.is_admin_only && standing.role >= 0; i++) {
		const struct way_row *row = (const struct way_row *)rows.at + i;

		add_way(&g, agent_role_words.list[row->rank - 1], row->through, row->name,
			permissions_of_agent_role((enum agent_role)(row->rank - 1)));
	}
	out->ways = (struct list){ g.ways, g.count };
	out->permissions.at = names;
	for (int p = PERM_NONE + 1; p < PERM_COUNT; p++)
		if (g.held >> p & 1)
			names[out->permissions.count++] = permission_name(p);
	return 0;
}

OPERATION(readOwnAccess, NONE, AccessView)
{
	return describe_access(c, c->caller.user_id, out);
}

OPERATION(readUserAccess, NONE, AccessView)
{
	return describe_access(c, call_param(c, "user_id"), out);
}

static int check_owner(struct call *c, const char *user_id)
{
	int64_t member = 0;
	int err = agent_holder_known(c, user_id, &member);

	if (!err && !member)
		return call_field(c, "new_owner_id", "unknown", "is not a member of the tenant");
	return err;
}

CHECK_STEP(transferAgent, AgentOwnershipTransfer)
{
	if (in->new_owner_id)
		check_owner(c, in->new_owner_id);
}

OPERATION(transferAgent, AgentOwnershipTransfer, AgentRead, .check = transferAgent_check)
{
	const struct caller *who = &c->caller;
	int err = check_owner(c, in->new_owner_id);

	if (!err)
		err = db_run(c->db, &sql[OWNER_DEMOTE], NULL,
			ARGS(T(who->tenant_id), T(who->agent_id), N(c->now)));
	if (!err)
		err = db_run(c->db, &sql[OWNER_SET], NULL,
			ARGS(T(who->tenant_id), T(who->agent_id), T(in->new_owner_id), N(c->now)));
	c->audit.meta = arena_printf(c->arena, "{\"new_owner_id\":\"%s\"}", in->new_owner_id);
	return err ? err : agent_show(c, out);
}

#define A "/tenant/{tenant_id}/agents/{agent_id}"

static const struct route routes[] = {
	{ METHOD_GET, A "/access", &readOwnAccess, PERM_AGENT_READ, 200, .tag = "Roles",
		.doc = "What the caller may do on the agent, and by which ways." },
	{ METHOD_GET, A "/access/{user_id}", &readUserAccess, PERM_AGENT_ROLES_WRITE, 200,
		.tag = "Roles", .doc = "What a user may do on the agent, and by which ways." },
	{ METHOD_POST, A "/transfer-ownership", &transferAgent, PERM_AGENT_TRANSFER, 200,
		"agent.transfer", .tag = "Agents",
		.doc = "Hand the agent to another member; former owners stay MANAGER." },
};
RESOURCE(access, routes, NULL, &access_sql);
