/* bootstrap.c - see bootstrap.h. */
#include "api/tenants/bootstrap.h"

#include <string.h>

#include "access/audit_chain.h"
#include "api/models/model_row.h"
#include "search/search.h"
#include "api/tenants/seed.h"
#include "base/crypto.h"
#include "base/id.h"
#include "store/row.h"

enum {
	PLAN_FIRST,
	PLAN_BY_ID,
	PLAN_INSERT,
	TENANT_INSERT,
	MEMBER_INSERT,
	USER_COUNT,
	CHAIN_READ,
	CHAIN_WRITE,
};

struct tenant_row {
	const char *id, *name, *slug, *plan_id, *billing_email;
	int64_t created_at;
};

FIELDS(tenant_row) = {
	ROW_FIELDS(tenant_row, id, name, slug, plan_id, created_at),
	ROW_NULLABLE(tenant_row, billing_email),
};
static SCHEMA(tenant_row, .internal = true);

static const struct statement sql[] = {
	[PLAN_FIRST] = { "plan_first", "select id as value from plans order by id limit 1",
		.row = &one_text_schema, .scan = "its first row" },
	[PLAN_BY_ID] = { "plan_by_id", "select id as value from plans where id = $1",
		.row = &one_text_schema },
	[PLAN_INSERT] = { "plan_insert",
		"insert into plans (id, name, slug, monthly_price_pd, created_at) values ($1, $2, $3, 0, $4)" },
	[TENANT_INSERT] = { "tenant_insert",
		"insert into tenants ({*}, updated_at, plan_status, status, paid, "
		"allow_superadmin_access, default_skill_visibility_scope, external_mail_enabled, "
		"voicebox_enabled, require_user_model_grants) "
		"values ({$}, :created_at, 'active', 'active', 0, 1, 'private_only', 0, 0, 1)",
		.row = &tenant_row_schema },
	[MEMBER_INSERT] = { "member_insert",
		"insert into members (tenant_id, user_id, role, created_at, updated_at) "
		"values ($1, $2, 'OWNER', $3, $3)" },
	[USER_COUNT] = { "user_any",
		"select count(*) from (select 1 as one from users limit 1) found",
		.scan = "its first row" },
	[CHAIN_READ] = { "chain_read", "select value from meta where key = 'audit_key'",
		.row = &one_text_schema },
	[CHAIN_WRITE] = { "chain_write",
		"insert into meta (key, value) values ('audit_key', $1) on conflict (key) do nothing" },
};
STATEMENT_SET(bootstrap_sql, sql);

int tenant_make(struct db *db, struct arena *a, const struct TenantCreate *in, const char *owner_id,
	enum tenant_start start, const char **ret_id)
{
	struct one_text plan;
	int64_t now;
	struct id id = id_new(&now);
	int err = in->plan_id ? db_one(db, a, &sql[PLAN_BY_ID], &plan, ARGS(T(in->plan_id)))
			      : db_one(db, a, &sql[PLAN_FIRST], &plan, NO_ARGS);

	if (!err)
		err = db_put(db, &sql[TENANT_INSERT],
			&(struct tenant_row){ .id = id.text,
				.name = in->name,
				.slug = in->slug,
				.plan_id = plan.value,
				.billing_email = in->billing_email,
				.created_at = now });
	if (!err)
		err = db_run(db, &sql[MEMBER_INSERT], NULL, ARGS(T(id.text), T(owner_id), N(now)));
	if (!err)
		err = search_refresh(db, a, id.text, MentionType_user, owner_id);
	if (!err)
		err = tenant_count(db, id.text, 0, 1);
	*ret_id = arena_strdup(a, id.text);
	if (!err && start == TENANT_SEEDED)
		err = seed_tenant(db, a, *ret_id, owner_id);
	return err;
}

int store_is_empty(struct db *db, bool *ret)
{
	int64_t users = 0;
	int err = db_int(db, &sql[USER_COUNT], &users, NO_ARGS);

	*ret = users == 0;
	return err;
}

int bootstrap(struct db *db, struct arena *a, const struct new_user *admin, enum tenant_start start)
{
	struct TenantCreate demo = { .name = "Demo", .slug = "demo" };
	const char *user_id, *tenant_id;
	int64_t now;
	struct id plan = id_new(&now);
	int err = db_run(db, &sql[PLAN_INSERT], NULL,
		ARGS(T(plan.text), T("Unlimited"), T("unlimited"), N(now)));

	if (!err)
		err = user_make(db, a, admin, &user_id);
	if (!err)
		err = model_make_demo(db, a);
	if (!err)
		err = tenant_make(db, a, &demo, user_id, start, &tenant_id);
	return err;
}

int audit_key_load(struct db *db, struct arena *a, struct vault *vault,
	const uint8_t master_key[32], uint8_t ret[32])
{
	struct one_text row;
	size_t n = 0;
	const void *plain;
	const char *sealed;
	int err = db_one(db, a, &sql[CHAIN_READ], &row, NO_ARGS);

	if (err == ERR_NOT_FOUND) {
		chain_first_key(master_key, ret);
		sealed = vault_seal(
			vault, a, SEALED_AUDIT_KEY, CHAIN_KEY_CONTEXT, ret, CHAIN_KEY_LEN);
		err = sealed ? db_run(db, &sql[CHAIN_WRITE], NULL, ARGS(T(sealed))) : ERR_KEY;
		if (!err)
			err = db_one(db, a, &sql[CHAIN_READ], &row, NO_ARGS);
	}
	if (err)
		return err;
	plain = vault_open(vault, a, CHAIN_KEY_CONTEXT, row.value, &n);
	if (!plain || n != CHAIN_KEY_LEN)
		return ERR_SECRET;
	memcpy(ret, plain, n);
	return 0;
}
