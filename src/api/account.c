/* account.c - what people do about their own account: answering an invitation, their name, their password.
 *
 * An invitation proves that somebody holds the token, not that they own an
 * account that stands already: whoever has a password must give it. */
#include <string.h>

#include "access/throttle.h"
#include "api/api.h"
#include "api/login.h"
#include "api/search.h"
#include "base/crypto.h"

struct invited {
	const char *tenant_id, *user_id, *email, *password_hash;
	int64_t expires_at;
};

FIELDS(invited) = {
	FIELD(invited, tenant_id),
	FIELD(invited, user_id),
	FIELD(invited, email),
	FIELD(invited, password_hash, .nullable = true),
	FIELD(invited, expires_at),
};
static SCHEMA(invited, .internal = true);

/* Whoever signs in at a provider has an account, even without a password: no invitation sets one. */
#define HAS_NO_IDENTITY(u) "not exists (select 1 from identities p where p.user_id = " u ".id)"

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

static const struct statement sql[] = {
	[INVITATION_READ] = { "invitation_read",
		"select i.tenant_id, i.user_id, u.email, u.password_hash, i.expires_at "
		"from invitations i join users u on u.id = i.user_id where i.hash = $1 "
		"and (u.password_hash is not null or " HAS_NO_IDENTITY("u") ")",
		.row = &invited_schema },
	[INVITATION_USE] = { "invitation_use",
		"delete from invitations where hash = $1 and expires_at > $2" },
	[MEMBER_ACTIVATE] = { "member_activate",
		"update members set status = 'active', updated_at = $3 "
		"where tenant_id = $1 and user_id = $2" },
	[USER_COMPLETE] = { "user_complete",
		"update users set name = coalesce(name, $2), password_hash = $3, updated_at = $4 "
		"where id = $1 and password_hash is null and " HAS_NO_IDENTITY("users") },
	[USER_RENAME] = { "user_rename",
		"update users set name = $2, updated_at = $3 where id = $1" },
	[USER_HASH] = { "user_hash",
		"select id as user_id, email, password_hash from users where id = $1",
		.row = &invited_schema },
	[USER_REHASH] = { "user_rehash", "update users set password_hash = $3, updated_at = $4 "
					 "where id = $1 and password_hash = $2" },
	[LOGINS_END] = { "logins_end", "delete from logins where user_id = $1 and hash <> $2" },
};
STATEMENT_SET(account_sql, sql);

/* What an operation here carries from one step to the next. */
struct passage {
	struct invited who;
	char hash[65];			  /* of the invitation */
	char new_hash[PASSWORD_HASH_MAX]; /* of the password that shall hold */
	bool right;
};

static int hash_new(struct call *c, struct passage *own, const char *password)
{
	if (!password_hash(password, strlen(password), own->new_hash))
		return call_fail(c, ERR_BUSY, "There is not enough memory to hash a password.");
	own->right = true;
	return 0;
}

static int accept_look(struct call *c)
{
	const struct AcceptInvite *in = c->body;
	struct passage *own = arena_new(c->arena, struct passage);
	int err = throttle_check(
		c->db, c->arena, &(struct throttle){ "", c->ip }, c->now, &c->problem);

	c->own = own;
	credential_hash(in->token, own->hash);
	if (!err && token_valid(TOKEN_INVITE, in->token, strlen(in->token)))
		err = db_one(c->db, c->arena, &sql[INVITATION_READ], &own->who, ARGS(T(own->hash)));
	return err == ERR_NOT_FOUND ? 0 : err;
}

static int accept_prepare(struct call *c)
{
	const struct AcceptInvite *in = c->body;
	struct passage *own = c->own;

	if (!own->who.user_id)
		return 0;
	if (!own->who.password_hash)
		return hash_new(c, own, in->password);
	own->right = password_matches(own->who.password_hash, in->password, strlen(in->password));
	return 0;
}

static int refuse_invitation(struct call *c)
{
	c->audit.action = "login.fail";
	call_fail(c, ERR_UNAUTHENTICATED, "The invitation is not valid, or the password is wrong.");
	return throttle_fail(c->db, c->arena, &(struct throttle){ "", c->ip }, c->now);
}

OPERATION(acceptInvite, .body = &AcceptInvite_schema, .reply = &LoginReply_schema,
	.look = accept_look, .prepare = accept_prepare)
{
	const struct AcceptInvite *in = c->body;
	const struct passage *own = c->own;
	int64_t used = 0, completed = 1;
	int err;

	if (!own->right)
		return refuse_invitation(c);
	err = db_run(c->db, &sql[INVITATION_USE], &used, ARGS(T(own->hash), N(c->now)));
	if (!err && !used)
		return refuse_invitation(c);
	if (!err && *own->new_hash)
		err = db_run(c->db, &sql[USER_COMPLETE], &completed,
			ARGS(T(own->who.user_id), T(in->name), T(own->new_hash), N(c->now)));
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
	return err ? err : login_open(c, own->who.user_id, c->reply);
}

/* Knowing an address is no proof of owning it: this waits for mail. */
OPERATION(registerAccount, .body = &RegisterRequest_schema, .reply = &LoginReply_schema,
	.awaits = "mail")
{
	c->problem.code = "mail_not_configured";
	return call_fail(c, ERR_CONFLICT,
		"A confirmation link cannot be sent: this service has no mail. Ask for an invitation.");
}

static int check_person(struct call *c)
{
	if (c->caller.kind == CREDENTIAL_LOGIN)
		return 0;
	return call_fail(c, ERR_FORBIDDEN, "This needs a person's login, not an API key.");
}

OPERATION(updateMe, .body = &MeUpdate_schema, .reply = &Me_schema)
{
	const struct MeUpdate *in = c->body;
	int err = check_person(c);

	if (!err && in->got)
		err = db_run(c->db, &sql[USER_RENAME], NULL,
			ARGS(T(c->caller.user_id), T(in->name), N(c->now)));
	if (!err)
		err = search_refresh_user(c->db, c->arena, c->caller.user_id);
	c->audit.resource_id = c->caller.user_id;
	return err ? err : login_describe(c, c->caller.user_id, c->reply);
}

static int password_look(struct call *c)
{
	struct passage *own = arena_new(c->arena, struct passage);
	int err = check_person(c);

	c->own = own;
	if (!err)
		err = throttle_check(c->db, c->arena, &(struct throttle){ c->caller.email, c->ip },
			c->now, &c->problem);
	return err ? err
		   : db_one(c->db, c->arena, &sql[USER_HASH], &own->who,
			     ARGS(T(c->caller.user_id)));
}

static int password_prepare(struct call *c)
{
	const struct PasswordChange *in = c->body;
	struct passage *own = c->own;

	if (!own->who.password_hash || !password_matches(own->who.password_hash,
					       in->current_password, strlen(in->current_password)))
		return 0;
	return hash_new(c, own, in->new_password);
}

OPERATION(changePassword, .body = &PasswordChange_schema, .look = password_look,
	.prepare = password_prepare)
{
	const struct passage *own = c->own;
	int64_t changed = 0;
	int err;

	c->audit.resource_id = c->caller.user_id;
	if (!own->right) {
		c->audit.action = "login.fail";
		call_field(c, "current_password", "wrong", "is not your password");
		return throttle_fail(
			c->db, c->arena, &(struct throttle){ c->caller.email, c->ip }, c->now);
	}
	err = db_run(c->db, &sql[USER_REHASH], &changed,
		ARGS(T(c->caller.user_id), T(own->who.password_hash), T(own->new_hash), N(c->now)));
	if (!err && !changed)
		return call_fail(c, ERR_CONFLICT, "The password was changed meanwhile.");
	return err ? err
		   : db_run(c->db, &sql[LOGINS_END], NULL,
			     ARGS(T(c->caller.user_id), T(c->caller.hash)));
}

static const struct route routes[] = {
	{ METHOD_POST, "/auth/accept-invite", &acceptInvite, PERM_PUBLIC, 200, "invitation.accept",
		.tag = "Identity", .as_printed = true, .max_body = 16 * 1024,
		.doc = "Accept an invitation and sign in." },
	{ METHOD_POST, "/auth/register", &registerAccount, PERM_PUBLIC, 202, "account.register",
		.tag = "Identity", .as_printed = true, .max_body = 16 * 1024,
		.doc = "Ask for a confirmation link to an allowed address; 409 mail_not_configured "
		       "while the service has no mail." },
	{ METHOD_PATCH, "/me", &updateMe, PERM_LOGIN, 200, "user.update", .tag = "Identity",
		.doc = "Change your name." },
	{ METHOD_PUT, "/me/password", &changePassword, PERM_LOGIN, 204, "user.password",
		.tag = "Identity", .max_body = 16 * 1024,
		.doc = "Change your password; every other login of yours ends." },
};
RESOURCE(account, routes, NULL);
