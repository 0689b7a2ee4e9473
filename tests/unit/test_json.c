/* test_json.c - the JSON reader against a second one: whatever jansson takes, we take, and the other
 * way round, but for the differences named here. */
#include "t.h"

#include <stdlib.h>

#include "base/json.h"
#include "oracle.h"

static bool ours(const char *text, size_t len)
{
	struct arena a = { 0 };
	struct json_reader r;
	bool ok;

	json_open(&r, &a, text, len);
	ok = json_skip(&r, NULL, NULL) && json_end(&r);
	if (!ok)
		CHECK(r.fault && r.fault_at <= len);
	arena_free(&a);
	return ok;
}

static const char *const good[] = {
	"null",
	" true ",
	"[]",
	"{}",
	"[1,2.5,-0,1e5,1E-5]",
	"\"\\u00e9\\ud83d\\ude00\\n\"",
	"{\"a\":{\"b\":[{\"c\":null}]}}",
	"\"\xc3\xa9\"",
	"123456789012345678901234567890",
	"0.1e1",
};
static const char *const bad[] = {
	"",
	" ",
	"nul",
	"[1,]",
	"{\"a\":1,}",
	"{\"a\":1,\"a\":2}",
	"{\"a\":1,\"\\u0061\":2}",
	"01",
	"+1",
	"1.",
	".5",
	"1e",
	"NaN",
	"Infinity",
	"-",
	"\"",
	"\"\\x\"",
	"\"\\ud800\"",
	"\"\\udc00\\ud800\"",
	"\"\\ud800x\"",
	"\"\xff\"",
	"\"\xc0\x80\"",
	"\"\xed\xa0\x80\"",
	"\"\n\"",
	"[1 2]",
	"{1:2}",
	"{\"a\" 1}",
	"1 2",
	"[",
	"{\"a\":",
	"'a'",
	"\"\\u12\"",
	"1e999",
	"\"a\\\"",
	"{\"a\":1 \"b\":2}",
	"[\"a\"\"b\"]",
};

TEST(json_takes_what_is_json_and_nothing_else)
{
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		test_step("good %zu: %s", i, good[i]);
		CHECK(ours(good[i], strlen(good[i])));
		CHECK(oracle_accepts(good[i], strlen(good[i])) || strlen(good[i]) > 20);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		test_step("bad %zu: %s", i, bad[i]);
		CHECK(!ours(bad[i], strlen(bad[i])));
		CHECK(!oracle_accepts(bad[i], strlen(bad[i])));
	}
}

/* What it takes to skip the text, in bytes of the arena. */
static size_t memory_of(const struct buf *text, const char **ret_fault)
{
	struct arena a = { 0 };
	struct json_reader r;
	size_t total;

	json_open(&r, &a, text->at, text->len);
	if (json_skip(&r, NULL, NULL))
		json_end(&r);
	*ret_fault = r.fault;
	total = a.total;
	arena_free(&a);
	return total;
}

/* An object of so many members, each of which is an object of so many. */
static void put_objects(struct buf *text, int outer, int inner)
{
	buf_putc(text, '{');
	for (int i = 0; i < outer; i++) {
		buf_printf(text, "%s\"n%d\":{", i ? "," : "", i);
		for (int k = 0; k < inner; k++)
			buf_printf(text, "%s\"n%d\":%d", k ? "," : "", k, k);
		buf_putc(text, '}');
	}
	buf_putc(text, '}');
}

TEST(json_memory_follows_the_open_names_not_the_objects)
{
	static const char *const parts[] = { "{}", "{\"a\":1}", "{\"a\":{\"a\":{\"b\":0}}}",
		"[[{}]]", "{\"abcdefghijklmnopqrstuvwxyz\":\"x\"}" };
	const char *fault;
	struct buf text;

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		buf_init(&text, 16 << 20);
		buf_putc(&text, '[');
		while (text.len < 8 << 20) {
			buf_puts(&text, parts[i]);
			buf_putc(&text, ',');
		}
		text.at[text.len - 1] = ']';
		CHECK(memory_of(&text, &fault) < 64 * 1024);
		CHECK(!fault);
		buf_free(&text);
	}
	for (int outer = 1; outer <= 60000; outer *= 3) {
		buf_init(&text, 16 << 20);
		put_objects(&text, outer, outer < 5000 ? 40 : 2);
		CHECK(memory_of(&text, &fault) < 128 * 1024 + (size_t)outer * 96);
		CHECK(!fault);
		buf_free(&text);
	}
}

TEST(json_names_have_a_maximum)
{
	const char *fault;
	struct buf text;

	for (int more = 0; more < 2; more++) {
		buf_init(&text, 16 << 20);
		put_objects(&text, JSON_NAMES_MAX + more, 0);
		CHECK(memory_of(&text, &fault) < 8 << 20);
		CHECK(!fault == !more);
		buf_free(&text);
	}
}

/* In every size of object, at every depth: the name that comes twice, also by an escape, is found, and
 * one that only stands in another object is not. */
TEST(json_finds_names_that_come_twice)
{
	for (int size = 1; size < 600; size += size < 40 ? 1 : 31) {
		for (int again = -1; again < size; again += size / 7 + 1) {
			struct buf text;

			buf_init(&text, 1 << 20);
			buf_lit(&text, "{\"n0\":[");
			for (int i = 0; i < 20; i++)
				buf_printf(&text, "%s{\"n%d\":{}}", i ? "," : "", i % 3);
			buf_lit(&text, "],\"in\":{");
			for (int i = 0; i < size; i++)
				buf_printf(&text, "\"n%d\":{\"n%d\":1,\"n%d\":2},", i, i, i + 1);
			if (again >= 0)
				buf_printf(
					&text, again % 2 ? "\"n%d\":1" : "\"\\u006e%d\":1", again);
			else
				buf_lit(&text, "\"other\":1");
			buf_lit(&text, "}}");
			test_step("%d members, number %d again", size, again);
			CHECK_INT(ours(text.at, text.len), again < 0);
			CHECK_INT(oracle_accepts(text.at, text.len), again < 0);
			buf_free(&text);
		}
	}
}

TEST(json_depth_is_bounded)
{
	char text[200];

	for (int depth = 1; depth <= 80; depth++) {
		memset(text, '[', (size_t)depth);
		memset(text + depth, ']', (size_t)depth);
		CHECK_INT(ours(text, 2 * (size_t)depth), depth <= JSON_DEPTH_MAX);
	}
}

/* Every good text with each byte changed to each of a few others, cut short, or doubled. */
TEST(json_agrees_with_a_second_reader_on_mutations)
{
	static const char bytes[] = "\"\\{}[]:,0e-+.u \n\x01\x80\xff";
	long tried = 0, differ = 0;
	char text[256];

	for (size_t g = 0; g < sizeof good / sizeof *good; g++) {
		size_t len = strlen(good[g]);

		if (len > 24)
			continue; /* jansson has no numbers beyond 64 bits */
		for (size_t i = 0; i < len; i++) {
			for (size_t k = 0; k < sizeof bytes - 1; k++) {
				memcpy(text, good[g], len + 1);
				text[i] = bytes[k];
				differ += ours(text, len) != oracle_accepts(text, len);
				memmove(text + i + 1, good[g] + i, len - i);
				differ += ours(text, len + 1) != oracle_accepts(text, len + 1);
				tried += 2;
			}
			differ += ours(good[g], i) != oracle_accepts(good[g], i);
		}
	}
	CHECK(tried > 2000);
	CHECK_INT(differ, 0);
}

TEST(json_small_sums_are_written_plainly)
{
	static const struct {
		double value;
		const char *text;
	} sums[] = { { 0.00001, "0.00001" }, { -0.000025, "-0.000025" },
		{ 1e-12, "0.000000000001" }, { 9.99e-5, "0.0000999" }, { 1e-13, "1e-13" },
		{ 0.25, "0.25" } };

	for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
		struct buf b;

		buf_init(&b, 64);
		json_write_number(&b, sums[i].value);
		buf_putc(&b, 0);
		CHECK_STR(b.at, sums[i].text);
		buf_free(&b);
	}
}

TEST(json_numbers_come_back_as_written)
{
	static const double values[] = { 0, 1, -1, 0.1, 1.0 / 3, 1e-7, 1.7976931348623157e308,
		5e-324, 123456789.125, 9007199254740991.0 };
	struct arena a = { 0 };

	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		struct json_reader r;
		struct json_number n;
		struct buf b;

		buf_init(&b, 64);
		json_write_number(&b, values[i]);
		json_open(&r, &a, b.at, b.len);
		CHECK(json_read_number(&r, &n) && n.value == values[i]);
		buf_free(&b);
	}
	arena_free(&a);
}

TEST(json_many_keys_are_checked_in_linear_time)
{
	struct arena a = { 0 };
	struct json_reader r;
	struct buf b;

	buf_init(&b, 8 << 20);
	buf_putc(&b, '{');
	for (int i = 0; i < 60000; i++)
		buf_printf(&b, "%s\"k%d\":%d", i ? "," : "", i, i);
	buf_lit(&b, ",\"k59999\":1}");
	json_open(&r, &a, b.at, b.len);
	CHECK(!json_skip(&r, NULL, NULL));
	CHECK_STR(r.fault, "this name comes twice in its object");
	buf_free(&b);
	arena_free(&a);
}

/* A whole number is one to the last digit, however it is written. */
TEST(json_whole_numbers_are_whole_to_the_last_digit)
{
	static const struct {
		const char *text;
		bool whole;
	} rows[] = { { "0", true }, { "-7", true }, { "1.0", true }, { "1.50e1", true },
		{ "100e-2", true }, { "0e-400", true }, { "-0.0", true }, { "12.30e+1", true },
		{ "9007199254740991", true }, { "9007199254740992", false }, { "1e-400", false },
		{ "1000000.000000000000000001", false }, { "1.5", false }, { "15e-1", false },
		{ "1e-99999999999999999999", false }, { "0.1e0", false } };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct arena a = { 0 };
		struct json_reader r;
		struct json_number n;

		test_step("%s", rows[i].text);
		json_open(&r, &a, rows[i].text, strlen(rows[i].text));
		CHECK(json_read_number(&r, &n) && json_end(&r));
		CHECK_INT(n.is_integer, rows[i].whole);
		arena_free(&a);
	}
}

/* Whoever compares names as C strings sees no two that differ after a NUL. */
TEST(json_names_hold_no_nul)
{
	static const char *const texts[] = { "{\"a\\u0000\":1}", "[{\"b\":{\"\\u0000\":1}}]" };

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct arena a = { 0 };
		struct json_reader r;

		json_open(&r, &a, texts[i], strlen(texts[i]));
		CHECK(!json_skip(&r, NULL, NULL));
		CHECK_STR(r.fault, "a name must not hold the character U+0000");
		arena_free(&a);
	}
}

/* Both ways of reading a string find the same, whatever byte stands wherever in it. */
TEST(json_strings_read_alike_escaped_and_decoded)
{
	static const char *const odd[] = { "\\n", "\\\"", "\\u00e9", "\\ud83d\\ude00", "\xc3\xa9",
		"\xe4\xbd\xa0", "\xf0\x9f\x98\x80", "\x7f", "\"", "\\", "\\x", "\\u12", "\\ud800",
		"\x1f", "\n", "\xff", "\xc3", "\xe4\xbd", "\xed\xa0\x80" };

	for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
		for (size_t at = 0; at < 40; at++) {
			struct arena a = { 0 };
			struct json_reader one, two;
			const char *decoded = NULL, *escaped = NULL;
			size_t decoded_len, escaped_len;
			char text[128];
			bool taken;
			int len = snprintf(text, sizeof text, "\"%.*s%s%.*s\" ", (int)at,
				"0123456789abcdefghijklmnopqrstuvwxyzABCDEF", odd[i],
				(int)(40 - at), "0123456789abcdefghijklmnopqrstuvwxyzABCDEF");

			test_step("\"%s\" at %zu", odd[i], at);
			json_open(&one, &a, text, (size_t)len);
			json_open(&two, &a, text, (size_t)len);
			taken = json_read_string(&one, &decoded, &decoded_len);
			CHECK_INT(json_read_escaped(&two, &escaped, &escaped_len), taken);
			if (taken)
				CHECK(one.at == two.at && escaped == text + 1 &&
					escaped + escaped_len + 1 == two.at);
			arena_free(&a);
		}
}
