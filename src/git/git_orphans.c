/* git_orphans.c - see git_orphans.h.
 *
 * Whose number was written down may be another's by now, and what git began has
 * numbers of its own: so those are looked for that have the file itself. */
#include "git/git_orphans.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "git/git_child.h"

enum { ROUNDS = 20, NAP_MS = 50 };

static bool has_file(const char *pid, const struct stat *file)
{
	char at[64];
	struct stat st;

	snprintf(at, sizeof at, "/proc/%.20s/fd/%d", pid, GIT_HELD_FD);
	return stat(at, &st) == 0 && st.st_dev == file->st_dev && st.st_ino == file->st_ino;
}

/* The number is held fast before it is looked at, so that nobody else is met. */
static int end_one(const char *pid, const struct stat *file)
{
	int fd = pidfd_open((pid_t)strtol(pid, NULL, 10), 0), ended = 0;

	if (fd < 0)
		return 0;
	ended = has_file(pid, file) && pidfd_send_signal(fd, SIGKILL, NULL, 0) == 0;
	close(fd);
	return ended;
}

static int end_all(const struct stat *file)
{
	const struct dirent *e;
	DIR *d = opendir("/proc");
	int ended = 0;

	while (d && (e = readdir(d)))
		if (*e->d_name >= '1' && *e->d_name <= '9' &&
			strtol(e->d_name, NULL, 10) != getpid() && has_file(e->d_name, file))
			ended += end_one(e->d_name, file);
	if (d)
		closedir(d);
	return ended;
}

bool git_orphans_end(int lock)
{
	struct stat file;
	bool had = false;
	int ended = 0;

	if (fstat(lock, &file))
		return false;
	for (int i = 0; i < ROUNDS && !had; i++) {
		ended += end_all(&file);
		had = flock(lock, LOCK_EX | LOCK_NB) == 0;
		if (!had)
			poll(NULL, 0, NAP_MS);
	}
	log_warn(had ? "a git that outlived its service was ended"
		     : "a git that outlived its service is waited for",
		LOG_N("programs", ended));
	return had;
}
