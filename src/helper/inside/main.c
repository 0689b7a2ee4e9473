/* main.c - lodge-helper and lodge-mime: one task from the socket that is its descriptor 0, its answer, and the end.
 *
 *   lodge-helper CPU_SECONDS MEMORY_BYTES, and lodge-mime likewise
 *
 * A process is never used twice: what one tenant's file might do to it, no
 * other tenant's file meets. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "helper/inside/inside.h"

static bool read_all(void *into, size_t len)
{
	for (char *at = into; len;) {
		ssize_t n = read(STDIN_FILENO, at, len);

		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

static bool write_all(const void *from, size_t len)
{
	for (const char *at = from; len;) {
		ssize_t n = write(STDIN_FILENO, at, len);

		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

static bool put_to_socket(
	struct outlet *o, const struct helper_record *r, const char *name, const void *bytes)
{
	(void)o;
	return write_all(r, sizeof *r) && write_all(name, r->name_len) && write_all(bytes, r->len);
}

int main(int argc, char **argv)
{
	struct outlet o = { put_to_socket };
	struct arena a = { 0 };
	struct helper_task t;
	char *bytes;

	if (argc != 3) {
		fputs("lodge-helper reads what strangers send, for lodge, which starts it.\n",
			stderr);
		return 2;
	}
	/* Names in archives are UTF-8; this locale is part of the C library. */
	setlocale(LC_CTYPE, "C.UTF-8");
	task_prepare();
	if (!jail_enter(strtoul(argv[1], NULL, 10), strtoul(argv[2], NULL, 10)))
		return 3;
	if (!read_all(&t, sizeof t) || t.mark != HELPER_MARK)
		_exit(4);
	if (t.len > task_longest(t.kind) || !(bytes = malloc(t.len + 1)) || !read_all(bytes, t.len))
		_exit(5);
	bytes[t.len] = '\0';
	task_run(&a, &t, bytes, &o);
	_exit(0);
}
