/* shape.c - whether a store has the tables, views, columns and indexes that its version says it has.
 *
 * What a version has is found by running the migrations up to it on an empty SQLite in memory, which takes a tenth
 * of a second: there is no second list to keep.  The names are the same on both engines.  A store that lacks
 * some is a mixture, as a dump that was put back over a store of another version leaves one, and is refused.
 * What is there beyond is only told of: somebody may have added an index.  A store that is newer than the program and
 * admits it must have all that the program knows; the rest is the newer program's. */
#include <string.h>

#include "base/buf.h"
#include "store/engine.h"
#include "store/row.h"

enum { PARTS_MAX = 20000, NAMED_MAX = 6, WORDS_MAX = 4096 };

/* A column of a table or a view, or an index, whose column is empty. */
struct shape_part {
	const char *kind, *name, *column_name;
};

FIELDS(shape_part) = {
	ROW_FIELDS(shape_part, kind, name, column_name),
};
static SCHEMA(shape_part, .internal = true);

/* Without what the engine makes for keys by itself, and without what belongs to an extension. */
static const struct statement shape_parts = {
	"shape_parts",
	"select m.type as kind, m.name as name, c.name as column_name "
	"from sqlite_master m join pragma_table_info(m.name) c "
	"where m.type in ('table', 'view') and m.name not like 'sqlite%' "
	"union all select 'index', name, '' from sqlite_master "
	"where type = 'index' and sql is not null order by 1, 2, 3",
	.postgres =
		"select kind, name, column_name from ("
		"select case r.relkind when 'v' then 'view' else 'table' end collate \"C\" as kind, "
		"r.relname::text collate \"C\" as name, a.attname::text collate \"C\" as column_name, r.oid as oid "
		"from pg_class r join pg_attribute a on a.attrelid = r.oid "
		"where r.relnamespace = current_schema()::regnamespace and r.relkind in ('r', 'p', 'v') "
		"and a.attnum > 0 and not a.attisdropped "
		"union all select 'index', r.relname::text collate \"C\", '', r.oid from pg_class r "
		"where r.relnamespace = current_schema()::regnamespace and r.relkind in ('i', 'I') "
		"and not exists (select 1 from pg_constraint k where k.conindid = r.oid and k.contype in ('p', 'u'))"
		") parts where not exists (select 1 from pg_depend d where d.classid = 'pg_class'::regclass "
		"and d.objid = parts.oid and d.deptype = 'e') order by 1, 2, 3",
	.row = &shape_part_schema,
	.scan = "the catalogue",
	.across = "the catalogue",
};

static int shape_read(struct db *db, struct arena *a, struct list *ret)
{
	return db_all(db, a, &shape_parts, ret, PARTS_MAX, NO_ARGS);
}

static int run_migrations(struct db *db, int version, struct arena *a)
{
	int err = db_begin(db, READ_WRITE);

	for (int i = 0; !err && i < migration_count && migrations[i].number <= version; i++)
		err = db->engine->script(
			db, statement_script(a, db->engine, migrations[i].name, migrations[i].sql));
	return err ? err : db_commit(db);
}

int shape_blank(int version, struct store **ret_store, struct db **ret_db, struct arena *a,
	struct problem *p)
{
	struct store_settings settings = { .where = "sqlite::memory:", .queue_max = 1 };
	int err = store_open(ret_store, &settings, STORE_NEW, a, p);

	if (!err)
		err = store_connect(*ret_store, ret_db, a, p);
	if (!err && (err = run_migrations(*ret_db, version, a)))
		problem_set(p, a, err, "the tables of version %d cannot be told: %s", version,
			db_error(*ret_db));
	return err;
}

/* What a store of that version has. */
static int shape_wanted(int version, struct list *ret, struct arena *a, struct problem *p)
{
	struct store *blank = NULL;
	struct db *db = NULL;
	int err = shape_blank(version, &blank, &db, a, p);

	if (!err && (err = shape_read(db, a, ret)))
		problem_set(p, a, err, "the tables of version %d cannot be told: %s", version,
			db_error(db));
	db_close(db);
	store_close(blank);
	return err;
}

static int part_order(const struct shape_part *a, const struct shape_part *b)
{
	int order = strcmp(a->kind, b->kind);

	if (!order)
		order = strcmp(a->name, b->name);
	return order ? order : strcmp(a->column_name, b->column_name);
}

/* Some names for a sentence, and how many there are. */
struct names {
	struct buf words;
	size_t count;
};

static void name_part(struct names *n, const struct shape_part *part)
{
	if (n->count++ >= NAMED_MAX)
		return;
	buf_printf(&n->words, "%sthe %s %s%s%s", n->count > 1 ? ", " : "", part->kind, part->name,
		*part->column_name ? "." : "", part->column_name);
}

static const char *names_said(struct names *n, struct arena *a)
{
	const char *said = NULL;

	if (n->count > NAMED_MAX)
		buf_printf(&n->words, " and %zu more", n->count - NAMED_MAX);
	if (n->count)
		said = arena_strndup(a, n->words.at, n->words.len);
	buf_free(&n->words);
	return said;
}

/* `place` is in no table of PostgreSQL: there a row's place is nobody's business. */
static bool part_needless(const struct db *db, const struct shape_part *part)
{
	return !db_is_sqlite(db) && strcmp(part->column_name, "place") == 0;
}

/* Both lists are in the same order. */
static void shape_compare(const struct db *db, const struct list *wanted, const struct list *found,
	struct names *lacking, struct names *beyond)
{
	const struct shape_part *w = wanted->at, *f = found->at;
	const struct shape_part *w_end = w + wanted->count, *f_end = f + found->count;

	while (w < w_end || f < f_end) {
		int order = w == w_end ? 1 : f == f_end ? -1 : part_order(w, f);

		if (order < 0 && !part_needless(db, w))
			name_part(lacking, w);
		else if (order > 0)
			name_part(beyond, f);
		w += order <= 0;
		f += order >= 0;
	}
}

int shape_check(
	struct db *db, int version, const char **ret_beyond, struct arena *a, struct problem *p)
{
	bool newer = version > store_version_wanted();
	struct list wanted = { 0 }, found = { 0 };
	struct names lacking = { 0 }, beyond = { 0 };
	const char *said;
	int err = shape_wanted(newer ? store_version_wanted() : version, &wanted, a, p);

	*ret_beyond = NULL;
	if (err)
		return err;
	err = shape_read(db, a, &found);
	if (err)
		return problem_set(p, a, err, "the store cannot be read: %s", db_error(db));
	buf_init(&lacking.words, WORDS_MAX);
	buf_init(&beyond.words, WORDS_MAX);
	shape_compare(db, &wanted, &found, &lacking, &beyond);
	*ret_beyond = names_said(&beyond, a);
	if (newer)
		*ret_beyond = NULL;
	said = names_said(&lacking, a);
	if (!said)
		return 0;
	return problem_set(p, a, ERR_STORE,
		"the store says that it is at version %d, but it lacks %s: it is a mixture of versions, or damaged. %s",
		version, said,
		db_is_sqlite(db)
			? "Put a copy back with lodge restore"
			: "Put a dump back into a database that was dropped and made anew");
}

int store_fits(struct store *s, const char **ret_beyond, struct arena *a, struct problem *p)
{
	struct db *db;
	struct store_version v = { 0 };
	int err = store_version(s, &v, a, p);

	*ret_beyond = NULL;
	if (!err)
		err = store_connect(s, &db, a, p);
	if (err)
		return err;
	err = shape_check(db, (int)v.tables, ret_beyond, a, p);
	db_close(db);
	return err;
}

int shape_said(struct db *db, const char **ret, struct arena *a)
{
	struct list found = { 0 };
	struct names names = { 0 };
	int err = shape_read(db, a, &found);
	const struct shape_part *at = found.at;

	*ret = NULL;
	if (err)
		return err;
	buf_init(&names.words, WORDS_MAX);
	for (size_t i = 0; i < found.count; i++) {
		struct shape_part whole = { at[i].kind, at[i].name, "" };

		if (strcmp(at[i].kind, "index") != 0 &&
			(!i || strcmp(at[i].name, at[i - 1].name) != 0))
			name_part(&names, &whole);
	}
	*ret = names_said(&names, a);
	return 0;
}
