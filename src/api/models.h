/* models.h - models: the super administrator's settings, an agent's catalog and its chain. */
#pragma once
#include "contract/schema.h"

enum ModelStatus {
	ModelStatus_active,
	ModelStatus_disabled,
	ModelStatus_experimental,
	ModelStatus_deprecated
};
extern const struct words ModelStatus_words;

enum ModelAccess { ModelAccess_full, ModelAccess_read_only };
extern const struct words ModelAccess_words;

struct AdminModelUpdate {
	uint64_t got;
	tri available_to_all_tenants;
	struct json config;
	const char *description;
	struct list failover_chain;
	tri is_free;
	const char *name;
	struct json pricing;
	int status;
};
SCHEMA_DECLARED(AdminModelUpdate);

struct AgentCatalogModel {
	const char *model_id, *name, *kind, *status;
	bool is_free, enabled, callable_via_router, callable;
	const char *access;
	int64_t priority;
	const char *slug, *description;
	int64_t context_window;
	const char *prompt_price_usd_per_token, *completion_price_usd_per_token;
	tri supports_tools, supports_vision;
	const char *uncallable_reason;
	tri user_granted;
};
SCHEMA_DECLARED(AgentCatalogModel);

struct AgentCatalogToggle {
	const char *model_id, *agent_id;
	bool enabled;
};
SCHEMA_DECLARED(AgentCatalogToggle);

struct AgentModelChainUpdate {
	struct list model_ids;
};
SCHEMA_DECLARED(AgentModelChainUpdate);

struct AgentModelGrant {
	const char *agent_id;
	int access;
	int64_t priority;
};
SCHEMA_DECLARED(AgentModelGrant);

struct AgentModelRead {
	const char *agent_id, *model_id, *access;
	struct moment created_at;
	int64_t priority;
};
SCHEMA_DECLARED(AgentModelRead);

/* NULL-terminated: all of the above. */
extern const struct schema *const models_schemas[];
