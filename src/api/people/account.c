/* account.c - what people do about their own account: answering an invitation, their name, their password.
 *
 * A token of an invitation makes an account of an address that has none yet.
 * One that was mailed to the address proves it; the one that whoever invited
 * was shown proves that somebody holds it, and no more.  Neither opens an
 * account that stands: those who have one answer in invitations.c, signed in.  The account has the name that is given with the
 * token and the address as that invitation spells it; what other tenants
 * wrote in theirs stays with them. */
#include <string.h>

#include "access/throttle.h"
#include "call/operation.h"
#include "api/people/login.h"
#include "api/people/proof.h"
#include "search/search.h"
#include "base/crypto.h"
#include "store/row.h"

struct invited {
	const char *tenant_id, *user_id, *email, *password_hash;
	bool mailed;
};

FIELDS(invited) = {
	FIELD(invited, tenant_id),
	FIELD(invited, user_id),
	FIELD(invited, email),
	FIELD(invited, password_hash, .nullable = true),
	FIELD(invited, mailed),
};
static SCHEMA(invited, .internal = true);

enum {
	INVITATION_READ,
	INVITATION_USE,
	MEMBER_ACTIVATE,
	USER_COMPLETE,
	USER_RENAME,
	USER_HASH,
	USER_REHASH,
	LOGINS_END,
};

struct completed_user {
	const char *id, *name, *email, *password_hash, *password_tenant_id;
	int64_t email_proven_at, updated_at;
};

FIELDS(completed_user) = {
	ROW_FIELDS(completed_user, id, name, email, password_hash, updated_at),
	ROW_NULLABLE(completed_user, password_tenant_id, email_proven_at),
};
static SCHEMA(completed_user, .internal = true);

#define BY_HASH "a hash names one invitation of one tenant"

static const struct statement sql[] = {
	[INVITATION_READ] = { "invitation_read",
		"select i.tenant_id, i.user_id, coalesce(m.invited_email, u.email) as email, "
		"u.password_hash, i.mailed from invitations i join users u on u.id = i.user_id "
		"join members m on m.tenant_id = i.tenant_id and m.user_id = i.user_id "
		"where i.hash = $1 and i.expires_at > $2 and not " HAS_ACCOUNT("u"),
		.row = &invited_schema, .across = BY_HASH },
	[INVITATION_USE] = { "invitation_use",
		"delete from invitations where hash = $1 and expires_at > $2", .across = BY_HASH },
	[MEMBER_ACTIVATE] = { "member_activate",
		"update members set status = 'active', updated_at = $3 "
		"where tenant_id = $1 and user_id = $2" },
	[USER_COMPLETE] = { "user_complete",
		"update users set name = :name, email = :email, password_hash = :password_hash, "
		"password_tenant_id = :password_tenant_id, email_proven_at = :email_proven_at, "
		"updated_at = :updated_at "
		"where id = :id and not " HAS_ACCOUNT("users"),
		.args = &completed_user_schema },
	[USER_RENAME] = { "user_rename",
		"update users set name = $2, updated_at = $3 where id = $1" },
	[USER_HASH] = { "user_hash",
		"select id as user_id, email, password_hash, 0 as mailed from users where id = $1",
		.row = &invited_schema },
	[USER_REHASH] = { "user_rehash", "update users set password_hash = $3, updated_at = $4 "
					 "where id = $1 and password_hash = $2" },
	[LOGINS_END] = { "logins_end", "delete from logins where user_id = $1 and hash <> $2" },
};
STATEMENT_SET(account_sql, sql);

/* What an operation here carries from one step to the next. */
struct account_context {
	struct invited who;
	char hash[65];			  /* of the invitation */
	char new_hash[PASSWORD_HASH_MAX]; /* of the password that shall hold */
	struct throttle_hold hold;
	bool right;
};

static int hash_new(struct call *c, struct account_context *own, const char *password)
{
	if (!password_hash(password, strlen(password), own->new_hash))
		return call_fail(c, ERR_BUSY, "There is not enough memory to hash a password.");
	own->right = true;
	return 0;
}

BODY_STEP(acceptInvite, look, AcceptInvite)
{
	struct account_context *own = arena_new(c->arena, struct account_context);
	int err = 0;

	c->own = own;
	credential_hash(in->token, own->hash);
	if (token_valid(TOKEN_INVITE, in->token, strlen(in->token)))
		err = db_one(c->db, c->arena, &sql[INVITATION_READ], &own->who,
			ARGS(T(own->hash), N(c->now)));
	if (err == ERR_NOT_FOUND)
		err = 0;
	/* A token that is good is never refused for what others at the address have tried. */
	return err || own->who.user_id ? err
				       : throttle_check(c->db, c->arena,
						 &(struct throttle){ .email = "", .ip = c->ip },
						 c->now, &c->problem);
}

BODY_STEP(acceptInvite, prepare, AcceptInvite)
{
	struct account_context *own = c->own;

	return own->who.user_id ? hash_new(c, own, in->password) : 0;
}

static int refuse_invitation(struct call *c)
{
	c->audit.action = "login.fail";
	call_fail(c, ERR_UNAUTHENTICATED,
		"The invitation is not valid any more. If you have an account here, sign in and look "
		"at your invitations; else ask to be invited again.");
	return throttle_fail(c->db, c->arena, c->ip, c->now);
}

OPERATION(acceptInvite, AcceptInvite, LoginReply, .look = acceptInvite_look,
	.prepare = acceptInvite_prepare)
{
	const struct account_context *own = c->own;
	int64_t used = 0, completed = 0;
	int err;

	if (!own->right)
		return refuse_invitation(c);
	err = db_run(c->db, &sql[INVITATION_USE], &used, ARGS(T(own->hash), N(c->now)));
	if (!err && !used)
		return refuse_invitation(c);
	if (!err)
		err = db_run(c->db, &sql[USER_COMPLETE], &completed,
			BY_NAME(completed_user,
				(&(struct completed_user){ .id = own->who.user_id,
					.name = in->name,
					.email = own->who.email,
					.password_hash = own->new_hash,
					.password_tenant_id =
						own->who.mailed ? NULL : own->who.tenant_id,
					.email_proven_at = own->who.mailed ? c->now : NIL,
					.updated_at = c->now })));
	if (!err && !completed)
		return call_fail(
			c, ERR_CONFLICT, "The account was completed meanwhile; try again.");
	if (!err)
		err = db_run(c->db, &sql[MEMBER_ACTIVATE], NULL,
			ARGS(T(own->who.tenant_id), T(own->who.user_id), N(c->now)));
	if (!err)
		err = search_refresh_user(c->db, c->arena, own->who.user_id);
	c->audit.tenant_id = own->who.tenant_id;
	c->audit.user_id = c->audit.resource_id = own->who.user_id;
	return err ? err : login_open(c, own->who.user_id, out);
}

int login_check_person(struct call *c)
{
	if (c->caller.kind == CREDENTIAL_LOGIN)
		return 0;
	return call_fail(c, ERR_FORBIDDEN, "This needs a person's login, not an API key.");
}

OPERATION(updateMe, MeUpdate, Me)
{
	int err = login_check_person(c);

	if (!err && in->present)
		err = db_run(c->db, &sql[USER_RENAME], NULL,
			ARGS(T(c->caller.user_id), T(in->name), N(c->now)));
	if (!err)
		err = search_refresh_user(c->db, c->arena, c->caller.user_id);
	return err ? err : login_describe(c, c->caller.user_id, out);
}

static int password_look(struct call *c)
{
	struct account_context *own = arena_new(c->arena, struct account_context);
	int err = login_check_person(c);

	c->own = own;
	if (!err)
		err = throttle_check(c->db, c->arena, &(struct throttle){ .login = c->caller.hash },
			c->now, &c->problem);
	return err ? err
		   : db_one(c->db, c->arena, &sql[USER_HASH], &own->who,
			     ARGS(T(c->caller.user_id)));
}

/* Whoever found a login guesses ten times with it, and locks nobody else out. */
static int password_reserve(struct call *c)
{
	struct account_context *own = c->own;

	return throttle_take(c->db, c->arena, &(struct throttle){ .login = c->caller.hash }, c->now,
		&own->hold, &c->problem);
}

static int password_release(struct call *c)
{
	return throttle_give_back(c->db, &((struct account_context *)c->own)->hold);
}

BODY_STEP(changePassword, prepare, PasswordChange)
{
	struct account_context *own = c->own;

	if (!own->who.password_hash || !password_matches(own->who.password_hash,
					       in->current_password, strlen(in->current_password)))
		return 0;
	return hash_new(c, own, in->new_password);
}

OPERATION(changePassword, PasswordChange, NONE, .look = password_look, .reserve = password_reserve,
	.release = password_release, .prepare = changePassword_prepare)
{
	const struct account_context *own = c->own;
	int64_t changed = 0;
	int err;

	c->audit.resource_id = c->caller.user_id;
	if (!own->right) {
		c->audit.action = "login.fail";
		call_field(c, "current_password", "wrong", "is not your password");
		return 0;
	}
	err = db_run(c->db, &sql[USER_REHASH], &changed,
		ARGS(T(c->caller.user_id), T(own->who.password_hash), T(own->new_hash), N(c->now)));
	if (!err && !changed)
		return call_fail(c, ERR_CONFLICT, "The password was changed meanwhile.");
	if (!err)
		err = throttle_clear(c->db, &own->hold);
	return err ? err
		   : db_run(c->db, &sql[LOGINS_END], NULL,
			     ARGS(T(c->caller.user_id), T(c->caller.hash)));
}

static const struct route routes[] = {
	{ METHOD_POST, "/auth/accept-invite", &acceptInvite, PERM_PUBLIC, 200, "invitation.accept",
		.tag = "Identity", .as_printed = true, .max_body = 16 * 1024,
		.doc = "Make the account that an invitation is for, and sign in. Whoever has an account "
		       "answers at /me/invitations instead." },
	{ METHOD_PATCH, "/me", &updateMe, PERM_LOGIN, 200, "user.update", .tag = "Identity",
		.doc = "Change your name." },
	{ METHOD_PUT, "/me/password", &changePassword, PERM_LOGIN, 204, "user.password",
		.tag = "Identity", .max_body = 16 * 1024,
		.doc = "Change your password; every other login of yours ends." },
};
RESOURCE(account, routes, NULL, &account_sql);
