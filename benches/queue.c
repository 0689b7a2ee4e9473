/* queue.c - what the queue costs: queue STORE JOBS WAITING.
 * On a fresh store with ten tenants, all as work for the store's one writer, durable:
 *   raw    inserts of the same row into a table with one key, in SQLite's own words
 *   add    jobs_add
 *   run    taking and finishing what was added, each job in a transaction of its own
 *   add2   the same two while WAITING jobs of one tenant wait, and how long another's first
 *   run2   job took to begin among them, in milliseconds
 * Prints: raw add run add2 run2 (a second), first (ms). */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/id.h"
#include "queue/runner.h"
#include "store/store.h"

enum { TENANTS = 10, PENDING = 2000 };

static const char payload[] = "{\"session_id\":\"c0hn8z2k4m0000000000000000\",\"step\":1}";

static struct store *store;
static char tenants[TENANTS + 1][ID_LEN + 1];
static _Atomic int pending, over;
static _Atomic int64_t first_at;
static const char *kind_added = "job";

struct piece {
	struct work work;
	struct job *job;
	int number;
	bool raw;
};

static int add_run(struct work *w, struct db *db)
{
	static const struct statement raw = { "raw",
		"insert into bench_raw (tenant_id, id, kind, subject, lane, state, priority, run_at, "
		"attempts, max_attempts, created_at, updated_at, payload) "
		"values ($1, $2, $3, $4, $5, $6, 0, $7, 0, 10, $7, $7, $8)" };
	struct piece *p = (struct piece *)w;
	const char *tenant = tenants[p->number % TENANTS];
	struct job_new in = { .tenant_id = tenant, .kind = kind_added, .payload = payload };
	struct arena a = { 0 };
	char id[26];

	if (p->raw)
		return db_run(db, &raw, NULL,
			ARGS(T(tenant), T(id_new(NULL).text), T("job"), T(""), T(""), T("waiting"),
				N(clock_now_us()), T(payload)));
	if (p->number < 0)
		in.tenant_id = tenants[TENANTS];
	return jobs_add(db, &a, &in, clock_now_us(), id);
}

static void add_done(struct work *w, int err)
{
	if (err) {
		fprintf(stderr, "a job was not added: %d\n", err);
		exit(1);
	}
	free(w);
	pending--;
}

static void submit_add(int number, bool raw)
{
	struct piece *p = calloc(1, sizeof *p);

	p->work = (struct work){ .run = add_run, .done = add_done, .mode = READ_WRITE };
	p->number = number;
	p->raw = raw;
	while (pending >= PENDING)
		usleep(200);
	pending++;
	if (store_submit(store, &p->work))
		exit(1);
}

static double add_many(int count, bool raw)
{
	int64_t began = clock_mono_us();

	for (int i = 0; i < count; i++)
		submit_add(i, raw);
	while (pending)
		usleep(200);
	return count * 1e6 / (double)(clock_mono_us() - began);
}

static int finish_run(struct work *w, struct db *db)
{
	return job_finish(db, ((struct piece *)w)->job, clock_now_us());
}

static void finish_done(struct work *w, int err)
{
	job_over(((struct piece *)w)->job, err);
	free(w);
	over++;
}

static void begin(void *ctx, struct job *job)
{
	struct piece *p = calloc(1, sizeof *p);

	(void)ctx;
	if (strcmp(job->tenant_id, tenants[TENANTS]) == 0 && !first_at)
		first_at = clock_mono_us();
	p->work = (struct work){ .run = finish_run, .done = finish_done, .mode = READ_WRITE };
	p->job = job;
	if (store_submit(store, &p->work))
		exit(1);
}

/* How many jobs are done a second, from now until so many more are. */
static double run_until(int count)
{
	int64_t at = clock_mono_us();
	int from = over, done;

	while ((done = over) < from + count)
		usleep(1000);
	return (done - from) * 1e6 / (double)(clock_mono_us() - at);
}

static void sql(struct db *db, const char *text)
{
	struct statement *st = calloc(1, sizeof *st);

	*st = (struct statement){ "bench", text };
	if (db_begin(db, READ_WRITE) || db_run(db, st, NULL, NO_ARGS) || db_commit(db)) {
		fprintf(stderr, "%s: %s\n", text, db_error(db));
		exit(1);
	}
}

static void prepare(struct db *db, struct arena *a, bool is_postgres)
{
	sql(db, "insert into plans (id, name, slug, monthly_price_pd, created_at) "
		"values ('p', 'P', 'p', 0, 1)");
	for (int i = 0; i <= TENANTS; i++) {
		snprintf(tenants[i], sizeof tenants[i], "%s", id_new(NULL).text);
		sql(db, arena_printf(a,
				"insert into tenants (id, name, slug, plan_id, plan_status, status, paid, "
				"allow_superadmin_access, default_skill_visibility_scope, "
				"external_mail_enabled, voicebox_enabled, require_user_model_grants, "
				"created_at, updated_at) values ('%s', 'T', 't%d', 'p', 'active', 'active', "
				"0, 0, 'tenant', 0, 0, 0, 1, 1)",
				tenants[i], i));
	}
	sql(db, arena_printf(a,
			"create table bench_raw (tenant_id text not null, id text not null, kind text not null, "
			"subject text not null, lane text not null, state text not null, "
			"priority %1$s not null, run_at %1$s not null, attempts %1$s not null, "
			"max_attempts %1$s not null, owner text, created_at %1$s not null, "
			"updated_at %1$s not null, error text, payload text not null, "
			"primary key (tenant_id, id))%2$s",
			is_postgres ? "bigint" : "integer", is_postgres ? "" : " strict"));
}

static struct runner *start_runner(size_t most)
{
	static const struct job_kind kinds[] = { { "job", begin, NULL, NULL },
		{ "later", begin, NULL, NULL } };

	return runner_new(&(struct runner_settings){
		.store = store, .kinds = kinds, .kind_count = 2, .most = most });
}

int main(int argc, char **argv)
{
	struct arena a = { 0 };
	struct problem p = { 0 };
	struct store_settings settings = { .workers = 1, .queue_max = 100000 };
	double raw, add, run, add2, run2;
	struct runner *first, *second;
	int jobs, waiting, from, to;
	int64_t asked;
	struct db *db;

	if (argc != 4 || !crypto_init())
		return 2;
	jobs = atoi(argv[2]);
	waiting = atoi(argv[3]);
	settings.where = argv[1];
	if (store_open(&store, &settings, STORE_NEW, &a, &p) ||
		store_migrate(store, &from, &to, &a, &p) || store_connect(store, &db, &a, &p)) {
		fprintf(stderr, "%s\n", p.detail);
		return 1;
	}
	prepare(db, &a, strncmp(argv[1], "postgres", 8) == 0);
	first = start_runner(512);
	second = start_runner(512);
	if (store_start(store))
		return 1;
	raw = add_many(jobs, true);
	add = add_many(jobs, false);
	runner_start(first);
	run = run_until(jobs * 9 / 10);
	runner_stop(first, 10000);
	add_many(waiting, false);
	add2 = add_many(jobs, false);
	runner_start(second);
	while (over < jobs * 11 / 10)
		usleep(1000);
	asked = clock_mono_us();
	submit_add(-1, false);
	run2 = run_until(jobs * 7 / 10);
	runner_stop(second, 10000);
	printf("%.0f %.0f %.0f %.0f %.0f %.1f\n", raw, add, run, add2, run2,
		first_at ? (double)(first_at - asked) / 1000 : -1.0);
	store_stop(store);
	db_close(db);
	runner_free(first);
	runner_free(second);
	store_close(store);
	return 0;
}
