/* cost_parts.h - what the reports of costs share: rows, periods, words, the rule for anomalies. */
#pragma once
#include "api/costs/costs.h"
#include "base/buf.h"
#include "base/clock.h"
#include "call/call.h"

enum { COST_ROWS_MAX = 200000, COST_DAYS_MAX = 3660, COST_HISTORY_DAYS = 28 };

enum { CostPeriod_24h, CostPeriod_7d, CostPeriod_30d, CostPeriod_month };
extern const struct words CostPeriod_words;
enum { CostFormat_json, CostFormat_csv };
extern const struct words CostFormat_words;

/* What an agent spent on a day. */
struct cost_day {
	const char *agent_id;
	int64_t day, cost_whole, cost_pd;
};
SCHEMA_DECLARED(cost_day);

#define SUM(column, name) "cast(coalesce(sum(" column "), 0) as bigint) as " name
/* Every sum of struct cost_sum, over rows x. */
#define COST_SUMS                                                                            \
	SUM("x.requests", "requests")                                                        \
	", " SUM("x.input_tokens", "input_tokens") ", " SUM(                                 \
		"x.cache_read_tokens", "cache_read_tokens") ", " SUM("x.cache_write_tokens", \
		"cache_write_tokens") ", " SUM("x.output_tokens",                            \
		"output_tokens") ", " SUM("x.cost_whole + x.cost_pd / 1000000000000",        \
		"cost_whole") ", " SUM("x.cost_pd % 1000000000000", "cost_pd")

/* The name of an agent in a report, also of one that is gone; an empty id becomes `direct`. */
int cost_name_agent(struct call *c, const char **id, const char **ret);
int cost_name_model(struct call *c, const char *id, const char **ret);
extern const struct statement_set cost_name_sql;

/* The time asked for, or ERR_INVALID with the fields at fault. */
int cost_period_read(
	struct call *c, int period, struct moment from, struct moment to, struct CostPeriod *out);
/* The first moment of the calendar month (UTC). */
int64_t month_begin(int64_t us);

/* Does spending so much a day stand out against the COST_HISTORY_DAYS before `day`?  The days are
 * struct cost_day, sorted by agent.  Out is what lies above the median of those days by more than six
 * times their spread: the median deviation from it, scaled to a standard deviation, but at least
 * a quarter of the median and a cent.  Days without calls count as nothing spent; an agent whose first
 * call is not a week old has no history to stand out against. */
bool cost_is_anomalous(
	const struct list *days, const char *agent_id, int64_t day, double usd_a_day);

/* One line an agent, as RFC 4180 has it. */
void cost_write_csv(struct buf *b, const struct AgentCostsResponse *report);
