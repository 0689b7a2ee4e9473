/* claim.c - see claim.h.  What comes first (the lease, what nobody told) is in claim_lease.c and claim_look.c; here is
 * which jobs are taken.
 *
 * On PostgreSQL claims are one after the other, by a lock, and each of their
 * statements sees what was committed before it.  So a lane is never
 * overfilled, and jobs are held and released by nobody else.  Everything that
 * others do to a job, they do to its row alone. */
#include "queue/claim_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/memory.h"

enum {
	HOLD_MAX = 256,	 /* jobs held in one claim */
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

#define RUNS \
	"and not exists (select 1 from tenants where id = $1 and status not in ('active', 'trial')) "

enum {
	CANDIDATES,
	SUSPECT_NEXT,
	JOB_TAKE,
	JOB_HOLD,
	JOB_STRANGE,
};

static const struct statement sql[] = {
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

void claimed_free(struct claimed *t)
{
	INVARIANT(t->refs > 0);
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
		err = claim_lane_running(k->db, tenant_id, name, &lane->running);
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

	INVARIANT(k->claimed < TAKE_MAX);
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
		err = claim_heartbeat(k->db, r);
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
	err = claim_lock(db);
	if (!err && r->heartbeat)
		err = claim_heartbeat(db, r);
	if (err || r->lost)
		return err;
	if (r->doubted_from)
		err = claim_undo_doubted(db, r);
	for (struct claimed *t = r->freed; t && !err; t = t->next)
		err = claim_release_lane(db, r, t->job.tenant_id, t->job.lane);
	if (!err && r->look)
		err = claim_look(db, r);
	if (!err && r->due_now)
		err = claim_make_due(db, r);
	if (!err && r->probe)
		err = take_suspect(&k);
	return err || r->solo || r->drain ? err : take_jobs(&k);
}
