/* test_price.c - money as text and back, and what calls cost: known figures, and what must always hold. */
#include "t.h"

#include <stdlib.h>

#include "base/crypto.h"
#include "broker/price.h"
#include "contract/schema.h"

static int parsed(const char *text, int64_t *pd)
{
	*pd = -1;
	return money_parse(text, strlen(text), pd);
}

static int parsed_number(const char *text, int64_t *pd)
{
	*pd = -1;
	return money_parse_number(text, strlen(text), pd);
}

TEST(price_money_is_read_exactly)
{
	static const struct {
		const char *text;
		int64_t pd;
	} good[] = {
		{ "0", 0 },
		{ "0.0", 0 },
		{ "3", 3000000000000 },
		{ "10", 10000000000000 },
		{ "0.000003", 3000000 },
		{ "0.0000030", 3000000 },
		{ "0.00000375", 3750000 },
		{ "0.000000000001", 1 },
		{ "0.0000000000010000000000000000000000000000000000000000", 1 },
		{ "1.5", 1500000000000 },
		{ "100.05", 100050000000000 },
		{ "9223372.036854775807", INT64_MAX },
	};
	static const char *const bad[] = { "", ".", ".5", "5.", "-1", "+1", " 1", "1 ", "1e-6",
		"0x1", "1,5", "0.0000000000001", "0.0000000000010000001", "9223372.036854775808",
		"9223373", "99999999999999999999999999", "NaN", "1.2.3", "\xc2\xbd" };
	int64_t pd;

	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		test_step("%s", good[i].text);
		CHECK_INT(parsed(good[i].text, &pd), 0);
		CHECK_INT(pd, good[i].pd);
		CHECK_INT(parsed_number(good[i].text, &pd), 0);
		CHECK_INT(pd, good[i].pd);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		test_step("%s", bad[i]);
		CHECK_INT(parsed(bad[i], &pd), ERR_INVALID);
		CHECK_INT(pd, -1);
	}
}

TEST(price_numbers_of_lists_are_read_from_their_text)
{
	static const struct {
		const char *text;
		int64_t pd;
	} good[] = {
		{ "3e-06", 3000000 },
		{ "3E-6", 3000000 },
		{ "2.5e-06", 2500000 },
		{ "7.5e-08", 75000 },
		{ "1e-12", 1 },
		{ "10e-13", 1 },
		{ "1.10e-7", 110000 },
		{ "0e99999999999999999999", 0 },
		{ "0.0e-99999999999999999999", 0 },
		{ "1e+1", 10000000000000 },
		{ "0.000000000000000000000000000000001e21", 1 },
		{ "1000000000000000000000000000e-39", 1 },
	};
	static const char *const bad[] = { "1e", "1e-", "e-6", "-3e-06", "1e-13", "1.5e-12", "1e7",
		"1e99999999999999999999", "1e-99999999999999999999", "1e-6x", "1e1.5" };
	int64_t pd;

	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		test_step("%s", good[i].text);
		CHECK_INT(parsed_number(good[i].text, &pd), 0);
		CHECK_INT(pd, good[i].pd);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		test_step("%s", bad[i]);
		CHECK_INT(parsed_number(bad[i], &pd), ERR_INVALID);
	}
}

TEST(price_money_is_written_shortest)
{
	static const struct {
		int64_t pd;
		const char *text;
	} cases[] = {
		{ 0, "0" },
		{ 1, "0.000000000001" },
		{ 3000000, "0.000003" },
		{ 1000000000000, "1" },
		{ 1500000000000, "1.5" },
		{ 10000000000000, "10" },
		{ INT64_MAX, "9223372.036854775807" },
		{ -1, "-0.000000000001" },
		{ INT64_MIN, "-9223372.036854775808" },
	};
	char text[MONEY_TEXT_MAX];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		CHECK_STR(money_text(cases[i].pd, text), cases[i].text);
}

/* Of any size, small and large alike. */
static int64_t some_amount(void)
{
	uint64_t bits;
	uint8_t shift;

	random_bytes(&bits, sizeof bits);
	random_bytes(&shift, sizeof shift);
	return (int64_t)(bits >> (1 + shift % 62));
}

TEST(price_money_comes_back_as_it_went)
{
	char text[MONEY_TEXT_MAX];

	for (int i = 0; i < 20000; i++) {
		int64_t pd = some_amount(), back;

		test_step("%lld", (long long)pd);
		CHECK_INT(parsed(money_text(pd, text), &back), 0);
		CHECK_INT(back, pd);
	}
}

/* USD a million tokens, as providers state them. */
static struct price per_million(
	const char *prompt, const char *completion, const char *read, const char *write)
{
	struct price p;

	CHECK_INT(parsed(prompt, &p.prompt), 0);
	CHECK_INT(parsed(completion, &p.completion), 0);
	CHECK_INT(parsed(read, &p.cache_read), 0);
	CHECK_INT(parsed(write, &p.cache_write), 0);
	p.prompt /= 1000000;
	p.completion /= 1000000;
	p.cache_read /= 1000000;
	p.cache_write /= 1000000;
	return p;
}

TEST(price_cost_is_what_the_invoice_says)
{
	const struct price p = per_million("3", "15", "0.30", "3.75");
	struct usage u = { .input = 3, .cache_write = 12304, .output = 550 };
	char text[MONEY_TEXT_MAX];
	int64_t cost;

	CHECK_INT(price_cost(&p, &u, &cost), 0);
	CHECK_STR(money_text(cost, text), "0.054399");
	CHECK(strcmp(money_text(cost, text), "0.091311") != 0);

	test_step("what was read from the cache is cheaper, and reasoning is part of the output");
	u = (struct usage){ .input = 5,
		.cache_read = 128955,
		.cache_write = 1253,
		.output = 100,
		.reasoning = 90 };
	CHECK_INT(price_cost(&p, &u, &cost), 0);
	CHECK_STR(money_text(cost, text), "0.04490025");
}

TEST(price_cost_without_prices_and_beyond_bounds)
{
	const struct price none = { NIL, NIL, NIL, NIL }, plain = { 3, 5, NIL, NIL };
	const struct price most = { INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX };
	const struct price negative = { -1, 0, 0, 0 };
	const struct usage all = { .input = 7, .cache_read = 11, .cache_write = 13, .output = 17 };
	const struct usage huge = { .input = INT64_MAX,
		.cache_read = INT64_MAX,
		.cache_write = INT64_MAX,
		.output = INT64_MAX };
	int64_t cost = -1;

	CHECK_INT(price_cost(&none, &all, &cost), 0);
	CHECK_INT(cost, 0);
	CHECK_INT(price_cost(&none, &huge, &cost), 0);
	CHECK_INT(price_cost(&plain, &all, &cost), 0);
	CHECK_INT(cost, 3 * (7 + 11 + 13) + 5 * 17);
	cost = -1;
	CHECK_INT(price_cost(&plain, &huge, &cost), ERR_INVALID);
	CHECK_INT(price_cost(&most, &all, &cost), ERR_INVALID);
	CHECK_INT(price_cost(&most, &huge, &cost), ERR_INVALID);
	CHECK_INT(price_cost(&negative, &all, &cost), ERR_INVALID);
	CHECK_INT(price_cost(&plain, &(struct usage){ .output = -1 }, &cost), ERR_INVALID);
	CHECK_INT(cost, -1);
	CHECK_INT(price_cost(&most, &(struct usage){ .output = 1 }, &cost), 0);
	CHECK_INT(cost, INT64_MAX);
}

TEST(price_cost_adds_up_and_never_falls)
{
	for (int i = 0; i < 5000; i++) {
		struct price p = { some_amount() >> 32, some_amount() >> 32, some_amount() >> 32,
			some_amount() >> 32 };
		struct usage a = { some_amount() >> 34, some_amount() >> 34, some_amount() >> 34,
			some_amount() >> 34 };
		struct usage b = { some_amount() >> 34, some_amount() >> 34, some_amount() >> 34,
			some_amount() >> 34 };
		struct usage both = { a.input + b.input, a.cache_read + b.cache_read,
			a.cache_write + b.cache_write, a.output + b.output };
		int64_t ca, cb, sum;

		if (price_cost(&p, &a, &ca) || price_cost(&p, &b, &cb) || ca > INT64_MAX - cb)
			continue;
		CHECK_INT(price_cost(&p, &both, &sum), 0);
		CHECK_INT(sum, ca + cb);
		CHECK(sum >= ca && sum >= cb);
	}
}

static bool has(const struct problem *p, const char *field, const char *code, const char *says)
{
	for (const struct field_error *f = p->first; f; f = f->next)
		if (strcmp(f->field, field) == 0 && strcmp(f->code, code) == 0 &&
			strstr(f->message, says))
			return true;
	return false;
}

TEST(price_object_is_read_and_every_fault_named)
{
	static const char good[] = "{\"prompt\":\"0.000003\",\"cache_write\":null}",
			  bad[] = "{\"prompt\":0.000003,\"completion\":\"-1\",\"cache_read\":true,"
				  "\"Prompt\":\"1\",\"cache_write\":\"1e-6\"}";
	static const char *const broken[] = { "", "[]", "\"1\"", "{", "{\"prompt\":", "null",
		"{\"prompt\":\"1\"}x", "{\"prompt\":\"1\",\"prompt\":\"2\"}" };
	struct arena a = { 0 };
	struct problem p = { 0 };
	struct price price;

	CHECK_INT(price_read(good, strlen(good), "pricing", &price, &a, &p), 0);
	CHECK_INT(price.prompt, 3000000);
	CHECK(price.completion == NIL && price.cache_read == NIL && price.cache_write == NIL);
	CHECK_STR(price_json(&price, &a),
		"{\"prompt\":\"0.000003\",\"completion\":null,\"cache_read\":null,"
		"\"cache_write\":null,\"character\":null,\"second\":null}");
	CHECK_INT(price_read(bad, strlen(bad), "pricing", &price, &a, &p), ERR_INVALID);
	CHECK_INT(p.count, 5);
	CHECK(has(&p, "pricing.prompt", "type", "put it in quotes"));
	CHECK(has(&p, "pricing.completion", "money", "not negative"));
	CHECK(has(&p, "pricing.cache_read", "type", "decimal string"));
	CHECK(has(&p, "pricing.Prompt", "unknown_field", "cache_write"));
	CHECK(has(&p, "pricing.cache_write", "money", "decimal"));
	for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
		struct problem q = { 0 };

		test_step("%s", broken[i]);
		CHECK_INT(price_read(broken[i], strlen(broken[i]), "pricing", &price, &a, &q),
			ERR_INVALID);
	}
	arena_free(&a);
}
