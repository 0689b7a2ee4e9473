/* conn.h - one connection, from its acceptance to its close.
 *
 * While it is idle this struct is all it costs: no buffer, no exchange. */
#pragma once
#include "http/loop.h"
#include "http/transport.h"

enum http_state {
	CONN_HANDSHAKE,
	CONN_IDLE, /* between requests */
	CONN_HEAD,
	CONN_BODY,
	CONN_SINK,   /* the handler has a piece of the body, and the next is full */
	CONN_KEPT,   /* the handler has the exchange */
	CONN_STREAM, /* it has it still, and the reply is being sent */
	CONN_ANSWER, /* the reply is there, not yet put into bytes */
	CONN_FLUSH,  /* the rest of the bytes is to be written */
	CONN_LINGER, /* shut, reading until the peer has read */
};

struct http_conn {
	struct http_source source;
	struct http_loop *loop;
	struct http_link link;
	struct http_conn *prev, *next; /* in its deadline's list */
	struct http_conn *queue;       /* in the ready list, or among the dead */
	int64_t due;
	struct http_box *box;
	struct http_page *in, *out;
	struct http_mail mail;
	struct http_share *share; /* its address's, or NULL */
	uint32_t held;		  /* bytes that are counted of it while it waits */
	uint32_t lingered;	  /* bytes thrown away */
	int16_t asked;		  /* loops that had no room for it */
	int16_t budget;		  /* steps left this turn */
	uint8_t state, deadline;
	bool armed, rearm;    /* in a list; count its time from now */
	bool ready, closed;   /* in the ready list; no more than memory */
	bool first;	      /* no head has been whole yet */
	bool over;	      /* one too many, unless another goes */
	bool refused;	      /* one too many */
	bool closing, abrupt; /* close after the reply; with input unread */
	bool eof;
	struct http_address peer;
};

/* What a step says when it has done what could be done. */
enum http_step { STEP_ON, STEP_WAIT, STEP_YIELD, STEP_END };

static inline bool http_has_input(const struct http_conn *c)
{
	return c->in && c->in->at < c->in->len;
}

static inline bool http_owes_bytes(const struct http_conn *c)
{
	return c->out && c->out->at < c->out->len;
}

/* Whether anything of a request has come: an empty line is nothing yet. */
static inline bool http_has_begun(const struct http_conn *c)
{
	return c->box->head.begun || http_has_input(c);
}

/* For a socket just accepted, or the in-process server; fd may be -1. */
struct http_conn *http_conn_new(struct http_loop *l, int fd, const struct http_transport *t);
/* Joins its loop: from here on the loop's thread owns it. */
void http_conn_adopt(struct http_conn *c);
/* Does all that can be done without waiting, within one turn's budget. */
void http_conn_run(struct http_conn *c);
/* Its deadline has passed. */
void http_conn_expire(struct http_conn *c);
/* The server is stopping: true if nothing is owed to the peer. */
bool http_conn_is_idle(const struct http_conn *c);
/* Takes what may have arrived unseen; true if it is busy with that now, or gone. */
bool http_conn_wakes(struct http_conn *c);
void http_conn_close(struct http_conn *c);
/* A kept exchange has come back. */
void http_conn_finish(struct http_loop *loop, struct http_mail *m);
void http_conn_finish_late(struct http_loop *loop, struct http_mail *m);

/* Gives a page back, if there is one. */
void http_conn_drop(struct http_conn *c, struct http_page **page);
/* A new exchange; and the end of one. */
void http_conn_begin(struct http_conn *c);
void http_conn_settle(struct http_conn *c, bool complete);
/* Answers in the handler's words and closes; takes the place of whatever reply was being made. */
enum http_step http_conn_fault(struct http_conn *c, int err, const char *sentence);

/* crowd.c: closes a connection of the newcomer's loop that is worth less than it; false if there is none. */
bool http_crowd_makes_room(struct http_conn *newcomer);
/* Counts what a connection holds that is about to wait; false if there is no room for that. */
bool http_crowd_count(struct http_conn *c);
/* It is counted no more. */
void http_crowd_leave(struct http_conn *c);

/* receive.c */
enum http_step http_step_idle(struct http_conn *c);
enum http_step http_step_head(struct http_conn *c);
enum http_step http_step_body(struct http_conn *c);
/* A piece that was lent to the handler is back. */
void http_piece_back(struct http_conn *c, bool goes_on);
/* An exchange that was kept at its head is back: its body is taken, or it is answered without. */
void http_head_back(struct http_conn *c, bool goes_on);

/* answer.c; push writes what is owed: 0 when all is written, HTTP_AGAIN or HTTP_DEAD. */
int http_conn_push(struct http_conn *c);
enum http_step http_step_answer(struct http_conn *c);
enum http_step http_step_flush(struct http_conn *c);
enum http_step http_step_linger(struct http_conn *c);

/* stream.c */
enum http_step http_step_stream(struct http_conn *c);
/* Whether bytes of the stream are with us that the peer has not taken. */
bool http_stream_owes(const struct http_conn *c);
/* The peer of an exchange that its handler still has says nothing more. */
void http_stream_leave(struct http_box *b);
/* The connection leaves an exchange that its handler still has. */
void http_stream_abandon(struct http_box *b);
void http_stream_open(struct http_loop *loop, struct http_mail *m);
void http_stream_late(struct http_loop *loop, struct http_mail *m);

/* reply.c: the most a head takes beside its type and the handler's own lines. */
enum { HTTP_REPLY_HEAD = 512, HTTP_EXTRA_MAX = 8 * 1024, HTTP_TYPE_MAX = 128 };

/* False if the handler's header lines are not fit to be sent. */
bool http_reply_valid(const struct http_reply *r);
/* Writes the head at `at` and returns its end; room for HTTP_REPLY_HEAD, type and extra. */
char *http_reply_head(const struct http_exchange *x, bool close, char *at);
/* True if the reply has a body that goes with the bytes. */
bool http_reply_has_body(const struct http_exchange *x);
