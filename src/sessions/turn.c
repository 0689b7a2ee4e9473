/* turn.c - the steps of a turn: each is work for the store, and what follows it is decided inside.
 *
 * Every step that writes begins with the same question: is this job still
 * ours, and does the session still run under it?  Whoever cancelled, deleted or
 * took over in between has won, and the step does nothing. */
#include <stdarg.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/same.h"
#include "sessions/turn.h"

/* ---- stepping ---- */

static void turn_job_over(struct turn *t, int err)
{
	pthread_mutex_lock(&t->lock);
	t->verdict = err;
	t->cancelled = true;
	turn_move(t, TURN_LEFT);
	for (struct errand *e = t->errands; e; e = e->next)
		if (e->state == ERRAND_AWAY && e->work)
			tool_run_cancel(e->work);
	pthread_mutex_unlock(&t->lock);
	turn_let_go(t);
}

static void turn_loaded(struct turn *t, int err)
{
	if (!err)
		turn_go(t, turn_ask);
	else if (t->problem.err == err)
		turn_refused(t, &t->problem);
	else
		turn_job_over(t, err);
}

static void turn_stepped(struct work *w, int err)
{
	struct turn *t = (struct turn *)w;

	if (err == ERR_BRING) {
		turn_bring(t);
		return;
	}
	turn_carry_end(t);
	if (t->act == turn_act_load) {
		turn_loaded(t, err);
		return;
	}
	if (err) {
		/* A store that fails has said so itself. */
		if (err != ERR_CONFLICT && err != ERR_BUSY && err != ERR_STOPPING &&
			err != ERR_STORE && err != ERR_STORE_FULL)
			log_error("a step of a session failed",
				LOG_S("session_id", t->job->subject),
				LOG_S("error", error_row(err)->code));
		turn_job_over(t, err);
		return;
	}
	switch (t->then) {
	case TURN_LOAD:
		turn_step(t, turn_act_load, READ_ONLY);
		break;
	case TURN_TOOLS:
		turn_go(t, turn_depart);
		break;
	case TURN_ANSWER:
		turn_step(t, turn_act_answer, READ_WRITE);
		break;
	case TURN_OVER:
		turn_job_over(t, 0);
		break;
	}
}

static void turn_mark(struct turn *t)
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
static int turn_run_step(struct work *w, struct db *db)
{
	struct turn *t = (struct turn *)w;

	go_back(t);
	if (t->act != turn_act_weigh) /* what was heard and offered is in there */
		arena_reset(w->mode == READ_ONLY ? &t->mind : &t->step);
	t->departures = NULL;
	t->problem = (struct problem){ 0 };
	t->then = TURN_OVER;
	return t->act(t, db);
}

#ifdef LODGE_FAULTS
bool (*turn_kept)(void (*go)(void *turn), void *turn);
#endif

void turn_go(struct turn *t, void (*go)(void *turn))
{
#ifdef LODGE_FAULTS
	if (turn_kept && turn_kept(go, t))
		return;
#endif
	go(t);
}

static int read_step(struct work *w, struct db *none)
{
	struct turn *t = (struct turn *)w;

	(void)none;
	return pool_read(t->s->settings.store, w, turn_run_step);
}

static int submit_read(struct turn *t)
{
	t->work.run = read_step;
	return pool_submit(t->s->reading, t->job->tenant_id, &t->work);
}

static void turn_submit(void *turn)
{
	struct turn *t = turn;
	int err = t->work.mode == READ_ONLY && t->s->reading
			  ? submit_read(t)
			  : store_submit(t->s->settings.store, &t->work);

	if (err)
		turn_job_over(t, err);
}

void turn_step(struct turn *t, int (*act)(struct turn *t, struct db *db), enum transaction mode)
{
	pthread_mutex_lock(&t->lock);
	turn_move(t, TURN_AT_STEP);
	pthread_mutex_unlock(&t->lock);
	t->act = act;
	turn_mark(t);
	t->work = (struct work){ .run = turn_run_step, .done = turn_stepped, .mode = mode };
	turn_go(t, turn_submit);
}

void turn_again(struct turn *t)
{
	t->work.run = turn_run_step;
	t->work.done = turn_stepped;
	turn_submit(t);
}

/* ---- whose is it? ---- */

/* Without the answer that was being written. */
static int put_back_clean(struct turn *t, struct session_tx *p)
{
	int err = p->row.writing_id ? tx_message_discard(p, p->row.writing_id) : 0;

	p->row.writing_id = NULL;
	if (!err && t->retry_at)
		err = tx_notice(p, "waiting", "%s The run goes on by itself.", t->fail_text);
	return err ? err : turn_requeue(t, p);
}

/* Whoever it runs for must still be allowed to have it run; else it ends here, and says why. */
static int check_turn_actor(struct turn *t, struct session_tx *p, bool *ret_may)
{
	const struct actor_who who = { .tenant_id = p->tenant_id,
		.agent_id = p->row.agent_id,
		.user_id = p->run.user_id,
		.key_id = p->run.key_id,
		.hook_id = p->run.hook_id,
		.stranger = p->run.refuses & RUN_REFUSES_UNASKED };
	struct problem problem = { 0 };
	int err = actor_load(p->db, p->a, &who, p->now, &t->actor, &problem);

	*ret_may = !err;
	/* The queue hands out no job of a tenant that stands still. */
	if (err && problem.code && strcmp(problem.code, "tenant_not_running") == 0) {
		t->retry_at = 0;
		t->fail_text = NULL;
		return put_back_clean(t, p);
	}
	if (err && problem.err == err) {
		log_warn("a run has lost its rights", LOG_S("tenant_id", p->tenant_id),
			LOG_S("session_id", p->session_id), LOG_S("agent_id", p->row.agent_id),
			LOG_S("reason", problem.code ? problem.code : error_row(err)->code));
		return turn_fail(t, p, problem.code ? problem.code : error_row(err)->code, "%s",
			problem.detail ? problem.detail : error_row(err)->title);
	}
	if (!err && !same_text(t->acts_as, t->actor.user_id))
		t->acts_as = t->actor.user_id ? arena_strdup(&t->arena, t->actor.user_id) : NULL;
	return err;
}

int turn_tx(struct turn *t, struct db *db, struct session_tx *p, bool *ret_mine)
{
	int64_t now = clock_now_us();
	int err = job_still_mine(db, t->job, now);

	*ret_mine = false;
	if (err)
		return err;
	err = tx_open(p, db, &t->step, t->job->tenant_id, t->job->subject, now, NULL);
	if (err && err != ERR_NOT_FOUND)
		return err;
	if (err || !p->row.job_id || strcmp(p->row.job_id, t->job->id) != 0 || !p->row.run_id ||
		strcmp(p->row.run_id, t->run_id) != 0)
		return job_finish(db, t->job, now);
	err = tx_run(p);
	if (!err)
		err = check_turn_actor(t, p, ret_mine);
	return err;
}

/* ---- the ends of a turn ---- */

int turn_end(struct turn *t, struct session_tx *p, int session_state, int run_state,
	const char *code, const char *error)
{
	int err = tx_end(p, session_state, run_state, code, error);

	if (!err)
		err = tx_close(p);
	if (!err)
		err = session_ended(p);
	t->then = TURN_OVER;
	return err ? err : job_finish(p->db, t->job, p->now);
}

int turn_fail(struct turn *t, struct session_tx *p, const char *code, const char *fmt, ...)
{
	const char *text;
	va_list ap;

	va_start(ap, fmt);
	text = arena_vprintf(p->a, fmt, ap);
	va_end(ap);
	atomic_fetch_add_explicit(&t->s->failed, 1, memory_order_relaxed);
	return turn_end(t, p, SESSION_STATE_FAILED, RUN_STATE_FAILED, code, text);
}

int turn_rest(struct turn *t, struct session_tx *p)
{
	int err;

	p->row.job_id = NULL;
	p->changed = true;
	err = tx_close(p);
	t->then = TURN_OVER;
	return err ? err : job_finish(p->db, t->job, p->now);
}

int turn_requeue(struct turn *t, struct session_tx *p)
{
	int err = tx_close(p);

	t->then = TURN_OVER;
	return err ? err
		   : job_requeue(p->db, t->job, t->retry_at ? t->retry_at : p->now,
			     t->retry_at != 0 && !t->retry_free, t->fail_text, p->now);
}

static int act_fail(struct turn *t, struct db *db)
{
	struct session_tx p;
	bool mine;
	int err = turn_tx(t, db, &p, &mine);

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
	struct session_tx p;
	bool mine;
	int err = turn_tx(t, db, &p, &mine);

	return mine ? put_back_clean(t, &p) : err;
}

void turn_requeue_step(struct turn *t, int64_t retry_at, const char *why)
{
	t->retry_at = retry_at;
	t->fail_text = arena_strdup(&t->arena, why ? why : "");
	turn_step(t, act_put_back, READ_WRITE);
}

/* A call was not made.  What passes is waited for; nothing else will change by itself. */
void turn_refused(struct turn *t, const struct problem *p)
{
	enum { PATIENCE = 4, WAIT_MOST_S = 120, MEMORY_WAIT_S = 5 };
	const char *code = p->code ? p->code : error_row(p->err)->code;
	int wait = p->retry_after_s ? p->retry_after_s : 1;
	/* Its turn comes when others have given theirs back, and it has failed at nothing. */
	bool memory = strcmp(code, COMPLETION_MEMORY_CODE) == 0;

	t->retry_free = memory;
	if (memory)
		wait = MEMORY_WAIT_S;
	if (turn_waits(t, p))
		return;
	/* The queue hands out no job of a tenant that stands still. */
	if (p->err == ERR_STOPPING || strcmp(code, "tenant_not_running") == 0)
		turn_requeue_step(t, 0, NULL);
	else if (p->err == ERR_BUSY && wait <= WAIT_MOST_S &&
		 (memory || t->job->attempts < PATIENCE))
		turn_requeue_step(t, clock_now_us() + wait * SECOND_US,
			p->detail ? p->detail : error_row(p->err)->title);
	else
		turn_fail_step(t, code, p->detail ? p->detail : error_row(p->err)->title);
}

/* ---- the beginning ---- */

static int keep_run(struct turn *t, const struct session_tx *p)
{
	if (t->agent_id)
		return 0;
	t->agent_id = arena_strdup(&t->arena, p->row.agent_id);
	t->user_id = p->run.user_id ? arena_strdup(&t->arena, p->run.user_id) : NULL;
	t->refuses = p->run.refuses;
	return wish_read(&t->arena, p->run.options, &t->wish);
}

static int begin_running(struct turn *t, struct session_tx *p)
{
	int err = 0;

	if (p->row.writing_id) {
		err = tx_message_discard(p, p->row.writing_id);
		if (!err)
			err = tx_notice(p, "answer_restarted",
				"The process that ran this session ended in the middle of an answer; the answer begins again.");
		p->row.writing_id = NULL;
	}
	if (!err && p->row.status == SESSION_STATE_PENDING)
		err = tx_move(p, SESSION_STATE_RUNNING);
	if (!err && p->run.status == RUN_STATE_QUEUED) {
		err = tx_run_move(p, RUN_STATE_IN_PROGRESS);
		p->run_changed = true;
	}
	return err ? err : prompt_claim_bootstrap(t, p);
}

/* A dead job was asked for again: the session it failed gets another run, which has a job of its own. */
static int begin_again(struct turn *t, struct session_tx *p)
{
	int err = session_again(p);

	t->then = TURN_OVER;
	if (!err)
		err = tx_close(p);
	if (err && err != ERR_CONFLICT)
		return err;
	return job_finish(p->db, t->job, p->now);
}

/* The session fails, and keeps the job that may be asked for again. */
static int act_condemned(struct turn *t, struct db *db)
{
	struct session_tx p;
	bool mine;
	int err = turn_tx(t, db, &p, &mine);

	if (!mine)
		return err;
	err = tx_end(&p, SESSION_STATE_FAILED, RUN_STATE_FAILED, "process_died",
		arena_printf(p.a,
			"%s: it may be the reason. Whoever looks after the service can have it tried "
			"again; its job is %s.",
			t->job->condemned, t->job->id));
	p.row.job_id = t->job->id;
	p.changed = true;
	if (!err)
		err = tx_close(&p);
	if (!err)
		err = session_ended(&p);
	atomic_fetch_add_explicit(&t->s->failed, 1, memory_order_relaxed);
	t->then = TURN_OVER;
	return err ? err : job_condemn(db, t->job, p.now);
}

static int act_begin(struct turn *t, struct db *db)
{
	struct list calls = { 0 };
	struct session_tx p;
	bool mine, waits = false;
	int err = turn_tx(t, db, &p, &mine);

	if (!mine)
		return err;
	if (run_state_ended(p.run.status))
		return begin_again(t, &p);
	t->iterations = p.run.iteration_count;
	err = keep_run(t, &p);
	if (!err && !p.run.admitted)
		err = turn_admit(t, &p, &waits);
	if (err || waits)
		return err;
	err = begin_running(t, &p);
	if (!err && t->job->attempts >= JOB_ATTEMPTS)
		return turn_fail(t, &p, "gave_up",
			"The run was begun %d times and did not come to its end; it is not tried again.",
			JOB_ATTEMPTS);
	if (!err && p.run.iteration_count)
		err = tx_calls(&p, &calls);
	return err ? err : turn_advance(t, &p, &calls);
}

void turn_begin(struct turn *t)
{
	turn_step(t, t->job->condemned ? act_condemned : act_begin, READ_WRITE);
}
