/* db.c - what is the same on every engine: the cache of prepared statements, and rows to and from
 * structs through the field tables. */
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "contract/decode.h"
#include "contract/encode.h"
#include "contract/value.h"
#include "store/engine.h"

FIELDS(one_text) = { FIELD(one_text, value, .nullable = true) };
SCHEMA(one_text, .internal = true);

struct value value_text(const char *text)
{
	if (!text)
		return (struct value){ VALUE_NULL, 0, NULL, 0 };
	return (struct value){ VALUE_TEXT, 0, text, strlen(text) };
}

struct value value_int(int64_t n)
{
	return (struct value){ n == NIL ? VALUE_NULL : VALUE_INT, n, NULL, 0 };
}

struct value value_bytes(const void *bytes, size_t len)
{
	return (struct value){ VALUE_BYTES, 0, bytes, len };
}

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

/* Which field each column fills, found once by name. */
static void map_columns(struct db *db, struct prepared *p)
{
	for (int i = 0; i < p->columns && p->st->row; i++) {
		const char *name = db->engine->column_name(db, p, i);
		const struct field *f = schema_field(p->st->row, name, strlen(name));

		p->field[i] = (int16_t)(f ? f - p->st->row->fields : -1);
	}
}

int db_prepare(struct db *db, const struct statement *st, struct prepared **ret)
{
	struct prepared **slot = cache_slot(db, st), *p = *slot;
	struct arena scratch = { 0 };
	int err;

	if (p) {
		*ret = p;
		return 0;
	}
	p = calloc(1, sizeof *p);
	if (!p)
		abort();
	p->st = st;
	err = db->engine->prepare(db, p, statement_text(&scratch, db->engine, st));
	arena_free(&scratch);
	if (err) {
		free(p);
		return err;
	}
	if (p->columns > DB_COLUMNS) {
		fprintf(stderr, "lodge: statement %s has too many columns\n", st->name);
		abort();
	}
	map_columns(db, p);
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
		free(db->cache[i]);
		db->cache[i] = NULL;
	}
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
static void read_list(
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

/* The word's place in its list, or -1. */
static int word_index(const struct words *words, const char *text, size_t len)
{
	for (int i = 0; words->list[i]; i++)
		if (strncmp(words->list[i], text, len) == 0 && words->list[i][len] == '\0')
			return i;
	return -1;
}

/* A column that fills a NUMBER is money, in whole picodollars. */
#define PICODOLLARS 1e12

static void read_number(
	struct db *db, struct prepared *p, int column, const struct field *f, void *row)
{
	void *at = (char *)row + f->at;
	int64_t n;

	if (!db->engine->integer(db, p, column, &n))
		field_set_null(f, row);
	else if (f->kind == FLAG)
		*(tri *)at = n != 0;
	else if (f->kind == NUMBER)
		*(double *)at = (double)n / PICODOLLARS;
	else
		*(int64_t *)at = n; /* an integer, or the one member of a moment */
}

static void read_column(struct db *db, struct prepared *p, int column, struct arena *a, void *row)
{
	const struct field *f = &p->st->row->fields[p->field[column]];
	void *at = (char *)row + f->at;
	const char *text;
	size_t len;

	if (f->kind == FLAG || f->kind == INTEGER || f->kind == MOMENT || f->kind == NUMBER) {
		read_number(db, p, column, f, row);
		return;
	}
	text = db->engine->text(db, p, column, &len);
	if (!text)
		field_set_null(f, row);
	else if (f->kind == CHOICE)
		*(int *)at = word_index(f->words, text, len);
	else if (f->kind == LIST && f->item == OBJECT)
		read_objects(f, row, a, text);
	else if (f->kind == LIST)
		read_list(f, row, a, text, len);
	else if (f->kind == TEXT || f->kind == JSON)
		*(const char **)at = arena_strndup(a, text, len);
	/* OBJECT is never a column: objects are rows of their own. */
}

static void read_row(struct db *db, struct prepared *p, struct arena *a, void *row)
{
	for (int i = 0; i < p->columns; i++)
		if (p->field[i] >= 0)
			read_column(db, p, i, a, row);
}

static int start(struct db *db, const struct statement *st, struct prepared **ret,
	const struct value *args, size_t count)
{
	int err = fault_statement(db);

	if (!err)
		err = db_prepare(db, st, ret);
	if (err)
		return err;
	if (count > (size_t)(*ret)->params)
		count = (size_t)(*ret)->params;
	return db->engine->run(db, *ret, args, count);
}

int db_one(struct db *db, struct arena *a, const struct statement *st, void *row,
	const struct value *args, size_t count)
{
	struct prepared *p;
	int got = start(db, st, &p, args, count);

	if (got)
		return got;
	memset(row, 0, st->row->size);
	got = db->engine->step(db, p);
	if (got > 0)
		read_row(db, p, a, row);
	db->engine->reset(db, p);
	return got > 0 ? 0 : got ? got : ERR_NOT_FOUND;
}

int db_all(struct db *db, struct arena *a, const struct statement *st, struct list *rows,
	size_t most, const struct value *args, size_t count)
{
	size_t size = st->row->size, cap = 0;
	struct prepared *p;
	int got = start(db, st, &p, args, count);

	*rows = (struct list){ .at = arena_alloc(a, 1) };
	if (got)
		return got;
	while (rows->count < most && (got = db->engine->step(db, p)) > 0) {
		if (rows->count == cap) {
			void *more = arena_alloc(a, size * (cap = cap ? cap * 2 : 16));

			memcpy(more, rows->at, size * rows->count);
			rows->at = more;
		}
		read_row(db, p, a, (char *)rows->at + size * rows->count++);
	}
	db->engine->reset(db, p);
	return got < 0 ? got : 0;
}

int db_each(struct db *db, const struct statement *st, void *row,
	int (*fn)(void *ctx, const void *row), void *ctx, const struct value *args, size_t count)
{
	struct arena texts = { 0 };
	struct prepared *p;
	int got = start(db, st, &p, args, count), err = 0;

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
	int got = start(db, st, &p, args, count);

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
	int got = start(db, st, &p, args, count);

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
	int got = start(db, st, &p, args, count);

	*ret = NULL;
	if (got)
		return got;
	got = db->engine->step(db, p);
	if (got > 0)
		*ret = db->engine->bytes(db, p, 0, a, ret_len);
	db->engine->reset(db, p);
	return got < 0 ? got : *ret ? 0 : ERR_NOT_FOUND;
}

static struct value list_value(const struct field *f, const void *row, struct arena *a)
{
	enum { LIST_COLUMN_MAX = 1024 * 1024 };
	struct schema one = { .fields = f, .count = 1 };
	struct buf b;
	char *text;

	/* {"name":[...]}: the array is what lies between the colon and the closing brace. */
	buf_init(&b, LIST_COLUMN_MAX);
	encode_object(&b, &one, row);
	text = arena_strndup(a, b.at + f->name_len + 4, b.len - f->name_len - 5);
	buf_free(&b);
	return value_text(text);
}

static struct value column_value(const struct field *f, const void *row, struct arena *a)
{
	const void *at = (const char *)row + f->at;

	if (field_is_null(f, row))
		return value_text(NULL);
	switch (f->kind) {
	case FLAG:
		return value_int(*(const tri *)at);
	case INTEGER:
		return value_int(*(const int64_t *)at);
	case MOMENT:
		return value_int(((const struct moment *)at)->us);
	case TEXT:
	case JSON:
		return value_text(*(const char *const *)at);
	case CHOICE:
		return value_text(f->words->list[*(const int *)at]);
	case LIST:
		return list_value(f, row, a);
	case NUMBER:
	case OBJECT:
		break;
	}
	return value_text(NULL);
}

int db_put(struct db *db, struct arena *a, const struct statement *st, const void *row)
{
	struct value args[DB_ARGS];
	size_t count = 0;

	for (size_t i = 0; i < st->row->count && count < DB_ARGS; i++)
		if (!st->row->fields[i].computed)
			args[count++] = column_value(&st->row->fields[i], row, a);
	return db_run(db, st, NULL, args, count);
}

int db_begin(struct db *db, enum transaction mode)
{
	int err = fault_statement(db);

	if (!err)
		err = db->engine->begin(db, mode);
	db->in_transaction = !err;
	db->uncertain = false;
	db->version = NIL;
	db->mode = mode;
	notices_forget(db);
	return err;
}

/* From here on no reader may use an older view; then those who wait may be told. */
static void committed(struct db *db)
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
	err = fault_statement(db);
	if (!err) {
		err = db->engine->commit(db);
		db->uncertain = err == ERR_STORE && db->mode != READ_ONLY;
	}
	if (err)
		db_rollback(db);
	else if (db->mode != READ_ONLY)
		committed(db);
	db->in_transaction = false;
	return err;
}

void db_rollback(struct db *db)
{
	db->engine->rollback(db);
	db->in_transaction = false;
	notices_forget(db);
}
