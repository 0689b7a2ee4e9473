/* costs.c - what the agents of a tenant cost: a report over any time, and series for plots.
 *
 * A report is made of whole days from the sums by day, whole hours from the
 * sums by hour, and rows of the ledger only for the minutes at its two ends,
 * so that it is exact and its cost does not grow with the ledger. */
#include "api/costs/costs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/costs/cost_parts.h"
#include "api/costs/cost_sums.h"
#include "base/id.h"
#include "broker/ledger.h"
#include "call/operation.h"
#include "store/row.h"

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

struct costs_query {
	int period;
	struct moment from, to;
	int format;
};

FIELDS(costs_query) = {
	FIELD(costs_query, period, .nullable = true, .words = &CostPeriod_words,
		.doc = "How far back from now: 24h, 7d, 30d (the default), or month: this "
		       "calendar month (UTC)."),
	FIELD(costs_query, from, .nullable = true,
		.doc = "The first moment, with `to` instead of `period`."),
	FIELD(costs_query, to, .nullable = true, .doc = "The end, not included; now if absent."),
	FIELD(costs_query, format, .preset = "\"json\"", .words = &CostFormat_words,
		.doc = "csv: one line an agent, as text/csv."),
};
static SCHEMA(costs_query, .doc = "Which time, and in which form.");

#define SUMMED_COLUMNS                                                                        \
	"agent_id as id, model_id, byok as part, requests, input_tokens, cache_read_tokens, " \
	"cache_write_tokens, output_tokens, cost_whole, cost_pd"
#define LEDGER_COLUMNS                                                          \
	"agent_id as id, model_id, byok as part, 1 as requests, input_tokens, " \
	"cache_read_tokens, cache_write_tokens, output_tokens, 0 as cost_whole, cost_pd"
/* What makes up a period: whole days, whole hours before the first and after the last of them, and the ids of what
 * lies before and after those hours.  Each ends before its second member. */
struct cost_span {
	const char *tenant_id;
	int64_t day, day_end, first_hour, first_hour_end, last_hour, last_hour_end;
	const char *first_from, *first_to, *last_from, *last_to;
};

FIELDS(cost_span) = { ROW_FIELDS(cost_span, tenant_id, day, day_end, first_hour, first_hour_end,
	last_hour, last_hour_end, first_from, first_to, last_from, last_to) };
static SCHEMA(cost_span, .internal = true);

#define FROM_SUMS(table, unit, lo, hi)                                                    \
	"select " SUMMED_COLUMNS " from " table " where tenant_id = :tenant_id and " unit \
	" >= " lo " and " unit " < " hi
#define FROM_LEDGER(lo, hi)                                                                \
	"select " LEDGER_COLUMNS " from ledger where tenant_id = :tenant_id and id >= " lo \
	" and id < " hi
#define PARTS                                                                                  \
	FROM_SUMS("cost_days", "day", ":day", ":day_end")                                      \
	" union all " FROM_SUMS("cost_hours", "hour", ":first_hour",                           \
		":first_hour_end") " union all " FROM_SUMS("cost_hours", "hour", ":last_hour", \
		":last_hour_end") " union all " FROM_LEDGER(":first_from",                     \
		":first_to") " union all " FROM_LEDGER(":last_from", ":last_to")

enum { REPORT, HISTORY };

static const struct statement sql[] = {
	/* Grouped here where the rows would have to travel; see cost_sums.h. */
	[REPORT] = { "costs_report", PARTS,
		.postgres = "select x.id, x.model_id, x.part, " COST_SUMS " from (" PARTS
			    ") x group by x.id, x.model_id, x.part",
		.row = &cost_sum_schema, .args = &cost_span_schema,
		.scan = "the sums that make up the period" },
	[HISTORY] = { "costs_history",
		"select x.agent_id, x.day, " SUM("x.cost_whole", "cost_whole") ", " SUM("x.cost_pd",
			"cost_pd") " from cost_days x where x.tenant_id = $1 and x.day >= $2 "
				   "and x.day < $3 group by x.agent_id, x.day order by x.agent_id, x.day",
		.row = &cost_day_schema },
};
STATEMENT_SET(cost_sql, sql);

/* ---- the period ---- */

int cost_period_read(
	struct call *c, int period, struct moment from, struct moment to, struct CostPeriod *out)
{
	static const int64_t days[] = {
		[CostPeriod_24h] = 1, [CostPeriod_7d] = 7, [CostPeriod_30d] = 30
	};

	if (period >= 0 && (from.us != NIL || to.us != NIL))
		return call_field(c, "period", "combination", "goes without from and to");
	if (from.us == NIL && to.us != NIL)
		return call_field(c, "from", "required", "is required with to");
	if (from.us == NIL) {
		period = period < 0 ? CostPeriod_30d : period;
		out->to.us = c->now;
		out->from.us = period == CostPeriod_month ? month_begin(c->now)
							  : c->now - days[period] * DAY_US;
		out->label = CostPeriod_words.list[period];
		return 0;
	}
	out->from = from;
	out->to.us = to.us == NIL ? c->now : to.us;
	out->label = "custom";
	if (out->to.us <= out->from.us)
		return call_field(c, "to", "range", "must be after from");
	if (out->to.us - out->from.us > COST_DAYS_MAX * DAY_US)
		return call_field(
			c, "from", "range", "must be at most %d days before to", COST_DAYS_MAX);
	return 0;
}

static int64_t round_up_units(int64_t us, int64_t unit)
{
	return (us + unit - 1) / unit;
}

/* Which days, hours and moments make up the period. */
static int read_cost_rows(struct call *c, const struct CostPeriod *p, struct list *rows)
{
	struct cost_span span = { .tenant_id = c->caller.tenant_id,
		.day = round_up_units(p->from.us, DAY_US),
		.day_end = p->to.us / DAY_US,
		.first_hour = round_up_units(p->from.us, HOUR_US),
		.last_hour_end = p->to.us / HOUR_US };
	struct id ids[4];

	span.first_hour_end = span.last_hour = span.last_hour_end;
	if (span.day < span.day_end) {
		span.first_hour_end = span.day * 24;
		span.last_hour = span.day_end * 24;
	} else {
		span.day = span.day_end = 0;
	}
	if (span.first_hour <= span.last_hour_end) {
		ids[0] = id_least(p->from.us);
		ids[1] = id_least(span.first_hour * HOUR_US);
		ids[2] = id_least(span.last_hour_end * HOUR_US);
	} else { /* within one hour */
		span.first_hour = span.first_hour_end = span.last_hour = span.last_hour_end = 0;
		ids[0] = ids[1] = ids[2] = id_least(p->from.us);
	}
	ids[3] = id_least(p->to.us);
	span.first_from = ids[0].text;
	span.first_to = ids[1].text;
	span.last_from = ids[2].text;
	span.last_to = ids[3].text;
	return cost_sums_read(
		c->db, c->arena, &sql[REPORT], rows, COST_ROWS_MAX, BY_NAME(cost_span, &span));
}

/* ---- the report ---- */

static int models_by_cost(const void *a, const void *b)
{
	const struct AgentModelCostRow *x = a, *y = b;
	int order = money_compare(y->cost_usd, x->cost_usd);

	return order ? order : strcmp(x->model_id, y->model_id);
}

static int agents_by_cost(const void *a, const void *b)
{
	const struct AgentCostRow *x = a, *y = b;
	int order = money_compare(y->cost_usd, x->cost_usd);

	return order ? order : strcmp(x->agent_id, y->agent_id);
}

/* All rows of one agent; returns after them. */
static const struct cost_sum *gather_agent_costs(struct call *c, const struct cost_sum *row,
	const struct cost_sum *end, struct AgentCostRow *ret)
{
	const struct cost_sum *first = row, *last = row;
	struct AgentModelCostRow *models, *m = NULL;

	while (last < end && strcmp(last->id, first->id) == 0)
		last++;
	*ret = (struct AgentCostRow){ .agent_id = first->id };
	models = arena_array(c->arena, struct AgentModelCostRow, (size_t)(last - first));
	ret->models.at = models;
	for (; row < last; row++) {
		__int128 pd = money_sum(row->cost_whole, row->cost_pd).pd;

		if (!m || strcmp(m->model_id, row->model_id) != 0) {
			m = &models[ret->models.count++];
			m->model_id = row->model_id;
		}
		m->cost_usd.pd += pd;
		m->requests += row->requests;
		m->input_tokens += row->input_tokens;
		m->output_tokens += row->output_tokens;
		m->cache_read_tokens += row->cache_read_tokens;
		m->cache_write_tokens += row->cache_write_tokens;
		ret->requests += row->requests;
		ret->input_tokens += row->input_tokens;
		ret->output_tokens += row->output_tokens;
		ret->cache_read_tokens += row->cache_read_tokens;
		ret->cache_write_tokens += row->cache_write_tokens;
		ret->cost_usd.pd += pd;
		ret->byok_cost_usd.pd += row->part ? pd : 0;
		ret->provider_cost_usd.pd += row->part ? 0 : pd;
	}
	qsort(models, ret->models.count, sizeof *models, models_by_cost);
	return last;
}

static int finish_agent(struct call *c, struct AgentCostRow *r)
{
	int64_t input = r->input_tokens + r->cache_read_tokens + r->cache_write_tokens;

	r->cache_hit_rate = input ? (double)r->cache_read_tokens / (double)input : NAN;
	r->top_model = ((struct AgentModelCostRow *)r->models.at)->model_id;
	return cost_name_agent(c, &r->agent_id, &r->agent_name);
}

/* Marks agents that spend far more a day than in the weeks before; see cost_is_anomalous(). */
static int mark_anomalies(struct call *c, const struct CostPeriod *p, struct list *agents)
{
	int64_t before = p->from.us / DAY_US, days = round_up_units(p->to.us - p->from.us, DAY_US);
	struct list history;
	int err = db_all(c->db, c->arena, &sql[HISTORY], &history, COST_ROWS_MAX,
		ARGS(T(c->caller.tenant_id), N(before - COST_HISTORY_DAYS), N(before)));

	for (size_t i = 0; !err && i < agents->count; i++) {
		struct AgentCostRow *row = (struct AgentCostRow *)agents->at + i;

		row->anomaly = cost_is_anomalous(&history, row->agent_id, before,
			money_dollars(row->cost_usd) / (double)days);
	}
	return err;
}

static int make_report(struct call *c, struct AgentCostsResponse *out)
{
	const struct cost_sum *row, *end;
	struct AgentCostRow *agents;
	struct list rows;
	int err = read_cost_rows(c, out->period, &rows);

	if (!err && rows.count > COST_ROWS_MAX)
		return call_field(c, "period", "range",
			"would need more than %d rows; ask for less time", COST_ROWS_MAX);
	agents = arena_array(c->arena, struct AgentCostRow, (err ? 0 : rows.count) + 1);
	out->agents.at = agents;
	row = err ? NULL : rows.at;
	end = err ? NULL : row + rows.count;
	while (!err && row < end) {
		struct AgentCostRow *agent = &agents[out->agents.count++];

		row = gather_agent_costs(c, row, end, agent);
		err = finish_agent(c, agent);
		out->total_cost_usd.pd += agent->cost_usd.pd;
		out->total_byok_cost_usd.pd += agent->byok_cost_usd.pd;
		out->total_provider_cost_usd.pd += agent->provider_cost_usd.pd;
	}
	if (!err)
		err = mark_anomalies(c, out->period, &out->agents);
	qsort(agents, out->agents.count, sizeof *agents, agents_by_cost);
	return err;
}

QUERY_OPERATION(readAgentCosts, costs_query, AgentCostsResponse, .long_read = true,
	.stale_ok = true, .gives = "text/csv")
{
	int err;

	out->period = arena_new(c->arena, struct CostPeriod);
	err = cost_period_read(c, in->period, in->from, in->to, out->period);
	if (!err)
		err = make_report(c, out);
	if (!err && in->format == CostFormat_csv) {
		c->x->reply.type = "text/csv; charset=utf-8";
		buf_lit(&c->x->reply.extra,
			"Content-Disposition: attachment; filename=\"agent-costs.csv\"\r\n");
		cost_write_csv(&c->x->reply.body, out);
	}
	return err;
}

static const struct route routes[] = {
	{ METHOD_GET, "/tenant/{tenant_id}/billing/agent-costs", &readAgentCosts, PERM_BILLING_READ,
		200, .tag = "Billing", .doc = "What each agent cost over a time." },
};
RESOURCE(costs, routes, NULL, &cost_sql);
