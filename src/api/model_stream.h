/* model_stream.h - a model call whose answer goes to the caller of a request as it comes.
 *
 * It holds the exchange and the run together: what is written while the peer
 * takes nothing holds the run back, a peer that is gone ends it, and a stream
 * that is silent for long gives a sign of life.  It knows nothing of what the
 * answer looks like. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>

#include "api/api.h"
#include "broker/run.h"

/* The first member of what the call has as its own. */
struct model_stream {
	struct call *c;
	struct buf text;    /* written by the owner, not yet sent */
	_Atomic bool begun; /* the reply is a stream from here on */
	_Atomic int64_t spoke_ms;
	pthread_mutex_t lock; /* over the next */
	struct run *run;      /* NULL: it is over */
};

void model_stream_open(struct model_stream *s, struct call *c);
/* The lock stays as long as the exchange: the peer may still make room. */
void model_stream_close(struct model_stream *s);
/* Has the models asked; `asked` is complete but for its tick and its data, which is the owner. */
int model_stream_start(struct model_stream *s, struct run_asked *asked);
void model_stream_begin(struct model_stream *s);
/* Sends the text there is. */
void model_stream_flush(struct model_stream *s);
/* The run is over; what is left to say is said without it. */
void model_stream_run_over(struct model_stream *s);

/* A model's failure as the whole reply, in OpenAI's shape. */
void model_fault_reply(struct call *c, const struct fault *f);
