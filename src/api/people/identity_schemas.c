/* identity_schemas.c - the tables for signing in, and who you are. */
#include "api/people/identity.h"

#include "access/permission.h"
#include "base/crypto.h"
#include "contract/rules.h"

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
};
SCHEMA(ResetConfirm, .doc = "A new password, by a link.");

FIELDS(RegisterRequest) = {
	FIELD(RegisterRequest, email, .required = true, .email = true, BOUNDS(3, 253),
		.example = "\"grace@example.org\"", .doc = "Must be allowed by a tenant."),
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
		.example = "\"correct horse\"", .doc = "The one that holds now."),
	FIELD(PasswordChange, new_password, NEW_PASSWORD, .doc = "The one that shall hold."),
};
SCHEMA(PasswordChange, .doc = "A change of password; every other login ends.");

const struct schema *const identity_schemas[] = {
	&LoginRequest_schema,
	&Membership_schema,
	&InvitationRead_schema,
	&InvitationAnswer_schema,
	&Me_schema,
	&LoginReply_schema,
	&AcceptInvite_schema,
	&ResetConfirm_schema,
	&RegisterRequest_schema,
	&MeUpdate_schema,
	&PasswordChange_schema,
	NULL,
};
