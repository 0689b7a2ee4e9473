/* fuzz_zip.c - archives as a stranger could make them.  What is taken keeps to the limits, has good names,
 * and comes back the same from an archive of our own. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/zip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct zip_limits limits = {
	.entries = 16, .one = 1 << 16, .all = 1 << 17, .ratio = 200, .ratio_from = 1 << 16
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a = { 0 };
	struct zip_entries z, again;
	struct zip_writer w;
	size_t total = 0;
	struct buf b;

	if (!zip_read(&a, data, size, &limits, &z)) {
		if (!z.fault)
			abort();
		arena_free(&a);
		return 0;
	}
	buf_init(&b, 1 << 20);
	zip_begin(&w, &b);
	for (size_t i = 0; i < z.count; i++) {
		total += z.at[i].len;
		if (!zip_name_valid(z.at[i].name, strlen(z.at[i].name)) || z.at[i].len > limits.one)
			abort();
		zip_add(&w, z.at[i].name, false, z.at[i].bytes, z.at[i].len);
	}
	zip_end(&w);
	if (z.count > limits.entries || total > limits.all ||
		!zip_read(&a, b.at, b.len, &limits, &again) || again.count != z.count)
		abort();
	for (size_t i = 0; i < z.count; i++)
		if (strcmp(z.at[i].name, again.at[i].name) != 0 || z.at[i].len != again.at[i].len ||
			memcmp(z.at[i].bytes, again.at[i].bytes, z.at[i].len) != 0)
			abort();
	buf_free(&b);
	arena_free(&a);
	return 0;
}
