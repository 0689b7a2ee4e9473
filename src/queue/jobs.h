/* jobs.h - the durable queue: work that is written down in the transaction that makes it necessary.
 *
 *   waiting -> running -> done (the row is gone)
 *                      -> waiting again, later each time -> ... -> dead
 *                      -> (its process died) waiting -> ... -> running alone -> doomed -> dead
 *
 * A job is done when the transaction that holds its effect also takes it off
 * the table, so that it is never done twice and never lost.  Whoever runs one
 * holds a lease on it; without a sign of life it is given to another.  This
 * room knows kinds of jobs by name only, and nothing of what they do. */
#pragma once
#include "store/store.h"

enum {
	JOB_ATTEMPTS = 10,	   /* unless said otherwise */
	JOB_LEASE_MS = 30000,	   /* without a sign of life */
	JOB_PAYLOAD_MAX = 1 << 20, /* bytes */
	JOB_PRIORITY_PERSON = 10,  /* somebody waits for it; 0: nobody does */
};

struct job_new {
	const char *tenant_id, *kind;
	const char *subject; /* what it is about, such as a session; "" for nothing */
	const char *lane;    /* of one lane only so many run at once; NULL: no lane */
	const char *payload; /* JSON text; NULL: {} */
	int priority;	     /* higher is earlier, among the jobs of one tenant */
	int64_t run_at;	     /* not before; 0: now */
	int max_attempts;    /* 0: JOB_ATTEMPTS */
};

/* In the caller's transaction; runners are told when it is committed. */
int jobs_add(
	struct db *db, struct arena *a, const struct job_new *in, int64_t now, char ret_id[26]);

/* A job that is being run here.  It lives until job_over(). */
struct job {
	const char *tenant_id, *id, *kind, *subject, *lane, *payload;
	int64_t attempts; /* this one included; those that ended with their process are not */
	/* Why it is not to be run any more: the process that ran it alone died.  Whoever gets it says so
	 * where it belongs, and buries it with job_condemn().  NULL: run it. */
	const char *condemned;
	int64_t created_at;
	int64_t waits_since; /* it has waited for room in its lane since then; NIL: it has not */
	/* The runner's own. */
	struct runner *runner;
	void *own;
};

/* These three inside a transaction of whoever runs the job.  ERR_CONFLICT: the lease was lost, and
 * nothing of this transaction may stand. */
int job_still_mine(struct db *db, const struct job *job, int64_t now);
int job_finish(struct db *db, const struct job *job, int64_t now);
/* Not now: again at run_at (0: after the usual pause), or dead after the last attempt.  `counts` is false
 * for a job that is handed over rather than failed.  error may be NULL. */
int job_requeue(struct db *db, const struct job *job, int64_t run_at, bool counts,
	const char *error, int64_t now);

/* It is dead, until somebody asks for it again. */
int job_condemn(struct db *db, const struct job *job, int64_t now);

/* ---- waiting for room ----
 *
 * A lane may have no room for a job though it has places: whoever runs the job finds that out, and says for
 * what it waits, in a word.  Those who wait in a lane stand in line by the time at which they began to.  The
 * first is tried again at its time; whoever goes on, or goes, has the next one tried. */

/* No failure and no attempt: again at run_at.  Inside the transaction of whoever runs it, like those above. */
int job_wait(struct db *db, const struct job *job, const char *waits_for, int64_t run_at,
	const char *error, int64_t now);
/* It goes on. */
int job_waited(struct db *db, const struct job *job, int64_t now);
enum { JOBS_AHEAD_MAX = 10000 };
/* How many stand before it in its lane and wait for this (NULL: for anything), up to JOBS_AHEAD_MAX. */
int jobs_ahead(struct db *db, const struct job *job, const char *waits_for, int64_t now,
	int64_t *ret_count);
/* There may be room now: the first of the lane is tried. */
int jobs_wake(struct db *db, const char *tenant_id, const char *lane, int64_t now);
/* A job that waits and does not run is forgotten: nobody needs it any more. */
int jobs_leave(struct db *db, const char *tenant_id, const char *lane, const char *id, int64_t now);

extern const struct statement_set jobs_sql, jobs_wait_sql;
