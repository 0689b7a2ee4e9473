/* jobs.c - see jobs.h: jobs written down, and what whoever runs one does about it. */
#include <string.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "queue/parts.h"
#include "store/row.h"

struct job_row {
	const char *tenant_id, *id, *kind, *subject, *lane, *state, *payload;
	int64_t priority, run_at, max_attempts, created_at;
};

FIELDS(job_row) = { ROW_FIELDS(job_row, tenant_id, id, kind, subject, lane, state, payload,
	priority, run_at, max_attempts, created_at) };
static SCHEMA(job_row, .internal = true);

/* How a job goes back, from whom. */
struct job_return {
	const char *tenant_id, *id, *owner, *state, *error;
	int64_t run_at, now;
	bool uncounted; /* the attempt */
};

FIELDS(job_return) = {
	ROW_FIELDS(job_return, tenant_id, id, owner, state, run_at, now, uncounted),
	ROW_NULLABLE(job_return, error),
};
static SCHEMA(job_return, .internal = true);

enum { JOB_ADD, JOB_MINE, JOB_DONE, JOB_BACK, JOB_DEAD };

static const struct statement sql[] = {
	[JOB_ADD] = { "job_add",
		"insert into jobs ({*}, attempts, updated_at) values ({$}, 0, :created_at)",
		.row = &job_row_schema },
	/* Locked, so that nobody can take it away before this transaction ends. */
	[JOB_MINE] = { "job_mine",
		"select 1 from jobs where tenant_id = $1 and id = $2 and owner = $3",
		.postgres = "select 1 from jobs where tenant_id = $1 and id = $2 and owner = $3 "
			    "for update" },
	[JOB_DONE] = { "job_done",
		"delete from jobs where tenant_id = $1 and id = $2 and owner = $3" },
	[JOB_BACK] = { "job_back",
		"update jobs set state = :state, run_at = :run_at, attempts = attempts - :uncounted, "
		"error = coalesce(:error, error), updated_at = :now, owner = null "
		"where tenant_id = :tenant_id and id = :id and owner = :owner",
		.args = &job_return_schema },
	[JOB_DEAD] = { "job_dead",
		"update jobs set state = 'dead', run_at = $4, error = $5, updated_at = $4, "
		"owner = null where tenant_id = $1 and id = $2 and owner = $3" },
};
STATEMENT_SET(jobs_sql, sql);

int jobs_add(struct db *db, struct arena *a, const struct job_new *in, int64_t now, char ret_id[26])
{
	struct id id = id_new(NULL);
	int64_t run_at = in->run_at > now ? in->run_at : now;
	const char *payload = in->payload ? in->payload : "{}";
	int err;

	(void)a;
	if (strlen(payload) > JOB_PAYLOAD_MAX)
		return ERR_TOO_LARGE;
	err = db_put(db, &sql[JOB_ADD],
		&(struct job_row){ .tenant_id = in->tenant_id,
			.id = id.text,
			.kind = in->kind,
			.subject = in->subject ? in->subject : "",
			.lane = in->lane ? in->lane : "",
			.state = run_at > now ? "delayed" : "waiting",
			.payload = payload,
			.priority = in->priority,
			.run_at = run_at,
			.max_attempts = in->max_attempts ? in->max_attempts : JOB_ATTEMPTS,
			.created_at = now });
	if (err)
		return err;
	memcpy(ret_id, id.text, sizeof id.text);
	return jobs_tell(db, in->tenant_id, run_at, now);
}

int64_t job_pause_us(int64_t attempts)
{
	int64_t ms = PAUSE_FIRST_MS;
	uint32_t noise;

	for (; attempts > 1 && ms < PAUSE_MAX_MS; attempts--)
		ms *= 2;
	if (ms > PAUSE_MAX_MS)
		ms = PAUSE_MAX_MS;
	random_bytes(&noise, sizeof noise);
	return ms * 500 + (int64_t)(noise % (uint64_t)(ms * 500));
}

int job_still_mine(struct db *db, const struct job *job, int64_t now)
{
	int64_t one;
	int err = db_int(
		db, &sql[JOB_MINE], &one, ARGS(T(job->tenant_id), T(job->id), T(job_owner(job))));

	(void)now;
	return err == ERR_NOT_FOUND ? ERR_CONFLICT : err;
}

int job_finish(struct db *db, const struct job *job, int64_t now)
{
	int64_t changed = 0;
	int err = db_run(db, &sql[JOB_DONE], &changed,
		ARGS(T(job->tenant_id), T(job->id), T(job_owner(job))));

	job_note(job, CLAIMED_FINISHED);
	if (err || !changed)
		return err ? err : ERR_CONFLICT;
	/* It stood in line, perhaps as the first. */
	return job->waits_since == NIL ? 0 : jobs_wake(db, job->tenant_id, job->lane, now);
}

int job_requeue(struct db *db, const struct job *job, int64_t run_at, bool counts,
	const char *error, int64_t now)
{
	const struct claimed *t = job->own;
	bool dead = counts && job->attempts >= t->max_attempts;
	char kept[JOB_ERROR_MAX + 1];
	int64_t at = run_at ? run_at : now + job_pause_us(job->attempts), changed = 0;
	struct job_return back;
	int err;

	if (at < now || dead)
		at = now;
	back = (struct job_return){ .tenant_id = job->tenant_id,
		.id = job->id,
		.owner = job_owner(job),
		.state = dead	    ? "dead"
			 : at > now ? "delayed"
				    : "waiting",
		.error = job_error_cut(kept, error),
		.run_at = at,
		.now = now,
		.uncounted = !counts };
	err = db_run(db, &sql[JOB_BACK], &changed, BY_NAME(job_return, &back));
	job_note(job, counts ? CLAIMED_FAILED : CLAIMED_HANDED_OVER);
	if (err || !changed)
		return err ? err : ERR_CONFLICT;
	return dead ? 0 : jobs_tell(db, job->tenant_id, at, now);
}

int job_condemn(struct db *db, const struct job *job, int64_t now)
{
	int64_t changed = 0;
	int err = db_run(db, &sql[JOB_DEAD], &changed,
		ARGS(T(job->tenant_id), T(job->id), T(job_owner(job)), N(now), T(job->condemned)));

	job_note(job, CLAIMED_FAILED);
	return err ? err : changed ? 0 : ERR_CONFLICT;
}
