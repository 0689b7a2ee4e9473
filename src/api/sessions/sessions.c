/* sessions.c - sessions as their people use them: begin, find, read, name, end, delete.
 *
 * What a session is and how an agent works in it is the business of the room
 * sessions/; here requests become its functions.  Whoever has a role of their
 * own on the agent sees all of its sessions, everybody else those they take
 * part in: for one session access/caller.c decides that, for lists the
 * statements here do. */
#include "api/sessions/sessions.h"

#include <string.h>

#include "api/erasure/gone.h"
#include "search/search.h"
#include "api/sessions/session_rows.h"
#include "base/fold.h"
#include "base/same.h"
#include "sessions/session.h"
#include "sessions/session_tx.h"
#include "store/listing.h"
#include "store/row.h"

/* $1 tenant, $2 agent; $3 whoever takes part: their sessions are walked, which are fewer than the agent's,
 * where SQLite left to itself would take the latter */
#define ALL_FROM "sessions s where s.tenant_id = $1 and s.agent_id = $2"
/* $3 whoever reads no mail of the agent: of what mail began they see what they take part in */
#define UNMAILED_FROM ALL_FROM " and " SESSION_UNMAILED("$3")
#define OWN_FROM                                                         \
	"session_people p cross join sessions s where p.tenant_id = $1 " \
	"and p.user_id = $3 and s.tenant_id = $1 and s.id = p.session_id and s.agent_id = $2"

/* Null, or 0, is any. */
#define MINE_FROM                                                                                                     \
	"session_people p join members m on m.tenant_id = p.tenant_id and m.user_id = :user_id "                      \
	"and m.status = 'active' join tenants t on t.id = p.tenant_id "                                               \
	"and t.status not in ('suspended', 'closed') "                                                                \
	"join sessions s on s.tenant_id = p.tenant_id and s.id = p.session_id "                                       \
	"join agents a on a.tenant_id = s.tenant_id and a.id = s.agent_id "                                           \
	"where p.user_id = :user_id and (cast(:key_tenant_id as text) is null "                                       \
	"or p.tenant_id = :key_tenant_id) and :reads = 1 "                                                            \
	"and (m.role in ('OWNER', 'ADMIN') or (a.is_admin_only = 0 "                                                  \
	"and (a.default_role_enabled = 1 or " HOLDS_ROLE(":user_id",                                                  \
		"'VIEWER', 'MANAGER', 'OWNER'") "))) "                                                                \
						"and (cast(:tenant_id as text) is null or p.tenant_id = :tenant_id) " \
						"and (cast(:agent_id as text) is null or s.agent_id = :agent_id) "    \
						"and (cast(:status as text) is null or s.status = :status) "          \
						"and (:waiting = 0 or s.waiting_for is not null) "                    \
						"and (cast(:pattern as text) is null or s.title_folded like :pattern escape '!')"
#define MINE "sessions of one user, over tenants"

struct my_sessions_query {
	const char *tenant_id, *agent_id;
	int status;
	bool waiting;
	const char *q;
};

FIELDS(my_sessions_query) = {
	FIELD(my_sessions_query, tenant_id, .nullable = true, .id = true,
		.doc = "Only of this tenant."),
	FIELD(my_sessions_query, agent_id, .nullable = true, .id = true,
		.doc = "Only of this agent."),
	FIELD(my_sessions_query, status, .nullable = true, .words = &session_state_words,
		.doc = "Only in this state."),
	FIELD(my_sessions_query, waiting, .preset = "false",
		.doc = "Only those that wait for working hours, rate or budget."),
	FIELD(my_sessions_query, q, .nullable = true, BOUNDS(1, 255),
		.doc = "Only those whose title contains this, whatever the case."),
};
static SCHEMA(my_sessions_query, .doc = "Filters of one's own sessions.");

/* Whose they are, what their credential reaches, and what is asked for. */
struct my_sessions {
	const char *user_id, *key_tenant_id, *tenant_id, *agent_id, *pattern;
	int64_t reads, waiting;
	int status;
};

FIELDS(my_sessions) = {
	ROW_FIELDS(my_sessions, user_id, reads, waiting),
	ROW_NULLABLE(my_sessions, key_tenant_id, tenant_id, agent_id, pattern),
	FIELD(my_sessions, status, .nullable = true, .words = &session_state_words),
};
static SCHEMA(my_sessions, .internal = true);

struct subtask_row {
	const char *id, *agent_id, *created_by_id;
};

FIELDS(subtask_row) = {
	FIELD(subtask_row, id),
	FIELD(subtask_row, agent_id),
	FIELD(subtask_row, created_by_id, .nullable = true),
};
static SCHEMA(subtask_row, .internal = true);

enum { SUBTASKS_PAGE = 100 };

enum {
	LIST_OF(ALL_LIST),
	LIST_OF(UNMAILED_LIST),
	LIST_OF(OWN_LIST),
	LIST_OF(MY_LIST),
	SESSION_UPDATE,
	SESSION_REMOVE,
	SESSION_UNFILE,
	SESSION_GAVE,
};

struct session_change {
	const char *tenant_id, *id, *title, *title_folded, *metadata;
	int64_t updated_at;
};

FIELDS(session_change) = {
	ROW_FIELDS(session_change, tenant_id, id, updated_at),
	ROW_NULLABLE(session_change, title, title_folded, metadata),
};
static SCHEMA(session_change, .internal = true);

static const struct statement sql[] = {
	LISTING(ALL_LIST, "session_list", &TaskSessionRead_schema, SESSION_COLUMNS, ALL_FROM,
		"s.id"),
	LISTING(UNMAILED_LIST, "session_unmailed_list", &TaskSessionRead_schema, SESSION_COLUMNS,
		UNMAILED_FROM, "s.id"),
	LISTING(OWN_LIST, "session_own_list", &TaskSessionRead_schema, SESSION_COLUMNS, OWN_FROM,
		"p.session_id"),
	LISTING(MY_LIST, "session_my_list", &TaskSessionRead_schema, SESSION_COLUMNS, MINE_FROM,
		"p.session_id", .args = &my_sessions_schema, .across = MINE),
	[SESSION_UPDATE] = { "session_update",
		"update session_rows set title = :title, title_folded = :title_folded, "
		"metadata = :metadata, updated_at = :updated_at "
		"where tenant_id = :tenant_id and id = :id",
		.args = &session_change_schema },
	[SESSION_REMOVE] = { "session_remove",
		"update session_rows set gone_at = $3 where tenant_id = $1 and id = $2" },
	[SESSION_UNFILE] = { "session_unfile",
		"delete from directory where tenant_id = $1 and id = $2" },
	[SESSION_GAVE] = { "session_gave",
		"select {*} from sessions where tenant_id = $1 and parent_session_id = $2 "
		"and id > $3 order by id limit $4",
		.row = &subtask_row_schema },
};
STATEMENT_SET(session_api_sql, sql);

LIST_OPERATION(listSessions, NONE, TaskSessionRead)
{
	const struct caller *who = &c->caller;

	if (who->all_sessions && who->agent & PERM(AGENT_MAIL_READ))
		return call_list(c, &sql[ALL_LIST], ARGS(T(who->tenant_id), T(who->agent_id)));
	return call_list(c, &sql[who->all_sessions ? UNMAILED_LIST : OWN_LIST],
		ARGS(T(who->tenant_id), T(who->agent_id), T(who->user_id)));
}

LIST_OPERATION(listMySessions, my_sessions_query, TaskSessionRead)
{
	const struct caller *who = &c->caller;
	const struct my_sessions asked = { .user_id = who->user_id,
		.key_tenant_id = who->key_tenant_id,
		.tenant_id = in->tenant_id,
		.agent_id = in->agent_id,
		.pattern = in->q ? fold_pattern(c->arena, in->q) : NULL,
		.reads = caller_cut(who, PERM(SESSION_READ)) != 0,
		.waiting = in->waiting,
		.status = in->status };

	return call_list(c, &sql[MY_LIST], BY_NAME(my_sessions, &asked));
}

int session_rows_mine(struct call *c, const char *agent_id, const char *after, size_t most,
	struct list *ret, bool *ret_more)
{
	const struct caller *who = &c->caller;
	const struct my_sessions asked = { .user_id = who->user_id,
		.key_tenant_id = who->key_tenant_id,
		.tenant_id = who->tenant_id,
		.agent_id = agent_id,
		.reads = caller_cut(who, PERM(SESSION_READ)) != 0,
		.status = -1 };
	const struct db_page page = { .rows = most + 1, .bytes = CALL_PAGE_BYTES, .after = after };
	int err = db_page(c->db, c->arena, &sql[after ? MY_LIST_AFTER : MY_LIST_PAGE], ret, &page,
		ret_more, BY_NAME(my_sessions, &asked));

	if (!err && ret->count > most) {
		ret->count = most;
		*ret_more = true;
	}
	return err;
}

OPERATION(createSession, SessionCreate, TaskSessionRead)
{
	const struct caller *who = &c->caller;
	const struct session_new begun = { .tenant_id = who->tenant_id,
		.agent_id = who->agent_id,
		.created_by_id = who->user_id,
		.origin = who->kind == CREDENTIAL_KEY ? "api" : "user",
		.greets = true,
		.title = in->title,
		.metadata = in->metadata.text,
		.now = c->now };
	const char *id = NULL;
	int err = in->message ? session_room(c, who->agent_id, NULL, 1) : 0;

	if (!err)
		err = session_open(c->db, c->arena, &begun, &id, &c->problem);
	if (!err && in->message)
		err = session_hear(c, id, in->message, NULL, NULL, NULL);
	if (err)
		return err;
	c->location = arena_printf(c->arena, "/tenant/%s/sessions/%s", who->tenant_id, id);
	return session_row_read(c, id, out);
}

OPERATION(branchSession, SessionBranch, TaskSessionRead)
{
	const struct caller *who = &c->caller;
	const struct session_branch_asked asked = { .tenant_id = who->tenant_id,
		.session_id = who->session_id,
		.message_id = in->message_id,
		.user_id = who->user_id,
		.origin = who->kind == CREDENTIAL_KEY ? "api" : "user",
		.now = c->now };
	const char *id = NULL;
	int err = session_branch(c->db, c->arena, &asked, &id, &c->problem);

	if (err)
		return err;
	c->location = arena_printf(c->arena, "/tenant/%s/sessions/%s", who->tenant_id, id);
	return session_row_read(c, id, out);
}

int session_noted(struct call *c, const char *session_id, const char *agent_id)
{
	return call_audit_act(c, (struct audit_entry){ .action = "session.create",
					 .resource_id = session_id,
					 .agent_id = agent_id });
}

OPERATION(readSession, NONE, TaskSessionRead)
{
	return session_row_read(c, c->caller.session_id, out);
}

/* Whoever looks at it is told. */
static int tell_renamed(struct call *c, struct TaskSessionRead *session)
{
	const struct SessionEvent event = { .title = session->title,
		.updated_at = session->updated_at };
	struct session_tx p;
	int err = tx_open(&p, c->db, c->arena, c->caller.tenant_id, session->id,
		session->updated_at.us, &c->problem);

	if (!err)
		err = tx_tell(&p, SESSION, &event);
	if (!err)
		err = tx_close(&p);
	if (!err)
		session->last_event_id = p.row.last_event_id;
	return err;
}

OPERATION(updateSession, SessionUpdate, TaskSessionRead)
{
	const struct caller *who = &c->caller;
	struct TaskSessionRead before;
	int err = session_row_read(c, who->session_id, &before);

	if (err)
		return err;
	call_merge(c, CHANGE(TaskSessionRead, &before, out));
	err = call_update(c, CHANGE(TaskSessionRead, &before, out), NULL);
	if (!err)
		err = db_put(c->db, &sql[SESSION_UPDATE],
			&(struct session_change){ .tenant_id = who->tenant_id,
				.id = out->id,
				.title = out->title,
				.title_folded = out->title ? fold(c->arena, out->title) : NULL,
				.metadata = out->metadata.text,
				.updated_at = out->updated_at.us });
	if (!err && !(same_text(out->title, before.title) &&
			    same_text(out->metadata.text, before.metadata.text)))
		err = tell_renamed(c, out);
	return err ? err
		   : search_refresh(c->db, c->arena, who->tenant_id, MentionType_session, out->id);
}

/* ---- ending ---- */

/* What the caller gave away is theirs to end; another's subtask only where the caller may write. */
static int may_end(void *data, const char *agent_id, const char *created_by_id, bool *ret_may)
{
	struct call *c = data;
	struct caller there = c->caller;
	const struct place place = { .tenant_id = there.tenant_id, .agent_id = agent_id };
	struct problem unseen = { 0 };
	int err;

	*ret_may = caller_holds_all(&there) ||
		   (created_by_id && strcmp(created_by_id, there.user_id) == 0);
	if (*ret_may)
		return 0;
	err = caller_permit(&there, c->db, c->arena, PERM_SESSION_WRITE, &place, false, &unseen);
	*ret_may = !err;
	return unseen.err == err ? 0 : err;
}

/* A row of its own for each subtask that goes along. */
static int note_along(struct call *c, const char *action, const char *id, const char *agent_id,
	const char *parent)
{
	return call_audit_also(c,
		(struct audit_entry){ .action = action,
			.resource_id = id,
			.agent_id = agent_id,
			.meta = arena_printf(c->arena, "{\"parent_session_id\":\"%s\"}", parent) });
}

static int note_cancelled(
	void *data, const char *session_id, const char *agent_id, const char *parent_session_id)
{
	return note_along(data, "session.cancel", session_id, agent_id, parent_session_id);
}

struct session_ender session_ender_of(struct call *c)
{
	return (struct session_ender){ .may = may_end, .along = note_cancelled, .data = c };
}

OPERATION(cancelSession, SessionCancel, TaskSessionRead, .body_optional = true)
{
	const struct caller *who = &c->caller;
	struct session_ender by = session_ender_of(c);
	int err = in->run_id ? session_cancel_run(c->db, c->arena, who->tenant_id, who->session_id,
				       in->run_id, &by, c->now, &c->problem)
			     : session_cancel(c->db, c->arena, who->tenant_id, who->session_id, &by,
				       c->now, &c->problem);

	return err ? err : session_row_read(c, who->session_id, out);
}

static int remove_one(struct call *c, const char *id)
{
	const char *tenant_id = c->caller.tenant_id;
	int err = search_remove(c->db, c->arena, tenant_id, MentionType_session, id);

	if (!err)
		err = db_run(c->db, &sql[SESSION_UNFILE], NULL, ARGS(T(tenant_id), T(id)));
	if (!err)
		err = db_run(
			c->db, &sql[SESSION_REMOVE], NULL, ARGS(T(tenant_id), T(id), N(c->now)));
	if (!err)
		c->afterwards = gone_submit;
	return err;
}

static int remove_tree(struct call *c, const char *id);

static int remove_subtask(struct call *c, const struct subtask_row *row, const char *parent)
{
	bool may;
	int err = may_end(c, row->agent_id, row->created_by_id, &may);

	if (err || !may)
		return err;
	err = remove_tree(c, row->id);
	return err ? err : note_along(c, "session.delete", row->id, row->agent_id, parent);
}

/* What runs is ended, and the session goes with all that was given away in it, the deepest first.  A subtask
 * that is not the caller's to end stays as it is, with what it gave away.  As deep as subtasks are: a few. */
static int remove_tree(struct call *c, const char *id) /* NOLINT(misc-no-recursion) */
{
	const char *tenant_id = c->caller.tenant_id, *after = "";
	const struct session_ender by = { .may = may_end, .data = c };
	struct list rows = { .count = SUBTASKS_PAGE };
	struct problem nothing_runs = { 0 };
	int err = session_cancel(c->db, c->arena, tenant_id, id, &by, c->now, &nothing_runs);

	if (err == ERR_CONFLICT)
		err = 0;
	while (!err && rows.count == SUBTASKS_PAGE) {
		const struct subtask_row *row;

		err = db_all(c->db, c->arena, &sql[SESSION_GAVE], &rows, SUBTASKS_PAGE,
			ARGS(T(tenant_id), T(id), T(after), N(SUBTASKS_PAGE)));
		row = rows.at;
		for (size_t i = 0; !err && i < rows.count; i++) {
			after = row[i].id;
			err = remove_subtask(c, &row[i], id);
		}
	}
	return err ? err : remove_one(c, id);
}

int session_remove(struct call *c)
{
	return remove_tree(c, c->caller.session_id);
}

OPERATION(deleteSession, NONE, NONE)
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
		       "cancelled. Subtasks of others on agents where the caller may not write stay." },
	{ METHOD_POST, S "/branch", &branchSession, PERM_SESSION_WRITE, 201, "session.branch",
		.tag = "Sessions",
		.doc = "Begin another session of the agent with what was said up to a message; nothing "
		       "runs in it until somebody speaks. 409 in the middle of a step." },
	{ METHOD_POST, S "/cancel", &cancelSession, PERM_SESSION_WRITE, 200, "session.cancel",
		.tag = "Sessions",
		.doc = "End what runs and waits in the session, subtasks included (but those of others on "
		       "agents where the caller may not write), or with `run_id` one "
		       "run alone; 409 if there is nothing to end." },
};
RESOURCE(sessions, routes, NULL, &session_api_sql);
