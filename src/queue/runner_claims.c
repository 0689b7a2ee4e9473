/* runner_claims.c - when a runner asks the store for jobs, for which tenants, and what it makes of the answer; see
 * runner_parts.h. */
#include "queue/runner_parts.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"

enum {
	SPARE_PICKS = 16, /* tenants asked about beyond the places, as some have nothing */
	DRAIN_MS = 30000, /* before those at work are asked to make room for one that runs alone */
};

void runner_new_owner(struct runner *r)
{
	static _Atomic unsigned serial;

	snprintf(r->owner, sizeof r->owner, "%s.%u", queue_process(),
		atomic_fetch_add_explicit(&serial, 1, memory_order_relaxed));
	r->beaten_at = 0;
}

void runner_claim_done(struct work *w, int err)
{
	struct claim *claim = (struct claim *)w;
	struct runner *r = claim->runner;

	pthread_mutex_lock(&r->lock);
	INVARIANT(r->asked && !r->answered);
	r->answered = true;
	r->answer = err;
	pthread_cond_signal(&r->more);
	pthread_mutex_unlock(&r->lock);
}

static size_t free_places(const struct runner *r)
{
	bool none = r->stopping || r->solo || r->draining || r->open_count >= r->settings.most;

	return none ? 0 : r->settings.most - r->open_count;
}

/* Tenants that have as many places as they may have are passed by. */
static void pick_tenants(struct runner *r)
{
	struct claim *claim = &r->claim;
	size_t waiting = tenant_ring_waiting(r->tenant_ring), most = claim->places + SPARE_PICKS;

	claim->pick_count = 0;
	if (most > PICKS_MAX)
		most = PICKS_MAX;
	while (claim->places && waiting && claim->pick_count < most) {
		struct ring_tenant *ring_tenant = tenant_ring_next(r->tenant_ring);

		waiting--;
		if (!claim_may_have(ring_tenant->running, claim->places))
			tenant_ring_back(r->tenant_ring, ring_tenant, false);
		else
			claim->picks[claim->pick_count++] =
				(struct pick){ .ring_tenant = ring_tenant,
					.running_before = ring_tenant->running };
	}
	INVARIANT(claim->pick_count <= PICKS_MAX);
	r->unasked = waiting;
}

static void return_picks(struct runner *r, bool failed)
{
	struct claim *claim = &r->claim;

	for (size_t i = 0; i < claim->pick_count; i++) {
		struct pick *p = &claim->picks[i];

		if (!failed && p->empty)
			tenant_ring_empty(r->tenant_ring, p->ring_tenant);
		else if (!failed && p->served)
			tenant_ring_back(r->tenant_ring, p->ring_tenant, false);
	}
	for (size_t i = claim->pick_count; i-- > 0;) {
		struct pick *p = &claim->picks[i];

		if (failed || !p->served)
			tenant_ring_back(r->tenant_ring, p->ring_tenant, true);
	}
	claim->pick_count = 0;
}

static bool lease_is_due(const struct runner *r, int64_t mono)
{
	return !r->beaten_at || mono - r->beaten_at >= r->lease_ms / 4;
}

static bool look_is_due(const struct runner *r, int64_t mono)
{
	return r->look_now || mono - r->looked_at >= r->look_ms;
}

bool runner_has_to_ask(const struct runner *r, int64_t mono, int64_t now)
{
	if (r->asked || mono < r->retry_at)
		return false;
	return look_is_due(r, mono) || (r->open_count && lease_is_due(r, mono)) ||
	       (r->due && now >= r->due && !r->stopping) || r->freed ||
	       (r->draining && !r->open_count && !r->stopping) ||
	       (r->wanted && free_places(r) && tenant_ring_waiting(r->tenant_ring));
}

void runner_ask(struct runner *r, int64_t mono, int64_t now)
{
	struct claim *claim = &r->claim;

	INVARIANT(!r->asked && !claim->freed);
	claim->now = now;
	claim->leased = r->beaten_at && r->open_count;
	claim->places = free_places(r);
	claim->look = look_is_due(r, mono);
	claim->due_now = claim->look || (r->due && now >= r->due);
	claim->idle = !r->open_count;
	claim->probe = (claim->due_now || r->draining) && !r->stopping && !r->solo;
	memcpy(claim->owner, r->owner, sizeof claim->owner);
	pick_tenants(r);
	claim->heartbeat = lease_is_due(r, mono) && (r->open_count || claim->pick_count);
	claim->asked_at = mono;
	claim->freed = r->freed;
	r->freed = NULL;
	r->wanted = r->look_now = false;
	r->asked = true;
	if (store_submit(r->settings.store, &claim->work)) {
		r->answered = true;
		r->answer = ERR_BUSY;
	}
}

/* A claim that failed may have been committed all the same, if the connection broke after it.  No claim
 * was answered since the first in doubt, so that all they took is known by its time. */
static void not_answered(struct runner *r)
{
	struct claim *claim = &r->claim;

	if (r->answer != ERR_BUSY) {
		claim->doubted_from = claim->doubted_from ? claim->doubted_from : claim->now;
		claim->doubted_to = claim->now;
		r->look_now = true;
	}
	return_picks(r, true);
	runner_free_again(r, &claim->freed);
	r->wanted = true;
	r->look_now |= r->claim.look;
	r->retry_at = clock_mono_ms() + BUSY_PAUSE_MS;
}

/* Others have taken them for dead and run our jobs.  Whoever runs one here is told so when he commits. */
static void lease_lost(struct runner *r)
{
	log_warn("the lease on jobs was lost: they are run elsewhere",
		LOG_N("jobs", (int64_t)r->open_count));
	runner_new_owner(r);
	runner_stop_jobs(r);
}

/* One waits that must run alone: what is at work comes to its end, or is asked to after a while. */
static void drain_jobs(struct runner *r, bool on, int64_t mono)
{
	if (r->draining && !on)
		r->wanted = true;
	if (!on)
		r->cleared = false;
	else if (!r->draining)
		r->draining_since = mono;
	r->draining = on;
	if (!on || r->cleared || mono - r->draining_since < DRAIN_MS)
		return;
	r->cleared = true;
	log_warn("a job waits that must run alone: those at work are asked to make room",
		LOG_N("jobs", (int64_t)r->open_count));
	runner_stop_jobs(r);
}

void runner_answered(struct runner *r)
{
	struct claim *claim = &r->claim;

	INVARIANT(r->asked && r->answered);
	r->asked = r->answered = false;
	if (r->answer) {
		not_answered(r);
		return;
	}
	claim->doubted_from = claim->doubted_to = 0;
	runner_drop_all(&claim->freed);
	if (claim->heartbeat_sent)
		r->beaten_at = claim->asked_at;
	if (claim->look)
		r->looked_at = claim->asked_at;
	if (claim->look) {
		claim->alone = false;
		claim->crashed = NULL;
	}
	if (claim->probe)
		drain_jobs(r, claim->drain, clock_mono_ms());
	if (claim->solo)
		log_warn("a job whose process died three times runs alone", LOG_N("jobs", 1));
	r->solo |= claim->solo;
	claim->at = claim->seen;
	if (claim->due_now)
		r->due = claim->due;
	return_picks(r, false);
	for (size_t i = 0; i < claim->found.count; i++)
		tenant_ring_add(
			r->tenant_ring, ((const struct one_text *)claim->found.at)[i].value);
	r->wanted |= claim->found.count || claim->more || r->unasked;
	if (claim->strange)
		log_warn("jobs of kinds that this program does not know are left to others",
			LOG_N("jobs", (int64_t)claim->strange));
	if (claim->lost)
		lease_lost(r);
	else
		runner_begin_jobs(
			r); /* also what was taken too late: it is asked to stop with the rest */
	claim_forget(claim);
}
