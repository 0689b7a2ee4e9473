/* session_subtasks.c - pieces of a session's work that were given to sessions of their own, by its agent
 * or by a person. */
#include "api/sessions/session_rows.h"
#include "sessions/session.h"
#include "store/listing.h"

/* $1 tenant, $2 the session that gave them away, $3 who reads, $4 whether they hold OWNER on all */
#define COLUMNS SUBTASK_COLUMNS("$3", "$4")
#define OF_SESSION "sessions s where s.tenant_id = $1 and s.parent_session_id = $2"
#define WITH_AGENT                                                            \
	"sessions s join agents a on a.tenant_id = $1 and a.id = s.agent_id " \
	"where s.tenant_id = $1 and s.parent_session_id = $2"
#define ACTIVE " and s.status in ('pending', 'running', 'waiting_approval')"

enum { LIST_OF(SUBTASK_LIST), SUBTASKS_ACTIVE, SUBTASK_READ, PARENT_DEPTH };

static const struct statement sql[] = {
	COUNTED_LISTING(SUBTASK_LIST, "subtask_list", &SubtaskSummary_schema, COLUMNS, OF_SESSION,
		WITH_AGENT, "s.id"),
	[SUBTASKS_ACTIVE] = { "subtasks_active",
		"select " COLUMNS " from " WITH_AGENT ACTIVE " order by s.id desc",
		.row = &SubtaskSummary_schema },
	[SUBTASK_READ] = { "subtask_read", "select " COLUMNS " from " WITH_AGENT " and s.id = $5",
		.row = &SubtaskSummary_schema },
	[PARENT_DEPTH] = { "subtask_parent_depth",
		"select depth from sessions where tenant_id = $1 and id = $2" },
};
STATEMENT_SET(subtask_api_sql, sql);

LIST_OPERATION(listSubtasks, NONE, SubtaskSummary)
{
	const struct caller *who = &c->caller;

	return call_list(c, &sql[SUBTASK_LIST],
		ARGS(T(who->tenant_id), T(who->session_id), T(who->user_id),
			N(caller_holds_all(who))));
}

OPERATION(listActiveSubtasks, NONE, ActiveSubtasksResponse)
{
	const struct caller *who = &c->caller;
	int err = db_all(c->db, c->arena, &sql[SUBTASKS_ACTIVE], &out->subtasks, CEILING_LIST,
		ARGS(T(who->tenant_id), T(who->session_id), T(who->user_id),
			N(caller_holds_all(who))));

	out->count = (int64_t)out->subtasks.count;
	return err;
}

/* May the caller give work to that agent? */
static int permit_subtask_agent(struct call *c, const char *agent_id)
{
	struct caller there = c->caller;
	const struct place place = { .tenant_id = there.tenant_id, .agent_id = agent_id };

	return caller_permit(
		&there, c->db, c->arena, PERM_SESSION_WRITE, &place, false, &c->problem);
}

OPERATION(createSubtask, SubtaskCreate, SubtaskSummary)
{
	const struct caller *who = &c->caller;
	struct session_new begun = { .tenant_id = who->tenant_id,
		.agent_id = in->agent_id ? in->agent_id : who->agent_id,
		.created_by_id = who->user_id,
		.origin = "subtask",
		.title = in->title,
		.parent_session_id = who->session_id,
		.now = c->now };
	const char *id = NULL;
	int64_t depth = 0;
	int err = in->agent_id ? permit_subtask_agent(c, in->agent_id) : 0;

	if (!err)
		err = session_room(c, begun.agent_id, NULL, 1);
	if (!err)
		err = db_int(c->db, &sql[PARENT_DEPTH], &depth,
			ARGS(T(who->tenant_id), T(who->session_id)));
	begun.depth = (int)depth + 1;
	if (!err)
		err = session_open(c->db, c->arena, &begun, &id, &c->problem);
	if (!err)
		err = session_hear(c, id, in->message, NULL, NULL, NULL);
	if (err)
		return err;
	c->audit.meta = arena_printf(c->arena, "{\"parent_session_id\":\"%s\"}", who->session_id);
	c->location = arena_printf(c->arena, "/tenant/%s/sessions/%s", who->tenant_id, id);
	return db_one(c->db, c->arena, &sql[SUBTASK_READ], out,
		ARGS(T(who->tenant_id), T(who->session_id), T(who->user_id),
			N(caller_holds_all(who)), T(id)));
}

#define S "/tenant/{tenant_id}/sessions/{session_id}/subtasks"

static const struct route routes[] = {
	{ METHOD_GET, S, &listSubtasks, PERM_SESSION_READ, 200, .tag = "Sessions",
		.doc = "List what was given away in this session, newest first; without name and title "
		       "on agents that are closed to the caller." },
	{ METHOD_POST, S, &createSubtask, PERM_SESSION_WRITE, 201, "session.subtask",
		.tag = "Sessions",
		.doc = "Give a piece of the work to a session of its own, of this agent or of "
		       "another." },
	{ METHOD_GET, S "/active", &listActiveSubtasks, PERM_SESSION_READ, 200, .tag = "Sessions",
		.doc = "The subtasks that have not ended, newest first." },
};
RESOURCE(session_subtasks, routes, NULL, &subtask_api_sql);
