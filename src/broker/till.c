/* till.c - see till.h. */
#include "broker/till.h"

#include <string.h>

#include "broker/run_parts.h"

/* Once it has run it has its own, and runs again with the same if it must. */
static int till_run(struct work *w, struct db *db)
{
	struct till *t = (struct till *)w;

	pthread_mutex_lock(&t->lock);
	while (t->count < TILL_AT_ONCE && t->first) {
		t->served[t->count++] = t->first;
		t->first = t->first->behind;
	}
	pthread_mutex_unlock(&t->lock);
	return t->serve(db, t->served, t->count);
}

static void till_done(struct work *w, int err)
{
	struct till *t = (struct till *)w;
	struct run *served[TILL_AT_ONCE], *left = NULL;
	size_t count = t->count;

	memcpy(served, t->served, count * sizeof *served);
	t->count = 0;
	pthread_mutex_lock(&t->lock);
	t->open = t->first && store_submit(t->store, &t->work) == 0;
	if (!t->open) {
		left = t->first;
		t->first = NULL;
	}
	pthread_mutex_unlock(&t->lock);
	for (size_t i = 0; i < count; i++) {
		if (err)
			t->alone(served[i]);
		else
			t->over(served[i], served[i]->till_err);
	}
	while (left) { /* the store takes no more */
		struct run *r = left;

		left = r->behind;
		t->over(r, ERR_BUSY);
	}
}

void till_open(struct till *t, struct store *store)
{
	t->store = store;
	t->work = (struct work){ .run = till_run, .done = till_done, .mode = READ_WRITE };
	pthread_mutex_init(&t->lock, NULL);
}

void till_close(struct till *t)
{
	pthread_mutex_destroy(&t->lock);
}

void till_join(struct till *t, struct run *r)
{
	int err = 0;

	/* Where many connections write, those who need not wait for each other should not. */
	if (!store_is_sqlite(t->store)) {
		t->alone(r);
		return;
	}
	pthread_mutex_lock(&t->lock);
	r->behind = NULL;
	if (t->first)
		t->last->behind = r;
	else
		t->first = r;
	t->last = r;
	if (!t->open)
		err = store_submit(t->store, &t->work);
	t->open = !err;
	if (err)
		t->first = NULL; /* there was nobody else, or it would be open */
	pthread_mutex_unlock(&t->lock);
	if (err)
		t->over(r, err);
}
