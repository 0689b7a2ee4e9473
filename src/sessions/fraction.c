/* fraction.c - see fraction.h.  OpenSSL's own greatest common divisor takes the same time for all numbers,
 * which secrets need: 2.2 ms at 4,096 bits, where Euclid's over its division takes 0.7 and of small numbers next to nothing. */
#include "sessions/fraction.h"

#include <openssl/crypto.h>
#include <string.h>

#include "sessions/calculator.h"

enum {
	STEPS_MAX = 20 * 1000 * 1000, /* some tens of milliseconds */
	TEN_MAX = 1233,		      /* 10^1233 is the last within CALCULATOR_BITS_MAX */
	TEXT_BITS_MAX = 10176,	      /* of a number on the way to a text */
	FRACTION_SHOWN = 60,
	WORD_BITS = 32, /* in which work is counted */
};

#define TOO_LONG "A number on the way has more than 1,200 digits."

bool reckoning_fail(struct reckoning *r, const char *why)
{
	if (!r->fault)
		r->fault = why;
	return false;
}

bool reckoning_begin(struct reckoning *r, struct arena *a)
{
	*r = (struct reckoning){ .arena = a, .numbers = BN_CTX_new() };
	if (r->numbers)
		BN_CTX_start(r->numbers);
	return r->numbers;
}

void reckoning_end(struct reckoning *r)
{
	BN_CTX_end(r->numbers);
	BN_CTX_free(r->numbers);
}

/* Whatever OpenSSL does with numbers of our size goes well, unless memory is short. */
static bool had_room(struct reckoning *r, int good)
{
	return good || reckoning_fail(r, "There is not enough memory.");
}

static void count_work(struct reckoning *r, const BIGNUM *a, const BIGNUM *b)
{
	uint64_t wide = (uint64_t)BN_num_bits(a) / WORD_BITS + 1;

	r->steps += wide * ((uint64_t)BN_num_bits(b) / WORD_BITS + 1);
}

void fraction_enter(struct reckoning *r)
{
	BN_CTX_start(r->numbers);
}

void fraction_leave(struct reckoning *r)
{
	BN_CTX_end(r->numbers);
}

bool fraction_new(struct reckoning *r, struct fraction *x)
{
	x->top = BN_CTX_get(r->numbers);
	x->bottom = BN_CTX_get(r->numbers);
	return had_room(r, x->bottom && BN_one(x->bottom));
}

static bool number_new(struct reckoning *r, BIGNUM **ret)
{
	*ret = BN_CTX_get(r->numbers);
	return had_room(r, *ret != NULL);
}

static bool fraction_copy(struct reckoning *r, struct fraction *x, const struct fraction *from)
{
	return fraction_new(r, x) &&
	       had_room(r, BN_copy(x->top, from->top) && BN_copy(x->bottom, from->bottom));
}

static bool bignum_product(struct reckoning *r, BIGNUM *ret, const BIGNUM *a, const BIGNUM *b)
{
	count_work(r, a, b);
	return had_room(r, BN_mul(ret, a, b, r->numbers));
}

static bool bignum_quotient(
	struct reckoning *r, BIGNUM *ret, BIGNUM *ret_left, const BIGNUM *a, const BIGNUM *b)
{
	int more = BN_num_bits(a) - BN_num_bits(b);

	r->steps += (uint64_t)(more > 0 ? more / WORD_BITS + 1 : 1) *
		    ((uint64_t)BN_num_bits(b) / WORD_BITS + 1);
	return had_room(r, BN_div(ret, ret_left, a, b, r->numbers));
}

/* Of two that are not zero; the result is in *a, and *b is used up. */
static bool common_factor(struct reckoning *r, BIGNUM **a, BIGNUM **b)
{
	while (!BN_is_zero(*b)) {
		BIGNUM *left = *a;

		if (!bignum_quotient(r, NULL, left, *a, *b))
			return false;
		*a = *b;
		*b = left;
	}
	BN_set_negative(*a, 0);
	return true;
}

static bool fraction_reduce(struct reckoning *r, struct fraction *x)
{
	BIGNUM *a, *b;

	if (!number_new(r, &a) || !number_new(r, &b))
		return false;
	if (!had_room(r, BN_copy(a, x->top) && BN_copy(b, x->bottom)) || !common_factor(r, &a, &b))
		return false;
	return BN_is_one(a) || (bignum_quotient(r, x->top, NULL, x->top, a) &&
				       bignum_quotient(r, x->bottom, NULL, x->bottom, a));
}

/* Lowest terms, and within the bounds. */
static bool fraction_settle(struct reckoning *r, struct fraction *x)
{
	bool good = true;

	if (r->steps > STEPS_MAX)
		return reckoning_fail(r, "The expression takes too long to work out.");
	if (BN_is_zero(x->top))
		return had_room(r, BN_one(x->bottom));
	if (!BN_is_one(x->bottom)) {
		fraction_enter(r);
		good = fraction_reduce(r, x);
		fraction_leave(r);
	}
	if (good && (BN_num_bits(x->top) > CALCULATOR_BITS_MAX ||
			    BN_num_bits(x->bottom) > CALCULATOR_BITS_MAX))
		return reckoning_fail(r, TOO_LONG);
	return good;
}

static bool fraction_combine(struct reckoning *r, struct fraction *x, const struct fraction *y,
	int (*how)(BIGNUM *ret, const BIGNUM *a, const BIGNUM *b))
{
	BIGNUM *other;
	bool good;

	fraction_enter(r);
	good = number_new(r, &other) && bignum_product(r, other, y->top, x->bottom) &&
	       bignum_product(r, x->top, x->top, y->bottom) &&
	       bignum_product(r, x->bottom, x->bottom, y->bottom) &&
	       had_room(r, how(x->top, x->top, other)) && fraction_settle(r, x);
	fraction_leave(r);
	return good;
}

bool fraction_add(struct reckoning *r, struct fraction *x, const struct fraction *y)
{
	return fraction_combine(r, x, y, BN_add);
}

bool fraction_subtract(struct reckoning *r, struct fraction *x, const struct fraction *y)
{
	return fraction_combine(r, x, y, BN_sub);
}

bool fraction_multiply(struct reckoning *r, struct fraction *x, const struct fraction *y)
{
	return bignum_product(r, x->top, x->top, y->top) &&
	       bignum_product(r, x->bottom, x->bottom, y->bottom) && fraction_settle(r, x);
}

/* 1 / x, which is not zero. */
static void turn_over(struct fraction *x)
{
	BN_swap(x->top, x->bottom);
	BN_set_negative(x->top, BN_is_negative(x->bottom));
	BN_set_negative(x->bottom, 0);
}

bool fraction_divide(struct reckoning *r, struct fraction *x, const struct fraction *y)
{
	struct fraction turned;
	bool good;

	if (BN_is_zero(y->top))
		return reckoning_fail(r, "Something is divided by zero.");
	fraction_enter(r);
	good = fraction_copy(r, &turned, y);
	if (good) {
		turn_over(&turned);
		good = fraction_multiply(r, x, &turned);
	}
	fraction_leave(r);
	return good;
}

bool fraction_remain(struct reckoning *r, struct fraction *x, const struct fraction *y)
{
	struct fraction whole;
	bool good;

	fraction_enter(r);
	good = fraction_copy(r, &whole, x) && fraction_divide(r, &whole, y) &&
	       bignum_quotient(r, whole.top, NULL, whole.top, whole.bottom) &&
	       had_room(r, BN_one(whole.bottom)) && fraction_settle(r, &whole) &&
	       fraction_multiply(r, &whole, y) && fraction_subtract(r, x, &whole);
	fraction_leave(r);
	return good;
}

/* How often the base is to be multiplied: of zero, one and minus one only oddness counts. */
static bool fraction_exponent(
	struct reckoning *r, const struct fraction *base, const BIGNUM *power, BN_ULONG *ret)
{
	bool small =
		BN_is_zero(base->top) || (BN_abs_is_word(base->top, 1) && BN_is_one(base->bottom));

	*ret = BN_is_zero(power) ? 0 : small ? 2 - (BN_ULONG)BN_is_odd(power) : BN_get_word(power);
	return *ret <= CALCULATOR_BITS_MAX || reckoning_fail(r, TOO_LONG);
}

/* x becomes base^left, by squares. */
static bool raise_by(struct reckoning *r, struct fraction *x, struct fraction *base, BN_ULONG left)
{
	struct fraction once;

	if (!had_room(r, BN_one(x->top) && BN_one(x->bottom)) || !fraction_new(r, &once))
		return false;
	for (; left; left >>= 1) {
		if (left & 1 && !fraction_multiply(r, x, base))
			return false;
		if (left > 1 && (!had_room(r, BN_copy(once.top, base->top) &&
						      BN_copy(once.bottom, base->bottom)) ||
					!fraction_multiply(r, base, &once)))
			return false;
	}
	return true;
}

bool fraction_raise(struct reckoning *r, struct fraction *x, const struct fraction *power)
{
	struct fraction base;
	BN_ULONG left;
	bool good;

	if (!BN_is_one(power->bottom))
		return reckoning_fail(r, "An exponent must be a whole number.");
	if (BN_is_negative(power->top) && BN_is_zero(x->top))
		return reckoning_fail(r, "Zero has no power below zero.");
	fraction_enter(r);
	good = fraction_copy(r, &base, x);
	if (good && BN_is_negative(power->top))
		turn_over(&base);
	good = good && fraction_exponent(r, &base, power->top, &left) &&
	       raise_by(r, x, &base, left);
	fraction_leave(r);
	return good;
}

bool fraction_digit(struct reckoning *r, struct fraction *x, int digit)
{
	r->steps += (uint64_t)BN_num_bits(x->top) / WORD_BITS + 1;
	if (!had_room(r, BN_mul_word(x->top, 10) && BN_add_word(x->top, (BN_ULONG)digit)))
		return false;
	return BN_num_bits(x->top) <= CALCULATOR_BITS_MAX ||
	       reckoning_fail(r, "A number has more than 1,200 digits.");
}

static bool power_of_ten(struct reckoning *r, BIGNUM *ret, int power)
{
	if (!had_room(r, BN_one(ret)))
		return false;
	r->steps += (uint64_t)power * (uint64_t)power / 100 + 1;
	for (; power >= 9; power -= 9)
		if (!had_room(r, BN_mul_word(ret, 1000000000)))
			return false;
	for (; power > 0; power--)
		if (!had_room(r, BN_mul_word(ret, 10)))
			return false;
	return true;
}

bool fraction_scale(struct reckoning *r, struct fraction *x, int power)
{
	struct fraction scale;
	bool good;

	if (power > TEN_MAX || power < -TEN_MAX)
		return reckoning_fail(r, "A number has more than 1,200 digits.");
	fraction_enter(r);
	good = fraction_new(r, &scale) && power_of_ten(r, scale.top, power < 0 ? -power : power);
	if (good)
		good = power < 0 ? fraction_divide(r, x, &scale) : fraction_multiply(r, x, &scale);
	fraction_leave(r);
	return good;
}

/* ---- as text ---- */

/* Without its sign; NULL where memory is short. */
static const char *bignum_text(struct reckoning *r, const BIGNUM *n)
{
	char *made = BN_bn2dec(n);
	const char *text = NULL;

	count_work(r, n, n);
	if (had_room(r, made != NULL))
		text = arena_strdup(r->arena, made + (*made == '-'));
	OPENSSL_free(made);
	return text;
}

/* How often a prime goes into n, which loses it. */
static int take_out(struct reckoning *r, BIGNUM *n, BN_ULONG prime)
{
	int count = 0;

	while (BN_mod_word(n, prime) == 0) {
		BN_div_word(n, prime);
		r->steps += (uint64_t)BN_num_bits(n) / WORD_BITS + 1;
		count++;
	}
	return count;
}

/* How many decimals end it; -1 if none do. */
static int fraction_decimals(struct reckoning *r, const struct fraction *x)
{
	BIGNUM *left;
	int twos, fives;

	if (!number_new(r, &left) || !had_room(r, BN_copy(left, x->bottom) != NULL))
		return -1;
	twos = take_out(r, left, 2);
	fives = take_out(r, left, 5);
	return !BN_is_one(left) ? -1 : twos > fives ? twos : fives;
}

/* The nearest whole number of units of 10^-places, as digits; NULL if there are too many. */
static const char *fraction_rounded(struct reckoning *r, const struct fraction *x, int places)
{
	BIGNUM *units, *left;

	if (places > TEXT_BITS_MAX / 3 || !number_new(r, &units) || !number_new(r, &left) ||
		!power_of_ten(r, units, places) ||
		BN_num_bits(units) + BN_num_bits(x->top) > TEXT_BITS_MAX)
		return NULL;
	if (!bignum_product(r, units, units, x->top) ||
		!bignum_quotient(r, units, left, units, x->bottom) ||
		!had_room(r, BN_lshift1(left, left)))
		return NULL;
	BN_set_negative(units, 0);
	if (BN_ucmp(left, x->bottom) >= 0 && !had_room(r, BN_add_word(units, 1)))
		return NULL;
	return bignum_text(r, units);
}

static const char *put_decimal_point(
	struct reckoning *r, const char *sign, const char *digits, int places)
{
	int len = (int)strlen(digits);

	if (!places)
		return arena_printf(r->arena, "%s%s", sign, digits);
	if (len <= places)
		return arena_printf(r->arena, "%s0.%.*d%s", sign, places - len, 0, digits);
	return arena_printf(
		r->arena, "%s%.*s.%s", sign, len - places, digits, digits + len - places);
}

static const char *fraction_decimal_text(struct reckoning *r, const struct fraction *x)
{
	const char *top = bignum_text(r, x->top), *bottom = bignum_text(r, x->bottom), *digits;
	const char *sign = BN_is_negative(x->top) ? "-" : "", *text;
	int places = fraction_decimals(r, x), before;

	if (!top || !bottom)
		return NULL;
	if (places >= 0 && (digits = fraction_rounded(r, x, places)))
		return put_decimal_point(r, sign, digits, places);
	before = (int)strlen(top) - (int)strlen(bottom) + 1;
	places = before < CALCULATOR_DIGITS ? CALCULATOR_DIGITS - before : 0;
	digits = fraction_rounded(r, x, places);
	if (digits && places && strlen(digits) < CALCULATOR_DIGITS)
		digits = fraction_rounded(r, x, ++places);
	if (!digits)
		return NULL;
	text = put_decimal_point(r, sign, digits, places);
	if (strlen(top) + strlen(bottom) > FRACTION_SHOWN)
		return arena_printf(r->arena, "%s (rounded to the nearest; it has no end)", text);
	return arena_printf(
		r->arena, "%s (rounded to the nearest; exactly %s%s/%s)", text, sign, top, bottom);
}

const char *fraction_text(struct reckoning *r, const struct fraction *x)
{
	const char *text;

	fraction_enter(r);
	text = fraction_decimal_text(r, x);
	fraction_leave(r);
	return text;
}
