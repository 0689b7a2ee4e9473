/* completion.h - one call to a model, from its reservation to its settlement, whoever asks for it.
 *
 *   reserving -> sending -> (settling -> reserving -> sending ...) -> over -> settling
 *
 * A completion goes through its candidates (candidates.h) until one answers: the
 * next takes over as long as nothing of an answer has been passed on, and
 * the fault is one that another model need not share.  After the first piece
 * of an answer a fault is passed on as what it is.  What a completion used is
 * settled after its owner has been told that it is over.
 *
 * What a completion holds is charged to its tenant (call/held.h): the request, the
 * answer that is being read, and what its owner keeps of it.  Without room
 * for the request it is refused with ERR_BUSY; an answer larger than
 * COMPLETION_SPARED ends with a fault.
 *
 * The sink gets the sequence of event.h, on one thread at a time but not
 * always the same one; it must not wait.  A completion knows nothing of HTTP. */
#pragma once
#include "broker/broker.h"
#include "broker/budget.h"
#include "broker/candidates.h"

struct http_loop;
struct completion;

enum {
	RUNS_MAX = 20000,		/* under way in the process; one more is ERR_BUSY */
	COMPLETION_BODY_MAX = 64 << 20, /* bytes of a request to a provider */
	COMPLETION_SPARED =
		1 << 20, /* bytes of an answer that ends well although there is no room for it */
	COMPLETION_CONNECT_MS = 10000, /* to reach a provider */
	COMPLETION_STOP_MS = 10000,    /* for what is cancelled at the end to be settled */
};

/* The code of the problem where there is no room for the request. */
#define COMPLETION_MEMORY_CODE "memory_held"

/* A candidate that was asked and failed before it said anything, so that the next one was. */
struct failed_attempt {
	const struct candidate *candidate;
	enum fault_class class;
};

struct completion_end {
	const struct problem *problem; /* it was refused before it was sent, or NULL */
	const struct fault *fault; /* it failed, or NULL; the sink has had it as its last event */
	bool cancelled;
	bool begun;			   /* something of an answer was passed on */
	size_t index;			   /* the candidate that was tried last */
	const struct candidate *candidate; /* the same */
	struct usage usage;
	int64_t cost_pd;		     /* what the ledger has, or will have, for it */
	const struct failed_attempt *failed; /* those before it */
	size_t failed_count;
};

struct completion_asked {
	const char *tenant_id, *agent_id, *user_id, *session_id; /* as in struct charge; copied */
	const char *request_id;					 /* for the log, or NULL; copied */
	/* These must live until over() is called. */
	const struct candidates *candidates;
	const struct chat *chat;
	const struct chat *bare; /* for candidates that are without_parts; NULL: there are none */
	/* On whose thread it is asked for: a loop that was given to broker_loop_begins(), or NULL. */
	const struct http_loop *loop;
	size_t first; /* candidates before this one are not tried: they were, and broke off */
	size_t keeps; /* how many times its owner keeps what the model says; 0: hands it on as it comes */
	struct sink sink;
	/* Once, last.  The completion may be gone as soon as it returns. */
	void (*over)(void *data, const struct completion_end *end);
	/* Now and then while it is under way, from another thread; false cancels it.  May be NULL. */
	bool (*tick)(void *data);
	void *data;
};

/* 0, and over() will be called, perhaps before this returns; *ret is set before anything begins.  Or
 * ERR_BUSY, ERR_STOPPING. */
int completion_start(
	struct broker *b, const struct completion_asked *asked, struct completion **ret);
/* These three from any thread, before over() is called. */
void completion_cancel(struct completion *r);
/* From the sink: hand on no more until completion_resume().  Some events may still come. */
void completion_hold(struct completion *r);
void completion_resume(struct completion *r);
