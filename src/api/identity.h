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

struct Me {
	const char *id, *email, *name;
	bool is_super_admin;
	struct list memberships;
};
SCHEMA_DECLARED(Me);

struct LoginReply {
	const char *token;
	struct moment expires_at;
	struct Me *user;
};
SCHEMA_DECLARED(LoginReply);

/* NULL-terminated: all of the above. */
extern const struct schema *const identity_schemas[];
