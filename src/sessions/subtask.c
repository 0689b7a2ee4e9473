/* subtask.c - an agent gives a part of its work to a session of its own, of itself or of another agent.
 *
 * It acts as whoever the work acts as.  Another agent is reached if it is of the
 * same tenant, switched on, and not for administrators only, and if that one may
 * have it work now.  Where no person drives the work, only agents that are open
 * to the whole tenant are reached besides. */
#include <math.h>
#include <string.h>

#include "base/utf8_cut.h"
#include "sessions/tool_arguments.h"
#include "sessions/turn.h"

struct other_agent {
	const char *id;
	bool open, open_to_all;
};

FIELDS(other_agent) = {
	FIELD(other_agent, id),
	FIELD(other_agent, open),
	FIELD(other_agent, open_to_all),
};
static SCHEMA(other_agent, .internal = true);

static const struct statement sql[] = {
	{ "subtask_agent",
		"select id, case when is_active = 1 and is_admin_only = 0 then 1 else 0 end as open, "
		"default_role_enabled as open_to_all from agents where tenant_id = $1 and slug = $2",
		.row = &other_agent_schema },
};
STATEMENT_SET(subtask_sql, sql);

struct order {
	const char *title, *message, *agent;
};

/* A sentence for the model if it cannot be one, else NULL. */
static const char *read_order(
	struct arena *a, const struct held_tool *tool, const char *arguments, struct order *o)
{
	enum { NAME_MAX_BYTES = 2048 };
	const char *fault = tool_check(a, tool, arguments);
	struct tool_arguments in;

	if (fault)
		return fault;
	in = tool_arguments_open(a, arguments);
	o->title = tool_argument_text(&in, "title", NAME_MAX_BYTES);
	o->message = tool_argument_text(&in, "message", SESSION_MESSAGE_MAX);
	o->agent = tool_argument_text_maybe(&in, "agent", NAME_MAX_BYTES);
	return in.fault;
}

/* May the run have that agent work? */
static int is_reached(struct session_tx *p, const struct other_agent *other, bool *ret)
{
	const struct actor_who who = { .tenant_id = p->tenant_id,
		.agent_id = other->id,
		.user_id = p->run.user_id,
		.key_id = p->run.key_id,
		.hook_id = p->run.hook_id };
	struct problem problem = { 0 };
	struct actor actor;
	int err = actor_load(p->db, p->a, &who, p->now, &actor, &problem);

	*ret = !err && other->open && (p->run.user_id || other->open_to_all);
	return err && problem.err == err ? 0 : err;
}

static int find_subtask_agent(
	struct session_tx *p, const struct order *o, const char **ret_id, const char **ret_fault)
{
	struct other_agent other;
	bool reached = false;
	int err;

	*ret_fault = NULL;
	*ret_id = p->row.agent_id;
	if (!o->agent)
		return 0;
	err = db_one(p->db, p->a, &sql[0], &other, ARGS(T(p->tenant_id), T(o->agent)));
	if (!err && strcmp(other.id, p->row.agent_id) == 0)
		return 0;
	if (!err)
		err = is_reached(p, &other, &reached);
	if (err && err != ERR_NOT_FOUND)
		return err;
	if (reached)
		*ret_id = other.id;
	else
		*ret_fault =
			arena_printf(p->a, "There is no agent %.*s that this one may give work to.",
				UTF8_SHOWN(100, o->agent));
	return 0;
}

static int open_child(struct session_tx *p, const struct order *o, const char *agent_id,
	const struct call_row *c, const char **ret_id, struct problem *problem)
{
	/* It is a piece of the run's work: it comes when the run would, and waits or fails as it would. */
	struct run_options options = { .temperature = NAN,
		.top_p = NAN,
		.background = p->run.priority < JOB_PRIORITY_PERSON,
		.refuses = (unsigned)p->run.refuses };
	struct session_new in = { .tenant_id = p->tenant_id,
		.agent_id = agent_id,
		.created_by_id = p->run.user_id,
		.origin = "subtask",
		.title = o->title,
		.parent_session_id = p->session_id,
		.parent_call_id = c->id,
		.depth = (int)p->row.depth + 1,
		.now = p->now };
	const struct session_actor as = { p->run.user_id, p->run.key_id, p->run.hook_id };
	/* A model's words: those of the person it works for they are not. */
	struct session_words words = { .tenant_id = p->tenant_id,
		.by = as,
		.role = "user",
		.content = o->message,
		.now = p->now };
	int err = session_open(p->db, p->a, &in, ret_id, problem);

	words.session_id = *ret_id;
	if (!err)
		err = session_say(p->db, p->a, &words, NULL, problem);
	if (!err)
		err = session_start(p->db, p->a, p->tenant_id, *ret_id, &as, &options, false,
			p->now, NULL, problem);
	return err;
}

int subtask_open(struct session_tx *p, const struct held_tool *tool, struct call_row *c)
{
	const char *agent_id = NULL, *child = NULL;
	struct problem problem = { 0 };
	struct order o;
	const char *fault = read_order(p->a, tool, c->arguments, &o);
	int err = fault ? 0 : find_subtask_agent(p, &o, &agent_id, &fault);

	if (!err && fault)
		return tx_call_result(p, c, CALL_STATE_FAILED, fault);
	if (!err)
		err = open_child(p, &o, agent_id, c, &child, &problem);
	if (problem.err && problem.err == err)
		return tx_call_result(p, c, CALL_STATE_FAILED,
			arena_printf(p->a, "The subtask was not begun. %s",
				problem.detail ? problem.detail : error_row(err)->title));
	if (err)
		return err;
	c->child_session_id = child;
	return tx_call_move(p, c, CALL_STATE_WAITING_SUBTASK);
}
