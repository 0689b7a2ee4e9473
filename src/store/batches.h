/* batches.h - work that is too long for one transaction, done in batches until nothing is left of it.
 *
 * Each batch is a transaction of its own, so that writers wait for one batch at
 * most, and the next goes to the end of the queue.  One runs at a time: whoever
 * starts it while it runs has it look once more when it is through, so that
 * what came in its last moment does not stay.  An error ends it until it is
 * started again. */
#pragma once
#include "store/store.h"

struct batches {
	struct work work; /* first: it is handed back */
	struct store *store;
	/* One batch, in the transaction at hand; sets `more` if there may be another.  As with all work, it may run more
	 * than once. */
	int (*take)(struct batches *b, struct db *db);
	void (*taken)(struct batches *b); /* the batch is durable; may be NULL */
	void (*ended)(struct batches *
			b); /* nothing is under way; may be NULL, and may free it if nobody else starts it */
	bool more;
	_Atomic int state; /* enum batches_state of batches.c; 0: nothing under way */
};

/* Has the first batch run, after whatever else waits.  Does not wait. */
void batches_start(struct batches *b, struct store *store);
