/* test_calculator.c - exact arithmetic: known results, rules of fractions that must hold for any numbers, and
 * what is refused. */
#include <stdlib.h>

#include "base/clock.h"
#include "sessions/calculator.h"
#include "t.h"

static const char *worked_out(struct arena *a, const char *text)
{
	bool failed;
	const char *out = calculator_run(a, text, &failed);

	return failed ? arena_printf(a, "failed: %s", out) : out;
}

TEST(calculator_is_exact)
{
	static const struct {
		const char *text, *result;
	} rows[] = {
		{ "0.1+0.2", "0.3" },
		{ "1 + 2 * 3 - 4 / 2", "5" },
		{ "(1+2)*3", "9" },
		{ "2^200", "1606938044258990275541962092341162602522202993782792835301376" },
		{ "2**10", "1024" },
		{ "2^3^2", "512" },
		{ "-2^2", "-4" },
		{ "(-2)^2", "4" },
		{ "2^-3", "0.125" },
		{ "2^-1*-2", "-1" },
		{ "0^0", "1" },
		{ "(-1)^99999999999999999999", "-1" },
		{ "1/3*3", "1" },
		{ "1/8", "0.125" },
		{ "-1/8", "-0.125" },
		{ "1/1000", "0.001" },
		{ "7 % 3", "1" },
		{ "-7 % 3", "-1" },
		{ "7 % -3", "1" },
		{ "5.5 % 2", "1.5" },
		{ "1e3", "1000" },
		{ "1.5E-3 * 2", "0.003" },
		{ ".5 + 5.", "5.5" },
		{ "10 - -3", "13" },
		{ "--3", "3" },
		{ "6 \xc3\xb7 4 \xc3\x97 2 \xe2\x88\x92 1", "2" },
		{ "100 * (1 + 0.05)^10", "162.889462677744140625" },
		{ "1/3",
			"0.33333333333333333333333333333333333333333333333333 (rounded to the nearest; "
			"exactly 1/3)" },
		{ "-2/3",
			"-0.66666666666666666666666666666666666666666666666667 (rounded to the nearest; "
			"exactly -2/3)" },
		{ "1000/7",
			"142.85714285714285714285714285714285714285714285714 (rounded to the nearest; "
			"exactly 1000/7)" },
		{ "1/7/1e20",
			"0.0000000000000000000014285714285714285714285714285714285714285714285714 "
			"(rounded to the nearest; exactly 1/700000000000000000000)" },
		{ "0/5", "0" },
		{ "-0", "0" },
		{ "3-3", "0" },
	};
	struct arena a = { 0 };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		test_step("%s", rows[i].text);
		CHECK_STR(worked_out(&a, rows[i].text), rows[i].result);
	}
	arena_free(&a);
}

TEST(calculator_refuses_with_a_sentence)
{
	static const struct {
		const char *text, *sentence;
	} rows[] = {
		{ "", "failed: The expression ends where a number should be." },
		{ "1+", "failed: The expression ends where a number should be." },
		{ "1/0", "failed: Something is divided by zero." },
		{ "1%0", "failed: Something is divided by zero." },
		{ "1/(2-2)", "failed: Something is divided by zero." },
		{ "0^-1", "failed: Zero has no power below zero." },
		{ "4^0.5", "failed: An exponent must be a whole number." },
		{ "(1", "failed: A parenthesis is not closed." },
		{ "(1 2)", "failed: A parenthesis is not closed where it should be." },
		{ "2 2",
			"failed: What stands at byte 3 is not understood. Numbers, + - * / % ^ and "
			"parentheses are." },
		{ "1,000",
			"failed: Numbers are written without separators, with a point: 1234.5." },
		{ "sqrt(2)",
			"failed: What stands at byte 1 is not understood. Numbers, + - * / % ^ and "
			"parentheses are." },
		{ "15%",
			"failed: The expression ends where a number should be. (% gives the remainder of "
			"a division; a percentage is written as /100.)" },
		{ "2^5000", "failed: A number on the way has more than 1,200 digits." },
		{ "2^99999999999999999999",
			"failed: A number on the way has more than 1,200 digits." },
		{ "9^999^999", "failed: A number on the way has more than 1,200 digits." },
		{ "1e99999", "failed: A number has more than 1,200 digits." },
		{ "1e-99999", "failed: A number has more than 1,200 digits." },
		{ "1e", "failed: The expression ends where a number should be." },
	};
	struct arena a = { 0 };
	char deep[200] = { 0 };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		test_step("%s", rows[i].text);
		CHECK_STR(worked_out(&a, rows[i].text), rows[i].sentence);
	}
	memset(deep, '(', sizeof deep - 1);
	CHECK_STR(worked_out(&a, deep), "failed: The expression is nested too deeply.");
	memset(deep, '-', sizeof deep - 1);
	CHECK_STR(worked_out(&a, deep), "failed: The expression is nested too deeply.");
	arena_free(&a);
}

static const char *some_number(struct arena *a, unsigned *seed)
{
	int digits = 1 + rand_r(seed) % 60, point = rand_r(seed) % digits;
	const char *out = "1";

	for (int i = 0; i < digits; i++)
		out = arena_printf(a, "%s%s%d", out, i == point ? "." : "", rand_r(seed) % 10);
	return rand_r(seed) % 2 ? out : arena_printf(a, "(-%s)", out);
}

TEST(calculator_keeps_the_rules_of_fractions)
{
	unsigned seed = 11;
	struct arena arena = { 0 };

	for (int i = 0; i < 200; i++) {
		struct arena *at = &arena;
		const char *a = some_number(at, &seed), *b = some_number(at, &seed),
			   *c = some_number(at, &seed);

#define HOLDS(left, ...) CHECK_STR(worked_out(at, arena_printf(at, left, __VA_ARGS__)), "0")
		test_step("%s %s %s", a, b, c);
		HOLDS("%s*(%s+%s) - (%s*%s+%s*%s)", a, b, c, a, b, a, c);
		HOLDS("%s/%s*%s - %s", a, b, b, a);
		HOLDS("(%s-%s)*(%s+%s) - (%s^2-%s^2)", a, b, a, b, a, b);
		HOLDS("%s - (%s - %s%%%s)/%s*%s - %s%%%s", a, a, a, b, b, b, a, b);
		HOLDS("(%s*%s)^3 - %s^3*%s^3", a, b, a, b);
		arena_reset(&arena);
	}
	arena_free(&arena);
}

/* The worst that fits into the bounds ends soon. */
TEST(calculator_ends_in_time)
{
	struct arena a = { 0 };
	const char *text = "1";
	int64_t began = clock_mono_ms();
	unsigned seed = 5;

	while (strlen(text) < CALCULATOR_TEXT_MAX - 40)
		text = arena_printf(&a, "%s+1/(7^%d+%d)", text, 100 + rand_r(&seed) % 300,
			rand_r(&seed) % 1000);
	worked_out(&a, text);
	text = "3";
	while (strlen(text) < CALCULATOR_TEXT_MAX - 40)
		text = arena_printf(&a, "%s%%(3^2000/7^1400)", text);
	worked_out(&a, text);
	CHECK(clock_mono_ms() - began < 5000);
	arena_free(&a);
}
