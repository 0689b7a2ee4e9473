/* sse.h - reading server-sent events, as the HTML standard has them.
 *
 * Bytes go in as they arrive, whole events come out: the result does not
 * depend on where the bytes were cut.  Lines end with CR, LF or both; comments
 * and fields that nobody here needs are dropped.  An event that fits into one
 * arrival is never copied.  What is inside an event is not known here. */
#pragma once
#include "base/buf.h"
#include "base/slice.h"

enum {
	SSE_EVENT_MAX = 8 << 20, /* bytes of one event's data */
	SSE_NAME_MAX = 64,	 /* a longer name is not one we know, and is cut */
	SSE_ID_MAX = 256,	 /* a longer id is not kept */
};

struct sse {
	/* Of each event: its name ("" for none) and its data.  False stops the reading for good. */
	bool (*take)(void *to, const char *name, struct slice data);
	void *to;
	struct buf line;    /* the beginning of a line that is not yet whole */
	struct buf data;    /* of the event under way, if more than `first` */
	struct slice first; /* its only line so far, inside what is being fed */
	char name[SSE_NAME_MAX];
	char id[SSE_ID_MAX]; /* the last one said, for Last-Event-ID; "": none */
	int64_t retry_ms;    /* the last one said; 0: none */
	bool has_data, after_cr, begun, stopped;
};

void sse_open(struct sse *s, bool (*take)(void *, const char *, struct slice), void *to);
void sse_close(struct sse *s);
/* False if an event is larger than SSE_EVENT_MAX; nothing more is read then. */
bool sse_feed(struct sse *s, const char *bytes, size_t len);
/* True if the last event was not ended by an empty line, but its data is just this: some senders
 * leave out the last line ends. */
bool sse_ends_with(const struct sse *s, const char *data);
