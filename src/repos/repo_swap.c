/* repo_swap.c - see repo_swap.h.
 *
 * Wherever it is broken off, every repository is either in the folder, among the former ones, or in the copy; the command
 * is run again. */
#include "repos/repo_swap.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/folder.h"

enum { FOLDERS_OPEN = 16, NAMES_MAX = 100 };

static const char *stage_of(const char *folder, struct arena *a)
{
	return arena_printf(a, "%s/.restoring", folder);
}

/* The walk of the C library has nowhere to put it. */
static _Thread_local struct stat owner;

static int own_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return lchown(path, owner.st_uid, owner.st_gid);
}

static int give_away(const char *folder, const char *like)
{
	if (geteuid() != 0 || stat(like, &owner))
		return 0;
	return nftw(folder, own_one, FOLDERS_OPEN, FTW_PHYS);
}

/* Each repository in a folder; what `act` fails with ends it. */
static int each(const char *folder, int (*act)(const char *from, const char *to, const char *name),
	const char *to, struct arena *a, const char **ret_failed)
{
	const struct dirent *e;
	DIR *d = opendir(folder);
	int err = 0;

	*ret_failed = folder;
	if (!d)
		return errno;
	while (!err && (e = readdir(d)))
		if (repo_copy_is_one(e->d_name)) {
			*ret_failed = arena_printf(a, "%s/%s", folder, e->d_name);
			err = act(*ret_failed, to, e->d_name);
		}
	closedir(d);
	return err;
}

/* A folder that gets another above it must be one that may be written to. */
static int may_move(const char *from, const char *to, const char *name)
{
	(void)to;
	(void)name;
	return access(from, W_OK) ? errno : 0;
}

static int move_one(const char *from, const char *to, const char *name)
{
	struct arena a = { 0 };
	int err = rename(from, arena_printf(&a, "%s/%s", to, name)) ? errno : 0;

	arena_free(&a);
	return err;
}

void repo_swap_drop(const char *folder, struct arena *a)
{
	repo_copy_drop(stage_of(folder, a));
}

int repo_swap_begin(const char *copy, const char *folder, const char *like, struct repo_copied *ret,
	struct arena *a, struct problem *p)
{
	const char *stage = stage_of(folder, a), *failed;
	int number, err = 0;

	if (mkdir(folder, 0700) == 0)
		err = give_away(folder, like);
	else if (errno != EEXIST)
		err = -1;
	if (err)
		return problem_set(p, a, ERR_STORE,
			"the folder of repositories, %s: %s. Nothing was changed", folder,
			strerror(errno));
	number = each(folder, may_move, NULL, a, &failed);
	if (number)
		return problem_set(p, a, ERR_STORE,
			"%s cannot be put aside: %s. Nothing was changed; run the command as the user to whom it belongs, "
			"or as root",
			failed, strerror(number));
	repo_copy_drop(stage); /* of one that was broken off */
	err = repo_copy_all(copy, stage, ret, a, p);
	if (!err && give_away(stage, like))
		err = problem_set(p, a, ERR_STORE, "the owner of %s: %s", stage, strerror(errno));
	if (err) {
		repo_copy_drop(stage);
		p->detail = arena_printf(a,
			"%s. Nothing was changed; make room or give the right, and run it again",
			p->detail);
	}
	return err;
}

/* A name that nothing has yet: two may be put aside within a second. */
static const char *make_former(const char *folder, struct arena *a)
{
	char when[32];
	time_t now = time(NULL);
	struct tm tm;
	const char *name;

	strftime(when, sizeof when, "%Y%m%dT%H%M%SZ", gmtime_r(&now, &tm));
	name = arena_printf(a, "%s/former.%s", folder, when);
	for (int i = 2; i < NAMES_MAX; i++) {
		if (mkdir(name, 0700) == 0)
			return name;
		if (errno != EEXIST)
			return NULL;
		name = arena_printf(a, "%s/former.%s-%d", folder, when, i);
	}
	return NULL;
}

int repo_swap_end(const char *folder, const char *like, const char **ret_kept, struct arena *a,
	struct problem *p)
{
	const char *stage = stage_of(folder, a), *former = make_former(folder, a), *failed = folder;
	int number = former ? 0 : errno;

	*ret_kept = NULL;
	if (former && give_away(former, like))
		number = errno;
	if (!number)
		number = each(folder, move_one, former, a, &failed);
	if (!number)
		number = each(stage, move_one, folder, a, &failed);
	if (!number && (rmdir(stage) || folder_sync(stage)))
		number = errno;
	if (former && rmdir(former)) /* it is not empty */
		*ret_kept = former;
	if (!number)
		return 0;
	return problem_set(p, a, ERR_STORE,
		"the store was put back, but not all repositories: %s: %s. Mend that and run the same command again%s%s",
		failed, strerror(number), *ret_kept ? "; former ones are in " : "",
		*ret_kept ? *ret_kept : "");
}
