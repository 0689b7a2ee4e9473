/* admin_tenants.c - every tenant of the house as the super administrator sees it, with thirty days of use.
 *
 * Counts and use are sums of a few rows that are added to as things happen;
 * nothing here scans a tenant's own tables. */
#include <string.h>

#include "api/tenants/tenants.h"
#include "call/operation.h"
#include "api/plans/plans.h"
#include "base/clock.h"
#include "base/fold.h"
#include "mailboxes/mailbox_job.h"
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
	LIST_OF(ROSTER),
	LIST_OF(FOUND),
	LIST_OF(DELETED),
	DETAIL,
	DETAIL_UPDATE,
	ERASE_AT,
	RESTORE,
	USAGE,
	ACTIVE,
	AT_WORK
};

static const struct statement sql[] = {
	COUNTED_LISTING(ROSTER, "admin_tenants", &AdminTenantRead_schema, "{t.*}, " COUNTS,
		"tenants", "tenants t where t.id > ''", "t.id",
		.scan = "the roster, walked in the order of its key",
		.across = "the super administrator's roster"),
	LISTING(FOUND, "admin_tenants_found", &AdminTenantRead_schema, "{t.*}, " COUNTS,
		"tenants t where t.slug like $1 escape '!'", "t.id",
		.scan = "the roster, walked in the order of its key",
		.across = "the super administrator's roster"),
	LISTING(DELETED, "admin_tenants_deleted", &DeletedTenant_schema, "{t.*}",
		"tenants t where t.erase_at is not null", "t.id",
		.scan = "the few that are deleted"),
	[DETAIL] = { "admin_tenant",
		"select {t.*}, " COUNTS ", " LAST_ACTIVE " from tenants t where t.id = $1",
		.row = &AdminTenantDetailRead_schema },
	[DETAIL_UPDATE] = { "admin_tenant_update", "update tenants set {=} where id = :id",
		.row = &AdminTenantDetailRead_schema },
	[ERASE_AT] = { "admin_tenant_erase_at",
		"select coalesce(erase_at, -1) from tenants where id = $1" },
	[RESTORE] = { "admin_tenant_restore",
		"update tenants set status = coalesce(status_before, 'active'), status_before = null, "
		"erase_at = null, updated_at = $2 where id = $1 and erase_at > $2" },
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
	[AT_WORK] = { "admin_at_work",
		"select count(*) from sessions where tenant_id = $1 and status in "
		"('pending', 'running', 'waiting_approval') and run_id is not null "
		"and parent_session_id is null" },
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

LIST_OPERATION(listAllTenants, roster_query, AdminTenantRead)
{
	return in->q ? call_list(c, &sql[FOUND], ARGS(T(fold_pattern(c->arena, in->q))))
		     : call_list(c, &sql[ROSTER], NO_ARGS);
}

static int fill_usage(struct call *c, struct AdminTenantDetailRead *out)
{
	struct UsageSummary30d *use = arena_new(c->arena, struct UsageSummary30d);
	struct TaskSummary30d *task = arena_new(c->arena, struct TaskSummary30d);
	int64_t since = c->now / DAY_US - DAYS;
	struct usage_row row;
	int err = db_one(c->db, c->arena, &sql[USAGE], &row, ARGS(T(out->id), N(since)));

	if (!err)
		err = db_int(c->db, &sql[ACTIVE], &use->active_agents,
			ARGS(T(out->id), N(since), T("agent")));
	if (!err)
		err = db_int(c->db, &sql[ACTIVE], &use->active_users,
			ARGS(T(out->id), N(since), T("user")));
	if (!err)
		err = db_int(c->db, &sql[AT_WORK], &task->running, ARGS(T(out->id)));
	if (err)
		return err;
	schema_copy(&usage_row_schema, &row, &UsageSummary30d_schema, use);
	schema_copy(&usage_row_schema, &row, &TaskSummary30d_schema, task);
	use->cost_usd = money_sum(row.cost_whole, row.cost_pd);
	task->sessions -= task->subtasks; /* the sums hold both */
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

OPERATION(readAnyTenant, NONE, AdminTenantDetailRead)
{
	return show_tenant(c, out);
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

static int refuse_tenant(struct call *c, const char *code, const char *sentence)
{
	c->problem.code = code;
	return call_fail(c, ERR_CONFLICT, "%s", sentence);
}

/* A status would bring it back halfway: its erase_at would stand. */
static int check_not_deleted(struct call *c, const char *tenant_id)
{
	int64_t erase_at = -1;
	int err = db_int(c->db, &sql[ERASE_AT], &erase_at, ARGS(T(tenant_id)));

	if (err || erase_at < 0)
		return err;
	return refuse_tenant(c, "deleted",
		"This tenant is deleted; POST /admin/tenants/{tenant_id}/restore brings it back.");
}

CHECK_STEP(updateAnyTenant, AdminTenantUpdate)
{
	plan_check_id(c, in->plan_id);
}

OPERATION(updateAnyTenant, AdminTenantUpdate, AdminTenantDetailRead, .check = updateAnyTenant_check)
{
	struct AdminTenantDetailRead before;
	struct PlanRead plan;
	int err = show_tenant(c, &before);

	if (err)
		return err;
	call_merge(c, CHANGE(AdminTenantDetailRead, &before, out));
	settle_status(in, out);
	if (out->status != before.status)
		err = check_not_deleted(c, out->id);
	if (err)
		return err;
	err = plan_show(c, out->plan_id, &plan);
	if (err == ERR_NOT_FOUND)
		return call_field(c, "plan_id", "unknown", "is not the id of a plan");
	*out->plan = plan;
	c->audit.tenant_id = out->id;
	if (!err)
		err = call_update(
			c, CHANGE(AdminTenantDetailRead, &before, out), &sql[DETAIL_UPDATE]);
	if (!err && out->external_mail_enabled != before.external_mail_enabled)
		err = mailbox_job_add(c->db, c->arena, out->id, c->now);
	return err ? err : plan_settle(c->db, c->arena, out->id);
}

/* Everything is still there until its time has come; from then on some of it may be gone. */
OPERATION(restoreTenant, NONE, AdminTenantDetailRead)
{
	struct AdminTenantDetailRead before;
	int64_t changed = 0, erase_at = -1;
	int err = show_tenant(c, &before);

	if (!err)
		err = db_int(c->db, &sql[ERASE_AT], &erase_at, ARGS(T(before.id)));
	if (!err && erase_at < 0)
		return refuse_tenant(c, "not_deleted", "This tenant is not deleted.");
	if (!err)
		err = db_run(c->db, &sql[RESTORE], &changed, ARGS(T(before.id), N(c->now)));
	if (!err && !changed)
		return refuse_tenant(c, "erasing",
			"The time to restore this tenant is over; its rows are being erased.");
	if (!err)
		err = show_tenant(c, out);
	c->audit.tenant_id = before.id;
	if (!err)
		call_changed(c, &AdminTenantDetailRead_schema, &before, out);
	return err;
}

LIST_OPERATION(listDeletedTenants, NONE, DeletedTenant)
{
	return call_list(c, &sql[DELETED], NO_ARGS);
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
	{ METHOD_GET, "/admin/deleted-tenants", &listDeletedTenants, PERM_SUPER, 200,
		.tag = "Super administrator",
		.doc = "Tenants that were deleted and are not erased yet, newest first." },
	{ METHOD_POST, "/admin/tenants/{tenant_id}/restore", &restoreTenant, PERM_SUPER, 200,
		"tenant.restore", .tag = "Super administrator",
		.doc = "Bring a deleted tenant back as it was, until its erase_at; then 409." },
};
RESOURCE(admin_tenants, routes, NULL, &admin_tenant_sql);
