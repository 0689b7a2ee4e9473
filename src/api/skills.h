/* skills.h - skills of an agent: grants, configuration, permissions. */
#pragma once
#include "contract/schema.h"

enum SkillScope { SkillScope_private_only, SkillScope_tenant_allowed };
extern const struct words SkillScope_words;

struct AgentSkillGrant {
	const char *skill_id;
	bool is_enabled;
};
SCHEMA_DECLARED(AgentSkillGrant);

struct AgentSkillRead {
	const char *agent_id, *skill_id;
	bool is_enabled;
	struct moment created_at;
	bool has_config;
};
SCHEMA_DECLARED(AgentSkillRead);

struct AgentSkillConfigUpdate {
	struct json config;
};
SCHEMA_DECLARED(AgentSkillConfigUpdate);

struct AgentSkillConfigRead {
	const char *agent_id, *skill_id;
	struct json config;
};
SCHEMA_DECLARED(AgentSkillConfigRead);

struct AgentSkillPermissionEntry {
	const char *skill_id, *action;
	bool allowed;
};
SCHEMA_DECLARED(AgentSkillPermissionEntry);

struct AgentSkillPermissionUpdate {
	struct list permissions;
};
SCHEMA_DECLARED(AgentSkillPermissionUpdate);

struct AgentSkillPermissionRead {
	const char *agent_id, *skill_id, *action;
	bool allowed;
	struct moment created_at;
};
SCHEMA_DECLARED(AgentSkillPermissionRead);

struct AgentSkillVisibilityScopeUpdate {
	int skill_visibility_scope;
};
SCHEMA_DECLARED(AgentSkillVisibilityScopeUpdate);

/* NULL-terminated: all of the above. */
extern const struct schema *const skills_schemas[];
