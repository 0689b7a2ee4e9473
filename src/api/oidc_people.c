/* oidc_people.c - see oidc_people.h.
 *
 * A provider's subject that is known is its user.  Else only an address that
 * the provider vouches for counts: it links the user who has it, or makes
 * one if a tenant has allowed it.  An address is never taken on the
 * subject's own word. */
#include "api/oidc_people.h"

#include <string.h>

#include "api/bootstrap.h"
#include "api/plans.h"
#include "api/search.h"
#include "base/fold.h"
#include "base/json.h"
#include "contract/value.h"

enum { EMAIL_MAX = 253, NAME_MAX_POINTS = 255, TENANTS_MAX = 1000 };

struct person {
	const char *id, *email_folded;
	bool is_suspended;
};

FIELDS(person) = {
	FIELD(person, id),
	FIELD(person, email_folded),
	FIELD(person, is_suspended),
};
static SCHEMA(person, .internal = true);

enum {
	PERSON_BY_IDENTITY,
	PERSON_BY_EMAIL,
	IDENTITY_INSERT,
	DOORS,
	MEMBER_JOIN,
	INVITED_ACTIVATE,
};

static const struct statement sql[] = {
	[PERSON_BY_IDENTITY] = { "person_by_identity",
		"select u.id, u.email_folded, u.is_suspended from identities i "
		"join users u on u.id = i.user_id where i.provider = $1 and i.subject = $2",
		.row = &person_schema },
	[PERSON_BY_EMAIL] = { "person_by_email",
		"select id, email_folded, is_suspended from users where email_folded = $1",
		.row = &person_schema },
	[IDENTITY_INSERT] = { "identity_insert",
		"insert into identities (provider, subject, user_id, created_at) "
		"values ($1, $2, $3, $4)" },
	[DOORS] = { "oidc_doors",
		"select a.tenant_id as value from allowed_accounts a where a.email_folded = $1 "
		"and not exists (select 1 from members m where m.tenant_id = a.tenant_id "
		"and m.user_id = $2) order by a.tenant_id",
		.row = &one_text_schema, .across = "an address may be allowed by several tenants" },
	[MEMBER_JOIN] = { "oidc_join",
		"insert into members (tenant_id, user_id, role, status, created_at, updated_at) "
		"values ($1, $2, 'MEMBER', 'active', $3, $3)" },
	[INVITED_ACTIVATE] = { "oidc_activate",
		"update members set status = 'active', updated_at = $2 "
		"where user_id = $1 and status = 'invited'",
		.across = "somebody may be invited by several tenants" },
};
STATEMENT_SET(oidc_people_sql, sql);

/* The address, folded, if the provider vouches for it; else NULL. */
static const char *proven_address(struct arena *a, const struct jwt_claims *claims)
{
	size_t len = claims->email ? strlen(claims->email) : 0;

	if (!claims->email_verified || !len || len > EMAIL_MAX || !email_valid(claims->email, len))
		return NULL;
	return fold(a, claims->email);
}

/* The tenants that allow the address, that the user is not in yet, and that have room. */
static int open_doors(struct call *c, const char *address, const char *user_id, struct list *ret)
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

static int join(struct call *c, const char *provider, const char *user_id, const struct list *doors)
{
	const struct one_text *door = doors->at;
	struct audit_entry entry = {
		.action = "member.join",
		.resource_id = user_id,
		.user_id = user_id,
		.ip = c->ip,
		.user_agent = http_header(&c->x->request, "user-agent"),
		.meta = arena_printf(c->arena, "{\"provider\":\"%s\"}", provider),
	};
	int err = 0;

	for (size_t i = 0; !err && i < doors->count; i++) {
		entry.tenant_id = door[i].value;
		err = db_run(c->db, &sql[MEMBER_JOIN], NULL,
			ARGS(T(entry.tenant_id), T(user_id), N(c->now)));
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

static int make(struct call *c, const struct jwt_claims *claims, const char **ret_id)
{
	struct new_user user = { .email = claims->email };

	if (claims->name && *claims->name &&
		utf8_count(claims->name, strlen(claims->name)) <= NAME_MAX_POINTS)
		user.name = claims->name;
	return user_make(c->db, c->arena, &user, ret_id);
}

int oidc_admit(struct call *c, const char *provider, const struct jwt_claims *claims,
	enum oidc_refusal *ret_refusal, const char **ret_user_id)
{
	const char *address = proven_address(c->arena, claims);
	struct person who = { 0 };
	struct list doors = { 0 };
	bool known, linked;
	int err = db_one(c->db, c->arena, &sql[PERSON_BY_IDENTITY], &who,
		ARGS(T(provider), T(claims->subject)));

	known = linked = !err;
	if (err == ERR_NOT_FOUND && address) {
		err = db_one(c->db, c->arena, &sql[PERSON_BY_EMAIL], &who, ARGS(T(address)));
		known = !err;
	}
	if (err && err != ERR_NOT_FOUND)
		return err;
	*ret_user_id = known ? who.id : NULL;
	if (known && who.is_suspended)
		*ret_refusal = OIDC_SUSPENDED;
	else if (!known && !address)
		*ret_refusal = OIDC_NO_EMAIL;
	else
		*ret_refusal = OIDC_WELCOME;
	if (*ret_refusal)
		return 0;
	err = address ? open_doors(c, address, *ret_user_id, &doors) : 0;
	if (!err && !known && !doors.count) {
		*ret_refusal = OIDC_NOT_ALLOWED;
		return 0;
	}
	if (!err && !known)
		err = make(c, claims, ret_user_id);
	if (!err && !linked)
		err = db_run(c->db, &sql[IDENTITY_INSERT], NULL,
			ARGS(T(provider), T(claims->subject), T(*ret_user_id), N(c->now)));
	/* An invitation went to this address, which is now proven. */
	if (!err && known && address && strcmp(address, who.email_folded) == 0)
		err = db_run(c->db, &sql[INVITED_ACTIVATE], NULL, ARGS(T(*ret_user_id), N(c->now)));
	if (!err)
		err = join(c, provider, *ret_user_id, &doors);
	/* The same person came twice at the same moment: the next run sees the other. */
	return err == ERR_DUPLICATE ? ERR_RETRY : err;
}
