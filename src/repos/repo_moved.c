/* repo_moved.c - see repo_moved.h.
 *
 *   rows, a piece of them -> where their main branches stand on the disk
 *     -> the rows of those that stand elsewhere, with an entry in the audit log where nobody had noted it
 *
 * Git ends after the service that was killed, or just before it: then a branch
 * has moved and no row says so.  Whether somebody noted the push is what the
 * audit log says.  To end git with the service was weighed: it leaves the moment
 * between. */
#include "repos/repo_moved.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "access/audit.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/same.h"
#include "git/bare.h"
#include "repos/converge.h"
#include "repos/repo_lock.h"
#include "repos/repos_parts.h"
#include "store/pool.h"
#include "store/row.h"

enum { PIECE = 500, NOTED_MAX = 50, YOUNG_US = 60 * 1000 * 1000 };

enum { MOVED_NEXT, MOVED_NOTED };

static const struct statement sql[] = {
	[MOVED_NEXT] = { "repo_moved_next",
		"select {*} from repositories where id > $1 and host = 'embedded' order by id limit $2",
		.row = &repository_schema, .across = "of every tenant" },
	[MOVED_NOTED] = { "repo_moved_noted",
		"select count(*) from audit_logs where tenant_id = $1 and action = 'repo.push' "
		"and resource_id = $2 and meta like '%' || cast($3 as text) || '%'" },
};
STATEMENT_SET(repo_moved_sql, sql);

struct moved {
	const struct repository *row;
	char tip[BARE_ID_LEN + 1];
	int64_t size;
};

struct look {
	struct work work; /* first: it is handed back */
	struct repos *repos;
	struct store *store;
	struct pool *pool;
	int64_t now;
	void (*over)(struct repos *r);
	struct arena arena;
	struct list rows; /* struct repository */
	struct moved *of;
	size_t count;
};

static void look_over(struct look *l)
{
	struct repos *repos = l->repos;
	void (*over)(struct repos * r) = l->over;

	arena_free(&l->arena);
	free(l);
	over(repos);
}

/* When its main branch was last written; 0: that is not known. */
static int64_t written_at(struct arena *a, const char *path)
{
	struct stat st;

	if (stat(arena_printf(a, "%s/refs/heads/" REPO_MAIN, path), &st) &&
		stat(arena_printf(a, "%s/packed-refs", path), &st))
		return 0;
	return (int64_t)st.st_mtim.tv_sec * SECOND_US + st.st_mtim.tv_nsec / 1000;
}

static bool has_moved(struct look *l, const struct repository *row, struct moved *ret)
{
	const char *path = repo_path(l->repos, &l->arena, row->id);
	int64_t written = written_at(&l->arena, path);
	struct problem ignored = { 0 };
	struct bare *b = NULL;
	bool is = false;

	if (!written || written > l->now - YOUNG_US || row->updated_at > l->now - YOUNG_US ||
		bare_open(&b, path, &l->arena, &ignored))
		return false;
	if (!bare_tip(b, REPO_MAIN, ret->tip, &l->arena, &ignored))
		is = !same_text(row->tip, ret->tip);
	bare_close(b);
	if (!is || repo_push_runs(l->repos, &l->arena, row->id))
		return false;
	ret->row = row;
	ret->size = repo_size(l->repos, &l->arena, row->id);
	return true;
}

static int look_at_disk(struct work *w, struct db *none)
{
	struct look *l = (struct look *)w;
	const struct repository *row = l->rows.at;

	(void)none;
	l->of = arena_array(&l->arena, struct moved, NOTED_MAX);
	for (size_t i = 0;
		i < l->rows.count && l->count < NOTED_MAX && !atomic_load(&l->repos->stopping); i++)
		l->count += has_moved(l, &row[i], &l->of[l->count]);
	return 0;
}

/* Nobody knows any more whose push it was. */
static int note_in_log(struct db *db, struct arena *a, const struct moved *m)
{
	const struct repository *row = m->row;
	int64_t noted = 0;
	int err = db_int(
		db, &sql[MOVED_NOTED], &noted, ARGS(T(row->tenant_id), T(row->id), T(m->tip)));

	if (err || noted)
		return err;
	log_warn("a push was taken and not noted: the service ended meanwhile",
		LOG_S("id", row->id), LOG_S("tip", m->tip));
	return audit_write(db, a,
		&(struct audit_entry){ .action = "repo.push",
			.tenant_id = row->tenant_id,
			.agent_id = row->agent_id,
			.resource_id = row->id,
			.meta = arena_printf(a,
				"{\"repository\":\"%s\",\"refs\":[{\"ref\":\"refs/heads/" REPO_MAIN
				"\",\"old\":\"%s\",\"new\":\"%s\"}],\"found\":true}",
				RepoPurpose_words.list[row->purpose],
				row->tip ? row->tip : "0000000000000000000000000000000000000000",
				m->tip) });
}

/* Unless somebody else has done it, or anything else, meanwhile. */
static int note_one(struct db *db, struct arena *a, const struct moved *m, int64_t now)
{
	struct repository row;
	int err = repo_find(db, a, m->row->tenant_id, m->row->agent_id,
		(enum RepoPurpose)m->row->purpose, &row);

	if (err == ERR_NOT_FOUND ||
		(!err && (strcmp(row.id, m->row->id) != 0 || row.updated_at != m->row->updated_at)))
		return 0;
	if (!err)
		err = note_in_log(db, a, m);
	row.size_bytes = m->size;
	if (!err)
		err = repo_saw(db, &row, m->tip, now);
	return err ? err : repo_converge_add(db, a, &row, now);
}

static int note_all(struct work *w, struct db *db)
{
	const struct look *l = (const struct look *)w;
	int err = 0;

	for (size_t i = 0; !err && i < l->count; i++)
		err = note_one(db, (struct arena *)&l->arena, &l->of[i], l->now);
	return err;
}

static void all_noted(struct work *w, int err)
{
	(void)err; /* they are found again */
	look_over((struct look *)w);
}

static void disk_looked_at(struct work *w, int err)
{
	struct look *l = (struct look *)w;

	l->work = (struct work){ .run = note_all, .done = all_noted, .mode = READ_WRITE };
	if (err || !l->count || atomic_load(&l->repos->stopping) ||
		store_submit(l->store, &l->work))
		look_over(l);
}

static int find_rows(struct work *w, struct db *db)
{
	struct look *l = (struct look *)w;

	arena_reset(&l->arena);
	return db_all(db, &l->arena, &sql[MOVED_NEXT], &l->rows, PIECE,
		ARGS(T(l->repos->looked_at), N(PIECE)));
}

/* Once the service stops, the pool may be gone. */
static bool submit_to_disk(struct look *l)
{
	struct repos *repos = l->repos;
	bool taken;

	l->work = (struct work){ .run = look_at_disk, .done = disk_looked_at };
	pthread_mutex_lock(&repos->lock);
	taken = !atomic_load(&repos->stopping) && !pool_submit(l->pool, NULL, &l->work);
	pthread_mutex_unlock(&repos->lock);
	return taken;
}

static void rows_found(struct work *w, int err)
{
	struct look *l = (struct look *)w;
	const struct repository *row = l->rows.at;
	const char *last = !err && l->rows.count == PIECE ? row[PIECE - 1].id : "";

	snprintf(l->repos->looked_at, sizeof l->repos->looked_at, "%s",
		last); /* after the last one it begins anew */
	if (err || !l->rows.count || !submit_to_disk(l))
		look_over(l);
}

void repo_moved_submit(struct repos *r, struct store *store, struct pool *pool, int64_t now,
	void (*over)(struct repos *r))
{
	struct look *l = memory_zeroed(sizeof *l);

	*l = (struct look){ .repos = r, .store = store, .pool = pool, .now = now, .over = over };
	l->work = (struct work){ .run = find_rows, .done = rows_found, .mode = READ_ONLY };
	if (atomic_load(&r->stopping) || store_submit(store, &l->work))
		look_over(l);
}
