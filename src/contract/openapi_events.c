/* openapi_events.c - a stream of events in the document.
 *
 * OpenAPI 3.1 knows such a body only as text.  So its schema is a string, and
 * beside it x-events says for each event what its data is: a schema that any
 * validator reads. */
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
		buf_lit(o, "{\"type\":\"object\",\"maxProperties\":0}");
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

void doc_events(struct buf *o, const struct event_stream *s)
{
	buf_lit(o, "{\"schema\":{\"type\":\"string\"}");
	doc_json(o, "x-events", "{");
	named_events(o, s);
	unnamed_events(o, s);
	buf_lit(o, "}}");
}
