/* actor.h - as whom a run acts, and what that one holds now.
 *
 * A run has no more rights than somebody has at this moment: the person who
 * spoke, cut down to the key they spoke with, or, where no person did, the one
 * who answers for the webhook that began it.  What a stranger's words began runs
 * with nobody's rights: it may answer, and holds nothing else.  It is asked when a run begins and
 * again at each of its steps, so that what was taken away is gone from then on. */
#pragma once
#include "access/caller.h"

/* How it was begun. */
struct actor_who {
	const char *tenant_id, *agent_id;
	const char *user_id; /* the person who drives it; NULL: nobody does */
	const char *key_id;  /* the key they used; NULL: a login */
	const char *hook_id; /* the integration that drives it; NULL: none does */
	bool stranger;	     /* somebody does who is nobody here; the others are NULL then */
};

struct actor {
	const char *user_id; /* whose rights count; NULL: a stranger drives it, and nobody's do */
	const char *key_id;  /* cut down to this key; NULL: to none */
	permissions agent;   /* held on the agent */
	bool all_sessions; /* sees all of the agent's sessions, not only those they take part in */
};

/* ERR_FORBIDDEN, ERR_SUSPENDED, ERR_NOT_FOUND or ERR_CONFLICT with a code and a sentence if it may not run now:
 * the person has gone or may not have the agent work, the key has ended, the webhook was switched off. */
int actor_load(struct db *db, struct arena *a, const struct actor_who *who, int64_t now,
	struct actor *ret, struct problem *p);

/* As whom an integration acts: actor_load() for what it begins. */
int actor_of_hook(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	const char *hook_id, int64_t now, struct actor *ret, struct problem *p);

extern const struct statement_set actor_sql;
