/* listeners.h - how many streams of events one person, and one tenant, keep open.
 *
 * A stream holds a connection and a watch for as long as its reader likes, so
 * whoever opens them without end would leave no room for others.  Counted
 * are those that wait for what happens (/me/events, a session's events); one
 * that ends with what has happened so far is not.  Each process counts its own. */
#pragma once
#include "call/call.h"

struct listeners;
struct listener;

struct listeners *listeners_new(void);
void listeners_free(struct listeners *l);

/* What one stream counts for; begins as zero. */
struct listening {
	struct listener *person, *tenant;
};

/* One more of whoever is behind the call, and of the tenant, which may be NULL.  ERR_THROTTLED with what to do where
 * that is more than they may have: then nothing is counted. */
int listeners_enter(struct call *c, const char *tenant_id, struct listening *ret);
/* The stream is over; nothing to do for one that was not counted. */
void listeners_leave(struct app *app, struct listening *in);
