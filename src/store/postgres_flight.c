/* postgres_flight.c - what goes to the server together, and what it still owes an answer for.
 *
 * A round trip costs more than most statements do, so only those are waited
 * for whose answer somebody wants.  The beginning of a transaction travels
 * with its first statement, changes that nobody asks about with the next that
 * somebody does, or with the commit; and nobody waits for the end of a
 * transaction that only read.  The server runs them in the order in which they
 * were sent, so that nothing is read before it is written.  When one fails
 * that was not waited for, the server skips the rest: the error is met later
 * (db->late), and whoever runs the work runs it again with every statement
 * waited for, to meet it at its place.
 *
 * All that writes takes one lock of the store first.  Writers are thus alone,
 * as on SQLite, whichever process they are of, and none is ever told that it
 * met another; that they wait costs little, because each process puts all of
 * its work that waits into one transaction (work.c).  Being alone they need no
 * snapshot: read committed is as if it were serial. */
#include <string.h>

#include "base/check.h"
#include "store/postgres.h"

/* Answers to these fit into what the sockets hold, so that neither side waits for the other to read. */
enum { OWED_MAX = 64 };

/* Plain text may have been sent in between. */
static int take_off(struct db *db)
{
	PGconn *conn = pg_impl(db)->conn;

	if (pg_impl(db)->gone)
		return db_fail(db, ERR_STORE, "the server has ended the connection");
	if (PQstatus(conn) != CONNECTION_OK ||
		(PQpipelineStatus(conn) == PQ_PIPELINE_OFF && !PQenterPipelineMode(conn)))
		return pg_fail(db, NULL);
	return 0;
}

static int send_one(struct db *db, const struct pg_sent *s)
{
	struct postgres *p = pg_impl(db);
	int ok, err = take_off(db);

	if (err)
		return err;
	ok = s->name ? PQsendQueryPrepared(
			       p->conn, s->name, s->count, s->values, s->lengths, s->binary, 0)
		     : PQsendQueryParams(p->conn, s->text, s->count, NULL, s->values, s->lengths,
			       s->binary, 0);

	if (!ok)
		return pg_fail(db, NULL);
	p->owed++;
	return 0;
}

/* The answer to the oldest statement that is owed one. */
static PGresult *take_answer(struct postgres *p)
{
	PGresult *first = PQgetResult(p->conn), *more;

	while (first && (more = PQgetResult(p->conn)))
		PQclear(more);
	p->owed--;
	return first;
}

static bool is_good(const PGresult *r)
{
	ExecStatusType status = PQresultStatus(r);

	return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

/* One that is asked for its rows may have changed them. */
static void count_changes(struct postgres *p, PGresult *r)
{
	p->changes += strncmp(PQcmdStatus(r), "SELECT", 6) != 0;
}

/* Reads answers until so many are owed.  0, or the first error. */
static int read_owed(struct db *db, int left)
{
	struct postgres *p = pg_impl(db);
	int err = 0;

	while (p->owed > left) {
		PGresult *r = take_answer(p);

		if (!err && !is_good(r))
			err = pg_fail(db, r);
		PQclear(r);
	}
	return err;
}

/* Ends the flight: the server forgets an error, and says so.  One that is told to stop says that instead, when all before
 * it is answered: the connection is of no use then, and what was answered holds. */
static void end_flight(struct db *db)
{
	struct postgres *p = pg_impl(db);
	PGresult *r;

	if (!p->ending && (pg_broken(p) || !PQpipelineSync(p->conn)))
		return;
	p->ending = false;
	while (p->owed > 0)
		PQclear(take_answer(p));
	r = PQgetResult(p->conn);
	p->gone = p->gone || PQresultStatus(r) != PGRES_PIPELINE_SYNC;
	PQclear(r);
}

static int flight_fails(struct db *db, int err, bool late)
{
	struct postgres *p = pg_impl(db);

	p->stuck = p->open;
	db->late = late;
	end_flight(db);
	return err;
}

/* What a transaction that only read has left. */
static int settle(struct db *db)
{
	struct postgres *p = pg_impl(db);

	if (p->ending)
		end_flight(db);
	return take_off(db);
}

/* Each round trip ends its flight, so that the server sees a transaction that rests as one that does, and ends it when it rests too
 * long: somebody may have stopped in the middle of it, with the writers' lock. */
static int ask_for_answers(struct db *db)
{
	struct postgres *p = pg_impl(db);

	if (!PQpipelineSync(p->conn))
		return pg_fail(db, NULL);
	p->ending = true;
	return 0;
}

int flight_add(struct db *db, const struct pg_sent *s)
{
	struct postgres *p = pg_impl(db);

	INVARIANT(p->open);
	if (p->owed >= OWED_MAX) {
		int err = ask_for_answers(db);

		if (!err)
			err = read_owed(db, 0);
		if (err)
			return flight_fails(db, err, true);
		end_flight(db);
	}
	return send_one(db, s);
}

int flight_run(struct db *db, const struct pg_sent *s, bool in_pieces)
{
	struct postgres *p = pg_impl(db);
	int err = p->open ? 0 : settle(db);

	if (!err)
		err = send_one(db, s);
	if (!err)
		err = ask_for_answers(db);
	if (err)
		return err;
	err = read_owed(db, 1);
	if (err)
		return flight_fails(db, err, true);
	p->pieces = in_pieces && p->open;
	if (p->pieces) {
		PQsetSingleRowMode(p->conn);
		return 0;
	}
	PQclear(p->result); /* of a statement that failed, perhaps */
	p->result = take_answer(p);
	if (!is_good(p->result))
		return flight_fails(db, pg_fail(db, p->result), false);
	p->stuck = false; /* only what undoes the failure is taken after one */
	p->rows = PQntuples(p->result);
	count_changes(p, p->result);
	end_flight(db);
	return 0;
}

int flight_piece(struct db *db)
{
	struct postgres *p = pg_impl(db);

	PQclear(p->result);
	p->result = PQgetResult(p->conn);
	p->row = 0;
	if (PQresultStatus(p->result) == PGRES_SINGLE_TUPLE)
		return 1;
	if (is_good(p->result))
		return 0;
	return flight_fails(db, pg_fail(db, p->result), false);
}

void flight_drop_pieces(struct db *db)
{
	struct postgres *p = pg_impl(db);

	end_flight(db);
	p->pieces = false;
}

int flight_prepare(struct db *db, const char *name, const char *sql, PGresult **ret)
{
	struct postgres *p = pg_impl(db);
	int err = p->open ? take_off(db) : settle(db);

	if (err)
		return err;
	if (!PQsendPrepare(p->conn, name, sql, 0, NULL))
		return pg_fail(db, NULL);
	p->owed++;
	if (!PQsendDescribePrepared(p->conn, name))
		return pg_fail(db, NULL);
	p->owed++;
	err = ask_for_answers(db);
	if (err)
		return err;
	err = read_owed(db, 2);
	if (err)
		return flight_fails(db, err, true);
	err = read_owed(db, 1);
	if (err)
		return flight_fails(db, err, false);
	*ret = take_answer(p);
	if (!is_good(*ret)) {
		err = flight_fails(db, pg_fail(db, *ret), false);
		PQclear(*ret);
		*ret = NULL;
	} else {
		end_flight(db);
	}
	return err;
}

int flight_begin(struct db *db, enum transaction mode)
{
	static const char *const begin[] = {
		[READ_ONLY] = "begin isolation level repeatable read, read only",
		[READ_WRITE] = "begin isolation level read committed",
		[STEP_BY_STEP] = "begin isolation level read committed",
	};
	/* Neither is waited for without end: a lock that somebody has, and a process that stopped and has it. */
	static const struct pg_sent alone = {
		.text = "select pg_is_in_recovery() or current_setting('transaction_read_only')::bool, "
			"set_config('lock_timeout', '5s', true), "
			"set_config('idle_in_transaction_session_timeout', '10s', true), "
			"pg_advisory_xact_lock(hashtextextended('lodge.writer.' || current_schema(), 0))"
	};
	/* What pg_connect sets on a session that stays. */
	static const struct pg_sent lent = {
		.text = "select set_config('timezone', 'UTC', true), "
			"set_config('statement_timeout', '60s', true), "
			"set_config('idle_in_transaction_session_timeout', '60s', true), "
			"set_config('synchronous_commit', replace(current_setting('synchronous_commit'), "
			"'off', 'on'), true)"
	};
	struct postgres *p = pg_impl(db);
	int err = settle(db);

	if (err)
		return err;
	db->late = false;
	p->open = true;
	p->stuck = false;
	err = send_one(db, &(struct pg_sent){ .text = begin[mode] });
	if (!err && p->pooled)
		err = send_one(db, &lent);
	if (!err && mode == READ_WRITE) {
		err = flight_run(db, &alone,
			false); /* waited for: it fails for everybody, and for nobody's work */
		if (!err && *PQgetvalue(p->result, 0, 0) == 't') {
			p->gone = true; /* and the next connection is another server's */
			err = db_fail(
				db, ERR_STORE, "the server takes no changes: it is a standby");
		}
		db->late = false;
		if (err)
			flight_rollback(db);
	}
	p->open = !err;
	return err;
}

int flight_commit(struct db *db)
{
	struct postgres *p = pg_impl(db);
	int err = send_one(db, &(struct pg_sent){ .text = "commit" });
	PGresult *r;

	p->unwaited = false;
	if (!err && !PQpipelineSync(p->conn))
		err = pg_fail(db, NULL);
	if (err)
		return err;
	p->ending = true;
	if (db->mode == READ_ONLY) {
		p->open = false;
		return 0;
	}
	err = read_owed(db, 1);
	if (err)
		return flight_fails(db, err, true);
	p->open = false;
	r = take_answer(p);
	/* A failed transaction answers COMMIT with ROLLBACK, and no error. */
	if (!is_good(r))
		err = pg_fail(db, r);
	else if (strcmp(PQcmdStatus(r), "COMMIT") != 0)
		err = db_fail(db, ERR_STORE, "the transaction had failed before its commit");
	else if (
		p->unwaited) { /* of a wait for a standby that was ended: nobody knows who has it */
		p->gone = true;
		err = db_fail(db, ERR_STORE, "the commit is not known to be on every server");
	}
	PQclear(r);
	end_flight(db);
	return err;
}

void flight_rollback(struct db *db)
{
	struct postgres *p = pg_impl(db);

	if (!p->open)
		return;
	p->open = p->stuck = false;
	if (pg_broken(p) || send_one(db, &(struct pg_sent){ .text = "rollback" }) ||
		!PQpipelineSync(p->conn))
		return;
	p->ending = true;
	if (db->mode != READ_ONLY)
		end_flight(db);
}

int flight_leave(struct db *db)
{
	struct postgres *p = pg_impl(db);

	if (PQpipelineStatus(p->conn) == PQ_PIPELINE_OFF)
		return 0;
	end_flight(db);
	return PQexitPipelineMode(p->conn) ? 0 : pg_fail(db, NULL);
}
