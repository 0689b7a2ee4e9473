/* me_events.c - GET /me/events: everything the caller may see change, on one connection.
 *
 * The feed tells what happens in the caller's tenants, in turns; here is
 * decided what of it is for the caller.  A decision is at most a few seconds
 * old: then who they are, where they belong and what they see is read anew. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "api/session_stream.h"
#include "base/clock.h"
#include "call/chores.h"
#include "call/steps.h"
#include "sessions/feed.h"

enum { SIGHTS = 64 };

enum { MY_TENANTS };

static const struct statement sql[] = {
	[MY_TENANTS] = { "me_events_tenants",
		"select tenant_id as value from members where user_id = $1 and status = 'active' "
		"order by tenant_id",
		.row = &one_text_schema, .across = "the caller's own memberships" },
};
STATEMENT_SET(me_events_sql, sql);

struct me_events_query {
	const char *tenant_id, *session_id;
	tri wait;
};

FIELDS(me_events_query) = {
	FIELD(me_events_query, tenant_id, .nullable = true, .id = true,
		.doc = "Only what happens in this tenant."),
	FIELD(me_events_query, session_id, .nullable = true, .id = true,
		.doc = "Only what happens in this session."),
	FIELD(me_events_query, wait, .nullable = true, .preset = "true",
		.doc = "False ends the stream behind what has happened so far."),
};
static SCHEMA(me_events_query, .doc = "What of the caller's events, and until when.");

/* What was decided about a session or an agent. */
struct sight {
	char id[ID_LEN + 1];
	bool seen;
};

struct my_tenant {
	char id[ID_LEN + 1];
	bool all; /* every session and agent of it */
};

struct stream {
	struct call *c;
	const char *tenant_id, *session_id; /* filters, or NULL */
	struct feed_place from;
	bool now, over;
	pthread_mutex_t lock;
	struct feed_watch *watch; /* NULL: it is gone */
	/* The feed's thread's: */
	struct my_tenant *tenants;
	size_t tenant_count;
	struct sight *sights; /* SIGHTS of them, or NULL */
};

static int load(struct stream *s, struct db *db, struct arena *a, struct caller *caller)
{
	struct problem p = { 0 };

	return caller_load(caller, db, a, &s->c->credential, clock_now_us(),
		s->c->app->settings.session_idle_us, &p);
}

static bool permits(struct stream *s, struct db *db, struct arena *a, int permission,
	const struct place *place, struct caller *caller)
{
	struct problem p = { 0 };

	return !load(s, db, a, caller) &&
	       !caller_permit(caller, db, a, permission, place, false, &p);
}

/* The tenant counts if the caller may look into it now. */
static void enter(struct stream *s, struct db *db, struct arena *a, const char *tenant_id)
{
	struct place place = { .tenant_id = tenant_id };
	struct my_tenant *t = &s->tenants[s->tenant_count];
	struct caller caller;

	if (!permits(s, db, a, PERM_TENANT_READ, &place, &caller))
		return;
	memcpy(t->id, tenant_id, ID_LEN);
	t->id[ID_LEN] = '\0';
	t->all = caller_holds_all(&caller) &&
		 (caller_cut(&caller, PERM(SESSION_READ) | PERM(AGENT_READ)) ==
			 (PERM(SESSION_READ) | PERM(AGENT_READ)));
	s->tenant_count++;
}

static int my_tenants(struct stream *s, struct db *db, struct arena *a, const struct caller *caller,
	struct list *ret)
{
	const char **one = arena_new(a, const char *);

	*one = s->tenant_id ? s->tenant_id : caller->key_tenant_id;
	*ret = (struct list){ .at = one, .count = 1 };
	if (*one)
		return 0;
	return db_all(db, a, &sql[MY_TENANTS], ret, FEED_TENANTS_MAX, ARGS(T(caller->user_id)));
}

static bool check(void *ctx, struct db *db, struct arena *a, struct list *ret)
{
	struct stream *s = ctx;
	struct caller caller;
	struct list mine;
	const char **ids;
	int err = load(s, db, a, &caller);

	if (http_left(s->c->x))
		return false;
	if (!err)
		err = my_tenants(s, db, a, &caller, &mine);
	if (err)
		return false;
	free(s->sights);
	s->sights = NULL;
	s->tenants = realloc(s->tenants, (mine.count + 1) * sizeof *s->tenants);
	if (!s->tenants)
		abort();
	s->tenant_count = 0;
	for (size_t i = 0; i < mine.count; i++)
		enter(s, db, a, ((const char *const *)mine.at)[i]);
	ids = arena_array(a, const char *, s->tenant_count + 1);
	for (size_t i = 0; i < s->tenant_count; i++)
		ids[i] = arena_strdup(a, s->tenants[i].id);
	*ret = (struct list){ .at = ids, .count = s->tenant_count };
	return true;
}

static bool holds_all(const struct stream *s, const char *tenant_id)
{
	for (size_t i = 0; i < s->tenant_count; i++)
		if (strcmp(s->tenants[i].id, tenant_id) == 0)
			return s->tenants[i].all;
	return false;
}

static struct sight *sight_of(struct stream *s, const char *id)
{
	unsigned h = 0;

	if (!s->sights)
		s->sights = calloc(SIGHTS, sizeof *s->sights);
	if (!s->sights)
		abort();
	for (const char *p = id; *p; p++)
		h = h * 31 + (unsigned char)*p;
	return &s->sights[h % SIGHTS];
}

static bool sees(void *ctx, struct db *db, struct arena *a, const struct feed_subject *in)
{
	struct stream *s = ctx;
	const char *id = in->session_id ? in->session_id : in->agent_id;
	struct place place = { .tenant_id = in->tenant_id,
		.session_id = in->session_id,
		.agent_id = in->session_id ? NULL : in->agent_id };
	struct caller caller;
	struct sight *sight;

	if (s->session_id && strcmp(id, s->session_id) != 0)
		return false;
	if (holds_all(s, in->tenant_id))
		return true;
	sight = sight_of(s, id);
	if (strcmp(sight->id, id) != 0) {
		memcpy(sight->id, id, ID_LEN + 1);
		sight->seen = permits(s, db, a,
			in->session_id ? PERM_SESSION_READ : PERM_AGENT_READ, &place, &caller);
	}
	return sight->seen;
}

static enum hub_verdict take(void *ctx, const char *text, size_t len)
{
	struct stream *s = ctx;
	enum http_flow flow;

	pthread_mutex_lock(&s->lock); /* the head is on its way */
	flow = http_stream_write(s->c->x, text, len);
	pthread_mutex_unlock(&s->lock);
	return flow == HTTP_STREAM_GONE	  ? HUB_END
	       : flow == HTTP_STREAM_FULL ? HUB_PAUSE
					  : HUB_GO_ON;
}

/* The lock stays as long as the exchange: room() may still come. */
static void gone(void *ctx)
{
	struct stream *s = ctx;

	pthread_mutex_lock(&s->lock);
	s->watch = NULL;
	pthread_mutex_unlock(&s->lock);
	free(s->tenants);
	free(s->sights);
	event_stream_end(s->c->x, s->now);
}

static void on_room(struct http_exchange *x)
{
	struct stream *s = ((struct call *)x->data)->own;

	pthread_mutex_lock(&s->lock);
	if (s->watch)
		feed_resume(s->watch);
	pthread_mutex_unlock(&s->lock);
}

static enum http_verdict follow(struct call *c)
{
	struct stream *s = c->own;
	const struct feed_watcher watcher = {
		.check = check, .sees = sees, .take = take, .gone = gone, .ctx = s
	};
	bool head = c->x->request.method == METHOD_HEAD;
	int err = 0;

	touch_credential(c->app, &c->caller, c->caller.last_used, c->now);
	pthread_mutex_init(&s->lock, NULL);
	pthread_mutex_lock(&s->lock); /* nothing is told before the head */
	if (!head)
		err = feed_watch(hub_feed(c->app->hub), &s->from, s->now, &watcher, &s->watch);
	if (!err)
		event_stream_begin(c->x, on_room);
	pthread_mutex_unlock(&s->lock);
	if (err) {
		call_conclude(c, err);
		return HTTP_REPLIED;
	}
	if (head)
		http_stream_end(c->x, true);
	return HTTP_KEPT;
}

/* A filter names something that is there for the caller; else it is not found. */
static int check_filters(struct call *c, const struct me_events_query *in)
{
	struct place place = { .tenant_id = in->tenant_id, .session_id = in->session_id };

	if (!in->tenant_id && !in->session_id)
		return 0;
	return caller_permit(&c->caller, c->db, c->arena,
		in->session_id ? PERM_SESSION_READ : PERM_TENANT_READ, &place, false, &c->problem);
}

OPERATION(streamMyEvents, .query = &me_events_query_schema, .gives = "text/event-stream")
{
	const struct me_events_query *in = c->query;
	const char *last = http_header(&c->x->request, "last-event-id");
	struct stream *s = arena_new(c->arena, struct stream);
	int err = check_filters(c, in);

	if (err)
		return err;
	s->c = c;
	s->tenant_id = in->session_id ? c->caller.tenant_id : in->tenant_id;
	s->session_id = in->session_id;
	s->now = !in->wait;
	if (!last || !*last)
		s->from = (struct feed_place){ .base = NIL, .bound = NIL };
	else if (!feed_place_read(&s->from, last))
		return call_field(c, "Last-Event-ID", "pattern",
			"is not a place in this stream; leave it out to begin with what happens next");
	c->own = s;
	c->follow = follow;
	return 0;
}

static const struct route routes[] = {
	{ METHOD_GET, "/me/events", &streamMyEvents, PERM_LOGIN, 200, .tag = "Identity",
		.patient = true,
		.doc = "Everything the caller may see change, as server-sent events on one connection: "
		       "what happens in sessions, with the pieces of a message joined to at most ten a "
		       "second, and changes of agents. Last-Event-ID resumes without loss or repeat." },
};
RESOURCE(me_events, routes, NULL);
