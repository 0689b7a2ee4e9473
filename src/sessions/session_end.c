/* session_end.c - how a session ends, whoever ends it: nothing stays open, subtasks end with it, and the
 * session that waits for it gets its result. */
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "sessions/approval.h"
#include "sessions/pen.h"
#include "sessions/tool_run.h"

enum { CHILDREN, LAST_WORDS, OF_AGENT, CHILDREN_MOST = 1000, AT_ONCE = 100 };

static const struct statement sql[] = {
	[CHILDREN] = { "session_children_open",
		"select id as value from sessions where tenant_id = $1 and parent_session_id = $2 "
		"and status in ('pending', 'running', 'waiting_approval') order by id",
		.row = &one_text_schema },
	[LAST_WORDS] = { "session_last_words",
		"select content as value from messages where tenant_id = $1 and session_id = $2 "
		"and role = 'assistant' and status = 'complete' order by id desc limit 1",
		.row = &one_text_schema },
	[OF_AGENT] = { "session_agent_open",
		"select id as value from sessions where tenant_id = $1 and agent_id = $2 and id > $3 "
		"and status in ('pending', 'running', 'waiting_approval') order by id limit 100",
		.row = &one_text_schema },
};
STATEMENT_SET(session_end_sql, sql);

/* What was being written stays as far as it came. */
static int end_writing(struct pen *p)
{
	struct message_row m;
	int err;

	if (!p->row.writing_id)
		return 0;
	err = pen_message_read(p, p->row.writing_id, &m);
	p->row.writing_id = NULL;
	if (err)
		return err == ERR_NOT_FOUND ? 0 : err;
	m.status = "failed";
	return pen_message_save(p, &m);
}

static int end_calls(struct pen *p)
{
	struct call_row *c;
	struct list calls;
	int err = pen_calls(p, &calls);

	c = calls.at;
	for (size_t i = 0; !err && i < calls.count; i++)
		if (!call_state_ended(c[i].state))
			err = pen_call_result(p, &c[i], CALL_STATE_CANCELLED,
				c[i].state == CALL_STATE_RUNNING
					? "The run ended while this call was under way; whether it "
					  "took effect is not known."
					: "The run ended before this call was made.");
	return err;
}

int pen_end(struct pen *p, int session_state, int run_state, const char *code, const char *error)
{
	int err = pen_run(p);

	if (!err)
		err = end_writing(p);
	if (!err && session_state != SESSION_STATE_COMPLETED)
		err = end_calls(p);
	if (!err && session_state != SESSION_STATE_COMPLETED)
		err = approvals_drop(p);
	if (!err && p->has_run && !run_state_ended(p->run.status)) {
		p->run.error_code = code;
		p->run.error = error;
		err = pen_run_move(p, run_state);
		p->run_changed = true;
	}
	p->row.error = session_state == SESSION_STATE_FAILED ? error : NULL;
	p->row.job_id = NULL;
	p->changed = true;
	if (!err)
		err = pen_move(p, session_state);
	if (!err && session_state != SESSION_STATE_COMPLETED)
		err = db_notice(p->db, SESSION_CANCEL_CHANNEL,
			arena_printf(
				p->a, "%s %s", p->session_id, p->row.run_id ? p->row.run_id : "-"));
	return err;
}

static int end_children(const struct pen *p)
{
	struct one_text *id;
	struct list rows;
	int err = db_all(p->db, p->a, &sql[CHILDREN], &rows, CHILDREN_MOST,
		ARGS(T(p->tenant_id), T(p->session_id)));

	id = rows.at;
	for (size_t i = 0; !err && i < rows.count; i++) {
		struct problem none = { 0 };

		err = session_cancel(p->db, p->a, p->tenant_id, id[i].value, p->now, &none);
		if (err == ERR_CONFLICT) /* nothing runs in it */
			err = 0;
	}
	return err;
}

static int result_for_parent(const struct pen *child, const char **ret)
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

static int tell_parent(const struct pen *child)
{
	struct pen p;
	struct call_row *c;
	struct list calls;
	const char *result;
	bool told = false;
	int err = pen_open(&p, child->db, child->a, child->tenant_id, child->row.parent_session_id,
		child->now, NULL);

	if (err)
		return err == ERR_NOT_FOUND ? 0 : err;
	err = pen_calls(&p, &calls);
	c = calls.at;
	for (size_t i = 0; !err && i < calls.count; i++) {
		if (c[i].state != CALL_STATE_WAITING_SUBTASK ||
			strcmp(c[i].id, child->row.parent_call_id) != 0)
			continue;
		told = true;
		err = result_for_parent(child, &result);
		if (!err)
			err = pen_call_result(&p, &c[i],
				child->row.status == SESSION_STATE_COMPLETED ? CALL_STATE_COMPLETED
									     : CALL_STATE_FAILED,
				result);
	}
	if (!err && told)
		err = pen_go_on(&p, &calls);
	return err ? err : pen_close(&p);
}

int session_ended(const struct pen *p)
{
	int err = 0;

	if (p->row.status != SESSION_STATE_COMPLETED)
		err = end_children(p);
	if (!err && p->row.parent_session_id && p->row.parent_call_id)
		err = tell_parent(p);
	return err;
}

int session_cancel(struct db *db, struct arena *a, const char *tenant_id, const char *session_id,
	int64_t now, struct problem *problem)
{
	struct pen p;
	int err = pen_open(&p, db, a, tenant_id, session_id, now, problem);

	if (!err && !session_at_work(&p.row))
		return problem_set(problem, a, ERR_CONFLICT,
			"Nothing runs in this session, so there is nothing to cancel.");
	if (!err)
		err = pen_end(&p, SESSION_STATE_CANCELLED, RUN_STATE_CANCELLED, NULL, NULL);
	if (!err)
		err = pen_close(&p);
	return err ? err : session_ended(&p);
}

int session_cancel_agent(
	struct db *db, struct arena *a, const char *tenant_id, const char *agent_id, int64_t now)
{
	const char *last = "";
	struct list rows = { .count = AT_ONCE };
	int err = 0;

	while (!err && rows.count == AT_ONCE) {
		struct one_text *id;

		err = db_all(db, a, &sql[OF_AGENT], &rows, AT_ONCE,
			ARGS(T(tenant_id), T(agent_id), T(last)));
		id = rows.at;
		for (size_t i = 0; !err && i < rows.count; i++) {
			struct problem none = { 0 };

			last = id[i].value;
			err = session_cancel(db, a, tenant_id, last, now, &none);
			if (err == ERR_CONFLICT) /* nothing runs in it */
				err = 0;
		}
	}
	return err;
}
