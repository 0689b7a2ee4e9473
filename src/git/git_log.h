/* git_log.h - the history of a file as git itself finds it, where the repository has an index of which commits changed which paths
 * (a commit-graph, which git_keep.h has it write): then that is faster than our own walk, and goes through all commits. */
#pragma once
#include "git/bare.h"

/* Whether the repository has one. */
bool git_log_fits(const char *repository, struct arena *a);
/* As bare_history(), but for how many commits it goes through; false where git did not come to its end. */
bool git_log_history(const char *repository, const char *from, const char *path, size_t most,
	struct arena *a, struct list *ret);
