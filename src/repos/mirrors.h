/* mirrors.h - what looks after the repositories on other hosts: threads that ask hosts for refs, threads that wait for git, the job
 * that fetches one, and the sweep that finds which are due. */
#pragma once
#include "queue/runner.h"
#include "repos/mirror.h"

struct mirrors;

/* What is pointed to may be filled in later. */
struct mirrors_settings {
	struct store *const *store;
	struct repos *const *repos;
	struct vault *const *vault;
	const struct host *const *host; /* of the settings; NULL: none */
	enum egress egress;
};

struct mirrors *mirrors_new(const struct mirrors_settings *settings);
/* For the runner's table. */
struct job_kind mirrors_job_kind(struct mirrors *m);
/* Looks at those that are due, as many as it has threads for.  Does not wait; over any number of processes each is looked at once. */
void mirrors_sweep(struct mirrors *m, int64_t now);
/* Nothing of a sweep is under way. */
bool mirrors_are_swept(const struct mirrors *m);
/* After the runner has stopped: ends what is under way, and waits for it. */
void mirrors_stop(struct mirrors *m);
/* After the store has. */
void mirrors_free(struct mirrors *m);
extern const struct statement_set mirror_sweep_sql;
