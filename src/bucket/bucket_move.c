/* bucket_move.c - the bytes of all objects from one place to another, while they are read, put and removed; see bucket.h.
 *
 * A blob is the same bytes for ever, so that copying is all there is to it: one
 * that is there needs nothing, one that comes twice is the same, and one whose
 * row goes meanwhile is collected where it came to. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bucket/bucket_parts.h"
#include "store/row.h"

enum { PAGE = 200, AT_ONCE = 256 * 1024, PASSES = 100 };

struct moved_row {
	const char *tenant_id, *id, *key, *blob, *sha256;
	int64_t size_bytes;
};

FIELDS(moved_row) = { ROW_FIELDS(moved_row, tenant_id, id, key, blob, sha256, size_bytes) };
static SCHEMA(moved_row, .internal = true);

enum { MOVE_PAGE, MOVE_COUNT, MOVE_BYTES };

static const struct statement sql[] = {
	[MOVE_PAGE] = { "bucket_move_page",
		"select {*} from bucket_objects where (tenant_id, id) > ($1, $2) "
		"order by tenant_id, id limit $3",
		.row = &moved_row_schema, .across = "of every tenant" },
	[MOVE_COUNT] = { "bucket_count", "select count(*) from bucket_objects",
		.scan = "all of them are counted", .across = "of every tenant" },
	[MOVE_BYTES] = { "bucket_bytes",
		"select cast(coalesce(sum(size_bytes), 0) as bigint) from bucket_objects",
		.scan = "all of them are counted", .across = "of every tenant" },
};
STATEMENT_SET(bucket_move_sql, sql);

struct move {
	struct bucket *to, *from;
	struct arena scratch; /* of one object */
	struct bucket_moving *so_far;
	bool again;
	bool held; /* what is there was held against its digest: in the first pass */
	struct arena *arena;
	struct problem *problem;
};

int bucket_totals(struct db *db, int64_t *ret_objects, int64_t *ret_bytes)
{
	int err = db_int(db, &sql[MOVE_COUNT], ret_objects, NO_ARGS);

	return err ? err : db_int(db, &sql[MOVE_BYTES], ret_bytes, NO_ARGS);
}

static struct bucket_upload *copy_begin(struct move *m, const struct moved_row *row)
{
	struct bucket_upload *u = bucket_upload_new(m->to, row->tenant_id);

	u->copies = true;
	/* Two that bring the same never write to one file. */
	memcpy(u->suffix, u->blob.text + ID_LEN - (sizeof u->suffix - 1), sizeof u->suffix);
	snprintf(u->blob.text, sizeof u->blob.text, "%s", row->blob);
	return u;
}

/* *ret_same: they are those that were put, and there now. */
static int copy_bytes(struct move *m, int fd, const struct moved_row *row, bool *ret_same)
{
	struct bucket_upload *u = copy_begin(m, row);
	char *bytes = arena_raw(&m->scratch, AT_ONCE, 1), digest[65];
	struct bucket_stored stored;
	ssize_t n = 0;
	int err = 0;

	while (!err && (n = read(fd, bytes, AT_ONCE)) > 0)
		err = bucket_upload_write(u, bytes, (size_t)n, m->arena, m->problem);
	bucket_upload_digest(u, digest);
	*ret_same = n == 0 && strcmp(digest, row->sha256) == 0;
	if (!err && *ret_same) {
		err = bucket_upload_finish(u, &stored, m->arena, m->problem);
		bucket_upload_keep(u, !err);
	}
	bucket_upload_end(u, NULL);
	return err;
}

static void note_bad(struct move *m, const struct moved_row *row)
{
	if (!m->so_far->first)
		m->so_far->first = bucket_uri(m->arena, row->tenant_id, row->key);
}

/* Whether the place has it already. */
static int is_there(struct move *m, const struct moved_row *row, bool *ret)
{
	struct bucket_said said = { &m->scratch, m->problem };
	int64_t size = 0;
	int fd = -1, err = m->to->kind->size(m->to, row->tenant_id, row->blob, &size, &said);

	*ret = !err && size == row->size_bytes;
	if (*ret && !m->held) {
		err = m->to->kind->open(
			m->to, row->tenant_id, row->blob, row->size_bytes, &fd, &said);
		*ret = !err && bucket_digest_is(fd, row->sha256);
		if (fd >= 0)
			close(fd);
	}
	if (err == ENOENT)
		*m->problem = (struct problem){ 0 };
	return err == ENOENT ? 0 : err;
}

/* ENOENT if this place does not have it either. */
static int copy_from(
	struct move *m, struct bucket *from, const struct moved_row *row, bool *ret_same)
{
	struct bucket_said said = { &m->scratch, m->problem };
	int fd = -1,
	    err = from->kind->open(from, row->tenant_id, row->blob, row->size_bytes, &fd, &said);

	if (err == ENOENT)
		*m->problem = (struct problem){ 0 };
	else if (!err)
		err = copy_bytes(m, fd, row, ret_same);
	if (fd >= 0)
		close(fd);
	return err;
}

static int move_one(struct move *m, const struct moved_row *row)
{
	struct bucket *places[] = { m->from, m->from->also };
	struct bucket_moving *r = m->so_far;
	bool there, same = false, found = false;
	int err = is_there(m, row, &there);

	if (err || there)
		return err;
	for (size_t i = 0; i < 2 && !same; i++) {
		if (!places[i] || strcmp(places[i]->where, m->to->where) == 0)
			continue;
		err = copy_from(m, places[i], row, &same);
		if (err && err != ENOENT)
			return err;
		found = found || !err;
	}
	if (same) {
		r->copied++;
		r->copied_bytes += row->size_bytes;
		m->again = true;
		return 0;
	}
	*(found ? &r->torn : &r->missing) += 1;
	note_bad(m, row);
	return 0;
}

/* Whether one folder is the other, or lies in it. */
static bool folder_within(int inner, int outer)
{
	struct stat at, above, wanted;
	int fd = fcntl(inner, F_DUPFD_CLOEXEC, 0), up;
	bool within = false;

	if (fd < 0 || fstat(outer, &wanted) || fstat(fd, &at)) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while (!within) {
		within = at.st_dev == wanted.st_dev && at.st_ino == wanted.st_ino;
		up = within ? -1 : openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (up < 0)
			break;
		close(fd);
		fd = up;
		if (fstat(fd, &above) ||
			(above.st_dev == at.st_dev && above.st_ino == at.st_ino)) /* the root */
			break;
		at = above;
	}
	close(fd);
	return within;
}

/* By another name: what is removed as the former place would be the new one. */
static int refuse_same_place(struct move *m, const struct bucket *from)
{
	if (!from || from->s3 || m->to->s3 || strcmp(from->where, m->to->where) == 0 ||
		from->folder < 0 || m->to->folder < 0)
		return 0;
	if (!folder_within(m->to->folder, from->folder) &&
		!folder_within(from->folder, m->to->folder))
		return 0;
	return problem_set(m->problem, m->arena, ERR_USAGE,
		"%s is %s by another name, or one lies in the other: name a folder of its own",
		m->to->where, from->where);
}

static int move_problem(struct move *m, int err)
{
	if (err > 0)
		return problem_set(m->problem, m->arena, ERR_STORE,
			"the bytes cannot be copied: %s", strerror(err));
	return m->problem->err
		       ? err
		       : problem_set(m->problem, m->arena, err, "the bytes cannot be copied");
}

static int move_pass(struct move *m, struct db *db,
	void (*told)(void *ctx, const struct bucket_moving *so_far), void *ctx)
{
	char tenant_id[ID_LEN + 1] = "", id[ID_LEN + 1] = "";
	struct arena page = { 0 };
	struct list rows = { .count = PAGE };
	int err = 0;

	while (!err && rows.count == PAGE) {
		arena_reset(&page);
		err = db_all(db, &page, &sql[MOVE_PAGE], &rows, PAGE,
			ARGS(T(tenant_id), T(id), N(PAGE)));
		if (err)
			problem_set(m->problem, m->arena, err, "the store cannot be read: %s",
				db_error(db));
		for (size_t i = 0; !err && i < rows.count; i++) {
			const struct moved_row *row = (const struct moved_row *)rows.at + i;

			arena_reset(&m->scratch);
			err = move_one(m, row);
			if (err)
				err = move_problem(m, err);
			m->so_far->looked_at++;
			m->so_far->looked_at_bytes += row->size_bytes;
			if (told)
				told(ctx, m->so_far);
			snprintf(tenant_id, sizeof tenant_id, "%s", row->tenant_id);
			snprintf(id, sizeof id, "%s", row->id);
		}
	}
	arena_free(&page);
	return err;
}

int bucket_move(struct bucket *to, struct bucket *from, struct db *db, struct arena *a,
	struct bucket_moving *ret, void (*told)(void *ctx, const struct bucket_moving *so_far),
	void *ctx, struct problem *p)
{
	struct move m = { .to = to, .from = from, .so_far = ret, .arena = a, .problem = p };
	int err = 0, passes = 0;

	*ret = (struct bucket_moving){ 0 };
	err = refuse_same_place(&m, from);
	if (!err)
		err = refuse_same_place(&m, from->also);
	if (err)
		return err;
	do {
		m.again = false;
		ret->missing = ret->torn = ret->looked_at = ret->looked_at_bytes = 0;
		ret->first = NULL;
		err = bucket_totals(db, &ret->objects, &ret->size_bytes);
		if (err)
			problem_set(p, a, err, "the store cannot be read: %s", db_error(db));
		else
			err = move_pass(&m, db, told, ctx);
		m.held = true;
	} while (!err && m.again && ++passes < PASSES);
	arena_free(&m.scratch);
	return err;
}
