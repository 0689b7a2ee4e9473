/* queue_commands.c - `lodge queue`: looking at the queue, and trying dead jobs again, while the service runs. */
#include <stdio.h>

#include "access/audit.h"
#include "base/clock.h"
#include "queue/queue_admin.h"
#include "serve/manual.h"
#include "serve/open.h"

enum { TRIES = 10, DEAD_SHOWN = 50 };

static void print_count(const struct queue_count *row, int64_t now)
{
	int64_t age = (now - row->oldest) / SECOND_US;

	printf("%-8s  %-24s  %8lld  %lld s\n", row->state, row->kind, (long long)row->jobs,
		(long long)(age > 0 ? age : 0));
}

static int list_queue(struct db *db, struct arena *a)
{
	struct list counts, dead;
	int err = db_begin(db, READ_ONLY);

	if (!err)
		err = queue_counts(db, a, &counts);
	if (!err)
		err = queue_dead(db, a, &dead, DEAD_SHOWN);
	db_rollback(db);
	if (err)
		return err;
	if (!counts.count)
		printf("The queue is empty.\n");
	else
		printf("%-8s  %-24s  %8s  %s\n", "STATE", "KIND", "JOBS", "OLDEST");
	for (size_t i = 0; i < counts.count; i++)
		print_count((const struct queue_count *)counts.at + i, clock_now_us());
	if (dead.count)
		printf("\nThe newest dead jobs (lodge queue retry JOB_ID tries one again):\n");
	for (size_t i = 0; i < dead.count; i++) {
		const struct queue_dead *row = (const struct queue_dead *)dead.at + i;

		printf("%s  %s  tenant %s  %lld attempts  %s\n", row->id, row->kind, row->tenant_id,
			(long long)row->attempts, row->error ? row->error : "");
	}
	return 0;
}

/* One of the two things that may be done to a job, with its entry in the audit log. */
static int act_on_job(struct db *db, struct arena *a, const char *id, bool retry)
{
	const char *tenant_id = NULL;
	int err = retry ? jobs_retry(db, a, id, clock_now_us(), &tenant_id)
			: jobs_drop(db, a, id, &tenant_id);

	return err ? err
		   : audit_write(db, a,
			     &(struct audit_entry){ .action = retry ? "job.retry" : "job.drop",
				     .tenant_id = tenant_id,
				     .resource_id = id });
}

static int change_job(struct db *db, struct arena *a, const char *id, bool retry, struct problem *p)
{
	int err, tries = TRIES;

	do {
		err = db_begin(db, READ_WRITE);
		if (!err)
			err = act_on_job(db, a, id, retry);
		if (err)
			db_rollback(db);
		else
			err = db_commit(db);
	} while (err == ERR_RETRY && --tries);
	if (err == ERR_NOT_FOUND)
		problem_set(p, a, err, "there is no job %.40s", id);
	else if (err == ERR_CONFLICT)
		problem_set(
			p, a, err, retry ? "the job %s is not dead" : "the job %s is running", id);
	return err;
}

static int run_queue_command(const struct settings *s, struct arena *a, const char *id, bool retry)
{
	struct store *store = NULL;
	struct db *db = NULL;
	struct problem p = { 0 };
	int err = open_current(&store, s, STORE_BESIDE, a, &p);

	if (!err)
		err = store_connect(store, &db, a, &p);
	if (!err)
		err = id ? change_job(db, a, id, retry, &p) : list_queue(db, a);
	if (err)
		problem_set(&p, a, err, "the store: %s", db ? db_error(db) : "");
	db_close(db);
	store_close(store);
	return err ? complain(&p) : 0;
}

int command_queue_list(const struct settings *s, struct arena *a)
{
	return run_queue_command(s, a, NULL, false);
}

int command_queue_retry(const struct settings *s, struct arena *a)
{
	int status = run_queue_command(s, a, s->arguments[0], true);

	if (!status)
		printf("The job %s will be tried again.\n", s->arguments[0]);
	return status;
}

int command_queue_drop(const struct settings *s, struct arena *a)
{
	int status = run_queue_command(s, a, s->arguments[0], false);

	if (!status)
		printf("The job %s is gone.\n", s->arguments[0]);
	return status;
}
