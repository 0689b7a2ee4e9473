/* cost_parts.c - see cost_parts.h. */
#include "api/costs/cost_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const periods[] = { [CostPeriod_24h] = "24h",
	[CostPeriod_7d] = "7d",
	[CostPeriod_30d] = "30d",
	[CostPeriod_month] = "month",
	NULL };
const struct words CostPeriod_words = { .list = periods, .doc = "A stretch of time up to now." };

static const char *const formats[] = { [CostFormat_json] = "json", [CostFormat_csv] = "csv", NULL };
const struct words CostFormat_words = { .list = formats, .doc = "The form of a report." };

FIELDS(cost_day) = {
	FIELD(cost_day, agent_id),
	FIELD(cost_day, day),
	FIELD(cost_day, cost_whole),
	FIELD(cost_day, cost_pd),
};
SCHEMA(cost_day, .internal = true);

/* ---- names ---- */

struct name_row {
	const char *name;
};

FIELDS(name_row) = {
	FIELD(name_row, name, .nullable = true),
};
static SCHEMA(name_row, .internal = true);

enum { NAME_AGENT, NAME_MODEL };

static const struct statement sql[] = {
	[NAME_AGENT] = { "cost_name_agent",
		"select coalesce((select a.name from agents a where a.tenant_id = $1 and a.id = $2), "
		"(select f.name from former_agents f where f.tenant_id = $1 and f.id = $2)) as name",
		.row = &name_row_schema },
	[NAME_MODEL] = { "cost_name_model", "select name from models where id = $1",
		.row = &name_row_schema },
};
STATEMENT_SET(cost_name_sql, sql);

int cost_name_agent(struct call *c, const char **id, const char **ret)
{
	struct name_row row = { 0 };
	int err = 0;

	if (!**id) {
		*id = "direct";
		*ret = "Calls without an agent";
		return 0;
	}
	err = db_one(c->db, c->arena, &sql[NAME_AGENT], &row, ARGS(T(c->caller.tenant_id), T(*id)));
	*ret = row.name ? row.name : *id;
	return err;
}

int cost_name_model(struct call *c, const char *id, const char **ret)
{
	struct name_row row = { 0 };
	int err = db_one(c->db, c->arena, &sql[NAME_MODEL], &row, ARGS(T(id)));

	*ret = row.name ? row.name : id;
	return err == ERR_NOT_FOUND ? 0 : err;
}

/* ---- time ---- */

int64_t month_begin(int64_t us)
{
	time_t s = (time_t)(us / SECOND_US);
	struct tm t;

	gmtime_r(&s, &t);
	t.tm_mday = 1;
	t.tm_hour = t.tm_min = t.tm_sec = 0;
	return (int64_t)timegm(&t) * SECOND_US;
}

/* ---- what stands out ---- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median_value(double *values, size_t count)
{
	qsort(values, count, sizeof *values, by_value);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* The first of the agent's days; they are sorted by agent. */
static const struct cost_day *first_of(const struct list *days, const char *agent_id)
{
	const struct cost_day *row = days->at;
	size_t low = 0, high = days->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (strcmp(row[middle].agent_id, agent_id) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return row + low;
}

bool cost_is_anomalous(const struct list *days, const char *agent_id, int64_t day, double usd_a_day)
{
	enum { WEEK = 7 };
	const struct cost_day *row = first_of(days, agent_id);
	const struct cost_day *end = (const struct cost_day *)days->at + days->count;
	double spent[COST_HISTORY_DAYS] = { 0 }, away[COST_HISTORY_DAYS], middle, spread;
	int64_t first = day;
	size_t count;

	for (; row < end && strcmp(row->agent_id, agent_id) == 0; row++) {
		int64_t at = row->day - (day - COST_HISTORY_DAYS);

		spent[at] = money_dollars(money_sum(row->cost_whole, row->cost_pd));
		first = row->day < first ? row->day : first;
	}
	count = (size_t)(day - first);
	if (count < WEEK)
		return false;
	memmove(spent, spent + COST_HISTORY_DAYS - count, count * sizeof *spent);
	middle = median_value(spent, count);
	for (size_t i = 0; i < count; i++)
		away[i] = fabs(spent[i] - middle);
	spread = fmax(1.4826 * median_value(away, count), fmax(middle / 4, 0.01));
	return usd_a_day > middle + 6 * spread;
}

/* ---- as a table ---- */

/* Quoted where it must be; what a spreadsheet would take for a formula begins with an apostrophe. */
static void csv_text(struct buf *b, const char *text)
{
	bool formula = strchr("=+-@\t\r", *text) && *text;

	if (!formula && !strpbrk(text, ",\"\r\n")) {
		buf_puts(b, text);
		return;
	}
	buf_puts(b, formula ? "\"'" : "\"");
	for (; *text; text++) {
		if (*text == '"')
			buf_putc(b, '"');
		buf_putc(b, *text);
	}
	buf_putc(b, '"');
}

static void csv_money(struct buf *b, struct money m)
{
	char text[MONEY_TEXT_MAX];

	buf_puts(b, money_text(m.pd, text));
	buf_putc(b, ',');
}

void cost_write_csv(struct buf *b, const struct AgentCostsResponse *report)
{
	const struct AgentCostRow *row = report->agents.at;

	buf_lit(b,
		"agent_id,agent_name,requests,input_tokens,cache_read_tokens,cache_write_tokens,"
		"output_tokens,cost_usd,provider_cost_usd,byok_cost_usd,cache_hit_rate,top_model,"
		"anomaly\r\n");
	for (size_t i = 0; i < report->agents.count; i++, row++) {
		csv_text(b, row->agent_id);
		buf_putc(b, ',');
		csv_text(b, row->agent_name);
		buf_printf(b, ",%lld,%lld,%lld,%lld,%lld,", (long long)row->requests,
			(long long)row->input_tokens, (long long)row->cache_read_tokens,
			(long long)row->cache_write_tokens, (long long)row->output_tokens);
		csv_money(b, row->cost_usd);
		csv_money(b, row->provider_cost_usd);
		csv_money(b, row->byok_cost_usd);
		if (!isnan(row->cache_hit_rate))
			buf_printf(b, "%.6g", row->cache_hit_rate);
		buf_putc(b, ',');
		csv_text(b, row->top_model);
		buf_puts(b, row->anomaly ? ",true\r\n" : ",false\r\n");
	}
}
