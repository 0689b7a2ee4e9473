/* members_schemas.c - the tables for people and groups of a tenant. */
#include "api/members.h"

#include "access/permission.h"

const struct words MemberStatus_words = {
	.list = (const char *const[]){ "active", "invited", NULL },
	.doc = "Whether a member has answered the invitation.",
};

#define MEMBER_FIELDS(S)                                                                     \
	FIELD(S, user_id, .need = true, .id = true, .doc = "The user."),                     \
		FIELD(S, email, .need = true, .example = "\"ada@example.org\"",              \
			.doc = "The address they sign in with."),                            \
		FIELD(S, name, .need = true, .nullable = true, .example = "\"Ada Example\"", \
			.doc = "Shown to others; null until they give one."),                \
		FIELD(S, role, .need = true, .words = &tenant_role_words,                    \
			.doc = "What they may do in the tenant."),                           \
		FIELD(S, status, .need = true, .words = &MemberStatus_words,                 \
			.doc = "invited until the invitation is accepted."),                 \
		FIELD(S, created_at, .need = true, .doc = "When they joined or were invited.")

FIELDS(MemberRead) = { MEMBER_FIELDS(MemberRead) };
SCHEMA(MemberRead, .doc = "A member of a tenant.");

FIELDS(MemberAdd) = {
	FIELD(MemberAdd, email, .need = true, .email = true, BOUNDS(3, 253),
		.example = "\"grace@example.org\"",
		.doc = "Somebody known here joins at once; anybody else is invited."),
	FIELD(MemberAdd, role, .preset = "\"MEMBER\"", .words = &tenant_role_words,
		.doc = "Not above your own; OWNER needs owners:write."),
	FIELD(MemberAdd, name, .nullable = true, BOUNDS(1, 255), .example = "\"Grace Example\"",
		.doc = "For somebody who is not known here yet."),
};
SCHEMA(MemberAdd, .doc = "Somebody to take into the tenant.");

FIELDS(MemberAdded) = {
	MEMBER_FIELDS(MemberAdded),
	FIELD(MemberAdded, invite_url, .need = true, .nullable = true,
		.doc = "Where the invitation is accepted; shown this once, null for somebody known."),
	FIELD(MemberAdded, invite_token, .need = true, .nullable = true,
		.doc = "The token in that address, for whoever invites to hand on; single use, good for 7 "
		       "days."),
};
SCHEMA(MemberAdded, .doc = "A new member, with the invitation if one was made.");

FIELDS(MemberUpdate) = {
	FIELD(MemberUpdate, role, .need = true, .words = &tenant_role_words,
		.doc = "Not above your own; to or from OWNER needs owners:write."),
};
SCHEMA(MemberUpdate, .doc = "A change of a member's role.");

FIELDS(GroupRead) = {
	FIELD(GroupRead, id, .need = true, .id = true, .doc = "The group."),
	FIELD(GroupRead, name, .need = true, .example = "\"Support\"",
		.doc = "Unique in the tenant."),
	FIELD(GroupRead, description, .need = true, .nullable = true, .doc = "What it is for."),
	FIELD(GroupRead, member_count, .need = true, .computed = true,
		.doc = "How many are in it."),
	FIELD(GroupRead, created_at, .need = true, .doc = "When it was made."),
};
SCHEMA(GroupRead, .doc = "A group of members, which can hold roles on agents.");

FIELDS(GroupCreate) = {
	FIELD(GroupCreate, name, .need = true, BOUNDS(1, 128), .example = "\"Support\"",
		.doc = "Unique in the tenant."),
	FIELD(GroupCreate, description, .nullable = true, .doc = "What it is for."),
};
SCHEMA(GroupCreate, .doc = "A group to make.");

FIELDS(GroupUpdate) = {
	FIELD(GroupUpdate, name, BOUNDS(1, 128), .example = "\"Support\"",
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
