/* slowsync.c - to preload: a disk on which fsync and fdatasync take a millisecond more. */
#include <dlfcn.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static void wait_a_little(void)
{
	static __thread int sharp;
	struct timespec t = { .tv_nsec = 1000000 };

	if (!sharp) { /* a sleep of this thread ends on time, not some 50 us later */
		prctl(PR_SET_TIMERSLACK, 1UL);
		sharp = 1;
	}
	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t))
		;
}

static int slowly(const char *name, int fd)
{
	int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
	int rc = real(fd);

	wait_a_little();
	return rc;
}

int fsync(int fd)
{
	return slowly("fsync", fd);
}

int fdatasync(int fd)
{
	return slowly("fdatasync", fd);
}
