/* group_commit.c - see group_commit.h. */
#include "broker/group_commit.h"

#include <string.h>

#include "broker/completion_parts.h"
#include "base/check.h"

/* Once it has run it has its own, and runs again with the same if it must. */
static int group_commit_run(struct work *w, struct db *db)
{
	struct group_commit *t = (struct group_commit *)w;

	pthread_mutex_lock(&t->lock);
	while (t->count < GROUP_COMMIT_MAX && t->first) {
		t->served[t->count++] = t->first;
		t->first = t->first->next_waiting;
	}
	pthread_mutex_unlock(&t->lock);
	return t->serve(db, t->served, t->count);
}

static void group_commit_done(struct work *w, int err)
{
	struct group_commit *t = (struct group_commit *)w;
	struct completion *served[GROUP_COMMIT_MAX], *left = NULL;
	size_t count = t->count;

	INVARIANT(count <= GROUP_COMMIT_MAX);
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
			t->over(served[i], served[i]->group_err);
	}
	while (left) { /* the store takes no more */
		struct completion *r = left;

		left = r->next_waiting;
		t->over(r, ERR_BUSY);
	}
}

void group_commit_open(struct group_commit *t, struct store *store)
{
	t->store = store;
	t->work = (struct work){
		.run = group_commit_run, .done = group_commit_done, .mode = READ_WRITE
	};
	pthread_mutex_init(&t->lock, NULL);
}

void group_commit_close(struct group_commit *t)
{
	pthread_mutex_destroy(&t->lock);
}

void group_commit_join(struct group_commit *t, struct completion *r)
{
	int err = 0;

	pthread_mutex_lock(&t->lock);
	r->next_waiting = NULL;
	if (t->first)
		t->last->next_waiting = r;
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
