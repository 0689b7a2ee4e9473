/* price.c - see price.h. */
#include "broker/price.h"

#include <string.h>

#include "base/json.h"
#include "contract/schema.h"

enum { PLACES = 12, EXPONENT_MAX = 100000 };

/* A decimal number taken apart: digits without zeros at their end, times ten to the power. */
struct decimal {
	int64_t digits, power;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Adds digits; zeros wait until a digit behind them makes them count.  NULL if there is no digit or
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

static int parse(const char *text, size_t len, bool exponent, int64_t *ret_pd)
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
	return parse(text, len, false, ret_pd);
}

int money_parse_number(const char *text, size_t len, int64_t *ret_pd)
{
	return parse(text, len, true, ret_pd);
}

const char *money_text(int64_t pd, char *out)
{
	uint64_t rest = pd < 0 ? -(uint64_t)pd : (uint64_t)pd;
	char *at = out + MONEY_TEXT_MAX - 1;
	bool shown = false;

	*at = '\0';
	for (int i = 0; i < PLACES; i++, rest /= 10) {
		shown |= rest % 10 != 0;
		if (shown)
			*--at = (char)('0' + rest % 10);
	}
	if (shown)
		*--at = '.';
	do
		*--at = (char)('0' + rest % 10);
	while (rest /= 10);
	if (pd < 0)
		*--at = '-';
	return at;
}

/* Adds count times price; false if it does not fit or makes no sense. */
static bool add(__int128 *sum, int64_t count, int64_t price)
{
	__int128 product;

	if (count < 0 || (price < 0 && price != NIL))
		return false;
	if (price == NIL)
		return true;
	return !__builtin_mul_overflow((__int128)count, (__int128)price, &product) &&
	       !__builtin_add_overflow(*sum, product, sum);
}

int price_cost(const struct price *p, const struct usage *u, int64_t *ret_pd)
{
	int64_t read = p->cache_read == NIL ? p->prompt : p->cache_read;
	int64_t written = p->cache_write == NIL ? p->prompt : p->cache_write;
	__int128 sum = 0;

	if (!add(&sum, u->input, p->prompt) || !add(&sum, u->cache_read, read) ||
		!add(&sum, u->cache_write, written) || !add(&sum, u->output, p->completion) ||
		sum > INT64_MAX)
		return ERR_INVALID;
	*ret_pd = (int64_t)sum;
	return 0;
}

/* ---- the object ---- */

static const struct part {
	const char *name;
	size_t at;
} parts[] = {
	{ "prompt", offsetof(struct price, prompt) },
	{ "completion", offsetof(struct price, completion) },
	{ "cache_read", offsetof(struct price, cache_read) },
	{ "cache_write", offsetof(struct price, cache_write) },
};

static int64_t *part_of(struct price *p, const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (strlen(parts[i].name) == len && memcmp(parts[i].name, name, len) == 0)
			return (int64_t *)(void *)((char *)p + parts[i].at);
	return NULL;
}

/* One member; false when the text itself is broken. */
static bool read_part(struct json_reader *r, int64_t *part, const char *field, struct problem *p)
{
	const char *text;
	size_t len;

	switch (json_peek(r)) {
	case JSON_NULL:
		return json_read_null(r);
	case JSON_STRING:
		if (!json_read_string(r, &text, &len))
			return false;
		if (money_parse(text, len, part))
			problem_field(p, r->arena, field, "money",
				"must be USD a token as decimal text such as \"0.000003\", not negative and "
				"not finer than 0.000000000001");
		return true;
	case JSON_NUMBER:
		problem_field(p, r->arena, field, "type",
			"must be a decimal string such as \"0.000003\": a number would lose digits, so "
			"put it in quotes");
		return json_skip(r, NULL, NULL);
	case JSON_BOOL:
	case JSON_ARRAY:
	case JSON_OBJECT:
	case JSON_FAULT:
		break;
	}
	problem_field(p, r->arena, field, "type",
		"must be a decimal string such as \"0.000003\" or null");
	return json_skip(r, NULL, NULL);
}

int price_read(const char *json, size_t len, const char *path, struct price *ret, struct arena *a,
	struct problem *p)
{
	struct json_reader r;
	const char *name;
	size_t name_len;
	size_t before = p->count + p->unlisted;

	*ret = (struct price){ NIL, NIL, NIL, NIL };
	json_open(&r, a, json, len);
	if (json_peek(&r) != JSON_OBJECT)
		return problem_field(p, a, path, "type", "must be an object of prices");
	json_enter_object(&r);
	while (json_next_key(&r, &name, &name_len)) {
		const char *field = arena_printf(a, "%s.%s", path, name);
		int64_t *part = part_of(ret, name, name_len);

		if (part) {
			if (!read_part(&r, part, field, p))
				break;
			continue;
		}
		problem_field(p, a, field, "unknown_field",
			"is not a price; prompt, completion, cache_read and cache_write are");
		if (!json_skip(&r, NULL, NULL))
			break;
	}
	if (!json_end(&r))
		return problem_field(p, a, path, "type", "must be an object of prices");
	return p->count + p->unlisted > before ? ERR_INVALID : 0;
}

const char *price_json(const struct price *price, struct arena *a)
{
	const char *out = "{";

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		int64_t pd = *(const int64_t *)(const void *)((const char *)price + parts[i].at);
		char text[MONEY_TEXT_MAX];

		out = arena_printf(a, "%s%s\"%s\":%s%s%s", out, i ? "," : "", parts[i].name,
			pd == NIL ? "" : "\"", pd == NIL ? "null" : money_text(pd, text),
			pd == NIL ? "" : "\"");
	}
	return arena_printf(a, "%s}", out);
}
