/* repo_sweep.c - folders of repositories that are to go: read from the store, removed on the threads for disks, and only
 * then forgotten, so that whoever dies in the middle begins again.
 *
 * Once a day the folders are held against the rows: one that is a day old and that no row names was made by a process
 * that died before it could write the row, or its row is newer than a copy of the store that was put
 * back.  That is noted in it, and it is removed when the note is a week old. */
#include "repos/repos_parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "repos/repo_lock.h"
#include "repos/repo_mark.h"
#include "repos/repo_moved.h"
#include "store/pool.h"

#define NOTE "lodge-unnamed"
#define UNNAMED_US (7 * DAY_US)

enum { PIECE = 100 };

enum { TRASH_DUE, TRASH_FORGET, NAMED };

static const struct statement sql[] = {
	[TRASH_DUE] = { "repo_trash_due",
		"select id as value from repository_trash where remove_at <= $1 order by remove_at, id "
		"limit $2",
		.row = &one_text_schema },
	[TRASH_FORGET] = { "repo_trash_forget", "delete from repository_trash where id = $1" },
	[NAMED] = { "repo_named",
		"select case when exists (select 1 from repositories r where r.id = $1) "
		"or exists (select 1 from repository_trash t where t.id = $1) then 1 else 0 end",
		.across = "folders know no tenant" },
};
STATEMENT_SET(repo_sweep_sql, sql);

struct repo_sweep {
	struct work work; /* first: it is handed back */
	struct repos *repos;
	struct store *store;
	struct pool *pool;
	int64_t now;
	struct arena arena; /* of a piece */
	struct list
		ids; /* struct one_text; struct old_folder, where folders are held against the rows */
};

static void all_over(struct repos *r)
{
	atomic_store(&r->sweeping, false);
}

static void sweep_over(struct repo_sweep *s)
{
	repo_moved_submit(s->repos, s->store, s->pool, s->now, all_over);
	arena_free(&s->arena);
	free(s);
}

/* Once the service stops, the pool may be gone. */
static bool submit_to_disk(struct repo_sweep *s, int (*run)(struct work *w, struct db *none),
	void (*done)(struct work *w, int err))
{
	struct repos *repos = s->repos; /* once it is submitted, the sweep may be over */
	bool taken;

	s->work = (struct work){ .run = run, .done = done };
	pthread_mutex_lock(&repos->lock);
	taken = !atomic_load(&repos->stopping) && !pool_submit(s->pool, NULL, &s->work);
	pthread_mutex_unlock(&repos->lock);
	return taken;
}

static bool submit_to_store(struct repo_sweep *s, int (*run)(struct work *w, struct db *db),
	void (*done)(struct work *w, int err), enum transaction mode)
{
	s->work = (struct work){ .run = run, .done = done, .mode = mode };
	return !atomic_load(&s->repos->stopping) && !store_submit(s->store, &s->work);
}

/* ---- folders go ---- */

/* Those that could not be removed are tried again the next time. */
static int remove_folders(struct work *w, struct db *none)
{
	struct repo_sweep *s = (struct repo_sweep *)w;
	struct one_text *id = s->ids.at;
	size_t kept = 0;
	int lock = repo_lock_keeping(s->repos, &s->arena, false);

	(void)none;
	/* A copy is made, which may need them; or files are put in order.  Or the disk is away: they are there still. */
	if (lock < 0 || !repo_mark_holds(s->repos, &s->arena))
		s->ids.count = 0;
	for (size_t i = 0; i < s->ids.count; i++) {
		int err = repo_forget(s->repos, &s->arena, id[i].value);

		if (err)
			log_error("a repository cannot be removed; it is tried again",
				LOG_S("id", id[i].value), LOG_S("error", strerror(err)));
		else
			id[kept++] = id[i];
	}
	repo_unlock(lock);
	s->ids.count = kept;
	return 0;
}

static void read_due(struct repo_sweep *s);
static void collect(struct repo_sweep *s);

static int forget_folders(struct work *w, struct db *db)
{
	struct repo_sweep *s = (struct repo_sweep *)w;
	const struct one_text *id = s->ids.at;
	int err = 0;

	for (size_t i = 0; !err && i < s->ids.count; i++)
		err = db_run(db, &sql[TRASH_FORGET], NULL, ARGS(T(id[i].value)));
	return err;
}

static void folders_forgotten(struct work *w, int err)
{
	struct repo_sweep *s = (struct repo_sweep *)w;

	if (err)
		sweep_over(s); /* they are found again the next time */
	else
		read_due(s);
}

static void folders_removed(struct work *w, int err)
{
	struct repo_sweep *s = (struct repo_sweep *)w;

	if (err || !s->ids.count ||
		!submit_to_store(s, forget_folders, folders_forgotten, READ_WRITE))
		sweep_over(s);
}

/* ---- whose time has come ---- */

static int find_due(struct work *w, struct db *db)
{
	struct repo_sweep *s = (struct repo_sweep *)w;

	arena_reset(&s->arena);
	return db_all(db, &s->arena, &sql[TRASH_DUE], &s->ids, PIECE, ARGS(N(s->now), N(PIECE)));
}

static void due_found(struct work *w, int err)
{
	struct repo_sweep *s = (struct repo_sweep *)w;

	if (!err && !s->ids.count)
		collect(s);
	else if (err || !submit_to_disk(s, remove_folders, folders_removed))
		sweep_over(s);
}

static void read_due(struct repo_sweep *s)
{
	if (!submit_to_store(s, find_due, due_found, READ_ONLY))
		sweep_over(s);
}

/* ---- what no row names ---- */

struct old_folder {
	const char *id;
	bool noted; /* that no row named it */
	bool named;
};

static const char *note_path(const struct repo_sweep *s, struct arena *a, const char *id)
{
	return arena_printf(a, "%s/" NOTE, repo_path(s->repos, a, id));
}

static bool is_old_folder(const struct repo_sweep *s, const char *name)
{
	return strlen(name) > ID_LEN && id_valid(name, ID_LEN) && name[ID_LEN] == '.' &&
	       id_moment(name) < s->now - DAY_US;
}

/* As many as one piece may be, by chance the first that the folder gives: the next day there are others. */
static int list_folders(struct work *w, struct db *none)
{
	enum { FOLDERS_MAX = 20000 };
	struct repo_sweep *s = (struct repo_sweep *)w;
	struct old_folder *found;
	const struct dirent *e;
	DIR *folder;

	(void)none;
	arena_reset(&s->arena);
	s->ids = (struct list){ 0 };
	if (!repo_mark_holds(s->repos, &s->arena))
		return ERR_CONFLICT; /* another store's, or a disk that is not mounted */
	folder = opendir(s->repos->folder);
	if (!folder)
		return ERR_UPSTREAM;
	found = arena_array(&s->arena, struct old_folder, FOLDERS_MAX);
	while (s->ids.count < FOLDERS_MAX && (e = readdir(folder)))
		if (is_old_folder(s, e->d_name)) {
			const char *id = arena_strndup(&s->arena, e->d_name, ID_LEN);

			found[s->ids.count++] = (struct old_folder){ .id = id,
				.noted = access(note_path(s, &s->arena, id), F_OK) == 0 };
		}
	closedir(folder);
	s->ids.at = found;
	return 0;
}

/* Left are those that no row names, and those of which that was noted and is no longer so. */
static int keep_unnamed(struct work *w, struct db *db)
{
	struct repo_sweep *s = (struct repo_sweep *)w;
	const struct old_folder *all = s->ids.at;
	struct old_folder *left = arena_array(&s->arena, struct old_folder, PIECE);
	size_t count = 0;
	int err = 0;

	for (size_t i = 0; !err && i < s->ids.count && count < PIECE; i++) {
		int64_t named = 0;

		err = db_int(db, &sql[NAMED], &named, ARGS(T(all[i].id)));
		if (!err && (!named || all[i].noted))
			left[count++] = (struct old_folder){
				.id = all[i].id, .noted = all[i].noted, .named = named
			};
	}
	if (!err)
		s->ids = (struct list){ left, count };
	return err;
}

/* From the moment of this note on it is kept for a week: a row may come back with a copy of the store. */
static void note_unnamed(const struct repo_sweep *s, struct arena *a, const char *id)
{
	struct timespec moment = { .tv_sec = s->now / SECOND_US };
	int fd = open(note_path(s, a, id), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return;
	futimens(fd, (struct timespec[2]){ moment, moment });
	close(fd);
	log_warn("the folder of a repository is one that no row names; it is removed in a week",
		LOG_S("id", id));
}

static void treat_old(const struct repo_sweep *s, struct arena *a, const struct old_folder *o)
{
	struct stat st;
	int err;

	if (o->named) {
		unlink(note_path(s, a, o->id));
		return;
	}
	if (access(repo_path(s->repos, a, o->id), F_OK) == 0) {
		if (stat(note_path(s, a, o->id), &st)) {
			note_unnamed(s, a, o->id);
			return;
		}
		if (st.st_mtim.tv_sec > (s->now - UNNAMED_US) / SECOND_US)
			return;
		log_warn("the folder of a repository that no row names is removed",
			LOG_S("id", o->id));
	}
	err = repo_forget(s->repos, a, o->id);
	if (err)
		log_error("a repository cannot be removed; it is tried again", LOG_S("id", o->id),
			LOG_S("error", strerror(err)));
}

static int treat_folders(struct work *w, struct db *none)
{
	struct repo_sweep *s = (struct repo_sweep *)w;
	const struct old_folder *o = s->ids.at;
	int lock = repo_lock_keeping(s->repos, &s->arena, false);

	(void)none;
	for (size_t i = 0; lock >= 0 && i < s->ids.count; i++)
		treat_old(s, &s->arena, &o[i]);
	repo_unlock(lock);
	return 0;
}

static void folders_treated(struct work *w, int err)
{
	(void)err;
	sweep_over((struct repo_sweep *)w);
}

static void unnamed_kept(struct work *w, int err)
{
	struct repo_sweep *s = (struct repo_sweep *)w;

	if (err || !s->ids.count || !submit_to_disk(s, treat_folders, folders_treated))
		sweep_over(s);
}

static void folders_listed(struct work *w, int err)
{
	struct repo_sweep *s = (struct repo_sweep *)w;

	if (err || !s->ids.count || !submit_to_store(s, keep_unnamed, unnamed_kept, READ_ONLY))
		sweep_over(s);
}

static void collect(struct repo_sweep *s)
{
	if (s->repos->collected_us > s->now - DAY_US) {
		sweep_over(s);
		return;
	}
	s->repos->collected_us = s->now;
	if (!submit_to_disk(s, list_folders, folders_listed))
		sweep_over(s);
}

bool repo_is_swept(const struct repos *r)
{
	return !atomic_load(&r->sweeping);
}

void repo_sweep_submit(struct repos *r, struct store *store, struct pool *pool, int64_t now)
{
	struct repo_sweep *s;

	if (!r || atomic_exchange(&r->sweeping, true))
		return;
	s = calloc(1, sizeof *s);
	if (!s) {
		atomic_store(&r->sweeping, false);
		return;
	}
	*s = (struct repo_sweep){ .repos = r, .store = store, .pool = pool, .now = now };
	read_due(s);
}
