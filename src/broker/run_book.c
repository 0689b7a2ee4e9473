/* run_book.c - the money of a run: promised before a request is sent, settled behind it; see run.h. */
#include "base/clock.h"
#include "base/log.h"
#include "broker/run_parts.h"

/* ---- promising ---- */

static int book(struct work *w, struct db *db)
{
	struct run *r = (struct run *)w;
	int64_t wanted = r->candidate->output_tokens;

	/* It may not be for the first time. */
	r->problem = (struct problem){ 0 };
	r->booking.output_tokens = wanted;
	r->moment = clock_now_us();
	return budget_book(db, &r->arena, &r->booking, r->moment, &r->problem);
}

static void booked(struct work *w, int err)
{
	struct run *r = (struct run *)w;

	if (err)
		r->booking.made.id[0] = '\0';
	pthread_mutex_lock(&r->lock);
	r->lease = r->booking;
	r->extended_ms = clock_mono_ms();
	pthread_mutex_unlock(&r->lock);
	run_booked(r, err);
}

void run_book(struct run *r)
{
	const struct candidate *c = r->candidate;
	const struct plan *plan = r->asked.plan;
	bool first = r->attempts == 1; /* a call is counted once, however many models it takes */
	int err = 0;

	r->booking = (struct booking){
		.tenant_id = r->asked.tenant_id,
		.agent_id = r->asked.agent_id,
		.model_id = arena_strdup(&r->arena, c->model_id),
		.user_id = r->asked.user_id,
		.session_id = r->asked.session_id,
		.byok = c->byok,
		.price = c->price,
		.prompt_tokens = plan->prompt_tokens,
		.output_tokens = c->output_tokens,
		.hourly_limit_pd = plan->hourly_limit_pd,
		.per_minute = first ? plan->per_minute : NIL,
		.per_hour = first ? plan->per_hour : NIL,
	};
	/* Before the promise, off the store's threads; again behind it in case it was cut. */
	if (!run_write_body(r))
		err = ERR_TOO_LARGE;
	r->booking.free = r->broker->settings.accounting && budget_is_free(&r->booking);
	if (err || r->booking.free || !r->broker->settings.accounting) {
		run_booked(r, err);
		return;
	}
	r->work = (struct work){ .run = book, .done = booked, .mode = READ_WRITE };
	err = store_submit(r->broker->settings.store, &r->work);
	if (err)
		run_booked(r, err);
}

/* ---- settling ---- */

static int settle(struct work *w, struct db *db)
{
	struct run *r = (struct run *)w;

	return budget_settle(db, &r->booking, &r->charge, r->moment);
}

static void settle_done(struct work *w, int err)
{
	struct run *r = (struct run *)w;

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

void run_settle_again(struct run *r)
{
	int err;

	r->work = (struct work){ .run = settle, .done = settle_done, .mode = READ_WRITE };
	err = store_submit(r->broker->settings.store, &r->work);
	if (!err)
		return;
	pthread_mutex_lock(&r->lock);
	r->settle_due = true;
	pthread_mutex_unlock(&r->lock);
}

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
	run_settle_again(r);
}

/* ---- a lease lasts ---- */

static struct run *of_extension(struct work *w)
{
	return (struct run *)((char *)w - offsetof(struct run, extension));
}

static int extend(struct work *w, struct db *db)
{
	struct run *r = of_extension(w);
	struct booking lease;
	int err;

	pthread_mutex_lock(&r->lock);
	lease = r->lease;
	pthread_mutex_unlock(&r->lock);
	err = lease.made.id[0] ? budget_extend(db, &lease, clock_now_us()) : 0;
	return err == ERR_NOT_FOUND ? 0 : err; /* it was settled meanwhile */
}

static void extended(struct work *w, int err)
{
	struct run *r = of_extension(w);

	pthread_mutex_lock(&r->lock);
	r->extending = false;
	if (err) /* soon again */
		r->extended_ms = 0;
	pthread_mutex_unlock(&r->lock);
	run_let_go(r);
}

void run_extend(struct run *r, int64_t now_ms)
{
	if (r->extending || !r->lease.made.id[0])
		return;
	r->extension = (struct work){ .run = extend, .done = extended, .mode = READ_WRITE };
	if (store_submit(r->broker->settings.store, &r->extension))
		return;
	r->extending = true;
	r->extended_ms = now_ms;
	r->holds++;
}
