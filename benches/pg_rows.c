/* pg_rows.c - the floor under "create" and "webhooks" on PostgreSQL: the rows of an agent, or what an accepted event
 * leaves, inserted by a plain loop.
 *
 *   pg_rows URL agents ROWS
 *   pg_rows URL events ROWS BODY
 *
 * The same rows as the service writes, prepared once, sent in libpq's pipeline,
 * 64 to a commit, into what is in the store.  No HTTP, no JSON, no permissions.
 * Prints rows and microseconds. */
#include <libpq-fe.h>
#include <stdarg.h>
#include <stdbool.h>

#include "hook_rows.h"
#include "rows.h"

enum { GROUP = 64, ANALYZED = 16 * GROUP - 1, BODY_MAX = 1 << 20, ARGS_MAX = 10 };

static PGconn *conn;
static int owed;

static void fail(const char *what)
{
	fprintf(stderr, "%s: %s", what, PQerrorMessage(conn));
	exit(1);
}

/* ?1 becomes $1: the texts are those of SQLite. */
static void tell(const char *name, const char *sql)
{
	char *text = strdup(sql);
	PGresult *r;

	for (char *p = text; (p = strchr(p, '?')); p++)
		*p = '$';
	r = PQprepare(conn, name, text, 0, NULL);
	if (PQresultStatus(r) != PGRES_COMMAND_OK)
		fail(text);
	PQclear(r);
	free(text);
}

static void put(const char *name, int count, ...)
{
	const char *values[ARGS_MAX];
	va_list ap;

	va_start(ap, count);
	for (int i = 0; i < count; i++)
		values[i] = va_arg(ap, const char *);
	va_end(ap);
	if (!PQsendQueryPrepared(conn, name, count, values, NULL, NULL, 0))
		fail(name);
	owed++;
}

/* Until all that was sent is answered. */
static void settle(void)
{
	PGresult *r;

	if (!PQpipelineSync(conn))
		fail("sync");
	for (; owed; owed--) {
		r = PQgetResult(conn);
		if (PQresultStatus(r) != PGRES_COMMAND_OK)
			fail("a row");
		PQclear(r);
		PQclear(PQgetResult(conn));
	}
	PQclear(PQgetResult(conn));
}

static void find(const char *sql, char *one, char *two)
{
	PGresult *r = PQexec(conn, sql);

	if (PQresultStatus(r) != PGRES_TUPLES_OK || !PQntuples(r))
		fail(sql);
	snprintf(one, 64, "%s", PQgetvalue(r, 0, 0));
	snprintf(two, 64, "%s", PQgetvalue(r, 0, 1));
	PQclear(r);
}

static void put_agent(const char *tenant, const char *user, int64_t i)
{
	int64_t us = clock_us(CLOCK_REALTIME);
	struct id id = id_at(us), entry = id_at(us);
	char slug[64], words[64], time[32], *word, *rest = words;
	static const char *const scores[] = { "0", "3", "6" };

	snprintf(time, sizeof time, "%lld", (long long)us);
	snprintf(slug, sizeof slug, "support-desk-%010lld", (long long)i);
	snprintf(words, sizeof words, "support desk %010lld", (long long)i);
	put("agent", 10, tenant, id.text, NAME, slug, user, time, "support desk", DESCRIPTION,
		GREETING, PROMPT);
	put("directory", 2, id.text, tenant);
	put("role", 4, tenant, id.text, user, time);
	put("thing", 6, tenant, "agent", id.text, NAME, slug, words);
	for (int place = 0; (word = strsep(&rest, " ")); place++)
		put("word", 5, tenant, "agent", scores[place], word, id.text);
	put("audit", 5, entry.text, tenant, user, id.text, time);
}

static void put_event(const char *tenant, const char *hook, const char *body, int64_t i)
{
	int64_t us = clock_us(CLOCK_REALTIME);
	struct id id = id_at(us), own = id_at(us);
	char key[64], payload[96], time[32], due[32];

	snprintf(time, sizeof time, "%lld", (long long)us);
	snprintf(due, sizeof due, "%lld", (long long)(us + YEAR_US));
	snprintf(key, sizeof key, "bare-%d-%lld", (int)(i % 2), (long long)i);
	snprintf(payload, sizeof payload, "{\"integration_id\":\"%s\"}", hook);
	put("delivery", 6, tenant, hook, id.text, key, time, body);
	put("job", 7, tenant, own.text, id.text, due, time, "", payload);
}

/* Microseconds, which are not the loop's own. */
static int64_t look_at_tables(void)
{
	int64_t began = clock_us(CLOCK_MONOTONIC);

	if (!PQexitPipelineMode(conn))
		fail("the pipeline");
	PQclear(PQexec(conn, "analyze"));
	if (!PQenterPipelineMode(conn))
		fail("the pipeline");
	return clock_us(CLOCK_MONOTONIC) - began;
}

int main(int argc, char **argv)
{
	static char body[BODY_MAX];
	bool events = argc == 5 && strcmp(argv[2], "events") == 0;
	char one[64], two[64];
	int64_t count, began;
	FILE *f;

	if (argc < 4)
		return fprintf(stderr, "pg_rows URL agents|events ROWS [BODY]\n"), 2;
	if (events) {
		f = fopen(argv[4], "r");
		if (!f || !fread(body, 1, sizeof body - 1, f))
			return fprintf(stderr, "%s cannot be read\n", argv[4]), 1;
		fclose(f);
	}
	conn = PQconnectdb(argv[1]);
	if (PQstatus(conn) != CONNECTION_OK)
		fail("cannot connect");
	PQclear(PQexec(conn, "set synchronous_commit = on"));
	find(events ? "select tenant_id, id from integrations limit 1"
		    : "select tenant_id, user_id from api_keys limit 1",
		one, two);
	tell("begin", "begin");
	tell("commit", "commit");
	tell("agent", "insert into agent_rows (" AGENT_NAMES ") values (" AGENT_VALUES ")");
	tell("directory", INSERT_DIRECTORY);
	tell("role", INSERT_ROLE);
	tell("thing", INSERT_THING);
	tell("word", INSERT_WORD);
	tell("audit", INSERT_AUDIT);
	tell("delivery", INSERT_DELIVERY);
	tell("job", INSERT_JOB);
	if (!PQenterPipelineMode(conn))
		fail("the pipeline");
	count = atoll(argv[3]);
	began = clock_us(CLOCK_MONOTONIC);
	for (int64_t i = 0; i < count; i++) {
		if (i % GROUP == 0)
			put("begin", 0);
		if (events)
			put_event(one, two, body, i);
		else
			put_agent(one, two, i);
		if (i % GROUP == GROUP - 1 || i == count - 1) {
			put("commit", 0);
			settle();
		}
		/* As Lodge has the server look at tables that have grown: without it this loop took three times as long. */
		if (i == ANALYZED)
			began += look_at_tables();
	}
	printf("%lld %lld\n", (long long)count, (long long)(clock_us(CLOCK_MONOTONIC) - began));
	PQfinish(conn);
	return 0;
}
