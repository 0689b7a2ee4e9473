/* test_broker_out.c - replies in OpenAI's shape, and the demonstration model behind them. */
#include "broker_fixture.h"

#include <stdlib.h>

#include "broker/openai_out.h"
#include "oracle.h"

#define HEAD \
	"{\"id\":\"chatcmpl-9\",\"object\":\"chat.completion.chunk\",\"created\":5,\"model\":\"my\",\"choices\":["
#define CHUNK(delta, reason)                           \
	"data: " HEAD "{\"index\":0,\"delta\":{" delta \
	"},\"logprobs\":null,\"finish_reason\":" reason "}],\"usage\":null}\n\n"

/* Reads a recording and writes it out again. */
static const char *through(
	const struct recording *rec, bool stream, bool usage, struct buf *out, int *ret_status)
{
	struct reply *r = calloc(1, sizeof *r);
	struct openai_out o;

	buf_init(out, 16 << 20);
	openai_out_open(&o,
		&(struct openai_out_asked){ .id = "chatcmpl-9",
			.model = SLICE("my"),
			.created_s = 5,
			.stream = stream,
			.include_usage = usage },
		out);
	reply_open(r, &(struct reply_asked){ .provider = rec->provider,
			      .sink = { openai_out_take, &o },
			      .tag = "t1",
			      .prompt_tokens = BROKER_FIXTURE_PROMPT,
			      .streamed = true });
	reply_head(r, 200, rec->type, NULL);
	reply_feed(r, rec->bytes, strlen(rec->bytes));
	reply_end(r);
	CHECK(o.ended);
	if (ret_status)
		*ret_status = o.status;
	reply_close(r);
	free(r);
	openai_out_close(&o);
	buf_putc(out, '\0');
	return out->at;
}

static const struct recording *named(const char *name)
{
	for (size_t i = 0; i < recording_count; i++)
		if (strcmp(recordings[i].name, name) == 0)
			return &recordings[i];
	test_fail(__FILE__, __LINE__, "there is no recording \"%s\"", name);
	return recordings;
}

TEST(broker_out_streams_chunks)
{
	struct buf b;

	CHECK_STR(through(named("openai text"), true, true, &b, NULL),
		CHUNK("\"role\":\"assistant\",\"content\":\"\"", "null") CHUNK(
			"\"content\":\"Hel\"", "null")
			CHUNK("\"content\":\"lo, \\\"you\\\"\\n\xc3\xa9\xe4\xbd\xa0\xf0\x9f\x98\x80\"",
				"null") CHUNK("",
				"\"stop\"") "data: " HEAD
					    "],\"usage\":{\"prompt_tokens\":19,\"completion_tokens\":10,\"total_tokens\":29,"
					    "\"prompt_tokens_details\":{\"cached_tokens\":0,\"cache_write_tokens\":0},\"completion_tokens_details\":{\"reasoning_tokens\":0}}}\n\n"
					    "data: [DONE]\n\n");
	buf_free(&b);
}

TEST(broker_out_streams_tool_calls_with_their_index)
{
	struct buf b;

	CHECK_STR(through(named("openai tools in parallel"), true, true, &b, NULL),
		CHUNK("\"role\":\"assistant\",\"content\":\"\"", "null") CHUNK(
			"\"tool_calls\":[{\"index\":0,\"id\":\"call_a\",\"type\":\"function\",\"function\":{\"name\":\"weather\",\"arguments\":\"\"}}]",
			"null") CHUNK("\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{\\\"city\\\":\"}}]",
			"null") CHUNK("\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"\\\"Oslo\\\"}\"}}]",
			"null") CHUNK("\"tool_calls\":[{\"index\":1,\"id\":\"call_b\",\"type\":\"function\",\"function\":{\"name\":\"time\",\"arguments\":\"\"}}]",
			"null") CHUNK("\"tool_calls\":[{\"index\":1,\"function\":{\"arguments\":\"{}\"}}]",
			"null") CHUNK("",
			"\"tool_calls\"") "data: " HEAD
					  "],\"usage\":{\"prompt_tokens\":19,\"completion_tokens\":10,\"total_tokens\":29,"
					  "\"prompt_tokens_details\":{\"cached_tokens\":0,\"cache_write_tokens\":0},\"completion_tokens_details\":{\"reasoning_tokens\":0}}}\n\n"
					  "data: [DONE]\n\n");
	buf_free(&b);
}

TEST(broker_out_counts_as_openai_does)
{
	struct buf b;

	CHECK_STR(through(named("anthropic thinking, then tools in parallel"), false, false, &b,
			  NULL),
		"{\"id\":\"chatcmpl-9\",\"object\":\"chat.completion\",\"created\":5,\"model\":\"my\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"Checking.\",\"refusal\":null,\"reasoning_content\":\"Hm.\","
		"\"tool_calls\":[{\"id\":\"toolu_1\",\"type\":\"function\",\"function\":{\"name\":\"weather\",\"arguments\":\"{\\\"city\\\": \\\"Oslo\\\"}\"}},{\"id\":\"toolu_2\",\"type\":\"function\",\"function\":{\"name\":\"now\",\"arguments\":\"{}\"}}]},"
		"\"logprobs\":null,\"finish_reason\":\"tool_calls\"}],\"usage\":{\"prompt_tokens\":130213,\"completion_tokens\":89,\"total_tokens\":130302,\"prompt_tokens_details\":{\"cached_tokens\":128955,\"cache_write_tokens\":1253},\"completion_tokens_details\":{\"reasoning_tokens\":12}}}");
	buf_free(&b);
}

/* Whatever came in: whole replies are one JSON value; [DONE] stands at the end of clean streams and
 * nowhere else; usage only where it was asked for. */
TEST(broker_out_is_well_formed_whatever_came)
{
	for (size_t i = 0; i < recording_count; i++) {
		const struct recording *rec = &recordings[i];
		bool good = strstr(rec->events, "finish ") != NULL;
		const char *text;
		struct buf b;
		int status;

		test_step("%s", rec->name);
		text = through(rec, false, false, &b, &status);
		CHECK(oracle_accepts(text, strlen(text)));
		CHECK_INT(strstr(text, "\"chat.completion\"") != NULL, good);
		CHECK_INT(strncmp(text, "{\"error\":{\"message\":\"", 20) == 0, !good);
		CHECK_INT(status == 200, good);
		buf_free(&b);
		text = through(rec, true, false, &b, &status);
		CHECK_INT(strlen(text) > 14 &&
				  strcmp(text + strlen(text) - 14, "data: [DONE]\n\n") == 0,
			good);
		CHECK_INT(strstr(text, "[DONE]") != NULL, good);
		CHECK_INT(strstr(text, "data: {\"error\":") != NULL, !good);
		CHECK(!strstr(text, "usage"));
		buf_free(&b);
	}
}

/* What we write out, our own reader takes for the same reply. */
TEST(broker_out_reads_back_the_same)
{
	for (size_t i = 0; i < recording_count; i++) {
		struct transcript first, again;
		struct recording back = recordings[i];
		struct buf b;

		if (!strstr(back.events, "finish ") || strstr(back.events, "seal ") ||
			strstr(back.events, "logprobs") || strstr(back.events, "estimated"))
			continue;
		test_step("%s", back.name);
		broker_fixture_read(
			&first, back.provider, back.type, back.bytes, strlen(back.bytes), 0);
		through(&back, true, true, &b, NULL);
		broker_fixture_read(
			&again, &provider_openai, "text/event-stream", b.at, b.len - 1, 0);
		/* Ids and the order in which calls end are ours now; the rest is the same. */
		CHECK_STR(strstr(transcript_text(&again), "usage "),
			strstr(transcript_text(&first), "usage "));
		CHECK_INT(again.failed, false);
		transcript_close(&first);
		transcript_close(&again);
		buf_free(&b);
	}
}

/* ---- the demonstration model ---- */

static const char *converse(struct chat *c, const struct target *target, struct transcript *t)
{
	struct reply *r = calloc(1, sizeof *r);
	void *state = provider_demo.open(c->arena, c, target);

	transcript_open(t);
	reply_open(r, &(struct reply_asked){ .provider = &provider_demo,
			      .sink = { transcript_take, t },
			      .tag = "t1",
			      .prompt_tokens = chat_tokens(c) });
	while (provider_demo.speak(state, r))
		;
	CHECK_INT(t->ends, 1);
	reply_close(r);
	free(r);
	return transcript_text(t);
}

static void check_demo(const char *said, const char *wanted)
{
	const struct target target = { .model = "demo" };
	struct arena a = { 0 };
	struct transcript t;
	struct chat c;

	test_step("%s", said);
	chat_open(&c, &a);
	chat_message_add(&c, CHAT_SYSTEM, "count to 3");
	chat_tool_add(&c, "add", NULL, NULL);
	chat_tool_add(&c, "now", NULL, NULL);
	chat_message_add(&c, CHAT_USER, said);
	converse(&c, &target, &t);
	if (!strstr(transcript_text(&t), wanted))
		test_fail(__FILE__, __LINE__, "\"%s\" is not in %s", wanted, transcript_text(&t));
	transcript_close(&t);
	arena_free(&a);
}

TEST(broker_demo_stops_where_it_is_told_to)
{
	static const struct {
		const char *said, *stop[3], *wanted;
	} rows[] = {
		{ "count to 5", { "3" }, "start t1 demo\ntext 1 \ntext 2 \nusage " },
		{ "count to 5", { "4", "2 3" }, "start t1 demo\ntext 1 \nusage " },
		{ "count to 12", { "1 12" }, "text 10 \ntext 1\nusage " },
		{ "count to 3", { "1" }, "start t1 demo\nusage " },
		{ "count to 3", { "x", "" }, "text 1 \ntext 2 \ntext 3\nusage " },
		{ "use tool add with {\"a\": 1}", { "a" }, "args 0 {\\\"a\\\": 1}\nend 0\n" },
	};
	const struct target target = { .model = "demo" };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct arena a = { 0 };
		struct transcript t;
		struct chat c;

		test_step("%s, and stop at %s", rows[i].said, rows[i].stop[0]);
		chat_open(&c, &a);
		chat_tool_add(&c, "add", NULL, NULL);
		chat_message_add(&c, CHAT_USER, rows[i].said);
		for (int k = 0; rows[i].stop[k]; k++)
			chat_stop_add(&c, chat_text(&c, rows[i].stop[k]));
		converse(&c, &target, &t);
		if (!strstr(transcript_text(&t), rows[i].wanted))
			test_fail(__FILE__, __LINE__, "\"%s\" is not in %s", rows[i].wanted,
				transcript_text(&t));
		CHECK(strstr(transcript_text(&t), "finish ") != NULL);
		CHECK(!strstr(transcript_text(&t), "finish length"));
		transcript_close(&t);
		arena_free(&a);
	}
}

TEST(broker_demo_answers_by_its_rules)
{
	check_demo("Please count to 4", "start t1 demo\ntext 1 \ntext 2 \ntext 3 \ntext 4\nusage ");
	check_demo("count to 99999999999999999999", "at \ntext most.");
	check_demo("count words: a b c", "text 3 \ntext words.");
	check_demo(
		"Who are you?", "text demonstration \ntext model, \ntext not \ntext an \ntext AI");
	check_demo("hello \"there\"\n\xc3\xa9", "demonstration");
	check_demo("hello \"there\"\n\xc3\xa9",
		"text \\\"hello \ntext \\\"there\\\"\\n\ntext \xc3\xa9\\\"\nusage ");
	check_demo("", "0 \ntext words");
	check_demo("use tool add with {\"a\": 1}",
		"start t1 demo\ncall 0 call_t1_0 add\nargs 0 {\\\"a\\\": 1}\nend 0\nusage ");
	check_demo("Use the tool now.", "call 0 call_t1_0 now\nargs 0 {}\nend 0\n");
	check_demo("use tool add with {\"a\":1} and use tool now",
		"end 0\ncall 1 call_t1_1 now\nargs 1 {}\nend 1\nusage ");
	check_demo("use tool add with {broken", "args 0 {}\n");
	check_demo("use tool fly",
		"no \ntext tool \ntext named \ntext \\\"fly\\\". \ntext I \ntext have: \ntext add, \ntext now.");
}

/* A message made to keep it busy costs what any message of its length does. */
TEST(broker_demo_is_not_kept_busy)
{
	const struct target target = { .model = "demo" };
	struct arena a = { 0 };
	struct transcript t;
	struct chat c;
	struct buf b;

	buf_init(&b, 2 << 20);
	while (b.len < 1 << 20)
		buf_lit(&b, "use tool f ");
	buf_putc(&b, '\0');
	chat_open(&c, &a);
	for (int i = 0; i < 20000; i++)
		chat_tool_add(&c, "f", NULL, NULL);
	chat_message_add(&c, CHAT_USER, b.at);
	converse(&c, &target, &t);
	CHECK(strstr(transcript_text(&t), "end 7\nusage "));
	transcript_close(&t);
	arena_free(&a);
	buf_free(&b);
}

TEST(broker_demo_reports_what_tools_said)
{
	const struct target target = { .model = "demo" },
			    brief = { .model = "demo", .max_tokens = 2 };
	struct chat_message *m;
	struct arena a = { 0 };
	struct transcript t;
	struct chat c;

	chat_open(&c, &a);
	chat_message_add(&c, CHAT_USER, "use tool add");
	m = chat_message_add(&c, CHAT_ASSISTANT, NULL);
	chat_call_add(&c, m, "x1", "add", "{}");
	chat_call_add(&c, m, "x2", "now", "{}");
	chat_result_add(&c, "x1", "3");
	chat_result_add(&c, "x2", "noon");
	CHECK_STR(converse(&c, &target, &t),
		"start t1 demo\ntext The \ntext tool \ntext add \ntext answered: \ntext 3\\n\ntext The \ntext tool \ntext now \ntext answered: \ntext noon\nusage 32 0 0 14 0\nfinish stop\n");
	transcript_close(&t);
	CHECK_STR(converse(&c, &brief, &t),
		"start t1 demo\ntext The \nusage 32 0 0 1 0\nfinish length\n");
	transcript_close(&t);
	arena_free(&a);
}
