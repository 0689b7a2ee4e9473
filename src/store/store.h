/* store.h - one store on two engines: statements as data, transactions, and threads that run work.
 *
 * SQL is written once, in the dialect both engines share, as rows of
 * statements; the few that differ carry an override.  Rows come and go
 * through the same field tables as JSON.  Whoever has work for the store
 * hands over a struct work: on SQLite writes go to one writer that shares a
 * commit among many, on PostgreSQL all work goes to a pool of connections.
 * This room knows no tenant, no request and no permission. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "contract/schema.h"

/* In the text:
 *
 *   $1, $2 ..    arguments by number, for up to four or so: ARGS(T(tenant_id), T(id))
 *   :name        a member of the struct that is given instead, by its schema: `args`, or else `row`;
 *                db_put(db, st, &row), or BY_NAME(type, &args) where ARGS() would stand
 *   {*}, {x.*}   the columns of `row`, the second after an alias
 *   {$}, {=}     a place for each column; an assignment to each that is no key (id, tenant_id)
 *   {limit}, {offset}, {after}, {before}    what a page asks for: db_page() brings it along
 *
 * An insert of more than four values is "insert into t ({*}) values ({$})" with a row; what the row does not
 * have is written out: "({*}, status) values ({$}, 'new')".  A statement has numbers or names, not
 * both.  Names are looked up when it is prepared.  One that the schema does not have, or that cannot be bound (a
 * NUMBER, an OBJECT), is refused then, and before: statement_fault() is asked at every start.  A null where
 * the field is not .nullable is refused when it is run. */
struct statement {
	const char *name;
	const char *sql;
	const char *postgres; /* replaces sql there, or NULL */
	const struct schema *row;
	const struct schema *args; /* of what names are members of; NULL: of `row` */
	const char *scan;	   /* why it may read a whole table, or NULL */
	const char *across;	   /* why it names no tenant, or NULL */
};

struct statement_set {
	const char *name;
	const struct statement *list;
	size_t count;
};

#define STATEMENT_SET(id, array) \
	const struct statement_set id = { #id, array, sizeof(array) / sizeof *(array) }

struct value {
	enum { VALUE_NULL, VALUE_INT, VALUE_TEXT, VALUE_BYTES, VALUE_ROW } kind;
	int64_t n;
	const char *text; /* or bytes, or a struct */
	size_t len;
	const struct schema *row; /* of the struct */
};

struct value value_text(const char *text); /* NULL is null */
struct value value_int(int64_t n);	   /* NIL is null */
struct value value_bytes(const void *bytes, size_t len);
/* Members of a struct, for a statement with names; it is all that the statement is given. */
struct value value_row(const struct schema *s, const void *row);
#define T(x) value_text(x)
#define N(x) value_int(x)
#define ARGS(...)                              \
	(const struct value[]){ __VA_ARGS__ }, \
		sizeof((const struct value[]){ __VA_ARGS__ }) / sizeof(struct value)
#define NO_ARGS NULL, 0
/* In the place of ARGS(): the members of a struct whose schema the statement names. */
#define BY_NAME(S, members) ARGS(value_row(&S##_schema, 1 ? (members) : (const struct S *)NULL))

/* For statements that select one text, as `value`. */
struct one_text {
	const char *value;
};
SCHEMA_DECLARED(one_text);

struct db; /* one connection, used by one thread at a time */

/* The row is filled through the statement's schema, each field from the column of its name, or of its
 * `.column`.  ERR_NOT_FOUND if there is none. */
int db_one(struct db *db, struct arena *a, const struct statement *st, void *row,
	const struct value *args, size_t count);
/* All rows, one after the other; at most `most`. */
int db_all(struct db *db, struct arena *a, const struct statement *st, struct list *rows,
	size_t most, const struct value *args, size_t count);
/* A page of a list: rows until there are so many ({limit}), or until they hold so many bytes, but one at
 * least.  *ret_cut if it was the bytes; there may be further rows then. */
struct db_page {
	size_t rows, bytes;
	int64_t offset;
	const char *after, *before;
};
int db_page(struct db *db, struct arena *a, const struct statement *st, struct list *rows,
	const struct db_page *page, bool *ret_cut, const struct value *args, size_t count);
/* Each row in turn, in the caller's struct; its texts last until the next.  An error of `fn` ends it and
 * is handed on.  `fn` does not use the connection. */
int db_each(struct db *db, const struct statement *st, void *row,
	int (*fn)(void *ctx, const void *row), void *ctx, const struct value *args, size_t count);
/* Changes rows; ret_changed may be NULL.  ERR_DUPLICATE if a key exists already. */
int db_run(struct db *db, const struct statement *st, int64_t *ret_changed,
	const struct value *args, size_t count);
/* The same, with the members of a struct of the statement's schema. */
int db_put(struct db *db, const struct statement *st, const void *row);
/* A single integer. */
int db_int(struct db *db, const struct statement *st, int64_t *ret, const struct value *args,
	size_t count);
/* A single run of bytes, of a column declared {bytes}; null is ERR_NOT_FOUND, as no row is. */
int db_bytes(struct db *db, struct arena *a, const struct statement *st, const void **ret,
	size_t *ret_len, const struct value *args, size_t count);

/* A sentence about what is wrong with its text, on whichever engine; NULL if there is nothing. */
const char *statement_fault(struct arena *a, const struct statement *st);
/* Prepares it and no more: does the engine understand it? */
int db_try(struct db *db, const struct statement *st);

/* Inside a read transaction: a number that is another one as soon as anybody has committed anything.
 * NIL where the engine cannot tell, or while writing. */
int64_t db_version(struct db *db);
/* Something that lives as long as the connection. */
void db_attach(struct db *db, void *data, void (*release)(void *));
void *db_attached(const struct db *db);

/* Once the transaction under way is committed, tells this to everybody who listens to the channel, in
 * every process that serves the store; with a rollback it is gone.  A text of at most NOTICE_MAX bytes;
 * the same one twice in a transaction may be told once. */
enum { NOTICE_MAX = 4000, NOTICE_CHANNELS_MAX = 8 };
int db_notice(struct db *db, const char *channel, const char *text);

/* Work in a transaction is as if it were alone.  Under STEP_BY_STEP, on PostgreSQL, it is not: each
 * statement sees what others have committed by then, and whoever uses it takes the locks they need. */
enum transaction { READ_ONLY, READ_WRITE, STEP_BY_STEP };
int db_begin(struct db *db, enum transaction mode);
int db_commit(struct db *db);
void db_rollback(struct db *db);
/* Runs a part of the transaction under way in a savepoint.  What fails by its own fault, or is not to be kept, is taken back alone:
 * *ret_err is what the part said, and the answer 0.  An error of the store's, after which nothing can go on, is the
 * answer. */
int db_attempt(struct db *db, int (*fn)(void *ctx), void *ctx, bool keep, int *ret_err);
/* The same for many changes that hardly ever fail, to be kept all or none: they are not waited for one by one, so that *ret_err may be
 * what any of them said. */
int db_attempt_all(struct db *db, int (*fn)(void *ctx), void *ctx, int *ret_err);
bool db_is_sqlite(const struct db *db);
/* What tells this PostgreSQL store from every other, and from a copy of it: the cluster, the database and the schema.  NULL on SQLite, where
 * the lock of the file does. */
int store_served_as(struct db *db, struct arena *a, const char **ret);
/* A sentence about the last hard error on this connection. */
const char *db_error(const struct db *db);

/* Work runs in one transaction; 0 commits, an ERR_ rolls back.  It may run more than once, and so
 * must not act on the outside.  done() is called once, after the commit is durable. */
struct work {
	struct work *next;
	int (*run)(struct work *w, struct db *db);
	void (*done)(struct work *w, int err);
	enum transaction mode;
	int err; /* the store's own */
	/* Of pool.h, where it is handed to one. */
	struct pool_lane *lane;
	bool waiting, late; /* late: withdrawn because it waited for too long */
	int64_t since_ms;   /* when it was handed there */
	_Atomic bool withdrawn;
};

struct store;

struct store_settings {
	const char *where; /* sqlite:PATH or postgres://... */
	const char *
		direct; /* or NULL; if not, `where` leads to a pooler that lends a session for a transaction */
	const char *replica; /* of a standby, or NULL */
	int workers;	     /* connections of the pool on PostgreSQL */
	size_t queue_max;    /* work waiting; more is refused with ERR_BUSY */
};

enum store_open {
	STORE_SERVE,  /* alone on an SQLite file: takes its lock */
	STORE_BESIDE, /* beside a serving process; it must be there already */
	STORE_NEW,    /* a file of our own making */
};

/* Opens it, whatever its version is. */
int store_open(struct store **ret, const struct store_settings *settings, enum store_open how,
	struct arena *a, struct problem *p);
/* Starts the threads that run work. */
int store_start(struct store *s);
/* Runs what is queued, then stops the threads. */
void store_stop(struct store *s);
void store_close(struct store *s);
/* Brings the tables up to this program's version; *ret_from and *ret_to say what happened. */
int store_migrate(struct store *s, int *ret_from, int *ret_to, struct arena *a, struct problem *p);
int store_version_wanted(void);
/* The version of the tables, 0 for an empty store; and the oldest program they are good for, by the version it would
 * make, 0 where nothing is said and newer tables are good for none. */
struct store_version {
	int64_t tables, oldest;
};
int store_version(struct store *s, struct store_version *ret, struct arena *a, struct problem *p);
/* The same of a store that is not empty, on a connection that is there already. */
int db_store_version(struct db *db, struct store_version *ret);
/* Programs that would make an older version are shut out from now on: they are told within seconds, and write nothing more. */
int db_store_admit_from(struct db *db, int version);
/* Are they newer than this program, and may it work on them all the same? */
bool store_version_newer(const struct store_version *v);
bool store_version_admits(const struct store_version *v);
/* A store, or a copy of one, that this program may not work on: ERR_STORE, with a sentence about `what`. */
int store_version_refuse(
	const struct store_version *v, const char *what, struct arena *a, struct problem *p);
/* The version of the tables that this process last saw. */
int store_version_seen(const struct store *s);
bool store_is_sqlite(const struct store *s);
/* ERR_BUSY if the queue is full, else done() will be called. */
int store_submit(struct store *s, struct work *w);
/* The same on a replica, which may have replayed all up to so long ago and no more.  ERR_BUSY if there is none that is near
 * enough; done() may be told an error that the primary would not give: then ask there. */
enum { STALE_MAX_MS = 10000 };
int store_submit_stale(struct store *s, struct work *w);
bool store_replica_ready(const struct store *s);
uint64_t store_replica_reads(const struct store *s);
extern const struct statement_set replica_sql;
/* Before store_start().  fn is called on a thread of the store's (or of whoever commits on a connection
 * of their own) and must not wait, nor use the connection; a text of NULL says
 * that notices may have been missed (the connection was away): look for yourself. */
void store_listen(
	struct store *s, const char *channel, void (*fn)(void *ctx, const char *text), void *ctx);
/* Reads on the caller's thread and connection.  The transaction stays open for the next read, which
 * uses it as long as nothing has been committed since it began; store_rest() ends it. */
int store_read_here(struct store *s, struct db *db, struct work *w);
void store_rest(struct db *db);
/* A connection of the caller's own.  On SQLite good for reading beside the writer. */
int store_connect(struct store *s, struct db **ret, struct arena *a, struct problem *p);
void db_close(struct db *db);
/* A consistent copy as an SQLite file, whatever the engine, while others work. */
int store_backup(struct store *s, const char *path, struct arena *a, struct problem *p);
/* All rows of one store into another that is empty, or that an earlier run has begun to fill, on whichever engines: see
 * copy.c.  The source is not served meanwhile, and the target not before it is complete. */
enum copy_doing { COPY_CHECKS, COPY_COUNTS, COPY_RESUMES, COPY_WRITES, COPY_PROVES };
struct copy_stage {
	enum copy_doing doing;
	const char *table;
	int64_t rows,
		total; /* of all that is to be done there; tables where they are counted, nothing while checking */
};
struct copy_order {
	const char *from, *to; /* as store_settings.where */
	bool anew;	       /* an unfinished copy is begun again */
	/* Again and again; may be NULL. */
	void (*told)(void *ctx, const struct copy_stage *stage);
	void *ctx;
};
struct copy_result {
	int64_t rows, kept; /* kept: those that an earlier run had brought */
	size_t tables;
};
int store_copy(const struct copy_order *order, struct copy_result *ret, struct arena *a,
	struct problem *p);
/* Where a store is, for people: the whole path of a file; a server without the password. */
const char *store_said(const char *where, struct arena *a);
/* Structural soundness: 0, or a sentence for each thing that is wrong. */
int store_check(struct store *s, struct arena *a, struct problem *p);
/* Has it every table, view, column and index of its version?  *ret_beyond names what else is there, or is NULL. */
int store_fits(struct store *s, const char **ret_beyond, struct arena *a, struct problem *p);

struct store_stats {
	uint64_t work_done, work_failed, commits, retries, queued, reconnects;
};
struct store_stats store_stats(const struct store *s);

/* What is wrong with the store, as was last seen: 0, ERR_STORE (it is away), ERR_STORE_FULL. */
int store_trouble(const struct store *s);
/* A sentence if the store is not to be asked: it does not answer, its file was changed under the service, a newer
 * program has taken it over.  NULL otherwise. */
const char *store_closed(const struct store *s);
/* Looks at it, again and again, every half second or so, from one thread; does not wait. */
void store_watch(struct store *s);
/* Says in the log that the store failed, and how; one fault once a minute at most, however often it is met. */
void store_complain(struct store *s, const char *what, const char *error);
/* Has the store write something, so that store_trouble() says how that went.  Does not wait. */
void store_probe(struct store *s);
extern const struct statement_set health_sql, version_sql;
