/* openai_out.h - replies in OpenAI's shape, for those who ask us as they would ask OpenAI.
 *
 * A sink (event.h) that writes into a buffer: a stream of chunks as events
 * come, or one completion at the end.  [DONE] is written at a clean end and
 * nowhere else; a stream that fails ends with an event that holds the error.
 * Usage is counted in OpenAI's manner, with what was cached inside. */
#pragma once
#include "broker/collect.h"

struct openai_out_asked {
	const char *id;	    /* of the completion */
	struct slice model; /* as the caller named it, escaped */
	int64_t created_s;
	bool stream, include_usage;
};

struct openai_out {
	struct openai_out_asked asked;
	struct buf *out;
	struct buf head; /* how every chunk begins */
	struct collected whole;
	struct usage usage;
	bool ended; /* all has been written */
	int status; /* of the HTTP reply, once it is known that the call failed; else 200 */
};

/* The strings and the slice of `asked` must outlive it. */
void openai_out_open(struct openai_out *o, const struct openai_out_asked *asked, struct buf *out);
void openai_out_close(struct openai_out *o);
/* The sink's function; `out` is a struct openai_out. */
void openai_out_take(void *out, const struct event *e);

void openai_write_usage(const struct usage *u, struct buf *out);
/* {"error": {message, type, param, code}}; param and code may be NULL. */
void openai_write_error(
	int status, const char *message, const char *param, const char *code, struct buf *out);
