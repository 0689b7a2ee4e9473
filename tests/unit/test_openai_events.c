/* test_openai_events.c - the streams of OpenAI's protocol, byte for byte. */
#include "t.h"

#include "broker/openai_out.h"
#include "openai/openai_events.h"

static const char *text_of(struct arena *a, struct buf *b)
{
	const char *text = arena_strndup(a, b->at ? b->at : "", b->len);

	b->len = 0;
	return text;
}

static struct ResponseObject some_response(const char *status)
{
	return (struct ResponseObject){ .id = "r1",
		.object = "response",
		.created_at = 5,
		.status = status,
		.completed_at = NIL,
		.metadata = { "{}" },
		.model = "my",
		.output = { "[]" },
		.parallel_tool_calls = true,
		.store = true,
		.text = { "{\"format\":{\"type\":\"text\"}}" },
		.tool_choice = { "\"auto\"" },
		.truncation = "disabled" };
}

#define WHOLE(status)                                                                                                 \
	"{\"id\":\"r1\",\"object\":\"response\",\"created_at\":5,\"status\":\"" status                                \
	"\",\"background\":false,\"completed_at\":null,\"error\":null,"                                               \
	"\"incomplete_details\":null,\"instructions\":null,\"max_output_tokens\":null,"                               \
	"\"metadata\":{},\"model\":\"my\",\"output\":[],\"parallel_tool_calls\":true,"                                \
	"\"previous_response_id\":null,\"conversation\":null,\"reasoning\":null,\"store\":true,\"temperature\":null," \
	"\"text\":{\"format\":{\"type\":\"text\"}},\"tool_choice\":\"auto\",\"tools\":[],"                            \
	"\"top_p\":null,\"truncation\":\"disabled\",\"usage\":null,\"user\":null,"                                    \
	"\"prompt_cache_key\":null,\"safety_identifier\":null,\"service_tier\":null,"                                 \
	"\"top_logprobs\":null,\"max_tool_calls\":null}"
#define EVENT(name, seq, members)                                                                  \
	"event: response." name "\ndata: {\"type\":\"response." name "\",\"sequence_number\":" seq \
	"," members "}\n\n"
#define IN_MESSAGE "\"item_id\":\"msg_r1_0\",\"output_index\":0,\"content_index\":0,"
#define PART(text) \
	"{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":\"" text "\"}"
#define MESSAGE(status, content)                                               \
	"{\"id\":\"msg_r1_0\",\"type\":\"message\",\"status\":\"" status "\"," \
	"\"role\":\"assistant\",\"content\":[" content "]}"
#define CALL(status, arguments)                                                     \
	"{\"id\":\"fc_r1_1\",\"type\":\"function_call\",\"status\":\"" status "\"," \
	"\"call_id\":\"call\\\"1\",\"name\":\"add\",\"arguments\":\"" arguments "\"}"
#define IN_CALL "\"item_id\":\"fc_r1_1\",\"output_index\":1,"
#define APPROVAL                                                                                \
	"{\"id\":\"a1\",\"type\":\"mcp_approval_request\",\"server_label\":\"lodge\",\"name\":" \
	"\"refund\",\"arguments\":\"{}\"}"

TEST(openai_events_of_a_response)
{
	struct ResponseObject begun = some_response("in_progress"),
			      done = some_response("completed");
	struct ResponseObject cancelled = some_response("cancelled");
	const struct response_call call = {
		.call_id = "call\"1", .name = "add", .arguments = "{\"a\":1}"
	};
	struct response_out o;
	struct arena a = { 0 };
	struct buf b;

	buf_init(&b, 1 << 20);
	response_out_open(&o, &b, "r1");
	response_out_begin(&o, &begun);
	CHECK_STR(text_of(&a, &b),
		EVENT("created", "0", "\"response\":" WHOLE("in_progress"))
			EVENT("in_progress", "1", "\"response\":" WHOLE("in_progress")));

	test_step("words");
	response_out_text(&o, "", false);
	response_out_text(&o, "Hi \"you\"", false);
	response_out_text(&o, "\n\xc3\xa9", false);
	CHECK_STR(text_of(&a, &b),
		EVENT("output_item.added", "2",
			"\"output_index\":0,\"item\":" MESSAGE("in_progress", ""))
			EVENT("content_part.added", "3", IN_MESSAGE "\"part\":" PART("")) EVENT(
				"output_text.delta", "4",
				IN_MESSAGE "\"logprobs\":[],\"delta\":\"Hi \\\"you\\\"\"")
				EVENT("output_text.delta", "5",
					IN_MESSAGE "\"logprobs\":[],\"delta\":\"\\n\xc3\xa9\""));
	response_out_text_end(&o, NULL, NULL, true);
	CHECK_STR(text_of(&a, &b),
		EVENT("output_text.done", "6",
			IN_MESSAGE "\"logprobs\":[],\"text\":\"Hi \\\"you\\\"\\n\xc3\xa9\"")
			EVENT("content_part.done", "7",
				IN_MESSAGE "\"part\":" PART("Hi \\\"you\\\"\\n\xc3\xa9"))
				EVENT("output_item.done", "8",
					"\"output_index\":0,\"item\":" MESSAGE(
						"completed", PART("Hi \\\"you\\\"\\n\xc3\xa9"))));

	test_step("a call, whose id may be anything");
	response_out_call_begin(&o, 0, &call);
	response_out_arguments(&o, 0, call.arguments);
	response_out_call_end(&o, 0, &call);
	CHECK_STR(text_of(&a, &b),
		EVENT("output_item.added", "9",
			"\"output_index\":1,\"item\":" CALL(
				"in_progress", "")) EVENT("function_call_arguments.delta", "10",
			IN_CALL "\"delta\":\"{\\\"a\\\":1}\"") EVENT("function_call_arguments.done",
			"11", IN_CALL "\"name\":\"add\",\"arguments\":\"{\\\"a\\\":1}\"")
			EVENT("output_item.done", "12",
				"\"output_index\":1,\"item\":" CALL("completed", "{\\\"a\\\":1}")));

	test_step("a call that needs a person's word");
	response_out_approval(&o, "a1", "refund", "{}");
	CHECK_STR(text_of(&a, &b),
		EVENT("output_item.added", "13", "\"output_index\":2,\"item\":" APPROVAL)
			EVENT("output_item.done", "14", "\"output_index\":2,\"item\":" APPROVAL));
	CHECK_STR(response_out_items(&o, &a),
		"[" MESSAGE("completed", PART("Hi \\\"you\\\"\\n\xc3\xa9")) "," CALL(
			"completed", "{\\\"a\\\":1}") "," APPROVAL "]");

	test_step("its end; one that was cancelled has failed");
	response_out_end(&o, &done);
	response_out_end(&o, &cancelled);
	CHECK_STR(text_of(&a, &b),
		EVENT("completed", "15", "\"response\":" WHOLE("completed"))
			EVENT("failed", "16", "\"response\":" WHOLE("cancelled")));
	response_out_close(&o);
	buf_free(&b);
	arena_free(&a);
}

TEST(openai_events_of_a_response_nobody_listens_to)
{
	struct response_out o;
	struct arena a = { 0 };

	response_out_open(&o, NULL, "r1");
	response_out_text(&o, "Hal", false);
	response_out_text_end(&o, "Half", NULL, false);
	CHECK_STR(response_out_items(&o, &a), "[" MESSAGE("incomplete", PART("Half")) "]");
	response_out_close(&o);
	arena_free(&a);
}

/* ---- a chat completion ---- */

/* What the walker writes of the event that the gateway writes by hand. */
static void write_by_tables(struct buf *out, const struct event *e, bool usage)
{
	struct ChatCompletionFunctionDelta function = { .arguments = "{\"a\":\"\xc3\xa9\"}" };
	struct ChatCompletionCallDelta call = { .index = e->index, .function = &function };
	struct ChatCompletionDelta delta = { 0 };
	struct ChatCompletionPiece piece = { .delta = &delta,
		.logprobs = { e->logprobs.at ? "{\"content\":[]}" : NULL } };
	struct ChatCompletionChunk chunk = { .id = "chatcmpl-9",
		.object = "chat.completion.chunk",
		.created = 5,
		.model = "my \"model\"",
		.choices = { &piece, 1 } };

	if (e->kind == EVENT_START) {
		delta.role = "assistant";
		delta.content = "";
	} else if (e->kind == EVENT_TEXT) {
		delta.content = "Hi \"you\"\n";
	} else if (e->kind == EVENT_THOUGHT) {
		delta.reasoning_content = "Hm\\";
	} else if (e->kind == EVENT_FINISH) {
		piece.finish_reason = "length";
	} else {
		delta.tool_calls = (struct list){ &call, 1 };
	}
	if (e->kind == EVENT_CALL) {
		call.id = "call_1";
		call.type = "function";
		function = (struct ChatCompletionFunctionDelta){ "add", "" };
	}
	OPENAI_EVENT(out, OPENAI_EVENT_CHUNK, ChatCompletionChunk, &chunk);
	if (usage) { /* which the walker leaves out where there is none yet */
		out->len -= strlen("}\n\n");
		buf_lit(out, ",\"usage\":null}\n\n");
	}
}

static void write_usage_by_tables(struct buf *out)
{
	struct ChatCompletionUsage used = { .prompt_tokens = 12,
		.completion_tokens = 4,
		.total_tokens = 16,
		.prompt_tokens_details = { "{\"cached_tokens\":3,\"cache_write_tokens\":2}" },
		.completion_tokens_details = { "{\"reasoning_tokens\":1}" } };
	struct ChatCompletionChunk chunk = { .id = "chatcmpl-9",
		.object = "chat.completion.chunk",
		.created = 5,
		.model = "my \"model\"",
		.usage = &used };

	OPENAI_EVENT(out, OPENAI_EVENT_CHUNK, ChatCompletionChunk, &chunk);
}

static const struct event chunk_events[] = {
	{ .kind = EVENT_START },
	{ .kind = EVENT_TEXT, .text = SLICE("Hi \\\"you\\\"\\n") },
	{ .kind = EVENT_TEXT,
		.text = SLICE("Hi \\\"you\\\"\\n"),
		.logprobs = SLICE("{\"content\":[]}") },
	{ .kind = EVENT_THOUGHT, .text = SLICE("Hm\\\\") },
	{ .kind = EVENT_CALL, .index = 1, .id = SLICE("call_1"), .name = SLICE("add") },
	{ .kind = EVENT_ARGUMENTS, .index = 1, .text = SLICE("{\\\"a\\\":\\\"\xc3\xa9\\\"}") },
};

static void hold_chunks(bool usage)
{
	struct openai_out_asked asked = { .id = "chatcmpl-9",
		.model = SLICE("my \\\"model\\\""),
		.created_s = 5,
		.stream = true,
		.include_usage = usage };
	const struct event used = { .kind = EVENT_USAGE,
		.usage = { .input = 7,
			.cache_read = 3,
			.cache_write = 2,
			.output = 4,
			.reasoning = 1 } };
	const struct event finish = { .kind = EVENT_FINISH, .finish = FINISH_LENGTH };
	struct arena a = { 0 };
	struct openai_out o;
	struct buf by_hand, by_tables;

	buf_init(&by_hand, 1 << 20);
	buf_init(&by_tables, 1 << 20);
	openai_out_open(&o, &asked, &by_hand);
	for (size_t i = 0; i < sizeof chunk_events / sizeof *chunk_events; i++) {
		test_step("event %zu, %s usage", i, usage ? "with" : "without");
		openai_out_take(&o, &chunk_events[i]);
		write_by_tables(&by_tables, &chunk_events[i], usage);
		CHECK_STR(text_of(&a, &by_hand), text_of(&a, &by_tables));
	}
	test_step("the end, %s usage", usage ? "with" : "without");
	openai_out_take(&o, &used);
	openai_out_take(&o, &finish);
	write_by_tables(&by_tables, &finish, usage);
	if (usage)
		write_usage_by_tables(&by_tables);
	openai_event_write(&by_tables, OPENAI_EVENT_CHUNK_DONE, NULL, NULL);
	CHECK_STR(text_of(&a, &by_hand), text_of(&a, &by_tables));
	openai_out_close(&o);
	buf_free(&by_hand);
	buf_free(&by_tables);
	arena_free(&a);
}

TEST(openai_events_of_a_chat_are_as_the_tables_say)
{
	hold_chunks(false);
	hold_chunks(true);
}

TEST(openai_events_of_a_chat_that_breaks_off)
{
	struct openai_out_asked asked = { .id = "c", .model = SLICE("m"), .stream = true };
	struct fault fault = { 0 };
	struct OpenAIFault shown = { "It was \"slow\".", "server_error", NULL, NULL };
	struct arena a = { 0 };
	struct openai_out o;
	struct buf by_hand, by_tables;

	fault_set(&fault, FAULT_TIMEOUT, "It was \"slow\".");
	shown.code = fault_rows[FAULT_TIMEOUT].word;
	buf_init(&by_hand, 1 << 20);
	buf_init(&by_tables, 1 << 20);
	openai_out_open(&o, &asked, &by_hand);
	openai_out_take(&o, &(struct event){ .kind = EVENT_ERROR, .fault = &fault });
	OPENAI_EVENT(&by_tables, OPENAI_EVENT_CHUNK_ERROR, OpenAIProblem,
		(&(struct OpenAIProblem){ &shown }));
	CHECK_STR(text_of(&a, &by_hand), text_of(&a, &by_tables));
	openai_out_close(&o);
	buf_free(&by_hand);
	buf_free(&by_tables);
	arena_free(&a);
}
