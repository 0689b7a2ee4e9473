/* plans.c - what tenants may have and what it costs; made and changed by super administrators. */
#include "api/plans.h"

#include <math.h>
#include <string.h>

#include "api/api.h"
#include "store/listing.h"

#define PICO 1e12

struct plan_row {
	const char *id, *name, *slug;
	int64_t monthly_price_pd, max_agents, max_members, max_sessions_per_day;
	struct moment created_at;
};

FIELDS(plan_row) = {
	FIELD(plan_row, id),
	FIELD(plan_row, name),
	FIELD(plan_row, slug),
	FIELD(plan_row, monthly_price_pd),
	FIELD(plan_row, max_agents, .nullable = true),
	FIELD(plan_row, max_members, .nullable = true),
	FIELD(plan_row, max_sessions_per_day, .nullable = true),
	FIELD(plan_row, created_at),
};
static SCHEMA(plan_row, .internal = true);

struct limits_row {
	int64_t max_agents, max_members, agents, members;
	bool canceled;
};

FIELDS(limits_row) = {
	FIELD(limits_row, max_agents, .nullable = true),
	FIELD(limits_row, max_members, .nullable = true),
	FIELD(limits_row, agents),
	FIELD(limits_row, members),
	FIELD(limits_row, canceled),
};
static SCHEMA(limits_row, .internal = true);

struct tenant_row {
	const char *id;
};

FIELDS(tenant_row) = { FIELD(tenant_row, id) };
static SCHEMA(tenant_row, .internal = true);

enum {
	PLAN_LIST,
	PLAN_READ,
	PLAN_INSERT,
	PLAN_UPDATE,
	PLAN_COUNT,
	PLAN_LIMITS,
	PLAN_TENANTS,
	LIMIT_NONE,
	LIMIT_ALL,
	LIMIT_BEHIND,
};

static const struct statement sql[] = {
	[PLAN_LIST] = { "plan_list", "select {*} from plans order by id desc limit $1 offset $2",
		.row = &plan_row_schema, .scan = "there are a handful of plans" },
	[PLAN_READ] = { "plan_read", "select {*} from plans where id = $1",
		.row = &plan_row_schema },
	[PLAN_INSERT] = { "plan_create", "insert into plans ({*}) values ({$})",
		.row = &plan_row_schema },
	[PLAN_UPDATE] = { "plan_update", "update plans set {=} where id = {$id}",
		.row = &plan_row_schema },
	[PLAN_LIMITS] = { "plan_limits",
		"select p.max_agents, p.max_members, "
		"case when t.plan_status = 'canceled' then 1 else 0 end as canceled, "
		"(select coalesce(sum(n.agents), 0) from tenant_counts n where n.tenant_id = t.id) "
		"as agents, "
		"(select coalesce(sum(n.members), 0) from tenant_counts n where n.tenant_id = t.id) "
		"as members from tenants t join plans p on p.id = t.plan_id where t.id = $1",
		.row = &limits_row_schema },
	[PLAN_TENANTS] = { "plan_tenants",
		"select id from tenants where plan_id = $1 and id > $2 order by id limit $3",
		.row = &tenant_row_schema },
	[LIMIT_NONE] = { "limit_none",
		"update tenants set read_only_after = null where id = $1 and read_only_after is not null" },
	[LIMIT_ALL] = { "limit_all", "update tenants set read_only_after = '' where id = $1" },
	[LIMIT_BEHIND] = { "limit_behind",
		"update tenants set read_only_after = (select a.id from agents a where a.tenant_id = $1 "
		"order by a.id limit 1 offset $2) where id = $1" },
	[PLAN_COUNT] = { "plan_count", "select count(*) from plans",
		.scan = "there are a handful of plans" },
};
STATEMENT_SET(plan_sql, sql);

static void show(const struct plan_row *row, struct PlanRead *out)
{
	schema_copy(&plan_row_schema, row, &PlanRead_schema, out);
	out->monthly_price_usd = (double)row->monthly_price_pd / PICO;
}

int plan_show(struct call *c, const char *plan_id, struct PlanRead *out)
{
	struct plan_row row;
	int err = db_one(c->db, c->arena, &sql[PLAN_READ], &row, ARGS(T(plan_id)));

	if (!err)
		show(&row, out);
	return err;
}

static int read_limits(
	struct db *db, struct arena *a, const char *tenant_id, struct limits_row *ret)
{
	return db_one(db, a, &sql[PLAN_LIMITS], ret, ARGS(T(tenant_id)));
}

static int beyond(struct call *c, int64_t most, const char *what)
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
		*ret = row.max_agents == NIL ? INT64_MAX : row.max_agents - row.agents;
	return err;
}

int plan_admits_agent(struct call *c)
{
	struct limits_row row;
	int err = read_limits(c->db, c->arena, c->caller.tenant_id, &row);

	if (err)
		return err;
	if (row.canceled)
		return beyond(c, 0, "agents: it is canceled");
	return row.max_agents != NIL && row.agents >= row.max_agents
		       ? beyond(c, row.max_agents, "agents")
		       : 0;
}

int plan_admits_member(struct call *c)
{
	struct limits_row row;
	int err = read_limits(c->db, c->arena, c->caller.tenant_id, &row);

	if (err)
		return err;
	return row.max_members != NIL && row.members >= row.max_members
		       ? beyond(c, row.max_members, "members")
		       : 0;
}

int plan_settle(struct db *db, struct arena *a, const char *tenant_id)
{
	struct limits_row row;
	int err = read_limits(db, a, tenant_id, &row);

	if (err)
		return err;
	if (row.canceled || row.max_agents == 0)
		return db_run(db, &sql[LIMIT_ALL], NULL, ARGS(T(tenant_id)));
	if (row.max_agents == NIL || row.agents <= row.max_agents)
		return db_run(db, &sql[LIMIT_NONE], NULL, ARGS(T(tenant_id)));
	return db_run(db, &sql[LIMIT_BEHIND], NULL, ARGS(T(tenant_id), N(row.max_agents - 1)));
}

/* Every tenant on the plan, some at a time. */
static int settle_all(struct call *c, const char *plan_id)
{
	enum { AT_A_TIME = 200 };
	const char *after = "";
	struct list rows;
	int err;

	do {
		err = db_all(c->db, c->arena, &sql[PLAN_TENANTS], &rows, AT_A_TIME,
			ARGS(T(plan_id), T(after), N(AT_A_TIME)));
		for (size_t i = 0; !err && i < rows.count; i++) {
			after = ((const struct tenant_row *)rows.at)[i].id;
			err = plan_settle(c->db, c->arena, after);
		}
	} while (!err && rows.count == AT_A_TIME);
	return err;
}

OPERATION(listPlans, .list = true, .reply = &PlanRead_schema)
{
	struct list rows;
	struct PlanRead *shown;
	int err = db_all(c->db, c->arena, &sql[PLAN_LIST], &rows, (size_t)c->page.per_page,
		ARGS(N(c->page.per_page), N((c->page.page - 1) * c->page.per_page)));

	if (!err && c->page.total)
		err = db_int(c->db, &sql[PLAN_COUNT], &c->total, NO_ARGS);
	shown = arena_array(c->arena, struct PlanRead, rows.count + 1);
	for (size_t i = 0; !err && i < rows.count; i++)
		show((const struct plan_row *)rows.at + i, &shown[i]);
	c->items = (struct list){ shown, rows.count };
	return err;
}

OPERATION(createPlan, .body = &PlanCreate_schema, .reply = &PlanRead_schema)
{
	const struct PlanCreate *in = c->body;
	struct plan_row row = { 0 };
	struct id id = id_new(&row.created_at.us);
	int err;

	schema_copy(&PlanCreate_schema, in, &plan_row_schema, &row);
	row.id = c->audit.resource_id = arena_strdup(c->arena, id.text);
	row.monthly_price_pd = llround(in->monthly_price_usd * PICO);
	err = db_put(c->db, c->arena, &sql[PLAN_INSERT], &row);
	if (err == ERR_DUPLICATE)
		return call_fail(
			c, ERR_TAKEN, "There is a plan with the slug %s already.", in->slug);
	show(&row, c->reply);
	c->location = arena_printf(c->arena, "/admin/plans/%s", row.id);
	return err;
}

OPERATION(updatePlan, .body = &PlanUpdate_schema, .reply = &PlanRead_schema)
{
	const struct PlanUpdate *in = c->body;
	const struct field *price = schema_field(&PlanUpdate_schema, "monthly_price_usd", 17);
	struct plan_row before, after;
	int err = db_one(
		c->db, c->arena, &sql[PLAN_READ], &before, ARGS(T(call_param(c, "plan_id"))));

	if (err)
		return err;
	after = before;
	schema_patch(&PlanUpdate_schema, in, &plan_row_schema, &after);
	if (in->got >> (price - PlanUpdate_schema.fields) & 1)
		after.monthly_price_pd = llround(in->monthly_price_usd * PICO);
	call_changed(c, &plan_row_schema, &before, &after);
	c->audit.resource_id = after.id;
	show(&after, c->reply);
	err = db_put(c->db, c->arena, &sql[PLAN_UPDATE], &after);
	return err ? err : settle_all(c, after.id);
}

static const struct route routes[] = {
	{ METHOD_GET, "/admin/plans", &listPlans, PERM_SUPER, 200, .tag = "Super administrator",
		.doc = "List the plans, newest first." },
	{ METHOD_POST, "/admin/plans", &createPlan, PERM_SUPER, 201, "plan.create",
		.tag = "Super administrator", .doc = "Make a plan." },
	{ METHOD_PATCH, "/admin/plans/{plan_id}", &updatePlan, PERM_SUPER, 200, "plan.update",
		.tag = "Super administrator", .doc = "Change a plan for all tenants on it." },
};
RESOURCE(plans, routes, NULL);
