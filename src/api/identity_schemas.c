/* identity_schemas.c - the tables for signing in, and who you are. */
#include "api/identity.h"

#include "access/permission.h"

FIELDS(LoginRequest) = {
	FIELD(LoginRequest, email, .need = true, BOUNDS(3, 253), .example = "\"ada@example.org\"",
		.doc = "The address you sign in with; case does not matter."),
	FIELD(LoginRequest, password, .need = true, .secret = true, BOUNDS(1, 1024),
		.example = "\"correct horse battery staple\"",
		.doc = "Checked against its hash and then forgotten."),
};
SCHEMA(LoginRequest, .doc = "An address and a password.");

FIELDS(Membership) = {
	FIELD(Membership, tenant_id, .need = true, .id = true, .doc = "The tenant."),
	FIELD(Membership, tenant_name, .need = true, .example = "\"Example Ltd\"",
		.doc = "Its name."),
	FIELD(Membership, tenant_slug, .need = true, .example = "\"example\"", .doc = "Its slug."),
	FIELD(Membership, role, .need = true, .words = &tenant_role_words,
		.doc = "Your role in it."),
	FIELD(Membership, permissions, .need = true, .item = TEXT,
		.example = "[\"tenant:read\",\"agents:create\"]",
		.doc = "What the role allows in the tenant at large; roles on agents come on top."),
};
SCHEMA(Membership, .doc = "A tenant you belong to.");

FIELDS(Me) = {
	FIELD(Me, id, .need = true, .id = true, .doc = "Your user."),
	FIELD(Me, email, .need = true, .example = "\"ada@example.org\"",
		.doc = "The address you sign in with."),
	FIELD(Me, name, .need = true, .nullable = true, .example = "\"Ada Example\"",
		.doc = "Shown to others; null until you give one."),
	FIELD(Me, is_super_admin, .need = true, .doc = "True if you operate across tenants."),
	FIELD(Me, memberships, .need = true, .item = OBJECT, .of = &Membership_schema,
		.doc = "Your tenants, oldest membership first."),
};
SCHEMA(Me, .doc = "You, and the tenants you belong to.");

FIELDS(LoginReply) = {
	FIELD(LoginReply, token, .need = true, .example = "\"lodge_token_example\"",
		.doc = "Send it as a bearer token; it is shown this once."),
	FIELD(LoginReply, expires_at, .need = true, .example = "\"2026-02-07T09:30:00.000Z\"",
		.doc = "When you must sign in again."),
	FIELD(LoginReply, user, .need = true, .of = &Me_schema, .doc = "Who signed in."),
};
SCHEMA(LoginReply, .doc = "A fresh sign-in.");

#define NEW_PASSWORD \
	.need = true, .secret = true, BOUNDS(8, 1024), .example = "\"correct horse battery staple\""

FIELDS(AcceptInvite) = {
	FIELD(AcceptInvite, token, .need = true, .secret = true, BOUNDS(1, 128),
		.example = "\"lodge_invite_example\"", .doc = "From the invitation; good once."),
	FIELD(AcceptInvite, name, .need = true, BOUNDS(1, 255), .example = "\"Ada Example\"",
		.doc = "Shown to others."),
	FIELD(AcceptInvite, password, NEW_PASSWORD,
		.doc = "A new password; the present one if you have signed in here before."),
};
SCHEMA(AcceptInvite, .doc = "The answer to an invitation.");

FIELDS(RegisterRequest) = {
	FIELD(RegisterRequest, email, .need = true, .email = true, BOUNDS(3, 253),
		.example = "\"grace@example.org\"", .doc = "Must be allowed by a tenant."),
	FIELD(RegisterRequest, name, .need = true, BOUNDS(1, 255), .example = "\"Grace Example\"",
		.doc = "Shown to others."),
	FIELD(RegisterRequest, password, NEW_PASSWORD, .doc = "Yours from then on."),
};
SCHEMA(RegisterRequest, .doc = "Somebody who asks to join by a link sent to their address.");

FIELDS(MeUpdate) = {
	FIELD(MeUpdate, name, .nullable = true, BOUNDS(1, 255), .example = "\"Ada Example\"",
		.doc = "Shown to others; null removes it."),
};
SCHEMA(MeUpdate, .partial = true, .doc = "Changes to yourself; what is left out stays.");

FIELDS(PasswordChange) = {
	FIELD(PasswordChange, current_password, .need = true, .secret = true, BOUNDS(1, 1024),
		.example = "\"correct horse\"", .doc = "The one that holds now."),
	FIELD(PasswordChange, new_password, NEW_PASSWORD, .doc = "The one that shall hold."),
};
SCHEMA(PasswordChange, .doc = "A change of password; every other login ends.");

const struct schema *const identity_schemas[] = {
	&LoginRequest_schema,
	&Membership_schema,
	&Me_schema,
	&LoginReply_schema,
	&AcceptInvite_schema,
	&RegisterRequest_schema,
	&MeUpdate_schema,
	&PasswordChange_schema,
	NULL,
};
