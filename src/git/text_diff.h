/* text_diff.h - how two texts differ, as people read it: git's unified diff. */
#pragma once
#include "base/arena.h"

struct text_change {
	const char *path; /* what both are called */
	const char *was, *is;
	size_t most; /* bytes that are shown */
};

enum {
	TEXT_DIFF_LINES = 20 * 1000
}; /* of either; a million of them took eleven seconds and 400 MB */

/* NULL where they have too many lines to be compared.  *ret_cut: there is more of it; what is shown ends with a whole line. */
const char *text_diff(const struct text_change *change, struct arena *a, bool *ret_cut);
