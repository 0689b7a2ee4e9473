/* members_schemas.c - the tables for people and groups of a tenant. */
#include "api/people/members.h"

#include "access/permission.h"
#include "contract/rules.h"

const struct words MemberStatus_words = {
	.list = (const char *const[]){ "active", "invited", NULL },
	.doc = "Whether a member has answered the invitation.",
};

#define MEMBER_FIELDS(S)                                                                                       \
	FIELD(S, user_id, .required = true, .id = true,                                                        \
		.doc = "The user; while invited, the invitation: the user is known once they have accepted."), \
		FIELD(S, email, .required = true, .example = "\"ada@example.org\"",                            \
			.doc = "The address they sign in with; while invited, as it was given."),              \
		FIELD(S, name, .required = true, .nullable = true, .example = "\"Ada Example\"",               \
			.doc = "Shown to others; null until they give one. While invited, as it was given."),  \
		FIELD(S, role, .required = true, .words = &tenant_role_words,                                  \
			.doc = "What they may do in the tenant."),                                             \
		FIELD(S, status, .required = true, .words = &MemberStatus_words,                               \
			.doc = "invited until the invitation is accepted."),                                   \
		FIELD(S, created_at, .required = true, .doc = "When they joined or were invited.")

FIELDS(MemberRead) = { MEMBER_FIELDS(MemberRead) };
SCHEMA(MemberRead, .doc = "A member of a tenant.");

FIELDS(MemberAdd) = {
	FIELD(MemberAdd, email, .required = true, .email = true, BOUNDS(3, 253),
		.example = "\"grace@example.org\"",
		.doc = "Whoever has an account accepts at /me/invitations, anybody else with the token."),
	FIELD(MemberAdd, role, .preset = "\"MEMBER\"", .words = &tenant_role_words,
		.doc = "Not above your own; OWNER needs owners:write."),
	FIELD(MemberAdd, name, .nullable = true, SHOWN_NAME, BOUNDS(1, 255),
		.example = "\"Grace Example\"",
		.doc = "What to show of them until they accept; the account has the name they give then."),
};
SCHEMA(MemberAdd, .doc = "Somebody to invite into the tenant.");

FIELDS(MemberAdded) = {
	MEMBER_FIELDS(MemberAdded),
	FIELD(MemberAdded, invite_url, .required = true, .nullable = true,
		.doc = "Where the invitation is accepted; shown this once. Somebody who has "
		       "an account signs in and accepts there, or at /me/invitations."),
	FIELD(MemberAdded, invite_token, .required = true, .nullable = true,
		.doc = "The token in that address, for whoever invites to hand on; single use, good for 7 "
		       "days. It makes an account, and does nothing for an address that has one."),
};
SCHEMA(MemberAdded,
	.doc = "Somebody who is invited, with the token if the address has no account yet.");

FIELDS(MemberUpdate) = {
	FIELD(MemberUpdate, role, .required = true, .words = &tenant_role_words,
		.doc = "Not above your own; to or from OWNER needs owners:write."),
};
SCHEMA(MemberUpdate, .doc = "A change of a member's role.");

FIELDS(GroupRead) = {
	FIELD(GroupRead, id, .required = true, .id = true, .doc = "The group."),
	FIELD(GroupRead, name, .required = true, .example = "\"Support\"",
		.doc = "Unique in the tenant."),
	FIELD(GroupRead, description, .required = true, .nullable = true, .doc = "What it is for."),
	FIELD(GroupRead, member_count, .required = true, .computed = true,
		.doc = "How many are in it."),
	FIELD(GroupRead, created_at, .required = true, .doc = "When it was made."),
};
SCHEMA(GroupRead, .doc = "A group of members, which can hold roles on agents.");

FIELDS(GroupCreate) = {
	FIELD(GroupCreate, name, .required = true, SHOWN_NAME, BOUNDS(1, 128),
		.example = "\"Support\"", .doc = "Unique in the tenant."),
	FIELD(GroupCreate, description, .nullable = true, .doc = "What it is for."),
};
SCHEMA(GroupCreate, .doc = "A group to make.");

FIELDS(GroupUpdate) = {
	FIELD(GroupUpdate, name, SHOWN_NAME, BOUNDS(1, 128), .example = "\"Support\"",
		.doc = "Unique in the tenant."),
	FIELD(GroupUpdate, description, .nullable = true, .doc = "What it is for; null clears it."),
};
SCHEMA(GroupUpdate, .partial = true, .doc = "Changes to a group; what is left out stays.");

const struct schema *const members_schemas[] = {
	&MemberRead_schema,
	&MemberAdd_schema,
	&MemberAdded_schema,
	&MemberUpdate_schema,
	&GroupRead_schema,
	&GroupCreate_schema,
	&GroupUpdate_schema,
	NULL,
};
