/* repos.c - the folder in which embedded repositories lie; see repo.h. */
#include "repos/repos_parts.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/memory.h"
#include "store/pool.h"

int repos_new(struct repos **ret, const struct repos_settings *settings, struct arena *a,
	struct problem *p)
{
	struct repos *r;
	struct stat st;

	if (settings->makes && mkdir(settings->folder, 0700) == 0)
		folder_sync(settings->folder);
	else if (settings->makes && errno != EEXIST)
		return problem_set(p, a, ERR_USAGE, "the folder of repositories, %s: %s",
			settings->folder, strerror(errno));
	if (stat(settings->folder, &st) == 0 && !S_ISDIR(st.st_mode))
		return problem_set(p, a, ERR_USAGE, "the folder of repositories, %s: it is a file",
			settings->folder);
	r = memory_zeroed(sizeof *r);
	r->serving = -1;
	r->folder = memory_must(strlen(settings->folder) + 1);
	strcpy(r->folder, settings->folder);
	r->bytes_max = settings->bytes_max;
	r->keep_hour = settings->keep_hour;
	snprintf(r->image_base, sizeof r->image_base, "%s",
		settings->image.base ? settings->image.base : IMAGE_BASE);
	r->image = (struct image_choice){ r->image_base, settings->image.pipeline };
	pthread_mutex_init(&r->lock, NULL);
	pthread_mutex_init(&r->bodies_lock, NULL);
	*ret = r;
	return 0;
}

void repos_free(struct repos *r)
{
	if (!r)
		return;
	pthread_mutex_destroy(&r->lock);
	pthread_mutex_destroy(&r->bodies_lock);
	if (r->serving >= 0)
		close(r->serving);
	free(r->folder);
	free(r);
}

int64_t repos_bytes_max(const struct repos *r)
{
	return r->bytes_max;
}

const struct image_choice *repos_image(const struct repos *r)
{
	return &r->image;
}

const char *repo_path(const struct repos *r, struct arena *a, const char *id)
{
	return arena_printf(a, "%s/%s.git", r->folder, id);
}

bool repo_is_there(const struct repos *r, struct arena *a, const char *id)
{
	return access(arena_printf(a, "%s/%s.git/HEAD", r->folder, id), F_OK) == 0;
}

void repos_stop(struct repos *r)
{
	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	atomic_store(&r->stopping, true);
	pthread_mutex_unlock(&r->lock);
	pool_free(r->keeper); /* nobody gives it anything any more */
	r->keeper = NULL;
}

enum { FOLDERS_OPEN = 16 };

int64_t repo_size(const struct repos *r, struct arena *a, const char *id)
{
	return folder_size(repo_path(r, a, id));
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path) && errno != ENOENT ? errno : 0;
}

int repo_forget(const struct repos *r, struct arena *a, const char *id)
{
	const char *path = repo_path(r, a, id),
		   *gone = arena_printf(a, "%.*sgone", (int)(strlen(path) - 3), path);
	int err;

	if (rename(path, gone) && errno != ENOENT)
		return errno;
	err = nftw(gone, remove_one, FOLDERS_OPEN, FTW_DEPTH | FTW_PHYS);
	return err < 0 && errno == ENOENT ? 0 : err < 0 ? errno : err;
}
