/* test_thoughts.c - what the model of an agent thinks, as responses show it, and what clients bring back of it; arguments of the
 * caller's functions as they come. */
#include "gateway_fixture.h"

#include <string.h>

#define R "/v1/responses"
#define ADD \
	"\"tools\":[{\"type\":\"function\",\"name\":\"add\",\"parameters\":{\"type\":\"object\"}}]"

static struct answer respond(struct gateway_fixture *s, const char *more)
{
	return ask(s->f, s->f->admin,
		arena_printf(&s->f->arena, "{\"model\":\"%s\",%s}", s->agent_id, more), "POST " R);
}

TEST(thoughts_of_agents_are_items_of_the_response)
{
	struct gateway_fixture s;
	struct answer r;
	const char *id, *events;

	gateway_open(&s);
	gateway_agent(&s, (const char *const[]){ "thinks", NULL });
	test_step("whole");
	r = respond(&s, "\"input\":\"hello\"");
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "output.0.type"), "reasoning");
	CHECK_STR(text_at(&r, "output.0.summary.0.text"), "hm, well");
	CHECK_STR(text_at(&r, "output.1.content.0.text"), MOCK_TEXT);
	CHECK_INT(json_array_size(at(&r, "output")), 2);

	test_step("read again, it is the same");
	id = text_at(&r, "output.0.id");
	r = ask(s.f, s.f->admin, NULL, "GET " R "/%s", text_at(&r, "id"));
	CHECK_STR(text_at(&r, "output.0.id"), id);
	CHECK_STR(text_at(&r, "output.0.summary.0.text"), "hm, well");
	CHECK_STR(text_at(&r, "output.1.content.0.text"), MOCK_TEXT);

	test_step("as events");
	r = respond(&s, "\"input\":\"hello\",\"stream\":true");
	STATUS(r, 200);
	events = answer_unchunked(s.f, &r);
	CHECK(strstr(events, "event: response.reasoning_summary_text.delta") != NULL);
	CHECK(strstr(events, "event: response.reasoning_summary_text.done") != NULL);
	CHECK(strstr(strstr(events, "event: response.reasoning_summary_text.done"),
		      "event: response.output_text.delta") != NULL);
	CHECK(strstr(events, "event: response.completed") != NULL);

	test_step("in the session's log, and no part of what is said");
	CHECK_INT(
		fixture_count(s.f, "select count(*) from messages where content like '%well%'"), 0);
	CHECK(fixture_count(s.f, "select count(*) from session_events where kind = 'delta' "
				 "and data like '%\"thought\":\"%'") >= 2);

	test_step("the model is given it back where it belongs");
	r = respond(&s, "\"input\":\"hello\"");
	r = respond(
		&s, arena_printf(&s.f->arena, "\"input\":\"go on\",\"previous_response_id\":\"%s\"",
			    text_at(&r, "id")));
	STATUS(r, 200);
	CHECK(strstr(s.mock.last_body, "\"reasoning_content\":\"hm, well\"") != NULL);
	gateway_close(&s);
}

TEST(thoughts_that_clients_bring_back_are_kept)
{
	struct gateway_fixture s;
	struct answer r;

	gateway_open(&s);
	gateway_agent(&s, (const char *const[]){ "ok", NULL });
	r = respond(&s,
		"\"input\":[{\"role\":\"user\",\"content\":\"a\"},{\"type\":\"reasoning\","
		"\"summary\":[{\"type\":\"summary_text\",\"text\":\"hm one\"}]},"
		"{\"role\":\"assistant\",\"content\":\"b\"},{\"role\":\"user\",\"content\":\"c\"},"
		"{\"type\":\"reasoning\",\"summary\":[{\"type\":\"summary_text\",\"text\":\"hm two\"}],"
		"\"encrypted_content\":\"anthropic.signed:proof\"},{\"type\":\"function_call\","
		"\"call_id\":\"c1\",\"name\":\"add\",\"arguments\":\"{}\"},{\"type\":"
		"\"function_call_output\",\"call_id\":\"c1\",\"output\":\"3\"},{\"type\":\"reasoning\","
		"\"summary\":[],\"encrypted_content\":\"sealed\"},{\"role\":\"user\",\"content\":\"d\"}]");
	STATUS(r, 200);
	CHECK(strstr(s.mock.last_body, "\"reasoning_content\":\"hm one\"") != NULL);
	CHECK_INT(
		fixture_count(s.f,
			"select count(*) from messages where role = 'assistant' and thoughts "
			"like '%\"maker\":\"anthropic\",\"text\":\"hm two\",\"seal\":\"proof\"%'"),
		1);
	CHECK_STR(header_of(s.f, &r, "Lodge-Dropped"), "input[7]");
	gateway_close(&s);
}

TEST(arguments_of_the_callers_functions_come_as_they_are_written)
{
	struct gateway_fixture s;
	struct answer r;
	const char *events, *id;

	gateway_open(&s);
	gateway_agent(&s, (const char *const[]){ "wants", NULL });
	r = respond(&s, "\"input\":\"add\",\"stream\":true," ADD);
	STATUS(r, 200);
	events = answer_unchunked(s.f, &r);
	CHECK(strstr(events, "event: response.reasoning_summary_text.done") != NULL);
	CHECK(strstr(events, "event: response.function_call_arguments.delta") != NULL);
	CHECK(strstr(events, "event: response.function_call_arguments.done") != NULL);
	CHECK(strstr(events, "\"arguments\":\"{\\\"a\\\":1}\"") != NULL);

	test_step("whole, and its result");
	r = respond(&s, "\"input\":\"add\"," ADD);
	CHECK_STR(text_at(&r, "output.0.type"), "reasoning");
	CHECK_STR(text_at(&r, "output.1.call_id"), "w1");
	CHECK_STR(text_at(&r, "output.1.arguments"), "{\"a\":1}");
	CHECK_INT(json_array_size(at(&r, "output")), 2);
	id = text_at(&r, "id");
	r = respond(
		&s, arena_printf(&s.f->arena,
			    "\"previous_response_id\":\"%s\",\"input\":[{\"type\":"
			    "\"function_call_output\",\"call_id\":\"w1\",\"output\":\"42\"}]," ADD,
			    id));
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "output.1.content.0.text"), MOCK_TEXT);
	CHECK(strstr(s.mock.last_body, "\"reasoning_content\":\"hm, well\"") != NULL);
	gateway_close(&s);
}
