/* models.h - models: the super administrator's settings, an agent's catalog and its chain. */
#pragma once
#include "broker/model.h"
#include "contract/schema.h"

struct AdminModelUpdate {
	uint64_t present;
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

/* How to reach a model.  Taken and shown by the same table: what is secret is never shown. */
struct ModelConfig {
	uint64_t present;
	const char *base_url, *model, *api_key;
	tri api_key_set;
	int64_t timeout_s, total_timeout_s, max_tokens;
	struct json headers;
	struct list endpoints; /* of ModelEndpoint */
};
SCHEMA_DECLARED(ModelConfig);

struct ModelRead {
	const char *id, *name, *slug;
	int kind, status;
	const char *description;
	int64_t context_window;
	bool supports_tools, supports_vision, is_free, available_to_all_tenants;
	struct json pricing;
	struct ModelConfig *config;
	struct list failover_chain;
	struct moment created_at, updated_at;
};
SCHEMA_DECLARED(ModelRead);

struct ModelCreate {
	const char *name, *slug;
	int kind, status;
	const char *description;
	int64_t context_window;
	tri supports_tools, supports_vision, is_free, available_to_all_tenants;
	struct json pricing;
	struct ModelConfig *config;
	struct list failover_chain;
};
SCHEMA_DECLARED(ModelCreate);

struct ModelTenantRead {
	const char *model_id, *tenant_id;
	struct moment created_at;
};
SCHEMA_DECLARED(ModelTenantRead);

struct TenantModel {
	const char *id, *name, *slug;
	int kind, status;
	const char *description;
	int64_t context_window;
	bool supports_tools, supports_vision, is_free;
	struct json pricing;
	struct moment created_at;
};
SCHEMA_DECLARED(TenantModel);

struct UserModelGrantRead {
	const char *model_id, *user_id, *granted_by_id;
	struct moment created_at;
};
SCHEMA_DECLARED(UserModelGrantRead);
