/* test_statement.c - what a statement's text comes to: names and pages become places, what is wrong is refused before it
 * is run, and nothing is bound as null that was only forgotten. */
#include "fixture.h"

#include <stdlib.h>

#include "serve/registry.h"
#include "store/engine.h"
#include "store/row.h"

struct noted {
	const char *key, *value;
	int64_t number;
	double price;
	struct list words;
};
FIELDS(noted) = {
	ROW_FIELDS(noted, key, number),
	ROW_NULLABLE(noted, value),
	FIELD(noted, price),
	FIELD(noted, words, .item = TEXT, .computed = true),
};
static SCHEMA(noted, .internal = true);

struct other_note {
	const char *key, *value;
};
FIELDS(other_note) = { ROW_FIELDS(other_note, key, value) };
static SCHEMA(other_note, .internal = true);

#define NAMES .args = &noted_schema

TEST(statement_texts_that_are_wrong_are_refused_with_a_sentence)
{
	static const struct {
		struct statement st;
		const char *fault; /* NULL: none */
	} cases[] = {
		{ { "x", "select :key, :value, ':none', 1::bigint, :number", NAMES }, NULL },
		{ { "x", "select :kez", NAMES }, "kez is no member" },
		{ { "x", "select :key" }, "key is no member" },
		{ { "x", "select :key, $1", NAMES }, "numbers and names are mixed" },
		{ { "x", "select :price", NAMES }, "price cannot be bound" },
		{ { "x", "select :words", NAMES }, "words cannot be bound" },
		{ { "x", "select 1", NAMES }, "noted is not named" },
		{ { "x", "select {key}", NAMES }, "key in braces is not known" },
		{ { "x", "select {*} from t" }, "* stands for the columns of nothing" },
		{ { "x", "insert into t values ({$})", .row = &noted_schema },
			"price cannot be bound" },
		{ { "x", "select $65" }, "its numbers are more" },
		{ { "x", "select :key", .postgres = "select :kez", NAMES }, "kez is no member" },
		{ { "x", "select {limit}, $2, $1" }, NULL },
	};
	struct arena a = { 0 };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *fault = statement_fault(&a, &cases[i].st);

		test_step("%s", cases[i].st.sql);
		CHECK(cases[i].fault ? fault && strstr(fault, cases[i].fault) : !fault);
	}
	arena_free(&a);
}

TEST(statement_places_number_themselves)
{
	static const struct {
		struct statement st;
		const char *text;
		int16_t place[4];
	} cases[] = {
		{ { "x", "a = :value and b = :key or :value is null", NAMES },
			"a = $1 and b = $2 or $1 is null", { 2, 0 } },
		{ { "x", "a = $2 and b = $1 limit {limit} offset {offset}" },
			"a = $2 and b = $1 limit $3 offset $4",
			{ 0, 1, PLACE_LIMIT, PLACE_OFFSET } },
		{ { "x", "a > {after} and a < {before} and b = $1 and c > {after}" },
			"a > $2 and a < $3 and b = $1 and c > $2",
			{ 0, PLACE_AFTER, PLACE_BEFORE } },
		{ { "x", "a > {after} and b = :key limit {limit}", NAMES },
			"a > $1 and b = $2 limit $3", { PLACE_AFTER, 0, PLACE_LIMIT } },
		{ { "x", "({*}, n) values ({$}, :key)", .row = &other_note_schema },
			"(key, value, n) values ($1, $2, $1)", { 0, 1 } },
	};
	struct arena a = { 0 };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct statement_form form;

		test_step("%s", cases[i].st.sql);
		statement_form(&a, &postgres_engine, &cases[i].st, &form);
		CHECK_STR(form.text, cases[i].text);
		CHECK(!form.fault);
		for (int k = 0; k < form.count; k++)
			CHECK_INT(form.place[k], cases[i].place[k]);
	}
	arena_free(&a);
}

static const struct statement put_note = { "test_put",
	"insert into meta (key, value) values (:key, :value)", .args = &other_note_schema };
static const struct statement read_note = { "test_read",
	"select value from meta where key = :key and value = :value", .row = &one_text_schema,
	.args = &other_note_schema };
static const struct statement page_note = { "test_page",
	"select value from meta where key > {after} and key < $1 order by key limit {limit}",
	.row = &one_text_schema };

static int put_by_name(struct db *db, void *data)
{
	return db_put(db, &put_note, data);
}

TEST(statement_binds_members_by_their_names)
{
	struct fixture *f = fixture_open();
	struct other_note note = { .key = "test b", .value = "two" }, none = { .key = "test a" };
	struct db_page page = { .rows = 1, .bytes = 1000, .after = "test" };
	struct problem p = { 0 };
	struct one_text row;
	struct list rows;
	struct db *db;
	bool cut;

	CHECK_INT(store_connect(f->app.store, &db, &f->arena, &p), 0);
	CHECK_INT(fixture_work(f, put_by_name, &note), 0);
	CHECK_INT(db_one(db, &f->arena, &read_note, &row, BY_NAME(other_note, &note)), 0);
	CHECK_STR(row.value, "two");
	CHECK_INT(db_page(db, &f->arena, &page_note, &rows, &page, &cut, ARGS(T("test z"))), 0);
	CHECK_INT(rows.count, 1);
	/* What is forgotten, or another's, is said and not bound. */
	CHECK_INT(
		db_one(db, &f->arena, &read_note, &row, BY_NAME(other_note, &none)), ERR_INTERNAL);
	CHECK(strstr(db_error(db), "test_read is given no value"));
	CHECK_INT(db_one(db, &f->arena, &read_note, &row,
			  BY_NAME(one_text, &(struct one_text){ "test b" })),
		ERR_INTERNAL);
	CHECK_INT(
		db_one(db, &f->arena, &read_note, &row, ARGS(T("test b"), T("two"))), ERR_INTERNAL);
	CHECK_INT(db_all(db, &f->arena, &page_note, &rows, 1, ARGS(T("test z"))), ERR_INTERNAL);
	CHECK_INT(db_page(db, &f->arena, &page_note, &rows, &page, &cut, NO_ARGS), ERR_INTERNAL);
	db_close(db);
	fixture_close(f);
}

/* ---- every statement of the program ---- */

struct nullable_column {
	const char *table, *name;
	bool nullable;
};
FIELDS(nullable_column) = { ROW_FIELDS(nullable_column, table, name, nullable) };
static SCHEMA(nullable_column, .internal = true);

static const struct statement all_columns = { .name = "test_columns",
	.sql = "select t.name as \"table\", c.name as name, "
	       "case when c.\"notnull\" = 1 or c.pk > 0 then 0 else 1 end as nullable "
	       "from sqlite_master t, pragma_table_info(t.name) c where t.type = 'table'",
	.postgres = "select table_name::text as \"table\", column_name::text as name, "
		    "case when is_nullable = 'YES' then 1 else 0 end as nullable "
		    "from information_schema.columns where table_schema = current_schema()",
	.row = &nullable_column_schema,
	.scan = "a test" };

static const struct nullable_column *column_of(
	const struct list *columns, const char *sql, const struct field *f)
{
	size_t table = strcspn(sql, " ");
	const struct nullable_column *c = columns->at;

	for (size_t i = 0; i < columns->count; i++)
		if (strlen(c[i].table) == table && strncmp(c[i].table, sql, table) == 0 &&
			strcmp(c[i].name, field_column(f)) == 0)
			return &c[i];
	return NULL;
}

/* A null that the table takes must be one that the row may have, or it would be refused only when it comes. */
static void check_row(const struct list *columns, const struct statement *st)
{
	static const char into[] = "insert into ";
	const struct schema *s = st->row;

	if (strncmp(st->sql, into, strlen(into)) != 0 || !strstr(st->sql, "{$}"))
		return;
	for (const struct field *f = s->fields; f < s->fields + s->count; f++) {
		const struct nullable_column *c = column_of(columns, st->sql + strlen(into), f);

		if (!f->computed && (!c || c->nullable > f->nullable))
			test_fail(__FILE__, __LINE__, "%s: may %s be null, or may it not?",
				st->name, f->name);
	}
}

TEST(statement_rows_may_be_null_where_their_tables_may)
{
	struct fixture *f = fixture_open();
	struct set_walk walk = { 0 };
	const struct statement_set *set;
	struct list columns;
	struct problem p = { 0 };
	struct db *db;

	CHECK_INT(store_connect(f->app.store, &db, &f->arena, &p), 0);
	CHECK_INT(db_all(db, &f->arena, &all_columns, &columns, 10000, NO_ARGS), 0);
	while ((set = api_next_set(&walk)))
		for (size_t i = 0; i < set->count; i++)
			check_row(&columns, &set->list[i]);
	db_close(db);
	fixture_close(f);
}

static bool names_field(const struct statement *st, ptrdiff_t field)
{
	struct arena a = { 0 };
	struct statement_form form;
	bool found = false;

	statement_form(&a, &sqlite_engine, st, &form);
	for (int i = 0; i < form.count && form.named; i++)
		found |= form.place[i] == field;
	arena_free(&a);
	return found;
}

/* Arguments are what statements take: a member that none of them names is given for nothing. */
static bool is_named(const struct schema *args, ptrdiff_t field)
{
	struct set_walk walk = { 0 };
	const struct statement_set *set;

	while ((set = api_next_set(&walk)))
		for (size_t i = 0; i < set->count; i++)
			if (set->list[i].args == args && names_field(&set->list[i], field))
				return true;
	return false;
}

TEST(statement_arguments_are_all_named)
{
	struct set_walk walk = { 0 };
	const struct statement_set *set;
	const struct schema *last = NULL;

	while ((set = api_next_set(&walk)))
		for (size_t i = 0; i < set->count; i++) {
			const struct schema *args = set->list[i].args;

			for (size_t k = 0; args && args != last && k < args->count; k++)
				if (!is_named(args, (ptrdiff_t)k))
					test_fail(__FILE__, __LINE__, "%s: nobody names %s of %s",
						set->list[i].name, args->fields[k].name,
						args->name);
			last = args;
		}
}

static int highest_number(const char *sql)
{
	int highest = 0;

	for (const char *p = strchr(sql, '$'); p; p = strchr(p + 1, '$'))
		highest = atoi(p + 1) > highest ? atoi(p + 1) : highest;
	return highest;
}

/* Whoever writes a value more finds its place by its name. */
TEST(statement_numbers_are_few_enough_not_to_be_counted)
{
	enum { INSERTED_MOST = 4, NUMBERS_MOST = 6 };
	struct set_walk walk = { 0 };
	const struct statement_set *set;

	while ((set = api_next_set(&walk)))
		for (size_t i = 0; i < set->count; i++) {
			const struct statement *st = &set->list[i];
			bool inserts =
				strncmp(st->sql, "insert", 6) == 0 && strstr(st->sql, " values (");

			if (highest_number(st->sql) > (inserts ? INSERTED_MOST : NUMBERS_MOST))
				test_fail(__FILE__, __LINE__, "%s counts to %d: give names",
					st->name, highest_number(st->sql));
		}
}
