/* bundle_fixture.h - files for tests of imports: examples of other platforms, and bundles made by hand. */
#pragma once
#include "base/arena.h"
#include "base/buf.h"

/* An example of tests/fuzz/corpus/bundle; a failure, and nothing, if it is not there. */
const char *bundle_example(struct arena *a, const char *name, size_t *ret_len);

/* A file of a bundle that is being made; name NULL ends them. */
struct bundle_piece {
	const char *name, *text;
};
/* A bundle of ours whose manifest holds these members besides the list of the files, which is right. */
void bundle_made(
	struct buf *out, struct arena *a, const char *members, const struct bundle_piece *pieces);
/* An archive of these files and nothing else. */
void bundle_zipped(struct buf *out, const struct bundle_piece *pieces);
