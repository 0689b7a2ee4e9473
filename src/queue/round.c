/* round.c - see round.h.
 *
 * On PostgreSQL rounds are one behind the other, by a lock, and each of their
 * statements sees what was committed before it.  So a lane is never
 * overfilled, and jobs are held and released by nobody else.  Everything that
 * others do to a job, they do to its row alone. */
#include "queue/round.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

enum {
	DUE_MAX = 500,	     /* delayed jobs that become ready in one round */
	HOLD_MAX = 256,	     /* jobs held in one */
	LOOK_TENANTS = 1000, /* found in one look */
	LOOK_LANES = 200,
	PLACES_EACH = 3, /* a tenant may have so many places for each that is free */
};
#define STRANGE_US (5 * SECOND_US) /* until a job of an unknown kind is offered again */

struct job_row {
	const char *tenant_id, *id, *kind, *subject, *lane, *payload;
	int64_t attempts, max_attempts, created_at;
};

FIELDS(job_row) = {
	FIELD(job_row, tenant_id),
	FIELD(job_row, id),
	FIELD(job_row, kind),
	FIELD(job_row, subject),
	FIELD(job_row, lane),
	FIELD(job_row, payload),
	FIELD(job_row, attempts),
	FIELD(job_row, max_attempts),
	FIELD(job_row, created_at),
};
static SCHEMA(job_row, .internal = true);

struct candidate {
	const char *id, *kind, *lane;
};

FIELDS(candidate) = {
	FIELD(candidate, id),
	FIELD(candidate, kind),
	FIELD(candidate, lane),
};
static SCHEMA(candidate, .internal = true);

struct lane_name {
	const char *tenant_id, *lane;
};

FIELDS(lane_name) = {
	FIELD(lane_name, tenant_id),
	FIELD(lane_name, lane),
};
static SCHEMA(lane_name, .internal = true);

enum {
	ROUND_LOCK,
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
	JOB_TAKE,
	JOB_HOLD,
	JOB_STRANGE,
};

#define EVERYBODY "the queue is one for all tenants"

static const struct statement sql[] = {
	[ROUND_LOCK] = { "queue_lock", "select 1",
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
		"or ($2 = 1 and substr(owner, 1, length($3)) <> $3)",
		.postgres = "select owner as value from job_runners where lease_until < $1 "
			    "or ($2::int = 1 and left(owner, length($3::text)) <> $3::text)",
		.row = &one_text_schema, .scan = "one row a process" },
	/* Twice at once, then after 1, 2, 4 seconds and so on: of those that are taken again and again by
	 * processes that die, one may be why they do. */
	[OWNER_OVER] = { "queue_owner_over",
		"update jobs set state = case when attempts >= max_attempts then 'dead' "
		"when attempts > 2 then 'delayed' else 'waiting' end, "
		"owner = null, run_at = $2 + cast(case when attempts > 2 and attempts < max_attempts "
		"then 1000000 * (1 << cast(case when attempts < 12 then attempts - 3 else 9 end as integer)) "
		"else 0 end as bigint), updated_at = $2, "
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
	/* A job's last change is the moment of the round that took it. */
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
	/* Somebody may have a job's row under his hand, to drop it: it is passed over. */
	[CANDIDATES] = { "queue_candidates",
		"select id, kind, lane from jobs where tenant_id = $1 and state = 'waiting' "
		"order by priority desc, run_at, id limit $2",
		.postgres =
			"select id, kind, lane from jobs where tenant_id = $1 and state = 'waiting' "
			"order by priority desc, run_at, id limit $2 for update skip locked",
		.row = &candidate_schema },
	[JOB_TAKE] = { "queue_take",
		"update jobs set state = 'running', owner = $3, attempts = attempts + 1, updated_at = $4 "
		"where tenant_id = $1 and id = $2 returning tenant_id, id, kind, subject, lane, payload, "
		"attempts, max_attempts, created_at",
		.row = &job_row_schema },
	[JOB_HOLD] = { "queue_hold",
		"update jobs set state = 'held' where tenant_id = $1 and id = $2" },
	[JOB_STRANGE] = { "queue_strange",
		"update jobs set state = 'delayed', run_at = $3 where tenant_id = $1 and id = $2" },
};
STATEMENT_SET(queue_round_sql, sql);

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

void taken_free(struct taken *t)
{
	if (--t->refs > 0)
		return;
	arena_free(&t->arena);
	free(t);
}

void round_forget(struct round *r)
{
	while (r->taken) {
		struct taken *t = r->taken;

		r->taken = t->next;
		taken_free(t);
	}
	r->taken_last = &r->taken;
	arena_reset(&r->arena);
	r->found = (struct list){ 0 };
	r->seen = r->at;
	r->beaten = r->lost = r->more = false;
	r->due = 0;
	r->strange = 0;
	for (size_t i = 0; i < r->pick_count; i++) {
		struct pick *p = &r->picks[i];

		p->empty = p->served = p->full = false;
		p->running = p->running_before;
	}
}

/* Tenants that may have work now; kept with those found before. */
static void find(struct round *r, const struct list *tenants)
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

static int bury(struct db *db, struct round *r, const char *owner)
{
	struct list tenants;
	int err = db_all(
		db, &r->arena, &sql[OWNER_OVER], &tenants, SIZE_MAX, ARGS(T(owner), N(r->now)));

	if (!err)
		err = db_run(db, &sql[LEASE_END], NULL, ARGS(T(owner)));
	if (!err && tenants.count)
		log_warn("jobs of a process that died are given to others",
			LOG_N("jobs", (int64_t)tenants.count));
	find(r, &tenants);
	return err;
}

static int bury_the_dead(struct db *db, struct round *r)
{
	struct list owners;
	int err = db_all(db, &r->arena, &sql[LEASES_OVER], &owners, SIZE_MAX,
		ARGS(N(r->now), N(r->alone), T(queue_process())));

	for (size_t i = 0; i < owners.count && !err; i++) {
		const char *owner = ((const struct one_text *)owners.at)[i].value;

		if (strcmp(owner, r->owner) != 0)
			err = bury(db, r, owner);
	}
	return err;
}

/* A lease is needed only while something runs under it. */
static int beat(struct db *db, struct round *r)
{
	int64_t until = r->now + r->lease_us, changed = 0;
	int err = db_run(db, &sql[LEASE_EXTEND], &changed, ARGS(T(r->owner), N(until)));

	if (!err && !changed && r->leased)
		r->lost = true;
	else if (!err && !changed)
		err = db_run(db, &sql[LEASE_NEW], NULL, ARGS(T(r->owner), N(until)));
	r->beaten = !err && !r->lost;
	return err;
}

static int release(struct db *db, struct round *r, const char *tenant_id, const char *lane)
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

static int look_at_lanes(struct db *db, struct round *r)
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
			err = release(db, r, row.tenant_id, row.lane);
		if (err)
			return err;
		snprintf(at->lane_tenant_id, sizeof at->lane_tenant_id, "%s", row.tenant_id);
		snprintf(at->lane, sizeof at->lane, "%s", row.lane);
	}
	return 0;
}

static int look_around(struct db *db, struct round *r)
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
	find(r, &tenants);
	snprintf(r->seen.tenant_id, sizeof r->seen.tenant_id, "%s",
		tenants.count < LOOK_TENANTS
			? ""
			: ((const struct one_text *)tenants.at)[tenants.count - 1].value);
	return 0;
}

static int make_due(struct db *db, struct round *r)
{
	struct list tenants;
	int err = db_all(
		db, &r->arena, &sql[JOBS_DUE], &tenants, DUE_MAX, ARGS(N(r->now), N(DUE_MAX)));

	if (err)
		return err;
	find(r, &tenants);
	err = db_int(db, &sql[NEXT_DUE], &r->due, NO_ARGS);
	return err == ERR_NOT_FOUND ? 0 : err;
}

/* How many of a lane run, counted once a round. */
struct lane {
	struct lane *next;
	const char *tenant_id, *name;
	int64_t running;
};

struct taking {
	struct db *db;
	struct round *round;
	struct lane *lanes;
	size_t taken, held;
};

static int lane_of(struct taking *k, const char *tenant_id, const char *name, struct lane **ret)
{
	struct arena *a = &k->round->arena;
	struct lane *lane = k->lanes;
	int err;

	while (lane && (strcmp(lane->name, name) != 0 || strcmp(lane->tenant_id, tenant_id) != 0))
		lane = lane->next;
	if (!lane) {
		lane = arena_new(a, struct lane);
		*lane = (struct lane){ k->lanes, tenant_id, name, 0 };
		err = db_int(
			k->db, &sql[LANE_RUNNING], &lane->running, ARGS(T(tenant_id), T(name)));
		if (err)
			return err;
		k->lanes = lane;
	}
	*ret = lane;
	return 0;
}

static const struct job_kind *kind_of(const struct round *r, const char *name)
{
	for (size_t i = 0; i < r->settings->kind_count; i++)
		if (strcmp(r->settings->kinds[i].name, name) == 0)
			return &r->settings->kinds[i];
	return NULL;
}

static int take_one(
	struct taking *k, struct pick *p, const struct candidate *c, const struct job_kind *kind)
{
	struct round *r = k->round;
	struct taken *t = calloc(1, sizeof *t);
	struct job_row row;
	int err;

	if (!t)
		abort();
	t->refs = 1;
	err = db_one(k->db, &t->arena, &sql[JOB_TAKE], &row,
		ARGS(T(p->turn->tenant_id), T(c->id), T(r->owner), N(r->now)));
	if (err) {
		taken_free(t);
		return err;
	}
	t->job = (struct job){ .tenant_id = row.tenant_id,
		.id = row.id,
		.kind = row.kind,
		.subject = row.subject,
		.lane = row.lane,
		.payload = row.payload,
		.attempts = row.attempts,
		.created_at = row.created_at,
		.own = t };
	t->kind = kind;
	t->max_attempts = row.max_attempts;
	memcpy(t->owner, r->owner, sizeof t->owner);
	*r->taken_last = t;
	r->taken_last = &t->next;
	k->taken++;
	p->running++;
	return 0;
}

/* Takes it, or puts it where it is in nobody's way. */
static int consider(struct taking *k, struct pick *p, const struct candidate *c)
{
	struct round *r = k->round;
	const struct job_kind *kind = kind_of(r, c->kind);
	const char *tenant_id = p->turn->tenant_id;
	struct lane *lane = NULL;
	int err = 0;

	if (!kind) {
		r->strange++;
		return db_run(k->db, &sql[JOB_STRANGE], NULL,
			ARGS(T(tenant_id), T(c->id), N(r->now + STRANGE_US)));
	}
	if (*c->lane && r->settings->lane_most)
		err = lane_of(k, tenant_id, c->lane, &lane);
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
	return k->round->places - k->taken;
}

bool round_may_have(size_t running, size_t free)
{
	return running < PLACES_EACH * free;
}

static bool may_have(const struct taking *k, const struct pick *p)
{
	return round_may_have(p->running, places_left(k));
}

static int serve(struct taking *k, struct pick *p, size_t share)
{
	struct list list;
	int err = db_all(k->db, &k->round->arena, &sql[CANDIDATES], &list, share,
		ARGS(T(p->turn->tenant_id), N((int64_t)share)));

	p->served = true;
	if (err)
		return err;
	for (size_t i = 0; i < list.count && !err; i++) {
		p->full = !may_have(k, p);
		if (p->full)
			return 0;
		err = consider(k, p, &((const struct candidate *)list.at)[i]);
	}
	p->empty = list.count < share;
	return err;
}

/* How many more this round may take. */
static size_t room_left(const struct taking *k)
{
	size_t places = places_left(k), room = TAKE_MAX - k->taken;

	return places < room ? places : room;
}

static bool may_go_on(const struct taking *k)
{
	return room_left(k) > 0 && k->held < HOLD_MAX;
}

/* Each tenant in turn gets the same share, again and again until the places or the jobs are out. */
static int take_jobs(struct taking *k)
{
	struct round *r = k->round;
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
				err = serve(k, p, share < left ? share : left);
			still += !p->empty && !p->full;
		}
	}
	r->more = !err && places_left(k) > 0 && (k->taken >= TAKE_MAX || k->held >= HOLD_MAX);
	return err;
}

int round_run(struct work *w, struct db *db)
{
	struct round *r = (struct round *)w;
	struct taking k = { .db = db, .round = r };
	int err;

	round_forget(r);
	err = db_run(db, &sql[ROUND_LOCK], NULL, NO_ARGS);
	if (!err && r->beat)
		err = beat(db, r);
	if (err || r->lost)
		return err;
	if (r->doubted_from)
		err = db_run(db, &sql[DOUBTED_BACK], NULL,
			ARGS(T(r->owner), N(r->doubted_from), N(r->doubted_to), N(r->now)));
	for (struct taken *t = r->freed; t && !err; t = t->next)
		err = release(db, r, t->job.tenant_id, t->job.lane);
	if (!err && r->look)
		err = look_around(db, r);
	if (!err && r->due_now)
		err = make_due(db, r);
	return err ? err : take_jobs(&k);
}

int hand_back_run(struct work *w, struct db *db)
{
	struct hand_back *h = (struct hand_back *)w;
	struct arena a = { 0 };
	struct list tenants;
	int err = db_run(db, &sql[ROUND_LOCK], NULL, NO_ARGS);

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
