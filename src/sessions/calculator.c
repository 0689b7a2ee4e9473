/* calculator.c - see calculator.h.  A parser by descent, over fractions in their lowest terms.  Depth, size
 * and work are counted; whatever is past its bound ends with a sentence. */
#include "sessions/calculator.h"

#include <string.h>

#include "sessions/fraction.h"

struct reckoner {
	struct reckoning sum;
	const char *text, *at;
	int depth;
};

static bool calculator_fail(struct reckoner *r, const char *why)
{
	return reckoning_fail(&r->sum, why);
}

/* ---- the parser ---- */

static void calculator_skip_blanks(struct reckoner *r)
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

	calculator_skip_blanks(r);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		*ret_len = strlen(rows[i].text);
		if (strncmp(r->at, rows[i].text, *ret_len) == 0)
			return rows[i].op;
	}
	return '\0';
}

static bool calculator_unexpected(struct reckoner *r)
{
	calculator_skip_blanks(r);
	if (!*r->at)
		return calculator_fail(r, "The expression ends where a number should be.");
	if (*r->at == ',' || *r->at == '_')
		return calculator_fail(
			r, "Numbers are written without separators, with a point: 1234.5.");
	return calculator_fail(
		r, arena_printf(r->sum.arena,
			   "What stands at byte %zu is not understood. Numbers, + - * / %% ^ and "
			   "parentheses are.",
			   (size_t)(r->at - r->text) + 1));
}

/* e-3, if it is there. */
static bool read_power(struct reckoner *r, int *ret)
{
	bool below;
	int power = 0;

	if ((*r->at | 0x20) != 'e')
		return true;
	r->at++;
	below = *r->at == '-';
	r->at += below || *r->at == '+';
	if (*r->at < '0' || *r->at > '9')
		return calculator_unexpected(r);
	for (; *r->at >= '0' && *r->at <= '9'; r->at++)
		power = power < 100000 ? power * 10 + (*r->at - '0') : power;
	*ret = below ? -power : power;
	return true;
}

/* 12, 12.5, .5, 1.5e-3, into what is zero. */
static bool calculator_read_number(struct reckoner *r, struct fraction *x)
{
	int digits = 0, after_point = 0, power = 0;
	bool point = false;

	for (; (*r->at >= '0' && *r->at <= '9') || (*r->at == '.' && !point); r->at++) {
		if (*r->at == '.') {
			point = true;
			continue;
		}
		if (!fraction_digit(&r->sum, x, *r->at - '0'))
			return false;
		digits++;
		after_point += point;
	}
	if (!digits)
		return calculator_unexpected(r);
	return read_power(r, &power) && fraction_scale(&r->sum, x, power - after_point);
}

static bool read_sum(struct reckoner *r, struct fraction *x);

static bool read_group(struct reckoner *r, struct fraction *x)
{ /* NOLINT(misc-no-recursion): depth is counted */
	if (*r->at != '(')
		return calculator_read_number(r, x);
	r->at++;
	if (!read_sum(r, x))
		return false;
	calculator_skip_blanks(r);
	if (*r->at != ')')
		return calculator_fail(r, *r->at ? "A parenthesis is not closed where it should be."
						 : "A parenthesis is not closed.");
	r->at++;
	return true;
}

/* Signs and powers: -2^2 is -(2^2), 2^-1 is a half, 2^3^2 is 2^(3^2).  Into what is zero. */
static bool read_signed(struct reckoner *r, struct fraction *x)
{ /* NOLINT(misc-no-recursion): depth is counted */
	size_t len;
	char op = operator_at(r, &len);
	bool good;

	if (++r->depth > CALCULATOR_DEPTH_MAX)
		return calculator_fail(r, "The expression is nested too deeply.");
	if (op == '-' || op == '+') {
		r->at += len;
		good = read_signed(r, x);
		if (good && op == '-')
			BN_set_negative(x->top, !BN_is_negative(x->top));
	} else {
		good = read_group(r, x);
		if (good && operator_at(r, &len) == '^') {
			struct fraction power;

			r->at += len;
			fraction_enter(&r->sum);
			good = fraction_new(&r->sum, &power) && read_signed(r, &power) &&
			       fraction_raise(&r->sum, x, &power);
			fraction_leave(&r->sum);
		}
	}
	r->depth--;
	return good;
}

/* The operators of one rank, from left to right, over what `read` reads. */
struct rank {
	bool (*read)(struct reckoner *r, struct fraction *x);
	struct {
		char op;
		bool (*act)(struct reckoning *r, struct fraction *x, const struct fraction *y);
	} row[3];
};

static bool read_rank(struct reckoner *r, struct fraction *x, const struct rank *k)
{ /* NOLINT(misc-no-recursion): depth is counted */
	bool good = k->read(r, x);

	while (good) {
		struct fraction y;
		size_t len, i = 0;
		char op = operator_at(r, &len);

		while (i < 3 && (!op || k->row[i].op != op))
			i++;
		if (i == 3)
			break;
		r->at += len;
		fraction_enter(&r->sum);
		good = fraction_new(&r->sum, &y) && k->read(r, &y);
		if (!good && op == '%')
			r->sum.fault = arena_printf(r->sum.arena,
				"%s (%% gives the remainder of a division; a percentage is written as /100.)",
				r->sum.fault);
		good = good && k->row[i].act(&r->sum, x, &y);
		fraction_leave(&r->sum);
	}
	return good;
}

static bool read_product(struct reckoner *r, struct fraction *x)
{ /* NOLINT(misc-no-recursion): depth is counted */
	static const struct rank rank = { read_signed,
		{ { '*', fraction_multiply }, { '/', fraction_divide },
			{ '%', fraction_remain } } };

	return read_rank(r, x, &rank);
}

static bool read_sum(struct reckoner *r, struct fraction *x)
{ /* NOLINT(misc-no-recursion): depth is counted */
	static const struct rank rank = { read_product,
		{ { '+', fraction_add }, { '-', fraction_subtract } } };

	return read_rank(r, x, &rank);
}

const char *calculator_run(struct arena *a, const char *expression, bool *ret_failed)
{
	struct reckoner r = { .text = expression, .at = expression };
	struct fraction x;
	const char *text = NULL;

	*ret_failed = true;
	if (strlen(expression) > CALCULATOR_TEXT_MAX)
		return "The expression is too long.";
	if (!reckoning_begin(&r.sum, a))
		return "There is not enough memory.";
	if (fraction_new(&r.sum, &x) && read_sum(&r, &x)) {
		calculator_skip_blanks(&r);
		if (*r.at)
			calculator_unexpected(&r);
		else
			text = fraction_text(&r.sum, &x);
	}
	reckoning_end(&r.sum);
	*ret_failed = !text;
	return text ? text : r.sum.fault ? r.sum.fault : "The result has too many digits.";
}
