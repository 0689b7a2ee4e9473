/* backup.c - a consistent copy while others work, and a check that a store is sound.
 *
 * Whatever the engine, the copy is an SQLite store that `lodge serve` can
 * open: from SQLite by VACUUM INTO, from PostgreSQL table by table inside one
 * repeatable-read transaction. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/engine.h"

enum { FETCH_ROWS = 1000 };

/* A statement made at run time; the connection must forget it before the arena goes. */
static struct statement *made(struct arena *a, const char *sql)
{
	struct statement *st = arena_new(a, struct statement);

	st->name = "made";
	st->sql = sql;
	return st;
}

/* An empty file of our own, so that nothing that exists is written over. */
static int create_empty(const char *path, struct arena *a, struct problem *p)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return problem_set(p, a, ERR_STORE, "cannot make %s: %s", path, strerror(errno));
	close(fd);
	return 0;
}

static int sync_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;

	if (fd < 0)
		return ERR_STORE;
	err = fsync(fd) ? ERR_STORE : 0;
	close(fd);
	return err;
}

static int copy_row(
	struct db *from, struct prepared *source, struct db *to, const struct statement *insert)
{
	struct value args[DB_ARGS];
	struct arena scratch = { 0 };
	int err;

	for (int i = 0; i < source->columns; i++) {
		bool bytes = from->engine->is_bytes(from, source, i);
		size_t len;
		const char *at = bytes ? from->engine->bytes(from, source, i, &scratch, &len)
				       : from->engine->text(from, source, i, &len);

		args[i] = !at	  ? value_text(NULL)
			  : bytes ? value_bytes(at, len)
				  : (struct value){ VALUE_TEXT, 0, at, len };
	}
	err = db_run(to, insert, NULL, args, (size_t)source->columns);
	arena_free(&scratch);
	return err;
}

/* The columns of a table, as "a, b, c", and as many placeholders; a place is given anew. */
static int columns_of(
	struct db *to, struct arena *a, const char *table, char **ret_names, char **ret_marks)
{
	struct statement *st = made(a,
		arena_printf(a,
			"select name from pragma_table_info('%s') where name <> 'place' order by cid",
			table));
	struct prepared *p;
	int err = db_prepare(to, st, &p), n = 0;

	*ret_names = *ret_marks = arena_strdup(a, "");
	if (!err)
		err = to->engine->run(to, p, NO_ARGS);
	while (!err && to->engine->step(to, p) > 0) {
		size_t len;
		const char *name = to->engine->text(to, p, 0, &len);

		n++;
		*ret_names = arena_printf(a, "%s%s%s", *ret_names, n > 1 ? ", " : "", name);
		*ret_marks = arena_printf(a, "%s%s$%d", *ret_marks, n > 1 ? ", " : "", n);
	}
	if (!err)
		to->engine->reset(to, p);
	return err;
}

static int copy_table(struct db *from, struct db *to, struct arena *a, const char *table)
{
	char *names, *marks, *script;
	struct statement *insert, *fetch;
	int err = columns_of(to, a, table, &names, &marks), copied;

	if (err)
		return err;
	insert = made(a, arena_printf(a, "insert into %s (%s) values (%s)", table, names, marks));
	fetch = made(a, arena_printf(a, "fetch %d from copied", FETCH_ROWS));
	script = arena_printf(a, "declare copied cursor for select %s from %s", names, table);
	err = to->engine->script(to, arena_printf(a, "delete from %s", table));
	if (!err)
		err = from->engine->script(from, script);
	do {
		struct prepared *p;

		copied = 0;
		if (!err)
			err = db_prepare(from, fetch, &p);
		if (!err)
			err = from->engine->run(from, p, NO_ARGS);
		while (!err && from->engine->step(from, p) > 0) {
			err = copy_row(from, p, to, insert);
			copied++;
		}
		if (!err)
			from->engine->reset(from, p);
	} while (!err && copied);
	return err ? err : from->engine->script(from, "close copied");
}

static const struct statement table_names = {
	"table_names",
	"select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by rowid",
	.scan = "the catalogue",
};

/* Every table in the order it was made: parents before children. */
static int copy_tables(struct db *from, struct db *to, struct arena *a)
{
	enum { TABLES_MAX = 256 };
	const char *names[TABLES_MAX];
	struct prepared *p;
	int count = 0, err = db_prepare(to, &table_names, &p);

	if (!err)
		err = to->engine->run(to, p, NO_ARGS);
	while (!err && count < TABLES_MAX && to->engine->step(to, p) > 0) {
		size_t len;
		const char *name = to->engine->text(to, p, 0, &len);

		names[count++] = arena_strndup(a, name, len);
	}
	if (!err)
		to->engine->reset(to, p);
	for (int i = 0; i < count && !err; i++)
		err = copy_table(from, to, a, names[i]);
	return err;
}

static int copy_to_sqlite(
	struct store *s, struct db *from, const char *path, struct arena *a, struct problem *p)
{
	struct store_settings settings = { .where = arena_printf(a, "sqlite:%s", path),
		.queue_max = 1 };
	struct store *copy = NULL;
	struct db *to = NULL;
	int before, after, err;

	(void)s;
	err = store_open(&copy, &settings, STORE_NEW, a, p);
	if (!err)
		err = store_migrate(copy, &before, &after, a, p);
	if (!err)
		err = store_connect(copy, &to, a, p);
	if (!err)
		err = db_begin(from, READ_ONLY);
	if (!err)
		err = db_begin(to, READ_WRITE);
	if (!err)
		err = copy_tables(from, to, a);
	if (!err)
		err = db_commit(to);
	if (!err)
		err = to->engine->script(
			to, "pragma wal_checkpoint(truncate); pragma journal_mode = delete");
	if (err)
		problem_set(p, a, err, "the copy failed: %s",
			to && *db_error(to) ? db_error(to) : db_error(from));
	db_rollback(from);
	db_forget(from);
	db_close(to);
	store_close(copy);
	return err;
}

int store_backup(struct store *s, const char *path, struct arena *a, struct problem *p)
{
	struct db *db;
	int err = create_empty(path, a, p);

	if (err)
		return err;
	err = store_connect(s, &db, a, p);
	if (!err && store_is_sqlite(s)) {
		const struct statement *st = made(a, "vacuum into $1");

		err = db_run(db, st, NULL, ARGS(T(path)));
		if (err)
			problem_set(p, a, err, "the copy failed: %s", db_error(db));
		db_close(db);
	} else if (!err) {
		err = copy_to_sqlite(s, db, path, a, p);
		db_close(db);
	}
	if (!err && sync_file(path))
		err = problem_set(p, a, ERR_STORE, "cannot sync %s: %s", path, strerror(errno));
	if (err)
		unlink(path);
	return err;
}

static const struct statement soundness[] = {
	{ "integrity", "select integrity_check from pragma_integrity_check",
		.postgres = "select 'ok'", .scan = "all of it" },
	{ "orphans", "select count(*) from pragma_foreign_key_check", .postgres = "select 0",
		.scan = "all of it" },
};

int store_check(struct store *s, struct arena *a, struct problem *p)
{
	struct db *db;
	struct prepared *q;
	int64_t orphans = 0;
	int err = store_connect(s, &db, a, p);

	if (err)
		return err;
	err = db_prepare(db, &soundness[0], &q);
	if (!err)
		err = db->engine->run(db, q, NO_ARGS);
	while (!err && db->engine->step(db, q) > 0) {
		size_t len;
		const char *text = db->engine->text(db, q, 0, &len);

		if (strcmp(text, "ok") != 0)
			err = problem_set(p, a, ERR_STORE, "the store is damaged: %s", text);
	}
	if (!err) {
		db->engine->reset(db, q);
		err = db_int(db, &soundness[1], &orphans, NO_ARGS);
	}
	if (!err && orphans)
		err = problem_set(p, a, ERR_STORE, "%lld rows refer to rows that are not there",
			(long long)orphans);
	if (err)
		problem_set(p, a, err, "%s", db_error(db));
	db_close(db);
	return err;
}
