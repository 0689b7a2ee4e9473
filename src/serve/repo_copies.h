/* repo_copies.h - what `lodge backup`, `restore` and `check` do about the repositories of agents. */
#pragma once
#include "repos/repo_copy.h"
#include "serve/settings.h"
#include "store/beside.h"

/* ---- a copy is made ---- */

struct repo_backup {
	const struct settings *s;
	const char *file, *whole; /* FILE, and FILE.repositories */
	int lock;
	struct repo_copied copied;
	struct store_beside beside; /* copies them once the rows are: for store_backup_with() */
};

/* From before the rows are copied on, until repo_backup_end(): nothing is removed or put in order.  Refuses where one of both names
 * is taken, other than by one that was broken off. */
int repo_backup_begin(struct repo_backup *b, const struct settings *s, const char *file,
	struct arena *a, struct problem *p);
/* Says what was copied. */
void repo_backup_say(const struct repo_backup *b);
/* Rows whose folder is missing, which no copy can have. */
int repo_backup_missing(
	const struct settings *s, struct store *store, struct arena *a, struct problem *p);
void repo_backup_end(struct repo_backup *b, struct arena *a);

/* ---- and put back ---- */

struct repo_restoring {
	const struct settings *s;
	const char *copy; /* NULL: they stay as they are */
	const char *sought;
	bool without;	 /* that is meant */
	bool incomplete; /* what there is of them is to do */
	bool adopts;	 /* the folder, whosever it was */
	bool rows;	 /* the store is given rows, and is not a file that takes another's place */
	bool staged;
	bool resumes;	/* an earlier run brought them */
	bool placed;	/* by an earlier run the store is in its place, and only they are not */
	const char *of; /* the copy of the store, by its whole path */
	int lock, ssh, keeping;
	struct repos *repos;
	struct repo_copied copied;
	struct store_beside
		beside; /* brings the copy beside them, once that of the store is proven */
};

/* Refuses while somebody serves the folder.  Goes on with what was broken off. */
int repo_restore_begin(struct repo_restoring *r, const struct settings *s, const char *file,
	struct arena *a, struct problem *p);
/* What `beside` does, for a copy that is brought row by row. */
int repo_restore_prove(
	struct repo_restoring *r, const char *file, struct arena *a, struct problem *p);
/* The store is in its place. */
int repo_restore_placed(struct repo_restoring *r, struct arena *a, struct problem *p);
/* And they take theirs, and say so. */
int repo_restore_end(
	struct repo_restoring *r, struct store *store, struct arena *a, struct problem *p);
/* Always; what is not ended is taken back. */
void repo_restore_close(struct repo_restoring *r, struct arena *a);

/* With `links` what is in them too, with `objects` all of it. */
int repo_check_place(const struct settings *s, struct store *store, bool links, bool objects,
	struct arena *a, struct problem *p);
