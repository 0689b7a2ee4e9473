/* test_openai_runs.c - OpenAI-style runs and responses of agents with tools of their own: approvals, results,
 * models that fail. */
#include "openai_fixture.h"
#include "turn_fixture.h"

#define TOOLS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define SUM "use tool calculator with {\\\"expression\\\":\\\"6*7\\\"}"

static struct openai_fixture as_openai(const struct turn_fixture *s)
{
	return (struct openai_fixture){ .f = s->f, .agent_id = s->agent_id };
}

static struct answer begin(struct openai_fixture *s, const char *text, const char *more)
{
	return openai_ask(s,
		arena_printf(&s->f->arena,
			"{\"assistant_id\":\"%s\",\"thread\":{\"messages\":[{\"role\":\"user\","
			"\"content\":\"%s\"}]}%s}",
			s->agent_id, text, more),
		"POST /v1/threads/runs");
}

TEST(openai_runs_show_calls_that_wait_for_approval)
{
	for (int approved = 0; approved < 2; approved++) {
		struct turn_fixture t;
		struct openai_fixture s;
		struct answer r;
		const char *thread_id, *run_id, *call;

		turn_open(&t, TOOLS("calculator"));
		s = as_openai(&t);
		fixture_sql(s.f, "update tools set requires_approval = 1", NO_ARGS);
		r = begin(&s, SUM, "");
		STATUS(r, 200);
		thread_id = text_at(&r, "thread_id");
		run_id = text_at(&r, "id");
		r = openai_rest(&s, thread_id, run_id);
		CHECK_STR(text_at(&r, "status"), "requires_action");
		CHECK_STR(text_at(&r,
				  "required_action.submit_tool_outputs.tool_calls.0.function.name"),
			"calculator");
		call = text_at(&r, "required_action.submit_tool_outputs.tool_calls.0.id");

		test_step("anything else than a word is refused");
		r = openai_ask(&s,
			arena_printf(&s.f->arena,
				"{\"tool_outputs\":[{\"tool_call_id\":\"%s\",\"output\":\"42\"}]}",
				call),
			"POST /v1/threads/%s/runs/%s/submit_tool_outputs", thread_id, run_id);
		STATUS(r, 400);
		CHECK_STR(text_at(&r, "error.param"), "tool_outputs[0].output");

		test_step("the word");
		r = openai_ask(&s,
			arena_printf(&s.f->arena,
				"{\"stream\":true,\"tool_outputs\":[{\"tool_call_id\":\"%s\","
				"\"output\":\"%s\"}]}",
				call, approved ? "approve" : "deny"),
			"POST /v1/threads/%s/runs/%s/submit_tool_outputs", thread_id, run_id);
		STATUS(r, 200);
		CHECK(strstr(openai_told(&s, &r), "thread.run.completed done") != NULL);
		r = openai_ask(
			&s, NULL, "GET /v1/threads/%s/runs/%s/steps?order=asc", thread_id, run_id);
		CHECK_STR(text_at(&r, "data.0.status"), "completed");
		if (approved)
			CHECK_STR(text_at(&r, "data.0.step_details.tool_calls.0.function.output"),
				"42");
		turn_close(&t);
	}
}

TEST(openai_responses_ask_for_approval)
{
	struct turn_fixture t;
	struct openai_fixture s;
	struct answer r;
	const char *id;

	turn_open(&t, TOOLS("calculator"));
	s = as_openai(&t);

	test_step("the agent's own calls are its business");
	r = openai_ask(&s,
		arena_printf(&s.f->arena, "{\"model\":\"%s\",\"input\":\"" SUM "\"}", s.agent_id),
		"POST /v1/responses");
	STATUS(r, 200);
	CHECK_INT(json_array_size(at(&r, "output")), 1);
	CHECK(strstr(text_at(&r, "output.0.content.0.text"), "42") != NULL);
	CHECK(json_integer_value(at(&r, "usage.total_tokens")) > 0);

	test_step("unless somebody must be asked");
	fixture_sql(s.f, "update tools set requires_approval = 1", NO_ARGS);
	r = openai_ask(&s,
		arena_printf(&s.f->arena, "{\"model\":\"%s\",\"input\":\"" SUM "\"}", s.agent_id),
		"POST /v1/responses");
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "status"), "completed");
	CHECK_STR(text_at(&r, "output.0.type"), "mcp_approval_request");
	CHECK_STR(text_at(&r, "output.0.name"), "calculator");
	id = text_at(&r, "id");
	r = openai_ask(&s, NULL, "GET /v1/responses/%s", id);
	CHECK_STR(text_at(&r, "output.0.type"), "mcp_approval_request");
	r = openai_ask(&s,
		arena_printf(&s.f->arena,
			"{\"model\":\"%s\",\"previous_response_id\":\"%s\",\"input\":[{\"type\":"
			"\"mcp_approval_response\",\"approval_request_id\":\"%s\",\"approve\":true}]}",
			s.agent_id, id, text_at(&r, "output.0.id")),
		"POST /v1/responses");
	STATUS(r, 200);
	CHECK(strstr(text_at(&r, "output.0.content.0.text"), "42") != NULL);
	turn_close(&t);
}

TEST(openai_runs_and_responses_tell_that_a_model_failed)
{
	struct turn_fixture t;
	struct openai_fixture s;
	struct answer r;
	json_t *v;

	turn_open_mock(&t, (const char *const[]){ "400", NULL }, TOOLS("time"));
	s = as_openai(&t);
	r = begin(&s, "hi", ",\"stream\":true");
	STATUS(r, 200);
	CHECK(strstr(openai_told(&s, &r), "thread.run.failed done") != NULL);
	v = openai_event(&s, &r, "thread.run.failed");
	CHECK(json_is_string(json_object_get(json_object_get(v, "last_error"), "message")));
	CHECK(json_is_integer(json_object_get(v, "failed_at")));

	test_step("as a response");
	r = openai_ask(&s,
		arena_printf(&s.f->arena, "{\"model\":\"%s\",\"input\":\"hi\"}", s.agent_id),
		"POST /v1/responses");
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "status"), "failed");
	CHECK(text_at(&r, "error.message") != NULL);
	r = openai_ask(&s,
		arena_printf(&s.f->arena, "{\"model\":\"%s\",\"input\":\"hi\",\"stream\":true}",
			s.agent_id),
		"POST /v1/responses");
	CHECK(strstr(openai_told(&s, &r), "response.failed") != NULL);

	test_step("as a model's response, with its status");
	r = openai_ask(&s,
		arena_printf(
			&s.f->arena, "{\"model\":\"%s\",\"input\":\"hi\"}", t.gateway.slugs[0]),
		"POST /v1/responses");
	STATUS(r, 400);
	CHECK(text_at(&r, "error.message") != NULL);
	turn_close(&t);
}

TEST(openai_responses_of_models_break_off_and_are_cut)
{
	struct gateway_fixture g;
	struct openai_fixture s;
	struct answer r;

	gateway_open(&g);
	s = (struct openai_fixture){ .f = g.f };
	gateway_agent(&g, (const char *const[]){ "cut-3", "echo", NULL });
	r = openai_ask(&s,
		arena_printf(&s.f->arena, "{\"model\":\"%s\",\"input\":\"hi\",\"stream\":true}",
			g.slugs[0]),
		"POST /v1/responses");
	STATUS(r, 200);
	CHECK(strstr(openai_told(&s, &r), "response.output_item.done response.failed") != NULL);

	test_step("what the model is asked");
	r = openai_ask(&s,
		arena_printf(&s.f->arena,
			"{\"model\":\"%s\",\"instructions\":\"Be brief.\",\"input\":[{\"role\":\"user\","
			"\"content\":[{\"type\":\"input_text\",\"text\":\"look\"}]},{\"type\":"
			"\"function_call\",\"call_id\":\"k\",\"name\":\"f\",\"arguments\":\"{}\"},"
			"{\"type\":\"function_call_output\",\"call_id\":\"k\",\"output\":\"7\"}],"
			"\"max_output_tokens\":33,\"reasoning\":{\"effort\":\"low\"},\"tool_choice\":"
			"\"required\",\"text\":{\"format\":{\"type\":\"json_schema\",\"name\":\"n\","
			"\"schema\":{\"type\":\"object\"}}},\"tools\":[{\"type\":\"function\",\"name\":"
			"\"f\",\"parameters\":{\"type\":\"object\"}}]}",
			g.slugs[1]),
		"POST /v1/responses");
	STATUS(r, 200);
	CHECK(strstr(g.mock.last_body, "Be brief.") != NULL);
	CHECK(strstr(g.mock.last_body, "\"tool_call_id\":\"k\"") != NULL);
	CHECK(strstr(g.mock.last_body, "json_schema") != NULL);
	CHECK(strstr(g.mock.last_body, "\"required\"") != NULL);
	CHECK(strstr(g.mock.last_body, "\"low\"") != NULL);
	gateway_close(&g);
}

TEST(openai_runs_under_way_say_when_to_ask_again)
{
	struct turn_fixture t;
	struct openai_fixture s;
	struct answer r;
	const char *thread_id, *run_id;

	turn_open_mock(&t, (const char *const[]){ "slow-20000", NULL }, TOOLS("time"));
	s = as_openai(&t);
	r = begin(&s, "hi", "");
	thread_id = text_at(&r, "thread_id");
	run_id = text_at(&r, "id");
	r = openai_ask(&s, NULL, "GET /v1/threads/%s/runs/%s", thread_id, run_id);
	CHECK_STR(header_of(s.f, &r, "openai-poll-after-ms"), "250");
	STATUS(openai_ask(&s, "{\"role\":\"user\",\"content\":\"x\"}",
		       "POST /v1/threads/%s/messages", thread_id),
		400);
	r = openai_ask(&s, NULL, "POST /v1/threads/%s/runs/%s/cancel", thread_id, run_id);
	CHECK_STR(text_at(&r, "status"), "cancelled");
	r = openai_ask(&s, NULL, "GET /v1/threads/%s/runs/%s", thread_id, run_id);
	CHECK(!header_of(s.f, &r, "openai-poll-after-ms"));
	turn_close(&t);
}

TEST(openai_threads_move_many_messages_in_order)
{
	enum { MANY = 450 };
	struct turn_fixture t;
	struct openai_fixture s;
	struct answer r;
	const char *id;

	turn_open(&t, TOOLS("time"));
	s = as_openai(&t);
	r = openai_ask(&s, "{}", "POST /v1/threads");
	id = text_at(&r, "id");
	for (int i = 0; i < MANY; i++)
		STATUS(openai_ask(&s,
			       arena_printf(&s.f->arena,
				       "{\"role\":\"user\",\"content\":\"say %d\"}", i),
			       "POST /v1/threads/%s/messages", id),
			200);
	r = openai_ask(&s, arena_printf(&s.f->arena, "{\"assistant_id\":\"%s\"}", s.agent_id),
		"POST /v1/threads/%s/runs", id);
	STATUS(r, 200);
	r = openai_rest(&s, id, text_at(&r, "id"));
	CHECK_INT(fixture_count(s.f, "select count(*) from messages where role = 'user'"), MANY);
	r = openai_ask(&s, NULL, "GET /v1/threads/%s/messages?limit=2", id);
	CHECK_STR(text_at(&r, "data.1.content.0.text.value"),
		arena_printf(&s.f->arena, "say %d", MANY - 1));
	turn_close(&t);
}

/* The newest row of the audit log with this verb. */
static struct answer newest(struct fixture *f, const char *action)
{
	struct answer r = ask(f, f->admin, NULL, "GET /tenant/%s/audit-logs?action=%s&per_page=1",
		f->tenant_id, action);

	STATUS(r, 200);
	return r;
}

static void check_decided(struct fixture *f, const char *approval_id, int approved, int so_far)
{
	struct answer r = newest(f, "approval.decide");

	CHECK_INT(json_integer_value(at(&r, "total")), so_far);
	CHECK_STR(text_at(&r, "items.0.resource_type"), "approval");
	CHECK_STR(text_at(&r, "items.0.resource_id"), approval_id);
	CHECK_STR(text_at(&r, "items.0.meta.tool"), "calculator");
	CHECK(json_is_true(at(&r, "items.0.meta.approved")) == (approved != 0));
	CHECK(text_at(&r, "items.0.meta.session_id") != NULL);
	CHECK_STR(text_at(&r, "items.0.user_id"), f->admin_id);
}

/* Begins a response whose call waits; gives its id, and the approval's. */
static const char *response_waits(struct openai_fixture *s, const char **ret_approval)
{
	struct answer r = openai_ask(s,
		arena_printf(&s->f->arena, "{\"model\":\"%s\",\"input\":\"" SUM "\"}", s->agent_id),
		"POST /v1/responses");

	STATUS(r, 200);
	*ret_approval = text_at(&r, "output.0.id");
	return text_at(&r, "id");
}

TEST(openai_approvals_are_in_the_audit_log_whichever_way_they_came)
{
	struct turn_fixture t;
	struct openai_fixture s;
	struct answer r;
	const char *id, *approval, *thread_id, *run_id, *call;

	turn_open(&t, TOOLS("calculator"));
	s = as_openai(&t);
	fixture_sql(s.f, "update tools set requires_approval = 1", NO_ARGS);

	test_step("the service's own");
	id = response_waits(&s, &approval);
	r = newest(s.f, "response.create");
	CHECK_STR(text_at(&r, "items.0.resource_type"), "response");
	CHECK_STR(text_at(&r, "items.0.resource_id"), id);
	CHECK_STR(text_at(&r, "items.0.agent_id"), s.agent_id);
	CHECK_INT(json_integer_value(at(&r, "items.0.meta.messages.user")), 1);
	CHECK(!strstr(r.body, "6*7"));
	id = text_at(&r, "items.0.meta.session_id");
	r = newest(s.f, "session.create");
	CHECK_STR(text_at(&r, "items.0.resource_id"), id);
	STATUS(ask(s.f, s.f->admin, "{\"approved\":true}", "POST /sessions/%s/approvals/%s", id,
		       approval),
		200);
	check_decided(s.f, approval, 1, 1);

	test_step("responses");
	id = response_waits(&s, &approval);
	r = openai_ask(&s,
		arena_printf(&s.f->arena,
			"{\"model\":\"%s\",\"previous_response_id\":\"%s\",\"input\":[{\"type\":"
			"\"mcp_approval_response\",\"approval_request_id\":\"%s\",\"approve\":false}]}",
			s.agent_id, id, approval),
		"POST /v1/responses");
	STATUS(r, 200);
	check_decided(s.f, approval, 0, 2);
	CHECK_INT(fixture_count(
			  s.f, "select count(*) from audit_logs where action = 'session.create'"),
		2);
	CHECK_INT(fixture_count(
			  s.f, "select count(*) from audit_logs where action = 'response.create'"),
		3);

	test_step("runs");
	r = begin(&s, SUM, "");
	thread_id = text_at(&r, "thread_id");
	run_id = text_at(&r, "id");
	for (size_t i = 0; i < 3; i++) {
		static const char *const actions[] = { "thread.create", "session.create",
			"run.create" };

		r = newest(s.f, actions[i]);
		CHECK_STR(text_at(&r, "items.0.resource_id"), i == 2 ? run_id : thread_id);
	}
	CHECK_STR(text_at(&r, "items.0.meta.thread_id"), thread_id);
	r = openai_rest(&s, thread_id, run_id);
	call = text_at(&r, "required_action.submit_tool_outputs.tool_calls.0.id");
	r = ask(s.f, s.f->admin, NULL, "GET /sessions/%s/approvals", thread_id);
	approval = text_at(&r, "items.0.id");
	STATUS(openai_ask(&s,
		       arena_printf(&s.f->arena,
			       "{\"tool_outputs\":[{\"tool_call_id\":\"%s\",\"output\":\"approve\"}]}",
			       call),
		       "POST /v1/threads/%s/runs/%s/submit_tool_outputs", thread_id, run_id),
		200);
	check_decided(s.f, approval, 1, 3);
	r = newest(s.f, "run.answer");
	CHECK_STR(text_at(&r, "items.0.resource_id"), run_id);
	CHECK_STR(text_at(&r, "items.0.meta.thread_id"), thread_id);
	CHECK_INT(json_integer_value(at(&r, "items.0.meta.outputs")), 1);

	test_step("one that is refused leaves none");
	STATUS(ask(s.f, s.f->admin, "{\"approved\":true}", "POST /sessions/%s/approvals/%s",
		       thread_id, approval),
		409);
	check_decided(s.f, approval, 1, 3);

	test_step("a run that is ended");
	r = begin(&s, SUM, "");
	thread_id = text_at(&r, "thread_id");
	run_id = text_at(&r, "id");
	openai_rest(&s, thread_id, run_id);
	STATUS(openai_ask(&s, NULL, "POST /v1/threads/%s/runs/%s/cancel", thread_id, run_id), 200);
	r = newest(s.f, "run.cancel");
	CHECK_STR(text_at(&r, "items.0.resource_id"), run_id);
	CHECK_STR(text_at(&r, "items.0.meta.thread_id"), thread_id);

	test_step("a model's response: when it is stored");
	r = openai_ask(
		&s, "{\"model\":\"demo\",\"input\":\"hi\",\"store\":false}", "POST /v1/responses");
	STATUS(r, 200);
	CHECK_INT(fixture_count(
			  s.f, "select count(*) from audit_logs where action = 'response.create'"),
		3);
	r = openai_ask(&s, "{\"model\":\"demo\",\"input\":\"hi\"}", "POST /v1/responses");
	STATUS(r, 200);
	id = text_at(&r, "id");
	r = newest(s.f, "response.create");
	CHECK_INT(json_integer_value(at(&r, "total")), 4);
	CHECK_STR(text_at(&r, "items.0.resource_id"), id);
	CHECK_STR(text_at(&r, "items.0.user_id"), s.f->admin_id);
	CHECK(text_at(&r, "items.0.meta.model_id") != NULL);
	turn_close(&t);
}

TEST(openai_requests_with_a_key_act_once)
{
	static const char *const bodies[] = { "", ",\"stream\":true", ",\"background\":true" };
	struct turn_fixture t;
	struct openai_fixture s;
	struct answer one, two;
	int64_t had;

	turn_open(&t, TOOLS("calculator"));
	s = as_openai(&t);
	had = fixture_count(s.f, "select count(*) from sessions");
	test_step("threads, assistants, runs");
	one = openai_ask(&s, "{}", "POST /v1/threads\nIdempotency-Key: a");
	STATUS(one, 200);
	two = openai_ask(&s, "{}", "POST /v1/threads\nIdempotency-Key: a");
	CHECK_STR(two.body, one.body);
	CHECK_INT(fixture_count(s.f, "select count(*) from threads"), 1);
	two = openai_ask(&s, "{\"metadata\":{}}", "POST /v1/threads\nIdempotency-Key: a");
	STATUS(two, 422);
	CHECK_STR(text_at(&two, "error.code"), "idempotency_mismatch");
	one = openai_ask(&s, "{\"model\":\"demo\"}", "POST /v1/assistants\nIdempotency-Key: a");
	STATUS(one, 200);
	two = openai_ask(&s, "{\"model\":\"demo\"}", "POST /v1/assistants\nIdempotency-Key: a");
	CHECK_STR(text_at(&two, "id"), text_at(&one, "id"));
	for (size_t i = 0; i < 2; i++) {
		const char *body = arena_printf(&s.f->arena,
			"{\"assistant_id\":\"%s\",\"thread\":{\"messages\":[{\"role\":\"user\","
			"\"content\":\"hi\"}]}%s}",
			s.agent_id, bodies[i]);

		one = openai_ask(&s, body, "POST /v1/threads/runs\nIdempotency-Key: r%zu", i);
		STATUS(one, 200);
		two = openai_ask(&s, body, "POST /v1/threads/runs\nIdempotency-Key: r%zu", i);
		STATUS(two, 200);
		CHECK_STR(text_at(&two, "object"), "thread.run");
		if (!i)
			CHECK_STR(text_at(&two, "id"), text_at(&one, "id"));
		CHECK_INT(fixture_count(s.f, "select count(*) from sessions"), had + (int)i + 1);
	}
	test_step("responses of agents");
	for (size_t i = 0; i < 3; i++) {
		const char *body = arena_printf(&s.f->arena,
			"{\"model\":\"%s\",\"input\":\"hi\"%s}", s.agent_id, bodies[i]);

		one = openai_ask(&s, body, "POST /v1/responses\nIdempotency-Key: s%zu", i);
		STATUS(one, 200);
		two = openai_ask(&s, body, "POST /v1/responses\nIdempotency-Key: s%zu", i);
		STATUS(two, 200);
		CHECK_STR(text_at(&two, "object"), "response");
		CHECK_STR(text_at(&two, "status"), "queued");
		if (i != 1)
			CHECK_STR(text_at(&two, "id"), text_at(&one, "id"));
		STATUS(openai_ask(&s, NULL, "GET /v1/responses/%s", text_at(&two, "id")), 200);
		CHECK_INT(fixture_count(s.f, "select count(*) from sessions"), had + (int)i + 3);
	}
	test_step("a key is its tenant's");
	fixture_tenant(s.f, "second", s.f->admin_id);
	one = ask(s.f, s.f->admin, "{}",
		"POST /v1/threads\nIdempotency-Key: o\r\nOpenAI-Organization: demo");
	two = ask(s.f, s.f->admin, "{}",
		"POST /v1/threads\nIdempotency-Key: o\r\nOpenAI-Organization: second");
	STATUS(two, 200);
	CHECK(strcmp(text_at(&one, "id"), text_at(&two, "id")) != 0);
	turn_close(&t);
}
