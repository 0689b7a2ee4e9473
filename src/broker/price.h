/* price.h - prices of tokens, characters and seconds, and what a call costs.
 *
 * Money is whole picodollars (1e-12 USD) in 64 bits; every product and sum is
 * checked.  A price is given in USD a token (a character, a second) as decimal text and must be a
 * whole number of picodollars.  Nothing here is a floating-point number. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/money.h"
#include "broker/usage.h"

/* Picodollars a token, a character that is spoken, a second that is written down; NIL where no price is set. */
struct price {
	int64_t prompt, completion, cache_read, cache_write, character, second;
};
#define NO_PRICE                             \
	(struct price)                       \
	{                                    \
		NIL, NIL, NIL, NIL, NIL, NIL \
	}

/* What the call costs.  A bucket without a price of its own is priced as prompt (the cache's) or not at
 * all; ERR_INVALID if it does not fit into 64 bits or a count is negative. */
int price_cost(const struct price *p, const struct usage *u, int64_t *ret_pd);

/* Reads an object {prompt, completion, cache_read, cache_write, character, second} of decimal strings, each of which may
 * be missing or null.  ERR_INVALID with every offending member under `path` in the problem. */
int price_read(const char *json, size_t len, const char *path, struct price *ret, struct arena *a,
	struct problem *p);
/* The same object as text; what has no price is null. */
const char *price_json(const struct price *price, struct arena *a);
