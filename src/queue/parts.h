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
	TURNS_MAX = 1 << 16,	   /* tenants with work at a time; more are found later */
};

#define JOBS_CHANNEL "jobs"

/* A job that was taken. */
struct taken {
	struct job job;		    /* as its handler knows it */
	struct taken *next, **link; /* among the runner's */
	const struct job_kind *kind;
	struct turn *turn;
	struct arena arena;
	char owner[OWNER_LEN + 1];
	int64_t max_attempts;
	int err; /* it ended with */
	int refs;
	/* What its handler last did about it in the store. */
	enum { TAKEN_OPEN, TAKEN_FINISHED, TAKEN_FAILED, TAKEN_HANDED_OVER } how;
	bool over; /* its handler has said so */
};

/* Waits half of the pause at least, so that what failed together does not come back together. */
int64_t job_pause_us(int64_t attempts);
/* Tells runners of a job that may be taken now, or (run_at later than now) then. */
int jobs_tell(struct db *db, const char *tenant_id, int64_t run_at, int64_t now);

/* The tenants that may have work, in the order in which they are served. */
struct turn {
	char tenant_id[ID_LEN + 1];
	struct turn *same;	     /* the next of the same hash */
	struct turn *before, *after; /* in the ring */
	size_t running;		     /* here */
	bool waits;		     /* in the ring */
	bool asked;		     /* has a round under way been asked about it? */
	bool again;		     /* told of since */
};

struct turns;
struct turns *turns_new(void);
void turns_free(struct turns *t);
/* The tenant may have work.  False if too many have. */
bool turns_add(struct turns *t, const char *tenant_id);
size_t turns_waiting(const struct turns *t);
/* The first in line, taken out of it. */
struct turn *turns_next(struct turns *t);
/* Back into the line: at its end, or (it was not served) at its head. */
void turns_back(struct turns *t, struct turn *turn, bool first);
/* It has nothing now.  Forgotten, unless it has been told of since or something of it runs. */
void turns_empty(struct turns *t, struct turn *turn);
/* One more, or one less, of its jobs runs. */
struct turn *turns_begun(struct turns *t, const char *tenant_id);
void turns_over(struct turns *t, struct turn *turn);
