/* repo_mark.h - whose the folder of repositories is, by a mark in it, and that somebody serves it. */
#pragma once
#include "repos/repo.h"

#define REPO_MARK "lodge-repositories"

enum {
	REPOS_SINCE = 58, /* the version of the store that first has rows of repositories */
};

enum repo_claim {
	REPOS_SERVE, /* a folder without a mark is given this store's, unless it looks like another's */
	REPOS_LOOK,  /* only whether it would be taken */
	REPOS_ADOPT, /* it is this store's from now on, whatever mark it has */
};

/* ERR_USAGE, with what to do, if the folder is not to be had or is not this store's. */
int repo_claim(
	struct repos *r, struct db *db, enum repo_claim how, struct arena *a, struct problem *p);
/* ERR_USAGE, with what to do, if a restore was broken off there. */
int repo_unfinished(const struct repos *r, struct arena *a, struct problem *p);
/* The id in the folder's mark, and the one that a store knows (of a store that has rows of repositories); "" where there is none. */
void repo_mark_read(const struct repos *r, struct arena *a, char id[ID_LEN + 1]);
int repo_mark_known(struct db *db, struct arena *a, char id[ID_LEN + 1]);
/* It was claimed, and has the same mark still: what no row names may be removed. */
bool repo_mark_holds(const struct repos *r, struct arena *a);
/* Makes the folder of a repository, with no commit in it; not where the folder of all of them is not the one that was claimed: a disk
 * may have gone away. */
int repo_make(const struct repos *r, struct arena *a, const char *id, struct problem *p);
/* Whether the store names repositories that lie in such a folder. */
int repos_in_use(struct db *db, bool *ret);
extern const struct statement_set repo_mark_sql;
