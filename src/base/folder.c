/* folder.c - see folder.h. */
#include "base/folder.h"

#include <errno.h>
#include <fcntl.h>
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
