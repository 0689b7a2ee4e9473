/* openapi_shape.c - what a JSON value may be that is kept as its text, in the document.
 *
 * One alternative stands for itself.  Several objects that a member tells apart are a oneOf with its discriminator, so that
 * generated clients can narrow them; everything else is an anyOf. */
#include "contract/openapi_parts.h"

#include <string.h>

#include "base/check.h"
#include "base/json.h"

static size_t shape_objects(const struct shape *s)
{
	size_t n = 0;

	while (s->objects && s->objects[n])
		n++;
	return n;
}

static size_t shape_others(const struct shape *s)
{
	return (size_t)s->text + (s->words != NULL) + (s->items != NULL) + (s->json != NULL) +
	       s->other;
}

/* {"type": REF, ...}: which constant leads to which of them. */
static void write_discriminator(struct buf *o, const struct shape *s)
{
	doc_json(o, "discriminator", "{");
	doc_text(o, "propertyName", s->by);
	doc_json(o, "mapping", "{");
	for (size_t i = 0; s->objects[i]; i++) {
		const struct field *f = schema_field(s->objects[i], s->by, strlen(s->by));

		doc_key(o, f->constant);
		buf_printf(o, "\"" REF_SCHEMA "%s\"", s->objects[i]->name);
	}
	buf_lit(o, "}}");
}

static void begin_alternative(struct buf *o, bool alone)
{
	if (alone)
		return;
	doc_item(o);
	buf_putc(o, '{');
}

static void end_alternative(struct buf *o, bool alone)
{
	if (!alone)
		buf_putc(o, '}');
}

/* What is none of the objects: of a kind that only its maker knows. */
static void write_other(struct buf *o, const struct shape *s)
{
	INVARIANT(s->by && s->objects); /* the lint has seen to it */
	doc_json(o, "type", "\"object\"");
	doc_json(o, "properties", "{");
	doc_json(o, s->by, "{\"type\":\"string\",\"not\":{\"enum\":[");
	for (size_t i = 0; s->objects[i]; i++) {
		doc_item(o);
		buf_printf(
			o, "\"%s\"", schema_field(s->objects[i], s->by, strlen(s->by))->constant);
	}
	buf_lit(o, "]}}}");
	doc_json(o, "required", "[");
	buf_printf(o, "\"%s\"]", s->by);
	doc_json(o, "additionalProperties", "true");
	doc_json(o, "x-any", "true");
}

static void write_others(struct buf *o, const struct shape *s, bool alone)
{ /* NOLINT(misc-no-recursion): see doc_shape */
	if (s->text) {
		begin_alternative(o, alone);
		doc_text(o, "type", "string");
		end_alternative(o, alone);
	}
	if (s->words) {
		begin_alternative(o, alone);
		doc_words(o, s->words);
		end_alternative(o, alone);
	}
	if (s->items) {
		begin_alternative(o, alone);
		doc_json(o, "type", "\"array\",\"items\":{");
		doc_shape(o, s->items, false);
		buf_putc(o, '}');
		end_alternative(o, alone);
	}
	if (s->json) {
		begin_alternative(o, alone);
		doc_item(o);
		buf_put(o, s->json + 1, strlen(s->json) - 2); /* its members */
		end_alternative(o, alone);
	}
	if (s->other) {
		begin_alternative(o, alone);
		write_other(o, s);
		end_alternative(o, alone);
	}
}

static void write_alternatives(struct buf *o, const struct shape *s, bool nullable)
{ /* NOLINT(misc-no-recursion): see doc_shape */
	size_t objects = shape_objects(s), others = shape_others(s) + nullable;
	bool alone = objects + others <= 1, apart = s->by && others == 0 && objects > 1;

	if (!alone)
		doc_json(o, apart ? "oneOf" : "anyOf", "[");
	for (size_t i = 0; i < objects; i++) {
		begin_alternative(o, alone);
		doc_schema_ref(o, s->objects[i]->name);
		end_alternative(o, alone);
	}
	write_others(o, s, alone);
	if (nullable || objects + others == 0) {
		begin_alternative(o, alone);
		doc_text(o, "type", "null");
		end_alternative(o, alone);
	}
	if (!alone)
		buf_putc(o, ']');
	if (apart)
		write_discriminator(o, s);
}

void doc_shape(struct buf *o, const struct shape *s, bool nullable)
{ /* NOLINT(misc-no-recursion): as deep as the tables, whose circles go through titles */
	if (s->title && nullable) {
		doc_json(o, "anyOf", "[{");
		doc_schema_ref(o, s->title);
		buf_lit(o, "},{\"type\":\"null\"}]");
	} else if (s->title) {
		doc_schema_ref(o, s->title);
	} else {
		write_alternatives(o, s, nullable);
	}
}

void doc_shapes(struct buf *o, const struct types *t)
{
	for (size_t i = 0; i < t->shapes_count; i++) {
		doc_json(o, t->shapes[i]->title, "{");
		write_alternatives(o, t->shapes[i], false);
		doc_text(o, "description", t->shapes[i]->doc);
		buf_putc(o, '}');
	}
}
