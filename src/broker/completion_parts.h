/* completion_parts.h - what the files of a completion share; nobody else includes it.
 *
 * A completion is handed from thread to thread (the caller's, the store's, the
 * async HTTP's, the slow pool's) and belongs to one at a time, its owner.  What
 * others may reach for meanwhile - cancelling, holding, the tick - is under its
 * lock.  Where it stands is said by three machines of states, each with a table
 * of its moves (completion_state.c); a move that is not in the table ends the process. */
#pragma once
#include <pthread.h>

#include "base/check.h"
#include "broker/breaker.h"
#include "broker/completion.h"
#include "broker/group_commit.h"
#include "call/held.h"
#include "outside/async_http.h"

/* How far it has come; moved by its owner. */
enum completion_stage {
	COMPLETION_CHOOSING,  /* no attempt is under way */
	COMPLETION_RESERVING, /* the request is written, and what it may cost is reserved */
	COMPLETION_ASKING, /* the request is on its way, and nothing of an answer was passed on */
	COMPLETION_ANSWERING, /* something was: no other model can take over */
	COMPLETION_FAULTED,   /* the attempt failed before that */
	COMPLETION_BROKEN,    /* the attempt failed after that */
	COMPLETION_ANSWERED,  /* the answer is whole */
	COMPLETION_OVER,      /* its owner is being told, or was */
	COMPLETION_STAGES
};

/* Who has the request. */
enum completion_carriage {
	COMPLETION_CARRIED_NOT,
	COMPLETION_CARRIED_OUTSIDE, /* the traffic, to a provider */
	COMPLETION_CARRIED_INSIDE,  /* a model inside the program, which speaks on the slow pool */
	COMPLETION_CARRIED_PAUSED,  /* the same, waiting for its reader */
	COMPLETION_CARRIAGES
};

/* What is reserved for the attempt. */
enum completion_money {
	COMPLETION_UNRESERVED,
	COMPLETION_RESERVED, /* or need not be, for it is free, and is to be entered all the same */
	COMPLETION_SETTLING,
	COMPLETION_SETTLE_DUE, /* the store could not do it: the next tick tries again */
	COMPLETION_MONEY_STATES
};

struct completion {
	/* With whoever works on it, one at a time each. */
	struct work work;     /* first: reserving and settling */
	struct work speaking; /* a model inside the program */
	struct work writing;  /* a large request, off the store's threads and the loops */

	/* Set when it is made, and read by all. */
	struct broker *broker;
	struct completion_asked asked;
	char id[26];
	struct async_http *http; /* that carries it */

	struct completion *next, *prev; /* under the broker's lock */

	/* Its owner's, from here to the lock: the attempt under way. */
	struct arena arena;
	void (*write)(struct completion *r);
	const struct candidate *candidate;
	size_t index;
	uint32_t tried; /* a bit for each candidate */
	int attempts;
	struct failed_attempt failed[CANDIDATES_MAX];
	size_t failed_count;
	struct buf body;
	int64_t body_limit;    /* the limit of output that is written in it */
	int64_t prompt_tokens; /* the estimate of the request as it is sent */
	uint64_t said;	       /* bytes that were passed on */
	struct held_part part;
	struct reply reply;
	bool replying; /* reply is open */
	struct transfer transfer;
	void *speaker;	/* the state of a model inside the program */
	char owner[26]; /* of the key: the tenant's id, or "" */
	struct slice start_id, start_name;
	struct usage start_usage;
	const char *start_media;
	struct usage usage;
	bool used; /* as the provider says, not as we guess */
	struct fault fault;
	struct problem problem;

	/* What is reserved, and how it is settled. */
	struct reservation reservation;
	struct completion *next_waiting; /* in its group commit */
	int group_err;
	struct charge charge;
	int64_t cost_pd; /* of the attempt, reckoned once at its end */
	int64_t moment;
	void (*settled)(struct completion *r); /* what follows */

	pthread_mutex_t lock;	     /* over all below */
	int holds;		     /* who still needs the completion; at 0 it goes */
	enum completion_stage stage; /* only its owner moves it, and may read it without the lock */
	enum completion_carriage carriage;
	enum completion_money money;
	bool cancelled, held; /* what its owner wishes, at any time, from any thread */
	bool extending;	      /* the extension is with the store */
	int64_t over_ms, extended_ms;
	struct work extension;
	struct reservation lease; /* what is to be extended; its id is empty for nothing */
};

enum { LANES_MAX = 64 }; /* further loops have their calls carried by the broker's own thread */

struct broker {
	struct broker_settings settings;
	struct async_http *http; /* on a thread of its own */
	struct lane {
		const struct http_loop *loop;
		struct async_http *http;
	} lanes[LANES_MAX]; /* by the index of the loop */
	struct breaker *breaker;
	pthread_rwlock_t keys_lock; /* over settings.keys */
	struct group_commit reservation, settling;
	pthread_mutex_t lock; /* over the next; taken before a completion's */
	pthread_cond_t fewer;
	struct completion *first;
	size_t count;
	bool stopping;
	_Atomic uint64_t begun, finished, failed, cancelled, refused, failovers;
};

/* broker.c */
void completion_let_go(struct completion *r);

/* completion_state.c */
void completion_move(struct completion *r, enum completion_stage to);
/* With the lock. */
void completion_move_locked(struct completion *r, enum completion_stage to);
void completion_carry(struct completion *r, enum completion_carriage to);
void completion_money_move(struct completion *r, enum completion_money to);
/* Its owner asks: has something of an answer been passed on?  Has the attempt failed?  Has the provider been asked,
 * who may charge for it? */
bool completion_has_begun(const struct completion *r);
bool completion_has_failed(const struct completion *r);
bool completion_has_asked(const struct completion *r);

/* completion.c */
/* Chooses a candidate that was not tried; false if there is none. */
bool completion_next(struct completion *r);
/* The attempt has come to its end, as its stage and r->cancelled say. */
void completion_attempt_over(struct completion *r);
/* The sink of the attempts. */
void completion_take(void *run, const struct event *e);
bool completion_is_cancelled(struct completion *r);
/* What is owed for a request that was sent and of which nothing was heard, as we guess. */
struct usage completion_unheard(const struct completion *r);
/* The completion ends without an attempt. */
void completion_refuse(struct completion *r, int err);

/* completion_send.c: has a request that is large written where nobody waits for it; false if it may as well be written
 * here. */
bool completion_writes_aside(struct completion *r, void (*write)(struct completion *r));

/* completion_reserve.c */
extern const struct group_commit completion_reserving;
/* Reserves what the candidate may cost, then goes on with completion_reserved(). */
void completion_reserve(struct completion *r);
void completion_reserved(struct completion *r, int err);
/* Under the lock: keeps the reservation from being taken for a dead process's. */
void completion_extend(struct completion *r, int64_t now_ms);

/* completion_settle.c */
extern const struct group_commit completion_settling;
/* What the attempt cost by its usage: once, when that is known, before anybody is told. */
void completion_reckon(struct completion *r);
/* Enters what the attempt used and takes the reservation back, then goes on. */
void completion_settle(
	struct completion *r, enum charge_outcome outcome, void (*then)(struct completion *r));
/* It could not be settled before. */
void completion_settle_again(struct completion *r);

/* completion_send.c */
/* Writes the body of the request.  0, or ERR_TOO_LARGE, or ERR_BUSY with the problem. */
int completion_write_body(struct completion *r);
/* Counts what it holds now; false if there is no room for that. */
/* What the candidate is told. */
static inline const struct chat *completion_chat(const struct completion *r)
{
	return r->candidate->without_parts ? r->asked.bare : r->asked.chat;
}
bool completion_count(struct completion *r);
/* Sends it.  0, or why it cannot be. */
int completion_send(struct completion *r);
/* Under the lock: a model inside the program goes on speaking. */
void completion_unpause(struct completion *r);
