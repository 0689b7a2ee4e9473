/* users_schemas.c - the tables for people across all tenants, and the accounts a tenant lets in.
 * */
#include "api/people/users.h"

FIELDS(AdminUserPrimaryTenant) = {
	FIELD(AdminUserPrimaryTenant, id, .required = true, .id = true, .doc = "The tenant."),
	FIELD(AdminUserPrimaryTenant, name, .required = true, .example = "\"Example Ltd\"",
		.doc = "Its name."),
	FIELD(AdminUserPrimaryTenant, role, .required = true, .example = "\"MEMBER\"",
		.doc = "The user's role in it: OWNER, ADMIN, MEMBER or GUEST."),
};
SCHEMA(AdminUserPrimaryTenant, .doc = "The tenant a user joined first.");

FIELDS(AdminUserRow) = {
	FIELD(AdminUserRow, id, .required = true, .id = true, .doc = "The user."),
	FIELD(AdminUserRow, email, .required = true, .example = "\"ada@example.org\"",
		.doc = "The address the user signs in with."),
	FIELD(AdminUserRow, name, .required = true, .nullable = true, .example = "\"Ada Example\"",
		.doc = "Shown to people; null until the user gives one."),
	FIELD(AdminUserRow, is_super_admin, .required = true,
		.doc = "True for those who operate across tenants."),
	FIELD(AdminUserRow, is_suspended, .required = true,
		.doc = "True refuses all the user's credentials."),
	FIELD(AdminUserRow, tenant_count, .required = true, .example = "2",
		.doc = "Tenants the user belongs to."),
	FIELD(AdminUserRow, primary_tenant, .required = true, .nullable = true,
		.of = &AdminUserPrimaryTenant_schema,
		.doc = "The oldest membership; null without any."),
	FIELD(AdminUserRow, created_at, .required = true, .doc = "When the user was made."),
	FIELD(AdminUserRow, last_login_at, .required = true, .nullable = true,
		.doc = "When the user last signed in; null if never."),
};
SCHEMA(AdminUserRow, .doc = "A user in the super administrator's roster.");

FIELDS(AllowedAccountCreate) = {
	FIELD(AllowedAccountCreate, email, .required = true, .email = true, BOUNDS(3, 253),
		.example = "\"grace@example.org\"",
		.doc = "Compared without regard to case; must be unique in the tenant."),
};
SCHEMA(AllowedAccountCreate, .doc = "An address that may join the tenant by itself.");

FIELDS(AllowedAccountRead) = {
	FIELD(AllowedAccountRead, id, .required = true, .id = true,
		.doc = "The entry; delete it to close the door again."),
	FIELD(AllowedAccountRead, email, .required = true, .example = "\"grace@example.org\"",
		.doc = "Joins as MEMBER once proven to be the user's own."),
	FIELD(AllowedAccountRead, created_at, .required = true, .doc = "When the entry was made."),
};
SCHEMA(AllowedAccountRead, .doc = "An address that may join the tenant by itself.");

FIELDS(AdminUserUpdate) = {
	FIELD(AdminUserUpdate, is_suspended, .example = "true",
		.doc = "True closes every credential of the user, at once and everywhere."),
	FIELD(AdminUserUpdate, is_super_admin, .example = "false",
		.doc = "Only for an address that is proven: 409 address_unproven else. The last super "
		       "administrator cannot be made an ordinary user."),
};
SCHEMA(AdminUserUpdate, .partial = true, .doc = "Changes to a user; what is left out stays.");

FIELDS(PasswordLink) = {
	FIELD(PasswordLink, url, .required = true,
		.example = "\"https://lodge.example.org/reset#lodge_reset_example\"",
		.doc = "The page on which the password is set; hand it to the user. Shown this once."),
	FIELD(PasswordLink, token, .required = true, .example = "\"lodge_reset_example\"",
		.doc = "The token in that address; good once."),
	FIELD(PasswordLink, expires_at, .required = true, .doc = "24 hours after it was made."),
};
SCHEMA(PasswordLink, .doc = "A link by which a user sets a new password.");
