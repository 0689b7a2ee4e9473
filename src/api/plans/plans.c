/* plans.c - what tenants may have and what it costs; made and changed by super administrators. */
#include "api/plans/plans.h"

#include <string.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "call/operation.h"
#include "contract/rules.h"
#include "store/listing.h"

static const char *const PlanStatus_list[] = {
	[PlanStatus_trialing] = "trialing",
	[PlanStatus_active] = "active",
	[PlanStatus_past_due] = "past_due",
	[PlanStatus_canceled] = "canceled",
	NULL,
};
const struct words PlanStatus_words = {
	.list = PlanStatus_list,
	.doc = "Where a tenant's subscription stands; canceled makes its agents read-only, the "
	       "others are alike to the service.",
};

FIELDS(PlanRead) = {
	FIELD(PlanRead, id, .required = true, .id = true, .doc = "The plan."),
	FIELD(PlanRead, name, .required = true, .example = "\"Team\"", .doc = "Shown to people."),
	FIELD(PlanRead, slug, .required = true, .example = "\"team\"",
		.doc = "Names the plan in settings; unique."),
	FIELD(PlanRead, monthly_price_usd, .computed = true, .required = true, .example = "49",
		.doc = "Price of one month."),
	FIELD(PlanRead, max_agents, .required = true, .nullable = true, .example = "20",
		.doc = "Agents beyond this number become read-only; null for no limit."),
	FIELD(PlanRead, max_members, .required = true, .nullable = true, .example = "50",
		.doc = "Members a tenant may have; null for no limit."),
	FIELD(PlanRead, max_sessions_per_day, .required = true, .nullable = true, .example = "1000",
		.doc = "Sessions a tenant may start in a day, UTC; null for no limit."),
	FIELD(PlanRead, created_at, .required = true, .doc = "When the plan was made."),
};
SCHEMA(PlanRead, .doc = "A plan: what it costs and how much it allows.");

#define PLAN_LIMITS(S)                                                                            \
	FIELD(S, monthly_price_usd, .preset = "0", AT_LEAST(0), .ceiling = 1000000,               \
		.doc = "Price of one month."),                                                    \
		FIELD(S, max_agents, .nullable = true, AT_LEAST(0),                               \
			.doc = "Agents beyond this number become read-only; null for no limit."), \
		FIELD(S, max_members, .nullable = true, AT_LEAST(1),                              \
			.doc = "Members a tenant may have; null for no limit."),                  \
		FIELD(S, max_sessions_per_day, .nullable = true, AT_LEAST(0),                     \
			.doc = "Sessions a tenant may start in a day; null for no limit.")

FIELDS(PlanCreate) = {
	FIELD(PlanCreate, name, .required = true, BOUNDS(1, 128), .example = "\"Team\"",
		.doc = "Shown to people."),
	FIELD(PlanCreate, slug, .required = true, SLUG_RULE, BOUNDS(1, 64), .example = "\"team\"",
		.doc = "Names the plan in settings; unique."),
	PLAN_LIMITS(PlanCreate),
};
SCHEMA(PlanCreate, .doc = "A plan to offer.");

FIELDS(PlanUpdate) = {
	FIELD(PlanUpdate, name, BOUNDS(1, 128), .example = "\"Team\"", .doc = "Shown to people."),
	PLAN_LIMITS(PlanUpdate),
};
SCHEMA(PlanUpdate, .partial = true, .doc = "Changes to a plan; what is left out stays.");

struct plan_row {
	const char *id, *name, *slug;
	struct money monthly_price_usd;
	int64_t max_agents, max_members, max_sessions_per_day;
	struct moment created_at;
};

FIELDS(plan_row) = {
	FIELD(plan_row, id),
	FIELD(plan_row, name),
	FIELD(plan_row, slug),
	FIELD(plan_row, monthly_price_usd, .column = "monthly_price_pd"),
	FIELD(plan_row, max_agents, .nullable = true),
	FIELD(plan_row, max_members, .nullable = true),
	FIELD(plan_row, max_sessions_per_day, .nullable = true),
	FIELD(plan_row, created_at),
};
static SCHEMA(plan_row, .internal = true);

struct limits_row {
	int64_t max_agents, max_members;
	bool canceled;
};

FIELDS(limits_row) = {
	FIELD(limits_row, max_agents, .nullable = true),
	FIELD(limits_row, max_members, .nullable = true),
	FIELD(limits_row, canceled),
};
static SCHEMA(limits_row, .internal = true);

struct plan_tenant_row {
	const char *id;
};

FIELDS(plan_tenant_row) = { FIELD(plan_tenant_row, id) };
static SCHEMA(plan_tenant_row, .internal = true);

enum {
	PLAN_LIST,
	PLAN_READ,
	PLAN_INSERT,
	PLAN_UPDATE,
	PLAN_COUNT,
	PLAN_LIMITS,
	PLAN_SESSIONS_LEFT,
	AGENTS_COUNTED,
	MEMBERS_COUNTED,
	PLAN_TENANTS,
	LIMIT_NONE,
	LIMIT_ALL,
	LIMIT_BEHIND,
	COUNT_ADD,
};

static const struct statement sql[] = {
	[PLAN_LIST] = { "plan_list", "select {*} from plans order by id desc limit $1 offset $2",
		.row = &plan_row_schema, .scan = "there are a handful of plans" },
	[PLAN_READ] = { "plan_read", "select {*} from plans where id = $1",
		.row = &plan_row_schema },
	[PLAN_INSERT] = { "plan_create", "insert into plans ({*}) values ({$})",
		.row = &plan_row_schema },
	[PLAN_UPDATE] = { "plan_update", "update plans set {=} where id = :id",
		.row = &plan_row_schema },
	[PLAN_SESSIONS_LEFT] = { "plan_sessions_left",
		"select coalesce(p.max_sessions_per_day - coalesce((select "
		"cast(sum(u.sessions - u.subtasks) as bigint) from usage_days u "
		"where u.tenant_id = $1 and u.day = $2), 0), $3) "
		"from tenants t join plans p on p.id = t.plan_id where t.id = $1" },
	[PLAN_LIMITS] = { "plan_limits",
		"select p.max_agents, p.max_members, "
		"case when t.plan_status = 'canceled' then 1 else 0 end as canceled "
		"from tenants t join plans p on p.id = t.plan_id where t.id = $1",
		.row = &limits_row_schema },
	[AGENTS_COUNTED] = { "agents_counted",
		"select coalesce(sum(agents), 0) from tenant_counts where tenant_id = $1" },
	[MEMBERS_COUNTED] = { "members_counted",
		"select coalesce(sum(members), 0) from tenant_counts where tenant_id = $1" },
	[PLAN_TENANTS] = { "plan_tenants",
		"select id from tenants where plan_id = $1 and id > $2 order by id limit $3",
		.row = &plan_tenant_row_schema },
	[LIMIT_NONE] = { "limit_none",
		"update tenants set read_only_after = null where id = $1 and read_only_after is not null" },
	[LIMIT_ALL] = { "limit_all", "update tenants set read_only_after = '' where id = $1" },
	[LIMIT_BEHIND] = { "limit_behind",
		"update tenants set read_only_after = (select a.id from agents a where a.tenant_id = $1 "
		"order by a.id limit 1 offset $2) where id = $1" },
	[PLAN_COUNT] = { "plan_count", "select count(*) from plans",
		.scan = "there are a handful of plans" },
	[COUNT_ADD] = { "count_add",
		"insert into tenant_counts (tenant_id, shard, agents, members) "
		"values ($1, $2, $3, $4) on conflict (tenant_id, shard) do update set "
		"agents = tenant_counts.agents + $3, members = tenant_counts.members + $4" },
};
STATEMENT_SET(plan_sql, sql);

static void show_plan_row(const struct plan_row *row, struct PlanRead *out)
{
	schema_copy(&plan_row_schema, row, &PlanRead_schema, out);
}

void plan_check_id(struct call *c, const char *plan_id)
{
	struct plan_row row;

	if (plan_id &&
		db_one(c->db, c->arena, &sql[PLAN_READ], &row, ARGS(T(plan_id))) == ERR_NOT_FOUND)
		call_field(c, "plan_id", "unknown", "is not the id of a plan");
}

int plan_show(struct call *c, const char *plan_id, struct PlanRead *out)
{
	struct plan_row row;
	int err = db_one(c->db, c->arena, &sql[PLAN_READ], &row, ARGS(T(plan_id)));

	if (!err)
		show_plan_row(&row, out);
	return err;
}

/* The limits change seldom and the counts with every agent: apart, the first need not be asked for again. */
static int read_limits(
	struct db *db, struct arena *a, const char *tenant_id, struct limits_row *ret)
{
	return db_one(db, a, &sql[PLAN_LIMITS], ret, ARGS(T(tenant_id)));
}

/* How many more of what the statement counts; negative beyond the limit. */
static int count_left(
	struct db *db, int counted, const char *tenant_id, int64_t most, int64_t *ret_left)
{
	int64_t there = 0;
	int err = most == NIL ? 0 : db_int(db, &sql[counted], &there, ARGS(T(tenant_id)));

	*ret_left = most == NIL ? INT64_MAX : most - there;
	return err;
}

static int refuse_beyond_plan(struct call *c, int64_t most, const char *what)
{
	c->problem.code = "plan_limit";
	return call_fail(
		c, ERR_CONFLICT, "The tenant's plan allows %lld %s.", (long long)most, what);
}

int plan_agents_left(struct db *db, struct arena *a, const char *tenant_id, int64_t *ret)
{
	struct limits_row row;
	int err = read_limits(db, a, tenant_id, &row);

	*ret = 0;
	if (!err && !row.canceled)
		err = count_left(db, AGENTS_COUNTED, tenant_id, row.max_agents, ret);
	return err;
}

int plan_sessions_left(struct db *db, const char *tenant_id, int64_t now, int64_t *ret)
{
	return db_int(db, &sql[PLAN_SESSIONS_LEFT], ret,
		ARGS(T(tenant_id), N(now / DAY_US), N(INT64_MAX)));
}

int plan_admits_agent(struct call *c)
{
	struct limits_row row;
	int64_t left = 0;
	int err = read_limits(c->db, c->arena, c->caller.tenant_id, &row);

	if (!err && row.canceled)
		return refuse_beyond_plan(c, 0, "agents: it is canceled");
	if (!err)
		err = count_left(c->db, AGENTS_COUNTED, c->caller.tenant_id, row.max_agents, &left);
	if (err)
		return err;
	return left <= 0 ? refuse_beyond_plan(c, row.max_agents, "agents") : 0;
}

int plan_admits_member(struct call *c)
{
	struct limits_row row;
	int64_t left = 0;
	int err = read_limits(c->db, c->arena, c->caller.tenant_id, &row);

	if (!err)
		err = count_left(
			c->db, MEMBERS_COUNTED, c->caller.tenant_id, row.max_members, &left);
	if (err)
		return err;
	return left <= 0 ? refuse_beyond_plan(c, row.max_members, "members") : 0;
}

int plan_settle(struct db *db, struct arena *a, const char *tenant_id)
{
	struct limits_row row;
	int64_t left = 0;
	int err = read_limits(db, a, tenant_id, &row);

	if (err)
		return err;
	if (row.canceled || row.max_agents == 0)
		return db_run(db, &sql[LIMIT_ALL], NULL, ARGS(T(tenant_id)));
	err = count_left(db, AGENTS_COUNTED, tenant_id, row.max_agents, &left);
	if (err)
		return err;
	if (left >= 0)
		return db_run(db, &sql[LIMIT_NONE], NULL, ARGS(T(tenant_id)));
	return db_run(db, &sql[LIMIT_BEHIND], NULL, ARGS(T(tenant_id), N(row.max_agents - 1)));
}

/* Every tenant on the plan, some at a time. */
static int settle_plan_tenants(struct call *c, const char *plan_id)
{
	enum { AT_A_TIME = 200 };
	const char *after = "";
	struct list rows;
	int err;

	do {
		err = db_all(c->db, c->arena, &sql[PLAN_TENANTS], &rows, AT_A_TIME,
			ARGS(T(plan_id), T(after), N(AT_A_TIME)));
		for (size_t i = 0; !err && i < rows.count; i++) {
			after = ((const struct plan_tenant_row *)rows.at)[i].id;
			err = plan_settle(c->db, c->arena, after);
		}
	} while (!err && rows.count == AT_A_TIME);
	return err;
}

LIST_OPERATION(listPlans, NONE, PlanRead)
{
	struct list rows;
	struct PlanRead *shown;
	int err = db_all(c->db, c->arena, &sql[PLAN_LIST], &rows, (size_t)c->page.per_page,
		ARGS(N(c->page.per_page), N((c->page.page - 1) * c->page.per_page)));

	if (!err && c->page.total)
		err = db_int(c->db, &sql[PLAN_COUNT], &c->total, NO_ARGS);
	shown = arena_array(c->arena, struct PlanRead, rows.count + 1);
	for (size_t i = 0; !err && i < rows.count; i++)
		show_plan_row((const struct plan_row *)rows.at + i, &shown[i]);
	c->items = (struct list){ shown, rows.count };
	return err;
}

OPERATION(readPlan, NONE, PlanRead)
{
	struct plan_row row;
	int err = db_one(c->db, c->arena, &sql[PLAN_READ], &row, ARGS(T(call_param(c, "plan_id"))));

	if (!err)
		show_plan_row(&row, out);
	return err;
}

OPERATION(createPlan, PlanCreate, PlanRead)
{
	struct plan_row row = { 0 };
	struct id id = id_new(&row.created_at.us);
	int err;

	schema_copy(&PlanCreate_schema, in, &plan_row_schema, &row);
	row.id = arena_strdup(c->arena, id.text);
	err = db_put(c->db, &sql[PLAN_INSERT], &row);
	if (err == ERR_DUPLICATE)
		return call_fail(
			c, ERR_TAKEN, "There is a plan with the slug %s already.", in->slug);
	show_plan_row(&row, out);
	return err;
}

OPERATION(updatePlan, PlanUpdate, PlanRead)
{
	struct plan_row before, after;
	int err = db_one(
		c->db, c->arena, &sql[PLAN_READ], &before, ARGS(T(call_param(c, "plan_id"))));

	if (err)
		return err;
	call_merge(c, CHANGE(plan_row, &before, &after));
	err = call_update(c, CHANGE(plan_row, &before, &after), &sql[PLAN_UPDATE]);
	show_plan_row(&after, out);
	return err ? err : settle_plan_tenants(c, after.id);
}

static const struct route routes[] = {
	{ METHOD_GET, "/admin/plans", &listPlans, PERM_SUPER, 200, .tag = "Super administrator",
		.doc = "List the plans, newest first." },
	{ METHOD_POST, "/admin/plans", &createPlan, PERM_SUPER, 201, "plan.create",
		.tag = "Super administrator", .doc = "Make a plan." },
	{ METHOD_GET, "/admin/plans/{plan_id}", &readPlan, PERM_SUPER, 200,
		.tag = "Super administrator", .doc = "Read a plan." },
	{ METHOD_PATCH, "/admin/plans/{plan_id}", &updatePlan, PERM_SUPER, 200, "plan.update",
		.tag = "Super administrator", .doc = "Change a plan for all tenants on it." },
};
RESOURCE(plans, routes, NULL, &plan_sql);

/* One of a few rows by chance, where several processes write; one writer alone needs only one. */
int tenant_count(struct db *db, const char *tenant_id, int agents, int members)
{
	enum { SHARDS = 8 };
	uint8_t chance = 0;

	if (!db_is_sqlite(db))
		random_bytes(&chance, sizeof chance);
	return db_run(db, &sql[COUNT_ADD], NULL,
		ARGS(T(tenant_id), N(chance % SHARDS), N(agents), N(members)));
}
