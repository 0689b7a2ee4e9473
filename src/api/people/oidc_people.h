/* oidc_people.h - whom a provider's word makes of somebody here. */
#pragma once
#include "call/call.h"
#include "outside/jwt.h"

/* Why a sign-in at a provider came to nothing. */
enum oidc_refusal {
	OIDC_WELCOME,
	OIDC_NO_FLOW,	  /* not begun here, in this browser, of late; or used already */
	OIDC_DENIED,	  /* the provider says no */
	OIDC_UNREACHABLE, /* the provider says nothing */
	OIDC_UNPROVEN,	  /* what it says does not hold */
	OIDC_NO_EMAIL,	  /* it does not vouch for an address */
	OIDC_NOT_ALLOWED, /* nobody here knows the address */
	OIDC_SUSPENDED,
	OIDC_OTHER_SUBJECT, /* the account is linked to another person there */
};

/* Finds the user, links or makes one, notes that the address is proven, and takes them into the tenants that allow their address; in
 * the transaction under way.  Who is refused has changed nothing. */
int oidc_admit(struct call *c, const char *provider, const struct jwt_claims *claims,
	enum oidc_refusal *ret_refusal, const char **ret_user_id);

extern const struct statement_set oidc_people_sql;
