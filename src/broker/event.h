/* event.h - what a model's reply consists of, whoever made it.
 *
 * Every provider's reply, streamed or whole, becomes the same sequence:
 *
 *   START, then TEXT, THOUGHT, SIGNATURE, CALL, ARGUMENTS, CALL_END and PIECE
 *   as they come, then USAGE, then FINISH;
 *
 * or, at any point, an ERROR instead of the rest (with a USAGE before it if
 * the reply had begun, since what was used is owed).  FINISH and ERROR come
 * exactly once and last: a reply without its proper end never finishes. */
#pragma once
#include "broker/fault.h"
#include "broker/text.h"
#include "broker/usage.h"

enum event_kind {
	EVENT_START,	 /* the model begins; id and name (of the model) if it says */
	EVENT_TEXT,	 /* more of the answer */
	EVENT_THOUGHT,	 /* more of what the model thinks aloud */
	EVENT_SIGNATURE, /* ends a thought: opaque, to be given back to the same kind of provider */
	EVENT_CALL,	 /* a tool is called: index, id, name */
	EVENT_ARGUMENTS, /* more of the arguments of call `index`: JSON text, escaped as a string */
	EVENT_CALL_END,	 /* the arguments of call `index` are complete */
	EVENT_ITEM, /* text: an item of OpenAI's responses that is none of these, or a message of theirs
			  * whose text has been told, as JSON text */
	EVENT_PIECE, /* only the provider's own shape has it; for those who asked for such */
	EVENT_BYTES, /* text: more of an answer that is handed on as it is, such as sound; not escaped */
	EVENT_USAGE, /* tokens, for the whole call */
	EVENT_FINISH,
	EVENT_ERROR,
};

enum finish { FINISH_STOP, FINISH_LENGTH, FINISH_TOOL_CALLS, FINISH_CONTENT_FILTER, FINISH_COUNT };

/* As OpenAI spells them: stop, length, tool_calls, content_filter. */
extern const char *const finish_names[FINISH_COUNT];

/* Of an answer in blocks: one of a kind that is not known here, more of the block under way, its end. */
enum event_piece { PIECE_BLOCK, PIECE_DELTA, PIECE_END };

/* The slices last as long as the call of the sink. */
struct event {
	enum event_kind kind;
	struct slice text; /* TEXT, THOUGHT, ARGUMENTS; SIGNATURE: itself; PIECE: JSON text */
	struct slice id,
		name; /* START: of the reply, of the model; CALL: of the call, of the tool */
	struct slice logprobs; /* TEXT: JSON text in OpenAI's shape, where asked for */
	int index;	       /* CALL, ARGUMENTS, CALL_END: which call, from 0 */
	bool redacted;	       /* SEAL: the thought was never shown */
	bool refusal;	       /* TEXT: the model says why it does not answer */
	struct slice
		extra; /* CALL: extra_content; CALL_END: the item of OpenAI's responses; JSON text */
	enum event_piece piece;
	const char *media;  /* START: the type of what BYTES will hold, or NULL */
	const char *maker;  /* START: the kind of provider that answers */
	struct usage usage; /* START: what is known of it already */
	enum finish finish;
	/* FINISH: the provider's own word, where it says more than `finish`, and the text at which it stopped; absent:
	 * neither was said. */
	struct slice reason, stop;
	const struct fault *fault; /* ERROR */
};

struct sink {
	void (*take)(void *data, const struct event *e);
	void *data;
};
