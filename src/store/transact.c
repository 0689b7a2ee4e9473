/* transact.c - how work comes to its commit: one piece in a transaction of its own, or many in one.
 *
 * A batch runs in one transaction, commits once, and only then are its pieces
 * done: many writes cost one fsync, and no answer leaves before its commit is
 * on the disk.  Most pieces that fail do so before they have changed anything.
 * One that has, or after which PostgreSQL takes no more statements, takes the
 * others with it: they run again, each in a savepoint and with every statement
 * waited for.  Savepoints cost a copy of every page that is changed on SQLite,
 * and a subtransaction each on PostgreSQL.  A full disk makes SQLite drop the
 * whole transaction; the piece that met it fails and the others run again. */
#include "store/transact.h"

#include <stdatomic.h>
#include <time.h>

#include "base/clock.h"
#include "base/crypto.h"

enum {
	CAUTION = 32,
	BUSY_MS = 15000, /* so long is work run again that meets others */
	MEND_MS =
		1500, /* sooner than those who watch the service are told that the store does not answer */
	MEND_PAUSE_MS = 100
};

bool transact_is_store_error(int err)
{
	return err == ERR_STORE || err == ERR_STORE_FULL;
}

void transact_complain(struct store *s, const struct db *db, int err)
{
	if (transact_is_store_error(err))
		store_complain(s, "the store failed",
			*db_error(db) ? db_error(db) : error_row(err)->title);
}

static void pause_ms(int64_t ms)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

void transact_back_off(int tries)
{
	uint8_t noise;

	random_bytes(&noise, sizeof noise);
	pause_ms((int64_t)(1 + noise % 4) << (tries < 6 ? tries : 6));
}

static void tally(_Atomic uint64_t *count)
{
	atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
}

void transact_finish(struct transactor *t, struct work *w, int err)
{
	if (err == ERR_STORE_FULL || (!err && t->store->fault))
		health_note(t->store, err, w->mode != READ_ONLY);
	tally(err ? &t->tallies->failed : &t->tallies->done);
	w->done(w, err);
}

static void finish_all(struct transactor *t, struct work *batch)
{
	while (batch) {
		struct work *w = batch;

		batch = w->next;
		transact_finish(t, w, w->err);
	}
}

/* Nothing is acknowledged that went into a file which is not the store's any more. */
static int commit_work(struct db *db)
{
	int err = db_commit(db);

	if (!err && !identity_holds(db->store))
		err = db_fail(db, ERR_STORE, "its file was changed while it was served");
	return err;
}

/* A server that restarts is away for a moment: wait for it a little before giving up. */
static int mend_connection(struct transactor *t)
{
	/* One that is known to be away is tried, and not waited for. */
	int64_t end = clock_mono_ms() + (t->store->fault == ERR_STORE ? 0 : MEND_MS);
	int err = t->store->engine->mend(t->db);

	while (err && clock_mono_ms() < end) {
		pause_ms(MEND_PAUSE_MS);
		err = t->store->engine->mend(t->db);
	}
	if (err)
		health_note(t->store, ERR_STORE, false);
	else
		tally(&t->tallies->reconnects);
	return err;
}

/* Of work that ended with an error of the store's: was it for a connection that is whole again, and that had
 * broken before the commit was sent, so that nothing was done?  After it the outcome is unknown, and only
 * the caller may repeat. */
static bool mended(struct transactor *t, int err)
{
	bool again = !t->db->uncertain;

	if (err != ERR_STORE || !t->store->engine->broken || !t->store->engine->broken(t->db))
		return false;
	transact_complain(t->store, t->db, err);
	return !mend_connection(t) && again;
}

static int try_once(struct db *db, struct work *w, bool eager)
{
	int err;

	db->eager = eager;
	err = db_begin(db, w->mode);
	if (err)
		return err;
	err = w->run(w, db);
	if (err)
		db_rollback(db);
	else
		err = commit_work(db);
	return err;
}

/* Again while the store asks for it, for as long as somebody may be waiting; with every statement waited
 * for, once one has failed that was not; and once on a new connection. */
static int run_alone(struct transactor *t, struct work *w)
{
	int64_t end = clock_mono_ms() + BUSY_MS;
	bool eager = false, fresh = false;
	int err;

	for (int tries = 1;; tries++) {
		t->db->uncertain = t->db->late = false;
		err = try_once(t->db, w, eager);
		if (err == ERR_RETRY) {
			if (clock_mono_ms() >= end)
				break;
			tally(&t->tallies->retries);
			transact_back_off(tries);
		} else if (!fresh && mended(t, err)) {
			fresh = true;
		} else if (err && t->db->late && !eager) {
			eager = true;
		} else {
			break;
		}
	}
	if (!err && w->mode != READ_ONLY)
		tally(&t->tallies->commits);
	return err == ERR_RETRY ? ERR_BUSY : err;
}

void transact_one(struct transactor *t, struct work *w)
{
	int err = run_alone(t, w);

	transact_complain(t->store, t->db, err);
	transact_finish(t, w, err);
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

static bool is_stuck(struct db *db)
{
	return db->engine->stuck && db->engine->stuck(db);
}

/* Takes back what a piece that failed has changed.  ERR_UNDO: that takes a savepoint. */
static int undo_work(struct db *db, int64_t changes_before, bool saved)
{
	if (!is_stuck(db) && db->engine->changes(db) == changes_before)
		return 0;
	return saved ? savepoint_step(db, 2) : ERR_UNDO;
}

/* Runs the pieces in one transaction.  0: all are decided and their effects wait for the commit.
 * Otherwise the transaction is lost; *ret_culprit is the piece that met the error, if one did. */
static int run_together(struct db *db, struct work *batch, bool saved, struct work **ret_culprit)
{
	int err;

	db->eager = saved;
	*ret_culprit = NULL;
	err = db_begin(db, READ_WRITE);
	for (struct work *w = batch; w && !err; w = w->next) {
		struct notice *before = db->notices;
		int64_t changes = db->engine->changes(db);

		*ret_culprit = w;
		err = saved ? savepoint_step(db, 0) : 0;
		if (err)
			break;
		w->err = w->run(w, db);
		if (w->err && w->err != ERR_RETRY && db->late && !saved && !db->engine->lost(db)) {
			err = ERR_UNDO;
		} else if (db->engine->lost(db) || transact_is_store_error(w->err) ||
			   w->err == ERR_RETRY) {
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

static void run_one_by_one(struct transactor *t, struct work *batch)
{
	while (batch) {
		struct work *w = batch;

		batch = w->next;
		transact_one(t, w);
	}
}

static void fail_all(struct transactor *t, struct work *batch, int err)
{
	for (struct work *w = batch; w; w = w->next)
		w->err = err;
	finish_all(t, batch);
}

void transact_batch(struct transactor *t, struct work *batch)
{
	int64_t end = clock_mono_ms() + BUSY_MS;

	while (batch && batch->next) {
		struct work *culprit;
		int err;

		t->db->uncertain = t->db->late = false;
		err = run_together(t->db, batch, t->caution > 0, &culprit);
		if (!err && !(err = commit_work(t->db))) {
			t->caution -= t->caution > 0;
			tally(&t->tallies->commits);
			finish_all(t, batch);
			return;
		}
		db_rollback(t->db);
		if (t->db->uncertain && t->store->engine->broken(t->db)) {
			mended(t, err);
			fail_all(t, batch, err);
			return;
		}
		if (err == ERR_UNDO || (t->db->late && err != ERR_RETRY && !t->caution)) {
			t->caution = CAUTION;
			continue;
		}
		tally(&t->tallies->retries);
		if (err == ERR_RETRY && !culprit && clock_mono_ms() < end)
			continue; /* another process writes */
		if (err == ERR_RETRY && !culprit) {
			fail_all(t, batch, ERR_BUSY);
			return;
		}
		/* The commit itself, or the beginning, or what another transaction did: let each find out for itself. */
		if (!culprit || err == ERR_RETRY || mended(t, err))
			break;
		transact_complain(t->store, t->db, err);
		batch = batch_without(batch, culprit);
		transact_finish(t, culprit, err);
	}
	run_one_by_one(t, batch);
}
