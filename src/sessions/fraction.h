/* fraction.h - exact fractions of whole numbers, over OpenSSL's: what the calculator reckons with.
 *
 * Always in their lowest terms and within bounds.  Size and work are counted;
 * the first thing that goes wrong is kept as a sentence, and whatever follows
 * fails too. */
#pragma once
#include <openssl/bn.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct reckoning {
	struct arena *arena;
	BN_CTX *numbers;
	uint64_t steps;
	const char *fault; /* the first, or NULL */
};

struct fraction {
	BIGNUM *top,
		*bottom; /* without a common factor; the sign is the top's, the bottom is above zero */
};

/* False where memory is short.  The arena must outlive it. */
bool reckoning_begin(struct reckoning *r, struct arena *a);
void reckoning_end(struct reckoning *r);
/* Keeps the sentence, unless there is one; false. */
bool reckoning_fail(struct reckoning *r, const char *why);

/* Zero.  It lasts until the fraction_leave() that answers the last fraction_enter(). */
bool fraction_new(struct reckoning *r, struct fraction *x);
void fraction_enter(struct reckoning *r);
void fraction_leave(struct reckoning *r);

/* x = x op y; the two are not the same. */
bool fraction_add(struct reckoning *r, struct fraction *x, const struct fraction *y);
bool fraction_subtract(struct reckoning *r, struct fraction *x, const struct fraction *y);
bool fraction_multiply(struct reckoning *r, struct fraction *x, const struct fraction *y);
bool fraction_divide(struct reckoning *r, struct fraction *x, const struct fraction *y);
/* What is left when y is taken away as often as it goes; it has the sign of x. */
bool fraction_remain(struct reckoning *r, struct fraction *x, const struct fraction *y);
bool fraction_raise(struct reckoning *r, struct fraction *x, const struct fraction *power);
/* One more decimal digit of a whole number. */
bool fraction_digit(struct reckoning *r, struct fraction *x, int digit);
/* x * 10^power */
bool fraction_scale(struct reckoning *r, struct fraction *x, int power);
/* As text, rounded and with words about it where no decimal ends it; NULL if it has too many digits. */
const char *fraction_text(struct reckoning *r, const struct fraction *x);
