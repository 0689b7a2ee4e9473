/* tenants.c - tenants as their own members see them. */
#include "api/tenants/tenants.h"

#include <string.h>

#include "call/operation.h"
#include "api/tenants/bootstrap.h"
#include "api/tenants/erase.h"
#include "api/plans/plans.h"
#include "api/skills/skills.h"
#include "base/clock.h"
#include "mail/reserved.h"
#include "mailboxes/mailbox_job.h"
#include "store/listing.h"

#define SUSPENDED(t) "case when " t ".status = 'suspended' then 1 else 0 end as is_suspended"

#define COLUMNS "{t.*}, " SUSPENDED("t")
/* $1 user, $2 the tenant a key is bound to, or null */
#define OF_MEMBER                                                              \
	"members m join tenants t on t.id = m.tenant_id where m.user_id = $1 " \
	"and m.status = 'active' "                                             \
	"and t.status <> 'closed' and (cast($2 as text) is null or m.tenant_id = $2)"

enum {
	LIST_OF(TENANT_LIST),
	LIST_OF(TENANT_ALL),
	TENANT_READ,
	TENANT_UPDATE,
	TENANT_CLOSE,
};

static const struct statement sql[] = {
	LISTING(TENANT_LIST, "tenant_list", &TenantRead_schema, COLUMNS, OF_MEMBER, "m.tenant_id",
		.across = "the tenants of one user"),
	LISTING(TENANT_ALL, "tenant_all", &TenantRead_schema, COLUMNS,
		"tenants t where t.status <> 'closed'", "t.id",
		.scan = "the roster, walked in the order of its key"),
	[TENANT_READ] = { "tenant_read",
		"select {t.*}, " SUSPENDED("t") " from tenants t where t.id = $1",
		.row = &TenantRead_schema },
	[TENANT_CLOSE] = { "tenant_close",
		"update tenants set status_before = status, status = 'closed', erase_at = $3, "
		"updated_at = $2 where id = $1" },
	[TENANT_UPDATE] = { "tenant_update", "update tenants set {=} where id = :id",
		.row = &TenantRead_schema },
};
STATEMENT_SET(tenant_sql, sql);

LIST_OPERATION(listTenants, NONE, TenantRead)
{
	const struct caller *who = &c->caller;
	bool all = who->is_super_admin && who->kind == CREDENTIAL_LOGIN;
	const char *only = who->key_tenant_id;

	if (all)
		return call_list(c, &sql[TENANT_ALL], NO_ARGS);
	/* A key shows its own tenant, and that only if its scopes let it be read. */
	if (who->kind == CREDENTIAL_KEY && !(who->tenant >> PERM_TENANT_READ & 1))
		only = "";
	return call_list(c, &sql[TENANT_LIST], ARGS(T(who->user_id), T(only)));
}

OPERATION(readTenant, NONE, TenantRead)
{
	return db_one(c->db, c->arena, &sql[TENANT_READ], out, ARGS(T(c->caller.tenant_id)));
}

static bool may_make(const struct call *c)
{
	return c->caller.kind == CREDENTIAL_LOGIN &&
	       (c->caller.is_super_admin || c->app->settings.open_tenants);
}

/* It would be a part of addresses of mail. */
static int check_tenant_slug(struct call *c, const char *slug)
{
	return slug && mail_reserved_label(slug)
		       ? call_field(c, "slug", "reserved",
				 "is reserved: it is the name of a machine, or speaks for the service")
		       : 0;
}

/* Nobody else is told which plans there are. */
CHECK_STEP(createTenant, TenantCreate)
{
	if (may_make(c))
		plan_check_id(c, in->plan_id);
	check_tenant_slug(c, in->slug);
}

OPERATION(createTenant, TenantCreate, TenantRead, .check = createTenant_check)
{
	int err;

	if (!may_make(c))
		return call_fail(c, ERR_FORBIDDEN, "Only super administrators make tenants here.");
	err = check_tenant_slug(c, in->slug);
	if (!err)
		err = tenant_make(c->db, c->arena, in, c->caller.user_id, TENANT_SEEDED, &out->id);
	if (err == ERR_DUPLICATE)
		return call_fail(
			c, ERR_TAKEN, "There is a tenant with the slug %s already.", in->slug);
	if (err == ERR_NOT_FOUND)
		return call_field(c, "plan_id", "unknown", "is not the id of a plan");
	if (!err)
		err = db_one(c->db, c->arena, &sql[TENANT_READ], out, ARGS(T(out->id)));
	c->audit.tenant_id = out->id;
	c->location = arena_printf(c->arena, "/tenant/%s", out->id);
	return err;
}

OPERATION(updateTenant, TenantUpdate, TenantRead)
{
	struct TenantRead before;
	int err = db_one(c->db, c->arena, &sql[TENANT_READ], &before, ARGS(T(c->caller.tenant_id)));

	if (err)
		return err;
	if (schema_present(&TenantUpdate_schema, in, "allow_superadmin_access") &&
		c->caller.role != ROLE_OWNER)
		return call_fail(c, ERR_FORBIDDEN,
			"Only an OWNER of the tenant changes allow_superadmin_access.");
	call_merge(c, CHANGE(TenantRead, &before, out));
	err = call_update(c, CHANGE(TenantRead, &before, out), &sql[TENANT_UPDATE]);
	if (!err && out->external_mail_enabled != before.external_mail_enabled)
		err = mailbox_job_add(c->db, c->arena, out->id, c->now);
	return err;
}

/* It is closed from this moment on; erase.c removes what it leaves when its time has come. */
OPERATION(deleteTenant, NONE, NONE)
{
	int64_t delay = c->app->settings.erase_delay_us;

	c->audit.resource_id = c->caller.tenant_id;
	c->audit.meta =
		arena_printf(c->arena, "{\"erase_after_s\":%lld}", (long long)(delay / SECOND_US));
	if (!delay)
		c->afterwards = erase_submit;
	return db_run(c->db, &sql[TENANT_CLOSE], NULL,
		ARGS(T(c->caller.tenant_id), N(c->now), N(c->now + delay)));
}

static const struct route routes[] = {
	{ METHOD_GET, "/tenants", &listTenants, PERM_LOGIN, 200, .tag = "Tenants",
		.doc = "List the tenants the caller belongs to; a super administrator sees all." },
	{ METHOD_POST, "/tenants", &createTenant, PERM_LOGIN, 201, "tenant.create",
		.tag = "Tenants", .doc = "Create a tenant; the caller becomes its OWNER." },
	{ METHOD_GET, "/tenant/{tenant_id}", &readTenant, PERM_TENANT_READ, 200, .tag = "Tenants",
		.doc = "Read a tenant." },
	{ METHOD_PATCH, "/tenant/{tenant_id}", &updateTenant, PERM_TENANT_WRITE, 200,
		"tenant.update", .tag = "Tenants", .doc = "Change the fields that are sent." },
	{ METHOD_DELETE, "/tenant/{tenant_id}", &deleteTenant, PERM_TENANT_DELETE, 204,
		"tenant.delete", .tag = "Tenants",
		.doc = "Delete a tenant: it is closed at once, and everything in it is erased after "
		       "erase_delay (30 days), until when a super administrator can restore it. "
		       "Audit rows stay, without personal data." },
};
RESOURCE(tenants, routes, NULL, &tenant_sql);
