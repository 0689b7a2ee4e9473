/* folder_lock.c - see folder_lock.h.
 *
 * The name is written by one who holds the lock alone, and believed by one who holds a share of it: nobody can write it
 * meanwhile.  Between the two the lock may be lost to another, and is then looked at like another's. */
#include "base/folder_lock.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"

enum { WHO_MAX = 256, NAP_MS = 50 };

static bool is_named(int fd, const char *who)
{
	char text[WHO_MAX + 1] = "";
	ssize_t n = pread(fd, text, WHO_MAX, 0);

	return n >= 0 && strcmp(text, who) == 0;
}

static bool give_name(int fd, const char *who)
{
	size_t len = strlen(who);

	return ftruncate(fd, 0) == 0 && pwrite(fd, who, len, 0) == (ssize_t)len;
}

static int join(int fd, const char *who)
{
	bool alone = flock(fd, LOCK_EX | LOCK_NB) == 0;

	if (!alone && errno != EWOULDBLOCK)
		return -1;
	if (!who) {
		errno = EWOULDBLOCK;
		return alone && ftruncate(fd, 0) == 0 ? 0 : -1;
	}
	if (alone && !give_name(fd, who))
		return -1;
	if (flock(fd, LOCK_SH | LOCK_NB))
		return -1;
	if (is_named(fd, who))
		return 0;
	flock(fd, LOCK_UN);
	errno = EWOULDBLOCK;
	return -1;
}

int folder_lock_join(int fd, const char *who, int wait_ms)
{
	const int64_t until = clock_mono_ms() + wait_ms;
	int err;

	while ((err = join(fd, who)) && errno == EWOULDBLOCK && clock_mono_ms() < until)
		poll(NULL, 0, NAP_MS);
	return err;
}
