/* helper.c - what it takes to have something read by lodge-helper: helper PROGRAM TIMES.
 * Prints microseconds, the median of so many: for a head of two lines, which is the start of the process and its end,
 * and for an archive with 8 MiB of files. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/zip.h"
#include "helper/helper.h"

enum { TIMES_MAX = 1000, FILES = 8, FILE_LEN = 1 << 20 };

static int by_time(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int64_t median_of(int64_t *times, size_t count)
{
	qsort(times, count, sizeof *times, by_time);
	return times[count / 2];
}

static bool read_once(struct helper *h, const struct buf *archive)
{
	static const char head[] = "name: pdf-forms\ndescription: Fills PDF forms.\n";
	struct arena a = { 0 };
	struct helper_files files;
	struct json_node *root;
	const char *fault;
	int err = archive ? helper_unpack(
				    h, &a, archive->at, archive->len, &helper_bundle_limits, &files)
			  : helper_yaml(h, &a, head, sizeof head - 1, &root, &fault);

	arena_free(&a);
	return !err;
}

static int64_t measure(struct helper *h, const struct buf *archive, size_t count)
{
	static int64_t times[TIMES_MAX];

	for (size_t i = 0; i < count; i++) {
		int64_t began = clock_mono_us();

		if (!read_once(h, archive)) {
			fputs("lodge-helper did not read it\n", stderr);
			exit(1);
		}
		times[i] = clock_mono_us() - began;
	}
	return median_of(times, count);
}

int main(int argc, char **argv)
{
	size_t count = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	struct helper *h;
	struct zip_writer w;
	struct arena a = { 0 };
	struct buf b;

	if (!count || count > TIMES_MAX)
		return 2;
	h = helper_new(&(struct helper_setup){ .program = argv[1] });
	buf_init(&b, 2 * FILES * FILE_LEN);
	zip_begin(&w, &b);
	for (int i = 0; i < FILES; i++)
		zip_add(&w, arena_printf(&a, "%d", i), false, arena_alloc(&a, FILE_LEN), FILE_LEN);
	zip_end(&w);
	printf("%lld", (long long)measure(h, NULL, count));
	printf(" %lld\n", (long long)measure(h, &b, count));
	buf_free(&b);
	arena_free(&a);
	helper_free(h);
	return 0;
}
