/* money.c - see money.h. */
#include "base/money.h"

#include <stdbool.h>

#include "base/error.h"

enum { PLACES = 12, EXPONENT_MAX = 100000 };

/* A decimal number taken apart: digits without zeros at their end, times ten to the power. */
struct decimal {
	int64_t digits, power;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Adds digits; zeros wait until a digit after them makes them count.  NULL if there is no digit or
 * more of them than any amount has. */
static const char *take_digits(
	const char *at, const char *end, struct decimal *d, int64_t *zeros, bool fraction)
{
	const char *start = at;

	for (; at < end && is_digit(*at); at++) {
		d->power -= fraction;
		if (*at == '0') {
			*zeros += d->digits != 0;
			continue;
		}
		for (; *zeros; --*zeros)
			if (__builtin_mul_overflow(d->digits, INT64_C(10), &d->digits))
				return NULL;
		if (__builtin_mul_overflow(d->digits, INT64_C(10), &d->digits) ||
			__builtin_add_overflow(d->digits, *at - '0', &d->digits))
			return NULL;
	}
	return at > start ? at : NULL;
}

static const char *take_exponent(const char *at, const char *end, struct decimal *d)
{
	int64_t n = 0, sign = 1;
	const char *start;

	if (at < end && (*at == '-' || *at == '+'))
		sign = *at++ == '-' ? -1 : 1;
	for (start = at; at < end && is_digit(*at); at++)
		n = n < EXPONENT_MAX ? n * 10 + (*at - '0') : n;
	d->power += sign * n;
	return at > start ? at : NULL;
}

static int parse_money(const char *text, size_t len, bool exponent, int64_t *ret_pd)
{
	const char *end = text + len, *at;
	struct decimal d = { 0, PLACES };
	int64_t zeros = 0;

	at = take_digits(text, end, &d, &zeros, false);
	if (at && at < end && *at == '.')
		at = take_digits(at + 1, end, &d, &zeros, true);
	if (at && exponent && at < end && (*at == 'e' || *at == 'E'))
		at = take_exponent(at + 1, end, &d);
	if (at != end)
		return ERR_INVALID;
	/* What is left has no zero at its end: below a picodollar it cannot be made whole. */
	for (d.power += zeros; d.digits && d.power; d.power--)
		if (d.power < 0 || __builtin_mul_overflow(d.digits, INT64_C(10), &d.digits))
			return ERR_INVALID;
	*ret_pd = d.digits;
	return 0;
}

int money_parse(const char *text, size_t len, int64_t *ret_pd)
{
	return parse_money(text, len, false, ret_pd);
}

int money_parse_number(const char *text, size_t len, int64_t *ret_pd)
{
	return parse_money(text, len, true, ret_pd);
}

const char *money_text(__int128 pd, char *out)
{
	unsigned __int128 rest = pd < 0 ? -(unsigned __int128)pd : (unsigned __int128)pd;
	char *at = out + MONEY_TEXT_MAX - 1;
	bool shown = false;

	*at = '\0';
	for (int i = 0; i < PLACES; i++, rest /= 10) {
		shown |= rest % 10 != 0;
		if (shown)
			*--at = (char)('0' + (int)(rest % 10));
	}
	if (shown)
		*--at = '.';
	do
		*--at = (char)('0' + (int)(rest % 10));
	while (rest /= 10);
	if (pd < 0)
		*--at = '-';
	return at;
}

struct money money_sum(int64_t whole, int64_t rest)
{
	return (struct money){ (__int128)whole * PICODOLLARS + rest };
}

int money_compare(struct money a, struct money b)
{
	return (a.pd > b.pd) - (a.pd < b.pd);
}

double money_dollars(struct money m)
{
	return (double)(int64_t)(m.pd / PICODOLLARS) + (double)(int64_t)(m.pd % PICODOLLARS) / 1e12;
}
