/* bucket_check.c - rows held against the bytes that are there, and bytes that no row names.
 *
 * An upload whose process dies leaves bytes, and the row that would name them is
 * never written.  They cannot be told from those of an upload under way but by
 * their age: whoever has brought nothing for a day brings nothing any more.
 * Nor can they be told from bytes that another copy of the store names, where
 * an older one was put in its place: so the store notes them, and they go when
 * it has known of them for a week. */
#include <errno.h>
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

enum { READ_AT_ONCE = 64 * 1024, NOTED_AT_ONCE = 100, PAGE = 200, OUTSIDE_FAILURES = 3 };

struct checked_row {
	const char *tenant_id, *id, *key, *blob, *sha256;
	int64_t size_bytes;
};

FIELDS(checked_row) = { ROW_FIELDS(checked_row, tenant_id, id, key, blob, sha256, size_bytes) };
static SCHEMA(checked_row, .internal = true);

enum { CHECK_PAGE, CHECK_STANDS, CHECK_NAMED, CHECK_NOTE };

static const struct statement sql[] = {
	[CHECK_PAGE] = { "bucket_check_page",
		"select {*} from bucket_objects where (tenant_id, id) > ($1, $2) "
		"order by tenant_id, id limit $3",
		.row = &checked_row_schema, .across = "of every tenant" },
	[CHECK_STANDS] = { "bucket_check_stands",
		"select count(*) from bucket_objects where tenant_id = $1 and blob = $2" },
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
	struct arena *arena, *scratch; /* the second: of a page */
	struct bucket_report *report;
	int outside; /* failures of S3 one after the other */
	int64_t before;
	int64_t waits_until; /* what goes later than that counts as unnamed still */
	int err;
};

bool bucket_digest_is(int fd, const char *sha256)
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

static void note_bad(struct check *c, const struct checked_row *row)
{
	if (!c->report->first)
		c->report->first = bucket_uri(c->arena, row->tenant_id, row->key);
}

/* Its bytes are not there, or not those: unless it was replaced or deleted since its row was read. */
static int check_again(struct check *c, const struct checked_row *row, bool there)
{
	struct bucket_report *r = c->report;
	int64_t stands = 0;
	int err = db_int(c->db, &sql[CHECK_STANDS], &stands, ARGS(T(row->tenant_id), T(row->blob)));

	if (err || !stands)
		return err;
	r->objects++;
	r->size_bytes += row->size_bytes;
	r->missing += !there;
	r->torn += there;
	note_bad(c, row);
	return 0;
}

/* S3 that fails again and again is asked no further. */
static int note_unread(struct check *c, const struct checked_row *row, int number, const char *said)
{
	struct bucket_report *r = c->report;

	r->objects++;
	r->size_bytes += row->size_bytes;
	if (!r->unread++)
		r->why = arena_strdup(c->arena, number > 0 ? strerror(number)
						: said	   ? said
							   : error_row(number)->title);
	note_bad(c, row);
	return number < 0 && ++c->outside == OUTSIDE_FAILURES ? number : 0;
}

static int check_row(struct check *c, const struct checked_row *row)
{
	struct problem p = { 0 };
	struct bucket_said said = { c->scratch, &p };
	int fd = -1;
	int number =
		bucket_blob_open(c->bucket, row->tenant_id, row->blob, row->size_bytes, &fd, &said);
	bool same = !number && bucket_digest_is(fd, row->sha256);

	if (fd >= 0)
		close(fd);
	if (number && number != ENOENT)
		return note_unread(c, row, number, p.detail);
	c->outside = 0;
	if (!same)
		return check_again(c, row, !number);
	c->report->objects++;
	c->report->size_bytes += row->size_bytes;
	return 0;
}

static int check_rows(struct check *c)
{
	char tenant_id[ID_LEN + 1] = "", id[ID_LEN + 1] = "";
	struct list rows = { .count = PAGE };
	int err = 0;

	while (!err && rows.count == PAGE) {
		const struct checked_row *row;

		arena_reset(c->scratch);
		err = db_all(c->db, c->scratch, &sql[CHECK_PAGE], &rows, PAGE,
			ARGS(T(tenant_id), T(id), N(PAGE)));
		row = rows.at;
		for (size_t i = 0; !err && i < rows.count; i++) {
			err = check_row(c, &row[i]);
			snprintf(tenant_id, sizeof tenant_id, "%s", row[i].tenant_id);
			snprintf(id, sizeof id, "%s", row[i].id);
		}
	}
	return err;
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
	struct arena scratch = { 0 };
	struct check c = { .bucket = b,
		.db = db,
		.arena = a,
		.scratch = &scratch,
		.report = ret,
		.before = clock_now_us() - HOUR_US,
		.waits_until = clock_now_us() };
	int err = check_rows(&c);

	arena_free(&scratch);
	if (!err && b->kind->each(b, count_unnamed, &c)) {
		err = c.err ? c.err : ERR_STORE;
		ret->why = c.err ? NULL : "what is there cannot be listed";
	}
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
