/* agent_extras.h - what surrounds an agent: repository, budget, picture, chat limits, import,
 * provenance. */
#pragma once
#include "broker/chat_config.h"
#include "contract/route.h"

struct AgentRepoRefs {
	struct list branches, tags;
	bool complete;
};
SCHEMA_DECLARED(AgentRepoRefs);

struct AgentBudgetRead {
	struct money hourly_limit_usd;
};
SCHEMA_DECLARED(AgentBudgetRead);

struct AgentBudgetUpdate {
	uint64_t present;
	struct money hourly_limit_usd;
};
SCHEMA_DECLARED(AgentBudgetUpdate);

struct AgentAvatarRead {
	const char *agent_id;
	bool has_avatar, repohost_synced;
	const char *avatar_sha256;
	int64_t avatar_size_bytes;
	struct moment avatar_updated_at;
};
SCHEMA_DECLARED(AgentAvatarRead);

struct AgentIntegrationRead {
	const char *provider, *label;
	bool connected;
};
SCHEMA_DECLARED(AgentIntegrationRead);

struct AgentImageRepoRead {
	const char *agent_id, *agent_slug, *repo_url;
};
SCHEMA_DECLARED(AgentImageRepoRead);

struct AgentImportFromBucketRequest {
	const char *storage_uri, *name;
};
SCHEMA_DECLARED(AgentImportFromBucketRequest);

struct AgentImportResult {
	const char *agent_id, *agent_slug, *agent_name, *source_platform;
	bool idempotent_reuse;
	int64_t memories_imported, memories_failed, messages_imported, sessions_imported,
		skills_imported, skills_failed;
	bool model_fallback_used;
	const char *model_slug_requested, *model_slug_resolved, *model_warning;
	struct list tools_attached, tools_unmatched, warnings;
};
SCHEMA_DECLARED(AgentImportResult);

struct AgentPromptCommitRead {
	const char *id, *short_id, *title, *author_email, *author_name, *committed_at, *web_url;
};
SCHEMA_DECLARED(AgentPromptCommitRead);

struct AgentPromptFileProvenanceRead {
	const char *file, *field;
	bool repo_present, diverged, pending_projection;
	struct list commits;
};
SCHEMA_DECLARED(AgentPromptFileProvenanceRead);

struct AgentPromptProvenanceRead {
	bool available;
	struct list files;
	const char *repo_web_url, *unavailable_reason;
};
SCHEMA_DECLARED(AgentPromptProvenanceRead);

struct AgentChatConfigRead {
	int64_t chat_rph_limit, chat_rpm_limit;
	struct list working_hours_days;
	bool working_hours_enabled;
	const char *working_hours_start, *working_hours_end, *working_hours_tz;
};
SCHEMA_DECLARED(AgentChatConfigRead);

struct AgentChatConfigUpdate {
	uint64_t present;
	int64_t chat_rph_limit, chat_rpm_limit;
	struct list working_hours_days;
	tri working_hours_enabled;
	const char *working_hours_start, *working_hours_end, *working_hours_tz;
};
SCHEMA_DECLARED(AgentChatConfigUpdate);

/* Those whose operations are still to come. */
