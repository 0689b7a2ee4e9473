/* repo_check.h - whether the rows of repositories and their folders belong together, and whether git finds a folder whole. */
#pragma once
#include "repos/repo.h"

enum repo_check_depth {
	REPO_CHECK_FOLDERS, /* each is there */
	REPO_CHECK_LINKS,   /* and all that refs name is in it */
	REPO_CHECK_OBJECTS, /* and every object is whole */
};

enum {
	REPO_CHECK_SINCE = 62, /* the version of the store that first has all that this reads */
};

struct repo_report {
	int64_t rows, missing, broken;
	int64_t unnamed;   /* folders without a row */
	const char *first; /* that is missing or broken; or NULL */
	const char *whose; /* the slugs of its tenant and agent */
	const char *why;   /* what git says of it */
};

int repo_check(struct repos *r, struct db *db, enum repo_check_depth depth, struct arena *a,
	struct repo_report *ret);
extern const struct statement_set repo_check_sql;
