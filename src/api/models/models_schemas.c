/* models_schemas.c - the tables for models: the super administrator's settings, an agent's catalog
 * and its chain. */
#include "api/models/models.h"
#include "contract/shape.h"

#define MODEL_SLUG                                                                                 \
	.pattern = "^(?!agent:)[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,127}$",                             \
	.rule = "may have letters A to Z, digits and . _ : / @ + - only, begins with a letter or " \
		"digit, and not with agent:"
#define PRICING_EXAMPLE "{\"prompt\":\"0.000003\",\"completion\":\"0.000015\"}"

enum { CHAIN_MAX = 16 };

#define PRICE(name, words) \
	TOLD(TEXT, name, .nullable = true, .example = "\"0.000003\"", .doc = words)

FIELDS(ModelPricing) = {
	PRICE(prompt, "A token that is read."),
	PRICE(completion, "A token that is written."),
	PRICE(cache_read, "A token that is read from the provider's cache."),
	PRICE(cache_write, "A token that is written into it."),
	PRICE(character, "A character that is spoken."),
	PRICE(second, "A second of sound that is written down."),
};
static TOLD_SCHEMA(ModelPricing, .doc = "USD per token, character and second, as decimal strings.");

FIELDS(AdminModelUpdate) = {
	FIELD(AdminModelUpdate, available_to_all_tenants, .nullable = true,
		.doc = "True opens the model to every tenant; false leaves only tenants it is "
		       "granted to."),
	FIELD(AdminModelUpdate, config, .of = &ModelConfig_schema, .nullable = true,
		.example = "{\"base_url\":\"https://models.example.org/v1\",\"model\":\"large-1\"}",
		.doc = "How to reach the model, as ModelConfig: it replaces what stood, except that an "
		       "api_key left out, and a header whose value is null, stay as they are. The "
		       "key and the values of headers are sealed and never read back."),
	FIELD(AdminModelUpdate, description, .nullable = true,
		.doc = "What the model is good for, for people choosing one."),
	FIELD(AdminModelUpdate, failover_chain, .nullable = true, .item = TEXT, .item_id = true,
		.distinct = true, .ceiling = CHAIN_MAX,
		.doc = "Models to try in this order when this one fails; none twice, and none that "
		       "leads back here. An empty list clears it."),
	FIELD(AdminModelUpdate, is_free, .label = "Free", .nullable = true,
		.doc = "True for a model that needs no user-model grant."),
	FIELD(AdminModelUpdate, name, .nullable = true, BOUNDS(1, 128), .example = "\"Large One\"",
		.doc = "Shown to people."),
	FIELD(AdminModelUpdate, pricing, .of = &ModelPricing_schema, .nullable = true,
		.example = PRICING_EXAMPLE,
		.doc = "USD per token as decimal strings: prompt, completion, cache_read, "
		       "cache_write; character, of speech; second, of sound written down. It replaces what stood; a price left out is not set."),
	FIELD(AdminModelUpdate, status, .nullable = true, .words = &ModelStatus_words,
		.doc = "disabled stops all calls; deprecated still answers but leaves the "
		       "catalogs."),
};
SCHEMA(AdminModelUpdate, .partial = true,
	.doc = "Changes to a model, by a super administrator; null leaves a field that cannot "
	       "be empty as it is.");

FIELDS(AgentCatalogModel) = {
	FIELD(AgentCatalogModel, model_id, .required = true, .doc = "The model."),
	FIELD(AgentCatalogModel, name, .required = true, .example = "\"Large One\"",
		.doc = "Shown to people."),
	FIELD(AgentCatalogModel, kind, .required = true, .example = "\"anthropic\"",
		.doc = "What drives the model: a hosted provider, a local one, or a router."),
	FIELD(AgentCatalogModel, status, .required = true, .example = "\"active\"",
		.doc = "The model's own status, active or experimental."),
	FIELD(AgentCatalogModel, is_free, .required = true,
		.doc = "True when no user-model grant is needed."),
	FIELD(AgentCatalogModel, enabled, .required = true,
		.doc = "True when the agent holds a direct grant on this model."),
	FIELD(AgentCatalogModel, callable_via_router, .required = true,
		.doc = "True when the agent reaches the model through its router's grant."),
	FIELD(AgentCatalogModel, callable, .required = true,
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
	FIELD(AgentCatalogToggle, model_id, .required = true,
		.doc = "The model switched on or off."),
	FIELD(AgentCatalogToggle, agent_id, .required = true,
		.doc = "The agent whose catalog it is."),
	FIELD(AgentCatalogToggle, enabled, .required = true,
		.doc = "True when the agent now holds a direct grant."),
};
SCHEMA(AgentCatalogToggle, .doc = "The state of a model in an agent's catalog after a change.");

FIELDS(AgentModelChainUpdate) = {
	FIELD(AgentModelChainUpdate, model_ids, .required = true, .distinct = true, BOUNDS(1, 5),
		.item = TEXT, .item_id = true,
		.doc = "In order of preference: the first is called, the next when it fails; no "
		       "model twice."),
};
SCHEMA(AgentModelChainUpdate, .doc = "An agent's whole chain of models, replacing the former one.");

FIELDS(AgentModelGrant) = {
	FIELD(AgentModelGrant, agent_id, .required = true, .id = true,
		.doc = "The agent that receives the grant."),
	FIELD(AgentModelGrant, access, .words = &ModelAccess_words, .otherwise = "\"full\"",
		.doc = "full may call the model; read_only only shows it in the catalog and in "
		       "sessions."),
	FIELD(AgentModelGrant, priority, BOUNDS(0, 4), .preset = "0",
		.doc = "Place in the agent's chain; 0 is called first."),
};
SCHEMA(AgentModelGrant, .doc = "Gives an agent the use of a model.");

FIELDS(AgentModelRead) = {
	FIELD(AgentModelRead, agent_id, .required = true, .id = true,
		.doc = "The agent that holds the grant."),
	FIELD(AgentModelRead, model_id, .required = true, .id = true, .doc = "The model granted."),
	FIELD(AgentModelRead, access, .required = true, .example = "\"full\"",
		.doc = "full or read_only."),
	FIELD(AgentModelRead, created_at, .required = true, .doc = "When the grant was made."),
	FIELD(AgentModelRead, priority, .preset = "0",
		.doc = "Place in the chain; 0 is called first."),
};
SCHEMA(AgentModelRead, .doc = "One link of an agent's chain of models.");

FIELDS(ModelConfig) = {
	FIELD(ModelConfig, base_url, .nullable = true, BOUNDS(1, 2048),
		.example = "\"https://models.example.org/v1\"",
		.doc = "Where the provider's API begins, without a query: https, or http too where the "
		       "setting allow_private_addresses is on."),
	FIELD(ModelConfig, model, .nullable = true, BOUNDS(1, 256), .example = "\"large-1\"",
		.doc = "The provider's own name for the model."),
	FIELD(ModelConfig, api_key, .nullable = true, .secret = true, BOUNDS(1, 4096),
		.pattern = "^[\\x21-\\x7e]+$",
		.rule = "may have no blanks, and plain letters and signs only",
		.example = "\"key-of-the-provider\"",
		.doc = "The provider's key, sealed and never shown. In a change, left out keeps the "
		       "stored one and null clears it."),
	FIELD(ModelConfig, api_key_set, .nullable = true, .example = "true",
		.doc = "Shown only: whether a key is stored. It is ignored when sent, so that what "
		       "was read can be sent back."),
	FIELD(ModelConfig, timeout_s, .label = "Longest silence", .unit = "seconds", .preset = "60",
		BOUNDS(1, 3600), .doc = "The longest silence of the provider, in seconds."),
	FIELD(ModelConfig, total_timeout_s, .label = "Longest call", .unit = "seconds",
		.preset = "600", BOUNDS(1, 86400),
		.doc = "The longest that a call may take, in seconds."),
	FIELD(ModelConfig, max_tokens, .nullable = true, BOUNDS(1, 10000000), .example = "8192",
		.doc = "The most tokens one call may write; null leaves it to the provider."),
	FIELD(ModelConfig, headers, .shape = &pairs_or_null_shape, .nullable = true,
		.example = "{\"X-Project\":\"lodge\"}",
		.doc = "Further headers of each call, by name. Values are sealed and shown as null; "
		       "in a change a value of null keeps the stored one, and a header left out "
		       "goes."),
	FIELD(ModelConfig, endpoints, .nullable = true, .item = CHOICE, .distinct = true,
		.words = &ModelEndpoint_words, BOUNDS(1, 4), .example = "[\"chat\"]",
		.doc = "What the model can be asked for; chat unless said. The others are for models of "
		       "the kind openai."),
};
SCHEMA(ModelConfig, .partial = true,
	.doc = "How to reach a model. Only openai, openai_responses and anthropic have one, and need "
	       "base_url and model.");

FIELDS(ModelRead) = {
	FIELD(ModelRead, id, .required = true, .id = true, .doc = "The model."),
	FIELD(ModelRead, name, .required = true, .example = "\"Large One\"",
		.doc = "Shown to people."),
	FIELD(ModelRead, slug, .required = true, .example = "\"large-1\"",
		.doc = "Names the model in requests; unique."),
	FIELD(ModelRead, kind, .required = true, .words = &ModelKind_words,
		.doc = "What drives the model."),
	FIELD(ModelRead, status, .required = true, .words = &ModelStatus_words,
		.doc = "disabled stops all calls; deprecated still answers but leaves the "
		       "catalogs."),
	FIELD(ModelRead, description, .required = true, .nullable = true,
		.doc = "What the model is good for."),
	FIELD(ModelRead, context_window, .required = true, .nullable = true, .example = "200000",
		.doc = "The most tokens a call may hold; null if unknown."),
	FIELD(ModelRead, supports_tools, .required = true, .example = "true",
		.doc = "Whether the model can call tools."),
	FIELD(ModelRead, supports_vision, .required = true, .example = "false",
		.doc = "Whether the model can read images."),
	FIELD(ModelRead, is_free, .required = true, .example = "false",
		.doc = "True when no user-model grant is needed."),
	FIELD(ModelRead, available_to_all_tenants, .required = true, .example = "true",
		.doc = "False leaves only tenants it is granted to."),
	FIELD(ModelRead, pricing, .of = &ModelPricing_schema, .required = true, .computed = true,
		.example = PRICING_EXAMPLE,
		.doc = "USD per token as decimal strings: prompt, completion, cache_read, "
		       "cache_write; character, of speech; second, of sound written down; null where none is "
		       "set."),
	FIELD(ModelRead, config, .required = true, .nullable = true, .computed = true,
		.of = &ModelConfig_schema,
		.doc = "How to reach the model; null while nothing is set."),
	FIELD(ModelRead, failover_chain, .required = true, .item = TEXT, .item_id = true,
		.doc = "Models to try in this order when this one fails."),
	FIELD(ModelRead, created_at, .required = true, .doc = "When the model was entered."),
	FIELD(ModelRead, updated_at, .required = true, .doc = "When it last changed."),
};
SCHEMA(ModelRead, .doc = "A model as super administrators see it.");

FIELDS(ModelCreate) = {
	FIELD(ModelCreate, name, .required = true, BOUNDS(1, 128), .example = "\"Large One\"",
		.doc = "Shown to people."),
	FIELD(ModelCreate, slug, .required = true, MODEL_SLUG, BOUNDS(1, 128),
		.example = "\"large-1\"",
		.doc = "Names the model in requests; unique in the whole service. It may not begin "
		       "with agent:, which names agents."),
	FIELD(ModelCreate, kind, .required = true, .words = &ModelKind_words,
		.doc = "What drives the model; it stays."),
	FIELD(ModelCreate, status, .words = &ModelStatus_words, .otherwise = "\"active\"",
		.doc = "Whether it may be called, and is shown in catalogs."),
	FIELD(ModelCreate, description, .nullable = true, .doc = "What the model is good for."),
	FIELD(ModelCreate, context_window, .nullable = true, BOUNDS(1, 1000000000),
		.example = "200000", .doc = "The most tokens a call may hold."),
	FIELD(ModelCreate, supports_tools, .nullable = true, .example = "true",
		.doc = "Whether the model can call tools; false unless said. One that cannot is not "
		       "offered an agent's tools, and is passed over for requests that bring their own."),
	FIELD(ModelCreate, supports_vision, .nullable = true, .example = "false",
		.doc = "Whether the model can read images; false unless said. One that cannot is passed "
		       "over for requests with images."),
	FIELD(ModelCreate, is_free, .label = "Free", .nullable = true, .example = "false",
		.doc = "True for a model that needs no user-model grant; false unless said."),
	FIELD(ModelCreate, available_to_all_tenants, .nullable = true, .example = "true",
		.doc = "True opens the model to every tenant; false unless said."),
	FIELD(ModelCreate, pricing, .of = &ModelPricing_schema, .nullable = true,
		.example = PRICING_EXAMPLE,
		.doc = "USD per token as decimal strings: prompt, completion, cache_read, "
		       "cache_write; character, of speech; second, of sound written down; each may be left "
		       "out."),
	FIELD(ModelCreate, config, .nullable = true, .of = &ModelConfig_schema,
		.doc = "How to reach the model; needed for openai, openai_responses and anthropic, "
		       "refused for demo and router."),
	FIELD(ModelCreate, failover_chain, .nullable = true, .item = TEXT, .item_id = true,
		.distinct = true, .ceiling = CHAIN_MAX,
		.doc = "Models to try in this order when this one fails; none twice."),
};
SCHEMA(ModelCreate, .doc = "A model to enter, by a super administrator.");

FIELDS(ModelTenantRead) = {
	FIELD(ModelTenantRead, model_id, .required = true, .id = true, .doc = "The model."),
	FIELD(ModelTenantRead, tenant_id, .required = true, .id = true,
		.doc = "The tenant that reaches it."),
	FIELD(ModelTenantRead, created_at, .required = true, .doc = "Since when."),
};
SCHEMA(ModelTenantRead, .doc = "A tenant's reach of a model that is not open to all.");

FIELDS(TenantModel) = {
	FIELD(TenantModel, id, .required = true, .id = true, .doc = "The model."),
	FIELD(TenantModel, name, .required = true, .example = "\"Large One\"",
		.doc = "Shown to people."),
	FIELD(TenantModel, slug, .required = true, .example = "\"large-1\"",
		.doc = "Names the model in requests."),
	FIELD(TenantModel, kind, .required = true, .words = &ModelKind_words,
		.doc = "What drives the model."),
	FIELD(TenantModel, status, .required = true, .words = &ModelStatus_words,
		.doc = "active or experimental."),
	FIELD(TenantModel, description, .required = true, .nullable = true,
		.doc = "What the model is good for."),
	FIELD(TenantModel, context_window, .required = true, .nullable = true, .example = "200000",
		.doc = "The most tokens a call may hold; null if unknown."),
	FIELD(TenantModel, supports_tools, .required = true, .example = "true",
		.doc = "Whether the model can call tools."),
	FIELD(TenantModel, supports_vision, .required = true, .example = "false",
		.doc = "Whether the model can read images."),
	FIELD(TenantModel, is_free, .required = true, .example = "false",
		.doc = "True when no user-model grant is needed."),
	FIELD(TenantModel, pricing, .of = &ModelPricing_schema, .required = true, .computed = true,
		.example = PRICING_EXAMPLE,
		.doc = "USD per token as decimal strings; null where none is set."),
	FIELD(TenantModel, created_at, .required = true, .doc = "When the model was entered."),
};
SCHEMA(TenantModel, .doc = "A model that a tenant reaches, as its members see it.");

FIELDS(UserModelGrantRead) = {
	FIELD(UserModelGrantRead, model_id, .required = true, .id = true, .doc = "The model."),
	FIELD(UserModelGrantRead, user_id, .required = true, .id = true,
		.doc = "The member whom agents may call it for."),
	FIELD(UserModelGrantRead, granted_by_id, .required = true, .nullable = true, .id = true,
		.doc = "Who gave the grant."),
	FIELD(UserModelGrantRead, created_at, .required = true, .doc = "When the grant was made."),
};
SCHEMA(UserModelGrantRead, .doc = "A member's grant on a model.");
