/* session_end.c - how a session ends, whoever ends it: nothing stays open, subtasks end with it, and the
 * session that waits for it gets its result. */
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "queue/jobs.h"
#include "sessions/approval.h"
#include "sessions/session_tx.h"
#include "sessions/tool_run.h"

struct child_row {
	const char *id, *agent_id, *created_by_id;
};

FIELDS(child_row) = {
	FIELD(child_row, id),
	FIELD(child_row, agent_id),
	FIELD(child_row, created_by_id, .nullable = true),
};
static SCHEMA(child_row, .internal = true);

enum { CHILDREN, LAST_WORDS, OF_AGENT, RUN_STATUS, CHILDREN_MOST = 1000 };

/* Those that are open are few, those of an agent may be very many: on SQLite a plus says where to look. */
#define OPEN_OF(plus)                                                                          \
	"select id as value from session_rows where tenant_id = $1 and " plus "agent_id = $2 " \
	"and status in ('pending', 'running', 'waiting_approval') "                            \
	"and (status <> 'pending' or job_id is not null) and gone_at is null "                 \
	"order by id limit $3"

static const struct statement sql[] = {
	[CHILDREN] = { "session_children_open",
		"select {*} from sessions where tenant_id = $1 and parent_session_id = $2 "
		"and status in ('pending', 'running', 'waiting_approval') "
		"and ($3 = 1 or parent_call_id is not null) order by id",
		.row = &child_row_schema },
	[LAST_WORDS] = { "session_last_words",
		"select content as value from messages where tenant_id = $1 and session_id = $2 "
		"and role = 'assistant' and status = 'complete' order by id desc limit 1",
		.row = &one_text_schema },
	[OF_AGENT] = { "session_agent_open", OPEN_OF("+"), .postgres = OPEN_OF(""),
		.row = &one_text_schema },
	[RUN_STATUS] = { "session_run_status",
		"select status as value from session_runs where tenant_id = $1 and session_id = $2 "
		"and id = $3",
		.row = &one_text_schema },
};
STATEMENT_SET(session_end_sql, sql);

/* What was being written stays as far as it came. */
static int end_writing(struct session_tx *p)
{
	struct message_row m;
	int err;

	if (!p->row.writing_id)
		return 0;
	err = tx_message_read(p, p->row.writing_id, &m);
	p->row.writing_id = NULL;
	if (err)
		return err == ERR_NOT_FOUND ? 0 : err;
	m.status = "failed";
	return tx_message_save(p, &m);
}

static int end_calls(struct session_tx *p)
{
	struct call_row *c;
	struct list calls;
	int err = tx_calls(p, &calls);

	c = calls.at;
	for (size_t i = 0; !err && i < calls.count; i++)
		if (!call_state_ended(c[i].state))
			err = tx_call_result(p, &c[i], CALL_STATE_CANCELLED,
				c[i].state == CALL_STATE_RUNNING
					? "The run ended while this call was under way; whether it "
					  "took effect is not known."
					: "The run ended before this call was made.");
	return err;
}

int tx_end(
	struct session_tx *p, int session_state, int run_state, const char *code, const char *error)
{
	int err = tx_run(p);

	if (!err)
		err = end_writing(p);
	if (!err && session_state != SESSION_STATE_COMPLETED)
		err = end_calls(p);
	if (!err && session_state != SESSION_STATE_COMPLETED)
		err = approvals_drop(p);
	if (!err && p->has_run && !run_state_ended(p->run.status)) {
		p->run.error_code = code;
		p->run.error = error;
		err = tx_run_move(p, run_state);
		p->run_changed = true;
	}
	p->row.error = session_state == SESSION_STATE_FAILED ? error : NULL;
	if (!err && p->row.waiting_for && p->row.job_id)
		err = jobs_leave(p->db, p->tenant_id, p->row.agent_id, p->row.job_id, p->now);
	p->row.waiting_for = NULL;
	p->row.waiting_until = NIL;
	p->row.job_id = NULL;
	p->changed = true;
	if (!err)
		err = tx_move(p, session_state);
	if (!err && session_state != SESSION_STATE_COMPLETED)
		err = db_notice(p->db, SESSION_CANCEL_CHANNEL,
			arena_printf(
				p->a, "%s %s", p->session_id, p->row.run_id ? p->row.run_id : "-"));
	return err;
}

static int end_child(
	const struct session_tx *p, const struct child_row *child, const struct session_ender *by)
{
	struct problem none = { 0 };
	bool may = true;
	int err = by ? by->may(by->data, child->agent_id, child->created_by_id, &may) : 0;

	if (err || !may)
		return err;
	err = session_cancel(p->db, p->a, p->tenant_id, child->id, by, p->now, &none);
	if (err == ERR_CONFLICT) /* nothing runs in it */
		return 0;
	return err || !by || !by->along
		       ? err
		       : by->along(by->data, child->id, child->agent_id, p->session_id);
}

/* Those that the run gave away; or all, with those that people did. */
static int end_children(const struct session_tx *p, bool all, const struct session_ender *by)
{
	const struct child_row *child;
	struct list rows;
	int err = db_all(p->db, p->a, &sql[CHILDREN], &rows, CHILDREN_MOST,
		ARGS(T(p->tenant_id), T(p->session_id), N(all)));

	child = rows.at;
	for (size_t i = 0; !err && i < rows.count; i++)
		err = end_child(p, &child[i], by);
	return err;
}

static int result_for_parent(const struct session_tx *child, const char **ret)
{
	struct one_text words;
	int err;

	if (child->row.status != SESSION_STATE_COMPLETED) {
		*ret = child->row.status == SESSION_STATE_FAILED
			       ? arena_printf(child->a, "The subtask failed: %s",
					 child->row.error ? child->row.error
							  : "for no known reason.")
			       : "The subtask was cancelled.";
		return 0;
	}
	err = db_one(child->db, child->a, &sql[LAST_WORDS], &words,
		ARGS(T(child->tenant_id), T(child->session_id)));
	*ret = err ? "The subtask ended without an answer." : tool_cut(child->a, words.value);
	return err == ERR_NOT_FOUND ? 0 : err;
}

static int tell_parent(const struct session_tx *child)
{
	struct session_tx p;
	struct call_row *c;
	struct list calls;
	const char *result;
	bool told = false;
	int err = tx_open(&p, child->db, child->a, child->tenant_id, child->row.parent_session_id,
		child->now, NULL);

	if (err)
		return err == ERR_NOT_FOUND ? 0 : err;
	err = tx_calls(&p, &calls);
	c = calls.at;
	for (size_t i = 0; !err && i < calls.count; i++) {
		if (c[i].state != CALL_STATE_WAITING_SUBTASK ||
			strcmp(c[i].id, child->row.parent_call_id) != 0)
			continue;
		told = true;
		err = result_for_parent(child, &result);
		if (!err)
			err = tx_call_result(&p, &c[i],
				child->row.status == SESSION_STATE_COMPLETED ? CALL_STATE_COMPLETED
									     : CALL_STATE_FAILED,
				result);
	}
	if (!err && told)
		err = tx_go_on(&p, &calls);
	return err ? err : tx_close(&p);
}

static int ended_by(const struct session_tx *p, const struct session_ender *by)
{
	int err = 0;

	if (p->row.status != SESSION_STATE_COMPLETED)
		err = end_children(p, false, by);
	if (!err && p->row.parent_session_id && p->row.parent_call_id)
		err = tell_parent(p);
	return err ? err : session_next(p);
}

static int (*on_answer)(struct db *db, struct arena *a, const char *tenant_id,
	const char *session_id, const char *run_id, int64_t now);

void session_on_answer(int (*fn)(struct db *db, struct arena *a, const char *tenant_id,
	const char *session_id, const char *run_id, int64_t now))
{
	on_answer = fn;
}

int session_ended(const struct session_tx *p)
{
	int err = 0;

	if (on_answer && p->has_run && p->row.status == SESSION_STATE_COMPLETED &&
		strcmp(p->row.origin, "mail") == 0)
		err = on_answer(p->db, p->a, p->tenant_id, p->session_id, p->run.id, p->now);
	return err ? err : ended_by(p, NULL);
}

static int end_under_way(struct session_tx *p)
{
	int err = tx_end(p, SESSION_STATE_CANCELLED, RUN_STATE_CANCELLED, NULL, NULL);

	return err ? err : tx_close(p);
}

int session_cancel(struct db *db, struct arena *a, const char *tenant_id, const char *session_id,
	const struct session_ender *by, int64_t now, struct problem *problem)
{
	struct session_tx p;
	int err = tx_open(&p, db, a, tenant_id, session_id, now, problem);

	if (!err && !session_at_work(&p.row))
		return problem_set(problem, a, ERR_CONFLICT,
			"Nothing runs in this session, so there is nothing to cancel.");
	if (!err)
		err = session_wait_cancel(&p);
	if (!err)
		err = end_under_way(&p);
	if (!err)
		err = end_children(&p, true, by);
	return err ? err : ended_by(&p, by);
}

/* It neither runs nor waits: it is over, or of another session. */
static int refuse_cancel(struct session_tx *p, const char *run_id, struct problem *problem)
{
	struct one_text status;
	int err = db_one(p->db, p->a, &sql[RUN_STATUS], &status,
		ARGS(T(p->tenant_id), T(p->session_id), T(run_id)));

	if (err == ERR_NOT_FOUND)
		return problem_set(problem, p->a, err, "There is no such run in this session.");
	return err ? err
		   : problem_set(problem, p->a, ERR_CONFLICT,
			     "The run is %s, so there is nothing to cancel.", status.value);
}

int session_cancel_run(struct db *db, struct arena *a, const char *tenant_id,
	const char *session_id, const char *run_id, const struct session_ender *by, int64_t now,
	struct problem *problem)
{
	struct session_tx p;
	int err = tx_open(&p, db, a, tenant_id, session_id, now, problem);

	if (err)
		return err;
	if (session_at_work(&p.row) && p.row.run_id && strcmp(p.row.run_id, run_id) == 0) {
		err = end_under_way(&p);
		return err ? err : ended_by(&p, by);
	}
	err = session_wait_cancel_one(&p, run_id);
	if (err == ERR_NOT_FOUND)
		return refuse_cancel(&p, run_id, problem);
	return err ? err : tx_close(&p);
}

int session_cancel_agent(struct db *db, struct arena *a, const char *tenant_id,
	const char *agent_id, int64_t now, int64_t *ret_count)
{
	struct one_text *id;
	struct list rows = { 0 };
	int err = db_all(db, a, &sql[OF_AGENT], &rows, SESSION_CANCEL_PAGE,
		ARGS(T(tenant_id), T(agent_id), N(SESSION_CANCEL_PAGE)));

	id = rows.at;
	*ret_count = (int64_t)rows.count;
	for (size_t i = 0; !err && i < rows.count; i++) {
		struct problem none = { 0 };

		err = session_cancel(db, a, tenant_id, id[i].value, NULL, now, &none);
		if (err == ERR_CONFLICT) /* nothing runs in it */
			err = 0;
	}
	return err;
}
