/* run_parts.h - what the files of a run share; nobody else includes it.
 *
 * A run is handed from thread to thread (the caller's, the store's, the
 * traffic's, the slow pool's) and belongs to one at a time.  What others may
 * reach for meanwhile - cancelling, holding, the tick - is under its lock. */
#pragma once
#include <pthread.h>

#include "broker/breaker.h"
#include "broker/run.h"
#include "broker/till.h"
#include "outside/traffic.h"

struct run {
	struct work work;     /* first: booking and settling, one at a time */
	struct work speaking; /* a model inside the program */
	struct broker *broker;
	struct run *next, *prev;
	struct arena arena;
	struct run_asked asked;
	char id[26];

	/* The attempt under way. */
	const struct candidate *candidate;
	size_t index;
	uint32_t tried; /* a bit for each candidate */
	int attempts;
	struct buf body;
	int64_t body_limit; /* the limit of output that is written in it */
	struct reply reply;
	bool replying;		 /* reply is open */
	struct traffic *traffic; /* that carries it */
	struct transfer transfer;
	void *speaker;	/* the state of a model inside the program */
	char owner[26]; /* of the key: the tenant's id, or "" */
	struct slice start_id, start_name;
	struct usage usage;
	bool used;
	bool sent;  /* the request is on its way, or was */
	bool begun; /* START has been passed on */
	bool finished, failed;
	struct fault fault;
	struct problem problem;

	/* What is promised, and how it is settled. */
	struct booking booking;
	struct run *behind; /* at a till */
	int till_err;
	struct charge charge;
	int64_t moment;
	void (*settled)(struct run *r); /* what follows */

	pthread_mutex_t lock; /* over all below */
	int holds;	      /* who still needs the run; at 0 it goes */
	bool cancelled, is_over, in_transfer, held, parked, settle_due, extending;
	int64_t over_ms, extended_ms;
	struct work extension;
	struct booking lease; /* what is to be extended; its id is empty for nothing */
};

enum { LANES_MAX = 64 }; /* further loops have their calls carried by the broker's own thread */

struct broker {
	struct broker_settings settings;
	struct traffic *traffic; /* on a thread of its own */
	struct lane {
		const struct http_loop *loop;
		struct traffic *traffic;
	} lanes[LANES_MAX]; /* by the index of the loop */
	struct breaker *breaker;
	struct till booking, settling;
	pthread_mutex_t lock; /* over the next; taken before a run's */
	pthread_cond_t fewer;
	struct run *first;
	size_t count;
	bool stopping;
	_Atomic uint64_t begun, finished, failed, cancelled, refused, failovers;
};

/* broker.c */
void run_let_go(struct run *r);

/* run.c */
/* Chooses a candidate that was not tried; false if there is none. */
bool run_next(struct run *r);
/* The attempt has come to its end, as r->finished, r->failed or r->cancelled say. */
void run_attempt_over(struct run *r);
/* The sink of the attempts. */
void run_take(void *run, const struct event *e);
bool run_is_cancelled(struct run *r);

/* run_book.c */
extern const struct till run_booking;
/* Promises what the candidate may cost, then goes on with run_booked(). */
void run_book(struct run *r);
void run_booked(struct run *r, int err);
/* Under the lock: keeps the promise from being taken for a dead process's. */
void run_extend(struct run *r, int64_t now_ms);

/* run_settle.c */
extern const struct till run_settling;
/* Enters what the attempt used and takes the promise back, then goes on. */
void run_settle(struct run *r, enum charge_outcome outcome, void (*then)(struct run *r));
/* It could not be settled before. */
void run_settle_again(struct run *r);

/* run_send.c */
/* Writes the body of the request, if it is not written with this limit. */
bool run_write_body(struct run *r);
/* Sends it.  0, or why it cannot be. */
int run_send(struct run *r);
/* Under the lock: a model inside the program goes on speaking. */
void run_unpark(struct run *r);
