/* completion_settle.c - the money of a completion is settled after it; see completion.h. */
#include "base/clock.h"
#include "base/check.h"
#include "base/log.h"
#include "broker/completion_parts.h"

static void now_is(struct completion *r, enum completion_money to)
{
	pthread_mutex_lock(&r->lock);
	completion_money_move(r, to);
	pthread_mutex_unlock(&r->lock);
}

static void settle_run_done(struct completion *r, int err)
{
	if (err == ERR_NOT_FOUND)
		log_error("a model call lost its lease and was settled as lost",
			LOG_S("call", r->id), LOG_S("model_id", r->reservation.model_id));
	else if (err) {
		now_is(r, COMPLETION_SETTLE_DUE);
		return;
	}
	r->reservation.made.id[0] = '\0';
	r->reservation.free = false;
	now_is(r, COMPLETION_UNRESERVED);
	r->settled(r);
}

static int settle_alone_run(struct work *w, struct db *db)
{
	struct completion *r = (struct completion *)w;

	return budget_settle(db, &r->reservation, &r->charge, r->moment);
}

static void settle_alone_done(struct work *w, int err)
{
	settle_run_done((struct completion *)w, err);
}

void completion_settle_again(struct completion *r)
{
	int err;

	r->work = (struct work){
		.run = settle_alone_run, .done = settle_alone_done, .mode = READ_WRITE
	};
	err = store_submit(r->broker->settings.store, &r->work);
	if (err)
		now_is(r, COMPLETION_SETTLE_DUE);
}

static int settle_runs(struct db *db, struct completion *const *runs, size_t count)
{
	struct settlement list[LEDGER_AT_ONCE];
	int err;

	INVARIANT(count <= LEDGER_AT_ONCE);
	for (size_t i = 0; i < count; i++)
		list[i] = (struct settlement){ &runs[i]->reservation, &runs[i]->charge,
			runs[i]->moment, 0 };
	err = budget_settle_all(db, list, count);
	for (size_t i = 0; i < count; i++)
		runs[i]->group_err = list[i].err;
	return err;
}

const struct group_commit completion_settling = {
	.serve = settle_runs, .alone = completion_settle_again, .over = settle_run_done
};

/* Where it is more than can be reckoned, what was reserved is the best guess left. */
void completion_reckon(struct completion *r)
{
	if (!price_cost(&r->reservation.price, &r->usage, &r->cost_pd))
		return;
	r->cost_pd = r->reservation.made.amount_pd;
	r->usage.estimated = true;
	INVARIANT(r->cost_pd >= 0);
}

void completion_settle(
	struct completion *r, enum charge_outcome outcome, void (*then)(struct completion *r))
{
	const struct reservation *b = &r->reservation;

	if (r->money == COMPLETION_UNRESERVED) { /* which no other thread moves it from */
		then(r);
		return;
	}
	r->charge = (struct charge){
		.tenant_id = b->tenant_id,
		.agent_id = b->agent_id,
		.model_id = b->model_id,
		.user_id = b->user_id,
		.session_id = b->session_id,
		.byok = b->byok,
		.outcome = outcome,
		.usage = r->usage,
		.cost_pd = r->cost_pd,
	};
	r->moment = clock_now_us();
	r->settled = then;
	pthread_mutex_lock(&r->lock);
	completion_money_move(r, COMPLETION_SETTLING);
	r->lease.made.id[0] = '\0';
	pthread_mutex_unlock(&r->lock);
	group_commit_join(&r->broker->settling, r);
}
