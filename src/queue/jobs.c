/* jobs.c - see jobs.h: jobs written down, and what whoever runs one does about it. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "queue/parts.h"

enum { JOB_ADD, JOB_MINE, JOB_DONE, JOB_BACK };

static const struct statement sql[] = {
	[JOB_ADD] = { "job_add",
		"insert into jobs (tenant_id, id, kind, subject, lane, state, priority, run_at, "
		"attempts, max_attempts, created_at, updated_at, payload) "
		"values ($1, $2, $3, $4, $5, $6, $7, $8, 0, $9, $10, $10, $11)" },
	/* Locked, so that nobody can take it away before this transaction ends. */
	[JOB_MINE] = { "job_mine",
		"select 1 from jobs where tenant_id = $1 and id = $2 and owner = $3",
		.postgres = "select 1 from jobs where tenant_id = $1 and id = $2 and owner = $3 "
			    "for update" },
	[JOB_DONE] = { "job_done",
		"delete from jobs where tenant_id = $1 and id = $2 and owner = $3" },
	[JOB_BACK] = { "job_back",
		"update jobs set state = $4, run_at = $5, attempts = attempts - $6, "
		"error = coalesce($7, error), updated_at = $8, owner = null "
		"where tenant_id = $1 and id = $2 and owner = $3" },
};
STATEMENT_SET(jobs_sql, sql);

int jobs_tell(struct db *db, const char *tenant_id, int64_t run_at, int64_t now)
{
	char text[32];

	if (run_at <= now)
		return db_notice(db, JOBS_CHANNEL, tenant_id);
	snprintf(text, sizeof text, "@%lld", (long long)run_at);
	return db_notice(db, JOBS_CHANNEL, text);
}

int jobs_add(struct db *db, struct arena *a, const struct job_new *in, int64_t now, char ret_id[26])
{
	struct id id = id_new(NULL);
	int64_t run_at = in->run_at > now ? in->run_at : now;
	const char *payload = in->payload ? in->payload : "{}";
	int err;

	(void)a;
	if (strlen(payload) > JOB_PAYLOAD_MAX)
		return ERR_TOO_LARGE;
	err = db_run(db, &sql[JOB_ADD], NULL,
		ARGS(T(in->tenant_id), T(id.text), T(in->kind), T(in->subject ? in->subject : ""),
			T(in->lane ? in->lane : ""), T(run_at > now ? "delayed" : "waiting"),
			N(in->priority), N(run_at),
			N(in->max_attempts ? in->max_attempts : JOB_ATTEMPTS), N(now), T(payload)));
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

static const char *owner_of(const struct job *job)
{
	return ((const struct taken *)job->own)->owner;
}

static void note(const struct job *job, int how)
{
	((struct taken *)job->own)->how = how;
}

int job_still_mine(struct db *db, const struct job *job, int64_t now)
{
	int64_t one;
	int err = db_int(
		db, &sql[JOB_MINE], &one, ARGS(T(job->tenant_id), T(job->id), T(owner_of(job))));

	(void)now;
	return err == ERR_NOT_FOUND ? ERR_CONFLICT : err;
}

int job_finish(struct db *db, const struct job *job, int64_t now)
{
	int64_t changed = 0;
	int err = db_run(db, &sql[JOB_DONE], &changed,
		ARGS(T(job->tenant_id), T(job->id), T(owner_of(job))));

	(void)now;
	note(job, TAKEN_FINISHED);
	return err ? err : changed ? 0 : ERR_CONFLICT;
}

/* The beginning of a text, whole characters only. */
static const char *cut(char *to, const char *text)
{
	size_t len = text ? strnlen(text, JOB_ERROR_MAX) : 0;

	if (!text)
		return NULL;
	if (text[len])
		while (len && ((unsigned char)text[len] & 0xc0) == 0x80)
			len--;
	memcpy(to, text, len);
	to[len] = '\0';
	return to;
}

int job_put_back(struct db *db, const struct job *job, int64_t run_at, bool counts,
	const char *error, int64_t now)
{
	const struct taken *t = job->own;
	bool dead = counts && job->attempts >= t->max_attempts;
	char kept[JOB_ERROR_MAX + 1];
	int64_t at = run_at ? run_at : now + job_pause_us(job->attempts), changed = 0;
	int err;

	if (at < now || dead)
		at = now;
	err = db_run(db, &sql[JOB_BACK], &changed,
		ARGS(T(job->tenant_id), T(job->id), T(owner_of(job)),
			T(dead		   ? "dead"
				: at > now ? "delayed"
					   : "waiting"),
			N(at), N(counts ? 0 : 1), T(cut(kept, error)), N(now)));
	note(job, counts ? TAKEN_FAILED : TAKEN_HANDED_OVER);
	if (err || !changed)
		return err ? err : ERR_CONFLICT;
	return dead ? 0 : jobs_tell(db, job->tenant_id, at, now);
}
