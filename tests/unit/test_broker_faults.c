/* test_broker_faults.c - error replies of providers: class, sentence, Retry-After; and token counts. */
#include "broker_fixture.h"

#include <stdlib.h>

#include "base/clock.h"
#include "broker/tokens.h"

static const struct {
	int status;
	const char *body, *class, *code, *part; /* part: of the sentence */
} replies[] = {
	{ 400, "{\"error\":{\"message\":\"This model's maximum context length is 8192 tokens\",\"type\":\"invalid_request_error\",\"param\":\"messages\",\"code\":\"context_length_exceeded\"}}",
		"context_length", "context_length_exceeded", "8192" },
	{ 400, "{\"object\":\"error\",\"message\":\"This model's maximum context length is 4096 tokens.\",\"type\":\"BadRequestError\",\"param\":null,\"code\":400}",
		"context_length", "BadRequestError", "4096" },
	{ 400, "{\"error\":{\"code\":400,\"message\":\"the request exceeds the available context size\",\"type\":\"exceed_context_size_error\"}}",
		"context_length", "exceed_context_size_error", "available" },
	{ 400, "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is too long: 210000 tokens > 200000 maximum\"}}",
		"context_length", "invalid_request_error", "210000" },
	{ 400, "{\"error\":{\"message\":\"Invalid value for temperature\",\"type\":\"invalid_request_error\",\"param\":\"temperature\",\"code\":null}}",
		"refused", "invalid_request_error", "temperature" },
	{ 400, "{\"error\":{\"message\":\"filtered\",\"code\":\"content_filter\"}}",
		"content_filter", "content_filter", "filtered" },
	{ 400, "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"Your credit balance is too low to access the API.\"}}",
		"auth", "invalid_request_error", "credit" },
	{ 401, "{\"error\":{\"message\":\"Incorrect API key provided\",\"code\":\"invalid_api_key\"}}",
		"auth", "invalid_api_key", "Incorrect" },
	{ 403, "", "auth", "", "403" },
	{ 404, "{\"error\":\"model 'x' not found\"}", "refused", "", "'x'" },
	{ 404, "{\"detail\":\"Not Found\"}", "refused", "", "Not Found" },
	{ 408, "", "timeout", "", "408" },
	{ 413, "{\"error\":{\"type\":\"request_too_large\",\"message\":\"too large\"}}", "refused",
		"request_too_large", "too large" },
	{ 422, "{\"detail\":[{\"loc\":[\"body\"],\"msg\":\"bad\"}]}", "refused", "", "422" },
	{ 429, "{\"error\":{\"message\":\"Rate limit reached\",\"code\":\"rate_limit_exceeded\"}}",
		"rate_limited", "rate_limit_exceeded", "reached" },
	{ 500, "<html><body>oops</body></html>", "server", "", "500" },
	{ 502, "", "server", "", "502" },
	{ 503, "{\"error\":{\"message\":\"Loading model\",\"type\":\"unavailable_error\"}}",
		"server", "unavailable_error", "Loading" },
	{ 504, "", "timeout", "", "504" },
	{ 500, "{\"error\":{\"message\":\"the context window broke\",\"type\":\"invalid_request_error\"}}",
		"server", "invalid_request_error", "broke" },
	{ 529, "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}",
		"server", "overloaded_error", "Overloaded" },
	{ 301, "", "malformed", "", "301" },
	{ 400, "[{\"error\":{\"message\":\"in a list\",\"status\":\"INVALID_ARGUMENT\"}}]",
		"refused", "INVALID_ARGUMENT", "in a list" },
	{ 400, "{\"error\":{\"message\":\"a\\u0000b\\nc\\u001bd\"}}", "refused", "", "a" },
	{ 400, "{\"error\":", "refused", "", "400" },
};

TEST(broker_error_replies_have_their_class)
{
	for (size_t i = 0; i < sizeof replies / sizeof *replies; i++) {
		struct fault f;

		test_step("%d %s", replies[i].status, replies[i].body);
		fault_read(
			&f, replies[i].status, NULL, replies[i].body, strlen(replies[i].body), 0);
		CHECK_STR(fault_rows[f.class].word, replies[i].class);
		CHECK_STR(f.code, replies[i].code);
		CHECK_INT(f.status, replies[i].status);
		CHECK(strstr(fault_rows[f.class].fails_over && *f.words ? f.words : f.sentence,
			replies[i].part));
		/* What the provider says of itself or of our account is not for the caller. */
		if (fault_rows[f.class].fails_over)
			CHECK(!*f.words || !strstr(f.sentence, f.words));
		CHECK(!strpbrk(f.sentence, "\n\x1b<"));
	}
}

TEST(broker_only_faults_of_the_provider_fail_over)
{
	static const enum fault_class stay[] = { FAULT_REFUSED, FAULT_CONTEXT_LENGTH,
		FAULT_CONTENT_FILTER, FAULT_MEMORY };
	int staying = 0;

	for (int i = 0; i < FAULT_COUNT; i++)
		staying += !fault_rows[i].fails_over;
	CHECK_INT(staying, 4);
	for (size_t i = 0; i < 4; i++)
		CHECK(!fault_rows[stay[i]].fails_over);
}

TEST(broker_a_long_sentence_is_cut_at_a_whole_character)
{
	char body[4096] = "{\"error\":{\"message\":\"";
	struct fault f;

	while (strlen(body) < 3000)
		strcat(body, "x\xe4\xbd\xa0");
	strcat(body, "\"}}");
	fault_read(&f, 400, NULL, body, strlen(body), 0);
	CHECK(utf8_valid(f.sentence, strlen(f.sentence)));
	CHECK(strlen(f.sentence) > FAULT_TEXT_MAX - 8);
}

TEST(broker_retry_after_is_seconds_or_a_date_within_bounds)
{
	const int64_t now = INT64_C(784111777) * SECOND_US; /* Sun, 06 Nov 1994 08:49:37 GMT */

	CHECK_INT(retry_after_read("20", now), 20);
	CHECK_INT(retry_after_read("0.2", now), 1);
	CHECK_INT(retry_after_read("0", now), 0);
	CHECK_INT(retry_after_read("-5", now), 0);
	CHECK_INT(retry_after_read("1e300", now), RETRY_AFTER_MAX_S);
	CHECK_INT(retry_after_read("999999999999", now), RETRY_AFTER_MAX_S);
	CHECK_INT(retry_after_read("nan", now), 0);
	CHECK_INT(retry_after_read("soon", now), 0);
	CHECK_INT(retry_after_read("", now), 0);
	CHECK_INT(retry_after_read(NULL, now), 0);
	CHECK_INT(retry_after_read("Sun, 06 Nov 1994 08:50:07 GMT", now), 30);
	CHECK_INT(retry_after_read("Sun, 06 Nov 1994 08:49:00 GMT", now), 0);
	CHECK_INT(retry_after_read("Mon, 07 Nov 1994 08:49:37 GMT", now), RETRY_AFTER_MAX_S);
}

TEST(broker_a_refusal_arrives_as_an_error_with_its_wait)
{
	struct reply *r = calloc(1, sizeof *r);
	struct transcript t;

	transcript_open(&t);
	reply_open(r, &(struct reply_asked){ .provider = &provider_anthropic,
			      .sink = { transcript_take, &t },
			      .streamed = true });
	reply_head(r, 429, "application/json", "7");
	reply_feed(r, "{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",", 51);
	for (int i = 0; i < 100; i++)
		reply_feed(r, "                                                ", 48);
	reply_feed(r, "\"message\":\"m\"}}", 15);
	reply_end(r);
	CHECK_STR(transcript_text(&t), "error rate_limited\n");
	CHECK_INT(t.fault.retry_after_s, 7);
	CHECK_INT(t.fault.status, 429);
	transcript_close(&t);
	reply_close(r);
	free(r);
}

/* Counted once more, byte by byte. */
static int64_t count_plainly(const char *p)
{
	int64_t eighths = 0;

	for (; *p; p++) {
		unsigned char c = (unsigned char)*p;
		bool quarter = c <= ' ' || c == '\\' || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');

		eighths += c >= 0xf0   ? 12
			   : c >= 0xe0 ? 6
			   : c >= 0xc0 ? 3
			   : c >= 0x80 ? 0
			   : quarter   ? 2
				       : 4;
	}
	return (eighths + 7) / 8;
}

static int64_t count(const char *escaped)
{
	struct tokens t = { 0 };

	tokens_add(&t, (struct slice){ escaped, strlen(escaped) });
	return tokens_count(&t);
}

TEST(broker_tokens_are_counted_by_the_stated_rule)
{
	CHECK_INT(count(""), 0);
	CHECK_INT(count("a"), 1);
	CHECK_INT(count("abcd"), 1);
	CHECK_INT(count("abcde"), 2);
	CHECK_INT(count("AbYz zZaA [@`{ 0189 /:"), 8); /* 13 quarters and 10 halves, with room */
	CHECK_INT(count("a\\nb"), 1);
	CHECK_INT(count("\xe4\xbd\xa0\xe5\xa5\xbd\xe4\xbd\xa0\xe5\xa5\xbd"), 3);
	CHECK_INT(count("\xf0\x9f\x98\x80\xf0\x9f\x98\x80"), 3);
	CHECK_INT(count("\xd0\xbf\xd1\x80\xd0\xb8\xd0\xb2\xd0\xb5\xd1\x82\xd0\xbf\xd1\x80"), 3);
	CHECK_INT(count("{}[]{}[]{}[]{}[]{}[]{}[]{}[]{}[]abc"), 17);
}

TEST(broker_tokens_are_counted_alike_at_any_length)
{
	char text[700];

	for (size_t len = 0; len < sizeof text; len++) {
		for (size_t i = 0; i < len; i++)
			text[i] = (char)(1 + (i * 37 + len) % 255);
		text[len] = '\0';
		CHECK_INT(count(text), count_plainly(text));
	}
}

TEST(broker_tokens_do_not_depend_on_the_pieces)
{
	static const char text[] = "Some words, then more-or-less 12345678 of them.";
	struct tokens whole = { 0 };

	tokens_add(&whole, SLICE(text));
	for (size_t at = 0; at < sizeof text; at++) {
		struct tokens t = { 0 };

		tokens_add(&t, (struct slice){ text, at });
		tokens_add(&t, (struct slice){ text + at, sizeof text - 1 - at });
		CHECK_INT(tokens_count(&t), tokens_count(&whole));
	}
}
