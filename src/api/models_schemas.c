/* models_schemas.c - the tables for models: the super administrator's settings, an agent's catalog
 * and its chain. */
#include "api/models.h"

static const char *const ModelStatus_list[] = {
	[ModelStatus_active] = "active",
	[ModelStatus_disabled] = "disabled",
	[ModelStatus_experimental] = "experimental",
	[ModelStatus_deprecated] = "deprecated",
	NULL,
};
const struct words ModelStatus_words = {
	.list = ModelStatus_list,
	.doc = "Only active and experimental models are listed in catalogs.",
};

static const char *const ModelAccess_list[] = {
	[ModelAccess_full] = "full",
	[ModelAccess_read_only] = "read_only",
	NULL,
};
const struct words ModelAccess_words = {
	.list = ModelAccess_list,
	.doc = "full may call the model; read_only shows it without calling it.",
};

FIELDS(AdminModelUpdate) = {
	FIELD(AdminModelUpdate, available_to_all_tenants, .nullable = true,
		.doc = "True opens the model to every tenant; false leaves only tenants it is "
		       "granted to."),
	FIELD(AdminModelUpdate, config, .nullable = true,
		.example = "{\"base_url\":\"https://models.example.org/v1\",\"model\":\"large-1\"}",
		.doc = "How to reach the model: base_url, model, api_key, timeout_s, "
		       "total_timeout_s, headers. The key is sealed and never read back."),
	FIELD(AdminModelUpdate, description, .nullable = true,
		.doc = "What the model is good for, for people choosing one."),
	FIELD(AdminModelUpdate, failover_chain, .nullable = true, .item = TEXT, .item_id = true,
		.doc = "Models to try in this order when this one fails."),
	FIELD(AdminModelUpdate, is_free, .nullable = true,
		.doc = "True for a model that needs no user-model grant."),
	FIELD(AdminModelUpdate, name, .nullable = true, BOUNDS(1, 128), .example = "\"Large One\"",
		.doc = "Shown to people."),
	FIELD(AdminModelUpdate, pricing, .nullable = true,
		.example = "{\"prompt\":\"0.000003\",\"completion\":\"0.000015\"}",
		.doc = "USD per token as decimal strings: prompt, completion, cache_read, "
		       "cache_write."),
	FIELD(AdminModelUpdate, status, .nullable = true, .words = &ModelStatus_words,
		.doc = "disabled stops all calls; deprecated still answers but leaves the "
		       "catalogs."),
};
SCHEMA(AdminModelUpdate, .partial = true,
	.doc = "Changes to a model, by a super administrator; null leaves a field that cannot "
	       "be empty as it is.");

FIELDS(AgentCatalogModel) = {
	FIELD(AgentCatalogModel, model_id, .need = true, .doc = "The model."),
	FIELD(AgentCatalogModel, name, .need = true, .example = "\"Large One\"",
		.doc = "Shown to people."),
	FIELD(AgentCatalogModel, kind, .need = true, .example = "\"anthropic\"",
		.doc = "What drives the model: a hosted provider, a local one, or a router."),
	FIELD(AgentCatalogModel, status, .need = true, .example = "\"active\"",
		.doc = "The model's own status, active or experimental."),
	FIELD(AgentCatalogModel, is_free, .need = true,
		.doc = "True when no user-model grant is needed."),
	FIELD(AgentCatalogModel, enabled, .need = true,
		.doc = "True when the agent holds a direct grant on this model."),
	FIELD(AgentCatalogModel, callable_via_router, .need = true,
		.doc = "True when the agent reaches the model through its router's grant."),
	FIELD(AgentCatalogModel, callable, .need = true,
		.doc = "True when a call by this agent, driven by you, would pass now; pickers go "
		       "by this."),
	FIELD(AgentCatalogModel, access, .nullable = true, .example = "\"full\"",
		.doc = "full or read_only: what the direct grant allows; null without one."),
	FIELD(AgentCatalogModel, priority, .nullable = true, .example = "0",
		.doc = "Place of the direct grant in the agent's chain, 0 first; null without one."),
	FIELD(AgentCatalogModel, slug, .nullable = true, .example = "\"large-1\"",
		.doc = "The provider's name for the model."),
	FIELD(AgentCatalogModel, description, .nullable = true,
		.doc = "What the model is good for."),
	FIELD(AgentCatalogModel, context_window, .nullable = true, .example = "200000",
		.doc = "The most tokens a call may hold, if known."),
	FIELD(AgentCatalogModel, prompt_price_usd_per_token, .nullable = true,
		.example = "\"0.000003\"", .doc = "Decimal text, exact; null if no price is set."),
	FIELD(AgentCatalogModel, completion_price_usd_per_token, .nullable = true,
		.example = "\"0.000015\"", .doc = "Decimal text, exact; null if no price is set."),
	FIELD(AgentCatalogModel, supports_tools, .nullable = true, .example = "true",
		.doc = "Whether the model can call tools; null if unknown."),
	FIELD(AgentCatalogModel, supports_vision, .nullable = true, .example = "false",
		.doc = "Whether the model can read images; null if unknown."),
	FIELD(AgentCatalogModel, uncallable_reason, .nullable = true, .example = "null",
		.doc = "Why a call would be refused; null when callable."),
	FIELD(AgentCatalogModel, user_granted, .nullable = true, .example = "true",
		.doc = "Whether you hold the user-model grant that driving this model takes; null "
		       "where no such grant applies."),
};
SCHEMA(AgentCatalogModel,
	.doc = "One chat model the tenant reaches, with what this agent and this user may do "
	       "with it.");

FIELDS(AgentCatalogToggle) = {
	FIELD(AgentCatalogToggle, model_id, .need = true, .doc = "The model switched on or off."),
	FIELD(AgentCatalogToggle, agent_id, .need = true, .doc = "The agent whose catalog it is."),
	FIELD(AgentCatalogToggle, enabled, .need = true,
		.doc = "True when the agent now holds a direct grant."),
};
SCHEMA(AgentCatalogToggle, .doc = "The state of a model in an agent's catalog after a change.");

FIELDS(AgentModelChainUpdate) = {
	FIELD(AgentModelChainUpdate, model_ids, .need = true, .distinct = true, BOUNDS(1, 5),
		.item = TEXT, .item_id = true,
		.doc = "In order of preference: the first is called, the next when it fails; no "
		       "model twice."),
};
SCHEMA(AgentModelChainUpdate, .doc = "An agent's whole chain of models, replacing the former one.");

FIELDS(AgentModelGrant) = {
	FIELD(AgentModelGrant, agent_id, .need = true, .id = true,
		.doc = "The agent that receives the grant."),
	FIELD(AgentModelGrant, access, .words = &ModelAccess_words, .otherwise = "\"full\"",
		.doc = "full may call the model; read_only only shows it in the catalog and in "
		       "sessions."),
	FIELD(AgentModelGrant, priority, BOUNDS(0, 4), .preset = "0",
		.doc = "Place in the agent's chain; 0 is called first."),
};
SCHEMA(AgentModelGrant, .doc = "Gives an agent the use of a model.");

FIELDS(AgentModelRead) = {
	FIELD(AgentModelRead, agent_id, .need = true, .id = true,
		.doc = "The agent that holds the grant."),
	FIELD(AgentModelRead, model_id, .need = true, .id = true, .doc = "The model granted."),
	FIELD(AgentModelRead, access, .need = true, .example = "\"full\"",
		.doc = "full or read_only."),
	FIELD(AgentModelRead, created_at, .need = true, .doc = "When the grant was made."),
	FIELD(AgentModelRead, priority, .preset = "0",
		.doc = "Place in the chain; 0 is called first."),
};
SCHEMA(AgentModelRead, .doc = "One link of an agent's chain of models.");

const struct schema *const models_schemas[] = {
	&AdminModelUpdate_schema,
	&AgentCatalogModel_schema,
	&AgentCatalogToggle_schema,
	&AgentModelChainUpdate_schema,
	&AgentModelGrant_schema,
	&AgentModelRead_schema,
	NULL,
};
