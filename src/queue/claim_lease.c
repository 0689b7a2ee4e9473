/* claim_lease.c - who runs jobs, and whether they still live: the lease of a runner, the jobs of those that died,
 * and what one that stops hands back; see claim_parts.h. */
#include "queue/claim_parts.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

enum {
	CLAIM_LOCK,
	LEASE_EXTEND,
	LEASE_NEW,
	LEASE_END,
	LEASES_OVER,
	OWNER_OVER,
	OWNER_LEAVES,
	DOUBTED_BACK,
};

static const struct statement sql[] = {
	[CLAIM_LOCK] = { "queue_lock", "select 1",
		.postgres = "select pg_advisory_xact_lock("
			    "hashtextextended('lodge.jobs.' || current_schema(), 0))",
		.scan = "no table" },
	[LEASE_EXTEND] = { "queue_lease_extend",
		"update job_runners set lease_until = $2 where owner = $1" },
	[LEASE_NEW] = { "queue_lease_new",
		"insert into job_runners (owner, lease_until) values ($1, $2)" },
	[LEASE_END] = { "queue_lease_end", "delete from job_runners where owner = $1" },
	[LEASES_OVER] = { "queue_leases_over",
		"select owner as value from job_runners where lease_until < $1 "
		"or ($2 = 1 and substr(owner, 1, length($3)) <> $3) "
		"or ($4 <> '' and substr(owner, 1, length($4)) = $4)",
		.postgres = "select owner as value from job_runners where lease_until < $1 "
			    "or ($2::int = 1 and left(owner, length($3::text)) <> $3::text) "
			    "or ($4::text <> '' and left(owner, length($4::text)) = $4::text)",
		.row = &one_text_schema, .scan = "one row a process" },
	/* Twice at once, then after 1, 2, 4 seconds and so on: of those that are taken again and again by
	 * processes that die, one may be why they do.  From the third death on it runs alone; $3: the
	 * process died of a fault, so that what ran alone in it is the reason. */
	[OWNER_OVER] = { "queue_owner_over",
		"update jobs set deaths = deaths + 1, "
		"doomed = case when doomed = 1 or (deaths >= 3 and ($3 = 1 or deaths >= 12)) "
		"then 1 else 0 end, "
		"state = case when doomed = 1 or deaths < 2 or (deaths >= 3 and ($3 = 1 or deaths >= 12)) "
		"then 'waiting' else 'delayed' end, owner = null, "
		"run_at = $2 + cast(case when doomed = 1 or deaths < 2 "
		"or (deaths >= 3 and ($3 = 1 or deaths >= 12)) then 0 "
		"else 1000000 * (1 << cast(deaths - 2 as integer)) end as bigint), updated_at = $2, "
		"error = 'whoever ran it gave no sign of life' "
		"where state = 'running' and owner = $1 returning tenant_id as value",
		.row = &one_text_schema, .across = EVERYBODY,
		.scan = "what runs now, when a process died" },
	[OWNER_LEAVES] = { "queue_owner_leaves",
		"update jobs set state = 'waiting', owner = null, attempts = attempts - 1, "
		"run_at = $2, updated_at = $2 "
		"where state = 'running' and owner = $1 returning tenant_id as value",
		.row = &one_text_schema, .across = EVERYBODY,
		.scan = "what runs now, when a process stops" },
	/* A job's last change is the moment of the claim that took it. */
	[DOUBTED_BACK] = { "queue_doubted_back",
		"update jobs set state = 'waiting', owner = null, attempts = attempts - 1, "
		"updated_at = $4 where state = 'running' and owner = $1 "
		"and updated_at >= $2 and updated_at <= $3",
		.across = EVERYBODY, .scan = "what runs now, when a commit was in doubt" },
};
STATEMENT_SET(queue_lease_sql, sql);

/* Named once; a child of a process is another one. */
const char *queue_process(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static char name[ID_LEN + 1];
	static pid_t named;

	pthread_mutex_lock(&lock);
	if (named != getpid())
		memcpy(name, id_new(NULL).text, sizeof name);
	named = getpid();
	pthread_mutex_unlock(&lock);
	return name;
}

int claim_lock(struct db *db)
{
	return db_run(db, &sql[CLAIM_LOCK], NULL, NO_ARGS);
}

void claim_found(struct claim *r, const struct list *tenants)
{
	struct one_text *all;

	if (!tenants->count)
		return;
	all = arena_array(&r->arena, struct one_text, r->found.count + tenants->count);
	if (r->found.count)
		memcpy(all, r->found.at, r->found.count * sizeof *all);
	memcpy(all + r->found.count, tenants->at, tenants->count * sizeof *all);
	r->found.at = all;
	r->found.count += tenants->count;
}

static int requeue_owner_jobs(struct db *db, struct claim *r, const char *owner)
{
	struct list tenants;
	bool fault = r->crashed && strncmp(owner, r->crashed, strlen(r->crashed)) == 0;
	int err = db_all(db, &r->arena, &sql[OWNER_OVER], &tenants, SIZE_MAX,
		ARGS(T(owner), N(r->now), N(fault)));

	if (!err)
		err = db_run(db, &sql[LEASE_END], NULL, ARGS(T(owner)));
	if (!err && tenants.count)
		log_warn(fault ? "jobs of a process that died of a fault are given to others"
			       : "jobs of a process that died are given to others",
			LOG_N("jobs", (int64_t)tenants.count));
	claim_found(r, &tenants);
	return err;
}

int claim_bury_the_dead(struct db *db, struct claim *r)
{
	struct list owners;
	int err = db_all(db, &r->arena, &sql[LEASES_OVER], &owners, SIZE_MAX,
		ARGS(N(r->now), N(r->alone), T(queue_process()), T(r->crashed ? r->crashed : "")));

	for (size_t i = 0; i < owners.count && !err; i++) {
		const char *owner = ((const struct one_text *)owners.at)[i].value;

		if (strcmp(owner, r->owner) != 0)
			err = requeue_owner_jobs(db, r, owner);
	}
	return err;
}

int claim_heartbeat(struct db *db, struct claim *r)
{
	int64_t until = r->now + r->lease_us, changed = 0;
	int err = db_run(db, &sql[LEASE_EXTEND], &changed, ARGS(T(r->owner), N(until)));

	if (!err && !changed && r->leased)
		r->lost = true;
	else if (!err && !changed)
		err = db_run(db, &sql[LEASE_NEW], NULL, ARGS(T(r->owner), N(until)));
	r->heartbeat_sent = !err && !r->lost;
	return err;
}

int claim_undo_doubted(struct db *db, const struct claim *r)
{
	return db_run(db, &sql[DOUBTED_BACK], NULL,
		ARGS(T(r->owner), N(r->doubted_from), N(r->doubted_to), N(r->now)));
}

int hand_back_run(struct work *w, struct db *db)
{
	struct hand_back *h = (struct hand_back *)w;
	struct arena a = { 0 };
	struct list tenants;
	int err = claim_lock(db);

	if (!err)
		err = db_all(db, &a, &sql[OWNER_LEAVES], &tenants, SIZE_MAX,
			ARGS(T(h->owner), N(h->now)));
	for (size_t i = 0; !err && i < tenants.count; i++)
		err = jobs_tell(db, ((const struct one_text *)tenants.at)[i].value, 0, h->now);
	if (!err)
		err = db_run(db, &sql[LEASE_END], NULL, ARGS(T(h->owner)));
	arena_free(&a);
	return err;
}
