/* subtask.c - an agent gives a part of its work to a session of its own, of itself or of another agent.
 *
 * Another agent is reached if it is of the same tenant, at work, and not for
 * administrators only; and if a person drives the work, that person must be
 * allowed to have that agent work.  Without a person only agents that are open
 * to the whole tenant are reached. */
#include <string.h>

#include "base/json.h"
#include "sessions/turn.h"

struct reached_agent {
	const char *id;
	bool reached;
};

FIELDS(reached_agent) = {
	FIELD(reached_agent, id),
	FIELD(reached_agent, reached),
};
static SCHEMA(reached_agent, .internal = true);

static const struct statement sql[] = {
	{ "subtask_agent",
		"select a.id, case when a.is_active = 1 and a.is_admin_only = 0 and ("
		"(cast($3 as text) is null and a.default_role_enabled = 1) or exists (select 1 "
		"from members m where m.tenant_id = $1 and m.user_id = $3 and m.status = 'active' "
		"and (m.role in ('OWNER', 'ADMIN') or (m.role = 'MEMBER' "
		"and a.default_role_enabled = 1) or exists (select 1 from agent_roles r "
		"where r.tenant_id = $1 and r.agent_id = a.id and r.user_id = $3 "
		"and r.role in ('OWNER', 'MANAGER')) or exists (select 1 from group_members g "
		"join agent_group_roles x on x.tenant_id = $1 and x.agent_id = a.id "
		"and x.group_id = g.group_id where g.tenant_id = $1 and g.user_id = $3 "
		"and x.role in ('OWNER', 'MANAGER'))))) then 1 else 0 end as reached "
		"from agents a where a.tenant_id = $1 and a.slug = $2",
		.row = &reached_agent_schema },
};
STATEMENT_SET(subtask_sql, sql);

struct order {
	const char *title, *message, *agent;
};

/* The arguments suit the tool's schema: tool_check() has seen them. */
static void read_order(struct arena *a, const char *arguments, struct order *o)
{
	struct json_reader r;
	const char *key;
	size_t len, n;

	*o = (struct order){ .title = "", .message = "" };
	json_open(&r, a, arguments, strlen(arguments));
	json_enter_object(&r);
	while (json_next_key(&r, &key, &len)) {
		const char **to = len == 5 && memcmp(key, "title", 5) == 0     ? &o->title
				  : len == 7 && memcmp(key, "message", 7) == 0 ? &o->message
				  : len == 5 && memcmp(key, "agent", 5) == 0   ? &o->agent
									       : NULL;

		if (to)
			json_read_string(&r, to, &n);
		else
			json_skip(&r, NULL, NULL);
	}
}

static int find_agent(
	struct pen *p, const struct order *o, const char **ret_id, const char **ret_fault)
{
	struct reached_agent row;
	int err;

	*ret_fault = NULL;
	*ret_id = p->row.agent_id;
	if (!o->agent)
		return 0;
	err = db_one(
		p->db, p->a, &sql[0], &row, ARGS(T(p->tenant_id), T(o->agent), T(p->run.user_id)));
	if (err == ERR_NOT_FOUND ||
		(!err && !row.reached && strcmp(row.id, p->row.agent_id) != 0)) {
		*ret_fault = arena_printf(
			p->a, "There is no agent %.100s that this one may give work to.", o->agent);
		return 0;
	}
	*ret_id = row.id;
	return err;
}

static int open_child(struct pen *p, const struct order *o, const char *agent_id,
	const struct call_row *c, const char **ret_id, struct problem *problem)
{
	struct session_new in = { .tenant_id = p->tenant_id,
		.agent_id = agent_id,
		.created_by_id = p->run.user_id,
		.origin = "subtask",
		.title = *o->title ? o->title : NULL,
		.parent_session_id = p->session_id,
		.parent_call_id = c->id,
		.depth = (int)p->row.depth + 1,
		.now = p->now };
	struct session_words words = { .tenant_id = p->tenant_id,
		.author_id = p->run.user_id,
		.role = "user",
		.content = o->message,
		.now = p->now };
	int err = session_open(p->db, p->a, &in, ret_id, problem);

	words.session_id = *ret_id;
	if (!err)
		err = session_say(p->db, p->a, &words, NULL, problem);
	if (!err)
		err = session_start(p->db, p->a, p->tenant_id, *ret_id, p->run.user_id, NULL, false,
			p->now, NULL, problem);
	return err;
}

int subtask_open(struct turn *t, struct pen *p, struct call_row *c)
{
	const char *agent_id, *fault, *child = NULL;
	struct problem problem = { 0 };
	struct order o;
	int err;

	(void)t;
	read_order(p->a, c->arguments, &o);
	err = find_agent(p, &o, &agent_id, &fault);
	if (!err && fault)
		return pen_call_result(p, c, CALL_STATE_FAILED, fault);
	if (!err)
		err = open_child(p, &o, agent_id, c, &child, &problem);
	if (problem.err && problem.err == err)
		return pen_call_result(p, c, CALL_STATE_FAILED,
			arena_printf(p->a, "The subtask was not begun. %s",
				problem.detail ? problem.detail : error_row(err)->title));
	if (err)
		return err;
	c->child_session_id = child;
	return pen_call_move(p, c, CALL_STATE_WAITING_SUBTASK);
}
