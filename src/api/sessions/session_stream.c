/* session_stream.c - see session_stream.h.
 *
 * The hub hands events on, already as text; here they go to the connection.
 * It knows when such a stream ends, and nothing of how events come about. */
#include "api/sessions/session_stream.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "call/operation.h"
#include "api/sessions/session_source.h"
#include "call/held.h"
#include "sessions/session_events.h"

enum { LAST_EVENT, LAST_KNOWN };

static const struct statement sql[] = {
	[LAST_EVENT] = { "stream_last_event", "select coalesce(max(seq), 0) from session_events "
					      "where tenant_id = $1 and session_id = $2" },
	[LAST_KNOWN] = { "stream_last_known",
		"select last_event_id from sessions where tenant_id = $1 and id = $2" },
};
STATEMENT_SET(session_stream_sql, sql);

struct session_telling {
	struct session_source source; /* first */
	const char *run_id;	      /* ends with the end of this run; NULL: not with one */
	int64_t until;		      /* ends with this event; NIL: not with one */
	int only;		      /* events of this kind; -1: of all */
	bool over;		      /* all was told that was asked for; the hub's thread's */
};

bool session_stream_wanted(const struct call *c)
{
	const char *accept = http_header(&c->x->request, "accept");

	return accept && strcasestr(accept, "text/event-stream");
}

static bool status_ends(struct arena *a, const char *run_id, const struct hub_event *e)
{
	struct StatusEvent said;

	return session_event_read(a, STATUS, e->data, e->len, &said) && said.run_id &&
	       strcmp(said.run_id, run_id) == 0 && session_state_ended(said.status);
}

static bool notice_ends(struct arena *a, const char *run_id, const struct hub_event *e)
{
	struct NoticeEvent said;

	return session_event_read(a, NOTICE, e->data, e->len, &said) && said.run_id && said.code &&
	       strcmp(said.run_id, run_id) == 0 && strcmp(said.code, NOTICE_RUN_CANCELLED) == 0;
}

/* Does it say that the run is over? */
static bool tells_end(const char *run_id, const struct hub_event *e)
{
	struct arena a = { 0 };
	bool end = e->kind == SESSION_EVENT_STATUS   ? status_ends(&a, run_id, e)
		   : e->kind == SESSION_EVENT_NOTICE ? notice_ends(&a, run_id, e)
						     : false;

	arena_free(&a);
	return end;
}

static bool ends_with(const struct session_telling *t, const struct hub_event *e)
{
	return (t->until != NIL && e->seq >= t->until) || (t->run_id && tells_end(t->run_id, e));
}

static enum hub_verdict tell_event(void *state, const struct hub_event *e)
{
	struct session_telling *t = state;
	bool told = t->only < 0 || e->kind == (enum session_event)t->only;
	enum http_flow flow = told ? call_stream_write(t->source.stream, e->frame, e->frame_len)
				   : HTTP_STREAM_OPEN;

	t->over = flow != HTTP_STREAM_GONE && ends_with(t, e);
	return t->over ? HUB_END : session_source_verdict(flow);
}

static int start_telling(void *state)
{
	struct session_telling *t = state;

	if (t->until != NIL && t->source.after >= t->until)
		return STREAM_NOTHING;
	return session_source_start(state);
}

static enum stream_end end_telling(void *state)
{
	const struct session_telling *t = state;

	return t->over ? STREAM_COMPLETE : STREAM_CUT_SHORT;
}

static const struct stream_source telling_source = {
	SESSION_SOURCE,
	.start = start_telling,
	.last = end_telling,
	.resumable = true,
};

int session_stream(struct call *c, const struct session_stream_asked *in)
{
	struct session_telling *t = arena_new(c->arena, struct session_telling);

	t->source = (struct session_source){ .c = c,
		.stream = call_stream(c, &telling_source, t),
		.tenant_id = arena_strdup(c->arena, in->tenant_id),
		.session_id = arena_strdup(c->arena, in->session_id),
		.after = in->after,
		.take = tell_event };
	t->run_id = in->run_id ? arena_strdup(c->arena, in->run_id) : NULL;
	if (in->waits)
		call_stream_count(t->source.stream, t->source.tenant_id);
	t->until = NIL;
	t->only = in->only ? (int)*in->only : -1;
	if (!in->now)
		return 0;
	return db_int(
		c->db, &sql[LAST_EVENT], &t->until, ARGS(T(in->tenant_id), T(in->session_id)));
}

/* ---- GET S/events ---- */

struct events_query {
	int64_t after;
	tri wait;
	int kind;
};

FIELDS(events_query) = {
	FIELD(events_query, after, .nullable = true, BOUNDS(0, INT64_C(9007199254740990)),
		.doc = "Begin after the event with this number, such as a session's last_event_id; "
		       "0: with the first. Without it, and without Last-Event-ID, the stream begins "
		       "with what happens next."),
	FIELD(events_query, wait, .nullable = true, .preset = "true",
		.doc = "False ends the stream after what has happened so far."),
	FIELD(events_query, kind, .nullable = true, .words = &SessionEvent_words,
		.doc = "Only events of this kind, such as the notices of a session that one opens."),
};
static SCHEMA(events_query, .doc = "Where an event stream begins and ends.");

/* What a reader that lost its connection has seen last; NIL if it says nothing. */
static int read_last_id(struct call *c, int64_t *ret)
{
	const char *text = http_header(&c->x->request, "last-event-id");
	size_t len = text ? strlen(text) : 0;

	*ret = NIL;
	if (!len)
		return 0;
	if (len > 16 || strspn(text, "0123456789") != len)
		return call_field(c, "Last-Event-ID", "pattern",
			"is not the number of an event; leave it out to begin with what happens next");
	*ret = strtoll(text, NULL, 10);
	return 0;
}

QUERY_OPERATION(streamSessionEvents, events_query, NONE, .gives = "text/event-stream",
	.events = &session_event_stream)
{
	const char *session_id = call_param(c, "session_id");
	const enum session_event kind = (enum session_event)in->kind;
	int64_t known = 0, last = NIL;
	int err = held_check(c);

	if (!err)
		err = read_last_id(c, &last);
	if (!err)
		err = db_int(c->db, &sql[LAST_KNOWN], &known,
			ARGS(T(c->caller.tenant_id), T(session_id)));
	if (err)
		return err;
	if (last == NIL)
		last = in->after;
	if (last == NIL || last > known) /* one not yet reached comes from another history */
		last = known;
	return session_stream(c, &(struct session_stream_asked){ .tenant_id = c->caller.tenant_id,
					 .session_id = session_id,
					 .after = last,
					 .now = !in->wait,
					 .waits = in->wait != 0,
					 .only = in->kind < 0 ? NULL : &kind });
}

static const struct route routes[] = {
	{ METHOD_GET, "/tenant/{tenant_id}/sessions/{session_id}/events", &streamSessionEvents,
		PERM_SESSION_READ, 200, .tag = "Sessions", .patient = true,
		.doc = "What happens in a session, as server-sent events: message, delta, tool_call, "
		       "approval, status, usage, notice. Last-Event-ID resumes without loss or repeat." },
};
RESOURCE(session_events, routes, NULL, &session_stream_sql);
