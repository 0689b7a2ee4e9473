/* cost_series.c - costs by hour or by day, of each agent or each model, for plots. */
#include <stdlib.h>
#include <string.h>

#include "call/operation.h"
#include "api/costs/cost_parts.h"
#include "api/costs/cost_sums.h"

enum { POINTS_MAX = 50000 };

enum { BUCKET_HOUR, BUCKET_DAY };
static const struct words buckets = {
	.list = (const char *const[]){ [BUCKET_HOUR] = "hour", [BUCKET_DAY] = "day", NULL },
};

enum { BY_AGENT, BY_MODEL };
static const struct words bys = {
	.list = (const char *const[]){ [BY_AGENT] = "agent", [BY_MODEL] = "model", NULL },
};

struct series_query {
	int period;
	struct moment from, to;
	int bucket, by;
};

FIELDS(series_query) = {
	FIELD(series_query, period, .nullable = true, .words = &CostPeriod_words,
		.doc = "How far back from now: 24h, 7d, 30d (the default), or month."),
	FIELD(series_query, from, .nullable = true,
		.doc = "The first moment, with `to` instead of `period`."),
	FIELD(series_query, to, .nullable = true, .doc = "The end, not included; now if absent."),
	FIELD(series_query, bucket, .preset = "\"day\"", .words = &buckets,
		.doc = "How finely: hour or day."),
	FIELD(series_query, by, .preset = "\"agent\"", .words = &bys,
		.doc = "One series for each agent or each model."),
};
static SCHEMA(series_query, .doc = "Which time, how finely, and of what.");

#define POINTS(table, unit, column)                                                         \
	"select x." column " as id, '' as model_id, x." unit                                \
	" as part, x.requests, x.input_tokens, x.cache_read_tokens, x.cache_write_tokens, " \
	"x.output_tokens, x.cost_whole, x.cost_pd " FROM(table, unit)
#define GROUPED_POINTS(table, unit, column)                                         \
	"select x." column " as id, '' as model_id, x." unit " as part, " COST_SUMS \
	" " FROM(table, unit) " group by x." unit ", x." column
#define FROM(table, unit) \
	"from " table " x where x.tenant_id = $1 and x." unit " >= $2 and x." unit " < $3"

/* By bucket, then by what.  By agent is the order in which the rows lie; see cost_sums.h for models. */
static const struct statement sql[] = {
	{ "series_hour_agent", GROUPED_POINTS("cost_hours", "hour", "agent_id"),
		.row = &cost_sum_schema },
	{ "series_hour_model", POINTS("cost_hours", "hour", "model_id"),
		.postgres = GROUPED_POINTS("cost_hours", "hour", "model_id"),
		.row = &cost_sum_schema },
	{ "series_day_agent", GROUPED_POINTS("cost_days", "day", "agent_id"),
		.row = &cost_sum_schema },
	{ "series_day_model", POINTS("cost_days", "day", "model_id"),
		.postgres = GROUPED_POINTS("cost_days", "day", "model_id"),
		.row = &cost_sum_schema },
};
STATEMENT_SET(cost_series_sql, sql);

static int series_by_cost(const void *a, const void *b)
{
	const struct CostSeries *x = a, *y = b;
	int order = money_compare(y->cost_usd, x->cost_usd);

	return order ? order : strcmp(x->id, y->id);
}

static int begin_series(struct call *c, const struct series_query *in, const struct cost_sum *row,
	struct CostPoint *points, struct CostSeries *ret)
{
	*ret = (struct CostSeries){ .id = row->id, .points = { .at = points } };
	return in->by == BY_AGENT ? cost_name_agent(c, &ret->id, &ret->name)
				  : cost_name_model(c, ret->id, &ret->name);
}

static int fill_series(struct call *c, const struct series_query *in,
	struct CostSeriesResponse *out, const struct list *rows, int64_t unit)
{
	struct CostSeries *series = arena_array(c->arena, struct CostSeries, rows->count + 1),
			  *s = NULL;
	struct CostPoint *points = arena_array(c->arena, struct CostPoint, rows->count + 1);
	const struct cost_sum *row = rows->at, *before = NULL;
	int err = 0;

	out->series.at = series;
	for (size_t i = 0; !err && i < rows->count; i++, before = row++) {
		struct CostPoint *p = &points[i];

		if (!before || strcmp(before->id, row->id) != 0) {
			s = &series[out->series.count++];
			err = begin_series(c, in, row, p, s);
		}
		schema_copy(&cost_sum_schema, row, &CostPoint_schema, p);
		p->at.us = row->part * unit;
		p->cost_usd = money_sum(row->cost_whole, row->cost_pd);
		s->points.count++;
		s->cost_usd.pd += p->cost_usd.pd;
		out->total_cost_usd.pd += p->cost_usd.pd;
	}
	qsort(series, out->series.count, sizeof *series, series_by_cost);
	return err;
}

QUERY_OPERATION(
	readCostSeries, series_query, CostSeriesResponse, .long_read = true, .stale_ok = true)
{
	int64_t unit = in->bucket == BUCKET_HOUR ? HOUR_US : DAY_US;
	struct CostPeriod *p = arena_new(c->arena, struct CostPeriod);
	struct list rows;
	int err = cost_period_read(c, in->period, in->from, in->to, p);

	if (err)
		return err;
	p->from.us = p->from.us / unit * unit;
	p->to.us = (p->to.us + unit - 1) / unit * unit;
	err = cost_sums_read(c->db, c->arena, &sql[in->bucket * 2 + in->by], &rows, POINTS_MAX,
		ARGS(T(c->caller.tenant_id), N(p->from.us / unit), N(p->to.us / unit)));
	if (!err && rows.count > POINTS_MAX)
		return call_field(c, "bucket", "range",
			"would give more than %d points; ask for days, or for less time",
			POINTS_MAX);
	if (err)
		return err;
	out->period = p;
	out->bucket = buckets.list[in->bucket];
	out->by = bys.list[in->by];
	return fill_series(c, in, out, &rows, unit);
}

static const struct route routes[] = {
	{ METHOD_GET, "/tenant/{tenant_id}/billing/timeseries", &readCostSeries, PERM_BILLING_READ,
		200, .tag = "Billing", .doc = "Costs by hour or day, for plots." },
};
RESOURCE(cost_series, routes, NULL, &cost_series_sql);
