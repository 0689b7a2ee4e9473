/* admin_accounts.c - the super administrator's word about an account: the way back in, and the way out. */
#include "api/people/accounts.h"
#include "call/operation.h"
#include "api/people/users.h"

/* What came of it, in words if there is no such user. */
static int account_outcome(struct call *c, int err)
{
	return err == ERR_NOT_FOUND ? call_fail(c, err, "There is no such user.") : err;
}

static const char *audited_user_id(struct call *c)
{
	return call_param(c, "user_id");
}

OPERATION(resetPassword, NONE, PasswordLink)
{
	const char *user_id = audited_user_id(c);
	struct account_link link;
	int err = account_unlock(c->db, c->arena, user_id);

	if (!err)
		err = account_reset_link(c->db, user_id, c->caller.user_id, c->now, &link);
	if (err)
		return account_outcome(c, err);
	out->token = arena_strdup(c->arena, link.token);
	out->url = arena_printf(c->arena, "%s/reset#%s", c->app->settings.public_url, out->token);
	out->expires_at.us = link.expires_at;
	return 0;
}

OPERATION(unlockAccount, NONE, NONE)
{
	return account_outcome(c, account_unlock(c->db, c->arena, audited_user_id(c)));
}

OPERATION(unlinkAccount, NONE, NONE)
{
	return account_outcome(c, account_unlink(c->db, c->arena, audited_user_id(c)));
}

OPERATION(proveAddress, NONE, NONE)
{
	return account_outcome(c, account_prove(c->db, c->arena, audited_user_id(c), c->now));
}

OPERATION(deleteUser, NONE, NONE)
{
	int err = account_remove(c->db, c->arena, audited_user_id(c), c->now, &c->problem);

	if (!err)
		c->afterwards = accounts_erase_submit;
	return account_outcome(c, err);
}

#define U_ "/admin/users/{user_id}"

static const struct route routes[] = {
	{ METHOD_POST, U_ "/reset-password", &resetPassword, PERM_SUPER, 200, "user.reset_password",
		.tag = "Super administrator",
		.doc = "Make a link by which the user sets a new password; shown this once, good once "
		       "and for 24 hours. An earlier link is void." },
	{ METHOD_POST, U_ "/unlock", &unlockAccount, PERM_SUPER, 204, "user.unlock",
		.tag = "Super administrator",
		.doc = "Forget the wrong passwords that were tried for the user, from wherever." },
	{ METHOD_POST, U_ "/unlink", &unlinkAccount, PERM_SUPER, 204, "user.unlink",
		.tag = "Super administrator",
		.doc = "Unlink the user from whoever they are at OpenID providers, and end every login: "
		       "for an address that was given to somebody else there. Whoever the provider "
		       "vouches for at the next sign-in is linked anew." },
	{ METHOD_POST, U_ "/prove", &proveAddress, PERM_SUPER, 204, "user.prove",
		.tag = "Super administrator",
		.doc = "Say that the address is the user's own. If it was not proven before, the "
		       "password, every login, every key and every token of an invitation end." },
	{ METHOD_DELETE, U_, &deleteUser, PERM_SUPER, 204, "user.delete",
		.tag = "Super administrator",
		.doc = "Delete a user with logins, keys, memberships and roles, and erase what is "
		       "personal in their audit entries. 409 for the last OWNER of a tenant, which is "
		       "named, and for the last super administrator." },
};
RESOURCE(admin_accounts, routes, NULL);
