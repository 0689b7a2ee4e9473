/* approval.c - see approval.h. */
#include "sessions/approval.h"

#include <string.h>

#include "base/buf.h"
#include "base/json.h"

struct approval_row {
	const char *id, *call_id, *tool_name, *status, *decided_by_id;
	int64_t created_at, decided_at;
	const char *arguments;
};

FIELDS(approval_row) = {
	FIELD(approval_row, id),
	FIELD(approval_row, call_id),
	FIELD(approval_row, tool_name),
	FIELD(approval_row, status),
	FIELD(approval_row, decided_by_id, .nullable = true),
	FIELD(approval_row, created_at),
	FIELD(approval_row, decided_at, .nullable = true),
	FIELD(approval_row, arguments),
};
static SCHEMA(approval_row, .internal = true);

enum { APPROVAL_ADD, APPROVAL_READ, APPROVAL_SAVE, APPROVALS_PENDING, PENDING_MOST = 1000 };

static const struct statement sql[] = {
	[APPROVAL_ADD] = { "approval_add",
		"insert into approvals (tenant_id, session_id, id, call_id, tool_name, status, "
		"created_at, arguments) values ($1, $2, $3, $4, $5, 'pending', $6, $7)" },
	[APPROVAL_READ] = { "approval_read",
		"select {*} from approvals where tenant_id = $1 and id = $3 and session_id = $2",
		.row = &approval_row_schema },
	[APPROVAL_SAVE] = { "approval_save",
		"update approvals set status = $3, decided_by_id = $4, decided_at = $5 "
		"where tenant_id = $1 and id = $2" },
	[APPROVALS_PENDING] = { "approvals_pending",
		"select {*} from approvals where tenant_id = $1 and session_id = $2 "
		"and status = 'pending' order by id",
		.row = &approval_row_schema },
};
STATEMENT_SET(approval_sql, sql);

static void put_or_null(struct buf *b, const char *text)
{
	if (text)
		json_write_string(b, text, strlen(text));
	else
		buf_lit(b, "null");
}

static int tell(struct pen *p, const struct approval_row *r)
{
	struct buf b;
	int err;

	buf_init(&b, SESSION_EVENT_MAX);
	buf_printf(&b,
		"{\"id\":\"%s\",\"session_id\":\"%s\",\"agent_id\":\"%s\",\"tool_call_id\":", r->id,
		p->session_id, p->row.agent_id);
	put_or_null(&b, r->call_id);
	buf_lit(&b, ",\"tool_name\":");
	put_or_null(&b, r->tool_name);
	buf_lit(&b, ",\"arguments\":");
	json_write_compact(&b, r->arguments, strlen(r->arguments));
	buf_printf(&b, ",\"status\":\"%s\",\"decided_by_id\":", r->status);
	put_or_null(&b, r->decided_by_id);
	buf_lit(&b, ",\"created_at\":");
	json_write_time(&b, r->created_at);
	buf_lit(&b, ",\"decided_at\":");
	if (r->decided_at == NIL)
		buf_lit(&b, "null");
	else
		json_write_time(&b, r->decided_at);
	buf_putc(&b, '}');
	err = pen_event(p, SESSION_EVENT_APPROVAL, arena_strndup(p->a, b.at, b.len));
	buf_free(&b);
	return err;
}

int approval_add(struct pen *p, const struct call_row *c)
{
	struct id id = id_new(NULL);
	struct approval_row r = { .id = id.text,
		.call_id = c->call_id,
		.tool_name = c->name,
		.status = "pending",
		.created_at = p->now,
		.decided_at = NIL,
		.arguments = c->arguments };
	int err = db_run(p->db, &sql[APPROVAL_ADD], NULL,
		ARGS(T(p->tenant_id), T(p->session_id), T(r.id), T(r.call_id), T(r.tool_name),
			N(r.created_at), T(r.arguments)));

	return err ? err : tell(p, &r);
}

static int decide(struct pen *p, struct approval_row *r, const char *status, const char *user_id)
{
	int err;

	r->status = status;
	r->decided_by_id = user_id;
	r->decided_at = p->now;
	err = db_run(p->db, &sql[APPROVAL_SAVE], NULL,
		ARGS(T(p->tenant_id), T(r->id), T(status), T(user_id), N(p->now)));
	return err ? err : tell(p, r);
}

int approvals_drop(struct pen *p)
{
	struct approval_row *r;
	struct list rows;
	int err = db_all(p->db, p->a, &sql[APPROVALS_PENDING], &rows, PENDING_MOST,
		ARGS(T(p->tenant_id), T(p->session_id)));

	r = rows.at;
	for (size_t i = 0; !err && i < rows.count; i++)
		err = decide(p, &r[i], "cancelled", NULL);
	return err;
}

static int decide_call(struct pen *p, const struct approval_row *r, bool approved)
{
	struct list calls;
	struct call_row *c;
	int err = pen_calls(p, &calls);

	c = calls.at;
	for (size_t i = 0; !err && i < calls.count; i++) {
		if (c[i].state != CALL_STATE_WAITING_APPROVAL ||
			strcmp(c[i].call_id, r->call_id) != 0)
			continue;
		err = approved ? pen_call_move(p, &c[i], CALL_STATE_APPROVED)
			       : pen_call_result(p, &c[i], CALL_STATE_DENIED,
					 "A person has refused this call. Do not try it again "
					 "unless you are asked to.");
	}
	return err ? err : pen_go_on(p, &calls);
}

int session_decide(struct db *db, struct arena *a, const char *tenant_id, const char *session_id,
	const char *approval_id, const char *user_id, bool approved, int64_t now,
	struct problem *problem)
{
	struct approval_row r;
	struct pen p;
	int err = pen_open(&p, db, a, tenant_id, session_id, now, problem);

	if (err)
		return err;
	err = db_one(
		db, a, &sql[APPROVAL_READ], &r, ARGS(T(tenant_id), T(session_id), T(approval_id)));
	if (err == ERR_NOT_FOUND)
		return problem_set(problem, a, err, "There is no such approval in this session.");
	if (!err && strcmp(r.status, "pending") != 0)
		return problem_set(
			problem, a, ERR_CONFLICT, "This approval is %s already.", r.status);
	if (!err)
		err = decide(&p, &r, approved ? "approved" : "denied", user_id);
	if (!err)
		err = pen_person(&p, user_id);
	if (!err)
		err = decide_call(&p, &r, approved);
	return err ? err : pen_close(&p);
}
