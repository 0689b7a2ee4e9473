/* accounts.c - see accounts.h. */
#include "api/people/accounts.h"

#include "access/throttle.h"
#include "api/plans/plans.h"
#include "api/people/new_user.h"
#include "api/people/proof.h"
#include "search/search.h"
#include "base/clock.h"
#include "base/fold.h"
#include "store/row.h"

#define RESET_US (24 * 3600 * SECOND_US)

enum { TENANTS_MAX = 10000, NAMED_MAX = 20 };

FIELDS(account_row) = {
	FIELD(account_row, id),
	FIELD(account_row, email),
	FIELD(account_row, is_super_admin),
	FIELD(account_row, is_suspended),
	FIELD(account_row, proven_at),
	FIELD(account_row, tenants),
	FIELD(account_row, last_login_at),
};
static SCHEMA(account_row, .internal = true);

enum {
	ACCOUNT_READ,
	ACCOUNT_FIND,
	ACCOUNT_LIST,
	ACCOUNT_SUPERS,
	ACCOUNT_OWNED,
	ACCOUNT_TENANTS,
	UNLINK,
	LOGINS_END,
	RESET_DROP,
	RESET_INSERT,
	INVITED_COUNT,
	ADDRESS_FREE,
	INVITED_COPY,
	TOKENS_MOVE,
	INVITED_DROP,
	FAVORITES_DROP,
	MEMBER_DROP,
	ALLOWED_DROP,
	REGISTRATIONS_DROP,
	USER_DROP,
	ERASURE_ADD,
};

#define COLUMNS                                                                             \
	"u.id, u.email, u.is_super_admin, u.is_suspended, u.email_proven_at as proven_at, " \
	"(select count(*) from members m where m.user_id = u.id and m.status = 'active') "  \
	"as tenants, u.last_login_at from users u "
#define OF_HOUSE .across = "accounts belong to the house"

struct account_reset_row {
	const char *hash, *user_id, *created_by_id;
	int64_t created_at, expires_at;
};

FIELDS(account_reset_row) = {
	ROW_FIELDS(account_reset_row, hash, user_id, created_at, expires_at),
	ROW_NULLABLE(account_reset_row, created_by_id),
};
static SCHEMA(account_reset_row, .internal = true);

static const struct statement sql[] = {
	[ACCOUNT_READ] = { "account_read", "select " COLUMNS "where u.id = $1",
		.row = &account_row_schema, OF_HOUSE },
	[ACCOUNT_FIND] = { "account_find", "select " COLUMNS "where u.email_folded = $1",
		.row = &account_row_schema, OF_HOUSE },
	[ACCOUNT_LIST] = { "account_list",
		"select " COLUMNS
		"where u.email_folded > $1 and " IS_LISTED("u") " order by u.email_folded limit $2",
		.row = &account_row_schema, OF_HOUSE },
	[ACCOUNT_SUPERS] = { "account_supers",
		"select count(*) from users where is_super_admin = 1 and is_suspended = 0 "
		"and id <> $1",
		.scan = "asked only when a super administrator is removed" },
	[ACCOUNT_OWNED] = { "account_owned",
		"select t.slug as value from members m join tenants t on t.id = m.tenant_id "
		"where m.user_id = $1 and m.role = 'OWNER' and m.status = 'active' "
		"and t.status <> 'closed' and not exists (select 1 from members o "
		"where o.tenant_id = m.tenant_id and o.user_id <> $1 and o.role = 'OWNER' "
		"and o.status = 'active') order by t.slug limit $2",
		.row = &one_text_schema, OF_HOUSE },
	[ACCOUNT_TENANTS] = { "account_tenants",
		"select tenant_id as value from members where user_id = $1 order by tenant_id",
		.row = &one_text_schema, OF_HOUSE },
	[UNLINK] = { "account_unlink", "delete from identities where user_id = $1" },
	[LOGINS_END] = { "account_logins_end", "delete from logins where user_id = $1" },
	[RESET_DROP] = { "reset_drop", "delete from resets where user_id = $1" },
	[RESET_INSERT] = { "reset_insert", "insert into resets ({*}) values ({$})",
		.row = &account_reset_row_schema },
	[INVITED_COUNT] = { "account_invited_count",
		"select count(*) from members where user_id = $1 and status = 'invited'",
		OF_HOUSE },
	[ADDRESS_FREE] = { "account_address_free",
		"update users set email_folded = id where id = $1" },
	[INVITED_COPY] = { "account_invited_copy",
		"insert into members (tenant_id, user_id, role, status, created_at, updated_at, "
		"invited_as, invited_email, invited_name) select tenant_id, $2, role, status, "
		"created_at, updated_at, invited_as, invited_email, invited_name from members "
		"where user_id = $1 and status = 'invited'",
		OF_HOUSE },
	[TOKENS_MOVE] = { "account_tokens_move",
		"update invitations set user_id = $2 where user_id = $1 and tenant_id in "
		"(select m.tenant_id from members m where m.user_id = $2)",
		OF_HOUSE },
	[INVITED_DROP] = { "account_invited_drop",
		"delete from members where user_id = $1 and status = 'invited'", OF_HOUSE },
	[FAVORITES_DROP] = { "account_favorites_drop",
		"delete from favorites where tenant_id = $1 and user_id = $2" },
	[MEMBER_DROP] = { "account_member_drop",
		"delete from members where tenant_id = $1 and user_id = $2" },
	[ALLOWED_DROP] = { "account_allowed_drop",
		"delete from allowed_accounts where email_folded = $1", OF_HOUSE },
	[REGISTRATIONS_DROP] = { "account_registrations_drop",
		"delete from registrations where email_folded = $1" },
	[USER_DROP] = { "account_drop", "delete from users where id = $1" },
	[ERASURE_ADD] = { "account_erasure_add",
		"insert into user_erasures (user_id, after_tenant, created_at) values ($1, '', $2)" },
};
STATEMENT_SET(account_admin_sql, sql);

int account_find(struct db *db, struct arena *a, const char *email, struct account_row *ret)
{
	return db_one(db, a, &sql[ACCOUNT_FIND], ret, ARGS(T(fold_ascii(a, email))));
}

int account_list(struct db *db, struct arena *a, const char *after, size_t most, struct list *ret)
{
	return db_all(db, a, &sql[ACCOUNT_LIST], ret, most,
		ARGS(T(fold_ascii(a, after)), N((int64_t)most)));
}

int account_reset_link(struct db *db, const char *user_id, const char *by_id, int64_t now,
	struct account_link *ret)
{
	char hash[65];
	int err = db_run(db, &sql[RESET_DROP], NULL, ARGS(T(user_id)));

	token_new(TOKEN_RESET, ret->token);
	credential_hash(ret->token, hash);
	ret->expires_at = now + RESET_US;
	return err ? err
		   : db_put(db, &sql[RESET_INSERT],
			     &(struct account_reset_row){ .hash = hash,
				     .user_id = user_id,
				     .created_by_id = by_id,
				     .created_at = now,
				     .expires_at = ret->expires_at });
}

int account_unlock(struct db *db, struct arena *a, const char *user_id)
{
	struct account_row row;
	int err = db_one(db, a, &sql[ACCOUNT_READ], &row, ARGS(T(user_id)));

	return err ? err : throttle_unlock(db, a, row.email);
}

int account_unlink(struct db *db, struct arena *a, const char *user_id)
{
	struct account_row row;
	int err = db_one(db, a, &sql[ACCOUNT_READ], &row, ARGS(T(user_id)));

	if (!err)
		err = db_run(db, &sql[UNLINK], NULL, ARGS(T(user_id)));
	return err ? err : db_run(db, &sql[LOGINS_END], NULL, ARGS(T(user_id)));
}

int account_prove(struct db *db, struct arena *a, const char *user_id, int64_t now)
{
	struct account_row row;
	bool fresh;
	int err = db_one(db, a, &sql[ACCOUNT_READ], &row, ARGS(T(user_id)));

	return err ? err : address_prove(db, a, user_id, now, &fresh);
}

static int check_account_last_super(
	struct db *db, struct arena *a, const struct account_row *row, struct problem *p)
{
	int64_t others = 0;
	int err;

	if (!row->is_super_admin || row->is_suspended)
		return 0;
	err = db_int(db, &sql[ACCOUNT_SUPERS], &others, ARGS(T(row->id)));
	if (!err && !others)
		return problem_set(p, a, ERR_CONFLICT,
			"This is the last super administrator; make another first.");
	return err;
}

/* Every tenant keeps an OWNER. */
static int check_account_last_owner(
	struct db *db, struct arena *a, const struct account_row *row, struct problem *p)
{
	struct list owned = { 0 };
	const char *names = "";
	int err = db_all(
		db, a, &sql[ACCOUNT_OWNED], &owned, NAMED_MAX, ARGS(T(row->id), N(NAMED_MAX)));

	for (size_t i = 0; !err && i < owned.count; i++)
		names = arena_printf(a, "%s%s%s", names, i ? ", " : "",
			((const struct one_text *)owned.at)[i].value);
	if (!err && owned.count)
		return problem_set(p, a, ERR_CONFLICT,
			"This is the last OWNER of %s%s; make another there first, or delete the tenant.",
			names, owned.count == NAMED_MAX ? " and perhaps more" : "");
	return err;
}

static int leave_tenant(struct db *db, struct arena *a, const char *tenant_id, const char *user_id)
{
	int err = db_run(db, &sql[FAVORITES_DROP], NULL, ARGS(T(tenant_id), T(user_id)));

	if (!err)
		err = search_remove(db, a, tenant_id, MentionType_user, user_id);
	/* Keys, groups, roles and models go with the membership. */
	if (!err)
		err = db_run(db, &sql[MEMBER_DROP], NULL, ARGS(T(tenant_id), T(user_id)));
	return err ? err : tenant_count(db, tenant_id, 0, -1);
}

/* An invitation is its tenant's, and stays as one of an address without an account does: else its going would tell whose
 * address had one. */
static int keep_invitations(struct db *db, struct arena *a, const struct account_row *row)
{
	const char *bare = NULL;
	int64_t open = 0;
	int err = db_int(db, &sql[INVITED_COUNT], &open, ARGS(T(row->id)));

	if (err || !open)
		return err;
	err = db_run(db, &sql[ADDRESS_FREE], NULL, ARGS(T(row->id)));
	if (!err)
		err = user_make(
			db, a, &(struct new_user){ .email = fold_ascii(a, row->email) }, &bare);
	if (!err)
		err = db_run(db, &sql[INVITED_COPY], NULL, ARGS(T(row->id), T(bare)));
	if (!err)
		err = db_run(db, &sql[TOKENS_MOVE], NULL, ARGS(T(row->id), T(bare)));
	return err ? err : db_run(db, &sql[INVITED_DROP], NULL, ARGS(T(row->id)));
}

static int remove_rest(struct db *db, struct arena *a, const struct account_row *row, int64_t now)
{
	int err = throttle_forget(db, a, row->email);

	if (!err)
		err = db_run(db, &sql[ALLOWED_DROP], NULL, ARGS(T(fold_ascii(a, row->email))));
	if (!err)
		err = db_run(
			db, &sql[REGISTRATIONS_DROP], NULL, ARGS(T(fold_ascii(a, row->email))));
	/* Logins, identities, links and letters go with the user. */
	if (!err)
		err = db_run(db, &sql[USER_DROP], NULL, ARGS(T(row->id)));
	return err ? err : db_run(db, &sql[ERASURE_ADD], NULL, ARGS(T(row->id), N(now)));
}

int account_remove(
	struct db *db, struct arena *a, const char *user_id, int64_t now, struct problem *p)
{
	struct list tenants = { 0 };
	struct account_row row;
	int err = db_one(db, a, &sql[ACCOUNT_READ], &row, ARGS(T(user_id)));

	if (!err)
		err = check_account_last_super(db, a, &row, p);
	if (!err)
		err = check_account_last_owner(db, a, &row, p);
	if (!err)
		err = keep_invitations(db, a, &row);
	if (!err)
		err = db_all(db, a, &sql[ACCOUNT_TENANTS], &tenants, TENANTS_MAX, ARGS(T(user_id)));
	for (size_t i = 0; !err && i < tenants.count; i++)
		err = leave_tenant(db, a, ((const struct one_text *)tenants.at)[i].value, user_id);
	return err ? err : remove_rest(db, a, &row, now);
}
