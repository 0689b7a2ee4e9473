/* members.c - who belongs to a tenant, and as what.
 *
 * Whoever is added is invited, and belongs to the tenant once they have
 * accepted: by a token where the address has no account yet (account.c),
 * signed in where it has (invitations.c).  An open invitation takes a seat of
 * the plan and counts nowhere else.
 *
 * Until they accept, the tenant sees the invitation and not the person: an id
 * of its own, and the address and the name as they were given.  So nobody
 * learns by inviting whether an address has an account, or whose it is.
 *
 * Nobody grants above themselves, and the last OWNER neither leaves nor is
 * demoted. */
#include "api/people/members.h"

#include <string.h>

#include "access/permission.h"
#include "api/people/letter_fill.h"
#include "api/people/login.h"
#include "api/people/new_user.h"
#include "api/people/proof.h"
#include "api/plans/plans.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "base/fold.h"
#include "base/id.h"
#include "call/operation.h"
#include "contract/rules.h"
#include "search/search.h"
#include "store/listing.h"
#include "store/row.h"

const struct words MemberStatus_words = {
	.list = (const char *const[]){ "active", "invited", NULL },
	.doc = "Whether a member has answered the invitation.",
};

const struct words InvitationLetter_words = {
	.list = (const char *const[]){ "queued", "no_mail", "limited", NULL },
	.doc = "queued: a letter with a link of its own is on its way to the address; no_mail: the service "
	       "has no mail; limited: no letter goes, for there were too many.",
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
	FIELD(MemberAdded, letter, .required = true, .words = &InvitationLetter_words,
		.doc = "Whether a letter goes to the address. Without one, hand on invite_url."),
	FIELD(MemberAdded, letter_again_at, .required = true, .nullable = true, .example = "null",
		.doc = "If limited, when inviting again sends a letter; else null."),
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

#define INVITATION_US (7 * 86400 * SECOND_US)

#define MEMBERS_FROM "members m join users u on u.id = m.user_id where m.tenant_id = $1"
#define WHILE_INVITED(asked, known) \
	"case when m.status = 'invited' then " asked " else " known " end"
/* As in the index. */
#define SHOWN_ID WHILE_INVITED("coalesce(m.invited_as, m.user_id)", "m.user_id")
#define MEMBERS_COLUMNS                                                                                                      \
	SHOWN_ID " as user_id, " WHILE_INVITED("coalesce(m.invited_email, u.email)",                                         \
		"u.email") " as email, " WHILE_INVITED("case when m.invited_as is null then u.name else m.invited_name end", \
		"u.name") " as name, m.role, m.status, m.created_at"
#define MEMBER_ROW "select m.user_id as real_id, " MEMBERS_COLUMNS " from " MEMBERS_FROM

enum {
	LIST_OF(MEMBER_LIST),
	MEMBER_READ,
	MEMBER_OF_USER,
	MEMBER_INSERT,
	MEMBER_ASK,
	MEMBER_SET_ROLE,
	MEMBER_REMOVE,
	MEMBER_FAVORITES,
	MEMBER_OWNERS,
	USER_KNOWN,
	INVITATION_INSERT,
	INVITATION_DROP,
};

struct invitation_row {
	const char *hash, *tenant_id, *user_id, *created_by_id;
	int64_t created_at, expires_at;
};

FIELDS(invitation_row) = {
	ROW_FIELDS(invitation_row, hash, tenant_id, user_id, created_at, expires_at),
	ROW_NULLABLE(invitation_row, created_by_id),
};
static SCHEMA(invitation_row, .internal = true);

struct member_row {
	const char *real_id, *user_id, *email, *name;
	int role, status;
	struct moment created_at;
};

FIELDS(member_row) = {
	FIELD(member_row, real_id),
	FIELD(member_row, user_id),
	FIELD(member_row, email),
	FIELD(member_row, name, .nullable = true),
	FIELD(member_row, role, .words = &tenant_role_words),
	FIELD(member_row, status, .words = &MemberStatus_words),
	FIELD(member_row, created_at),
};
static SCHEMA(member_row, .internal = true);

static const struct statement sql[] = {
	LISTING(MEMBER_LIST, "member_list", &MemberRead_schema, MEMBERS_COLUMNS, MEMBERS_FROM,
		SHOWN_ID),
	[MEMBER_READ] = { "member_read", MEMBER_ROW " and " SHOWN_ID " = $2",
		.row = &member_row_schema },
	[MEMBER_OF_USER] = { "member_of_user", MEMBER_ROW " and m.user_id = $2",
		.row = &member_row_schema },
	[MEMBER_INSERT] = { "member_add",
		"insert into members (tenant_id, user_id, role, status, created_at, updated_at) "
		"values ($1, $2, $3, 'invited', $4, $4)" },
	[MEMBER_ASK] = { "member_ask",
		"update members set invited_as = coalesce(invited_as, $3), invited_email = $4, "
		"invited_name = coalesce($5, invited_name) where tenant_id = $1 and user_id = $2" },
	[MEMBER_SET_ROLE] = { "member_set_role",
		"update members set role = $3, updated_at = $4 where tenant_id = $1 and user_id = $2" },
	[MEMBER_REMOVE] = { "member_remove",
		"delete from members where tenant_id = $1 and user_id = $2" },
	[MEMBER_FAVORITES] = { "member_favorites",
		"delete from favorites where tenant_id = $1 and user_id = $2" },
	[MEMBER_OWNERS] = { "member_owners",
		"select count(*) from members "
		"where tenant_id = $1 and role = 'OWNER' and status = 'active'" },
	[USER_KNOWN] = { "user_known", "select id as value from users where email_folded = $1",
		.row = &one_text_schema },
	[INVITATION_INSERT] = { "invitation_insert", "insert into invitations ({*}) values ({$})",
		.row = &invitation_row_schema },
	[INVITATION_DROP] = { "invitation_drop",
		"delete from invitations where tenant_id = $1 and user_id = $2" },
};
STATEMENT_SET(member_sql, sql);

/* OWNERs are made, changed and removed by those who hold owners:write. */
static int check_egress(struct call *c, int role)
{
	return role == ROLE_OWNER
		       ? caller_also(&c->caller, c->arena, PERM_OWNERS_WRITE, &c->problem)
		       : 0;
}

static int check_member_last_owner(struct call *c, const struct member_row *m)
{
	int64_t owners = 0;
	int err;

	if (m->role != ROLE_OWNER || m->status != MEMBER_ACTIVE)
		return 0;
	err = db_int(c->db, &sql[MEMBER_OWNERS], &owners, ARGS(T(c->caller.tenant_id)));
	if (!err && owners <= 1)
		return call_fail(
			c, ERR_CONFLICT, "This is the tenant's last OWNER; make another first.");
	return err;
}

static int find_member(struct call *c, const char *user_id, struct member_row *ret)
{
	int err = db_one(
		c->db, c->arena, &sql[MEMBER_READ], ret, ARGS(T(c->caller.tenant_id), T(user_id)));

	if (err == ERR_NOT_FOUND)
		return call_fail(c, err, "There is no such member.");
	return err;
}

LIST_OPERATION(listMembers, NONE, MemberRead, .key = "user_id")
{
	return call_list(c, &sql[MEMBER_LIST], ARGS(T(c->caller.tenant_id)));
}

OPERATION(readMember, NONE, MemberRead)
{
	struct member_row row;
	int err = find_member(c, call_param(c, "user_id"), &row);

	if (!err)
		schema_copy(&member_row_schema, &row, &MemberRead_schema, out);
	return err;
}

/* A fresh single-use token; an earlier one of this tenant is void.  It makes an account where there is none, and is good
 * for nothing where there is one. */
static int make_invitation(struct call *c, const char *user_id, struct MemberAdded *out)
{
	char token[TOKEN_MAX], hash[65];
	int err = db_run(
		c->db, &sql[INVITATION_DROP], NULL, ARGS(T(c->caller.tenant_id), T(user_id)));

	if (err)
		return err;

	token_new(TOKEN_INVITE, token);
	credential_hash(token, hash);
	out->invite_token = arena_strdup(c->arena, token);
	out->invite_url =
		arena_printf(c->arena, "%s/invite#%s", c->app->settings.public_url, token);
	return db_put(c->db, &sql[INVITATION_INSERT],
		&(struct invitation_row){ .hash = hash,
			.tenant_id = c->caller.tenant_id,
			.user_id = user_id,
			.created_by_id = c->caller.user_id,
			.created_at = c->now,
			.expires_at = c->now + INVITATION_US });
}

/* The user with the address, made if there is none: bare, for the row is every tenant's that invites the address, and what
 * this one wrote is in its own (show_as_asked). */
static int find_or_make(struct call *c, const struct MemberAdd *in, const char **ret_id)
{
	const char *address = fold_ascii(c->arena, in->email);
	struct one_text known;
	int err = db_one(c->db, c->arena, &sql[USER_KNOWN], &known, ARGS(T(address)));

	if (err == ERR_NOT_FOUND)
		return user_make(c->db, c->arena, &(struct new_user){ .email = address }, ret_id);
	*ret_id = known.value;
	return err;
}

static int add_invited(struct call *c, const char *user_id, int role)
{
	int err = plan_admits_member(c);

	if (!err)
		err = db_run(c->db, &sql[MEMBER_INSERT], NULL,
			ARGS(T(c->caller.tenant_id), T(user_id), T(tenant_role_words.list[role]),
				N(c->now)));
	return err ? err : tenant_count(c->db, c->caller.tenant_id, 0, 1);
}

/* Somebody who has not answered is asked again, now for the role that is stated. */
static int invite_again(struct call *c, const struct member_row *before, int role)
{
	int err = check_egress(c, before->role);

	c->standing = true;
	if (before->status == MEMBER_ACTIVE)
		return call_fail(c, ERR_CONFLICT, "%s is a member already.", before->email);
	return err ? err
		   : db_run(c->db, &sql[MEMBER_SET_ROLE], NULL,
			     ARGS(T(c->caller.tenant_id), T(before->real_id),
				     T(tenant_role_words.list[role]), N(c->now)));
}

/* What the tenant sees of them until they accept. */
static int show_as_asked(struct call *c, const char *user_id, const struct MemberAdd *in)
{
	struct id id = id_new(NULL);

	return db_run(c->db, &sql[MEMBER_ASK], NULL,
		ARGS(T(c->caller.tenant_id), T(user_id), T(id.text), T(in->email), T(in->name)));
}

/* With a token of its own, which only the address sees.  Whoever invites an address again and again has the link in the
 * answer, and is told that no letter goes. */
static int mail_invitation(
	struct call *c, const char *user_id, const char *email, struct MemberAdded *out)
{
	int err;

	out->letter = InvitationLetter_no_mail;
	out->letter_again_at.us = NIL;
	if (!letter_post_goes(service_of(c->app)->letters))
		return 0;
	err = letters_take_invitation(c, email, &out->letter_again_at.us);
	out->letter =
		out->letter_again_at.us == NIL ? InvitationLetter_queued : InvitationLetter_limited;
	return err || out->letter != InvitationLetter_queued
		       ? err
		       : letter_add(c->db, LETTER_INVITE, user_id, c->caller.tenant_id, c->now);
}

OPERATION(addMember, MemberAdd, MemberAdded, .key = "user_id", .may_stand = true)
{
	const char *user_id = NULL;
	struct member_row row;
	int err = check_egress(c, in->role);

	if (!err)
		err = find_or_make(c, in, &user_id);
	if (err)
		return err;
	err = db_one(c->db, c->arena, &sql[MEMBER_OF_USER], &row,
		ARGS(T(c->caller.tenant_id), T(user_id)));
	if (err == ERR_NOT_FOUND)
		err = add_invited(c, user_id, in->role);
	else if (!err)
		err = invite_again(c, &row, in->role);
	if (!err)
		err = show_as_asked(c, user_id, in);
	if (!err)
		err = db_one(c->db, c->arena, &sql[MEMBER_OF_USER], &row,
			ARGS(T(c->caller.tenant_id), T(user_id)));
	if (err)
		return err;
	schema_copy(&member_row_schema, &row, &MemberAdded_schema, out);
	c->audit.meta =
		arena_printf(c->arena, "{\"role\":\"%s\"}", tenant_role_words.list[in->role]);
	err = make_invitation(c, user_id, out);
	return err ? err : mail_invitation(c, user_id, in->email, out);
}

OPERATION(updateMember, MemberUpdate, MemberRead)
{
	struct member_row before;
	struct MemberRead shown;
	int err = find_member(c, call_param(c, "user_id"), &before);

	if (!err)
		err = check_egress(c, before.role);
	if (!err)
		err = check_egress(c, in->role);
	if (!err && in->role != ROLE_OWNER)
		err = check_member_last_owner(c, &before);
	if (err)
		return err;
	schema_copy(&member_row_schema, &before, &MemberRead_schema, &shown);
	call_merge(c, CHANGE(MemberRead, &shown, out));
	err = call_update(c, CHANGE(MemberRead, &shown, out), NULL);
	return err ? err
		   : db_run(c->db, &sql[MEMBER_SET_ROLE], NULL,
			     ARGS(T(c->caller.tenant_id), T(before.real_id),
				     T(tenant_role_words.list[in->role]), N(c->now)));
}

static int remove_member(struct call *c, const struct member_row *before)
{
	const char *tenant_id = c->caller.tenant_id, *user_id = before->real_id;
	int err = check_member_last_owner(c, before);

	if (!err)
		err = db_run(c->db, &sql[MEMBER_REMOVE], NULL, ARGS(T(tenant_id), T(user_id)));
	/* Favourites are no member's alone, so they do not go by themselves. */
	if (!err)
		err = db_run(c->db, &sql[MEMBER_FAVORITES], NULL, ARGS(T(tenant_id), T(user_id)));
	if (!err)
		err = search_remove(c->db, c->arena, tenant_id, MentionType_user, user_id);
	if (!err)
		err = tenant_count(c->db, tenant_id, 0, -1);
	if (!err && before->status == MEMBER_INVITED)
		err = address_uninvited(c->db, user_id);
	c->audit.resource_id = before->user_id;
	return err;
}

OPERATION(removeMember, NONE, NONE)
{
	struct member_row before;
	int err = find_member(c, call_param(c, "user_id"), &before);

	if (!err)
		err = check_egress(c, before.role);
	return err ? err : remove_member(c, &before);
}

OPERATION(leaveTenant, NONE, NONE)
{
	struct member_row before;
	int err = login_check_person(c);

	if (err)
		return err;
	c->caller.tenant_id = c->audit.tenant_id = call_param(c, "tenant_id");
	err = db_one(c->db, c->arena, &sql[MEMBER_OF_USER], &before,
		ARGS(T(c->caller.tenant_id), T(c->caller.user_id)));
	if (err == ERR_NOT_FOUND || (!err && before.status != MEMBER_ACTIVE))
		return call_fail(c, ERR_NOT_FOUND, "You are in no such tenant.");
	return err ? err : remove_member(c, &before);
}

#define T_ "/tenant/{tenant_id}"

static const struct route routes[] = {
	{ METHOD_GET, T_ "/members", &listMembers, PERM_MEMBERS_READ, 200, .tag = "Members",
		.doc = "List the members, newest first; somebody invited is shown as they were invited." },
	{ METHOD_POST, T_ "/members", &addMember, PERM_MEMBERS_WRITE, 201, "member.add",
		.tag = "Members",
		.doc = "Invite somebody. The answer is the same whether or not the address has an account: "
		       "with the token it makes one, and who has one accepts at /me/invitations. "
		       "Inviting again makes a fresh token, and sends a letter again; letter says whether "
		       "one goes." },
	{ METHOD_GET, T_ "/members/{user_id}", &readMember, PERM_MEMBERS_READ, 200,
		.tag = "Members", .doc = "Read a member." },
	{ METHOD_PATCH, T_ "/members/{user_id}", &updateMember, PERM_MEMBERS_WRITE, 200,
		"member.update", .tag = "Members", .doc = "Change a member's role." },
	{ METHOD_DELETE, T_ "/members/{user_id}", &removeMember, PERM_MEMBERS_WRITE, 204,
		"member.remove", .tag = "Members", .doc = "Remove a member." },
	{ METHOD_DELETE, "/me/memberships/{tenant_id}", &leaveTenant, PERM_LOGIN, 204,
		"member.leave", .tag = "Identity",
		.doc = "Leave a tenant; 409 for its last OWNER." },
};
RESOURCE(members, routes, NULL, &member_sql);
