/* throttle.h - guesses at passwords, counted before they are judged.
 *
 * An attempt is reserved in a transaction of its own before the password is
 * hashed, so that a hundred guesses at once are a hundred, on any process; one
 * that turns out right is given back.  Whose guesses count against whom is
 * decided so that nobody can lock another out: a browser or an address from
 * which the person has signed in before has a count of its own, and what
 * strangers do elsewhere does not touch it.  docs/accounts.md has the limits
 * and the reasons.
 *
 * The counts are rows, so that every process counts together and a restart
 * forgets nothing.  An account that is not known counts like one that is.  Of
 * an IPv6 address the first half counts, for the rest is its owner's to choose. */
#pragma once
#include "access/caller.h"
#include "base/clock.h"

/* Whom an attempt counts against. */
struct throttle {
	const char *email; /* "": nobody's account, and only the address counts */
	const char *ip;
	const char *device; /* what the browser was given at an earlier sign-in; NULL: nothing */
	const char *login;  /* of somebody signed in: the hash of the login, which alone counts */
};

enum { THROTTLE_COUNTS = 3 };

/* What was reserved, for giving it back. */
struct throttle_hold {
	const char *subjects[THROTTLE_COUNTS];
	int count;
};

/* ERR_THROTTLED, with the time to wait, if there is no room for an attempt.  Takes none. */
int throttle_check(
	struct db *db, struct arena *a, const struct throttle *t, int64_t now, struct problem *p);
/* Reserves one, or ERR_THROTTLED: the transaction is then to be rolled back.  Comes first in it. */
int throttle_take(struct db *db, struct arena *a, const struct throttle *t, int64_t now,
	struct throttle_hold *ret, struct problem *p);
/* It was not judged. */
int throttle_give_back(struct db *db, const struct throttle_hold *h);
/* It was right: earlier mistakes in the same place are forgotten too. */
int throttle_clear(struct db *db, const struct throttle_hold *h);
/* A failure that is known only afterwards counts against the address alone. */
int throttle_fail(struct db *db, struct arena *a, const char *ip, int64_t now);

/* The person has signed in from here: from now on this browser and this address are familiar. */
int throttle_know(struct db *db, struct arena *a, const struct throttle *t, int64_t now);
/* Forgets what is familiar of an account, and what counts against it wherever it was tried from. */
int throttle_forget(struct db *db, struct arena *a, const char *email);
/* The latter alone. */
int throttle_unlock(struct db *db, struct arena *a, const char *email);

/* The person has signed in from here before. */
int throttle_familiar(
	struct db *db, struct arena *a, const struct throttle *t, int64_t now, bool *ret);

/* Anything else that may be done only so often in the same time, or in a day. */
struct allowance {
	const char *what; /* a word for it */
	const char *ip;	  /* from where it is done; NULL: from wherever */
	int64_t most;
	const char *to; /* to whom, apart for each; NULL: to all together */
	const char *
		said; /* what there is too much of, for the sentence; NULL: these from that address */
	bool a_day;
};
/* What the subject of a count begins with that lasts a day. */
#define THROTTLE_DAY "day:"

/* ERR_THROTTLED, with the time to wait, if nothing is left. */
int allowance_check(
	struct db *db, struct arena *a, const struct allowance *l, int64_t now, struct problem *p);
/* Takes one, or ERR_THROTTLED. */
int allowance_take(
	struct db *db, struct arena *a, const struct allowance *l, int64_t now, struct problem *p);
/* What was taken turned out well. */
int allowance_give_back(struct db *db, struct arena *a, const struct allowance *l);

/* How long a count lasts, and how long a place stays familiar. */
#define THROTTLE_US (INT64_C(15) * 60 * 1000000)
#define FAMILIAR_US (90 * DAY_US)

extern const struct statement_set throttle_sql;
