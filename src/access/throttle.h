/* throttle.h - failed logins, counted by account and by address.
 *
 * The counts are rows, so that every process counts together and a restart
 * forgets nothing.  An account that is not known counts like one that is.  Of
 * an IPv6 address the first half counts, for the rest is its owner's to choose. */
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

/* Anything else that an address may do only so often in the same time: `what` is a word for it. */
struct allowance {
	const char *what, *ip;
	int64_t most;
};

/* ERR_THROTTLED, with the time to wait, if nothing is left. */
int allowance_check(
	struct db *db, struct arena *a, const struct allowance *l, int64_t now, struct problem *p);
/* Takes one, or ERR_THROTTLED. */
int allowance_take(
	struct db *db, struct arena *a, const struct allowance *l, int64_t now, struct problem *p);
/* What was taken turned out well. */
int allowance_give_back(struct db *db, struct arena *a, const struct allowance *l);

/* How long a count lasts. */
#define THROTTLE_US (INT64_C(15) * 60 * 1000000)

extern const struct statement_set throttle_sql;
