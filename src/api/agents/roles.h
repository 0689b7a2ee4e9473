/* roles.h - roles on an agent: held by users, by groups, by default. */
#pragma once
#include "contract/schema.h"

enum AgentGrantRole { AgentGrantRole_VIEWER, AgentGrantRole_EDITOR };
extern const struct words AgentGrantRole_words;

struct AgentRoleAssignmentCreate {
	int role;
};
SCHEMA_DECLARED(AgentRoleAssignmentCreate);

struct AgentRoleAssignmentRead {
	const char *agent_id, *user_id, *tenant_id;
	int role;
	struct moment created_at, updated_at;
	const char *user_email, *user_name;
};
SCHEMA_DECLARED(AgentRoleAssignmentRead);

struct AgentRoleGroupGrantCreate {
	int role;
};
SCHEMA_DECLARED(AgentRoleGroupGrantCreate);

struct AgentRoleGroupGrantRead {
	const char *agent_id, *group_id, *tenant_id;
	int role;
	struct moment created_at, updated_at;
	const char *group_name;
};
SCHEMA_DECLARED(AgentRoleGroupGrantRead);

struct AgentRolePermissionGrid {
	struct json roles;
};
SCHEMA_DECLARED(AgentRolePermissionGrid);

struct AgentDefaultRoleRead {
	const char *agent_id;
	bool enabled;
};
SCHEMA_DECLARED(AgentDefaultRoleRead);

struct AgentDefaultRoleUpdate {
	bool enabled;
};
SCHEMA_DECLARED(AgentDefaultRoleUpdate);

struct AgentGrantRequest {
	const char *user_id, *agent_id;
	int role;
};
SCHEMA_DECLARED(AgentGrantRequest);

struct AgentUserGrant {
	const char *user_id, *role;
};
SCHEMA_DECLARED(AgentUserGrant);

struct AgentUserGrantRead {
	const char *agent_id, *user_id, *role;
	struct moment created_at;
};
SCHEMA_DECLARED(AgentUserGrantRead);

struct AccessWay {
	const char *role, *through, *name;
};
SCHEMA_DECLARED(AccessWay);

struct AccessView {
	struct list permissions, ways;
};
SCHEMA_DECLARED(AccessView);

struct call;
/* Whether the user is a member of the caller's tenant: 1 or 0. */
int agent_holder_known(struct call *c, const char *user_id, int64_t *ret);
