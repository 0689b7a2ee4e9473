/* repos.c - the folder in which embedded repositories lie; see repo.h. */
#include "repos/repo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/folder.h"
#include "base/memory.h"

struct repos {
	char *folder;
	int64_t bytes_max;
};

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
	r->folder = memory_must(strlen(settings->folder) + 1);
	strcpy(r->folder, settings->folder);
	r->bytes_max = settings->bytes_max;
	*ret = r;
	return 0;
}

void repos_free(struct repos *r)
{
	if (!r)
		return;
	free(r->folder);
	free(r);
}

int64_t repos_bytes_max(const struct repos *r)
{
	return r->bytes_max;
}

const char *repo_path(const struct repos *r, struct arena *a, const char *id)
{
	return arena_printf(a, "%s/%s.git", r->folder, id);
}
