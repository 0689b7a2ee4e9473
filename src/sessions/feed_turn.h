/* feed_turn.h - one turn of one who follows the feed: what to tell, and as which text.  Only feed.c and
 * feed_turn.c use this. */
#pragma once
#include "sessions/feed.h"

enum { TURN_ROWS = 500, TURN_BYTES = 1 << 20 };

struct feed_turn {
	struct db *db;
	struct arena *arena;
	int64_t horizon;
	const struct feed_watcher *watcher;
	const char *const *tenants; /* sorted */
	size_t tenant_count;
	struct feed_place *place; /* moves on */
	struct buf *text;	  /* what is to be told */
};

/* Tells at most one turn's worth; the place is at the horizon when nothing is left. */
int feed_turn_run(const struct feed_turn *t);
