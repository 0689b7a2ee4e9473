/* test_money.c - never more than the limit is spent: every member of a request, with a large value, against a
 * small budget and a provider that obeys whatever it is sent and charges for every byte of it. */
#include "document.h"
#include "gateway_fixture.h"

#include "broker/chat_terms.h"
#include "mock_charge.h"

/* A short question costs some 60 tokens of prompt; BIG is 10,000. */
enum { LIMIT_TOKENS = 200, RUN_LIMIT_TOKENS = 6000, BIG = 40000 };

static const char *const kinds[] = { "openai", "openai_responses", "anthropic" };

/* OpenAI's chat request, what others have added to it, and what nobody has. */
static const char *const chat_members[] = { "audio", "frequency_penalty", "function_call",
	"functions", "logit_bias", "logprobs", "max_completion_tokens", "max_tokens", "metadata",
	"modalities", "moderation", "n", "parallel_tool_calls", "prediction", "presence_penalty",
	"prompt_cache_key", "prompt_cache_retention", "reasoning_effort", "response_format",
	"safety_identifier", "seed", "service_tier", "stop", "store", "stream", "stream_options",
	"temperature", "tool_choice", "tools", "top_logprobs", "top_p", "user", "verbosity",
	"web_search_options", "documents", "reasoning", "thinking", "extra_body", "cache_control",
	"nobody_knows" };
static const char *const message_members[] = { "name", "refusal", "reasoning_content", "audio",
	"function_call", "tool_calls", "tool_call_id", "annotations", "content", "cache_control",
	"nobody_knows" };
static const char *const part_types[] = { "text", "refusal", "image_url", "input_audio", "file",
	"video_url", "nobody_knows" };
static const char *const part_members[] = { "text", "refusal", "image_url", "input_audio", "file",
	"video_url", "cache_control", "nobody_knows" };

/* %s is large. */
static const char *const values[] = {
	"\"%s\"",
	"100000",
	"true",
	"\"priority\"",
	"[\"text\",\"audio\"]",
	"{\"%s\":1}",
	"[\"%s\"]",
	"{\"type\":\"content\",\"content\":\"%s\",\"include_usage\":true}",
	"{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"n\",\"schema\":{\"x\":\"%s\"}}}",
	"{\"url\":\"data:text/plain;base64,%s\",\"data\":\"%s\",\"file_id\":\"f\"}",
	"{\"url\":\"https://example.org/%s\"}",
	"[{\"type\":\"function\",\"id\":\"i\",\"name\":\"f\",\"function\":{\"name\":\"f\","
	"\"description\":\"%s\",\"arguments\":\"%s\"}}]",
};
enum { VALUES = sizeof values / sizeof *values };

#define COUNT(list) (sizeof(list) / sizeof *(list))

struct money_fixture {
	struct gateway_fixture s;
	char *big;
	int64_t limit_pd;
	const char *kind;
	int answered;
	bool messages; /* asked by Anthropic's Messages API */
};

static void fresh_agent(struct money_fixture *m)
{
	gateway_agent(&m->s, (const char *const[]){ "charge", NULL });
	fixture_sql(m->s.f, "update models set kind = $2, supports_vision = 1 where id = $1",
		ARGS(T(m->s.models[0]), T(m->kind)));
	fixture_sql(m->s.f, "update agent_rows set hourly_limit_pd = $2 where id = $1",
		ARGS(T(m->s.agent_id), N(m->limit_pd)));
}

static void money_open(struct money_fixture *m, const char *kind, int64_t limit_tokens)
{
	gateway_open(&m->s);
	m->kind = kind;
	m->answered = 0;
	m->messages = false;
	m->limit_pd = limit_tokens * PROMPT_PD;
	m->big = arena_alloc(&m->s.f->arena, BIG + 1);
	memset(m->big, 'a', BIG);
	fresh_agent(m);
}

static const char *filled(struct money_fixture *m, const char *value)
{
	return arena_printf(&m->s.f->arena, value, m->big, m->big);
}

/* Whatever was answered, it was paid for within the limit. */
static void check_spent(struct money_fixture *m)
{
	int64_t spent, calls;

	gateway_await_settled(&m->s);
	spent = fixture_count(m->s.f, "select coalesce(sum(cost_pd), 0) from ledger");
	calls = fixture_count(m->s.f, "select count(*) from ledger");
	if (spent > m->limit_pd)
		test_fail(__FILE__, __LINE__, "%lld of %lld were spent", (long long)spent,
			(long long)m->limit_pd);
	if (!calls)
		return;
	m->answered++;
	fixture_sql(m->s.f, "delete from ledger", NO_ARGS);
	fixture_sql(m->s.f, "delete from spend_minutes", NO_ARGS);
}

static void try_chat(struct money_fixture *m, const char *messages, const char *more)
{
	struct answer r = ask(m->s.f, m->s.f->admin,
		arena_printf(&m->s.f->arena, "{\"model\":\"%s\",\"messages\":[%s]%s}", m->s.model,
			messages, more),
		m->messages ? "POST /v1/messages" : "POST /v1/chat/completions");

	if (r.status != 200 && r.status != 400 && r.status != 429)
		test_fail(__FILE__, __LINE__, "status %d: %.200s", r.status, r.body);
	check_spent(m);
}

#define HI "{\"role\":\"user\",\"content\":\"hi\"}"

static void try_member(struct money_fixture *m, const char *name)
{
	const char *limit = strcmp(name, "max_tokens") == 0 ? "" : ",\"max_tokens\":5";

	for (int v = 0; v < VALUES; v++) {
		test_step("%s: %s as %s", m->kind, name, values[v]);
		try_chat(m, HI,
			arena_printf(
				&m->s.f->arena, "%s,\"%s\":%s", limit, name, filled(m, values[v])));
	}
}

static bool is_tried(const char *name)
{
	for (size_t i = 0; i < COUNT(chat_members); i++)
		if (strcmp(chat_members[i], name) == 0)
			return true;
	return false;
}

static void try_message(struct money_fixture *m, const char *name)
{
	const char *content = strcmp(name, "content") == 0 ? "" : "\"content\":\"a\",";

	for (int v = 0; v < VALUES; v++) {
		test_step("%s: a message's %s as %s", m->kind, name, values[v]);
		try_chat(m,
			arena_printf(&m->s.f->arena, "{\"role\":\"assistant\",%s\"%s\":%s}," HI,
				content, name, filled(m, values[v])),
			",\"max_tokens\":5");
	}
}

static void try_part(struct money_fixture *m, const char *type, const char *name)
{
	for (int v = 0; v < VALUES; v++) {
		test_step("%s: the %s of a part that is %s as %s", m->kind, name, type, values[v]);
		try_chat(m,
			arena_printf(&m->s.f->arena,
				"{\"role\":\"user\",\"content\":[{\"type\":\"%s\",\"%s\":%s}]}",
				type, name, filled(m, values[v])),
			",\"max_tokens\":5");
	}
}

TEST(money_no_member_of_a_chat_spends_more_than_the_limit)
{
	struct money_fixture m;

	money_open(&m, kinds[0], LIMIT_TOKENS);
	test_step("a small question is answered");
	try_chat(&m, HI, ",\"max_tokens\":5");
	CHECK_INT(m.answered, 1);
	for (size_t i = 0; i < COUNT(chat_members); i++)
		try_member(&m, chat_members[i]);
	for (size_t i = 0; i < chat_term_count; i++)
		if (!is_tried(chat_terms[i].name))
			try_member(&m, chat_terms[i].name);
	test_step("blanks");
	memset(m.big, ' ', BIG);
	try_chat(&m, HI, filled(&m, ",\"max_tokens\":5,\"x\":%s1,%s\"y\":[1]"));
	try_chat(&m, HI, filled(&m, ",\"max_tokens\":5,\"x\":[%s1]"));
	CHECK(m.answered > 20);
	gateway_close(&m.s);
}

TEST(money_no_member_of_a_message_spends_more_than_the_limit)
{
	struct money_fixture m;

	money_open(&m, kinds[0], LIMIT_TOKENS);
	for (size_t i = 0; i < COUNT(message_members); i++)
		try_message(&m, message_members[i]);
	for (size_t i = 0; i < COUNT(part_types); i++)
		for (size_t j = 0; j < COUNT(part_members); j++)
			if (strcmp(part_types[i], part_members[j]) == 0 || i == 0)
				try_part(&m, part_types[i], part_members[j]);
	gateway_close(&m.s);
}

/* An agent's own words make the request one that is written anew; another kind of provider likewise. */
TEST(money_holds_for_every_kind_of_provider)
{
	for (size_t k = 0; k < COUNT(kinds); k++) {
		struct money_fixture m;

		money_open(&m, kinds[k], LIMIT_TOKENS);
		for (int words = 0; words < 2; words++) {
			fixture_sql(m.s.f,
				"update agent_rows set description_prompt = $2 where id = $1",
				ARGS(T(m.s.agent_id), T(words ? "Be brief." : "")));
			try_member(&m, "max_completion_tokens");
			try_member(&m, "tools");
			try_member(&m, "response_format");
			try_member(&m, "functions");
			try_member(&m, "n");
			try_message(&m, "content");
			try_part(&m, "image_url", "image_url");
			for (int limit = 1; limit < 20; limit += 6) {
				test_step("%s: a limit of %d, and nearly nothing left", kinds[k],
					limit);
				m.limit_pd = 75 * PROMPT_PD;
				fresh_agent(&m);
				try_chat(&m, HI,
					arena_printf(&m.s.f->arena, ",\"max_tokens\":%d", limit));
			}
			m.limit_pd = (int64_t)LIMIT_TOKENS * PROMPT_PD;
			fresh_agent(&m);
		}
		gateway_close(&m.s);
	}
}

/* ---- by other doors ---- */

/* Anthropic's request, and what nobody has added to it. */
static const char *const anthropic_members[] = { "cache_control", "container", "context_management",
	"diagnostics", "fallbacks", "inference_geo", "max_tokens", "mcp_servers", "metadata", "n",
	"output_config", "output_format", "service_tier", "speed", "stop_sequences", "stream",
	"system", "temperature", "thinking", "tool_choice", "tools", "top_k", "top_p",
	"user_profile_id", "nobody_knows" };
static const char *const block_types[] = { "text", "image", "document", "search_result",
	"tool_result", "container_upload", "nobody_knows" };
static const char *const block_members[] = { "text", "source", "content", "title", "context",
	"tool_use_id", "cache_control", "nobody_knows" };

TEST(money_no_member_of_anthropics_messages_spends_more_than_the_limit)
{
	for (size_t k = 0; k < COUNT(kinds); k++) {
		struct money_fixture m;

		money_open(&m, kinds[k], LIMIT_TOKENS);
		m.messages = true;
		test_step("%s: a small question is answered", kinds[k]);
		try_chat(&m, HI, ",\"max_tokens\":5");
		CHECK_INT(m.answered, 1);
		for (size_t i = 0; i < COUNT(anthropic_members); i++)
			try_member(&m, anthropic_members[i]);
		for (size_t i = 0; i < COUNT(block_types); i++)
			for (size_t j = 0; j < COUNT(block_members); j++)
				try_part(&m, block_types[i], block_members[j]);
		test_step("%s: in an agent's words", kinds[k]);
		fixture_sql(m.s.f, "update agent_rows set description_prompt = $2 where id = $1",
			ARGS(T(m.s.agent_id), T("Be brief.")));
		try_member(&m, "system");
		try_member(&m, "max_tokens");
		gateway_close(&m.s);
	}
}

static const char *const response_members[] = { "instructions", "input", "tools", "tool_choice",
	"max_output_tokens", "max_tokens", "max_completion_tokens", "metadata", "reasoning", "text",
	"truncation", "user", "service_tier", "prompt", "include", "max_tool_calls", "top_logprobs",
	"n", "prediction", "conversation", "nobody_knows" };

static void try_response(struct money_fixture *m, const char *name, const char *value)
{
	const char *input = strcmp(name, "input") == 0 ? "" : "\"input\":\"hi\",";
	const char *limit =
		strcmp(name, "max_output_tokens") == 0 ? "" : "\"max_output_tokens\":5,";

	test_step("%s: %s of a response as %s", m->kind, name, value);
	ask(m->s.f, m->s.f->admin,
		arena_printf(&m->s.f->arena, "{\"model\":\"agent:%s\",%s%s\"%s\":%s}", m->s.slug,
			input, limit, name, filled(m, value)),
		"POST /v1/responses");
	check_spent(m);
}

TEST(money_no_member_of_a_response_spends_more_than_the_limit)
{
	struct money_fixture m;

	money_open(&m, kinds[0], RUN_LIMIT_TOKENS);
	try_response(&m, "user", "\"u\"");
	CHECK_INT(m.answered, 1);
	document_unheld = true;
	for (size_t i = 0; i < COUNT(response_members); i++)
		for (int v = 0; v < VALUES; v++)
			try_response(&m, response_members[i], values[v]);
	document_unheld = false;
	gateway_close(&m.s);
}

static const char *const run_members[] = { "instructions", "additional_instructions", "tools",
	"max_completion_tokens", "max_prompt_tokens", "max_tokens", "metadata", "response_format",
	"temperature", "thread" };

TEST(money_no_member_of_a_run_spends_more_than_the_limit)
{
	struct money_fixture m;

	money_open(&m, kinds[0], RUN_LIMIT_TOKENS);
	document_unheld = true;
	for (size_t i = 0; i < COUNT(run_members); i++)
		for (int v = 0; v < VALUES; v++) {
			const char *thread =
				strcmp(run_members[i], "thread") == 0
					? ""
					: "\"thread\":{\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]},";

			test_step("%s of a run as %s", run_members[i], values[v]);
			ask(m.s.f, m.s.f->admin,
				arena_printf(&m.s.f->arena,
					"{\"assistant_id\":\"%s\",\"stream\":true,%s\"%s\":%s}",
					m.s.agent_id, thread, run_members[i],
					filled(&m, values[v])),
				"POST /v1/threads/runs");
			check_spent(&m);
		}
	document_unheld = false;
	CHECK(m.answered > 3);
	gateway_close(&m.s);
}
