/* big.c - see big.h.  Schoolbook methods: numbers are small, and the work is counted. */
#include "sessions/big.h"

#include <string.h>

static void trim(struct big *r)
{
	while (r->n && !r->limb[r->n - 1])
		r->n--;
}

void big_set(struct big *r, uint64_t value)
{
	r->n = 2;
	r->limb[0] = (uint32_t)value;
	r->limb[1] = (uint32_t)(value >> 32);
	trim(r);
}

int big_compare(const struct big *a, const struct big *b)
{
	if (a->n != b->n)
		return a->n < b->n ? -1 : 1;
	for (int i = a->n - 1; i >= 0; i--)
		if (a->limb[i] != b->limb[i])
			return a->limb[i] < b->limb[i] ? -1 : 1;
	return 0;
}

int big_bits(const struct big *a)
{
	return a->n ? 32 * a->n - __builtin_clz(a->limb[a->n - 1]) : 0;
}

bool big_is(const struct big *a, uint32_t value)
{
	return value ? a->n == 1 && a->limb[0] == value : a->n == 0;
}

static uint32_t limb_of(const struct big *a, int i)
{
	return i < a->n ? a->limb[i] : 0;
}

void big_add(struct big *r, const struct big *a, const struct big *b, uint64_t *steps)
{
	int n = a->n > b->n ? a->n : b->n;
	uint64_t carry = 0;

	for (int i = 0; i < n; i++) {
		carry += (uint64_t)limb_of(a, i) + limb_of(b, i);
		r->limb[i] = (uint32_t)carry;
		carry >>= 32;
	}
	r->limb[n] = (uint32_t)carry;
	r->n = n + 1;
	trim(r);
	*steps += (uint64_t)n + 1;
}

void big_subtract(struct big *r, const struct big *a, const struct big *b, uint64_t *steps)
{
	int64_t borrow = 0;
	int n = a->n;

	for (int i = 0; i < n; i++) {
		borrow += (int64_t)limb_of(a, i) - limb_of(b, i);
		r->limb[i] = (uint32_t)borrow;
		borrow >>= 32;
	}
	r->n = n;
	trim(r);
	*steps += (uint64_t)n + 1;
}

void big_multiply(struct big *r, const struct big *a, const struct big *b, uint64_t *steps)
{
	struct big out;

	memset(out.limb, 0, (size_t)(a->n + b->n) * sizeof *out.limb);
	for (int i = 0; i < a->n; i++) {
		uint64_t carry = 0;

		for (int k = 0; k < b->n; k++) {
			carry += (uint64_t)a->limb[i] * b->limb[k] + out.limb[i + k];
			out.limb[i + k] = (uint32_t)carry;
			carry >>= 32;
		}
		out.limb[i + b->n] = (uint32_t)carry;
	}
	out.n = a->n + b->n;
	trim(&out);
	*steps += (uint64_t)a->n * (uint64_t)b->n + 1;
	r->n = out.n;
	memcpy(r->limb, out.limb, (size_t)out.n * sizeof *out.limb);
}

/* By one limb; returns what is left over. */
static uint32_t divide_small(struct big *q, const struct big *a, uint32_t by, uint64_t *steps)
{
	uint64_t left = 0;

	for (int i = a->n - 1; i >= 0; i--) {
		left = left << 32 | a->limb[i];
		q->limb[i] = (uint32_t)(left / by);
		left %= by;
	}
	q->n = a->n;
	trim(q);
	*steps += (uint64_t)a->n + 1;
	return (uint32_t)left;
}

static void shift_left(struct big *r, const struct big *a, int bits)
{
	uint64_t carry = 0;

	for (int i = 0; i < a->n; i++) {
		carry |= (uint64_t)a->limb[i] << bits;
		r->limb[i] = (uint32_t)carry;
		carry >>= 32;
	}
	r->limb[a->n] = (uint32_t)carry;
	r->n = a->n + 1;
}

static void shift_right(struct big *r, int bits)
{
	for (int i = 0; i < r->n; i++)
		r->limb[i] = (uint32_t)(((uint64_t)limb_of(r, i + 1) << 32 | r->limb[i]) >> bits);
	trim(r);
}

/* One digit of the quotient (Knuth, 4.3.1 D): u[j..j+n] less the digit times v. */
static uint32_t divide_step(struct big *u, const struct big *v, int j)
{
	int n = v->n;
	uint64_t top = (uint64_t)u->limb[j + n] << 32 | u->limb[j + n - 1];
	uint64_t digit = top / v->limb[n - 1], rest = top % v->limb[n - 1], carry = 0;
	int64_t borrow = 0;

	while (digit >> 32 || digit * v->limb[n - 2] > (rest << 32 | u->limb[j + n - 2])) {
		digit--;
		rest += v->limb[n - 1];
		if (rest >> 32)
			break;
	}
	for (int i = 0; i < n; i++) {
		carry += digit * v->limb[i];
		borrow += (int64_t)u->limb[j + i] - (uint32_t)carry;
		u->limb[j + i] = (uint32_t)borrow;
		borrow >>= 32;
		carry >>= 32;
	}
	borrow += (int64_t)u->limb[j + n] - (int64_t)carry;
	u->limb[j + n] = (uint32_t)borrow;
	if (borrow < 0) { /* one too many: add it back */
		digit--;
		carry = 0;
		for (int i = 0; i < n; i++) {
			carry += (uint64_t)u->limb[j + i] + v->limb[i];
			u->limb[j + i] = (uint32_t)carry;
			carry >>= 32;
		}
		u->limb[j + n] += (uint32_t)carry;
	}
	return (uint32_t)digit;
}

void big_divide(struct big *quotient, struct big *remainder, const struct big *a,
	const struct big *b, uint64_t *steps)
{
	struct big u = { 0 }, v = { 0 }, q = { 0 };
	int bits, m;

	if (b->n == 1) {
		uint32_t left = divide_small(&q, a, b->limb[0], steps);

		if (remainder)
			big_set(remainder, left);
		if (quotient)
			*quotient = q;
		return;
	}
	if (big_compare(a, b) < 0) {
		if (remainder)
			*remainder = *a;
		if (quotient)
			big_set(quotient, 0);
		*steps += 1;
		return;
	}
	bits = __builtin_clz(b->limb[b->n - 1]);
	m = a->n - b->n;
	shift_left(&u, a, bits);
	shift_left(&v, b, bits);
	trim(&v);
	q.n = m + 1;
	for (int j = m; j >= 0; j--)
		q.limb[j] = divide_step(&u, &v, j);
	*steps += (uint64_t)(m + 1) * (uint64_t)b->n + 1;
	trim(&q);
	if (quotient)
		*quotient = q;
	if (remainder) {
		u.n = b->n;
		shift_right(&u, bits);
		*remainder = u;
	}
}

void big_gcd(struct big *r, const struct big *a, const struct big *b, uint64_t *steps)
{
	struct big x = *a, y = *b, left;

	while (y.n) {
		big_divide(NULL, &left, &x, &y, steps);
		*steps += (uint64_t)x.n;
		x = y;
		y = left;
	}
	*r = x;
}

void big_shift_in(struct big *r, uint32_t factor, uint32_t more, uint64_t *steps)
{
	uint64_t carry = more;

	for (int i = 0; i < r->n; i++) {
		carry += (uint64_t)r->limb[i] * factor;
		r->limb[i] = (uint32_t)carry;
		carry >>= 32;
	}
	r->limb[r->n++] = (uint32_t)carry;
	trim(r);
	*steps += (uint64_t)r->n + 1;
}

bool big_power_of_ten(struct big *r, int power, uint64_t *steps)
{
	big_set(r, 1);
	for (; power >= 9; power -= 9) {
		if (r->n + 1 >= BIG_LIMBS)
			return false;
		big_shift_in(r, 1000000000, 0, steps);
	}
	if (r->n + 1 >= BIG_LIMBS)
		return false;
	for (; power > 0; power--)
		big_shift_in(r, 10, 0, steps);
	return true;
}

char *big_text(struct arena *a, const struct big *value, uint64_t *steps)
{
	size_t room = (size_t)value->n * 10 + 2;
	char *text = arena_raw(a, room, 1), *p = text + room;
	struct big left = *value;

	*--p = '\0';
	do {
		uint32_t part = divide_small(&left, &left, 1000000000, steps);

		for (int i = 0; i < 9 && (left.n || part || (!i && !*p)); i++) {
			*--p = (char)('0' + part % 10);
			part /= 10;
		}
	} while (left.n);
	return p;
}
