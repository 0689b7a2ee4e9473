/* parts.h - what the files of this room share: a job as the runner holds it, and whose turn it is. */
#pragma once
#include "base/arena.h"
#include "base/id.h"
#include "queue/runner.h"

enum {
	OWNER_LEN = ID_LEN + 12,   /* a process and a number */
	JOB_ERROR_MAX = 2000,	   /* bytes of what is kept of an error */
	PAUSE_FIRST_MS = 1000,	   /* before the second attempt; doubled with each */
	PAUSE_MAX_MS = 10 * 60000, /* but never longer */
	TENANT_RING_MAX = 1 << 16, /* tenants with work at a time; more are found later */
	DEATHS_ALONE = 3,	   /* processes died with it: it may be why, and runs alone */
	DEATHS_MOST = 13,	   /* so many for no known reason, the last ten alone */
};

/* Of a job, in statements: it runs alone. */
#define SUSPECT "deaths >= 3 and doomed = 0"
_Static_assert(DEATHS_ALONE == 3 && DEATHS_MOST == 13, "as in the statements");

#define JOBS_CHANNEL "jobs"

/* A job that was taken. */
struct claimed {
	struct job job;		      /* as its handler knows it */
	struct claimed *next, **link; /* among the runner's */
	const struct job_kind *kind;
	struct ring_tenant *ring_tenant;
	struct arena arena;
	char owner[OWNER_LEN + 1];
	int64_t max_attempts;
	int err; /* it ended with */
	int refs;
	/* What its handler last did about it in the store. */
	enum { CLAIMED_OPEN, CLAIMED_FINISHED, CLAIMED_FAILED, CLAIMED_HANDED_OVER } how;
	bool over; /* its handler has said so */
};

/* job_mark.c */
const char *job_owner(const struct job *job);
void job_note(const struct job *job, int how);
/* The beginning of an error, whole characters only; NULL stays NULL. */
const char *job_error_cut(char to[JOB_ERROR_MAX + 1], const char *text);

/* Tells runners of a job that may be taken now, or (run_at later than now) then. */
int jobs_tell(struct db *db, const char *tenant_id, int64_t run_at, int64_t now);

/* jobs.c: waits half of the pause at least, so that what failed together does not come back together. */
int64_t job_pause_us(int64_t attempts);

/* The tenants that may have work, in the order in which they are served. */
struct ring_tenant {
	char tenant_id[ID_LEN + 1];
	struct ring_tenant *same;	    /* the next of the same hash */
	struct ring_tenant *before, *after; /* in the ring */
	size_t running;			    /* here */
	bool waits;			    /* in the ring */
	bool asked;			    /* has a claim under way been asked about it? */
	bool again;			    /* told of since */
};

struct tenant_ring;
struct tenant_ring *tenant_ring_new(void);
void tenant_ring_free(struct tenant_ring *t);
/* The tenant may have work.  False if too many have. */
bool tenant_ring_add(struct tenant_ring *t, const char *tenant_id);
size_t tenant_ring_waiting(const struct tenant_ring *t);
/* The first in line, taken out of it. */
struct ring_tenant *tenant_ring_next(struct tenant_ring *t);
/* Back into the line: at its end, or (it was not served) at its head. */
void tenant_ring_back(struct tenant_ring *t, struct ring_tenant *ring_tenant, bool first);
/* It has nothing now.  Forgotten, unless it has been told of since or something of it runs. */
void tenant_ring_empty(struct tenant_ring *t, struct ring_tenant *ring_tenant);
/* One more, or one less, of its jobs runs. */
struct ring_tenant *tenant_ring_begun(struct tenant_ring *t, const char *tenant_id);
void tenant_ring_over(struct tenant_ring *t, struct ring_tenant *ring_tenant);
