/* copy.c - all rows of a store into another one, on whichever engines.
 *
 * Rows travel by type and as they are, parents before children, in the order of their keys and some thousands in a
 * transaction, which also notes how far it is: a copy that is broken off at any moment goes on when the same command
 * is run again.  Then what is in the target already is held against the source before anything is added, so that the
 * whole is never a mixture of two states of the source; and at the end every row is, once more.  Only then is the
 * target a store.  Sealed secrets, hashes and the chain of the audit log are rows like others. */
#include <string.h>

#include "store/copy_parts.h"

enum { BATCH_ROWS = 10000, BATCH_BYTES = 16 << 20 };

/* ---- what there is to copy ---- */

/* The last row by its key, in words. */
static int last_key(struct copying *c, const struct copy_table *t, const char **ret)
{
	struct copy_reader r;
	int got = copy_read_last(&r, c->from, t, c->a);

	*ret = "";
	if (got)
		return got;
	got = copy_read_next(&r);
	if (got > 0)
		*ret = copy_key_said(t, r.row, c->a);
	copy_read_end(&r);
	return got < 0 ? got : 0;
}

static int count_rows(struct copying *c)
{
	int err = 0;

	c->tallies = arena_array(c->a, struct copy_tally, c->tables.count);
	copy_stage_begin(c, COPY_COUNTS);
	for (size_t i = 0; i < c->tables.count && !err; i++) {
		const struct copy_table *t = &c->tables.at[i];
		struct statement *count = arena_new(c->a, struct statement);

		count->name = "copy_count";
		count->sql = arena_printf(c->a, "select count(*) from %s", t->name);
		err = db_int(c->from, count, &c->tallies[i].total, NO_ARGS);
		if (!err)
			err = last_key(c, t, &c->tallies[i].ends);
		copy_tell(c, t, 1);
	}
	return err ? copy_fails(c, c->from, err) : 0;
}

/* ---- one table ---- */

/* What an earlier run has brought must be what the source has, from its first row on; the source's reader is then at the row
 * that comes next, if it has one. */
static int hold_against(
	struct copying *c, const struct copy_tally *tally, struct copy_reader *from, int *ret_got)
{
	struct copy_reader to = { 0 };
	struct copy_pair pair = { .from = from, .to = &to, .from_done = true, .to_done = true };
	int column, found = COPY_SAME, err = db_begin(c->to, READ_ONLY);

	if (!err)
		err = copy_read_begin(&to, c->to, from->table, c->a);
	if (err)
		return copy_fails(c, c->to, err);
	while (found == COPY_SAME) {
		found = copy_pair_next(&pair, &column);
		copy_tell(c, from->table, found == COPY_SAME);
	}
	if (found < 0)
		err = copy_fails(c, pair.from_got < 0 ? c->from : c->to, found);
	else if (found != COPY_TO_ENDS || pair.same != tally->copied)
		err = problem_set(c->p, c->a, ERR_CONFLICT,
			"%s has the beginning of a copy, but not of %s as it is now: from the row of %s where %s on they differ. "
			"One of the two was changed since; lodge copy --anew empties the target and begins again",
			c->to_said, c->from_said, from->table->name,
			copy_key_said(from->table,
				found == COPY_BEYOND || !pair.from_got ? to.row : from->row, c->a));
	*ret_got = pair.from_got;
	copy_read_end(&to);
	db_rollback(c->to);
	return err;
}

/* Some rows into the target; *got: the source's reader has a row. */
static int write_rows(struct copying *c, struct copy_reader *from, int *got, int64_t *ret_rows)
{
	struct copy_writer w;
	size_t bytes = 0;
	int err = copy_write_begin(&w, c->to, from->table, c->a);

	if (err)
		return err;
	while (!err && *got > 0 && *ret_rows < BATCH_ROWS && bytes < BATCH_BYTES) {
		err = copy_write(&w, from->row);
		bytes += from->size;
		++*ret_rows;
		copy_tell(c, from->table, 1);
		if (!err)
			*got = copy_read_next(from);
	}
	return copy_write_end(&w, err ? err : *got < 0 ? *got : 0);
}

/* In a transaction, with the note of how many there are now. */
static int copy_batch(
	struct copying *c, struct copy_tally *tally, struct copy_reader *from, int *got)
{
	int64_t rows = 0;
	int err = db_begin(c->to, READ_WRITE);

	if (!err)
		err = write_rows(c, from, got, &rows);
	if (!err)
		err = copy_record_note(c->to, from->table, tally->copied + rows);
	if (err)
		db_rollback(c->to);
	else
		err = db_commit(c->to);
	tally->copied += rows;
	return err ? copy_fails(c, *got < 0 ? c->from : c->to, err) : 0;
}

static int copy_table(struct copying *c, size_t at, bool resumes)
{
	struct copy_tally *tally = &c->tallies[at];
	struct copy_reader from;
	int got = 0, err = 0;

	if (resumes ? !tally->copied : tally->copied == tally->total)
		return 0;
	err = copy_read_begin(&from, c->from, &c->tables.at[at], c->a);
	if (err)
		return copy_fails(c, c->from, err);
	if (resumes) {
		err = hold_against(c, tally, &from, &got);
	} else {
		for (int64_t skip = tally->copied; skip >= 0 && !err; skip--)
			err = (got = copy_read_next(&from)) < 0 ? copy_fails(c, c->from, got) : 0;
		while (!err && got > 0)
			err = copy_batch(c, tally, &from, &got);
	}
	copy_read_end(&from);
	return err;
}

/* PostgreSQL makes its plans from what it knows of the rows. */
static int learn_rows(struct copying *c)
{
	int err = 0;

	for (size_t i = 0; i < c->tables.count && !err && !db_is_sqlite(c->to); i++)
		err = c->to->engine->script(
			c->to, arena_printf(c->a, "analyze %s", c->tables.at[i].name));
	return err ? copy_fails(c, c->to, err) : 0;
}

static int copy_rows(struct copying *c)
{
	int err = 0;

	if (c->kept)
		copy_stage_begin(c, COPY_RESUMES);
	for (size_t i = 0; i < c->tables.count && !err && c->kept; i++)
		err = copy_table(c, i, true);
	copy_stage_begin(c, COPY_WRITES);
	for (size_t i = 0; i < c->tables.count && !err; i++)
		err = copy_table(c, i, false);
	return err ? err : learn_rows(c);
}

/* ---- the whole ---- */

/* The source in one view of it, which nobody changes: on SQLite by the lock of whoever writes. */
static int read_source(struct copying *c)
{
	int err = db_begin(c->from, db_is_sqlite(c->from) ? READ_WRITE : READ_ONLY);

	return err ? copy_fails(c, c->from, err) : count_rows(c);
}

static int bring_over(struct copying *c)
{
	bool there, filled;
	int err = copy_record_find(c->to, &there, &filled);

	if (err)
		return copy_fails(c, c->to, err);
	err = filled && !c->order->anew ? copy_record_resume(c) : copy_record_begin(c);
	if (!err)
		err = copy_rows(c);
	if (!err)
		err = copy_verify(c);
	if (!err && (err = copy_record_drop(c->to)))
		copy_fails(c, c->to, err);
	return err;
}

int store_copy(
	const struct copy_order *order, struct copy_result *ret, struct arena *a, struct problem *p)
{
	struct copying c = { .order = order, .a = a, .p = p };
	int err;

	*ret = (struct copy_result){ 0 };
	c.from_said = store_said(order->from, a);
	c.to_said = store_said(order->to, a);
	if (strcmp(order->from, order->to) == 0)
		return problem_set(p, a, ERR_USAGE, "a store is not copied into itself");
	err = copy_open_source(&c);
	if (!err)
		err = copy_open_target(&c);
	if (!err)
		err = copy_plan(store_version_wanted(),
			store_is_sqlite(c.from_store) && store_is_sqlite(c.to_store), &c.tables, a,
			p);
	if (!err)
		err = read_source(&c);
	if (!err)
		err = bring_over(&c);
	for (size_t i = 0; i < c.tables.count && c.tallies; i++)
		ret->rows += c.tallies[i].total;
	ret->tables = c.tables.count;
	ret->kept = c.kept;
	copy_close(&c);
	return err;
}
