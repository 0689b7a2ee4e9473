/* test_sweep.c - what is past goes, however much of it there is, in one round of maintenance; and only that. */
#include "gateway_fixture.h"

#include "base/clock.h"
#include "broker/broker.h"
#include "call/maintenance.h"
#include "sessions/retention.h"
#include "store/sweep.h"

enum { ROWS = 10 * SWEEP_PIECE + 7 };

/* Tables that are swept; the insert makes rows 1 to ROWS, of which row 1 is of now and all others are past. */
#define MANY                                                                                             \
	"with recursive n (i) as (select 1 union all select i + 1 from n where i < 5007), t (i, at) as " \
	"(select i, case when i = 1 then cast($1 as bigint) else i end from n) "
static const struct swept {
	const char *table, *insert;
	int64_t unit; /* of its time, in microseconds */
} tables[] = {
	{ "idempotency",
		"insert into idempotency (hash, body_hash, status, reply, created_at) " MANY
		"select cast(i as text), '', 200, '', at from t",
		1 },
	{ "attempts",
		"insert into attempts (subject, failures, since) " MANY
		"select cast(i as text), 1, at from t",
		1 },
	{ "logins where ip = 'x'",
		"insert into logins (hash, user_id, ip, created_at, expires_at, last_used_at) " MANY
		"select cast(i as text), (select min(id) from users), 'x', 1, at + case when i = 1 "
		"then 3600000000 else 0 end, 1 from t",
		1 },
	{ "oidc_flows",
		"insert into oidc_flows (hash, provider, sealed, created_at) " MANY
		"select cast(i as text), 'p', '', at from t",
		1 },
	{ "spend_minutes",
		"insert into spend_minutes (tenant_id, agent_id, minute, shard, cost_pd) " MANY
		"select (select min(id) from tenants), 'a', at, 0, 1 from t",
		60 * SECOND_US },
	{ "rate_slots where seconds = 1",
		"insert into rate_slots (tenant_id, agent_id, seconds, slot, calls) " MANY
		"select (select min(id) from tenants), 'a', 1, at, 1 from t",
		SECOND_US },
	{ "rate_slots where seconds = 60",
		"insert into rate_slots (tenant_id, agent_id, seconds, slot, calls) " MANY
		"select (select min(id) from tenants), 'a', 60, at, 1 from t",
		60 * SECOND_US },
	{ "tenant_events",
		"insert into tenant_events (tenant_id, feed, id, kind, about_id, created_at, data) " MANY
		"select (select min(id) from tenants), i, cast(i as text), 'k', '', at, '' from t",
		1 },
};

static int nothing(struct db *db, void *data)
{
	(void)db;
	(void)data;
	return 0;
}

static int64_t rows_of(struct fixture *f, const char *table)
{
	return fixture_count(f, arena_printf(&f->arena, "select count(*) from %s", table));
}

TEST(sweep_takes_all_that_is_past_in_one_round)
{
	struct gateway_fixture s;
	struct fixture *f;
	int64_t now = clock_now_us();

	gateway_open(&s);
	f = s.f;
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
		test_step("%s", tables[i].table);
		fixture_sql(f, tables[i].insert, ARGS(N(now / tables[i].unit)));
		CHECK_INT(rows_of(f, tables[i].table), ROWS);
	}
	maintenance_submit(&f->app);
	broker_maintain(f->service.broker);
	retention_submit(f->app.store, now);
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
		test_step("%s", tables[i].table);
		for (int turn = 0; turn < 5000 && rows_of(f, tables[i].table) > 1; turn++)
			CHECK_INT(fixture_work(f, nothing, NULL), 0);
		CHECK_INT(rows_of(f, tables[i].table), 1);
	}
	gateway_close(&s);
}
