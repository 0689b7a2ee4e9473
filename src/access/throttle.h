/* throttle.h - failed logins, counted by account and by address.
 *
 * The counts are rows, so that every process counts together and a restart
 * forgets nothing.  An address that is not known counts like one that is. */
#pragma once
#include "access/caller.h"

/* Whom an attempt counts against; an email of "" is nobody's account, and only the address counts. */
struct throttle {
	const char *email, *ip;
};

/* ERR_THROTTLED, with the time to wait, if either has failed too often of late. */
int throttle_check(
	struct db *db, struct arena *a, const struct throttle *t, int64_t now, struct problem *p);
int throttle_fail(struct db *db, struct arena *a, const struct throttle *t, int64_t now);
/* A success clears the account; the address stays counted. */
int throttle_clear(struct db *db, struct arena *a, const struct throttle *t);

extern const struct statement_set throttle_sql;
