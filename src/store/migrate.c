/* migrate.c - numbered, embedded, forward-only changes of the tables, under a lock, each in its own
 * transaction.
 *
 * Each says which is the oldest program that can go on where it has run: what only adds takes nothing from those before
 * it, and what is taken away is what no program needs from some version on.  The store keeps the newest of these
 * words, so that a program finds out about migrations it does not know: a store that is newer than the program is
 * served where it admits it, and refused untouched where it does not. */
#include <stdatomic.h>
#include <stdio.h>

#include "base/log.h"
#include "store/engine.h"
#include "store/row.h"

FIELDS(store_version) = {
	ROW_FIELDS(store_version, tables, oldest),
};
static SCHEMA(store_version, .internal = true);

enum { VERSION_READ, VERSION_SET, OLDEST_SET };

static const struct statement sql[] = {
	[VERSION_READ] = { "meta_version",
		"select coalesce((select cast(value as bigint) from meta where key = 'schema_version'), 0) as tables, "
		"coalesce((select cast(value as bigint) from meta where key = 'oldest_program'), 0) as oldest",
		.row = &store_version_schema },
	[VERSION_SET] = { "meta_set_version",
		"update meta set value = $1 where key = 'schema_version'" },
	[OLDEST_SET] = { "meta_set_oldest",
		"insert into meta (key, value) values ('oldest_program', $1) on conflict (key) do update "
		"set value = excluded.value where cast(meta.value as bigint) < cast(excluded.value as bigint)" },
};
STATEMENT_SET(version_sql, sql);

/* A store's version is the number of the last migration it has seen. */
int store_version_wanted(void)
{
	return migrations[migration_count - 1].number;
}

/* The first that a store of this version has not seen, or NULL. */
static const struct migration *next_of(int version)
{
	for (int i = 0; i < migration_count; i++)
		if (migrations[i].number > version)
			return &migrations[i];
	return NULL;
}

static const struct statement table_exists = {
	"meta_exists",
	"select count(*) from sqlite_master where type = 'table' and name = 'meta'",
	.postgres =
		"select count(*) from information_schema.tables where table_schema = current_schema() "
		"and table_name = 'meta'",
	.scan = "the catalogue",
};

int db_store_version(struct db *db, struct store_version *ret)
{
	struct arena a = { 0 };
	int err = db_one(db, &a, &sql[VERSION_READ], ret, NO_ARGS);

	if (!err)
		atomic_store(&db->store->seen_version, (int)ret->tables);
	arena_free(&a);
	return err;
}

int db_store_admit_from(struct db *db, int version)
{
	char text[16];

	snprintf(text, sizeof text, "%d", version);
	return db_run(db, &sql[OLDEST_SET], NULL, ARGS(T(text)));
}

/* The same where it may be empty. */
static int version_of(struct db *db, struct store_version *ret)
{
	int64_t n = 0;
	int err = db_int(db, &table_exists, &n, NO_ARGS);

	*ret = (struct store_version){ 0 };
	return err || !n ? err : db_store_version(db, ret);
}

bool store_version_newer(const struct store_version *v)
{
	return v->tables > store_version_wanted();
}

bool store_version_admits(const struct store_version *v)
{
	return !store_version_newer(v) || (v->oldest && v->oldest <= store_version_wanted());
}

int store_version_seen(const struct store *s)
{
	return atomic_load(&s->seen_version);
}

int store_version_refuse(
	const struct store_version *v, const char *what, struct arena *a, struct problem *p)
{
	return problem_set(p, a, ERR_STORE,
		"%s is at version %lld%s and this program only knows %d: use a newer lodge", what,
		(long long)v->tables,
		v->oldest ? arena_printf(
				    a, ", for programs from version %lld on,", (long long)v->oldest)
			  : "",
		store_version_wanted());
}

void version_told(const struct store_version *v)
{
	log_warn("the store is newer than this program, which it still admits: replace it soon",
		LOG_N("version", v->tables), LOG_N("oldest_admitted", v->oldest),
		LOG_N("known", store_version_wanted()));
}

static int apply_migration(struct db *db, const struct migration *m)
{
	struct arena scratch = { 0 };
	int err = db->engine->script(db, statement_script(&scratch, db->engine, m->name, m->sql));

	if (!err)
		err = db_run(db, &sql[VERSION_SET], NULL,
			ARGS(T(arena_printf(&scratch, "%d", m->number))));
	if (!err)
		err = db_run(db, &sql[OLDEST_SET], NULL,
			ARGS(T(arena_printf(&scratch, "%d", m->admits))));
	arena_free(&scratch);
	return err;
}

/* Two processes that start at once over one PostgreSQL: the second waits, and finds nothing to do.
 * The lock is the connection's and not the transaction's, whose view of the tables would date from
 * before the wait. */
static int lock_migrations(struct db *db)
{
	if (db->engine == &sqlite_engine)
		return 0; /* `begin immediate` is the lock */
	return db->engine->script(db, "select pg_advisory_lock(7011081)");
}

/* The number of what could not be done. */
static int failing(const struct store_version *v)
{
	const struct migration *m = next_of((int)v->tables);

	return m ? m->number : (int)v->tables;
}

static int migrate_one(struct db *db, struct store_version *ret)
{
	const struct migration *m = NULL;
	int err = db_begin(db, READ_WRITE);

	if (!err)
		err = version_of(db, ret);
	if (!err)
		m = next_of((int)ret->tables);
	if (m)
		err = apply_migration(db, m);
	if (m && !err)
		err = version_of(db, ret);
	if (err)
		db_rollback(db);
	else
		err = db_commit(db);
	return err;
}

int store_migrate(struct store *s, int *ret_from, int *ret_to, struct arena *a, struct problem *p)
{
	return store_migrate_to(s, store_version_wanted(), ret_from, ret_to, a, p);
}

static const struct statement copy_exists = {
	"copy_exists",
	"select count(*) from sqlite_master where type = 'table' and name = 'copy_under_way'",
	.postgres = "select count(*) from pg_class where relname = 'copy_under_way' "
		    "and relnamespace = current_schema()::regnamespace",
	.scan = "the catalogue",
};

int copy_unfinished(struct db *db, bool *ret)
{
	int64_t there = 0;
	int err = db_int(db, &copy_exists, &there, NO_ARGS);

	*ret = there > 0;
	return err;
}

/* A copy that is not complete is no store, and one that is being copied is not written to. */
static int refuse_copies(struct db *db, bool to_write, struct arena *a, struct problem *p)
{
	bool unfinished = false, admits = true;
	int err = db->store->filling ? 0 : copy_unfinished(db, &unfinished);

	if (!err && to_write && !db->store->filling)
		err = served_admits(db, &admits);
	if (err)
		return problem_set(p, a, err, "the store cannot be read: %s", db_error(db));
	if (unfinished)
		return problem_set(p, a, ERR_STORE,
			"the store is a copy that is not complete: run the same lodge copy or lodge restore again, which goes "
			"on where it was; lodge copy --anew begins it again");
	if (!admits)
		return problem_set(p, a, ERR_STORE,
			"the store is being copied by lodge copy: wait until that has ended");
	return 0;
}

/* Before anything is changed in what is not what it says.  It takes a tenth of a second, and so is left to
 * `lodge check` for an SQLite store with nothing to change: its file is put back whole or not at all. */
static int check_before(const struct store *s, struct db *db, const struct store_version *v,
	int most, struct arena *a, struct problem *p)
{
	const char *beyond;

	if (!v->tables || !store_version_admits(v) || (v->tables >= most && store_is_sqlite(s)))
		return 0;
	return shape_check(db, (int)v->tables, &beyond, a, p);
}

int store_migrate_to(
	struct store *s, int most, int *ret_from, int *ret_to, struct arena *a, struct problem *p)
{
	struct db *db;
	struct store_version v = { 0 };
	int err = store_connect(s, &db, a, p);

	if (err)
		return err;
	err = refuse_copies(db, true, a, p);
	if (err) {
		db_close(db);
		return err;
	}
	err = lock_migrations(db);
	if (!err)
		err = version_of(db, &v);
	if (!err && (err = check_before(s, db, &v, most, a, p))) {
		db_close(db);
		return err;
	}
	*ret_from = (int)v.tables;
	while (!err && v.tables < most && next_of((int)v.tables)) {
		err = migrate_one(db, &v);
		if (err == ERR_RETRY)
			err = 0;
		db_forget(db); /* what was prepared speaks of the old tables */
	}
	*ret_to = (int)v.tables;
	if (err)
		problem_set(p, a, err, "migration %d failed: %s", failing(&v), db_error(db));
	else if (!store_version_admits(&v))
		err = store_version_refuse(&v, "the store", a, p);
	else if (store_version_newer(&v))
		version_told(&v);
	db_close(db);
	return err;
}

int store_version(struct store *s, struct store_version *ret, struct arena *a, struct problem *p)
{
	struct db *db;
	int err = store_connect(s, &db, a, p);

	if (err)
		return err;
	err = version_of(db, ret);
	if (err)
		problem_set(p, a, err, "the store cannot be read: %s", db_error(db));
	else
		err = refuse_copies(db, false, a, p);
	db_close(db);
	return err;
}
