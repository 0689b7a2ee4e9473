/* run.h - one call to a model, from its booking to its settlement, whoever asks for it.
 *
 *   booking -> sending -> (settling -> booking -> sending ...) -> over -> settling
 *
 * A run goes through the candidates of a plan (plan.h) until one answers: the
 * next takes over as long as nothing of an answer has been passed on, and
 * the fault is one that another model need not share.  Behind the first piece
 * of an answer a fault is passed on as what it is.  What a run used is
 * settled after its owner has been told that it is over.
 *
 * The sink gets the sequence of event.h, on one thread at a time but not
 * always the same one; it must not wait.  A run knows nothing of HTTP. */
#pragma once
#include "broker/broker.h"
#include "broker/budget.h"
#include "broker/plan.h"

struct http_loop;
struct run;

enum {
	RUNS_MAX = 20000,	 /* under way in the process; one more is ERR_BUSY */
	RUN_BODY_MAX = 64 << 20, /* bytes of a request to a provider */
	RUN_CONNECT_MS = 10000,	 /* to reach a provider */
	RUN_STOP_MS = 10000,	 /* for what is cancelled at the end to be settled */
};

struct run_end {
	const struct problem *problem; /* it was refused before it was sent, or NULL */
	const struct fault *fault; /* it failed, or NULL; the sink has had it as its last event */
	bool cancelled;
	bool begun;			   /* something of an answer was passed on */
	size_t index;			   /* the candidate of the plan that was tried last */
	const struct candidate *candidate; /* the same */
	struct usage usage;
};

struct run_asked {
	const char *tenant_id, *agent_id, *user_id, *session_id; /* as in struct charge; copied */
	/* These must live until over() is called. */
	const struct plan *plan;
	const struct chat *chat;
	/* On whose thread it is asked for: a loop that was given to broker_loop_begins(), or NULL. */
	const struct http_loop *loop;
	size_t first; /* candidates before this one are not tried: they were, and broke off */
	struct sink sink;
	/* Once, last.  The run may be gone as soon as it returns. */
	void (*over)(void *data, const struct run_end *end);
	/* Now and then while it is under way, from another thread; false cancels it.  May be NULL. */
	bool (*tick)(void *data);
	void *data;
};

/* 0, and over() will be called, perhaps before this returns; *ret is set before anything begins.  Or
 * ERR_BUSY, ERR_STOPPING. */
int run_start(struct broker *b, const struct run_asked *asked, struct run **ret);
/* These three from any thread, before over() is called. */
void run_cancel(struct run *r);
/* From the sink: hand on no more until run_resume().  Some events may still come. */
void run_hold(struct run *r);
void run_resume(struct run *r);
