/* test_broker_streams.c - replies of every provider: whole, cut anywhere, split anywhere, broken anywhere. */
#include "broker_fixture.h"

#include <stdlib.h>

TEST(broker_recordings_become_their_events)
{
	for (size_t i = 0; i < recording_count; i++) {
		test_step("%s", recordings[i].name);
		broker_fixture_agrees(&recordings[i]);
	}
}

static bool is_stream(const struct recording *rec)
{
	return strncmp(rec->type, "text/event-stream", 17) == 0;
}

/* Every position of a long recording takes minutes under the sanitizers; some sixty of them, the
 * first and last among them, take seconds.  `./test full` asks for all. */
static size_t next(size_t at, size_t len)
{
	size_t step = getenv("LODGE_TEST_EVERY") ? 1 : len / 64 + 1;

	return at + step < len || at >= len - 1 ? at + step : len - 1;
}

TEST(broker_events_do_not_depend_on_where_bytes_are_split)
{
	for (size_t i = 0; i < recording_count; i++) {
		const struct recording *rec = &recordings[i];
		size_t len = strlen(rec->bytes);

		for (size_t at = 0; at <= len; at = next(at, len + 1)) {
			struct transcript t;

			test_step("%s, split at %zu", rec->name, at);
			broker_fixture_read(&t, rec->provider, rec->type, rec->bytes, len, at);
			CHECK_STR(transcript_text(&t), rec->events);
			transcript_close(&t);
		}
	}
}

TEST(broker_events_are_the_same_byte_by_byte)
{
	for (size_t i = 0; i < recording_count; i++) {
		const struct recording *rec = &recordings[i];
		struct reply *r = calloc(1, sizeof *r);
		struct transcript t;

		test_step("%s", rec->name);
		transcript_open(&t);
		reply_open(r, &(struct reply_asked){ .provider = rec->provider,
				      .sink = { transcript_take, &t },
				      .tag = "t1",
				      .prompt_tokens = BROKER_FIXTURE_PROMPT });
		reply_head(r, 200, rec->type, NULL);
		for (const char *p = rec->bytes; *p; p++)
			reply_feed(r, p, 1);
		reply_end(r);
		CHECK_STR(transcript_text(&t), rec->events);
		transcript_close(&t);
		reply_close(r);
		free(r);
	}
}

/* What is shown of a broken reply is how the whole one begins. */
static bool begins_alike(const char *broken, const char *whole)
{
	const char *usage = strstr(broken, "usage "), *error = strstr(broken, "error ");
	const char *end = usage ? usage : error;

	if (usage == broken + 6) /* it was not begun, but will be charged */
		return true;
	return end && strncmp(broken, whole, (size_t)(end - broken)) == 0;
}

TEST(broker_a_reply_cut_at_any_byte_is_an_error)
{
	for (size_t i = 0; i < recording_count; i++) {
		const struct recording *rec = &recordings[i];
		const char *done = strstr(rec->bytes, "[DONE]");
		size_t len = strlen(rec->bytes),
		       whole = done ? (size_t)(done - rec->bytes) + 6 : len;

		if (!strstr(rec->events, "finish "))
			continue;
		if (!done && is_stream(rec)) /* the last line end is not needed to know the end */
			whole = len;
		for (size_t at = 0; at < whole; at = next(at, whole)) {
			struct transcript t;

			test_step("%s, cut at %zu", rec->name, at);
			broker_fixture_read(&t, rec->provider, rec->type, rec->bytes, at, at);
			CHECK(t.failed);
			CHECK(begins_alike(transcript_text(&t), rec->events));
			transcript_close(&t);
		}
	}
}

/* A byte turned into one that must not be there: never a crash, never two ends, and in what is
 * JSON always an error. */
TEST(broker_a_bad_byte_anywhere_never_passes_for_text)
{
	static const char bad[] = { '\0', '\xff', '\xc0', '\x01' };

	for (size_t i = 0; i < recording_count; i++) {
		const struct recording *rec = &recordings[i];
		size_t len = strlen(rec->bytes);
		char *bytes = malloc(len);

		for (size_t at = 0; at < len; at = next(at, len))
			for (size_t b = at % 2; b < sizeof bad; b += 2) {
				struct transcript t;

				test_step("%s, byte %zu is %02x", rec->name, at,
					(unsigned char)bad[b]);
				memcpy(bytes, rec->bytes, len);
				bytes[at] = bad[b];
				broker_fixture_read(&t, rec->provider, rec->type, bytes, len, len);
				CHECK(utf8_valid(t.text.at, t.text.len));
				CHECK(!memchr(t.text.at, '\0', t.text.len));
				if (!is_stream(rec))
					CHECK(t.failed);
				transcript_close(&t);
			}
		free(bytes);
	}
}

static void replace(struct buf *out, const char *text, const char *line_end)
{
	for (; *text; text++)
		if (*text == '\n')
			buf_puts(out, line_end);
		else if (*text != '\r')
			buf_putc(out, *text);
}

TEST(broker_streams_may_end_lines_as_they_like)
{
	static const char *const ends[] = { "\n", "\r\n", "\r" };

	for (size_t i = 0; i < recording_count; i++)
		for (size_t e = 0; e < 3 && is_stream(&recordings[i]); e++) {
			struct transcript t;
			struct buf b;

			test_step("%s, line end %zu", recordings[i].name, e);
			buf_init(&b, 1 << 20);
			buf_lit(&b, "\xef\xbb\xbf");
			replace(&b, recordings[i].bytes, ends[e]);
			broker_fixture_read(&t, recordings[i].provider, recordings[i].type, b.at,
				b.len, b.len / 2);
			CHECK_STR(transcript_text(&t), recordings[i].events);
			transcript_close(&t);
			buf_free(&b);
		}
}

static void check_huge(const char *type, size_t size, const char *wanted)
{
	struct transcript t;
	struct buf b;

	buf_init(&b, size + 4096);
	buf_puts(&b, type[0] == 't' ? "data: " : "");
	buf_lit(&b, "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"");
	while (b.len < size)
		buf_lit(&b, "0123456789abcdef0123456789abcdef");
	buf_lit(&b, "\"},\"finish_reason\":\"stop\"}]}");
	buf_puts(&b, type[0] == 't' ? "\n\ndata: [DONE]\n\n" : "");
	for (int split = 0; split < 2; split++) {
		broker_fixture_read(
			&t, &provider_openai, type, b.at, b.len, split ? b.len / 3 : b.len);
		test_step("%s of %zu bytes, split %d", type, size, split);
		CHECK(strstr(transcript_text(&t), wanted));
		transcript_close(&t);
	}
	buf_free(&b);
}

TEST(broker_sizes_are_bounded)
{
	check_huge("text/event-stream", SSE_EVENT_MAX - 4096, "finish stop");
	check_huge("text/event-stream", SSE_EVENT_MAX + 4096, "error malformed");
	check_huge("application/json", REPLY_BODY_MAX + 4096, "error malformed");
}

TEST(broker_a_reply_may_not_call_tools_without_end)
{
	struct transcript t;
	struct buf b;

	buf_init(&b, 1 << 20);
	for (int i = 0; i <= REPLY_CALLS_MAX; i++)
		buf_printf(&b,
			"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":%d,\"function\":{\"name\":\"f\"}}]}}]}\n\n",
			i);
	broker_fixture_read(&t, &provider_openai, "text/event-stream", b.at, b.len, b.len);
	CHECK(strstr(transcript_text(&t), "error malformed"));
	transcript_close(&t);
	buf_free(&b);
}

static void check_usage(const char *bytes, const char *wanted)
{
	struct transcript t;

	test_step("%s", bytes);
	broker_fixture_read(&t, &provider_openai, "text/event-stream", bytes, strlen(bytes), 0);
	if (!strstr(transcript_text(&t), wanted))
		test_fail(__FILE__, __LINE__, "\"%s\" is not in %s", wanted, transcript_text(&t));
	transcript_close(&t);
}

#define SAID(text, usage)                                                                          \
	"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" text "\"}}],\"usage\":" usage \
	"}\n\n"
#define DONE "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"

TEST(broker_usage_that_cannot_be_the_last_is_an_estimate)
{
	/* Figures in every chunk, and then the stream breaks. */
	check_usage(SAID("Hello there, you", "{\"prompt_tokens\":7,\"completion_tokens\":1}"),
		"usage 7 0 0 5 0 estimated\nerror cut\n");
	/* Figures of the prompt alone. */
	check_usage(SAID("Hello there, you", "{\"prompt_tokens\":7,\"completion_tokens\":0}") DONE,
		"usage 7 0 0 5 0 estimated\nfinish stop\n");
	check_usage(SAID("", "{\"prompt_tokens\":7,\"completion_tokens\":0}") DONE,
		"usage 7 0 0 0 0\nfinish stop\n");
}

TEST(broker_what_the_connection_says_ends_the_reply_once)
{
	struct reply *r = calloc(1, sizeof *r);
	struct transcript t;

	transcript_open(&t);
	reply_open(r, &(struct reply_asked){ .provider = &provider_openai,
			      .sink = { transcript_take, &t },
			      .streamed = true });
	reply_fail(r, FAULT_CONNECT, NULL);
	reply_feed(r, "x", 1);
	reply_end(r);
	CHECK_STR(transcript_text(&t), "error connect\n");
	CHECK_STR(t.fault.sentence, "The model provider could not be reached.");
	transcript_close(&t);
	reply_close(r);
	free(r);
}
