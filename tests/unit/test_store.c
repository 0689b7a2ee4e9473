/* test_store.c - the store on the engine under test: statements and their plans, migrations, work that
 * shares commits, copies, and what happens when the server goes away. */
#include "fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve/registry.h"
#include "store/engine.h"

static int arguments(const char *sql, char mark)
{
	int most = 0;

	for (const char *p = strchr(sql, mark); p; p = strchr(p + 1, mark))
		most = atoi(p + 1) > most ? atoi(p + 1) : most;
	return most;
}

/* The plan as text, one step a line. */
static const char *plan_of(struct db *db, struct arena *a, const struct statement *st)
{
	struct statement explain = { "explain", .scan = "a test" };
	struct statement_form form;
	const char *plan = "";
	struct prepared *p;

	statement_form(a, db->engine, st, &form);
	if (db->engine == &sqlite_engine) {
		explain.sql = arena_printf(a, "explain query plan %s", form.text);
	} else {
		const char *nulls = "";

		for (int i = 0, n = arguments(form.text, '$'); i < n; i++)
			nulls = arena_printf(a, "%s%snull", nulls, i ? ", " : "");
		if (db->engine->script(
			    db, arena_printf(a, "deallocate all; prepare q as %s", form.text)))
			test_fail(__FILE__, __LINE__, "%s: %s", st->name, db_error(db));
		db_forget(db);
		explain.sql = arena_printf(a,
			*nulls ? "explain (costs off) execute q(%s)"
			       : "explain (costs off) execute q%s",
			nulls);
	}
	if (db_prepare(db, &explain, &p) || db->engine->run(db, p, NO_ARGS)) {
		test_fail(__FILE__, __LINE__, "%s: %s", st->name, db_error(db));
		return "";
	}
	while (db->engine->step(db, p) > 0) {
		size_t len;

		plan = arena_printf(
			a, "%s%s\n", plan, db->engine->text(db, p, p->columns - 1, &len));
	}
	db->engine->reset(db, p);
	db_forget(db);
	return plan;
}

static void check_plan(struct db *db, struct arena *a, const struct statement *st)
{
	const char *plan = plan_of(db, a, st);
	const char *scan = db->engine == &sqlite_engine ? "SCAN " : "Seq Scan on ";

	for (const char *p = strstr(plan, scan); p && !st->scan; p = strstr(p + 1, scan)) {
		const char *what = p + strlen(scan);

		/* An index is read from its start to its end, or a row made of constants. */
		if (strncmp(what, "CONSTANT", 8) == 0 || strncmp(what, "(subquery", 9) == 0)
			continue;
		test_fail(__FILE__, __LINE__, "%s reads a whole table:\n%s", st->name, plan);
		break;
	}
}

TEST(store_every_statement_prepares_and_none_reads_a_whole_table)
{
	struct fixture *f = fixture_open();
	struct set_walk walk = { 0 };
	const struct statement_set *set;
	struct problem p = { 0 };
	struct db *db;

	CHECK_INT(store_connect(f->app.store, &db, &f->arena, &p), 0);
	if (!fixture_is_sqlite())
		CHECK_INT(
			db->engine->script(db,
				"set enable_seqscan = off; set plan_cache_mode = force_generic_plan"),
			0);
	while ((set = api_next_set(&walk))) {
		for (size_t k = 0; k < set->count; k++) {
			const struct statement *st = &set->list[k];

			test_step("%s", st->name);
			if (db_try(db, st))
				test_fail(__FILE__, __LINE__, "%s", db_error(db));
			check_plan(db, &f->arena, st);
		}
	}
	db_close(db);
	fixture_close(f);
}

/* A store says of itself that it is so new, and good for programs from `oldest` on; NULL: nothing of that. */
static void claim_version(struct fixture *f, const char *tables, const char *oldest)
{
	fixture_sql(f, "update meta set value = $1 where key = 'schema_version'", ARGS(T(tables)));
	fixture_sql(f, "delete from meta where key = 'oldest_program'", NO_ARGS);
	if (oldest)
		fixture_sql(f, "insert into meta (key, value) values ('oldest_program', $1)",
			ARGS(T(oldest)));
}

TEST(store_migrates_once_and_serves_a_newer_store_that_admits_it)
{
	struct fixture *f = fixture_open();
	struct problem p = { 0 };
	int from, to;

	CHECK_INT(store_migrate(f->app.store, &from, &to, &f->arena, &p), 0);
	CHECK_INT(from, store_version_wanted());
	CHECK_INT(to, from);
	claim_version(f, "9999", arena_printf(&f->arena, "%d", store_version_wanted()));
	CHECK_INT(store_migrate(f->app.store, &from, &to, &f->arena, &p), 0);
	CHECK_INT(to, 9999);
	CHECK_INT(store_version_seen(f->app.store), 9999);
	claim_version(f, "9999", arena_printf(&f->arena, "%d", store_version_wanted() + 1));
	CHECK_INT(store_migrate(f->app.store, &from, &to, &f->arena, &p), ERR_STORE);
	CHECK(strstr(p.detail, "9999") && strstr(p.detail, "newer"));
	claim_version(f, "9999", NULL);
	CHECK_INT(store_migrate(f->app.store, &from, &to, &f->arena, &p), ERR_STORE);
	CHECK(strstr(p.detail, "9999") && strstr(p.detail, "newer"));
	fixture_close(f);
}

TEST(store_belongs_to_one_server_on_sqlite)
{
	struct fixture *f;
	struct store *second = NULL;
	struct store_settings settings = { .workers = 1, .queue_max = 1 };
	struct problem p = { 0 };

	SKIP_UNLESS(fixture_is_sqlite());
	f = fixture_open();
	settings.where = f->where;
	CHECK_INT(store_open(&second, &settings, STORE_SERVE, &f->arena, &p), ERR_STORE);
	CHECK(strstr(p.detail, "in use by another lodge"));
	p = (struct problem){ 0 };
	CHECK_INT(store_open(&second, &settings, STORE_BESIDE, &f->arena, &p), 0);
	store_close(second);
	fixture_close(f);
}

/* Pieces of work that insert a row each; every third fails by its own decision. */
struct piece {
	struct work work;
	int number;
	_Atomic int verdict; /* 1: not told yet */
};

static int piece_run(struct work *w, struct db *db)
{
	static const struct statement insert = { "test",
		"insert into meta (key, value) values ($1, 'x')" };
	struct piece *p = (struct piece *)w;
	char key[32];
	int err;

	snprintf(key, sizeof key, "piece %d", p->number);
	err = db_run(db, &insert, NULL, ARGS(T(key)));
	return err ? err : p->number % 3 == 0 ? ERR_CONFLICT : 0;
}

static void piece_done(struct work *w, int err)
{
	((struct piece *)w)->verdict = err;
}

struct crowd {
	struct fixture *f;
	struct piece *pieces;
	int from, to;
};

static void *submit_all(void *arg)
{
	struct crowd *c = arg;

	for (int i = c->from; i < c->to; i++) {
		c->pieces[i] = (struct piece){
			.work = { .run = piece_run, .done = piece_done, .mode = READ_WRITE },
			.number = i,
			.verdict = 1
		};
		if (store_submit(c->f->app.store, &c->pieces[i].work))
			test_fail(__FILE__, __LINE__, "not taken");
	}
	return NULL;
}

TEST(store_work_that_fails_leaves_no_trace_and_does_not_touch_its_neighbours)
{
	enum { PIECES = 600, THREADS = 4 };
	struct fixture *f = fixture_open();
	struct piece *pieces = calloc(PIECES, sizeof *pieces);
	struct crowd crowds[THREADS];
	pthread_t threads[THREADS];
	struct store_stats stats;

	for (int t = 0; t < THREADS; t++) {
		crowds[t] = (struct crowd){ f, pieces, t * PIECES / THREADS,
			(t + 1) * PIECES / THREADS };
		pthread_create(&threads[t], NULL, submit_all, &crowds[t]);
	}
	for (int t = 0; t < THREADS; t++)
		pthread_join(threads[t], NULL);
	for (int i = 0; i < PIECES; i++) {
		while (pieces[i].verdict == 1)
			usleep(1000);
		CHECK_INT(pieces[i].verdict, i % 3 == 0 ? ERR_CONFLICT : 0);
	}
	CHECK_INT(fixture_count(f, "select count(*) from meta where key like 'piece %'"),
		PIECES - PIECES / 3);
	stats = store_stats(f->app.store);
	CHECK(stats.commits < PIECES / 2); /* many shared a commit */
	fixture_close(f);
	free(pieces);
}

/* Inserts a row that every third finds there, says so in its own words, and goes on otherwise. */
static int twin_run(struct work *w, struct db *db)
{
	static const struct statement insert = { "test",
		"insert into meta (key, value) values ($1, 'x')" };
	static const struct statement look = { "test", "select count(*) from meta where key = $1" };
	struct piece *p = (struct piece *)w;
	char key[32];
	int64_t n = 0;
	int err;

	snprintf(key, sizeof key, "twin %d", p->number % 3 ? p->number : 0);
	err = db_run(db, &insert, NULL, ARGS(T(key)));
	if (err == ERR_DUPLICATE)
		return ERR_CONFLICT;
	if (!err)
		err = db_int(db, &look, &n, ARGS(T(key)));
	return err ? err : n == 1 ? 0 : ERR_INTERNAL;
}

TEST(store_a_change_that_nobody_waited_for_fails_at_its_place_and_alone)
{
	enum { PIECES = 60 };
	struct fixture *f = fixture_open();
	struct piece pieces[PIECES] = { 0 };

	for (int round = 0; round < 2; round++) { /* each with its own commits, then all in one */
		for (int i = 0; i < PIECES; i++) {
			pieces[i] = (struct piece){
				.work = { .run = twin_run, .done = piece_done, .mode = READ_WRITE },
				.number = round * PIECES + i,
				.verdict = 1
			};
			CHECK_INT(store_submit(f->app.store, &pieces[i].work), 0);
			while (!round && pieces[i].verdict == 1)
				usleep(100);
		}
		for (int i = 0; i < PIECES; i++) {
			while (pieces[i].verdict == 1)
				usleep(1000);
			CHECK_INT(pieces[i].verdict, i % 3 || (!i && !round) ? 0 : ERR_CONFLICT);
		}
	}
	CHECK_INT(fixture_count(f, "select count(*) from meta where key like 'twin %'"),
		1 + 2 * PIECES * 2 / 3);
	fixture_close(f);
}

/* Reads one row that all read and writes it, with a while in between: of those that run beside each other only one
 * can be committed. */
static int rival_run(struct work *w, struct db *db)
{
	static const struct statement look = { "test",
		"select cast(value as integer) from meta where key = 'rivals'" };
	static const struct statement put = {
		"test", "update meta set value = cast($1 as integer) where key = 'rivals'",
		.postgres = "update meta set value = cast($1 as bigint)::text where key = 'rivals'"
	};
	int64_t n = 0;
	int err = db_int(db, &look, &n, NO_ARGS);

	(void)w;
	usleep(10000);
	return err ? err : db_run(db, &put, NULL, ARGS(N(n + 1)));
}

static int rivals_row(struct db *db, void *data)
{
	static const struct statement insert = { "test",
		"insert into meta (key, value) values ('rivals', '0')" };

	(void)data;
	return db_run(db, &insert, NULL, NO_ARGS);
}

/* On PostgreSQL as many processes as there are stores write at once: each waits for the others, and none is asked to
 * run again. */
TEST(store_work_that_meets_that_of_other_processes_comes_through)
{
	enum { PIECES = 48, STORES = 4 };
	struct fixture *f = fixture_open();
	struct store_settings settings = { f->where, .workers = 2, .queue_max = PIECES };
	struct piece pieces[PIECES] = { 0 };
	struct store *stores[STORES] = { f->app.store };
	struct problem p = { 0 };
	int count = fixture_is_sqlite() ? 1 : STORES;

	CHECK_INT(fixture_work(f, rivals_row, NULL), 0);
	for (int i = 1; i < count; i++) {
		CHECK_INT(store_open(&stores[i], &settings, STORE_BESIDE, &f->arena, &p), 0);
		CHECK_INT(store_start(stores[i]), 0);
	}
	for (int i = 0; i < PIECES; i++) {
		pieces[i].work =
			(struct work){ .run = rival_run, .done = piece_done, .mode = READ_WRITE };
		pieces[i].verdict = 1;
		CHECK_INT(store_submit(stores[i % count], &pieces[i].work), 0);
	}
	for (int i = 0; i < PIECES; i++) {
		while (pieces[i].verdict == 1)
			usleep(1000);
		CHECK_INT(pieces[i].verdict, 0);
	}
	CHECK_INT(fixture_count(f, "select cast(value as integer) from meta where key = 'rivals'"),
		PIECES);
	for (int i = 0; i < count; i++)
		CHECK_INT(store_stats(stores[i]).retries, 0);
	for (int i = 1; i < count; i++) {
		store_stop(stores[i]);
		store_close(stores[i]);
	}
	fixture_close(f);
}

/* Some hundred pages that no commit shares with another. */
static int write_pages(struct db *db, void *data)
{
	static const struct statement insert = { "test",
		"insert into meta (key, value) values ('pages', hex(randomblob(200000))) "
		"on conflict (key) do update set value = excluded.value" };

	(void)data;
	return db_run(db, &insert, NULL, NO_ARGS);
}

/* The log begins anew when its pages are in the file, though not under somebody who reads. */
TEST(store_keeps_the_log_short_on_sqlite)
{
	enum { COMMITS = 100, PAGES = 90, PAGE = 4096, MOST = 34000 };
	static const struct statement count = { "test", "select count(*) from meta",
		.scan = "a test" };
	struct fixture *f;
	struct db *reader = NULL;
	struct problem p = { 0 };
	struct stat log;
	int64_t n = 0, before = 0;

	SKIP_UNLESS(fixture_is_sqlite());
	f = fixture_open();
	CHECK_INT(store_connect(f->app.store, &reader, &f->arena, &p), 0);
	CHECK_INT(db_begin(reader, READ_ONLY), 0);
	CHECK_INT(db_int(reader, &count, &before, NO_ARGS), 0);
	for (int i = 0; i < COMMITS; i++)
		CHECK_INT(fixture_work(f, write_pages, NULL), 0);
	CHECK_INT(db_int(reader, &count, &n, NO_ARGS), 0);
	CHECK_INT(n, before);
	db_close(reader);
	for (int i = 0; i < 3 * COMMITS; i++)
		CHECK_INT(fixture_work(f, write_pages, NULL), 0);
	CHECK_INT(stat(arena_printf(&f->arena, "%s-wal", f->where + strlen("sqlite:")), &log), 0);
	CHECK(log.st_size > (off_t)COMMITS * PAGES * PAGE);
	CHECK(log.st_size < (off_t)MOST * PAGE); /* however slow the disk; all of them are more */
	fixture_close(f);
}

static int write_many(struct db *db, void *data)
{
	static const struct statement insert = { "test",
		"insert into meta (key, value) values ($1, 'x') "
		"on conflict (key) do update set value = 'y'" };
	char key[32];
	int err = 0;

	for (int i = 0; i < 500 && !err; i++) {
		snprintf(key, sizeof key, "many %d %d", *(int *)data, i);
		err = db_run(db, &insert, NULL, ARGS(T(key)));
	}
	return err;
}

/* What was planned while a table was empty is planned anew soon after it has grown. */
TEST(store_has_the_server_look_at_tables_that_grow_on_postgres)
{
	struct fixture *f;
	int64_t looked = 0;

	SKIP_UNLESS(!fixture_is_sqlite());
	f = fixture_open();
	for (int i = 0; i < 1000 && !looked; i++) {
		CHECK_INT(fixture_work(f, write_many, &i), 0);
		looked = fixture_count(f,
			"select count(*) from pg_stat_user_tables where relname = 'meta' "
			"and schemaname = current_schema() and analyze_count > 0");
	}
	CHECK_INT(looked, 1);
	fixture_close(f);
}

TEST(store_copies_itself_while_it_is_used)
{
	struct fixture *f = fixture_open();
	struct store_settings settings = { .workers = 1, .queue_max = 1 };
	struct store *copy = NULL;
	struct problem p = { 0 };
	struct db *db = NULL;
	struct statement count = { "test", "select count(*) from agents", .scan = "a test" };
	char path[] = "/tmp/lodge-copy.XXXXXX";
	int64_t n = 0;

	CHECK(mkdtemp(path) != NULL);
	settings.where = arena_printf(&f->arena, "sqlite:%s/copy.db", path);
	for (int i = 0; i < 5; i++)
		STATUS(ask(f, f->admin,
			       arena_printf(
				       &f->arena, "{\"name\":\"Ä quote\",\"slug\":\"s%d\"}", i),
			       "POST /tenant/%s/agents", f->tenant_id),
			422);
	for (int i = 0; i < 5; i++)
		STATUS(ask(f, f->admin,
			       arena_printf(&f->arena,
				       "{\"name\":\"A\",\"slug\":\"s%d\",\"description\":\"é '\\\" \\\\ %d\"}",
				       i, i),
			       "POST /tenant/%s/agents", f->tenant_id),
			201);
	CHECK_INT(store_backup(f->app.store, settings.where + 7, &f->arena, &p), 0);
	CHECK_INT(store_backup(f->app.store, settings.where + 7, &f->arena, &p), ERR_STORE);
	CHECK(p.detail && strstr(p.detail, "File exists"));
	p = (struct problem){ 0 };
	CHECK_INT(store_open(&copy, &settings, STORE_BESIDE, &f->arena, &p), 0);
	CHECK_INT(store_check(copy, &f->arena, &p), 0);
	CHECK_INT(store_connect(copy, &db, &f->arena, &p), 0);
	CHECK_INT(db_int(db, &count, &n, NO_ARGS), 0);
	CHECK_INT(n, 5);
	db_close(db);
	store_close(copy);
	CHECK_INT(system(arena_printf(&f->arena, "rm -rf %s", path)), 0);
	fixture_close(f);
}

TEST(store_comes_back_after_its_connections_are_cut)
{
	struct fixture *f;

	SKIP_UNLESS(!fixture_is_sqlite());
	f = fixture_open();
	STATUS(ask(f, f->admin, NULL, "GET /me"), 200);
	for (int round = 0; round < 3; round++) {
		int status = 0;

		fixture_count(f,
			"select count(pg_terminate_backend(pid)) from pg_stat_activity "
			"where pid <> pg_backend_pid() and usename = current_user and query not like '%terminate%' "
			"and datname = current_database()");
		for (int i = 0; i < 10 && status != 200; i++)
			status = ask(f, f->admin, NULL, "GET /me").status;
		CHECK_INT(status, 200);
		STATUS(ask(f, f->admin, "{\"name\":\"A\",\"slug\":\"a\"}",
			       "POST /tenant/%s/agents\nIdempotency-Key: k", f->tenant_id),
			201);
	}
	CHECK_INT(fixture_count(f, "select count(*) from agents"), 1);
	fixture_close(f);
}
