/* session_tx_calls.c - see session_tx.h: the calls of tools that a model's message makes, and what is made of them. */
#include <string.h>

#include "sessions/session_tx.h"

FIELDS(call_row) = {
	FIELD(call_row, tenant_id),
	FIELD(call_row, session_id),
	FIELD(call_row, message_id),
	FIELD(call_row, position),
	FIELD(call_row, id),
	FIELD(call_row, run_id),
	FIELD(call_row, call_id),
	FIELD(call_row, tool_id, .nullable = true),
	FIELD(call_row, name),
	FIELD(call_row, state, .words = &call_state_words),
	FIELD(call_row, child_session_id, .nullable = true),
	FIELD(call_row, created_at),
	FIELD(call_row, started_at, .nullable = true),
	FIELD(call_row, ended_at, .nullable = true),
	FIELD(call_row, arguments),
	FIELD(call_row, sent, .nullable = true),
	FIELD(call_row, mark, .nullable = true),
};
SCHEMA(call_row, .internal = true);

enum { CALLS_LAST, CALL_ADD, CALL_SAVE, CALLS_MOST = 1000 };

static const struct statement sql[] = {
	[CALLS_LAST] = { "calls_last",
		"select {*} from session_calls where tenant_id = $1 and session_id = $2 "
		"and message_id = (select max(c.message_id) from session_calls c "
		"where c.tenant_id = $1 and c.session_id = $2) order by position",
		.row = &call_row_schema },
	[CALL_ADD] = { "call_add", "insert into session_calls ({*}) values ({$})",
		.row = &call_row_schema },
	[CALL_SAVE] = { "call_save",
		"update session_calls set state = :state, child_session_id = :child_session_id, "
		"started_at = :started_at, ended_at = :ended_at, sent = :sent, mark = :mark "
		"where tenant_id = :tenant_id and session_id = :session_id "
		"and message_id = :message_id and position = :position",
		.row = &call_row_schema },
};
STATEMENT_SET(tx_call_sql, sql);

int tx_calls(struct session_tx *p, struct list *ret)
{
	return db_all(p->db, p->a, &sql[CALLS_LAST], ret, CALLS_MOST,
		ARGS(T(p->tenant_id), T(p->session_id)));
}

static int tell_call(struct session_tx *p, const struct call_row *c)
{
	const struct ToolCallEvent event = { .id = c->id,
		.message_id = c->message_id,
		.call_id = c->call_id,
		.name = c->name,
		.state = c->state,
		.arguments = { call_arguments(p->a, c->sent ? c->sent : c->arguments) } };

	return event.arguments.text ? tx_tell(p, TOOL_CALL, &event) : ERR_BUSY;
}

/* One that is new is stored with its first state, in one statement. */
int tx_call_move(struct session_tx *p, struct call_row *c, int to)
{
	bool is_new = c->state == CALL_STATE_NEW;
	int err;

	if (!call_may_move(c->state, to))
		return ERR_CONFLICT;
	c->state = to;
	if (c->started_at == NIL && to != CALL_STATE_WAITING_APPROVAL && to != CALL_STATE_APPROVED)
		c->started_at = p->now;
	if (call_state_ended(to))
		c->ended_at = p->now;
	c->tenant_id = p->tenant_id;
	c->session_id = p->session_id;
	err = db_put(p->db, &sql[is_new ? CALL_ADD : CALL_SAVE], c);
	return err ? err : tell_call(p, c);
}

int tx_call_result_with(struct session_tx *p, struct call_row *c, int to, const char *content,
	const struct list *parts)
{
	struct message_row m = { .role = "tool",
		.run_id = c->run_id,
		.tool_call_id = c->call_id,
		.content = content,
		.parts = *parts };
	int err = tx_call_move(p, c, to);

	p->results++;
	return err ? err : tx_message_add(p, &m);
}

int tx_call_result(struct session_tx *p, struct call_row *c, int to, const char *content)
{
	return tx_call_result_with(p, c, to, content, &(struct list){ 0 });
}

int tx_go_on(struct session_tx *p, const struct list *calls)
{
	const struct call_row *c = calls->at;
	bool approvals = false, clients = false, waiting = false, approved = false;
	int run, err;

	for (size_t i = 0; i < calls->count; i++) {
		approvals |= c[i].state == CALL_STATE_WAITING_APPROVAL;
		clients |= c[i].state == CALL_STATE_WAITING_CLIENT;
		waiting |= c[i].state == CALL_STATE_WAITING_SUBTASK;
		approved |= c[i].state == CALL_STATE_APPROVED;
	}
	waiting |= approvals | clients;
	run = clients ? RUN_STATE_REQUIRES_ACTION : RUN_STATE_IN_PROGRESS;
	err = tx_run(p);
	if (!err)
		err = tx_move(
			p, approvals ? SESSION_STATE_WAITING_APPROVAL : SESSION_STATE_RUNNING);
	if (!err && p->has_run && p->run.status != run) {
		err = tx_run_move(p, run);
		p->run_changed = true;
	}
	if (!err && !approvals && (approved || !waiting))
		err = tx_job(p);
	return err;
}
