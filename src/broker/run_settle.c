/* run_settle.c - the money of a run is settled behind it; see run.h. */
#include "base/clock.h"
#include "base/log.h"
#include "broker/run_parts.h"

static void settled(struct run *r, int err)
{
	if (err == ERR_NOT_FOUND)
		log_error("a model call lost its lease and was settled as lost",
			LOG_S("call", r->id), LOG_S("model_id", r->booking.model_id));
	else if (err) {
		pthread_mutex_lock(&r->lock);
		r->settle_due = true; /* the next tick tries again */
		pthread_mutex_unlock(&r->lock);
		return;
	}
	r->booking.made.id[0] = '\0';
	r->booking.free = false;
	r->settled(r);
}

static int alone_run(struct work *w, struct db *db)
{
	struct run *r = (struct run *)w;

	return budget_settle(db, &r->booking, &r->charge, r->moment);
}

static void alone_done(struct work *w, int err)
{
	settled((struct run *)w, err);
}

void run_settle_again(struct run *r)
{
	int err;

	r->work = (struct work){ .run = alone_run, .done = alone_done, .mode = READ_WRITE };
	err = store_submit(r->broker->settings.store, &r->work);
	if (!err)
		return;
	pthread_mutex_lock(&r->lock);
	r->settle_due = true;
	pthread_mutex_unlock(&r->lock);
}

static int settle_all(struct db *db, struct run *const *runs, size_t count)
{
	struct settlement list[LEDGER_AT_ONCE];
	int err;

	for (size_t i = 0; i < count; i++)
		list[i] = (struct settlement){ &runs[i]->booking, &runs[i]->charge, runs[i]->moment,
			0 };
	err = budget_settle_all(db, list, count);
	for (size_t i = 0; i < count; i++)
		runs[i]->till_err = list[i].err;
	return err;
}

const struct till run_settling = {
	.serve = settle_all, .alone = run_settle_again, .over = settled
};

void run_settle(struct run *r, enum charge_outcome outcome, void (*then)(struct run *r))
{
	const struct booking *b = &r->booking;

	if (!b->made.id[0] && !b->free) {
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
	};
	if (price_cost(&b->price, &r->usage, &r->charge.cost_pd)) {
		r->charge.cost_pd =
			b->made.amount_pd; /* what was promised is the best guess left */
		r->charge.usage.estimated = true;
	}
	r->moment = clock_now_us();
	r->settled = then;
	pthread_mutex_lock(&r->lock);
	r->lease.made.id[0] = '\0';
	pthread_mutex_unlock(&r->lock);
	till_join(&r->broker->settling, r);
}
