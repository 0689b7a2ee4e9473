/* proof.h - whether an address is proven to be its user's, and what proving it does.
 *
 * An account is one for the whole house.  Whoever invites an address sees the
 * token, so a password that was set through an invitation says only that
 * somebody holds that token: it is good in the tenant that invited, and
 * nowhere else.  What proves an address is a provider that vouches for it, or
 * the operator's word.  docs/accounts.md has the whole of it. */
#pragma once
#include "store/store.h"

/* SQL: somebody can sign in with the row, or has been proven to be its user.  Else it is an address that was
 * invited, and no account. */
#define HAS_ACCOUNT(u)                                                              \
	"(" u ".password_hash is not null or " u ".email_proven_at is not null or " \
	"exists (select 1 from identities p where p.user_id = " u ".id))"
/* What is listed as a user of the house.  A suspension is remembered whoever is suspended. */
#define IS_LISTED(u) "(" u ".is_suspended = 1 or " HAS_ACCOUNT(u) ")"

/* An invitation is gone: so is the row of its address, if it was no account and nobody else invites it. */
int address_uninvited(struct db *db, const char *user_id);

/* The address is the user's own from now on.  If it was not proven before, everything that was got hold
 * of without proof ends: the password, every login, every key, every token of an invitation, and every
 * webhook that acts as the user. */
int address_prove(
	struct db *db, struct arena *a, const char *user_id, int64_t now, bool *ret_fresh);

/* Every key of the user, in all tenants. */
int address_end_keys(struct db *db, struct arena *a, const char *user_id, int64_t *ret_ended);

/* What was got hold of without proof, but for the password: logins, keys, tokens and webhooks. */
int address_end_unproven(struct db *db, struct arena *a, const char *user_id);

extern const struct statement_set proof_sql;
