/* money.h - amounts of money, exact from the text that states them to their sum.
 *
 * Money is whole picodollars (1e-12 USD).  One amount fits into 64 bits, up to
 * some nine million dollars; sums of amounts are 128 bits wide.  Nothing here is a
 * floating-point number, but for money_dollars(), which statistics ask for. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#define PICODOLLARS INT64_C(1000000000000)

/* The most dollars that one amount may be: its picodollars fit into 64 bits. */
enum { MONEY_USD_MAX = 9000000 };

/* It lies like a pointer, so that a struct has no gap before it in which a member without a row could hide. */
struct money {
	__int128 pd;
} __attribute__((packed, aligned(8)));

/* Decimal text such as "0.000003" into picodollars; ERR_INVALID if it is not that, is negative, is
 * finer than a picodollar, or does not fit. */
int money_parse(const char *text, size_t len, int64_t *ret_pd);
/* The same for the text of a JSON number, which may have an exponent: 3e-06. */
int money_parse_number(const char *text, size_t len, int64_t *ret_pd);
/* The shortest decimal text, such as "0.000003"; `out` holds MONEY_TEXT_MAX bytes. */
enum { MONEY_TEXT_MAX = 44 };
const char *money_text(__int128 pd, char *out);

/* What the sums of the store say, which are dollars, and picodollars beside them. */
struct money money_sum(int64_t whole, int64_t rest);
/* Below, at or above 0, as for qsort(). */
int money_compare(struct money a, struct money b);
/* The nearest floating-point number: not for reckoning. */
double money_dollars(struct money m);
