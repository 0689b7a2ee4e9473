/* turn_tools.c - calls of tools that take their time: made once their state is committed, and each answer
 * stored as it comes. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/utf8_cut.h"
#include "sessions/turn.h"
#include "sessions/session_file.h"

#define NOT_KEPT \
	"\n\n[There is no room left in the tenant's bucket, so that it could not be kept there.]"

int turn_result_store(struct session_tx *p, struct call_row *c, const struct tool_answer *answer,
	struct bucket_carry *carry)
{
	const char *text = answer->text;
	struct id id = id_new(NULL);
	int err = 0;

	if (answer->whole)
		err = session_file_add(p->db, p->a,
			&(struct session_file_new){ .tenant_id = p->tenant_id,
				.session_id = p->session_id,
				.id = id.text,
				.name = arena_printf(p->a, "%.*s-%.*s", UTF8_SHOWN(100, c->name),
					UTF8_SHOWN(100, c->call_id)),
				.content_type =
					answer->content_type ? answer->content_type : "text/plain",
				.created_at = p->now,
				.bytes = answer->whole,
				.len = answer->whole_len,
				.carry = carry,
				.stays = true,
				.anyhow = true },
			&(struct problem){ 0 });
	if (err == ERR_NO_SPACE) {
		text = arena_printf(p->a, "%s" NOT_KEPT, text);
		err = 0;
	}
	return err ? err
		   : tx_call_result(
			     p, c, answer->failed ? CALL_STATE_FAILED : CALL_STATE_COMPLETED, text);
}

bool turn_has_errands(struct turn *t)
{
	bool any = false;

	pthread_mutex_lock(&t->lock);
	for (struct errand *e = t->errands; e; e = e->next)
		any |= e->state != ERRAND_STORED;
	pthread_mutex_unlock(&t->lock);
	return any;
}

/* ---- storing what came back ---- */

static void mark_errand_stored(struct turn *t, const struct call_row *c)
{
	pthread_mutex_lock(&t->lock);
	for (struct errand *e = t->errands; e; e = e->next)
		if (e->state != ERRAND_AWAY && strcmp(e->call, c->id) == 0)
			errand_move(e, ERRAND_STORED);
	pthread_mutex_unlock(&t->lock);
}

/* The answer of a call that is back, or NULL. */
static struct errand *find_errand_done(struct turn *t, const struct call_row *c)
{
	struct errand *found = NULL;

	pthread_mutex_lock(&t->lock);
	for (struct errand *e = t->errands; e; e = e->next)
		if (e->state != ERRAND_AWAY && strcmp(e->call, c->id) == 0)
			found = e;
	pthread_mutex_unlock(&t->lock);
	return found;
}

static int act_results(struct turn *t, struct db *db)
{
	struct list calls;
	struct call_row *c;
	struct session_tx p;
	bool mine, brings = false;
	int err = turn_tx(t, db, &p, &mine);

	if (!mine)
		return err;
	err = tx_calls(&p, &calls);
	c = calls.at;
	for (size_t i = 0; !err && i < calls.count; i++) {
		struct errand *e =
			c[i].state == CALL_STATE_RUNNING ? find_errand_done(t, &c[i]) : NULL;

		if (e)
			err = turn_result_store(&p, &c[i], &e->answer, turn_carry(t));
		if (err == ERR_BRING) { /* together with those after it */
			brings = true;
			err = 0;
			continue;
		}
		/* It may run again, and finds those that are stored by their state. */
		if (e && !err)
			mark_errand_stored(t, &c[i]);
	}
	if (!err && brings)
		return ERR_BRING;
	return err ? err : turn_advance(t, &p, &calls);
}

/* With the lock: something is back that no step has seen. */
static bool has_news(const struct turn *t)
{
	for (const struct errand *e = t->errands; e; e = e->next)
		if (e->state == ERRAND_BACK)
			return true;
	return false;
}

/* Stores what is back, or waits for what is not. */
static void look_for_answers(struct turn *t)
{
	bool news;

	pthread_mutex_lock(&t->lock);
	news = has_news(t);
	turn_move(t, news ? TURN_AT_STEP : TURN_AT_TOOLS);
	pthread_mutex_unlock(&t->lock);
	if (news)
		turn_step(t, act_results, READ_WRITE);
}

/* ---- making calls ---- */

static void keep_answer(struct errand *e, const struct tool_answer *answer)
{
	e->answer = *answer;
	e->answer.text = arena_strdup(&e->arena, answer->text);
	if (answer->whole)
		e->answer.whole = arena_strndup(&e->arena, answer->whole, answer->whole_len);
	if (answer->content_type)
		e->answer.content_type = arena_strdup(&e->arena, answer->content_type);
}

static void errand_on_done(void *data, const struct tool_answer *answer)
{
	struct errand *e = data;
	struct turn *t = e->turn;
	bool idle;

	keep_answer(e, answer);
	pthread_mutex_lock(&t->lock);
	errand_move(e, ERRAND_BACK);
	idle = t->stage == TURN_AT_TOOLS;
	if (idle)
		turn_move(t, TURN_AT_STEP);
	pthread_mutex_unlock(&t->lock);
	if (idle)
		turn_step(t, act_results, READ_WRITE);
	turn_let_go(t);
}

static void start_errand(struct turn *t, struct errand *e, const struct departure *d)
{
	struct tool_asked asked = { .tenant_id = t->job->tenant_id,
		.agent_id = t->agent_id,
		.session_id = t->job->subject,
		.user_id = t->user_id,
		.held = t->actor.agent,
		.all_sessions = t->actor.all_sessions,
		.call_id = d->call->id,
		.tool = d->tool,
		.arguments = d->call->arguments,
		.now = clock_now_us() };
	struct tool_work *work = NULL;
	int err = tool_run_start(t->s->tools, &asked, errand_on_done, e, &work);

	atomic_fetch_add_explicit(&t->s->tool_calls, 1, memory_order_relaxed);
	if (err) {
		errand_on_done(e,
			&(struct tool_answer){ .failed = true,
				.text = "The tool could not be run: too many calls are under way. "
					"Try again later, or with fewer at once." });
		return;
	}
	pthread_mutex_lock(&t->lock);
	e->work = work;
	if (t->cancelled && e->state == ERRAND_AWAY)
		tool_run_cancel(work);
	pthread_mutex_unlock(&t->lock);
}

/* Their state is committed: they are made now.  All are entered before the first one can come back. */
void turn_depart(void *turn)
{
	struct turn *t = turn;
	size_t count = 0, i = 0;
	struct errand **made;

	for (struct departure *d = t->departures; d; d = d->next)
		count++;
	made = arena_array(&t->step, struct errand *, count + 1);
	pthread_mutex_lock(&t->lock);
	for (struct departure *d = t->departures; d; d = d->next) {
		struct errand *e = memory_zeroed(sizeof *e);

		e->turn = t;
		memcpy(e->call, d->call->id, ID_LEN + 1);
		e->next = t->errands;
		t->errands = e;
		t->holds++;
		made[i++] = e;
	}
	pthread_mutex_unlock(&t->lock);
	i = 0;
	for (struct departure *d = t->departures; d; d = d->next)
		start_errand(t, made[i++], d);
	look_for_answers(t);
}
