/* test_messages.c - Anthropic's Messages API: who may ask, what is taken, and in which shape faults are told.  tests/blackbox/messages.test.mjs has the official client do the same. */
#include "gateway_fixture.h"

#include "anthropic/messages.h"

#define HI "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]"

TEST(messages_errors_have_anthropics_shape)
{
	static const struct {
		const char *request, *body;
		int status;
		const char *type;
	} rows[] = {
		{ "POST /v1/messages", "{", 400, "invalid_request_error" },
		{ "POST /v1/messages", "[]", 400, "invalid_request_error" },
		{ "POST /v1/messages", "{\"max_tokens\":1," HI "}", 400, "invalid_request_error" },
		{ "POST /v1/messages", "{\"model\":\"m\"," HI "}", 400, "invalid_request_error" },
		{ "POST /v1/messages", "{\"model\":\"m\",\"max_tokens\":1," HI "}", 404,
			"not_found_error" },
		{ "POST /v1/messages", "{\"model\":\"m\",\"maxTokens\":1," HI "}", 400,
			"invalid_request_error" },
		{ "POST /v1/messages",
			"{\"model\":\"m\",\"max_tokens\":1,\"fallbacks\":[{\"model\":\"x\"}]," HI
			"}",
			400, "invalid_request_error" },
		{ "POST /v1/messages/count_tokens", "{\"model\":\"m\"," HI "}", 404,
			"not_found_error" },
		{ "POST /v1/messages/batches", NULL, 404, "not_found_error" },
		{ "GET /v1/messages/batches/x/results", NULL, 404, "not_found_error" },
		{ "GET /v1/messages", NULL, 405, "invalid_request_error" },
		{ "POST /v1/messages\nContent-Type: text/plain", "{}", 415,
			"invalid_request_error" },
		{ "GET /v1/files\nanthropic-version: 2023-06-01", NULL, 404, "not_found_error" },
		{ "GET /v1/models/nobody\nanthropic-version: 2023-06-01", NULL, 404,
			"not_found_error" },
		{ "GET /v1/models?limit=0\nanthropic-version: 2023-06-01", NULL, 400,
			"invalid_request_error" },
	};
	struct gateway_fixture s;
	struct answer r;

	gateway_open(&s);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		test_step("%s %s", rows[i].request, rows[i].body ? rows[i].body : "");
		r = ask(s.f, s.f->admin, rows[i].body, "%s", rows[i].request);
		STATUS(r, rows[i].status);
		CHECK_STR(text_at(&r, "type"), "error");
		CHECK_STR(text_at(&r, "error.type"), rows[i].type);
		CHECK(*text_at(&r, "error.message"));
		CHECK_STR(text_at(&r, "request_id"), header_of(s.f, &r, "request-id"));
	}
	test_step("nobody");
	r = ask(s.f, NULL, "{}", "POST /v1/messages");
	STATUS(r, 401);
	CHECK_STR(text_at(&r, "error.type"), "authentication_error");
	test_step("another's list");
	r = ask(s.f, s.f->admin, NULL, "GET /v1/files");
	CHECK_STR(text_at(&r, "error.code"), "not_found");
	gateway_close(&s);
}

/* What is published of a body is what is read: each member refuses what its row does not allow. */
TEST(messages_publish_what_a_body_may_hold)
{
	const struct schema *t = &AnthropicMessageCreate_schema;
	struct gateway_fixture s;
	struct answer r;

	gateway_open(&s);
	for (size_t i = 0; i < t->count; i++) {
		const struct field *f = &t->fields[i];

		/* These two are the provider's to judge. */
		if (strcmp(f->name, "top_k") == 0 || strcmp(f->name, "metadata") == 0)
			continue;
		test_step("%s", f->name);
		r = ask(s.f, s.f->admin,
			arena_printf(&s.f->arena, "{%s%s%s\"%s\":%s}",
				strcmp(f->name, "model") == 0 ? "" : "\"model\":\"x\",",
				strcmp(f->name, "max_tokens") == 0 ? "" : "\"max_tokens\":1,",
				strcmp(f->name, "messages") == 0 ? "" : HI ",", f->name,
				f->kind == JSON || f->kind == LIST ? "7" : "{}"),
			"POST /v1/messages");
		STATUS(r, 400);
		CHECK(strncmp(text_at(&r, "error.message"), f->name, strlen(f->name)) == 0);
	}
	gateway_close(&s);
}

TEST(messages_take_the_key_as_anthropics_clients_send_it)
{
	struct gateway_fixture s;
	struct answer r;
	const char *body = "{\"model\":\"demo\",\"max_tokens\":50,"
			   "\"messages\":[{\"role\":\"user\",\"content\":\"count to 3\"}]}";

	gateway_open(&s);
	gateway_agent(&s, (const char *const[]){ "ok", NULL });
	r = ask(s.f, NULL, body, "POST /v1/messages\nx-api-key: %s", s.f->admin);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "content.0.text"), "1 2 3");
	test_step("nowhere else");
	STATUS(ask(s.f, NULL, NULL, "GET /me\nx-api-key: %s", s.f->admin), 401);
	STATUS(ask(s.f, NULL, body, "POST /v1/chat/completions\nx-api-key: %s", s.f->admin), 401);
	test_step("in two protocols at one path");
	r = ask(s.f, s.f->admin, NULL, "GET /v1/models");
	CHECK_STR(text_at(&r, "object"), "list");
	r = ask(s.f, NULL, NULL,
		"GET /v1/models?limit=1\nanthropic-version: 2023-06-01\r\nx-api-key: %s",
		s.f->admin);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "data.0.type"), "model");
	CHECK_STR(text_at(&r, "first_id"), text_at(&r, "data.0.id"));
	CHECK(json_is_true(at(&r, "has_more")));
	test_step("one of them");
	r = ask(s.f, NULL, NULL,
		"GET /v1/models/agent:%s\nanthropic-version: 2023-06-01\r\nx-api-key: %s", s.slug,
		s.f->admin);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "type"), "model");
	CHECK_STR(text_at(&r, "id"), arena_printf(&s.f->arena, "agent:%s", s.slug));
	gateway_close(&s);
}

/* More words are more tokens, and counting them is no call: nothing is entered in the ledger. */
TEST(messages_count_tokens_and_charge_nothing)
{
	static const char *const said[] = { "hi", "hi there, how many tokens may this be?" };
	struct gateway_fixture s;
	int64_t before = 0;

	gateway_open(&s);
	gateway_agent(&s, (const char *const[]){ "ok", NULL });
	for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
		struct answer r = ask(s.f, s.f->admin,
			arena_printf(&s.f->arena,
				"{\"model\":\"%s\",\"messages\":[{\"role\":\"user\","
				"\"content\":\"%s\"}]}",
				s.model, said[i]),
			"POST /v1/messages/count_tokens");

		test_step("%s", said[i]);
		STATUS(r, 200);
		CHECK(json_integer_value(at(&r, "input_tokens")) > before);
		before = json_integer_value(at(&r, "input_tokens"));
	}
	gateway_settled(&s, 0, 0);
	gateway_close(&s);
}
