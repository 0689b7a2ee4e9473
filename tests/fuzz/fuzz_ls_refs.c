/* fuzz_ls_refs.c - any bytes as what a git server says, in pieces whose length is the first byte: first what it can do, then its
 * list.  What is read is the same in any pieces, in order, each once, and begins as was asked for. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "git/ls_refs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *feed(struct ls_refs *r, const char *bytes, size_t size, size_t piece)
{
	for (size_t at = 0; at < size; at += piece)
		if (!ls_refs_feed(r, bytes + at, piece < size - at ? piece : size - at))
			break;
	return ls_refs_end(r);
}

/* All of it is the list, or, with a flush in it, what the server can do and then the list. */
static const char *read_all(
	struct ls_refs *r, struct arena *a, const char *bytes, size_t size, size_t piece)
{
	static const struct ls_ask all = { { "refs/heads/", "refs/tags/" }, 2 };
	const char *end = memmem(bytes, size, "0000", 4), *fault;
	size_t first =
		end && size > 4 && memcmp(bytes + 4, "version 2", size > 13 ? 9 : size - 4) == 0
			? (size_t)(end + 4 - bytes)
			: size;

	ls_refs_begin(r, a, &all);
	fault = feed(r, bytes, first, piece);
	if (!fault && r->version == 2) {
		ls_refs_again(r);
		fault = feed(r, bytes + first, size - first, piece);
	}
	return fault;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *bytes = (const char *)data + 1, *one_fault, *fault;
	struct arena a = { 0 };
	struct ls_refs r, whole;

	if (!size)
		return 0;
	size--;
	one_fault = read_all(&r, &a, bytes, size, (size_t)data[0] + 1);
	fault = read_all(&whole, &a, bytes, size, size ? size : 1);
	if (!one_fault != !fault)
		abort();
	if (!fault) {
		if (r.count != whole.count || r.complete != whole.complete || r.count > LS_REFS_MAX)
			abort();
		for (size_t i = 0; i < r.count; i++) {
			if (strcmp(r.at[i].name, whole.at[i].name) != 0 ||
				strcmp(r.at[i].id, whole.at[i].id) != 0 ||
				strncmp(r.at[i].name, "refs/", 5) != 0 ||
				(i && strcmp(r.at[i - 1].name, r.at[i].name) >= 0))
				abort();
			if (ls_refs_find(&r, r.at[i].name) != &r.at[i])
				abort();
		}
	}
	ls_refs_drop(&r);
	ls_refs_drop(&whole);
	arena_free(&a);
	return 0;
}
