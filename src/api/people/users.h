/* users.h - people across all tenants, and the accounts a tenant lets in. */
#pragma once
#include "contract/schema.h"

struct AdminUserPrimaryTenant {
	const char *id, *name, *role;
};
SCHEMA_DECLARED(AdminUserPrimaryTenant);

struct AdminUserRow {
	const char *id, *email, *name;
	bool is_super_admin, is_suspended;
	int64_t tenant_count;
	struct AdminUserPrimaryTenant *primary_tenant;
	struct moment created_at, last_login_at;
};
SCHEMA_DECLARED(AdminUserRow);

struct AllowedAccountCreate {
	const char *email;
};
SCHEMA_DECLARED(AllowedAccountCreate);

struct AllowedAccountRead {
	const char *id, *email;
	struct moment created_at;
};
SCHEMA_DECLARED(AllowedAccountRead);

struct AdminUserUpdate {
	uint64_t present;
	bool is_suspended, is_super_admin;
};
SCHEMA_DECLARED(AdminUserUpdate);

struct PasswordLink {
	const char *url, *token;
	struct moment expires_at;
};
SCHEMA_DECLARED(PasswordLink);
