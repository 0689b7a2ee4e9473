/* run_watch.h - an answer that follows a run of a session to where it rests, whole or as a stream.
 *
 * It reads the session's events, hands on what OpenAI's clients are told of,
 * and once the run may have come to rest looks into the store, so that what
 * is said last is what anybody would read there.  The run does not depend on
 * it: who stops listening stops nothing. */
#pragma once
#include "openai/run_view.h"
#include "events/hub.h"

struct run_watch;

/* A message as an event tells it. */
struct watched_message {
	const char *id, *role, *status, *content, *tool_calls, *tool_call_id;
	int64_t prompt_tokens, completion_tokens;
};

/* Each appends to run_watch_out(), on one thread at a time; texts last until it returns.  Any may be NULL but
 * the last. */
struct run_listener {
	void (*opened)(void *ctx, struct run_watch *w);	 /* before everything */
	void (*working)(void *ctx, struct run_watch *w); /* the agent is at work, once */
	void (*delta)(void *ctx, struct run_watch *w, const struct DeltaEvent *piece);
	void (*message)(void *ctx, struct run_watch *w, const struct watched_message *m);
	/* It rests; `words` are run_view_words() after the message that was named. */
	void (*rested)(void *ctx, struct run_watch *w, const struct RunObject *run,
		const struct list *words);
};

struct run_watch_asked {
	struct run_place at;
	int64_t after;	      /* the last event before it */
	const char *after_id; /* words up to this message are not of interest; "" for none */
	bool streams;
	const struct run_listener *on;
	void *ctx;
};

/* Has the call answered so: for the end of `apply` (call/stream.h).  Everything must live in
 * the call's arena. */
void run_watch(struct call *c, const struct run_watch_asked *in);

struct buf *run_watch_out(struct run_watch *w);
/* For what is needed only until the listener returns. */
struct arena *run_watch_scratch(struct run_watch *w);
struct call *run_watch_call(struct run_watch *w);
/* When it rests: the calls that wait, struct waiting_call. */
struct list run_watch_waiting(struct run_watch *w);
