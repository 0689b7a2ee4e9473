/* event.h - the vocabulary in which the events of a stream are declared.
 *
 * A row is an event: its name, the schema of its data, the streams that carry
 * it, words for people.  Writers encode through the row's schema and readers
 * decode through it; the lint and the published document walk the rows. */
#pragma once
#include "base/buf.h"
#include "contract/route.h"

struct stream_event {
	const char *name;	   /* after "event: " */
	const struct schema *data; /* after "data: "; NULL: an object without members */
	unsigned streams;	   /* that carry it, a bit each */
	bool bare;		   /* its data comes without the stream's envelope */
	bool unnamed;		   /* it has no line for its name: see EVENT_UNNAMED */
	const char *literal;	   /* what stands for its data, and is no JSON; NULL */
	const char *doc;
};

/* What readers call an event that comes without a name.  A stream may carry several such. */
#define EVENT_UNNAMED "message"

/* What a stream carries: the rows that have its bit. */
struct event_stream {
	const char *title; /* of the type that the document makes of its events */
	/* The member of their data that names the event; those without it stand beside the type.  NULL: the data does not say. */
	const char *by;
	const struct stream_event *table;
	size_t count;
	unsigned bit;
	/* Its member `data` holds the event's, and the others say where it happened; NULL: data comes as it is. */
	const struct schema *envelope;
};

/* The lines of an event up to its data, and after it. */
void stream_event_begin(struct buf *out, const struct stream_event *e);
void stream_event_end(struct buf *out);
/* The event as its lines; `object` is of the row's schema. */
void stream_event_write(struct buf *out, const struct stream_event *e, const void *object);
