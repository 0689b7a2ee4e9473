/* reads.c - see reads.h.
 *
 * Work is a function that asks one statement after the other.  Here it is not
 * made to wait for an answer: the statement is sent, the function hears
 * ERR_RETRY and ends, and when the answer has come it is run again from its
 * beginning, with the answers that it has had so far, up to the next that is
 * missing.  That it may be run more than once is what is asked of all work.
 * What a function does before its second statement is little, and is done
 * twice; a thread and a stack that wait for each answer cost far more, and so
 * would an answer that wakes somebody: here one message from the server brings
 * the answers of all who wait.
 *
 * All that waits when a batch begins is run in one transaction, with one view
 * that is taken then, so that whoever has changed something reads it; what
 * comes later waits for the next.  So one that is slow would hold up all: it
 * is given a quarter of a second, and is then known as slow and asked by
 * others for a while.  Nobody says begin or commit: what is sent
 * up to a sync is a transaction.  Only the server can fail here: then what is
 * not done is handed to the store, whose threads find out what is to be said.
 * So is what asks for more than a few answers, or for rows one by one. */
#include "store/reads.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/memory.h"
#include "store/postgres.h"
#include "store/transact.h"

enum {
	LANES = 64,
	ANSWERS_MAX = 24,
	OWED_RING = 1024, /* a batch owes two answers a lane at most, and its end */
	MEND_EVERY_MS = 500,
	SILENT_MS = 6000,    /* an answer that has not come by then never will */
	SLOW_MAX = 32,	     /* statements known to be slow */
	SLOW_MS = 10 * 60000 /* for so long */
};

/* A piece of work and the answers that it has had. */
struct read_lane {
	struct work *work; /* NULL: it is over */
	const struct statement *asked[ANSWERS_MAX];
	PGresult *answers[ANSWERS_MAX];
	int answered, used;
	bool awaits; /* it has asked for something in this run */
	bool answered_now;
	bool unfit; /* it is not for here */
	/* A statement that the server is told for the first time. */
	const struct statement *told;
	char name[16];
	PGresult *form;
};

/* What the server owes an answer for, in its order. */
struct owed_answer {
	enum { OWED_NOTHING, OWED_ROWS, OWED_FORM, OWED_END } what;
	struct read_lane *lane;
	PGresult *result;
};

enum reads_state { READS_GOOD, READS_AWAY, READS_MENDED };

struct reads {
	struct transactor self;
	struct work *first, **last;
	size_t waiting;
	struct read_lane lanes[LANES];
	int lane_count, open;	   /* of the batch, and those that are not over */
	struct read_lane *current; /* whose function runs */
	struct owed_answer ring[OWED_RING];
	unsigned head, tail;
	bool in_batch, sent, writes;
	bool asked;	  /* something in this batch */
	bool failed;	  /* the transaction; the rest of the batch is not for here */
	bool broken;	  /* the connection */
	int64_t mend_ms;  /* when to try next, while it is away */
	int64_t heard_ms; /* when something was last heard, or asked for after a rest */
	struct {
		const struct statement *st;
		int64_t until_ms;
	} slow[SLOW_MAX];
	_Atomic int state;
	uint64_t connection;
	struct work mending;
	sem_t mended;
};

static PGconn *reads_conn(const struct reads *r)
{
	return pg_impl(r->self.db)->conn;
}

/* ---- what is owed ---- */

static void owe(struct reads *r, int what, struct read_lane *lane)
{
	INVARIANT(r->tail - r->head < OWED_RING);
	if (r->head == r->tail)
		r->heard_ms = clock_mono_ms();
	r->ring[r->tail++ % OWED_RING] =
		(struct owed_answer){ .what = (unsigned)what, .lane = lane };
}

static void reads_send(struct reads *r, int ok, int what, struct read_lane *lane)
{
	if (!ok) {
		r->broken = true;
		return;
	}
	owe(r, what, lane);
	r->sent = r->asked = true;
}

/* The server answers what it was sent when it is told that this is all for now. */
static void end_sending(struct reads *r)
{
	int left;

	if (r->sent && !PQsendFlushRequest(reads_conn(r)))
		r->broken = true;
	r->sent = false;
	left = PQflush(reads_conn(r));
	r->broken = r->broken || left < 0;
	r->writes = left > 0;
}

/* ---- the lanes ---- */

static void lane_clear(struct read_lane *l)
{
	for (int i = 0; i < l->answered; i++)
		PQclear(l->answers[i]);
	PQclear(l->form);
	*l = (struct read_lane){ 0 };
}

static void lane_over(struct reads *r, struct read_lane *l)
{
	for (unsigned i = r->head; l->awaits && i != r->tail; i++)
		if (r->ring[i % OWED_RING].lane == l)
			r->ring[i % OWED_RING].lane = NULL;
	lane_clear(l);
	INVARIANT(r->open > 0);
	r->open--;
}

/* To the store's own threads, which know what to do about it. */
static void hand_over(struct reads *r, struct read_lane *l)
{
	struct work *w = l->work;
	int err;

	lane_over(r, l);
	err = store_submit(r->self.store, w);
	if (err)
		w->done(w, err);
}

static void lane_run(struct reads *r, struct read_lane *l)
{
	struct db *db = r->self.db;
	struct work *w = l->work;
	int err;

	r->current = l;
	l->used = 0;
	l->awaits = l->answered_now = false;
	db->in_transaction = true;
	db->mode = READ_ONLY;
	db->version = NIL;
	err = w->run(w, db);
	db->in_transaction = false;
	pg_impl(db)->result = NULL; /* the lane's */
	pg_impl(db)->borrowed = false;
	r->current = NULL;
	if (l->unfit || (!l->awaits && (err == ERR_RETRY || transact_is_store_error(err)))) {
		hand_over(r, l);
	} else if (!l->awaits) {
		lane_over(r, l);
		transact_finish(&r->self, w, err);
	}
}

static bool lane_may_ask(struct reads *r, struct read_lane *l)
{
	if (l->awaits || l->unfit)
		return false;
	l->unfit = l->answered == ANSWERS_MAX || r->failed || r->broken;
	return !l->unfit;
}

static bool is_slow(const struct reads *r, const struct statement *st)
{
	for (size_t i = 0; i < SLOW_MAX; i++)
		if (r->slow[i].st == st)
			return clock_mono_ms() < r->slow[i].until_ms;
	return false;
}

/* In the place of the one that is forgotten soonest. */
static void note_slow(struct reads *r, const struct statement *st)
{
	size_t at = 0;

	for (size_t i = 0; i < SLOW_MAX; i++) {
		if (r->slow[i].st == st) {
			at = i;
			break;
		}
		if (r->slow[i].until_ms < r->slow[at].until_ms)
			at = i;
	}
	r->slow[at].st = st;
	r->slow[at].until_ms = clock_mono_ms() + SLOW_MS;
}

int reads_run(struct reads *r, const struct prepared *st, const struct pg_sent *s, bool plain)
{
	struct read_lane *l = r->current;
	struct postgres *p = pg_impl(r->self.db);

	if (l->used < l->answered && l->asked[l->used] == st->st) {
		p->result = l->answers[l->used++];
		p->rows = PQntuples(p->result);
		return 0;
	}
	/* Rows one by one are not for here, nor what asks for something else than the last time. */
	if (l->used < l->answered || !plain || is_slow(r, st->st))
		l->unfit = true;
	if (!lane_may_ask(r, l))
		return ERR_RETRY;
	l->asked[l->answered] = st->st;
	l->awaits = true;
	reads_send(r,
		PQsendQueryPrepared(
			reads_conn(r), s->name, s->count, s->values, s->lengths, s->binary, 0),
		OWED_ROWS, l);
	return ERR_RETRY;
}

int reads_prepare(struct reads *r, struct prepared *st, const char *sql, PGresult **ret)
{
	struct read_lane *l = r->current;
	struct postgres *p = pg_impl(r->self.db);
	int ok;

	if (l->form && l->told == st->st) {
		st->handle = pg_statement_new(p, l->name, sql);
		*ret = l->form;
		return 0;
	}
	if (!lane_may_ask(r, l))
		return ERR_RETRY;
	PQclear(l->form);
	l->form = NULL;
	l->told = st->st;
	l->awaits = true;
	snprintf(l->name, sizeof l->name, "s%u", ++p->prepared);
	ok = PQsendPrepare(reads_conn(r), l->name, sql, 0, NULL);
	reads_send(r, ok, OWED_NOTHING, NULL);
	reads_send(r, ok && PQsendDescribePrepared(reads_conn(r), l->name), OWED_FORM, l);
	return ERR_RETRY;
}

/* ---- batches ---- */

static void begin_batch(struct reads *r)
{
	r->in_batch = true;
	r->asked = false;
	r->lane_count = 0;
	while (r->first && r->lane_count < LANES) {
		struct read_lane *l = &r->lanes[r->lane_count++];

		l->work = r->first;
		r->first = l->work->next;
		l->work->next = NULL;
		r->waiting--;
		r->open++;
	}
	if (!r->first)
		r->last = &r->first;
	for (int i = 0; i < r->lane_count; i++)
		lane_run(r, &r->lanes[i]);
}

/* With it the server ends the transaction, whether or not it had failed. */
static void end_batch(struct reads *r)
{
	INVARIANT(!r->open);
	if (r->asked) /* those who are strangers are refused without a question */
		reads_send(r, PQpipelineSync(reads_conn(r)), OWED_END, NULL);
	r->in_batch = r->failed = false;
}

/* Somebody's statement has failed, and with it the transaction: none of the others is answered. */
static void give_up_batch(struct reads *r)
{
	for (int i = 0; i < r->lane_count; i++)
		if (r->lanes[i].work)
			hand_over(r, &r->lanes[i]);
}

/* ---- a connection that broke ---- */

static int reads_set_up(struct reads *r)
{
	/* What takes longer is asked for by the store's threads, and nobody waits for it here. */
	static const char set_up[] = "set statement_timeout = '250ms';"
				     "set default_transaction_isolation = 'repeatable read';"
				     "set default_transaction_read_only = on";
	struct postgres *p = pg_impl(r->self.db);

	p->reads = r;
	if (pg_simple(r->self.db, set_up) || PQsetnonblocking(p->conn, 1) ||
		!PQenterPipelineMode(p->conn))
		return ERR_STORE;
	return 0;
}

static int mend_reads(struct work *w, struct db *db)
{
	struct reads *r = (struct reads *)((char *)w - offsetof(struct reads, mending));
	struct arena scratch = { 0 };
	struct problem p = { 0 };
	int err;

	(void)db;
	if (!r->self.db) {
		err = store_connect(r->self.store, &r->self.db, &scratch, &p);
	} else {
		pg_impl(r->self.db)->gone = true;
		err = r->self.store->engine->mend(r->self.db);
	}
	arena_free(&scratch);
	return err ? err : reads_set_up(r);
}

static void reads_mended(struct work *w, int err)
{
	struct reads *r = (struct reads *)((char *)w - offsetof(struct reads, mending));

	atomic_store(&r->state, err ? READS_AWAY : READS_MENDED);
	sem_post(&r->mended);
}

static void forget_owed(struct reads *r)
{
	for (; r->head != r->tail; r->head++) {
		PQclear(r->ring[r->head % OWED_RING].result);
		r->ring[r->head % OWED_RING].result = NULL;
	}
	r->in_batch = r->sent = r->writes = r->failed = r->broken = false;
}

/* Until it is whole again everything is the store's matter. */
static void reads_broke(struct reads *r)
{
	int err;

	forget_owed(r);
	give_up_batch(r);
	while (r->first) {
		struct work *w = r->first;

		r->first = w->next;
		r->waiting--;
		err = store_submit(r->self.store, w);
		if (err)
			w->done(w, err);
	}
	r->last = &r->first;
	atomic_store(&r->state, READS_AWAY);
}

/* One attempt at a time, and none that anybody waits for. */
static void ask_for_mending(struct reads *r)
{
	if (clock_mono_ms() < r->mend_ms || sem_trywait(&r->mended))
		return;
	r->mend_ms = clock_mono_ms() + MEND_EVERY_MS;
	r->mending = (struct work){ .run = mend_reads, .done = reads_mended, .mode = READ_ONLY };
	if (store_submit(r->self.store, &r->mending))
		sem_post(&r->mended);
}

static bool reads_usable(struct reads *r)
{
	int state = atomic_load(&r->state);

	if (state == READS_MENDED) {
		r->connection++;
		state = READS_GOOD;
		atomic_store(&r->state, state);
	}
	return state == READS_GOOD;
}

/* ---- answers ---- */

static void lane_take(struct reads *r, struct owed_answer *o)
{
	ExecStatusType status = PQresultStatus(o->result);
	struct read_lane *l = o->lane;

	if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
		const char *state = PQresultErrorField(o->result, PG_DIAG_SQLSTATE);

		if (l && l->work && o->what == OWED_ROWS && state && strcmp(state, "57014") == 0)
			note_slow(r, l->asked[l->answered]); /* query_canceled */
		/* What was sent after one that failed is nobody's any more. */
		r->failed = r->failed || l || status != PGRES_PIPELINE_ABORTED;
		PQclear(o->result);
	} else if (l && l->work && o->what == OWED_ROWS) {
		l->answers[l->answered++] = o->result;
		l->answered_now = true;
	} else if (l && l->work && o->what == OWED_FORM) {
		l->form = o->result;
		l->answered_now = true;
	} else {
		PQclear(o->result);
	}
	o->result = NULL;
}

/* Takes what has come.  False if the connection is of no use any more. */
static bool take_answers(struct reads *r)
{
	PGconn *conn = reads_conn(r);

	if (!PQconsumeInput(conn))
		return false;
	r->heard_ms = clock_mono_ms();
	while (r->head != r->tail && !PQisBusy(conn)) {
		struct owed_answer *o = &r->ring[r->head % OWED_RING];
		PGresult *result = PQgetResult(conn);

		if (o->what == OWED_END) {
			bool good = PQresultStatus(result) == PGRES_PIPELINE_SYNC;

			PQclear(result);
			if (!good)
				return false;
			r->head++;
		} else if (result) {
			PQclear(o->result);
			o->result = result;
		} else if (o->result) {
			lane_take(r, o);
			r->head++;
		} else {
			return false;
		}
	}
	return PQstatus(conn) == CONNECTION_OK;
}

static void run_answered(struct reads *r)
{
	if (r->failed)
		give_up_batch(r);
	for (int i = 0; i < r->lane_count; i++)
		if (r->lanes[i].work && r->lanes[i].answered_now)
			lane_run(r, &r->lanes[i]);
}

static bool is_silent(const struct reads *r)
{
	return r->head != r->tail && clock_mono_ms() - r->heard_ms > SILENT_MS;
}

void reads_turn(struct reads *r, bool readable)
{
	if (!reads_usable(r)) {
		ask_for_mending(r);
		return;
	}
	/* A server that says goodbye does so when it owes nothing, too. */
	if ((readable && !take_answers(r)) || is_silent(r)) {
		reads_broke(r);
		return;
	}
	if (r->in_batch)
		run_answered(r);
	do {
		if (r->in_batch && !r->open)
			end_batch(r);
		if (!r->in_batch && r->first && r->tail - r->head < OWED_RING / 2)
			begin_batch(r);
	} while (r->in_batch && !r->open); /* all of them were done without a question */
	end_sending(r);
	if (r->broken)
		reads_broke(r);
}

/* ---- life ---- */

struct reads *reads_new(struct store *s)
{
	struct reads *r;

	if (store_is_sqlite(s))
		return NULL;
	r = memory_zeroed(sizeof *r);
	r->self.store = s;
	r->self.tallies = store_tallies(s);
	r->last = &r->first;
	sem_init(&r->mended, 0, 1);
	/* One that cannot be made now is made later, like one that broke. */
	r->state = mend_reads(&r->mending, NULL) ? READS_AWAY : READS_GOOD;
	return r;
}

void reads_free(struct reads *r)
{
	if (!r)
		return;
	sem_wait(&r->mended); /* nobody is at it */
	for (int i = 0; i < r->lane_count; i++) {
		struct work *w = r->lanes[i].work;

		if (w) {
			lane_over(r, &r->lanes[i]);
			w->done(w, ERR_STOPPING);
		}
	}
	while (r->first) {
		struct work *w = r->first;

		r->first = w->next;
		w->done(w, ERR_STOPPING);
	}
	forget_owed(r);
	db_close(r->self.db);
	sem_destroy(&r->mended);
	free(r);
}

bool reads_await(const struct reads *r)
{
	return r->state != READS_GOOD || r->head != r->tail;
}

bool reads_take(struct reads *r, struct work *w)
{
	if (!reads_usable(r) || r->self.store->shut ||
		r->waiting >= r->self.store->settings.queue_max)
		return false;
	INVARIANT(w->mode == READ_ONLY && w->run && w->done);
	w->next = NULL;
	w->err = 0;
	*r->last = w;
	r->last = &w->next;
	r->waiting++;
	return true;
}

struct reads_watch reads_watch(const struct reads *r)
{
	bool good = r->state == READS_GOOD;

	return (struct reads_watch){
		.fd = good ? PQsocket(reads_conn(r)) : -1,
		.write = r->writes,
		.connection = r->connection,
	};
}
