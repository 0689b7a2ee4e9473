/* admin_users.c - every user of the house, as the super administrator sees them. */
#include <string.h>

#include "call/operation.h"
#include "api/people/proof.h"
#include "api/people/users.h"
#include "base/fold.h"
#include "store/listing.h"

struct admin_user_row {
	const char *id, *email, *name;
	bool is_super_admin, is_suspended;
	struct moment email_proven_at;
	int64_t tenant_count;
	const char *tenant_id, *tenant_name, *tenant_role;
	struct moment created_at, last_login_at;
};

FIELDS(admin_user_row) = {
	FIELD(admin_user_row, id),
	FIELD(admin_user_row, email),
	FIELD(admin_user_row, name, .nullable = true),
	FIELD(admin_user_row, is_super_admin),
	FIELD(admin_user_row, is_suspended),
	FIELD(admin_user_row, email_proven_at, .nullable = true),
	FIELD(admin_user_row, tenant_count),
	FIELD(admin_user_row, tenant_id, .nullable = true),
	FIELD(admin_user_row, tenant_name, .nullable = true),
	FIELD(admin_user_row, tenant_role, .nullable = true),
	FIELD(admin_user_row, created_at),
	FIELD(admin_user_row, last_login_at, .nullable = true),
};
static SCHEMA(admin_user_row, .internal = true);

/* The primary tenant is the oldest membership; an invitation is none.  Asked for each user that is shown: where it is joined,
 * PostgreSQL's plan for any page finds that of every user first. */
#define OLDEST(what, more)                                                                        \
	"(select " what " from members o " more "where o.user_id = u.id and o.status = 'active' " \
	"order by o.created_at, o.tenant_id limit 1)"
#define COLUMNS                                                                                    \
	"u.id, u.email, u.name, u.is_super_admin, u.is_suspended, u.created_at, u.last_login_at, " \
	"u.email_proven_at, "                                                                      \
	"(select count(*) from members n where n.user_id = u.id and n.status = 'active') "         \
	"as tenant_count, " OLDEST("o.tenant_id", "") " as tenant_id, " OLDEST("t.name",           \
		"join tenants t on t.id = o.tenant_id ") " as tenant_name, " OLDEST("o.role",      \
		"") " as tenant_role"
/* $1 1 or 0 for addresses that are proven or not, -1 for both; $2 a pattern */
#define LISTED                                                                              \
	"where " IS_LISTED("u") " and ($1 < 0 or $1 = case when u.email_proven_at is null " \
				"then 0 else 1 end)"
#define MATCHING LISTED " and u.email_folded like $2 escape '!'"
#define ROSTER                                                \
	.scan = "the roster, walked in the order of its key", \
	.across = "the super administrator's roster"

enum { LIST_OF(USER_LIST), LIST_OF(USER_FIND), USER_READ, USER_SET, SUPER_COUNT };

static const struct statement sql[] = {
	LISTING(USER_LIST, "admin_users", &admin_user_row_schema, COLUMNS, "users u " LISTED,
		"u.id", ROSTER),
	LISTING(USER_FIND, "admin_users_found", &admin_user_row_schema, COLUMNS,
		"users u " MATCHING, "u.id", ROSTER),
	[USER_READ] = { "admin_user", "select " COLUMNS " from users u where u.id = $1",
		.row = &admin_user_row_schema, .across = "one user's oldest membership" },
	[USER_SET] = { "admin_user_set",
		"update users set is_suspended = $2, is_super_admin = $3, updated_at = $4 where id = $1" },
	[SUPER_COUNT] = { "super_count",
		"select count(*) from users where is_super_admin = 1 and is_suspended = 0",
		.scan = "asked only when a super administrator is demoted" },
};
STATEMENT_SET(admin_user_sql, sql);

static void show_user(struct call *c, const struct admin_user_row *row, struct AdminUserRow *out)
{
	schema_copy(&admin_user_row_schema, row, &AdminUserRow_schema, out);
	out->primary_tenant = NULL;
	if (!row->tenant_id)
		return;
	out->primary_tenant = arena_new(c->arena, struct AdminUserPrimaryTenant);
	*out->primary_tenant = (struct AdminUserPrimaryTenant){ row->tenant_id, row->tenant_name,
		row->tenant_role };
}

struct users_query {
	const char *q;
	tri proven;
};

FIELDS(users_query) = {
	FIELD(users_query, q, .nullable = true, BOUNDS(1, 255),
		.doc = "Only users whose address contains this, whatever the case."),
	FIELD(users_query, proven, .nullable = true,
		.doc = "Only users whose address is proven to be theirs (true), or is not (false)."),
};
static SCHEMA(users_query, .doc = "Filters of the roster.");

LIST_OPERATION(listAllUsers, users_query, AdminUserRow)
{
	struct AdminUserRow *shown;
	int err = in->q ? call_list(c, &sql[USER_FIND],
				  ARGS(N(in->proven), T(fold_pattern(c->arena, in->q))))
			: call_list(c, &sql[USER_LIST], ARGS(N(in->proven)));

	if (err)
		return err;
	shown = arena_array(c->arena, struct AdminUserRow, c->items.count + 1);
	for (size_t i = 0; i < c->items.count; i++)
		show_user(c, (const struct admin_user_row *)c->items.at + i, &shown[i]);
	c->items.at = shown;
	return 0;
}

OPERATION(readAnyUser, NONE, AdminUserRow)
{
	struct admin_user_row row;
	int err = db_one(c->db, c->arena, &sql[USER_READ], &row, ARGS(T(call_param(c, "user_id"))));

	if (!err)
		show_user(c, &row, out);
	return err;
}

static int check_user_last_super(
	struct call *c, const struct admin_user_row *before, const struct admin_user_row *after)
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

/* A password that came by an invitation may be the inviter's: nobody gets the whole house by it. */
static int check_proven(
	struct call *c, const struct admin_user_row *before, const struct admin_user_row *after)
{
	if (before->is_super_admin || !after->is_super_admin || before->email_proven_at.us != NIL)
		return 0;
	c->problem.code = "address_unproven";
	return call_fail(c, ERR_CONFLICT,
		"The address is not proven to be the user's; prove it first, which ends what was got "
		"hold of without proof.");
}

OPERATION(updateAnyUser, AdminUserUpdate, AdminUserRow)
{
	struct admin_user_row before, after;
	int err = db_one(
		c->db, c->arena, &sql[USER_READ], &before, ARGS(T(call_param(c, "user_id"))));

	if (err)
		return err;
	call_merge(c, CHANGE(admin_user_row, &before, &after));
	err = check_user_last_super(c, &before, &after);
	if (!err)
		err = check_proven(c, &before, &after);
	if (!err)
		err = db_run(c->db, &sql[USER_SET], NULL,
			ARGS(T(after.id), N(after.is_suspended), N(after.is_super_admin),
				N(c->now)));
	if (!err)
		err = call_update(c, CHANGE(admin_user_row, &before, &after), NULL);
	show_user(c, &after, out);
	return err;
}

static const struct route routes[] = {
	{ METHOD_GET, "/admin/users", &listAllUsers, PERM_SUPER, 200, .tag = "Super administrator",
		.doc = "Every user, newest first. Who is only invited has no account and is not among them." },
	{ METHOD_GET, "/admin/users/{user_id}", &readAnyUser, PERM_SUPER, 200,
		.tag = "Super administrator", .doc = "Read a user." },
	{ METHOD_PATCH, "/admin/users/{user_id}", &updateAnyUser, PERM_SUPER, 200,
		"user.administer", .tag = "Super administrator",
		.doc = "Suspend a user, or make them super administrator." },
};
RESOURCE(admin_users, routes, NULL, &admin_user_sql);
