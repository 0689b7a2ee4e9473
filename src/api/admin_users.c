/* admin_users.c - every user of the house, as the super administrator sees them. */
#include <string.h>

#include "api/api.h"
#include "api/users.h"
#include "base/fold.h"
#include "store/listing.h"

struct user_row {
	const char *id, *email, *name;
	bool is_super_admin, is_suspended;
	int64_t tenant_count;
	const char *tenant_id, *tenant_name, *tenant_role;
	struct moment created_at, last_login_at;
};

FIELDS(user_row) = {
	FIELD(user_row, id),
	FIELD(user_row, email),
	FIELD(user_row, name, .nullable = true),
	FIELD(user_row, is_super_admin),
	FIELD(user_row, is_suspended),
	FIELD(user_row, tenant_count),
	FIELD(user_row, tenant_id, .nullable = true),
	FIELD(user_row, tenant_name, .nullable = true),
	FIELD(user_row, tenant_role, .nullable = true),
	FIELD(user_row, created_at),
	FIELD(user_row, last_login_at, .nullable = true),
};
static SCHEMA(user_row, .internal = true);

/* The primary tenant is the oldest membership. */
#define COLUMNS                                                                                    \
	"u.id, u.email, u.name, u.is_super_admin, u.is_suspended, u.created_at, u.last_login_at, " \
	"(select count(*) from members n where n.user_id = u.id) as tenant_count, "                \
	"m.tenant_id, t.name as tenant_name, m.role as tenant_role"
#define USERS                                                                \
	"users u left join members m on m.user_id = u.id and m.tenant_id = " \
	"(select o.tenant_id from members o where o.user_id = u.id "         \
	"order by o.created_at, o.tenant_id limit 1) left join tenants t on t.id = m.tenant_id "
#define MATCHING "where u.email_folded like $1 escape '!'"
#define ROSTER                                                \
	.scan = "the roster, walked in the order of its key", \
	.across = "the super administrator's roster"

enum {
	USER_LIST,
	USER_FIND = USER_LIST + LIST_SORTS,
	USER_READ = USER_FIND + LIST_SORTS,
	USER_SET,
	SUPER_COUNT
};

static const struct statement sql[] = {
	COUNTED_LIST("admin_users", &user_row_schema, COLUMNS, "users", USERS "where u.id > ''",
		"u.id", "1", "2", ROSTER),
	COUNTED_LIST("admin_users_found", &user_row_schema, COLUMNS, "users u " MATCHING,
		USERS MATCHING, "u.id", "2", "3", ROSTER),
	[USER_READ] = { "admin_user", "select " COLUMNS " from " USERS "where u.id = $1",
		.row = &user_row_schema, .across = "one user's oldest membership" },
	[USER_SET] = { "admin_user_set",
		"update users set is_suspended = $2, is_super_admin = $3, updated_at = $4 where id = $1" },
	[SUPER_COUNT] = { "super_count",
		"select count(*) from users where is_super_admin = 1 and is_suspended = 0",
		.scan = "asked only when a super administrator is demoted" },
};
STATEMENT_SET(admin_user_sql, sql);

static void show(struct call *c, const struct user_row *row, struct AdminUserRow *out)
{
	schema_copy(&user_row_schema, row, &AdminUserRow_schema, out);
	out->primary_tenant = NULL;
	if (!row->tenant_id)
		return;
	out->primary_tenant = arena_new(c->arena, struct AdminUserPrimaryTenant);
	*out->primary_tenant = (struct AdminUserPrimaryTenant){ row->tenant_id, row->tenant_name,
		row->tenant_role };
}

struct users_query {
	const char *q;
};

FIELDS(users_query) = {
	FIELD(users_query, q, .nullable = true, BOUNDS(1, 255),
		.doc = "Only users whose address contains this, whatever the case."),
};
static SCHEMA(users_query, .doc = "Filters of the roster.");

OPERATION(listAllUsers, .list = true, .reply = &AdminUserRow_schema, .query = &users_query_schema)
{
	const struct users_query *in = c->query;
	struct AdminUserRow *shown;
	int err = in->q ? call_list(c, &sql[USER_FIND], ARGS(T(fold_pattern(c->arena, in->q))))
			: call_list(c, &sql[USER_LIST], NO_ARGS);

	if (err)
		return err;
	shown = arena_array(c->arena, struct AdminUserRow, c->items.count + 1);
	for (size_t i = 0; i < c->items.count; i++)
		show(c, (const struct user_row *)c->items.at + i, &shown[i]);
	c->items.at = shown;
	return 0;
}

static int check_last_super(
	struct call *c, const struct user_row *before, const struct user_row *after)
{
	int64_t count = 0;
	int err;

	if (!before->is_super_admin || before->is_suspended ||
		(after->is_super_admin && !after->is_suspended))
		return 0;
	err = db_int(c->db, &sql[SUPER_COUNT], &count, NO_ARGS);
	if (!err && count <= 1)
		return call_fail(c, ERR_CONFLICT,
			"This is the last super administrator; make another first.");
	return err;
}

OPERATION(updateAnyUser, .body = &AdminUserUpdate_schema, .reply = &AdminUserRow_schema)
{
	struct user_row before, after;
	int err = db_one(
		c->db, c->arena, &sql[USER_READ], &before, ARGS(T(call_param(c, "user_id"))));

	if (err)
		return err;
	after = before;
	schema_patch(&AdminUserUpdate_schema, c->body, &user_row_schema, &after);
	err = check_last_super(c, &before, &after);
	if (!err)
		err = db_run(c->db, &sql[USER_SET], NULL,
			ARGS(T(after.id), N(after.is_suspended), N(after.is_super_admin),
				N(c->now)));
	call_changed(c, &user_row_schema, &before, &after);
	c->audit.resource_id = after.id;
	show(c, &after, c->reply);
	return err;
}

static const struct route routes[] = {
	{ METHOD_GET, "/admin/users", &listAllUsers, PERM_SUPER, 200, .tag = "Super administrator",
		.doc = "Every user, newest first." },
	{ METHOD_PATCH, "/admin/users/{user_id}", &updateAnyUser, PERM_SUPER, 200,
		"user.administer", .tag = "Super administrator",
		.doc = "Suspend a user, or make them super administrator." },
};
RESOURCE(admin_users, routes, users_schemas);
