/* batches.c - see batches.h. */
#include "store/batches.h"

#include <stdatomic.h>

/* ASKED: started again while it was busy.
 *
 *   IDLE -> BUSY -> IDLE
 *            |  ^
 *            v  |
 *           ASKED                                                    */
enum batches_state { BATCHES_IDLE, BATCHES_BUSY, BATCHES_ASKED };

static int batch_run(struct work *w, struct db *db)
{
	struct batches *b = (struct batches *)w;

	b->more = false;
	return b->take(b, db);
}

/* Whether nothing is left to do: nobody asked for more by now. */
static bool batches_rest(struct batches *b)
{
	int busy = BATCHES_BUSY;

	if (atomic_compare_exchange_strong(&b->state, &busy, BATCHES_IDLE))
		return true;
	atomic_store(&b->state, BATCHES_BUSY);
	return false;
}

static void batches_end(struct batches *b)
{
	if (b->ended)
		b->ended(b);
}

static void batch_done(struct work *w, int err)
{
	struct batches *b = (struct batches *)w;

	if (!err && b->taken)
		b->taken(b);
	if (!err && !b->more && batches_rest(b)) { /* from here on another may have begun */
		batches_end(b);
		return;
	}
	if (!err && !store_submit(b->store, w))
		return;
	atomic_store(&b->state, BATCHES_IDLE);
	batches_end(b);
}

/* Whether it is for the caller to begin. */
static bool batches_claim(struct batches *b)
{
	for (;;) {
		int idle = BATCHES_IDLE, busy = BATCHES_BUSY;

		if (atomic_compare_exchange_strong(&b->state, &idle, BATCHES_BUSY))
			return true;
		if (idle == BATCHES_ASKED ||
			atomic_compare_exchange_strong(&b->state, &busy, BATCHES_ASKED))
			return false;
	}
}

void batches_start(struct batches *b, struct store *store)
{
	if (!batches_claim(b))
		return;
	b->store = store;
	b->work = (struct work){ .run = batch_run, .done = batch_done, .mode = READ_WRITE };
	if (store_submit(store, &b->work)) {
		atomic_store(&b->state, BATCHES_IDLE);
		batches_end(b);
	}
}
