/* ledger.c - fills the ledger of a store that seed.c has filled: calls of all agents of its one tenant to
 * five models, one of them on the tenant's own key, spread evenly over the days up to now.
 *
 *   ledger STORE ROWS DAYS
 *
 * The sums beside the ledger are counted from its rows by SQL, an hour at a time, and by nothing that the
 * service uses. */
#include "base/clock.h"
#include "rows.h"

enum { MODELS = 5, AGENTS_MAX = 1000 };

static struct id tenant, agents[AGENTS_MAX], models[MODELS];
static int agent_count;

static void take(sqlite3_stmt *st, struct id *out)
{
	snprintf(out->text, sizeof out->text, "%s", (const char *)sqlite3_column_text(st, 0));
}

static void read_agents(sqlite3 *db)
{
	sqlite3_stmt *st = prepare(db, "select tenant_id from agents limit 1");

	check(db, sqlite3_step(st), SQLITE_ROW, "an agent");
	take(st, &tenant);
	sqlite3_finalize(st);
	st = prepare(db, "select id from agents where tenant_id = ?1 order by id limit 1000");
	bind_text(st, 1, tenant.text);
	while (sqlite3_step(st) == SQLITE_ROW)
		take(st, &agents[agent_count++]);
	sqlite3_finalize(st);
}

static void insert_models(sqlite3 *db, int64_t us)
{
	sqlite3_stmt *st = prepare(db,
		"insert into models (id, name, slug, kind, status, supports_tools, supports_vision, "
		"is_free, available_to_all_tenants, timeout_s, total_timeout_s, has_api_key, "
		"header_names, failover_chain, created_at, updated_at) "
		"values (?1, ?2, ?3, 'demo', 'active', 0, 0, 0, 1, 60, 600, 0, '[]', '[]', ?4, ?4)");

	for (int i = 0; i < MODELS; i++) {
		char name[32], slug[32];

		models[i] = id_at(us + i);
		snprintf(name, sizeof name, "Model %d", i);
		snprintf(slug, sizeof slug, "model-%d", i);
		bind_text(st, 1, models[i].text);
		bind_text(st, 2, name);
		bind_text(st, 3, slug);
		sqlite3_bind_int64(st, 4, us);
		run(st);
	}
	sqlite3_finalize(st);
}

static void insert_calls(sqlite3 *db, int64_t count, int64_t from, int64_t step)
{
	sqlite3_stmt *st = prepare(db,
		"insert into ledger (tenant_id, id, agent_id, model_id, byok, outcome, estimated, "
		"input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, "
		"reasoning_tokens, cost_pd) values (?1, ?2, ?3, ?4, ?5, 'ok', 0, ?6, ?7, ?8, ?9, 0, ?10)");

	bind_text(st, 1, tenant.text);
	for (int64_t i = 0; i < count; i++) {
		struct id id = id_at(from + i * step);
		uint64_t n = noise();
		int64_t in = (int64_t)(n % 4000), out = (int64_t)(n >> 12) % 900;

		bind_text(st, 2, id.text);
		bind_text(st, 3, agents[(n >> 24) % (uint64_t)agent_count].text);
		bind_text(st, 4, models[(n >> 40) % MODELS].text);
		sqlite3_bind_int(st, 5, (n >> 40) % MODELS == 0);
		sqlite3_bind_int64(st, 6, in);
		sqlite3_bind_int64(st, 7, in / 2);
		sqlite3_bind_int64(st, 8, in / 8);
		sqlite3_bind_int64(st, 9, out);
		sqlite3_bind_int64(st, 10, in * 3000000 + out * 15000000);
		run(st);
	}
	sqlite3_finalize(st);
}

#define SUMS \
	"sum(input_tokens), sum(cache_read_tokens), sum(cache_write_tokens), sum(output_tokens), "

static void sum_up(sqlite3 *db, int64_t from, int64_t to)
{
	sqlite3_stmt *st = prepare(db,
		"insert into cost_hours select tenant_id, ?2, agent_id, model_id, byok, 0, count(*), " SUMS
		"sum(cost_pd) / 1000000000000, sum(cost_pd) % 1000000000000 from ledger "
		"where tenant_id = ?1 and id >= ?3 and id < ?4 group by agent_id, model_id, byok");

	for (int64_t hour = from / HOUR_US; hour <= to / HOUR_US; hour++) {
		struct id first = id_at(hour * HOUR_US), end = id_at((hour + 1) * HOUR_US);

		memset(first.text + 1 + TIME_DIGITS, '0', ID_LEN - 1 - TIME_DIGITS);
		memset(end.text + 1 + TIME_DIGITS, '0', ID_LEN - 1 - TIME_DIGITS);
		bind_text(st, 1, tenant.text);
		sqlite3_bind_int64(st, 2, hour);
		bind_text(st, 3, first.text);
		bind_text(st, 4, end.text);
		run(st);
	}
	sqlite3_finalize(st);
	check(db,
		sqlite3_exec(db,
			"insert into cost_days select tenant_id, hour / 24, agent_id, model_id, byok, 0, "
			"sum(requests), " SUMS "sum(cost_whole) + sum(cost_pd) / 1000000000000, "
			"sum(cost_pd) % 1000000000000 from cost_hours "
			"group by tenant_id, hour / 24, agent_id, model_id, byok;"
			"insert into usage_days (tenant_id, day, shard, requests, input_tokens, "
			"cache_read_tokens, cache_write_tokens, output_tokens, cost_whole, cost_pd, sessions, "
			"sessions_completed, sessions_failed, sessions_cancelled, messages, subtasks) "
			"select tenant_id, day, 0, sum(requests), " SUMS
			"sum(cost_whole) + sum(cost_pd) / 1000000000000, sum(cost_pd) % 1000000000000, "
			"0, 0, 0, 0, 0, 0 from cost_days group by tenant_id, day",
			NULL, NULL, NULL),
		SQLITE_OK, "the sums");
}

int main(int argc, char **argv)
{
	static const char pragmas[] =
		"pragma journal_mode = off; pragma synchronous = off; pragma foreign_keys = off;"
		"pragma locking_mode = exclusive; pragma cache_size = -1048576; begin;"
		"drop index ledger_by_agent";
	int64_t count = argc == 4 ? atoll(argv[2]) : 0, days = argc == 4 ? atoll(argv[3]) : 0;
	int64_t now = clock_us(CLOCK_REALTIME), from = now - days * 24 * HOUR_US;
	sqlite3 *db;

	if (count < 1 || days < 1)
		return fprintf(stderr, "ledger STORE ROWS DAYS\n"), 2;
	db = open_store(argv[1], pragmas);
	read_agents(db);
	insert_models(db, now);
	insert_calls(db, count, from, (now - from) / count);
	sum_up(db, from, now);
	check(db,
		sqlite3_exec(db,
			"create index ledger_by_agent on ledger (tenant_id, agent_id, id, cost_pd) where cost_pd > 0;"
			"commit; pragma locking_mode = normal; pragma journal_mode = wal",
			NULL, NULL, NULL),
		SQLITE_OK, "commit");
	check(db, sqlite3_close(db), SQLITE_OK, "close");
	return 0;
}
