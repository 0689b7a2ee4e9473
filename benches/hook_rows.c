/* hook_rows.c - the floor under "webhooks": what an accepted event leaves, inserted by a plain loop.
 *
 *   hook_rows STORE BODY ROWS
 *
 * The delivery and its job, with the same pragmas as the service and 64 to a
 * commit, for the integration that is in the store.  The jobs wait for a
 * year.  No HTTP, no signature, no JSON.  Prints events and microseconds. */
#include "hook_rows.h"
#include "rows.h"

enum { GROUP = 64, BODY_MAX = 1 << 20 };

int main(int argc, char **argv)
{
	static const char pragmas[] =
		"pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on;"
		"pragma temp_store = memory; pragma cache_size = -4096; pragma mmap_size = 1073741824;";
	static char body[BODY_MAX];
	char tenant[64], hook[64], key[64], payload[96];
	sqlite3_stmt *begin, *commit, *delivery, *job, *who;
	int64_t count, began;
	sqlite3 *db;
	FILE *f;

	if (argc != 4)
		return fprintf(stderr, "hook_rows STORE BODY ROWS\n"), 2;
	f = fopen(argv[2], "r");
	if (!f || !fread(body, 1, sizeof body - 1, f))
		return fprintf(stderr, "%s cannot be read\n", argv[2]), 1;
	fclose(f);
	count = atoll(argv[3]);
	db = open_store(argv[1], pragmas);
	who = prepare(db, "select tenant_id, id from integrations limit 1");
	check(db, sqlite3_step(who), SQLITE_ROW, "no integration");
	snprintf(tenant, sizeof tenant, "%s", sqlite3_column_text(who, 0));
	snprintf(hook, sizeof hook, "%s", sqlite3_column_text(who, 1));
	sqlite3_finalize(who);
	snprintf(payload, sizeof payload, "{\"integration_id\":\"%s\"}", hook);
	begin = prepare(db, "begin immediate");
	commit = prepare(db, "commit");
	delivery = prepare(db, INSERT_DELIVERY);
	job = prepare(db, INSERT_JOB);
	began = clock_us(CLOCK_MONOTONIC);
	for (int64_t i = 0; i < count; i++) {
		int64_t us = clock_us(CLOCK_REALTIME);
		struct id id = id_at(us), own = id_at(us);

		if (i % GROUP == 0)
			run(begin);
		snprintf(key, sizeof key, "bare-%d-%lld", (int)(i % 2), (long long)i);
		bind_text(delivery, 1, tenant);
		bind_text(delivery, 2, hook);
		bind_text(delivery, 3, id.text);
		bind_text(delivery, 4, key);
		sqlite3_bind_int64(delivery, 5, us);
		bind_text(delivery, 6, body);
		run(delivery);
		bind_text(job, 1, tenant);
		bind_text(job, 2, own.text);
		bind_text(job, 3, id.text);
		sqlite3_bind_int64(job, 4, us + YEAR_US);
		sqlite3_bind_int64(job, 5, us);
		bind_text(job, 6, "");
		bind_text(job, 7, payload);
		run(job);
		if (i % GROUP == GROUP - 1 || i == count - 1)
			run(commit);
	}
	printf("%lld %lld\n", (long long)count, (long long)(clock_us(CLOCK_MONOTONIC) - began));
	sqlite3_finalize(begin);
	sqlite3_finalize(commit);
	sqlite3_finalize(delivery);
	sqlite3_finalize(job);
	return sqlite3_close(db) != SQLITE_OK;
}
