/* identity.c - signing in and out, and who the caller is. */
#include "api/people/login.h"

#include <string.h>

#include "access/permission.h"
#include "access/throttle.h"
#include "api/people/identity.h"
#include "base/crypto.h"
#include "base/fold.h"
#include "base/json.h"
#include "call/operation.h"
#include "contract/rules.h"
#include "store/row.h"

FIELDS(LoginRequest) = {
	FIELD(LoginRequest, email, .required = true, BOUNDS(3, 253),
		.example = "\"ada@example.org\"",
		.doc = "The address you sign in with; case does not matter."),
	FIELD(LoginRequest, password, .required = true, .secret = true, BOUNDS(1, 1024),
		.example = "\"correct horse battery staple\"",
		.doc = "Checked against its hash and then forgotten."),
};
SCHEMA(LoginRequest, .doc = "An address and a password.");

FIELDS(Membership) = {
	FIELD(Membership, tenant_id, .required = true, .id = true, .doc = "The tenant."),
	FIELD(Membership, tenant_name, .required = true, .example = "\"Example Ltd\"",
		.doc = "Its name."),
	FIELD(Membership, tenant_slug, .required = true, .example = "\"example\"",
		.doc = "Its slug."),
	FIELD(Membership, role, .required = true, .words = &tenant_role_words,
		.doc = "Your role in it."),
	FIELD(Membership, permissions, .required = true, .item = TEXT,
		.example = "[\"tenant:read\",\"agents:create\"]",
		.doc = "What the role allows in the tenant at large; roles on agents come on top."),
};
SCHEMA(Membership, .doc = "A tenant you belong to.");

FIELDS(InvitationRead) = {
	FIELD(InvitationRead, tenant_id, .required = true, .id = true,
		.doc = "The tenant that asks."),
	FIELD(InvitationRead, tenant_name, .required = true, .example = "\"Example Ltd\"",
		.doc = "Its name."),
	FIELD(InvitationRead, tenant_slug, .required = true, .example = "\"example\"",
		.doc = "Its slug."),
	FIELD(InvitationRead, role, .required = true, .words = &tenant_role_words,
		.doc = "The role you would have in it."),
	FIELD(InvitationRead, created_at, .required = true, .doc = "When you were invited."),
};
SCHEMA(InvitationRead, .doc = "A tenant that has asked you to join.");

FIELDS(InvitationAnswer) = {
	FIELD(InvitationAnswer, accept, .required = true, .example = "true",
		.doc = "True joins the tenant; false declines, and the invitation is gone."),
};
SCHEMA(InvitationAnswer, .doc = "The answer to an invitation, signed in.");

FIELDS(Me) = {
	FIELD(Me, id, .required = true, .id = true, .doc = "Your user."),
	FIELD(Me, email, .required = true, .example = "\"ada@example.org\"",
		.doc = "The address you sign in with."),
	FIELD(Me, name, .required = true, .nullable = true, .example = "\"Ada Example\"",
		.doc = "Shown to others; null until you give one."),
	FIELD(Me, email_proven, .required = true,
		.doc = "True if the address is proven to be yours: by a provider that vouches for it, or "
		       "by the operator. Else you join no tenant but the one that made your account."),
	FIELD(Me, is_super_admin, .required = true, .doc = "True if you operate across tenants."),
	FIELD(Me, memberships, .required = true, .item = OBJECT, .of = &Membership_schema,
		.doc = "Your tenants, oldest membership first."),
};
SCHEMA(Me, .doc = "You, and the tenants you belong to.");

FIELDS(LoginReply) = {
	FIELD(LoginReply, token, .required = true, .example = "\"lodge_token_example\"",
		.doc = "Send it as a bearer token; it is shown this once."),
	FIELD(LoginReply, expires_at, .required = true, .example = "\"2026-02-07T09:30:00.000Z\"",
		.doc = "When you must sign in again."),
	FIELD(LoginReply, user, .required = true, .of = &Me_schema, .doc = "Who signed in."),
};
SCHEMA(LoginReply, .doc = "A fresh sign-in.");

#define NEW_PASSWORD                                                          \
	.required = true, .secret = true, BOUNDS(PASSWORD_MIN, PASSWORD_MAX), \
	.example = "\"correct horse battery staple\""

FIELDS(AcceptInvite) = {
	FIELD(AcceptInvite, token, .required = true, .secret = true, BOUNDS(1, 128),
		.example = "\"lodge_invite_example\"", .doc = "From the invitation; good once."),
	FIELD(AcceptInvite, name, .required = true, SHOWN_NAME, BOUNDS(1, 255),
		.example = "\"Ada Example\"", .doc = "Shown to others."),
	FIELD(AcceptInvite, password, NEW_PASSWORD,
		.doc = "A new password. It is good for the tenant that invited; it proves nothing about "
		       "the address elsewhere."),
};
SCHEMA(AcceptInvite,
	.doc = "The answer of somebody who has no account yet; see /me/invitations for anybody else.");

FIELDS(ResetConfirm) = {
	FIELD(ResetConfirm, token, .required = true, .secret = true, BOUNDS(1, 128),
		.example = "\"lodge_reset_example\"", .doc = "From the link; good once."),
	FIELD(ResetConfirm, password, NEW_PASSWORD, .doc = "Yours from then on."),
	FIELD(ResetConfirm, keep_keys, .preset = "false",
		.doc = "Your API keys go on working. Whoever had your account may have made some; those "
		       "of an address that was not proven end all the same."),
};
SCHEMA(ResetConfirm, .doc = "A new password, by a link.");

FIELDS(LetterAsked) = {
	FIELD(LetterAsked, accepted, .required = true,
		.doc = "Always true: whether anybody has the address is told to that address alone."),
};
SCHEMA(LetterAsked, .doc = "A letter was asked for.");

FIELDS(ResetRequest) = {
	FIELD(ResetRequest, email, .required = true, .email = true, BOUNDS(3, 253),
		.example = "\"grace@example.org\"",
		.doc = "Where the link goes, if it has an account."),
};
SCHEMA(ResetRequest, .doc = "Somebody who asks for a new password.");

FIELDS(RegisterConfirm) = {
	FIELD(RegisterConfirm, token, .required = true, .secret = true, BOUNDS(1, 128),
		.example = "\"lodge_confirm_example\"", .doc = "From the link; good once."),
	FIELD(RegisterConfirm, password, .required = true, .secret = true, BOUNDS(1, 1024),
		.example = "\"correct horse battery\"",
		.doc = "The one that was chosen when the account was asked for."),
};
SCHEMA(RegisterConfirm, .doc = "An address is confirmed, by a link.");

FIELDS(RegisterRequest) = {
	FIELD(RegisterRequest, email, .required = true, .email = true, BOUNDS(3, 253),
		.example = "\"grace@example.org\"",
		.doc = "Must be allowed by a tenant, or invited."),
	FIELD(RegisterRequest, name, .required = true, SHOWN_NAME, BOUNDS(1, 255),
		.example = "\"Grace Example\"", .doc = "Shown to others."),
	FIELD(RegisterRequest, password, NEW_PASSWORD, .doc = "Yours from then on."),
};
SCHEMA(RegisterRequest, .doc = "Somebody who asks to join by a link sent to their address.");

FIELDS(MeUpdate) = {
	FIELD(MeUpdate, name, .nullable = true, SHOWN_NAME, BOUNDS(1, 255),
		.example = "\"Ada Example\"", .doc = "Shown to others; null removes it."),
};
SCHEMA(MeUpdate, .partial = true, .doc = "Changes to yourself; what is left out stays.");

FIELDS(PasswordChange) = {
	FIELD(PasswordChange, current_password, .required = true, .secret = true, BOUNDS(1, 1024),
		.example = "\"correct horse\"", .doc = "The password until now."),
	FIELD(PasswordChange, new_password, NEW_PASSWORD, .doc = "The password from now on."),
};
SCHEMA(PasswordChange, .doc = "A change of password; every other login ends.");

struct user_row {
	const char *id, *email, *name, *password_hash;
	bool is_super_admin, is_suspended;
	struct moment email_proven_at;
};

FIELDS(user_row) = {
	FIELD(user_row, id),
	FIELD(user_row, email),
	FIELD(user_row, name, .nullable = true),
	FIELD(user_row, password_hash, .nullable = true),
	FIELD(user_row, is_super_admin),
	FIELD(user_row, is_suspended),
	FIELD(user_row, email_proven_at, .nullable = true),
};
static SCHEMA(user_row, .internal = true);

struct login_row {
	const char *hash, *user_id, *ip, *user_agent;
	int64_t created_at, expires_at;
};

FIELDS(login_row) = {
	ROW_FIELDS(login_row, hash, user_id, created_at, expires_at),
	ROW_NULLABLE(login_row, ip, user_agent),
};
static SCHEMA(login_row, .internal = true);

enum { USER_BY_EMAIL, USER_BY_ID, USER_MEMBERSHIPS, LOGIN_INSERT, LOGIN_REMOVE, LOGIN_NOTE };

static const struct statement sql[] = {
	[USER_BY_EMAIL] = { "user_by_email", "select {*} from users where email_folded = $1",
		.row = &user_row_schema },
	[USER_BY_ID] = { "user_by_id", "select {*} from users where id = $1",
		.row = &user_row_schema },
	[USER_MEMBERSHIPS] = { "user_memberships",
		"select m.tenant_id, t.name as tenant_name, t.slug as tenant_slug, m.role from members m "
		"join tenants t on t.id = m.tenant_id where m.user_id = $1 "
		"and t.status <> 'closed' and m.status = 'active' "
		"and (cast($2 as text) is null or m.tenant_id = $2) "
		"order by m.created_at, m.tenant_id",
		.row = &Membership_schema, .across = "the memberships of one user" },
	[LOGIN_INSERT] = { "login_insert",
		"insert into logins ({*}, last_used_at) values ({$}, :created_at)",
		.row = &login_row_schema },
	[LOGIN_REMOVE] = { "login_remove", "delete from logins where hash = $1" },
	[LOGIN_NOTE] = { "login_note", "update users set last_login_at = $2 where id = $1" },
};
STATEMENT_SET(identity_sql, sql);

static struct list permission_names_of(struct arena *a, permissions set)
{
	const char **names = arena_array(a, const char *, PERM_COUNT);
	struct list list = { .at = names };

	for (int p = PERM_NONE + 1; p < PERM_COUNT; p++)
		if (set >> p & 1)
			names[list.count++] = permission_name(p);
	return list;
}

static void show_permissions(struct call *c, struct Membership *m)
{
	m->permissions = permission_names_of(c->arena,
		caller_cut(&c->caller, permissions_of_tenant_role((enum tenant_role)m->role)));
}

int login_describe(struct call *c, const char *user_id, struct Me *me)
{
	enum { MEMBERSHIPS_MAX = 10000 };
	struct user_row row;
	struct Membership *m;
	int err = db_one(c->db, c->arena, &sql[USER_BY_ID], &row, ARGS(T(user_id)));

	if (err)
		return err;
	schema_copy(&user_row_schema, &row, &Me_schema, me);
	me->email_proven = row.email_proven_at.us != NIL;
	err = db_all(c->db, c->arena, &sql[USER_MEMBERSHIPS], &me->memberships, MEMBERSHIPS_MAX,
		ARGS(T(user_id), T(c->caller.key_tenant_id)));
	m = me->memberships.at;
	for (size_t i = 0; i < me->memberships.count; i++)
		show_permissions(c, &m[i]);
	return err;
}

int login_membership(struct call *c, const char *tenant_id, struct Membership *ret)
{
	int err = db_one(c->db, c->arena, &sql[USER_MEMBERSHIPS], ret,
		ARGS(T(c->caller.user_id), T(tenant_id)));

	if (!err)
		show_permissions(c, ret);
	return err;
}

const char *login_device(const struct call *c)
{
	const char *p = http_header(&c->x->request, "cookie");
	size_t n = strlen(DEVICE_COOKIE);

	for (; p && *p; p += strcspn(p, ";"), p += strspn(p, "; ")) {
		size_t len = strcspn(p, ";");

		if (len > n && strncmp(p, DEVICE_COOKIE, n) == 0 && p[n] == '=' &&
			token_valid(TOKEN_DEVICE, p + n + 1, len - n - 1))
			return arena_strndup(c->arena, p + n + 1, len - n - 1);
	}
	return NULL;
}

/* From now on the person is no stranger in this browser, nor at this address. */
static int know_place(struct call *c, const char *email)
{
	struct throttle t = { .email = email, .ip = c->ip, .device = login_device(c) };
	char device[TOKEN_MAX];

	if (!t.device) {
		token_new(TOKEN_DEVICE, device);
		t.device = device;
		buf_printf(&c->x->reply.extra,
			"Set-Cookie: " DEVICE_COOKIE
			"=%s; Path=/auth; HttpOnly; SameSite=Lax; Max-Age=%lld%s\r\n",
			device, (long long)(FAMILIAR_US / 1000000),
			c->app->settings.secure_cookies ? "; Secure" : "");
	}
	return throttle_know(c->db, c->arena, &t, c->now);
}

int login_open(struct call *c, const char *user_id, struct LoginReply *out)
{
	char token[TOKEN_MAX], hash[65];
	int err;

	token_new(TOKEN_LOGIN, token);
	credential_hash(token, hash);
	out->token = arena_strdup(c->arena, token);
	out->expires_at.us = c->now + c->app->settings.session_lifetime_us;
	out->user = arena_new(c->arena, struct Me);
	err = db_put(c->db, &sql[LOGIN_INSERT],
		&(struct login_row){ .hash = hash,
			.user_id = user_id,
			.ip = c->ip,
			.user_agent = call_user_agent(c),
			.created_at = c->now,
			.expires_at = out->expires_at.us });
	if (!err)
		err = db_run(c->db, &sql[LOGIN_NOTE], NULL, ARGS(T(user_id), N(c->now)));
	if (!err)
		err = login_describe(c, user_id, out->user);
	buf_printf(&c->x->reply.extra,
		"Set-Cookie: " COOKIE_NAME "=%s; Path=/; HttpOnly; SameSite=Strict%s\r\n", token,
		c->app->settings.secure_cookies ? "; Secure" : "");
	return err ? err : know_place(c, out->user->email);
}

/* What a login carries from one step to the next. */
struct attempt {
	const char *hash, *user_id;
	struct throttle_hold hold;
	bool right;
};

/* The hash of a password that nobody has: an unknown address takes as long as a wrong password. */
static const char nobody_hash[] =
	"$argon2id$v=19$m=32768,t=3,p=1$/CRVeW/N7Lc6l4ifMp5awg$K3T+0eS09lDhkB5SUSG80jtIUZf+u5/mdsw/yQ6H6vA";

static struct throttle throttle_of(const struct call *c, const struct LoginRequest *in)
{
	return (struct throttle){ .email = in->email, .ip = c->ip, .device = login_device(c) };
}

BODY_STEP(login, look, LoginRequest)
{
	struct attempt *own = arena_new(c->arena, struct attempt);
	struct throttle t = throttle_of(c, in);
	struct user_row row;
	int err = throttle_check(c->db, c->arena, &t, c->now, &c->problem);

	if (err)
		return err;
	err = db_one(c->db, c->arena, &sql[USER_BY_EMAIL], &row,
		ARGS(T(fold_ascii(c->arena, in->email))));
	if (err && err != ERR_NOT_FOUND)
		return err;
	own->hash = nobody_hash;
	if (!err && row.password_hash) {
		own->hash = row.password_hash;
		own->user_id = row.id;
	}
	c->own = own;
	return 0;
}

/* Before the hash is made: of a hundred guesses at once only so many are judged. */
BODY_STEP(login, reserve, LoginRequest)
{
	struct attempt *own = c->own;
	struct throttle t = throttle_of(c, in);

	return throttle_take(c->db, c->arena, &t, c->now, &own->hold, &c->problem);
}

static int login_release(struct call *c)
{
	return throttle_give_back(c->db, &((struct attempt *)c->own)->hold);
}

BODY_STEP(login, prepare, LoginRequest)
{
	struct attempt *own = c->own;

	own->right =
		password_matches(own->hash, in->password, strlen(in->password)) && own->user_id;
	return 0;
}

/* A failure is counted already and recorded here, so the transaction commits although the caller is
 * refused. */
static int refuse_login(struct call *c, const char *email, const char *user_id)
{
	struct buf b;

	buf_init(&b, 4096);
	buf_lit(&b, "{\"email\":");
	json_write_string(&b, email, strlen(email));
	buf_putc(&b, '}');
	c->audit.action = "login.fail";
	c->audit.user_id = user_id;
	c->audit.meta = b.overflow ? NULL : arena_strndup(c->arena, b.at, b.len);
	buf_free(&b);
	call_fail(c, ERR_UNAUTHENTICATED, "The email address or the password is wrong.");
	return 0;
}

OPERATION(login, LoginRequest, LoginReply, .look = login_look, .reserve = login_reserve,
	.release = login_release, .prepare = login_prepare)
{
	const struct attempt *own = c->own;
	struct user_row row;
	int err;

	if (!own->right)
		return refuse_login(c, in->email, own->user_id);
	err = db_one(c->db, c->arena, &sql[USER_BY_ID], &row, ARGS(T(own->user_id)));
	if (err == ERR_NOT_FOUND)
		return refuse_login(c, in->email, NULL); /* gone while we looked */
	if (err)
		return err;
	if (!row.password_hash || strcmp(row.password_hash, own->hash) != 0)
		return refuse_login(c, in->email, own->user_id); /* changed while we looked */
	c->audit.user_id = c->audit.resource_id = row.id;
	if (row.is_suspended) {
		c->audit.action = "login.fail";
		call_fail(c, ERR_SUSPENDED, "This account is suspended.");
		return throttle_give_back(c->db, &own->hold);
	}
	err = throttle_clear(c->db, &own->hold);
	return err ? err : login_open(c, row.id, out);
}

OPERATION(logout, NONE, NONE)
{
	if (c->caller.kind != CREDENTIAL_LOGIN)
		return call_fail(c, ERR_CONFLICT, "An API key is not a login; revoke it instead.");
	c->audit.resource_id = c->caller.user_id;
	buf_lit(&c->x->reply.extra,
		"Set-Cookie: " COOKIE_NAME "=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0\r\n");
	return db_run(c->db, &sql[LOGIN_REMOVE], NULL, ARGS(T(c->caller.hash)));
}

OPERATION(readMe, NONE, Me)
{
	return login_describe(c, c->caller.user_id, out);
}

static const struct route routes[] = {
	{ METHOD_POST, "/auth/login", &login, PERM_PUBLIC, 200, "login.succeed", .tag = "Identity",
		.as_printed = true, .max_body = 16 * 1024,
		.doc = "Sign in with email and password; answers a token, and sets the console's cookie. "
		       "Guesses are counted before they are judged: 429 with Retry-After." },
	{ METHOD_POST, "/auth/logout", &logout, PERM_LOGIN, 204, "login.end", .tag = "Identity",
		.as_printed = true, .doc = "End the login that is presented." },
	{ METHOD_GET, "/me", &readMe, PERM_LOGIN, 200, .tag = "Identity",
		.doc = "Who the caller is, with memberships and what each permits." },
};
RESOURCE(identity, routes, NULL, &identity_sql);
