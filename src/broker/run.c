/* run.c - the way of one call through its candidates; see run.h.
 *
 * What is decided here is who is tried next and what the owner of the run
 * gets to see.  Promises and settlements are in run_book.c, the request and
 * its bytes in run_send.c. */
#include <stdatomic.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "broker/run_parts.h"

static void pass(struct run *r, const struct event *e)
{
	r->asked.sink.take(r->asked.sink.data, e);
}

static void count(_Atomic uint64_t *n)
{
	atomic_fetch_add_explicit(n, 1, memory_order_relaxed);
}

/* ---- the breaker ---- */

static void tell_breaker(struct run *r, enum breaker_word word, int64_t wait_ms)
{
	breaker_hears(
		r->broker->breaker, r->booking.model_id, r->owner, word, wait_ms, clock_mono_ms());
}

static void tell_breaker_of_fault(struct run *r)
{
	if (!fault_rows[r->fault.class].fails_over)
		tell_breaker(r, BREAKER_GOOD, 0);
	else if (r->fault.class == FAULT_RATE_LIMITED && r->fault.retry_after_s)
		tell_breaker(r, BREAKER_LIMITED, (int64_t)r->fault.retry_after_s * 1000);
	else
		tell_breaker(r, BREAKER_FAULT, 0);
}

/* ---- the end ---- */

static void gone(struct run *r)
{
	run_let_go(r);
}

/* Tells the owner, then settles: until then the promise stands for what was used.  Where there is none,
 * it is the other way round.  Behind this nothing of the owner's is touched. */
static void conclude(struct run *r, enum charge_outcome outcome, const struct problem *problem)
{
	struct run_end end = {
		.problem = problem,
		.fault = r->failed ? &r->fault : NULL,
		.cancelled = outcome == CHARGE_CANCELLED,
		.begun = r->begun,
		.index = r->index,
		.candidate = r->candidate,
		.usage = r->usage,
	};
	bool is_free = r->booking.free;

	count(problem			      ? &r->broker->refused
		: outcome == CHARGE_OK	      ? &r->broker->finished
		: outcome == CHARGE_CANCELLED ? &r->broker->cancelled
					      : &r->broker->failed);
	pthread_mutex_lock(&r->lock);
	r->is_over = true;
	r->over_ms = clock_mono_ms();
	r->holds++;
	pthread_mutex_unlock(&r->lock);
	if (is_free)
		run_settle(r, outcome, gone);
	r->asked.over(r->asked.data, &end);
	if (!is_free)
		run_settle(r, outcome, gone);
	run_let_go(r);
}

static void refuse(struct run *r, int err)
{
	if (!r->problem.err || r->problem.err != err)
		r->problem = (struct problem){ .err = err };
	tell_breaker(r, BREAKER_NOTHING, 0);
	conclude(r, CHARGE_FAILED, &r->problem);
}

/* What was asked of the provider before the caller went may be billed, though nothing was heard. */
static void conclude_cancelled(struct run *r)
{
	if (r->sent && !r->used)
		r->usage =
			(struct usage){ .input = r->asked.plan->prompt_tokens, .estimated = true };
	tell_breaker(r, BREAKER_NOTHING, 0);
	conclude(r, CHARGE_CANCELLED, NULL);
}

static void conclude_failed(struct run *r)
{
	if (!r->begun)
		pass(r, &(struct event){ .kind = EVENT_ERROR, .fault = &r->fault });
	conclude(r, CHARGE_FAILED, NULL);
}

/* ---- who is next ---- */

static const char *owner_of(const struct run *r, const struct candidate *c)
{
	return c->byok ? r->asked.tenant_id : "";
}

/* In order, but those that have just failed for others come last. */
static const struct candidate *choose(struct run *r, size_t *ret_index)
{
	const struct plan *plan = r->asked.plan;
	const struct candidate *last_resort = NULL;

	for (size_t i = r->asked.first; i < plan->count; i++) {
		const struct candidate *c = &plan->at[i];

		if (r->tried >> i & 1)
			continue;
		if (breaker_allows(
			    r->broker->breaker, c->model_id, owner_of(r, c), clock_mono_ms())) {
			*ret_index = i;
			return c;
		}
		if (!last_resort) {
			last_resort = c;
			*ret_index = i;
		}
	}
	return last_resort;
}

static bool has_untried(const struct run *r)
{
	for (size_t i = r->asked.first; i < r->asked.plan->count; i++)
		if (!(r->tried >> i & 1))
			return true;
	return false;
}

bool run_next(struct run *r)
{
	const struct candidate *c = choose(r, &r->index);

	if (!c)
		return false;
	r->candidate = c;
	r->tried |= 1U << r->index;
	if (r->attempts++)
		count(&r->broker->failovers);
	memcpy(r->owner, owner_of(r, c), strlen(owner_of(r, c)) + 1);
	r->usage = (struct usage){ 0 };
	r->used = r->sent = r->finished = r->failed = false;
	r->start_id = r->start_name = (struct slice){ 0 };
	run_book(r);
	return true;
}

static void try_next(struct run *r)
{
	struct fault last = r->fault;

	if (run_is_cancelled(r)) {
		r->sent = false; /* what was, is settled */
		conclude_cancelled(r);
	} else if (!run_next(r)) {
		r->failed = true;
		r->fault = last;
		conclude_failed(r);
	}
}

void run_booked(struct run *r, int err)
{
	if (err && r->attempts > 1 && err == ERR_THROTTLED) {
		/* The next model is too dear for what is left; the one behind it may not be. */
		r->failed = true;
		tell_breaker(r, BREAKER_NOTHING, 0);
		try_next(r);
		return;
	}
	if (!err && run_is_cancelled(r)) {
		conclude_cancelled(r);
		return;
	}
	if (!err)
		err = run_send(r);
	if (err)
		refuse(r, err);
}

/* ---- what the attempt says ---- */

static void log_fault(const struct run *r)
{
	const struct fault *f = &r->fault;
	/* A tenant's account is not the operator's business. */
	bool quotable = !r->candidate->byok && *f->words;

	log_warn("a model failed", LOG_S("model", r->candidate->slug),
		LOG_S("fault", fault_rows[f->class].word), LOG_N("status", f->status),
		LOG_S("words", quotable ? f->words : f->sentence), LOG_S("call", r->id));
}

static void begin(struct run *r)
{
	if (r->begun)
		return;
	r->begun = true;
	pass(r, &(struct event){ .kind = EVENT_START, .id = r->start_id, .name = r->start_name });
}

static struct slice keep(struct run *r, struct slice s)
{
	return s.at ? (struct slice){ arena_strndup(&r->arena, s.at, s.len), s.len } : s;
}

/* Nobody reads or writes more tokens than bytes, but for images and hidden thoughts. */
static bool is_believable(const struct run *r, const struct usage *u)
{
	enum { UNSEEN_MAX = 1000000 };

	return u->input + u->cache_read + u->cache_write <= (int64_t)r->body.len + UNSEEN_MAX &&
	       u->output <= (int64_t)r->reply.bytes + UNSEEN_MAX;
}

static void note_usage(struct run *r, const struct usage *u)
{
	r->usage = *u;
	r->used = true;
	if (is_believable(r, u))
		return;
	r->usage = (struct usage){ .input = r->asked.plan->prompt_tokens,
		.output = tokens_count(&r->reply.spoken) + tokens_count(&r->reply.thought),
		.reasoning = tokens_count(&r->reply.thought),
		.estimated = true };
}

/* A provider that quotes our key is not quoted. */
static void note_fault(struct run *r, const struct fault *f)
{
	const char *key = r->candidate->target.api_key;

	r->failed = true;
	r->fault = *f;
	if (!key || !*key)
		return;
	if (strstr(f->sentence, key))
		snprintf(r->fault.sentence, sizeof r->fault.sentence, "%s.",
			fault_rows[f->class].title);
	if (strstr(f->words, key))
		r->fault.words[0] = '\0';
}

static void finish(struct run *r, const struct event *e)
{
	begin(r);
	pass(r, &(struct event){ .kind = EVENT_USAGE, .usage = r->usage });
	r->finished = true;
	tell_breaker(r, BREAKER_GOOD, 0);
	pass(r, e);
	conclude(r, CHARGE_OK, NULL);
}

/* Until there is something of an answer nothing is passed on, so that another model can still give it. */
void run_take(void *run, const struct event *e)
{
	struct run *r = run;

	switch (e->kind) {
	case EVENT_START:
		r->start_id = keep(r, e->id);
		r->start_name = keep(r, e->name);
		break;
	case EVENT_USAGE:
		note_usage(r, &e->usage);
		break;
	case EVENT_FINISH:
		finish(r, e);
		break;
	case EVENT_ERROR:
		note_fault(r, e->fault);
		if (!r->begun || run_is_cancelled(r))
			break;
		if (r->used)
			pass(r, &(struct event){ .kind = EVENT_USAGE, .usage = r->usage });
		pass(r, &(struct event){ .kind = EVENT_ERROR, .fault = &r->fault });
		break;
	default:
		begin(r);
		pass(r, e);
		break;
	}
}

void run_attempt_over(struct run *r)
{
	if (r->finished)
		return;
	if (run_is_cancelled(r)) {
		r->failed = false;
		conclude_cancelled(r);
		return;
	}
	tell_breaker_of_fault(r);
	log_fault(r);
	if (!r->begun && fault_rows[r->fault.class].fails_over && has_untried(r))
		run_settle(r, CHARGE_FAILED, try_next);
	else
		conclude_failed(r);
}
