/* turn_calls.c - what the rows of a session want next: calls to be made, a model to be asked, or nothing.
 *
 * It is the same whether an answer has just been stored, a result has come
 * in, or another process left the rows as they are. */
#include <string.h>

#include "sessions/approval.h"
#include "sessions/builtin_tools.h"
#include "sessions/turn.h"

enum { LAST_ROLE };

static const struct statement sql[] = {
	[LAST_ROLE] = { "turn_last_role",
		"select role as value from messages where tenant_id = $1 and session_id = $2 "
		"and status = 'complete' order by id desc limit 1",
		.row = &one_text_schema },
};
STATEMENT_SET(turn_sql, sql);

static bool is_builtin(const struct held_tool *tool, const char *name)
{
	return strcmp(tool->kind, "builtin") == 0 && strcmp(tool->name, name) == 0;
}

static bool repeats(const struct held_tool *tool)
{
	const struct builtin_tool *b =
		strcmp(tool->kind, "builtin") == 0 ? builtin_tool(tool->name) : NULL;

	return tool->repeat_safe || (b && b->repeat_safe);
}

static struct errand *errand_of(struct turn *t, const struct call_row *c)
{
	struct errand *found = NULL;

	pthread_mutex_lock(&t->lock);
	for (struct errand *e = t->errands; e; e = e->next)
		if (strcmp(e->call, c->id) == 0)
			found = e;
	pthread_mutex_unlock(&t->lock);
	return found;
}

static void depart(
	struct turn *t, struct pen *p, const struct call_row *c, const struct held_tool *tool)
{
	struct departure *d = arena_new(p->a, struct departure);

	*d = (struct departure){ t->departures, c, tool };
	t->departures = d;
}

static int run_quick(
	struct turn *t, struct pen *p, struct call_row *c, const struct held_tool *tool)
{
	struct tool_asked asked = { .tenant_id = p->tenant_id,
		.agent_id = p->row.agent_id,
		.session_id = p->session_id,
		.user_id = p->run.user_id,
		.call_id = c->id,
		.tool = tool,
		.arguments = c->arguments,
		.now = p->now };
	struct tool_answer answer = { 0 };
	int err = tool_run_quick(p->db, p->a, &asked, &answer);

	atomic_fetch_add_explicit(&t->s->tool_calls, 1, memory_order_relaxed);
	return err ? err : turn_result_store(p, c, &answer);
}

static int wait_for_approval(struct pen *p, struct call_row *c)
{
	int err = pen_call_move(p, c, CALL_STATE_WAITING_APPROVAL);

	return err ? err : approval_add(p, c);
}

/* One that is new, or that a person has just allowed. */
static int decide(struct turn *t, struct pen *p, struct call_row *c)
{
	const struct offer *o = prompt_offer_named(t, c->name);
	const char *fault = c->state == CALL_STATE_NEW ? t->wanted[c->position].fault : NULL;

	if (fault)
		return pen_call_result(p, c, CALL_STATE_FAILED, fault);
	if (!o)
		return pen_call_result(
			p, c, CALL_STATE_FAILED, "This agent no longer has the tool.");
	if (!o->held)
		return pen_call_move(p, c, CALL_STATE_WAITING_CLIENT);
	if (c->state == CALL_STATE_NEW && o->held->requires_approval)
		return wait_for_approval(p, c);
	if (is_builtin(o->held, "subtask"))
		return subtask_open(t, p, c);
	if (tool_is_quick(o->held))
		return run_quick(t, p, c, o->held);
	depart(t, p, c, o->held);
	return pen_call_move(p, c, CALL_STATE_RUNNING);
}

/* It was made by a process that did not live to tell. */
static int take_over(struct turn *t, struct pen *p, struct call_row *c)
{
	const struct offer *o = prompt_offer_named(t, c->name);

	if (o && o->held && repeats(o->held)) {
		depart(t, p, c, o->held);
		return 0;
	}
	return pen_call_result(p, c, CALL_STATE_UNKNOWN,
		"The outcome of this call is unknown: the service was interrupted while it was under "
		"way, and it is not safe to repeat. Find out whether it took effect before you try "
		"again.");
}

static int look_at_calls(struct turn *t, struct pen *p, struct list *calls, bool *ret_open)
{
	struct call_row *c = calls->at;
	int err = 0;

	*ret_open = false;
	for (size_t i = 0; !err && i < calls->count; i++) {
		bool to_decide = c[i].state == CALL_STATE_NEW || c[i].state == CALL_STATE_APPROVED;

		if (call_state_ended(c[i].state))
			continue;
		if (to_decide || c[i].state == CALL_STATE_RUNNING)
			err = prompt_kit(t, p->db);
		if (!err && to_decide)
			err = decide(t, p, &c[i]);
		else if (!err && c[i].state == CALL_STATE_RUNNING && !errand_of(t, &c[i]))
			err = take_over(t, p, &c[i]);
		*ret_open |= !call_state_ended(c[i].state);
	}
	return err;
}

/* Has anything been said that no answer has followed? */
static int is_unanswered(struct turn *t, struct pen *p, bool *ret)
{
	struct one_text last;
	int err;

	*ret = true;
	if (p->results || !p->run.iteration_count)
		return 0;
	if (strcmp(p->row.last_message_id, t->answer_id) == 0) {
		*ret = false;
		return 0;
	}
	err = db_one(p->db, p->a, &sql[LAST_ROLE], &last, ARGS(T(p->tenant_id), T(p->session_id)));
	*ret = !err && strcmp(last.value, "assistant") != 0;
	return err == ERR_NOT_FOUND ? 0 : err;
}

static int ask_or_end(struct turn *t, struct pen *p)
{
	bool unanswered;
	int err = is_unanswered(t, p, &unanswered);

	if (err)
		return err;
	if (!unanswered)
		return turn_end(t, p, SESSION_STATE_COMPLETED,
			t->cut ? RUN_STATE_INCOMPLETE : RUN_STATE_COMPLETED,
			t->cut ? "max_tokens" : NULL, NULL);
	if (p->run.iteration_count >= SESSION_ITERATIONS_MAX)
		return turn_fail(t, p, "too_many_iterations",
			"The agent took %d turns without coming to an end.",
			SESSION_ITERATIONS_MAX);
	if (atomic_load(&t->stopping))
		return turn_put_back(t, p);
	/* What is said from now on comes behind the answer, and gets one of its own. */
	memcpy(t->answer_id, pen_next_id(p), ID_LEN + 1);
	t->iterations = p->run.iteration_count;
	t->then = TURN_LOAD;
	return pen_close(p);
}

int turn_advance(struct turn *t, struct pen *p, struct list *calls)
{
	bool open;
	int err = look_at_calls(t, p, calls, &open);

	if (!err && open)
		err = pen_go_on(p, calls);
	if (err)
		return err;
	if (!open)
		return ask_or_end(t, p);
	if (!t->departures && !turn_has_errands(t))
		return turn_rest(t, p);
	t->then = TURN_TOOLS;
	return pen_close(p);
}
