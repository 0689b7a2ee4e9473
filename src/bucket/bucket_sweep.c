/* bucket_sweep.c - bytes whose rows have gone go too: they are read from the store, removed on the threads for disks, and
 * only then forgotten, so that whoever dies in the middle begins again.
 *
 * A sweep goes on, a piece at a time, until it has tried all that there was when it
 * began; what cannot be removed is passed by, and tried again the next time.  The
 * objects of erased tenants, of which there may be very many, take turns with all
 * others, so that these do not wait for them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "bucket/bucket_parts.h"
#include "store/pool.h"
#include "store/row.h"

enum { PIECE = 200, OUTSIDE_FAILURES = 3 };

struct trash_row {
	const char *folder, *blob;
	int64_t since, size_bytes;
};

FIELDS(trash_row) = { ROW_FIELDS(trash_row, folder, blob, since, size_bytes) };
static SCHEMA(trash_row, .internal = true);

struct trash_after {
	int64_t since_from, since_before;
	int64_t since;
	const char *folder, *blob;
	int64_t most;
};

FIELDS(trash_after) = { ROW_FIELDS(
	trash_after, since_from, since_before, since, folder, blob, most) };
static SCHEMA(trash_after, .internal = true);

enum { TRASH_READ, TRASH_FORGET, FREED, FREED_ALL };

static const struct statement sql[] = {
	[TRASH_READ] = { "bucket_trash_read",
		"select {*} from bucket_trash where since >= :since_from and since < :since_before "
		"and (since, folder, blob) > (:since, :folder, :blob) "
		"and not exists (select 1 from bucket_objects o "
		"where o.tenant_id = bucket_trash.folder and o.blob = bucket_trash.blob) "
		"order by since, folder, blob limit :most",
		.row = &trash_row_schema, .args = &trash_after_schema,
		.across = "of every tenant, and of those that are gone" },
	[TRASH_FORGET] = { "bucket_trash_forget",
		"delete from bucket_trash where folder = $1 and blob = $2" },
	[FREED] = { "bucket_freed",
		"update bucket_usage set trash_bytes = trash_bytes - $2 where tenant_id = $1" },
	/* A program of before removes what it does not count. */
	[FREED_ALL] = { "bucket_freed_all",
		"update bucket_usage set trash_bytes = 0 where trash_bytes <> 0 and not exists "
		"(select 1 from bucket_trash t where t.folder = bucket_usage.tenant_id)",
		.scan = "a row for each tenant", .across = "of every tenant" },
};
STATEMENT_SET(bucket_sweep_sql, sql);

/* Those of erased tenants have no time; the others have. */
enum { ERASED, OTHERS, LINES };

struct line {
	int64_t from, before;
	int64_t since; /* and the next two: the last that was read */
	char folder[ID_LEN + 1], blob[ID_LEN + 1];
	bool over;
};

struct sweep {
	struct work work; /* first: it is handed back */
	struct bucket *bucket;
	struct store *store;
	struct pool *pool;
	struct line lines[LINES];
	int turn;
	struct arena arena; /* of a piece */
	struct list rows;
	int64_t failed;
	int outside;   /* failures of S3 one after the other */
	char why[200]; /* of the first */
};

static void sweep_over(struct sweep *s)
{
	if (s->failed)
		log_error(
			"the bucket: bytes that nobody names cannot be removed; they are tried again",
			LOG_N("objects", s->failed), LOG_S("error", s->why));
	atomic_store(&s->bucket->sweeping, false);
	arena_free(&s->arena);
	free(s);
}

static void read_piece(struct sweep *s);

static int forget_trash(struct work *w, struct db *db)
{
	struct sweep *s = (struct sweep *)w;
	const struct trash_row *row = s->rows.at;
	int err = 0;

	for (size_t i = 0; !err && i < s->rows.count; i++) {
		int64_t forgotten = 0;

		err = db_run(
			db, &sql[TRASH_FORGET], &forgotten, ARGS(T(row[i].folder), T(row[i].blob)));
		if (!err && forgotten && row[i].size_bytes)
			err = db_run(db, &sql[FREED], NULL,
				ARGS(T(row[i].folder), N(row[i].size_bytes)));
	}
	return err || !s->lines[s->turn].over ? err : db_run(db, &sql[FREED_ALL], NULL, NO_ARGS);
}

static void trash_forgotten(struct work *w, int err)
{
	struct sweep *s = (struct sweep *)w;

	if (err)
		sweep_over(s); /* they are found again the next time */
	else
		read_piece(s);
}

static void note_failure(struct sweep *s, int number, const struct problem *p)
{
	if (!s->failed++)
		snprintf(s->why, sizeof s->why, "%s",
			number > 0  ? strerror(number)
			: p->detail ? p->detail
				    : error_row(number)->title);
	if (number < 0)
		s->outside++;
}

/* Those that could not be removed stay, for the next time.  When S3 fails again and again it is left alone. */
static int remove_trash(struct work *w, struct db *none)
{
	struct sweep *s = (struct sweep *)w;
	struct trash_row *row = (struct trash_row *)s->rows.at;
	size_t kept = 0;

	(void)none;
	for (size_t i = 0; i < s->rows.count && s->outside < OUTSIDE_FAILURES; i++) {
		struct problem p = { 0 };
		struct bucket_said said = { &s->arena, &p };
		int number = bucket_blob_remove(s->bucket, row[i].folder, row[i].blob, &said);

		if (number) {
			note_failure(s, number, &p);
			continue;
		}
		s->outside = 0;
		if (!row[i].since)
			bucket_tenant_remove(s->bucket, row[i].folder, row[i].blob);
		row[kept++] = row[i];
	}
	s->rows.count = kept;
	return 0;
}

static void trash_removed(struct work *w, int err)
{
	struct sweep *s = (struct sweep *)w;

	if (!err && !s->rows.count) {
		read_piece(s);
		return;
	}
	s->work = (struct work){ .run = forget_trash, .done = trash_forgotten, .mode = READ_WRITE };
	if (err || store_submit(s->store, &s->work))
		sweep_over(s);
}

static int read_trash(struct work *w, struct db *db)
{
	struct sweep *s = (struct sweep *)w;
	const struct line *l = &s->lines[s->turn];

	arena_reset(&s->arena);
	return db_all(db, &s->arena, &sql[TRASH_READ], &s->rows, PIECE,
		BY_NAME(trash_after, (&(struct trash_after){ .since_from = l->from,
					     .since_before = l->before,
					     .since = l->since,
					     .folder = l->folder,
					     .blob = l->blob,
					     .most = PIECE })));
}

/* Once the bucket stops, the pool may be gone. */
static bool submit_removal(struct sweep *s)
{
	struct bucket *b = s->bucket; /* the sweep may be over as soon as it is given away */
	bool taken;

	s->work = (struct work){ .run = remove_trash, .done = trash_removed };
	pthread_mutex_lock(&b->lock);
	taken = !bucket_stopping(b) && !pool_submit(s->pool, NULL, &s->work);
	pthread_mutex_unlock(&b->lock);
	return taken;
}

/* When the reading has been done for good: it may be begun again. */
static void line_goes_on(struct line *l, const struct list *rows)
{
	const struct trash_row *last = rows->at;

	l->over = rows->count < PIECE;
	if (!rows->count)
		return;
	last += rows->count - 1;
	l->since = last->since;
	snprintf(l->folder, sizeof l->folder, "%s", last->folder);
	snprintf(l->blob, sizeof l->blob, "%s", last->blob);
}

static void trash_read(struct work *w, int err)
{
	struct sweep *s = (struct sweep *)w;

	if (!err)
		line_goes_on(&s->lines[s->turn], &s->rows);
	if (!err && !s->rows.count) {
		read_piece(s);
		return;
	}
	if (err || !submit_removal(s))
		sweep_over(s);
}

/* Of the lines in turn, until both are at their end. */
static void read_piece(struct sweep *s)
{
	s->turn = (s->turn + 1) % LINES;
	if (s->lines[s->turn].over)
		s->turn = (s->turn + 1) % LINES;
	s->work = (struct work){ .run = read_trash, .done = trash_read, .mode = READ_ONLY };
	if (s->lines[s->turn].over || s->outside >= OUTSIDE_FAILURES ||
		bucket_stopping(s->bucket) || store_submit(s->store, &s->work))
		sweep_over(s);
}

bool bucket_is_swept(const struct bucket *b)
{
	return !atomic_load(&b->sweeping);
}

void bucket_sweep_submit(struct bucket *b, struct store *store, struct pool *pool, int64_t now)
{
	struct sweep *s;

	if (!b || !atomic_load(&b->claimed) || atomic_exchange(&b->sweeping, true))
		return;
	s = calloc(1, sizeof *s);
	if (!s) {
		atomic_store(&b->sweeping, false);
		return;
	}
	*s = (struct sweep){ .bucket = b,
		.store = store,
		.pool = pool,
		.lines = { [ERASED] = { .from = 0, .before = 1, .since = -1 },
			[OTHERS] = { .from = 1, .before = now - BUCKET_TRASH_US } } };
	read_piece(s);
}
