/* listeners.h - how many streams of events one person, and one tenant, keep open.
 *
 * A stream holds a connection and a watch for as long as its reader likes, so
 * whoever opens them without end would leave no room for others.  Counted
 * are those that wait for what happens (/me/events, a session's events); one
 * that ends with what has happened so far is not.  Counted in the same way are calls of which
 * only so many may be under way at a time.  Each process counts its own. */
#pragma once
#include "call/call.h"

struct listener;

struct listeners *listeners_new(void);
void listeners_free(struct listeners *l);

/* One more of whoever is behind the call, and of the tenant, which may be NULL.  ERR_THROTTLED with what to do where
 * that is more than they may have: then nothing is counted. */
int listeners_enter(struct call *c, const char *tenant_id, struct listening *ret);
/* This call is one more of its kind with that id (a person's, a request's), until its reply is sent or given up.  False if
 * there are `most` already: it is looked and counted at once.  A call counts once, however often it is asked. */
bool listeners_await(struct call *c, const char *kind, const char *id, uint64_t most);
/* The stream is over; nothing to do for one that was not counted. */
void listeners_leave(struct app *app, struct listening *in);
