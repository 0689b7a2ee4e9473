/* copy_record.c - how far a copy is, kept in the target itself.
 *
 * A table of the copy's own, beside those of the schema, has a row for each table that travels: how many rows the
 * source had when the copy began and which was the last, and how many of them are in the target.  The last is
 * written in the transaction that brings the rows, so that it is true whenever the copy is broken off.  While the
 * table is there the store is no store: whoever would open it is told so (migrate.c).  The last transaction of a copy drops it. */
#include <string.h>

#include "store/copy_parts.h"
#include "store/row.h"

struct copy_record {
	const char *name, *ends;
	int64_t total, copied;
};

FIELDS(copy_record) = {
	ROW_FIELDS(copy_record, name, ends, total, copied),
};
static SCHEMA(copy_record, .internal = true);

enum { FILLED, EVERY, ADD, NOTE };

static const struct statement sql[] = {
	[FILLED] = { "copy_record_filled", "select count(*) from copy_under_way",
		.scan = "a row for each table" },
	[EVERY] = { "copy_record_list", "select {*} from copy_under_way order by name",
		.row = &copy_record_schema, .scan = "a row for each table" },
	[ADD] = { "copy_record_add", "insert into copy_under_way ({*}) values ({$})",
		.row = &copy_record_schema },
	[NOTE] = { "copy_record_note", "update copy_under_way set copied = $1 where name = $2" },
};

int copy_record_find(struct db *to, bool *ret_there, bool *ret_filled)
{
	int64_t rows = 0;
	int err = copy_unfinished(to, ret_there);

	if (!err && *ret_there)
		err = db_int(to, &sql[FILLED], &rows, NO_ARGS);
	*ret_filled = rows > 0;
	return err;
}

static int run_script(struct db *db, const char *text, struct arena *a)
{
	int err = db_begin(db, READ_WRITE);

	if (!err)
		err = db->engine->script(
			db, statement_script(a, db->engine, "copy_under_way", text));
	if (err)
		db_rollback(db);
	else
		err = db_commit(db);
	return err;
}

int copy_record_make(struct db *to, struct arena *a)
{
	return run_script(to,
		"create table copy_under_way (name {text} not null primary key, ends {text} not null, "
		"total {int} not null, copied {int} not null) {rows}",
		a);
}

int copy_record_drop(struct db *to)
{
	struct arena scratch = { 0 };
	int err;

	db_forget(to); /* what was prepared speaks of it */
	err = run_script(to, "drop table copy_under_way", &scratch);
	arena_free(&scratch);
	return err;
}

/* What the migrations put there goes as well: the source has its own. */
static int empty_tables(struct copying *c)
{
	const char *names = "copy_under_way";
	int err = 0;

	if (db_is_sqlite(c->to)) {
		for (size_t i = c->tables.count; i-- > 0 && !err;)
			err = c->to->engine->script(
				c->to, arena_printf(c->a, "delete from %s", c->tables.at[i].name));
		return err ? err : c->to->engine->script(c->to, "delete from copy_under_way");
	}
	for (size_t i = 0; i < c->tables.count; i++)
		names = arena_printf(c->a, "%s, %s", names, c->tables.at[i].name);
	return c->to->engine->script(c->to, arena_printf(c->a, "truncate %s", names));
}

int copy_record_begin(struct copying *c)
{
	int err = db_begin(c->to, READ_WRITE);

	if (!err)
		err = empty_tables(c);
	for (size_t i = 0; i < c->tables.count && !err; i++) {
		struct copy_tally *t = &c->tallies[i];

		t->copied = 0;
		err = db_put(c->to, &sql[ADD],
			&(struct copy_record){ c->tables.at[i].name, t->ends, t->total, 0 });
	}
	if (err)
		db_rollback(c->to);
	else
		err = db_commit(c->to);
	return err ? copy_fails(c, c->to, err) : 0;
}

static const struct copy_record *record_of(const struct list *records, const char *name)
{
	const struct copy_record *r = records->at;

	for (size_t i = 0; i < records->count; i++)
		if (strcmp(r[i].name, name) == 0)
			return &r[i];
	return NULL;
}

int copy_record_resume(struct copying *c)
{
	struct list records;
	int err = db_all(c->to, c->a, &sql[EVERY], &records, COPY_TABLES_MAX, NO_ARGS);

	if (err)
		return copy_fails(c, c->to, err);
	for (size_t i = 0; i < c->tables.count; i++) {
		const struct copy_record *r = record_of(&records, c->tables.at[i].name);
		struct copy_tally *t = &c->tallies[i];

		if (!r || r->total != t->total || strcmp(r->ends, t->ends) != 0)
			return problem_set(c->p, c->a, ERR_CONFLICT,
				"%s has the beginning of a copy, but not of %s as it is now: its table %s had %lld rows when the "
				"copy began and has %lld%s. It was changed since, or is another store; "
				"lodge copy --anew empties the target and begins again",
				c->to_said, c->from_said, c->tables.at[i].name,
				r ? (long long)r->total : 0, (long long)t->total,
				r && r->total == t->total ? ", the last of them another" : "");
		t->copied = r->copied;
		c->kept += r->copied;
	}
	return 0;
}

int copy_record_note(struct db *to, const struct copy_table *t, int64_t copied)
{
	return db_run(to, &sql[NOTE], NULL, ARGS(N(copied), T(t->name)));
}
