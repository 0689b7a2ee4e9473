/* bootstrap.c - see bootstrap.h. */
#include "api/bootstrap.h"

#include <string.h>

#include "access/seal.h"
#include "api/model_row.h"
#include "api/search.h"
#include "api/seed.h"
#include "base/crypto.h"
#include "base/fold.h"
#include "base/id.h"

enum {
	PLAN_FIRST,
	PLAN_BY_ID,
	PLAN_INSERT,
	TENANT_INSERT,
	MEMBER_INSERT,
	USER_INSERT,
	USER_COUNT,
	MARK_READ,
	MARK_WRITE,
	MARK_REPLACE,
	CHAIN_READ,
	CHAIN_WRITE,
	CHAIN_REPLACE,
	COUNT_ADD,
};

static const struct statement sql[] = {
	[PLAN_FIRST] = { "plan_first", "select id as value from plans order by id limit 1",
		.row = &one_text_schema, .scan = "its first row" },
	[PLAN_BY_ID] = { "plan_by_id", "select id as value from plans where id = $1",
		.row = &one_text_schema },
	[PLAN_INSERT] = { "plan_insert",
		"insert into plans (id, name, slug, monthly_price_pd, created_at) values ($1, $2, $3, 0, $4)" },
	[TENANT_INSERT] = { "tenant_insert",
		"insert into tenants (id, name, slug, plan_id, plan_status, status, billing_email, paid, "
		"allow_superadmin_access, default_skill_visibility_scope, external_mail_enabled, "
		"voicebox_enabled, require_user_model_grants, created_at, updated_at) "
		"values ($1, $2, $3, $4, 'active', 'active', $5, 0, 1, 'private_only', 0, 0, 1, $6, $6)" },
	[MEMBER_INSERT] = { "member_insert",
		"insert into members (tenant_id, user_id, role, created_at, updated_at) "
		"values ($1, $2, 'OWNER', $3, $3)" },
	[USER_INSERT] = { "user_insert",
		"insert into users (id, email, email_folded, name, password_hash, is_super_admin, "
		"is_suspended, created_at, updated_at) values ($1, $2, $3, $4, $5, $6, 0, $7, $7)" },
	[USER_COUNT] = { "user_any",
		"select count(*) from (select 1 as one from users limit 1) found",
		.scan = "its first row" },
	[COUNT_ADD] = { "count_add",
		"insert into tenant_counts (tenant_id, shard, agents, members) "
		"values ($1, $2, $3, $4) on conflict (tenant_id, shard) do update set "
		"agents = tenant_counts.agents + $3, members = tenant_counts.members + $4" },
	[MARK_READ] = { "mark_read", "select value from meta where key = 'master_key'",
		.row = &one_text_schema },
	[MARK_REPLACE] = { "mark_replace", "update meta set value = $1 where key = 'master_key'" },
	[CHAIN_READ] = { "chain_read", "select value from meta where key = 'audit_key'",
		.row = &one_text_schema },
	[CHAIN_WRITE] = { "chain_write",
		"insert into meta (key, value) values ('audit_key', $1) on conflict (key) do nothing" },
	[CHAIN_REPLACE] = { "chain_replace",
		"update meta set value = $2 where key = 'audit_key' and value = $1" },
	[MARK_WRITE] = { "mark_write", "insert into meta (key, value) values ('master_key', $1)" },
};
STATEMENT_SET(bootstrap_sql, sql);

/* One of a few rows by chance, where several processes write; one writer alone needs only one. */
int tenant_count(struct db *db, const char *tenant_id, int agents, int members)
{
	enum { SHARDS = 8 };
	uint8_t chance = 0;

	if (!db_is_sqlite(db))
		random_bytes(&chance, sizeof chance);
	return db_run(db, &sql[COUNT_ADD], NULL,
		ARGS(T(tenant_id), N(chance % SHARDS), N(agents), N(members)));
}

int tenant_make(struct db *db, struct arena *a, const struct TenantCreate *in, const char *owner_id,
	enum tenant_start start, const char **ret_id)
{
	struct one_text plan;
	int64_t now;
	struct id id = id_new(&now);
	int err = in->plan_id ? db_one(db, a, &sql[PLAN_BY_ID], &plan, ARGS(T(in->plan_id)))
			      : db_one(db, a, &sql[PLAN_FIRST], &plan, NO_ARGS);

	if (!err)
		err = db_run(db, &sql[TENANT_INSERT], NULL,
			ARGS(T(id.text), T(in->name), T(in->slug), T(plan.value),
				T(in->billing_email), N(now)));
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

int user_make(struct db *db, struct arena *a, const struct new_user *in, const char **ret_id)
{
	int64_t now;
	struct id id = id_new(&now);

	*ret_id = arena_strdup(a, id.text);
	return db_run(db, &sql[USER_INSERT], NULL,
		ARGS(T(id.text), T(in->email), T(fold(a, in->email)), T(in->name),
			T(in->password_hash), N(in->is_super_admin), N(now)));
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

/* A few known bytes, sealed: they open only with the right key. */
static const char mark_context[] = "lodge master key", mark_bytes[] = "lodge";

static const char *make_mark(struct arena *a, const uint8_t key[32])
{
	uint8_t sealed[sizeof mark_bytes + SEAL_EXTRA];
	char *text = arena_alloc(a, 2 * sizeof sealed + 1);

	seal(key, mark_context, mark_bytes, sizeof mark_bytes, sealed);
	hex_write(sealed, sizeof sealed, text);
	return text;
}

int master_key_mark(struct db *db, struct arena *a, const uint8_t key[32])
{
	return db_run(db, &sql[MARK_WRITE], NULL, ARGS(T(make_mark(a, key))));
}

int master_key_remark(struct db *db, struct arena *a, const uint8_t key[32])
{
	return db_run(db, &sql[MARK_REPLACE], NULL, ARGS(T(make_mark(a, key))));
}

static const char chain_context[] = "audit chain key";

int audit_key_load(struct db *db, struct arena *a, struct vault *vault,
	const uint8_t master_key[32], uint8_t ret[32])
{
	struct one_text row;
	size_t n = 0;
	const void *plain;
	int err = db_one(db, a, &sql[CHAIN_READ], &row, NO_ARGS);

	if (err == ERR_NOT_FOUND) {
		seal_chain_key(master_key, ret);
		err = db_run(db, &sql[CHAIN_WRITE], NULL,
			ARGS(T(vault_seal(vault, a, chain_context, ret, SEAL_CHAIN_KEY))));
		if (!err)
			err = db_one(db, a, &sql[CHAIN_READ], &row, NO_ARGS);
	}
	if (err)
		return err;
	plain = vault_open(vault, a, chain_context, row.value, &n);
	if (!plain || n != SEAL_CHAIN_KEY)
		return ERR_STORE;
	memcpy(ret, plain, n);
	return 0;
}

int audit_key_reseal(struct db *db, struct arena *a, struct vault *vault)
{
	struct one_text row;
	size_t n;
	const void *plain;
	int err = db_one(db, a, &sql[CHAIN_READ], &row, NO_ARGS);

	if (err)
		return err == ERR_NOT_FOUND ? 0 : err;
	plain = vault_open(vault, a, chain_context, row.value, &n);
	if (!plain)
		return ERR_STORE;
	return db_run(db, &sql[CHAIN_REPLACE], NULL,
		ARGS(T(row.value), T(vault_seal(vault, a, chain_context, plain, n))));
}

int master_key_check(
	struct db *db, struct arena *a, const uint8_t key[32], bool *ret_right, bool *ret_marked)
{
	uint8_t sealed[sizeof mark_bytes + SEAL_EXTRA], plain[sizeof mark_bytes];
	struct one_text row;
	int err = db_one(db, a, &sql[MARK_READ], &row, NO_ARGS);

	*ret_marked = err != ERR_NOT_FOUND;
	*ret_right = false;
	if (err == ERR_NOT_FOUND)
		return 0;
	if (!err)
		*ret_right = hex_read(row.value, strlen(row.value), sealed, sizeof sealed) &&
			     unseal(key, mark_context, sealed, sizeof sealed, plain);
	return err;
}
