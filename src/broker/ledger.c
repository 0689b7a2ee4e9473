/* ledger.c - see ledger.h. */
#include "broker/ledger.h"

#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "base/id.h"
#include "base/same.h"
#include "store/row.h"

enum { SHARDS = 8 };

struct ledger_row {
	const char *tenant_id, *id, *agent_id, *model_id, *user_id, *session_id, *outcome;
	bool byok, estimated;
	int64_t input_tokens, cache_read_tokens, cache_write_tokens, output_tokens;
	int64_t reasoning_tokens, characters, seconds, cost_pd;
};

FIELDS(ledger_row) = {
	ROW_FIELDS(ledger_row, tenant_id, id, agent_id, model_id, outcome, byok, estimated,
		input_tokens, cache_read_tokens, cache_write_tokens, output_tokens,
		reasoning_tokens, characters, seconds, cost_pd),
	ROW_NULLABLE(ledger_row, user_id, session_id),
};
static SCHEMA(ledger_row, .internal = true);

/* What is added to the sums of a day or an hour. */
struct sum_row {
	const char *tenant_id, *agent_id, *model_id;
	bool byok;
	int64_t unit, shard, requests;
	int64_t input_tokens, cache_read_tokens, cache_write_tokens, output_tokens;
	int64_t whole, rest; /* dollars, and picodollars beside them */
};

FIELDS(sum_row) = { ROW_FIELDS(sum_row, tenant_id, agent_id, model_id, byok, unit, shard, requests,
	input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, whole, rest) };
static SCHEMA(sum_row, .internal = true);

struct minute_row {
	const char *tenant_id, *agent_id;
	int64_t minute, shard, cost_pd;
};

FIELDS(minute_row) = { ROW_FIELDS(minute_row, tenant_id, agent_id, minute, shard, cost_pd) };
static SCHEMA(minute_row, .internal = true);

#define SUMS                                                                             \
	"requests, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, " \
	"cost_whole, cost_pd"
#define SUMS_OF_ROW                                                                           \
	":requests, :input_tokens, :cache_read_tokens, :cache_write_tokens, :output_tokens, " \
	":whole + :rest / 1000000000000, :rest % 1000000000000"
#define ADDED(table)                                                                \
	"requests = " table ".requests + :requests, "                               \
	"input_tokens = " table ".input_tokens + :input_tokens, "                   \
	"cache_read_tokens = " table ".cache_read_tokens + :cache_read_tokens, "    \
	"cache_write_tokens = " table ".cache_write_tokens + :cache_write_tokens, " \
	"output_tokens = " table ".output_tokens + :output_tokens, "                \
	"cost_whole = " table ".cost_whole + :whole + (" table                      \
	".cost_pd + :rest) / 1000000000000, "                                       \
	"cost_pd = (" table ".cost_pd + :rest) % 1000000000000"
#define SUMMED(table, unit)                                                                  \
	"insert into " table " (tenant_id, " unit ", agent_id, model_id, byok, shard, " SUMS \
	") values (:tenant_id, :unit, :agent_id, :model_id, :byok, :shard, " SUMS_OF_ROW     \
	") on conflict (tenant_id, " unit                                                    \
	", agent_id, model_id, byok, shard) do update set " ADDED(table)

enum { ENTER, ADD_DAY, ADD_HOUR, ADD_MINUTE, ADD_TENANT, MARK_ACTIVE, MARK_BOTH };

static const struct statement sql[] = {
	[ENTER] = { "ledger_enter", "insert into ledger ({*}) values ({$})",
		.row = &ledger_row_schema },
	[ADD_DAY] = { "ledger_day", SUMMED("cost_days", "day"), .args = &sum_row_schema },
	[ADD_HOUR] = { "ledger_hour", SUMMED("cost_hours", "hour"), .args = &sum_row_schema },
	[ADD_MINUTE] = { "ledger_minute",
		"insert into spend_minutes ({*}) values ({$}) "
		"on conflict (tenant_id, agent_id, minute, shard) "
		"do update set cost_pd = spend_minutes.cost_pd + :cost_pd",
		.row = &minute_row_schema },
	[ADD_TENANT] = { "ledger_tenant",
		"insert into usage_days (tenant_id, day, shard, " SUMS
		", sessions, sessions_completed, sessions_failed, sessions_cancelled, messages, "
		"subtasks) values (:tenant_id, :unit, :shard, " SUMS_OF_ROW ", 0, 0, 0, 0, 0, 0) "
		"on conflict (tenant_id, day, shard) do update set " ADDED("usage_days"),
		.args = &sum_row_schema },
	[MARK_ACTIVE] = { "ledger_active",
		"insert into active_days (tenant_id, day, kind, id) values ($1, $2, $3, $4) "
		"on conflict (tenant_id, day, kind, id) do nothing" },
	[MARK_BOTH] = { "ledger_active_both",
		"insert into active_days (tenant_id, day, kind, id) values ($1, $2, 'agent', $3), "
		"($1, $2, 'user', $4) on conflict (tenant_id, day, kind, id) do nothing",
		.scan = "the two rows it is given" },
};
STATEMENT_SET(ledger_sql, sql);

int64_t ledger_shard(struct db *db)
{
	uint8_t n;

	if (db_is_sqlite(db)) /* there is one writer */
		return 0;
	random_bytes(&n, sizeof n);
	return n % SHARDS;
}

static const char *ledger_agent_of(const struct charge *c)
{
	return c->agent_id ? c->agent_id : "";
}

static int enter_row(struct db *db, const struct charge *c, int64_t now)
{
	static const char *const outcomes[] = { "ok", "failed", "cancelled", "lost" };
	const struct usage *u = &c->usage;
	struct id id = id_at(now);

	return db_put(db, &sql[ENTER],
		&(struct ledger_row){ .tenant_id = c->tenant_id,
			.id = id.text,
			.agent_id = ledger_agent_of(c),
			.model_id = c->model_id,
			.user_id = c->user_id,
			.session_id = c->session_id,
			.outcome = outcomes[c->outcome],
			.byok = c->byok,
			.estimated = u->estimated,
			.input_tokens = u->input,
			.cache_read_tokens = u->cache_read,
			.cache_write_tokens = u->cache_write,
			.output_tokens = u->output,
			.reasoning_tokens = u->reasoning,
			.characters = u->characters,
			.seconds = u->seconds,
			.cost_pd = c->cost_pd });
}

static int mark_active(struct db *db, const struct charge *c, int64_t day)
{
	if (c->agent_id && c->user_id)
		return db_run(db, &sql[MARK_BOTH], NULL,
			ARGS(T(c->tenant_id), N(day), T(c->agent_id), T(c->user_id)));
	if (!c->agent_id && !c->user_id)
		return 0;
	return db_run(db, &sql[MARK_ACTIVE], NULL,
		ARGS(T(c->tenant_id), N(day), T(c->agent_id ? "agent" : "user"),
			T(c->agent_id ? c->agent_id : c->user_id)));
}

/* What several charges that are alike come to.  The picodollars may be more than a dollar. */
struct sum {
	const struct charge *like;
	int64_t minute, calls, whole, rest, cost_pd;
	struct usage usage;
};

static bool is_alike(const struct sum *sum, const struct charge *c, int64_t now)
{
	const struct charge *like = sum->like;

	return sum->minute == now / MINUTE_US && same_text(like->agent_id, c->agent_id) &&
	       same_text(like->user_id, c->user_id) && same_text(like->model_id, c->model_id) &&
	       same_text(like->tenant_id, c->tenant_id) && like->byok == c->byok &&
	       sum->cost_pd <= INT64_MAX - c->cost_pd;
}

static void add_up(struct sum *sum, const struct charge *c)
{
	INVARIANT(c->cost_pd >= 0 && sum->cost_pd <= INT64_MAX - c->cost_pd);
	sum->calls++;
	sum->usage.input += c->usage.input;
	sum->usage.cache_read += c->usage.cache_read;
	sum->usage.cache_write += c->usage.cache_write;
	sum->usage.output += c->usage.output;
	sum->whole += c->cost_pd / PICODOLLARS;
	sum->rest += c->cost_pd % PICODOLLARS;
	sum->cost_pd += c->cost_pd;
}

static struct sum_row row_of(const struct sum *sum, int64_t shard)
{
	const struct charge *c = sum->like;

	return (struct sum_row){ .tenant_id = c->tenant_id,
		.agent_id = ledger_agent_of(c),
		.model_id = c->model_id,
		.byok = c->byok,
		.shard = shard,
		.requests = sum->calls,
		.input_tokens = sum->usage.input,
		.cache_read_tokens = sum->usage.cache_read,
		.cache_write_tokens = sum->usage.cache_write,
		.output_tokens = sum->usage.output,
		.whole = sum->whole,
		.rest = sum->rest };
}

static int add_sum(struct db *db, const struct sum *sum)
{
	const struct charge *c = sum->like;
	struct sum_row row = row_of(sum, ledger_shard(db));
	int64_t hour = sum->minute / 60, day = hour / 24;
	int err;

	row.unit = hour;
	err = db_put(db, &sql[ADD_HOUR], &row);
	row.unit = day;
	if (!err)
		err = db_put(db, &sql[ADD_DAY], &row);
	if (!err)
		err = db_put(db, &sql[ADD_TENANT], &row);
	if (!err && c->agent_id && sum->cost_pd)
		err = db_put(db, &sql[ADD_MINUTE],
			&(struct minute_row){ .tenant_id = c->tenant_id,
				.agent_id = row.agent_id,
				.minute = sum->minute,
				.shard = row.shard,
				.cost_pd = sum->cost_pd });
	return err ? err : mark_active(db, c, day);
}

/* All that are alike and were not added before, from `first` on. */
static int add_alike(
	struct db *db, const struct ledger_entry *list, size_t count, size_t first, uint64_t *added)
{
	struct sum sum = { .like = list[first].charge, .minute = list[first].now / MINUTE_US };

	for (size_t i = first; i < count; i++) {
		if (*added >> i & 1 || !is_alike(&sum, list[i].charge, list[i].now))
			continue;
		add_up(&sum, list[i].charge);
		*added |= UINT64_C(1) << i;
	}
	return add_sum(db, &sum);
}

int ledger_enter_all(struct db *db, const struct ledger_entry *list, size_t count)
{
	uint64_t added = 0;
	int err = count > LEDGER_AT_ONCE ? ERR_INTERNAL : 0;

	for (size_t i = 0; !err && i < count; i++)
		err = enter_row(db, list[i].charge, list[i].now);
	for (size_t i = 0; !err && i < count; i++)
		if (!(added >> i & 1))
			err = add_alike(db, list, count, i, &added);
	return err;
}

int ledger_enter(struct db *db, const struct charge *c, int64_t now)
{
	return ledger_enter_all(db, &(struct ledger_entry){ c, now }, 1);
}
