/* big.h - whole numbers without a sign, of bounded size: what the calculator reckons with. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

enum { BIG_LIMBS = 320 /* of 32 bits; room for every product on the way */ };

struct big {
	int n; /* limbs in use; 0 for zero */
	uint32_t limb[BIG_LIMBS];
};

void big_set(struct big *r, uint64_t value);
int big_compare(const struct big *a, const struct big *b);
int big_bits(const struct big *a);
bool big_is(const struct big *a, uint32_t value);
/* The results may be among the operands.  A product must have room, which its maker sees to; each counts
 * its work in *steps. */
void big_add(struct big *r, const struct big *a, const struct big *b, uint64_t *steps);
void big_subtract(
	struct big *r, const struct big *a, const struct big *b, uint64_t *steps); /* a >= b */
void big_multiply(struct big *r, const struct big *a, const struct big *b, uint64_t *steps);
/* b is not zero; either result may be NULL. */
void big_divide(struct big *quotient, struct big *remainder, const struct big *a,
	const struct big *b, uint64_t *steps);
void big_gcd(struct big *r, const struct big *a, const struct big *b, uint64_t *steps);
/* r = r * factor + more, for reading digits. */
void big_shift_in(struct big *r, uint32_t factor, uint32_t more, uint64_t *steps);
/* 10^power; false if that has no room. */
bool big_power_of_ten(struct big *r, int power, uint64_t *steps);
/* Decimal digits. */
char *big_text(struct arena *a, const struct big *value, uint64_t *steps);
