/* queue_admin.c - the queue as those see it who watch over it: how much waits, and the two things they may do. */
#include "queue/queue_admin.h"

#include <string.h>

#include "queue/parts.h"

FIELDS(queue_count) = {
	FIELD(queue_count, state),
	FIELD(queue_count, kind),
	FIELD(queue_count, jobs),
	FIELD(queue_count, oldest),
};
SCHEMA(queue_count, .internal = true);

FIELDS(queue_depth) = {
	FIELD(queue_depth, waiting),
	FIELD(queue_depth, delayed),
	FIELD(queue_depth, held),
	FIELD(queue_depth, running),
	FIELD(queue_depth, dead),
	FIELD(queue_depth, oldest),
};
SCHEMA(queue_depth, .internal = true);

FIELDS(queue_dead) = {
	FIELD(queue_dead, id),
	FIELD(queue_dead, tenant_id),
	FIELD(queue_dead, kind),
	FIELD(queue_dead, error, .nullable = true),
	FIELD(queue_dead, attempts),
};
SCHEMA(queue_dead, .internal = true);

FIELDS(queue_kind) = {
	FIELD(queue_kind, jobs),
	FIELD(queue_kind, oldest),
};
static SCHEMA(queue_kind, .internal = true);

struct desk_row {
	const char *tenant_id, *state;
};

FIELDS(desk_row) = {
	FIELD(desk_row, tenant_id),
	FIELD(desk_row, state),
};
static SCHEMA(desk_row, .internal = true);

enum { DESK_FIND, DESK_RETRY, DESK_DROP, DESK_COUNTS, DESK_DEPTH, DESK_KIND, DESK_DEAD };

#define IN_STATE(word) "(select count(*) from jobs where state = '" word "') as " word

static const struct statement sql[] = {
	[DESK_FIND] = { "queue_desk_find", "select tenant_id, state from jobs where id = $1",
		.row = &desk_row_schema, .across = "the queue is one for all tenants" },
	[DESK_RETRY] = { "queue_desk_retry",
		"update jobs set state = 'waiting', attempts = 0, deaths = 0, doomed = 0, run_at = $3, "
		"updated_at = $3 "
		"where tenant_id = $1 and id = $2 and state = 'dead'" },
	[DESK_DROP] = { "queue_desk_drop",
		"delete from jobs where tenant_id = $1 and id = $2 and state <> 'running'" },
	[DESK_COUNTS] = { "queue_desk_counts",
		"select state, kind, count(*) as jobs, min(run_at) as oldest from jobs "
		"group by state, kind order by state, kind",
		.row = &queue_count_schema, .scan = "asked by people",
		.across = "the queue is one for all tenants" },
	[DESK_DEPTH] = { "queue_desk_depth",
		"select " IN_STATE("waiting") ", " IN_STATE("delayed") ", " IN_STATE("held") ", " IN_STATE(
			"running") ", " IN_STATE("dead") ", "
							 "coalesce((select min(run_at) from jobs where state = 'waiting' and not exists "
							 "(select 1 from tenants t where t.id = jobs.tenant_id "
							 "and t.status not in ('active', 'trial'))), 0) as oldest",
		.row = &queue_depth_schema,
		.scan = "an index for each state, when metrics are read",
		.across = "the queue is one for all tenants" },
	[DESK_KIND] = { "queue_desk_kind",
		"select count(*) as jobs, coalesce(min(created_at), 0) as oldest from jobs "
		"where kind = $1 and state <> 'dead'",
		.row = &queue_kind_schema, .scan = "what is not done, when metrics are read",
		.across = "the queue is one for all tenants" },
	[DESK_DEAD] = { "queue_desk_dead",
		"select id, tenant_id, kind, error, attempts from jobs where state = 'dead' "
		"order by id desc limit $1",
		.row = &queue_dead_schema, .scan = "the last of an index",
		.across = "the queue is one for all tenants" },
};
STATEMENT_SET(queue_admin_sql, sql);

int queue_counts(struct db *db, struct arena *a, struct list *ret)
{
	enum { COUNTS_MAX = 1000 };

	return db_all(db, a, &sql[DESK_COUNTS], ret, COUNTS_MAX, NO_ARGS);
}

int queue_kind(struct db *db, struct arena *a, const char *kind, struct queue_kind *ret)
{
	return db_one(db, a, &sql[DESK_KIND], ret, ARGS(T(kind)));
}

int queue_depth(struct db *db, struct arena *a, struct queue_depth *ret)
{
	return db_one(db, a, &sql[DESK_DEPTH], ret, NO_ARGS);
}

int queue_dead(struct db *db, struct arena *a, struct list *ret, size_t most)
{
	return db_all(db, a, &sql[DESK_DEAD], ret, most, ARGS(N((int64_t)most)));
}

int jobs_retry(struct db *db, struct arena *a, const char *id, int64_t now, const char **ret_tenant)
{
	struct desk_row row;
	int64_t changed = 0;
	int err = db_one(db, a, &sql[DESK_FIND], &row, ARGS(T(id)));

	if (!err)
		err = db_run(db, &sql[DESK_RETRY], &changed, ARGS(T(row.tenant_id), T(id), N(now)));
	if (err)
		return err;
	*ret_tenant = row.tenant_id;
	return changed ? jobs_tell(db, row.tenant_id, now, now) : ERR_CONFLICT;
}

int jobs_drop(struct db *db, struct arena *a, const char *id, const char **ret_tenant)
{
	struct desk_row row;
	int64_t changed = 0;
	int err = db_one(db, a, &sql[DESK_FIND], &row, ARGS(T(id)));

	if (!err)
		err = db_run(db, &sql[DESK_DROP], &changed, ARGS(T(row.tenant_id), T(id)));
	if (err)
		return err;
	*ret_tenant = row.tenant_id;
	return changed ? 0 : ERR_CONFLICT;
}
