/* test_responses.c - OpenAI-style responses of agents and of models, on the model inside the program. */
#include "gateway_fixture.h"
#include "openai_fixture.h"

#include <poll.h>

#include "openai/openai_page.h"

#define R "/v1/responses"
#define ADD \
	"\"tools\":[{\"type\":\"function\",\"name\":\"add\",\"parameters\":{\"type\":\"object\"}}]"

static struct answer respond(struct openai_fixture *s, const char *model, const char *more)
{
	return openai_ask(
		s, arena_printf(&s->f->arena, "{\"model\":\"%s\",%s}", model, more), "POST " R);
}

static const char *both[] = { "demo", NULL };

static void each(void (*run)(struct openai_fixture *s, const char *model))
{
	struct openai_fixture s;

	openai_open(&s);
	both[1] = arena_printf(&s.f->arena, "agent:%s", s.slug);
	for (int i = 0; i < 2; i++) {
		test_step("as %s", both[i]);
		run(&s, both[i]);
	}
	openai_close(&s);
}

static void whole(struct openai_fixture *s, const char *model)
{
	struct answer r = respond(s, model,
		"\"input\":\"count to 5\",\"metadata\":{\"a\":\"b\"},\"temperature\":0.5,"
		"\"max_output_tokens\":400,\"user\":\"u\",\"nobody_knows\":1");
	const char *id;

	STATUS(r, 200);
	CHECK_STR(text_at(&r, "object"), "response");
	CHECK_STR(text_at(&r, "status"), "completed");
	CHECK_STR(text_at(&r, "model"), model);
	CHECK_STR(text_at(&r, "output.0.type"), "message");
	CHECK_STR(text_at(&r, "output.0.content.0.text"), "1 2 3 4 5");
	CHECK_STR(text_at(&r, "metadata.a"), "b");
	CHECK(json_integer_value(at(&r, "usage.output_tokens")) > 0);
	id = text_at(&r, "id");
	r = openai_ask(s, NULL, "GET " R "/%s", id);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "status"), "completed");
	CHECK_STR(text_at(&r, "output.0.content.0.text"), "1 2 3 4 5");
	CHECK_STR(text_at(&r, "user"), "u");
	CHECK(json_real_value(at(&r, "temperature")) == 0.5);

	test_step("%s: what it was given", model);
	r = openai_ask(s, NULL, "GET " R "/%s/input_items", id);
	CHECK_STR(text_at(&r, "data.0.content.0.text"), "count to 5");
	CHECK_STR(text_at(&r, "data.0.content.0.type"), "input_text");

	test_step("%s: gone on from", model);
	r = respond(s, model,
		arena_printf(&s->f->arena,
			"\"previous_response_id\":\"%s\",\"input\":[{\"role\":\"user\",\"content\":"
			"[{\"type\":\"input_text\",\"text\":\"count to 3\"}]}]",
			id));
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "output.0.content.0.text"), "1 2 3");
	CHECK_STR(text_at(&r, "previous_response_id"), id);

	test_step("%s: deleted", model);
	r = openai_ask(s, NULL, "DELETE " R "/%s", id);
	CHECK(json_is_true(at(&r, "deleted")));
	STATUS(openai_ask(s, NULL, "GET " R "/%s", id), 404);

	test_step("%s: not stored", model);
	r = respond(s, model, "\"input\":\"count to 2\",\"store\":false");
	CHECK_STR(text_at(&r, "output.0.content.0.text"), "1 2");
	STATUS(openai_ask(s, NULL, "GET " R "/%s", text_at(&r, "id")), 404);
}

TEST(responses_are_answered_whole)
{
	each(whole);
}

static void streamed(struct openai_fixture *s, const char *model)
{
	struct answer r = respond(s, model, "\"input\":\"count to 20\",\"stream\":true");
	json_t *v;

	STATUS(r, 200);
	CHECK_STR(openai_told(s, &r),
		"response.created response.in_progress response.output_item.added "
		"response.content_part.added response.output_text.delta response.output_text.done "
		"response.content_part.done response.output_item.done response.completed");
	v = openai_event(s, &r, "response.completed");
	CHECK_STR(json_string_value(json_object_get(json_object_get(v, "response"), "status")),
		"completed");
	CHECK(json_integer_value(json_object_get(v, "sequence_number")) > 7);
}

TEST(responses_are_streamed)
{
	each(streamed);
}

static void functions(struct openai_fixture *s, const char *model)
{
	struct answer r = respond(
		s, model, "\"input\":\"use tool add with {\\\"a\\\":1}\",\"store\":true," ADD);
	const char *id = text_at(&r, "id"), *call;

	STATUS(r, 200);
	CHECK_STR(text_at(&r, "status"), "completed");
	CHECK_STR(text_at(&r, "output.0.type"), "function_call");
	CHECK_STR(text_at(&r, "output.0.name"), "add");
	CHECK_STR(text_at(&r, "output.0.arguments"), "{\"a\":1}");
	call = text_at(&r, "output.0.call_id");

	test_step("%s: the result", model);
	r = respond(s, model,
		arena_printf(&s->f->arena,
			"\"stream\":true,\"previous_response_id\":\"%s\",\"input\":[{\"type\":"
			"\"function_call_output\",\"call_id\":\"%s\",\"output\":\"42\"}]," ADD,
			id, call));
	STATUS(r, 200);
	CHECK(strstr(openai_told(s, &r), "response.completed") != NULL);
	CHECK(strstr(r.body, "42") != NULL);

	test_step("%s: the first stays as it was", model);
	r = openai_ask(s, NULL, "GET " R "/%s", id);
	CHECK_INT(json_array_size(at(&r, "output")), 1);
	CHECK_STR(text_at(&r, "status"), "completed");

	test_step("%s: as events", model);
	r = respond(s, model, "\"input\":\"use tool add\",\"stream\":true," ADD);
	CHECK_STR(openai_told(s, &r),
		"response.created response.in_progress response.output_item.added "
		"response.function_call_arguments.delta response.function_call_arguments.done "
		"response.output_item.done response.completed");
}

TEST(responses_call_the_callers_functions)
{
	each(functions);
}

/* The whole conversation, as a client sends it that keeps it itself. */
static struct answer resend(struct openai_fixture *s, const char *said, const char *call,
	const char *arguments, const char *output)
{
	return respond(s, s->agent_id,
		arena_printf(&s->f->arena,
			"\"store\":false,\"input\":[{\"role\":\"user\",\"content\":\"%s\"},"
			"{\"type\":\"function_call\",\"call_id\":\"%s\",\"name\":\"add\","
			"\"arguments\":\"%s\"},{\"type\":\"function_call_output\",\"call_id\":\"%s\","
			"\"output\":\"%s\"}]," ADD,
			said, call, arguments, call, output));
}

#define USE_ADD "use tool add with {\\\"a\\\":1}"

static const char *call_of(struct openai_fixture *s, const char *token)
{
	struct answer r = ask(s->f, token,
		arena_printf(&s->f->arena,
			"{\"model\":\"%s\",\"store\":false,\"input\":\"" USE_ADD "\"," ADD "}",
			s->agent_id),
		"POST " R);

	STATUS(r, 200);
	CHECK_STR(text_at(&r, "output.0.type"), "function_call");
	return text_at(&r, "output.0.call_id");
}

TEST(responses_of_agents_go_on_from_the_history_alone)
{
	struct openai_fixture s;
	const char *call, *member, *user;
	struct answer r;

	openai_open(&s);
	test_step("the run that waits is found by the ids of its calls");
	call = call_of(&s, s.f->admin);
	r = resend(&s, USE_ADD, call, "{ \\\"a\\\": 1 }", "42");
	STATUS(r, 200);
	CHECK(strstr(text_at(&r, "output.0.content.0.text"), "42") != NULL);
	CHECK_INT(fixture_count(s.f, "select count(*) from sessions"), 1);
	CHECK_INT(
		fixture_count(s.f, "select count(*) from session_calls where state = 'completed'"),
		1);

	test_step("where none waits a session begins with all of it");
	r = resend(&s, USE_ADD, call, "{}", "43");
	STATUS(r, 200);
	CHECK(strstr(text_at(&r, "output.0.content.0.text"), "43") != NULL);
	CHECK_INT(fixture_count(s.f, "select count(*) from sessions"), 2);
	CHECK_INT(fixture_count(s.f, "select count(*) from messages where role = 'tool'"), 2);

	test_step("other arguments, or other words, are another conversation");
	call = call_of(&s, s.f->admin);
	STATUS(resend(&s, USE_ADD, call, "{\\\"a\\\":2}", "44"), 200);
	STATUS(resend(&s, "something else", call, "{\\\"a\\\":1}", "45"), 200);
	CHECK_INT(fixture_count(s.f, "select count(*) from sessions"), 5);
	CHECK_INT(fixture_count(
			  s.f, "select count(*) from session_calls where state = 'waiting_client'"),
		1);

	test_step("nobody answers for another");
	user = fixture_user(s.f, "m@example.org", &member);
	fixture_member(s.f, s.f->tenant_id, user, "ADMIN");
	call = call_of(&s, member);
	STATUS(resend(&s, USE_ADD, call, "{\\\"a\\\":1}", "46"), 200);
	CHECK_INT(fixture_count(
			  s.f, "select count(*) from session_calls where state = 'waiting_client'"),
		2);

	test_step("a result of no call, and a decision nobody waits for");
	r = respond(&s, s.agent_id,
		"\"input\":[{\"type\":\"function_call_output\",\"call_id\":\"x\",\"output\":\"1\"}]");
	STATUS(r, 400);
	CHECK_STR(text_at(&r, "error.param"), "input[0].call_id");
	r = respond(&s, s.agent_id,
		"\"input\":[{\"type\":\"mcp_approval_response\",\"approval_request_id\":\"x\","
		"\"approve\":true}]");
	STATUS(r, 400);
	CHECK_STR(text_at(&r, "error.param"), "input[0].approval_request_id");
	openai_close(&s);
}

TEST(responses_of_agents_work_in_the_background)
{
	struct openai_fixture s;
	struct answer r;
	const char *id, *model;

	openai_open(&s);
	model = s.agent_id;
	r = respond(&s, model, "\"input\":\"use tool add\",\"background\":true," ADD);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "status"), "queued");
	CHECK(json_is_true(at(&r, "background")));
	id = text_at(&r, "id");
	for (int i = 0; i < 30000 && strcmp(text_at(&r, "status"), "completed") != 0; i++) {
		poll(NULL, 0, 5);
		r = openai_ask(&s, NULL, "GET " R "/%s", id);
	}
	CHECK_STR(text_at(&r, "output.0.type"), "function_call");

	test_step("what waits must be answered");
	r = respond(&s, model,
		arena_printf(&s.f->arena, "\"input\":\"x\",\"previous_response_id\":\"%s\"", id));
	STATUS(r, 400);
	CHECK_STR(text_at(&r, "error.param"), "input");
	STATUS(openai_ask(&s, NULL, "POST " R "/%s/cancel", id), 400);
	openai_close(&s);
}

TEST(responses_of_agents_are_cancelled)
{
	struct gateway_fixture s;
	struct answer r;

	gateway_open(&s);
	gateway_agent(&s, (const char *const[]){ "slow-20000", NULL });
	r = ask(s.f, s.f->admin,
		arena_printf(&s.f->arena, "{\"model\":\"%s\",\"input\":\"x\",\"background\":true}",
			s.agent_id),
		"POST " R);
	STATUS(r, 200);
	r = ask(s.f, s.f->admin, NULL, "POST " R "/%s/cancel", text_at(&r, "id"));
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "status"), "cancelled");
	gateway_close(&s);
}

TEST(responses_refuse_in_openais_shape)
{
	static const struct {
		const char *more, *param;
	} cases[] = {
		{ "\"input\":7", "input" },
		{ "\"user\":\"x\"", "input" },
		{ "\"input\":[7]", "input[0]" },
		{ "\"input\":[{\"role\":\"king\",\"content\":\"x\"}]", "input[0].role" },
		{ "\"input\":[{\"role\":\"user\",\"content\":[{\"type\":\"input_film\"}]}]",
			"input[0].content" },
		{ "\"input\":[{\"type\":\"item_reference\",\"id\":\"x\"}]", "input[0].id" },
		{ "\"input\":\"x\",\"tools\":[{\"name\":\"f\"}]", "tools[0].type" },
		{ "\"input\":\"x\",\"conversation\":[]", "conversation" },
		{ "\"input\":\"x\",\"metadata\":{\"a\":1}", "metadata" },
		{ "\"input\":\"x\",\"temperature\":9", "temperature" },
		{ "\"input\":\"al\\u0000pha\"", "input" },
		{ "\"input\":[{\"role\":\"user\",\"content\":\"a\\\\\\u0000b\"}]", "input" },
		{ "\"input\":\"x\",\"metadata\":{\"a\":\"\\u0000\"}", "metadata" },
		{ "\"input\":\"x\",\"tool_choice\":-1", "tool_choice" },
		{ "\"input\":\"x\",\"tool_choice\":[null]", "tool_choice" },
		{ "\"input\":\"x\",\"tool_choice\":\"always\"", "tool_choice" },
		{ "\"input\":\"x\",\"tool_choice\":{\"type\":\"function\"}", "tool_choice" },
	};
	struct openai_fixture s;
	struct answer r;

	openai_open(&s);
	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
			test_step("%s %s", k ? "agent" : "model", cases[i].more);
			r = respond(&s, k ? s.agent_id : "demo", cases[i].more);
			STATUS(r, 400);
			CHECK_STR(text_at(&r, "error.param"), cases[i].param);
		}
	STATUS(respond(&s, "no-such-model", "\"input\":\"x\""), 404);
	STATUS(respond(&s, "demo",
		       "\"input\":\"x\",\"previous_response_id\":\"cabcdefghijklmnopqrstuvwx\""),
		404);
	STATUS(respond(&s, "demo", "\"input\":\"x\",\"background\":true"), 400);
	STATUS(ask(s.f, NULL, "{}", "POST " R), 401);
	STATUS(openai_ask(&s, NULL, "GET " R "/cabcdefghijklmnopqrstuvwx"), 404);
	CHECK_INT(fixture_count(s.f, "select count(*) from sessions"), 0);
	openai_close(&s);
}

TEST(responses_are_for_who_asked)
{
	struct openai_fixture s;
	const char *member, *user;
	struct answer r;

	openai_open(&s);
	user = fixture_user(s.f, "m@example.org", &member);
	fixture_member(s.f, s.f->tenant_id, user, "MEMBER");
	for (int k = 0; k < 2; k++) {
		r = respond(&s, k ? s.agent_id : "demo", "\"input\":\"x\"");
		STATUS(r, 200);
		STATUS(ask(s.f, member, NULL, "GET " R "/%s", text_at(&r, "id")), 404);
		STATUS(ask(s.f, member, NULL, "DELETE " R "/%s", text_at(&r, "id")), 404);
	}
	openai_close(&s);
}

TEST(responses_read_on_after_a_nul)
{
	struct arena a = { 0 };

	CHECK_STR(openai_text(&a, "{\"text\":\"a\\u0000b\"}", "text"), "a\xef\xbf\xbd"
								       "b");
	CHECK_STR(openai_text(&a, "{\"text\":\"ab\"}", "text"), "ab");
	arena_free(&a);
}
