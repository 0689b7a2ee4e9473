/* claim_parts.h - the parts of a claim, which run in its transaction one after the other. */
#pragma once
#include "queue/claim.h"

#define EVERYBODY "the queue is one for all tenants"

/* claim_lease.c */
/* On PostgreSQL claims are one after the other, by this lock. */
int claim_lock(struct db *db);
/* Tenants that may have work now (struct one_text); kept with those found before. */
void claim_found(struct claim *r, const struct list *tenants);
/* The jobs of runners that gave no sign of life for too long are given to others. */
int claim_bury_the_dead(struct db *db, struct claim *r);
/* Our own sign of life.  A lease is needed only while something runs under it. */
int claim_heartbeat(struct db *db, struct claim *r);
/* What claims in doubt may have taken goes back. */
int claim_undo_doubted(struct db *db, const struct claim *r);

/* claim_look.c */
int claim_look(struct db *db, struct claim *r);
int claim_make_due(struct db *db, struct claim *r);
/* Has as many of those that are held wait as the lane has room for. */
int claim_release_lane(
	struct db *db, const struct claim *r, const char *tenant_id, const char *lane);
int claim_lane_running(struct db *db, const char *tenant_id, const char *lane, int64_t *ret);
