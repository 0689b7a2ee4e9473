/* tenants.c - tenants as their own members see them. */
#include "api/tenants.h"

#include <string.h>

#include "api/api.h"
#include "api/bootstrap.h"
#include "api/erase.h"
#include "api/skills.h"
#include "store/listing.h"

#define SUSPENDED(t) "case when " t ".status = 'suspended' then 1 else 0 end as is_suspended"

#define COLUMNS "{t.*}, " SUSPENDED("t")
/* $1 user, $2 the tenant a key is bound to, or null */
#define OF_MEMBER                                                              \
	"members m join tenants t on t.id = m.tenant_id where m.user_id = $1 " \
	"and t.status <> 'closed' and (cast($2 as text) is null or m.tenant_id = $2)"

enum {
	TENANT_LIST,
	TENANT_ALL = TENANT_LIST + LIST_SORTS,
	TENANT_READ = TENANT_ALL + LIST_SORTS,
	TENANT_UPDATE,
	TENANT_CLOSE,
};

static const struct statement sql[] = {
	LIST_STATEMENTS(
		"tenant_list", &TenantRead_schema, COLUMNS, OF_MEMBER, "m.tenant_id", "3", "4"),
	LIST_STATEMENTS("tenant_all", &TenantRead_schema, COLUMNS,
		"tenants t where t.status <> 'closed'", "t.id", "1", "2",
		.scan = "the roster, walked in the order of its key"),
	[TENANT_READ] = { "tenant_read",
		"select {t.*}, " SUSPENDED("t") " from tenants t where t.id = $1",
		.row = &TenantRead_schema },
	[TENANT_CLOSE] = { "tenant_close",
		"update tenants set status = 'closed', updated_at = $2 where id = $1" },
	[TENANT_UPDATE] = { "tenant_update", "update tenants set {=} where id = {$id}",
		.row = &TenantRead_schema },
};
STATEMENT_SET(tenant_sql, sql);

OPERATION(listTenants, .list = true, .reply = &TenantRead_schema)
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

OPERATION(readTenant, .reply = &TenantRead_schema)
{
	return db_one(c->db, c->arena, &sql[TENANT_READ], c->reply, ARGS(T(c->caller.tenant_id)));
}

OPERATION(createTenant, .body = &TenantCreate_schema, .reply = &TenantRead_schema)
{
	const struct TenantCreate *in = c->body;
	struct TenantRead *out = c->reply;
	int err;

	if (c->caller.kind != CREDENTIAL_LOGIN ||
		(!c->caller.is_super_admin && !c->app->settings.open_tenants))
		return call_fail(c, ERR_FORBIDDEN, "Only super administrators make tenants here.");
	err = tenant_make(c->db, c->arena, in, c->caller.user_id, TENANT_SEEDED, &out->id);
	if (err == ERR_DUPLICATE)
		return call_fail(
			c, ERR_TAKEN, "There is a tenant with the slug %s already.", in->slug);
	if (err == ERR_NOT_FOUND)
		return call_field(c, "plan_id", "unknown", "is not the id of a plan");
	if (!err)
		err = db_one(c->db, c->arena, &sql[TENANT_READ], out, ARGS(T(out->id)));
	c->audit.resource_id = c->audit.tenant_id = out->id;
	c->location = arena_printf(c->arena, "/tenant/%s", out->id);
	return err;
}

OPERATION(updateTenant, .body = &TenantUpdate_schema, .reply = &TenantRead_schema)
{
	const struct TenantUpdate *in = c->body;
	const struct field *owners_only =
		schema_field(&TenantUpdate_schema, "allow_superadmin_access", 23);
	struct TenantRead before, *after = c->reply;
	int err = db_one(c->db, c->arena, &sql[TENANT_READ], &before, ARGS(T(c->caller.tenant_id)));

	if (err)
		return err;
	if (in->got >> (owners_only - TenantUpdate_schema.fields) & 1 &&
		c->caller.role != ROLE_OWNER)
		return call_fail(c, ERR_FORBIDDEN,
			"Only an OWNER of the tenant changes allow_superadmin_access.");
	*after = before;
	schema_patch(&TenantUpdate_schema, in, &TenantRead_schema, after);
	call_changed(c, &TenantRead_schema, &before, after);
	after->updated_at.us = c->now > before.updated_at.us ? c->now : before.updated_at.us + 1;
	c->audit.resource_id = after->id;
	return db_put(c->db, c->arena, &sql[TENANT_UPDATE], after);
}

/* It is gone from this moment on; erase.c removes what it leaves. */
OPERATION(deleteTenant)
{
	c->audit.resource_id = c->caller.tenant_id;
	erase_submit(c->app);
	return db_run(c->db, &sql[TENANT_CLOSE], NULL, ARGS(T(c->caller.tenant_id), N(c->now)));
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
		.doc = "Delete a tenant and everything in it; audit rows stay, without personal data." },
};
RESOURCE(tenants, routes, tenants_schemas);
