/* session_source.h - a session's events as the source of a stream (call/stream.h).
 *
 * Whoever streams what happens in a session has a session_source as the first
 * member of its state, SESSION_SOURCE in its table, and a take() that says
 * what of an event is told.  Whoever may no longer read the session hears no
 * more of it. */
#pragma once
#include "call/stream.h"
#include "events/hub.h"

struct session_source {
	struct call *c;
	struct call_stream *stream;
	const char *tenant_id, *session_id;
	int64_t after; /* events after this one */
	/* One at a time, in order; must not wait. */
	enum hub_verdict (*take)(void *state, const struct hub_event *e);
	struct watch *watch; /* the stream's */
};

/* All but its start and its last. */
#define SESSION_SOURCE                                             \
	.quiet_ms = HUB_QUIET_MS, .resume = session_source_resume, \
	.cancel = session_source_cancel, .recheck = session_source_recheck

int session_source_start(void *state);
void session_source_resume(void *state);
void session_source_cancel(void *state);
int session_source_recheck(void *state, struct db *db, struct arena *a, struct caller *caller);

/* True if the run may have come to rest with this event: whoever waits for that looks into the store. */
bool session_run_may_rest(struct arena *scratch, const char *run_id, const struct hub_event *e);

/* What a source says that has written so far. */
enum hub_verdict session_source_verdict(enum http_flow flow);
