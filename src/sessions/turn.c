/* turn.c - the steps of a turn: each is work for the store, and what follows it is decided inside.
 *
 * Every step that writes begins with the same question: is this job still
 * ours, and does the session still run under it?  Whoever cancelled, deleted or
 * took over in between has won, and the step does nothing. */
#include <stdarg.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "sessions/turn.h"

/* ---- stepping ---- */

static void over(struct turn *t, int err)
{
	pthread_mutex_lock(&t->lock);
	t->verdict = err;
	t->cancelled = t->left = true;
	for (struct errand *e = t->errands; e; e = e->next)
		if (!e->over && e->work)
			tool_run_cancel(e->work);
	pthread_mutex_unlock(&t->lock);
	turn_let_go(t);
}

static void loaded(struct turn *t, int err)
{
	if (!err)
		turn_ask(t);
	else if (t->problem.err == err)
		turn_refused(t, &t->problem);
	else
		over(t, err);
}

static void stepped(struct work *w, int err)
{
	struct turn *t = (struct turn *)w;

	if (t->act == turn_act_load) {
		loaded(t, err);
		return;
	}
	if (err) {
		if (err != ERR_CONFLICT && err != ERR_BUSY && err != ERR_STOPPING)
			log_error("a step of a session failed",
				LOG_S("session_id", t->job->subject),
				LOG_S("error", error_row(err)->code));
		over(t, err);
		return;
	}
	switch (t->then) {
	case TURN_LOAD:
		turn_step(t, turn_act_load, READ_ONLY);
		break;
	case TURN_TOOLS:
		turn_depart(t);
		break;
	case TURN_OVER:
		over(t, 0);
		break;
	}
}

static void mark(struct turn *t)
{
	t->before =
		(struct turn_marks){ .first = t->first, .cut = t->cut, .summaries = t->summaries };
	memcpy(t->before.answer_id, t->answer_id, sizeof t->answer_id);
}

static void go_back(struct turn *t)
{
	t->first = t->before.first;
	t->cut = t->before.cut;
	t->summaries = t->before.summaries;
	memcpy(t->answer_id, t->before.answer_id, sizeof t->answer_id);
}

/* It may not be for the first time. */
static int step(struct work *w, struct db *db)
{
	struct turn *t = (struct turn *)w;

	go_back(t);
	arena_reset(w->mode == READ_ONLY ? &t->mind : &t->step);
	t->departures = NULL;
	t->problem = (struct problem){ 0 };
	t->then = TURN_OVER;
	return t->act(t, db);
}

void turn_step(struct turn *t, int (*act)(struct turn *t, struct db *db), enum transaction mode)
{
	int err;

	t->act = act;
	mark(t);
	t->work = (struct work){ .run = step, .done = stepped, .mode = mode };
	err = mode == READ_ONLY && t->s->readers ? readers_submit(t->s->readers, &t->work)
						 : store_submit(t->s->settings.store, &t->work);
	if (err)
		over(t, err);
}

/* ---- whose is it? ---- */

int turn_pen(struct turn *t, struct db *db, struct pen *p, bool *ret_mine)
{
	int64_t now = clock_now_us();
	int err = job_still_mine(db, t->job, now);

	*ret_mine = false;
	if (err)
		return err;
	err = pen_open(p, db, &t->step, t->job->tenant_id, t->job->subject, now, NULL);
	if (err && err != ERR_NOT_FOUND)
		return err;
	if (err || !p->row.job_id || strcmp(p->row.job_id, t->job->id) != 0 || !p->row.run_id ||
		strcmp(p->row.run_id, t->run_id) != 0)
		return job_finish(db, t->job, now);
	err = pen_run(p);
	*ret_mine = !err;
	return err;
}

/* ---- the ends of a turn ---- */

int turn_end(struct turn *t, struct pen *p, int session_state, int run_state, const char *code,
	const char *error)
{
	int err = pen_end(p, session_state, run_state, code, error);

	if (!err)
		err = pen_close(p);
	if (!err)
		err = session_ended(p);
	t->then = TURN_OVER;
	return err ? err : job_finish(p->db, t->job, p->now);
}

int turn_fail(struct turn *t, struct pen *p, const char *code, const char *fmt, ...)
{
	const char *text;
	va_list ap;

	va_start(ap, fmt);
	text = arena_vprintf(p->a, fmt, ap);
	va_end(ap);
	atomic_fetch_add_explicit(&t->s->failed, 1, memory_order_relaxed);
	return turn_end(t, p, SESSION_STATE_FAILED, RUN_STATE_FAILED, code, text);
}

int turn_rest(struct turn *t, struct pen *p)
{
	int err;

	p->row.job_id = NULL;
	p->changed = true;
	err = pen_close(p);
	t->then = TURN_OVER;
	return err ? err : job_finish(p->db, t->job, p->now);
}

int turn_put_back(struct turn *t, struct pen *p)
{
	int err = pen_close(p);

	t->then = TURN_OVER;
	return err ? err
		   : job_put_back(p->db, t->job, t->retry_at ? t->retry_at : p->now,
			     t->retry_at != 0, t->fail_text, p->now);
}

static int act_fail(struct turn *t, struct db *db)
{
	struct pen p;
	bool mine;
	int err = turn_pen(t, db, &p, &mine);

	return mine ? turn_fail(t, &p, t->fail_code, "%s", t->fail_text) : err;
}

void turn_fail_step(struct turn *t, const char *code, const char *text)
{
	t->fail_code = arena_strdup(&t->arena, code);
	t->fail_text = arena_strdup(&t->arena, text);
	turn_step(t, act_fail, READ_WRITE);
}

static int act_put_back(struct turn *t, struct db *db)
{
	struct pen p;
	bool mine;
	int err = turn_pen(t, db, &p, &mine);

	if (mine && p.row.writing_id)
		err = pen_message_discard(&p, p.row.writing_id);
	p.row.writing_id = NULL;
	if (mine && !err && t->retry_at)
		err = pen_notice(&p, "waiting", "%s The run goes on by itself.", t->fail_text);
	return mine && !err ? turn_put_back(t, &p) : err;
}

void turn_put_back_step(struct turn *t, int64_t retry_at, const char *why)
{
	t->retry_at = retry_at;
	t->fail_text = arena_strdup(&t->arena, why ? why : "");
	turn_step(t, act_put_back, READ_WRITE);
}

/* A call was not made.  Limits that pass soon are waited for; nothing else will change by itself. */
void turn_refused(struct turn *t, const struct problem *p)
{
	enum { PATIENCE = 4, WAIT_MOST_S = 120 };
	const char *code = p->code ? p->code : error_row(p->err)->code;
	int wait = p->retry_after_s ? p->retry_after_s : 1;
	bool passes = p->err == ERR_BUSY || p->err == ERR_STOPPING ||
		      (p->err == ERR_THROTTLED && strcmp(code, "rate_limited") == 0);

	if (p->err == ERR_STOPPING)
		turn_put_back_step(t, 0, NULL);
	else if (passes && wait <= WAIT_MOST_S && t->job->attempts < PATIENCE)
		turn_put_back_step(t, clock_now_us() + wait * SECOND_US,
			p->detail ? p->detail : error_row(p->err)->title);
	else
		turn_fail_step(t, code, p->detail ? p->detail : error_row(p->err)->title);
}

/* ---- the beginning ---- */

static int keep_run(struct turn *t, const struct pen *p)
{
	if (t->agent_id)
		return 0;
	t->agent_id = arena_strdup(&t->arena, p->row.agent_id);
	t->user_id = p->run.user_id ? arena_strdup(&t->arena, p->run.user_id) : NULL;
	return wish_read(&t->arena, p->run.options, &t->wish);
}

static int begin_running(struct turn *t, struct pen *p)
{
	int err = 0;

	if (p->row.writing_id) {
		err = pen_message_discard(p, p->row.writing_id);
		if (!err)
			err = pen_notice(p, "answer_restarted",
				"The process that ran this session ended in the middle of an answer; the answer begins again.");
		p->row.writing_id = NULL;
	}
	if (!err && p->row.status == SESSION_STATE_PENDING)
		err = pen_move(p, SESSION_STATE_RUNNING);
	if (!err && p->run.status == RUN_STATE_QUEUED) {
		err = pen_run_move(p, RUN_STATE_IN_PROGRESS);
		p->run_changed = true;
	}
	return err ? err : keep_run(t, p);
}

static int act_begin(struct turn *t, struct db *db)
{
	struct list calls = { 0 };
	struct pen p;
	bool mine;
	int err = turn_pen(t, db, &p, &mine);

	if (!mine)
		return err;
	t->iterations = p.run.iteration_count;
	err = begin_running(t, &p);
	if (!err && t->job->attempts >= JOB_ATTEMPTS)
		return turn_fail(t, &p, "gave_up",
			"The run was begun %d times and did not come to its end; it is not tried again.",
			JOB_ATTEMPTS);
	if (!err && p.run.iteration_count)
		err = pen_calls(&p, &calls);
	return err ? err : turn_advance(t, &p, &calls);
}

void turn_begin(struct turn *t)
{
	turn_step(t, act_begin, READ_WRITE);
}
