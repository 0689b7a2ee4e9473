/* calculator.c - see calculator.h.  A parser by descent, over fractions in their lowest terms.  Depth, size
 * and work are counted; whatever is past its bound ends with a sentence. */
#include "sessions/calculator.h"

#include <string.h>

#include "sessions/big.h"

enum { STEPS_MAX = 20 * 1000 * 1000 /* some tens of milliseconds */, FRACTION_SHOWN = 60 };

struct fraction {
	bool negative;
	struct big top, bottom; /* without a common factor; bottom is not zero */
};

struct reckoner {
	struct arena *arena;
	const char *text, *at;
	int depth;
	uint64_t steps;
	const char *fault; /* the first, or NULL */
};

static bool fail(struct reckoner *r, const char *why)
{
	if (!r->fault)
		r->fault = why;
	return false;
}

/* ---- fractions ---- */

/* Lowest terms, and within the bounds. */
static bool settle(struct reckoner *r, struct fraction *x)
{
	struct big common;

	if (r->steps > STEPS_MAX)
		return fail(r, "The expression takes too long to work out.");
	if (!x->top.n) {
		big_set(&x->bottom, 1);
		x->negative = false;
		return true;
	}
	if (!big_is(&x->bottom, 1)) {
		big_gcd(&common, &x->top, &x->bottom, &r->steps);
		if (!big_is(&common, 1)) {
			big_divide(&x->top, NULL, &x->top, &common, &r->steps);
			big_divide(&x->bottom, NULL, &x->bottom, &common, &r->steps);
		}
	}
	if (big_bits(&x->top) > CALCULATOR_BITS_MAX || big_bits(&x->bottom) > CALCULATOR_BITS_MAX)
		return fail(r, "A number on the way has more than 1,200 digits.");
	return true;
}

static bool add(struct reckoner *r, struct fraction *x, const struct fraction *y, bool subtract)
{
	bool other = y->negative != subtract;
	struct big left, right;
	int order;

	big_multiply(&left, &x->top, &y->bottom, &r->steps);
	big_multiply(&right, &y->top, &x->bottom, &r->steps);
	big_multiply(&x->bottom, &x->bottom, &y->bottom, &r->steps);
	order = big_compare(&left, &right);
	if (x->negative == other) {
		big_add(&x->top, &left, &right, &r->steps);
	} else if (order >= 0) {
		big_subtract(&x->top, &left, &right, &r->steps);
	} else {
		big_subtract(&x->top, &right, &left, &r->steps);
		x->negative = other;
	}
	return settle(r, x);
}

static bool multiply(struct reckoner *r, struct fraction *x, const struct fraction *y)
{
	big_multiply(&x->top, &x->top, &y->top, &r->steps);
	big_multiply(&x->bottom, &x->bottom, &y->bottom, &r->steps);
	x->negative = x->negative != y->negative;
	return settle(r, x);
}

static bool divide(struct reckoner *r, struct fraction *x, const struct fraction *y)
{
	struct fraction turned = { y->negative, y->bottom, y->top };

	if (!y->top.n)
		return fail(r, "Something is divided by zero.");
	return multiply(r, x, &turned);
}

/* What is left when y is taken away as often as it goes; it has the sign of x. */
static bool remain(struct reckoner *r, struct fraction *x, const struct fraction *y)
{
	struct fraction whole = *x;

	if (!divide(r, &whole, y))
		return false;
	big_divide(&whole.top, NULL, &whole.top, &whole.bottom, &r->steps);
	big_set(&whole.bottom, 1);
	return settle(r, &whole) && multiply(r, &whole, y) && add(r, x, &whole, true);
}

static bool raise(struct reckoner *r, struct fraction *x, const struct fraction *power)
{
	struct fraction base = *x;
	bool small;
	uint32_t left;

	if (!big_is(&power->bottom, 1))
		return fail(r, "An exponent must be a whole number.");
	if (power->negative) {
		if (!x->top.n)
			return fail(r, "Zero has no power below zero.");
		base = (struct fraction){ x->negative, x->bottom, x->top };
	}
	small = !base.top.n || (big_is(&base.top, 1) && big_is(&base.bottom, 1));
	left = power->top.n ? power->top.limb[0] : 0;
	if (small)
		left = power->top.n ? 2 - (left & 1) : 0;
	else if (power->top.n > 1 || left > CALCULATOR_BITS_MAX)
		return fail(r, "A number on the way has more than 1,200 digits.");
	*x = (struct fraction){ .negative = false };
	big_set(&x->top, 1);
	big_set(&x->bottom, 1);
	for (; left; left >>= 1) {
		if (left & 1 && !multiply(r, x, &base))
			return false;
		if (left > 1) {
			struct fraction once = base;

			if (!multiply(r, &base, &once))
				return false;
		}
	}
	return true;
}

/* ---- the parser ---- */

static void skip_blanks(struct reckoner *r)
{
	r->at += strspn(r->at, " \t\r\n");
}

/* One of the operators, in any of its spellings; 0 if there is none. */
static char operator_at(struct reckoner *r, size_t *ret_len)
{
	static const struct {
		const char *text;
		char op;
	} rows[] = { { "**", '^' }, { "+", '+' }, { "-", '-' }, { "*", '*' }, { "/", '/' },
		{ "%", '%' }, { "^", '^' }, { "\xc3\x97", '*' }, { "\xc3\xb7", '/' },
		{ "\xc2\xb7", '*' }, { "\xe2\x88\x92", '-' } };

	skip_blanks(r);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		*ret_len = strlen(rows[i].text);
		if (strncmp(r->at, rows[i].text, *ret_len) == 0)
			return rows[i].op;
	}
	return '\0';
}

static bool unexpected(struct reckoner *r)
{
	skip_blanks(r);
	if (!*r->at)
		return fail(r, "The expression ends where a number should be.");
	if (*r->at == ',' || *r->at == '_')
		return fail(r, "Numbers are written without separators, with a point: 1234.5.");
	return fail(
		r, arena_printf(r->arena,
			   "What stands at byte %zu is not understood. Numbers, + - * / %% ^ and "
			   "parentheses are.",
			   (size_t)(r->at - r->text) + 1));
}

/* 12, 12.5, .5, 1.5e-3 */
static bool read_number(struct reckoner *r, struct fraction *x)
{
	struct fraction scale = { .negative = false };
	int digits = 0, behind = 0, power = 0;
	bool point = false, below = false;

	*x = (struct fraction){ .negative = false };
	big_set(&x->bottom, 1);
	big_set(&scale.bottom, 1);
	for (; (*r->at >= '0' && *r->at <= '9') || (*r->at == '.' && !point); r->at++) {
		if (*r->at == '.') {
			point = true;
			continue;
		}
		big_shift_in(&x->top, 10, (uint32_t)(*r->at - '0'), &r->steps);
		if (big_bits(&x->top) > CALCULATOR_BITS_MAX)
			return fail(r, "A number has more than 1,200 digits.");
		digits++;
		behind += point;
	}
	if (!digits)
		return unexpected(r);
	if ((*r->at | 0x20) == 'e') {
		r->at++;
		below = *r->at == '-';
		r->at += below || *r->at == '+';
		if (*r->at < '0' || *r->at > '9')
			return unexpected(r);
		for (; *r->at >= '0' && *r->at <= '9'; r->at++)
			power = power < 100000 ? power * 10 + (*r->at - '0') : power;
	}
	power = (below ? -power : power) - behind;
	if (!big_power_of_ten(&scale.top, power < 0 ? -power : power, &r->steps) ||
		big_bits(&scale.top) > CALCULATOR_BITS_MAX)
		return fail(r, "A number has more than 1,200 digits.");
	return power < 0 ? divide(r, x, &scale) : multiply(r, x, &scale);
}

static bool read_sum(struct reckoner *r, struct fraction *x);

/* Signs and powers: -2^2 is -(2^2), 2^-1 is a half, 2^3^2 is 2^(3^2). */
static bool read_signed(struct reckoner *r, struct fraction *x)
{ /* NOLINT(misc-no-recursion): depth is counted */
	size_t len;
	char op = operator_at(r, &len);
	bool good = true;

	if (++r->depth > CALCULATOR_DEPTH_MAX)
		return fail(r, "The expression is nested too deeply.");
	if (op == '-' || op == '+') {
		r->at += len;
		good = read_signed(r, x);
		if (good && op == '-' && x->top.n)
			x->negative = !x->negative;
	} else {
		struct fraction power = { .negative = false };

		if (*r->at == '(') {
			r->at++;
			good = read_sum(r, x);
			skip_blanks(r);
			if (good && *r->at != ')')
				good = fail(r,
					*r->at ? "A parenthesis is not closed where it should be."
					       : "A parenthesis is not closed.");
			r->at += good;
		} else {
			good = read_number(r, x);
		}
		if (good && operator_at(r, &len) == '^') {
			r->at += len;
			good = read_signed(r, &power) && raise(r, x, &power);
		}
	}
	r->depth--;
	return good;
}

static bool read_product(struct reckoner *r, struct fraction *x)
{ /* NOLINT(misc-no-recursion): depth is counted */
	bool good = read_signed(r, x);
	struct fraction y = { .negative = false };
	size_t len;

	while (good) {
		char op = operator_at(r, &len);

		if (op != '*' && op != '/' && op != '%')
			break;
		r->at += len;
		if (!read_signed(r, &y)) {
			if (op == '%')
				r->fault = arena_printf(r->arena,
					"%s (%% gives the remainder of a division; a percentage is "
					"written as /100.)",
					r->fault);
			return false;
		}
		good = op == '*'   ? multiply(r, x, &y)
		       : op == '/' ? divide(r, x, &y)
				   : remain(r, x, &y);
	}
	return good;
}

static bool read_sum(struct reckoner *r, struct fraction *x)
{ /* NOLINT(misc-no-recursion): depth is counted */
	bool good = read_product(r, x);
	struct fraction y = { .negative = false };
	size_t len;

	while (good) {
		char op = operator_at(r, &len);

		if (op != '+' && op != '-')
			break;
		r->at += len;
		good = read_product(r, &y) && add(r, x, &y, op == '-');
	}
	return good;
}

/* ---- the result as text ---- */

/* How many decimals end it; -1 if none do. */
static int decimals(struct reckoner *r, const struct fraction *x)
{
	static const uint32_t primes[] = { 2, 5 };
	struct big left = x->bottom, quotient, rest, by;
	int count[2] = { 0, 0 };

	for (int i = 0; i < 2; i++) {
		big_set(&by, primes[i]);
		for (;; count[i]++) {
			big_divide(&quotient, &rest, &left, &by, &r->steps);
			if (rest.n)
				break;
			left = quotient;
		}
	}
	return big_is(&left, 1) ? (count[0] > count[1] ? count[0] : count[1]) : -1;
}

/* A whole number of units of 10^-places. */
static const char *pointed(struct reckoner *r, bool negative, const struct big *units, int places)
{
	const char *digits = big_text(r->arena, units, &r->steps), *sign = negative ? "-" : "";
	int len = (int)strlen(digits);

	if (!places)
		return arena_printf(r->arena, "%s%s", sign, digits);
	if (len <= places)
		return arena_printf(r->arena, "%s0.%.*d%s", sign, places - len, 0, digits);
	return arena_printf(
		r->arena, "%s%.*s.%s", sign, len - places, digits, digits + len - places);
}

/* The nearest number of units of 10^-places. */
static bool rounded(struct reckoner *r, const struct fraction *x, int places, struct big *ret)
{
	struct big scale, twice;

	if (!big_power_of_ten(&scale, places, &r->steps) || scale.n + x->top.n >= BIG_LIMBS - 2)
		return false;
	big_multiply(&scale, &scale, &x->top, &r->steps);
	big_divide(ret, &twice, &scale, &x->bottom, &r->steps);
	big_add(&twice, &twice, &twice, &r->steps);
	if (big_compare(&twice, &x->bottom) >= 0) {
		big_set(&scale, 1);
		big_add(ret, ret, &scale, &r->steps);
	}
	return true;
}

static const char *result(struct reckoner *r, const struct fraction *x)
{
	const char *top = big_text(r->arena, &x->top, &r->steps);
	const char *bottom = big_text(r->arena, &x->bottom, &r->steps);
	int places = decimals(r, x), before = (int)strlen(top) - (int)strlen(bottom) + 1;
	struct big units;
	const char *text;

	if (places >= 0 && rounded(r, x, places, &units))
		return pointed(r, x->negative, &units, places);
	places = before < CALCULATOR_DIGITS ? CALCULATOR_DIGITS - before : 0;
	if (!rounded(r, x, places, &units))
		return NULL;
	if (places && strlen(big_text(r->arena, &units, &r->steps)) < CALCULATOR_DIGITS &&
		!rounded(r, x, ++places, &units))
		return NULL;
	text = pointed(r, x->negative, &units, places);
	if (strlen(top) + strlen(bottom) > FRACTION_SHOWN)
		return arena_printf(r->arena, "%s (rounded to the nearest; it has no end)", text);
	return arena_printf(r->arena, "%s (rounded to the nearest; exactly %s%s/%s)", text,
		x->negative ? "-" : "", top, bottom);
}

const char *calculator_run(struct arena *a, const char *expression, bool *ret_failed)
{
	struct reckoner r = { .arena = a, .text = expression, .at = expression };
	struct fraction x = { .negative = false };
	const char *text;

	*ret_failed = true;
	if (strlen(expression) > CALCULATOR_TEXT_MAX)
		return "The expression is too long.";
	if (!read_sum(&r, &x))
		return r.fault;
	skip_blanks(&r);
	if (*r.at) {
		unexpected(&r);
		return r.fault;
	}
	text = result(&r, &x);
	*ret_failed = !text;
	return text ? text : "The result has too many digits.";
}
