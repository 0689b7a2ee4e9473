/* costs_schemas.c - the tables for what agents cost. */
#include "api/costs.h"

FIELDS(CostPeriod) = {
	FIELD(CostPeriod, from, .need = true, .example = "\"2026-01-01T00:00:00.000Z\"",
		.doc = "Its first moment, included."),
	FIELD(CostPeriod, to, .need = true, .example = "\"2026-01-31T00:00:00.000Z\"",
		.doc = "The moment it ends, not included."),
	FIELD(CostPeriod, label, .need = true, .example = "\"30d\"",
		.doc = "The period asked for: 24h, 7d, 30d, month, or custom."),
};
SCHEMA(CostPeriod, .doc = "The time a report covers.");

FIELDS(AgentModelCostRow) = {
	FIELD(AgentModelCostRow, model_id, .need = true, .doc = "The model."),
	FIELD(AgentModelCostRow, requests, .need = true, .example = "210", .doc = "Calls to it."),
	FIELD(AgentModelCostRow, input_tokens, .need = true, .example = "40210",
		.doc = "Input that came from no cache."),
	FIELD(AgentModelCostRow, output_tokens, .need = true, .example = "11800",
		.doc = "Tokens it wrote."),
	FIELD(AgentModelCostRow, cost_usd, .need = true, .example = "0.92",
		.doc = "What these calls cost."),
	FIELD(AgentModelCostRow, cache_read_tokens, .preset = "0",
		.doc = "Input read from the provider's cache."),
	FIELD(AgentModelCostRow, cache_write_tokens, .preset = "0",
		.doc = "Input written to the provider's cache."),
};
SCHEMA(AgentModelCostRow, .doc = "What one model cost within one agent's row.");

FIELDS(AgentCostRow) = {
	FIELD(AgentCostRow, agent_id, .need = true, .doc = "The agent."),
	FIELD(AgentCostRow, agent_name, .need = true, .example = "\"Support desk\"",
		.doc = "Its name, kept after its removal."),
	FIELD(AgentCostRow, requests, .need = true, .example = "210", .doc = "Calls to models."),
	FIELD(AgentCostRow, input_tokens, .need = true, .example = "40210",
		.doc = "Input that came from no cache."),
	FIELD(AgentCostRow, output_tokens, .need = true, .example = "11800",
		.doc = "Tokens written by models."),
	FIELD(AgentCostRow, cost_usd, .need = true, .example = "0.92",
		.doc = "All of it: on our keys and on the tenant's own."),
	FIELD(AgentCostRow, anomaly, .preset = "false",
		.doc = "True when the agent spent far more than it used to."),
	FIELD(AgentCostRow, byok_cost_usd, .preset = "0.0",
		.doc = "The part paid through the tenant's own provider keys."),
	FIELD(AgentCostRow, provider_cost_usd, .preset = "0.0",
		.doc = "The part paid through this service's provider keys."),
	FIELD(AgentCostRow, cache_hit_rate, .nullable = true, .example = "0.62",
		.doc = "Share of the input that was read from a cache, 0 to 1; null without input."),
	FIELD(AgentCostRow, cache_read_tokens, .preset = "0",
		.doc = "Input read from providers' caches."),
	FIELD(AgentCostRow, cache_write_tokens, .preset = "0",
		.doc = "Input written to providers' caches."),
	FIELD(AgentCostRow, models, .item = OBJECT, .of = &AgentModelCostRow_schema, .preset = "[]",
		.doc = "The same, for each model, dearest first."),
	FIELD(AgentCostRow, top_model, .nullable = true,
		.doc = "The model that cost most; null without calls."),
};
SCHEMA(AgentCostRow, .doc = "What one agent cost; the token counts do not overlap.");

FIELDS(AgentCostsResponse) = {
	FIELD(AgentCostsResponse, period, .need = true, .of = &CostPeriod_schema,
		.doc = "The time covered."),
	FIELD(AgentCostsResponse, agents, .need = true, .item = OBJECT, .of = &AgentCostRow_schema,
		.doc = "One row for each agent with calls, dearest first."),
	FIELD(AgentCostsResponse, total_cost_usd, .need = true, .example = "0.92",
		.doc = "Sum of all rows."),
	FIELD(AgentCostsResponse, total_byok_cost_usd, .preset = "0.0",
		.doc = "The part paid through the tenant's own provider keys."),
	FIELD(AgentCostsResponse, total_provider_cost_usd, .preset = "0.0",
		.doc = "The part paid through this service's provider keys."),
};
SCHEMA(AgentCostsResponse, .doc = "What the agents of a tenant cost over a time.");

const struct schema *const costs_schemas[] = {
	&CostPeriod_schema,
	&AgentModelCostRow_schema,
	&AgentCostRow_schema,
	&AgentCostsResponse_schema,
	NULL,
};
