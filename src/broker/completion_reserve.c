/* completion_reserve.c - the money of a completion is reserved before a request is sent, and the reservation kept alive; see
 * completion.h.  It is settled in completion_settle.c. */
#include "base/clock.h"
#include "broker/completion_parts.h"
#include "broker/endpoint.h"

/* It may not be for the first time. */
static int reserve_run(struct db *db, struct completion *r, struct budget_used *used)
{
	r->problem = (struct problem){ 0 };
	r->reservation.output_tokens = r->candidate->output_tokens;
	r->moment = clock_now_us();
	return budget_reserve(db, &r->arena, &r->reservation, r->moment, used, &r->problem);
}

static void reserve_run_done(struct completion *r, int err)
{
	if (err)
		r->reservation.made.id[0] = '\0';
	pthread_mutex_lock(&r->lock);
	r->lease = r->reservation;
	r->extended_ms = clock_mono_ms();
	if (!err)
		completion_money_move(r, COMPLETION_RESERVED);
	pthread_mutex_unlock(&r->lock);
	completion_reserved(r, err);
}

static int reserve_alone_run(struct work *w, struct db *db)
{
	struct budget_used used = { 0 };

	return reserve_run(db, (struct completion *)w, &used);
}

static void reserve_alone_done(struct work *w, int err)
{
	reserve_run_done((struct completion *)w, err);
}

static void reserve_alone(struct completion *r)
{
	int err;

	r->work = (struct work){
		.run = reserve_alone_run, .done = reserve_alone_done, .mode = READ_WRITE
	};
	err = store_submit(r->broker->settings.store, &r->work);
	if (err)
		completion_reserved(r, err);
}

/* A refusal is one completion's; any other error is that of all. */
static int reserve_all(struct db *db, struct completion *const *runs, size_t count)
{
	struct budget_used used = { 0 };

	for (size_t i = 0; i < count; i++) {
		runs[i]->group_err = reserve_run(db, runs[i], &used);
		if (runs[i]->group_err != runs[i]->problem.err)
			return runs[i]->group_err;
	}
	return 0;
}

const struct group_commit completion_reserving = {
	.serve = reserve_all, .alone = reserve_alone, .over = reserve_run_done
};

static void write_and_reserve(struct completion *r)
{
	const struct endpoint_request *e = r->asked.chat->request;
	int err = completion_write_body(r);

	/* What is reckoned is what is sent, byte for byte. */
	r->reservation.prompt_tokens = e ? e->tokens_most : r->prompt_tokens;
	r->reservation.free = r->broker->settings.accounting && budget_is_free(&r->reservation);
	if (!err && r->reservation.free) {
		pthread_mutex_lock(&r->lock);
		completion_money_move(r, COMPLETION_RESERVED);
		pthread_mutex_unlock(&r->lock);
	}
	if (err || r->reservation.free || !r->broker->settings.accounting)
		completion_reserved(r, err);
	else
		group_commit_join(&r->broker->reservation, r);
}

void completion_reserve(struct completion *r)
{
	const struct candidate *c = r->candidate;
	const struct candidates *candidates = r->asked.candidates;
	const struct endpoint_request *e = r->asked.chat->request;
	bool first = r->attempts == 1; /* a call is counted once, however many models it takes */

	r->reservation = (struct reservation){
		.tenant_id = r->asked.tenant_id,
		.agent_id = r->asked.agent_id,
		.model_id = arena_strdup(&r->arena, c->model_id),
		.user_id = r->asked.user_id,
		.session_id = r->asked.session_id,
		.byok = c->byok,
		.price = c->price,
		.output_tokens = c->output_tokens,
		/* Nobody can be told to speak less of a text. */
		.least_output = e ? c->output_tokens : c->provider->least_output,
		.characters = e ? e->characters : 0,
		.seconds = e ? e->seconds_most : 0,
		.hourly_limit_pd = candidates->hourly_limit_pd,
		.per_minute = first ? candidates->per_minute : NIL,
		.per_hour = first ? candidates->per_hour : NIL,
	};
	/* Before the reservation; again after it in case it was cut.  Who starts a completion has the time to write; who
	 * finds that a model failed may be a thread that many wait for. */
	if (first || !completion_writes_aside(r, write_and_reserve))
		write_and_reserve(r);
}

/* ---- a lease lasts ---- */

static struct completion *of_extension(struct work *w)
{
	return (struct completion *)((char *)w - offsetof(struct completion, extension));
}

static int extend_lease(struct work *w, struct db *db)
{
	struct completion *r = of_extension(w);
	struct reservation lease;
	int err;

	pthread_mutex_lock(&r->lock);
	lease = r->lease;
	pthread_mutex_unlock(&r->lock);
	err = lease.made.id[0] ? budget_extend(db, &lease, clock_now_us()) : 0;
	return err == ERR_NOT_FOUND ? 0 : err; /* it was settled meanwhile */
}

static void extend_lease_done(struct work *w, int err)
{
	struct completion *r = of_extension(w);

	pthread_mutex_lock(&r->lock);
	r->extending = false;
	if (err) /* soon again */
		r->extended_ms = 0;
	pthread_mutex_unlock(&r->lock);
	completion_let_go(r);
}

void completion_extend(struct completion *r, int64_t now_ms)
{
	if (r->extending || !r->lease.made.id[0])
		return;
	r->extension =
		(struct work){ .run = extend_lease, .done = extend_lease_done, .mode = READ_WRITE };
	if (store_submit(r->broker->settings.store, &r->extension))
		return;
	r->extending = true;
	r->extended_ms = now_ms;
	r->holds++;
}
