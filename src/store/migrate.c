/* migrate.c - numbered, embedded, forward-only changes of the tables, under a lock, each in its own
 * transaction.  A store that is newer than the program is refused, untouched. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "store/engine.h"

static const struct statement sql[] = {
	{ "meta_version", "select value from meta where key = 'schema_version'",
		.scan = "one row" },
	{ "meta_set_version", "update meta set value = $1 where key = 'schema_version'",
		.scan = "one row" },
};

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

static int version_of(struct db *db, int *ret)
{
	int64_t n = 0;
	int err = db_int(db, &table_exists, &n, NO_ARGS);

	*ret = 0;
	if (err || !n)
		return err;
	err = db_int(db, &sql[0], &n, NO_ARGS);
	*ret = (int)n;
	return err;
}

static int apply_migration(struct db *db, const struct migration *m)
{
	struct arena scratch = { 0 };
	char number[16];
	int err = db->engine->script(db, statement_script(&scratch, db->engine, m->name, m->sql));

	snprintf(number, sizeof number, "%d", m->number);
	if (!err)
		err = db_run(db, &sql[1], NULL, ARGS(T(number)));
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

static int migrate_one(struct db *db, int *ret_version)
{
	const struct migration *m = NULL;
	int err = db_begin(db, READ_WRITE);

	if (!err)
		err = version_of(db, ret_version);
	if (!err)
		m = next_of(*ret_version);
	if (m)
		err = apply_migration(db, m);
	if (m && !err)
		*ret_version = m->number;
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

int store_migrate_to(
	struct store *s, int most, int *ret_from, int *ret_to, struct arena *a, struct problem *p)
{
	struct db *db;
	const char *beyond;
	int err = store_connect(s, &db, a, p), version;

	if (err)
		return err;
	err = refuse_copies(db, true, a, p);
	if (err) {
		db_close(db);
		return err;
	}
	err = lock_migrations(db);
	if (!err)
		err = version_of(db, ret_from);
	/* Before anything is changed in what is not what it says.  It takes a tenth of a second, and so is left to
	 * `lodge check` for an SQLite store with nothing to change: its file is put back whole or not at all. */
	if (!err && *ret_from > 0 && *ret_from <= store_version_wanted() &&
		(*ret_from < most || !store_is_sqlite(s))) {
		err = shape_check(db, *ret_from, &beyond, a, p);
		if (err) {
			db_close(db);
			return err;
		}
	}
	for (version = *ret_from; !err && version < most && next_of(version);) {
		err = migrate_one(db, &version);
		if (err == ERR_RETRY)
			err = 0;
		db_forget(db); /* what was prepared speaks of the old tables */
	}
	*ret_to = version;
	if (err)
		problem_set(p, a, err, "migration %d failed: %s",
			next_of(version) ? next_of(version)->number : version, db_error(db));
	else if (version > store_version_wanted())
		err = problem_set(p, a, ERR_STORE,
			"the store is at version %d and this program only knows %d: use a newer lodge",
			version, store_version_wanted());
	db_close(db);
	return err;
}

int store_version(struct store *s, int *ret, struct arena *a, struct problem *p)
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
