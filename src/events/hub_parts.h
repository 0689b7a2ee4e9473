/* hub_parts.h - what the files of the hub share; nobody else includes it.
 *
 *   hub.c         who listens, the thread that reads and hands on, and the hub's life
 *   hub_topics.c  sessions by their id, and which of them have something new
 *   hub_check.c   the thread that asks whether those who listen still may */
#pragma once
#include <pthread.h>
#include <stdatomic.h>

#include "events/topic.h"

struct hub {
	struct store *store;
	struct feed *feed;
	struct arena arena; /* of the reading thread */
	pthread_t reader, checker;
	bool started;

	pthread_mutex_t lock; /* over all below, but for the counts */
	pthread_cond_t news, stopping;
	struct topic **table; /* by session */
	size_t table_size, topic_count, watch_count;
	struct topic *dirty, **dirty_last;
	struct watch *oldest, *newest; /* in the order in which they were last checked */
	bool stop;

	_Atomic uint64_t watches, events, reads;
};

/* hub_topics.c; all under the lock but the first. */
void hub_topics_open(struct hub *h);
struct topic **hub_topic_slot(struct hub *h, const char *session_id);
/* The session's topic, made if there is none. */
struct topic *hub_topic(struct hub *h, const char *tenant_id, const char *session_id);
/* There is something new for those who listen to it, or to any. */
void hub_mark(struct hub *h, struct topic *t);
void hub_mark_all(struct hub *h);

/* hub_check.c; the first two under the lock. */
void hub_list_last(struct hub *h, struct watch *w);
void hub_unlist(struct hub *h, struct watch *w);
void *hub_check_main(void *hub);
/* One who held the watch holds it no longer. */
void hub_release(struct watch *w);
