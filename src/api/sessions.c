/* sessions.c - sessions as their people use them: begin, find, read, name, end, delete.
 *
 * What a session is and how an agent works in it is the business of the room
 * sessions/; here requests become its functions.  Whoever has a role of their
 * own on the agent sees all of its sessions, everybody else those they take
 * part in: for one session access/caller.c decides that, for lists the
 * statements here do. */
#include "api/sessions.h"

#include <string.h>

#include "api/search.h"
#include "api/session_rows.h"
#include "base/fold.h"
#include "sessions/session.h"
#include "store/listing.h"

/* $1 tenant, $2 agent; $3 whoever takes part: their sessions are walked, which are fewer than the agent's,
 * where SQLite left to itself would take the latter */
#define ALL_FROM "sessions s where s.tenant_id = $1 and s.agent_id = $2"
#define OWN_FROM                                                         \
	"session_people p cross join sessions s where p.tenant_id = $1 " \
	"and p.user_id = $3 and s.tenant_id = $1 and s.id = p.session_id and s.agent_id = $2"

/* $1 user, $2 the tenant of a key or null, $3 whether the credential reads sessions at all */
#define MINE_FROM                                                                             \
	"session_people p join members m on m.tenant_id = p.tenant_id and m.user_id = $1 "    \
	"and m.status = 'active' join tenants t on t.id = p.tenant_id "                       \
	"and t.status not in ('suspended', 'closed') "                                        \
	"join sessions s on s.tenant_id = p.tenant_id and s.id = p.session_id "               \
	"join agents a on a.tenant_id = s.tenant_id and a.id = s.agent_id "                   \
	"where p.user_id = $1 and (cast($2 as text) is null or p.tenant_id = $2) and $3 = 1 " \
	"and (m.role in ('OWNER', 'ADMIN') or (a.is_admin_only = 0 "                          \
	"and (a.default_role_enabled = 1 or " HOLDS_ROLE(                                     \
		"$1", "'VIEWER', 'MANAGER', 'OWNER'") ")))"
#define MINE "sessions of one user, over tenants"

/* The session and what it has given away, whatever the depth; $1 tenant, $2 session */
#define TREE                                                                               \
	"with recursive tree (id, depth) as (select s.id, s.depth from sessions s "        \
	"where s.tenant_id = $1 and s.id = $2 union all select s.id, s.depth from tree t " \
	"join sessions s on s.tenant_id = $1 and s.parent_session_id = t.id) "

enum {
	ALL_LIST,
	OWN_LIST = ALL_LIST + LIST_SORTS,
	MY_LIST = OWN_LIST + LIST_SORTS,
	SESSION_UPDATE = MY_LIST + LIST_SORTS,
	SESSION_REMOVE,
	SESSION_UNFILE,
	SESSION_DEEPEST,
};

static const struct statement sql[] = {
	LIST_STATEMENTS("session_list", &TaskSessionRead_schema, SESSION_COLUMNS, ALL_FROM, "s.id",
		"3", "4"),
	LIST_STATEMENTS("session_own_list", &TaskSessionRead_schema, SESSION_COLUMNS, OWN_FROM,
		"p.session_id", "4", "5"),
	LIST_STATEMENTS("session_my_list", &TaskSessionRead_schema, SESSION_COLUMNS, MINE_FROM,
		"p.session_id", "4", "5", .across = MINE),
	[SESSION_UPDATE] = { "session_update",
		"update sessions set title = $3, title_folded = $4, metadata = $5, updated_at = $6 "
		"where tenant_id = $1 and id = $2" },
	[SESSION_REMOVE] = { "session_remove",
		"delete from sessions where tenant_id = $1 and id = $2" },
	[SESSION_UNFILE] = { "session_unfile", "delete from directory where id = $1" },
	[SESSION_DEEPEST] = { "session_deepest",
		TREE "select id as value from tree order by depth desc, id limit 100",
		.row = &one_text_schema, .scan = "the subtasks found, which are few" },
};
STATEMENT_SET(session_api_sql, sql);

OPERATION(listSessions, .list = true, .reply = &TaskSessionRead_schema)
{
	const struct caller *who = &c->caller;

	if (who->all_sessions)
		return call_list(c, &sql[ALL_LIST], ARGS(T(who->tenant_id), T(who->agent_id)));
	return call_list(
		c, &sql[OWN_LIST], ARGS(T(who->tenant_id), T(who->agent_id), T(who->user_id)));
}

OPERATION(listMySessions, .list = true, .reply = &TaskSessionRead_schema)
{
	const struct caller *who = &c->caller;

	return call_list(c, &sql[MY_LIST],
		ARGS(T(who->user_id), T(who->key_tenant_id),
			N(caller_cut(who, PERM(SESSION_READ)) != 0)));
}

OPERATION(createSession, .body = &SessionCreate_schema, .reply = &TaskSessionRead_schema)
{
	const struct SessionCreate *in = c->body;
	const struct caller *who = &c->caller;
	const struct session_new begun = { .tenant_id = who->tenant_id,
		.agent_id = who->agent_id,
		.created_by_id = who->user_id,
		.origin = who->kind == CREDENTIAL_KEY ? "api" : "user",
		.title = in->title,
		.metadata = in->metadata.text,
		.now = c->now };
	const char *id = NULL;
	int err = session_open(c->db, c->arena, &begun, &id, &c->problem);

	if (!err && in->message)
		err = session_hear(c, id, in->message, NULL, NULL);
	if (err)
		return err;
	c->audit.resource_id = id;
	c->location = arena_printf(c->arena, "/tenant/%s/sessions/%s", who->tenant_id, id);
	return session_row_read(c, id, c->reply);
}

OPERATION(readSession, .reply = &TaskSessionRead_schema)
{
	return session_row_read(c, c->caller.session_id, c->reply);
}

OPERATION(updateSession, .body = &SessionUpdate_schema, .reply = &TaskSessionRead_schema)
{
	const struct caller *who = &c->caller;
	struct TaskSessionRead before, *after = c->reply;
	int err = session_row_read(c, who->session_id, &before);

	if (err)
		return err;
	*after = before;
	schema_patch(&SessionUpdate_schema, c->body, &TaskSessionRead_schema, after);
	after->updated_at.us = c->now;
	call_changed(c, &TaskSessionRead_schema, &before, after);
	c->audit.resource_id = after->id;
	err = db_run(c->db, &sql[SESSION_UPDATE], NULL,
		ARGS(T(who->tenant_id), T(after->id), T(after->title),
			T(after->title ? fold(c->arena, after->title) : NULL),
			T(after->metadata.text), N(c->now)));
	return err ? err
		   : search_refresh(
			     c->db, c->arena, who->tenant_id, MentionType_session, after->id);
}

/* ---- ending ---- */

OPERATION(cancelSession, .reply = &TaskSessionRead_schema)
{
	const struct caller *who = &c->caller;
	int err = session_cancel(
		c->db, c->arena, who->tenant_id, who->session_id, c->now, &c->problem);

	c->audit.resource_id = who->session_id;
	return err ? err : session_row_read(c, who->session_id, c->reply);
}

static int remove_one(struct call *c, const char *id)
{
	const char *tenant_id = c->caller.tenant_id;
	int err = search_remove(c->db, c->arena, tenant_id, MentionType_session, id);

	if (!err)
		err = db_run(c->db, &sql[SESSION_UNFILE], NULL, ARGS(T(id)));
	return err ? err : db_run(c->db, &sql[SESSION_REMOVE], NULL, ARGS(T(tenant_id), T(id)));
}

/* What runs is ended, then the session goes with all that was given away in it, the deepest first. */
int session_remove(struct call *c)
{
	const struct caller *who = &c->caller;
	struct problem nothing_runs = { 0 };
	struct list some = { .count = 1 };
	int err = session_cancel(
		c->db, c->arena, who->tenant_id, who->session_id, c->now, &nothing_runs);

	c->audit.resource_id = who->session_id;
	if (err == ERR_CONFLICT)
		err = 0;
	while (!err && some.count) {
		err = db_all(c->db, c->arena, &sql[SESSION_DEEPEST], &some, 100,
			ARGS(T(who->tenant_id), T(who->session_id)));
		for (size_t i = 0; !err && i < some.count; i++)
			err = remove_one(c, ((const struct one_text *)some.at)[i].value);
	}
	return err;
}

OPERATION(deleteSession)
{
	return session_remove(c);
}

#define A "/tenant/{tenant_id}/agents/{agent_id}/sessions"
#define S "/tenant/{tenant_id}/sessions/{session_id}"

static const struct route routes[] = {
	{ METHOD_GET, A, &listSessions, PERM_SESSION_READ, 200, .tag = "Sessions",
		.doc = "List the agent's sessions that the caller may see, newest first: all by a "
		       "role on the agent, else those they take part in." },
	{ METHOD_POST, A, &createSession, PERM_SESSION_WRITE, 201, "session.create",
		.tag = "Sessions",
		.doc = "Begin a session; with a message the agent sets to work at once." },
	{ METHOD_GET, "/me/sessions", &listMySessions, PERM_LOGIN, 200, .tag = "Sessions",
		.doc = "List the sessions that the caller takes part in, over all agents and "
		       "tenants, newest first." },
	{ METHOD_GET, S, &readSession, PERM_SESSION_READ, 200, .tag = "Sessions",
		.doc = "Read a session." },
	{ METHOD_PATCH, S, &updateSession, PERM_SESSION_WRITE, 200, "session.update",
		.tag = "Sessions", .doc = "Name a session, or change what is kept beside it." },
	{ METHOD_DELETE, S, &deleteSession, PERM_SESSION_WRITE, 204, "session.delete",
		.tag = "Sessions",
		.doc = "Delete a session with its messages, files and subtasks; what runs is "
		       "cancelled." },
	{ METHOD_POST, S "/cancel", &cancelSession, PERM_SESSION_WRITE, 200, "session.cancel",
		.tag = "Sessions",
		.doc = "End what runs in the session, subtasks included; 409 if nothing does." },
};
RESOURCE(sessions, routes, sessions_schemas);
