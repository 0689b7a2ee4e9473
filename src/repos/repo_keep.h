/* repo_keep.h - the files of repositories put in order, once a night and where something changed: objects into packs, and the index
 * by which histories are read fast (git/git_keep.h).
 *
 * Of all processes that share the folder one is at it, with one repository at a
 * time, and not while somebody pushes to that or it is fetched from another host: then it is left for the next night. */
#pragma once
#include "repos/repo.h"

enum repo_kept {
	REPO_KEPT_WELL,
	REPO_KEPT_AS_IT_WAS, /* there was nothing to gain */
	REPO_KEPT_PUSHED, /* somebody pushes, or it is fetched, or the service stops: another time */
	REPO_KEPT_MISSING, /* its files are not here */
	REPO_KEPT_FAILED,
};

/* One that is to be kept. */
struct repo_due {
	const char *tenant_id, *id;
};

/* Those after that id of which something changed since they were kept, or with `all` all of them; struct repo_due. */
int repo_keep_due(
	struct db *db, struct arena *a, const char *after, bool all, size_t most, struct list *ret);
/* Waits for git.  Whoever calls it holds repo_lock_keeping(). */
enum repo_kept repo_keep_one(
	struct repos *r, struct arena *a, const char *id, const _Atomic bool *stop);
/* Whether git finds one whole that there was nothing to do for; waits for it. */
bool repo_keep_is_whole(struct repos *r, struct arena *a, const char *id);
/* A mirror that has no room left: what no ref leads to goes at once, as nobody but its host has anything in it.  Waits for git; false if
 * it could not be done, as while files of others are put in order or copied. */
bool repo_keep_tight(
	const struct repos *r, struct arena *a, const char *id, const _Atomic bool *stop);
/* It was kept, beginning at that moment. */
int repo_keep_mark(struct db *db, const struct repo_due *row, int64_t began, int64_t size_bytes);
extern const struct statement_set repo_keep_sql;

/* Of the service: begins when the hour has come (UTC, of the settings), once a day.  Does not wait. */
void repo_keep_submit(struct repos *r, struct store *store, int64_t now);
bool repo_is_kept(const struct repos *r); /* nothing is under way */

struct repo_keep_figures {
	uint64_t kept, failed, put_off;
};
struct repo_keep_figures repo_keep_figures(const struct repos *r);
