/* proof.c - see proof.h. */
#include "api/people/proof.h"

#include "access/throttle.h"

enum { TENANTS_MAX = 10000 };
enum {
	PROVE,
	ADDRESS,
	TENANTS,
	LOGINS_END,
	KEYS_END,
	HOOKS_END,
	INVITATIONS_END,
	RESETS_END,
	UNINVITED
};

static const struct statement sql[] = {
	/* An address that was only invited may bear, from earlier, what its first inviter called it. */
	[PROVE] = { "address_prove", "update users set name = case when " HAS_ACCOUNT(
					     "users") " then name end, "
						      "email_proven_at = $2, password_hash = null, "
						      "password_tenant_id = null, updated_at = $2 "
						      "where id = $1 and email_proven_at is null" },
	[ADDRESS] = { "address_read", "select email as value from users where id = $1",
		.row = &one_text_schema },
	[TENANTS] = { "address_tenants",
		"select tenant_id as value from members where user_id = $1 order by tenant_id",
		.row = &one_text_schema, .across = "somebody may belong to several tenants" },
	[LOGINS_END] = { "address_logins_end", "delete from logins where user_id = $1" },
	[KEYS_END] = { "address_keys_end",
		"delete from api_keys where tenant_id = $1 and user_id = $2" },
	[HOOKS_END] = { "address_hooks_end",
		"update integration_rows set acts_as_id = null, key_id = null "
		"where tenant_id = $1 and acts_as_id = $2" },
	[INVITATIONS_END] = { "address_invitations_end",
		"delete from invitations where tenant_id = $1 and user_id = $2" },
	[RESETS_END] = { "address_resets_end", "delete from resets where user_id = $1" },
	[UNINVITED] = { "address_uninvited",
		"delete from users where id = $1 and not " IS_LISTED(
			"users") " and not exists "
				 "(select 1 from members m where m.user_id = $1)",
		.across = "an address may be invited by several tenants" },
};
STATEMENT_SET(proof_sql, sql);

int address_uninvited(struct db *db, const char *user_id)
{
	int err = db_run(db, &sql[UNINVITED], NULL, ARGS(T(user_id)));

	/* Another tenant invited it meanwhile: the next run sees that. */
	return err == ERR_DUPLICATE ? ERR_RETRY : err;
}

int address_end_keys(struct db *db, struct arena *a, const char *user_id, int64_t *ret_ended)
{
	struct list tenants = { 0 };
	int err = db_all(db, a, &sql[TENANTS], &tenants, TENANTS_MAX, ARGS(T(user_id)));

	*ret_ended = 0;
	for (size_t i = 0; !err && i < tenants.count; i++) {
		int64_t ended = 0;

		err = db_run(db, &sql[KEYS_END], &ended,
			ARGS(T(((const struct one_text *)tenants.at)[i].value), T(user_id)));
		*ret_ended += ended;
	}
	return err;
}

int address_end_unproven(struct db *db, struct arena *a, const char *user_id)
{
	struct list tenants = { 0 };
	int err = db_run(db, &sql[LOGINS_END], NULL, ARGS(T(user_id)));

	if (!err)
		err = db_all(db, a, &sql[TENANTS], &tenants, TENANTS_MAX, ARGS(T(user_id)));
	for (size_t i = 0; !err && i < tenants.count; i++) {
		const char *tenant_id = ((const struct one_text *)tenants.at)[i].value;

		err = db_run(db, &sql[KEYS_END], NULL, ARGS(T(tenant_id), T(user_id)));
		if (!err)
			err = db_run(db, &sql[HOOKS_END], NULL, ARGS(T(tenant_id), T(user_id)));
		if (!err)
			err = db_run(
				db, &sql[INVITATIONS_END], NULL, ARGS(T(tenant_id), T(user_id)));
	}
	return err;
}

int address_prove(struct db *db, struct arena *a, const char *user_id, int64_t now, bool *ret_fresh)
{
	struct one_text email;
	int64_t proven = 0;
	int err = db_run(db, &sql[PROVE], &proven, ARGS(T(user_id), N(now)));

	*ret_fresh = !err && proven;
	if (err || !proven)
		return err;
	err = db_one(db, a, &sql[ADDRESS], &email, ARGS(T(user_id)));
	if (!err)
		err = throttle_forget(db, a, email.value);
	if (!err)
		err = db_run(db, &sql[RESETS_END], NULL, ARGS(T(user_id)));
	return err ? err : address_end_unproven(db, a, user_id);
}
