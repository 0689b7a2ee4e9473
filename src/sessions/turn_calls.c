/* turn_calls.c - what the rows of a session want next: calls to be made, a model to be asked, or nothing.
 *
 * It is the same whether an answer has just been stored, a result has come
 * in, or another process left the rows as they are. */
#include <string.h>

#include "base/utf8_cut.h"
#include "sessions/agent_tools.h"
#include "sessions/approval.h"
#include "sessions/builtin_tools.h"
#include "sessions/tool_arguments.h"
#include "sessions/tool_pins.h"
#include "sessions/turn.h"

enum { LAST_ROLE };

static const struct statement sql[] = {
	[LAST_ROLE] = { "turn_last_role",
		"select role as value from messages where tenant_id = $1 and session_id = $2 "
		"and status = 'complete' and heard_id is null order by id desc limit 1",
		.row = &one_text_schema },
};
STATEMENT_SET(turn_sql, sql);

static bool is_builtin(const struct held_tool *tool, const char *name)
{
	return strcmp(tool->kind, "builtin") == 0 && strcmp(tool->name, name) == 0;
}

static bool is_repeatable_tool(const struct held_tool *tool)
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

static void add_departure(struct turn *t, struct session_tx *p, const struct call_row *c,
	const struct held_tool *tool)
{
	struct departure *d = arena_new(p->a, struct departure);

	*d = (struct departure){ t->departures, c, tool };
	t->departures = d;
}

static int run_quick(
	struct turn *t, struct session_tx *p, struct call_row *c, const struct held_tool *tool)
{
	struct tool_asked asked = { .tenant_id = p->tenant_id,
		.agent_id = p->row.agent_id,
		.session_id = p->session_id,
		.user_id = p->run.user_id,
		.as_user_id = t->actor.user_id,
		.as_key_id = t->actor.key_id,
		.run_id = p->run.id,
		.held = t->actor.agent,
		.all_sessions = t->actor.all_sessions,
		.call_id = c->id,
		.tool = tool,
		.arguments = c->arguments,
		.vault = t->s->settings.vault,
		.now = p->now };
	struct tool_answer answer = { 0 };
	int err = tool_run_quick(p->db, p->a, &asked, &answer);

	atomic_fetch_add_explicit(&t->s->tool_calls, 1, memory_order_relaxed);
	return err ? err : turn_result_store(p, c, &answer, NULL);
}

/* A turn may be long: what was taken from the agent meanwhile is not called, what needs a word from now on
 * waits for it, and what was changed is called as it is now.  *ret is NULL if the agent no longer has it. */
static int look_tool_again(
	struct session_tx *p, const struct held_tool *tool, const struct held_tool **ret)
{
	struct held_tool *now = arena_new(p->a, struct held_tool);
	int err;

	*ret = tool;
	if (tool->implied) /* which skills it may read is looked up by each call of it */
		return 0;
	err = agent_tools_now(p->db, p->a, p->tenant_id, p->row.agent_id, tool->id, now);
	*ret = err ? NULL : now;
	return err == ERR_NOT_FOUND ? 0 : err;
}

/* What a call would send, as people may see it, and the mark of it; the secrets are gone again after this. */
struct outlook {
	const char *fault; /* why it cannot be made, for the model; or NULL */
	const char *sent;  /* NULL: what the model said */
	const char *names, *mark;
};

static struct outlook preview_tool_call(struct turn *t, struct session_tx *p,
	const struct call_row *c, const struct held_tool *tool)
{
	struct outlook out = { 0 };
	struct tool_pinned pinned;
	char mark[TOOL_PIN_MARK];
	struct arena secrets = { 0 };
	const char *fault;

	fault = tool_pin(t->s->settings.vault, &secrets, tool, c->arguments, &pinned);
	out.fault = fault ? arena_strdup(p->a, fault) : NULL;
	if (!fault) {
		tool_pin_mark(tool, &pinned, mark);
		out.mark = arena_strdup(p->a, mark);
		out.names = arena_strdup(p->a, pinned.names);
		out.sent =
			strcmp(pinned.names, "[]") == 0 ? NULL : arena_strdup(p->a, pinned.shown);
	}
	arena_wipe(&secrets);
	return out;
}

static bool is_as_marked(const struct call_row *c, const struct outlook *o)
{
	return c->mark && o->mark && strcmp(c->mark, o->mark) == 0;
}

static int wait_for_approval(struct session_tx *p, struct call_row *c, const struct outlook *o)
{
	bool again = c->state == CALL_STATE_APPROVED;
	int err = 0;

	if (again)
		err = tx_notice(p, "approval_again",
			"The call of %.*s was approved and not made: the tool, or what is set of it for "
			"the agent, was changed since. It waits for another word.",
			UTF8_SHOWN(128, c->name));
	if (!err)
		err = tx_call_move(p, c, CALL_STATE_WAITING_APPROVAL);
	return err ? err : approval_add(p, c, o->names);
}

/* For a stranger only what can do no harm is called unasked, whatever the tool itself says; for others a tool may say of which
 * calls a person need not be asked. */
static bool needs_word(struct session_tx *p, const struct call_row *c, const struct held_tool *tool)
{
	const struct builtin_tool *b =
		strcmp(tool->kind, "builtin") == 0 ? builtin_tool(tool->name) : NULL;
	struct tool_arguments in;

	if (p->run.refuses & RUN_REFUSES_UNASKED && !(b && b->harmless))
		return true;
	if (!tool->requires_approval || !b || !b->unless)
		return tool->requires_approval;
	in = tool_arguments_open(p->a, c->arguments);
	return !tool_argument_flag(&in, b->unless);
}

/* It is made, or waits for a word: the one that was given counts for what it was given for. */
static int make_tool_call(
	struct turn *t, struct session_tx *p, struct call_row *c, const struct held_tool *tool)
{
	struct outlook o = preview_tool_call(t, p, c, tool);
	bool waits = c->state == CALL_STATE_NEW ? needs_word(p, c, tool) : !is_as_marked(c, &o);

	if (o.fault)
		return tx_call_result(p, c, CALL_STATE_FAILED, o.fault);
	c->sent = o.sent;
	c->mark = o.mark;
	if (waits)
		return wait_for_approval(p, c, &o);
	if (is_builtin(tool, "subtask"))
		return subtask_open(p, tool, c);
	if (tool_is_quick(tool))
		return run_quick(t, p, c, tool);
	add_departure(t, p, c, tool);
	return tx_call_move(p, c, CALL_STATE_RUNNING);
}

/* One that is new, or that a person has just allowed.  A call without a tool of the agent's is one of
 * whoever started the run, whatever it is called. */
static int decide_tool_call(struct turn *t, struct session_tx *p, struct call_row *c)
{
	const struct offer *o = c->tool_id ? prompt_offer_held(t, c->tool_id) : NULL;
	const char *fault = c->state == CALL_STATE_NEW ? t->wanted[c->position].fault : NULL;
	const struct held_tool *now = NULL;
	int err;

	if (fault)
		return tx_call_result(p, c, CALL_STATE_FAILED, fault);
	if (!c->tool_id)
		return tx_call_move(p, c, CALL_STATE_WAITING_CLIENT);
	if (!o)
		return tx_call_result(
			p, c, CALL_STATE_FAILED, "This agent no longer has the tool.");
	err = look_tool_again(p, o->held, &now);
	if (err)
		return err;
	return now ? make_tool_call(t, p, c, now)
		   : tx_call_result(p, c, CALL_STATE_FAILED, "This agent no longer has the tool.");
}

/* It was made by a process that did not live to tell.  What is safe to repeat is the same call: not one of a tool
 * that was changed since. */
static int take_over_tool_call(struct turn *t, struct session_tx *p, struct call_row *c)
{
	const struct offer *o = c->tool_id ? prompt_offer_held(t, c->tool_id) : NULL;
	const struct held_tool *now = NULL;
	struct outlook ahead;
	int err = o && is_repeatable_tool(o->held) ? look_tool_again(p, o->held, &now) : 0;

	if (err)
		return err;
	if (now) {
		ahead = preview_tool_call(t, p, c, now);
		if (!ahead.fault && (!c->mark || is_as_marked(c, &ahead))) {
			add_departure(t, p, c, now);
			return 0;
		}
	}
	return tx_call_result(p, c, CALL_STATE_UNKNOWN,
		"The outcome of this call is unknown: the service was interrupted while it was under "
		"way, and it is not safe to repeat. Find out whether it took effect before you try "
		"again.");
}

static int look_at_calls(struct turn *t, struct session_tx *p, struct list *calls, bool *ret_open)
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
			err = decide_tool_call(t, p, &c[i]);
		else if (!err && c[i].state == CALL_STATE_RUNNING && !errand_of(t, &c[i]))
			err = take_over_tool_call(t, p, &c[i]);
		*ret_open |= !call_state_ended(c[i].state);
	}
	return err;
}

/* Has anything been said that no answer has followed? */
static int is_unanswered(struct turn *t, struct session_tx *p, bool *ret)
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

static int ask_or_end(struct turn *t, struct session_tx *p)
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
		return turn_requeue(t, p);
	/* What is said from now on comes after the answer, and gets one of its own. */
	memcpy(t->answer_id, tx_next_id(p), ID_LEN + 1);
	t->iterations = p->run.iteration_count;
	t->then = TURN_LOAD;
	return tx_close(p);
}

int turn_advance(struct turn *t, struct session_tx *p, struct list *calls)
{
	bool open;
	int err = look_at_calls(t, p, calls, &open);

	if (!err && open)
		err = tx_go_on(p, calls);
	if (err)
		return err;
	if (!open)
		return ask_or_end(t, p);
	if (!t->departures && !turn_has_errands(t))
		return turn_rest(t, p);
	t->then = TURN_TOOLS;
	return tx_close(p);
}
