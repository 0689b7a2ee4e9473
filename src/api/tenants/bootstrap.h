/* bootstrap.h - making what everything else needs to exist: the first plan, tenants, users. */
#pragma once
#include "access/vault.h"
#include "api/people/new_user.h"
#include "api/tenants/tenants.h"
#include "store/store.h"

/* What a new tenant has besides its OWNER.  The service makes them seeded (see seed.h); tests count from
 * nothing. */
enum tenant_start { TENANT_SEEDED, TENANT_BARE };

/* Makes a tenant with its OWNER; a plan_id of NULL is the first plan.  ERR_DUPLICATE if the slug is
 * taken, ERR_NOT_FOUND if there is no such plan. */
int tenant_make(struct db *db, struct arena *a, const struct TenantCreate *in, const char *owner_id,
	enum tenant_start start, const char **ret_id);

/* True if nobody is in the store yet. */
int store_is_empty(struct db *db, bool *ret);
/* The first plan, the super administrator, the model and the tenant `demo`. */
int bootstrap(
	struct db *db, struct arena *a, const struct new_user *admin, enum tenant_start start);

/* The key of the audit chain, sealed in the store on first use.  ERR_SECRET if it cannot be opened. */
int audit_key_load(struct db *db, struct arena *a, struct vault *vault,
	const uint8_t master_key[32], uint8_t ret[32]);

extern const struct statement_set bootstrap_sql;
