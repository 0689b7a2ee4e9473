/* costs.c - what the agents of a tenant cost: a report over any time, and series for plots.
 *
 * A report is made of whole days from the sums by day, whole hours from the
 * sums by hour, and rows of the ledger only for the minutes at its two ends,
 * so that it is exact and its cost does not grow with the ledger. */
#include "api/costs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "api/cost_parts.h"
#include "api/cost_sums.h"
#include "base/id.h"
#include "broker/ledger.h"

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
#define FROM_SUMS(table, unit, lo, hi)                                                      \
	"select " SUMMED_COLUMNS " from " table " where tenant_id = $1 and " unit " >= " lo \
	" and " unit " < " hi
#define FROM_LEDGER(lo, hi) \
	"select " LEDGER_COLUMNS " from ledger where tenant_id = $1 and id >= " lo " and id < " hi
#define PARTS                                                                              \
	FROM_SUMS("cost_days", "day", "$2", "$3")                                          \
	" union all " FROM_SUMS("cost_hours", "hour", "$4", "$5") " union all " FROM_SUMS( \
		"cost_hours", "hour", "$6", "$7") " union all " FROM_LEDGER("$8",          \
		"$9") " union all " FROM_LEDGER("$10", "$11")

enum { REPORT, HISTORY };

static const struct statement sql[] = {
	/* Grouped here where the rows would have to travel; see cost_sums.h. */
	[REPORT] = { "costs_report", PARTS,
		.postgres = "select x.id, x.model_id, x.part, " COST_SUMS " from (" PARTS
			    ") x group by x.id, x.model_id, x.part",
		.row = &cost_sum_schema, .scan = "the sums that make up the period" },
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

static int64_t up(int64_t us, int64_t unit)
{
	return (us + unit - 1) / unit;
}

/* Which days, hours and moments make up the period. */
static int read_rows(struct call *c, const struct CostPeriod *p, struct list *rows)
{
	int64_t day0 = up(p->from.us, DAY_US), day1 = p->to.us / DAY_US;
	int64_t hour0 = up(p->from.us, HOUR_US), hour1 = p->to.us / HOUR_US;
	int64_t first_end = hour1, second = hour1; /* hours before the first day, behind the last */
	struct id ids[4];

	if (day0 < day1) {
		first_end = day0 * 24;
		second = day1 * 24;
	} else {
		day0 = day1 = 0;
	}
	if (hour0 <= hour1) {
		ids[0] = id_least(p->from.us);
		ids[1] = id_least(hour0 * HOUR_US);
		ids[2] = id_least(hour1 * HOUR_US);
	} else { /* within one hour */
		hour0 = first_end = second = hour1 = 0;
		ids[0] = ids[1] = ids[2] = id_least(p->from.us);
	}
	ids[3] = id_least(p->to.us);
	return cost_sums_read(c->db, c->arena, &sql[REPORT], rows, COST_ROWS_MAX,
		ARGS(T(c->caller.tenant_id), N(day0), N(day1), N(hour0), N(first_end), N(second),
			N(hour1), T(ids[0].text), T(ids[1].text), T(ids[2].text), T(ids[3].text)));
}

/* ---- the report ---- */

/* One agent while its rows are gathered. */
struct gathering {
	struct AgentCostRow row;
	__int128 cost, byok;
};

static double usd(__int128 pd)
{
	return (double)(int64_t)(pd / PICODOLLARS) + (double)(int64_t)(pd % PICODOLLARS) / 1e12;
}

static int by_cost(const void *a, const void *b)
{
	const struct AgentModelCostRow *x = a, *y = b;

	return x->cost_usd < y->cost_usd   ? 1
	       : x->cost_usd > y->cost_usd ? -1
					   : strcmp(x->model_id, y->model_id);
}

static int agents_by_cost(const void *a, const void *b)
{
	const struct AgentCostRow *x = a, *y = b;

	return x->cost_usd < y->cost_usd   ? 1
	       : x->cost_usd > y->cost_usd ? -1
					   : strcmp(x->agent_id, y->agent_id);
}

/* All rows of one agent; returns behind them. */
static const struct cost_sum *gather(
	struct call *c, const struct cost_sum *row, const struct cost_sum *end, struct gathering *g)
{
	const struct cost_sum *first = row, *last = row;
	struct AgentModelCostRow *models, *m = NULL;
	__int128 cost = 0;

	while (last < end && strcmp(last->id, first->id) == 0)
		last++;
	*g = (struct gathering){ .row = { .agent_id = first->id } };
	models = arena_array(c->arena, struct AgentModelCostRow, (size_t)(last - first));
	g->row.models.at = models;
	for (; row < last; row++) {
		__int128 pd = (__int128)row->cost_whole * PICODOLLARS + row->cost_pd;

		if (!m || strcmp(m->model_id, row->model_id) != 0) {
			m = &models[g->row.models.count++];
			m->model_id = row->model_id;
			cost = 0;
		}
		cost += pd;
		m->cost_usd = usd(cost);
		m->requests += row->requests;
		m->input_tokens += row->input_tokens;
		m->output_tokens += row->output_tokens;
		m->cache_read_tokens += row->cache_read_tokens;
		m->cache_write_tokens += row->cache_write_tokens;
		g->row.requests += row->requests;
		g->row.input_tokens += row->input_tokens;
		g->row.output_tokens += row->output_tokens;
		g->row.cache_read_tokens += row->cache_read_tokens;
		g->row.cache_write_tokens += row->cache_write_tokens;
		g->cost += pd;
		g->byok += row->part ? pd : 0;
	}
	qsort(models, g->row.models.count, sizeof *models, by_cost);
	return last;
}

static int finish_agent(struct call *c, struct gathering *g)
{
	struct AgentCostRow *r = &g->row;
	int64_t input = r->input_tokens + r->cache_read_tokens + r->cache_write_tokens;

	r->cost_usd = usd(g->cost);
	r->byok_cost_usd = usd(g->byok);
	r->provider_cost_usd = usd(g->cost - g->byok);
	r->cache_hit_rate = input ? (double)r->cache_read_tokens / (double)input : NAN;
	r->top_model = ((struct AgentModelCostRow *)r->models.at)->model_id;
	return cost_name_agent(c, &r->agent_id, &r->agent_name);
}

/* Marks agents that spend far more a day than in the weeks before; see cost_is_anomalous(). */
static int mark_anomalies(struct call *c, const struct CostPeriod *p, struct list *agents)
{
	int64_t before = p->from.us / DAY_US, days = up(p->to.us - p->from.us, DAY_US);
	struct list history;
	int err = db_all(c->db, c->arena, &sql[HISTORY], &history, COST_ROWS_MAX,
		ARGS(T(c->caller.tenant_id), N(before - COST_HISTORY_DAYS), N(before)));

	for (size_t i = 0; !err && i < agents->count; i++) {
		struct AgentCostRow *row = (struct AgentCostRow *)agents->at + i;

		row->anomaly = cost_is_anomalous(
			&history, row->agent_id, before, row->cost_usd / (double)days);
	}
	return err;
}

static int make_report(struct call *c, struct AgentCostsResponse *out)
{
	const struct cost_sum *row, *end;
	__int128 cost = 0, byok = 0;
	struct AgentCostRow *agents;
	struct list rows;
	int err = read_rows(c, out->period, &rows);

	if (!err && rows.count > COST_ROWS_MAX)
		return call_field(c, "period", "range",
			"would need more than %d rows; ask for less time", COST_ROWS_MAX);
	agents = arena_array(c->arena, struct AgentCostRow, (err ? 0 : rows.count) + 1);
	out->agents.at = agents;
	row = err ? NULL : rows.at;
	end = err ? NULL : row + rows.count;
	while (!err && row < end) {
		struct gathering g;

		row = gather(c, row, end, &g);
		err = finish_agent(c, &g);
		agents[out->agents.count++] = g.row;
		cost += g.cost;
		byok += g.byok;
	}
	out->total_cost_usd = usd(cost);
	out->total_byok_cost_usd = usd(byok);
	out->total_provider_cost_usd = usd(cost - byok);
	if (!err)
		err = mark_anomalies(c, out->period, &out->agents);
	qsort(agents, out->agents.count, sizeof *agents, agents_by_cost);
	return err;
}

OPERATION(readAgentCosts, .long_read = true, .reply = &AgentCostsResponse_schema,
	.query = &costs_query_schema, .gives = "text/csv")
{
	const struct costs_query *in = c->query;
	struct AgentCostsResponse *out = c->reply;
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
RESOURCE(costs, routes, costs_schemas);
