/* collect.h - a reply put together from its events: for whoever wants the whole message.
 *
 * A sink (event.h).  The text is plain nowhere: it stays escaped, as it came.
 * What was collected of a reply that failed is there, but is not a message. */
#pragma once
#include "broker/event.h"

struct collected_call {
	struct collected_call *next;
	struct slice id, name, extra;
	struct buf arguments;
};

struct collected_thought {
	struct collected_thought *next;
	struct buf text;
	struct slice signature, id;
	bool redacted, sealed;
};

struct collected {
	struct arena arena;
	struct slice id, model; /* as the provider says */
	struct buf text;
	bool apart;	       /* set by its owner: a refusal is no part of the text */
	struct buf refusal;    /* why the model does not answer, where it is kept apart */
	struct slice logprobs; /* of a reply that came whole */
	struct collected_thought *thoughts, *last_thought;
	struct collected_call *calls, **last_call;
	struct usage usage;
	bool used; /* usage is filled */
	enum finish finish;
	bool finished, failed, overflowed;
	struct fault fault;
};

enum { COLLECT_MAX = 32 << 20 }; /* bytes of the text, or of a call's arguments */

void collect_open(struct collected *c);
void collect_close(struct collected *c);
/* The sink's function; `collected` is a struct collected. */
void collect_take(void *collected, const struct event *e);
