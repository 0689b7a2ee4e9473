/* json_schema_multiple.c - see json_schema_multiple.h.  A number is a coefficient of up to 19 digits and
 * a power of ten; what has more digits is compared as doubles. */
#include "base/json_schema_multiple.h"

#include <math.h>
#include <stdlib.h>

enum { DIGITS_MAX = 19, EXPONENT_MAX = 100000 };

typedef unsigned __int128 wide;

struct json_decimal {
	uint64_t coefficient;
	long exponent;
};

/* "-1.5e3" after the e, cut off where it no longer matters. */
static long read_exponent(const char *p, const char *end)
{
	bool minus = p < end && *p == '-';
	long e = 0;

	for (p += p < end && (*p == '-' || *p == '+'); p < end; p++)
		if (e < EXPONENT_MAX)
			e = e * 10 + (*p - '0');
	return minus ? -e : e;
}

static bool read_decimal(const struct json_node *n, struct json_decimal *d)
{
	const char *p = n->text + (*n->text == '-'), *end = n->text + n->len;
	long point = 0, zeros = 0; /* zeros wait until another digit needs them */
	bool after_point = false;
	int digits = 0;

	*d = (struct json_decimal){ 0 };
	for (; p < end && *p != 'e' && *p != 'E'; p++) {
		if (*p == '.') {
			after_point = true;
			continue;
		}
		point += after_point;
		if (*p == '0') {
			zeros += d->coefficient != 0;
			continue;
		}
		for (zeros++; zeros; zeros--) {
			if (++digits > DIGITS_MAX)
				return false;
			d->coefficient *= 10;
		}
		d->coefficient += (uint64_t)(*p - '0');
	}
	d->exponent = zeros - point + (p < end ? read_exponent(p + 1, end) : 0);
	return labs(d->exponent) < EXPONENT_MAX;
}

static uint64_t power_of_ten_modulo(long exponent, uint64_t m)
{
	wide result = 1 % m, base = 10 % m;

	for (; exponent; exponent >>= 1) {
		if (exponent & 1)
			result = result * base % m;
		base = base * base % m;
	}
	return (uint64_t)result;
}

bool json_number_is_multiple(const struct json_node *n, const struct json_node *of)
{
	struct json_decimal x, y;
	wide divisor;

	if (n->number == 0)
		return true;
	if (!read_decimal(n, &x) || !read_decimal(of, &y) || !y.coefficient)
		return fmod(n->number, of->number) == 0;
	if (x.exponent >= y.exponent)
		return (wide)(x.coefficient % y.coefficient) *
			       power_of_ten_modulo(x.exponent - y.exponent, y.coefficient) %
			       y.coefficient ==
		       0;
	if (y.exponent - x.exponent > DIGITS_MAX)
		return !x.coefficient;
	divisor = y.coefficient;
	for (long i = x.exponent; i < y.exponent; i++)
		divisor *= 10;
	return x.coefficient % divisor == 0;
}
