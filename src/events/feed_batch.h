/* feed_batch.h - one turn of one who follows the feed: what to tell, and as which text.  Only the
 * feed's own files use this. */
#pragma once
#include "events/feed.h"

enum { FEED_BATCH_ROWS = 500, FEED_BATCH_BYTES = 1 << 20 };

struct feed_batch {
	struct db *db;
	struct arena *arena;
	int64_t horizon;
	const struct feed_watcher *watcher;
	const char *const *tenants; /* sorted */
	size_t tenant_count;
	struct feed_cursor *place; /* moves on */
	struct buf *text;	   /* what is to be told */
};

/* Tells at most one turn's worth; the place is at the horizon when nothing is left. */
int feed_batch_run(const struct feed_batch *t);
