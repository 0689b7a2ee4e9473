/* bootstrap.h - making what everything else needs to exist: the first plan, tenants, users. */
#pragma once
#include "access/vault.h"
#include "api/tenants.h"
#include "store/store.h"

/* What a new tenant has besides its OWNER.  The service makes them seeded (see seed.h); tests count from
 * nothing. */
enum tenant_start { TENANT_SEEDED, TENANT_BARE };

/* Makes a tenant with its OWNER; a plan_id of NULL is the first plan.  ERR_DUPLICATE if the slug is
 * taken, ERR_NOT_FOUND if there is no such plan. */
int tenant_make(struct db *db, struct arena *a, const struct TenantCreate *in, const char *owner_id,
	enum tenant_start start, const char **ret_id);

/* Counts agents and members of a tenant up or down, in the transaction that makes or removes them. */
int tenant_count(struct db *db, const char *tenant_id, int agents, int members);

struct new_user {
	const char *email, *name, *password_hash;
	bool is_super_admin;
};

/* ERR_DUPLICATE if the address is known. */
int user_make(struct db *db, struct arena *a, const struct new_user *in, const char **ret_id);

/* True if nobody is in the store yet. */
int store_is_empty(struct db *db, bool *ret);
/* The first plan, the super administrator, the model and the tenant `demo`. */
int bootstrap(
	struct db *db, struct arena *a, const struct new_user *admin, enum tenant_start start);

/* Whether the key is the one this store was made with: its mark is stored on first use. */
int master_key_check(
	struct db *db, struct arena *a, const uint8_t key[32], bool *ret_right, bool *ret_marked);
int master_key_mark(struct db *db, struct arena *a, const uint8_t key[32]);

int master_key_remark(struct db *db, struct arena *a, const uint8_t key[32]);

/* The key of the audit chain, sealed in the store on first use. */
int audit_key_load(struct db *db, struct arena *a, struct vault *vault,
	const uint8_t master_key[32], uint8_t ret[32]);
/* Seals it anew with the vault's present key. */
int audit_key_reseal(struct db *db, struct arena *a, struct vault *vault);

extern const struct statement_set bootstrap_sql;
