/* room.h - has an agent room for one more message: are these its hours, is there something left of its rate
 * and of its budget?
 *
 * One is taken of the rate for each message of a user, each event of a
 * webhook and each request, however many models are called about it; the
 * money is reserved call by call (budget.h).  What becomes of those for whom
 * there is no room, others decide: who asks directly is refused, what is
 * queued waits. */
#pragma once
#include "base/error.h"
#include "store/store.h"

struct room_asked {
	const char *tenant_id, *agent_id;
	int64_t messages;     /* so many are brought; 0: 1 */
	const char *model_id; /* in place of the agent's chain; NULL: the chain */
	bool any_hour;	      /* its working hours do not count */
	bool uncounted;	      /* nothing is counted: rates and budget are no limits */
	bool look;	      /* and nothing is taken */
	int64_t now;
};

/* No time will make room, only other limits: in retry_after_s. */
enum { ROOM_NEVER_S = RETRY_NEVER_S };

/* Takes one of the agent's rate for each message.  ERR_THROTTLED with a sentence, a code (outside_working_hours, rate_limited,
 * budget_exhausted) and when to come back, and nothing is taken. */
int room_take(struct db *db, struct arena *a, const struct room_asked *asked, struct problem *p);

struct chat_config;
/* The first of these questions alone. */
int room_hours(struct arena *a, const struct chat_config *config, int64_t now, struct problem *p);
/* The least money that one message can take; 0: none. */
int room_least(struct db *db, struct arena *a, const struct room_asked *asked, int64_t *ret_pd);
/* hours, rate or budget, by the code of such a refusal; NULL: it is none. */
const char *room_lacking(const struct problem *p);
/* Seconds from one message to the next, if the agent keeps to its rate; at least 1. */
int room_spacing_s(struct db *db, struct arena *a, const struct room_asked *asked);
