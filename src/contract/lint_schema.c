/* lint_schema.c - the rules on schemas, their fields and their words; see lint.h.
 * Each rule is a row of a table and answers false with a sentence. */
#include "contract/lint_schema.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/error.h"
#include "contract/decode.h"
#include "contract/event.h"

bool lint_bad(struct lint *l, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (!l->sentence)
		l->sentence = arena_vprintf(l->arena, fmt, ap);
	va_end(ap);
	return false;
}

enum { NESTING_MAX = 8 };

struct row {
	const struct schema *s;
	const struct field *f;
};

static bool schema_text_empty(const char *text)
{
	return !text || !*text;
}

static bool field_has_words(struct lint *l, struct row r)
{
	if (schema_text_empty(r.f->name))
		return lint_bad(l, "Schema %s has a field without a name.", r.s->name);
	if (schema_text_empty(r.f->doc))
		return lint_bad(l, "Field %s.%s has no doc.", r.s->name, r.f->name);
	if (schema_field(r.s, r.f->name, r.f->name_len) != r.f)
		return lint_bad(l, "Schema %s has the field %s twice.", r.s->name, r.f->name);
	return true;
}

static bool flag_can_be_null(struct lint *l, struct row r)
{
	if (r.s->told)
		return true;
	if (r.f->kind == FLAG && r.f->nullable && !r.f->tri)
		return lint_bad(l, "Field %s.%s is nullable but its member is not a tri.",
			r.s->name, r.f->name);
	if (r.f->tri && !r.f->nullable)
		return lint_bad(l, "Field %s.%s is a tri but not nullable.", r.s->name, r.f->name);
	return true;
}

static bool choice_has_words(struct lint *l, struct row r)
{
	const struct field *f = r.f;
	bool choice = f->kind == CHOICE || (f->kind == LIST && f->item == CHOICE);

	if (choice != (f->words != NULL) && !(f->kind == LIST && f->item == TEXT))
		return lint_bad(l, "Field %s.%s %s.", r.s->name, f->name,
			choice ? "is a choice without words" : "has words but is no choice");
	if (!choice)
		return true;
	if (!f->words->list || !f->words->list[0])
		return lint_bad(l, "Field %s.%s has words without entries.", r.s->name, f->name);
	if (f->words->title && schema_text_empty(f->words->doc))
		return lint_bad(l, "The words %s have no doc.", f->words->title);
	return true;
}

static bool object_has_schema(struct lint *l, struct row r)
{
	const struct field *f = r.f;
	bool object = f->kind == OBJECT || (f->kind == LIST && f->item == OBJECT);

	if (object != (f->of != NULL) && f->kind != JSON)
		return lint_bad(l, "Field %s.%s %s.", r.s->name, f->name,
			object ? "is an object without .of" : "has .of but is no object");
	if (f->kind == OBJECT && !r.s->told && f->size != sizeof(void *))
		return lint_bad(l, "Field %s.%s is a struct itself, not a pointer to one.",
			r.s->name, f->name);
	return true;
}

/* FLAG is what an item nobody named looks like. */
static bool list_has_items(struct lint *l, struct row r)
{
	if (r.f->kind == LIST && (r.f->item == FLAG || r.f->item == LIST))
		return lint_bad(
			l, "List %s.%s does not say what its items are.", r.s->name, r.f->name);
	return true;
}

/* A value that is kept as its text says what it is, or that anything may be there; only rows of the store need not. */
static bool json_has_shape(struct lint *l, struct row r)
{
	const struct field *f = r.f;
	int said = (f->of != NULL) + (f->shape != NULL) + f->open;

	if (f->kind != JSON && (f->shape || f->open))
		return lint_bad(
			l, "Field %s.%s is marked as JSON but is none.", r.s->name, f->name);
	if (f->kind == JSON && !r.s->internal && said != 1)
		return lint_bad(l, "Field %s.%s %s.", r.s->name, f->name,
			said ? "says twice what it is" : "does not say what its JSON is");
	return true;
}

/* The objects of a shape are told apart by a constant that each of them has. */
static bool shape_is_sound(struct lint *l, const struct shape *s)
{
	if (schema_text_empty(s->doc))
		return lint_bad(l, "The shape %s has no doc.", s->title);
	if (s->other && (!s->by || !s->objects))
		return lint_bad(
			l, "The shape %s does not say what others are told from.", s->title);
	for (size_t i = 0; s->by && s->objects && s->objects[i]; i++) {
		const struct field *f = schema_field(s->objects[i], s->by, strlen(s->by));

		if (!f || !f->constant || (!f->required && !s->other))
			return lint_bad(l, "%s cannot be told apart by %s in the shape %s.",
				s->objects[i]->name, s->by, s->title);
	}
	return true;
}

/* What only text, or only a list, can be. */
static bool marks_fit_kind(struct lint *l, struct row r)
{
	const struct field *f = r.f;

	if (f->kind != TEXT &&
		(f->pattern || f->id || f->email || f->prompt || f->constant || f->event))
		return lint_bad(
			l, "Field %s.%s is marked as text but is none.", r.s->name, f->name);
	if ((f->item_id && (f->kind != LIST || f->item != TEXT)) ||
		(f->distinct && f->kind != LIST))
		return lint_bad(
			l, "Field %s.%s is marked as a list but is none.", r.s->name, f->name);
	return true;
}

static bool field_is_bounded(struct lint *l, struct row r)
{
	const struct field *f = r.f;
	bool grows = f->kind == TEXT || f->kind == JSON || f->kind == LIST || f->kind == INTEGER ||
		     f->kind == NUMBER || f->kind == MONEY;

	if (grows && !(isfinite(field_limit(f)) && field_limit(f) > 0))
		return lint_bad(l, "Field %s.%s is unbounded: no limit can be computed.", r.s->name,
			f->name);
	if (f->kind == MONEY && field_limit(f) > MONEY_USD_MAX)
		return lint_bad(
			l, "Field %s.%s may be more money than 64 bits hold.", r.s->name, f->name);
	if (grows && f->has_min && f->min > field_limit(f))
		return lint_bad(
			l, "Field %s.%s has a minimum above its maximum.", r.s->name, f->name);
	return true;
}

static bool pattern_compiles(struct lint *l, struct row r)
{
	struct field f = *r.f;
	const struct schema one = { .name = r.s->name, .fields = &f, .count = 1 }, *list = &one;
	const char *wrong;
	struct patterns *p = patterns_new(&list, 1, &wrong);

	if (!p)
		return lint_bad(l, "Field %s.%s has a pattern that does not compile: %s", r.s->name,
			r.f->name, r.f->pattern);
	patterns_free(p);
	return true;
}

static bool (*const field_rules[])(struct lint *, struct row) = {
	field_has_words,
	flag_can_be_null,
	list_has_items,
	choice_has_words,
	object_has_schema,
	json_has_shape,
	marks_fit_kind,
	field_is_bounded,
	pattern_compiles,
};

/* The members' sizes tell their alignment: a list and a text align like a pointer. */
static size_t field_alignment(const struct field *f)
{
	return f->size < sizeof(void *) ? f->size : sizeof(void *);
}

static size_t align_offset(size_t at, size_t to)
{
	return (at + to - 1) / to * to;
}

/* Each member begins where the one before it ends, but for padding: none is without a row. */
static bool struct_is_covered(struct lint *l, const struct schema *s)
{
	size_t end = s->partial ? sizeof(uint64_t) : 0, widest = s->partial ? sizeof(uint64_t) : 1;

	if (s->told)
		return true;

	for (size_t i = 0; i < s->count; i++) {
		const struct field *f = &s->fields[i];

		if (!f->size || f->at != align_offset(end, field_alignment(f)))
			return lint_bad(l,
				"Before %s.%s a member of the struct has no row, or a row is out of order.",
				s->name, f->name ? f->name : "");
		if (field_alignment(f) > widest)
			widest = field_alignment(f);
		end = f->at + f->size;
	}
	if (s->size != align_offset(end, widest))
		return lint_bad(l, "The last members of the struct %s have no row.", s->name);
	return true;
}

static bool schema_is_sound(struct lint *l, const struct schema *s)
{
	if (schema_text_empty(s->name))
		return lint_bad(l, "A schema has no name.");
	if (schema_text_empty(s->doc))
		return lint_bad(l, "Schema %s has no doc.", s->name);
	if (!s->count || s->count > 64)
		return lint_bad(
			l, "Schema %s has %zu fields; it may have 1 to 64.", s->name, s->count);
	for (size_t i = 0; i < s->count; i++)
		for (size_t j = 0; j < sizeof field_rules / sizeof *field_rules; j++)
			if (!field_rules[j](l, (struct row){ s, &s->fields[i] }))
				return false;
	return struct_is_covered(l, s);
}

static bool query_is_flat(struct lint *l, const struct type *t)
{
	for (size_t i = 0; t->use & TYPE_QUERIED && i < t->schema->count; i++) {
		const struct field *f = &t->schema->fields[i];
		enum kind k = f->kind == LIST ? f->item : f->kind;

		if (k == JSON || k == OBJECT)
			return lint_bad(l, "Field %s.%s cannot be part of a query.",
				t->schema->name, f->name);
	}
	return true;
}

static bool nesting_ends(const struct schema *s, int depth)
{ /* NOLINT(misc-no-recursion): bounded by NESTING_MAX */
	if (depth > NESTING_MAX)
		return false;
	for (size_t i = 0; i < s->count; i++)
		if (s->fields[i].of && s->fields[i].kind != JSON &&
			!nesting_ends(s->fields[i].of, depth + 1))
			return false;
	return true;
}

/* Of shapes and streams, which stand beside the schemas and the words. */
static bool titles_are_unique(struct lint *l)
{
	const struct types *t = &l->types;
	size_t n = 0;
	const char **all = arena_array(l->arena, const char *,
		t->count + t->words_count + t->shapes_count + t->streams_count);

	for (size_t i = 0; i < t->count; i++)
		all[n++] = t->list[i].schema->name;
	for (size_t i = 0; i < t->words_count; i++)
		all[n++] = t->words[i]->title;
	for (size_t i = 0; i < t->shapes_count + t->streams_count; i++) {
		const char *title = i < t->shapes_count ? t->shapes[i]->title
							: t->streams[i - t->shapes_count]->title;

		for (size_t j = 0; j < n; j++)
			if (strcmp(all[j], title) == 0)
				return lint_bad(l, "Two types are called %s.", title);
		all[n++] = title;
	}
	return true;
}

/* What is still to come is there for a reason, and not there yet. */
static bool to_come_is_true(struct lint *l, const struct type *t)
{
	if (!(t->use & TYPE_TO_COME))
		return true;
	if (t->to_come && !*t->to_come)
		return lint_bad(l, "Schema %s does not say what it waits for.", t->schema->name);
	if (t->to_come && (t->use & ~(unsigned)TYPE_TO_COME))
		return lint_bad(
			l, "Schema %s is used, and said to be still to come.", t->schema->name);
	return true;
}

static bool names_are_unique(struct lint *l)
{
	const struct types *t = &l->types;

	for (size_t i = 1; i < t->count; i++)
		if (strcmp(t->list[i - 1].schema->name, t->list[i].schema->name) == 0)
			return lint_bad(l, "Two schemas are called %s.", t->list[i].schema->name);
	for (size_t i = 0; i < t->words_count; i++) {
		if (i && strcmp(t->words[i - 1]->title, t->words[i]->title) == 0)
			return lint_bad(l, "Two lists of words are called %s.", t->words[i]->title);
		for (size_t j = 0; j < t->count; j++)
			if (strcmp(t->list[j].schema->name, t->words[i]->title) == 0)
				return lint_bad(l, "A schema and a list of words are called %s.",
					t->words[i]->title);
	}
	return titles_are_unique(l);
}

/* A value from the table goes the way of a value from a caller: the field itself must take it. */
static bool field_takes(struct lint *l, const struct patterns *patterns, struct row r,
	const char *what, const char *json)
{
	struct field f = *r.f;
	const struct schema one = {
		.name = r.s->name, .size = r.s->size, .fields = &f, .count = 1
	};
	struct problem p = { 0 };
	const char *body = arena_printf(l->arena, "{\"%s\":%s}", f.name, json);

	if (decode_body(patterns, l->arena, &one, UNKNOWN_REFUSED, body, strlen(body),
		    arena_alloc(l->arena, r.s->size), &p) == 0)
		return true;
	return lint_bad(l, "Field %s.%s does not take its own %s %s: it %s.", r.s->name, f.name,
		what, json, p.first ? p.first->message : "is not JSON");
}

static bool values_fit(struct lint *l, const struct patterns *patterns, struct row r)
{
	const struct field *f = r.f;
	const char *used = f->preset ? f->preset : f->otherwise;

	if (f->preset && f->otherwise)
		return lint_bad(
			l, "Field %s.%s has both a preset and an otherwise.", r.s->name, f->name);
	if (used && (f->kind == OBJECT || (f->kind == LIST && strcmp(used, "[]") != 0)))
		return lint_bad(l, "Field %s.%s cannot be preset to %s.", r.s->name, f->name, used);
	if (used && !field_takes(l, patterns, r, f->preset ? "preset" : "otherwise", used))
		return false;
	if (f->example && !field_takes(l, patterns, r, "example", f->example))
		return false;
	if (f->pattern && !f->example && !used)
		return lint_bad(
			l, "Field %s.%s has a pattern but no example of it.", r.s->name, f->name);
	return true;
}

static bool all_values_fit(struct lint *l)
{
	const char *wrong;
	struct patterns *patterns =
		patterns_new(types_schemas(&l->types, l->arena), l->types.count, &wrong);
	bool good = true;

	if (!patterns)
		return lint_bad(l, "There are more patterns than can be kept.");
	for (size_t i = 0; good && i < l->types.count; i++) {
		const struct schema *s = l->types.list[i].schema;

		for (size_t j = 0; good && !s->told && j < s->count; j++)
			good = values_fit(l, patterns, (struct row){ s, &s->fields[j] });
	}
	patterns_free(patterns);
	return good;
}

bool lint_schemas(struct lint *l)
{
	for (size_t i = 0; i < l->types.count; i++)
		if (!schema_is_sound(l, l->types.list[i].schema) ||
			!query_is_flat(l, &l->types.list[i]) ||
			!to_come_is_true(l, &l->types.list[i]))
			return false;
	for (size_t i = 0; i < l->types.shapes_count; i++)
		if (!shape_is_sound(l, l->types.shapes[i]))
			return false;
	for (size_t i = 0; i < l->types.count; i++)
		if (!nesting_ends(l->types.list[i].schema, 0))
			return lint_bad(l, "Schema %s contains itself, or nests too deeply.",
				l->types.list[i].schema->name);
	types_sort(&l->types);
	return names_are_unique(l) && all_values_fit(l);
}
