/* accounts.h - what the operator does about an account: the way back in, and the way out.
 *
 * Accounts belong to the house, so only the super administrator and
 * `lodge user` come here, never a tenant's administrator. */
#pragma once
#include "access/audit_chain.h"
#include "base/crypto.h"
#include "call/call.h"

/* A link by which a new password is set; the earlier ones of the user are void. */
struct account_link {
	char token[TOKEN_MAX];
	int64_t expires_at;
};

int account_reset_link(struct db *db, const char *user_id, const char *by_id, int64_t now,
	struct account_link *ret);
/* Guesses at the password, from wherever, are forgotten. */
int account_unlock(struct db *db, struct arena *a, const char *user_id);
/* The account is nobody's at any provider from now on, and every login ends. */
int account_unlink(struct db *db, struct arena *a, const char *user_id);
/* See proof.h; what was familiar of the account is forgotten too. */
int account_prove(struct db *db, struct arena *a, const char *user_id, int64_t now);
/* Removes the user with everything that is theirs; what they wrote in sessions is the tenants'.  The
 * audit log is gone through later, piece by piece.  ERR_CONFLICT, with a sentence, for the last super
 * administrator and for the last OWNER of a tenant. */
int account_remove(
	struct db *db, struct arena *a, const char *user_id, int64_t now, struct problem *p);

struct account_row {
	const char *id, *email;
	bool is_super_admin, is_suspended;
	int64_t proven_at, tenants, last_login_at;
};

/* ERR_NOT_FOUND if nobody has the address. */
int account_find(struct db *db, struct arena *a, const char *email, struct account_row *ret);
/* Up to `most` of them after an address ("": from the first), in order of the addresses. */
int account_list(struct db *db, struct arena *a, const char *after, size_t most, struct list *ret);

/* Removes what is personal in the audit entries of users that are gone, in bounded pieces. */
void accounts_erase_submit(struct app *app);
/* What api_setup() makes of it; freed with free(). */
struct batches *accounts_erase_new(struct app *app);

extern const struct statement_set account_admin_sql, account_erase_sql;
