/* decode.c - JSON text into a struct in one pass; see decode.h.  No tree is built:
 * the cursor goes over the text, the table says what each member must be. */
#include "contract/decode.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/json.h"
#include "contract/value.h"

struct decoder {
	struct json_reader r;
	struct check k;
	enum unknown unknown;
};

static bool decode_object(
	struct decoder *d, const struct schema *s, void *object, const char *path);
static bool decode_value(struct decoder *d, const struct field *f, void *object, const char *path);

/* A value of another type than the table's: say so, and go over it. */
static bool wrong_type(struct decoder *d, const struct field *f, const char *path)
{
	static const char *const wants[] = { [FLAG] = "true or false",
		[INTEGER] = "a whole number",
		[NUMBER] = "a number",
		[MONEY] = "a number",
		[TEXT] = "a string",
		[CHOICE] = "a string",
		[MOMENT] = "a string",
		[JSON] = "an object",
		[OBJECT] = "an object",
		[LIST] = "an array" };

	if (!json_skip(&d->r, NULL, NULL))
		return false;
	problem_field(d->k.problem, d->k.arena, path, "type", "must be %s%s",
		f->array ? "an array" : wants[f->kind], f->nullable ? " or null" : "");
	return true;
}

static bool decode_text(struct decoder *d, const struct field *f, void *at, const char *path)
{
	const char *text;
	size_t len;

	if (!json_read_string(&d->r, &text, &len))
		return false;
	value_from_text(&d->k, f, at, path, text, len);
	return true;
}

static bool decode_number(struct decoder *d, const struct field *f, void *at, const char *path)
{
	struct json_number n;

	if (!json_read_number(&d->r, &n))
		return false;
	value_from_number(&d->k, f, at, path, &n);
	return true;
}

/* Objects lie in their list themselves, not behind a pointer. */
static bool decode_item(struct decoder *d, const struct field *item, void *at, const char *path)
{ /* NOLINT(misc-no-recursion): nesting is bounded by the reader */
	if (item->kind != OBJECT)
		return decode_value(d, item, at, path);
	if (json_peek(&d->r) != JSON_OBJECT)
		return wrong_type(d, item, path);
	return decode_object(d, item->of, at, path);
}

/* A list grows in the arena by doubling; what it outgrows goes with the arena. */
static bool decode_list(struct decoder *d, const struct field *f, void *at, const char *path)
{
	size_t size = value_item_size(f), cap = 0, limit = (size_t)field_limit(f);
	struct list list = { .at = arena_alloc(d->k.arena, 1) };
	struct field item = value_item_field(f);

	json_enter_array(&d->r);
	while (json_next_item(&d->r)) {
		char where[160];

		snprintf(where, sizeof where, "%s[%zu]", path, list.count);
		if (list.count == limit) { /* say it once, and go over the rest */
			if (!json_skip(&d->r, NULL, NULL))
				return false;
			d->k.over = true;
			continue;
		}
		if (list.count == cap) {
			void *more = arena_alloc(d->k.arena, size * (cap = cap ? cap * 2 : 8));

			memcpy(more, list.at, size * list.count);
			list.at = more;
		}
		if (!decode_item(d, &item, (char *)list.at + size * list.count, where))
			return false;
		list.count++;
	}
	if (d->r.fault)
		return false;
	value_check_list(&d->k, f, &list, path);
	*(struct list *)at = list;
	return true;
}

/* Is there an escape for U+0000 in JSON text?  One after an odd backslash is a backslash and five letters. */
static bool holds_nul(const char *text, size_t len)
{
	const char *end = text + len;

	for (const char *p = text; (p = memchr(p, '\\', (size_t)(end - p))); p += 2)
		if (end - p >= 6 && memcmp(p, "\\u0000", 6) == 0)
			return true;
	return false;
}

static bool decode_json(struct decoder *d, const struct field *f, void *at, const char *path)
{
	const char *text;
	size_t len;

	if (!json_skip(&d->r, &text, &len))
		return false;
	if (len > (size_t)field_limit(f))
		problem_field(d->k.problem, d->k.arena, path, "too_long",
			"must be at most %zu bytes", (size_t)field_limit(f));
	else if (d->k.patterns && holds_nul(text, len))
		problem_field(d->k.problem, d->k.arena, path, "character",
			"must not contain the character U+0000");
	else
		((struct json *)at)->text = value_compact(d->k.arena, text, len);
	return true;
}

static bool decode_value(struct decoder *d, const struct field *f, void *object, const char *path)
{ /* NOLINT(misc-no-recursion): nesting is bounded by the reader */
	void *at = (char *)object + f->at;
	enum json_type type = json_peek(&d->r);

	if (type == JSON_FAULT)
		return false;
	if (type == JSON_NULL) {
		if (!f->nullable)
			problem_field(d->k.problem, d->k.arena, path, "null", "must not be null");
		field_set_null(f, object);
		return json_read_null(&d->r);
	}
	switch (f->kind) {
	case FLAG: {
		bool flag;

		if (type != JSON_BOOL)
			return wrong_type(d, f, path);
		if (!json_read_bool(&d->r, &flag))
			return false;
		*(tri *)at = flag;
		return true;
	}
	case INTEGER:
	case NUMBER:
	case MONEY:
		return type == JSON_NUMBER ? decode_number(d, f, at, path) : wrong_type(d, f, path);
	case TEXT:
	case CHOICE:
	case MOMENT:
		return type == JSON_STRING ? decode_text(d, f, at, path) : wrong_type(d, f, path);
	case JSON:
		return f->any || type == (f->array ? JSON_ARRAY : JSON_OBJECT)
			       ? decode_json(d, f, at, path)
			       : wrong_type(d, f, path);
	case LIST:
		return type == JSON_ARRAY ? decode_list(d, f, at, path) : wrong_type(d, f, path);
	case OBJECT:
		if (type != JSON_OBJECT)
			return wrong_type(d, f, path);
		*(void **)at = arena_alloc(d->k.arena, f->of->size);
		return decode_object(d, f->of, *(void **)at, path);
	}
	return false;
}

/* What was not sent: an error where it is needed, else its preset, else null. */
static void fill_absent(
	struct decoder *d, const struct schema *s, void *object, uint64_t got, const char *path)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct field *f = &s->fields[i];
		const char *preset = f->preset ? f->preset : f->otherwise;

		if (got >> i & 1)
			continue;
		field_set_null(f, object);
		if (f->required)
			problem_field(d->k.problem, d->k.arena, value_path(&d->k, path, f->name),
				"required", "is required");
		else if (preset && !s->partial)
			value_preset(d->k.arena, f, object, preset);
	}
}

static bool decode_object(struct decoder *d, const struct schema *s, void *object, const char *path)
{ /* NOLINT(misc-no-recursion): nesting is bounded by the reader */
	uint64_t got = 0, sound = 0;
	const char *key;
	size_t len;

	if (!json_enter_object(&d->r))
		return false;
	while (json_next_key(&d->r, &key, &len)) {
		const struct field *f = schema_field(s, key, len);
		size_t faults = d->k.problem->count + d->k.problem->unlisted;

		if (!f) {
			if (d->unknown == UNKNOWN_REFUSED)
				problem_field(d->k.problem, d->k.arena,
					value_path(&d->k, path, key), "unknown_field",
					"is not a field of %s", s->name);
			if (!json_skip(&d->r, NULL, NULL))
				return false;
			continue;
		}
		if (!decode_value(d, f, object, value_path(&d->k, path, f->name)))
			return false;
		got |= UINT64_C(1) << (f - s->fields);
		if (d->k.problem->count + d->k.problem->unlisted == faults)
			sound |= UINT64_C(1) << (f - s->fields);
		else
			field_set_null(f, object); /* nobody shall take it for a value */
	}
	if (d->r.fault)
		return false;
	fill_absent(d, s, object, got, path);
	if (s->partial)
		*(uint64_t *)object = sound;
	return true;
}

int decode_body(const struct patterns *patterns, struct arena *a, const struct schema *s,
	enum unknown unknown, const char *text, size_t len, void *object, struct problem *p)
{
	struct decoder d = { .k = { .patterns = patterns, .arena = a, .problem = p },
		.unknown = unknown };

	json_open(&d.r, a, text, len);
	if (json_peek(&d.r) != JSON_FAULT && json_peek(&d.r) != JSON_OBJECT) {
		for (size_t i = 0; i < s->count; i++)
			field_set_null(&s->fields[i], object);
		if (json_skip(&d.r, NULL, NULL) && json_end(&d.r))
			return problem_field(p, a, "", "type", "the body must be an object");
	} else if (decode_object(&d, s, object, "") && json_end(&d.r)) {
		return p->err;
	}
	*p = (struct problem){ 0 }; /* a malformed body has one fault: where it is malformed */
	return problem_set(
		p, a, ERR_BAD_JSON, "At byte %zu of the body: %s.", d.r.fault_at, d.r.fault);
}

int decode_part(const struct patterns *patterns, struct arena *a, const struct schema *s,
	const char *path, const char *text, void *object, struct problem *p)
{
	struct decoder d = { .k = { .patterns = patterns, .arena = a, .problem = p },
		.unknown = UNKNOWN_REFUSED };
	size_t before = p->count + p->unlisted;

	json_open(&d.r, a, text, strlen(text));
	if (!decode_object(&d, s, object, path) || !json_end(&d.r))
		return problem_field(p, a, path, "type", "must be an object");
	return p->count + p->unlisted > before ? ERR_INVALID : 0;
}

void schema_init(const struct schema *s, struct arena *a, void *object)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct field *f = &s->fields[i];
		const char *preset = f->preset ? f->preset : f->otherwise;

		field_set_null(f, object);
		if (preset)
			value_preset(a, f, object, preset);
	}
	if (s->partial)
		*(uint64_t *)object = 0;
}
