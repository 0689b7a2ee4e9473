/* completion.c - the way of one call through its candidates; see completion.h.
 *
 * What is decided here is who is tried next and what the owner of the completion
 * gets to see.  Promises and settlements are in completion_reserve.c, the request and
 * its bytes in completion_send.c. */
#include <stdatomic.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "broker/completion_parts.h"
#include "broker/endpoint.h"

static void completion_pass_event(struct completion *r, const struct event *e)
{
	r->said += e->text.len + e->name.len + e->id.len;
	r->asked.sink.take(r->asked.sink.data, e);
}

static void completion_counter_add(_Atomic uint64_t *n)
{
	atomic_fetch_add_explicit(n, 1, memory_order_relaxed);
}

/* ---- the breaker ---- */

static void tell_breaker(struct completion *r, enum breaker_word word, int64_t wait_ms)
{
	breaker_hears(r->broker->breaker, r->reservation.model_id, r->owner, word, wait_ms,
		clock_mono_ms());
}

static void tell_breaker_of_fault(struct completion *r)
{
	if (!fault_rows[r->fault.class].fails_over)
		tell_breaker(r, BREAKER_GOOD, 0);
	else if (r->fault.class == FAULT_RATE_LIMITED && r->fault.retry_after_s)
		tell_breaker(r, BREAKER_LIMITED, (int64_t)r->fault.retry_after_s * 1000);
	else
		tell_breaker(r, BREAKER_FAULT, 0);
}

/* ---- the end ---- */

static void completion_on_settled(struct completion *r)
{
	completion_let_go(r);
}

/* Tells the owner, then settles: until then the reservation stands for what was used.  Where there is none,
 * it is the other way round.  After this nothing of the owner's is touched. */
static void completion_conclude(
	struct completion *r, enum charge_outcome outcome, const struct problem *problem)
{
	struct completion_end end;
	bool is_free = r->reservation.free;

	INVARIANT(r->candidate && r->attempts);
	completion_reckon(r);
	end = (struct completion_end){
		.problem = problem,
		.fault = completion_has_failed(r) && outcome != CHARGE_CANCELLED ? &r->fault : NULL,
		.cancelled = outcome == CHARGE_CANCELLED,
		.begun = completion_has_begun(r),
		.index = r->index,
		.candidate = r->candidate,
		.usage = r->usage,
		.cost_pd = r->cost_pd,
		.failed = r->failed,
		.failed_count = r->failed_count,
	};
	completion_counter_add(problem			     ? &r->broker->refused
			       : outcome == CHARGE_OK	     ? &r->broker->finished
			       : outcome == CHARGE_CANCELLED ? &r->broker->cancelled
							     : &r->broker->failed);
	pthread_mutex_lock(&r->lock);
	completion_move_locked(r, COMPLETION_OVER);
	r->over_ms = clock_mono_ms();
	r->holds++;
	pthread_mutex_unlock(&r->lock);
	if (is_free)
		completion_settle(r, outcome, completion_on_settled);
	r->asked.over(r->asked.data, &end);
	if (!is_free)
		completion_settle(r, outcome, completion_on_settled);
	completion_let_go(r);
}

void completion_refuse(struct completion *r, int err)
{
	if (!r->problem.err || r->problem.err != err)
		r->problem = (struct problem){ .err = err };
	tell_breaker(r, BREAKER_NOTHING, 0);
	completion_conclude(r, CHARGE_FAILED, &r->problem);
}

struct usage completion_unheard(const struct completion *r)
{
	const struct endpoint_request *e = r->asked.chat->request;

	return (struct usage){ .input = r->prompt_tokens,
		.characters = e ? e->characters : 0,
		.seconds = e ? e->seconds : 0,
		.estimated = true };
}

/* What was asked of the provider before the caller went may be billed, though nothing was heard. */
static void conclude_cancelled(struct completion *r)
{
	if (completion_has_asked(r) && !r->used)
		r->usage = completion_unheard(r);
	tell_breaker(r, BREAKER_NOTHING, 0);
	completion_conclude(r, CHARGE_CANCELLED, NULL);
}

static void conclude_failed(struct completion *r)
{
	if (!completion_has_begun(r))
		completion_pass_event(
			r, &(struct event){ .kind = EVENT_ERROR, .fault = &r->fault });
	completion_conclude(r, CHARGE_FAILED, NULL);
}

/* ---- who is next ---- */

static const char *owner_of(const struct completion *r, const struct candidate *c)
{
	return c->byok ? r->asked.tenant_id : "";
}

/* In order, but those that have just failed for others come last. */
static const struct candidate *choose_candidate(struct completion *r, size_t *ret_index)
{
	const struct candidates *candidates = r->asked.candidates;
	const struct candidate *last_resort = NULL;

	for (size_t i = r->asked.first; i < candidates->count; i++) {
		const struct candidate *c = &candidates->at[i];

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

static bool has_untried(const struct completion *r)
{
	for (size_t i = r->asked.first; i < r->asked.candidates->count; i++)
		if (!(r->tried >> i & 1))
			return true;
	return false;
}

bool completion_next(struct completion *r)
{
	const struct candidate *c = choose_candidate(r, &r->index);

	if (!c)
		return false;
	completion_move(r, COMPLETION_RESERVING);
	r->candidate = c;
	r->tried |= 1U << r->index;
	if (r->attempts++)
		completion_counter_add(&r->broker->failovers);
	memcpy(r->owner, owner_of(r, c), strlen(owner_of(r, c)) + 1);
	r->usage = (struct usage){ 0 };
	r->used = false;
	r->start_id = r->start_name = (struct slice){ 0 };
	r->start_usage = (struct usage){ 0 };
	r->start_media = NULL;
	completion_reserve(r);
	return true;
}

static void try_next(struct completion *r)
{
	completion_move(r, COMPLETION_CHOOSING);
	if (completion_is_cancelled(r)) {
		conclude_cancelled(r);
	} else if (!completion_next(r)) { /* what the last one had to say is told */
		completion_move(r, COMPLETION_FAULTED);
		conclude_failed(r);
	}
}

void completion_reserved(struct completion *r, int err)
{
	if (err && r->attempts > 1 && err == ERR_THROTTLED) {
		/* The next model is too dear for what is left; the one after it may not be. */
		tell_breaker(r, BREAKER_NOTHING, 0);
		try_next(r);
		return;
	}
	if (!err && completion_is_cancelled(r)) {
		conclude_cancelled(r);
		return;
	}
	if (!err)
		err = completion_send(r);
	if (err)
		completion_refuse(r, err);
}

/* ---- what the attempt says ---- */

static void log_fault(const struct completion *r)
{
	const struct fault *f = &r->fault;
	/* A tenant's account is not the operator's business. */
	bool quotable = !r->candidate->byok && *f->words;

	log_warn("a model failed", LOG_S("model", r->candidate->slug),
		LOG_S("fault", fault_rows[f->class].word), LOG_N("status", f->status),
		LOG_S("words", quotable ? f->words : f->sentence), LOG_S("call", r->id),
		LOG_S("request_id", r->asked.request_id), LOG_S("tenant_id", r->asked.tenant_id),
		LOG_S("agent_id", r->asked.agent_id), LOG_S("session_id", r->asked.session_id));
}

static void completion_begin(struct completion *r)
{
	if (r->stage == COMPLETION_ANSWERING)
		return;
	completion_move(r, COMPLETION_ANSWERING);
	completion_pass_event(r, &(struct event){ .kind = EVENT_START,
					 .id = r->start_id,
					 .name = r->start_name,
					 .maker = r->candidate->provider->name,
					 .media = r->start_media,
					 .usage = r->start_usage });
}

static struct slice completion_keep_slice(struct completion *r, struct slice s)
{
	return s.at ? (struct slice){ arena_strndup(&r->arena, s.at, s.len), s.len } : s;
}

/* Nobody reads or writes more tokens than bytes, but for images and hidden thoughts. */
static bool is_believable(const struct completion *r, const struct usage *u)
{
	enum { UNSEEN_MAX = 1000000 };

	return u->input + u->cache_read + u->cache_write <= (int64_t)r->body.len + UNSEEN_MAX &&
	       u->output <= (int64_t)r->reply.bytes + UNSEEN_MAX;
}

static void note_usage(struct completion *r, const struct usage *u)
{
	r->usage = *u;
	r->used = true;
	if (is_believable(r, u))
		return;
	r->usage = (struct usage){ .input = r->prompt_tokens,
		.output = tokens_count(&r->reply.spoken) + tokens_count(&r->reply.thought),
		.reasoning = tokens_count(&r->reply.thought),
		.characters = u->characters,
		.seconds = u->seconds,
		.estimated = true };
}

/* A provider that quotes our key is not quoted. */
static void note_fault(struct completion *r, const struct fault *f)
{
	const char *key = r->candidate->target.api_key;

	completion_move(
		r, r->stage == COMPLETION_ANSWERING ? COMPLETION_BROKEN : COMPLETION_FAULTED);
	r->fault = *f;
	if (!key || !*key)
		return;
	if (strstr(f->sentence, key))
		snprintf(r->fault.sentence, sizeof r->fault.sentence, "%s.",
			fault_rows[f->class].title);
	if (strstr(f->words, key))
		r->fault.words[0] = '\0';
}

static void completion_finish(struct completion *r, const struct event *e)
{
	completion_begin(r);
	completion_pass_event(r, &(struct event){ .kind = EVENT_USAGE, .usage = r->usage });
	completion_move(r, COMPLETION_ANSWERED);
	tell_breaker(r, BREAKER_GOOD, 0);
	completion_pass_event(r, e);
	completion_conclude(r, CHARGE_OK, NULL);
}

/* Until there is something of an answer nothing is passed on, so that another model can still give it. */
void completion_take(void *run, const struct event *e)
{
	struct completion *r = run;

	INVARIANT(r->stage == COMPLETION_ASKING || r->stage == COMPLETION_ANSWERING);
	switch (e->kind) {
	case EVENT_START:
		r->start_id = completion_keep_slice(r, e->id);
		r->start_name = completion_keep_slice(r, e->name);
		r->start_usage = e->usage;
		r->start_media = e->media ? arena_strdup(&r->arena, e->media) : NULL;
		break;
	case EVENT_USAGE:
		note_usage(r, &e->usage);
		break;
	case EVENT_FINISH:
		completion_finish(r, e);
		break;
	case EVENT_ERROR:
		note_fault(r, e->fault);
		if (!completion_has_begun(r) || completion_is_cancelled(r))
			break;
		if (r->used)
			completion_pass_event(
				r, &(struct event){ .kind = EVENT_USAGE, .usage = r->usage });
		completion_pass_event(
			r, &(struct event){ .kind = EVENT_ERROR, .fault = &r->fault });
		break;
	default:
		completion_begin(r);
		completion_pass_event(r, e);
		break;
	}
}

void completion_attempt_over(struct completion *r)
{
	if (r->stage == COMPLETION_OVER) /* its answer was whole before its connection was closed */
		return;
	INVARIANT(completion_has_failed(r));
	if (completion_is_cancelled(r)) {
		conclude_cancelled(r);
		return;
	}
	/* Who fell silent may have answered all the same, and charge for it. */
	if (completion_has_asked(r) && !r->used &&
		(r->fault.class == FAULT_TIMEOUT || r->fault.class == FAULT_STALL))
		r->usage = completion_unheard(r);
	tell_breaker_of_fault(r);
	log_fault(r);
	if (r->stage == COMPLETION_FAULTED && fault_rows[r->fault.class].fails_over &&
		has_untried(r)) {
		r->failed[r->failed_count++] =
			(struct failed_attempt){ r->candidate, r->fault.class };
		completion_reckon(r);
		completion_settle(r, CHARGE_FAILED, try_next);
	} else {
		conclude_failed(r);
	}
}
