/* stream.h - an answer that is sent while it comes about: one mechanism, whatever it tells of.
 *
 *   ordered -> started -> (head) -> told ... -> over -> ended
 *
 * An operation orders it; when what it did is durable, its source is started.
 * The source tells on whichever thread it likes, one at a time, and knows what
 * is to be said.  Here is everything that several threads reach for: the head
 * before the first word, the peer that is slow or gone, the sign of life, the
 * question whether the caller may still listen, and the end, which waits for
 * what the store was asked meanwhile.  Sources have no locks of their own. */
#pragma once
#include "call/call.h"

struct call_stream;

/* How it ended. */
enum stream_end {
	STREAM_COMPLETE,  /* all was said that was to be said */
	STREAM_CUT_SHORT, /* the reader of one that can be resumed is told so */
	STREAM_BROKEN, /* bytes that are not whole: the connection breaks off, so that nobody takes them for it */
	STREAM_ASKING, /* not yet: the store was asked, and with its answer it ends */
};

/* What start() says where there is nothing to tell: a head and an end. */
enum { STREAM_NOTHING = 1 };

/* Where the words come from.  Each gets the state that was given to call_stream(). */
struct stream_source {
	/* It may begin anew with Last-Event-ID: it says so at its start, and at an end that came early.  A large event
	 * is not made for whose tenant holds all that it may; the stream ends, and is resumed there. */
	bool resumable;
	/* The head waits for call_stream_begin(): until then the reply can still be any, and it is sent whole where
	 * none came.  Such a source may be over before start() returns. */
	bool head_later;
	int quiet_ms; /* so long without a word asks for a sign of life */

	/* The first words into call_stream_out(), before anything is started.  May be NULL. */
	void (*first)(void *state);
	/* 0, and call_stream_over() is owed; STREAM_NOTHING; or an ERR_, which is the reply. */
	int (*start)(void *state);
	/* These three must not wait; they come from any thread, under the stream's lock, between start() and
	 * call_stream_over().  hold() may be NULL, where the source does what call_stream_write() says. */
	void (*hold)(void *state);
	void (*resume)(
		void *state); /* the peer has taken what there was, or the store has answered */
	void (*cancel)(void *state); /* nobody listens any more; call_stream_over() follows */
	/* May the caller, as they are now, still listen?  For sources that use call_stream_recheck(). */
	int (*recheck)(void *state, struct db *db, struct arena *a, struct caller *caller);
	/* The source is over: the last words, or the whole reply where there was no head.  What it holds goes
	 * here, or with the store's answer. */
	enum stream_end (*last)(void *state);
};

/* Has the call answered by a stream: for the end of `apply`, or of `look` (it sets c->deferred).  The state must live
 * as long as the call. */
struct call_stream *call_stream(struct call *c, const struct stream_source *source, void *state);
/* It waits for what happens, for as long as its reader likes: it counts as one of the caller's, and of the tenant's where
 * that is not NULL, and is refused where they have too many (listeners.h).  Not for a head that comes later. */
void call_stream_count(struct call_stream *s, const char *tenant_id);

/* ---- for whoever tells ---- */

/* Returns when the first words are on their way, for a source that has something to do before it writes. */
void call_stream_enter(struct call_stream *s);
/* The head, where it comes later. */
void call_stream_begin(struct call_stream *s);
/* The same for bytes of that type, which are no events: no sign of life is put between them.  The type must live as
 * long as the call. */
void call_stream_begin_bytes(struct call_stream *s, const char *type);
bool call_stream_begun(const struct call_stream *s);
/* HTTP_STREAM_FULL: held; no more until resume().  HTTP_STREAM_GONE: cancelled. */
enum http_flow call_stream_write(struct call_stream *s, const char *text, size_t len);
/* A place to write words before they are sent, by call_stream_flush().  Without a head they stay there. */
struct buf *call_stream_out(struct call_stream *s);
enum http_flow call_stream_flush(struct call_stream *s);
/* The source tells no more.  The stream and its state may be gone when this returns. */
void call_stream_over(struct call_stream *s);

/* Asks the store meanwhile, one thing at a time: the source is not resumed and the stream does not end before.
 * answered() says whether it goes on; if not, the source is cancelled.  Asked by last(), it says the last words. */
struct stream_question {
	enum transaction mode;
	int (*ask)(void *state, struct db *db);
	bool (*answered)(void *state, int err);
};
int call_stream_ask(struct call_stream *s, const struct stream_question *q);

/* ---- now and then, from any thread ---- */

/* False if nobody listens; gives a sign of life where it is time. */
bool call_stream_tick(struct call_stream *s);
/* Who the caller is now. */
int call_stream_caller(struct call_stream *s, struct db *db, struct arena *a, struct caller *ret);
/* Whether they may still listen, by the source's recheck(): 0, or why not. */
int call_stream_recheck(struct call_stream *s, struct db *db, struct arena *a);
/* Both, where a store that is away is no reason to end.  False ends it. */
bool call_stream_stays(struct call_stream *s, struct db *db, struct arena *a);
/* Why call_stream_stays() ended it; 0 if it did not. */
int call_stream_refusal(const struct call_stream *s);
