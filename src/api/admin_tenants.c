/* admin_tenants.c - every tenant of the house as the super administrator sees it, with thirty days of use.
 *
 * Counts and use are sums of a few rows that are added to as things happen;
 * nothing here scans a tenant's own tables. */
#include <string.h>

#include "api/api.h"
#include "api/plans.h"
#include "base/clock.h"
#include "base/fold.h"
#include "store/listing.h"

#define DAYS 30

#define COUNTS                                                                                \
	"(select coalesce(sum(n.members), 0) from tenant_counts n where n.tenant_id = t.id) " \
	"as member_count, "                                                                   \
	"(select coalesce(sum(n.agents), 0) from tenant_counts n where n.tenant_id = t.id) "  \
	"as agent_count, case when t.status = 'suspended' then 1 else 0 end as is_suspended"
#define LAST_ACTIVE                                                        \
	"(select l.created_at from audit_logs l where l.tenant_id = t.id " \
	"order by l.id desc limit 1) as last_active_at"

struct usage_row {
	int64_t requests, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens;
	int64_t cost_whole, cost_pd;
	int64_t sessions, completed, failed, cancelled, messages, subtasks;
};

FIELDS(usage_row) = {
	FIELD(usage_row, requests),
	FIELD(usage_row, input_tokens),
	FIELD(usage_row, output_tokens),
	FIELD(usage_row, cache_read_tokens),
	FIELD(usage_row, cache_write_tokens),
	FIELD(usage_row, cost_whole),
	FIELD(usage_row, cost_pd),
	FIELD(usage_row, sessions),
	FIELD(usage_row, completed),
	FIELD(usage_row, failed),
	FIELD(usage_row, cancelled),
	FIELD(usage_row, messages),
	FIELD(usage_row, subtasks),
};
static SCHEMA(usage_row, .internal = true);

#define SUM(column, name) "cast(coalesce(sum(" column "), 0) as bigint) as " name

enum {
	ROSTER,
	FOUND = ROSTER + LIST_SORTS,
	DETAIL = FOUND + LIST_SORTS,
	DETAIL_UPDATE,
	USAGE,
	ACTIVE
};

static const struct statement sql[] = {
	COUNTED_LIST("admin_tenants", &AdminTenantRead_schema, "{t.*}, " COUNTS, "tenants",
		"tenants t where t.id > ''", "t.id", "1", "2",
		.scan = "the roster, walked in the order of its key"),
	LIST_STATEMENTS("admin_tenants_found", &AdminTenantRead_schema, "{t.*}, " COUNTS,
		"tenants t where t.slug like $1 escape '!'", "t.id", "2", "3",
		.scan = "the roster, walked in the order of its key"),
	[DETAIL] = { "admin_tenant",
		"select {t.*}, " COUNTS ", " LAST_ACTIVE " from tenants t where t.id = $1",
		.row = &AdminTenantDetailRead_schema },
	[DETAIL_UPDATE] = { "admin_tenant_update", "update tenants set {=} where id = {$id}",
		.row = &AdminTenantDetailRead_schema },
	[USAGE] = { "admin_usage",
		"select " SUM("requests", "requests") ", " SUM(
			"input_tokens", "input_tokens") ", " SUM("output_tokens",
			"output_tokens") ", " SUM("cache_read_tokens",
			"cache_read_tokens") ", " SUM("cache_write_tokens",
			"cache_write_tokens") ", " SUM("cost_whole",
			"cost_whole") ", " SUM("cost_pd", "cost_pd") ", " SUM("sessions",
			"sessions") ", " SUM("sessions_completed",
			"completed") ", " SUM("sessions_failed",
			"failed") ", " SUM("sessions_cancelled", "cancelled") ", " SUM("messages",
			"messages") ", " SUM("subtasks",
			"subtasks") " from usage_days where tenant_id = $1 and day > $2",
		.row = &usage_row_schema },
	[ACTIVE] = { "admin_active",
		"select count(distinct id) from active_days where tenant_id = $1 and day > $2 and kind = $3" },
};
STATEMENT_SET(admin_tenant_sql, sql);

struct roster_query {
	const char *q;
};

FIELDS(roster_query) = {
	FIELD(roster_query, q, .nullable = true, BOUNDS(1, 64),
		.doc = "Only tenants whose slug contains this."),
};
static SCHEMA(roster_query, .doc = "Filters of the roster.");

OPERATION(listAllTenants, .list = true, .reply = &AdminTenantRead_schema,
	.query = &roster_query_schema)
{
	const struct roster_query *in = c->query;

	return in->q ? call_list(c, &sql[FOUND], ARGS(T(fold_pattern(c->arena, in->q))))
		     : call_list(c, &sql[ROSTER], NO_ARGS);
}

static int fill_usage(struct call *c, struct AdminTenantDetailRead *out)
{
	struct UsageSummary30d *use = arena_new(c->arena, struct UsageSummary30d);
	struct TaskSummary30d *task = arena_new(c->arena, struct TaskSummary30d);
	int64_t since = c->now / (86400 * SECOND_US) - DAYS;
	struct usage_row row;
	int err = db_one(c->db, c->arena, &sql[USAGE], &row, ARGS(T(out->id), N(since)));

	if (!err)
		err = db_int(c->db, &sql[ACTIVE], &use->active_agents,
			ARGS(T(out->id), N(since), T("agent")));
	if (!err)
		err = db_int(c->db, &sql[ACTIVE], &use->active_users,
			ARGS(T(out->id), N(since), T("user")));
	if (err)
		return err;
	schema_copy(&usage_row_schema, &row, &UsageSummary30d_schema, use);
	schema_copy(&usage_row_schema, &row, &TaskSummary30d_schema, task);
	use->cost_usd = (double)row.cost_whole + (double)row.cost_pd / 1e12;
	task->running = row.sessions - row.completed - row.failed - row.cancelled;
	out->usage_summary_30d = use;
	out->task_summary_30d = task;
	return 0;
}

static int show_tenant(struct call *c, struct AdminTenantDetailRead *out)
{
	int err = db_one(c->db, c->arena, &sql[DETAIL], out, ARGS(T(call_param(c, "tenant_id"))));

	if (err)
		return err;
	out->plan = arena_new(c->arena, struct PlanRead);
	err = plan_show(c, out->plan_id, out->plan);
	return err ? err : fill_usage(c, out);
}

OPERATION(readAnyTenant, .reply = &AdminTenantDetailRead_schema)
{
	return show_tenant(c, c->reply);
}

/* is_suspended and status are one state. */
static void settle_status(const struct AdminTenantUpdate *in, struct AdminTenantDetailRead *row)
{
	if (in->is_suspended == 1)
		row->status = TenantStatus_suspended;
	else if (in->is_suspended == 0 && row->status == TenantStatus_suspended)
		row->status = TenantStatus_active;
	row->is_suspended = row->status == TenantStatus_suspended;
}

OPERATION(
	updateAnyTenant, .body = &AdminTenantUpdate_schema, .reply = &AdminTenantDetailRead_schema)
{
	struct AdminTenantDetailRead before, *after = c->reply;
	struct PlanRead plan;
	int err = show_tenant(c, &before);

	if (err)
		return err;
	*after = before;
	schema_patch(&AdminTenantUpdate_schema, c->body, &AdminTenantDetailRead_schema, after);
	settle_status(c->body, after);
	err = plan_show(c, after->plan_id, &plan);
	if (err == ERR_NOT_FOUND)
		return call_field(c, "plan_id", "unknown", "is not the id of a plan");
	*after->plan = plan;
	call_changed(c, &AdminTenantDetailRead_schema, &before, after);
	after->updated_at.us = c->now > before.updated_at.us ? c->now : before.updated_at.us + 1;
	c->audit.resource_id = c->audit.tenant_id = after->id;
	if (!err)
		err = db_put(c->db, c->arena, &sql[DETAIL_UPDATE], after);
	return err ? err : plan_settle(c->db, c->arena, after->id);
}

static const struct route routes[] = {
	{ METHOD_GET, "/admin/tenants", &listAllTenants, PERM_SUPER, 200,
		.tag = "Super administrator", .doc = "Every tenant, newest first." },
	{ METHOD_GET, "/admin/tenants/{tenant_id}", &readAnyTenant, PERM_SUPER, 200,
		.tag = "Super administrator",
		.doc = "A tenant with its plan and thirty days of use." },
	{ METHOD_PATCH, "/admin/tenants/{tenant_id}", &updateAnyTenant, PERM_SUPER, 200,
		"tenant.administer", .tag = "Super administrator",
		.doc = "Change a tenant's plan or state." },
};
RESOURCE(admin_tenants, routes, NULL);
