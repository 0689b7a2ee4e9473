/* claim.c - see claim.h.
 *
 * On PostgreSQL claims are one after the other, by a lock, and each of their
 * statements sees what was committed before it.  So a lane is never
 * overfilled, and jobs are held and released by nobody else.  Everything that
 * others do to a job, they do to its row alone. */
#include "queue/claim.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"

enum {
	DUE_MAX = 500,	     /* delayed jobs that become ready in one claim */
	HOLD_MAX = 256,	     /* jobs held in one */
	LOOK_TENANTS = 1000, /* found in one look */
	LOOK_LANES = 200,
	PLACES_EACH = 3, /* a tenant may have so many places for each that is free */
};
#define STRANGE_US (5 * SECOND_US) /* until a job of an unknown kind is offered again */

struct claim_row {
	const char *tenant_id, *id, *kind, *subject, *lane, *payload;
	int64_t attempts, max_attempts, created_at, deaths, waits_since;
	bool doomed;
};

FIELDS(claim_row) = {
	FIELD(claim_row, tenant_id),
	FIELD(claim_row, id),
	FIELD(claim_row, kind),
	FIELD(claim_row, subject),
	FIELD(claim_row, lane),
	FIELD(claim_row, payload),
	FIELD(claim_row, attempts),
	FIELD(claim_row, max_attempts),
	FIELD(claim_row, created_at),
	FIELD(claim_row, deaths),
	FIELD(claim_row, doomed),
	FIELD(claim_row, waits_since, .nullable = true),
};
static SCHEMA(claim_row, .internal = true);

struct job_candidate {
	const char *id, *kind, *lane;
};

FIELDS(job_candidate) = {
	FIELD(job_candidate, id),
	FIELD(job_candidate, kind),
	FIELD(job_candidate, lane),
};
static SCHEMA(job_candidate, .internal = true);

struct suspect {
	const char *tenant_id, *id, *kind, *lane;
};

FIELDS(suspect) = {
	FIELD(suspect, tenant_id),
	FIELD(suspect, id),
	FIELD(suspect, kind),
	FIELD(suspect, lane),
};
static SCHEMA(suspect, .internal = true);

struct lane_name {
	const char *tenant_id, *lane;
};

FIELDS(lane_name) = {
	FIELD(lane_name, tenant_id),
	FIELD(lane_name, lane),
};
static SCHEMA(lane_name, .internal = true);

enum {
	CLAIM_LOCK,
	LEASE_EXTEND,
	LEASE_NEW,
	LEASE_END,
	LEASES_OVER,
	OWNER_OVER,
	OWNER_LEAVES,
	DOUBTED_BACK,
	JOBS_DUE,
	NEXT_DUE,
	LOOK_FOR_TENANTS,
	LOOK_FOR_LANE,
	LANE_HAS_HELD,
	LANE_RUNNING,
	LANE_RELEASE,
	CANDIDATES,
	SUSPECT_NEXT,
	JOB_TAKE,
	JOB_HOLD,
	JOB_STRANGE,
};

#define RUNS \
	"and not exists (select 1 from tenants where id = $1 and status not in ('active', 'trial')) "
#define EVERYBODY "the queue is one for all tenants"

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
	[JOBS_DUE] = { "queue_due",
		"update jobs set state = 'waiting' where state = 'delayed' and (tenant_id, id) in "
		"(select tenant_id, id from jobs where state = 'delayed' and run_at <= $1 "
		"order by run_at limit $2) returning tenant_id as value",
		.row = &one_text_schema, .across = EVERYBODY },
	[NEXT_DUE] = { "queue_next_due",
		"select run_at from jobs where state = 'delayed' order by run_at limit 1",
		.across = EVERYBODY, .scan = "the first of an index" },
	/* From tenant to tenant, past all the jobs of each. */
	[LOOK_FOR_TENANTS] = { "queue_look_tenants",
		"with recursive t (value) as ("
		"select (select min(tenant_id) from jobs where state = 'waiting' and tenant_id > $1) "
		"union all select (select min(tenant_id) from jobs "
		"where state = 'waiting' and tenant_id > t.value) from t where t.value is not null) "
		"select value from t where value is not null limit $2",
		.row = &one_text_schema, .scan = "a step for each tenant", .across = EVERYBODY },
	[LOOK_FOR_LANE] = { "queue_look_lane",
		"select tenant_id, lane from jobs where state = 'held' and "
		"(tenant_id, lane) > ($1, $2) order by tenant_id, lane limit 1",
		.row = &lane_name_schema, .across = EVERYBODY },
	[LANE_HAS_HELD] = { "queue_lane_has_held",
		"select 1 from jobs where tenant_id = $1 and lane = $2 and state = 'held' limit 1" },
	[LANE_RUNNING] = { "queue_lane_running",
		"select count(*) from jobs where tenant_id = $1 and lane = $2 and state = 'running'" },
	[LANE_RELEASE] = { "queue_lane_release",
		"update jobs set state = 'waiting' where state = 'held' and tenant_id = $1 and id in "
		"(select id from jobs where tenant_id = $1 and lane = $2 and state = 'held' "
		"order by priority desc, run_at, id limit $3)" },
	/* Somebody may have a job's row under his hand, to drop it: it is passed over.  The jobs of a
	 * tenant that is suspended or closed wait until it runs again. */
	[CANDIDATES] = { "queue_candidates",
		"select id, kind, lane from jobs where tenant_id = $1 and state = 'waiting' " RUNS
		"and not (" SUSPECT ") "
		"order by priority desc, run_at, id limit $2",
		.postgres =
			"select id, kind, lane from jobs where tenant_id = $1 and state = 'waiting' " RUNS
			"and not (" SUSPECT ") "
			"order by priority desc, run_at, id limit $2 for update skip locked",
		.row = &job_candidate_schema },
	[SUSPECT_NEXT] = { "queue_suspect",
		"select tenant_id, id, kind, lane from jobs where state = 'waiting' and " SUSPECT
		" and not exists (select 1 from tenants t where t.id = jobs.tenant_id "
		"and t.status not in ('active', 'trial')) order by run_at, id limit 1",
		.postgres =
			"select tenant_id, id, kind, lane from jobs where state = 'waiting' and " SUSPECT
			" and not exists (select 1 from tenants t where t.id = jobs.tenant_id "
			"and t.status not in ('active', 'trial')) order by run_at, id limit 1 "
			"for update skip locked",
		.row = &suspect_schema, .across = EVERYBODY, .scan = "the first of an index" },
	[JOB_TAKE] = { "queue_take",
		"update jobs set state = 'running', owner = $3, attempts = attempts + 1, updated_at = $4 "
		"where tenant_id = $1 and id = $2 returning tenant_id, id, kind, subject, lane, payload, "
		"attempts, max_attempts, created_at, deaths, doomed, waits_since",
		.row = &claim_row_schema },
	[JOB_HOLD] = { "queue_hold",
		"update jobs set state = 'held' where tenant_id = $1 and id = $2" },
	[JOB_STRANGE] = { "queue_strange",
		"update jobs set state = 'delayed', run_at = $3 where tenant_id = $1 and id = $2" },
};
STATEMENT_SET(queue_claim_sql, sql);

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

void claimed_free(struct claimed *t)
{
	if (--t->refs > 0)
		return;
	arena_free(&t->arena);
	free(t);
}

void claim_forget(struct claim *r)
{
	while (r->claimed) {
		struct claimed *t = r->claimed;

		r->claimed = t->next;
		claimed_free(t);
	}
	r->claimed_last = &r->claimed;
	arena_reset(&r->arena);
	r->found = (struct list){ 0 };
	r->seen = r->at;
	r->heartbeat_sent = r->lost = r->more = r->solo = r->drain = false;
	r->due = 0;
	r->strange = 0;
	for (size_t i = 0; i < r->pick_count; i++) {
		struct pick *p = &r->picks[i];

		p->empty = p->served = p->full = false;
		p->running = p->running_before;
	}
}

/* Tenants that may have work now; kept with those found before. */
static void add_found_tenants(struct claim *r, const struct list *tenants)
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
	add_found_tenants(r, &tenants);
	return err;
}

static int bury_the_dead(struct db *db, struct claim *r)
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

/* A lease is needed only while something runs under it. */
static int lease_heartbeat(struct db *db, struct claim *r)
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

static int release_lane(struct db *db, struct claim *r, const char *tenant_id, const char *lane)
{
	int64_t n = 0;
	int err = db_int(db, &sql[LANE_HAS_HELD], &n, ARGS(T(tenant_id), T(lane)));

	if (err)
		return err == ERR_NOT_FOUND ? 0 : err;
	err = db_int(db, &sql[LANE_RUNNING], &n, ARGS(T(tenant_id), T(lane)));
	if (!err && n < (int64_t)r->settings->lane_most)
		err = db_run(db, &sql[LANE_RELEASE], NULL,
			ARGS(T(tenant_id), T(lane), N((int64_t)r->settings->lane_most - n)));
	return err;
}

static int look_at_lanes(struct db *db, struct claim *r)
{
	struct look *at = &r->seen;

	for (int i = 0; i < LOOK_LANES; i++) {
		struct lane_name row;
		int err = db_one(db, &r->arena, &sql[LOOK_FOR_LANE], &row,
			ARGS(T(at->lane_tenant_id), T(at->lane)));

		if (err == ERR_NOT_FOUND) {
			*at->lane_tenant_id = *at->lane = '\0';
			return 0;
		}
		if (!err)
			err = release_lane(db, r, row.tenant_id, row.lane);
		if (err)
			return err;
		snprintf(at->lane_tenant_id, sizeof at->lane_tenant_id, "%s", row.tenant_id);
		snprintf(at->lane, sizeof at->lane, "%s", row.lane);
	}
	return 0;
}

static int look_around(struct db *db, struct claim *r)
{
	struct list tenants;
	int err = bury_the_dead(db, r);

	if (!err)
		err = look_at_lanes(db, r);
	if (!err)
		err = db_all(db, &r->arena, &sql[LOOK_FOR_TENANTS], &tenants, LOOK_TENANTS,
			ARGS(T(r->at.tenant_id), N(LOOK_TENANTS)));
	if (err)
		return err;
	add_found_tenants(r, &tenants);
	snprintf(r->seen.tenant_id, sizeof r->seen.tenant_id, "%s",
		tenants.count < LOOK_TENANTS
			? ""
			: ((const struct one_text *)tenants.at)[tenants.count - 1].value);
	return 0;
}

static int make_due(struct db *db, struct claim *r)
{
	struct list tenants;
	int err = db_all(
		db, &r->arena, &sql[JOBS_DUE], &tenants, DUE_MAX, ARGS(N(r->now), N(DUE_MAX)));

	if (err)
		return err;
	add_found_tenants(r, &tenants);
	err = db_int(db, &sql[NEXT_DUE], &r->due, NO_ARGS);
	return err == ERR_NOT_FOUND ? 0 : err;
}

/* How many of a lane run, counted once a claim. */
struct lane_count {
	struct lane_count *next;
	const char *tenant_id, *name;
	int64_t running;
};

struct taking {
	struct db *db;
	struct claim *claim;
	struct lane_count *lanes;
	size_t claimed, held;
};

static int taking_lane_of(
	struct taking *k, const char *tenant_id, const char *name, struct lane_count **ret)
{
	struct arena *a = &k->claim->arena;
	struct lane_count *lane = k->lanes;
	int err;

	while (lane && (strcmp(lane->name, name) != 0 || strcmp(lane->tenant_id, tenant_id) != 0))
		lane = lane->next;
	if (!lane) {
		lane = arena_new(a, struct lane_count);
		*lane = (struct lane_count){ k->lanes, tenant_id, name, 0 };
		err = db_int(
			k->db, &sql[LANE_RUNNING], &lane->running, ARGS(T(tenant_id), T(name)));
		if (err)
			return err;
		k->lanes = lane;
	}
	*ret = lane;
	return 0;
}

static const struct job_kind *job_kind_of(const struct claim *r, const char *name)
{
	for (size_t i = 0; i < r->settings->kind_count; i++)
		if (strcmp(r->settings->kinds[i].name, name) == 0)
			return &r->settings->kinds[i];
	return NULL;
}

static int take_one(struct taking *k, struct pick *p, const struct job_candidate *c,
	const struct job_kind *kind)
{
	struct claim *r = k->claim;
	struct claimed *t = memory_zeroed(sizeof *t);
	struct claim_row row;
	int err;

	t->refs = 1;
	err = db_one(k->db, &t->arena, &sql[JOB_TAKE], &row,
		ARGS(T(p->ring_tenant->tenant_id), T(c->id), T(r->owner), N(r->now)));
	if (err) {
		claimed_free(t);
		return err;
	}
	t->job = (struct job){ .tenant_id = row.tenant_id,
		.id = row.id,
		.kind = row.kind,
		.subject = row.subject,
		.lane = row.lane,
		.payload = row.payload,
		.attempts = row.attempts - row.deaths,
		.condemned =
			row.doomed
				? arena_printf(&t->arena,
					  "The process that ran it died %lld times, the last time while it "
					  "ran nothing else",
					  (long long)row.deaths)
				: NULL,
		.created_at = row.created_at,
		.waits_since = row.waits_since,
		.own = t };
	t->kind = kind;
	t->max_attempts = row.max_attempts;
	memcpy(t->owner, r->owner, sizeof t->owner);
	*r->claimed_last = t;
	r->claimed_last = &t->next;
	k->claimed++;
	p->running++;
	return 0;
}

/* Takes it, or puts it where it is in nobody's way. */
static int consider_job(struct taking *k, struct pick *p, const struct job_candidate *c)
{
	struct claim *r = k->claim;
	const struct job_kind *kind = job_kind_of(r, c->kind);
	const char *tenant_id = p->ring_tenant->tenant_id;
	struct lane_count *lane = NULL;
	int err = 0;

	if (!kind) {
		r->strange++;
		return db_run(k->db, &sql[JOB_STRANGE], NULL,
			ARGS(T(tenant_id), T(c->id), N(r->now + STRANGE_US)));
	}
	if (*c->lane && r->settings->lane_most)
		err = taking_lane_of(k, tenant_id, c->lane, &lane);
	if (err)
		return err;
	if (lane && lane->running >= (int64_t)r->settings->lane_most) {
		k->held++;
		return db_run(k->db, &sql[JOB_HOLD], NULL, ARGS(T(tenant_id), T(c->id)));
	}
	err = take_one(k, p, c, kind);
	if (!err && lane)
		lane->running++;
	return err;
}

static size_t places_left(const struct taking *k)
{
	return k->claim->places - k->claimed;
}

bool claim_may_have(size_t running, size_t free)
{
	return running < PLACES_EACH * free;
}

static bool may_have(const struct taking *k, const struct pick *p)
{
	return claim_may_have(p->running, places_left(k));
}

static int serve_tenant(struct taking *k, struct pick *p, size_t share)
{
	struct list list;
	int err = db_all(k->db, &k->claim->arena, &sql[CANDIDATES], &list, share,
		ARGS(T(p->ring_tenant->tenant_id), N((int64_t)share)));

	p->served = true;
	if (err)
		return err;
	for (size_t i = 0; i < list.count && !err; i++) {
		p->full = !may_have(k, p);
		if (p->full)
			return 0;
		err = consider_job(k, p, &((const struct job_candidate *)list.at)[i]);
	}
	p->empty = list.count < share;
	return err;
}

/* How many more this claim may take. */
static size_t room_left(const struct taking *k)
{
	size_t places = places_left(k), room = TAKE_MAX - k->claimed;

	return places < room ? places : room;
}

static bool may_go_on(const struct taking *k)
{
	return room_left(k) > 0 && k->held < HOLD_MAX;
}

/* Each tenant in turn gets the same share, again and again until the places or the jobs are out. */
static int take_jobs(struct taking *k)
{
	struct claim *r = k->claim;
	size_t share, still = r->pick_count;
	int err = 0;

	while (still && may_go_on(k) && !err) {
		share = places_left(k) / still;
		if (share == 0)
			share = 1;
		still = 0;
		for (size_t i = 0; i < r->pick_count && may_go_on(k) && !err; i++) {
			struct pick *p = &r->picks[i];
			size_t left = room_left(k);

			if (p->empty || p->full)
				continue;
			p->full = !may_have(k, p);
			if (!p->full)
				err = serve_tenant(k, p, share < left ? share : left);
			still += !p->empty && !p->full;
		}
	}
	r->more = !err && places_left(k) > 0 && (k->claimed >= TAKE_MAX || k->held >= HOLD_MAX);
	return err;
}

/* A job that must run alone is taken by whoever runs nothing; whoever runs something takes no more until
 * that is over. */
static int take_suspect(struct taking *k)
{
	struct claim *r = k->claim;
	struct suspect s;
	struct ring_tenant ring_tenant = { .running = 0 };
	struct pick pick = { .ring_tenant = &ring_tenant };
	struct job_candidate c;
	int err = db_one(k->db, &r->arena, &sql[SUSPECT_NEXT], &s, NO_ARGS);

	if (err)
		return err == ERR_NOT_FOUND ? 0 : err;
	r->drain = !r->idle;
	if (r->drain)
		return 0;
	if (!r->heartbeat)
		err = lease_heartbeat(k->db, r);
	if (err || r->lost)
		return err;
	snprintf(ring_tenant.tenant_id, sizeof ring_tenant.tenant_id, "%s", s.tenant_id);
	c = (struct job_candidate){ s.id, s.kind, s.lane };
	err = consider_job(k, &pick, &c);
	r->solo = k->claimed > 0;
	return err;
}

int claim_run(struct work *w, struct db *db)
{
	struct claim *r = (struct claim *)w;
	struct taking k = { .db = db, .claim = r };
	int err;

	claim_forget(r);
	err = db_run(db, &sql[CLAIM_LOCK], NULL, NO_ARGS);
	if (!err && r->heartbeat)
		err = lease_heartbeat(db, r);
	if (err || r->lost)
		return err;
	if (r->doubted_from)
		err = db_run(db, &sql[DOUBTED_BACK], NULL,
			ARGS(T(r->owner), N(r->doubted_from), N(r->doubted_to), N(r->now)));
	for (struct claimed *t = r->freed; t && !err; t = t->next)
		err = release_lane(db, r, t->job.tenant_id, t->job.lane);
	if (!err && r->look)
		err = look_around(db, r);
	if (!err && r->due_now)
		err = make_due(db, r);
	if (!err && r->probe)
		err = take_suspect(&k);
	return err || r->solo || r->drain ? err : take_jobs(&k);
}

int hand_back_run(struct work *w, struct db *db)
{
	struct hand_back *h = (struct hand_back *)w;
	struct arena a = { 0 };
	struct list tenants;
	int err = db_run(db, &sql[CLAIM_LOCK], NULL, NO_ARGS);

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
