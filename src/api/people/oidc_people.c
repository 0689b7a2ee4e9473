/* oidc_people.c - see oidc_people.h.
 *
 * A provider's subject that is known is its user.  Else only an address that
 * the provider vouches for counts: it links the user who has it, or makes
 * one if a tenant has allowed it.  An address is never taken on the
 * subject's own word, and never from a second subject of the same provider:
 * addresses are given to others, subjects are not.
 *
 * The provider's word proves the address: what was got hold of without proof,
 * by a token that somebody else may have seen, ends before the login that
 * proves it begins (proof.h).  Invitations stay open until they are answered. */
#include "api/people/oidc_people.h"

#include <string.h>

#include "api/people/doors.h"
#include "api/people/new_user.h"
#include "api/people/proof.h"
#include "base/fold.h"
#include "base/json.h"
#include "contract/rules.h"
#include "contract/value.h"
#include "store/row.h"

enum { EMAIL_MAX = 253, NAME_MAX_POINTS = 255 };

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
	IDENTITY_OTHER,
	IDENTITY_INSERT,
	PERSON_COMPLETE,
};

static const struct statement sql[] = {
	[PERSON_BY_IDENTITY] = { "person_by_identity",
		"select u.id, u.email_folded, u.is_suspended from identities i "
		"join users u on u.id = i.user_id where i.provider = $1 and i.subject = $2",
		.row = &person_schema },
	[PERSON_BY_EMAIL] = { "person_by_email",
		"select id, email_folded, is_suspended from users where email_folded = $1",
		.row = &person_schema },
	[IDENTITY_OTHER] = { "identity_other",
		"select count(*) from identities where user_id = $1 and provider = $2" },
	[PERSON_COMPLETE] = { "person_complete",
		"update users set email = $2, name = $3, updated_at = $4 "
		"where id = $1 and not " HAS_ACCOUNT("users") },
	[IDENTITY_INSERT] = { "identity_insert",
		"insert into identities (provider, subject, user_id, created_at) "
		"values ($1, $2, $3, $4)" },
};
STATEMENT_SET(oidc_people_sql, sql);

/* The address, folded, if the provider vouches for it; else NULL. */
static const char *proven_address(struct arena *a, const struct jwt_claims *claims)
{
	size_t len = claims->email ? strlen(claims->email) : 0;

	if (!claims->email_verified || !len || len > EMAIL_MAX || !email_valid(claims->email, len))
		return NULL;
	return fold_ascii(a, claims->email);
}

/* The name the provider gives, if it can be one. */
static const char *claimed_name(const struct jwt_claims *claims)
{
	return claims->name && *claims->name &&
			       utf8_count(claims->name, strlen(claims->name)) <= NAME_MAX_POINTS &&
			       !check_shown_name(claims->name)
		       ? claims->name
		       : NULL;
}

static int make_oidc_user(struct call *c, const struct jwt_claims *claims, const char **ret_id)
{
	return user_make(c->db, c->arena,
		&(struct new_user){
			.email = claims->email, .name = claimed_name(claims), .proven = true },
		ret_id);
}

/* The account of the address; one that was only invited becomes an account, and nothing in it is the inviters'. */
static int link_subject(struct call *c, const char *provider, const struct jwt_claims *claims,
	const char *user_id, bool known)
{
	int err = known ? db_run(c->db, &sql[PERSON_COMPLETE], NULL,
				  ARGS(T(user_id), T(claims->email), T(claimed_name(claims)),
					  N(c->now)))
			: 0;

	return err ? err
		   : db_run(c->db, &sql[IDENTITY_INSERT], NULL,
			     ARGS(T(provider), T(claims->subject), T(user_id), N(c->now)));
}

/* Is the account of the address linked to another subject of the provider? */
static int is_anothers(struct call *c, const char *provider, const struct person *who, bool *ret)
{
	int64_t others = 0;
	int err = db_int(c->db, &sql[IDENTITY_OTHER], &others, ARGS(T(who->id), T(provider)));

	*ret = others > 0;
	return err;
}

int oidc_admit(struct call *c, const char *provider, const struct jwt_claims *claims,
	enum oidc_refusal *ret_refusal, const char **ret_user_id)
{
	const char *address = proven_address(c->arena, claims);
	struct person who = { 0 };
	struct list doors = { 0 };
	bool known, linked, own, fresh, anothers = false;
	int err = db_one(c->db, c->arena, &sql[PERSON_BY_IDENTITY], &who,
		ARGS(T(provider), T(claims->subject)));

	known = linked = !err;
	if (err == ERR_NOT_FOUND && address) {
		err = db_one(c->db, c->arena, &sql[PERSON_BY_EMAIL], &who, ARGS(T(address)));
		known = !err;
	}
	if (err && err != ERR_NOT_FOUND)
		return err;
	err = known && !linked ? is_anothers(c, provider, &who, &anothers) : 0;
	if (err)
		return err;
	*ret_user_id = known ? who.id : NULL;
	if (known && who.is_suspended)
		*ret_refusal = OIDC_SUSPENDED;
	else if (anothers)
		*ret_refusal = OIDC_OTHER_SUBJECT;
	else if (!known && !address)
		*ret_refusal = OIDC_NO_EMAIL;
	else
		*ret_refusal = OIDC_WELCOME;
	if (*ret_refusal)
		return 0;
	/* Doors open to the account that the address belongs to, and to no other. */
	own = address && (!known || strcmp(address, who.email_folded) == 0);
	err = own ? doors_open(c, address, *ret_user_id, &doors) : 0;
	if (!err && !known && !doors.count) {
		*ret_refusal = OIDC_NOT_ALLOWED;
		return 0;
	}
	if (!err && !known)
		err = make_oidc_user(c, claims, ret_user_id);
	if (!err && !linked)
		err = link_subject(c, provider, claims, *ret_user_id, known);
	if (!err && known && own)
		err = address_prove(c->db, c->arena, *ret_user_id, c->now, &fresh);
	if (!err)
		err = doors_enter(c, *ret_user_id, address, &doors,
			arena_printf(c->arena, "{\"provider\":\"%s\"}", provider));
	/* The same person came twice at the same moment: the next run sees the other. */
	return err == ERR_DUPLICATE ? ERR_RETRY : err;
}
