/* me_events.c - GET /me/events: everything the caller may see change, on one connection.
 *
 * The feed tells what happens in the caller's tenants, in turns; here is
 * decided what of it is for the caller.  A decision is at most a few seconds
 * old: then who they are, where they belong and what they see is read anew. */
#include <stdlib.h>
#include <string.h>

#include "call/operation.h"
#include "access/changes.h"
#include "api/sessions/session_rows.h"
#include "api/sessions/session_source.h"
#include "base/memory.h"
#include "call/held.h"
#include "events/feed.h"
#include "sessions/session_events.h"
#include "store/row.h"

enum { SIGHTS = 64 };

enum { MY_TENANTS, AGENT_SHOWN };

struct agent_asked {
	const char *tenant_id, *agent_id, *user_id;
	bool holds_all;
};
FIELDS(agent_asked) = { ROW_FIELDS(agent_asked, tenant_id, agent_id, user_id, holds_all) };
static SCHEMA(agent_asked, .internal = true);

static const struct statement sql[] = {
	[MY_TENANTS] = { "me_events_tenants",
		"select tenant_id as value from members where user_id = $1 and status = 'active' "
		"order by tenant_id",
		.row = &one_text_schema, .across = "the caller's own memberships" },
	/* As the list of agents shows them, hidden ones where that is asked for. */
	[AGENT_SHOWN] = { "me_events_agent",
		"select count(*) from agents a where a.tenant_id = :tenant_id and a.id = :agent_id "
		"and (a.hidden = 0 or :holds_all = 1 or " HOLDS_ROLE(
			":user_id", "'MANAGER', 'OWNER'") ")",
		.args = &agent_asked_schema },
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
		.doc = "False ends the stream after what has happened so far."),
};
static SCHEMA(me_events_query, .doc = "What of the caller's events, and until when.");

/* What was decided about a session or an agent. */
struct sight {
	char id[ID_LEN + 1];
	bool seen;
};

struct my_tenant {
	char id[ID_LEN + 1];
	bool all;	  /* every session and agent of it */
	permissions held; /* in it, or of the whole service */
};

struct my_stream {
	struct call *c;
	struct call_stream *stream;
	const char *tenant_id, *session_id; /* filters, or NULL */
	struct feed_cursor from;
	bool now, cut;
	struct feed_watch *watch; /* the stream's */
	/* The feed's thread's: */
	struct my_tenant *tenants;
	size_t tenant_count;
	struct sight *sights; /* SIGHTS of them, or NULL */
};

static bool me_stream_permits(struct my_stream *s, struct db *db, struct arena *a, int permission,
	const struct place *place, struct caller *caller)
{
	struct problem p = { 0 };

	return !call_stream_caller(s->stream, db, a, caller) &&
	       !caller_permit(caller, db, a, permission, place, false, &p);
}

/* The tenant counts if the caller may look into it now. */
static void me_stream_enter_tenant(
	struct my_stream *s, struct db *db, struct arena *a, const char *tenant_id)
{
	const bool house = strcmp(tenant_id, FEED_HOUSE) == 0;
	struct place place = { .tenant_id = house ? NULL : tenant_id, .admin_read = house };
	struct my_tenant *t = &s->tenants[s->tenant_count];
	struct caller caller;

	if (!me_stream_permits(s, db, a, house ? PERM_SUPER : PERM_TENANT_READ, &place, &caller))
		return;
	memcpy(t->id, tenant_id, ID_LEN);
	t->id[ID_LEN] = '\0';
	t->held = house ? PERM(SUPER) : caller.tenant;
	s->tenant_count++;
	t->all = false;
	if (house)
		return;
	t->all = caller_holds_all(&caller) &&
		 (caller_cut(&caller, PERM(SESSION_READ) | PERM(AGENT_READ)) ==
			 (PERM(SESSION_READ) | PERM(AGENT_READ)));
}

static int my_tenants(struct my_stream *s, struct db *db, struct arena *a,
	const struct caller *caller, struct list *ret)
{
	const char **one = arena_new(a, const char *);

	*one = s->tenant_id ? s->tenant_id : caller->key_tenant_id;
	*ret = (struct list){ .at = one, .count = 1 };
	if (*one)
		return 0;
	return db_all(db, a, &sql[MY_TENANTS], ret, FEED_TENANTS_MAX - 1, ARGS(T(caller->user_id)));
}

/* Where they belong, anew. */
static int recheck_tenants(void *state, struct db *db, struct arena *a, struct caller *caller)
{
	struct my_stream *s = state;
	struct list mine;
	int err = my_tenants(s, db, a, caller, &mine);

	if (err)
		return err;
	free(s->sights);
	s->sights = NULL;
	s->tenants = realloc(s->tenants, (mine.count + 2) * sizeof *s->tenants);
	if (!s->tenants)
		abort();
	s->tenant_count = 0;
	if (!s->tenant_id)
		me_stream_enter_tenant(s, db, a, FEED_HOUSE);
	for (size_t i = 0; i < mine.count; i++)
		me_stream_enter_tenant(s, db, a, ((const char *const *)mine.at)[i]);
	return 0;
}

static bool check_follower(void *state, struct db *db, struct arena *a, struct list *ret)
{
	struct my_stream *s = state;
	const char **ids;

	if (call_stream_recheck(s->stream, db, a))
		return false;
	ids = arena_array(a, const char *, s->tenant_count + 1);
	for (size_t i = 0; i < s->tenant_count; i++)
		ids[i] = arena_strdup(a, s->tenants[i].id);
	*ret = (struct list){ .at = ids, .count = s->tenant_count };
	return true;
}

static const struct my_tenant *me_stream_tenant(const struct my_stream *s, const char *tenant_id)
{
	for (size_t i = 0; i < s->tenant_count; i++)
		if (strcmp(s->tenants[i].id, tenant_id) == 0)
			return &s->tenants[i];
	return NULL;
}

/* Decided by what they hold in the tenant, or on the agent that it belongs to. */
static bool me_stream_sees_change(struct my_stream *s, struct db *db, struct arena *a,
	const struct my_tenant *t, const struct ChangeEvent *change)
{
	struct place place = { .tenant_id = t->id, .agent_id = change->agent_id };
	struct caller caller;
	int asked;

	switch (change_shown(change, t->held, s->c->caller.user_id, &asked)) {
	case CHANGE_SHOWN:
		return true;
	case CHANGE_BY_AGENT:
		return me_stream_permits(s, db, a, asked, &place, &caller);
	case CHANGE_HIDDEN:
		break;
	}
	return false;
}

static struct sight *sight_of(struct my_stream *s, const char *id)
{
	unsigned h = 0;

	if (!s->sights)
		s->sights = memory_zeroed(SIGHTS * sizeof *s->sights);
	for (const char *p = id; *p; p++)
		h = h * 31 + (unsigned char)*p;
	return &s->sights[h % SIGHTS];
}

/* A hidden agent is told of to those who find it in the list. */
static bool me_stream_shows_agent(
	struct db *db, const struct caller *caller, const struct feed_subject *in)
{
	int64_t shown = 0;

	return !db_int(db, &sql[AGENT_SHOWN], &shown,
		       BY_NAME(agent_asked, &((struct agent_asked){ .tenant_id = in->tenant_id,
						    .agent_id = in->agent_id,
						    .user_id = caller->user_id,
						    .holds_all = caller_holds_all(caller) }))) &&
	       shown;
}

static bool me_stream_sees(void *ctx, struct db *db, struct arena *a, const struct feed_subject *in)
{
	struct my_stream *s = ctx;
	const char *id = in->session_id ? in->session_id : in->agent_id;
	struct place place = { .tenant_id = in->tenant_id,
		.session_id = in->session_id,
		.agent_id = in->session_id ? NULL : in->agent_id };
	const struct my_tenant *t = me_stream_tenant(s, in->tenant_id);
	struct caller caller;
	struct sight *sight;

	if (!t || (s->session_id && strcmp(id, s->session_id) != 0))
		return false;
	if (in->change)
		return me_stream_sees_change(s, db, a, t, in->change);
	if (t->all)
		return true;
	sight = sight_of(s, id);
	if (strcmp(sight->id, id) != 0) {
		memcpy(sight->id, id, ID_LEN + 1);
		sight->seen = me_stream_permits(s, db, a,
			in->session_id ? PERM_SESSION_READ : PERM_AGENT_READ, &place, &caller);
		if (sight->seen && !in->session_id)
			sight->seen = me_stream_shows_agent(db, &caller, in);
	}
	return sight->seen;
}

static enum hub_verdict tell_turn(void *state, const char *text, size_t len)
{
	struct my_stream *s = state;
	enum http_flow flow = call_stream_write(s->stream, text, len);

	s->cut = flow == HTTP_STREAM_GONE;
	return session_source_verdict(flow);
}

static void feed_gone(void *state)
{
	struct my_stream *s = state;

	call_stream_over(s->stream);
}

static int start_feed(void *state)
{
	struct my_stream *s = state;
	const struct feed_watcher watcher = { .check = check_follower,
		.sees = me_stream_sees,
		.take = tell_turn,
		.gone = feed_gone,
		.ctx = s };

	return feed_watch(hub_feed(s->c->app->hub), &s->from, s->now, &watcher, &s->watch);
}

static void resume_feed(void *state)
{
	struct my_stream *s = state;

	feed_resume(s->watch);
}

static void cancel_feed(void *state)
{
	struct my_stream *s = state;

	feed_unwatch(s->watch);
}

static enum stream_end end_feed(void *state)
{
	struct my_stream *s = state;

	free(s->tenants);
	free(s->sights);
	return s->now && !s->cut ? STREAM_COMPLETE : STREAM_CUT_SHORT;
}

/* The feed gives the signs of life: each moves the reader's place. */
static const struct stream_source feed_source = {
	.resumable = true,
	.start = start_feed,
	.resume = resume_feed,
	.cancel = cancel_feed,
	.recheck = recheck_tenants,
	.last = end_feed,
};

/* A filter names something that is there for the caller; else it is not found. */
static int check_filters(struct call *c, const struct me_events_query *in)
{
	struct place place = { .tenant_id = in->tenant_id, .session_id = in->session_id };

	if (!in->tenant_id && !in->session_id)
		return 0;
	return caller_permit(&c->caller, c->db, c->arena,
		in->session_id ? PERM_SESSION_READ : PERM_TENANT_READ, &place, false, &c->problem);
}

QUERY_OPERATION(streamMyEvents, me_events_query, NONE, .gives = "text/event-stream",
	.events = &feed_event_stream)
{
	const char *last = http_header(&c->x->request, "last-event-id");
	struct my_stream *s = arena_new(c->arena, struct my_stream);
	int err = held_check(c);

	if (!err)
		err = check_filters(c, in);
	if (err)
		return err;
	s->c = c;
	s->tenant_id = in->session_id ? c->caller.tenant_id : in->tenant_id;
	s->session_id = in->session_id;
	s->now = !in->wait;
	if (!last || !*last)
		s->from = (struct feed_cursor){ .base = NIL, .bound = NIL };
	else if (!feed_cursor_read(&s->from, last))
		return call_field(c, "Last-Event-ID", "pattern",
			"is not a place in this stream; leave it out to begin with what happens next");
	s->stream = call_stream(c, &feed_source, s);
	if (!s->now)
		call_stream_count(s->stream, s->tenant_id);
	return 0;
}

static const struct route routes[] = {
	{ METHOD_GET, "/me/events", &streamMyEvents, PERM_LOGIN, 200, .tag = "Identity",
		.patient = true,
		.doc = "Everything the caller may see change, as server-sent events on one connection: "
		       "what happens in sessions, with the pieces of a message joined to at most ten a "
		       "second, and changes of agents and of whatever else the caller may list. Last-Event-ID resumes without loss or repeat." },
};
RESOURCE(me_events, routes, NULL, &me_events_sql);
