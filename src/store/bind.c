/* bind.c - values for the places of a statement: arguments by number, members of a struct by its schema, and what a
 * page asks for.  Which place takes what was found when the statement was prepared; here nothing is looked up. */
#include <string.h>

#include "base/check.h"
#include "contract/encode.h"
#include "store/engine.h"

struct value value_text(const char *text)
{
	return (struct value){
		.kind = text ? VALUE_TEXT : VALUE_NULL, .text = text, .len = text ? strlen(text) : 0
	};
}

struct value value_int(int64_t n)
{
	return (struct value){ .kind = n == NIL ? VALUE_NULL : VALUE_INT, .n = n };
}

struct value value_bytes(const void *bytes, size_t len)
{
	return (struct value){ .kind = VALUE_BYTES, .text = bytes, .len = len };
}

struct value value_row(const struct schema *s, const void *row)
{
	return (struct value){ .kind = VALUE_ROW, .text = row, .row = s };
}

/* The JSON of a list; null if it is larger than a column holds. */
static struct value list_value(struct db *db, const struct field *f, const void *row)
{
	enum { LIST_COLUMN_MAX = 1024 * 1024 };
	struct schema one = { .fields = f, .count = 1 };
	struct value made = { .kind = VALUE_NULL };
	struct buf b;

	if (field_is_null(f, row))
		return made;
	/* {"name":[...]}: the array is what lies between the colon and the closing brace. */
	buf_init(&b, LIST_COLUMN_MAX);
	encode_object(&b, &one, row);
	INVARIANT(b.overflow || b.len >= f->name_len + (size_t)5);
	if (!b.overflow)
		made = value_text(
			arena_strndup(&db->bound, b.at + f->name_len + 4, b.len - f->name_len - 5));
	buf_free(&b);
	return made;
}

static struct value bytes_value(const struct bytes *b)
{
	return b->at ? value_bytes(b->at, b->len) : value_text(NULL);
}

static struct value column_value(struct db *db, const struct field *f, const void *row)
{
	const void *at = (const char *)row + f->at;

	/* What is null in a struct (see contract/schema.h) is null here, whichever its kind. */
	switch (f->kind) {
	case FLAG:
		return value_int(*(const tri *)at < 0 ? NIL : *(const tri *)at);
	case INTEGER:
		return value_int(*(const int64_t *)at);
	case MOMENT:
		return value_int(((const struct moment *)at)->us);
	case MONEY: /* an amount: its table has seen to it that it fits */
		INVARIANT(
			((const struct money *)at)->pd == (int64_t)((const struct money *)at)->pd);
		return value_int((int64_t)((const struct money *)at)->pd);
	case TEXT:
	case JSON:
		return value_text(*(const char *const *)at);
	case CHOICE:
		return value_text(*(const int *)at < 0 ? NULL : f->words->list[*(const int *)at]);
	case LIST:
		return list_value(db, f, row);
	case OBJECT: /* of no schema: see struct bytes */
		return bytes_value(at);
	case NUMBER:
		break;
	}
	return value_text(NULL);
}

static int bind_member(struct db *db, const struct prepared *p, const struct value *given, int what,
	struct value *ret)
{
	const struct field *f = &given->row->fields[what];

	*ret = column_value(db, f, given->text);
	if (ret->kind == VALUE_NULL && (!f->nullable || !field_is_null(f, given->text)))
		return db_fail(
			db, ERR_INTERNAL, "statement %s is given no %s", p->st->name, f->name);
	return 0;
}

static struct value page_value(const struct db_page *page, int what)
{
	switch (what) {
	case PLACE_LIMIT:
		return value_int((int64_t)page->rows);
	case PLACE_OFFSET:
		return value_int(page->offset);
	case PLACE_AFTER:
		return value_text(page->after);
	default:
		return value_text(page->before);
	}
}

static int wrong_arguments(struct db *db, const struct prepared *p)
{
	return db_fail(db, ERR_INTERNAL, "statement %s is not given what it takes", p->st->name);
}

static int bind_each(struct db *db, const struct prepared *p, const struct db_page *page,
	const struct value *args, size_t count, struct value bound[DB_ARGS])
{
	int err = 0;

	if (db->bound.total)
		arena_reset(&db->bound);
	for (int i = 0; !err && i < p->params; i++) {
		int what = p->place[i];

		if (what < 0 && page)
			bound[i] = page_value(page, what);
		else if (what >= 0 && p->named)
			err = bind_member(db, p, args, what, &bound[i]);
		else if (what >= 0 && (size_t)what < count)
			bound[i] = args[what];
		else
			err = wrong_arguments(db, p);
	}
	return err;
}

int bind_places(struct db *db, const struct prepared *p, const struct db_page *page,
	const struct value **args, size_t count, struct value bound[DB_ARGS])
{
	const struct value *given = *args;
	const struct schema *s = p->st->args ? p->st->args : p->st->row;
	bool is_row = count == 1 && given->kind == VALUE_ROW;

	INVARIANT(p->params >= 0 && p->params <= DB_ARGS);
	if (p->named ? !is_row || given->row != s : is_row)
		return wrong_arguments(db, p);
	if (p->place) {
		*args = bound;
		return bind_each(db, p, page, given, count, bound);
	}
	return count < (size_t)p->params ? wrong_arguments(db, p) : 0;
}
