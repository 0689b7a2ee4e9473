/* copy_rows.c - the rows of one table on one side, as values: read in the order of their keys, written in the
 * quickest way that the engine has, and held against each other.
 *
 * One row is in memory at a time, however many there are.  What is text on one side and cannot be on the other is
 * refused here, before it is changed on the way. */
#include <stdio.h>
#include <string.h>

#include "store/copy_parts.h"

enum { SHOWN_MAX = 120 };

/* Bytes, and not the customs of a language, so that both engines say the same. */
static const char *order_of(
	const struct copy_table *t, const struct db *db, const char *way, struct arena *a)
{
	const char *order = "";

	for (int i = 0; i < t->key_count; i++)
		order = arena_printf(a, "%s%s%s%s%s", order, i ? ", " : "", t->columns[t->keys[i]],
			!db_is_sqlite(db) && t->kinds[t->keys[i]] == VALUE_TEXT ? " collate \"C\""
										: "",
			way);
	return order;
}

static int read_with(
	struct copy_reader *r, struct db *db, const struct copy_table *t, const char *sql)
{
	int err;

	*r = (struct copy_reader){ .db = db, .table = t };
	err = db->engine->prepare(db, &r->prepared, sql);
	if (err)
		return err;
	db->in_pieces = true; /* never all of them at once */
	err = db->engine->run(db, &r->prepared, NO_ARGS);
	db->in_pieces = false;
	r->running = true;
	if (err)
		copy_read_end(r);
	return err;
}

int copy_read_begin(
	struct copy_reader *r, struct db *db, const struct copy_table *t, struct arena *a)
{
	return read_with(r, db, t,
		arena_printf(a, "select %s from %s order by %s", t->names, t->name,
			order_of(t, db, "", a)));
}

int copy_read_last(
	struct copy_reader *r, struct db *db, const struct copy_table *t, struct arena *a)
{
	return read_with(r, db, t,
		arena_printf(a, "select %s from %s order by %s limit 1", t->names, t->name,
			order_of(t, db, " desc", a)));
}

static struct value read_value(struct copy_reader *r, int column)
{
	const struct engine *e = r->db->engine;
	struct value v = { .kind = (unsigned)r->table->kinds[column] };
	bool there;

	if (v.kind == VALUE_INT) {
		there = e->integer(r->db, &r->prepared, column, &v.n);
	} else {
		v.text = v.kind == VALUE_BYTES
				 ? e->bytes(r->db, &r->prepared, column, &r->bytes, &v.len)
				 : e->text(r->db, &r->prepared, column, &v.len);
		there = v.text != NULL;
	}
	r->size += there ? sizeof v.n + v.len : 0;
	return there ? v : (struct value){ .kind = VALUE_NULL };
}

int copy_read_next(struct copy_reader *r)
{
	int got = r->db->engine->step(r->db, &r->prepared);

	if (got <= 0)
		return got;
	arena_reset(&r->bytes);
	r->size = 0;
	for (int i = 0; i < r->table->count; i++)
		r->row[i] = read_value(r, i);
	if (r->bytes.failed)
		return db_fail(
			r->db, ERR_BUSY, "there is no memory for a row of %s", r->table->name);
	return 1;
}

void copy_read_end(struct copy_reader *r)
{
	if (!r->running)
		return;
	r->db->engine->reset(r->db, &r->prepared);
	r->db->engine->unprepare(r->db, &r->prepared);
	arena_free(&r->bytes);
	r->running = false;
}

const char *copy_key_said(const struct copy_table *t, const struct value *row, struct arena *a)
{
	const char *said = "";

	for (int i = 0; i < t->key_count; i++) {
		const struct value *v = &row[t->keys[i]];
		const char *before =
			arena_printf(a, "%s%s%s = ", said, i ? ", " : "", t->columns[t->keys[i]]);

		said = v->kind == VALUE_INT ? arena_printf(a, "%s%lld", before, (long long)v->n)
		       : v->kind == VALUE_TEXT
			       ? arena_printf(a, "%s'%.*s'", before,
					 (int)(v->len < SHOWN_MAX ? v->len : SHOWN_MAX), v->text)
			       : arena_printf(a, "%s?", before);
	}
	return said;
}

/* ---- writing ---- */

int copy_write_begin(
	struct copy_writer *w, struct db *db, const struct copy_table *t, struct arena *a)
{
	*w = (struct copy_writer){ .db = db, .table = t };
	if (db->engine->load_begin)
		return db->engine->load_begin(
			db, arena_printf(a, "copy %s (%s) from stdin", t->name, t->names));
	return db->engine->prepare(db, &w->prepared,
		arena_printf(a, "insert into %s (%s) values (%s)", t->name, t->names, t->marks));
}

/* A text with a zero in it ends there for PostgreSQL. */
static int check_texts(struct copy_writer *w, const struct value *row)
{
	struct arena said = { 0 };
	int err = 0;

	for (int i = 0; i < w->table->count && !err; i++)
		if (row[i].kind == VALUE_TEXT && memchr(row[i].text, 0, row[i].len))
			err = db_fail(w->db, ERR_STORE,
				"the text %s has a zero byte, which PostgreSQL does not take, in the row of %s where %s",
				w->table->columns[i], w->table->name,
				copy_key_said(w->table, row, &said));
	arena_free(&said);
	return err;
}

int copy_write(struct copy_writer *w, const struct value *row)
{
	const struct engine *e = w->db->engine;
	int err;

	if (e->load_row) {
		err = check_texts(w, row);
		return err ? err : e->load_row(w->db, row, (size_t)w->table->count);
	}
	err = e->run(w->db, &w->prepared, row, (size_t)w->table->count);
	if (!err)
		err = e->step(w->db, &w->prepared);
	e->reset(w->db, &w->prepared);
	return err;
}

int copy_write_end(struct copy_writer *w, int err)
{
	int ended = 0;

	if (w->db->engine->load_end)
		ended = w->db->engine->load_end(w->db, err != 0);
	else
		w->db->engine->unprepare(w->db, &w->prepared);
	return err ? err : ended;
}

/* ---- both sides ---- */

static int value_order(const struct value *a, const struct value *b)
{
	size_t common = a->len < b->len ? a->len : b->len;
	int order;

	if (a->kind == VALUE_INT && b->kind == VALUE_INT)
		return (a->n > b->n) - (a->n < b->n);
	order = common ? memcmp(a->text, b->text, common) : 0;
	return order ? order : (a->len > b->len) - (a->len < b->len);
}

static bool value_same(const struct value *a, const struct value *b)
{
	return a->kind == b->kind && (a->kind == VALUE_NULL || value_order(a, b) == 0);
}

static int key_order(const struct copy_table *t, const struct value *a, const struct value *b)
{
	int order = 0;

	for (int i = 0; i < t->key_count && !order; i++)
		order = value_order(&a[t->keys[i]], &b[t->keys[i]]);
	return order;
}

int copy_pair_next(struct copy_pair *c, int *ret_column)
{
	int order;

	if (c->from_done) {
		c->from_got = copy_read_next(c->from);
		c->from_done = false;
	}
	if (c->to_done) {
		c->to_got = copy_read_next(c->to);
		c->to_done = false;
	}
	if (c->from_got < 0 || c->to_got < 0)
		return c->from_got < 0 ? c->from_got : c->to_got;
	if (!c->to_got)
		return COPY_TO_ENDS;
	order = c->from_got ? key_order(c->from->table, c->from->row, c->to->row) : 1;
	c->from_done = order <= 0;
	c->to_done = order >= 0;
	if (order)
		return order < 0 ? COPY_LACKING : COPY_BEYOND;
	for (int i = 0; i < c->from->table->count; i++)
		if (!value_same(&c->from->row[i], &c->to->row[i])) {
			*ret_column = i;
			return COPY_DIFFERS;
		}
	c->same++;
	return COPY_SAME;
}
