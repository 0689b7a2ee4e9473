/* run_book.c - the money of a run is promised before a request is sent, and the promise kept alive; see
 * run.h.  It is settled in run_settle.c. */
#include "base/clock.h"
#include "broker/run_parts.h"

/* It may not be for the first time. */
static int book(struct db *db, struct run *r, struct budget_used *used)
{
	r->problem = (struct problem){ 0 };
	r->booking.output_tokens = r->candidate->output_tokens;
	r->moment = clock_now_us();
	return budget_book(db, &r->arena, &r->booking, r->moment, used, &r->problem);
}

static void booked(struct run *r, int err)
{
	if (err)
		r->booking.made.id[0] = '\0';
	pthread_mutex_lock(&r->lock);
	r->lease = r->booking;
	r->extended_ms = clock_mono_ms();
	pthread_mutex_unlock(&r->lock);
	run_booked(r, err);
}

static int alone_run(struct work *w, struct db *db)
{
	struct budget_used used = { 0 };

	return book(db, (struct run *)w, &used);
}

static void alone_done(struct work *w, int err)
{
	booked((struct run *)w, err);
}

static void book_alone(struct run *r)
{
	int err;

	r->work = (struct work){ .run = alone_run, .done = alone_done, .mode = READ_WRITE };
	err = store_submit(r->broker->settings.store, &r->work);
	if (err)
		run_booked(r, err);
}

/* A refusal is one run's; any other error is that of all. */
static int book_all(struct db *db, struct run *const *runs, size_t count)
{
	struct budget_used used = { 0 };

	for (size_t i = 0; i < count; i++) {
		runs[i]->till_err = book(db, runs[i], &used);
		if (runs[i]->till_err != runs[i]->problem.err)
			return runs[i]->till_err;
	}
	return 0;
}

const struct till run_booking = { .serve = book_all, .alone = book_alone, .over = booked };

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
	till_join(&r->broker->booking, r);
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
