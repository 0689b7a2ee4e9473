/* claim_look.c - what a claim finds out for itself, because nobody told: tenants with jobs that wait, lanes that
 * have room again, delayed jobs whose time has come; see claim_parts.h. */
#include "queue/claim_parts.h"

#include <stdio.h>

enum {
	DUE_MAX = 500,	     /* delayed jobs that become ready in one claim */
	LOOK_TENANTS = 1000, /* found in one look */
	LOOK_LANES = 200,
};

struct lane_name {
	const char *tenant_id, *lane;
};

FIELDS(lane_name) = {
	FIELD(lane_name, tenant_id),
	FIELD(lane_name, lane),
};
static SCHEMA(lane_name, .internal = true);

enum {
	JOBS_DUE,
	NEXT_DUE,
	LOOK_FOR_TENANTS,
	LOOK_FOR_LANE,
	LANE_HAS_HELD,
	LANE_RUNNING,
	LANE_RELEASE,
};

static const struct statement sql[] = {
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
};
STATEMENT_SET(queue_look_sql, sql);

int claim_lane_running(struct db *db, const char *tenant_id, const char *lane, int64_t *ret)
{
	return db_int(db, &sql[LANE_RUNNING], ret, ARGS(T(tenant_id), T(lane)));
}

int claim_release_lane(
	struct db *db, const struct claim *r, const char *tenant_id, const char *lane)
{
	int64_t n = 0;
	int err = db_int(db, &sql[LANE_HAS_HELD], &n, ARGS(T(tenant_id), T(lane)));

	if (err)
		return err == ERR_NOT_FOUND ? 0 : err;
	err = claim_lane_running(db, tenant_id, lane, &n);
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
			err = claim_release_lane(db, r, row.tenant_id, row.lane);
		if (err)
			return err;
		snprintf(at->lane_tenant_id, sizeof at->lane_tenant_id, "%s", row.tenant_id);
		snprintf(at->lane, sizeof at->lane, "%s", row.lane);
	}
	return 0;
}

int claim_look(struct db *db, struct claim *r)
{
	struct list tenants;
	int err = claim_bury_the_dead(db, r);

	if (!err)
		err = look_at_lanes(db, r);
	if (!err)
		err = db_all(db, &r->arena, &sql[LOOK_FOR_TENANTS], &tenants, LOOK_TENANTS,
			ARGS(T(r->at.tenant_id), N(LOOK_TENANTS)));
	if (err)
		return err;
	claim_found(r, &tenants);
	snprintf(r->seen.tenant_id, sizeof r->seen.tenant_id, "%s",
		tenants.count < LOOK_TENANTS
			? ""
			: ((const struct one_text *)tenants.at)[tenants.count - 1].value);
	return 0;
}

int claim_make_due(struct db *db, struct claim *r)
{
	struct list tenants;
	int err = db_all(
		db, &r->arena, &sql[JOBS_DUE], &tenants, DUE_MAX, ARGS(N(r->now), N(DUE_MAX)));

	if (err)
		return err;
	claim_found(r, &tenants);
	err = db_int(db, &sql[NEXT_DUE], &r->due, NO_ARGS);
	return err == ERR_NOT_FOUND ? 0 : err;
}
