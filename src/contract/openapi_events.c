/* openapi_events.c - a stream of events in the document.
 *
 * The schema of a stream is any one of its events' data, as generators of clients read it: a oneOf with a discriminator where
 * the data names its event, an anyOf where only the line before it does.  Beside it x-events says the same by name. */
#include <string.h>

#include "contract/event.h"
#include "contract/openapi_parts.h"

/* The schema of what stands after "data: ". */
static void event_schema(struct buf *o, const struct event_stream *s, const struct stream_event *e)
{
	const char *name = e->data ? e->data->name : NULL;

	if (e->literal) {
		buf_putc(o, '{');
		doc_text(o, "const", e->literal);
		buf_putc(o, '}');
	} else if (!name) {
		buf_lit(o, "{\"type\":\"object\",\"additionalProperties\":false}");
	} else if (!s->envelope || e->bare) {
		doc_reference(o, "schemas", name);
	} else {
		buf_lit(o, "{\"allOf\":[");
		doc_reference(o, "schemas", s->envelope->name);
		buf_printf(o,
			",{\"type\":\"object\",\"properties\":{\"data\":"
			"{\"$ref\":\"#/components/schemas/%s\"}}}]}",
			name);
	}
}

static bool carries(const struct event_stream *s, size_t i, bool unnamed)
{
	return (s->table[i].streams & s->bit) && s->table[i].unnamed == unnamed;
}

static void named_events(struct buf *o, const struct event_stream *s)
{
	for (size_t i = 0; i < s->count; i++) {
		if (!carries(s, i, false))
			continue;
		doc_json(o, s->table[i].name, "{");
		doc_text(o, "description", s->table[i].doc);
		doc_key(o, "schema");
		event_schema(o, s, &s->table[i]);
		buf_putc(o, '}');
	}
}

/* Those without a name are one event to a reader: any of these. */
static void unnamed_events(struct buf *o, const struct event_stream *s)
{
	bool any = false;

	for (size_t i = 0; i < s->count; i++) {
		if (!carries(s, i, true))
			continue;
		if (!any) {
			doc_json(o, EVENT_UNNAMED, "{");
			doc_text(o, "description", "Comes without a name: any of these.");
			doc_json(o, "schema", "{\"anyOf\":[");
		}
		any = true;
		doc_item(o);
		buf_putc(o, '{');
		doc_text(o, "description", s->table[i].doc);
		doc_json(o, "allOf", "[");
		event_schema(o, s, &s->table[i]);
		buf_lit(o, "]}");
	}
	if (any)
		buf_lit(o, "]}}");
}

/* ---- the type of a stream ---- */

/* True if the data says itself which event it is. */
static bool names_itself(const struct event_stream *s, const struct stream_event *e)
{
	const struct field *f =
		s->by && e->data ? schema_field(e->data, s->by, strlen(s->by)) : NULL;

	return f && (f->event || f->constant);
}

/* Carried, and the first with this data. */
static bool is_alternative(const struct event_stream *s, size_t i)
{
	const struct stream_event *e = &s->table[i];

	for (size_t j = 0; j < i; j++) {
		const struct stream_event *other = &s->table[j];

		if ((other->streams & s->bit) && other->data == e->data && other->bare == e->bare &&
			!e->literal == !other->literal &&
			(!e->literal || strcmp(e->literal, other->literal) == 0))
			return false;
	}
	return e->streams & s->bit;
}

/* Those that name themselves, or those that do not. */
static void write_stream_data(struct buf *o, const struct event_stream *s, bool named)
{
	for (size_t i = 0; i < s->count; i++) {
		if (!is_alternative(s, i) || names_itself(s, &s->table[i]) != named)
			continue;
		doc_item(o);
		event_schema(o, s, &s->table[i]);
	}
}

static void write_event_mapping(struct buf *o, const struct event_stream *s)
{
	doc_json(o, "discriminator", "{");
	doc_text(o, "propertyName", s->by);
	doc_json(o, "mapping", "{");
	for (size_t i = 0; i < s->count; i++) {
		const struct stream_event *e = &s->table[i];

		if (!(e->streams & s->bit) || !names_itself(s, e))
			continue;
		doc_key(o, e->name);
		buf_printf(o, "\"" REF_SCHEMA "%s\"", e->data->name);
	}
	buf_lit(o, "}}");
}

void doc_streams(struct buf *o, const struct types *t)
{
	for (size_t i = 0; i < t->streams_count; i++) {
		const struct event_stream *s = t->streams[i];

		doc_json(o, s->title, "{");
		doc_text(o, "description", "The data of one event of a stream.");
		doc_json(o, s->by ? "oneOf" : "anyOf", "[");
		write_stream_data(o, s, s->by);
		buf_putc(o, ']');
		if (s->by)
			write_event_mapping(o, s);
		buf_putc(o, '}');
	}
}

void doc_event_names(struct buf *o, const struct types *t, const struct schema *s)
{
	doc_json(o, "enum", "[");
	for (size_t i = 0; i < t->streams_count; i++) {
		const struct event_stream *stream = t->streams[i];

		for (size_t j = 0; j < stream->count; j++) {
			if (!(stream->table[j].streams & stream->bit) || stream->table[j].data != s)
				continue;
			doc_item(o);
			buf_printf(o, "\"%s\"", stream->table[j].name);
		}
	}
	buf_putc(o, ']');
}

static bool all_name_themselves(const struct event_stream *s)
{
	for (size_t i = 0; i < s->count; i++)
		if ((s->table[i].streams & s->bit) && !names_itself(s, &s->table[i]))
			return false;
	return true;
}

void doc_events(struct buf *o, const struct event_stream *s)
{
	buf_lit(o, "{\"schema\":");
	if (!s->by || all_name_themselves(s)) {
		doc_reference(o, "schemas", s->title);
	} else {
		buf_lit(o, "{\"anyOf\":[");
		doc_reference(o, "schemas", s->title);
		write_stream_data(o, s, false);
		buf_lit(o, "]}");
	}
	doc_json(o, "x-events", "{");
	named_events(o, s);
	unnamed_events(o, s);
	buf_lit(o, "}}");
}
