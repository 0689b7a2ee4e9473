/* engine.h - what an engine must be able to do.  sqlite.c and postgres.c are siblings of this shape;
 * db.c, work.c and migrate.c speak to either through it. */
#pragma once
#include <pthread.h>
#include <sys/types.h>

#include "base/check.h"
#include "store/store.h"

/* Places for statements, of which at most three in four are taken: so a search is short, and ends. */
enum { DB_STATEMENTS = 4096, DB_COLUMNS = 64, DB_ARGS = 64 };

/* A statement as prepared on one connection. */
struct prepared {
	const struct statement *st;
	void *handle;
	int params; /* arguments beyond these are ignored: a list's count has no use for some */
	bool named; /* the places are members of a struct */
	int16_t *
		place; /* what is bound to each, as statement_form tells; NULL: arguments in their order */
	int columns;
	int16_t field[DB_COLUMNS]; /* which field of st->row a column fills; -1: none */
};

/* Told when the transaction is committed, on an engine that leaves that to us. */
struct notice {
	struct notice *before;
	const char *channel, *text;
};

/* What a connection is for, which says by which of the store's addresses it goes: see store_connect_way. */
enum store_way { WAY_SESSION, WAY_WRITER, WAY_READER, WAY_LISTENER, WAY_REPLICA };

struct db {
	const struct engine *engine;
	enum store_way way;
	struct store *store;
	void *impl;
	struct prepared *cache[DB_STATEMENTS]; /* open addressing by the statement's address */
	size_t cached;
	bool in_transaction;
	struct thread_owner owner; /* of the transaction under way */
	enum transaction mode;
	bool uncertain;		/* a commit was sent and its outcome is not known */
	bool in_pieces;		/* rows of the next statement may be large: not all at once */
	bool eager;		/* every statement is waited for */
	bool acts;		/* the next statement is run for what it does */
	bool unasked;		/* nobody waits for what the next statement does */
	bool late;		/* the last error is that of a statement that was not waited for */
	uint64_t generation;	/* of the store when the transaction under way began */
	int64_t version;	/* of the transaction under way; NIL: not asked yet */
	struct notice *notices; /* of the transaction under way, newest first */
	struct arena notice_arena;
	struct arena bound; /* texts made to be bound to the statement under way */
	void *attached;
	void (*release)(void *);
	char error[512];
};

struct engine {
	const char *name;
	int (*open)(struct db *db, const char *where, enum store_open how);
	void (*close)(struct db *db);
	/* Several statements of text, without arguments. */
	int (*script)(struct db *db, const char *sql);
	int (*prepare)(struct db *db, struct prepared *p, const char *sql);
	void (*unprepare)(struct db *db, struct prepared *p);
	const char *(*column_name)(struct db *db, struct prepared *p, int column);
	/* run, then step until it answers 0 (no more rows) or an error, then reset. */
	int (*run)(struct db *db, struct prepared *p, const struct value *args, size_t count);
	int (*step)(struct db *db, struct prepared *p);
	void (*reset)(struct db *db, struct prepared *p);
	/* Many rows into a table, where there is a quicker way than a statement for each: `sql` begins it, and until the end
	 * nothing else is asked of the connection.  NULL: there is none. */
	int (*load_begin)(struct db *db, const char *sql);
	int (*load_row)(struct db *db, const struct value *row, size_t count);
	int (*load_end)(struct db *db, bool given_up);
	/* A column's value; NULL or false if it is null. */
	const char *(*text)(struct db *db, struct prepared *p, int column, size_t *ret_len);
	bool (*integer)(struct db *db, struct prepared *p, int column, int64_t *ret);
	/* The same for a column of bytes, in the arena. */
	const void *(*bytes)(
		struct db *db, struct prepared *p, int column, struct arena *a, size_t *ret_len);
	int64_t (*changed)(struct db *db, struct prepared *p);
	/* Rows changed on this connection so far, by whatever means; only where work is run together. */
	int64_t (*changes)(struct db *db);
	int (*begin)(struct db *db, enum transaction mode);
	int (*commit)(struct db *db);
	void (*rollback)(struct db *db);
	/* True if the engine has given up the transaction by itself. */
	bool (*lost)(struct db *db);
	/* True if it takes no more statements until what failed is undone; NULL: that does not happen. */
	bool (*stuck)(struct db *db);
	/* See db_version. */
	int64_t (*version)(struct db *db);
	bool (*broken)(struct db *db);
	/* A broken connection is made anew; 0 if it is whole. */
	int (*mend)(struct db *db);
	/* Where changes wait in a log for their places in the file: from the first call on the connection
	 * only counts them, and says how many pages the log had at its last commit; moves them, says how
	 * many of the log's are moved, and with `flush` has these on the disk even if others are left. */
	int64_t (*log_pages)(struct db *db);
	int (*checkpoint)(struct db *db, bool flush, int64_t *ret_moved);
	/* Answers are remembered within transactions that write, on this connection, where that is of use. */
	int (*remember)(struct db *db);
	/* Where the engine carries notices itself: asks for a channel's; then waits for some and hands
	 * them on.  1 when `stop` is readable, 0 to be called again, an error when the connection broke. */
	int (*listen)(struct db *db, const char *channel);
	int (*hear)(struct db *db, int stop,
		void (*fn)(void *ctx, const char *channel, const char *text), void *ctx);
};

extern const struct engine sqlite_engine, postgres_engine;

struct listener {
	const char *channel;
	void (*fn)(void *ctx, const char *text);
	void *ctx;
};

/* See identity.c: the file and the log that a serving process began with. */
struct identity {
	bool known, numbered;
	uint32_t number;
	dev_t device, log_device;
	ino_t node, log_node;
	const char *log;
	_Atomic bool changed;
};

/* See complaint.c: sentences about the store that were in the log, all under the lock. */
enum { COMPLAINTS_MAX = 6, COMPLAINT_LEN = 160 };
struct complaint {
	char text[COMPLAINT_LEN];
	int64_t said;	 /* monotonic milliseconds */
	uint64_t unsaid; /* so often since */
};
struct complaints {
	pthread_mutex_t lock;
	struct complaint kept[COMPLAINTS_MAX];
	int64_t began, last; /* of the fault that is not over; 0: there is none */
	uint64_t failures;   /* since it began */
	uint64_t done;	     /* so much work had been done at the last of them */
	bool said;	     /* some of it was */
};

struct store {
	const struct engine *engine;
	const char *where; /* path or connection string */
	struct store_settings settings;
	struct arena arena;
	enum store_open how;
	int lock_fd;
	struct identity identity;
	struct queue *queue;
	struct listener listeners[NOTICE_CHANNELS_MAX];
	size_t listener_count;
	struct hearing *hearing;
	struct replica *replica;     /* NULL: there is none */
	_Atomic uint64_t generation; /* counts commits: raised after each, before anybody is told */
	_Atomic int fault;	     /* see health.c */
	struct complaints complaints;
	struct work probe;
	_Atomic bool probing;
	struct work sign;
	_Atomic bool signing, silent;
	int64_t sign_asked;    /* monotonic milliseconds; the watcher's own, like the next */
	uint64_t sign_beneath; /* so much work had ended by then */
	_Atomic(const char *) shut;
	struct {
		_Atomic uint64_t system;
		_Atomic unsigned timeline;
	} server;     /* the last that was taken on PostgreSQL; see postgres_connect.c */
	bool filling; /* it is the target of a copy under way, and this is the copy */
	_Atomic int seen_version; /* of the tables; 0: not looked at yet */
};

/* What the tests may order: an error at the nth statement, a death at the nth commit. */
#ifdef LODGE_FAULTS
struct fault_plan {
	_Atomic int64_t statement_at; /* counts down; at 1 the statement fails with `err` */
	_Atomic int err;
	_Atomic int64_t commit_at; /* counts down; at 1 the process dies */
	_Atomic int before;	   /* the commit, or after it */
	/* The process aborts where a statement of this name is given this text; NULL: nowhere. */
	const char *abort_name, *abort_text;
	void (*at_statement)(struct db *db); /* called before each; NULL: by nobody */
};
extern struct fault_plan fault_plan;
int fault_statement(
	struct db *db, const struct statement *st, const struct value *args, size_t count);
void fault_commit(bool before);
#else
#define fault_statement(...) 0 /* NO_ARGS is two of its arguments */
#define fault_commit(before) ((void)0)
#endif

/* store_connect makes one that is a session of its own.  Where the store has a second, direct address, the
 * first leads through a pooler, and only the workers' go that way: each transaction may have another session. */
int store_connect_way(
	struct store *s, enum store_way way, struct db **ret, struct arena *a, struct problem *p);
const char *way_name(enum store_way way);
bool way_is_pooled(const struct store *s, enum store_way way);
/* Says in the log, at a start, if the address of the setting leads to another machine that is not verified. */
void pg_warn_of_address(const char *setting, const char *where);

int db_prepare(struct db *db, const struct statement *st, struct prepared **ret);
/* Forgets every prepared statement: the connection behind them is gone. */
void db_forget(struct db *db);
int db_fail(struct db *db, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* What stands for a place that belongs to the page asked for. */
enum { PLACE_LIMIT = -1, PLACE_OFFSET = -2, PLACE_AFTER = -3, PLACE_BEFORE = -4 };

/* What a statement comes to on an engine. */
struct statement_form {
	char *text;
	bool named, paged;	/* some place is a member of a struct, or the page's */
	int count;		/* of places */
	int16_t place[DB_ARGS]; /* of each: an argument from 0 on, or a field, or a PLACE_ */
	const char *fault;	/* a sentence about what is wrong with it, or NULL */
};
void statement_form(struct arena *a, const struct engine *e, const struct statement *st,
	struct statement_form *ret);
/* A script of several statements without arguments: only the words of the dialects are expanded. */
char *statement_script(struct arena *a, const struct engine *e, const char *name, const char *sql);
/* The values of a statement's places, in `bound` where they are not the arguments as they are. */
int bind_places(struct db *db, const struct prepared *p, const struct db_page *page,
	const struct value **args, size_t count, struct value bound[DB_ARGS]);

struct queue *queue_new(struct store *s);
int queue_start(struct queue *q);
void queue_stop(struct queue *q);
void queue_free(struct queue *q);
int queue_submit(struct queue *q, struct work *w);
struct store_stats queue_stats(const struct queue *q);

/* No transaction begins any more in this process, for this reason. */
void store_shut(struct store *s, const char *why);

/* Says in the log that faults are over, once they are. */
void complaints_watch(struct store *s);

/* health.c: how a piece of work has ended, where that says something about the store. */
void health_note(struct store *s, int err, bool wrote);

/* The file itself, whatever leads to it. */
const char *identity_path(const char *path, struct arena *a);
/* Before a file with a log is opened: refuses one that the log does not belong to. */
int identity_admit(const char *path, struct arena *a, struct problem *p);
/* Has the file a log beside it, and one of its own as far as can be told? */
bool identity_has_log(const char *path, struct arena *a);
/* By the writer, before its first work: from here on file and log must stay what they are. */
int identity_take(struct store *s, struct db *db);
/* Looks whether they are; once not, never again. */
bool identity_holds(struct store *s);
/* What the last look said. */
bool identity_changed(const struct store *s);

/* The name of our layer over SQLite's files. */
const char *sqlite_layer(void);

/* SQLite's log, moved beside the writer, who looks after each of its commits; NULL: nobody moves it. */
struct checkpointer;
int checkpoint_start(struct store *s, struct checkpointer **ret);
void checkpoint_stop(struct checkpointer *c);
void checkpoint_look(struct checkpointer *c, struct db *writer);

/* See statistics.c; NULL on SQLite.  Freed after the queue has stopped. */
struct statistics;
struct statistics *statistics_new(void);
void statistics_free(struct statistics *s);
/* Work for another connection than the writer's, if it is time; else NULL. */
struct work *statistics_due(struct statistics *s, struct db *writer);

/* Of the transaction under way: told after its commit, or forgotten. */
/* Before the commit, and after it: only one of the two does something, as the engine is. */
int notices_send(struct db *db);
void notices_tell(struct db *db);
void notices_forget(struct db *db);
int hearing_start(struct store *s);

/* See replica.c.  Inside a transaction of the primary's: how far it is. */
int replica_sample(struct db *db);
/* With store_watch: is it there, and near enough? */
void replica_watch(struct store *s);
int replica_start(struct store *s);
void replica_stop(struct store *s);
void replica_free(struct store *s);
void hearing_stop(struct store *s);

/* What every copy ends with: all of it in one file, which no log belongs to. */
int store_copy_done(struct db *db);
/* Never over what exists; false with errno. */
bool store_rename_new(const char *from, const char *to);

/* An empty store in memory with the tables of that version; both are to be closed, whatever comes of it. */
int shape_blank(int version, struct store **ret_store, struct db **ret_db, struct arena *a,
	struct problem *p);
/* See store_fits; of the version that it is said to have. */
int shape_check(
	struct db *db, int version, const char **ret_beyond, struct arena *a, struct problem *p);

/* What is there, in words; NULL: nothing is. */
int shape_said(struct db *db, const char **ret, struct arena *a);

/* served.c, on PostgreSQL: a process that serves says so for as long as it has the connection; refused while the store is
 * somebody's alone. */
int served_say(struct db *db);
/* It is this connection's alone, and nobody serves it; or else a sentence about it. */
int served_take(struct db *db, const char *said, struct arena *a, struct problem *p);
/* Nobody has it alone. */
int served_admits(struct db *db, bool *ret);
/* No process writes to it while the connection lasts. */
int served_still(struct db *db);

/* Whether it is a copy that is not complete. */
int copy_unfinished(struct db *db, bool *ret);

struct migration {
	int number, admits; /* the oldest program that can go on where it has run */
	const char *name, *sql;
};
/* Says in the log that the tables are newer than this program, and admit it. */
void version_told(const struct store_version *v);
/* No further than to that version. */
int store_migrate_to(
	struct store *s, int most, int *ret_from, int *ret_to, struct arena *a, struct problem *p);
extern const struct migration migrations[];
extern const int migration_count;
