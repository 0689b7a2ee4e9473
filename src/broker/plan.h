/* plan.h - which models a call may go to, in which order, and how each is reached.
 *
 * Made in one read transaction before anything is sent: the agent's chain by
 * priority, then the failover chains of its models; a router in the chain
 * stands for the cheapest models that fit the request.  Each is judged by the
 * gate.  Whoever runs the plan looks nothing up any more. */
#pragma once
#include "access/vault.h"
#include "broker/broker.h"
#include "broker/gate.h"
#include "broker/price.h"
#include "broker/provider.h"

enum { PLAN_MAX = 16, PLAN_DEPTH = 3 };

/* One model and the way to it. */
struct candidate {
	const char *model_id, *slug;
	const struct provider *provider;
	struct target target;	    /* max_tokens is the model's own; 0: none */
	const char *url;	    /* NULL: it is inside the program */
	const char *const *headers; /* "Name: value", NULL-terminated */
	struct price price;
	bool byok;	       /* on the tenant's own key */
	int silence_ms;	       /* the longest silence */
	int64_t total_ms;      /* from its beginning to its end */
	int64_t output_tokens; /* that a call is booked with at most */
};

struct plan {
	struct candidate at[PLAN_MAX];
	size_t count;
	int64_t prompt_tokens; /* of the chat */
	/* The agent's limits; NIL: none. */
	int64_t hourly_limit_pd, per_minute, per_hour;
};

struct plan_asked {
	const char *tenant_id;
	const char *agent_id; /* NULL: no agent calls, and model_id is the one that is meant */
	const char *model_id; /* with an agent: in place of its chain; NULL: the chain */
	const char *user_id;  /* NULL: nobody drives the agent */
	const struct chat *chat;
	struct vault *vault;
	struct broker_keys keys;
	int64_t now;
};

/* 0 with at least one candidate, or a problem: why the first model may not be called, that none fits,
 * or that the agent is not at work. */
int plan_make(struct db *db, struct arena *a, const struct plan_asked *asked, struct plan *ret,
	struct problem *p);

/* True if both addresses name the same scheme, host and port. */
bool plan_same_host(const char *one, const char *other);
