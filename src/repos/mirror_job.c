/* mirror_job.c - the job "repo.mirror": one repository of another host is fetched, in steps of which only the second waits; see
 * mirror.h.
 *
 * What the host does wrong is written into the row, which has a time of its own
 * for the next attempt, and the job is done.  Where the process dies the queue
 * gives the job to another, which clears away what git left. */
#include "repos/mirrors_parts.h"

#include <stdlib.h>

#include "base/clock.h"

struct mirror_run {
	struct work work; /* first */
	struct mirrors *by;
	struct job *job;
	struct arena arena;
	struct mirroring what;
	bool nothing;
	int later; /* ERR_BUSY or ERR_STOPPING: not now */
};

static void end_run(struct mirror_run *m, int err)
{
	struct job *job = m->job;

	arena_free(&m->arena);
	free(m);
	job_over(job, err);
}

static int run_apply(struct work *w, struct db *db)
{
	enum { AGAIN_S = 5 };
	struct mirror_run *m = (struct mirror_run *)w;
	int64_t now = clock_now_us();
	int err = job_still_mine(db, m->job, now);

	if (err)
		return err;
	if (m->later)
		return job_requeue(db, m->job,
			now + (m->later == ERR_BUSY ? AGAIN_S * SECOND_US : 0), false, NULL, now);
	if (!m->nothing)
		err = mirror_apply(db, &m->arena, &m->what, now);
	return err ? err : job_finish(db, m->job, now);
}

static void applied(struct work *w, int err)
{
	end_run((struct mirror_run *)w, err);
}

static void begin_apply(struct mirror_run *m)
{
	int err;

	m->work = (struct work){ .run = run_apply, .done = applied, .mode = READ_WRITE };
	err = store_submit(*m->by->settings.store, &m->work);
	if (err)
		end_run(m, err);
}

static int run_fetch(struct work *w, struct db *none)
{
	struct mirror_run *m = (struct mirror_run *)w;
	const struct mirrors_settings *s = &m->by->settings;

	(void)none;
	m->later = w->withdrawn ? ERR_STOPPING
				: mirror_fetch(*s->repos, s->egress, &m->by->stopping, &m->arena,
					  &m->what);
	return 0;
}

static void was_fetched(struct work *w, int err)
{
	(void)err;
	begin_apply((struct mirror_run *)w);
}

static int run_load(struct work *w, struct db *db)
{
	struct mirror_run *m = (struct mirror_run *)w;
	int err;

	arena_reset(&m->arena);
	m->what = (struct mirroring){ .failed = NULL };
	err = mirror_load(db, &m->arena, *m->by->settings.vault, mirrors_host(m->by),
		m->job->tenant_id, m->job->subject, clock_now_us(), &m->what);
	m->nothing = err == ERR_NOT_FOUND;
	return m->nothing ? 0 : err;
}

/* Once the service stops, the pool may be gone. */
static int submit_fetch(struct mirror_run *m)
{
	struct mirrors *by = m->by;
	int err;

	m->work = (struct work){ .run = run_fetch, .done = was_fetched };
	pthread_mutex_lock(&by->lock);
	err = atomic_load(&by->stopping) ? ERR_STOPPING
					 : pool_submit(by->fetchers, m->job->tenant_id, &m->work);
	pthread_mutex_unlock(&by->lock);
	return err;
}

static void loaded(struct work *w, int err)
{
	struct mirror_run *m = (struct mirror_run *)w;

	if (err) {
		end_run(m, err);
		return;
	}
	if (!m->nothing)
		m->later = submit_fetch(m);
	if (m->nothing || m->later)
		begin_apply(m);
}

static void begin_run(void *ctx, struct job *job)
{
	struct mirror_run *m = calloc(1, sizeof *m);
	int err = m ? 0 : ERR_BUSY;

	if (m) {
		m->by = ctx;
		m->job = job;
		m->work = (struct work){ .run = run_load, .done = loaded, .mode = READ_ONLY };
		err = store_submit(*m->by->settings.store, &m->work);
	}
	if (err) {
		free(m);
		job_over(job, err);
	}
}

/* The service stops: git ends, and others go on. */
static void stop_run(void *ctx, struct job *job)
{
	struct mirrors *m = ctx;

	(void)job;
	atomic_store(&m->stopping, true);
}

/* Its process died over it, twice: the row must not wait for it for ever. */
static int run_bury(struct work *w, struct db *db)
{
	struct mirror_run *m = (struct mirror_run *)w;
	int64_t now = clock_now_us();
	int err = job_still_mine(db, m->job, now);

	arena_reset(&m->arena);
	m->what = (struct mirroring){ .failed = NULL };
	if (!err)
		err = mirror_load(db, &m->arena, *m->by->settings.vault, mirrors_host(m->by),
			m->job->tenant_id, m->job->subject, now, &m->what);
	if (err == ERR_NOT_FOUND)
		return job_condemn(db, m->job, now);
	m->what.failed = "The service ended in the middle of fetching it.";
	m->what.retry_after_s = MIRROR_LATER_US / SECOND_US;
	if (!err)
		err = mirror_apply(db, &m->arena, &m->what, now);
	return err ? err : job_condemn(db, m->job, now);
}

static void bury(void *ctx, struct job *job)
{
	struct mirror_run *m = calloc(1, sizeof *m);
	int err = m ? 0 : ERR_BUSY;

	if (m) {
		m->by = ctx;
		m->job = job;
		m->work = (struct work){ .run = run_bury, .done = applied, .mode = READ_WRITE };
		err = store_submit(*m->by->settings.store, &m->work);
	}
	if (err) {
		free(m);
		job_over(job, err);
	}
}

struct job_kind mirrors_job_kind(struct mirrors *m)
{
	return (struct job_kind){ .name = MIRROR_JOB,
		.begin = begin_run,
		.stop = stop_run,
		.condemned = bury,
		.ctx = m };
}
