/* topic.h - one watched session in this process: its newest events and those who listen.
 *
 * Only the hub's thread touches a topic's events and its watches' places;
 * what others may touch is atomic, or under the hub's lock.  Only the
 * hub's own files use this. */
#pragma once
#include <stdatomic.h>

#include "base/id.h"
#include "events/hub.h"

/* A page read from the log ends at so many rows, or after the row that brings it to so many bytes;
 * what a topic keeps of the newest events. */
enum {
	PAGE_ROWS = 64,
	PAGE_BYTES = 256 * 1024,
	RING_EVENTS = 16,
	RING_BYTES = 16 * 1024,
};

/* An event in memory: one piece, the frame with the data inside it. */
struct kept {
	struct hub_event e;
	char text[];
};

struct watch {
	struct watch *next;	      /* of its topic */
	struct watch *before, *newer; /* of all that are checked, the longest ago first */
	struct hub *hub;
	struct topic *topic; /* under the lock; NULL: no longer */
	struct watcher watcher;
	int64_t at;	      /* everything up to here was handed on, or was not there */
	bool paused;	      /* the hub's thread's */
	_Atomic bool resumed; /* may go on */
	_Atomic bool ended;   /* is to go */
	_Atomic int refs;     /* the topic's, and the checker's while it looks */
	int64_t checked_ms;   /* under the lock */
	bool listed;
};

struct topic {
	struct topic *chain; /* in the table */
	struct topic *dirty; /* in the list of those to look at */
	struct topic
		*turn; /* in the list that is being looked at, while it may be on the other anew */
	bool is_dirty; /* under the lock, as is: */
	struct watch *incoming;
	struct watch *watches;
	/* All events after `from` up to `last` are in the ring, oldest first. */
	int64_t from, last;
	struct kept *ring[RING_EVENTS];
	size_t first, count, bytes;
	bool empty; /* nothing was read yet */
	char tenant_id[ID_LEN + 1], session_id[ID_LEN + 1];
};

/* Nobody holds it any more: it is told so, and goes. */
void watch_end(struct watch *w);

/* Takes on a watch that has come. */
void topic_join(struct topic *t, struct watch *w);
/* Reads what is new and hands it on.  *ret_again: there is more to do.  ended() is called for each watch
 * that is no longer part of it. */
int topic_pump(struct topic *t, struct db *db, void (*ended)(struct watch *w),
	struct hub_stats *stats, bool *ret_again);
void topic_clear(struct topic *t);
