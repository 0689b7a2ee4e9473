/* slow.c - a few threads for what takes long and needs no store: hashing passwords, decoding
 * pictures, asking other hosts.  What waits is bounded; more is refused. */
#include <pthread.h>
#include <stdlib.h>

#include "base/log.h"
#include "call/steps.h"

struct slow_pool {
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct work *first, **last;
	size_t waiting, most;
	bool stopping;
	int count;
	pthread_t threads[];
};

static __thread struct db *own; /* of a slow thread that has read */

struct db *slow_pool_db(struct store *s)
{
	struct arena scratch = { 0 };
	struct problem p = { 0 };

	if (!own && store_connect(s, &own, &scratch, &p))
		log_error("the store cannot be read", LOG_S("error", p.detail));
	arena_free(&scratch);
	return own;
}

static void *slow_main(void *arg)
{
	struct slow_pool *p = arg;

	for (;;) {
		struct work *w;

		pthread_mutex_lock(&p->lock);
		while (!p->first && !p->stopping)
			pthread_cond_wait(&p->more, &p->lock);
		w = p->first;
		if (w) {
			p->first = w->next;
			p->waiting--;
			if (!p->first)
				p->last = &p->first;
		}
		pthread_mutex_unlock(&p->lock);
		if (!w) {
			db_close(own);
			return NULL;
		}
		w->done(w, w->run(w, NULL));
	}
}

struct slow_pool *slow_pool_new(int threads, size_t most)
{
	struct slow_pool *p = calloc(1, sizeof *p + (size_t)threads * sizeof *p->threads);

	if (!p)
		abort();
	p->last = &p->first;
	p->most = most;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->more, NULL);
	for (; p->count < threads; p->count++)
		if (pthread_create(&p->threads[p->count], NULL, slow_main, p))
			break;
	return p;
}

void slow_pool_free(struct slow_pool *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->stopping = true;
	pthread_cond_broadcast(&p->more);
	pthread_mutex_unlock(&p->lock);
	for (int i = 0; i < p->count; i++)
		pthread_join(p->threads[i], NULL);
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->more);
	free(p);
}

int slow_pool_submit(struct slow_pool *p, struct work *w)
{
	int err = 0;

	w->next = NULL;
	pthread_mutex_lock(&p->lock);
	if (p->stopping) {
		err = ERR_STOPPING;
	} else if (p->waiting >= p->most) {
		err = ERR_BUSY;
	} else {
		*p->last = w;
		p->last = &w->next;
		p->waiting++;
		pthread_cond_signal(&p->more);
	}
	pthread_mutex_unlock(&p->lock);
	return err;
}
