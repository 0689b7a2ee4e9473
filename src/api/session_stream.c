/* session_stream.c - see session_stream.h.
 *
 * The hub hands events on, already as text; here they go to the connection.
 * It knows when such a stream ends, and nothing of how events come about. */
#include "api/session_stream.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/api.h"
#include "base/clock.h"
#include "base/json.h"
#include "call/chores.h"
#include "call/steps.h"
#include "sessions/hub.h"

enum { LAST_EVENT, LAST_KNOWN };

static const struct statement sql[] = {
	[LAST_EVENT] = { "stream_last_event", "select coalesce(max(seq), 0) from session_events "
					      "where tenant_id = $1 and session_id = $2" },
	[LAST_KNOWN] = { "stream_last_known",
		"select last_event_id from sessions where tenant_id = $1 and id = $2" },
};
STATEMENT_SET(session_stream_sql, sql);

struct stream {
	struct call *c;
	struct session_stream_asked in;
	int64_t until; /* NIL: no such end */
	bool over;     /* all was told that was asked for; the hub's thread's */
	pthread_mutex_t lock;
	struct watch *watch; /* NULL: it is gone */
};

/* A reader tries again by itself, at once or nearly. */
#define GREETING "retry: 1000\n\n"
#define FAREWELL ": the stream ends here; go on with Last-Event-ID\n\n"

void event_stream_begin(struct http_exchange *x, void (*room)(struct http_exchange *x))
{
	x->reply.status = 200;
	x->reply.type = "text/event-stream";
	buf_lit(&x->reply.extra, "Cache-Control: no-store\r\nX-Accel-Buffering: no\r\n");
	if (http_stream_begin(x, room))
		http_stream_write(x, GREETING, sizeof GREETING - 1);
}

void event_stream_end(struct http_exchange *x, bool complete)
{
	if (!complete)
		http_stream_write(x, FAREWELL, sizeof FAREWELL - 1);
	http_stream_end(x, true);
}

bool session_stream_wanted(const struct call *c)
{
	const char *accept = http_header(&c->x->request, "accept");

	return accept && strcasestr(accept, "text/event-stream");
}

/* {status, run_id, ...}: does it say that the run is over? */
static bool tells_end(const char *run_id, const char *data, size_t len)
{
	struct arena a = { 0 };
	struct json_reader r;
	const char *key, *status = "", *run = "", *value;
	size_t key_len, n;
	bool end;

	json_open(&r, &a, data, len);
	json_enter_object(&r);
	while (json_next_key(&r, &key, &key_len)) {
		if (json_peek(&r) != JSON_STRING) {
			json_skip(&r, NULL, NULL);
			continue;
		}
		if (!json_read_string(&r, &value, &n))
			break;
		if (key_len == 6 && memcmp(key, "status", 6) == 0)
			status = value;
		else if (key_len == 6 && memcmp(key, "run_id", 6) == 0)
			run = value;
	}
	end = strcmp(run, run_id) == 0 &&
	      (strcmp(status, "completed") == 0 || strcmp(status, "failed") == 0 ||
		      strcmp(status, "cancelled") == 0);
	arena_free(&a);
	return end;
}

static bool ends_with(const struct stream *s, const struct hub_event *e)
{
	return (s->until != NIL && e->seq >= s->until) ||
	       (s->in.run_id && e->kind == SESSION_EVENT_STATUS &&
		       tells_end(s->in.run_id, e->data, e->len));
}

static enum hub_verdict take(void *ctx, const struct hub_event *e)
{
	struct stream *s = ctx;
	enum http_flow flow;

	pthread_mutex_lock(&s->lock); /* the head is on its way */
	flow = http_stream_write(s->c->x, e->frame, e->frame_len);
	pthread_mutex_unlock(&s->lock);
	if (flow == HTTP_STREAM_GONE)
		return HUB_END;
	s->over = ends_with(s, e);
	return s->over ? HUB_END : flow == HTTP_STREAM_FULL ? HUB_PAUSE : HUB_GO_ON;
}

/* The lock stays as long as the exchange: room() may still come. */
static void gone(void *ctx)
{
	struct stream *s = ctx;
	struct http_exchange *x = s->c->x;

	pthread_mutex_lock(&s->lock);
	s->watch = NULL;
	pthread_mutex_unlock(&s->lock);
	event_stream_end(x, s->over);
}

/* On the loop: the peer has taken what there was, or is gone. */
static void on_room(struct http_exchange *x)
{
	struct stream *s = ((struct call *)x->data)->own;

	pthread_mutex_lock(&s->lock);
	if (s->watch)
		hub_resume(s->watch);
	pthread_mutex_unlock(&s->lock);
}

/* Whoever was permitted once need not be any more. */
static bool check(void *ctx, struct db *db, struct arena *a, bool quiet)
{
	struct stream *s = ctx;
	const struct call *c = s->c;
	struct place place = { .tenant_id = s->in.tenant_id, .session_id = s->in.session_id };
	struct caller caller;
	struct problem p = { 0 };
	int err;

	if (http_left(c->x))
		return false;
	err = caller_load(&caller, db, a, &c->credential, clock_now_us(),
		c->app->settings.session_idle_us, &p);
	if (!err)
		err = caller_permit(&caller, db, a, PERM_SESSION_READ, &place, false, &p);
	if (err && err != ERR_STORE && err != ERR_BUSY && err != ERR_RETRY)
		return false;
	return !quiet || http_stream_write(c->x, ":\n\n", 3) != HTTP_STREAM_GONE;
}

static enum http_verdict follow(struct call *c)
{
	struct stream *s = c->own;
	const struct watcher watcher = { .take = take, .gone = gone, .check = check, .ctx = s };
	bool nothing =
		(s->until != NIL && s->in.after >= s->until) || c->x->request.method == METHOD_HEAD;
	int err = 0;

	touch_credential(c->app, &c->caller, c->caller.last_used, c->now);
	pthread_mutex_init(&s->lock, NULL);
	pthread_mutex_lock(&s->lock); /* nothing is handed on before the head */
	if (!nothing)
		err = hub_watch(c->app->hub, s->in.tenant_id, s->in.session_id, s->in.after,
			&watcher, &s->watch);
	if (!err)
		event_stream_begin(c->x, on_room);
	pthread_mutex_unlock(&s->lock);
	if (err) {
		call_conclude(c, err);
		return HTTP_REPLIED;
	}
	if (nothing)
		http_stream_end(c->x, true);
	return HTTP_KEPT;
}

int session_stream(struct call *c, const struct session_stream_asked *in)
{
	struct stream *s = arena_new(c->arena, struct stream);
	int err = 0;

	s->c = c;
	s->in = *in;
	s->in.tenant_id = arena_strdup(c->arena, in->tenant_id);
	s->in.session_id = arena_strdup(c->arena, in->session_id);
	s->in.run_id = in->run_id ? arena_strdup(c->arena, in->run_id) : NULL;
	s->until = NIL;
	if (in->now)
		err = db_int(c->db, &sql[LAST_EVENT], &s->until,
			ARGS(T(in->tenant_id), T(in->session_id)));
	c->own = s;
	c->follow = follow;
	return err;
}

/* ---- GET S/events ---- */

struct events_query {
	int64_t after;
	tri wait;
};

FIELDS(events_query) = {
	FIELD(events_query, after, .nullable = true, BOUNDS(0, INT64_C(9007199254740990)),
		.doc = "Begin behind the event with this number, such as a session's last_event_id; "
		       "0: with the first. Without it, and without Last-Event-ID, the stream begins "
		       "with what happens next."),
	FIELD(events_query, wait, .nullable = true, .preset = "true",
		.doc = "False ends the stream behind what has happened so far."),
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

OPERATION(streamSessionEvents, .query = &events_query_schema, .gives = "text/event-stream")
{
	const struct events_query *in = c->query;
	const char *session_id = call_param(c, "session_id");
	int64_t known = 0, last;
	int err = read_last_id(c, &last);

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
					 .now = !in->wait });
}

static const struct route routes[] = {
	{ METHOD_GET, "/tenant/{tenant_id}/sessions/{session_id}/events", &streamSessionEvents,
		PERM_SESSION_READ, 200, .tag = "Sessions", .patient = true,
		.doc = "What happens in a session, as server-sent events: message, delta, tool_call, "
		       "approval, status, usage, notice. Last-Event-ID resumes without loss or repeat." },
};
RESOURCE(session_events, routes, NULL);
