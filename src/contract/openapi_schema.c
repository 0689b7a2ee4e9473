/* openapi_schema.c - a field table as a JSON Schema (2020-12), and as an example of itself.
 * Both walk the rows; neither knows any type by name. */
#include "contract/openapi.h"
#include "contract/openapi_parts.h"

#include <math.h>
#include <string.h>

#include "base/json.h"

#define SAMPLE_ID "cm5x8k2q90a7d3f6h1j4n8p2r"
#define SAMPLE_TIME "2026-01-31T09:30:00.000Z"

static void write_schema_number(struct buf *o, const char *key, double v)
{
	doc_key(o, key);
	json_write_number(o, v);
}

static const char *schema_type_name(enum kind k)
{
	static const char *const names[] = { [FLAG] = "boolean",
		[INTEGER] = "integer",
		[NUMBER] = "number",
		[MONEY] = "number",
		[TEXT] = "string",
		[CHOICE] = "string",
		[MOMENT] = "string",
		[OBJECT] = "object",
		[LIST] = "array" };

	return names[k];
}

/* The name of the type that stands in components, or NULL for one written in place. */
static const char *named_type(enum kind k, const struct field *f)
{
	return k == OBJECT || (k == JSON && f->of && !f->array) ? f->of->name
	       : k == CHOICE					? f->words->title
								: NULL;
}

/* Of an array that is kept as text. */
static void array_items(struct buf *o, const struct field *f)
{
	doc_json(o, "items", "{");
	if (f->shape)
		doc_shape(o, f->shape, false);
	else if (f->of)
		doc_schema_ref(o, f->of->name);
	else
		doc_json(o, "type", "\"object\",\"additionalProperties\":true");
	buf_putc(o, '}');
}

/* What is kept as its text: an array, an object, or anything. */
static void json_type(struct buf *o, const struct field *f, bool nullable)
{
	if (f->array) {
		doc_json(o, "type", nullable ? "[\"array\",\"null\"]" : "\"array\"");
		array_items(o, f);
	} else if (f->shape) {
		doc_shape(o, f->shape, nullable);
	} else if (!f->any) {
		doc_json(o, "type", nullable ? "[\"object\",\"null\"]" : "\"object\"");
		doc_json(o, "additionalProperties", "true");
	}
	if (f->open)
		doc_json(o, "x-any", "true");
}

static void value_type(struct buf *o, enum kind k, const struct field *f, bool nullable)
{
	const char *name = named_type(k, f);

	if (name && nullable) {
		doc_json(o, "anyOf", "[{");
		doc_schema_ref(o, name);
		buf_lit(o, "},{\"type\":\"null\"}]");
	} else if (name) {
		doc_schema_ref(o, name);
	} else if (k == JSON) {
		json_type(o, f, nullable);
	} else {
		doc_key(o, "type");
		buf_printf(o, nullable ? "[\"%s\",\"null\"]" : "\"%s\"", schema_type_name(k));
		if (k == CHOICE)
			doc_word_list(o, "enum", f->words, nullable);
		else if (k == MOMENT)
			doc_text(o, "format", "date-time");
	}
}

static void write_bounds(struct buf *o, const struct field *f)
{
	static const char *const least[] = { [INTEGER] = "minimum",
		[NUMBER] = "minimum",
		[MONEY] = "minimum",
		[TEXT] = "minLength",
		[LIST] = "minItems" };
	static const char *const most[] = { [INTEGER] = "maximum",
		[NUMBER] = "maximum",
		[MONEY] = "maximum",
		[TEXT] = "maxLength",
		[LIST] = "maxItems" };

	if (!least[f->kind])
		return;
	if (f->has_min || (f->kind == TEXT && f->max))
		write_schema_number(o, least[f->kind], f->min);
	if (f->max)
		write_schema_number(o, most[f->kind], f->max);
}

/* Where the contract states no maximum, ours: bytes of text and JSON, items of lists. */
static void write_ceiling(struct buf *o, const struct field *f)
{
	bool bounded = f->max || f->id || f->constant;

	if (f->ceiling || (!bounded && (f->kind == TEXT || f->kind == JSON || f->kind == LIST)))
		write_schema_number(o, "x-max", field_limit(f));
}

void doc_facts(struct buf *o, const struct field *f, bool taken)
{
	value_type(o, f->kind, f, f->nullable);
	if (f->kind == LIST) {
		doc_json(o, "items", "{");
		value_type(o, f->item, f, false);
		if (f->item_id)
			doc_text(o, "pattern", ID_PATTERN);
		else if (taken && f->item == TEXT)
			write_schema_number(o, "x-max", CEILING_TEXT);
		if (f->item == TEXT && f->words)
			doc_word_list(o, "x-enum", f->words, false);
		buf_putc(o, '}');
		if (f->distinct)
			doc_json(o, "uniqueItems", "true");
	}
	if (f->id || f->pattern)
		doc_text(o, "pattern", f->id ? ID_PATTERN : f->pattern);
	if (f->email)
		doc_text(o, "format", "email");
	if (f->constant)
		doc_text(o, "const", f->constant);
	write_bounds(o, f);
	if (taken)
		write_ceiling(o, f);
	if (f->preset)
		doc_json(o, "default", f->preset);
	if (f->otherwise)
		doc_json(o, "x-default", f->otherwise);
	if (f->secret)
		doc_json(o, "writeOnly", "true");
	if (f->label)
		doc_text(o, "x-label", f->label);
	if (f->unit)
		doc_text(o, "x-unit", f->unit);
	if (f->prompt)
		doc_json(o, "x-long", "true");
	if (f->unused)
		doc_json(o, "x-unused", "true");
}

bool doc_published(const struct type *t)
{
	return (t->use & (TYPE_TAKEN | TYPE_SHOWN | TYPE_TO_COME)) && !t->schema->internal;
}

/* `closed`: members that are not named are refused.  `all`: where events with their names are found; NULL: nowhere. */
static void object_members(
	struct buf *o, const struct types *all, const struct schema *s, bool taken, bool closed)
{
	bool any = false;

	doc_json(o, "properties", "{");
	for (size_t i = 0; i < s->count; i++) {
		doc_json(o, s->fields[i].name, "{");
		doc_facts(o, &s->fields[i], taken);
		if (s->fields[i].event && all)
			doc_event_names(o, all, s);
		doc_text(o, "description", s->fields[i].doc);
		buf_putc(o, '}');
		any |= s->fields[i].required;
	}
	buf_putc(o, '}');
	if (any) {
		doc_json(o, "required", "[");
		for (size_t i = 0; i < s->count; i++) {
			if (!s->fields[i].required)
				continue;
			doc_item(o);
			json_write_string(o, s->fields[i].name, s->fields[i].name_len);
		}
		buf_putc(o, ']');
	}
	if (closed)
		doc_json(o, "additionalProperties", "false");
	buf_putc(o, '}');
}

static void object_schema(struct buf *o, const struct types *all, const struct type *t)
{
	const struct schema *s = t->schema;
	bool taken = t->use & TYPE_TAKEN;

	doc_json(o, s->name, "{\"type\":\"object\"");
	doc_text(o, "description", s->doc);
	if (t->to_come)
		doc_text(o, "x-to-come", t->to_come);
	object_members(o, all, s, taken, taken && !(t->use & TYPE_LOOSE));
}

void openapi_object(struct buf *out, const struct schema *s)
{
	buf_lit(out, "{\"type\":\"object\"");
	object_members(out, NULL, s, true, true);
}

static void page_schema(struct buf *o, const struct schema *s)
{
	doc_item(o);
	buf_printf(o,
		"\"%sPage\":{\"type\":\"object\",\"description\":\"A page of %s.\","
		"\"properties\":{\"items\":{\"type\":\"array\","
		"\"items\":{\"$ref\":\"" REF_SCHEMA "%s\"},"
		"\"description\":\"What is on this page, in the order of the list.\"},",
		s->name, s->name, s->name);
	buf_lit(o, "\"total\":{\"type\":\"integer\",\"minimum\":0,"
		   "\"description\":\"All that match, on all pages; left out with total=false.\"},"
		   "\"page\":{\"type\":\"integer\",\"minimum\":1,"
		   "\"description\":\"Number of this page, from 1.\"},"
		   "\"per_page\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":200,"
		   "\"description\":\"The most that a page holds.\"},"
		   "\"next_after\":{\"type\":[\"string\",\"null\"],"
		   "\"description\":\"Pass it as after to read on; null at the end.\"}},"
		   "\"required\":[\"items\",\"page\",\"per_page\",\"next_after\"]}");
}

void doc_schemas(struct buf *o, const struct types *t)
{
	for (size_t i = 0; i < t->count; i++) {
		if (!doc_published(&t->list[i]))
			continue;
		object_schema(o, t, &t->list[i]);
		if (t->list[i].use & TYPE_PAGED)
			page_schema(o, t->list[i].schema);
	}
	for (size_t i = 0; i < t->words_count; i++) {
		doc_json(o, t->words[i]->title, "{\"type\":\"string\"");
		doc_word_list(o, "enum", t->words[i], false);
		doc_text(o, "description", t->words[i]->doc);
		buf_putc(o, '}');
	}
}

static bool name_ends_in(const char *name, const char *tail)
{
	size_t n = strlen(name), m = strlen(tail);

	return n >= m && strcmp(name + n - m, tail) == 0;
}

static void sample_text(struct buf *o, const struct field *f)
{
	const char *text = f->constant ? f->constant
			   : f->id || name_ends_in(f->name, "_id") || strcmp(f->name, "id") == 0
				   ? SAMPLE_ID
			   : f->email			  ? "ada@example.org"
			   : name_ends_in(f->name, "url") ? "https://example.org/"
							  : "text";
	size_t len = strlen(text), least = (size_t)f->min;

	if (f->max && len > (size_t)f->max)
		len = (size_t)f->max;
	buf_putc(o, '"');
	buf_put(o, text, len);
	for (; len < least; len++)
		buf_putc(o, 'x');
	buf_putc(o, '"');
}

static void sample_number(struct buf *o, const struct field *f)
{
	json_write_number(o, f->has_min ? f->min : f->max ? fmin(1, f->max) : 1);
}

/* Of what is kept as its text. */
static void sample_json(struct buf *o, const struct field *f)
{
	if (f->array)
		buf_lit(o, "[]");
	else if (f->shape && f->shape->text)
		buf_lit(o, "\"text\"");
	else if (f->shape && f->nullable)
		buf_lit(o, "null");
	else
		buf_lit(o, "{}");
}

static void sample_object(struct buf *o, const struct schema *s, bool taken);

static void sample_value(struct buf *o, enum kind k, const struct field *f)
{ /* NOLINT(misc-no-recursion): as deep as the tables, which lint has seen to end */
	switch (k) {
	case FLAG:
		buf_lit(o, "false");
		break;
	case INTEGER:
	case NUMBER:
	case MONEY:
		sample_number(o, f);
		break;
	case TEXT:
		sample_text(o, f);
		break;
	case CHOICE:
		json_write_string(o, f->words->list[0], strlen(f->words->list[0]));
		break;
	case MOMENT:
		buf_lit(o, "\"" SAMPLE_TIME "\"");
		break;
	case JSON:
		if (f->of && !f->array)
			sample_object(o, f->of, false);
		else
			sample_json(o, f);
		break;
	case OBJECT:
		sample_object(o, f->of, false);
		break;
	case LIST: {
		struct field item = {
			.name = f->name, .id = f->item_id, .of = f->of, .words = f->words
		};

		buf_putc(o, '[');
		for (size_t i = 0; i < (f->min > 1 ? (size_t)f->min : 1); i++) {
			doc_item(o);
			sample_value(o, f->item, &item);
		}
		buf_putc(o, ']');
		break;
	}
	}
}

void doc_sample(struct buf *o, const struct field *f)
{ /* NOLINT(misc-no-recursion): see sample_value */
	const char *given = f->example ? f->example : f->preset ? f->preset : f->otherwise;

	if (given)
		buf_puts(o, given);
	else
		sample_value(o, f->kind, f);
}

static void sample_object(struct buf *o, const struct schema *s, bool taken)
{ /* NOLINT(misc-no-recursion): see sample_value */
	buf_putc(o, '{');
	for (size_t i = 0; i < s->count; i++) {
		if (s->fields[i].secret && !taken)
			continue;
		doc_key(o, s->fields[i].name);
		doc_sample(o, &s->fields[i]);
	}
	buf_putc(o, '}');
}

void doc_examples(struct buf *o, const struct types *t)
{
	for (size_t i = 0; i < t->count; i++) {
		const struct schema *s = t->list[i].schema;

		if (!doc_published(&t->list[i]))
			continue;
		if (t->list[i].use & TYPE_SAMPLED) {
			doc_json(o, s->name, "{\"value\":");
			sample_object(o, s, t->list[i].use & TYPE_TAKEN);
			buf_putc(o, '}');
		}
		if (t->list[i].use & TYPE_PAGED) {
			doc_item(o);
			buf_printf(o, "\"%sPage\":{\"value\":{\"items\":[", s->name);
			sample_object(o, s, false);
			buf_lit(o,
				"],\"total\":1,\"page\":1,\"per_page\":50,\"next_after\":null}}");
		}
	}
}
