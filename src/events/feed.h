/* feed.h - what happens in whole tenants, for those who follow much at once on one connection.
 *
 * Everything stands in one order (events/feed_number.h), and is told in turns,
 * at most ten a second.  A turn takes all that stands between two numbers and
 * tells it tenant by tenant and session by session, the pieces of a message
 * joined; so a place in the feed is two numbers and how far the turn was
 * told, and resuming there neither loses nor repeats anything. */
#pragma once
#include "base/buf.h"
#include "base/id.h"
#include "events/hub.h"

struct feed;
struct feed_watch;

struct feed_cursor {
	int64_t base;  /* everything up to it was told; NIL: begin with what happens next */
	int64_t bound; /* and up to this, in the order of the ids below; NIL: no turn is half told */
	char tenant_id[ID_LEN + 1], subject[ID_LEN + 1];
	int64_t seq;
};

/* "812" or "812-830-<tenant_id>-<subject>-41"; false if it is neither. */
bool feed_cursor_read(struct feed_cursor *ret, const char *text);
void feed_cursor_write(const struct feed_cursor *p, struct buf *out);

/* What may be told to some and not to others. */
struct feed_subject {
	const char *tenant_id;
	const char *session_id; /* or NULL: of an agent, or: */
	const char *agent_id;
	const struct ChangeEvent *change; /* NULL: of either above */
};

struct feed_watcher {
	/* In a read transaction, at the start and every few seconds: the tenants to follow, as a sorted
	 * list of texts that lives in the arena.  False ends the watch. */
	bool (*check)(void *ctx, struct db *db, struct arena *a, struct list *ret_tenants);
	/* In a read transaction: is this for them? */
	bool (*sees)(void *ctx, struct db *db, struct arena *a, const struct feed_subject *s);
	/* Server-sent events, whole ones; must not wait. */
	enum hub_verdict (*take)(void *ctx, const char *text, size_t len);
	/* Once, last. */
	void (*gone)(void *ctx);
	void *ctx;
};

enum {
	FEED_BATCH_MS = 100,
	FEED_TENANTS_MAX = 200, /* that one watch follows */
	FEED_WATCHES_MAX = 20000,
};

struct feed *feed_new(struct store *store);
int feed_start(struct feed *f);
void feed_stop(struct feed *f);
void feed_free(struct feed *f);
void feed_check_now(struct feed *f);
/* A notice of the channel "events". */
void feed_hear(struct feed *f, const char *text);

/* `now` ends the watch after what has happened so far. */
int feed_watch(struct feed *f, const struct feed_cursor *from, bool now,
	const struct feed_watcher *watcher, struct feed_watch **ret);
/* Both only before gone() is called. */
void feed_resume(struct feed_watch *w);
void feed_unwatch(struct feed_watch *w);

extern const struct statement_set feed_sql;
