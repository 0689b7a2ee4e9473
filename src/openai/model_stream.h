/* model_stream.h - a model call as the source of an answer (call/stream.h), sent as it comes or whole.
 *
 * What is written while the peer takes nothing holds the run back, and a peer
 * that is gone ends it.  It knows nothing of what the answer looks like. */
#pragma once
#include "call/stream.h"
#include "broker/completion.h"

/* The first member of the state. */
struct model_stream {
	struct call *c;
	struct call_stream *stream;
	const struct completion_end *end; /* how it ended, for last() */
	struct completion *run;		  /* the stream's */
};

enum { MODEL_QUIET_MS = 5000 };

/* All but its start and its last. */
#define MODEL_SOURCE                                                               \
	.head_later = true, .quiet_ms = MODEL_QUIET_MS, .hold = model_stream_hold, \
	.resume = model_stream_resume, .cancel = model_stream_cancel

void model_stream_hold(void *state);
void model_stream_resume(void *state);
void model_stream_cancel(void *state);

/* Has the models asked; `asked` has all that it says of the call, and who takes its events: m. */
int model_stream_start(struct model_stream *m, struct completion_asked *asked);

/* The header of an answer to less than was asked: Lodge-Dropped names members that went to nobody, and tools that a
 * provider of this kind is not offered. */
void model_say_dropped(struct call *c, const struct chat *chat, const char *maker);
/* A model's failure as the whole reply, in OpenAI's shape. */
void model_fault_reply(struct call *c, const struct fault *f);
