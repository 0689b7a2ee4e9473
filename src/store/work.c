/* work.c - the threads that run work.
 *
 * What writes stands in a line of its own, of which one thread takes all that
 * waits and runs it in one transaction (transact.c).  On SQLite that is all
 * there is; on PostgreSQL the rest, what reads or takes its own locks, goes to
 * a pool of connections, each with its thread. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/check.h"
#include "base/log.h"
#include "base/thread.h"
#include "store/engine.h"
#include "store/transact.h"

enum {
	READ_TRIES = 12,
	BATCH_MAX = 256,
	CAREFUL_BATCH_MAX = 32 /* PostgreSQL keeps 64 savepoints at hand */
};
enum { LINE_WRITE, LINE_OTHER, LINES };

struct line {
	struct work *first, **last;
	size_t waiting;
	pthread_cond_t more;
};

struct worker {
	pthread_t thread;
	struct transactor self;
	struct queue *queue;
	struct line *line;
};

struct queue {
	struct store *store;
	pthread_mutex_t lock;
	struct line lines[LINES];
	bool stopping;
	struct worker *workers; /* the first of them writes */
	int worker_count, started;
	struct checkpointer *checkpointer; /* on SQLite */
	struct statistics *statistics;	   /* on PostgreSQL */
	struct tallies tallies;
};

struct queue *queue_new(struct store *s)
{
	struct queue *q = calloc(1, sizeof *q);

	if (!q)
		abort();
	q->store = s;
	q->worker_count = store_is_sqlite(s) ? 1 : 1 + s->settings.workers;
	q->workers = calloc((size_t)q->worker_count, sizeof *q->workers);
	if (!q->workers)
		abort();
	pthread_mutex_init(&q->lock, NULL);
	for (struct line *l = q->lines; l < q->lines + LINES; l++) {
		l->last = &l->first;
		pthread_cond_init(&l->more, NULL);
	}
	return q;
}

void queue_free(struct queue *q)
{
	if (!q)
		return;
	for (int i = 0; i < q->worker_count; i++)
		db_close(q->workers[i].self.db);
	free(q->workers);
	pthread_mutex_destroy(&q->lock);
	for (struct line *l = q->lines; l < q->lines + LINES; l++)
		pthread_cond_destroy(&l->more);
	free(q);
}

static struct line *line_of(struct queue *q, const struct work *w)
{
	return &q->lines[store_is_sqlite(q->store) || w->mode == READ_WRITE ? LINE_WRITE
									    : LINE_OTHER];
}

static size_t waiting_work(const struct queue *q)
{
	return q->lines[LINE_WRITE].waiting + q->lines[LINE_OTHER].waiting;
}

int queue_submit(struct queue *q, struct work *w)
{
	struct line *l = line_of(q, w);
	int err = 0;

	INVARIANT(w->run && w->done);
	w->next = NULL;
	w->err = 0;
	pthread_mutex_lock(&q->lock);
	INVARIANT((l->waiting == 0) == (l->first == NULL) && *l->last == NULL);
	if (q->stopping) {
		err = ERR_STOPPING;
	} else if (waiting_work(q) >= q->store->settings.queue_max) {
		err = ERR_BUSY;
	} else {
		*l->last = w;
		l->last = &w->next;
		if (l->waiting++ == 0 || l == &q->lines[LINE_OTHER])
			pthread_cond_signal(&l->more);
	}
	pthread_mutex_unlock(&q->lock);
	return err;
}

/* Takes up to `most` pieces, waiting for the first; NULL when the queue is stopped and the line empty. */
static struct work *take_batch(struct queue *q, struct line *l, size_t most)
{
	struct work *batch, *end = NULL;

	pthread_mutex_lock(&q->lock);
	while (!l->first && !q->stopping)
		pthread_cond_wait(&l->more, &q->lock);
	batch = l->first;
	for (struct work *w = batch; w && most; w = w->next, most--) {
		end = w;
		INVARIANT(l->waiting > 0);
		l->waiting--;
	}
	if (end) {
		l->first = end->next;
		end->next = NULL;
	}
	if (!l->first)
		l->last = &l->first;
	pthread_mutex_unlock(&q->lock);
	return batch;
}

static void submit_look(struct worker *writer)
{
	struct work *look = statistics_due(writer->queue->statistics, writer->self.db);

	if (look && queue_submit(writer->queue, look))
		look->done(look, ERR_BUSY);
}

static void *writer_main(void *arg)
{
	struct worker *worker = arg;
	bool careful = !store_is_sqlite(worker->queue->store);
	struct work *batch;

	while ((batch = take_batch(worker->queue, worker->line,
			careful && worker->self.caution ? CAREFUL_BATCH_MAX : BATCH_MAX))) {
		transact_batch(&worker->self, batch);
		checkpoint_look(worker->queue->checkpointer, worker->self.db);
		submit_look(worker);
		/* Those who wait for this processor may have work for the next commit.  The fewer the
		 * commits, the less is read anew after them. */
		sched_yield();
	}
	return NULL;
}

static void *store_pool_main(void *arg)
{
	struct worker *worker = arg;
	struct work *w;

	while ((w = take_batch(worker->queue, worker->line, 1)))
		transact_one(&worker->self, w);
	return NULL;
}

int queue_start(struct queue *q)
{
	if (store_is_sqlite(q->store) && checkpoint_start(q->store, &q->checkpointer))
		return ERR_STORE;
	if (!store_is_sqlite(q->store))
		q->statistics = statistics_new();
	for (q->started = 0; q->started < q->worker_count; q->started++) {
		struct worker *w = &q->workers[q->started];
		bool writes = q->started == 0;
		struct arena scratch = { 0 };
		struct problem problem = { 0 };
		int err = store_connect_way(q->store, writes ? WAY_WRITER : WAY_READER, &w->self.db,
			&scratch, &problem);

		if (err)
			log_error("the store cannot be reached", LOG_S("error", problem.detail));
		else if (store_is_sqlite(q->store)) /* the one whose pages stay good */
			err = q->store->engine->script(
				w->self.db, "pragma cache_size = -16384; pragma mmap_size = 0");
		if (!err && store_is_sqlite(q->store) &&
			(err = identity_take(q->store, w->self.db)))
			log_error(
				"the store cannot be served", LOG_S("error", db_error(w->self.db)));
		if (!err && writes && q->store->engine->remember &&
			(err = q->store->engine->remember(w->self.db)))
			log_error(
				"the store cannot be served", LOG_S("error", db_error(w->self.db)));
		arena_free(&scratch);
		w->queue = q;
		w->line = &q->lines[writes ? LINE_WRITE : LINE_OTHER];
		w->self.store = q->store;
		w->self.tallies = &q->tallies;
		if (err || thread_start(&w->thread, writes ? writer_main : store_pool_main, w))
			return err ? err : ERR_INTERNAL;
	}
	return 0;
}

void queue_stop(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->stopping = true;
	for (struct line *l = q->lines; l < q->lines + LINES; l++)
		pthread_cond_broadcast(&l->more);
	pthread_mutex_unlock(&q->lock);
	for (; q->started > 0; q->started--)
		pthread_join(q->workers[q->started - 1].thread, NULL);
	checkpoint_stop(q->checkpointer);
	q->checkpointer = NULL;
	statistics_free(q->statistics);
	q->statistics = NULL;
}

struct tallies *store_tallies(struct store *s)
{
	return &s->queue->tallies;
}

struct store_stats queue_stats(const struct queue *q)
{
	struct queue *lockable = (struct queue *)q;
	const struct tallies *t = &q->tallies;
	struct store_stats s = {
		.work_done = t->done,
		.work_failed = t->failed,
		.commits = t->commits,
		.retries = t->retries,
		.reconnects = t->reconnects,
	};

	pthread_mutex_lock(&lockable->lock);
	s.queued = waiting_work(q);
	pthread_mutex_unlock(&lockable->lock);
	return s;
}

/* Only this process writes to an SQLite store that it serves (what `lodge user create` adds beside it
 * takes nothing away from anybody), so its own count of commits tells whether a view is the latest. */
static int begin_fresh(struct store *s, struct db *db)
{
	uint64_t now = atomic_load_explicit(&s->generation, memory_order_acquire);
	int err;

	if (db->in_transaction && db->generation == now)
		return 0;
	store_rest(db);
	err = db_begin(db, READ_ONLY);
	db->generation = now;
	if (!err)
		db_version(db); /* the view dates from here, not from the first statement */
	return err;
}

int store_read_here(struct store *s, struct db *db, struct work *w)
{
	int err = ERR_RETRY;

	for (int tries = 0; err == ERR_RETRY && tries < READ_TRIES; tries++) {
		if (tries)
			transact_back_off(tries);
		err = begin_fresh(s, db);
		if (!err)
			err = w->run(w, db);
		if (err == ERR_RETRY || transact_is_store_error(err))
			store_rest(db);
	}
	transact_complain(s, db, err);
	return err == ERR_RETRY ? ERR_BUSY : err;
}

void store_rest(struct db *db)
{
	if (db->in_transaction)
		db_rollback(db);
}
