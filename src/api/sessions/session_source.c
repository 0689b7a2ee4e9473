/* session_source.c - see session_source.h. */
#include "api/sessions/session_source.h"

#include <string.h>

#include "sessions/session_events.h"

/* Nobody takes an event before the first words are said. */
static enum hub_verdict take_event(void *state, const struct hub_event *e)
{
	struct session_source *s = state;

	call_stream_enter(s->stream);
	return s->take(state, e);
}

static void source_gone(void *state)
{
	struct session_source *s = state;

	call_stream_over(s->stream);
}

static bool check_listener(void *state, struct db *db, struct arena *a)
{
	struct session_source *s = state;

	return call_stream_stays(s->stream, db, a);
}

int session_source_start(void *state)
{
	struct session_source *s = state;
	const struct watcher watcher = {
		.take = take_event, .gone = source_gone, .check = check_listener, .ctx = state
	};

	return hub_watch(
		s->c->app->hub, s->tenant_id, s->session_id, s->after, &watcher, &s->watch);
}

void session_source_resume(void *state)
{
	struct session_source *s = state;

	hub_resume(s->watch);
}

void session_source_cancel(void *state)
{
	struct session_source *s = state;

	hub_unwatch(s->watch);
}

int session_source_recheck(void *state, struct db *db, struct arena *a, struct caller *caller)
{
	const struct session_source *s = state;
	struct place place = { .tenant_id = s->tenant_id, .session_id = s->session_id };
	struct problem p = { 0 };

	return caller_permit(caller, db, a, PERM_SESSION_READ, &place, false, &p);
}

static bool run_is(const char *run_id, const char *named)
{
	return named && strcmp(named, run_id) == 0;
}

static bool status_rests(struct arena *a, const char *run_id, const struct hub_event *e)
{
	struct StatusEvent said;

	return session_event_read(a, STATUS, e->data, e->len, &said) &&
	       run_is(run_id, said.run_id) && said.status != SESSION_STATE_PENDING &&
	       said.status != SESSION_STATE_RUNNING;
}

static bool call_waits(struct arena *a, const struct hub_event *e)
{
	struct ToolCallEvent said;

	return session_event_read(a, TOOL_CALL, e->data, e->len, &said) &&
	       (said.state == CALL_STATE_WAITING_CLIENT ||
		       said.state == CALL_STATE_WAITING_APPROVAL);
}

/* It waited, and is over before it began. */
static bool was_cancelled(struct arena *a, const char *run_id, const struct hub_event *e)
{
	struct NoticeEvent said;

	return session_event_read(a, NOTICE, e->data, e->len, &said) && said.code &&
	       strcmp(said.code, NOTICE_RUN_CANCELLED) == 0 && run_is(run_id, said.run_id);
}

bool session_run_may_rest(struct arena *scratch, const char *run_id, const struct hub_event *e)
{
	switch (e->kind) {
	case SESSION_EVENT_STATUS:
		return status_rests(scratch, run_id, e);
	case SESSION_EVENT_TOOL_CALL:
		return call_waits(scratch, e);
	case SESSION_EVENT_NOTICE:
		return was_cancelled(scratch, run_id, e);
	default:
		return false;
	}
}

enum hub_verdict session_source_verdict(enum http_flow flow)
{
	switch (flow) {
	case HTTP_STREAM_OPEN:
		return HUB_GO_ON;
	case HTTP_STREAM_FULL:
		return HUB_PAUSE;
	case HTTP_STREAM_GONE:
		break;
	}
	return HUB_END;
}
