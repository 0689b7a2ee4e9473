/* budget.h - no call without room for it: what agents may spend, reserved before and settled after.
 *
 * The hour is the last sixty minutes, sliding.  Room is the limit less what
 * was settled in them and what is reserved for calls under way.  For a
 * call its prompt is reserved and as much output as it asks for, cut to what the room
 * pays for; it is refused only if the room does not pay for its prompt and
 * one token (or as many as its provider takes for a limit).  All of it runs in the caller's transaction, so that calls that
 * come at once, in however many processes, are one after the other here. */
#pragma once
#include "broker/ledger.h"
#include "broker/price.h"

/* A call that wants to be made. */
struct reservation {
	const char *tenant_id, *agent_id, *model_id, *user_id,
		*session_id; /* as in struct charge */
	bool byok;
	struct price price;
	int64_t prompt_tokens; /* at most so many */
	int64_t output_tokens; /* wanted at most; cut by budget_reserve() to what there is room for */
	int64_t characters, seconds; /* at most so many */
	int64_t least_output;	     /* with fewer it cannot be made; 0: 1 */
	/* The agent's limits; NIL: none. */
	int64_t hourly_limit_pd, per_minute, per_hour;
	int64_t messages; /* so many count towards the rates; 0: 1 */

	struct {
		char id[26]; /* empty: nothing is reserved, and nothing is owed */
		int64_t amount_pd;
	} made;
	bool free; /* it costs nothing and is not counted: there is no reservation, only what was used */
};

enum { RESERVATION_LEASE_S = 120 };

/* What is left to an agent; NIL where there is no limit. */
struct budget_left {
	int64_t room_pd, calls_in_minute, calls_in_hour;
};

/* Tells it at this moment, by the reservation's agent and limits, and reserves nothing. */
int budget_look(struct db *db, const struct reservation *b, int64_t now, struct budget_left *ret);
/* Is there so much room?  ERR_THROTTLED as by budget_reserve(), and nothing is reserved. */
int budget_need(struct db *db, struct arena *a, const struct reservation *b, int64_t need_pd,
	int64_t now, struct problem *p);
/* As many more as the reservation has messages within its rates, counted if it is to be taken.  ERR_THROTTLED likewise. */
int budget_count(struct db *db, struct arena *a, const struct reservation *b, bool take,
	int64_t now, struct problem *p);
/* The least room in which a call at this price is made: one token in and one out. */
int64_t budget_least_pd(const struct price *p);
/* Is there nothing to reserve?  A call at no price, of nobody whose calls are counted. */
bool budget_is_free(const struct reservation *b);
/* What a reservation read of its agent, of use to the next in the same transaction; empty for the first. */
struct budget_used {
	const char *tenant_id, *agent_id;
	int64_t since, spent_pd, reserved_pd;
};

/* Reserves it, or refuses without having changed anything: ERR_THROTTLED with a sentence, a code
 * (budget_exhausted, rate_limited) and when to come back. */
int budget_reserve(struct db *db, struct arena *a, struct reservation *b, int64_t now,
	struct budget_used *used, struct problem *p);
/* What was reserved is off the table, and what it came to is in the ledger.  A charge without any
 * tokens is not entered.  Settled already, or by somebody else after its lease: ERR_NOT_FOUND, and
 * nothing is entered a second time. */
int budget_settle(struct db *db, const struct reservation *b, const struct charge *c, int64_t now);
/* The same for several at once, up to LEDGER_AT_ONCE: what became of each is in its err.  Another error
 * than ERR_NOT_FOUND is that of all. */
struct settlement {
	const struct reservation *reservation;
	const struct charge *charge;
	int64_t now;
	int err;
};
int budget_settle_all(struct db *db, struct settlement *list, size_t count);
/* Says that the call is still under way. */
int budget_extend(struct db *db, const struct reservation *b, int64_t now);
/* Settles, as lost and estimated at all that was reserved, some of what dead processes left; the
 * number of them in *ret. */
int budget_recover(struct db *db, struct arena *a, int64_t now, int64_t *ret);
enum { RECOVERED_AT_ONCE = 100 }; /* so many in a call: there may be more */
/* Has what no window can see any more forgotten. */
void budget_forget(struct store *store, int64_t now);

extern const struct statement_set budget_sql, budget_rate_sql;
