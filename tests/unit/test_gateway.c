/* test_gateway.c - the OpenAI-style gateway: who may call what, what goes out, what is entered. */
#include "gateway_stage.h"

#include "base/clock.h"

TEST(gateway_answers_whole_and_as_a_stream)
{
	struct gateway_stage s;
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

TEST(gateway_sends_the_agents_words_before_the_callers)
{
	struct gateway_stage s;
	struct answer r;

	gateway_open(&s);
	gateway_agent(&s, (const char *const[]){ "echo", NULL });
	fixture_sql(s.f,
		"update agents set description_prompt = $2, bootstrap_instructions = $3 where id = $1",
		ARGS(T(s.agent_id), T("You are \"A\"."), T("Be brief.")));
	r = gateway_ask(&s, s.f->admin, ",\"temperature\":0.5,\"x_unknown\":{\"a\":1}");
	CHECK_INT(r.status, 200);
	CHECK(strstr(text_at(&r, "choices.0.message.content"),
		      "{\"role\":\"system\",\"content\":\"You are \\\"A\\\".\\n\\nBe brief.\"},"
		      "{\"role\":\"user\",\"content\":\"hi\"}") != NULL);
	CHECK(strstr(s.mock.last_body, "\"x_unknown\":{\"a\":1}") != NULL);
	CHECK(strstr(s.mock.last_body, "\"model\":\"mock-model\"") != NULL);
	CHECK(strstr(s.mock.last_head, "authorization: Bearer sk-model") != NULL);

	test_step("by the agent's slug");
	s.model = arena_printf(&s.f->arena, "agent:%s", s.slug);
	STATUS(gateway_ask(&s, s.f->admin, ""), 200);
	gateway_close(&s);
}

TEST(gateway_calls_a_model_by_its_slug_for_members)
{
	struct gateway_stage s;
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
	struct gateway_stage s;
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
	struct gateway_stage s;
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
	struct gateway_stage s;
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
	struct gateway_stage s;
	struct id id = id_new(NULL);
	const char *base, *sealed;

	gateway_open(&s);
	gateway_agent(&s, (const char *const[]){ "ok", NULL });
	sealed = vault_seal(s.f->app.vault, &s.f->arena, id.text, "sk-tenant", 9);
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
