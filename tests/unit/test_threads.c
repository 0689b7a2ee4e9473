/* test_threads.c - OpenAI-style threads, messages, runs and steps on the model inside the program. */
#include "openai_fixture.h"

#include <poll.h>

#define T_ "/v1/threads"
#define ADD                                                                                       \
	"\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"add\",\"description\":\"d\"," \
	"\"parameters\":{\"type\":\"object\"}}}]"

static const char *thread(struct openai_fixture *s, const char *body)
{
	struct answer r = openai_ask(s, body, "POST " T_);

	STATUS(r, 200);
	return text_at(&r, "id");
}

static const char *said(struct openai_fixture *s, const char *text)
{
	return thread(s, arena_printf(&s->f->arena,
				 "{\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}]}", text));
}

static struct answer run(struct openai_fixture *s, const char *thread_id, const char *more)
{
	return openai_ask(s,
		arena_printf(&s->f->arena, "{\"assistant_id\":\"%s\"%s}", s->agent_id, more),
		"POST " T_ "/%s/runs", thread_id);
}

TEST(threads_without_a_run_keep_messages)
{
	struct openai_fixture s;
	struct answer r;
	const char *id, *first, *second;

	openai_open(&s);
	r = openai_ask(&s, NULL, "POST " T_);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "object"), "thread");
	id = text_at(&r, "id");
	r = openai_ask(&s, "{\"metadata\":{\"a\":\"b\"}}", "POST " T_ "/%s", id);
	CHECK_STR(text_at(&r, "metadata.a"), "b");
	r = openai_ask(&s, NULL, "GET " T_ "/%s", id);
	CHECK_STR(text_at(&r, "metadata.a"), "b");

	test_step("messages");
	r = openai_ask(&s, "{\"role\":\"user\",\"content\":\"one\",\"attachments\":null}",
		"POST " T_ "/%s/messages", id);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "content.0.text.value"), "one");
	CHECK_STR(text_at(&r, "thread_id"), id);
	CHECK_STR(text_at(&r, "status"), "completed");
	first = text_at(&r, "id");
	r = openai_ask(&s,
		"{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"two\"},"
		"{\"type\":\"text\",\"text\":\"three\"}],\"metadata\":{\"x\":\"y\"}}",
		"POST " T_ "/%s/messages", id);
	CHECK_STR(text_at(&r, "content.0.text.value"), "two\nthree");
	second = text_at(&r, "id");
	r = openai_ask(&s, NULL, "GET " T_ "/%s/messages?limit=1", id);
	CHECK_STR(text_at(&r, "data.0.id"), second);
	CHECK(json_is_true(at(&r, "has_more")));
	r = openai_ask(&s, NULL, "GET " T_ "/%s/messages?order=asc&after=%s", id, first);
	CHECK_INT(json_array_size(at(&r, "data")), 1);
	r = openai_ask(&s, "{\"metadata\":{\"k\":\"v\"}}", "POST " T_ "/%s/messages/%s", id, first);
	CHECK_STR(text_at(&r, "metadata.k"), "v");
	r = openai_ask(&s, NULL, "GET " T_ "/%s/messages/%s", id, first);
	CHECK_STR(text_at(&r, "metadata.k"), "v");
	r = openai_ask(&s, NULL, "GET " T_ "/%s/messages?run_id=x", id);
	CHECK_INT(json_array_size(at(&r, "data")), 0);
	r = openai_ask(&s, NULL, "DELETE " T_ "/%s/messages/%s", id, first);
	CHECK_STR(text_at(&r, "object"), "thread.message.deleted");
	STATUS(openai_ask(&s, NULL, "GET " T_ "/%s/messages/%s", id, first), 404);
	r = openai_ask(&s, NULL, "GET " T_ "/%s/runs", id);
	CHECK_INT(json_array_size(at(&r, "data")), 0);

	test_step("the first run keeps the ids");
	r = openai_rest(&s, id, text_at(&(struct answer[]){ run(&s, id, "") }[0], "id"));
	CHECK_STR(text_at(&r, "status"), "completed");
	r = openai_ask(&s, NULL, "GET " T_ "/%s/messages?order=asc", id);
	CHECK_STR(text_at(&r, "data.0.id"), second);
	CHECK_STR(text_at(&r, "data.0.metadata.x"), "y");
	r = openai_ask(&s, NULL, "GET " T_ "/%s", id);
	CHECK_STR(text_at(&r, "metadata.a"), "b");
	r = openai_ask(&s, NULL, "GET /sessions/%s", id);
	CHECK_STR(text_at(&r, "origin"), "api");
	CHECK_INT(fixture_count(s.f, "select count(*) from threads"), 0);
	fixture_sweep(s.f);
	CHECK_INT(fixture_count(s.f, "select count(*) from thread_messages"), 0);

	test_step("deleted");
	r = openai_ask(&s, NULL, "DELETE " T_ "/%s", id);
	CHECK_STR(text_at(&r, "object"), "thread.deleted");
	STATUS(openai_ask(&s, NULL, "GET " T_ "/%s", id), 404);
	STATUS(openai_ask(&s, NULL, "GET /sessions/%s", id), 404);
	id = said(&s, "x");
	STATUS(openai_ask(&s, NULL, "DELETE " T_ "/%s", id), 200);
	STATUS(openai_ask(&s, NULL, "GET " T_ "/%s", id), 404);
	openai_close(&s);
}

TEST(threads_refuse_what_they_do_not_keep)
{
	static const struct {
		const char *body, *param;
	} cases[] = {
		{ "{\"messages\":[{\"role\":\"user\"}]}", "messages[0].content" },
		{ "{\"messages\":[{\"role\":\"king\",\"content\":\"x\"}]}", "messages[0].role" },
		{ "{\"messages\":[{\"role\":\"user\",\"content\":\"\"}]}", "messages[0].content" },
		{ "{\"messages\":[{\"role\":\"user\",\"content\":7}]}", "messages[0].content" },
		{ "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\"}]}]}",
			"messages[0].content[0]" },
		{ "{\"messages\":[{\"role\":\"user\",\"content\":\"x\",\"attachments\":[{}]}]}",
			"messages[0].attachments" },
		{ "{\"metadata\":{\"a\":[]}}", "metadata" },
	};
	struct openai_fixture s;
	struct answer r;

	openai_open(&s);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		test_step("%s", cases[i].body);
		r = openai_ask(&s, cases[i].body, "POST " T_);
		STATUS(r, 400);
		CHECK_STR(text_at(&r, "error.param"), cases[i].param);
	}
	CHECK_INT(fixture_count(s.f, "select count(*) from threads"), 0);
	openai_close(&s);
}

TEST(threads_are_for_who_made_them)
{
	struct openai_fixture s;
	const char *token, *member, *user, *id;

	openai_open(&s);
	user = fixture_user(s.f, "m@example.org", &member);
	fixture_member(s.f, s.f->tenant_id, user, "MEMBER");
	user = fixture_user(s.f, "n@example.org", &token);
	fixture_member(s.f, s.f->tenant_id, user, "MEMBER");
	id = text_at(&(struct answer[]){ ask(s.f, member, "{}", "POST " T_) }[0], "id");
	STATUS(ask(s.f, member, NULL, "GET " T_ "/%s", id), 200);
	STATUS(ask(s.f, token, NULL, "GET " T_ "/%s", id), 404);
	STATUS(ask(s.f, token, "{\"role\":\"user\",\"content\":\"x\"}", "POST " T_ "/%s/messages",
		       id),
		404);
	STATUS(openai_ask(&s, NULL, "GET " T_ "/%s", id), 200);

	test_step("and those of the agent's sessions for who may see these");
	STATUS(ask(s.f, member, arena_printf(&s.f->arena, "{\"assistant_id\":\"%s\"}", s.agent_id),
		       "POST " T_ "/%s/runs", id),
		200);
	STATUS(ask(s.f, token, NULL, "GET " T_ "/%s", id), 404);
	STATUS(ask(s.f, token, NULL, "GET " T_ "/%s/messages", id), 404);
	STATUS(ask(s.f, token, NULL, "GET " T_ "/%s/runs", id), 404);
	STATUS(ask(s.f, member, NULL, "GET " T_ "/%s/runs", id), 200);
	openai_close(&s);
}

TEST(threads_runs_are_polled)
{
	struct openai_fixture s;
	struct answer r, t;
	const char *id, *run_id;

	openai_open(&s);
	id = said(&s, "count to 5");
	r = run(&s, id,
		",\"metadata\":{\"m\":\"1\"},\"instructions\":\"I\",\"temperature\":0.25,"
		"\"max_completion_tokens\":500,\"nobody_knows\":1");
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "object"), "thread.run");
	CHECK_STR(text_at(&r, "status"), "queued");
	CHECK_STR(text_at(&r, "assistant_id"), s.agent_id);
	CHECK_STR(text_at(&r, "thread_id"), id);
	CHECK_STR(text_at(&r, "instructions"), "I");
	CHECK(json_real_value(at(&r, "temperature")) == 0.25);
	CHECK_INT(json_integer_value(at(&r, "max_completion_tokens")), 500);
	CHECK_STR(text_at(&r, "tool_choice"), "auto");
	CHECK(json_is_null(at(&r, "usage")));
	run_id = text_at(&r, "id");
	r = openai_rest(&s, id, run_id);
	CHECK_STR(text_at(&r, "status"), "completed");
	CHECK(json_is_integer(at(&r, "completed_at")));
	CHECK(json_integer_value(at(&r, "usage.completion_tokens")) > 0);
	CHECK_INT(json_integer_value(at(&r, "usage.total_tokens")),
		json_integer_value(at(&r, "usage.prompt_tokens")) +
			json_integer_value(at(&r, "usage.completion_tokens")));

	test_step("its message");
	t = openai_ask(&s, NULL, "GET " T_ "/%s/messages?run_id=%s", id, run_id);
	CHECK_INT(json_array_size(at(&t, "data")), 1);
	CHECK_STR(text_at(&t, "data.0.content.0.text.value"), "1 2 3 4 5");
	CHECK_STR(text_at(&t, "data.0.run_id"), run_id);
	CHECK_STR(text_at(&t, "data.0.assistant_id"), s.agent_id);

	test_step("its steps");
	t = openai_ask(&s, NULL, "GET " T_ "/%s/runs/%s/steps", id, run_id);
	CHECK_INT(json_array_size(at(&t, "data")), 1);
	CHECK_STR(text_at(&t, "data.0.type"), "message_creation");
	CHECK_STR(text_at(&t, "data.0.status"), "completed");
	t = openai_ask(
		&s, NULL, "GET " T_ "/%s/runs/%s/steps/%s", id, run_id, text_at(&t, "data.0.id"));
	STATUS(t, 200);
	STATUS(openai_ask(&s, NULL, "GET " T_ "/%s/runs/%s/steps/step_x", id, run_id), 404);

	test_step("its metadata");
	t = openai_ask(&s, "{\"metadata\":{\"m\":\"2\"}}", "POST " T_ "/%s/runs/%s", id, run_id);
	CHECK_STR(text_at(&t, "metadata.m"), "2");
	t = openai_ask(&s, NULL, "GET " T_ "/%s/runs", id);
	CHECK_STR(text_at(&t, "data.0.metadata.m"), "2");
	CHECK_STR(text_at(&t, "data.0.instructions"), "I");

	test_step("it is over");
	r = openai_ask(&s, NULL, "POST " T_ "/%s/runs/%s/cancel", id, run_id);
	STATUS(r, 400);
	CHECK_STR(text_at(&r, "error.message"), "Cannot cancel a run with status 'completed'.");
	STATUS(openai_ask(&s, "{\"tool_outputs\":[{\"tool_call_id\":\"x\",\"output\":\"y\"}]}",
		       "POST " T_ "/%s/runs/%s/submit_tool_outputs", id, run_id),
		400);
	STATUS(openai_ask(&s, NULL, "GET " T_ "/%s/runs/%s", id, id), 404);
	openai_close(&s);
}

TEST(threads_runs_are_streamed)
{
	struct openai_fixture s;
	struct answer r;
	json_t *v;

	openai_open(&s);
	r = run(&s, said(&s, "count to 30"), ",\"stream\":true");
	STATUS(r, 200);
	CHECK(strstr(r.head, "text/event-stream") != NULL);
	CHECK_STR(openai_told(&s, &r),
		"thread.run.created thread.run.queued thread.run.in_progress "
		"thread.run.step.created thread.run.step.in_progress thread.message.created "
		"thread.message.in_progress thread.message.delta thread.message.completed "
		"thread.run.step.completed thread.run.completed done");
	v = openai_event(&s, &r, "thread.message.completed");
	CHECK_STR(json_string_value(json_object_get(
			  json_object_get(json_array_get(json_object_get(v, "content"), 0), "text"),
			  "value")),
		"1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30");
	v = openai_event(&s, &r, "thread.run.completed");
	CHECK(json_is_object(json_object_get(v, "usage")));

	test_step("with a thread of its own");
	r = openai_ask(&s,
		arena_printf(&s.f->arena,
			"{\"assistant_id\":\"%s\",\"stream\":true,\"thread\":{\"messages\":"
			"[{\"role\":\"user\",\"content\":\"count to 3\"}]}}",
			s.agent_id),
		"POST " T_ "/runs");
	STATUS(r, 200);
	CHECK(strncmp(openai_told(&s, &r), "thread.created thread.run.created ", 34) == 0);
	openai_close(&s);
}

TEST(threads_runs_call_the_callers_functions)
{
	struct openai_fixture s;
	struct answer r;
	const char *id, *run_id, *call;

	openai_open(&s);
	id = said(&s, "use tool add with {\\\"a\\\":1} please");
	r = run(&s, id, ",\"stream\":true," ADD);
	STATUS(r, 200);
	CHECK(strstr(openai_told(&s, &r),
		      "thread.run.step.created thread.run.step.in_progress thread.run.step.delta "
		      "thread.run.requires_action done") != NULL);
	run_id = json_string_value(
		json_object_get(openai_event(&s, &r, "thread.run.requires_action"), "id"));
	r = openai_ask(&s, NULL, "GET " T_ "/%s/runs/%s", id, run_id);
	CHECK_STR(text_at(&r, "status"), "requires_action");
	CHECK_STR(text_at(&r, "required_action.type"), "submit_tool_outputs");
	CHECK_STR(text_at(&r, "required_action.submit_tool_outputs.tool_calls.0.function.name"),
		"add");
	CHECK_STR(
		text_at(&r, "required_action.submit_tool_outputs.tool_calls.0.function.arguments"),
		"{\"a\":1}");
	CHECK_STR(text_at(&r, "tools.0.function.name"), "add");
	call = text_at(&r, "required_action.submit_tool_outputs.tool_calls.0.id");

	test_step("nothing else may begin");
	STATUS(run(&s, id, ""), 400);
	STATUS(openai_ask(
		       &s, "{\"role\":\"user\",\"content\":\"x\"}", "POST " T_ "/%s/messages", id),
		400);
	STATUS(openai_ask(&s, "{\"tool_outputs\":[{\"tool_call_id\":\"nobody\",\"output\":\"1\"}]}",
		       "POST " T_ "/%s/runs/%s/submit_tool_outputs", id, run_id),
		400);

	test_step("the result");
	r = openai_ask(&s,
		arena_printf(&s.f->arena,
			"{\"stream\":true,\"tool_outputs\":[{\"tool_call_id\":\"%s\",\"output\":\"42\"}]}",
			call),
		"POST " T_ "/%s/runs/%s/submit_tool_outputs", id, run_id);
	STATUS(r, 200);
	CHECK(strstr(openai_told(&s, &r), "thread.run.step.completed") != NULL);
	CHECK(strstr(openai_told(&s, &r), "thread.run.completed done") != NULL);
	r = openai_ask(&s, NULL, "GET " T_ "/%s/runs/%s/steps?order=asc", id, run_id);
	CHECK_STR(text_at(&r, "data.0.type"), "tool_calls");
	CHECK_STR(text_at(&r, "data.0.step_details.tool_calls.0.function.output"), "42");
	CHECK_STR(text_at(&r, "data.1.type"), "message_creation");
	r = openai_ask(&s, NULL, "GET " T_ "/%s/runs/%s/steps?limit=1", id, run_id);
	CHECK_STR(text_at(&r, "data.0.type"), "message_creation");
	CHECK(json_is_true(at(&r, "has_more")));

	test_step("cancelled while it waits; the assistant's own functions");
	openai_ask(&s, "{" ADD "}", "POST /v1/assistants/%s", s.agent_id);
	id = said(&s, "use tool add");
	r = run(&s, id, "");
	run_id = text_at(&r, "id");
	r = openai_rest(&s, id, run_id);
	CHECK_STR(text_at(&r, "status"), "requires_action");
	r = openai_ask(&s, NULL, "POST " T_ "/%s/runs/%s/cancel", id, run_id);
	CHECK_STR(text_at(&r, "status"), "cancelled");
	CHECK(json_is_integer(at(&r, "cancelled_at")));
	r = openai_ask(&s, NULL, "GET " T_ "/%s/runs/%s/steps", id, run_id);
	CHECK_STR(text_at(&r, "data.0.type"), "tool_calls");
	openai_close(&s);
}

TEST(threads_runs_refuse_in_openais_shape)
{
	static const struct {
		const char *more, *param;
		int status;
	} cases[] = {
		{ ",\"model\":\"gpt-4o\"", NULL, 404 },
		{ ",\"tool_choice\":\"maybe\"", "tool_choice", 400 },
		{ ",\"tools\":[{\"type\":\"file_search\"}]", "tools[0].type", 400 },
		{ ",\"response_format\":{\"type\":\"json_object\"}", "response_format", 400 },
		{ ",\"additional_messages\":[{\"role\":\"user\"}]",
			"additional_messages[0].content", 400 },
	};
	struct openai_fixture s;
	struct answer r;
	const char *id, *other;

	openai_open(&s);
	id = said(&s, "hello");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		test_step("%s", cases[i].more);
		r = run(&s, id, cases[i].more);
		CHECK_INT(r.status, cases[i].status);
		if (cases[i].param)
			CHECK_STR(text_at(&r, "error.param"), cases[i].param);
	}
	CHECK_INT(fixture_count(s.f, "select count(*) from sessions"), 0);
	STATUS(openai_ask(&s, "{}", "POST " T_ "/%s/runs", id), 400);
	STATUS(openai_ask(&s, "{\"assistant_id\":\"cabcdefghijklmnopqrstuvwx\"}",
		       "POST " T_ "/%s/runs", id),
		404);

	test_step("one assistant a thread");
	openai_rest(&s, id, text_at(&(struct answer[]){ run(&s, id, "") }[0], "id"));
	other = s.agent_id;
	s.agent_id = text_at(&(struct answer[]){ openai_ask(
				     &s, "{\"model\":\"demo\"}", "POST /v1/assistants") }[0],
		"id");
	r = run(&s, id, "");
	STATUS(r, 400);
	CHECK_STR(text_at(&r, "error.param"), "assistant_id");
	s.agent_id = other;

	test_step("an agent that is switched off; nobody is to try again");
	fixture_sql(s.f, "update agent_rows set is_active = 0 where id = $1", ARGS(T(s.agent_id)));
	r = run(&s, id, "");
	STATUS(r, 409);
	CHECK_STR(header_of(s.f, &r, "x-should-retry"), "false");
	openai_close(&s);
}

/* ---- rates ---- */

static const char *words_of(struct openai_fixture *s, int count, const char *role)
{
	const char *list = "";

	for (int i = 0; i < count; i++)
		list = arena_printf(&s->f->arena, "%s%s{\"role\":\"%s\",\"content\":\"say x\"}",
			list, i ? "," : "", role);
	return list;
}

static int64_t counted(struct openai_fixture *s)
{
	return fixture_count(
		s->f, "select coalesce(sum(calls), 0) from rate_slots where seconds = 60");
}

/* What a request counts. */
static void counts(struct openai_fixture *s, int64_t want, const struct answer *r)
{
	static int64_t before;

	if (want < 0)
		before = counted(s);
	else
		CHECK_INT(counted(s) - before, want);
	if (r)
		STATUS(*r, 200);
}

TEST(threads_runs_count_each_message_of_a_user)
{
	struct openai_fixture s;
	struct answer r;
	const char *thread;

	openai_open(&s);
	STATUS(openai_ask(&s, "{\"chat_rph_limit\":20}", "PUT /agents/%s/chat-config", s.agent_id),
		200);
	test_step("with the thread and with the run");
	counts(&s, -1, NULL);
	r = openai_ask(&s,
		arena_printf(&s.f->arena,
			"{\"assistant_id\":\"%s\",\"thread\":{\"messages\":[%s,%s]},"
			"\"additional_messages\":[%s]}",
			s.agent_id, words_of(&s, 3, "user"), words_of(&s, 2, "assistant"),
			words_of(&s, 2, "user")),
		"POST /v1/threads/runs");
	counts(&s, 5, &r);
	thread = text_at(&r, "thread_id");
	openai_rest(&s, thread, text_at(&r, "id"));
	test_step("said before");
	for (int i = 0; i < 2; i++)
		STATUS(openai_ask(
			       &s, words_of(&s, 1, "user"), "POST /v1/threads/%s/messages", thread),
			200);
	counts(&s, -1, NULL);
	r = openai_ask(&s, arena_printf(&s.f->arena, "{\"assistant_id\":\"%s\"}", s.agent_id),
		"POST /v1/threads/%s/runs", thread);
	counts(&s, 2, &r);
	openai_rest(&s, thread, text_at(&r, "id"));
	test_step("nothing new");
	counts(&s, -1, NULL);
	r = openai_ask(&s, arena_printf(&s.f->arena, "{\"assistant_id\":\"%s\"}", s.agent_id),
		"POST /v1/threads/%s/runs", thread);
	counts(&s, 1, &r);
	openai_rest(&s, thread, text_at(&r, "id"));
	test_step("a response, with what was answered before");
	counts(&s, -1, NULL);
	r = openai_ask(&s,
		arena_printf(&s.f->arena, "{\"model\":\"%s\",\"input\":[%s,%s,%s]}", s.agent_id,
			words_of(&s, 4, "user"), words_of(&s, 1, "assistant"),
			words_of(&s, 3, "user")),
		"POST /v1/responses");
	counts(&s, 3, &r);
	test_step("more than there is room for");
	counts(&s, -1, NULL);
	r = openai_ask(&s,
		arena_printf(&s.f->arena,
			"{\"assistant_id\":\"%s\",\"thread\":{\"messages\":[%s]}}", s.agent_id,
			words_of(&s, 10, "user")),
		"POST /v1/threads/runs");
	STATUS(r, 429);
	CHECK(header_of(s.f, &r, "Retry-After"));
	r = openai_ask(&s,
		arena_printf(&s.f->arena,
			"{\"assistant_id\":\"%s\",\"thread\":{\"messages\":[%s]}}", s.agent_id,
			words_of(&s, 21, "user")),
		"POST /v1/threads/runs");
	STATUS(r, 429);
	CHECK(!header_of(s.f, &r, "Retry-After"));
	counts(&s, 0, NULL);
	r = openai_ask(&s,
		arena_printf(&s.f->arena,
			"{\"assistant_id\":\"%s\",\"thread\":{\"messages\":[%s]}}", s.agent_id,
			words_of(&s, 9, "user")),
		"POST /v1/threads/runs");
	counts(&s, 9, &r);
	openai_rest(&s, text_at(&r, "thread_id"), text_at(&r, "id"));
	openai_close(&s);
}
