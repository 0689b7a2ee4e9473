/* runner.h - takes jobs off the queue and has them run, a bounded number at a time.
 *
 * Tenants take turns: a tenant with a thousand jobs does not delay another's
 * first.  begin() must not wait; whoever got the job says job_over() when it
 * is finished or requeued in the store, from any thread. */
#pragma once
#include "queue/jobs.h"

struct job_kind {
	const char *name;
	void (*begin)(void *ctx, struct job *job);
	/* The service stops: finish soon, or put it back.  From another thread; may be NULL. */
	void (*stop)(void *ctx, struct job *job);
	void *ctx;
	/* In place of begin(), for a job that is condemned.  NULL: the runner buries it. */
	void (*condemned)(void *ctx, struct job *job);
};

struct runner_settings {
	struct store *store;
	const struct job_kind *kinds; /* must outlive the runner */
	size_t kind_count;
	size_t most;	     /* jobs at a time in this process */
	size_t lane_most;    /* of one lane, over all processes */
	int64_t lease_ms;    /* 0: JOB_LEASE_MS */
	const char *crashed; /* the process here before this one, if it died of a fault (crash.h) */
};

struct runner *runner_new(const struct runner_settings *settings); /* before store_start() */
int runner_start(struct runner *r);
/* Takes no more and asks those under way to stop, without waiting for them: others go on with what they put back. */
void runner_leave(struct runner *r);
/* The same, waits at most grace_ms, and requeues what is left. */
void runner_stop(struct runner *r, int grace_ms);
void runner_free(struct runner *r);
/* The job is finished or requeued, and forgotten here.  With an error, it was neither: the runner puts it
 * back, as failed. */
void job_over(struct job *job, int err);
/* The process, as the first part of its runners' names. */
const char *queue_process(void);

struct runner_stats {
	uint64_t begun, finished, failed, lost;
	size_t open, tenants; /* jobs that run; tenants that may have some that wait */
};
struct runner_stats runner_stats(struct runner *r);
