/* roles.c - who holds which role on an agent: users, groups, everybody by default; and why.
 *
 * The older grants (VIEWER, EDITOR) are a second view of the same rows:
 * EDITOR is MANAGER, and an OWNER shows as OWNER in both. */
#include "api/agents/roles.h"

#include <string.h>

#include "access/permission.h"
#include "call/operation.h"
#include "search/search.h"
#include "base/clock.h"
#include "store/listing.h"
#include "store/row.h"

/* What an older grant calls a role. */
#define GRANT_NAME "case r.role when 'MANAGER' then 'EDITOR' else r.role end as role"

#define ROLES_FROM \
	"agent_roles r join users u on u.id = r.user_id where r.tenant_id = $1 and r.agent_id = $2"
#define ROLES_COLUMNS                                                              \
	"r.agent_id, r.user_id, r.tenant_id, r.role, r.created_at, r.updated_at, " \
	"u.email as user_email, u.name as user_name"
#define GROUPS_FROM                                                                             \
	"agent_group_roles r join groups g on g.tenant_id = r.tenant_id and g.id = r.group_id " \
	"where r.tenant_id = $1 and r.agent_id = $2"
#define GROUPS_COLUMNS                                                              \
	"r.agent_id, r.group_id, r.tenant_id, r.role, r.created_at, r.updated_at, " \
	"g.name as group_name"
#define GRANTS_FROM "agent_roles r where r.tenant_id = $1 and r.agent_id = $2"
#define GRANTS_COLUMNS "r.agent_id, r.user_id, r.created_at, " GRANT_NAME

struct held_role {
	int role;
};

FIELDS(held_role) = { FIELD(held_role, role, .words = &agent_role_words) };
static SCHEMA(held_role, .internal = true);

enum {
	LIST_OF(ROLE_LIST),
	LIST_OF(GROUP_LIST),
	LIST_OF(GRANT_LIST),
	ROLE_READ,
	ROLE_SET,
	ROLE_CHANGE,
	ROLE_REMOVE,
	ROLE_KNOWN,
	ROLE_HELD,
	GROUP_READ,
	GROUP_SET,
	GROUP_CHANGE,
	GROUP_REMOVE,
	GROUP_KNOWN,
	GROUP_HELD,
	GRANT_READ,
	DEFAULT_READ,
	DEFAULT_SET,
};

struct role_given {
	const char *tenant_id, *agent_id, *holder_id, *role; /* a user or a group */
	int64_t now;
};

FIELDS(role_given) = {
	ROW_FIELDS(role_given, tenant_id, agent_id, holder_id, role, now),
};
static SCHEMA(role_given, .internal = true);

static const struct statement sql[] = {
	LISTING(ROLE_LIST, "role_list", &AgentRoleAssignmentRead_schema, ROLES_COLUMNS, ROLES_FROM,
		"r.user_id"),
	LISTING(GROUP_LIST, "group_role_list", &AgentRoleGroupGrantRead_schema, GROUPS_COLUMNS,
		GROUPS_FROM, "r.group_id"),
	LISTING(GRANT_LIST, "grant_list", &AgentUserGrantRead_schema, GRANTS_COLUMNS, GRANTS_FROM,
		"r.user_id"),
	[ROLE_READ] = { "role_read",
		"select " ROLES_COLUMNS " from " ROLES_FROM " and r.user_id = $3",
		.row = &AgentRoleAssignmentRead_schema },
	[ROLE_SET] = { "role_set",
		"insert into agent_roles (tenant_id, agent_id, user_id, role, created_at, updated_at) "
		"values (:tenant_id, :agent_id, :holder_id, :role, :now, :now)",
		.args = &role_given_schema },
	[ROLE_CHANGE] = { "role_change",
		"update agent_roles set role = :role, updated_at = :now "
		"where tenant_id = :tenant_id and agent_id = :agent_id and user_id = :holder_id",
		.args = &role_given_schema },
	[ROLE_REMOVE] = { "role_remove",
		"delete from agent_roles where tenant_id = $1 and agent_id = $2 and user_id = $3" },
	[ROLE_KNOWN] = { "role_known",
		"select count(*) from members where tenant_id = $1 and user_id = $2 "
		"and status = 'active'" },
	[ROLE_HELD] = { "role_held",
		"select role from agent_roles "
		"where tenant_id = $1 and agent_id = $2 and user_id = $3",
		.row = &held_role_schema },
	[GROUP_HELD] = { "group_role_held",
		"select role from agent_group_roles "
		"where tenant_id = $1 and agent_id = $2 and group_id = $3",
		.row = &held_role_schema },
	[GROUP_READ] = { "group_role_read",
		"select " GROUPS_COLUMNS " from " GROUPS_FROM " and r.group_id = $3",
		.row = &AgentRoleGroupGrantRead_schema },
	[GROUP_SET] = { "group_role_set",
		"insert into agent_group_roles (tenant_id, agent_id, group_id, role, created_at, "
		"updated_at) values (:tenant_id, :agent_id, :holder_id, :role, :now, :now)",
		.args = &role_given_schema },
	[GROUP_CHANGE] = { "group_role_change",
		"update agent_group_roles set role = :role, updated_at = :now "
		"where tenant_id = :tenant_id and agent_id = :agent_id and group_id = :holder_id",
		.args = &role_given_schema },
	[GROUP_REMOVE] = { "group_role_remove",
		"delete from agent_group_roles "
		"where tenant_id = $1 and agent_id = $2 and group_id = $3" },
	[GROUP_KNOWN] = { "group_known",
		"select count(*) from groups where tenant_id = $1 and id = $2" },
	[GRANT_READ] = { "grant_read",
		"select " GRANTS_COLUMNS " from " GRANTS_FROM " and r.user_id = $3",
		.row = &AgentUserGrantRead_schema },
	[DEFAULT_READ] = { "default_role_read",
		"select id as agent_id, default_role_enabled as enabled from agents "
		"where tenant_id = $1 and id = $2",
		.row = &AgentDefaultRoleRead_schema },
	[DEFAULT_SET] = { "default_role_set",
		"update agent_rows set default_role_enabled = $3, updated_at = $4 "
		"where tenant_id = $1 and id = $2" },
};
STATEMENT_SET(role_sql, sql);

/* Users and groups hold roles in the same way, in tables of the same shape. */
struct role_holder {
	const char *param, *none; /* the path's parameter; what is said if it names nobody */
	int held, set, change, remove, known;
};

static const struct role_holder user_holder = { "user_id", "There is no such member of the tenant.",
	ROLE_HELD, ROLE_SET, ROLE_CHANGE, ROLE_REMOVE, ROLE_KNOWN };
static const struct role_holder group_holder = { "group_id", "There is no such group.", GROUP_HELD,
	GROUP_SET, GROUP_CHANGE, GROUP_REMOVE, GROUP_KNOWN };

int agent_holder_known(struct call *c, const char *user_id, int64_t *ret)
{
	return db_int(c->db, &sql[ROLE_KNOWN], ret, ARGS(T(c->caller.tenant_id), T(user_id)));
}

/* What stood before, for the audit row. */
static void note_role(struct call *c, const char *holder_id, const char *from, const char *to)
{
	c->audit.resource_id = c->caller.agent_id;
	c->audit.meta = arena_printf(c->arena, "{\"holder\":\"%s\",\"from\":%s%s%s,\"to\":%s%s%s}",
		holder_id, from ? "\"" : "", from ? from : "null", from ? "\"" : "", to ? "\"" : "",
		to ? to : "null", to ? "\"" : "");
}

/* Gives the role; what stands already is answered as it stands. */
static int set_role(struct call *c, const struct role_holder *h, const char *id, int role)
{
	const char *word = agent_role_words.list[role];
	const struct caller *who = &c->caller;
	struct held_role before;
	int64_t known = 0;
	int err = db_int(c->db, &sql[h->known], &known, ARGS(T(who->tenant_id), T(id)));

	if (!err && !known)
		return call_fail(c, ERR_NOT_FOUND, "%s", h->none);
	if (!err)
		err = db_one(c->db, c->arena, &sql[h->held], &before,
			ARGS(T(who->tenant_id), T(who->agent_id), T(id)));
	if (err && err != ERR_NOT_FOUND)
		return err;
	c->standing = !err;
	note_role(c, id, err ? NULL : agent_role_words.list[before.role], word);
	if (!err && before.role == role)
		return 0;
	return db_put(c->db, &sql[err ? h->set : h->change],
		&(struct role_given){ .tenant_id = who->tenant_id,
			.agent_id = who->agent_id,
			.holder_id = id,
			.role = word,
			.now = c->now });
}

static int remove_role(struct call *c, const struct role_holder *h)
{
	const char *id = call_param(c, h->param);
	struct held_role before;
	int err = db_one(c->db, c->arena, &sql[h->held], &before,
		ARGS(T(c->caller.tenant_id), T(c->caller.agent_id), T(id)));

	if (err == ERR_NOT_FOUND)
		return call_fail(c, err, "No such role is held on this agent.");
	if (err)
		return err;
	note_role(c, id, agent_role_words.list[before.role], NULL);
	return db_run(c->db, &sql[h->remove], NULL,
		ARGS(T(c->caller.tenant_id), T(c->caller.agent_id), T(id)));
}

static int read_role(struct call *c, int statement, const char *id, void *out)
{
	return db_one(c->db, c->arena, &sql[statement], out,
		ARGS(T(c->caller.tenant_id), T(c->caller.agent_id), T(id)));
}

static int list_roles(struct call *c, int statement)
{
	return call_list(c, &sql[statement], ARGS(T(c->caller.tenant_id), T(c->caller.agent_id)));
}

LIST_OPERATION(listAgentRoles, NONE, AgentRoleAssignmentRead, .key = "user_id")
{
	return list_roles(c, ROLE_LIST);
}

OPERATION(setAgentRole, AgentRoleAssignmentCreate, AgentRoleAssignmentRead, .may_stand = true)
{
	const char *user_id = call_param(c, "user_id");
	int err = set_role(c, &user_holder, user_id, in->role);

	return err ? err : read_role(c, ROLE_READ, user_id, out);
}

OPERATION(removeAgentRole, NONE, NONE)
{
	return remove_role(c, &user_holder);
}

LIST_OPERATION(listAgentGroupRoles, NONE, AgentRoleGroupGrantRead, .key = "group_id")
{
	return list_roles(c, GROUP_LIST);
}

OPERATION(setAgentGroupRole, AgentRoleGroupGrantCreate, AgentRoleGroupGrantRead, .may_stand = true)
{
	const char *group_id = call_param(c, "group_id");
	int err = set_role(c, &group_holder, group_id, in->role);

	return err ? err : read_role(c, GROUP_READ, group_id, out);
}

OPERATION(removeAgentGroupRole, NONE, NONE)
{
	return remove_role(c, &group_holder);
}

LIST_OPERATION(listAgentUserGrants, NONE, AgentUserGrantRead, .key = "user_id")
{
	return list_roles(c, GRANT_LIST);
}

/* VIEWER, EDITOR, or by its newer name MANAGER; OWNER is given as a role, not as a grant. */
static int grant_role(struct call *c, const char *user_id, int role, struct AgentUserGrantRead *out)
{
	int err = set_role(c, &user_holder, user_id, role);

	return err ? err : read_role(c, GRANT_READ, user_id, out);
}

/* The older names of two roles; 0, and named, if it is neither. */
static int older_role(struct call *c, const char *name)
{
	if (strcmp(name, "VIEWER") == 0)
		return AGENT_VIEWER;
	if (strcmp(name, "EDITOR") == 0)
		return AGENT_MANAGER;
	call_field(c, "role", "choice", "must be one of: VIEWER, EDITOR");
	return 0;
}

CHECK_STEP(grantAgentToUser, AgentUserGrant)
{
	if (in->role)
		older_role(c, in->role);
}

OPERATION(grantAgentToUser, AgentUserGrant, AgentUserGrantRead, .key = "user_id", .may_stand = true,
	.check = grantAgentToUser_check)
{
	int role = older_role(c, in->role);

	return c->problem.err ? c->problem.err : grant_role(c, in->user_id, role, out);
}

OPERATION(revokeAgentFromUser, NONE, NONE)
{
	return remove_role(c, &user_holder);
}

OPERATION(grantAgent, AgentGrantRequest, AgentUserGrantRead, .may_stand = true)
{
	c->location = arena_printf(c->arena, "/tenant/%s/agents/%s/users/%s", c->caller.tenant_id,
		c->caller.agent_id, in->user_id);
	return grant_role(c, in->user_id,
		in->role == AgentGrantRole_EDITOR ? AGENT_MANAGER : AGENT_VIEWER, out);
}

OPERATION(readAgentRolePermissions, NONE, AgentRolePermissionGrid)
{
	const char *json = "{";

	for (int role = AGENT_VIEWER; role <= AGENT_OWNER; role++) {
		json = arena_printf(c->arena, "%s%s\"%s\":[", json, role ? "," : "",
			agent_role_words.list[role]);
		for (const char *const *line = permission_grid((enum agent_role)role); *line;
			line++)
			json = arena_printf(c->arena, "%s%s\"%s\"", json,
				line == permission_grid((enum agent_role)role) ? "" : ",", *line);
		json = arena_printf(c->arena, "%s]", json);
	}
	out->roles.text = arena_printf(c->arena, "%s}", json);
	return 0;
}

OPERATION(readAgentDefaultRole, NONE, AgentDefaultRoleRead)
{
	return db_one(c->db, c->arena, &sql[DEFAULT_READ], out,
		ARGS(T(c->caller.tenant_id), T(c->caller.agent_id)));
}

OPERATION(setAgentDefaultRole, AgentDefaultRoleUpdate, AgentDefaultRoleRead)
{
	int err = db_run(c->db, &sql[DEFAULT_SET], NULL,
		ARGS(T(c->caller.tenant_id), T(c->caller.agent_id), N(in->enabled), N(c->now)));

	if (!err)
		err = search_refresh(c->db, c->arena, c->caller.tenant_id, MentionType_agent,
			c->caller.agent_id);
	c->audit.meta = in->enabled ? "{\"enabled\":true}" : "{\"enabled\":false}";
	return err ? err : readAgentDefaultRole_apply(c);
}

#define A "/tenant/{tenant_id}/agents/{agent_id}"

static const struct route routes[] = {
	{ METHOD_GET, A "/roles", &listAgentRoles, PERM_AGENT_ROLES_WRITE, 200, .tag = "Roles",
		.doc = "List the users who hold a role on the agent, newest user first." },
	{ METHOD_PUT, A "/roles/{user_id}", &setAgentRole, PERM_AGENT_ROLES_WRITE, 201,
		"agent_role.set", .tag = "Roles", .doc = "Give a member a role on the agent." },
	{ METHOD_DELETE, A "/roles/{user_id}", &removeAgentRole, PERM_AGENT_ROLES_WRITE, 204,
		"agent_role.remove", .tag = "Roles", .doc = "Take a member's role on the agent." },
	{ METHOD_GET, A "/roles/permissions", &readAgentRolePermissions, PERM_AGENT_READ, 200,
		.tag = "Roles", .doc = "What each role lets people do, in words." },
	{ METHOD_GET, A "/group-roles", &listAgentGroupRoles, PERM_AGENT_ROLES_WRITE, 200,
		.tag = "Roles", .doc = "List the groups that hold a role on the agent." },
	{ METHOD_PUT, A "/group-roles/{group_id}", &setAgentGroupRole, PERM_AGENT_ROLES_WRITE, 201,
		"agent_group_role.set", .tag = "Roles",
		.doc = "Give a group a role on the agent; tenant roles cannot be given to groups." },
	{ METHOD_DELETE, A "/group-roles/{group_id}", &removeAgentGroupRole, PERM_AGENT_ROLES_WRITE,
		204, "agent_group_role.remove", .tag = "Roles",
		.doc = "Take a group's role on the agent." },
	{ METHOD_GET, A "/default-role", &readAgentDefaultRole, PERM_AGENT_READ, 200,
		.tag = "Roles",
		.doc = "Whether members and guests reach the agent without a role of their own." },
	{ METHOD_PUT, A "/default-role", &setAgentDefaultRole, PERM_AGENT_ROLES_WRITE, 200,
		"agent.default_role", .tag = "Roles",
		.doc = "Open the agent to members and guests alike, or close it to both." },
	{ METHOD_GET, A "/users", &listAgentUserGrants, PERM_AGENT_ROLES_WRITE, 200, .tag = "Roles",
		.doc = "The same roles as older grants: EDITOR is MANAGER." },
	{ METHOD_POST, A "/users", &grantAgentToUser, PERM_AGENT_ROLES_WRITE, 201, "agent_role.set",
		.tag = "Roles", .doc = "Grant a member VIEWER or EDITOR on the agent." },
	{ METHOD_DELETE, A "/users/{user_id}", &revokeAgentFromUser, PERM_AGENT_ROLES_WRITE, 204,
		"agent_role.remove", .tag = "Roles", .doc = "Revoke a member's grant." },
	{ METHOD_POST, "/agents/grants", &grantAgent, PERM_AGENT_ROLES_WRITE, 201, "agent_role.set",
		.tag = "Roles", .agent_in_body = true,
		.doc = "Grant a member VIEWER or EDITOR on the agent that the body names." },
};
RESOURCE(roles, routes, NULL, &role_sql);
