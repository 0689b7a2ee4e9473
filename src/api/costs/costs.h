/* costs.h - what agents cost. */
#pragma once
#include "contract/schema.h"

struct CostPeriod {
	struct moment from, to;
	const char *label;
};
SCHEMA_DECLARED(CostPeriod);

struct AgentModelCostRow {
	const char *model_id;
	int64_t requests, input_tokens, output_tokens;
	struct money cost_usd;
	int64_t cache_read_tokens, cache_write_tokens;
};
SCHEMA_DECLARED(AgentModelCostRow);

struct AgentCostRow {
	const char *agent_id, *agent_name;
	int64_t requests, input_tokens, output_tokens;
	struct money cost_usd;
	bool anomaly;
	struct money byok_cost_usd, provider_cost_usd;
	double cache_hit_rate;
	int64_t cache_read_tokens, cache_write_tokens;
	struct list models;
	const char *top_model;
};
SCHEMA_DECLARED(AgentCostRow);

struct AgentCostsResponse {
	struct CostPeriod *period;
	struct list agents;
	struct money total_cost_usd, total_byok_cost_usd, total_provider_cost_usd;
};
SCHEMA_DECLARED(AgentCostsResponse);

struct CostPoint {
	struct moment at;
	int64_t requests, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens;
	struct money cost_usd;
};
SCHEMA_DECLARED(CostPoint);

struct CostSeries {
	const char *id, *name;
	struct money cost_usd;
	struct list points;
};
SCHEMA_DECLARED(CostSeries);

struct CostSeriesResponse {
	struct CostPeriod *period;
	const char *bucket, *by;
	struct list series;
	struct money total_cost_usd;
};
SCHEMA_DECLARED(CostSeriesResponse);
