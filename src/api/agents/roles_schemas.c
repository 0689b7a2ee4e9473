/* roles_schemas.c - the tables for roles on an agent: held by users, by groups, by default. */
#include "api/agents/roles.h"

#include "access/permission.h"

/* An example: what is shown comes from permission_grid(). */
#define PERMISSION_GRID                                                                 \
	"{\"VIEWER\":[\"View\",\"Chat (read-only)\"],"                                  \
	"\"MANAGER\":[\"View\",\"Chat (read-only)\",\"Assign work\",\"Edit settings\"," \
	"\"Edit skills\",\"Edit tools\"],"                                              \
	"\"OWNER\":[\"View\",\"Chat (read-only)\",\"Assign work\",\"Edit settings\","   \
	"\"Edit skills\",\"Edit tools\",\"Transfer ownership\",\"Delete agent\","       \
	"\"Manage roles\"]}"

static const char *const AgentGrantRole_list[] = {
	[AgentGrantRole_VIEWER] = "VIEWER",
	[AgentGrantRole_EDITOR] = "EDITOR",
	NULL,
};
const struct words AgentGrantRole_words = {
	.list = AgentGrantRole_list,
	.doc = "The older names of roles on an agent; EDITOR is MANAGER.",
};

FIELDS(AgentRoleAssignmentCreate) = {
	FIELD(AgentRoleAssignmentCreate, role, .required = true, .words = &agent_role_words,
		.doc = "VIEWER reads, MANAGER works and edits, OWNER also transfers, deletes and "
		       "gives roles."),
};
SCHEMA(AgentRoleAssignmentCreate,
	.doc = "Gives a user a role on an agent, replacing the one they hold.");

FIELDS(AgentRoleAssignmentRead) = {
	FIELD(AgentRoleAssignmentRead, agent_id, .required = true, .id = true, .doc = "The agent."),
	FIELD(AgentRoleAssignmentRead, user_id, .required = true, .id = true,
		.doc = "Who holds the role."),
	FIELD(AgentRoleAssignmentRead, tenant_id, .required = true, .id = true,
		.doc = "The tenant of both."),
	FIELD(AgentRoleAssignmentRead, role, .required = true, .words = &agent_role_words,
		.doc = "What the user may do here."),
	FIELD(AgentRoleAssignmentRead, created_at, .required = true,
		.doc = "When the user first got a role on the agent."),
	FIELD(AgentRoleAssignmentRead, updated_at, .required = true,
		.doc = "When the role last changed."),
	FIELD(AgentRoleAssignmentRead, user_email, .nullable = true,
		.example = "\"ada@example.org\"", .doc = "The user's address."),
	FIELD(AgentRoleAssignmentRead, user_name, .nullable = true, .example = "\"Ada Example\"",
		.doc = "The user's name; null if none is known."),
};
SCHEMA(AgentRoleAssignmentRead, .doc = "A user's role on an agent.");

FIELDS(AgentRoleGroupGrantCreate) = {
	FIELD(AgentRoleGroupGrantCreate, role, .required = true, .words = &agent_role_words,
		.doc = "An agent role; tenant roles cannot be given to groups."),
};
SCHEMA(AgentRoleGroupGrantCreate, .doc = "Gives every member of a group a role on an agent.");

FIELDS(AgentRoleGroupGrantRead) = {
	FIELD(AgentRoleGroupGrantRead, agent_id, .required = true, .id = true, .doc = "The agent."),
	FIELD(AgentRoleGroupGrantRead, group_id, .required = true, .id = true,
		.doc = "The group whose members hold the role."),
	FIELD(AgentRoleGroupGrantRead, tenant_id, .required = true, .id = true,
		.doc = "The tenant of both."),
	FIELD(AgentRoleGroupGrantRead, role, .required = true, .words = &agent_role_words,
		.doc = "What members of the group may do here."),
	FIELD(AgentRoleGroupGrantRead, created_at, .required = true,
		.doc = "When the group first got a role on the agent."),
	FIELD(AgentRoleGroupGrantRead, updated_at, .required = true,
		.doc = "When the role last changed."),
	FIELD(AgentRoleGroupGrantRead, group_name, .nullable = true, .example = "\"Support\"",
		.doc = "The group's name."),
};
SCHEMA(AgentRoleGroupGrantRead, .doc = "A group's role on an agent.");

/* Lists of words by a name that is a tenant's. */
static const struct shape permission_grid_shape = {
	.json = "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}}"
};

FIELDS(AgentRolePermissionGrid) = {
	FIELD(AgentRolePermissionGrid, roles, .shape = &permission_grid_shape,
		.example = PERMISSION_GRID,
		.doc = "Role names, each with the list of what it allows."),
};
SCHEMA(AgentRolePermissionGrid, .doc = "What each role may do, in words for people.");

FIELDS(AgentDefaultRoleRead) = {
	FIELD(AgentDefaultRoleRead, agent_id, .required = true, .id = true, .doc = "The agent."),
	FIELD(AgentDefaultRoleRead, enabled, .required = true, .example = "true",
		.doc = "True: every MEMBER and GUEST of the tenant has a baseline here; false: "
		       "only named roles, OWNER, ADMIN and super administrators."),
};
SCHEMA(AgentDefaultRoleRead, .doc = "Whether the tenant at large reaches an agent.");

FIELDS(AgentDefaultRoleUpdate) = {
	FIELD(AgentDefaultRoleUpdate, enabled, .required = true, .example = "true",
		.doc = "Switches the baselines of MEMBER and GUEST together."),
};
SCHEMA(AgentDefaultRoleUpdate, .doc = "Opens an agent to the tenant at large, or closes it.");

FIELDS(AgentGrantRequest) = {
	FIELD(AgentGrantRequest, user_id, .required = true, .id = true,
		.doc = "Who receives access; a member of the agent's tenant."),
	FIELD(AgentGrantRequest, agent_id, .required = true, .id = true,
		.doc = "The agent to reach."),
	FIELD(AgentGrantRequest, role, .nullable = true, .words = &AgentGrantRole_words,
		.otherwise = "\"VIEWER\"",
		.doc = "EDITOR is the same as MANAGER; null means VIEWER."),
};
SCHEMA(AgentGrantRequest, .doc = "Gives a user access to an agent, by the older names.");

FIELDS(AgentUserGrant) = {
	FIELD(AgentUserGrant, user_id, .required = true, .id = true,
		.doc = "Who receives access; a member of the agent's tenant."),
	FIELD(AgentUserGrant, role, .preset = "\"VIEWER\"",
		.doc = "VIEWER or EDITOR, which is the same as MANAGER."),
};
SCHEMA(AgentUserGrant, .doc = "Gives a user access to the agent in the path.");

FIELDS(AgentUserGrantRead) = {
	FIELD(AgentUserGrantRead, agent_id, .required = true, .id = true, .doc = "The agent."),
	FIELD(AgentUserGrantRead, user_id, .required = true, .id = true, .doc = "Who has access."),
	FIELD(AgentUserGrantRead, role, .required = true, .example = "\"VIEWER\"",
		.doc = "VIEWER, EDITOR or OWNER: another view of the user's agent role."),
	FIELD(AgentUserGrantRead, created_at, .required = true, .doc = "When access was given."),
};
SCHEMA(AgentUserGrantRead, .doc = "A user's access to an agent, by the older names.");

FIELDS(AccessWay) = {
	FIELD(AccessWay, role, .required = true, .example = "\"MANAGER\"",
		.doc = "The role that counts on this way: on the agent, or in the tenant."),
	FIELD(AccessWay, through, .required = true, .example = "\"group\"",
		.doc = "user, group, default, tenant or super_admin."),
	FIELD(AccessWay, name, .required = true, .nullable = true, .example = "\"Support\"",
		.doc = "The group's name, where it is one."),
};
SCHEMA(AccessWay, .doc = "A way in which a user reaches an agent.");

FIELDS(AccessView) = {
	FIELD(AccessView, permissions, .required = true, .item = TEXT,
		.example = "[\"agent:read\"]", .doc = "What all the ways together allow."),
	FIELD(AccessView, ways, .required = true, .item = OBJECT, .of = &AccessWay_schema,
		.doc = "Each way, with what it rests on."),
};
SCHEMA(AccessView, .doc = "What a user may do on an agent, and why.");
