/* group_commit.h - where completions wait for the store, to be served together.
 *
 * One piece of work serves all who wait when its turn comes, so that under
 * load what is the same for many is read and written once.  If they cannot be
 * served together, each is served alone, and nobody stands in the way of
 * others.  It knows nothing of money. */
#pragma once
#include <pthread.h>

#include "store/store.h"

struct completion;

enum { GROUP_COMMIT_MAX = 64 };

struct group_commit {
	struct work work; /* first */
	struct store *store;
	/* Serves them in one transaction: what became of each is in its group_err.  An error is that of all. */
	int (*serve)(struct db *db, struct completion *const *runs, size_t count);
	void (*alone)(struct completion *r);
	void (*over)(struct completion *r, int err);
	pthread_mutex_t lock; /* over the next */
	struct completion *first, *last;
	bool open;				     /* the work is with the store */
	struct completion *served[GROUP_COMMIT_MAX]; /* the work's own, like their number */
	size_t count;
};

/* With the three functions set. */
void group_commit_open(struct group_commit *t, struct store *store);
void group_commit_close(struct group_commit *t);
void group_commit_join(struct group_commit *t, struct completion *r);
