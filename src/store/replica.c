/* replica.c - reads that may be a little old, on a standby.
 *
 * Where the store has an address of a replica, work that allows it is handed
 * to threads with connections of their own there, beside the line of the
 * primary's work.  How old the replica is, is known without trusting its clock
 * or waiting for anybody to write: once a second the primary is asked how far
 * its log has come (replica_sample), and a replica that has replayed the log
 * up to such a mark has all that was committed when the mark was made.  One
 * that has not replayed a mark of the last STALE_MAX_MS is not asked; nor is
 * one that is no standby, because nobody knows then whose log it has.
 *
 * Whatever goes wrong here, done() is told ERR_STORE and the caller asks the
 * primary: a replica can make nothing fail. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "store/engine.h"

enum { MARKS = 16, REPLICA_THREADS = 2, REPLICA_WAITING_MAX = 64, TRY_EVERY_MS = 1000 };

struct mark {
	int64_t at;	  /* monotonic milliseconds, before the primary was asked */
	int64_t position; /* of its log */
};

struct replica_reader {
	struct replica *replica;
	struct db *db; /* NULL: not connected */
	pthread_t thread;
};

struct replica {
	struct store *store;
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct work *first, **last;
	size_t waiting;
	struct mark marks[MARKS];
	size_t marked; /* so many were made; the last MARKS are kept */
	bool stopping;
	struct replica_reader readers[REPLICA_THREADS];
	int started;
	_Atomic bool ready;
	_Atomic uint64_t done;
	struct work look; /* see replica_watch */
	_Atomic bool looking;
	int64_t looked; /* the watcher's own */
};

static const struct statement sql[] = {
	{ "replica_mark", "select 0", .postgres = "select (pg_current_wal_lsn() - '0/0')::bigint",
		.scan = "no table" },
	{ "replica_replayed", "select 0",
		.postgres = "select case when pg_is_in_recovery() "
			    "then (pg_last_wal_replay_lsn() - '0/0')::bigint else -1 end",
		.scan = "no table" },
};
STATEMENT_SET(replica_sql, sql);

int replica_sample(struct db *db)
{
	struct replica *r = db->store->replica;
	struct mark m = { .at = clock_mono_ms() };
	int err = db_int(db, &sql[0], &m.position, NO_ARGS);

	if (err)
		return err;
	pthread_mutex_lock(&r->lock);
	r->marks[r->marked++ % MARKS] = m;
	pthread_mutex_unlock(&r->lock);
	return 0;
}

/* Has it, replayed so far, all that was committed at some moment that is recent enough? */
static bool is_recent(struct replica *r, int64_t replayed)
{
	int64_t oldest = clock_mono_ms() - STALE_MAX_MS;
	bool recent = false;

	pthread_mutex_lock(&r->lock);
	for (size_t i = 0; i < MARKS && i < r->marked; i++)
		recent = recent || (r->marks[i].at >= oldest && r->marks[i].position <= replayed);
	pthread_mutex_unlock(&r->lock);
	return recent;
}

static int reader_connect(struct replica_reader *reader)
{
	struct arena scratch = { 0 };
	struct problem p = { 0 };
	int err = reader->db ? reader->db->engine->mend(reader->db)
			     : store_connect_way(reader->replica->store, WAY_REPLICA, &reader->db,
				       &scratch, &p);

	if (err)
		store_complain(reader->replica->store, "the replica cannot be reached",
			reader->db ? db_error(reader->db) : p.detail);
	arena_free(&scratch);
	return err;
}

/* In one transaction; the look at how far it is comes before, and so claims less than is there. */
static int run_on_replica(struct replica_reader *reader, struct work *w)
{
	int64_t replayed = -1;
	int err = reader_connect(reader);

	if (!err)
		err = db_int(reader->db, &sql[1], &replayed, NO_ARGS);
	if (!err && !is_recent(reader->replica, replayed))
		err = ERR_STORE;
	if (!err)
		err = db_begin(reader->db, READ_ONLY);
	if (err)
		return err;
	err = w->run(w, reader->db);
	if (err)
		db_rollback(reader->db);
	else
		err = db_commit(reader->db);
	return err;
}

static struct work *take_stale(struct replica *r)
{
	struct work *w;

	pthread_mutex_lock(&r->lock);
	while (!r->first && !r->stopping)
		pthread_cond_wait(&r->more, &r->lock);
	w = r->first;
	if (w) {
		r->first = w->next;
		r->waiting--;
		if (!r->first)
			r->last = &r->first;
	}
	pthread_mutex_unlock(&r->lock);
	return w;
}

static void *replica_main(void *arg)
{
	struct replica_reader *reader = arg;
	struct replica *r = reader->replica;
	struct work *w;

	while ((w = take_stale(r))) {
		int err = run_on_replica(reader, w);

		/* Work that fails by itself says nothing about the replica. */
		if (err == ERR_STORE || w == &r->look)
			atomic_store(&r->ready, !err);
		if (!err && w != &r->look)
			atomic_fetch_add(&r->done, 1);
		w->done(w, err);
	}
	return NULL;
}

bool store_replica_ready(const struct store *s)
{
	return s->replica && atomic_load(&s->replica->ready);
}

static int submit_to_replica(struct replica *r, struct work *w)
{
	int err = 0;

	w->next = NULL;
	pthread_mutex_lock(&r->lock);
	if (r->stopping || r->waiting >= REPLICA_WAITING_MAX) {
		err = ERR_BUSY;
	} else {
		*r->last = w;
		r->last = &w->next;
		r->waiting++;
		pthread_cond_signal(&r->more);
	}
	pthread_mutex_unlock(&r->lock);
	return err;
}

int store_submit_stale(struct store *s, struct work *w)
{
	return store_replica_ready(s) ? submit_to_replica(s->replica, w) : ERR_BUSY;
}

uint64_t store_replica_reads(const struct store *s)
{
	return s->replica ? atomic_load(&s->replica->done) : 0;
}

static int look_run(struct work *w, struct db *db)
{
	(void)w;
	(void)db;
	return 0;
}

static void look_done(struct work *w, int err)
{
	struct replica *r = (struct replica *)((char *)w - offsetof(struct replica, look));

	(void)err;
	atomic_store(&r->looking, false);
}

void replica_watch(struct store *s)
{
	struct replica *r = s->replica;
	int64_t now = clock_mono_ms();

	if (!r || now - r->looked < TRY_EVERY_MS || atomic_exchange(&r->looking, true))
		return;
	r->looked = now;
	r->look = (struct work){ .run = look_run, .done = look_done, .mode = READ_ONLY };
	if (submit_to_replica(r, &r->look))
		atomic_store(&r->looking, false);
}

int replica_start(struct store *s)
{
	struct replica *r;

	if (store_is_sqlite(s) || !s->settings.replica)
		return 0;
	r = calloc(1, sizeof *r);
	if (!r)
		abort();
	r->store = s;
	r->last = &r->first;
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->more, NULL);
	s->replica = r;
	for (; r->started < REPLICA_THREADS; r->started++) {
		struct replica_reader *reader = &r->readers[r->started];

		reader->replica = r;
		if (thread_start(&reader->thread, replica_main, reader))
			return ERR_INTERNAL;
	}
	return 0;
}

void replica_stop(struct store *s)
{
	struct replica *r = s->replica;

	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	r->stopping = true;
	pthread_cond_broadcast(&r->more);
	pthread_mutex_unlock(&r->lock);
	for (; r->started > 0; r->started--)
		pthread_join(r->readers[r->started - 1].thread, NULL);
}

void replica_free(struct store *s)
{
	struct replica *r = s->replica;

	if (!r)
		return;
	for (int i = 0; i < REPLICA_THREADS; i++)
		db_close(r->readers[i].db);
	pthread_cond_destroy(&r->more);
	pthread_mutex_destroy(&r->lock);
	free(r);
	s->replica = NULL;
}
