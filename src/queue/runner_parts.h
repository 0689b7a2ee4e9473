/* runner_parts.h - a runner as its three files know it: the thread that decides (runner.c), what it asks of the store
 * (runner_claims.c), and the jobs it has (runner_jobs.c).  All of it is under the lock. */
#pragma once
#include <pthread.h>

#include "queue/claim.h"

enum { BUSY_PAUSE_MS = 20 }; /* before asking again a store that had no room */

struct runner {
	struct runner_settings settings;
	int64_t lease_ms, look_ms;
	pthread_mutex_t lock;
	pthread_cond_t more;	/* the thread has something to do */
	pthread_cond_t changed; /* who stops the runner may go on */
	pthread_t thread;
	bool started, stopping, told_to_stop, ended, abandoned;
	char owner[OWNER_LEN + 1];
	struct tenant_ring *tenant_ring;
	struct claimed *open, *freed, *failed;
	size_t open_count, backs; /* jobs here; pieces of work that put some back */
	struct claim claim;
	bool asked, answered; /* a claim is under way; it is over */
	int answer;
	size_t unasked;		/* tenants that waited and were not asked about */
	bool wanted;		/* there may be jobs to take */
	bool solo;		/* the one that runs must run alone */
	bool draining, cleared; /* one waits that must; those at work were asked to go */
	int64_t draining_since; /* monotonic milliseconds */
	bool look_now;
	int64_t due;				/* wall clock; 0: nothing delayed */
	int64_t looked_at, beaten_at, retry_at; /* monotonic milliseconds */
	struct runner_stats stats;
};

/* runner_jobs.c */
/* Its place is free, and its lane has room. */
void runner_settle_job(struct runner *r, struct claimed *t);
/* Begins what a claim took, outside the lock. */
void runner_begin_jobs(struct runner *r);
/* Asks all that are at work to come to an end, outside the lock; each is kept alive meanwhile. */
void runner_stop_jobs(struct runner *r);
/* Has the store take back those that ended in an error. */
void runner_requeue_failed(struct runner *r);
void runner_drop_all(struct claimed **list);
/* What a claim could not see to joins those that ended meanwhile: their lanes still wait for the next. */
void runner_free_again(struct runner *r, struct claimed **list);
/* Not under the lock: by whoever is the last. */
void runner_destroy(struct runner *r);

/* runner_claims.c */
/* A lease of its own from now on. */
void runner_new_owner(struct runner *r);
bool runner_has_to_ask(const struct runner *r, int64_t mono, int64_t now);
void runner_ask(struct runner *r, int64_t mono, int64_t now);
void runner_claim_done(struct work *w, int err);
void runner_answered(struct runner *r);
