/* repo_copies.c - see repo_copies.h. */
#include "serve/repo_copies.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/folder.h"
#include "repos/repo_check.h"
#include "repos/repo_copy.h"
#include "repos/repo_lock.h"

static int open_folder(
	struct repos **ret, const struct settings *s, struct arena *a, struct problem *p)
{
	return repos_new(ret,
		&(struct repos_settings){
			.folder = s->repo_folder, .bytes_max = s->repo_max_bytes.bytes },
		a, p);
}

int repo_backup_begin(const struct settings *s, int *ret_lock, struct arena *a, struct problem *p)
{
	struct repos *r = NULL;
	int err;

	*ret_lock = -1;
	if (access(s->repo_folder, F_OK) != 0)
		return 0;
	err = open_folder(&r, s, a, p);
	if (err)
		return err;
	*ret_lock = repo_lock_keeping(r, a, false);
	if (*ret_lock < 0) {
		fprintf(stderr, "Waiting for those who put the repositories in order.\n");
		*ret_lock = repo_lock_keeping(r, a, true);
	}
	if (*ret_lock < 0)
		err = problem_set(p, a, ERR_STORE, "the folder of repositories, %s: %s",
			s->repo_folder, strerror(errno));
	repos_free(r);
	return err;
}

void repo_backup_end(int lock)
{
	repo_unlock(lock);
}

int repo_backup(const struct settings *s, const char *file, struct arena *a, struct problem *p)
{
	const char *whole = arena_printf(a, "%s.repositories", file),
		   *part = arena_printf(a, "%s.part", whole);
	struct repo_copied copied;
	int err;

	if (access(s->repo_folder, F_OK) != 0)
		return 0;
	if (access(whole, F_OK) == 0)
		return problem_set(p, a, ERR_STORE, "%s: it is there already", whole);
	repo_copy_drop(part); /* of one that was broken off */
	err = repo_copy_all(s->repo_folder, part, &copied, a, p);
	if (!err && !copied.repositories) {
		repo_copy_drop(part);
		return 0;
	}
	if (!err && (rename(part, whole) || folder_sync(whole)))
		err = problem_set(p, a, ERR_STORE, "%s: %s", whole, strerror(errno));
	if (!err)
		printf("Wrote %s: %lld repositories of agents, %lld bytes. It belongs to the copy of the store.\n",
			whole, (long long)copied.repositories, (long long)copied.size_bytes);
	return err;
}

int repo_restore(const struct settings *s, const char *file, struct arena *a, struct problem *p)
{
	const char *copy = arena_printf(a, "%s.repositories", file), *kept = NULL;
	struct repo_copied copied;
	int err;

	if (access(copy, F_OK) != 0) {
		printf("There is no %s: the repositories of agents stay as they are.\n", copy);
		return 0;
	}
	err = repo_copy_back(copy, s->repo_folder, s->data, &copied, &kept, a, p);
	if (err)
		return err;
	printf("Put %lld repositories of agents back into %s.\n", (long long)copied.repositories,
		s->repo_folder);
	if (kept)
		printf("The former ones are kept as %s; remove it when it is not needed.\n", kept);
	return 0;
}

int repo_check_place(const struct settings *s, struct store *store, bool links, bool objects,
	struct arena *a, struct problem *p)
{
	struct repo_report r = { 0 };
	struct repos *repos = NULL;
	struct db *db = NULL;
	int err = store_connect(store, &db, a, p);

	if (err)
		return err;
	err = open_folder(&repos, s, a, p);
	if (!err) {
		err = repo_check(repos, db,
			objects ? REPO_CHECK_OBJECTS
			: links ? REPO_CHECK_LINKS
				: REPO_CHECK_FOLDERS,
			a, &r);
		if (err)
			problem_set(p, a, err, "the rows of repositories: %s", db_error(db));
	}
	repos_free(repos);
	db_close(db);
	if (err)
		return err;
	if (links || objects)
		printf("The agents have %lld repositories.\n", (long long)r.rows);
	if (r.unnamed)
		printf("# warning: %lld folders of repositories belong to no agent; the service removes those that are "
		       "older than a day\n",
			(long long)r.unnamed);
	if (r.first)
		return problem_set(p, a, ERR_CONFLICT,
			"of %lld repositories the folder is missing, and %lld are not whole; the first is %s in %s: %s",
			(long long)r.missing, (long long)r.broken, r.first, s->repo_folder, r.why);
	return 0;
}
