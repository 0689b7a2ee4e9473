/* mime.c - what it takes to have mail read by lodge-mime: mime PROGRAM TIMES.
 * Prints the median microseconds of so many messages of 10 KB, the most that a process of them held in memory (KiB), and the same
 * of a message with an attachment of 25 MB, which is read a tenth as often.
 *
 * What a process held at most is asked while it runs (VmHWM): what the system tells after its end counts the memory of whoever
 * started it, too. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "helper/helper.h"

enum {
	TIMES_MAX = 1000,
	SMALL = 10000,
	ATTACHED = 25 * 1000 * 1000,
	LINE = 76,
	ROOM = 64 << 20,
	LOOK_US = 500
};

static atomic_bool over;
static atomic_long most; /* KiB */

static long held_by(int pid)
{
	char path[64], line[256];
	long kib = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/status", pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof line, f))
		if (strncmp(line, "Name:", 5) == 0 && !strstr(line, "lodge-mime"))
			break; /* it has not begun */
		else if (sscanf(line, "VmHWM: %ld", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

/* Looks at the children of the thread that has them made. */
static void *watch(void *path)
{
	while (!atomic_load(&over)) {
		FILE *f = fopen(path, "r");
		int pid;

		while (f && fscanf(f, "%d", &pid) == 1) {
			long kib = held_by(pid);

			if (kib > atomic_load(&most))
				atomic_store(&most, kib);
		}
		if (f)
			fclose(f);
		usleep(LOOK_US);
	}
	return NULL;
}

static int by_time(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void measure(struct helper *h, const struct buf *message, size_t count, const char *end)
{
	static int64_t times[TIMES_MAX];

	atomic_store(&most, 0);
	for (size_t i = 0; i < count; i++) {
		int64_t began = clock_mono_us();
		struct helper_mail mail = { 0 };
		struct arena a = { 0 };

		if (helper_mime(h, &a, message->at, message->len, &mail)) {
			fprintf(stderr, "lodge-mime did not read it: %s\n",
				mail.fault ? mail.fault : "it does not run");
			exit(1);
		}
		times[i] = clock_mono_us() - began;
		arena_free(&a);
	}
	qsort(times, count, sizeof *times, by_time);
	printf("%lld %ld%s", (long long)times[count / 2], atomic_load(&most), end);
}

static void put_message(struct buf *b, size_t text, size_t attached)
{
	char line[LINE + 3];

	memset(line, 'Q', LINE);
	memcpy(line + LINE, "\r\n", 3);
	buf_puts(b, "From: Jo <jo@example.org>\r\nTo: desk@example.net\r\nSubject: Figures\r\n"
		    "Message-ID: <1@example.org>\r\nMIME-Version: 1.0\r\n"
		    "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n"
		    "Content-Type: text/plain; charset=utf-8\r\n\r\n");
	while (text && b->len < text)
		buf_puts(b, "A line of a letter as they are, neither short nor very long.\r\n");
	if (attached)
		buf_puts(b, "Here they are.\r\n--b\r\nContent-Type: application/pdf; name=a.pdf\r\n"
			    "Content-Disposition: attachment; filename=a.pdf\r\n"
			    "Content-Transfer-Encoding: base64\r\n\r\n");
	for (size_t i = 0; i < attached; i += LINE / 4 * 3)
		buf_puts(b, line);
	buf_puts(b, "\r\n--b--\r\n");
}

int main(int argc, char **argv)
{
	size_t count = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	struct buf small, large;
	pthread_t watcher;
	struct helper *h;
	char path[64];

	if (!count || count > TIMES_MAX)
		return 2;
	h = helper_new(&(struct helper_setup){ .mime_program = argv[1] });
	buf_init(&small, ROOM);
	buf_init(&large, ROOM);
	put_message(&small, SMALL, 0);
	put_message(&large, 0, ATTACHED);
	snprintf(path, sizeof path, "/proc/self/task/%ld/children", syscall(SYS_gettid));
	if (pthread_create(&watcher, NULL, watch, path))
		return 1;
	measure(h, &small, count, " ");
	measure(h, &large, count / 10 + 1, "\n");
	atomic_store(&over, true);
	pthread_join(watcher, NULL);
	buf_free(&small);
	buf_free(&large);
	helper_free(h);
	return 0;
}
