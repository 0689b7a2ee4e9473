/* test_gateway.c - the OpenAI-style gateway: who may call what, what goes out, what is entered. */
#include "gateway_fixture.h"

#include "openai/gateway.h"
#include "base/clock.h"
#include "broker/broker.h"

TEST(gateway_answers_whole_and_as_a_stream)
{
	struct gateway_fixture s;
	struct answer r;

	gateway_open(&s);
	gateway_agent(&s, (const char *const[]){ "ok", NULL });

	test_step("whole");
	r = gateway_ask(&s, s.f->admin, "");
	CHECK_INT(r.status, 200);
	CHECK_STR(text_at(&r, "object"), "chat.completion");
	CHECK_STR(text_at(&r, "model"), s.model);
	CHECK_STR(text_at(&r, "choices.0.message.content"), MOCK_TEXT);
	CHECK_STR(text_at(&r, "choices.0.finish_reason"), "stop");
	CHECK_INT(json_integer_value(at(&r, "usage.total_tokens")), MOCK_INPUT + MOCK_OUTPUT);
	CHECK(header_of(s.f, &r, "x-request-id") != NULL);
	gateway_settled(&s, 1, MOCK_COST);

	test_step("as a stream");
	r = gateway_ask(&s, s.f->admin, ",\"stream\":true");
	CHECK_INT(r.status, 200);
	CHECK_STR(gateway_text(&s, &r), MOCK_TEXT);
	CHECK(strstr(r.body, "data: [DONE]") != NULL);
	CHECK(!strstr(r.body, "\"usage\""));
	gateway_settled(&s, 2, 2 * MOCK_COST);

	test_step("as a stream with usage");
	r = gateway_ask(
		&s, s.f->admin, ",\"stream\":true,\"stream_options\":{\"include_usage\":true}");
	CHECK(strstr(r.body, "\"total_tokens\":9") != NULL);
	CHECK_STR(gateway_text(&s, &r), MOCK_TEXT);
	gateway_settled(&s, 3, 3 * MOCK_COST);
	gateway_close(&s);
}

TEST(gateway_has_one_shape_for_errors)
{
	static const struct {
		const char *request;
		int status;
		const char *type, *code;
	} rows[] = {
		{ "GET /v1/assistants/asst_abc123", 404, "not_found_error", "not_found" },
		{ "GET /v1/threads/thread_abc123", 404, "not_found_error", "not_found" },
		{ "GET /v1/responses/resp_abc123", 404, "not_found_error", "not_found" },
		{ "POST /v1/moderations", 404, "not_found_error", "not_found" },
		{ "GET /v1/files", 404, "not_found_error", "not_found" },
		{ "GET /v1/chat/completions", 405, "invalid_request_error", "method_not_allowed" },
		{ "PATCH /v1/models", 405, "invalid_request_error", "method_not_allowed" },
		{ "POST /v1/assistants\nContent-Type: text/plain", 415, "invalid_request_error",
			"unsupported_media_type" },
		{ "POST /v1/assistants\nContent-Type: application/json; charset=utf-16", 415,
			"invalid_request_error", "unsupported_media_type" },
		{ "GET /v1/models\nContent-Length: x", 400, "invalid_request_error", "malformed" },
		{ "POST /v1/threads\nTransfer-Encoding: odd", 501, "server_error",
			"not_implemented" },
	};
	struct gateway_fixture s;
	struct answer r;

	gateway_open(&s);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		test_step("%s", rows[i].request);
		r = ask(s.f, s.f->admin, strstr(rows[i].request, "Content-Type") ? "{}" : NULL,
			"%s", rows[i].request);
		STATUS(r, rows[i].status);
		CHECK_STR(header_of(s.f, &r, "Content-Type"), "application/json");
		CHECK_STR(text_at(&r, "error.type"), rows[i].type);
		CHECK_STR(text_at(&r, "error.code"), rows[i].code);
		CHECK((header_of(s.f, &r, "Allow") != NULL) == (rows[i].status == 405));
	}
	test_step("our own");
	r = ask(s.f, s.f->admin, NULL, "GET /v1/tenants/nope");
	STATUS(r, 404);
	CHECK_STR(header_of(s.f, &r, "Content-Type"), "application/problem+json");
	gateway_close(&s);
}

/* What is published of a chat is what is read: each member refuses what its row does not allow. */
TEST(gateway_publishes_what_a_chat_may_hold)
{
	const struct schema *t = &ChatCompletionCreate_schema;
	struct gateway_fixture s;
	struct answer r;

	gateway_open(&s);
	gateway_agent(&s, (const char *const[]){ "ok", NULL });
	for (size_t i = 0; i < t->count; i++) {
		const struct field *f = &t->fields[i];

		test_step("%s", f->name);
		r = ask(s.f, s.f->admin,
			arena_printf(&s.f->arena, "{%s%s\"%s\":%s}",
				strcmp(f->name, "model") == 0 ? "" : "\"model\":\"x\",",
				strcmp(f->name, "messages") == 0
					? ""
					: "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}],",
				f->name, f->kind == JSON ? "7" : "{}"),
			"POST /v1/chat/completions");
		STATUS(r, 400);
		CHECK(strncmp(text_at(&r, "error.param"), f->name, strlen(f->name)) == 0);
		if (!f->max)
			continue;
		r = ask(s.f, s.f->admin,
			arena_printf(&s.f->arena,
				"{\"model\":\"x\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}],\"%s\":%.17g}",
				f->name, f->max + 1),
			"POST /v1/chat/completions");
		STATUS(r, 400);
		CHECK_STR(text_at(&r, "error.param"), f->name);
	}
	gateway_close(&s);
}

TEST(gateway_sends_the_agents_words_before_the_callers)
{
	struct gateway_fixture s;
	struct answer r;

	gateway_open(&s);
	gateway_agent(&s, (const char *const[]){ "echo", NULL });
	fixture_sql(s.f, "update agent_rows set description_prompt = $2 where id = $1",
		ARGS(T(s.agent_id), T("You are \"A\".")));
	r = gateway_ask(&s, s.f->admin, ",\"temperature\":0.5,\"x_unknown\":{\"a\":1}");
	CHECK_INT(r.status, 200);
	CHECK(strstr(text_at(&r, "choices.0.message.content"),
		      "{\"role\":\"system\",\"content\":\"You are \\\"A\\\".\"},"
		      "{\"role\":\"user\",\"content\":\"hi\"}") != NULL);
	CHECK(strstr(s.mock.last_body, "\"x_unknown\":{\"a\":1}") != NULL);
	CHECK(strstr(s.mock.last_body, "\"model\":\"mock-model\"") != NULL);
	CHECK(strstr(s.mock.last_head, "authorization: Bearer sk-model") != NULL);

	test_step("by the agent's slug");
	s.model = arena_printf(&s.f->arena, "agent:%s", s.slug);
	STATUS(gateway_ask(&s, s.f->admin, ""), 200);
	gateway_close(&s);
}

/* What cannot be answered is refused before anything is made, as the gateway refuses it. */
TEST(gateway_and_sessions_refuse_alike_where_nothing_can_be_called)
{
	struct gateway_fixture s;
	const char *member, *id;
	struct answer r;

	gateway_open(&s);
	id = fixture_user(s.f, "m@example.org", &member);
	fixture_member(s.f, s.f->tenant_id, id, "MEMBER");
	gateway_agent(&s, (const char *const[]){ "ok", NULL });

	test_step("by somebody without a grant on the model");
	r = gateway_ask(&s, member, "");
	STATUS(r, 403);
	CHECK_STR(text_at(&r, "error.code"), "user_grant_missing");
	r = ask(s.f, member, "{\"message\":\"hi\"}", "POST /agents/%s/sessions", s.agent_id);
	STATUS(r, 403);
	CHECK_STR(text_at(&r, "type"), "urn:lodge:problem:user_grant_missing");

	test_step("without a model");
	fixture_sql(s.f, "delete from agent_models where agent_id = $1", ARGS(T(s.agent_id)));
	r = ask(s.f, s.f->admin, "{\"message\":\"hi\"}", "POST /agents/%s/sessions", s.agent_id);
	STATUS(r, 409);
	CHECK_STR(text_at(&r, "type"), "urn:lodge:problem:no_model");
	CHECK_INT(fixture_count(s.f, "select count(*) from sessions"), 0);

	test_step("of a session that asks nothing yet nothing is made either");
	r = ask(s.f, s.f->admin, "{}", "POST /agents/%s/sessions", s.agent_id);
	STATUS(r, 201);
	id = text_at(&r, "id");
	r = ask(s.f, s.f->admin, "{\"content\":\"hi\"}", "POST /sessions/%s/messages", id);
	STATUS(r, 409);
	CHECK_STR(text_at(&r, "type"), "urn:lodge:problem:no_model");
	CHECK_INT(fixture_count(s.f, "select count(*) from session_runs"), 0);
	gateway_close(&s);
}

TEST(gateway_calls_a_model_by_its_slug_for_members)
{
	struct gateway_fixture s;
	const char *member, *guest, *stranger, *id;
	struct answer r;

	gateway_open(&s);
	id = fixture_user(s.f, "m@example.org", &member);
	fixture_member(s.f, s.f->tenant_id, id, "MEMBER");
	id = fixture_user(s.f, "g@example.org", &guest);
	fixture_member(s.f, s.f->tenant_id, id, "GUEST");
	fixture_user(s.f, "s@example.org", &stranger);
	gateway_agent(&s, (const char *const[]){ "ok", NULL });
	s.model = s.slugs[0];
	STATUS(gateway_ask(&s, s.f->admin, ""), 200);

	test_step("a grant is needed where the tenant asks for one");
	r = gateway_ask(&s, member, "");
	CHECK_INT(r.status, 403);
	CHECK_STR(text_at(&r, "error.code"), "user_grant_missing");
	CHECK_STR(text_at(&r, "error.type"), "permission_error");
	fixture_sql(s.f, "update tenants set require_user_model_grants = 0 where id = $1",
		ARGS(T(s.f->tenant_id)));
	STATUS(gateway_ask(&s, member, ""), 200);
	STATUS(gateway_ask(&s, guest, ""), 403);
	STATUS(gateway_ask(&s, stranger, ""), 400);

	test_step("what the tenant does not reach is not there");
	fixture_sql(s.f, "update models set available_to_all_tenants = 0 where id = $1",
		ARGS(T(s.models[0])));
	r = gateway_ask(&s, member, "");
	CHECK_INT(r.status, 404);
	CHECK_STR(text_at(&r, "error.code"), "model_not_found");
	s.model = "no/such:model";
	r = gateway_ask(&s, member, "");
	CHECK_INT(r.status, 404);

	test_step("a guest calls an agent only with a role that writes");
	s.model = s.agent_id;
	STATUS(gateway_ask(&s, guest, ""), 403);
	STATUS(gateway_ask(&s, stranger, ""), 400);
	r = ask(s.f, stranger, GATEWAY_BODY(&s, ""),
		"POST /v1/chat/completions\nOpenAI-Organization: %s", s.f->tenant_id);
	CHECK_INT(r.status, 404);
	r = ask(s.f, s.f->admin, GATEWAY_BODY(&s, ""),
		"POST /v1/chat/completions\nOpenAI-Organization: demo");
	CHECK(r.status != 404);
	gateway_close(&s);
}

TEST(gateway_refuses_bad_bodies_in_openais_shape)
{
	static const struct {
		const char *body, *param;
		int status;
	} cases[] = {
		{ "{", NULL, 400 },
		{ "[]", NULL, 400 },
		{ "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}", "model", 400 },
		{ "{\"model\":\"x\"}", "messages", 400 },
		{ "{\"model\":\"x\",\"messages\":7}", "messages", 400 },
		{ "{\"model\":\"x\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],\"n\":2}",
			"n", 400 },
	};
	struct gateway_fixture s;
	struct answer r;

	gateway_open(&s);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		test_step("%s", cases[i].body);
		r = ask(s.f, s.f->admin, cases[i].body, "POST /v1/chat/completions");
		CHECK_INT(r.status, cases[i].status);
		CHECK_STR(text_at(&r, "error.type"), "invalid_request_error");
		if (cases[i].param)
			CHECK_STR(text_at(&r, "error.param"), cases[i].param);
	}
	STATUS(ask(s.f, NULL, "{}", "POST /v1/chat/completions"), 401);
	STATUS(ask(s.f, s.f->admin, "{}", "POST /v1/chat/completions\nContent-Type: text/plain"),
		415);
	gateway_close(&s);
}

TEST(gateway_lists_agents_and_models)
{
	struct gateway_fixture s;
	const char *guest, *id;
	struct answer r;

	gateway_open(&s);
	id = fixture_user(s.f, "g@example.org", &guest);
	fixture_member(s.f, s.f->tenant_id, id, "GUEST");
	gateway_agent(&s, (const char *const[]){ "ok", NULL });
	r = ask(s.f, s.f->admin, NULL, "GET /v1/models?x=1");
	CHECK_INT(r.status, 200);
	CHECK_STR(text_at(&r, "object"), "list");
	CHECK_STR(text_at(&r, "data.0.id"), arena_printf(&s.f->arena, "agent:%s", s.slug));
	CHECK_STR(text_at(&r, "data.1.id"), s.slugs[0]);
	CHECK_STR(text_at(&r, "data.2.id"), "demo");
	CHECK(json_integer_value(at(&r, "data.0.created")) > 1600000000);
	r = ask(s.f, guest, NULL, "GET /v1/models");
	CHECK_INT(json_array_size(at(&r, "data")), 1);

	STATUS(ask(s.f, s.f->admin, NULL, "GET /v1/models/agent%%3A%s", s.slug), 200);
	STATUS(ask(s.f, s.f->admin, NULL, "GET /v1/models/agent:%s", s.slug), 200);
	STATUS(ask(s.f, s.f->admin, NULL, "GET /v1/models/%s", s.agent_id), 200);
	STATUS(ask(s.f, s.f->admin, NULL, "GET /v1/models/demo"), 200);
	r = ask(s.f, s.f->admin, NULL, "GET /v1/models/a%%2Fb");
	CHECK_INT(r.status, 404);
	CHECK_STR(text_at(&r, "error.code"), "model_not_found");
	STATUS(ask(s.f, guest, NULL, "GET /v1/models/demo"), 403);
	gateway_close(&s);
}

TEST(gateway_keeps_to_working_hours_and_rates)
{
	struct gateway_fixture s;
	struct answer r;

	gateway_open(&s);
	gateway_agent(&s, (const char *const[]){ "ok", "ok", NULL });
	fixture_sql(s.f,
		"insert into chat_configs (tenant_id, agent_id, chat_rpm_limit, working_hours_enabled) "
		"values ($1, $2, 2, 0)",
		ARGS(T(s.f->tenant_id), T(s.agent_id)));
	STATUS(gateway_ask(&s, s.f->admin, ""), 200);
	STATUS(gateway_ask(&s, s.f->admin, ""), 200);
	r = gateway_ask(&s, s.f->admin, "");
	CHECK_INT(r.status, 429);
	CHECK_STR(text_at(&r, "error.code"), "rate_limited");
	CHECK_STR(header_of(s.f, &r, "x-should-retry"), "false");
	CHECK(header_of(s.f, &r, "retry-after") != NULL);
	gateway_settled(&s, 2, 2 * MOCK_COST);

	test_step("no day of work");
	fixture_sql(s.f,
		"update chat_configs set working_hours_enabled = 1, working_hours_days = '[]', "
		"working_hours_start = '09:00', working_hours_end = '17:00', working_hours_tz = 'UTC' "
		"where agent_id = $1",
		ARGS(T(s.agent_id)));
	r = gateway_ask(&s, s.f->admin, "");
	CHECK_INT(r.status, 429);
	CHECK_STR(text_at(&r, "error.code"), "outside_working_hours");
	CHECK_STR(header_of(s.f, &r, "x-should-retry"), "false");
	gateway_close(&s);
}

TEST(gateway_uses_the_tenants_own_key_at_the_address_it_is_for)
{
	struct gateway_fixture s;
	struct id id = id_new(NULL);
	const char *base, *sealed;

	gateway_open(&s);
	gateway_agent(&s, (const char *const[]){ "ok", NULL });
	sealed = vault_seal(
		s.f->app.vault, &s.f->arena, SEALED_PROVIDER_KEY, id.text, "sk-tenant", 9);
	fixture_sql(s.f,
		"insert into provider_keys (tenant_id, provider, id, base_url, sealed, created_at, "
		"updated_at) values ($1, 'openai', $2, null, $3, 1, 1)",
		ARGS(T(s.f->tenant_id), T(id.text), T(sealed)));
	STATUS(gateway_ask(&s, s.f->admin, ""), 200);
	CHECK(strstr(s.mock.last_head, "authorization: Bearer sk-model\n") != NULL);

	base = mock_url(&s.mock, &s.f->arena, "other");
	fixture_sql(s.f, "update provider_keys set base_url = $1", ARGS(T(base)));
	STATUS(gateway_ask(&s, s.f->admin, ""), 200);
	CHECK(strstr(s.mock.last_head, "authorization: Bearer sk-tenant\n") != NULL);
	gateway_settled(&s, 2, 2 * MOCK_COST);
	CHECK_INT(fixture_count(s.f, "select count(*) from ledger where byok = 1"), 1);
	gateway_close(&s);
}

TEST(gateway_takes_other_keys_of_the_operator_while_it_runs)
{
	struct broker_keys first = { .openai = "sk-first", .anthropic = "sk-other" },
			   second = { .openai = "sk-second", .anthropic = "sk-other" };
	struct broker_keys held;
	struct broker_renewed differ;
	struct gateway_fixture s;

	gateway_open(&s);
	differ = broker_renew(s.f->service.broker, &first);
	CHECK(differ.openai && differ.anthropic);
	differ = broker_renew(s.f->service.broker, &first);
	CHECK(!differ.openai && !differ.anthropic);
	held = broker_keys(s.f->service.broker, &s.f->arena);
	differ = broker_renew(s.f->service.broker, &second);
	CHECK(differ.openai && !differ.anthropic);
	test_step("what is under way keeps its own");
	CHECK_STR(held.openai, "sk-first");
	CHECK_STR(broker_keys(s.f->service.broker, &s.f->arena).openai, "sk-second");
	differ =
		broker_renew(s.f->service.broker, &(struct broker_keys){ .anthropic = "sk-other" });
	CHECK(differ.openai && !differ.anthropic);
	CHECK(!broker_keys(s.f->service.broker, &s.f->arena).openai);
	gateway_close(&s);
}

TEST(gateway_says_what_it_dropped_and_refuses_what_has_no_bound)
{
	static const char file[] =
		"{\"model\":\"%s\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"file\","
		"\"file\":{\"file_id\":\"f\"}}]}]}";
	struct gateway_fixture s;
	struct answer r;
	struct buf tools;

	gateway_open(&s);
	gateway_agent(&s, (const char *const[]){ "ok", NULL });
	r = gateway_ask(&s, s.f->admin,
		",\"service_tier\":\"priority\",\"prediction\":{\"type\":\"content\",\"content\":\"x\"}");
	CHECK_INT(r.status, 200);
	CHECK_STR(header_of(s.f, &r, "lodge-dropped"), "service_tier, prediction");
	CHECK(!strstr(s.mock.last_body, "priority") && !strstr(s.mock.last_body, "prediction"));
	r = gateway_ask(&s, s.f->admin, ",\"stream\":true,\"speed\":\"fast\"");
	CHECK_STR(header_of(s.f, &r, "lodge-dropped"), "speed");
	r = gateway_ask(&s, s.f->admin, ",\"web_search_options\":{}");
	CHECK_INT(r.status, 400);
	CHECK_STR(text_at(&r, "error.param"), "web_search_options");

	test_step("of thousands the first twenty");
	buf_init(&tools, 1 << 20);
	for (int i = 0; i < 4000; i++)
		buf_printf(&tools, "%s{\"type\":\"t%d\"}", i ? "," : "", i);
	r = ask(s.f, s.f->admin,
		arena_printf(&s.f->arena, "{\"model\":\"%s\",\"input\":\"hi\",\"tools\":[%.*s]}",
			s.model, (int)tools.len, tools.at),
		"POST /v1/responses");
	buf_free(&tools);
	CHECK_INT(r.status, 200);
	CHECK_STR(header_of(s.f, &r, "lodge-dropped"),
		"t0, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12, t13, t14, t15, t16, t17, t18, t19, ...");

	test_step("a file, without a budget and with one");
	STATUS(ask(s.f, s.f->admin, arena_printf(&s.f->arena, file, s.model),
		       "POST /v1/chat/completions"),
		200);
	fixture_sql(s.f, "update agent_rows set hourly_limit_pd = $2 where id = $1",
		ARGS(T(s.agent_id), N((int64_t)1000 * MOCK_COST)));
	r = ask(s.f, s.f->admin, arena_printf(&s.f->arena, file, s.model),
		"POST /v1/chat/completions");
	CHECK_INT(r.status, 400);
	CHECK_STR(text_at(&r, "error.code"), "not_reckonable");
	gateway_close(&s);
}
