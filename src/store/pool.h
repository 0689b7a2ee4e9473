/* pool.h - threads for what would hold up a loop or the writer: hashing passwords, asking other hosts, long reads,
 * tools.  Each use has a pool of its own.
 *
 * Work waits in lanes, one for each owner (a tenant) and one for whoever is in
 * none yet, and the lanes take turns.  Everything has a most: threads, what
 * waits, and what of both one owner may have, so that whoever asks for much
 * holds up nobody else. */
#pragma once
#include "store/store.h"

struct pool;

struct pool_settings {
	size_t threads; /* at most */
	size_t threads_kept; /* begun at once, to stay; another one begins when there is need, and ends after idle_s */
	int idle_s;
	size_t threads_left; /* that one owner leaves to the others, if there is more than one */
	size_t waiting;	     /* at most; what comes then is refused */
	size_t waiting_each; /* the same of one owner; who is in no tenant shares `waiting` alone */
	bool keeps_view; /* reads that follow one another share a transaction: see store_read_here() */
	bool withdraws; /* at the end what is there is withdrawn, not waited for */
	/* On a thread that has been idle for idle_s: true if one is to stay for what it looks after.  May be NULL. */
	bool (*idle)(void *ctx, const _Atomic bool *stopping);
	void *ctx;
};

struct pool *pool_new(const struct pool_settings *settings);
/* Of threads that are there from the beginning: an owner has all but one of them at most, and of what waits one
 * part of POOL_SHARE. */
struct pool *pool_new_shared(size_t threads, size_t waiting);
enum { POOL_SHARE = 4 };
/* Does (or withdraws) what is there, and waits for it. */
void pool_free(struct pool *p);
/* run() and then done() are called once, on one of the threads, without a connection: see pool_read().  The owner may be NULL.
 * ERR_BUSY if too much waits. */
int pool_submit(struct pool *p, const char *owner, struct work *w);
/* Its end is no longer wanted: w->withdrawn is set, and if it waits, it runs before all others.  Before done() is called. */
void pool_withdraw(struct pool *p, struct work *w);

/* Inside run(): that thread's own connection, for reading; NULL if it cannot be had. */
struct db *pool_db(struct store *s);
/* The same, and reads with it as store_read_here() does; `run` takes the place of w->run. */
int pool_read(struct store *s, struct work *w, int (*run)(struct work *w, struct db *db));

/* What has waited for longer is withdrawn, and w->late is set: whoever asked is to hear so instead of nothing. */
void pool_withdraw_late(struct pool *p, int most_ms);

struct pool_stats {
	uint64_t begun, waiting;
};
struct pool_stats pool_stats(struct pool *p);
