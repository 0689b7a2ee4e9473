/* test_copy.c - the plan of a copy: every table of the schema once, after those it refers to, by a key that both engines
 * have; and that the schema has nothing that a walk over tables would leave out. */
#include "fixture.h"

#include "store/copy_parts.h"

static int64_t catalogue_count(struct db *db, struct arena *a, const char *sql)
{
	struct statement *st = arena_new(a, struct statement);
	int64_t n = -1;

	*st = (struct statement){ "copy_test", sql, .scan = "a test" };
	if (db_int(db, st, &n, NO_ARGS))
		test_fail(__FILE__, __LINE__, "%s: %s", sql, db_error(db));
	return n;
}

static const struct copy_table *planned(
	const struct copy_tables *tables, const char *name, size_t *ret)
{
	for (size_t i = 0; i < tables->count; i++)
		if (strcmp(tables->at[i].name, name) == 0) {
			*ret = i;
			return &tables->at[i];
		}
	test_fail(__FILE__, __LINE__, "%s is not in the plan", name);
	return NULL;
}

static const char *key_of(const struct copy_table *t, struct arena *a)
{
	const char *key = "";

	for (int i = 0; t && i < t->key_count; i++)
		key = arena_printf(a, "%s%s%s", key, i ? " " : "", t->columns[t->keys[i]]);
	return key;
}

TEST(copy_plan_has_every_table_after_those_it_refers_to)
{
	struct arena a = { 0 };
	struct problem p = { 0 };
	struct store *blank = NULL;
	struct db *db = NULL;
	struct copy_tables tables, placed;
	size_t tenants, agents, items, at;

	CHECK_INT(shape_blank(store_version_wanted(), &blank, &db, &a, &p), 0);
	CHECK_INT(copy_plan(store_version_wanted(), false, &tables, &a, &p), 0);
	CHECK_INT(copy_plan(store_version_wanted(), true, &placed, &a, &p), 0);
	CHECK_INT(tables.count,
		catalogue_count(db, &a,
			"select count(*) from sqlite_master where type = 'table' and name not like 'sqlite_%'"));
	/* What a walk over tables and columns would not see, or would do twice. */
	CHECK_INT(
		catalogue_count(db, &a,
			"select count(*) from sqlite_master where type = 'trigger' or sql like '%virtual table%'"),
		0);
	CHECK_INT(
		catalogue_count(db, &a,
			"select count(*) from sqlite_master m join pragma_table_xinfo(m.name) c "
			"where m.type = 'table' and (c.hidden <> 0 or c.type not in ('INTEGER', 'TEXT', 'BLOB'))"),
		0);
	CHECK_INT(
		catalogue_count(db, &a,
			"select count(*) from sqlite_master where type = 'table' and name not like 'sqlite_%' "
			"and sql not like '%strict%'"),
		0);
	for (size_t i = 0; i < tables.count; i++) {
		const struct copy_table *t = &tables.at[i];

		CHECK(t->count > 0 && t->key_count > 0);
		for (size_t k = i; k < tables.count; k++)
			if (strstr(t->parents, arena_printf(&a, " %s ", tables.at[k].name)))
				test_fail(__FILE__, __LINE__, "%s comes before %s", t->name,
					tables.at[k].name);
	}
	CHECK_STR(key_of(planned(&tables, "tenants", &tenants), &a), "id");
	CHECK_STR(key_of(planned(&tables, "agent_rows", &agents), &a), "tenant_id id");
	CHECK_STR(key_of(planned(&tables, "conversation_items", &items), &a),
		"tenant_id conversation_id place");
	CHECK(tenants < agents);
	CHECK_STR(tables.at[agents].columns[0], "tenant_id");
	CHECK_STR(key_of(planned(&placed, "agent_rows", &at), &a), "tenant_id id");
	CHECK_STR(placed.at[at].columns[0], "place");
	CHECK_INT(placed.at[at].count, tables.at[agents].count + 1);
	planned(&tables, "session_files", &at);
	CHECK_INT(tables.at[at].kinds[tables.at[at].count - 2], VALUE_BYTES);
	db_close(db);
	store_close(blank);
	arena_free(&a);
}
