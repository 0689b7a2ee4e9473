/* ledger_check.c - see ledger_check.h.
 *
 * What is counted and what is kept are laid together with opposite signs and
 * summed up: whatever does not come to nothing differs.  The database does
 * that for one hour or day of one tenant at a time, and hands out at most one
 * row.  Tenants that are being erased are passed over: their rows go one
 * table after the other. */
#include "broker/ledger_check.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/id.h"

/* What is kept too much of; all nothing but for what differs. */
struct difference {
	const char *agent_id, *model_id;
	int64_t byok;
	int64_t requests, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens,
		cost_whole, cost_pd;
};

FIELDS(difference) = {
	FIELD(difference, agent_id),
	FIELD(difference, model_id),
	FIELD(difference, byok),
	FIELD(difference, requests),
	FIELD(difference, input_tokens),
	FIELD(difference, cache_read_tokens),
	FIELD(difference, cache_write_tokens),
	FIELD(difference, output_tokens),
	FIELD(difference, cost_whole),
	FIELD(difference, cost_pd),
};
static SCHEMA(difference, .internal = true);

/* clang-format off */
#define KEYS "agent_id, model_id, byok"
#define NO_KEYS "'' as agent_id, '' as model_id, 0 as byok"
#define KEPT(keys, table) \
	"select " keys ", requests, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, " \
	"cost_whole, cost_pd from " table " where tenant_id = $1 and "
#define COUNTED(keys, table) \
	"select " keys ", -requests, -input_tokens, -cache_read_tokens, -cache_write_tokens, -output_tokens, " \
	"-cost_whole, -cost_pd from " table " where tenant_id = $1 and "
#define COUNTED_ROWS \
	"select " KEYS ", -1, -input_tokens, -cache_read_tokens, -cache_write_tokens, -output_tokens, " \
	"-(cost_pd / 1000000000000), -(cost_pd % 1000000000000) from ledger where tenant_id = $1 and "
#define SUM(column) "cast(sum(" column ") as bigint) as " column
#define FIRST_DIFFERENCE(parts) \
	"select y.* from (select " KEYS ", " SUM("requests") ", " SUM("input_tokens") ", " \
	SUM("cache_read_tokens") ", " SUM("cache_write_tokens") ", " SUM("output_tokens") ", " \
	SUM("cost_whole") ", " SUM("cost_pd") " from (" parts ") x group by " KEYS ") y " \
	"where y.requests <> 0 or y.input_tokens <> 0 or y.cache_read_tokens <> 0 " \
	"or y.cache_write_tokens <> 0 or y.output_tokens <> 0 or y.cost_pd % 1000000000000 <> 0 " \
	"or y.cost_whole + y.cost_pd / 1000000000000 <> 0 order by " KEYS " limit 1"
/* clang-format on */

enum { TENANT_NEXT, HOUR_NEXT, ROW_NEXT, DAY_NEXT, HOURS_DIFFER, DAYS_DIFFER, USAGE_DIFFERS };

static const struct statement sql[] = {
	[TENANT_NEXT] = { "ledger_check_tenant",
		"select id as value from tenants where id > $1 and not exists "
		"(select 1 from erasures e where e.tenant_id = tenants.id) order by id limit 1",
		.row = &one_text_schema, .across = "every tenant in turn" },
	[HOUR_NEXT] = { "ledger_check_hour",
		"select coalesce(min(hour), -1) from cost_hours where tenant_id = $1 and hour >= $2" },
	[ROW_NEXT] = { "ledger_check_row",
		"select id as value from ledger where tenant_id = $1 and id >= $2 order by id limit 1",
		.row = &one_text_schema },
	[DAY_NEXT] = { "ledger_check_day",
		"select coalesce(min(day), -1) from (select min(day) as day from cost_days "
		"where tenant_id = $1 and day >= $2 union all select min(day) from usage_days "
		"where tenant_id = $1 and day >= $2 union all select min(hour) / 24 from cost_hours "
		"where tenant_id = $1 and hour >= $2 * 24) x",
		.scan = "three first days" },
	[HOURS_DIFFER] = { "ledger_check_hours",
		FIRST_DIFFERENCE(KEPT(KEYS, "cost_hours") "hour = $2 union all " COUNTED_ROWS
							  "id >= $3 and id < $4"),
		.row = &difference_schema, .scan = "the rows of one hour" },
	[DAYS_DIFFER] = { "ledger_check_days",
		FIRST_DIFFERENCE(KEPT(KEYS, "cost_days") "day = $2 union all " COUNTED(
			KEYS, "cost_hours") "hour >= $2 * 24 and hour < ($2 + 1) * 24"),
		.row = &difference_schema, .scan = "the sums of one day" },
	[USAGE_DIFFERS] = { "ledger_check_usage",
		FIRST_DIFFERENCE(KEPT(NO_KEYS, "usage_days") "day = $2 union all " COUNTED(
			NO_KEYS, "cost_days") "day = $2"),
		.row = &difference_schema, .scan = "the sums of one day" },
};
STATEMENT_SET(ledger_check_sql, sql);

struct ledger_comparison {
	struct db *db;
	struct arena *arena;
	const char *tenant_id, *found;
};

/* The sentence about what differs; the first column that does is named. */
static void tell_difference(
	struct ledger_comparison *c, const char *table, int64_t us, const struct difference *d)
{
	const struct {
		const char *name;
		int64_t more;
	} columns[] = { { "requests", d->requests }, { "input_tokens", d->input_tokens },
		{ "cache_read_tokens", d->cache_read_tokens },
		{ "cache_write_tokens", d->cache_write_tokens },
		{ "output_tokens", d->output_tokens } };
	char time[TIME_TEXT_LEN + 1] = "";
	const char *what = "its cost is another";

	time_write(us, time);
	for (size_t i = sizeof columns / sizeof *columns; i-- > 0;)
		if (columns[i].more)
			what = arena_printf(c->arena, "%s is %lld too %s", columns[i].name,
				(long long)(columns[i].more < 0 ? -columns[i].more
								: columns[i].more),
				columns[i].more < 0 ? "low" : "high");
	c->found = arena_printf(c->arena, "%s from %s of tenant %s%s%s%s%s%s: %s", table, time,
		c->tenant_id, *d->agent_id ? ", agent " : "", d->agent_id,
		*d->model_id ? ", model " : "", d->model_id, d->byok ? ", its own key" : "", what);
}

static int compare_ledger(struct ledger_comparison *c, int statement, const char *table, int64_t us,
	const struct value *args, size_t count)
{
	struct difference d;
	int err = db_one(c->db, c->arena, &sql[statement], &d, args, count);

	if (!err)
		tell_difference(c, table, us, &d);
	return err == ERR_NOT_FOUND ? 0 : err;
}

/* The first hour from this one on that has sums or rows; -1 if there is none. */
static int next_hour(struct ledger_comparison *c, int64_t hour, int64_t *ret)
{
	struct id first = id_least(hour * HOUR_US);
	struct one_text row;
	int64_t at;
	int err = db_int(c->db, &sql[HOUR_NEXT], ret, ARGS(T(c->tenant_id), N(hour)));

	if (!err)
		err = db_one(c->db, c->arena, &sql[ROW_NEXT], &row,
			ARGS(T(c->tenant_id), T(first.text)));
	if (err)
		return err == ERR_NOT_FOUND ? 0 : err;
	at = id_moment(row.value) / HOUR_US;
	if (*ret < 0 || at < *ret)
		*ret = at;
	return 0;
}

static int check_hours(struct ledger_comparison *c)
{
	int64_t hour;
	int err = next_hour(c, 0, &hour);

	while (!err && hour >= 0 && !c->found) {
		struct id first = id_least(hour * HOUR_US), end = id_least((hour + 1) * HOUR_US);

		err = compare_ledger(c, HOURS_DIFFER, "cost_hours", hour * HOUR_US,
			ARGS(T(c->tenant_id), N(hour), T(first.text), T(end.text)));
		if (!err && !c->found) {
			arena_reset(c->arena);
			err = next_hour(c, hour + 1, &hour);
		}
	}
	return err;
}

static int check_days(struct ledger_comparison *c)
{
	int64_t day = 0;
	int err = db_int(c->db, &sql[DAY_NEXT], &day, ARGS(T(c->tenant_id), N(0)));

	while (!err && day >= 0 && !c->found) {
		err = compare_ledger(
			c, DAYS_DIFFER, "cost_days", day * DAY_US, ARGS(T(c->tenant_id), N(day)));
		if (!err && !c->found)
			err = compare_ledger(c, USAGE_DIFFERS, "usage_days", day * DAY_US,
				ARGS(T(c->tenant_id), N(day)));
		if (!err && !c->found)
			err = db_int(
				c->db, &sql[DAY_NEXT], &day, ARGS(T(c->tenant_id), N(day + 1)));
	}
	return err;
}

int ledger_check(struct db *db, struct arena *a, const char **ret)
{
	struct arena scratch = { 0 };
	char tenant_id[ID_LEN + 1] = "";
	struct ledger_comparison c = { .db = db, .arena = &scratch, .tenant_id = tenant_id };
	struct one_text next;
	int err = 0;

	while (!err && !c.found) {
		err = db_one(db, &scratch, &sql[TENANT_NEXT], &next, ARGS(T(tenant_id)));
		if (err)
			break;
		snprintf(tenant_id, sizeof tenant_id, "%s", next.value);
		arena_reset(&scratch);
		err = check_hours(&c);
		if (!err && !c.found)
			err = check_days(&c);
	}
	*ret = c.found ? arena_strdup(a, c.found) : NULL;
	arena_free(&scratch);
	return err == ERR_NOT_FOUND ? 0 : err;
}
