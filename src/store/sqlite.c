/* sqlite.c - the embedded engine: one file, write-ahead log, every commit on the disk before it is
 * answered.  A connection belongs to one thread at a time, so SQLite's own locks are off. */
#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "store/engine.h"

struct sqlite {
	sqlite3 *handle;
	sqlite3_stmt *begin_read, *begin_write, *commit, *rollback, *version;
	bool counts_log;
	int64_t log_pages;
	unsigned views; /* of the file, each other than the one before */
	int quiet;	/* so many reads have had the same */
	bool unmapped;
};

enum { BUSY_MS = 5000, QUIET_READS = 64 };

static const int64_t map_most = 2147418112;

static sqlite3 *sqlite_handle(struct db *db)
{
	return ((struct sqlite *)db->impl)->handle;
}

/* SQLite's results in our words. */
static int sqlite_fail(struct db *db, int rc)
{
	const char *what = sqlite3_errmsg(sqlite_handle(db));

	switch (rc & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return db_fail(db, ERR_RETRY, "the file is busy: %s", what);
	case SQLITE_NOMEM:
		return db_fail(db, ERR_BUSY, "no memory left: %s", what);
	case SQLITE_FULL:
		return db_fail(db, ERR_STORE_FULL, "no room left: %s", what);
	case SQLITE_IOERR:
		/* A quota, or a limit of the file's size: as good as a full disk. */
		if (sqlite3_system_errno(sqlite_handle(db)) == EFBIG ||
			sqlite3_system_errno(sqlite_handle(db)) == EDQUOT)
			return db_fail(db, ERR_STORE_FULL, "no room left: %s", what);
		if (db->store)
			health_note(db->store, ERR_STORE, false);
		break;
	case SQLITE_READONLY:
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		if (db->store)
			health_note(db->store, ERR_STORE, false);
		break;
	default:
		break;
	}
	if ((rc & 0xff) == SQLITE_CANTOPEN || (rc & 0xff) == SQLITE_READONLY)
		return db_fail(db, ERR_STORE,
			"%s (code %d): may this user write to the file, and to the folder it is in?",
			what, rc);
	switch (rc) {
	case SQLITE_CONSTRAINT_UNIQUE:
	case SQLITE_CONSTRAINT_PRIMARYKEY:
	case SQLITE_CONSTRAINT_FOREIGNKEY:
		return db_fail(db, ERR_DUPLICATE, "%s", what);
	default:
		return db_fail(db, ERR_STORE, "%s (code %d)", what, rc);
	}
}

static int engine_script(struct db *db, const char *sql)
{
	int rc = sqlite3_exec(sqlite_handle(db), sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : sqlite_fail(db, rc);
}

static int sqlite_compile(struct db *db, const char *sql, sqlite3_stmt **ret)
{
	int rc = sqlite3_prepare_v3(
		sqlite_handle(db), sql, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL);

	return rc == SQLITE_OK ? 0 : sqlite_fail(db, rc);
}

static int engine_open(struct db *db, const char *where, enum store_open how)
{
	static const char setup[] = "pragma journal_mode = wal;"
				    "pragma synchronous = full;"
				    "pragma foreign_keys = on;"
				    "pragma temp_store = memory;"
				    "pragma cache_size = -4096;"
				    "pragma wal_autocheckpoint = 4000;"
				    "pragma mmap_size = 2147418112;"; /* map_most */
	struct sqlite *s = calloc(1, sizeof *s);
	int flags = SQLITE_OPEN_READWRITE |
		    SQLITE_OPEN_NOMUTEX; /* one that is missing is not made here */
	int rc;

	if (how == STORE_NEW)
		flags |= SQLITE_OPEN_CREATE;
	if (!s)
		abort();
	db->impl = s;
	rc = sqlite3_open_v2(where, &s->handle, flags, sqlite_layer());
	if (rc != SQLITE_OK)
		return db_fail(db, ERR_STORE, "cannot open %s: %s", where,
			s->handle ? sqlite3_errmsg(s->handle) : sqlite3_errstr(rc));
	sqlite3_extended_result_codes(s->handle, 1);
	sqlite3_busy_timeout(s->handle, BUSY_MS);
	rc = engine_script(db, setup);
	if (!rc)
		rc = sqlite_compile(db, "begin", &s->begin_read);
	if (!rc)
		rc = sqlite_compile(db, "begin immediate", &s->begin_write);
	if (!rc)
		rc = sqlite_compile(db, "commit", &s->commit);
	if (!rc)
		rc = sqlite_compile(db, "rollback", &s->rollback);
	if (!rc)
		rc = sqlite_compile(db, "pragma data_version", &s->version);
	sqlite3_file_control(s->handle, "main", SQLITE_FCNTL_DATA_VERSION, &s->views);
	return rc;
}

static void engine_close(struct db *db)
{
	struct sqlite *s = db->impl;

	if (!s)
		return;
	sqlite3_finalize(s->begin_read);
	sqlite3_finalize(s->begin_write);
	sqlite3_finalize(s->commit);
	sqlite3_finalize(s->rollback);
	sqlite3_finalize(s->version);
	if (db->store && identity_changed(db->store)) /* the log is the former file's */
		sqlite3_db_config(s->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	sqlite3_close(s->handle);
	free(s);
	db->impl = NULL;
}

static int engine_prepare(struct db *db, struct prepared *p, const char *sql)
{
	sqlite3_stmt *stmt = NULL;
	int err = sqlite_compile(db, sql, &stmt);

	p->handle = stmt;
	p->columns = err ? 0 : sqlite3_column_count(stmt);
	p->params = err ? 0 : sqlite3_bind_parameter_count(stmt);
	return err;
}

static void engine_unprepare(struct db *db, struct prepared *p)
{
	(void)db;
	sqlite3_finalize(p->handle);
}

static const char *engine_column_name(struct db *db, struct prepared *p, int column)
{
	(void)db;
	return sqlite3_column_name(p->handle, column);
}

/* The arguments live until the statement is reset, so nothing is copied. */
static int engine_run(struct db *db, struct prepared *p, const struct value *args, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int at = (int)i + 1, rc;

		if (args[i].kind == VALUE_NULL)
			rc = sqlite3_bind_null(p->handle, at);
		else if (args[i].kind == VALUE_INT)
			rc = sqlite3_bind_int64(p->handle, at, args[i].n);
		else if (args[i].kind == VALUE_BYTES)
			rc = sqlite3_bind_blob(
				p->handle, at, args[i].text, (int)args[i].len, SQLITE_STATIC);
		else
			rc = sqlite3_bind_text(
				p->handle, at, args[i].text, (int)args[i].len, SQLITE_STATIC);
		if (rc != SQLITE_OK)
			return sqlite_fail(db, rc);
	}
	return 0;
}

static int engine_step(struct db *db, struct prepared *p)
{
	int rc = sqlite3_step(p->handle);

	return rc == SQLITE_ROW ? 1 : rc == SQLITE_DONE ? 0 : sqlite_fail(db, rc);
}

static void engine_reset(struct db *db, struct prepared *p)
{
	(void)db;
	sqlite3_reset(p->handle);
}

static bool engine_integer(struct db *db, struct prepared *p, int column, int64_t *ret)
{
	(void)db;
	*ret = sqlite3_column_int64(p->handle, column);
	return *ret || sqlite3_column_type(p->handle, column) != SQLITE_NULL;
}

static const char *engine_text(struct db *db, struct prepared *p, int column, size_t *ret_len)
{
	const char *text = (const char *)sqlite3_column_text(p->handle, column);

	(void)db;
	*ret_len = text ? (size_t)sqlite3_column_bytes(p->handle, column) : 0;
	return text;
}

static const void *engine_bytes(
	struct db *db, struct prepared *p, int column, struct arena *a, size_t *ret_len)
{
	const void *bytes = sqlite3_column_blob(p->handle, column);

	(void)db;
	*ret_len = (size_t)sqlite3_column_bytes(p->handle, column);
	if (!bytes) /* null, or none at all */
		return sqlite3_column_type(p->handle, column) == SQLITE_BLOB ? arena_alloc(a, 1)
									     : NULL;
	return arena_strndup(a, bytes, *ret_len);
}

static int64_t engine_changed(struct db *db, struct prepared *p)
{
	(void)p;
	return sqlite3_changes64(sqlite_handle(db));
}

static int64_t engine_changes(struct db *db)
{
	return sqlite3_total_changes64(sqlite_handle(db));
}

static int sqlite_once(struct db *db, sqlite3_stmt *stmt)
{
	int rc = sqlite3_step(stmt);

	sqlite3_reset(stmt);
	return rc == SQLITE_DONE ? 0 : sqlite_fail(db, rc);
}

static void map_file(struct sqlite *s, bool yes)
{
	int64_t most = yes ? map_most : 0;

	sqlite3_file_control(s->handle, "main", SQLITE_FCNTL_MMAP_SIZE, &most);
	s->unmapped = !yes;
	s->quiet = 0;
}

/* Reading through a map of the file is best while nobody writes.  With every commit of another connection
 * SQLite forgets the map, and making it anew costs more than reading the pages. */
static void map_if_quiet(struct sqlite *s)
{
	unsigned views = s->views;

	sqlite3_file_control(s->handle, "main", SQLITE_FCNTL_DATA_VERSION, &s->views);
	if (s->views != views) {
		s->quiet = 0;
		if (!s->unmapped)
			map_file(s, false);
	} else if (s->unmapped && ++s->quiet >= QUIET_READS) {
		map_file(s, true);
	}
}

static int engine_begin(struct db *db, enum transaction mode)
{
	struct sqlite *s = db->impl;

	if (mode == READ_ONLY)
		map_if_quiet(s);
	return sqlite_once(db, mode == READ_ONLY ? s->begin_read : s->begin_write);
}

static int engine_commit(struct db *db)
{
	return sqlite_once(db, ((struct sqlite *)db->impl)->commit);
}

static void engine_rollback(struct db *db)
{
	if (!sqlite3_get_autocommit(sqlite_handle(db)))
		sqlite_once(db, ((struct sqlite *)db->impl)->rollback);
}

static bool engine_lost(struct db *db)
{
	return sqlite3_get_autocommit(sqlite_handle(db)) != 0;
}

/* Begins the read, if it has not begun, and so sees every commit before this moment. */
static int64_t engine_version(struct db *db)
{
	sqlite3_stmt *stmt = ((struct sqlite *)db->impl)->version;
	int64_t version = sqlite3_step(stmt) == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : NIL;

	sqlite3_reset(stmt);
	return version;
}

static int count_log(void *ctx, sqlite3 *handle, const char *name, int pages)
{
	struct sqlite *s = ctx;

	(void)handle;
	(void)name;
	s->log_pages = pages;
	return SQLITE_OK;
}

static int64_t engine_log_pages(struct db *db)
{
	struct sqlite *s = db->impl;

	if (!s->counts_log)
		sqlite3_wal_hook(s->handle, count_log, s); /* takes the place of SQLite's own */
	s->counts_log = true;
	return s->log_pages;
}

/* SQLite itself flushes the file only if nothing came into the log meanwhile. */
static int flush_file(struct db *db)
{
	sqlite3_file *file = NULL;
	int rc = sqlite3_file_control(sqlite_handle(db), "main", SQLITE_FCNTL_FILE_POINTER, &file);

	if (rc == SQLITE_OK && file && file->pMethods)
		rc = file->pMethods->xSync(file, SQLITE_SYNC_NORMAL);
	return rc;
}

static int engine_checkpoint(struct db *db, bool flush, int64_t *ret_moved)
{
	int all = 0, moved = 0;
	int rc = sqlite3_wal_checkpoint_v2(
		sqlite_handle(db), NULL, SQLITE_CHECKPOINT_PASSIVE, &all, &moved);

	*ret_moved = moved;
	if (rc == SQLITE_OK && flush)
		rc = flush_file(db);
	return rc == SQLITE_OK || rc == SQLITE_BUSY ? 0 : sqlite_fail(db, rc);
}

static bool engine_broken(struct db *db)
{
	(void)db;
	return false;
}

static int engine_mend(struct db *db)
{
	(void)db;
	return 0;
}

const struct engine sqlite_engine = {
	.name = "sqlite",
	.open = engine_open,
	.close = engine_close,
	.script = engine_script,
	.prepare = engine_prepare,
	.unprepare = engine_unprepare,
	.column_name = engine_column_name,
	.run = engine_run,
	.step = engine_step,
	.reset = engine_reset,
	.integer = engine_integer,
	.text = engine_text,
	.bytes = engine_bytes,
	.changed = engine_changed,
	.changes = engine_changes,
	.begin = engine_begin,
	.commit = engine_commit,
	.rollback = engine_rollback,
	.lost = engine_lost,
	.version = engine_version,
	.log_pages = engine_log_pages,
	.checkpoint = engine_checkpoint,
	.broken = engine_broken,
	.mend = engine_mend,
};
