/* hub.h - who listens to which session in this process, and how what happens reaches them.
 *
 * The log (events.h) is the truth; the hub reads it once for all who listen
 * to the same session and hands each event on in order, without gap or
 * repeat, wherever the run is.  A listener that is behind is not waited for:
 * it pauses, and catches up from the log when it has room. */
#pragma once
#include "events/events.h"

struct hub;
struct watch;
struct feed;

struct hub_event {
	const char *session_id;
	int64_t seq;
	enum session_event kind;
	const char *data; /* a JSON object */
	size_t len;
	const char *frame; /* the same as a server-sent event: id, event, data and an empty line */
	size_t frame_len;
};

enum hub_verdict {
	HUB_GO_ON,
	HUB_PAUSE, /* taken, but no more until hub_resume() */
	HUB_END,   /* no more; gone() follows */
};

struct watcher {
	/* One at a time, in order; must not wait. */
	enum hub_verdict (*take)(void *ctx, const struct hub_event *e);
	/* Once, last. */
	void (*gone)(void *ctx);
	/* Every few seconds, in a read transaction on another thread than take(): false ends the watch.
	 * May be NULL. */
	bool (*check)(void *ctx, struct db *db, struct arena *a);
	void *ctx;
};

enum {
	HUB_CHECK_MS = 5000,  /* between two checks of a watch */
	HUB_QUIET_MS = 15000, /* without a word, a stream gives a sign of life */
	HUB_WATCHES_MAX = 100000,
};

struct hub *hub_new(struct store *store); /* before store_start() */
int hub_start(struct hub *h);
/* Every watch ends, and none begins any more; returns when the last gone() has. */
void hub_stop(struct hub *h);
void hub_free(struct hub *h);

/* Every event of the session after `after`.  From any thread.  ERR_STOPPING, ERR_BUSY. */
int hub_watch(struct hub *h, const char *tenant_id, const char *session_id, int64_t after,
	const struct watcher *watcher, struct watch **ret);
/* Both only before gone() is called. */
void hub_resume(struct watch *w);
/* gone() is called, perhaps later and on another thread. */
void hub_unwatch(struct watch *w);

/* Has every watch checked now, rather than within a few seconds. */
void hub_check_now(struct hub *h);

/* What happens in whole tenants: see feed.h. */
struct feed *hub_feed(struct hub *h);

struct hub_stats {
	uint64_t watches, events, reads;
};
struct hub_stats hub_stats(const struct hub *h);

extern const struct statement_set hub_sql;
