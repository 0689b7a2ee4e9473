/* reply.h - a model's reply while it arrives: bytes in, events out.
 *
 * Whoever moves the bytes calls reply_head, reply_feed as often as bytes
 * come, and reply_end; or reply_fail when the connection says so.  The sink
 * then gets the sequence that event.h promises, whatever came: it is here,
 * once for all providers, that a reply without its proper end is an error,
 * that sizes are bounded, and that usage nobody stated is counted.  What the
 * bytes mean is the provider's (the second half of this file is for them). */
#pragma once
#include "base/arena.h"
#include "base/buf.h"
#include "broker/event.h"
#include "base/sse.h"
#include "broker/tokens.h"

enum {
	REPLY_BODY_MAX = 32 << 20,   /* bytes of a reply that is not streamed */
	REPLY_STREAM_MAX = 64 << 20, /* bytes of a stream */
	REPLY_CALLS_MAX = 128,	     /* tool calls of one reply */
	REPLY_TAG_MAX = 48,
	REPLY_REASON_MAX = 64 << 10, /* bytes of why it ended; a longer one is not told */
};

enum reply_mode {
	REPLY_HEAD,
	REPLY_STREAM,
	REPLY_WHOLE,
	REPLY_TEXT,  /* whole, and no JSON */
	REPLY_BYTES, /* handed on as they come */
	REPLY_REFUSAL
};

struct reply_call {
	int64_t key; /* the provider's own number for it */
	bool open, spoken;
};

struct reply {
	const struct provider *provider;
	struct sink sink;
	char tag[REPLY_TAG_MAX]; /* for ids of calls that come without one */
	int64_t prompt_tokens;	 /* our estimate */
	enum reply_mode mode;
	bool streamed;		/* a stream was asked for */
	bool pieces;		/* EVENT_PIECE is wanted */
	bool started, ended;	/* ended: FINISH or ERROR has gone out */
	uint64_t events, bytes; /* so far: events of the provider's stream, bytes of its reply */
	int status;
	int retry_after_s;
	struct sse sse;
	struct buf body;
	struct arena scratch; /* of one event */
	struct tokens spoken, thought;
	struct usage usage;
	unsigned usage_said; /* USAGE_INPUT, USAGE_OUTPUT */
	enum finish finish;
	bool finish_said;
	struct buf reason, stop; /* see struct event */
	struct reply_call calls[REPLY_CALLS_MAX];
	int call_count;
	/* Of an request. */
	const struct endpoint_request *request;
	const struct price *price;
	char media[96];	      /* the type of what is handed on, or "" */
	int64_t seconds_said; /* of sound; -1: nobody did */
	/* The provider's own notes. */
	int64_t block;	/* the block under way */
	int block_kind; /* and what it is */
	uint64_t heard; /* blocks of which something came: a bit each, the last for all beyond */
};

struct reply_asked {
	const struct provider *provider;
	struct sink sink;
	const char *tag;       /* unique for this call, such as an id */
	int64_t prompt_tokens; /* chat_tokens of what was asked */
	bool streamed, pieces;
	const struct endpoint_request *request; /* or NULL */
	const struct price *price;		/* of the model */
};

void reply_open(struct reply *r, const struct reply_asked *asked);
void reply_close(struct reply *r);
/* The head of the HTTP reply; headers that were not sent are NULL. */
void reply_head(struct reply *r, int status, const char *content_type, const char *retry_after);
void reply_feed(struct reply *r, const char *bytes, size_t len);
/* No more bytes come.  The reply has ended in any case after this. */
void reply_end(struct reply *r);
/* Ends the reply with an error, unless it has ended. */
void reply_fail(struct reply *r, enum fault_class class, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* ---- for providers ---- */

/* An event of the stream could not be read: what the JSON reader found. */
void reply_unreadable(struct reply *r, const struct json_reader *j);
void reply_fail_with(struct reply *r, const struct fault *f);
/* The first of these emits START by itself if reply_start was not called. */
void reply_start(struct reply *r, struct slice id, struct slice model);
void reply_text(struct reply *r, struct slice text, struct slice logprobs);
void reply_refusal(struct reply *r, struct slice text);
/* An item in the shape of OpenAI's responses, whole. */
void reply_item(struct reply *r, struct slice raw);
/* More of what is handed on as it is. */
void reply_bytes(struct reply *r, struct slice bytes);
void reply_thought(struct reply *r, struct slice text);
void reply_signature(struct reply *r, struct slice signature, struct slice id, bool redacted);
/* Begins the call of that key and answers its index; -1 if there are too many (the reply failed). */
int reply_call(struct reply *r, int64_t key, struct slice id, struct slice name);
/* The same, with its extra_content as JSON text. */
int reply_call_extra(
	struct reply *r, int64_t key, struct slice id, struct slice name, struct slice extra);
/* The index of the call of that key, or -1. */
int reply_call_find(const struct reply *r, int64_t key);
void reply_arguments(struct reply *r, int index, struct slice text);
void reply_call_end(struct reply *r, int index);
/* The same, with the whole item that it was. */
void reply_call_item(struct reply *r, int index, struct slice item);
/* Figures so far, and which of them were said.  The last ones hold; what was not said is counted. */
enum { USAGE_INPUT = 1, USAGE_OUTPUT = 2 };
void reply_usage(struct reply *r, const struct usage *u, unsigned said);
void reply_reason(struct reply *r, enum finish finish);
/* The provider's own word for it, which says more; the text at which the model stopped. */
void reply_reason_word(struct reply *r, const char *word);
void reply_stop(struct reply *r, struct slice text);
/* Goes out only to those who asked for pieces. */
void reply_piece(struct reply *r, enum event_piece piece, struct slice text);
/* The proper end of the reply has come.  Without a reason before it, it is none. */
void reply_finish(struct reply *r);

/* A figure that a provider may say, or not, or in a way that cannot be. */
enum { FIGURE_UNSAID = -1, FIGURE_ABSURD = -2 };
/* Tokens as OpenAI counts them, the cached ones within the input, into disjoint buckets, and which of
 * them were said.  Figures that cannot all be true are cut to what fits, and marked estimated. */
struct usage_figures {
	int64_t input, cache_read, cache_write, output, reasoning, total;
};
#define NO_FIGURES                                                                         \
	(struct usage_figures)                                                             \
	{                                                                                  \
		FIGURE_UNSAID, FIGURE_UNSAID, FIGURE_UNSAID, FIGURE_UNSAID, FIGURE_UNSAID, \
			FIGURE_UNSAID                                                      \
	}
unsigned usage_inclusive(const struct usage_figures *f, struct usage *ret);
/* What a provider calls its figures: a row is a member of its usage, a figure or an object of further rows.
 * The last has no name. */
struct usage_member {
	const char *name;
	size_t figure; /* its place in struct usage_figures */
	const struct usage_member *within;
};
#define USAGE_FIGURE(name, member)                                 \
	{                                                          \
		name, offsetof(struct usage_figures, member), NULL \
	}
#define USAGE_WITHIN(name, rows) \
	{                        \
		name, 0, rows    \
	}
/* Into the figures whatever the rows know: null leaves one as it is; what is no whole number from 0 to TOKENS_MAX
 * is absurd, which spoils the figure and not the reply.  False, and it is gone over, if there is no object. */
bool usage_read(struct json_reader *j, const struct usage_member *rows, struct usage_figures *ret);
