/* backup.c - a consistent copy while others work, and a check that a store is sound.
 *
 * Whatever the engine, the copy is an SQLite store that `lodge serve` can
 * open: from SQLite by VACUUM INTO, from PostgreSQL table by table inside one
 * repeatable-read transaction, by the walk that lodge copy uses. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/folder.h"
#include "store/beside.h"
#include "store/copy_parts.h"

/* A statement made at run time; the connection must forget it before the arena goes. */
static struct statement *make_statement(struct arena *a, const char *sql)
{
	struct statement *st = arena_new(a, struct statement);

	st->name = "made";
	st->sql = sql;
	return st;
}

/* A copy under way: made under another name, so that what bears its own is whole. */
struct backing_up {
	const char *path, *part;
	int fd; /* of the part: the lock against another copy to the same place */
};

static int refuse_copy(const struct backing_up *c, int why, struct arena *a, struct problem *p)
{
	return problem_set(p, a, ERR_STORE, "cannot make %s: %s", c->path, strerror(why));
}

static void drop_traces(const struct backing_up *c, struct arena *a)
{
	unlink(arena_printf(a, "%s-journal", c->part));
	unlink(arena_printf(a, "%s-wal", c->part));
	unlink(arena_printf(a, "%s-shm", c->part));
}

/* An empty file of our own; one that was broken off is gone over. */
static int copy_begin(struct backing_up *c, struct arena *a, struct problem *p)
{
	if (access(c->path, F_OK) == 0)
		return refuse_copy(c, EEXIST, a, p);
	c->fd = open(c->part, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (c->fd < 0)
		return refuse_copy(c, errno, a, p);
	if (flock(c->fd, LOCK_EX | LOCK_NB))
		return problem_set(p, a, ERR_STORE, "another copy to %s is under way", c->path);
	drop_traces(c, a);
	return ftruncate(c->fd, 0) ? refuse_copy(c, errno, a, p) : 0;
}

bool store_rename_new(const char *from, const char *to)
{
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return true;
	/* Not every file system knows how. */
	return (errno == EINVAL || errno == ENOSYS) && link(from, to) == 0 && unlink(from) == 0;
}

/* On the disk first, then by its name; never over what exists. */
static int copy_end(const struct backing_up *c, struct arena *a, struct problem *p)
{
	if (fsync(c->fd))
		return problem_set(p, a, ERR_STORE, "cannot sync %s: %s", c->part, strerror(errno));
	if (!store_rename_new(c->part, c->path) || folder_sync(c->path))
		return refuse_copy(c, errno, a, p);
	return 0;
}

int store_copy_done(struct db *db)
{
	return db->engine->script(db,
		"pragma user_version = 0; pragma wal_checkpoint(truncate); pragma journal_mode = delete");
}

/* All rows of a table, in the place of those that the migrations put there. */
static int copy_table(struct db *from, struct db *to, const struct copy_table *t, struct arena *a)
{
	struct copy_reader r;
	struct copy_writer w;
	int err = to->engine->script(to, arena_printf(a, "delete from %s", t->name)), got = 0;

	if (!err)
		err = copy_read_begin(&r, from, t, a);
	if (err)
		return err;
	err = copy_write_begin(&w, to, t, a);
	if (!err) {
		while (!err && (got = copy_read_next(&r)) > 0)
			err = copy_write(&w, r.row);
		err = copy_write_end(&w, err ? err : got);
	}
	copy_read_end(&r);
	return err;
}

static int copy_tables(
	struct db *from, struct db *to, int version, struct arena *a, struct problem *p)
{
	struct copy_tables tables;
	int err = copy_plan(version, false, &tables, a, p);

	for (size_t i = 0; i < tables.count && !err; i++)
		err = copy_table(from, to, &tables.at[i], a);
	return err;
}

static int copy_to_sqlite(
	struct store *s, struct db *from, const char *path, struct arena *a, struct problem *p)
{
	struct store_settings settings = { .where = arena_printf(a, "sqlite:%s", path),
		.queue_max = 1 };
	struct store *copy = NULL;
	struct db *to = NULL;
	struct store_version v;
	int before, after, err;

	err = store_version(s, &v, a, p);
	/* The copy's tables are made here, also where those of a newer store could be worked on. */
	if (!err && (v.tables < 1 || store_version_newer(&v)))
		err = store_version_refuse(&v, "the store", a, p);
	if (!err)
		err = store_open(&copy, &settings, STORE_NEW, a, p);
	if (!err)
		err = store_migrate_to(copy, (int)v.tables, &before, &after, a, p);
	if (!err)
		err = store_connect(copy, &to, a, p);
	/* A table is read to its end, however long that takes. */
	if (!err)
		err = from->engine->script(from, "set statement_timeout = 0");
	if (!err)
		err = db_begin(from, READ_ONLY);
	if (!err)
		err = db_begin(to, READ_WRITE);
	if (!err)
		err = copy_tables(from, to, (int)v.tables, a, p);
	if (!err)
		err = db_commit(to);
	if (!err)
		err = store_copy_done(to);
	if (err)
		problem_set(p, a, err, "the copy failed: %s",
			to && *db_error(to) ? db_error(to) : db_error(from));
	db_rollback(from);
	db_forget(from);
	db_close(to);
	store_close(copy);
	return err;
}

/* SQLite copies itself, in one file; it takes the number of the original along. */
static int copy_by_vacuum(struct db *from, const char *path, struct arena *a, struct problem *p)
{
	struct store_settings settings = { .where = arena_printf(a, "sqlite:%s", path),
		.queue_max = 1 };
	struct store *copy = NULL;
	struct db *to = NULL;
	int err = db_run(from, make_statement(a, "vacuum into $1"), NULL, ARGS(T(path)));

	if (err)
		return problem_set(p, a, err, "the copy failed: %s", db_error(from));
	err = store_open(&copy, &settings, STORE_NEW, a, p);
	if (!err)
		err = store_connect(copy, &to, a, p);
	if (!err && (err = store_copy_done(to)))
		problem_set(p, a, err, "the copy failed: %s", db_error(to));
	db_close(to);
	store_close(copy);
	return err;
}

static int copy_to(struct store *s, const char *path, struct arena *a, struct problem *p)
{
	struct db *db;
	int err = store_connect(s, &db, a, p);

	if (err)
		return err;
	err = store_is_sqlite(s) ? copy_by_vacuum(db, path, a, p)
				 : copy_to_sqlite(s, db, path, a, p);
	db_close(db);
	return err;
}

int store_backup(struct store *s, const char *path, struct arena *a, struct problem *p)
{
	return store_backup_with(s, path, NULL, a, p);
}

int store_backup_with(struct store *s, const char *path, const struct store_beside *beside,
	struct arena *a, struct problem *p)
{
	struct backing_up c = { .path = path, .part = arena_printf(a, "%s.part", path), .fd = -1 };
	int err = copy_begin(&c, a, p);
	bool ours = !err;

	if (!err)
		err = copy_to(s, c.part, a, p);
	if (!err && beside)
		err = beside->run(beside->ctx, NULL, 0, a, p);
	if (!err)
		err = copy_end(&c, a, p);
	if (err && ours) {
		unlink(c.part);
		drop_traces(&c, a);
	}
	if (c.fd >= 0)
		close(c.fd);
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
