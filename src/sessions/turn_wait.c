/* turn_wait.c - a run for which its agent has no room waits for it: without a thread and without an attempt,
 * in line with the agent's other work, and for so long at most.
 *
 * A run that was queued takes one of the agent's rate before anything else;
 * one that began is stopped by the hours or the budget at a call of a model.
 * The session says what it waits for; the job stands in line (queue/jobs.h). */
#include <string.h>

#include "base/clock.h"
#include "broker/room.h"
#include "sessions/turn.h"

static bool refuses_to_wait(int64_t bits, const char *reason)
{
	return (bits & RUN_REFUSES_HOURS && strcmp(reason, "hours") == 0) ||
	       (bits & RUN_REFUSES_BUDGET && strcmp(reason, "budget") == 0);
}

/* What is waited for, until when (NIL: no time helps), and why in a sentence. */
struct lack {
	const char *reason, *why;
	int64_t until;
};

static struct lack lack_of(const struct problem *p, int64_t now)
{
	int64_t s = p->retry_after_s > 0 ? p->retry_after_s : 1;

	return (struct lack){ room_lacking(p), p->detail ? p->detail : error_row(p->err)->title,
		s == ROOM_NEVER_S ? NIL : now + s * SECOND_US };
}

/* Closes the session transaction. */
static int stand_in_line(struct turn *t, struct session_tx *p, const struct lack *l)
{
	int64_t hold = atomic_load(&t->s->hold_max_us);
	int64_t since = t->job->waits_since == NIL ? p->now : t->job->waits_since;
	int64_t end = since + hold;
	bool news;
	int err = 0;

	INVARIANT(l->reason);
	news = !p->row.waiting_for || strcmp(p->row.waiting_for, l->reason) != 0;
	if (p->now >= end)
		return turn_fail(t, p, "held_too_long",
			"It waited for as long as it may, and there is still no room. %s", l->why);
	p->row.waiting_for = l->reason;
	p->row.waiting_until = l->until == NIL || l->until > end ? NIL : l->until;
	p->changed = true;
	if (news)
		err = tx_notice(p, "waiting", "%s The run goes on by itself.", l->why);
	if (!err && news)
		err = tx_tell_status(p);
	if (!err)
		err = tx_close(p);
	t->then = TURN_OVER;
	return err ? err
		   : job_wait(p->db, t->job, l->reason,
			     p->row.waiting_until == NIL ? end : p->row.waiting_until, l->why,
			     p->now);
}

int turn_waited(struct turn *t, struct session_tx *p)
{
	int err;

	if (!p->row.waiting_for)
		return 0;
	p->row.waiting_for = NULL;
	p->row.waiting_until = NIL;
	p->changed = true;
	err = job_waited(p->db, t->job, p->now);
	return err ? err : tx_tell_status(p);
}

/* ---- before a run begins ---- */

/* Those who are in its way: they wait for something that it needs too. */
struct ahead {
	int64_t count;
	const char *reason;
};

static int add_ahead(struct turn *t, struct session_tx *p, const char *reason, struct ahead *ret)
{
	int64_t count = 0;
	int err = jobs_ahead(p->db, t->job, reason, p->now, &count);

	ret->reason = count && !ret->reason ? reason : ret->reason;
	ret->count += count;
	return err;
}

static int look_at_jobs_ahead(
	struct turn *t, struct session_tx *p, const struct room_asked *asked, struct ahead *ret)
{
	int64_t any = 0, need = 0;
	int err = jobs_ahead(p->db, t->job, NULL, p->now, &any);

	if (err || !any)
		return err;
	err = add_ahead(t, p, "rate", ret);
	if (!err && !asked->any_hour)
		err = add_ahead(t, p, "hours", ret);
	if (!err)
		err = room_least(p->db, p->a, asked, &need);
	if (!err && need)
		err = add_ahead(t, p, "budget", ret);
	return err;
}

/* A place in time for each of those before it. */
static void fall_in(struct session_tx *p, const struct room_asked *asked, const struct ahead *ahead,
	struct lack *l)
{
	int64_t spacing = room_spacing_s(p->db, p->a, asked) * SECOND_US;

	if (!l->reason)
		*l = (struct lack){ ahead->reason, "Others wait before it.", p->now };
	if (l->until != NIL)
		l->until += ahead->count * spacing;
}

int turn_admit(struct turn *t, struct session_tx *p, bool *ret_waits)
{
	struct room_asked asked = { .tenant_id = p->tenant_id,
		.agent_id = p->row.agent_id,
		.model_id = t->wish.model_id,
		.any_hour = t->wish.any_hour,
		.uncounted = !broker_settings(t->s->broker)->accounting,
		.now = p->now };
	struct ahead ahead = { 0 };
	struct problem none = { 0 };
	struct lack l = { 0 };
	int err = look_at_jobs_ahead(t, p, &asked, &ahead);

	*ret_waits = false;
	asked.look = ahead.count > 0;
	if (!err)
		err = room_take(p->db, p->a, &asked, &none);
	if (err && (err != none.err || !room_lacking(&none)))
		return err;
	if (!err && !ahead.count) {
		p->run.admitted = p->run_changed = true;
		return turn_waited(t, p);
	}
	*ret_waits = true;
	if (err)
		l = lack_of(&none, p->now);
	if (err && refuses_to_wait(p->run.refuses, l.reason))
		return turn_fail(t, p, none.code, "%s", l.why);
	fall_in(p, &asked, &ahead, &l);
	return stand_in_line(t, p, &l);
}

/* ---- in the middle ---- */

int turn_after_others(struct turn *t, struct db *db)
{
	const struct candidates *candidates = &t->candidates;
	int64_t ahead = 0;
	int err;

	if (candidates->hourly_limit_pd == NIL || !budget_least_pd(&candidates->at[0].price))
		return 0;
	err = jobs_ahead(db, t->job, "budget", clock_now_us(), &ahead);
	if (err || !ahead)
		return err;
	t->problem.code = "budget_exhausted";
	t->problem.retry_after_s = (int)ahead;
	return problem_set(&t->problem, &t->mind, ERR_THROTTLED,
		"Others wait for the agent's budget before it.");
}

static int act_wait(struct turn *t, struct db *db)
{
	struct lack l = { t->fail_code, t->fail_text, t->retry_at };
	struct session_tx p;
	bool mine;
	int err = turn_tx(t, db, &p, &mine);

	if (!mine)
		return err;
	if (p.row.writing_id)
		err = tx_message_discard(&p, p.row.writing_id);
	p.row.writing_id = NULL;
	return err ? err : stand_in_line(t, &p, &l);
}

bool turn_waits(struct turn *t, const struct problem *p)
{
	struct lack l = lack_of(p, clock_now_us());

	/* One call costs more than the whole limit: no waiting helps. */
	if (!l.reason || refuses_to_wait(t->refuses, l.reason) ||
		(l.until == NIL && strcmp(l.reason, "budget") == 0 &&
			t->candidates.hourly_limit_pd > 0))
		return false;
	t->fail_code = l.reason;
	t->fail_text = arena_strdup(&t->arena, l.why);
	t->retry_at = l.until;
	turn_step(t, act_wait, READ_WRITE);
	return true;
}
