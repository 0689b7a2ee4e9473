/* folder.c - see folder.h. */
#include "base/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int folder_sync(const char *path)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX] = ".";
	int fd, failed, why;

	if (slash && snprintf(folder, sizeof folder, "%.*s", (int)(slash - path) + 1, path) >=
			     (int)sizeof folder) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	failed = fsync(fd);
	why = errno;
	close(fd);
	errno = why;
	return failed;
}

enum { FOLDERS_OPEN = 16, BLOCK = 512 /* bytes, as stat() counts them */ };

/* The walk of the C library has nowhere to put it. */
static _Thread_local int64_t measured;

static int measure_file(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)path;
	(void)at;
	/* Folders too: small files are many names. */
	if (kind == FTW_F || kind == FTW_D) {
		int64_t blocks = (int64_t)st->st_blocks * BLOCK;

		measured += blocks > (int64_t)st->st_size ? blocks : (int64_t)st->st_size;
	}
	return 0;
}

int64_t folder_size(const char *path)
{
	measured = 0;
	nftw(path, measure_file, FOLDERS_OPEN, FTW_PHYS);
	return measured;
}
