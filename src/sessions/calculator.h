/* calculator.h - arithmetic that is exact: expressions over fractions of whole numbers of any size, within
 * bounds.
 *
 * Numbers, + - * / % ^, signs and parentheses.  0.1+0.2 is 0.3, 2^200 has all
 * of its digits, and 1/3*3 is 1.  A result that no decimal ends is rounded to
 * CALCULATOR_DIGITS significant digits, and says so. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

enum {
	CALCULATOR_TEXT_MAX = 4096, /* bytes of an expression */
	CALCULATOR_DEPTH_MAX = 64,  /* parentheses, signs and powers within each other */
	CALCULATOR_BITS_MAX = 4096, /* of numerator and denominator: some 1,200 digits each */
	CALCULATOR_DIGITS = 50,
};

/* The result as text, or a sentence about what is wrong; *ret_failed says which. */
const char *calculator_run(struct arena *a, const char *expression, bool *ret_failed);
