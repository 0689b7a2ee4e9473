/* repo_keep.c - see repo_keep.h.
 *
 *   which are due (store) -> git for a few of them (a thread of its own) -> they were kept (store) -> the next
 *
 * What is marked is the moment before git began: what is pushed meanwhile is
 * seen the next night. */
#include "repos/repo_keep.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "git/git_keep.h"
#include "repos/repo_lock.h"
#include "repos/repos_parts.h"
#include "store/pool.h"
#include "store/row.h"

enum { PIECE = 8, HOURS = 24, IDLE_S = 10, BESIDES = 64 << 20 };

FIELDS(repo_due) = { ROW_FIELDS(repo_due, tenant_id, id) };
static SCHEMA(repo_due, .internal = true);

enum { DUE, ALL, MARK };

static const struct statement sql[] = {
	[DUE] = { "repo_keep_due",
		"select {*} from repositories where id > $1 and (kept_at is null or kept_at < updated_at) "
		"order by id limit $2",
		.row = &repo_due_schema, .across = "of every tenant" },
	[ALL] = { "repo_keep_all",
		"select {*} from repositories where id > $1 order by id limit $2",
		.row = &repo_due_schema, .across = "of every tenant" },
	[MARK] = { "repo_keep_mark",
		"update repositories set kept_at = $3, size_bytes = $4 where tenant_id = $1 and id = $2" },
};
STATEMENT_SET(repo_keep_sql, sql);

int repo_keep_due(
	struct db *db, struct arena *a, const char *after, bool all, size_t most, struct list *ret)
{
	return db_all(db, a, &sql[all ? ALL : DUE], ret, most, ARGS(T(after), N((int64_t)most)));
}

int repo_keep_mark(struct db *db, const struct repo_due *row, int64_t began, int64_t size_bytes)
{
	return db_run(
		db, &sql[MARK], NULL, ARGS(T(row->tenant_id), T(row->id), N(began), N(size_bytes)));
}

/* ---- one ---- */

struct keeping_one {
	const struct repos *r;
	const char *id;
};

static bool nobody_pushes(void *ctx)
{
	const struct keeping_one *k = ctx;
	struct arena a = { 0 };
	bool pushed = repo_push_runs(k->r, &a, k->id);

	arena_free(&a);
	return !pushed;
}

static enum repo_kept keep_held(
	struct repos *r, struct arena *a, const char *id, const _Atomic bool *stop)
{
	struct keeping_one one = { r, id };
	struct git_keep what = { .path = repo_path(r, a, id),
		.bytes_max = r->bytes_max + BESIDES,
		.wanted = nobody_pushes,
		.ctx = &one,
		.stop = stop };
	struct git_result result;

	if ((stop && atomic_load(stop)) || !nobody_pushes(&one)) {
		atomic_fetch_add(&r->keep_put_off, 1);
		return REPO_KEPT_PUSHED;
	}
	switch (git_keep(&what, &result)) {
	case GIT_ENDED:
		atomic_fetch_add(&r->keep_kept, 1);
		return REPO_KEPT_WELL;
	case GIT_UNWANTED:
		atomic_fetch_add(&r->keep_put_off, 1);
		return REPO_KEPT_PUSHED;
	default:
		atomic_fetch_add(&r->keep_failed, 1);
		log_error("a repository cannot be put in order; it is tried again the next night",
			LOG_S("id", id), LOG_S("said", result.said));
		return REPO_KEPT_FAILED;
	}
}

/* A mirror that is fetched is left alone, and is not fetched meanwhile: who fetches removes files that are half written, whoever
 * writes them. */
enum repo_kept repo_keep_one(
	struct repos *r, struct arena *a, const char *id, const _Atomic bool *stop)
{
	enum repo_kept kept;
	int lock;

	if (!repo_is_there(r, a, id)) {
		atomic_fetch_add(&r->keep_failed, 1);
		log_error("the files of a repository are not where this process looks for them",
			LOG_S("id", id), LOG_S("folder", repo_path(r, a, id)));
		return REPO_KEPT_MISSING;
	}
	if (!git_keep_gains(repo_path(r, a, id)))
		return REPO_KEPT_AS_IT_WAS;
	lock = repo_lock_fetch(r, a, id);
	if (lock < 0) {
		atomic_fetch_add(&r->keep_put_off, 1);
		return REPO_KEPT_PUSHED;
	}
	kept = keep_held(r, a, id, stop);
	repo_unlock(lock);
	return kept;
}

bool repo_keep_is_whole(struct repos *r, struct arena *a, const char *id)
{
	struct git_keep what = { .path = repo_path(r, a, id), .bytes_max = 1 };
	struct git_result result;

	if (git_keep_check(&what, false, &result) == GIT_ENDED)
		return true;
	log_error("a repository is not whole", LOG_S("id", id), LOG_S("said", result.said));
	return false;
}

bool repo_keep_tight(
	const struct repos *r, struct arena *a, const char *id, const _Atomic bool *stop)
{
	struct keeping_one one = { r, id };
	struct git_keep what = { .path = repo_path(r, a, id),
		.bytes_max = r->bytes_max + BESIDES,
		.drops = true,
		.wanted = nobody_pushes,
		.ctx = &one,
		.stop = stop };
	struct git_result result = { .end = GIT_UNWANTED };
	int lock = repo_lock_keeping(r, a, false);

	if (lock >= 0 && nobody_pushes(&one))
		git_keep(&what, &result);
	repo_unlock(lock);
	if (result.end == GIT_FAILED)
		log_error("a mirror cannot be put in order", LOG_S("id", id),
			LOG_S("said", result.said));
	return result.end == GIT_ENDED;
}

struct repo_keep_figures repo_keep_figures(const struct repos *r)
{
	return (struct repo_keep_figures){ .kept = atomic_load(&r->keep_kept),
		.failed = atomic_load(&r->keep_failed),
		.put_off = atomic_load(&r->keep_put_off) };
}

/* ---- the night of the service ---- */

struct repo_night {
	struct work work; /* first: it is handed back */
	struct repos *r;
	struct store *store;
	struct arena arena; /* of a piece */
	int lock;
	char after[ID_LEN + 1];
	struct list due;		    /* struct repo_due */
	int64_t began[PIECE], sizes[PIECE]; /* 0: it was not kept */
};

static void night_over(struct repo_night *n)
{
	struct repos *r = n->r;

	repo_unlock(n->lock);
	arena_free(&n->arena);
	free(n);
	atomic_store(&r->keeping, false);
}

static bool submit_to_store(struct repo_night *n, int (*run)(struct work *w, struct db *db),
	void (*done)(struct work *w, int err), enum transaction mode)
{
	n->work = (struct work){ .run = run, .done = done, .mode = mode };
	return !atomic_load(&n->r->stopping) && !store_submit(n->store, &n->work);
}

static void find_next(struct repo_night *n);

static int mark_kept(struct work *w, struct db *db)
{
	const struct repo_night *n = (const struct repo_night *)w;
	const struct repo_due *row = n->due.at;
	int err = 0;

	for (size_t i = 0; !err && i < n->due.count; i++)
		if (n->began[i])
			err = repo_keep_mark(db, &row[i], n->began[i], n->sizes[i]);
	return err;
}

static void kept_marked(struct work *w, int err)
{
	struct repo_night *n = (struct repo_night *)w;

	if (err)
		night_over(n); /* they are found again the next night */
	else
		find_next(n);
}

static int keep_some(struct work *w, struct db *none)
{
	struct repo_night *n = (struct repo_night *)w;
	const struct repo_due *row = n->due.at;

	(void)none;
	for (size_t i = 0; i < n->due.count; i++) {
		int64_t began = clock_now_us();
		enum repo_kept kept =
			w->withdrawn ? REPO_KEPT_PUSHED
				     : repo_keep_one(n->r, &n->arena, row[i].id, &w->withdrawn);

		n->began[i] = kept == REPO_KEPT_WELL || kept == REPO_KEPT_AS_IT_WAS ? began : 0;
		n->sizes[i] = n->began[i] ? repo_size(n->r, &n->arena, row[i].id) : 0;
	}
	return 0;
}

static void some_kept(struct work *w, int err)
{
	struct repo_night *n = (struct repo_night *)w;

	if (err || !submit_to_store(n, mark_kept, kept_marked, READ_WRITE))
		night_over(n);
}

static int find_due(struct work *w, struct db *db)
{
	struct repo_night *n = (struct repo_night *)w;

	arena_reset(&n->arena);
	return repo_keep_due(db, &n->arena, n->after, false, PIECE, &n->due);
}

static bool submit_to_keeper(struct repo_night *n)
{
	struct repos *r = n->r; /* once it is submitted, the night may be over */
	bool taken;

	n->work = (struct work){ .run = keep_some, .done = some_kept };
	pthread_mutex_lock(&r->lock);
	taken = !atomic_load(&r->stopping) && !pool_submit(r->keeper, NULL, &n->work);
	pthread_mutex_unlock(&r->lock);
	return taken;
}

static void due_found(struct work *w, int err)
{
	struct repo_night *n = (struct repo_night *)w;

	if (!err && n->due.count) {
		const struct repo_due *last = (const struct repo_due *)n->due.at + n->due.count - 1;

		memcpy(n->after, last->id, ID_LEN);
		if (submit_to_keeper(n))
			return;
	}
	night_over(n);
}

static void find_next(struct repo_night *n)
{
	if (!submit_to_store(n, find_due, due_found, READ_ONLY))
		night_over(n);
}

bool repo_is_kept(const struct repos *r)
{
	return !atomic_load(&r->keeping);
}

static bool has_come(const struct repos *r, int64_t now)
{
	return now / (DAY_US / HOURS) % HOURS == r->keep_hour && now / DAY_US != r->kept_day;
}

void repo_keep_submit(struct repos *r, struct store *store, int64_t now)
{
	struct repo_night *n;

	if (!r || !has_come(r, now) || atomic_exchange(&r->keeping, true))
		return;
	r->kept_day = now / DAY_US;
	n = calloc(1, sizeof *n);
	if (!n) {
		atomic_store(&r->keeping, false);
		return;
	}
	*n = (struct repo_night){ .r = r, .store = store };
	n->lock = repo_lock_keeping(r, &n->arena, false);
	if (!r->keeper)
		r->keeper = pool_new(&(struct pool_settings){ .threads = 1,
			.idle_s = IDLE_S,
			.waiting = 2,
			.waiting_each = 2,
			.withdraws = true });
	if (n->lock < 0) /* another process is at it, or a copy is made */
		night_over(n);
	else
		find_next(n);
}
