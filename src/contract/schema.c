/* schema.c - the smallest walkers: finding a field, nullness, sameness, copying, patching.
 * They know how each kind lies in its struct, and nothing of JSON or SQL. */
#include "contract/schema.h"

#include <math.h>
#include <string.h>

#include "base/same.h"
#include "contract/route.h"

const char *method_name(enum method m)
{
	static const char *const names[] = { "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "" };

	return names[m];
}

int words_find(const struct words *words, const char *text, size_t len)
{
	for (int i = 0; words->list[i]; i++)
		if (strlen(words->list[i]) == len && memcmp(words->list[i], text, len) == 0)
			return i;
	return -1;
}

int words_index(const struct words *words, const char *text)
{
	return text ? words_find(words, text, strlen(text)) : -1;
}

const struct field *schema_field(const struct schema *s, const char *name, size_t len)
{
	for (const struct field *f = s->fields; f < s->fields + s->count; f++)
		if (f->name_len == len && memcmp(f->name, name, len) == 0)
			return f;
	return NULL;
}

static const void *field_member(const struct field *f, const void *object)
{
	return (const char *)object + f->at;
}

bool field_is_null(const struct field *f, const void *object)
{
	const void *at = field_member(f, object);

	switch (f->kind) {
	case FLAG:
		return f->tri && *(const tri *)at < 0;
	case INTEGER:
		return *(const int64_t *)at == NIL;
	case MOMENT:
		return ((const struct moment *)at)->us == NIL;
	case MONEY:
		return ((const struct money *)at)->pd == NIL;
	case NUMBER:
		return isnan(*(const double *)at);
	case CHOICE:
		return *(const int *)at < 0;
	case TEXT:
	case JSON:
	case OBJECT:
		return *(const void *const *)at == NULL;
	case LIST:
		return ((const struct list *)at)->at == NULL;
	}
	return false;
}

void field_set_null(const struct field *f, void *object)
{
	void *at = (char *)object + f->at;

	memset(at, 0, f->size);
	switch (f->kind) {
	case FLAG:
		if (f->tri)
			*(tri *)at = -1;
		break;
	case INTEGER:
		*(int64_t *)at = NIL;
		break;
	case MOMENT:
		((struct moment *)at)->us = NIL;
		break;
	case MONEY:
		((struct money *)at)->pd = NIL;
		break;
	case NUMBER:
		*(double *)at = NAN;
		break;
	case CHOICE:
		*(int *)at = -1;
		break;
	case TEXT:
	case JSON:
	case OBJECT:
	case LIST:
		break;
	}
}

static bool same_object(const struct schema *s, const void *a, const void *b);

static bool same_list(const struct field *f, const struct list *a, const struct list *b)
{
	if (a->count != b->count || !a->at != !b->at)
		return false;
	if (!a->at || !b->at)
		return true;
	for (size_t i = 0; i < a->count; i++) {
		if (f->item == OBJECT) {
			if (!same_object(f->of, (const char *)a->at + i * f->of->size,
				    (const char *)b->at + i * f->of->size))
				return false;
		} else if (f->item == CHOICE) {
			if (((const int *)a->at)[i] != ((const int *)b->at)[i])
				return false;
		} else if (!same_text(((const char *const *)a->at)[i],
				   ((const char *const *)b->at)[i])) {
			return false;
		}
	}
	return true;
}

bool field_same(const struct field *f, const void *a, const void *b) /* NOLINT(misc-no-recursion) */
{
	const void *x = field_member(f, a), *y = field_member(f, b);

	switch (f->kind) {
	case TEXT:
	case JSON:
		return same_text(*(const char *const *)x, *(const char *const *)y);
	case NUMBER:
		return *(const double *)x == *(const double *)y ||
		       (isnan(*(const double *)x) && isnan(*(const double *)y));
	case OBJECT: {
		const void *p = *(const void *const *)x, *q = *(const void *const *)y;

		return p == q || (p && q && same_object(f->of, p, q));
	}
	case LIST:
		return same_list(f, x, y);
	case FLAG:
	case INTEGER:
	case MONEY:
	case MOMENT:
	case CHOICE:
		break;
	}
	return memcmp(x, y, f->size) == 0;
}

/* Objects nest as deeply as the tables say, which is a handful. */
static bool same_object(
	const struct schema *s, const void *a, const void *b) /* NOLINT(misc-no-recursion) */
{
	for (size_t i = 0; i < s->count; i++)
		if (!field_same(&s->fields[i], a, b))
			return false;
	return true;
}

double field_limit(const struct field *f)
{
	if (f->max)
		return f->max;
	if (f->ceiling)
		return f->ceiling;
	switch (f->kind) {
	case TEXT:
		return f->prompt ? CEILING_PROMPT : CEILING_TEXT;
	case JSON:
		return CEILING_JSON;
	case LIST:
		return CEILING_LIST;
	case INTEGER:
	case NUMBER:
		return 9007199254740991.0;
	case MONEY:
		return MONEY_USD_MAX;
	case FLAG:
	case CHOICE:
	case MOMENT:
	case OBJECT:
		break;
	}
	return 0;
}

const char *field_column(const struct field *f)
{
	return f->column ? f->column : f->name;
}

static void copy_field(
	const struct field *from_field, const void *from, const struct field *to_field, void *to)
{
	memcpy((char *)to + to_field->at, (const char *)from + from_field->at, to_field->size);
}

void schema_patch(const struct schema *patch_schema, const void *patch,
	const struct schema *row_schema, void *row)
{
	uint64_t got = *(const uint64_t *)patch;

	for (size_t i = 0; i < patch_schema->count; i++) {
		const struct field *f = &patch_schema->fields[i];
		const struct field *column = schema_field(row_schema, f->name, f->name_len);

		if (!(got >> i & 1) || !column || column->kind != f->kind)
			continue;
		if (!field_is_null(f, patch))
			copy_field(f, patch, column, row);
		else if (column->nullable)
			field_set_null(column, row);
	}
}

bool schema_present(const struct schema *s, const void *patch, const char *name)
{
	return *(const uint64_t *)patch >> (schema_field(s, name, strlen(name)) - s->fields) & 1;
}

void schema_copy(const struct schema *from_schema, const void *from, const struct schema *to_schema,
	void *to)
{
	for (size_t i = 0; i < to_schema->count; i++) {
		const struct field *f = &to_schema->fields[i];
		const struct field *source = schema_field(from_schema, f->name, f->name_len);

		if (source && source->kind == f->kind && source->size == f->size)
			copy_field(source, from, f, to);
	}
}
