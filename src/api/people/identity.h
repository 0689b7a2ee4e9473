/* identity.h - signing in, and who you are. */
#pragma once
#include "contract/schema.h"

struct LoginRequest {
	const char *email, *password;
};
SCHEMA_DECLARED(LoginRequest);

struct Membership {
	const char *tenant_id, *tenant_name, *tenant_slug;
	int role;
	struct list permissions;
};
SCHEMA_DECLARED(Membership);

struct InvitationRead {
	const char *tenant_id, *tenant_name, *tenant_slug;
	int role;
	struct moment created_at;
};
SCHEMA_DECLARED(InvitationRead);

struct InvitationAnswer {
	bool accept;
};
SCHEMA_DECLARED(InvitationAnswer);

struct Me {
	const char *id, *email, *name;
	bool email_proven, is_super_admin;
	struct list memberships;
};
SCHEMA_DECLARED(Me);

struct LoginReply {
	const char *token;
	struct moment expires_at;
	struct Me *user;
};
SCHEMA_DECLARED(LoginReply);

struct AcceptInvite {
	const char *token, *name, *password;
};
SCHEMA_DECLARED(AcceptInvite);

struct ResetConfirm {
	const char *token, *password;
	bool keep_keys;
};
SCHEMA_DECLARED(ResetConfirm);

struct LetterAsked {
	bool accepted;
};
SCHEMA_DECLARED(LetterAsked);

struct ResetRequest {
	const char *email;
};
SCHEMA_DECLARED(ResetRequest);

struct RegisterConfirm {
	const char *token, *password;
};
SCHEMA_DECLARED(RegisterConfirm);

struct RegisterRequest {
	const char *email, *name, *password;
};
SCHEMA_DECLARED(RegisterRequest);

struct MeUpdate {
	uint64_t present;
	const char *name;
};
SCHEMA_DECLARED(MeUpdate);

struct PasswordChange {
	const char *current_password, *new_password;
};
SCHEMA_DECLARED(PasswordChange);
