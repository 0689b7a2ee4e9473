/* test_isolation.c - every statement of the program touches rows of the tenant it is told, or says why not: the tables
 * are those that the store has, and each reference to one in each statement is looked at. */
#include <string.h>

#include "serve/registry.h"
#include "fixture.h"
#include "store/engine.h"
#include "tenant_walk.h"

FIELDS(table_column) = {
	FIELD(table_column, table),
	FIELD(table_column, name),
};
static SCHEMA(table_column, .internal = true);

static const struct statement all_columns = { .name = "test_columns",
	.sql = "select t.name as \"table\", c.name as name from sqlite_master t, pragma_table_info(t.name) c "
	       "where t.type in ('table', 'view')",
	.postgres = "select table_name::text as \"table\", column_name::text as name "
		    "from information_schema.columns where table_schema = current_schema()",
	.row = &table_column_schema,
	.scan = "a test" };

/* Those that belong to the house and to no tenant.  A new table without a tenant_id is entered here, or has one. */
static const char *const of_the_house[] = { "attempts", "bucket_trash", "familiar", "feed",
	"idempotency", "identities", "job_runners", "key_holders", "letters", "logins",
	"machine_keys", "mail_secrets", "meta", "models", "oidc_flows", "plans", "registrations",
	"repository_trash", "resets", "tenants", "user_erasures", "users" };

static struct list columns_of(struct fixture *f, struct db **ret_db)
{
	struct list columns = { 0 };
	struct problem p = { 0 };

	CHECK_INT(store_connect(f->app.store, ret_db, &f->arena, &p), 0);
	CHECK_INT(db_all(*ret_db, &f->arena, &all_columns, &columns, 10000, NO_ARGS), 0);
	CHECK(columns.count > 500);
	return columns;
}

static bool is_of_the_house(const char *table)
{
	for (size_t i = 0; i < sizeof of_the_house / sizeof *of_the_house; i++)
		if (strcmp(of_the_house[i], table) == 0)
			return true;
	return strncmp(table, "sqlite_", 7) == 0;
}

TEST(isolation_every_table_has_a_tenant_or_belongs_to_the_house)
{
	struct fixture *f = fixture_open();
	struct db *db;
	struct list columns = columns_of(f, &db);
	const struct table_column *c = columns.at;

	for (size_t i = 0; i < columns.count; i++)
		if (table_has(&columns, c[i].table, "tenant_id") == is_of_the_house(c[i].table))
			test_fail(__FILE__, __LINE__, "%s: whose is it?", c[i].table);
	db_close(db);
	fixture_close(f);
}

/* As the engine is given it, so that names and pages are seen as what they come to. */
static const char *text_of(struct arena *a, struct db *db, const struct statement *st)
{
	struct statement_form form;

	statement_form(a, db->engine, st, &form);
	return form.text;
}

/* Statements that are made by one macro share its reason; one of them must need it. */
static bool is_needed(struct arena *a, struct db *db, const struct list *columns,
	const struct statement_set *set, const char *reason)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct statement *st = &set->list[i];

		if (st->across && strcmp(st->across, reason) == 0 &&
			*tenant_unbound(a, columns, text_of(a, db, st)))
			return true;
	}
	return false;
}

static void check_set(struct db *db, const struct list *columns, const struct statement_set *set)
{
	struct arena a = { 0 };

	for (size_t i = 0; i < set->count; i++) {
		const struct statement *st = &set->list[i];
		const char *loose = tenant_unbound(&a, columns, text_of(&a, db, st));

		if (*loose && !st->across)
			test_fail(__FILE__, __LINE__, "%s touches rows of any tenant: %s", st->name,
				loose);
		if (!*loose && st->across && !is_needed(&a, db, columns, set, st->across) &&
			!st->postgres)
			test_fail(__FILE__, __LINE__, "%s needs no reason, and has one: %s",
				st->name, st->across);
		arena_reset(&a);
	}
	arena_free(&a);
}

TEST(isolation_every_statement_is_bound_to_a_tenant_or_says_why_not)
{
	struct fixture *f = fixture_open();
	struct db *db;
	struct list columns = columns_of(f, &db);
	struct set_walk walk = { 0 };
	const struct statement_set *set;

	while ((set = api_next_set(&walk)))
		check_set(db, &columns, set);
	db_close(db);
	fixture_close(f);
}

/* A name that is compared with a tenant is a tenant's: the guard above sees only that something is given. */
TEST(isolation_names_given_for_tenants_are_tenants)
{
	static const char compared[] = "tenant_id = :", tenant[] = "tenant_id";
	struct set_walk walk = { 0 };
	const struct statement_set *set;

	while ((set = api_next_set(&walk)))
		for (size_t i = 0; i < set->count; i++)
			for (const char *p = strstr(set->list[i].sql, compared); p;
				p = strstr(p + 1, compared)) {
				const char *name = p + strlen(compared);
				size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz_");

				if (len < strlen(tenant) ||
					memcmp(name + len - strlen(tenant), tenant, strlen(tenant)))
					test_fail(__FILE__, __LINE__, "%s: %.*s is no tenant",
						set->list[i].name, (int)len, name);
			}
}

/* What the guard must see, and what it must let pass. */
TEST(isolation_guard_sees_what_is_loose)
{
	static const struct {
		const char *sql, *loose;
	} cases[] = {
		{ "select id from agents where tenant_id = $1 and id = $2", "" },
		{ "select id from agents where id = $1", "agents" },
		{ "select id from agents where tenant_id = $1 or id = $2", "agents" },
		{ "select id from agents where (tenant_id = $1 or $1 is null) and id = $2",
			"agents" },
		{ "select id from agents where tenant_id > $1", "agents" },
		{ "select id from agents where not (tenant_id = $1)", "agents" },
		{ "select tenant_id from agents where id = case when $1 = 1 and tenant_id = $2 and 1 = 1 then '' end",
			"agents" },
		{ "select a.id from agents a join members m on m.tenant_id = a.tenant_id where a.tenant_id = $1",
			"" },
		{ "select a.id from agents a join members m on m.user_id = a.created_by_id where a.tenant_id = $1",
			"members" },
		{ "select a.id from agents a join members m on m.tenant_id = a.tenant_id where a.id = $1",
			"agents, members" },
		{ "select a.id from agents a left join members m on m.tenant_id = $1 and a.tenant_id = $1",
			"agents" },
		{ "select t.name from tenants t join agents a on a.tenant_id = t.id where t.id = $1",
			"" },
		{ "select t.name from tenants t join agents a on a.tenant_id = t.id where t.slug = $1",
			"agents" },
		{ "select (select count(*) from members m where m.tenant_id = a.tenant_id) from agents a "
		  "where a.tenant_id = $1",
			"" },
		{ "select (select count(*) from members m) from agents a where a.tenant_id = $1",
			"members" },
		{ "select a.id from agents a where exists (select 1 from members m where m.tenant_id = $1 "
		  "and a.tenant_id = m.tenant_id)",
			"agents" },
		{ "select id from agents where tenant_id = $1 union all select id from skills where id = $2",
			"skills" },
		{ "with s as (select id from skills where id = $1) select id from s", "skills" },
		{ "insert into agents (id, tenant_id) values ($1, $2)", "" },
		{ "insert into agents (id) values ($1)", "agents" },
		{ "insert into agents (id, tenant_id) select id, $1 from skills where id = $2",
			"skills" },
		{ "update agents set tenant_id = $1 where id = $2", "agents" },
		{ "update agents set name = $3 where tenant_id = $1 and id = $2", "" },
		{ "delete from agents where id in (select id from agents where tenant_id = $1)",
			"agents" },
		{ "delete from agents where tenant_id = $1", "" },
		{ "select u.id from users u where u.id = $1", "" },
	};
	struct fixture *f = fixture_open();
	struct db *db;
	struct list columns = columns_of(f, &db);

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		test_step("%s", cases[i].sql);
		CHECK_STR(tenant_unbound(&f->arena, &columns, cases[i].sql), cases[i].loose);
	}
	db_close(db);
	fixture_close(f);
}
