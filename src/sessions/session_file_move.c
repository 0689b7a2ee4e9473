/* session_file_move.c - see session_file_move.h. */
#include "sessions/session_file_move.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/log.h"
#include "base/memory.h"
#include "sessions/session_file.h"
#include "store/pool.h"
#include "store/row.h"

enum { PIECE = 50, MOST_MS = 50000 };

struct large_file {
	const char *tenant_id, *session_id, *id, *content_type;
};

FIELDS(large_file) = { ROW_FIELDS(large_file, tenant_id, session_id, id, content_type) };
static SCHEMA(large_file, .internal = true);

enum { MOVE_FROM, MOVE_SAY, MOVE_NEXT };

_Static_assert(SESSION_FILE_SMALL == 16384, "the number in the index of the migration");

static const struct statement sql[] = {
	[MOVE_FROM] = { "files_move_from",
		"select coalesce((select cast(value as bigint) from meta "
		"where key = 'session_files_move_at'), -1)" },
	[MOVE_SAY] = { "files_move_say",
		"insert into meta (key, value) values ('session_files_move_at', $1) "
		"on conflict (key) do nothing" },
	[MOVE_NEXT] = { "files_move_next",
		"select {*} from session_files where object_id is null and size_bytes > 16384 "
		"order by tenant_id, session_id, id limit $1",
		.row = &large_file_schema, .across = "maintenance of all tenants",
		.scan = "those that are left, by an index of their own" },
};
STATEMENT_SET(session_file_move_sql, sql);

struct file_mover {
	struct work work; /* first: it is handed back */
	struct bucket *bucket;
	struct store *store;
	struct pool *disk;
	_Atomic bool moving;
};

/* ---- what is written, while the thread for disks waits ---- */

struct writing {
	struct work work; /* first: it is handed back */
	struct arena *arena;
	const struct session_file_new *file; /* NULL: whether it begins */
	const struct bucket_stored *stored;
	bool moved, fresh;
	int err;
	sem_t over;
};

/* An hour that everybody keeps: the first who asks says when, and whoever finds it past shuts the older programs out. */
static int write_begin(struct db *db, struct writing *in)
{
	int64_t now = clock_now_us(), from = 0;
	int err = db_int(db, &sql[MOVE_FROM], &from, NO_ARGS);

	in->fresh = from == 0;
	if (!err && from < 0)
		return db_run(db, &sql[MOVE_SAY], NULL,
			ARGS(T(arena_printf(in->arena, "%lld", (long long)(now + DAY_US)))));
	return err || from > now ? err : db_store_admit_from(db, BUCKET_FILES_SINCE);
}

static int writing_run(struct work *w, struct db *db)
{
	struct writing *in = (struct writing *)w;

	return in->file ? session_file_moved(
				  db, in->arena, in->file, in->stored, clock_now_us(), &in->moved)
			: write_begin(db, in);
}

static void writing_done(struct work *w, int err)
{
	struct writing *in = (struct writing *)w;

	in->err = err;
	sem_post(&in->over);
}

static int write_now(struct file_mover *m, struct writing *in)
{
	int err;

	in->work = (struct work){ .run = writing_run, .done = writing_done, .mode = READ_WRITE };
	sem_init(&in->over, 0, 0);
	err = store_submit(m->store, &in->work);
	if (!err) {
		while (sem_wait(&in->over))
			;
		err = in->err;
	}
	sem_destroy(&in->over);
	return err;
}

/* ---- one after the other ---- */

static int move_bytes(struct file_mover *m, struct arena *a, const struct session_file_new *file,
	struct problem *p)
{
	struct bucket_upload *u = bucket_upload_new(m->bucket, file->tenant_id);
	struct bucket_stored stored;
	struct writing in = { .arena = a, .file = file, .stored = &stored };
	int err = bucket_store(u, file->bytes, file->len, &stored, a, p);

	if (!err) {
		err = write_now(m, &in);
		/* A commit whose end nobody hears of may have been made: bytes that no row names are collected. */
		bucket_upload_keep(u, in.moved || err);
	}
	bucket_upload_end(u, NULL);
	return err;
}

static int move_file(struct file_mover *m, struct db *db, const struct large_file *row)
{
	struct session_file_bytes found;
	struct arena a = { 0 };
	struct problem p = { 0 };
	int err = session_file_find(db, &a, row->tenant_id, row->session_id, row->id, &found, &p);

	if (!err && !found.in_bucket)
		err = move_bytes(m, &a,
			&(struct session_file_new){ .tenant_id = row->tenant_id,
				.session_id = row->session_id,
				.id = row->id,
				.content_type = row->content_type,
				.bytes = found.bytes,
				.len = found.len },
			&p);
	if (err && err != ERR_NOT_FOUND)
		log_warn("a file of a session cannot be moved to the bucket now",
			LOG_S("tenant_id", row->tenant_id), LOG_S("file_id", row->id),
			LOG_S("error", p.detail ? p.detail : error_row(err)->title));
	arena_free(&a);
	return err == ERR_NOT_FOUND ? 0 : err;
}

/* Some of those that are left; several processes begin at different ones. */
static int move_piece(struct file_mover *m, struct db *db, int64_t end_ms, bool *ret_more)
{
	struct arena a = { 0 };
	struct list rows = { 0 };
	uint32_t first = 0;
	int err = db_all(db, &a, &sql[MOVE_NEXT], &rows, PIECE, ARGS(N(PIECE)));

	random_bytes(&first, sizeof first);
	for (size_t i = 0;
		!err && i < rows.count && !bucket_stopping(m->bucket) && clock_mono_ms() < end_ms;
		i++)
		err = move_file(
			m, db, (const struct large_file *)rows.at + (first + i) % rows.count);
	*ret_more = !err && rows.count && !bucket_stopping(m->bucket) && clock_mono_ms() < end_ms;
	arena_free(&a);
	return err;
}

/* A process that is shut out knows it within seconds, and what it reads meanwhile must be there: so whoever shuts it out begins the
 * next time, unless there never was one. */
static int may_move(struct file_mover *m, struct db *db)
{
	struct store_version v = { 0 };
	struct arena a = { 0 };
	struct writing in = { .arena = &a };
	int err = 0;

	if (bucket_takes_files(m->bucket))
		return 0;
	err = db_store_version(db, &v);
	if (!err && v.oldest < BUCKET_FILES_SINCE)
		err = write_now(m, &in);
	if (!err && (v.oldest >= BUCKET_FILES_SINCE || in.fresh))
		bucket_files_begin(m->bucket);
	arena_free(&a);
	return err;
}

static int mover_run(struct work *w, struct db *none)
{
	struct file_mover *m = (struct file_mover *)w;
	struct db *db = pool_db(m->store);
	int64_t end_ms = clock_mono_ms() + MOST_MS;
	bool more = true;
	int err = db ? may_move(m, db) : ERR_STORE;

	(void)none;
	while (!err && more && bucket_takes_files(m->bucket))
		err = move_piece(m, db, end_ms, &more);
	return err;
}

static void mover_done(struct work *w, int err)
{
	(void)err; /* the rest is found the next time */
	atomic_store(&((struct file_mover *)w)->moving, false);
}

struct file_mover *file_mover_new(struct bucket *b, struct store *store, struct pool *disk)
{
	struct file_mover *m = memory_zeroed(sizeof *m);

	m->bucket = b;
	m->store = store;
	m->disk = disk;
	return m;
}

void file_mover_start(struct file_mover *m)
{
	if (atomic_exchange(&m->moving, true))
		return;
	m->work = (struct work){ .run = mover_run, .done = mover_done };
	if (pool_submit(m->disk, NULL, &m->work))
		atomic_store(&m->moving, false);
}

void file_mover_free(struct file_mover *m)
{
	free(m);
}
