/* skills_schemas.c - the tables for skills of an agent: grants, configuration, permissions. */
#include "api/skills.h"

static const char *const SkillScope_list[] = {
	[SkillScope_private_only] = "private_only",
	[SkillScope_tenant_allowed] = "tenant_allowed",
	NULL,
};
const struct words SkillScope_words = {
	.list = SkillScope_list,
	.doc = "private_only: the agent writes only private skills; tenant_allowed: also public "
	       "ones.",
};

FIELDS(AgentSkillGrant) = {
	FIELD(AgentSkillGrant, skill_id, .need = true, .id = true,
		.doc = "A skill the tenant can see."),
	FIELD(AgentSkillGrant, is_enabled, .preset = "true",
		.doc = "False keeps the grant but leaves the skill unused."),
};
SCHEMA(AgentSkillGrant, .doc = "Gives a skill to an agent.");

FIELDS(AgentSkillRead) = {
	FIELD(AgentSkillRead, agent_id, .need = true, .id = true, .doc = "The agent."),
	FIELD(AgentSkillRead, skill_id, .need = true, .id = true, .doc = "The skill."),
	FIELD(AgentSkillRead, is_enabled, .need = true, .example = "true",
		.doc = "False while the skill is kept but unused."),
	FIELD(AgentSkillRead, created_at, .need = true, .doc = "When the skill was given."),
	FIELD(AgentSkillRead, has_config, .preset = "false",
		.doc = "True when a configuration is stored for this agent and skill."),
};
SCHEMA(AgentSkillRead, .doc = "A skill that an agent has.");

FIELDS(AgentSkillConfigUpdate) = {
	FIELD(AgentSkillConfigUpdate, config, .nullable = true, .example = "{\"region\":\"eu\"}",
		.doc = "The whole configuration, sealed before it is stored; null or absent "
		       "clears it."),
};
SCHEMA(AgentSkillConfigUpdate,
	.doc = "An agent's configuration of a skill, replacing the former one.");

FIELDS(AgentSkillConfigRead) = {
	FIELD(AgentSkillConfigRead, agent_id, .need = true, .id = true, .doc = "The agent."),
	FIELD(AgentSkillConfigRead, skill_id, .need = true, .id = true, .doc = "The skill."),
	FIELD(AgentSkillConfigRead, config, .nullable = true, .example = "{\"region\":\"eu\"}",
		.doc = "As it was last set; null if none is. Reading it takes the permission to "
		       "write it."),
};
SCHEMA(AgentSkillConfigRead, .doc = "An agent's configuration of a skill, opened.");

FIELDS(AgentSkillPermissionEntry) = {
	FIELD(AgentSkillPermissionEntry, skill_id, .need = true, .id = true, .doc = "The skill."),
	FIELD(AgentSkillPermissionEntry, action, .preset = "\"use\"",
		.doc = "What is allowed or not; use is the only action there is."),
	FIELD(AgentSkillPermissionEntry, allowed, .preset = "true",
		.doc = "False forbids the action."),
};
SCHEMA(AgentSkillPermissionEntry, .doc = "Whether an agent may do something with a skill.");

FIELDS(AgentSkillPermissionUpdate) = {
	FIELD(AgentSkillPermissionUpdate, permissions, .need = true, .item = OBJECT,
		.of = &AgentSkillPermissionEntry_schema,
		.doc = "Every permission the agent shall have; rows not listed are removed."),
};
SCHEMA(AgentSkillPermissionUpdate,
	.doc = "An agent's permissions on skills, replacing all former ones.");

FIELDS(AgentSkillPermissionRead) = {
	FIELD(AgentSkillPermissionRead, agent_id, .need = true, .id = true, .doc = "The agent."),
	FIELD(AgentSkillPermissionRead, skill_id, .need = true, .id = true, .doc = "The skill."),
	FIELD(AgentSkillPermissionRead, action, .need = true, .example = "\"use\"",
		.doc = "What is allowed or not."),
	FIELD(AgentSkillPermissionRead, allowed, .need = true, .example = "true",
		.doc = "False forbids the action."),
	FIELD(AgentSkillPermissionRead, created_at, .need = true,
		.doc = "When the permission was set."),
};
SCHEMA(AgentSkillPermissionRead, .doc = "One permission of an agent on a skill.");

FIELDS(AgentSkillVisibilityScopeUpdate) = {
	FIELD(AgentSkillVisibilityScopeUpdate, skill_visibility_scope, .need = true,
		.words = &SkillScope_words,
		.doc = "private_only: only private skills; tenant_allowed: also public ones."),
};
SCHEMA(AgentSkillVisibilityScopeUpdate, .doc = "How far the skills an agent writes may be seen.");

const struct schema *const skills_schemas[] = {
	&AgentSkillGrant_schema,
	&AgentSkillRead_schema,
	&AgentSkillConfigUpdate_schema,
	&AgentSkillConfigRead_schema,
	&AgentSkillPermissionEntry_schema,
	&AgentSkillPermissionUpdate_schema,
	&AgentSkillPermissionRead_schema,
	&AgentSkillVisibilityScopeUpdate_schema,
	NULL,
};
