/* bare.c - the floor under "create": the rows of an agent, inserted by a plain loop.
 *
 *   bare STORE ROWS
 *
 * The same rows with the same pragmas as the service, 64 agents to a commit,
 * into the tenant that seed made.  No HTTP, no JSON, no permissions.  Prints
 * agents and microseconds. */
#include "rows.h"

enum { GROUP = 64 };

int main(int argc, char **argv)
{
	static const char pragmas[] =
		"pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on;"
		"pragma temp_store = memory; pragma cache_size = -4096; pragma mmap_size = 1073741824;";
	char slug[64], words[64], tenant[64], user[64];
	struct agent_rows rows;
	sqlite3_stmt *begin, *commit, *audit, *who;
	sqlite3 *db;
	int64_t count, began;

	if (argc != 3)
		return fprintf(stderr, "bare STORE ROWS\n"), 2;
	count = atoll(argv[2]);
	db = open_store(argv[1], pragmas);
	who = prepare(db, "select tenant_id, user_id from api_keys limit 1");
	check(db, sqlite3_step(who), SQLITE_ROW, "no key");
	snprintf(tenant, sizeof tenant, "%s", sqlite3_column_text(who, 0));
	snprintf(user, sizeof user, "%s", sqlite3_column_text(who, 1));
	sqlite3_finalize(who);
	begin = prepare(db, "begin immediate");
	commit = prepare(db, "commit");
	audit = prepare(db, INSERT_AUDIT);
	rows = agent_rows_prepare(db);
	began = clock_us(CLOCK_MONOTONIC);
	for (int64_t i = 0; i < count; i++) {
		int64_t us = clock_us(CLOCK_REALTIME);
		struct id id = id_at(us), entry = id_at(us);

		if (i % GROUP == 0)
			run(begin);
		snprintf(slug, sizeof slug, "support-desk-%010lld", (long long)i);
		snprintf(words, sizeof words, "support desk %010lld", (long long)i);
		agent_rows_insert(&rows, tenant, user, &id, us, NAME, "support desk", slug, words);
		bind_text(audit, 1, entry.text);
		bind_text(audit, 2, tenant);
		bind_text(audit, 3, user);
		bind_text(audit, 4, id.text);
		sqlite3_bind_int64(audit, 5, us);
		run(audit);
		if (i % GROUP == GROUP - 1 || i == count - 1)
			run(commit);
	}
	printf("%lld %lld\n", (long long)count, (long long)(clock_us(CLOCK_MONOTONIC) - began));
	agent_rows_free(&rows);
	sqlite3_finalize(begin);
	sqlite3_finalize(commit);
	sqlite3_finalize(audit);
	return sqlite3_close(db) != SQLITE_OK;
}
