/* approval.c - see approval.h. */
#include "sessions/approval.h"

#include <string.h>

#include "base/utf8_cut.h"
#include "store/row.h"

struct new_approval {
	const char *tenant_id, *session_id, *id, *call_id, *tool_name, *arguments, *pinned;
	int64_t created_at;
};

FIELDS(new_approval) = { ROW_FIELDS(new_approval, tenant_id, session_id, id, call_id, tool_name,
	arguments, pinned, created_at) };
static SCHEMA(new_approval, .internal = true);

enum {
	APPROVAL_ADD,
	APPROVAL_READ,
	APPROVAL_SAVE,
	APPROVALS_PENDING,
	PERSON_ONLY,
	PENDING_MOST = 1000
};

static const struct statement sql[] = {
	[APPROVAL_ADD] = { "approval_add",
		"insert into approvals ({*}, status) values ({$}, 'pending')",
		.row = &new_approval_schema },
	[APPROVAL_READ] = { "approval_read",
		"select {*}, call_id as tool_call_id from approvals "
		"where tenant_id = $1 and id = $3 and session_id = $2",
		.row = &ApprovalRead_schema },
	[APPROVAL_SAVE] = { "approval_save",
		"update approvals set status = $3, decided_by_id = $4, decided_at = $5 "
		"where tenant_id = $1 and id = $2" },
	[APPROVALS_PENDING] = { "approvals_pending",
		"select {*}, call_id as tool_call_id from approvals "
		"where tenant_id = $1 and session_id = $2 and status = 'pending' order by id",
		.row = &ApprovalRead_schema },
	/* As the tool is now, and not as it was when its call began to wait. */
	[PERSON_ONLY] = { "approval_person_only",
		"select count(*) from session_calls c join tools t on t.tenant_id = $1 "
		"and t.id = c.tool_id where c.tenant_id = $1 and c.session_id = $2 "
		"and c.call_id = $3 and c.state = 'waiting_approval' and t.person_only = 1" },
};
STATEMENT_SET(approval_sql, sql);

static int tell_approval(struct session_tx *p, struct ApprovalRead *r)
{
	r->agent_id = p->row.agent_id;
	r->arguments.text = call_arguments(p->a, r->arguments.text);
	return r->arguments.text ? tx_tell(p, APPROVAL, r) : ERR_BUSY;
}

static int read_one(struct session_tx *p, const char *id, struct ApprovalRead *ret)
{
	return db_one(p->db, p->a, &sql[APPROVAL_READ], ret,
		ARGS(T(p->tenant_id), T(p->session_id), T(id)));
}

int approval_add(struct session_tx *p, const struct call_row *c, const char *pinned)
{
	struct id id = id_new(NULL);
	struct ApprovalRead r;
	int err = db_put(p->db, &sql[APPROVAL_ADD],
		&(struct new_approval){ .tenant_id = p->tenant_id,
			.session_id = p->session_id,
			.id = id.text,
			.call_id = c->call_id,
			.tool_name = c->name,
			.arguments = c->sent ? c->sent : c->arguments,
			.pinned = pinned,
			.created_at = p->now });

	if (!err)
		err = read_one(p, id.text, &r);
	return err ? err : tell_approval(p, &r);
}

static int decide_approval(
	struct session_tx *p, struct ApprovalRead *r, int status, const char *user_id)
{
	int err;

	r->status = status;
	r->decided_by_id = user_id;
	r->decided_at.us = p->now;
	err = db_run(p->db, &sql[APPROVAL_SAVE], NULL,
		ARGS(T(p->tenant_id), T(r->id), T(ApprovalStatus_words.list[status]), T(user_id),
			N(p->now)));
	return err ? err : tell_approval(p, r);
}

int approvals_drop(struct session_tx *p)
{
	struct ApprovalRead *r;
	struct list rows;
	int err = db_all(p->db, p->a, &sql[APPROVALS_PENDING], &rows, PENDING_MOST,
		ARGS(T(p->tenant_id), T(p->session_id)));

	r = rows.at;
	for (size_t i = 0; !err && i < rows.count; i++)
		err = decide_approval(p, &r[i], ApprovalStatus_cancelled, NULL);
	return err;
}

static int decide_call(struct session_tx *p, const struct ApprovalRead *r, bool approved)
{
	struct list calls;
	struct call_row *c;
	int err = tx_calls(p, &calls);

	c = calls.at;
	for (size_t i = 0; !err && i < calls.count; i++) {
		if (c[i].state != CALL_STATE_WAITING_APPROVAL ||
			strcmp(c[i].call_id, r->tool_call_id) != 0)
			continue;
		err = approved ? tx_call_move(p, &c[i], CALL_STATE_APPROVED)
			       : tx_call_result(p, &c[i], CALL_STATE_DENIED,
					 "A person has refused this call. Do not try it again "
					 "unless you are asked to.");
	}
	return err ? err : tx_go_on(p, &calls);
}

static int check_judge(struct session_tx *p, const struct ApprovalRead *r,
	const struct session_judge *judge, struct problem *problem)
{
	int64_t person_only = 0;
	int err = judge->signed_in
			  ? 0
			  : db_int(p->db, &sql[PERSON_ONLY], &person_only,
				    ARGS(T(p->tenant_id), T(p->session_id), T(r->tool_call_id)));

	return err || !person_only
		       ? err
		       : problem_set(problem, p->a, ERR_FORBIDDEN,
				 "Calls of %.*s are decided by a person who is signed in, not with an API key.",
				 UTF8_SHOWN(128, r->tool_name));
}

int session_decide(struct db *db, struct arena *a, const char *tenant_id, const char *session_id,
	const char *approval_id, const struct session_judge *judge, bool approved, int64_t now,
	struct problem *problem)
{
	struct ApprovalRead r;
	struct session_tx p;
	int err = tx_open(&p, db, a, tenant_id, session_id, now, problem);

	if (err)
		return err;
	err = read_one(&p, approval_id, &r);
	if (err == ERR_NOT_FOUND)
		return problem_set(problem, a, err, "There is no such approval in this session.");
	if (!err && r.status != ApprovalStatus_pending)
		return problem_set(problem, a, ERR_CONFLICT, "This approval is %s already.",
			ApprovalStatus_words.list[r.status]);
	if (!err)
		err = check_judge(&p, &r, judge, problem);
	if (!err)
		err = decide_approval(&p, &r,
			approved ? ApprovalStatus_approved : ApprovalStatus_denied, judge->user_id);
	if (!err)
		err = tx_person(&p, judge->user_id);
	if (!err)
		err = decide_call(&p, &r, approved);
	return err ? err : tx_close(&p);
}
