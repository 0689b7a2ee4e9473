/* candidates.h - which models a call may go to, in which order, and how each is reached.
 *
 * Made in one read transaction before anything is sent: the agent's chain by
 * priority, then the failover chains of its models; a router in the chain
 * stands for the cheapest models that fit the request.  Each is judged by the
 * gate.  Whoever uses them looks nothing up any more. */
#pragma once
#include "access/vault.h"
#include "broker/broker.h"
#include "broker/gate.h"
#include "broker/price.h"
#include "broker/provider.h"

enum { CANDIDATES_MAX = 16, FAILOVER_DEPTH = 3 };

/* One model and the way to it. */
struct candidate {
	const char *model_id, *slug;
	const struct provider *provider;
	struct target target;	    /* max_tokens is the model's own; 0: none */
	const char *url;	    /* NULL: it is inside the program */
	const char *const *headers; /* "Name: value", NULL-terminated */
	struct price price;
	bool byok;	       /* on the tenant's own key */
	bool without_tools;    /* it cannot call them: they are left out of what it is sent */
	bool without_parts;    /* it is sent the other chat, which only tells of images and files */
	int silence_ms;	       /* the longest silence */
	int64_t total_ms;      /* from its beginning to its end */
	int64_t output_tokens; /* that a call is reserved with at most */
};

struct candidates {
	struct candidate at[CANDIDATES_MAX];
	size_t count;
	int64_t prompt_tokens; /* of the chat */
	/* The agent's limits; NIL: none. */
	int64_t hourly_limit_pd, per_minute, per_hour;
};

struct candidates_asked {
	const char *tenant_id;
	const char *agent_id; /* NULL: no agent calls, and model_id is the one that is meant */
	const char *model_id; /* with an agent: in place of its chain; NULL: the chain */
	const char *user_id;  /* NULL: nobody drives the agent */
	const struct chat *chat;
	bool tools_optional; /* a model that cannot call tools may be asked without them */
	struct vault *vault;
	struct broker_keys keys;
	bool counted; /* the agent's rate knows of it already: this is a step of what was admitted */
	bool any_hour; /* its working hours do not count */
	bool judges;   /* how they are reached is not asked */
	int64_t now;
};

/* 0 with at least one candidate, or a problem: why the first model may not be called, that none fits,
 * or that the agent is not at work. */
int candidates_find(struct db *db, struct arena *a, const struct candidates_asked *asked,
	struct candidates *ret, struct problem *p);

/* Before a message is taken: a problem if no model of the agent's chain (or the one that stands in its place) may
 * be called, nor any that could take over from one.  What the request itself asks for is not judged. */
int candidates_look(struct db *db, struct arena *a, const struct gate_who *who,
	const char *model_id, struct problem *p);

/* Before parts of a message are taken, which `chat` holds and nothing else: ERR_INVALID with the place of the first that no
 * model of the chain takes, nor any that could take over.  That one may be called at all is asked elsewhere. */
int candidates_take(struct db *db, struct arena *a, const struct gate_who *who,
	const char *model_id, const struct chat *chat, struct problem *p);

/* True if both addresses name the same scheme, host and port. */
bool same_host(const char *one, const char *other);
