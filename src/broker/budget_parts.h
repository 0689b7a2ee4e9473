/* budget_parts.h - what the two halves of the budget share: money (budget.c) and rates (budget_rate.c). */
#pragma once
#include "broker/budget.h"

#define SUM_OF(what) "cast(coalesce(sum(" what "), 0) as bigint)"

/* Are there as many left as the reservation has messages?  ERR_THROTTLED with a sentence and when to come back. */
int budget_check_rates(struct db *db, struct arena *a, const struct reservation *b, int64_t now,
	struct problem *p);
int budget_count_rates(struct db *db, const struct reservation *b, int64_t now);
/* The calls of *ret. */
int budget_rates_left(
	struct db *db, const struct reservation *b, int64_t now, struct budget_left *ret);
/* Has what no window can see any more forgotten. */
void budget_rates_forget(struct store *store, int64_t now);
