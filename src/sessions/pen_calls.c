/* pen_calls.c - see pen.h: the calls of tools that a model's message makes, and what is made of them. */
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "sessions/pen.h"

FIELDS(call_row) = {
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
};
SCHEMA(call_row, .internal = true);

enum { CALLS_LAST, CALL_ADD, CALL_SAVE, CALLS_MOST = 1000 };

static const struct statement sql[] = {
	[CALLS_LAST] = { "calls_last",
		"select {*} from session_calls where tenant_id = $1 and session_id = $2 "
		"and message_id = (select max(c.message_id) from session_calls c "
		"where c.tenant_id = $1 and c.session_id = $2) order by position",
		.row = &call_row_schema },
	[CALL_ADD] = { "call_add",
		"insert into session_calls (tenant_id, session_id, message_id, position, id, run_id, "
		"call_id, tool_id, name, state, child_session_id, created_at, started_at, ended_at, "
		"arguments) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, "
		"$15)" },
	[CALL_SAVE] = { "call_save",
		"update session_calls set state = $5, child_session_id = $6, started_at = $7, "
		"ended_at = $8 where tenant_id = $1 and session_id = $2 and message_id = $3 "
		"and position = $4" },
};
STATEMENT_SET(pen_call_sql, sql);

int pen_calls(struct pen *p, struct list *ret)
{
	return db_all(p->db, p->a, &sql[CALLS_LAST], ret, CALLS_MOST,
		ARGS(T(p->tenant_id), T(p->session_id)));
}

/* The model's words if they are JSON, else as a string. */
static void put_arguments(struct arena *a, struct buf *b, const char *text)
{
	struct json_reader r;
	size_t len = strlen(text);

	json_open(&r, a, text, len);
	if (json_skip(&r, NULL, NULL) && json_end(&r))
		json_write_compact(b, text, len);
	else
		json_write_string(b, text, len);
}

static int tell_call(struct pen *p, const struct call_row *c)
{
	struct buf b;
	int err;

	buf_init(&b, SESSION_EVENT_MAX);
	buf_printf(&b, "{\"id\":\"%s\",\"message_id\":\"%s\",\"call_id\":", c->id, c->message_id);
	json_write_string(&b, c->call_id, strlen(c->call_id));
	buf_lit(&b, ",\"name\":");
	json_write_string(&b, c->name, strlen(c->name));
	buf_printf(&b, ",\"state\":\"%s\",\"arguments\":", call_state_words.list[c->state]);
	put_arguments(p->a, &b, c->arguments);
	buf_putc(&b, '}');
	err = pen_event(p, SESSION_EVENT_TOOL_CALL, arena_strndup(p->a, b.at, b.len));
	buf_free(&b);
	return err;
}

/* One that is new is stored with its first state, in one statement. */
int pen_call_move(struct pen *p, struct call_row *c, int to)
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
	if (is_new)
		err = db_run(p->db, &sql[CALL_ADD], NULL,
			ARGS(T(p->tenant_id), T(p->session_id), T(c->message_id), N(c->position),
				T(c->id), T(c->run_id), T(c->call_id), T(c->tool_id), T(c->name),
				T(call_state_words.list[to]), T(c->child_session_id),
				N(c->created_at), N(c->started_at), N(c->ended_at),
				T(c->arguments)));
	else
		err = db_run(p->db, &sql[CALL_SAVE], NULL,
			ARGS(T(p->tenant_id), T(p->session_id), T(c->message_id), N(c->position),
				T(call_state_words.list[to]), T(c->child_session_id),
				N(c->started_at), N(c->ended_at)));
	return err ? err : tell_call(p, c);
}

int pen_call_result(struct pen *p, struct call_row *c, int to, const char *content)
{
	struct message_row m = {
		.role = "tool", .run_id = c->run_id, .tool_call_id = c->call_id, .content = content
	};
	int err = pen_call_move(p, c, to);

	p->results++;
	return err ? err : pen_message_add(p, &m);
}

int pen_go_on(struct pen *p, const struct list *calls)
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
	err = pen_run(p);
	if (!err)
		err = pen_move(
			p, approvals ? SESSION_STATE_WAITING_APPROVAL : SESSION_STATE_RUNNING);
	if (!err && p->run.status != run) {
		err = pen_run_move(p, run);
		p->run_changed = true;
	}
	if (!err && !approvals && (approved || !waiting))
		err = pen_job(p);
	return err;
}
