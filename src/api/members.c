/* members.c - who belongs to a tenant, and as what.
 *
 * Nobody grants above themselves, and the last OWNER neither leaves nor is
 * demoted. */
#include "api/members.h"

#include <string.h>

#include "api/api.h"
#include "api/bootstrap.h"
#include "api/plans.h"
#include "api/search.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "base/fold.h"
#include "store/listing.h"

#define INVITATION_US (7 * 86400 * SECOND_US)

#define MEMBERS_FROM "members m join users u on u.id = m.user_id where m.tenant_id = $1"
#define MEMBERS_COLUMNS "m.user_id, u.email, u.name, m.role, m.status, m.created_at"

enum {
	MEMBER_LIST,
	MEMBER_READ = MEMBER_LIST + LIST_SORTS,
	MEMBER_INSERT,
	MEMBER_SET_ROLE,
	MEMBER_REMOVE,
	MEMBER_FAVORITES,
	MEMBER_OWNERS,
	USER_KNOWN,
	INVITATION_INSERT,
};

struct known_user {
	const char *id;
	bool signs_in; /* has a password, or signs in at a provider */
};

FIELDS(known_user) = {
	FIELD(known_user, id),
	FIELD(known_user, signs_in),
};
static SCHEMA(known_user, .internal = true);

static const struct statement sql[] = {
	LIST_STATEMENTS("member_list", &MemberRead_schema, MEMBERS_COLUMNS, MEMBERS_FROM,
		"m.user_id", "2", "3"),
	[MEMBER_READ] = { "member_read",
		"select " MEMBERS_COLUMNS " from " MEMBERS_FROM " and m.user_id = $2",
		.row = &MemberRead_schema },
	[MEMBER_INSERT] = { "member_add",
		"insert into members (tenant_id, user_id, role, status, created_at, updated_at) "
		"values ($1, $2, $3, $4, $5, $5)" },
	[MEMBER_SET_ROLE] = { "member_set_role",
		"update members set role = $3, updated_at = $4 where tenant_id = $1 and user_id = $2" },
	[MEMBER_REMOVE] = { "member_remove",
		"delete from members where tenant_id = $1 and user_id = $2" },
	[MEMBER_FAVORITES] = { "member_favorites",
		"delete from favorites where tenant_id = $1 and user_id = $2" },
	[MEMBER_OWNERS] = { "member_owners",
		"select count(*) from members "
		"where tenant_id = $1 and role = 'OWNER' and status = 'active'" },
	[USER_KNOWN] = { "user_known",
		"select u.id, case when u.password_hash is not null or exists (select 1 from identities i "
		"where i.user_id = u.id) then 1 else 0 end as signs_in "
		"from users u where u.email_folded = $1",
		.row = &known_user_schema },
	[INVITATION_INSERT] = { "invitation_insert",
		"insert into invitations (hash, tenant_id, user_id, created_by_id, created_at, "
		"expires_at) values ($1, $2, $3, $4, $5, $6)" },
};
STATEMENT_SET(member_sql, sql);

/* OWNERs are made, changed and removed by those who hold owners:write. */
static int check_reach(struct call *c, int role)
{
	return role == ROLE_OWNER
		       ? caller_also(&c->caller, c->arena, PERM_OWNERS_WRITE, &c->problem)
		       : 0;
}

static int check_last_owner(struct call *c, const struct MemberRead *m)
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

static int find_member(struct call *c, const char *user_id, struct MemberRead *ret)
{
	int err = db_one(
		c->db, c->arena, &sql[MEMBER_READ], ret, ARGS(T(c->caller.tenant_id), T(user_id)));

	if (err == ERR_NOT_FOUND)
		return call_fail(c, err, "There is no such member.");
	return err;
}

OPERATION(listMembers, .list = true, .key = "user_id", .reply = &MemberRead_schema)
{
	return call_list(c, &sql[MEMBER_LIST], ARGS(T(c->caller.tenant_id)));
}

/* A fresh single-use token for somebody who has to prove that the address is theirs. */
static int invite(struct call *c, const char *user_id, struct MemberAdded *out)
{
	char token[TOKEN_MAX], hash[65];

	token_new(TOKEN_INVITE, token);
	credential_hash(token, hash);
	out->invite_token = arena_strdup(c->arena, token);
	out->invite_url =
		arena_printf(c->arena, "%s/invite#%s", c->app->settings.public_url, token);
	return db_run(c->db, &sql[INVITATION_INSERT], NULL,
		ARGS(T(hash), T(c->caller.tenant_id), T(user_id), T(c->caller.user_id), N(c->now),
			N(c->now + INVITATION_US)));
}

/* The user with the address, made if there is none.  Whoever has never signed in is invited. */
static int find_or_make(struct call *c, const struct MemberAdd *in, struct known_user *ret)
{
	int err =
		db_one(c->db, c->arena, &sql[USER_KNOWN], ret, ARGS(T(fold(c->arena, in->email))));

	if (err != ERR_NOT_FOUND)
		return err;
	*ret = (struct known_user){ 0 };
	return user_make(c->db, c->arena,
		&(struct new_user){ .email = in->email, .name = in->name }, &ret->id);
}

OPERATION(addMember, .body = &MemberAdd_schema, .reply = &MemberAdded_schema)
{
	const struct MemberAdd *in = c->body;
	struct MemberAdded *out = c->reply;
	struct known_user user;
	struct MemberRead row;
	bool known;
	int err = check_reach(c, in->role);

	if (!err)
		err = plan_admits_member(c);
	if (!err)
		err = find_or_make(c, in, &user);
	if (err)
		return err;
	known = user.signs_in;
	err = db_run(c->db, &sql[MEMBER_INSERT], NULL,
		ARGS(T(c->caller.tenant_id), T(user.id), T(tenant_role_words.list[in->role]),
			T(MemberStatus_words.list[known ? MEMBER_ACTIVE : MEMBER_INVITED]),
			N(c->now)));
	if (err == ERR_DUPLICATE)
		return call_fail(c, ERR_CONFLICT, "%s is a member already.", in->email);
	if (!err)
		err = tenant_count(c->db, c->caller.tenant_id, 0, 1);
	if (!err)
		err = search_refresh(
			c->db, c->arena, c->caller.tenant_id, MentionType_user, user.id);
	if (!err)
		err = find_member(c, user.id, &row);
	if (err)
		return err;
	schema_copy(&MemberRead_schema, &row, &MemberAdded_schema, out);
	c->audit.resource_id = user.id;
	c->audit.meta =
		arena_printf(c->arena, "{\"role\":\"%s\"}", tenant_role_words.list[in->role]);
	c->location = arena_printf(c->arena, "/tenant/%s/members/%s", c->caller.tenant_id, user.id);
	return known ? 0 : invite(c, user.id, out);
}

OPERATION(updateMember, .body = &MemberUpdate_schema, .reply = &MemberRead_schema)
{
	const struct MemberUpdate *in = c->body;
	struct MemberRead before, *out = c->reply;
	int err = find_member(c, call_param(c, "user_id"), &before);

	if (!err)
		err = check_reach(c, before.role);
	if (!err)
		err = check_reach(c, in->role);
	if (!err && in->role != ROLE_OWNER)
		err = check_last_owner(c, &before);
	if (!err)
		err = db_run(c->db, &sql[MEMBER_SET_ROLE], NULL,
			ARGS(T(c->caller.tenant_id), T(before.user_id),
				T(tenant_role_words.list[in->role]), N(c->now)));
	*out = before;
	out->role = in->role;
	c->audit.resource_id = before.user_id;
	if (!err)
		call_changed(c, &MemberRead_schema, &before, out);
	return err;
}

OPERATION(removeMember)
{
	struct MemberRead before;
	int err = find_member(c, call_param(c, "user_id"), &before);

	if (!err)
		err = check_reach(c, before.role);
	if (!err)
		err = check_last_owner(c, &before);
	if (!err)
		err = db_run(c->db, &sql[MEMBER_REMOVE], NULL,
			ARGS(T(c->caller.tenant_id), T(before.user_id)));
	/* Favourites are no member's alone, so they do not go by themselves. */
	if (!err)
		err = db_run(c->db, &sql[MEMBER_FAVORITES], NULL,
			ARGS(T(c->caller.tenant_id), T(before.user_id)));
	if (!err)
		err = search_remove(
			c->db, c->arena, c->caller.tenant_id, MentionType_user, before.user_id);
	if (!err)
		err = tenant_count(c->db, c->caller.tenant_id, 0, -1);
	c->audit.resource_id = before.user_id;
	return err;
}

#define T_ "/tenant/{tenant_id}"

static const struct route routes[] = {
	{ METHOD_GET, T_ "/members", &listMembers, PERM_MEMBERS_READ, 200, .tag = "Members",
		.doc = "List the members, newest user first." },
	{ METHOD_POST, T_ "/members", &addMember, PERM_MEMBERS_WRITE, 201, "member.add",
		.tag = "Members", .doc = "Take somebody in, or invite them." },
	{ METHOD_PATCH, T_ "/members/{user_id}", &updateMember, PERM_MEMBERS_WRITE, 200,
		"member.update", .tag = "Members", .doc = "Change a member's role." },
	{ METHOD_DELETE, T_ "/members/{user_id}", &removeMember, PERM_MEMBERS_WRITE, 204,
		"member.remove", .tag = "Members", .doc = "Remove a member." },
};
RESOURCE(members, routes, members_schemas);
