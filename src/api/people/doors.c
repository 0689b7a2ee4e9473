/* doors.c - see doors.h. */
#include "api/people/doors.h"

#include "api/plans/plans.h"
#include "base/id.h"
#include "search/search.h"
#include "store/row.h"

enum { TENANTS_MAX = 1000 };
enum { DOORS, MEMBER_ELSEWHERE, MEMBER_JOIN };

struct joined_member {
	const char *tenant_id, *user_id, *status, *invited_as, *invited_email;
	int64_t created_at;
};

FIELDS(joined_member) = {
	ROW_FIELDS(joined_member, tenant_id, user_id, status, created_at),
	ROW_NULLABLE(joined_member, invited_as, invited_email),
};
static SCHEMA(joined_member, .internal = true);

static const struct statement sql[] = {
	[DOORS] = { "oidc_doors",
		"select a.tenant_id as value from allowed_accounts a where a.email_folded = $1 "
		"and not exists (select 1 from members m where m.tenant_id = a.tenant_id "
		"and m.user_id = $2) order by a.tenant_id",
		.row = &one_text_schema, .across = "an address may be allowed by several tenants" },
	[MEMBER_ELSEWHERE] = { "oidc_member_elsewhere",
		"select count(*) from members where user_id = $1 and status = 'active'",
		.across = "whether somebody is in any tenant" },
	[MEMBER_JOIN] = { "oidc_join",
		"insert into members ({*}, role, updated_at) values ({$}, 'MEMBER', :created_at)",
		.row = &joined_member_schema },
};
STATEMENT_SET(doors_sql, sql);

int doors_open(struct call *c, const char *address, const char *user_id, struct list *ret)
{
	struct list all = { 0 };
	struct one_text *doors;
	int err = db_all(c->db, c->arena, &sql[DOORS], &all, TENANTS_MAX,
		ARGS(T(address), T(user_id ? user_id : "")));

	*ret = (struct list){ .at = all.at };
	doors = all.at;
	for (size_t i = 0; !err && i < all.count; i++) {
		struct call probe = *c;

		probe.caller.tenant_id = doors[i].value;
		err = plan_admits_member(&probe);
		if (!err)
			doors[ret->count++] = doors[i];
		else if (err == ERR_CONFLICT)
			err = 0;
		else
			c->problem = probe.problem;
	}
	return err;
}

/* Whoever is in a tenant is asked, and until they have answered the others see the address they allowed, nobody else. */
static int join_tenants(struct call *c, const char *user_id, const char *address,
	const struct list *doors, const char *how, bool asked)
{
	const struct one_text *door = doors->at;
	struct id invitation = id_new(NULL);
	struct audit_entry entry = {
		.action = asked ? "member.add" : "member.join",
		.resource_id = asked ? invitation.text : user_id,
		.user_id = asked ? NULL : user_id,
		.ip = asked ? NULL : c->ip,
		.user_agent = asked ? NULL : call_user_agent(c),
		.meta = how,
	};
	int err = 0;

	for (size_t i = 0; !err && i < doors->count; i++) {
		entry.tenant_id = door[i].value;
		err = db_put(c->db, &sql[MEMBER_JOIN],
			&(struct joined_member){ .tenant_id = entry.tenant_id,
				.user_id = user_id,
				.status = asked ? "invited" : "active",
				.invited_as = invitation.text,
				.invited_email = address,
				.created_at = c->now });
		if (!err)
			err = search_refresh(
				c->db, c->arena, entry.tenant_id, MentionType_user, user_id);
		if (!err)
			err = tenant_count(c->db, entry.tenant_id, 0, 1);
		if (!err)
			err = audit_write(c->db, c->arena, &entry);
	}
	return err;
}

int doors_enter(struct call *c, const char *user_id, const char *address, const struct list *doors,
	const char *how)
{
	int64_t elsewhere = 0;
	int err = doors->count ? db_int(c->db, &sql[MEMBER_ELSEWHERE], &elsewhere, ARGS(T(user_id)))
			       : 0;

	return err ? err : join_tenants(c, user_id, address, doors, how, elsewhere > 0);
}
