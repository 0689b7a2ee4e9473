/* messages_out.h - answers in Anthropic's shape: a sink (broker/event.h) that writes a stream of events as they come, or
 * one message at the end.
 *
 * Blocks are numbered as they begin.  Text and thoughts end when something
 * else begins; calls, which some providers speak several of at once, end when
 * they are complete.  What only Anthropic's shape has passes through as it
 * came.  Usage is counted in Anthropic's manner, without what was cached. */
#pragma once
#include "broker/event.h"

struct messages_out_asked {
	const char *id;		/* of the message */
	const char *request_id; /* for an error */
	struct slice model;	/* as the caller named it, escaped */
	bool stream, thinks;
};

struct message_open;

struct messages_out {
	struct messages_out_asked asked;
	struct buf *out;
	struct arena arena;
	const char *maker;
	struct usage usage;
	struct message_open *first, **last; /* of the whole message, or of the calls under way */
	struct message_open *open; /* text, thought or something foreign under way, or NULL */
	int64_t count;
	bool overflowed; /* there is more of it than is gathered */
};

/* The strings and the slice of `asked` must outlive it. */
void messages_out_open(
	struct messages_out *o, const struct messages_out_asked *asked, struct buf *out);
void messages_out_close(struct messages_out *o);
/* The sink's function; `out` is a struct messages_out. */
void messages_out_take(void *out, const struct event *e);
/* An error as the last event of a stream. */
void messages_out_error(struct buf *out, int status, const char *message, const char *request_id);
