/* skills.h - skills: what one is made of, and what an agent has and may do with them. */
#pragma once
#include "contract/schema.h"

/* What a skill may hold; docs/skills.md names the same. */
enum {
	SKILL_FILE_MAX = 1024 * 1024,	     /* bytes of one file */
	SKILL_FILES_BYTES = 4 * 1024 * 1024, /* of all files together */
	SKILL_FILES_MAX = 200,
	SKILL_PATH_MAX = 180, /* bytes of a file's path */
	SKILL_METADATA_MAX = 8 * 1024,
	SKILL_TOOLS_MAX = 64,
	SKILL_TOOL_MAX = 128, /* characters of one allowed tool */
	SKILL_KEY_MAX = 128,  /* characters of a key of the metadata */
};

enum SkillVisibility { SkillVisibility_private, SkillVisibility_tenant, SkillVisibility_public };
extern const struct words SkillVisibility_words;

struct SkillFile {
	const char *path;
	int64_t size_bytes;
	const char *sha256;
};
SCHEMA_DECLARED(SkillFile);

struct SkillCreate {
	const char *name, *slug, *description;
	int visibility;
	const char *instructions, *license, *compatibility;
	struct json metadata;
	struct list allowed_tools;
	const char *created_by_agent_id;
};
SCHEMA_DECLARED(SkillCreate);

struct SkillUpdate {
	uint64_t present;
	const char *name, *slug, *description;
	int visibility;
	const char *instructions, *license, *compatibility;
	struct json metadata;
	struct list allowed_tools;
};
SCHEMA_DECLARED(SkillUpdate);

struct SkillRead {
	const char *id, *tenant_id, *name, *slug, *description;
	int visibility;
	const char *instructions, *license, *compatibility;
	struct json metadata;
	struct list allowed_tools, files;
	bool is_seed;
	const char *created_by_id, *created_by_agent_id;
	struct moment created_at, updated_at;
};
SCHEMA_DECLARED(SkillRead);

/* As SkillRead, but for the instructions: a page of those could be very long. */
struct SkillListRead {
	const char *id, *tenant_id, *name, *slug, *description;
	int visibility;
	const char *license, *compatibility;
	struct json metadata;
	struct list allowed_tools, files;
	bool is_seed;
	const char *created_by_id, *created_by_agent_id;
	struct moment created_at, updated_at;
};
SCHEMA_DECLARED(SkillListRead);

struct AgentSkillUpdate {
	uint64_t present;
	bool is_enabled;
};
SCHEMA_DECLARED(AgentSkillUpdate);

struct AgentSkillVersion {
	const char *agent_id, *skill_id;
	bool is_pinned;
	const char *digest, *latest_digest;
	bool update_available;
};
SCHEMA_DECLARED(AgentSkillVersion);

struct AgentSkillVersionUpdate {
	const char *digest;
};
SCHEMA_DECLARED(AgentSkillVersionUpdate);

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
