/* session_source.c - see session_source.h. */
#include "api/sessions/session_source.h"

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
