/* session_stream.h - a session's events as the answer to a request, sent as they happen.
 *
 *   id: 41
 *   event: delta
 *   data: {"message_id": ..., "text": ...}
 *
 * Whoever loses the connection goes on with Last-Event-ID, without gap or
 * repeat.  A reader that is behind is caught up from the log; one that takes
 * nothing is cut off.  Whoever may no longer see the session is told no more. */
#pragma once
#include "call/call.h"
#include "events/events.h"

struct session_stream_asked {
	const char *tenant_id, *session_id;
	int64_t after;	    /* events after this one */
	const char *run_id; /* ends after the event that tells the end of this run; NULL: none */
	bool now;	    /* ends after what has happened so far */
	bool waits; /* for whatever happens, without an end: it is counted (call/listeners.h) */
	const enum session_event *only; /* tells of these; NULL: of all */
};

/* Has the call answered by such a stream: for the end of `apply` (call/stream.h).  The
 * texts are copied.  The caller was permitted to read the session, in this transaction. */
int session_stream(struct call *c, const struct session_stream_asked *in);

/* True if the request says Accept: text/event-stream. */
bool session_stream_wanted(const struct call *c);
