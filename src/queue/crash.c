/* crash.c - see crash.h.  The handler only writes what was made ready, and lets the fault go on to whoever
 * handled it before. */
#include "queue/crash.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/thread.h"

enum { CRASH_NAME_MAX = 64 };

static const int crash_signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS };
enum { CRASH_SIGNALS = sizeof crash_signals / sizeof *crash_signals };

static struct {
	int fd;
	char name[CRASH_NAME_MAX];
	size_t len;
	struct sigaction before[CRASH_SIGNALS];
} crash_mark = { .fd = -1 };

static void crash_write(int number)
{
	ssize_t n = pwrite(crash_mark.fd, crash_mark.name, crash_mark.len, 0);

	(void)n; /* there is nothing to be done about it */
	for (int i = 0; i < CRASH_SIGNALS; i++)
		sigaction(crash_signals[i], &crash_mark.before[i], NULL);
	raise(number); /* once this returns */
}

const char *crash_watch(struct arena *a, const char *path, const char *name)
{
	struct sigaction on = { .sa_handler = crash_write, .sa_flags = SA_ONSTACK };
	char last[CRASH_NAME_MAX + 1] = "";
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	bool watching = crash_mark.fd >= 0;
	ssize_t n;

	if (fd < 0)
		return NULL;
	n = pread(fd, last, CRASH_NAME_MAX, 0);
	last[n > 0 ? n : 0] = '\0';
	if (crash_mark.fd >= 0)
		close(crash_mark.fd);
	crash_mark.fd = ftruncate(fd, 0) ? -1 : fd;
	snprintf(crash_mark.name, sizeof crash_mark.name, "%s", name);
	crash_mark.len = strlen(crash_mark.name);
	if (crash_mark.fd < 0) {
		close(fd);
		return NULL;
	}
	thread_spare_stack();
	for (int i = 0; i < CRASH_SIGNALS && !watching; i++)
		sigaction(crash_signals[i], &on, &crash_mark.before[i]);
	return *last && strspn(last, "abcdefghijklmnopqrstuvwxyz0123456789") == strlen(last)
		       ? arena_strdup(a, last)
		       : NULL;
}
