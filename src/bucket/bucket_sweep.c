/* bucket_sweep.c - bytes whose rows have gone go too: they are read from the store, removed on the threads for disks, and
 * only then forgotten, so that whoever dies in the middle begins again.  One piece at a time; more than one is left to
 * the next time, which is a minute away. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "bucket/bucket_parts.h"
#include "store/pool.h"
#include "store/row.h"

enum { PIECE = 200 };

struct trash_row {
	const char *folder, *blob;
};

FIELDS(trash_row) = { ROW_FIELDS(trash_row, folder, blob) };
static SCHEMA(trash_row, .internal = true);

enum { TRASH_READ, TRASH_FORGET };

static const struct statement sql[] = {
	[TRASH_READ] = { "bucket_trash_read",
		"select {*} from bucket_trash where since < $1 and not exists (select 1 from bucket_objects o "
		"where o.tenant_id = bucket_trash.folder and o.blob = bucket_trash.blob) "
		"order by since, folder, blob limit $2",
		.row = &trash_row_schema },
	[TRASH_FORGET] = { "bucket_trash_forget",
		"delete from bucket_trash where folder = $1 and blob = $2" },
};
STATEMENT_SET(bucket_sweep_sql, sql);

struct sweep {
	struct work work; /* first: it is handed back */
	struct bucket *bucket;
	struct store *store;
	struct pool *pool;
	int64_t before;
	struct arena arena;
	struct list rows;
};

static void sweep_over(struct sweep *s)
{
	atomic_store(&s->bucket->sweeping, false);
	arena_free(&s->arena);
	free(s);
}

static int forget_trash(struct work *w, struct db *db)
{
	struct sweep *s = (struct sweep *)w;
	const struct trash_row *row = s->rows.at;
	int err = 0;

	for (size_t i = 0; !err && i < s->rows.count; i++)
		err = db_run(db, &sql[TRASH_FORGET], NULL, ARGS(T(row[i].folder), T(row[i].blob)));
	return err;
}

static void trash_forgotten(struct work *w, int err)
{
	(void)err; /* they are found again the next time */
	sweep_over((struct sweep *)w);
}

/* Those that could not be removed stay, for the next time. */
static int remove_trash(struct work *w, struct db *none)
{
	struct sweep *s = (struct sweep *)w;
	struct trash_row *row = (struct trash_row *)s->rows.at;
	size_t kept = 0;

	(void)none;
	for (size_t i = 0; i < s->rows.count; i++) {
		int number = bucket_blob_remove(s->bucket, row[i].folder, row[i].blob);

		if (number)
			log_error("the bucket: bytes that nobody names cannot be removed",
				LOG_S("blob", row[i].blob), LOG_S("error", strerror(number)));
		else
			row[kept++] = row[i];
	}
	s->rows.count = kept;
	return 0;
}

static void trash_removed(struct work *w, int err)
{
	struct sweep *s = (struct sweep *)w;

	s->work = (struct work){ .run = forget_trash, .done = trash_forgotten, .mode = READ_WRITE };
	if (err || !s->rows.count || store_submit(s->store, &s->work))
		sweep_over(s);
}

static int read_trash(struct work *w, struct db *db)
{
	struct sweep *s = (struct sweep *)w;

	arena_reset(&s->arena);
	return db_all(
		db, &s->arena, &sql[TRASH_READ], &s->rows, PIECE, ARGS(N(s->before), N(PIECE)));
}

static void trash_read(struct work *w, int err)
{
	struct sweep *s = (struct sweep *)w;

	s->work = (struct work){ .run = remove_trash, .done = trash_removed };
	if (err || !s->rows.count || pool_submit(s->pool, NULL, &s->work))
		sweep_over(s);
}

void bucket_sweep_submit(struct bucket *b, struct store *store, struct pool *pool, int64_t now)
{
	struct sweep *s;

	if (!b || atomic_exchange(&b->sweeping, true))
		return;
	s = calloc(1, sizeof *s);
	if (!s) {
		atomic_store(&b->sweeping, false);
		return;
	}
	*s = (struct sweep){ .work = { .run = read_trash, .done = trash_read, .mode = READ_ONLY },
		.bucket = b,
		.store = store,
		.pool = pool,
		.before = now - BUCKET_TRASH_US };
	if (store_submit(store, &s->work))
		sweep_over(s);
}
