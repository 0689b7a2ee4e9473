/* turn_model.c - an answer on its way: what is heard of it goes into the session's log in batches, one write
 * at a time, so that whoever listens reads along wherever the run is.
 *
 * The first piece goes out at once, the others at most every FLUSH_MS.  A model
 * inside the program speaks faster than a commit takes: its first piece waits
 * as long, and most of its answers are written once.  What has been passed on
 * is told as it is; the whole answer is stored after it, in one commit with
 * all that follows from it. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "sessions/turn.h"

enum { FLUSH_MS = 50 };

/* $4 more text */
static const struct statement append = { .name = "turn_append",
	.sql = "update messages set content = content || $4 "
	       "where tenant_id = $1 and session_id = $2 and id = $3" };
const struct statement_set turn_model_sql = { "turn_model_sql", &append, 1 };

/* ---- what is heard, into the store ---- */

static struct turn *of_flush(struct work *w)
{
	return (struct turn *)((char *)w - offsetof(struct turn, flush));
}

static int tell_pieces(struct turn *t, struct session_tx *p)
{
	int err = 0;

	for (size_t i = 0; !err && i < t->flow.piece_count; i++)
		err = tx_tell(p, DELTA, &t->flow.pieces[i]);
	return err;
}

static int begin_message(struct turn *t, struct session_tx *p)
{
	struct message_row m = { .id = t->answer_id,
		.run_id = t->run_id,
		.role = "assistant",
		.status = "streaming",
		.content = "" };

	int err = turn_waited(t, p);

	p->row.writing_id = t->answer_id;
	return err ? err : tx_message_add(p, &m);
}

static int flush_answer(struct work *w, struct db *db)
{
	struct turn *t = of_flush(w);
	struct arena *a = &t->flow.scratch;
	struct session_tx p;
	bool over;
	int err;

	t->wrote = false;
	pthread_mutex_lock(&t->lock);
	over = t->flow.state == FLOW_ENDING;
	pthread_mutex_unlock(&t->lock);
	if (over) /* the whole of it is about to be stored */
		return 0;
	arena_reset(a);
	err = t->flow.begun ? 0 : job_still_mine(db, t->job, clock_now_us());
	if (!err)
		err = tx_open(&p, db, a, t->job->tenant_id, t->job->subject, clock_now_us(), NULL);
	if (err)
		return err;
	if (!p.row.job_id || strcmp(p.row.job_id, t->job->id) != 0)
		return ERR_CONFLICT;
	if (!t->flow.begun)
		err = begin_message(t, &p);
	else if (!p.row.writing_id || strcmp(p.row.writing_id, t->answer_id) != 0)
		return ERR_CONFLICT; /* another process has begun the answer again */
	if (!err && *t->flow.plain)
		err = db_run(db, &append, NULL,
			ARGS(T(p.tenant_id), T(p.session_id), T(t->answer_id), T(t->flow.plain)));
	if (!err)
		err = tell_pieces(t, &p);
	t->wrote = !err;
	return err ? err : tx_close(&p);
}

static void conclude_answer(struct turn *t);

static void flush_answer_done(struct work *w, int err)
{
	struct turn *t = of_flush(w);
	bool over;

	pthread_mutex_lock(&t->lock);
	over = t->flow.state == FLOW_ENDING;
	turn_flow(t, over ? FLOW_OVER : FLOW_HEARING);
	t->flow.last_ms = clock_mono_ms();
	if (!err && t->wrote) {
		t->flow.begun = true;
		t->flow.sent = t->flow.to;
	}
	/* Somebody else has it now, or nobody wants it. */
	if (err == ERR_CONFLICT || err == ERR_NOT_FOUND) {
		t->cancelled = true;
		if (t->run)
			completion_cancel(t->run);
	}
	pthread_mutex_unlock(&t->lock);
	if (over)
		conclude_answer(t);
	turn_let_go(t);
}

/* With the lock. */
static void flush_some(struct turn *t, int64_t now_ms)
{
	if (t->flow.state != FLOW_HEARING || t->summary_up_to ||
		now_ms - t->flow.last_ms < FLUSH_MS)
		return;
	arena_reset(&t->flow.arena);
	t->flow.to = t->flow.sent;
	t->flow.piece_count = turn_pieces(t, &t->flow.arena, &t->flow.to, &t->flow.pieces);
	if (!t->flow.piece_count)
		return;
	t->flow.plain = "";
	for (size_t i = 0; i < t->flow.piece_count; i++)
		if (*t->flow.pieces[i].text)
			t->flow.plain = t->flow.pieces[i].text;
	t->flush =
		(struct work){ .run = flush_answer, .done = flush_answer_done, .mode = READ_WRITE };
	turn_flow(t, FLOW_WRITING);
	t->holds++;
	if (store_submit(t->s->settings.store, &t->flush)) {
		turn_flow(t, FLOW_HEARING); /* with the next piece */
		t->holds--;
	}
}

static void turn_on_event(void *data, const struct event *e)
{
	struct turn *t = data;

	pthread_mutex_lock(&t->lock);
	if (e->kind <= EVENT_CALL_END)
		t->flow.heard += e->text.len + e->name.len + e->id.len;
	if (t->flow.heard <= SESSION_ANSWER_MAX) {
		collect_take(&t->heard, e);
		if (e->kind == EVENT_START)
			t->maker = e->maker;
		if (e->kind >= EVENT_TEXT && e->kind <= EVENT_CALL_END)
			flush_some(t, clock_mono_ms());
	} else if (!t->flow.flood) {
		t->flow.flood = true;
		if (t->run)
			completion_cancel(t->run);
	}
	pthread_mutex_unlock(&t->lock);
}

/* Called with the run's lock, behind which others wait for this one's. */
static bool turn_on_tick(void *data)
{
	struct turn *t = data;
	bool wanted;

	if (pthread_mutex_trylock(&t->lock))
		return true;
	flush_some(t, clock_mono_ms());
	wanted = !t->cancelled && !t->flow.flood;
	pthread_mutex_unlock(&t->lock);
	return wanted;
}

/* ---- its end ---- */

static void keep_problem(struct turn *t, const struct problem *p)
{
	t->end.problem = *p;
	t->end.problem.detail = p->detail ? arena_strdup(&t->mind, p->detail) : NULL;
	t->end.problem.code = p->code ? arena_strdup(&t->mind, p->code) : NULL;
}

static void turn_on_over(void *data, const struct completion_end *end)
{
	struct turn *t = data;
	bool busy;

	t->end.how = end->problem		     ? ANSWER_REFUSED
		     : end->cancelled		     ? ANSWER_CANCELLED
		     : end->fault || t->heard.failed ? ANSWER_FAILED
						     : ANSWER_WHOLE;
	t->end.begun = end->begun;
	t->end.index = end->index;
	t->end.candidate = end->candidate;
	t->end.usage = end->usage;
	t->end.cost_pd = end->cost_pd;
	t->end.failed_count = end->failed_count;
	memcpy(t->end.failed, end->failed, end->failed_count * sizeof *end->failed);
	if (end->fault)
		t->end.fault = *end->fault;
	else if (t->end.how == ANSWER_FAILED)
		t->end.fault = t->heard.fault;
	if (end->problem)
		keep_problem(t, end->problem);
	pthread_mutex_lock(&t->lock);
	t->run = NULL;
	busy = t->flow.state == FLOW_WRITING;
	turn_flow(t, busy ? FLOW_ENDING : FLOW_OVER);
	pthread_mutex_unlock(&t->lock);
	if (!busy)
		conclude_answer(t);
	turn_let_go(t);
}

/* After the last event and the last write. */
static void conclude_answer(struct turn *t)
{
	bool unwanted, flood;

	pthread_mutex_lock(&t->lock);
	unwanted = t->cancelled;
	flood = t->flow.flood;
	pthread_mutex_unlock(&t->lock);
	if (t->end.how == ANSWER_REFUSED) {
		turn_refused(t, &t->end.problem);
	} else if (flood) {
		turn_fail_step(t, "answer_too_long", "The model's answer has no end in sight.");
	} else if (t->end.how == ANSWER_CANCELLED && !unwanted) { /* the service stops */
		turn_requeue_step(t, 0, NULL);
	} else if (t->heard.calls) {
		turn_step(t, turn_act_weigh, READ_ONLY);
	} else {
		turn_act_weigh(t, NULL);
		turn_step(t, turn_act_answer, READ_WRITE);
	}
}

/* ---- its beginning ---- */

/* Is every model that may answer one inside the program? */
static bool candidates_in_process(const struct candidates *candidates)
{
	for (size_t i = 0; i < candidates->count; i++)
		if (!candidates->at[i].provider->speak)
			return false;
	return true;
}

void turn_ask(void *turn)
{
	struct turn *t = turn;
	struct completion_asked asked = { .tenant_id = t->job->tenant_id,
		.agent_id = t->agent_id,
		.user_id = t->user_id,
		.session_id = t->job->subject,
		.candidates = &t->candidates,
		.chat = &t->chat,
		.bare = t->bare,
		.first = t->first < t->candidates.count ? t->first : 0,
		.keeps = 1,
		.sink = { turn_on_event, t },
		.over = turn_on_over,
		.tick = turn_on_tick,
		.data = t };
	struct completion *run = NULL;
	int number, err;

	if (t->flow.state != FLOW_NONE)
		collect_close(&t->heard);
	collect_open(&t->heard);
	memset(&t->end, 0, sizeof t->end);
	pthread_mutex_lock(&t->lock);
	turn_move(t, TURN_AT_MODEL);
	turn_flow(t, FLOW_HEARING);
	t->flow.begun = t->flow.flood = false;
	t->flow.sent = t->flow.to = (struct flow_marks){ 0 };
	t->flow.heard = 0;
	t->maker = NULL;
	t->flow.last_ms = candidates_in_process(&t->candidates) ? clock_mono_ms()
								: clock_mono_ms() - FLUSH_MS;
	number = ++t->flow.number;
	t->holds += 2; /* the run's, and this function's */
	pthread_mutex_unlock(&t->lock);
	err = completion_start(t->s->broker, &asked, &run);
	if (err) {
		turn_refused(t, &(struct problem){ .err = err });
		turn_let_go(t);
	} else {
		/* It may be over by now, and another one begun. */
		pthread_mutex_lock(&t->lock);
		if (t->flow.number == number && t->flow.state < FLOW_ENDING) {
			t->run = run;
			if (t->cancelled || t->flow.flood || turn_is_handed_over(t))
				completion_cancel(run);
		}
		pthread_mutex_unlock(&t->lock);
	}
	turn_let_go(t);
}
