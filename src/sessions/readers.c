/* readers.c - see readers.h. */
#include "sessions/readers.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/log.h"

struct readers {
	struct store *store;
	pthread_mutex_t lock; /* over the next three */
	pthread_cond_t more;
	struct work *first, **last;
	bool stopping;
	int count;
	struct reader {
		struct readers *all;
		struct db *db;
		pthread_t thread;
	} at[READERS_THREADS];
};

/* NULL when there is nothing more to do for ever.  While it waits no view of the past is held. */
static struct work *take(struct readers *r, struct db *db)
{
	struct work *w;

	pthread_mutex_lock(&r->lock);
	if (db && !r->first && !r->stopping)
		store_rest(db);
	while (!r->first && !r->stopping)
		pthread_cond_wait(&r->more, &r->lock);
	w = r->first;
	if (w) {
		r->first = w->next;
		if (!r->first)
			r->last = &r->first;
	}
	pthread_mutex_unlock(&r->lock);
	return w;
}

/* With the first work: a service whose agents rest has no use for it. */
static int connect_now(struct reader *reader)
{
	struct arena a = { 0 };
	struct problem p = { 0 };
	int err = store_connect(reader->all->store, &reader->db, &a, &p);

	if (err)
		log_error("the store cannot be reached", LOG_S("error", p.detail));
	arena_free(&a);
	return err;
}

static void *reader_main(void *arg)
{
	struct reader *reader = arg;
	struct readers *r = reader->all;
	struct work *w;

	while ((w = take(r, reader->db))) {
		int err = reader->db ? 0 : connect_now(reader);

		w->done(w, err ? err : store_read_here(r->store, reader->db, w));
	}
	if (reader->db)
		store_rest(reader->db);
	return NULL;
}

static bool start(struct readers *r, struct reader *reader)
{
	reader->all = r;
	return pthread_create(&reader->thread, NULL, reader_main, reader) == 0;
}

struct readers *readers_new(struct store *store)
{
	struct readers *r;

	if (!store_is_sqlite(store))
		return NULL;
	r = calloc(1, sizeof *r);
	if (!r)
		abort();
	r->store = store;
	r->last = &r->first;
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->more, NULL);
	while (r->count < READERS_THREADS && start(r, &r->at[r->count]))
		r->count++;
	if (r->count)
		return r;
	readers_free(r);
	return NULL;
}

void readers_free(struct readers *r)
{
	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	r->stopping = true;
	pthread_cond_broadcast(&r->more);
	pthread_mutex_unlock(&r->lock);
	for (int i = 0; i < r->count; i++) {
		pthread_join(r->at[i].thread, NULL);
		db_close(r->at[i].db);
	}
	pthread_mutex_destroy(&r->lock);
	pthread_cond_destroy(&r->more);
	free(r);
}

int readers_submit(struct readers *r, struct work *w)
{
	int err = 0;

	w->next = NULL;
	pthread_mutex_lock(&r->lock);
	if (r->stopping) {
		err = ERR_STOPPING;
	} else {
		*r->last = w;
		r->last = &w->next;
		pthread_cond_signal(&r->more);
	}
	pthread_mutex_unlock(&r->lock);
	return err;
}
