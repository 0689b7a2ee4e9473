/* allowed.c - addresses that may join a tenant by themselves, once proven to be the user's own. */
#include "call/operation.h"
#include "api/people/users.h"
#include "base/fold.h"
#include "store/listing.h"
#include "store/row.h"

struct allowed_row {
	const char *tenant_id, *id, *email, *email_folded;
	struct moment created_at;
};

FIELDS(allowed_row) = {
	ROW_FIELDS(allowed_row, tenant_id, id, email, email_folded, created_at),
};
static SCHEMA(allowed_row, .internal = true);

enum { LIST_OF(ALLOWED_LIST), ALLOWED_INSERT, ALLOWED_READ, ALLOWED_REMOVE };

static const struct statement sql[] = {
	LISTING(ALLOWED_LIST, "allowed_list", &AllowedAccountRead_schema, "{a.*}",
		"allowed_accounts a where a.tenant_id = $1", "a.id"),
	[ALLOWED_INSERT] = { "allowed_insert", "insert into allowed_accounts ({*}) values ({$})",
		.row = &allowed_row_schema },
	[ALLOWED_READ] = { "allowed_read",
		"select {*} from allowed_accounts where tenant_id = $1 and email_folded = $2",
		.row = &AllowedAccountRead_schema },
	[ALLOWED_REMOVE] = { "allowed_remove",
		"delete from allowed_accounts where tenant_id = $1 and id = $2" },
};
STATEMENT_SET(allowed_sql, sql);

LIST_OPERATION(listAllowedAccounts, NONE, AllowedAccountRead)
{
	return call_list(c, &sql[ALLOWED_LIST], ARGS(T(c->caller.tenant_id)));
}

OPERATION(allowAccount, AllowedAccountCreate, AllowedAccountRead, .may_stand = true)
{
	const char *folded = fold_ascii(c->arena, in->email);
	struct id id;
	int err = db_one(
		c->db, c->arena, &sql[ALLOWED_READ], out, ARGS(T(c->caller.tenant_id), T(folded)));

	c->standing = !err;
	if (err == ERR_NOT_FOUND) {
		id = id_new(&out->created_at.us);
		out->id = arena_strdup(c->arena, id.text);
		out->email = in->email;
		err = db_put(c->db, &sql[ALLOWED_INSERT],
			&(struct allowed_row){ .tenant_id = c->caller.tenant_id,
				.id = out->id,
				.email = in->email,
				.email_folded = folded,
				.created_at = out->created_at });
	}
	return err;
}

OPERATION(disallowAccount, NONE, NONE)
{
	const char *id = call_param(c, "id");
	int64_t removed = 0;
	int err =
		db_run(c->db, &sql[ALLOWED_REMOVE], &removed, ARGS(T(c->caller.tenant_id), T(id)));

	return err || removed ? err
			      : call_fail(c, ERR_NOT_FOUND, "There is no such allowed account.");
}

static const struct route routes[] = {
	{ METHOD_GET, "/tenant/{tenant_id}/allowed-accounts", &listAllowedAccounts,
		PERM_ALLOWED_ACCOUNTS_WRITE, 200, .tag = "Allowed accounts",
		.doc = "List the addresses that may join, newest first." },
	{ METHOD_POST, "/tenant/{tenant_id}/allowed-accounts", &allowAccount,
		PERM_ALLOWED_ACCOUNTS_WRITE, 201, "allowed_account.create",
		.tag = "Allowed accounts", .doc = "Let an address join as MEMBER." },
	{ METHOD_DELETE, "/tenant/{tenant_id}/allowed-accounts/{id}", &disallowAccount,
		PERM_ALLOWED_ACCOUNTS_WRITE, 204, "allowed_account.delete",
		.tag = "Allowed accounts", .doc = "Close the door to an address again." },
};
RESOURCE(allowed, routes, NULL, &allowed_sql);
