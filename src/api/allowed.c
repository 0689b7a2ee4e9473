/* allowed.c - addresses that may join a tenant by themselves, once proven to be the user's own. */
#include "api/api.h"
#include "api/users.h"
#include "base/fold.h"
#include "store/listing.h"

enum { ALLOWED_LIST, ALLOWED_INSERT = ALLOWED_LIST + LIST_SORTS, ALLOWED_READ, ALLOWED_REMOVE };

static const struct statement sql[] = {
	LIST_STATEMENTS("allowed_list", &AllowedAccountRead_schema, "{a.*}",
		"allowed_accounts a where a.tenant_id = $1", "a.id", "2", "3"),
	[ALLOWED_INSERT] = { "allowed_insert",
		"insert into allowed_accounts (tenant_id, id, email, email_folded, created_at) "
		"values ($1, $2, $3, $4, $5)" },
	[ALLOWED_READ] = { "allowed_read",
		"select {*} from allowed_accounts where tenant_id = $1 and email_folded = $2",
		.row = &AllowedAccountRead_schema },
	[ALLOWED_REMOVE] = { "allowed_remove",
		"delete from allowed_accounts where tenant_id = $1 and id = $2" },
};
STATEMENT_SET(allowed_sql, sql);

OPERATION(listAllowedAccounts, .list = true, .reply = &AllowedAccountRead_schema)
{
	return call_list(c, &sql[ALLOWED_LIST], ARGS(T(c->caller.tenant_id)));
}

OPERATION(allowAccount, .body = &AllowedAccountCreate_schema, .reply = &AllowedAccountRead_schema)
{
	const struct AllowedAccountCreate *in = c->body;
	struct AllowedAccountRead *out = c->reply;
	const char *folded = fold(c->arena, in->email);
	struct id id;
	int err = db_one(
		c->db, c->arena, &sql[ALLOWED_READ], out, ARGS(T(c->caller.tenant_id), T(folded)));

	c->standing = !err;
	if (err == ERR_NOT_FOUND) {
		id = id_new(&out->created_at.us);
		out->id = arena_strdup(c->arena, id.text);
		out->email = in->email;
		err = db_run(c->db, &sql[ALLOWED_INSERT], NULL,
			ARGS(T(c->caller.tenant_id), T(out->id), T(in->email), T(folded),
				N(out->created_at.us)));
	}
	c->audit.resource_id = out->id;
	c->location = arena_printf(
		c->arena, "/tenant/%s/allowed-accounts/%s", c->caller.tenant_id, out->id);
	return err;
}

OPERATION(disallowAccount)
{
	const char *id = call_param(c, "id");
	int64_t removed = 0;
	int err =
		db_run(c->db, &sql[ALLOWED_REMOVE], &removed, ARGS(T(c->caller.tenant_id), T(id)));

	c->audit.resource_id = id;
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
RESOURCE(allowed, routes, NULL);
