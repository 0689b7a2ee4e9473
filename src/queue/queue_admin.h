/* queue_admin.h - the queue as those see it who watch over it.  What jobs hold is never shown. */
#pragma once
#include "store/store.h"

/* Jobs of one state and kind; the earliest moment at which one of them could have run. */
struct queue_count {
	const char *state, *kind;
	int64_t jobs, oldest;
};
SCHEMA_DECLARED(queue_count);

struct queue_depth {
	int64_t waiting, delayed, held, running, dead;
	int64_t oldest; /* since when the oldest of those waiting could run; 0: none waits */
};
SCHEMA_DECLARED(queue_depth);

struct queue_dead {
	const char *id, *tenant_id, *kind, *error;
	int64_t attempts;
};
SCHEMA_DECLARED(queue_dead);

/* Jobs of one kind that are not done, and since when the oldest of them is there; 0: none is. */
struct queue_kind {
	int64_t jobs, oldest;
};

int queue_kind(struct db *db, struct arena *a, const char *kind, struct queue_kind *ret);
int queue_counts(struct db *db, struct arena *a, struct list *ret);
int queue_depth(struct db *db, struct arena *a, struct queue_depth *ret);
/* The newest of the dead. */
int queue_dead(struct db *db, struct arena *a, struct list *ret, size_t most);

/* A dead job is tried again, from its first attempt on.  ERR_NOT_FOUND; ERR_CONFLICT if it is not dead. */
int jobs_retry(
	struct db *db, struct arena *a, const char *id, int64_t now, const char **ret_tenant);
/* A job that does not run is forgotten.  ERR_NOT_FOUND; ERR_CONFLICT if it runs. */
int jobs_drop(struct db *db, struct arena *a, const char *id, const char **ret_tenant);

extern const struct statement_set queue_admin_sql;
