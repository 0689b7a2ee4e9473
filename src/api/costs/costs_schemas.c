/* costs_schemas.c - the tables for what agents cost. */
#include "api/costs/costs.h"

FIELDS(CostPeriod) = {
	FIELD(CostPeriod, from, .required = true, .example = "\"2026-01-01T00:00:00.000Z\"",
		.doc = "Its first moment, included."),
	FIELD(CostPeriod, to, .required = true, .example = "\"2026-01-31T00:00:00.000Z\"",
		.doc = "The moment it ends, not included."),
	FIELD(CostPeriod, label, .required = true, .example = "\"30d\"",
		.doc = "The period asked for: 24h, 7d, 30d, month, or custom."),
};
SCHEMA(CostPeriod, .doc = "The time a report covers.");

FIELDS(AgentModelCostRow) = {
	FIELD(AgentModelCostRow, model_id, .required = true, .doc = "The model."),
	FIELD(AgentModelCostRow, requests, .required = true, .example = "210",
		.doc = "Calls to it."),
	FIELD(AgentModelCostRow, input_tokens, .required = true, .example = "40210",
		.doc = "Input that came from no cache."),
	FIELD(AgentModelCostRow, output_tokens, .required = true, .example = "11800",
		.doc = "Tokens it wrote."),
	FIELD(AgentModelCostRow, cost_usd, .required = true, .example = "0.92",
		.doc = "What these calls cost."),
	FIELD(AgentModelCostRow, cache_read_tokens, .preset = "0",
		.doc = "Input read from the provider's cache."),
	FIELD(AgentModelCostRow, cache_write_tokens, .preset = "0",
		.doc = "Input written to the provider's cache."),
};
SCHEMA(AgentModelCostRow, .doc = "What one model cost within one agent's row.");

FIELDS(AgentCostRow) = {
	FIELD(AgentCostRow, agent_id, .required = true, .doc = "The agent."),
	FIELD(AgentCostRow, agent_name, .required = true, .example = "\"Support desk\"",
		.doc = "Its name, kept after its removal."),
	FIELD(AgentCostRow, requests, .required = true, .example = "210",
		.doc = "Calls to models."),
	FIELD(AgentCostRow, input_tokens, .required = true, .example = "40210",
		.doc = "Input that came from no cache."),
	FIELD(AgentCostRow, output_tokens, .required = true, .example = "11800",
		.doc = "Tokens written by models."),
	FIELD(AgentCostRow, cost_usd, .required = true, .example = "0.92",
		.doc = "All of it: on our keys and on the tenant's own."),
	FIELD(AgentCostRow, anomaly, .preset = "false",
		.doc = "True when the agent spent far more a day than in the 28 days before: more than "
		       "their median plus six times their spread (the median deviation, scaled; at "
		       "least a quarter of the median and a cent). Needs a week of history."),
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
	FIELD(AgentCostsResponse, period, .required = true, .of = &CostPeriod_schema,
		.doc = "The time covered."),
	FIELD(AgentCostsResponse, agents, .required = true, .item = OBJECT,
		.of = &AgentCostRow_schema,
		.doc = "One row for each agent with calls, dearest first."),
	FIELD(AgentCostsResponse, total_cost_usd, .required = true, .example = "0.92",
		.doc = "Sum of all rows."),
	FIELD(AgentCostsResponse, total_byok_cost_usd, .preset = "0.0",
		.doc = "The part paid through the tenant's own provider keys."),
	FIELD(AgentCostsResponse, total_provider_cost_usd, .preset = "0.0",
		.doc = "The part paid through this service's provider keys."),
};
SCHEMA(AgentCostsResponse, .doc = "What the agents of a tenant cost over a time.");

FIELDS(CostPoint) = {
	FIELD(CostPoint, at, .required = true, .doc = "The bucket's first moment."),
	FIELD(CostPoint, requests, .required = true, .example = "12", .doc = "Calls to models."),
	FIELD(CostPoint, input_tokens, .required = true, .example = "4021",
		.doc = "Input that came from no cache."),
	FIELD(CostPoint, output_tokens, .required = true, .example = "1180",
		.doc = "Tokens written by models."),
	FIELD(CostPoint, cache_read_tokens, .required = true, .example = "0",
		.doc = "Input read from providers' caches."),
	FIELD(CostPoint, cache_write_tokens, .required = true, .example = "0",
		.doc = "Input written to providers' caches."),
	FIELD(CostPoint, cost_usd, .required = true, .example = "0.09", .doc = "What they cost."),
};
SCHEMA(CostPoint, .doc = "What one bucket of time cost.");

FIELDS(CostSeries) = {
	FIELD(CostSeries, id, .required = true, .doc = "The agent or the model."),
	FIELD(CostSeries, name, .required = true, .example = "\"Support desk\"",
		.doc = "Its name."),
	FIELD(CostSeries, cost_usd, .required = true, .example = "0.92",
		.doc = "Sum of its points."),
	FIELD(CostSeries, points, .required = true, .item = OBJECT, .of = &CostPoint_schema,
		.doc = "Its buckets in order; those without a call are left out."),
};
SCHEMA(CostSeries, .doc = "What one agent or model cost over time.");

FIELDS(CostSeriesResponse) = {
	FIELD(CostSeriesResponse, period, .required = true, .of = &CostPeriod_schema,
		.doc = "The time covered, widened to whole buckets."),
	FIELD(CostSeriesResponse, bucket, .required = true, .example = "\"day\"",
		.doc = "hour or day."),
	FIELD(CostSeriesResponse, by, .required = true, .example = "\"agent\"",
		.doc = "agent or model."),
	FIELD(CostSeriesResponse, series, .required = true, .item = OBJECT,
		.of = &CostSeries_schema,
		.doc = "One for each agent or model with calls, dearest first."),
	FIELD(CostSeriesResponse, total_cost_usd, .required = true, .example = "0.92",
		.doc = "Sum of all series."),
};
SCHEMA(CostSeriesResponse, .doc = "Costs over time, for plots.");

const struct schema *const costs_schemas[] = {
	&CostPeriod_schema,
	&AgentModelCostRow_schema,
	&AgentCostRow_schema,
	&AgentCostsResponse_schema,
	&CostPoint_schema,
	&CostSeries_schema,
	&CostSeriesResponse_schema,
	NULL,
};
