/* db.c - what is the same on every engine: the cache of prepared statements, and rows to and from
 * structs through the field tables. */
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/json.h"
#include "base/memory.h"
#include "contract/decode.h"
#include "contract/encode.h"
#include "contract/value.h"
#include "store/engine.h"

FIELDS(one_text) = { FIELD(one_text, value, .nullable = true) };
SCHEMA(one_text, .internal = true);

int db_fail(struct db *db, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(db->error, sizeof db->error, fmt, ap);
	va_end(ap);
	return err;
}

bool db_is_sqlite(const struct db *db)
{
	return db->engine == &sqlite_engine;
}

const char *db_error(const struct db *db)
{
	return db->error;
}

static struct prepared **cache_slot(struct db *db, const struct statement *st)
{
	size_t at = ((uintptr_t)st / sizeof(void *) * 0x9e3779b97f4a7c15u) >> 32;

	for (;; at++) {
		struct prepared **slot = &db->cache[at % DB_STATEMENTS];

		if (!*slot || (*slot)->st == st)
			return slot;
	}
}

static const struct field *field_of_column(const struct schema *s, const char *name)
{
	for (const struct field *f = s->fields; f < s->fields + s->count; f++)
		if (strcmp(f->name, name) == 0 || strcmp(field_column(f), name) == 0)
			return f;
	return NULL;
}

/* Which field each column fills, found once by name. */
static void map_columns(struct db *db, struct prepared *p)
{
	for (int i = 0; i < p->columns && p->st->row; i++) {
		const char *name = db->engine->column_name(db, p, i);
		const struct field *f = field_of_column(p->st->row, name);

		p->field[i] = (int16_t)(f ? f - p->st->row->fields : -1);
	}
}

/* Of names and of a page's places: what is bound to each, found once. */
static void map_places(struct prepared *p, const struct statement_form *form)
{
	p->named = form->named;
	if (!form->named && !form->paged)
		return;
	p->place = memory_zeroed(sizeof form->place);
	memcpy(p->place, form->place, sizeof form->place);
}

static int prepare_new(struct db *db, struct prepared *p)
{
	struct arena scratch = { 0 };
	struct statement_form form;
	int err;

	statement_form(&scratch, db->engine, p->st, &form);
	if (form.fault) {
		err = db_fail(db, ERR_INTERNAL, "%s", form.fault);
	} else {
		err = db->engine->prepare(db, p, form.text);
		map_places(p, &form);
	}
	arena_free(&scratch);
	return err;
}

static void prepared_free(struct prepared *p)
{
	if (p)
		free(p->place);
	free(p);
}

int db_prepare(struct db *db, const struct statement *st, struct prepared **ret)
{
	struct prepared **slot = cache_slot(db, st), *p = *slot;
	int err;

	if (p) {
		*ret = p;
		return 0;
	}
	p = memory_zeroed(sizeof *p);
	p->st = st;
	err = prepare_new(db, p);
	if (err) {
		prepared_free(p);
		return err;
	}
	if (p->columns > DB_COLUMNS) {
		fprintf(stderr, "lodge: statement %s has too many columns\n", st->name);
		abort();
	}
	if (db->cached == DB_STATEMENTS / 4 * 3) {
		fprintf(stderr,
			"lodge: there are more statements than DB_STATEMENTS has room for\n");
		abort();
	}
	map_columns(db, p);
	db->cached++;
	*slot = *ret = p;
	return 0;
}

int db_try(struct db *db, const struct statement *st)
{
	struct prepared *p;

	return db_prepare(db, st, &p);
}

void db_forget(struct db *db)
{
	for (size_t i = 0; i < DB_STATEMENTS; i++) {
		if (db->cache[i])
			db->engine->unprepare(db, db->cache[i]);
		prepared_free(db->cache[i]);
		db->cache[i] = NULL;
	}
	db->cached = 0;
}

int64_t db_version(struct db *db)
{
	if (db->mode != READ_ONLY || !db->in_transaction)
		return NIL;
	if (db->version == NIL)
		db->version = db->engine->version(db);
	return db->version;
}

void db_attach(struct db *db, void *data, void (*release)(void *))
{
	INVARIANT(!db->attached && data);
	db->attached = data;
	db->release = release;
}

void *db_attached(const struct db *db)
{
	return db->attached;
}

void db_close(struct db *db)
{
	if (!db)
		return;
	if (db->attached)
		db->release(db->attached);
	db_forget(db);
	db->engine->close(db);
	arena_free(&db->notice_arena);
	arena_free(&db->bound);
	free(db);
}

/* A list of objects: its JSON through the same table as a body's. */
static void read_objects(const struct field *f, void *row, struct arena *a, const char *text)
{
	struct schema one = { .name = f->name, .fields = f, .count = 1 };
	const char *body = arena_printf(a, "{\"%s\":%s}", f->name, text);
	struct problem ignored = { 0 };

	decode_body(NULL, a, &one, UNKNOWN_IGNORED, body, strlen(body), row, &ignored);
}

/* A list column holds a JSON array. */
static void read_list_column(
	const struct field *f, void *row, struct arena *a, const char *text, size_t len)
{
	struct field item = value_item_field(f);
	struct problem ignored = { 0 };
	struct check k = { .arena = a, .problem = &ignored };
	struct list *list = (struct list *)((char *)row + f->at);
	size_t cap = 0, size = value_item_size(f), item_len;
	struct json_reader r;
	const char *item_text;

	list->at = arena_alloc(a, 1);
	json_open(&r, a, text, len);
	json_enter_array(&r);
	while (json_next_item(&r) && json_read_string(&r, &item_text, &item_len)) {
		if (list->count == cap) {
			void *more = arena_alloc(a, size * (cap = cap ? cap * 2 : 8));

			memcpy(more, list->at, size * list->count);
			list->at = more;
		}
		value_from_text(&k, &item, (char *)list->at + size * list->count++, "", item_text,
			item_len);
	}
}

static void read_number_column(
	struct db *db, struct prepared *p, int column, const struct field *f, void *row)
{
	void *at = (char *)row + f->at;
	int64_t n;

	if (!db->engine->integer(db, p, column, &n))
		field_set_null(f, row);
	else if (f->kind == FLAG)
		*(tri *)at = n != 0;
	else if (f->kind == MONEY)
		((struct money *)at)->pd = n;
	else
		*(int64_t *)at = n; /* an integer, or the one member of a moment */
}

static void read_column(struct db *db, struct prepared *p, int column, struct arena *a, void *row)
{
	const struct field *f = &p->st->row->fields[p->field[column]];
	void *at = (char *)row + f->at;
	const char *text;
	size_t len;

	if (f->kind == FLAG || f->kind == INTEGER || f->kind == MOMENT || f->kind == MONEY) {
		read_number_column(db, p, column, f, row);
		return;
	}
	text = db->engine->text(db, p, column, &len);
	if (!text ||
		!arena_room(a, len)) /* of the second, whoever reads the row hears from the arena */
		field_set_null(f, row);
	else if (f->kind == CHOICE)
		*(int *)at = words_find(f->words, text, len);
	else if (f->kind == LIST && f->item == OBJECT)
		read_objects(f, row, a, text);
	else if (f->kind == LIST)
		read_list_column(f, row, a, text, len);
	else if (f->kind == TEXT || f->kind == JSON)
		*(const char **)at = arena_strndup(a, text, len);
	/* OBJECT and NUMBER are never columns: objects are rows of their own. */
}

static void read_row(struct db *db, struct prepared *p, struct arena *a, void *row)
{
	for (int i = 0; i < p->columns; i++)
		if (p->field[i] >= 0)
			read_column(db, p, i, a, row);
}

/* The most bytes of text that a row of the statement may have, by its table. */
static size_t statement_bound(const struct statement *st)
{
	size_t bound = 0;

	for (const struct field *f = st->row->fields; f < st->row->fields + st->row->count; f++)
		if (f->kind == TEXT || f->kind == JSON || f->kind == LIST)
			bound += f->words ? 64 : (size_t)field_limit(f);
	return bound;
}

static int start_page(struct db *db, const struct statement *st, struct prepared **ret,
	const struct db_page *page, const struct value *args, size_t count)
{
	struct value bound[DB_ARGS];
	int err = db_prepare(db, st, ret);

	INVARIANT(thread_owner_is(&db->owner));
	if (!err)
		err = bind_places(db, *ret, page, &args, count, bound);
	if (!err)
		err = fault_statement(db, st, args, (size_t)(*ret)->params);
	return err ? err : db->engine->run(db, *ret, args, (size_t)(*ret)->params);
}

static int start_statement(struct db *db, const struct statement *st, struct prepared **ret,
	const struct value *args, size_t count)
{
	return start_page(db, st, ret, NULL, args, count);
}

int db_one(struct db *db, struct arena *a, const struct statement *st, void *row,
	const struct value *args, size_t count)
{
	struct prepared *p;
	int got = start_statement(db, st, &p, args, count);

	if (got)
		return got;
	memset(row, 0, st->row->size);
	got = db->engine->step(db, p);
	if (got > 0)
		read_row(db, p, a, row);
	db->engine->reset(db, p);
	if (a->failed)
		return db_fail(db, ERR_BUSY, "there is no memory for the row of %s", st->name);
	return got > 0 ? 0 : got ? got : ERR_NOT_FOUND;
}

/* Rows until there are so many, or so many bytes; *ret_cut if the bytes ended it. */
static int read_result_rows(struct db *db, struct prepared *p, struct arena *a, struct list *rows,
	size_t most, size_t bytes, bool *ret_cut)
{
	size_t size = p->st->row->size, cap = 0, before = a->total;
	int got = 0;

	*ret_cut = false;
	while (rows->count < most && !*ret_cut && (got = db->engine->step(db, p)) > 0) {
		if (rows->count == cap) {
			void *more = arena_alloc(a, size * (cap = cap ? cap * 2 : 16));

			memcpy(more, rows->at, size * rows->count);
			rows->at = more;
		}
		read_row(db, p, a, (char *)rows->at + size * rows->count++);
		if (arena_full(a)) {
			db->engine->reset(db, p);
			return db_fail(db, ERR_BUSY, "the rows of %s are too much", p->st->name);
		}
		*ret_cut = a->total - before >= bytes;
	}
	db->engine->reset(db, p);
	return got < 0 ? got : 0;
}

int db_all(struct db *db, struct arena *a, const struct statement *st, struct list *rows,
	size_t most, const struct value *args, size_t count)
{
	struct prepared *p;
	int got = start_statement(db, st, &p, args, count);
	bool cut;

	*rows = (struct list){ .at = arena_alloc(a, 1) };
	return got ? got : read_result_rows(db, p, a, rows, most, SIZE_MAX, &cut);
}

int db_page(struct db *db, struct arena *a, const struct statement *st, struct list *rows,
	const struct db_page *page, bool *ret_cut, const struct value *args, size_t count)
{
	struct prepared *p;
	int got;

	*rows = (struct list){ .at = arena_alloc(a, 1) };
	*ret_cut = false;
	db->in_pieces = statement_bound(st) > page->bytes / page->rows;
	got = start_page(db, st, &p, page, args, count);
	db->in_pieces = false;
	return got ? got : read_result_rows(db, p, a, rows, page->rows, page->bytes, ret_cut);
}

int db_each(struct db *db, const struct statement *st, void *row,
	int (*fn)(void *ctx, const void *row), void *ctx, const struct value *args, size_t count)
{
	struct arena texts = { 0 };
	struct prepared *p;
	int got = start_statement(db, st, &p, args, count), err = 0;

	if (got)
		return got;
	while (!err && (got = db->engine->step(db, p)) > 0) {
		arena_reset(&texts);
		memset(row, 0, st->row->size);
		read_row(db, p, &texts, row);
		err = fn(ctx, row);
	}
	db->engine->reset(db, p);
	arena_free(&texts);
	return err ? err : got;
}

int db_run(struct db *db, const struct statement *st, int64_t *ret_changed,
	const struct value *args, size_t count)
{
	struct prepared *p;
	int got;

	db->acts = db->mode != READ_ONLY;
	db->unasked = db->acts && !ret_changed && !db->eager;
	got = start_statement(db, st, &p, args, count);
	db->acts = db->unasked = false;
	if (got)
		return got;
	while ((got = db->engine->step(db, p)) > 0)
		;
	if (!got && ret_changed)
		*ret_changed = db->engine->changed(db, p);
	db->engine->reset(db, p);
	return got;
}

int db_int(struct db *db, const struct statement *st, int64_t *ret, const struct value *args,
	size_t count)
{
	struct prepared *p;
	int got = start_statement(db, st, &p, args, count);

	if (got)
		return got;
	got = db->engine->step(db, p);
	if (got > 0 && !db->engine->integer(db, p, 0, ret))
		*ret = 0;
	db->engine->reset(db, p);
	return got > 0 ? 0 : got ? got : ERR_NOT_FOUND;
}

int db_bytes(struct db *db, struct arena *a, const struct statement *st, const void **ret,
	size_t *ret_len, const struct value *args, size_t count)
{
	struct prepared *p;
	int got = start_statement(db, st, &p, args, count);

	*ret = NULL;
	if (got)
		return got;
	got = db->engine->step(db, p);
	if (got > 0)
		*ret = db->engine->bytes(db, p, 0, a, ret_len);
	db->engine->reset(db, p);
	return got < 0 ? got : *ret ? 0 : ERR_NOT_FOUND;
}

int db_put(struct db *db, const struct statement *st, const void *row)
{
	return db_run(db, st, NULL, ARGS(value_row(st->args ? st->args : st->row, row)));
}

int db_begin(struct db *db, enum transaction mode)
{
	int err = fault_statement(db, NULL, NO_ARGS);

	INVARIANT(thread_owner_is(&db->owner));
	if (!err && db->store->shut)
		err = db_fail(db, ERR_STORE, "%s", db->store->shut);
	if (!err)
		err = db->engine->begin(db, mode);
	db->in_transaction = !err;
	if (!err)
		thread_owner_claim(&db->owner);
	db->uncertain = false;
	db->version = NIL;
	db->mode = mode;
	notices_forget(db);
	return err;
}

/* From here on no reader may use an older view; then those who wait may be told. */
static void publish_commit(struct db *db)
{
	fault_commit(false);
	atomic_fetch_add_explicit(&db->store->generation, 1, memory_order_release);
	notices_tell(db);
}

int db_commit(struct db *db)
{
	int err;

	if (db->mode != READ_ONLY)
		fault_commit(true);
	err = fault_statement(db, NULL, NO_ARGS);
	if (!err)
		err = notices_send(db);
	if (!err) {
		err = db->engine->commit(db);
		db->uncertain = err == ERR_STORE && db->mode != READ_ONLY &&
				(!db->late || db->engine->broken(db));
	}
	if (err)
		db_rollback(db);
	else if (db->mode != READ_ONLY)
		publish_commit(db);
	db->in_transaction = false;
	thread_owner_leave(&db->owner);
	return err;
}

void db_rollback(struct db *db)
{
	db->engine->rollback(db);
	db->in_transaction = false;
	thread_owner_leave(&db->owner);
	notices_forget(db);
}
