/* feed_parts.h - what the files of the feed share; nobody else includes it.
 *
 *   feed.c         the thread, those who follow, and the feed's life
 *   feed_tenants.c tenants that somebody follows
 *   feed_visit.c   whoever follows, when the thread comes to them
 *   feed_batch.c    what one turn tells (feed_batch.h) */
#pragma once
#include <pthread.h>
#include <stdatomic.h>

#include "events/feed.h"

enum { FEED_TABLE = 1024 };

/* A tenant that somebody follows. */
struct followed {
	struct followed *chain;
	size_t refs;
	bool dirty; /* under the lock */
	bool look;  /* the thread's: this turn */
	char id[ID_LEN + 1];
};

struct feed_watch {
	struct feed_watch *next;
	struct feed *feed;
	struct feed_watcher watcher;
	struct feed_cursor place;
	int64_t until;	    /* a number it ends after; NIL: none; 0: not known yet */
	int64_t need;	    /* a number it must come to */
	int64_t checked_ms; /* NIL: never */
	int64_t spoke_ms;
	bool paused;
	_Atomic bool resumed, ended;
	struct followed *tenants[FEED_TENANTS_MAX]; /* sorted */
	size_t tenant_count;
};

struct feed {
	struct store *store;
	struct db *db;
	struct arena arena;
	struct buf text;
	pthread_t thread;
	bool running;
	struct feed_watch *watches; /* the thread's */

	pthread_mutex_t lock; /* over all below */
	pthread_cond_t news, hurry;
	struct followed *table[FEED_TABLE];
	struct feed_watch *incoming;
	size_t watch_count;
	bool dirty, check, stop;
};

/* feed_tenants.c; all under the lock. */
struct followed **feed_tenant_slot(struct feed *f, const char *id);
struct followed *feed_follow(struct feed *f, const char *id);
void feed_unfollow(struct feed *f, struct followed *t);

/* The numbers of a turn: everything up to the horizon is there; what was begun so far is below `started`. */
struct feed_span {
	int64_t horizon, started;
};

/* feed_visit.c: in the thread's read transaction.  *ret_again is set where there is more to tell. */
int feed_visit(struct feed *f, struct feed_watch *w, const struct feed_span *span, bool *ret_again);
