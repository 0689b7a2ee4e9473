/* bucket_check.c - rows held against the bytes that are there, and bytes that no row names.
 *
 * An upload whose process dies leaves bytes, and the row that would name them is
 * never written.  They cannot be told from those of an upload under way but by
 * their age: whoever has brought nothing for a day brings nothing any more.
 * Nor can they be told from bytes that another copy of the store names, where
 * an older one was put in its place: so the store notes them, and they go when
 * it has known of them for a week. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "bucket/bucket_parts.h"
#include "store/pool.h"
#include "store/row.h"

enum { READ_AT_ONCE = 64 * 1024, NOTED_AT_ONCE = 100 };

struct checked_row {
	const char *tenant_id, *key, *blob, *sha256;
	int64_t size_bytes;
};

FIELDS(checked_row) = { ROW_FIELDS(checked_row, tenant_id, key, blob, sha256, size_bytes) };
static SCHEMA(checked_row, .internal = true);

enum { CHECK_ROWS, CHECK_NAMED, CHECK_NOTE };

static const struct statement sql[] = {
	[CHECK_ROWS] = { "bucket_check_rows", "select {*} from bucket_objects",
		.row = &checked_row_schema, .scan = "all of them are checked",
		.across = "of every tenant" },
	[CHECK_NAMED] = { "bucket_check_named",
		"select (select count(*) from bucket_objects where tenant_id = $1 and blob = $2) + "
		"(select count(*) from bucket_trash where folder = $1 and blob = $2 and since <= $3)" },
	[CHECK_NOTE] = { "bucket_check_note",
		"insert into bucket_trash (folder, blob, since) values ($1, $2, $3) "
		"on conflict (folder, blob) do nothing" },
};
STATEMENT_SET(bucket_check_sql, sql);

struct check {
	struct bucket *bucket;
	struct db *db;
	struct arena *arena;
	struct bucket_report *report;
	int64_t before;
	int64_t waits_until; /* what goes later than that counts as unnamed still */
	int err;
};

/* True if the bytes have this digest. */
static bool digest_is(int fd, const char *sha256)
{
	struct sha256_run *run = sha256_begin();
	uint8_t digest[SHA256_LEN];
	char bytes[READ_AT_ONCE], hex[65];
	ssize_t n;

	while ((n = read(fd, bytes, sizeof bytes)) > 0)
		sha256_add(run, bytes, (size_t)n);
	sha256_end(run, digest);
	hex_write(digest, sizeof digest, hex);
	return n == 0 && strcmp(hex, sha256) == 0;
}

static int check_row(void *ctx, const void *at)
{
	struct check *c = ctx;
	struct bucket_report *r = c->report;
	const struct checked_row *row = at;
	struct problem ignored = { 0 };
	struct bucket_said said = { c->arena, &ignored };
	int fd = -1;
	bool there = bucket_blob_open(c->bucket, row->tenant_id, row->blob, row->size_bytes, &fd,
			     &said) == 0;
	bool same = there && digest_is(fd, row->sha256);

	if (there)
		close(fd);
	r->objects++;
	r->size_bytes += row->size_bytes;
	r->missing += !there;
	r->torn += there && !same;
	if (!same && !r->first)
		r->first = bucket_uri(c->arena, row->tenant_id, row->key);
	return 0;
}

/* Whether a row names it; what is on its way in is named by none. */
static int is_unnamed(struct check *c, const struct bucket_found *f, bool *ret)
{
	int64_t named = 0;

	*ret = false;
	if (f->changed_us >= c->before)
		return 0;
	if (f->whole)
		c->err = db_int(c->db, &sql[CHECK_NAMED], &named,
			ARGS(T(f->tenant_id), T(f->name), N(c->waits_until)));
	*ret = !c->err && !named;
	return c->err;
}

static int count_unnamed(void *ctx, const struct bucket_found *f)
{
	struct check *c = ctx;
	bool unnamed;

	if (is_unnamed(c, f, &unnamed))
		return 1;
	c->report->unnamed += unnamed;
	c->report->unnamed_bytes += unnamed ? f->size_bytes : 0;
	return 0;
}

int bucket_check(struct bucket *b, struct db *db, struct arena *a, struct bucket_report *ret)
{
	struct checked_row row;
	struct check c = { .bucket = b,
		.db = db,
		.arena = a,
		.report = ret,
		.before = clock_now_us() - HOUR_US,
		.waits_until = clock_now_us() };
	int err = db_each(db, &sql[CHECK_ROWS], &row, check_row, &c, NO_ARGS);

	if (!err && b->kind->each(b, count_unnamed, &c))
		err = c.err ? c.err : ERR_STORE;
	return err;
}

/* ---- collecting them ---- */

struct collection {
	struct work work; /* first: it is handed back */
	struct bucket *bucket;
	struct store *store;
	int64_t now, removed, noted;
};

struct collecting {
	struct check check; /* first */
	struct collection *of;
	struct {
		char tenant_id[ID_LEN + 1], blob[ID_LEN + 1];
	} found[NOTED_AT_ONCE];
	size_t count;
};

/* They go a week later, as all that nobody names: unless another store is in this one's place by then, which knows nothing of it. */
static int note_found(struct collecting *l)
{
	struct db *db = l->check.db;
	int64_t since = l->of->now + BUCKET_UNNAMED_US - BUCKET_TRASH_US;
	int err = l->count ? db_begin(db, READ_WRITE) : 0;

	if (err || !l->count)
		return err;
	for (size_t i = 0; !err && i < l->count; i++)
		err = db_run(db, &sql[CHECK_NOTE], NULL,
			ARGS(T(l->found[i].tenant_id), T(l->found[i].blob), N(since)));
	if (err)
		db_rollback(db);
	else
		err = db_commit(db);
	if (!err)
		l->of->noted += (int64_t)l->count;
	l->count = 0;
	return err;
}

/* What never became whole belongs to no store, whichever is put in this one's place. */
static int collect_one(void *ctx, const struct bucket_found *f)
{
	struct collecting *l = ctx;
	struct bucket *b = l->check.bucket;
	struct problem ignored = { 0 };
	struct bucket_said said = { l->check.arena, &ignored };
	bool unnamed;

	if (is_unnamed(&l->check, f, &unnamed))
		return 1;
	if (!unnamed)
		return 0;
	if (!f->whole) {
		l->of->removed += b->kind->remove(b, f->tenant_id, f->name, &said) == 0;
		return 0;
	}
	snprintf(l->found[l->count].tenant_id, ID_LEN + 1, "%s", f->tenant_id);
	snprintf(l->found[l->count].blob, ID_LEN + 1, "%s", f->name);
	if (++l->count == NOTED_AT_ONCE)
		l->check.err = note_found(l);
	return l->check.err != 0;
}

static int collect_run(struct work *w, struct db *none)
{
	struct collection *o = (struct collection *)w;
	struct collecting *l = memory_zeroed(sizeof *l);
	struct arena a = { 0 };
	struct problem p = { 0 };
	int err = store_connect(o->store, &l->check.db, &a, &p);

	(void)none;
	l->check.bucket = o->bucket;
	l->check.arena = &a;
	l->check.before = o->now - DAY_US;
	l->check.waits_until = INT64_MAX;
	l->of = o;
	if (!err) {
		o->bucket->kind->each(o->bucket, collect_one, l);
		err = l->check.err ? l->check.err : note_found(l);
	}
	db_close(l->check.db);
	free(l);
	arena_free(&a);
	return err;
}

static void collected(struct work *w, int err)
{
	struct collection *o = (struct collection *)w;

	(void)err; /* the rest is found the next day */
	if (o->removed)
		log_info("the bucket: parts that never became whole were removed",
			LOG_N("files", o->removed));
	if (o->noted)
		log_info("the bucket: files that belong to no object will be removed in a week",
			LOG_N("files", o->noted));
	atomic_store(&o->bucket->collecting, false);
	free(o);
}

void bucket_collect_submit(struct bucket *b, struct store *store, struct pool *pool, int64_t now)
{
	struct collection *o;

	if (!b || !atomic_load(&b->claimed) || now - atomic_load(&b->collected_us) < DAY_US ||
		atomic_exchange(&b->collecting, true))
		return;
	o = calloc(1, sizeof *o);
	if (o) {
		*o = (struct collection){ .work = { .run = collect_run, .done = collected },
			.bucket = b,
			.store = store,
			.now = now };
		atomic_store(&b->collected_us, now);
	}
	if (!o || pool_submit(pool, NULL, &o->work)) {
		atomic_store(&b->collecting, false);
		free(o);
	}
}
