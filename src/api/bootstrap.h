/* bootstrap.h - making what everything else needs to exist: the first plan, tenants, users. */
#pragma once
#include "api/tenants.h"
#include "store/store.h"

/* Makes a tenant with its OWNER; a plan_id of NULL is the first plan.  ERR_DUPLICATE if the slug is
 * taken, ERR_NOT_FOUND if there is no such plan. */
int tenant_make(struct db *db, struct arena *a, const struct TenantCreate *in, const char *owner_id,
	const char **ret_id);

struct new_user {
	const char *email, *name, *password_hash;
	bool is_super_admin;
};

/* ERR_DUPLICATE if the address is known. */
int user_make(struct db *db, struct arena *a, const struct new_user *in, const char **ret_id);

/* True if nobody is in the store yet. */
int store_is_empty(struct db *db, bool *ret);
/* The first plan, the super administrator, and the tenant `demo`. */
int bootstrap(struct db *db, struct arena *a, const struct new_user *admin);

/* Whether the key is the one this store was made with: its mark is stored on first use. */
int master_key_check(
	struct db *db, struct arena *a, const uint8_t key[32], bool *ret_right, bool *ret_marked);
int master_key_mark(struct db *db, struct arena *a, const uint8_t key[32]);

extern const struct statement_set bootstrap_sql;
