/* async_http.h - many requests to services outside at once, on one thread: their own, or a loop's.
 *
 * What fetch.h does for one request that may be waited for, this does for
 * thousands that may not: answers are handed on as they arrive, byte by byte.
 * It knows addresses, deadlines and bytes, and nothing of what they mean.
 *
 * A transfer belongs to whoever submits it and must live until done() has
 * been called, which happens exactly once for each that was submitted.  All
 * three functions are called on the async HTTP's thread and must not wait. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "outside/fetch.h"

/* How a transfer ended, as far as the transport can tell. */
enum transfer_end {
	TRANSFER_WHOLE,	    /* the answer is complete, whatever its status */
	TRANSFER_CANCELLED, /* by us: async_http_cancel(), or a function said so */
	TRANSFER_FORBIDDEN, /* the address is not one that may be called */
	TRANSFER_CONNECT,   /* nobody could be reached */
	TRANSFER_SILENT,    /* nothing came for silence_ms */
	TRANSFER_LATE,	    /* not complete within total_ms */
	TRANSFER_CUT,	    /* it broke off */
};

struct transfer_head {
	int status;
	const char *type;      /* Content-Type, or "" */
	int64_t retry_after_s; /* as a number of seconds; -1: not said */
};

struct transfer {
	const char *url;	    /* POST, or GET if there is no body */
	const char *const *headers; /* "Name: value", NULL-terminated; NULL: none */
	const char *body;
	size_t body_len;
	enum egress egress;
	int connect_ms, silence_ms;
	int64_t total_ms;

	/* False ends the transfer as TRANSFER_CANCELLED.  head() comes before the first byte; it comes
	 * for an empty body, too. */
	bool (*head)(struct transfer *t, const struct transfer_head *head);
	bool (*bytes)(struct transfer *t, const char *bytes, size_t n);
	void (*done)(struct transfer *t, enum transfer_end end, const char *why);
	void *ctx;

	/* Its own. */
	struct transfer *next, *prev, *order;
	void *easy;
	int64_t began_ms, heard_ms;
	bool headed, stopped, refused, held, ordered, over;
	enum transfer_end verdict;
	_Atomic unsigned orders;
};

struct async_http;
struct http_loop;

/* `most` transfers at a time; one more is ERR_BUSY.  NULL if a thread cannot be had. */
struct async_http *async_http_new(size_t most);
/* The same as a guest of the loop whose thread this is: what is submitted there needs no waking and no
 * other thread.  NULL where the loop can have no guest. */
struct async_http *async_http_new_on(struct http_loop *loop, size_t most);
/* On that thread, before the loop ends: what is under way goes on, on a thread of its own. */
void async_http_leave(struct async_http *tr);
/* Cancels what is under way and ends the thread.  A guest has left before. */
void async_http_free(struct async_http *tr);
/* From any thread.  0, ERR_BUSY or ERR_STOPPING; done() is called only after 0. */
int async_http_submit(struct async_http *tr, struct transfer *t);
/* From any thread, between async_http_submit() and the end of done(). */
void async_http_cancel(struct async_http *tr, struct transfer *t);
/* Inside bytes(): take no more until async_http_resume(), which any thread may call. */
void async_http_hold(struct transfer *t);
void async_http_resume(struct async_http *tr, struct transfer *t);

struct async_http_stats {
	uint64_t begun, ended, connections;
	size_t open;
};
struct async_http_stats async_http_stats(const struct async_http *tr);
