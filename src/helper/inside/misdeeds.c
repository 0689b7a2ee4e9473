/* misdeeds.c - in builds with faults: what a helper does that is broken, or that a file has taken over.
 *
 * The tests order these by name, and see that the server loses nothing by
 * them.  A build without faults has none of it. */
#ifdef LODGE_FAULTS
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "helper/inside/inside.h"

static void say_errno(struct outlet *o, const char *what, int got)
{
	outlet_fault(o, 0, "%s: %s", what,
		got >= 0	 ? "done"
		: errno == EPERM ? "refused"
				 : "failed");
	_exit(0);
}

static void eat_memory(struct outlet *o)
{
	for (size_t eaten = 0;; eaten += 1 << 20) {
		volatile char *p = malloc(1 << 20);

		if (!p) {
			outlet_fault(o, 0, "%zu MiB", eaten >> 20);
			_exit(0);
		}
		for (size_t i = 0; i < 1 << 20; i += 4096)
			p[i] = 1;
	}
}

static void put_raw(const void *bytes, size_t len)
{
	_exit(write(STDIN_FILENO, bytes, len) == (ssize_t)len ? 0 : 1);
}

/* A record by its numbers, and nothing after it. */
static void put_record(uint32_t kind, uint32_t name_len, uint64_t len)
{
	struct helper_record r = { .kind = kind, .name_len = name_len, .len = len };

	put_raw(&r, sizeof r);
}

static void put_named(struct outlet *o, const char *name)
{
	outlet_file(o, name, "x", 1);
	outlet_end(o);
	_exit(0);
}

void misdeed_do(const char *what, struct outlet *o)
{
	volatile unsigned spins = 0;

	if (strcmp(what, "open") == 0)
		say_errno(o, what, open("/etc/passwd", O_RDONLY));
	if (strcmp(what, "socket") == 0)
		say_errno(o, what, socket(AF_INET, SOCK_STREAM, 0));
	if (strcmp(what, "execute") == 0)
		say_errno(o, what, execl("/bin/true", "true", NULL));
	if (strcmp(what, "run memory") == 0)
		say_errno(o, what,
			mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
				0) == MAP_FAILED
				? -1
				: 0);
	if (strcmp(what, "write elsewhere") == 0)
		say_errno(o, what, (int)write(STDERR_FILENO, "x", 1));
	if (strcmp(what, "eat") == 0)
		eat_memory(o);
	while (strcmp(what, "spin") == 0)
		spins++;
	if (strcmp(what, "sleep") == 0) {
		char c;
		_exit((int)read(STDIN_FILENO, &c, 1));
	}
	if (strcmp(what, "crash") == 0)
		__builtin_trap();
	if (strcmp(what, "leave") == 0)
		_exit(0);
	if (strcmp(what, "half") == 0)
		put_record(RECORD_FILE, 4, 100);
	if (strcmp(what, "unknown") == 0)
		put_record(77, 0, 0);
	if (strcmp(what, "huge") == 0)
		put_record(RECORD_FILE, 1, UINT64_MAX);
	if (strcmp(what, "long name") == 0)
		put_record(RECORD_FILE, UINT32_MAX, 0);
	if (strcmp(what, "noise") == 0)
		put_raw("HTTP/1.1 400 Bad Request\r\n\r\n12345678", 36);
	if (strcmp(what, "slip") == 0)
		put_named(o, "../x");
	if (strcmp(what, "good") == 0)
		put_named(o, "x");
}
#endif
