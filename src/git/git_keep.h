/* git_keep.h - the files of a repository put in order by git: objects into packs, and the index of which commits changed which
 * paths.  Never on the way of a request. */
#pragma once
#include "git/git_child.h"

struct git_keep {
	const char *path;
	int64_t bytes_max; /* of one file that it writes */
	int wall_ms;	   /* 0: GIT_KEEP_WALL_MS */
	bool drops;	   /* what no ref leads to at once, and not after two weeks */
	/* Asked now and then: false, and git is ended.  What was done so far is sound. */
	bool (*wanted)(void *ctx);
	void *ctx;
	const _Atomic bool *stop; /* or NULL */
};
enum { GIT_KEEP_WALL_MS = 1800 * 1000 };

/* Whether there is anything to gain: many loose objects, several packs, or a pack that the index does not know. */
bool git_keep_gains(const char *path);
/* GIT_ENDED, or how it ended instead; what it complained of is in the result. */
enum git_end git_keep(const struct git_keep *what, struct git_result *ret);
/* Whether all that its refs name is there and whole (git fsck); with `all` each object is read, else only what links them. */
enum git_end git_keep_check(const struct git_keep *what, bool all, struct git_result *ret);
