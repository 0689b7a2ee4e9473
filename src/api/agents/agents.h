/* agents.h - agents: what one is made of, and what changes it as a whole. */
#pragma once
#include "access/permission.h"
#include "contract/route.h"

enum AgentKind {
	AgentKind_user,
	AgentKind_coding,
	AgentKind_analyst,
	AgentKind_dba,
	AgentKind_schroeder
};
extern const struct words AgentKind_words;

enum EnvironmentMode { EnvironmentMode_shared, EnvironmentMode_isolated };
extern const struct words EnvironmentMode_words;

struct AgentCreate {
	const char *name, *slug;
	int kind, environment_mode;
	bool can_author_skills, hidden, is_admin_only;
	const char *resource_class, *description, *description_prompt, *initial_greeting,
		*image_ref;
	int64_t iteration_warn_threshold;
	const char *voice;
};
SCHEMA_DECLARED(AgentCreate);

struct AgentUpdate {
	uint64_t present;
	const char *name, *description, *description_prompt, *bootstrap_instructions,
		*initial_greeting;
	tri can_author_skills, editor_enabled;
	int environment_mode;
	tri external_mail_enabled, hidden;
	const char *image_ref;
	tri is_active, is_admin_only;
	int64_t iteration_warn_threshold;
	const char *resource_class, *ssh_public_key, *voice;
};
SCHEMA_DECLARED(AgentUpdate);

struct AgentRead {
	const char *id, *tenant_id, *name, *slug, *resource_class, *code_ref, *description,
		*initial_greeting, *image_ref, *repo_url;
	bool is_active, is_admin_only, is_seed, can_author_skills;
	struct moment created_at, updated_at;
	const char *avatar_sha256, *bootstrap_instructions, *created_by_agent_id, *created_by_id,
		*description_prompt;
	bool editor_enabled;
	int environment_mode;
	bool external_mail_enabled, hidden;
	int64_t iteration_warn_threshold;
	bool plan_read_only;
	int skill_visibility_scope;
	const char *ssh_public_key, *voice;
	bool meeting_managed;
};
SCHEMA_DECLARED(AgentRead);

struct AgentListRead {
	const char *id, *tenant_id, *name, *slug, *resource_class, *code_ref, *description,
		*initial_greeting, *image_ref, *repo_url;
	bool is_active, is_admin_only, is_seed, can_author_skills;
	struct moment created_at, updated_at;
	const char *created_by_agent_id, *created_by_id;
	bool editor_enabled, hidden, is_favorite, plan_read_only;
	const char *voice;
	bool meeting_managed;
};
SCHEMA_DECLARED(AgentListRead);

struct AgentClone {
	const char *name;
};
SCHEMA_DECLARED(AgentClone);

/* An agent's own settings as a bundle carries them: no id, no secret, and its long texts apart. */
struct AgentBundleSettings {
	const char *name, *slug;
	int kind, environment_mode, skill_visibility_scope;
	bool can_author_skills, hidden, is_admin_only, is_active, editor_enabled,
		external_mail_enabled, default_role_enabled;
	const char *resource_class, *description, *initial_greeting, *image_ref, *voice;
	int64_t iteration_warn_threshold;
	struct money hourly_limit_usd;
	struct moment created_at;
};
SCHEMA_DECLARED(AgentBundleSettings);

struct AgentCodeRefUpdate {
	const char *code_ref;
};
SCHEMA_DECLARED(AgentCodeRefUpdate);

struct AgentOwnershipTransfer {
	const char *new_owner_id;
};
SCHEMA_DECLARED(AgentOwnershipTransfer);

struct AgentCanAuthorSkillsUpdate {
	bool can_author_skills;
};
SCHEMA_DECLARED(AgentCanAuthorSkillsUpdate);

struct AgentFavoriteRead {
	const char *user_id, *agent_id;
};
SCHEMA_DECLARED(AgentFavoriteRead);

struct call;
/* Fills the reply, an AgentRead, with the agent of the path. */
int agent_show(struct call *c, struct AgentRead *out);
/* Deletes the agent of the path. */
int agent_remove(struct call *c);
/* is_admin_only is set or taken back by those who hold agent:roles:write; ERR_FORBIDDEN. */
int agent_shut_permit(struct call *c, permissions held);
