/* work.c - the threads that run work: one writer with shared commits on SQLite, a pool of
 * connections on PostgreSQL.
 *
 * On SQLite the writer takes all that waits, runs each piece in one
 * transaction, commits once, and only then calls done(): many writes cost one
 * fsync, and no answer leaves before its commit is on the disk.  Most pieces
 * that fail do so before they have changed anything.  One that has, takes the
 * others with it: they run again, each in a savepoint, which costs a copy of
 * every page that is changed.  A full disk makes SQLite drop the whole
 * transaction; the piece that met it fails and the others run again. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "base/log.h"
#include "base/thread.h"
#include "store/engine.h"

enum {
	BATCH_MAX = 256,
	CAUTION = 32,
	TRIES_MAX = 12,
	COMPANY_TRIES = 4, /* so many beside other writers, the rest without them */
	MEND_TRIES = 20,
	MEND_PAUSE_MS = 100
};

struct worker {
	pthread_t thread;
	struct db *db;
	struct queue *queue;
	int caution; /* so many batches to come are run with savepoints */
};

struct queue {
	struct store *store;
	pthread_mutex_t lock;
	pthread_cond_t more;
	pthread_rwlock_t
		company; /* held for reading by whoever writes, for writing by whoever must not meet one */
	struct work *first, **last;
	size_t waiting;
	bool stopping;
	struct worker *workers;
	int worker_count, started;
	struct checkpointer *checkpointer; /* on SQLite */
	_Atomic uint64_t done, failed, commits, retries, reconnects;
};

/* Whoever waits to be without company goes before those that come after. */
static void init_company(pthread_rwlock_t *lock)
{
	pthread_rwlockattr_t attr;

	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(lock, &attr);
	pthread_rwlockattr_destroy(&attr);
}

struct queue *queue_new(struct store *s)
{
	struct queue *q = calloc(1, sizeof *q);

	if (!q)
		abort();
	q->store = s;
	q->last = &q->first;
	q->worker_count = store_is_sqlite(s) ? 1 : s->settings.workers;
	q->workers = calloc((size_t)q->worker_count, sizeof *q->workers);
	if (!q->workers)
		abort();
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->more, NULL);
	init_company(&q->company);
	return q;
}

void queue_free(struct queue *q)
{
	if (!q)
		return;
	for (int i = 0; i < q->worker_count; i++)
		db_close(q->workers[i].db);
	free(q->workers);
	pthread_mutex_destroy(&q->lock);
	pthread_cond_destroy(&q->more);
	pthread_rwlock_destroy(&q->company);
	free(q);
}

int queue_submit(struct queue *q, struct work *w)
{
	int err = 0;

	INVARIANT(w->run && w->done);
	w->next = NULL;
	w->err = 0;
	pthread_mutex_lock(&q->lock);
	INVARIANT((q->waiting == 0) == (q->first == NULL) && *q->last == NULL);
	if (q->stopping) {
		err = ERR_STOPPING;
	} else if (q->waiting >= q->store->settings.queue_max) {
		err = ERR_BUSY;
	} else {
		*q->last = w;
		q->last = &w->next;
		if (q->waiting++ == 0 || q->worker_count > 1)
			pthread_cond_signal(&q->more);
	}
	pthread_mutex_unlock(&q->lock);
	return err;
}

/* Takes up to `most` pieces, waiting for the first; NULL when the queue is stopped and empty. */
static struct work *take_batch(struct queue *q, size_t most)
{
	struct work *batch, *end = NULL;

	pthread_mutex_lock(&q->lock);
	while (!q->first && !q->stopping)
		pthread_cond_wait(&q->more, &q->lock);
	batch = q->first;
	for (struct work *w = batch; w && most; w = w->next, most--) {
		end = w;
		INVARIANT(q->waiting > 0);
		q->waiting--;
	}
	if (end) {
		q->first = end->next;
		end->next = NULL;
	}
	if (!q->first)
		q->last = &q->first;
	pthread_mutex_unlock(&q->lock);
	return batch;
}

static void finish_work(struct queue *q, struct work *w, int err)
{
	if (err == ERR_STORE_FULL || (!err && q->store->fault))
		health_note(q->store, err, w->mode != READ_ONLY);
	atomic_fetch_add_explicit(err ? &q->failed : &q->done, 1, memory_order_relaxed);
	w->done(w, err);
}

static bool is_store_error(int err)
{
	return err == ERR_STORE || err == ERR_STORE_FULL;
}

static void queue_complain(const struct queue *q, const struct db *db, int err)
{
	if (is_store_error(err))
		store_complain(q->store, "the store failed",
			*db_error(db) ? db_error(db) : error_row(err)->title);
}

static void pause_ms(int64_t ms)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

/* Longer with each try, and never the same for two that met. */
static void back_off(int tries)
{
	uint8_t noise;

	random_bytes(&noise, sizeof noise);
	pause_ms((int64_t)(1 + noise % 4) << (tries < 6 ? tries : 6));
}

static void count_commit(struct queue *q)
{
	atomic_fetch_add_explicit(&q->commits, 1, memory_order_relaxed);
}

/* Nothing is acknowledged that went into a file which is not the store's any more. */
static int commit_work(struct db *db)
{
	int err = db_commit(db);

	if (!err && !identity_holds(db->store))
		err = db_fail(db, ERR_STORE, "its file was changed while it was served");
	return err;
}

static int try_once(struct db *db, struct work *w)
{
	int err = db_begin(db, w->mode);

	if (err)
		return err;
	err = w->run(w, db);
	if (err)
		db_rollback(db);
	else
		err = commit_work(db);
	return err;
}

/* One piece in a transaction of its own, again while the store asks for it.  One that keeps meeting others is
 * run without any other writer of this process, so that many who change the same rows all come through. */
static int run_alone(struct queue *q, struct db *db, struct work *w)
{
	int err = ERR_RETRY;

	for (int tries = 0; err == ERR_RETRY && tries < TRIES_MAX; tries++) {
		if (tries) {
			atomic_fetch_add_explicit(&q->retries, 1, memory_order_relaxed);
			back_off(tries);
		}
		if (w->mode == READ_WRITE)
			tries < COMPANY_TRIES ? pthread_rwlock_rdlock(&q->company)
					      : pthread_rwlock_wrlock(&q->company);
		err = try_once(db, w);
		if (w->mode == READ_WRITE)
			pthread_rwlock_unlock(&q->company);
	}
	if (!err && w->mode != READ_ONLY)
		count_commit(q);
	return err == ERR_RETRY ? ERR_BUSY : err;
}

enum { ERR_UNDO = -1000 }; /* none of those that work returns */

static const struct statement savepoints[] = {
	{ "savepoint", "savepoint w", .scan = "no table" },
	{ "release", "release w", .scan = "no table" },
	{ "undo", "rollback to w", .scan = "no table" },
};

static int savepoint_step(struct db *db, int which)
{
	return db_run(db, &savepoints[which], NULL, NO_ARGS);
}

/* Takes back what a piece that failed has changed.  ERR_UNDO: that takes a savepoint. */
static int undo_work(struct db *db, int64_t changes_before, bool saved)
{
	if (db->engine->changes(db) == changes_before)
		return 0;
	return saved ? savepoint_step(db, 2) : ERR_UNDO;
}

/* Runs the pieces in one transaction.  0: all are decided and their effects wait for the commit.
 * Otherwise the transaction is lost; *ret_culprit is the piece that met the error, if one did. */
static int run_together(struct db *db, struct work *batch, bool saved, struct work **ret_culprit)
{
	int err = db_begin(db, READ_WRITE);

	*ret_culprit = NULL;
	for (struct work *w = batch; w && !err; w = w->next) {
		struct notice *before = db->notices;
		int64_t changes = db->engine->changes(db);

		*ret_culprit = w;
		err = saved ? savepoint_step(db, 0) : 0;
		if (err)
			break;
		w->err = w->run(w, db);
		if (db->engine->lost(db) || is_store_error(w->err) || w->err == ERR_RETRY) {
			err = w->err ? w->err : ERR_STORE;
		} else if (w->err) {
			err = undo_work(db, changes, saved);
			db->notices = before; /* what it would have told never happened */
		}
		if (!err && saved)
			err = savepoint_step(db, 1);
	}
	if (!err)
		*ret_culprit = NULL;
	return err;
}

static struct work *batch_without(struct work *batch, const struct work *culprit)
{
	struct work **at = &batch;

	while (*at && *at != culprit)
		at = &(*at)->next;
	if (*at)
		*at = culprit->next;
	return batch;
}

static void finish_all(struct queue *q, struct work *batch)
{
	while (batch) {
		struct work *w = batch;

		batch = w->next;
		finish_work(q, w, w->err);
	}
}

static void run_one_by_one(struct queue *q, struct db *db, struct work *batch)
{
	while (batch) {
		struct work *w = batch;
		int err;

		batch = w->next;
		err = run_alone(q, db, w);
		queue_complain(q, db, err);
		finish_work(q, w, err);
	}
}

static void run_batch(struct worker *worker, struct work *batch)
{
	struct queue *q = worker->queue;
	struct db *db = worker->db;

	while (batch && batch->next) {
		struct work *culprit;
		int err = run_together(db, batch, worker->caution > 0, &culprit);

		if (!err && !(err = commit_work(db))) {
			worker->caution -= worker->caution > 0;
			count_commit(q);
			finish_all(q, batch);
			return;
		}
		db_rollback(db);
		if (err == ERR_UNDO) {
			worker->caution = CAUTION;
			continue;
		}
		atomic_fetch_add_explicit(&q->retries, 1, memory_order_relaxed);
		if (!culprit) /* the commit itself, or the beginning: let each find out for itself */
			break;
		queue_complain(q, db, err);
		batch = batch_without(batch, culprit);
		finish_work(q, culprit, err == ERR_RETRY ? ERR_BUSY : err);
	}
	run_one_by_one(q, db, batch);
}

static void *writer_main(void *arg)
{
	struct worker *worker = arg;
	struct work *batch;

	while ((batch = take_batch(worker->queue, BATCH_MAX))) {
		run_batch(worker, batch);
		checkpoint_look(worker->queue->checkpointer, worker->db);
		/* Those who wait for this processor may have work for the next commit.  The fewer the
		 * commits, the less is read anew after them. */
		sched_yield();
	}
	return NULL;
}

/* A server that restarts is away for a moment: wait for it a little before giving up. */
static int mend_connection(struct worker *worker)
{
	struct queue *q = worker->queue;
	int err = ERR_STORE;

	for (int tries = 0; err && tries < MEND_TRIES; tries++) {
		if (tries)
			pause_ms(MEND_PAUSE_MS);
		err = q->store->engine->mend(worker->db);
	}
	if (!err)
		atomic_fetch_add_explicit(&q->reconnects, 1, memory_order_relaxed);
	return err;
}

static void *store_pool_main(void *arg)
{
	struct worker *worker = arg;
	struct queue *q = worker->queue;
	struct work *w;

	while ((w = take_batch(q, 1))) {
		int err = run_alone(q, worker->db, w);

		/* A connection that broke before the commit was sent did nothing: once more on a new
		 * one.  After it the outcome is unknown, and only the caller may repeat. */
		if (err == ERR_STORE && q->store->engine->broken(worker->db)) {
			bool again = !worker->db->uncertain;

			queue_complain(q, worker->db, err);
			if (mend_connection(worker))
				health_note(q->store, ERR_STORE, false);
			else if (again)
				err = run_alone(q, worker->db, w);
		}
		queue_complain(q, worker->db, err);
		finish_work(q, w, err);
	}
	return NULL;
}

int queue_start(struct queue *q)
{
	void *(*entry)(void *) = store_is_sqlite(q->store) ? writer_main : store_pool_main;

	if (store_is_sqlite(q->store) && checkpoint_start(q->store, &q->checkpointer))
		return ERR_STORE;
	for (q->started = 0; q->started < q->worker_count; q->started++) {
		struct worker *w = &q->workers[q->started];
		struct arena scratch = { 0 };
		struct problem problem = { 0 };
		int err = store_connect(q->store, &w->db, &scratch, &problem);

		if (err)
			log_error("the store cannot be reached", LOG_S("error", problem.detail));
		else if (store_is_sqlite(q->store)) /* the one whose pages stay good */
			err = q->store->engine->script(
				w->db, "pragma cache_size = -16384; pragma mmap_size = 0");
		if (!err && store_is_sqlite(q->store) && (err = identity_take(q->store, w->db)))
			log_error("the store cannot be served", LOG_S("error", db_error(w->db)));
		arena_free(&scratch);
		w->queue = q;
		if (err || thread_start(&w->thread, entry, w))
			return err ? err : ERR_INTERNAL;
	}
	return 0;
}

void queue_stop(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->stopping = true;
	pthread_cond_broadcast(&q->more);
	pthread_mutex_unlock(&q->lock);
	for (; q->started > 0; q->started--)
		pthread_join(q->workers[q->started - 1].thread, NULL);
	checkpoint_stop(q->checkpointer);
	q->checkpointer = NULL;
}

struct store_stats queue_stats(const struct queue *q)
{
	struct queue *lockable = (struct queue *)q;
	struct store_stats s = {
		.work_done = q->done,
		.work_failed = q->failed,
		.commits = q->commits,
		.retries = q->retries,
		.reconnects = q->reconnects,
	};

	pthread_mutex_lock(&lockable->lock);
	s.queued = q->waiting;
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

	for (int tries = 0; err == ERR_RETRY && tries < TRIES_MAX; tries++) {
		if (tries)
			back_off(tries);
		err = begin_fresh(s, db);
		if (!err)
			err = w->run(w, db);
		if (err == ERR_RETRY || is_store_error(err))
			store_rest(db);
	}
	queue_complain(s->queue, db, err);
	return err == ERR_RETRY ? ERR_BUSY : err;
}

void store_rest(struct db *db)
{
	if (db->in_transaction)
		db_rollback(db);
}
