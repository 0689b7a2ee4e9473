/* test_http_parse.c - heads and chunked bodies, good and hostile, however they are cut. */
#include "t.h"

#include <stdlib.h>

#include "http/parse.h"

enum { MAX_HEAD = 12 * 1024, MAX_HEADERS = 8, MAX_BODY = 100, SHOWN = 32 * 1024 };

/* A verdict and all that was understood, as text, to be compared. */
struct outcome {
	int verdict;
	size_t used;
	char text[SHOWN];
};

static const char *err_name(int err)
{
	return err == HTTP_DONE ? "done" : err == HTTP_MORE ? "more" : error_row(err)->code;
}

static void describe(const struct http_head *h, struct outcome *out)
{
	const struct http_request *r = h->request;
	size_t at = (size_t)snprintf(out->text, SHOWN,
		"%d %s %s ? %s 1.%d keep=%d body=%d chunked=%d %llu", r->method, r->method_text,
		r->path, r->query, r->minor, r->keep_alive, r->has_body, r->chunked,
		(unsigned long long)r->content_length);

	for (size_t i = 0; i < r->header_count && at < SHOWN - 1; i++)
		at += (size_t)snprintf(out->text + at, SHOWN - at, "|%s=%s", h->headers[i].name,
			h->headers[i].value);
}

/* Feeds the bytes in pieces as a connection does: what was not used comes again. */
static void feed_head(const char *bytes, size_t n, size_t first, size_t then, struct outcome *out)
{
	struct http_header headers[MAX_HEADERS];
	struct arena a = { 0 };
	struct http_request r = { .path = "", .query = "", .method_text = "" };
	struct http_head h = { .request = &r,
		.headers = headers,
		.arena = &a,
		.max_head = MAX_HEAD,
		.max_headers = MAX_HEADERS };
	size_t have = first;

	out->used = 0;
	for (;;) {
		/* A copy of exactly these bytes, so that the sanitizer sees a step too far. */
		size_t piece = have - out->used, used = 0;
		char *copy = malloc(piece ? piece : 1);

		memcpy(copy, bytes + out->used, piece);
		out->verdict = http_head_take(&h, copy, piece, &used);
		free(copy);
		out->used += used;
		if (out->verdict != HTTP_MORE || have == n)
			break;
		have = have + then < n ? have + then : n;
	}
	CHECK((out->verdict < 0) == (h.fault != NULL));
	describe(&h, out);
	arena_free(&a);
}

static void feed_chunked(
	const char *bytes, size_t n, size_t first, size_t then, struct outcome *out)
{
	struct http_chunked d = { 0 };
	struct buf body;
	size_t have = first;

	buf_init(&body, MAX_BODY + 1);
	out->used = 0;
	for (;;) {
		size_t used = 0;

		out->verdict = http_chunked_take(
			&d, bytes + out->used, have - out->used, &used, &body, MAX_BODY);
		out->used += used;
		if (out->verdict != HTTP_MORE || have == n)
			break;
		have = have + then < n ? have + then : n;
	}
	CHECK((out->verdict < 0) == (d.fault != NULL));
	CHECK(!body.overflow && body.len <= MAX_BODY);
	snprintf(out->text, SHOWN, "%.*s", (int)body.len, body.at ? body.at : "");
	buf_free(&body);
}

typedef void feeder(const char *bytes, size_t n, size_t first, size_t then, struct outcome *out);

/* Whole, byte by byte, and cut in two at every place: always the same. */
static void check_all_cuts(feeder *feed, const char *bytes, size_t n, int want, const char *text)
{
	struct outcome *whole = malloc(sizeof *whole), *cut = malloc(sizeof *cut);

	feed(bytes, n, n, 1, whole);
	if (whole->verdict != want)
		test_fail(__FILE__, __LINE__, "verdict %s, not %s (%s)", err_name(whole->verdict),
			err_name(want), whole->text);
	if (text)
		CHECK_STR(whole->text, text);
	for (size_t first = 0; first <= n && n < 2000; first++) {
		feed(bytes, n, first, n, cut);
		CHECK_INT(cut->verdict, whole->verdict);
		if (whole->verdict == HTTP_DONE) {
			CHECK_INT(cut->used, whole->used);
			CHECK_STR(cut->text, whole->text);
		}
	}
	feed(bytes, n, 0, 1, cut);
	CHECK_INT(cut->verdict, whole->verdict);
	if (whole->verdict == HTTP_DONE) {
		CHECK_INT(cut->used, whole->used);
		CHECK_STR(cut->text, whole->text);
	}
	free(whole);
	free(cut);
}

struct row {
	const char *bytes;
	size_t len;
	int want;
	const char *text; /* what is understood, or NULL */
};

#define ROW(bytes, ...)                               \
	{                                             \
		bytes, sizeof(bytes) - 1, __VA_ARGS__ \
	}
#define H "Host: a\r\n"

static const struct row heads[] = {
	/* good */
	ROW("GET / HTTP/1.1\r\n" H "\r\n", HTTP_DONE,
		"0 GET / ?  1.1 keep=1 body=0 chunked=0 0|host=a"),
	ROW("\r\nGET / HTTP/1.1\r\n" H "\r\n", HTTP_DONE),
	ROW("GET /a%20b/?x=1&y=?z HTTP/1.1\r\n" H "\r\nGET", HTTP_DONE,
		"0 GET /a%20b/ ? x=1&y=?z 1.1 keep=1 body=0 chunked=0 0|host=a"),
	ROW("PATCH /p HTTP/1.1\r\nhOST:\ta:80 \t\r\nX-Y:\r\nZ: a\tb  c \r\n\r\n", HTTP_DONE,
		"4 PATCH /p ?  1.1 keep=1 body=0 chunked=0 0|host=a:80|x-y=|z=a\tb  c"),
	ROW("GET / HTTP/1.0\r\n\r\n", HTTP_DONE, "0 GET / ?  1.0 keep=0 body=0 chunked=0 0"),
	ROW("GET / HTTP/1.0\r\nConnection: x, Keep-Alive\r\n\r\n", HTTP_DONE,
		"0 GET / ?  1.0 keep=1 body=0 chunked=0 0|connection=x, Keep-Alive"),
	ROW("GET / HTTP/1.1\r\nConnection: foo ,, CLOSE\r\n" H "\r\n", HTTP_DONE,
		"0 GET / ?  1.1 keep=0 body=0 chunked=0 0|connection=foo ,, CLOSE|host=a"),
	ROW("GET / HTTP/1.7\r\n" H "\r\n", HTTP_DONE,
		"0 GET / ?  1.1 keep=1 body=0 chunked=0 0|host=a"),
	ROW("POST / HTTP/1.1\r\n" H "Content-Length: 007\r\n\r\n", HTTP_DONE,
		"2 POST / ?  1.1 keep=1 body=1 chunked=0 7|host=a|content-length=007"),
	ROW("POST / HTTP/1.1\r\n" H "Content-Length: 18446744073709551615\r\n\r\n", HTTP_DONE),
	ROW("POST / HTTP/1.1\r\n" H "Transfer-Encoding: ChunKed\r\n\r\n", HTTP_DONE,
		"2 POST / ?  1.1 keep=1 body=1 chunked=1 0|host=a|transfer-encoding=ChunKed"),
	ROW("GET http://b:81/x?y HTTP/1.1\r\n" H "\r\n", HTTP_DONE,
		"0 GET /x ? y 1.1 keep=1 body=0 chunked=0 0|host=b:81"),
	ROW("GET HTTPS://b HTTP/1.1\r\n" H "\r\n", HTTP_DONE,
		"0 GET / ?  1.1 keep=1 body=0 chunked=0 0|host=b"),
	ROW("GET http://b?q HTTP/1.1\r\n" H "\r\n", HTTP_DONE,
		"0 GET / ? q 1.1 keep=1 body=0 chunked=0 0|host=b"),
	ROW("OPTIONS * HTTP/1.1\r\n" H "\r\n", HTTP_DONE,
		"6 OPTIONS * ?  1.1 keep=1 body=0 chunked=0 0|host=a"),
	ROW("get / HTTP/1.1\r\n" H "\r\n", HTTP_DONE,
		"6 get / ?  1.1 keep=1 body=0 chunked=0 0|host=a"),
	ROW("GET / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n", HTTP_DONE),
	ROW("GET / HTTP/1.1\r\nHost: a_b.c-d~e%41:\r\n\r\n", HTTP_DONE),
	ROW("GET / HTTP/1.1\r\n" H "X: \xe2\x82\xac\r\n\r\n", HTTP_DONE),
	ROW("GET / HTTP/1.1\r\n" H "Expect: 100-Continue\r\n\r\n", HTTP_DONE),
	ROW("GET / HTTP/1.1\r\n" H "A:1\r\nB:2\r\nC:3\r\nD:4\r\nE:5\r\nF:6\r\nG:7\r\n\r\n",
		HTTP_DONE),
	/* unfinished */
	ROW("", HTTP_MORE),
	ROW("\r", HTTP_MORE),
	ROW("\r\n", HTTP_MORE),
	ROW("GET / HTTP/1.1\r\n" H "\r", HTTP_MORE),
	/* lines */
	ROW("\n", ERR_MALFORMED),
	ROW("\r\n\r\n", ERR_MALFORMED),
	ROW("GET / HTTP/1.1\n", ERR_MALFORMED),
	ROW("GET / HTTP/1.1\r\n" H "\n", ERR_MALFORMED),
	ROW("GET / HTTP/1.1\r\nHost: a\n\r\n", ERR_MALFORMED),
	ROW("GET / HTTP/1.1\r\n" H "X: ab\n\r\n", ERR_MALFORMED),
	ROW("GET / HTTP/1.11\n" H "\r\n", ERR_MALFORMED),
	ROW("GET / HTTP/1.1\r\n" H "X: a\rb\r\n\r\n", ERR_MALFORMED),
	ROW("GET / HTTP/1.1\r\n" H "X: a\r\r\n\r\n", ERR_MALFORMED),
	ROW("GET / HTTP/1.1\r\n" H "X: a\r\n b\r\n\r\n", ERR_MALFORMED),
	ROW("GET / HTTP/1.1\r\n" H "X: a\r\n\tb: c\r\n\r\n", ERR_MALFORMED),
	ROW("GET / HTTP/1.1\r\n X: a\r\n" H "\r\n", ERR_MALFORMED),
	ROW("GET /\rx HTTP/1.1\r\n" H "\r\n", ERR_MALFORMED),
	/* request line */
	ROW("GET /\r\n", ERR_MALFORMED),
	ROW("GET\r\n", ERR_MALFORMED),
	ROW(" GET / HTTP/1.1\r\n", ERR_MALFORMED),
	ROW("GET  / HTTP/1.1\r\n", ERR_MALFORMED),
	ROW("GET /  HTTP/1.1\r\n", ERR_MALFORMED),
	ROW("GET / HTTP/1.1 \r\n", ERR_MALFORMED),
	ROW("GET\t/\tHTTP/1.1\r\n", ERR_MALFORMED),
	ROW("GET /a b HTTP/1.1\r\n", ERR_MALFORMED),
	ROW("G@T / HTTP/1.1\r\n", ERR_MALFORMED),
	ROW("G\0T / HTTP/1.1\r\n", ERR_MALFORMED),
	ROW("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA / HTTP/1.1\r\n", ERR_MALFORMED),
	ROW("GET / http/1.1\r\n", ERR_MALFORMED),
	ROW("GET / HTTP/1\r\n", ERR_MALFORMED),
	ROW("GET / HTTP/1.11\r\n", ERR_MALFORMED),
	ROW("GET / HTTP/11\r\n", ERR_MALFORMED),
	ROW("GET / HTTP/2.0\r\n", ERR_VERSION),
	ROW("GET / HTTP/0.9\r\n", ERR_VERSION),
	ROW("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", ERR_VERSION),
	ROW("GET /\x80 HTTP/1.1\r\n", ERR_MALFORMED),
	ROW("GET /\x7f HTTP/1.1\r\n", ERR_MALFORMED),
	ROW("GET /\0 HTTP/1.1\r\n", ERR_MALFORMED),
	ROW("GET /a#b HTTP/1.1\r\n", ERR_MALFORMED),
	ROW("GET a HTTP/1.1\r\n", ERR_MALFORMED),
	ROW("GET * HTTP/1.1\r\n", ERR_MALFORMED),
	ROW("GET a:80 HTTP/1.1\r\n", ERR_MALFORMED),
	ROW("CONNECT a:80 HTTP/1.1\r\n", ERR_MALFORMED),
	ROW("GET ftp://a/ HTTP/1.1\r\n", ERR_MALFORMED),
	ROW("GET http:///x HTTP/1.1\r\n", ERR_MALFORMED),
	ROW("GET http://u@a/x HTTP/1.1\r\n", ERR_MALFORMED),
	/* header lines */
	ROW("GET / HTTP/1.1\r\n" H "X : a\r\n\r\n", ERR_MALFORMED),
	ROW("GET / HTTP/1.1\r\n" H "X\r\n\r\n", ERR_MALFORMED),
	ROW("GET / HTTP/1.1\r\n" H ": a\r\n\r\n", ERR_MALFORMED),
	ROW("GET / HTTP/1.1\r\n" H "X(: a\r\n\r\n", ERR_MALFORMED),
	ROW("GET / HTTP/1.1\r\n" H "X\0: a\r\n\r\n", ERR_MALFORMED),
	ROW("GET / HTTP/1.1\r\n" H "X\xc3: a\r\n\r\n", ERR_MALFORMED),
	ROW("GET / HTTP/1.1\r\n" H "X: a\0b\r\n\r\n", ERR_MALFORMED),
	ROW("GET / HTTP/1.1\r\n" H "X: a\x01\r\n\r\n", ERR_MALFORMED),
	ROW("GET / HTTP/1.1\r\n" H "X: a\x7f\r\n\r\n", ERR_MALFORMED),
	ROW("GET / HTTP/1.1\r\n" H "A:1\r\nB:2\r\nC:3\r\nD:4\r\nE:5\r\nF:6\r\nG:7\r\nI:8\r\n\r\n",
		ERR_HEADERS_TOO_LARGE),
	/* Host */
	ROW("GET / HTTP/1.1\r\n\r\n", ERR_MALFORMED),
	ROW("GET / HTTP/1.1\r\n" H H "\r\n", ERR_MALFORMED),
	ROW("GET / HTTP/1.0\r\n" H H "\r\n", ERR_MALFORMED),
	ROW("GET / HTTP/1.1\r\n" H "Authorization: a\r\nAuthorization: b\r\n\r\n", ERR_MALFORMED),
	ROW("GET / HTTP/1.1\r\n" H "Idempotency-Key: a\r\nX: y\r\nidempotency-key: a\r\n\r\n",
		ERR_MALFORMED),
	ROW("GET / HTTP/1.1\r\n" H "Last-Event-ID: 1\r\nLast-Event-ID: 2\r\n\r\n", ERR_MALFORMED),
	ROW("GET / HTTP/1.1\r\nHost:\r\n\r\n", ERR_MALFORMED),
	ROW("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", ERR_MALFORMED),
	ROW("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", ERR_MALFORMED),
	ROW("GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", ERR_MALFORMED),
	ROW("GET / HTTP/1.1\r\nHost: a:b\r\n\r\n", ERR_MALFORMED),
	ROW("GET / HTTP/1.1\r\nHost: a:99999\r\n\r\n", ERR_MALFORMED),
	ROW("GET / HTTP/1.1\r\nHost: :80\r\n\r\n", ERR_MALFORMED),
	ROW("GET / HTTP/1.1\r\nHost: [::1\r\n\r\n", ERR_MALFORMED),
	ROW("GET / HTTP/1.1\r\nHost: [x]\r\n\r\n", ERR_MALFORMED),
	ROW("GET / HTTP/1.1\r\nHost: [::1]x\r\n\r\n", ERR_MALFORMED),
	ROW("GET / HTTP/1.1\r\nHost: a%4\r\n\r\n", ERR_MALFORMED),
	ROW("GET http://b/ HTTP/1.1\r\n\r\n", ERR_MALFORMED),
	/* length and coding */
	ROW("POST / HTTP/1.1\r\n" H "Content-Length: 5\r\nContent-Length: 5\r\n\r\n",
		ERR_MALFORMED),
	ROW("POST / HTTP/1.1\r\n" H "Content-Length: 5, 5\r\n\r\n", ERR_MALFORMED),
	ROW("POST / HTTP/1.1\r\n" H "Content-Length: +5\r\n\r\n", ERR_MALFORMED),
	ROW("POST / HTTP/1.1\r\n" H "Content-Length: -5\r\n\r\n", ERR_MALFORMED),
	ROW("POST / HTTP/1.1\r\n" H "Content-Length: 0x5\r\n\r\n", ERR_MALFORMED),
	ROW("POST / HTTP/1.1\r\n" H "Content-Length: 5 5\r\n\r\n", ERR_MALFORMED),
	ROW("POST / HTTP/1.1\r\n" H "Content-Length:\r\n\r\n", ERR_MALFORMED),
	ROW("POST / HTTP/1.1\r\n" H "Content-Length: 18446744073709551616\r\n\r\n", ERR_MALFORMED),
	ROW("POST / HTTP/1.1\r\n" H "Content-Length: 99999999999999999999999\r\n\r\n",
		ERR_MALFORMED),
	ROW("POST / HTTP/1.1\r\n" H "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n",
		ERR_MALFORMED),
	ROW("POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
		ERR_MALFORMED),
	ROW("POST / HTTP/1.1\r\n" H "Transfer-Encoding: gzip\r\nContent-Length: 5\r\n\r\n",
		ERR_MALFORMED),
	ROW("POST / HTTP/1.0\r\n" H "Transfer-Encoding: chunked\r\n\r\n", ERR_MALFORMED),
	ROW("POST / HTTP/1.1\r\n" H
	    "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
		ERR_MALFORMED),
	ROW("POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked, chunked\r\n\r\n", ERR_MALFORMED),
	ROW("POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked, gzip\r\n\r\n", ERR_MALFORMED),
	ROW("POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked,\r\n\r\n", ERR_MALFORMED),
	ROW("POST / HTTP/1.1\r\n" H "Transfer-Encoding:\r\n\r\n", ERR_MALFORMED),
	ROW("POST / HTTP/1.1\r\n" H "Transfer-Encoding: \x0b"
	    "chunked\r\n\r\n",
		ERR_MALFORMED),
	ROW("POST / HTTP/1.1\r\n" H "Transfer-Encoding : chunked\r\n\r\n", ERR_MALFORMED),
	ROW("POST / HTTP/1.1\r\n" H "Transfer-Encoding: gzip, chunked\r\n\r\n", ERR_NOT_HERE),
	ROW("POST / HTTP/1.1\r\n" H "Transfer-Encoding: xchunked\r\n\r\n", ERR_NOT_HERE),
	ROW("POST / HTTP/1.1\r\n" H "Transfer-Encoding: identity\r\n\r\n", ERR_NOT_HERE),
	ROW("POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked;a=b\r\n\r\n", ERR_NOT_HERE),
	ROW("POST / HTTP/1.1\r\n" H "Expect: 200-ok\r\n\r\n", ERR_EXPECTATION),
};

TEST(http_parse_heads)
{
	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
		test_step("head %zu: %.60s", i, heads[i].bytes);
		check_all_cuts(
			feed_head, heads[i].bytes, heads[i].len, heads[i].want, heads[i].text);
	}
}

static const struct row bodies[] = {
	ROW("0\r\n\r\n", HTTP_DONE, ""),
	ROW("5\r\nhello\r\n0\r\n\r\nGET", HTTP_DONE, "hello"),
	ROW("1\r\na\r\n002\r\nbc\r\n0000\r\n\r\n", HTTP_DONE, "abc"),
	ROW("A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n", HTTP_DONE, "01234567890123456789"),
	ROW("3;x=y;z=\"q\"\r\nabc\r\n0;last\r\n\r\n", HTTP_DONE, "abc"),
	ROW("3 ; x\r\nabc\r\n0\r\n\r\n", HTTP_DONE, "abc"),
	ROW("3\r\na\r\n\r\n0\r\n\r\n", HTTP_DONE, "a\r\n"),
	ROW("0\r\nX-Sum: 1\r\nY:\r\n\r\n", HTTP_DONE, ""),
	ROW("64\r\n"
	    "0123456789012345678901234567890123456789012345678901234567890123456789"
	    "012345678901234567890123456789\r\n0\r\n\r\n",
		HTTP_DONE),
	ROW("", HTTP_MORE),
	ROW("5\r\nhell", HTTP_MORE),
	ROW("5\r\nhello\r\n0\r\n\r", HTTP_MORE),
	ROW("\r\n", ERR_MALFORMED),
	ROW("g\r\n", ERR_MALFORMED),
	ROW("-1\r\n", ERR_MALFORMED),
	ROW("+1\r\na\r\n", ERR_MALFORMED),
	ROW("0x1\r\na\r\n", ERR_MALFORMED),
	ROW(" 1\r\na\r\n", ERR_MALFORMED),
	ROW("1 \r\na\r\n", ERR_MALFORMED),
	ROW("1 2\r\na\r\n", ERR_MALFORMED),
	ROW("1\na\r\n", ERR_MALFORMED),
	ROW("1\r\r\na", ERR_MALFORMED),
	ROW("1\r\nab\r\n", ERR_MALFORMED),
	ROW("1\r\na\n", ERR_MALFORMED),
	ROW("1\r\na\r0", ERR_MALFORMED),
	ROW("1;a\nb\r\na\r\n", ERR_MALFORMED),
	ROW("1;a\rb\r\na\r\n", ERR_MALFORMED),
	ROW("1;a\0\r\na\r\n", ERR_MALFORMED),
	ROW("1\0\r\na\r\n", ERR_MALFORMED),
	ROW("00000000000000001\r\na\r\n", ERR_MALFORMED),
	ROW("65\r\n", ERR_TOO_LARGE),
	ROW("ffffffffffffffff\r\n", ERR_TOO_LARGE),
	ROW("63\r\n"
	    "0123456789012345678901234567890123456789012345678901234567890123456789"
	    "01234567890123456789012345678\r\n2\r\n",
		ERR_TOO_LARGE),
	ROW("0\r\nX\r\n\r\n", ERR_MALFORMED),
	ROW("0\r\nX : y\r\n\r\n", ERR_MALFORMED),
	ROW("0\r\n: y\r\n\r\n", ERR_MALFORMED),
	ROW("0\r\n X: y\r\n\r\n", ERR_MALFORMED),
	ROW("0\r\nX: y\n\r\n", ERR_MALFORMED),
	ROW("0\r\nX: y\0\r\n\r\n", ERR_MALFORMED),
	ROW("0\r\n\n", ERR_MALFORMED),
	ROW("0\r\n\rx", ERR_MALFORMED),
};

TEST(http_parse_chunked)
{
	for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
		test_step("body %zu: %.40s", i, bodies[i].bytes);
		check_all_cuts(feed_chunked, bodies[i].bytes, bodies[i].len, bodies[i].want,
			bodies[i].text);
	}
}

/* before, then n times fill, then after. */
static void check_long(feeder *feed, const char *before, size_t n, const char *after, int want)
{
	size_t b = strlen(before), e = strlen(after);
	char *bytes = malloc(b + n + e);

	memcpy(bytes, before, b);
	memset(bytes + b, 'a', n);
	memcpy(bytes + b + n, after, e);
	check_all_cuts(feed, bytes, b + n + e, want, NULL);
	free(bytes);
}

TEST(http_parse_maxima)
{
	static const char end[] = " HTTP/1.1\r\n" H "\r\n";
	size_t line = sizeof "GET / HTTP/1.1\r\n" H - 1 + sizeof "X: \r\n" - 1 + 2;

	test_step("target");
	check_long(feed_head, "GET /", HTTP_TARGET_MAX - 1, end, HTTP_DONE);
	check_long(feed_head, "GET /", HTTP_TARGET_MAX, end, ERR_URI_TOO_LONG);
	check_long(feed_head, "GET /", HTTP_TARGET_MAX + 100, end, ERR_URI_TOO_LONG);
	check_long(feed_head, "GET /", HTTP_TARGET_MAX + 100, "", ERR_URI_TOO_LONG);
	check_long(feed_head, "", HTTP_TARGET_MAX + 100, "", ERR_URI_TOO_LONG);
	test_step("head");
	check_long(feed_head, "GET / HTTP/1.1\r\n" H "X: ", MAX_HEAD - line, "\r\n\r\n", HTTP_DONE);
	check_long(feed_head, "GET / HTTP/1.1\r\n" H "X: ", MAX_HEAD - line + 1, "\r\n\r\n",
		ERR_HEADERS_TOO_LARGE);
	check_long(feed_head, "GET / HTTP/1.1\r\n" H "X: ", MAX_HEAD, "", ERR_HEADERS_TOO_LARGE);
	test_step("chunks");
	check_long(feed_chunked, "1;", HTTP_CHUNK_EXTRA - 1, "\r\nb\r\n0\r\n\r\n", HTTP_DONE);
	check_long(feed_chunked, "1;", HTTP_CHUNK_EXTRA, "\r\nb\r\n0\r\n\r\n", ERR_MALFORMED);
	check_long(feed_chunked, "0\r\nX: ", HTTP_TRAILER_MAX, "\r\n\r\n", ERR_HEADERS_TOO_LARGE);
}

TEST(http_parse_questions)
{
	struct http_header list[] = { { "a", "1", 1, 1 }, { "b", "2", 1, 1 }, { "a", "3", 1, 1 } };
	struct http_request r = { .headers = list, .header_count = 3 };

	CHECK_STR(http_header(&r, "a"), "1");
	CHECK_STR(http_header(&r, "b"), "2");
	CHECK(!http_header(&r, "c"));
	CHECK_INT(http_header_count(&r, "a"), 2);
	CHECK_INT(http_header_count(&r, "c"), 0);
}
