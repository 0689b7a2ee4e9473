/* stale_lock.c - see stale_lock.h. */
#include "git/stale_lock.h"

#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"

static void drop_old(const char *repository, const char *name)
{
	char path[4096];
	struct stat st;

	if ((size_t)snprintf(path, sizeof path, "%s/%s.lock", repository, name) >= sizeof path ||
		lstat(path, &st) || !S_ISREG(st.st_mode) ||
		time(NULL) - st.st_mtime <= STALE_LOCK_S)
		return;
	if (unlink(path) == 0)
		log_warn("a lock that a killed program left was removed", LOG_S("file", path));
}

void stale_lock_drop(const char *repository, const char *ref)
{
	drop_old(repository, ref);
	drop_old(repository, "packed-refs");
}
