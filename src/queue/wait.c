/* wait.c - see jobs.h: jobs that wait for room in their lane, in line. */
#include "queue/parts.h"
#include "store/row.h"

/* A job that waits, for what and since when. */
struct job_waiting {
	const char *tenant_id, *id, *owner, *waits_for, *error;
	int64_t run_at, now;
};

FIELDS(job_waiting) = {
	ROW_FIELDS(job_waiting, tenant_id, id, owner, waits_for, run_at, now),
	ROW_NULLABLE(job_waiting, error),
};
static SCHEMA(job_waiting, .internal = true);

/* A place in the line of a lane. */
struct job_place {
	const char *tenant_id, *lane, *id, *waits_for;
	int64_t since, most;
};

FIELDS(job_place) = {
	ROW_FIELDS(job_place, tenant_id, lane, id, since, most),
	ROW_NULLABLE(job_place, waits_for),
};
static SCHEMA(job_place, .internal = true);

enum { JOB_WAIT, JOB_WAITED, AHEAD, WAKE, LEAVE };

#define IN_LINE(tenant, lane) \
	"tenant_id = " tenant " and lane = " lane " and waits_for is not null "

static const struct statement sql[] = {
	[JOB_WAIT] = { "job_wait",
		"update jobs set state = 'delayed', run_at = :run_at, attempts = attempts - 1, "
		"waits_for = :waits_for, waits_since = coalesce(waits_since, :now), error = :error, "
		"updated_at = :now, owner = null "
		"where tenant_id = :tenant_id and id = :id and owner = :owner",
		.args = &job_waiting_schema },
	[JOB_WAITED] = { "job_waited",
		"update jobs set waits_for = null, waits_since = null, error = null "
		"where tenant_id = $1 and id = $2 and owner = $3 and waits_for is not null" },
	/* A dead one is in nobody's way. */
	[AHEAD] = { "jobs_ahead",
		"select count(*) from (select 1 from jobs where " IN_LINE(":tenant_id",
			":lane") "and waits_since <= :since and (waits_since < :since or id < :id) and state <> 'dead' "
				 "and (cast(:waits_for as text) is null or waits_for = :waits_for) limit :most) x",
		.args = &job_place_schema, .scan = "what was found, up to a limit" },
	[WAKE] = { "jobs_wake",
		"update jobs set state = 'waiting', run_at = $3 where tenant_id = $1 "
		"and state = 'delayed' and id = (select id from jobs where " IN_LINE(
			"$1", "$2") "and state = 'delayed' order by waits_since, id limit 1)" },
	[LEAVE] = { "jobs_leave",
		"delete from jobs where tenant_id = $1 and id = $2 and state = 'delayed' "
		"and waits_for is not null" },
};
STATEMENT_SET(jobs_wait_sql, sql);

int job_wait(struct db *db, const struct job *job, const char *waits_for, int64_t run_at,
	const char *error, int64_t now)
{
	char kept[JOB_ERROR_MAX + 1];
	int64_t at = run_at > now ? run_at : now + 1, changed = 0;
	struct job_waiting waiting = { .tenant_id = job->tenant_id,
		.id = job->id,
		.owner = job_owner(job),
		.waits_for = waits_for,
		.error = job_error_cut(kept, error),
		.run_at = at,
		.now = now };
	int err = db_run(db, &sql[JOB_WAIT], &changed, BY_NAME(job_waiting, &waiting));

	job_note(job, CLAIMED_HANDED_OVER);
	if (err || !changed)
		return err ? err : ERR_CONFLICT;
	return jobs_tell(db, job->tenant_id, at, now);
}

int job_waited(struct db *db, const struct job *job, int64_t now)
{
	int64_t changed = 0;
	int err = db_run(db, &sql[JOB_WAITED], &changed,
		ARGS(T(job->tenant_id), T(job->id), T(job_owner(job))));

	return err || !changed ? err : jobs_wake(db, job->tenant_id, job->lane, now);
}

int jobs_ahead(struct db *db, const struct job *job, const char *waits_for, int64_t now,
	int64_t *ret_count)
{
	struct job_place place = { .tenant_id = job->tenant_id,
		.lane = job->lane,
		.id = job->id,
		.waits_for = waits_for,
		.since = job->waits_since == NIL ? now : job->waits_since,
		.most = JOBS_AHEAD_MAX };

	return db_int(db, &sql[AHEAD], ret_count, BY_NAME(job_place, &place));
}

int jobs_wake(struct db *db, const char *tenant_id, const char *lane, int64_t now)
{
	int64_t woken = 0;
	int err = db_run(db, &sql[WAKE], &woken, ARGS(T(tenant_id), T(lane), N(now)));

	return err || !woken ? err : jobs_tell(db, tenant_id, now, now);
}

int jobs_leave(struct db *db, const char *tenant_id, const char *lane, const char *id, int64_t now)
{
	int64_t gone = 0;
	int err = db_run(db, &sql[LEAVE], &gone, ARGS(T(tenant_id), T(id)));

	return err || !gone ? err : jobs_wake(db, tenant_id, lane, now);
}
