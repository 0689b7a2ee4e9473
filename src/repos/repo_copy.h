/* repo_copy.h - all repositories of a folder copied while others push to them.
 *
 * Of each the refs are copied first and the objects after them: objects only
 * come, as long as nobody puts files in order (repo_lock_keeping()), so that
 * all that a copied ref names is in the copy, whatever is pushed meanwhile. */
#pragma once
#include "repos/repo.h"

struct repo_copied {
	int64_t repositories, size_bytes;
};

/* To a folder that is not there yet; it is on the disk when this returns.  Whoever calls it holds repo_lock_keeping(). */
int repo_copy_all(const char *from, const char *to, struct repo_copied *ret, struct arena *a,
	struct problem *p);
/* Whether a folder of that name is that of a repository. */
bool repo_copy_is_one(const char *name);
/* A folder of ours and all in it. */
void repo_copy_drop(const char *folder);
