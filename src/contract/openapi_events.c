/* openapi_events.c - a stream of events in the document.
 *
 * OpenAPI 3.1 knows such a body only as text.  So its schema is a string, and
 * beside it x-events says for each event what its data is: a schema that any
 * validator reads. */
#include "contract/event.h"
#include "contract/openapi_parts.h"

/* The schema of what stands after "data: ". */
static void event_data(struct buf *o, const struct event_stream *s, const struct stream_event *e)
{
	const char *name = e->data ? e->data->name : NULL;

	doc_key(o, "schema");
	if (!name) {
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

void doc_events(struct buf *o, const struct event_stream *s)
{
	buf_lit(o, "{\"schema\":{\"type\":\"string\"}");
	doc_json(o, "x-events", "{");
	for (size_t i = 0; i < s->count; i++) {
		if (!(s->table[i].streams & s->bit))
			continue;
		doc_json(o, s->table[i].name, "{");
		doc_text(o, "description", s->table[i].doc);
		event_data(o, s, &s->table[i]);
		buf_putc(o, '}');
	}
	buf_lit(o, "}}");
}
