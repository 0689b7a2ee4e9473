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
	for (int i = 0; i < 100000; i++)
		buf_printf(&b, "%s\"k%d\":%d", i ? "," : "", i, i);
	buf_lit(&b, ",\"k99999\":1}");
	json_open(&r, &a, b.at, b.len);
	CHECK(!json_skip(&r, NULL, NULL));
	CHECK_STR(r.fault, "this name comes twice in its object");
	buf_free(&b);
	arena_free(&a);
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
