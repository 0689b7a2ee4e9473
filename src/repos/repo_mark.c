/* repo_mark.c - see repo_mark.h.
 *
 * The store is given an id for its repositories once, and the folder the same, in the file lodge-repositories.
 * From then on only a folder with that id is taken: what a folder has and no row names is removed in the
 * end, and in the folder of another store that would be everything.  A folder of a program that wrote no
 * mark is given one if this store knows something in it, or if there is nothing in it that anybody could miss. */
#include "repos/repo_mark.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/log.h"
#include "git/bare.h"
#include "repos/repo_check.h"
#include "repos/repo_swap.h"
#include "repos/repos_parts.h"

#define MARK_ID "id: "
#define ADOPT \
	"; if the folder is to be this store's from now on, run lodge repos adopt with the same settings"

enum { MARK_MAX = 1024, TRIES = 10 };

enum { ID_READ, ID_MAKE, IN_USE, NAMED };

static const struct statement sql[] = {
	[ID_READ] = { "repo_mark_read", "select value from meta where key = 'repositories_id'",
		.row = &one_text_schema },
	[ID_MAKE] = { "repo_mark_make",
		"insert into meta (key, value) values ('repositories_id', $1) on conflict (key) do nothing" },
	[IN_USE] = { "repo_mark_in_use",
		"select case when exists (select 1 from repositories where host = 'embedded') then 1 else 0 end",
		.across = "of every tenant", .scan = "until one is found, at the start" },
	[NAMED] = { "repo_mark_named",
		"select case when exists (select 1 from repositories r where r.id = $1) "
		"or exists (select 1 from repository_trash t where t.id = $1) then 1 else 0 end",
		.across = "folders know no tenant" },
};
STATEMENT_SET(repo_mark_sql, sql);

struct claiming {
	struct repos *r;
	struct db *db;
	struct arena *a;
	struct problem *p;
};

static const char *mark_path(const struct repos *r, struct arena *a)
{
	return arena_printf(a, "%s/" REPO_MARK, r->folder);
}

/* 0, or an errno; `id` is "" where a mark names none. */
static int read_mark(const struct repos *r, struct arena *a, char id[ID_LEN + 1])
{
	int fd = open(mark_path(r, a), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char text[MARK_MAX + 1] = "";
	const char *at;
	ssize_t n;

	*id = '\0';
	if (fd < 0)
		return errno;
	n = read(fd, text, MARK_MAX);
	close(fd);
	if (n < 0)
		return EIO;
	at = strstr(text, MARK_ID);
	if (at && strlen(at) >= strlen(MARK_ID) + ID_LEN && id_valid(at + strlen(MARK_ID), ID_LEN))
		snprintf(id, ID_LEN + 1, "%s", at + strlen(MARK_ID));
	return 0;
}

/* Root leaves it to whom the folder belongs. */
static int write_mark(const struct repos *r, struct arena *a, const char *id)
{
	const char *path = mark_path(r, a), *fresh = arena_printf(a, "%s.%d", path, (int)getpid());
	const char *text = arena_printf(a,
		"The git repositories of a Lodge service lie here. Without this file it may not start.\n" MARK_ID
		"%s\n",
		id);
	size_t len = strlen(text);
	struct stat st;
	int fd, err;

	unlink(fresh);
	fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno;
	err = write(fd, text, len) != (ssize_t)len || fsync(fd) ||
			      (geteuid() == 0 && !stat(r->folder, &st) &&
				      fchown(fd, st.st_uid, st.st_gid))
		      ? errno
		      : 0;
	close(fd);
	if (!err && (rename(fresh, path) || folder_sync(path)))
		err = errno;
	if (err)
		unlink(fresh);
	return err;
}

int repos_in_use(struct db *db, bool *ret)
{
	int64_t any = 0;
	int err = db_int(db, &sql[IN_USE], &any, NO_ARGS);

	*ret = any != 0;
	return err;
}

static int store_fails(const struct claiming *c, int err)
{
	return problem_set(c->p, c->a, err, "the store cannot be asked: %s", db_error(c->db));
}

/* What a folder without a mark has: repositories, and whether this store knows one of them. */
static int look_inside(const struct claiming *c, bool *ret_any, bool *ret_ours)
{
	const struct dirent *e;
	DIR *d = opendir(c->r->folder);
	int err = 0;

	*ret_any = *ret_ours = false;
	while (d && !err && !*ret_ours && (e = readdir(d))) {
		char id[ID_LEN + 1] = "";
		int64_t named = 0;

		if (strlen(e->d_name) != ID_LEN + 4 || !id_valid(e->d_name, ID_LEN) ||
			strcmp(e->d_name + ID_LEN, ".git") != 0)
			continue;
		memcpy(id, e->d_name, ID_LEN);
		err = db_int(c->db, &sql[NAMED], &named, ARGS(T(id)));
		*ret_any = true;
		*ret_ours = named != 0;
	}
	if (d)
		closedir(d);
	return err ? store_fails(c, err) : 0;
}

static int refuse_unmarked(const struct claiming *c, bool known)
{
	struct repo_report held = { 0 };
	bool any, ours, in_use;
	int err = look_inside(c, &any, &ours);

	if (err)
		return err;
	if (repos_in_use(c->db, &in_use))
		return store_fails(c, ERR_STORE);
	if (any && !ours)
		return problem_set(c->p, c->a, ERR_USAGE,
			"repo_folder: %s has repositories of which this store knows none, and no mark " REPO_MARK
			". Name the folder of this store's repositories" ADOPT,
			c->r->folder);
	if (known && in_use && repo_check(c->r, c->db, REPO_CHECK_FOLDERS, c->a, &held))
		return store_fails(c, ERR_STORE);
	/* One that had the mark has lost it, or is another: what was made around a disk that had gone away is in it too. */
	if (held.missing)
		return problem_set(c->p, c->a, ERR_USAGE,
			"repo_folder: %s has no mark " REPO_MARK
			", and %lld of this store's %lld repositories are not in it; is a disk not mounted? Name the folder of this "
			"store's repositories" ADOPT,
			c->r->folder, (long long)held.missing, (long long)held.rows);
	return 0;
}

static int make_id(const struct claiming *c, struct one_text *ret)
{
	int tries = TRIES, err;

	do {
		err = db_begin(c->db, READ_WRITE);
		if (!err)
			err = db_run(c->db, &sql[ID_MAKE], NULL, ARGS(T(id_new(NULL).text)));
		if (!err)
			err = db_one(c->db, c->a, &sql[ID_READ], ret, NO_ARGS);
		if (err)
			db_rollback(c->db);
		else
			err = db_commit(c->db);
	} while (err == ERR_RETRY && --tries);
	return err ? store_fails(c, err) : 0;
}

static int give_mark(const struct claiming *c)
{
	struct one_text id = { 0 };
	int number, err = make_id(c, &id);

	if (err)
		return err;
	number = write_mark(c->r, c->a, id.value);
	if (number)
		return problem_set(c->p, c->a, ERR_USAGE, "repo_folder: cannot write to %s: %s",
			c->r->folder, strerror(number));
	snprintf(c->r->id, sizeof c->r->id, "%s", id.value);
	return 0;
}

/* One that is not there yet is made by the service, unless it cannot. */
static int refuse_missing(const struct claiming *c)
{
	const char *slash = strrchr(c->r->folder, '/');
	const char *above = !slash		    ? "."
			    : slash == c->r->folder ? "/"
						    : arena_strndup(c->a, c->r->folder,
							      (size_t)(slash - c->r->folder));

	if (access(above, W_OK | X_OK))
		return problem_set(c->p, c->a, ERR_USAGE,
			"the folder of repositories, %s, cannot be made in %s: %s", c->r->folder,
			above, strerror(errno));
	return 0;
}

/* Rows and folders that do not belong together are not served. */
int repo_unfinished(const struct repos *r, struct arena *a, struct problem *p)
{
	struct repo_swap swap;

	repo_swap_look(r->folder, &swap, a);
	if (swap.state == SWAP_NONE)
		return 0;
	if (swap.state == SWAP_BROUGHT)
		return problem_set(p, a, ERR_USAGE,
			"repo_folder: lodge restore %s was broken off, and it is not known whether the store is in its place: run it "
			"again. To serve the store and the repositories as they are, remove %s/.restoring, and see what lodge check "
			"--repositories says",
			swap.of, r->folder);
	return problem_set(p, a, ERR_USAGE,
		"repo_folder: lodge restore %s was broken off when the store was in its place and the repositories were not: "
		"run it again, and it goes on from there",
		swap.of);
}

int repo_claim(
	struct repos *r, struct db *db, enum repo_claim how, struct arena *a, struct problem *p)
{
	struct claiming c = { r, db, a, p };
	struct one_text id = { 0 };
	char mark[ID_LEN + 1];
	int number = read_mark(r, a, mark), err = db_one(db, a, &sql[ID_READ], &id, NO_ARGS);
	bool known = !err;

	if (err && err != ERR_NOT_FOUND)
		return store_fails(&c, err);
	if (how == REPOS_LOOK && access(r->folder, F_OK) && errno == ENOENT)
		return refuse_missing(&c);
	if (access(r->folder, R_OK | W_OK | X_OK) || (number && number != ENOENT))
		return problem_set(p, a, ERR_USAGE, "the folder of repositories, %s: %s", r->folder,
			strerror(number && number != ENOENT ? number : errno));
	if (how == REPOS_ADOPT)
		return give_mark(&c);
	err = repo_unfinished(r, a, p);
	if (err)
		return err;
	if (*mark && (!known || strcmp(mark, id.value) != 0))
		return problem_set(p, a, ERR_USAGE,
			"repo_folder: %s is not that of this store: by its mark " REPO_MARK
			" it is that of another. Name the folder of this store's repositories" ADOPT,
			r->folder);
	err = *mark ? 0 : refuse_unmarked(&c, known);
	if (err || how == REPOS_LOOK)
		return err;
	if (*mark)
		snprintf(r->id, sizeof r->id, "%s", mark);
	return *mark ? 0 : give_mark(&c);
}

bool repo_mark_holds(const struct repos *r, struct arena *a)
{
	char mark[ID_LEN + 1];

	return *r->id && read_mark(r, a, mark) == 0 && strcmp(mark, r->id) == 0;
}

void repo_mark_read(const struct repos *r, struct arena *a, char id[ID_LEN + 1])
{
	if (read_mark(r, a, id))
		*id = '\0';
}

int repo_mark_known(struct db *db, struct arena *a, char id[ID_LEN + 1])
{
	struct one_text known = { 0 };
	int err = db_one(db, a, &sql[ID_READ], &known, NO_ARGS);

	snprintf(id, ID_LEN + 1, "%s", err ? "" : known.value);
	return err == ERR_NOT_FOUND ? 0 : err;
}

int repo_make(const struct repos *r, struct arena *a, const char *id, struct problem *p)
{
	if (!repo_mark_holds(r, a)) {
		log_error(
			"the folder of repositories is not the one that was there at the start: nothing is made in it",
			LOG_S("folder", r->folder));
		return problem_set(p, a, ERR_UPSTREAM,
			"The folder of repositories is not there, or not that of this store: nothing is made in it.");
	}
	return bare_make(repo_path(r, a, id), REPO_MAIN, a, p);
}
