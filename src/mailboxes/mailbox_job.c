/* mailbox_job.c - see mailbox_job.h.
 *
 * A tenant may have many agents, so that they are gone through in pieces, each
 * in a transaction of its own; the last one takes the job off.  A process that
 * dies leaves the job to another, which begins anew: what is in line already
 * costs only a look. */
#include "mailboxes/mailbox_job.h"

#include <stdlib.h>

#include "base/clock.h"
#include "mailboxes/mailbox.h"

#define CONVERGE_JOB "mail.converge"

struct converging {
	struct work work; /* first */
	struct store *store;
	struct job *job;
	struct arena arena;
	struct mailbox_walk reached, next; /* next: by the piece that is not committed yet */
};

static int converge_run(struct work *w, struct db *db)
{
	struct converging *v = (struct converging *)w;
	int64_t now = clock_now_us();
	int err = job_still_mine(db, v->job, now);

	arena_reset(&v->arena);
	v->next = v->reached;
	if (!err)
		err = mailbox_walk(db, &v->arena, &v->next);
	return err || v->next.more ? err : job_finish(db, v->job, now);
}

static void converge_done(struct work *w, int err)
{
	struct converging *v = (struct converging *)w;
	struct job *job = v->job;

	v->reached = v->next;
	if (!err && v->reached.more)
		err = store_submit(v->store, &v->work);
	if (!err && v->reached.more)
		return;
	arena_free(&v->arena);
	free(v);
	job_over(job, err);
}

static void begin_converging(void *ctx, struct job *job)
{
	struct store *const *store = ctx;
	struct converging *v = calloc(1, sizeof *v);
	int err = v ? 0 : ERR_BUSY;

	if (v) {
		v->store = *store;
		v->job = job;
		v->reached = (struct mailbox_walk){ .external = true, .only_tenant = job->subject };
		v->work = (struct work){
			.run = converge_run, .done = converge_done, .mode = READ_WRITE
		};
		err = store_submit(v->store, &v->work);
	}
	if (err) {
		free(v);
		job_over(job, err);
	}
}

int mailbox_job_add(struct db *db, struct arena *a, const char *tenant_id, int64_t now)
{
	char id[26];

	return jobs_add(db, a,
		&(struct job_new){ .tenant_id = tenant_id,
			.kind = CONVERGE_JOB,
			.subject = tenant_id,
			.priority = JOB_PRIORITY_PERSON },
		now, id);
}

struct job_kind mailbox_job_kind(struct store **store)
{
	return (struct job_kind){
		.name = CONVERGE_JOB, .begin = begin_converging, .ctx = (void *)store
	};
}
