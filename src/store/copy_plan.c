/* copy_plan.c - which tables a copy walks, in which order, by which keys.
 *
 * All of it is read off an empty store in memory that the migrations have made, so that there is no list to keep:
 * a table comes after those its rows refer to; its key is its primary key, or where that is the place of a row in SQLite's
 * file the first of its unique keys.  Views, indexes and what they hold follow from the tables. */
#include <stdio.h>
#include <string.h>

#include "store/copy_parts.h"
#include "store/row.h"

enum { PARTS_MAX = 20000 };

/* A column of a table; of a unique key; the name of a table referred to. */
struct plan_part {
	const char *name, *part, *kind;
	int64_t key; /* its place in the key, from 1; 0: none */
};

FIELDS(plan_part) = {
	ROW_FIELDS(plan_part, name, part, kind, key),
};
static SCHEMA(plan_part, .internal = true);

#define TABLES "m.type = 'table' and m.name not like 'sqlite_%' "

static const struct statement sql[] = {
	{ "copy_columns",
		"select m.name as name, c.name as part, c.type as kind, c.pk as key "
		"from sqlite_master m join pragma_table_info(m.name) c where " TABLES
		"order by m.rowid, c.cid",
		.row = &plan_part_schema, .scan = "the catalogue" },
	{ "copy_unique_keys",
		"select m.name as name, x.name as part, i.name as kind, x.seqno + 1 as key "
		"from sqlite_master m join pragma_index_list(m.name) i join pragma_index_info(i.name) x "
		"where " TABLES
		"and i.origin = 'u' and i.partial = 0 order by m.rowid, i.seq desc, x.seqno",
		.row = &plan_part_schema, .scan = "the catalogue" },
	{ "copy_parents",
		"select m.name as name, f.\"table\" as part, '' as kind, 0 as key "
		"from sqlite_master m join pragma_foreign_key_list(m.name) f where " TABLES
		"order by m.rowid, f.id",
		.row = &plan_part_schema, .scan = "the catalogue" },
};

static struct copy_table *table_named(struct copy_tables *tables, const char *name)
{
	for (size_t i = 0; i < tables->count; i++)
		if (strcmp(tables->at[i].name, name) == 0)
			return &tables->at[i];
	return NULL;
}

static int kind_of(const char *declared)
{
	return strcmp(declared, "INTEGER") == 0 ? VALUE_INT
	       : strcmp(declared, "BLOB") == 0	? VALUE_BYTES
						: VALUE_TEXT;
}

/* A column of SQLite's own, which says where in the file the row is; there is no other of that name that is the whole key. */
static bool is_place(const struct plan_part *part, const struct plan_part *end)
{
	if (strcmp(part->part, "place") != 0 || part->key != 1)
		return false;
	for (const struct plan_part *other = part + 1;
		other < end && strcmp(other->name, part->name) == 0; other++)
		if (other->key)
			return false;
	return true; /* it is the first column */
}

static int add_column(struct copy_table *t, const struct plan_part *part, struct arena *a)
{
	int at = t->count++;

	t->columns[at] = part->part;
	t->kinds[at] = kind_of(part->kind);
	t->names = arena_printf(a, "%s%s%s", at ? t->names : "", at ? ", " : "", part->part);
	t->marks = arena_printf(a, "%s%s$%d", at ? t->marks : "", at ? ", " : "", at + 1);
	return at;
}

static int read_columns(
	const struct list *parts, bool with_places, struct copy_tables *tables, struct arena *a)
{
	const struct plan_part *part = parts->at, *end = part + parts->count;

	for (; part < end; part++) {
		struct copy_table *t = table_named(tables, part->name);
		bool place = is_place(part, end);
		int at;

		if (!t) {
			if (tables->count == COPY_TABLES_MAX)
				return ERR_INTERNAL;
			t = &tables->at[tables->count++];
			*t = (struct copy_table){ .name = part->name, .parents = " " };
		}
		if (place && !with_places)
			continue;
		if (t->count == DB_COLUMNS || part->key > COPY_KEYS_MAX)
			return ERR_INTERNAL;
		at = add_column(t, part, a);
		if (!part->key || place)
			continue;
		t->keys[part->key - 1] = at;
		t->key_count++;
	}
	return 0;
}

static int column_named(const struct copy_table *t, const char *name)
{
	for (int i = 0; i < t->count; i++)
		if (strcmp(t->columns[i], name) == 0)
			return i;
	return -1;
}

/* For those without another: the first unique key. */
static int read_unique_keys(const struct list *parts, struct copy_tables *tables)
{
	const struct plan_part *part = parts->at, *end = part + parts->count;
	const char *taken = "";

	for (; part < end; part++) {
		struct copy_table *t = table_named(tables, part->name);
		int at = t ? column_named(t, part->part) : -1;

		if (at < 0 || (t->key_count && strcmp(part->kind, taken) != 0))
			continue;
		if (t->key_count == COPY_KEYS_MAX)
			return ERR_INTERNAL;
		taken = part->kind;
		t->keys[t->key_count++] = at;
	}
	return 0;
}

static void read_parents(const struct list *parts, struct copy_tables *tables, struct arena *a)
{
	const struct plan_part *part = parts->at, *end = part + parts->count;

	for (; part < end; part++) {
		struct copy_table *t = table_named(tables, part->name);

		if (t)
			t->parents = arena_printf(a, "%s%s ", t->parents, part->part);
	}
}

static bool refers_to(const struct copy_table *t, const char *name, struct arena *a)
{
	return strstr(t->parents, arena_printf(a, " %s ", name)) != NULL;
}

/* Whoever refers to nobody that still waits is next. */
static int put_in_order(struct copy_tables *tables, struct arena *a)
{
	for (size_t done = 0; done < tables->count; done++) {
		struct copy_table first;
		size_t next = done, other;

		for (; next < tables->count; next++) {
			for (other = done; other < tables->count; other++)
				if (refers_to(&tables->at[next], tables->at[other].name, a))
					break;
			if (other == tables->count)
				break;
		}
		if (next == tables->count)
			return ERR_INTERNAL; /* they refer to each other in a circle */
		first = tables->at[next];
		memmove(&tables->at[done + 1], &tables->at[done],
			(next - done) * sizeof *tables->at);
		tables->at[done] = first;
	}
	return 0;
}

static int plan_from(struct db *db, bool with_places, struct copy_tables *ret, struct arena *a,
	struct problem *p)
{
	struct list columns, unique, parents;
	int err = db_all(db, a, &sql[0], &columns, PARTS_MAX, NO_ARGS);

	if (!err)
		err = db_all(db, a, &sql[1], &unique, PARTS_MAX, NO_ARGS);
	if (!err)
		err = db_all(db, a, &sql[2], &parents, PARTS_MAX, NO_ARGS);
	if (err)
		return problem_set(p, a, err, "the tables cannot be told: %s", db_error(db));
	err = read_columns(&columns, with_places, ret, a);
	if (!err)
		err = read_unique_keys(&unique, ret);
	if (err)
		return problem_set(p, a, err, "a table has more columns or keys than a copy knows");
	read_parents(&parents, ret, a);
	for (size_t i = 0; i < ret->count; i++)
		if (!ret->at[i].key_count)
			return problem_set(p, a, ERR_INTERNAL, "the table %s has no key to copy by",
				ret->at[i].name);
	if (put_in_order(ret, a))
		return problem_set(p, a, ERR_INTERNAL, "tables refer to each other in a circle");
	return 0;
}

int copy_plan(
	int version, bool with_places, struct copy_tables *ret, struct arena *a, struct problem *p)
{
	struct store *blank = NULL;
	struct db *db = NULL;
	int err = shape_blank(version, &blank, &db, a, p);

	*ret = (struct copy_tables){ .at = arena_array(a, struct copy_table, COPY_TABLES_MAX) };
	if (!err)
		err = plan_from(db, with_places, ret, a, p);
	db_close(db);
	store_close(blank);
	return err;
}
