/* fuzz_helper_unpack.c - archives as a stranger could make them, through lodge-helper's readers and then the server's
 * reading of the answer.  What comes first is what an archive is told by; a tar is tried without its gzip too, packed
 * here, because no fuzzer finds a checksum. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "answered.h"
#include "base/entry_names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct helper_limits limits = { .packed = 1 << 20,
	.one = 1 << 14,
	.all = 1 << 16,
	.entries = 16,
	.ratio = 200,
	.path = 255,
	.depth = 8,
	.ratio_from = 1 << 16 };

static void unpack(const void *bytes, size_t len)
{
	const struct helper_task t = { .mark = HELPER_MARK,
		.kind = HELPER_UNPACK,
		.len = len,
		.one = limits.one,
		.all = limits.all,
		.entries = limits.entries,
		.ratio = limits.ratio,
		.ratio_from = limits.ratio_from,
		.path = limits.path,
		.depth = limits.depth };
	struct arena a = { 0 };
	struct helper_files files;
	struct answered answer;
	enum answer got;

	answered_begin(&answer);
	unpack_archive(&a, &t, bytes, &answer.outlet);
	got = answer_files(&answer.source, &a, &limits, &files);
	if ((got != ANSWER_WHOLE && got != ANSWER_FAULT) || (got == ANSWER_FAULT) != !!files.fault)
		abort();
	answered_end(&answer);
	arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *packed = malloc(size + 1024);
	z_stream z = { .next_in = (uint8_t *)data, .avail_in = (unsigned)size };

	unpack(data, size);
	deflateInit2(&z, 1, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
	z.next_out = packed;
	z.avail_out = (unsigned)size + 1024;
	deflate(&z, Z_FINISH);
	unpack(packed, z.total_out);
	deflateEnd(&z);
	free(packed);
	return 0;
}
