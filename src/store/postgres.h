/* postgres.h - one connection to PostgreSQL, as postgres.c, postgres_connect.c and postgres_flight.c share it. */
#pragma once
#include <libpq-fe.h>

#include "base/buf.h"
#include "store/engine.h"
#include "store/postgres_memo.h"

struct postgres {
	PGconn *conn;
	PGresult *result; /* of the statement under way */
	int row, rows;
	bool pieces;	   /* its rows come one by one */
	unsigned prepared; /* names given so far */
	char *where;
	unsigned hosts, turn; /* how many it names, and with which of them to begin */
	bool pooled;	      /* the session is lent for a transaction: nothing stays on it */
	/* See postgres_flight.c. */
	int owed;      /* statements sent whose answers nobody has read */
	bool ending;   /* after them the server was asked to end the flight */
	bool gone;     /* it broke, though libpq may not have seen the end of it yet */
	bool open;     /* a transaction was begun */
	bool stuck;    /* and the server takes no more for it */
	bool unwaited; /* a commit did not wait for a standby to the end, since this was last false */
	int64_t changes; /* so often was something done, or may have been: a notice counts too */
	struct reads *reads; /* whose connection it is, or NULL */
	struct memo *memo;   /* NULL: nothing is remembered */
	bool borrowed;	     /* the result is somebody else's */
	struct buf loaded;   /* rows on their way into a table; see postgres_load.c */
};

static inline struct postgres *pg_impl(struct db *db)
{
	return db->impl;
}

static inline bool pg_broken(const struct postgres *p)
{
	return p->gone || PQstatus(p->conn) != CONNECTION_OK;
}

/* What is kept of a statement that the server was told. */
struct pg_statement {
	struct statement_sense sense;
	char name[];
};
struct pg_statement *pg_statement_new(const struct postgres *p, const char *name, const char *sql);

/* A statement as it is sent: its name, or else its text. */
struct pg_sent {
	const char *name, *text;
	int count;
	const char *const *values;
	const int *lengths, *binary;
};

/* Connects by p->where, and leaves nothing that is not set up. */
int pg_connect(struct db *db);

/* SQLSTATE in our words; NULL: what the connection itself says. */
int pg_fail(struct db *db, PGresult *result);
/* Text without arguments, outside of any flight. */
int pg_simple(struct db *db, const char *sql);

/* Sends it and waits for its answer, which is then p->result; what was owed before is read first. */
int flight_run(struct db *db, const struct pg_sent *s, bool in_pieces);
/* Sends it with what comes next.  That it failed is said then, with db->late. */
int flight_add(struct db *db, const struct pg_sent *s);
/* The next row of a statement whose rows come one by one: 1, or 0 at their end. */
int flight_piece(struct db *db);
/* Reads what is left of such a statement. */
void flight_drop_pieces(struct db *db);
int flight_prepare(struct db *db, const char *name, const char *sql, PGresult **ret);
int flight_begin(struct db *db, enum transaction mode);
int flight_commit(struct db *db);
void flight_rollback(struct db *db);
/* The connection takes plain text again. */
int flight_leave(struct db *db);

/* reads.c: the same for work that is run there.  ERR_RETRY: when the answer has come. */
struct reads;
int reads_run(struct reads *r, const struct prepared *st, const struct pg_sent *s, bool plain);
int reads_prepare(struct reads *r, struct prepared *st, const char *sql, PGresult **ret);

int pg_load_begin(struct db *db, const char *sql);
int pg_load_row(struct db *db, const struct value *row, size_t count);
int pg_load_end(struct db *db, bool given_up);
