/* till.h - where runs wait for the store, to be served together.
 *
 * One piece of work serves all who wait when its turn comes, so that under
 * load what is the same for many is read and written once.  If they cannot be
 * served together, each is served alone, and nobody stands in the way of
 * others.  It knows nothing of money. */
#pragma once
#include <pthread.h>

#include "store/store.h"

struct run;

enum { TILL_AT_ONCE = 64 };

struct till {
	struct work work; /* first */
	struct store *store;
	/* Serves them in one transaction: what became of each is in its till_err.  An error is that of all. */
	int (*serve)(struct db *db, struct run *const *runs, size_t count);
	void (*alone)(struct run *r);
	void (*over)(struct run *r, int err);
	pthread_mutex_t lock; /* over the next */
	struct run *first, *last;
	bool open;			  /* the work is with the store */
	struct run *served[TILL_AT_ONCE]; /* the work's own, like their number */
	size_t count;
};

/* With the three functions set. */
void till_open(struct till *t, struct store *store);
void till_close(struct till *t);
void till_join(struct till *t, struct run *r);
