/* runner_jobs.c - the jobs that a runner has: begun, asked to stop, over, and requeued where they ended in an
 * error; see runner_parts.h.  Jobs are reported over from any thread. */
#include "queue/runner_parts.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"

static void link_taken(struct claimed **list, struct claimed *t)
{
	INVARIANT(!t->link);
	t->next = *list;
	t->link = list;
	if (t->next)
		t->next->link = &t->next;
	*list = t;
}

static void unlink_taken(struct claimed *t)
{
	INVARIANT(t->link && *t->link == t);
	*t->link = t->next;
	if (t->next)
		t->next->link = t->link;
	t->next = NULL;
	t->link = NULL;
}

void runner_drop_all(struct claimed **list)
{
	while (*list) {
		struct claimed *t = *list;

		*list = t->next;
		claimed_free(t);
	}
}

void runner_free_again(struct runner *r, struct claimed **list)
{
	while (*list) {
		struct claimed *t = *list;

		*list = t->next;
		t->link = NULL;
		link_taken(&r->freed, t);
	}
}

void runner_destroy(struct runner *r)
{
	INVARIANT(!r->open && !r->failed && !r->open_count && !r->backs);
	runner_drop_all(&r->freed);
	claim_forget(&r->claim);
	arena_free(&r->claim.arena);
	tenant_ring_free(r->tenant_ring);
	pthread_cond_destroy(&r->more);
	pthread_cond_destroy(&r->changed);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

void runner_settle_job(struct runner *r, struct claimed *t)
{
	unlink_taken(t);
	tenant_ring_over(r->tenant_ring, t->ring_tenant);
	INVARIANT(r->open_count > 0);
	r->open_count--;
	r->solo &= r->open_count > 0;
	if (*t->job.lane && r->settings.lane_most && !r->ended) {
		tenant_ring_add(r->tenant_ring, t->job.tenant_id);
		link_taken(&r->freed, t);
	} else {
		claimed_free(t);
	}
	r->wanted = true;
	pthread_cond_signal(&r->more);
	pthread_cond_broadcast(&r->changed);
}

static void count_job_end(struct runner *r, const struct claimed *t)
{
	r->stats.finished += t->how == CLAIMED_FINISHED;
	r->stats.failed += t->how == CLAIMED_FAILED;
}

void job_over(struct job *job, int err)
{
	struct claimed *t = job->own;
	struct runner *r = job->runner;
	bool last;

	pthread_mutex_lock(&r->lock);
	INVARIANT(!t->over); /* its handler says so once */
	t->over = true;
	if (r->ended) { /* it was handed back already */
		count_job_end(r, t);
		runner_settle_job(r, t);
	} else if (err || t->how == CLAIMED_OPEN) {
		t->err = err ? err : ERR_INTERNAL;
		unlink_taken(t);
		link_taken(&r->failed, t);
		pthread_cond_signal(&r->more);
	} else {
		count_job_end(r, t);
		runner_settle_job(r, t);
	}
	last = r->abandoned && r->open_count == 0;
	pthread_mutex_unlock(&r->lock);
	if (last)
		runner_destroy(r);
}

/* A job that ended in an error is requeued by the runner itself. */
struct back {
	struct work work;
	struct claimed *claimed;
};

static int back_run(struct work *w, struct db *db)
{
	struct claimed *t = ((struct back *)w)->claimed;
	bool stopping = t->err == ERR_STOPPING;
	int64_t now = clock_now_us();

	if (t->job.condemned)
		return t->kind->condemned
			       ? job_requeue(db, &t->job, now + SECOND_US, false, NULL, now)
			       : job_condemn(db, &t->job, now);
	return job_requeue(
		db, &t->job, stopping ? now : 0, !stopping, error_row(t->err)->title, now);
}

static void back_done(struct work *w, int err)
{
	struct back *b = (struct back *)w;
	struct claimed *t = b->claimed;
	struct runner *r = t->job.runner;

	pthread_mutex_lock(&r->lock);
	INVARIANT(r->backs > 0);
	r->backs--;
	if (err && err != ERR_CONFLICT) { /* the store is away: again, a little later */
		unlink_taken(t);
		link_taken(&r->failed, t);
		r->retry_at = clock_mono_ms() + BUSY_PAUSE_MS;
		pthread_cond_signal(&r->more);
		pthread_cond_broadcast(&r->changed);
	} else {
		r->stats.lost += err == ERR_CONFLICT;
		if (!err)
			count_job_end(r, t);
		runner_settle_job(r, t);
	}
	pthread_mutex_unlock(&r->lock);
	free(b);
}

void runner_requeue_failed(struct runner *r)
{
	while (r->failed) {
		struct claimed *t = r->failed;
		struct back *b = memory_zeroed(sizeof *b);

		b->work = (struct work){ .run = back_run, .done = back_done, .mode = READ_WRITE };
		b->claimed = t;
		unlink_taken(t);
		link_taken(&r->open, t);
		r->backs++;
		if (store_submit(r->settings.store, &b->work) == 0)
			continue;
		r->backs--;
		free(b);
		unlink_taken(t);
		link_taken(&r->failed, t);
		r->retry_at = clock_mono_ms() + BUSY_PAUSE_MS;
		return;
	}
}

void runner_stop_jobs(struct runner *r)
{
	size_t count = 0;
	struct claimed **list = memory_zeroed((r->open_count + 1) * sizeof *list);

	for (struct claimed *t = r->open; t; t = t->next)
		if (t->kind->stop && !t->over)
			list[count++] = t;
	for (size_t i = 0; i < count; i++)
		list[i]->refs++;
	pthread_mutex_unlock(&r->lock);
	for (size_t i = 0; i < count; i++)
		list[i]->kind->stop(list[i]->kind->ctx, &list[i]->job);
	pthread_mutex_lock(&r->lock);
	for (size_t i = 0; i < count; i++)
		claimed_free(list[i]);
	free(list);
}

static void begin_job(struct claimed *t)
{
	if (!t->job.condemned) {
		t->kind->begin(t->kind->ctx, &t->job);
		return;
	}
	log_error("a job is not run any more: the process that ran it alone died",
		LOG_S("job_id", t->job.id), LOG_S("tenant_id", t->job.tenant_id),
		LOG_S("kind", t->job.kind), LOG_S("subject", t->job.subject));
	if (t->kind->condemned)
		t->kind->condemned(t->kind->ctx, &t->job);
	else
		job_over(&t->job, ERR_INTERNAL);
}

void runner_begin_jobs(struct runner *r)
{
	struct claimed *list[TAKE_MAX];
	size_t count = 0;

	while (r->claim.claimed) {
		struct claimed *t = r->claim.claimed;

		INVARIANT(count < TAKE_MAX);
		r->claim.claimed = t->next;
		t->job.runner = r;
		t->ring_tenant = tenant_ring_begun(r->tenant_ring, t->job.tenant_id);
		link_taken(&r->open, t);
		r->open_count++;
		list[count++] = t;
	}
	r->claim.claimed_last = &r->claim.claimed;
	r->stats.begun += count;
	pthread_mutex_unlock(&r->lock);
	for (size_t i = 0; i < count; i++)
		begin_job(list[i]);
	pthread_mutex_lock(&r->lock);
}
