/* ledger.c - see ledger.h. */
#include "broker/ledger.h"

#include <string.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/id.h"

#define MINUTE_US (60 * SECOND_US)

enum { SHARDS = 8 };

/* $6 shard, $7.. tokens, $11 whole dollars, $12 picodollars beside them, $13 calls */
#define SUMMED(table, unit)                                                                        \
	"insert into " table " (tenant_id, " unit ", agent_id, model_id, byok, shard, requests, "  \
	"input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, cost_whole, cost_pd)" \
	" values ($1, $2, $3, $4, $5, $6, $13, $7, $8, $9, $10, $11 + $12 / 1000000000000, "       \
	"$12 % 1000000000000) "                                                                    \
	"on conflict (tenant_id, " unit ", agent_id, model_id, byok, shard) do update set "        \
	"requests = " table ".requests + $13, "                                                    \
	"input_tokens = " table ".input_tokens + $7, "                                             \
	"cache_read_tokens = " table ".cache_read_tokens + $8, "                                   \
	"cache_write_tokens = " table ".cache_write_tokens + $9, "                                 \
	"output_tokens = " table ".output_tokens + $10, "                                          \
	"cost_whole = " table ".cost_whole + $11 + (" table ".cost_pd + $12) / 1000000000000, "    \
	"cost_pd = (" table ".cost_pd + $12) % 1000000000000"

enum { ENTER, ADD_DAY, ADD_HOUR, ADD_MINUTE, ADD_TENANT, MARK_ACTIVE, MARK_BOTH };

static const struct statement sql[] = {
	[ENTER] = { "ledger_enter",
		"insert into ledger (tenant_id, id, agent_id, model_id, user_id, session_id, byok, "
		"outcome, estimated, input_tokens, cache_read_tokens, cache_write_tokens, "
		"output_tokens, reasoning_tokens, cost_pd) values ($1, $2, $3, $4, $5, $6, $7, $8, "
		"$9, $10, $11, $12, $13, $14, $15)" },
	[ADD_DAY] = { "ledger_day", SUMMED("cost_days", "day") },
	[ADD_HOUR] = { "ledger_hour", SUMMED("cost_hours", "hour") },
	[ADD_MINUTE] = { "ledger_minute",
		"insert into spend_minutes (tenant_id, agent_id, minute, shard, cost_pd) "
		"values ($1, $2, $3, $4, $5) on conflict (tenant_id, agent_id, minute, shard) "
		"do update set cost_pd = spend_minutes.cost_pd + $5" },
	[ADD_TENANT] = { "ledger_tenant",
		"insert into usage_days (tenant_id, day, shard, requests, input_tokens, "
		"cache_read_tokens, cache_write_tokens, output_tokens, cost_whole, cost_pd, sessions, "
		"sessions_completed, sessions_failed, sessions_cancelled, messages, subtasks) "
		"values ($1, $2, $3, $10, $4, $5, $6, $7, $8 + $9 / 1000000000000, "
		"$9 % 1000000000000, 0, 0, 0, 0, 0, 0) "
		"on conflict (tenant_id, day, shard) do update set "
		"requests = usage_days.requests + $10, input_tokens = usage_days.input_tokens + $4, "
		"cache_read_tokens = usage_days.cache_read_tokens + $5, "
		"cache_write_tokens = usage_days.cache_write_tokens + $6, "
		"output_tokens = usage_days.output_tokens + $7, "
		"cost_whole = usage_days.cost_whole + $8 + (usage_days.cost_pd + $9) / 1000000000000, "
		"cost_pd = (usage_days.cost_pd + $9) % 1000000000000" },
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

static const char *agent_of(const struct charge *c)
{
	return c->agent_id ? c->agent_id : "";
}

static int enter_row(struct db *db, const struct charge *c, int64_t now)
{
	static const char *const outcomes[] = { "ok", "failed", "cancelled", "lost" };
	const struct usage *u = &c->usage;
	struct id id = id_at(now);

	return db_run(db, &sql[ENTER], NULL,
		ARGS(T(c->tenant_id), T(id.text), T(agent_of(c)), T(c->model_id), T(c->user_id),
			T(c->session_id), N(c->byok), T(outcomes[c->outcome]), N(u->estimated),
			N(u->input), N(u->cache_read), N(u->cache_write), N(u->output),
			N(u->reasoning), N(c->cost_pd)));
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

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_alike(const struct sum *sum, const struct charge *c, int64_t now)
{
	const struct charge *like = sum->like;

	return sum->minute == now / MINUTE_US && is_same(like->agent_id, c->agent_id) &&
	       is_same(like->user_id, c->user_id) && is_same(like->model_id, c->model_id) &&
	       is_same(like->tenant_id, c->tenant_id) && like->byok == c->byok &&
	       sum->cost_pd <= INT64_MAX - c->cost_pd;
}

static void add_up(struct sum *sum, const struct charge *c)
{
	sum->calls++;
	sum->usage.input += c->usage.input;
	sum->usage.cache_read += c->usage.cache_read;
	sum->usage.cache_write += c->usage.cache_write;
	sum->usage.output += c->usage.output;
	sum->whole += c->cost_pd / PICODOLLARS;
	sum->rest += c->cost_pd % PICODOLLARS;
	sum->cost_pd += c->cost_pd;
}

static int add_sum(struct db *db, const struct sum *sum)
{
	const struct charge *c = sum->like;
	const struct usage *u = &sum->usage;
	const char *agent_id = agent_of(c);
	int64_t shard = ledger_shard(db), hour = sum->minute / 60, day = hour / 24;
	const struct {
		const struct statement *st;
		int64_t unit;
	} sums[] = { { &sql[ADD_DAY], day }, { &sql[ADD_HOUR], hour } };
	int err = 0;

	for (size_t i = 0; !err && i < sizeof sums / sizeof *sums; i++)
		err = db_run(db, sums[i].st, NULL,
			ARGS(T(c->tenant_id), N(sums[i].unit), T(agent_id), T(c->model_id),
				N(c->byok), N(shard), N(u->input), N(u->cache_read),
				N(u->cache_write), N(u->output), N(sum->whole), N(sum->rest),
				N(sum->calls)));
	if (!err)
		err = db_run(db, &sql[ADD_TENANT], NULL,
			ARGS(T(c->tenant_id), N(day), N(shard), N(u->input), N(u->cache_read),
				N(u->cache_write), N(u->output), N(sum->whole), N(sum->rest),
				N(sum->calls)));
	if (!err && c->agent_id && sum->cost_pd)
		err = db_run(db, &sql[ADD_MINUTE], NULL,
			ARGS(T(c->tenant_id), T(agent_id), N(sum->minute), N(shard),
				N(sum->cost_pd)));
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
