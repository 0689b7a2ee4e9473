/* event.c - see event.h. */
#include "contract/event.h"

#include "contract/encode.h"

void stream_event_begin(struct buf *out, const struct stream_event *e)
{
	if (!e->unnamed) {
		buf_lit(out, "event: ");
		buf_puts(out, e->name);
		buf_putc(out, '\n');
	}
	buf_lit(out, "data: ");
}

void stream_event_end(struct buf *out)
{
	buf_lit(out, "\n\n");
}

void stream_event_write(struct buf *out, const struct stream_event *e, const void *object)
{
	stream_event_begin(out, e);
	if (e->literal)
		buf_puts(out, e->literal);
	else if (e->data)
		encode_object(out, e->data, object);
	else
		buf_lit(out, "{}");
	stream_event_end(out);
}
