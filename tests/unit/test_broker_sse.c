/* test_broker_sse.c - server-sent events: fields, comments, line ends, names, many lines of data. */
#include "base/sse.h"
#include "broker/text.h"
#include "t.h"

static bool note(void *to, const char *name, struct slice data)
{
	buf_printf(to, "[%s|%.*s]", name, (int)data.len, data.at);
	return !text_is(data, "stop");
}

static void check_sse(const char *bytes, size_t len, const char *wanted)
{
	for (size_t at = 0; at <= len; at++)
		for (size_t second = at; second <= len; second += len > 64 ? 7 : 1) {
			struct sse s;
			struct buf b;

			buf_init(&b, 1 << 16);
			sse_open(&s, note, &b);
			CHECK(sse_feed(&s, bytes, at));
			CHECK(sse_feed(&s, bytes + at, second - at));
			CHECK(sse_feed(&s, bytes + second, len - second));
			buf_putc(&b, '\0');
			test_step("split at %zu and %zu", at, second);
			CHECK_STR(b.at, wanted);
			sse_close(&s);
			buf_free(&b);
		}
}

TEST(broker_sse_reads_what_the_standard_shows)
{
	static const struct {
		const char *bytes, *wanted;
	} rows[] = {
		{ "data: a\n\n", "[|a]" },
		{ "data:a\n\ndata:  b\n\n", "[|a][| b]" },
		{ "\xef\xbb\xbf"
		  "data: a\n\n",
			"[|a]" },
		{ ": note\n\ndata: a\n\n", "[|a]" },
		{ "event: e\ndata: a\nid: 7\nretry: 10\n\ndata: b\n\n", "[e|a][|b]" },
		{ "data: YHOO\ndata: +2\ndata: 10\n\n", "[|YHOO\n+2\n10]" },
		{ "data\n\ndata\ndata\n\ndata:", "[|][|\n]" },
		{ "data: a\r\rdata: b\r\n\r\ndata: c\n\n", "[|a][|b][|c]" },
		{ "event: e\r\ndata: a\r\ndata: b\r\n\r\n", "[e|a\nb]" },
		{ "event: e\rdata: a\rdata: b\r\r", "[e|a\nb]" },
		{ "event: e\n\ndata: a\n\n", "[|a]" },
		{ "data: not ended\n", "" },
		{ "dataset: a\ndat: b\n\n", "" },
		{ "data: stop\n\ndata: b\n\n", "[|stop]" },
		{ "event: x\nevent: y\ndata: a\n\n", "[y|a]" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		check_sse(rows[i].bytes, strlen(rows[i].bytes), rows[i].wanted);
}

TEST(broker_sse_remembers_where_to_go_on)
{
	static const char bytes[] = "id: a\nretry: 250\ndata:\n\nid: b c\n\nid\n"
				    "id: d\nretry: soon\nretry: 99999999999\n";
	struct buf b;
	struct sse s;

	buf_init(&b, 1000);
	sse_open(&s, note, &b);
	CHECK(sse_feed(&s, bytes, strlen(bytes)));
	CHECK_STR(s.id, "d");
	CHECK_INT(s.retry_ms, 250);
	CHECK(sse_feed(&s, "id: x\0y\n", 8) && sse_feed(&s, "id:\n", 4));
	CHECK_STR(s.id, "");
	sse_close(&s);
	buf_free(&b);
}

TEST(broker_sse_knows_an_end_without_its_line_ends)
{
	static const struct {
		const char *bytes;
		bool ends;
	} rows[] = {
		{ "data: [DONE]", true },
		{ "data:[DONE]\n", true },
		{ "data: a\n\ndata: [DONE]\r", true },
		{ "data: [DONE", false },
		{ "data: a\ndata: [DONE]", false },
		{ "data: [DONE]\ndata: x", false },
		{ "event: [DONE]", false },
		{ "", false },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct sse s;
		struct buf b;

		test_step("%s", rows[i].bytes);
		buf_init(&b, 1 << 16);
		sse_open(&s, note, &b);
		sse_feed(&s, rows[i].bytes, strlen(rows[i].bytes));
		CHECK_INT(sse_ends_with(&s, "[DONE]"), rows[i].ends);
		sse_close(&s);
		buf_free(&b);
	}
}
