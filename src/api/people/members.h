/* members.h - people and groups of a tenant. */
#pragma once
#include "contract/schema.h"

struct MemberRead {
	const char *user_id, *email, *name;
	int role, status;
	struct moment created_at;
};
SCHEMA_DECLARED(MemberRead);

struct MemberAdd {
	const char *email;
	int role;
	const char *name;
};
SCHEMA_DECLARED(MemberAdd);

struct MemberAdded {
	const char *user_id, *email, *name;
	int role, status;
	struct moment created_at;
	const char *invite_url, *invite_token;
	int letter;
	struct moment letter_again_at;
};
SCHEMA_DECLARED(MemberAdded);

struct MemberUpdate {
	int role;
};
SCHEMA_DECLARED(MemberUpdate);

struct GroupRead {
	const char *id, *name, *description;
	int64_t member_count;
	struct moment created_at;
};
SCHEMA_DECLARED(GroupRead);

struct GroupCreate {
	const char *name, *description;
};
SCHEMA_DECLARED(GroupCreate);

struct GroupUpdate {
	uint64_t present;
	const char *name, *description;
};
SCHEMA_DECLARED(GroupUpdate);

enum InvitationLetter {
	InvitationLetter_queued,
	InvitationLetter_no_mail,
	InvitationLetter_limited
};
extern const struct words MemberStatus_words, InvitationLetter_words;
enum { MEMBER_ACTIVE, MEMBER_INVITED };
