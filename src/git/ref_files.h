/* ref_files.h - the names of refs, read from where git keeps them: files of their own, and packed-refs.
 *
 * The library looks at each file on the way, which for thousands of branches takes
 * longer than all the rest of an answer; their names are all that a list needs. */
#pragma once
#include <stdbool.h>

/* Each name that begins with the prefix ("refs/heads/"), whole, in no order, and perhaps twice.  `take` ends it by an answer
 * other than 0, which is the answer then; -1: something cannot be read. */
int ref_files_each(const char *repository, const char *prefix,
	int (*take)(const char *name, void *ctx), void *ctx);
