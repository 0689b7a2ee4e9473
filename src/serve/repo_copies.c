/* repo_copies.c - see repo_copies.h. */
#include "serve/repo_copies.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder.h"
#include "repos/repo_check.h"
#include "repos/repo_copy.h"
#include "repos/repo_lock.h"
#include "repos/repo_mark.h"
#include "repos/repo_swap.h"
#include "serve/open.h"

static int open_folder(
	struct repos **ret, const struct settings *s, struct arena *a, struct problem *p)
{
	return repos_new(ret,
		&(struct repos_settings){
			.folder = s->repo_folder, .bytes_max = s->repo_max_bytes.bytes },
		a, p);
}

/* ---- a copy is made ---- */

/* A folder of repositories gets its name before the store's copy does, and has this until that has. */
#define UNFINISHED "lodge-unfinished"

static const char *unfinished_of(const struct repo_backup *b, struct arena *a)
{
	return arena_printf(a, "%s/" UNFINISHED, b->whole);
}

static int note_unfinished(const char *part, struct arena *a, struct problem *p)
{
	const char *path = arena_printf(a, "%s/" UNFINISHED, part);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || fsync(fd)) {
		problem_set(p, a, ERR_STORE, "%s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return ERR_STORE;
	}
	close(fd);
	return 0;
}

static int copy_beside(
	void *ctx, struct db *copy, int64_t version, struct arena *a, struct problem *p)
{
	struct repo_backup *b = ctx;
	const char *part = arena_printf(a, "%s.part", b->whole);
	int err;

	(void)copy;
	(void)version;
	if (b->lock < 0)
		return 0;
	repo_copy_drop(part); /* of one that was broken off */
	if (access(unfinished_of(b, a), F_OK) == 0 && access(b->file, F_OK))
		repo_copy_drop(b->whole);
	err = repo_copy_all(b->s->repo_folder, part, &b->copied, a, p);
	if (!err && b->copied.repositories)
		err = note_unfinished(part, a, p);
	if (!err && b->copied.repositories && (rename(part, b->whole) || folder_sync(b->whole)))
		err = problem_set(p, a, ERR_STORE, "%s: %s", b->whole, strerror(errno));
	if (err || !b->copied.repositories)
		repo_copy_drop(part);
	return err;
}

static int lock_keeping(struct repo_backup *b, struct arena *a, struct problem *p)
{
	struct repos *r = NULL;
	int err = open_folder(&r, b->s, a, p);

	if (err)
		return err;
	b->lock = repo_lock_keeping(r, a, false);
	if (b->lock < 0 && errno == EWOULDBLOCK) {
		fprintf(stderr,
			"Waiting for %s, who puts the repositories in order or copies them (%s/keeping.lock). To "
			"make the copy another time, end this with Ctrl-C.\n",
			repo_lock_keeper(r, a), b->s->repo_folder);
		b->lock = repo_lock_keeping(r, a, true);
	}
	if (b->lock < 0)
		err = problem_set(p, a, ERR_STORE, "the folder of repositories, %s: %s",
			b->s->repo_folder, strerror(errno));
	repos_free(r);
	return err;
}

int repo_backup_begin(struct repo_backup *b, const struct settings *s, const char *file,
	struct arena *a, struct problem *p)
{
	*b = (struct repo_backup){ .s = s,
		.file = file,
		.whole = arena_printf(a, "%s.repositories", file),
		.lock = -1,
		.beside = { copy_beside, b } };
	if (access(file, F_OK) == 0)
		return problem_set(p, a, ERR_STORE, "cannot make %s: %s", file, strerror(EEXIST));
	if (access(b->whole, F_OK) == 0 && access(unfinished_of(b, a), F_OK))
		return problem_set(p, a, ERR_STORE,
			"%s is there already, without %s: remove it, or give another name",
			b->whole, file);
	return access(s->repo_folder, F_OK) == 0 ? lock_keeping(b, a, p) : 0;
}

void repo_backup_say(const struct repo_backup *b)
{
	if (b->copied.repositories)
		printf("Wrote %s: %lld repositories of agents, %lld bytes. It belongs to the copy of the store.\n",
			b->whole, (long long)b->copied.repositories,
			(long long)b->copied.size_bytes);
}

static int report_of(const struct settings *s, struct store *store, enum repo_check_depth depth,
	struct repo_report *ret, struct arena *a, struct problem *p)
{
	struct repos *repos = NULL;
	struct db *db = NULL;
	int err = store_connect(store, &db, a, p);

	if (!err)
		err = open_folder(&repos, s, a, p);
	if (!err) {
		err = repo_check(repos, db, depth, a, ret);
		if (err)
			problem_set(p, a, err, "the rows of repositories: %s", db_error(db));
	}
	repos_free(repos);
	db_close(db);
	return err;
}

int repo_backup_missing(
	const struct settings *s, struct store *store, struct arena *a, struct problem *p)
{
	struct repo_report r = { 0 };
	int err = store_version_seen(store) < REPOS_SINCE
			  ? 0
			  : report_of(s, store, REPO_CHECK_FOLDERS, &r, a, p);

	if (!err && r.missing)
		err = problem_set(p, a, ERR_CONFLICT,
			"the copy is made, but without %lld repositories of which the folder is missing in %s; the first is "
			"%s, of %s. Put it back from an older copy, or have the agent let go of it (DELETE …/repo)",
			(long long)r.missing, s->repo_folder, r.first, r.whose);
	return err;
}

void repo_backup_end(struct repo_backup *b, struct arena *a)
{
	if (b->lock >= 0 && access(b->file, F_OK) == 0 && unlink(unfinished_of(b, a)) == 0)
		folder_sync(unfinished_of(b, a));
	repo_unlock(b->lock);
	b->lock = -1;
}

/* ---- and put back ---- */

/* Rows of the copy against folders of the copy, before anything is moved for them. */
static int hold_against_rows(struct repo_restoring *r, struct db *copy, int64_t version,
	struct arena *a, struct problem *p)
{
	struct repo_report report = { 0 };
	struct repos *repos = NULL;
	int err;

	if (r->incomplete || version < REPO_CHECK_SINCE)
		return 0;
	err = repos_new(&repos, &(struct repos_settings){ .folder = r->copy }, a, p);
	if (!err && repo_check(repos, copy, REPO_CHECK_OBJECTS, a, &report))
		err = problem_set(p, a, ERR_STORE, "the copy: %s", db_error(copy));
	repos_free(repos);
	if (err || !report.first)
		return err;
	return problem_set(p, a, ERR_CONFLICT,
		"the copy has rows of %lld repositories; in %s %lld of them are missing, and %lld are not whole; the first is %s, of "
		"%s: %s. Nothing was changed; name the folder that belongs to the copy with --repositories FOLDER, or say "
		"--incomplete, and what there is of them is put back",
		(long long)report.rows, r->copy, (long long)report.missing,
		(long long)report.broken, report.first, report.whose, report.why);
}

/* What the store knows that is to be replaced, if it can be read. */
static void read_present(struct repo_restoring *r, struct arena *a, char id[ID_LEN + 1])
{
	struct problem unread = { 0 };
	struct store_version v = { 0 };
	struct store *store = NULL;
	struct db *db = NULL;

	*id = '\0';
	if (open_store(&store, r->s, STORE_BESIDE, a, &unread) == 0 &&
		store_version(store, &v, a, &unread) == 0 && v.tables >= REPOS_SINCE &&
		store_connect(store, &db, a, &unread) == 0)
		repo_mark_known(db, a, id);
	db_close(db);
	store_close(store);
}

/* An earlier run with the same copy came so far, and was broken off. */
static bool was_brought(const struct repo_restoring *r, struct arena *a)
{
	struct repo_swap swap;

	repo_swap_look(r->s->repo_folder, &swap, a);
	return swap.state == SWAP_BROUGHT && strcmp(swap.of, r->of) == 0;
}

/* The folder must be that of the store that is replaced, or of the one that the copy was made of. */
static int refuse_foreign(
	struct repo_restoring *r, const char *known, struct arena *a, struct problem *p)
{
	char mark[ID_LEN + 1], present[ID_LEN + 1];

	repo_mark_read(r->repos, a, mark);
	if (r->adopts || !*mark || strcmp(mark, known) == 0 || was_brought(r, a))
		return 0;
	read_present(r, a, present);
	if (strcmp(mark, present) == 0)
		return 0;
	return problem_set(p, a, ERR_USAGE,
		"by its mark " REPO_MARK
		", %s is the folder of another store's repositories. Nothing was changed; give another with "
		"--repo-folder, or say --adopt, if it is to be this store's from now on",
		r->s->repo_folder);
}

/* Of one that was broken off: that the rows are all there shows by what both stores know of the folder. */
static bool rows_are_there(struct repo_restoring *r, const char *known, struct arena *a)
{
	char present[ID_LEN + 1];

	if (!r->rows || !*known || !was_brought(r, a))
		return false;
	read_present(r, a, present);
	return strcmp(known, present) == 0;
}

static int bring_beside(
	void *ctx, struct db *copy, int64_t version, struct arena *a, struct problem *p)
{
	struct repo_restoring *r = ctx;
	char known[ID_LEN + 1] = "";
	bool any = false;
	int err = 0;

	if (version >= REPOS_SINCE && (repos_in_use(copy, &any) || repo_mark_known(copy, a, known)))
		return problem_set(p, a, ERR_STORE, "the copy: %s", db_error(copy));
	if (any && !r->copy && !r->without)
		return problem_set(p, a, ERR_USAGE,
			"the copy has agents with repositories, and there is no %s. Nothing was changed; name the folder of "
			"their copy with --repositories FOLDER, or say --without-repositories, and they stay as they are",
			r->sought);
	if (!r->copy)
		return 0;
	if (rows_are_there(r, known, a)) {
		r->placed = true;
		return 0;
	}
	err = refuse_foreign(r, known, a, p);
	if (!err && any)
		err = hold_against_rows(r, copy, version, a, p);
	if (!err)
		err = repo_swap_begin(
			r->copy, r->s->repo_folder, r->s->data, r->of, &r->copied, a, p);
	r->staged = !err;
	return err;
}

static int lock_folder(struct repo_restoring *r, struct arena *a, struct problem *p)
{
	const char *folder = r->s->repo_folder;

	r->lock = repo_lock_unserved(r->repos, a);
	if (r->lock < 0 && errno == EWOULDBLOCK)
		return problem_set(p, a, ERR_USAGE,
			"the repositories in %s are being served by another lodge, and would be taken from it: stop it, on "
			"every machine, or give another folder with --repo-folder. Nothing was changed",
			folder);
	r->ssh = r->lock < 0 ? -1 : repo_lock_no_ssh(r->repos, a);
	if (r->lock >= 0 && r->ssh < 0 && errno == EWOULDBLOCK)
		return problem_set(p, a, ERR_USAGE,
			"somebody pushes to the repositories in %s, or fetches from them, by ssh (lodge git-serve): try again when that "
			"is over. Nothing was changed",
			folder);
	r->keeping = r->ssh < 0 ? -1 : repo_lock_keeping(r->repos, a, false);
	if (r->keeping < 0 && errno == EWOULDBLOCK)
		return problem_set(p, a, ERR_USAGE,
			"the repositories in %s are being put in order or copied by %s: try again when that is over. Nothing was "
			"changed",
			folder, repo_lock_keeper(r->repos, a));
	if (r->keeping < 0)
		return problem_set(p, a, ERR_USAGE,
			"the folder of repositories, %s: %s. Nothing was changed", folder,
			strerror(errno));
	return 0;
}

static int fail_folder(const struct repo_restoring *r, struct arena *a, struct problem *p)
{
	return problem_set(p, a, ERR_STORE,
		"the folder of repositories, %s: %s. Nothing was changed", r->s->repo_folder,
		strerror(errno));
}

static const char *whole_path(const char *file, struct arena *a)
{
	char folder[PATH_MAX];

	return *file == '/' || !getcwd(folder, sizeof folder)
		       ? file
		       : arena_printf(a, "%s/%s", folder, file);
}

/* What was broken off is gone on with before anything else is begun. */
static int look_back(struct repo_restoring *r, struct arena *a, struct problem *p)
{
	struct repo_swap swap;

	repo_swap_look(r->s->repo_folder, &swap, a);
	r->placed = swap.state >= SWAP_PLACED;
	if (r->placed && strcmp(swap.of, r->of) != 0)
		return problem_set(p, a, ERR_USAGE,
			"lodge restore %s was broken off when the store was in its place and the repositories in %s were not: run that "
			"first, and it goes on from there. Nothing was changed",
			swap.of, r->s->repo_folder);
	return 0;
}

int repo_restore_begin(struct repo_restoring *r, const struct settings *s, const char *file,
	struct arena *a, struct problem *p)
{
	const char *given = NULL;
	struct stat st;
	int err;

	*r = (struct repo_restoring){
		.s = s, .lock = -1, .ssh = -1, .keeping = -1, .beside = { bring_beside, r }
	};
	for (size_t i = 0; i < s->argument_count; i++)
		if (strcmp(s->arguments[i], "--without-repositories") == 0)
			r->without = true;
		else if (strcmp(s->arguments[i], "--incomplete") == 0)
			r->incomplete = true;
		else if (strcmp(s->arguments[i], "--adopt") == 0)
			r->adopts = true;
		else if (strcmp(s->arguments[i], "--repositories") == 0)
			given = s->arguments[++i];
	r->sought = given ? given : arena_printf(a, "%s.repositories", file);
	r->rows = strncmp(s->store, "sqlite:", 7) != 0;
	r->of = whole_path(file, a);
	if (!r->without && access(r->sought, F_OK) == 0)
		r->copy = r->sought;
	else if (given)
		return problem_set(p, a, ERR_USAGE, "--repositories %s: %s", given,
			r->without ? "it is given with --without-repositories" : strerror(errno));
	if (access(s->repo_folder, F_OK)) {
		if (!r->copy || mkdir(s->repo_folder, 0700))
			return !r->copy ? 0 : fail_folder(r, a, p);
		if (geteuid() == 0 && stat(s->data, &st) == 0 &&
			chown(s->repo_folder, st.st_uid, st.st_gid))
			return fail_folder(r, a, p);
	}
	err = look_back(r, a, p);
	if (err || (!r->copy && !r->placed))
		return err;
	err = open_folder(&r->repos, s, a, p);
	return err ? err : lock_folder(r, a, p);
}

int repo_restore_prove(
	struct repo_restoring *r, const char *file, struct arena *a, struct problem *p)
{
	struct store_settings settings = { .where = arena_printf(a, "sqlite:%s", file),
		.queue_max = 1 };
	struct store_version v = { 0 };
	struct store *copy = NULL;
	struct db *db = NULL;
	int err = store_open(&copy, &settings, STORE_BESIDE, a, p);

	if (!err)
		err = store_version(copy, &v, a, p);
	if (!err)
		err = store_connect(copy, &db, a, p);
	if (!err)
		err = bring_beside(r, db, v.tables, a, p);
	db_close(db);
	store_close(copy);
	return err;
}

int repo_restore_placed(struct repo_restoring *r, struct arena *a, struct problem *p)
{
	int err = r->copy || r->placed ? repo_swap_placed(r->s->repo_folder, r->s->data, a, p) : 0;

	r->resumes = r->placed;
	r->placed = r->copy || r->placed;
	r->staged = false; /* it stays, until it has taken their place */
	return err;
}

int repo_restore_end(
	struct repo_restoring *r, struct store *store, struct arena *a, struct problem *p)
{
	const char *folder = r->s->repo_folder, *kept = NULL;
	struct db *db = NULL;
	int err;

	if (!r->placed) {
		printf("There is no copy of repositories: those of agents stay as they are.\n");
		return 0;
	}
	err = repo_swap_end(folder, r->s->data, &kept, a, p);
	if (err)
		return err;
	err = store_connect(store, &db, a, p);
	if (!err)
		err = repo_claim(r->repos, db, REPOS_ADOPT, a, p);
	db_close(db);
	if (err)
		return err;
	repo_swap_drop(folder, a);
	if (r->resumes)
		printf("The repositories of agents are back in %s.\n", folder);
	else
		printf("Put %lld repositories of agents back into %s.\n",
			(long long)r->copied.repositories, folder);
	if (kept)
		printf("The former ones are kept as %s; remove it when it is not needed.\n", kept);
	return 0;
}

void repo_restore_close(struct repo_restoring *r, struct arena *a)
{
	if (r->staged)
		repo_swap_drop(r->s->repo_folder, a);
	repo_unlock(r->keeping);
	repo_unlock(r->ssh);
	repo_unlock(r->lock);
	repos_free(r->repos);
}

/* ---- and looked at ---- */

/* What a service would say of the folder before anything else. */
static int look_at_folder(
	const struct settings *s, struct store *store, struct arena *a, struct problem *p)
{
	struct repos *repos = NULL;
	struct db *db = NULL;
	int err = store_connect(store, &db, a, p);

	if (!err)
		err = open_folder(&repos, s, a, p);
	if (!err)
		err = open_repos_apart(s, a, p);
	if (!err)
		err = repo_claim(repos, db, REPOS_LOOK, a, p);
	repos_free(repos);
	db_close(db);
	return err;
}

int repo_check_place(const struct settings *s, struct store *store, bool links, bool objects,
	struct arena *a, struct problem *p)
{
	struct repo_report r = { 0 };
	int err = look_at_folder(s, store, a, p);

	if (!err)
		err = report_of(s, store,
			objects ? REPO_CHECK_OBJECTS
			: links ? REPO_CHECK_LINKS
				: REPO_CHECK_FOLDERS,
			&r, a, p);
	if (err)
		return err;
	if (links || objects)
		printf("The agents have %lld repositories.\n", (long long)r.rows);
	if (r.unnamed)
		printf("# warning: %lld folders of repositories belong to no agent; the service removes those that have been so "
		       "for a week\n",
			(long long)r.unnamed);
	if (r.first)
		return problem_set(p, a, ERR_CONFLICT,
			"of %lld repositories the folder is missing, and %lld are not whole; the first is %s in %s, of %s: %s. Put "
			"it back from a copy (FILE.repositories), or have the agent let go of it (DELETE …/repo)",
			(long long)r.missing, (long long)r.broken, r.first, s->repo_folder, r.whose,
			r.why);
	return 0;
}
