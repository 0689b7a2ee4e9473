/* test_broker_requests.c - one conversation as each provider wants it, headers and addresses. */
#include "broker_fixture.h"

#include <stdlib.h>

#include "oracle.h"

static void build(struct chat *c, struct arena *a)
{
	struct chat_message *m;

	chat_open(c, a);
	chat_message_add(c, CHAT_SYSTEM, "Be \"brief\"");
	m = chat_message_add(c, CHAT_USER, "Look");
	chat_image(chat_part_add(c, m, PART_IMAGE_URL), SLICE("data:image/png;base64,AAAA"));
	chat_image(chat_part_add(c, m, PART_IMAGE_URL), SLICE("https://x/y.png"));
	chat_message_add(c, CHAT_USER, "again");
	m = chat_message_add(c, CHAT_ASSISTANT, "");
	chat_call_add(c, m, "c.1", "f", "{\"a\":1}");
	chat_call_add(c, m, "c2", "g", "");
	chat_call_add(c, m, "c3", "g", "not json");
	chat_result_add(c, "c.1", "42");
	chat_result_add(c, "c2", "");
	chat_message_add(c, CHAT_SYSTEM, "Later");
	chat_message_add(c, CHAT_USER, "And?");
	chat_tool_add(c, "f", "does", "{\"type\":\"object\"}")->strict = true;
	c->tools->has_strict = true;
	chat_tool_add(c, "g", NULL, NULL);
	c->tool_choice = CHOICE_REQUIRED;
	c->parallel_calls = 0;
	c->max_tokens = 100;
	c->temperature = 1.5;
	chat_stop_add(c, SLICE("END"));
	chat_stop_add(c, SLICE("\\n "));
	c->stream = true;
}

/* What is written, and that another reader takes it. */
static void check_request(
	const struct provider *p, const struct chat *c, const struct target *t, const char *wanted)
{
	struct buf b;

	test_step("%s", p->name);
	buf_init(&b, 1 << 20);
	p->write(c, t, &b);
	CHECK(oracle_accepts(b.at, b.len));
	buf_putc(&b, '\0');
	CHECK_STR(b.at, wanted);
	buf_free(&b);
}

TEST(broker_requests_of_one_conversation)
{
	const struct target t = { .model = "m1", .base_url = "http://x" };
	struct arena a = { 0 };
	struct chat c;

	build(&c, &a);
	check_request(&provider_openai, &c, &t,
		"{\"model\":\"m1\",\"messages\":[{\"role\":\"system\",\"content\":\"Be \\\"brief\\\"\"},"
		"{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Look\"},{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,AAAA\"}},{\"type\":\"image_url\",\"image_url\":{\"url\":\"https://x/y.png\"}}]},"
		"{\"role\":\"user\",\"content\":\"again\"},"
		"{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"c.1\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":1}\"}},{\"id\":\"c2\",\"type\":\"function\",\"function\":{\"name\":\"g\",\"arguments\":\"{}\"}},{\"id\":\"c3\",\"type\":\"function\",\"function\":{\"name\":\"g\",\"arguments\":\"not json\"}}]},"
		"{\"role\":\"tool\",\"tool_call_id\":\"c.1\",\"content\":\"42\"},{\"role\":\"tool\",\"tool_call_id\":\"c2\",\"content\":\"\"},"
		"{\"role\":\"system\",\"content\":\"Later\"},{\"role\":\"user\",\"content\":\"And?\"}],"
		"\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"description\":\"does\",\"parameters\":{\"type\":\"object\"},\"strict\":true}},{\"type\":\"function\",\"function\":{\"name\":\"g\"}}],"
		"\"tool_choice\":\"required\",\"parallel_tool_calls\":false,\"max_tokens\":100,\"temperature\":1.5,\"stop\":[\"END\",\"\\n \"],"
		"\"stream\":true,\"stream_options\":{\"include_usage\":true}}");
	check_request(&provider_anthropic, &c, &t,
		"{\"model\":\"m1\",\"max_tokens\":100,\"system\":[{\"type\":\"text\",\"text\":\"Be \\\"brief\\\"\"},{\"type\":\"text\",\"text\":\"Later\"}],"
		"\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Look\"},{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\"AAAA\"}},{\"type\":\"image\",\"source\":{\"type\":\"url\",\"url\":\"https://x/y.png\"}},{\"type\":\"text\",\"text\":\"again\"}]},"
		"{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"c_1\",\"name\":\"f\",\"input\":{\"a\":1}},{\"type\":\"tool_use\",\"id\":\"c2\",\"name\":\"g\",\"input\":{}},{\"type\":\"tool_use\",\"id\":\"c3\",\"name\":\"g\",\"input\":{\"arguments\":\"not json\"}}]},"
		"{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"c_1\",\"content\":[{\"type\":\"text\",\"text\":\"42\"}]},{\"type\":\"tool_result\",\"tool_use_id\":\"c2\",\"content\":[]},{\"type\":\"text\",\"text\":\"And?\"}]}],"
		"\"tools\":[{\"name\":\"f\",\"description\":\"does\",\"input_schema\":{\"type\":\"object\"},\"strict\":true},{\"name\":\"g\",\"input_schema\":{\"type\":\"object\",\"properties\":{}}}],"
		"\"tool_choice\":{\"type\":\"any\",\"disable_parallel_tool_use\":true},\"temperature\":1,\"stop_sequences\":[\"END\"],\"stream\":true}");
	check_request(&provider_openai_responses, &c, &t,
		"{\"model\":\"m1\",\"input\":[{\"type\":\"message\",\"role\":\"system\",\"content\":[{\"type\":\"input_text\",\"text\":\"Be \\\"brief\\\"\"}]},"
		"{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"Look\"},{\"type\":\"input_image\",\"image_url\":\"data:image/png;base64,AAAA\",\"detail\":\"auto\"},{\"type\":\"input_image\",\"image_url\":\"https://x/y.png\",\"detail\":\"auto\"}]},"
		"{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"again\"}]},"
		"{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"\"}]},"
		"{\"type\":\"function_call\",\"call_id\":\"c.1\",\"name\":\"f\",\"arguments\":\"{\\\"a\\\":1}\"},{\"type\":\"function_call\",\"call_id\":\"c2\",\"name\":\"g\",\"arguments\":\"{}\"},{\"type\":\"function_call\",\"call_id\":\"c3\",\"name\":\"g\",\"arguments\":\"not json\"},"
		"{\"type\":\"function_call_output\",\"call_id\":\"c.1\",\"output\":\"42\"},{\"type\":\"function_call_output\",\"call_id\":\"c2\",\"output\":\"\"},"
		"{\"type\":\"message\",\"role\":\"system\",\"content\":[{\"type\":\"input_text\",\"text\":\"Later\"}]},{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"And?\"}]}],\"store\":false,"
		"\"tools\":[{\"type\":\"function\",\"name\":\"f\",\"description\":\"does\",\"parameters\":{\"type\":\"object\"},\"strict\":true},{\"type\":\"function\",\"name\":\"g\",\"parameters\":{\"type\":\"object\",\"properties\":{}},\"strict\":false}],"
		"\"tool_choice\":\"required\",\"parallel_tool_calls\":false,\"max_output_tokens\":100,\"temperature\":1.5,\"stream\":true}");
	arena_free(&a);
}

TEST(broker_anthropic_always_begins_with_the_user)
{
	const struct target t = { .model = "m1" };
	struct arena a = { 0 };
	struct chat c;

	chat_open(&c, &a);
	chat_message_add(&c, CHAT_SYSTEM, "S");
	check_request(&provider_anthropic, &c, &t,
		"{\"model\":\"m1\",\"max_tokens\":4096,\"system\":[{\"type\":\"text\",\"text\":\"S\"}],\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"(no message)\"}]}]}");
	chat_open(&c, &a);
	chat_message_add(&c, CHAT_ASSISTANT, "A");
	chat_message_add(&c, CHAT_ASSISTANT, "B");
	chat_message_add(&c, CHAT_USER, "");
	chat_message_add(&c, CHAT_ASSISTANT, "C");
	check_request(&provider_anthropic, &c, &t,
		"{\"model\":\"m1\",\"max_tokens\":4096,\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"(no message)\"}]},"
		"{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"A\"},{\"type\":\"text\",\"text\":\"B\"},{\"type\":\"text\",\"text\":\"C\"}]}]}");
	arena_free(&a);
}

TEST(broker_thinking_is_asked_for_as_the_model_understands_it)
{
	struct target t = { .model = "claude-sonnet-4-5-20250929", .default_max_tokens = 20000 };
	struct chat_thought *th;
	struct chat_message *m;
	struct arena a = { 0 };
	struct chat c;

	chat_open(&c, &a);
	chat_message_add(&c, CHAT_USER, "Q");
	c.effort = EFFORT_MEDIUM;
	c.temperature = 0.3;
	check_request(&provider_anthropic, &c, &t,
		"{\"model\":\"claude-sonnet-4-5-20250929\",\"max_tokens\":20000,\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Q\"}]}],\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":4096}}");
	t.model = "claude-3-5-haiku";
	check_request(&provider_anthropic, &c, &t,
		"{\"model\":\"claude-3-5-haiku\",\"max_tokens\":20000,\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Q\"}]}],\"temperature\":0.3}");
	t.model = "claude-next";
	m = chat_message_add(&c, CHAT_ASSISTANT, NULL);
	th = chat_thought_add(&c, m);
	*th = (struct chat_thought){
		.text = SLICE("T"), .signature = SLICE("S"), .id = SLICE("rs"), .maker = "anthropic"
	};
	chat_call_add(&c, m, "c", "f", "{}");
	chat_result_add(&c, "c", "r")->failed = true;
	c.format = FORMAT_SCHEMA;
	c.format_schema = SLICE("{\"type\":\"object\"}");
	check_request(&provider_anthropic, &c, &t,
		"{\"model\":\"claude-next\",\"max_tokens\":20000,\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Q\"}]},"
		"{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"T\",\"signature\":\"S\"},{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"f\",\"input\":{}}]},"
		"{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"c\",\"content\":[{\"type\":\"text\",\"text\":\"r\"}],\"is_error\":true}]}],"
		"\"thinking\":{\"type\":\"adaptive\"},\"output_config\":{\"effort\":\"medium\",\"format\":{\"type\":\"json_schema\",\"schema\":{\"type\":\"object\"}}}}");
	th->maker = "openai_responses";
	check_request(&provider_openai_responses, &c, &t,
		"{\"model\":\"claude-next\",\"input\":[{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"Q\"}]},"
		"{\"type\":\"reasoning\",\"id\":\"rs\",\"summary\":[{\"type\":\"summary_text\",\"text\":\"T\"}],\"encrypted_content\":\"S\"},"
		"{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"f\",\"arguments\":\"{}\"},{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":\"r\"}],\"store\":false,\"temperature\":0.3,"
		"\"reasoning\":{\"effort\":\"medium\",\"summary\":\"auto\"},\"include\":[\"reasoning.encrypted_content\"],"
		"\"text\":{\"format\":{\"type\":\"json_schema\",\"name\":\"answer\",\"schema\":{\"type\":\"object\"},\"strict\":false}}}");
	arena_free(&a);
}

TEST(broker_addresses_and_headers)
{
	struct provider_header h[PROVIDER_HEADERS_MAX];
	struct target t = { .api_key = "sk-1" };
	struct arena a = { 0 };

	CHECK_STR(provider_url(&a, &provider_openai, &t),
		"https://api.openai.com/v1/chat/completions");
	CHECK_STR(
		provider_url(&a, &provider_anthropic, &t), "https://api.anthropic.com/v1/messages");
	t.base_url = "http://localhost:8080/";
	CHECK_STR(provider_url(&a, &provider_openai, &t),
		"http://localhost:8080/v1/chat/completions");
	t.base_url = "https://gate.example.com/api/v3//";
	CHECK_STR(provider_url(&a, &provider_openai_responses, &t),
		"https://gate.example.com/api/v3/responses");
	CHECK(!provider_url(&a, &provider_demo, &(struct target){ 0 }));
	CHECK_INT(provider_openai.headers(&t, h), 2);
	CHECK_STR(h[1].name, "Authorization");
	CHECK_STR(h[1].before, "Bearer ");
	CHECK_STR(h[1].value, "sk-1");
	CHECK_INT(provider_anthropic.headers(&t, h), 3);
	CHECK_STR(h[2].name, "x-api-key");
	t.api_key = NULL;
	CHECK_INT(provider_openai.headers(&t, h), 1);
	for (size_t i = 0; providers[i]; i++)
		CHECK(provider_find(providers[i]->name) == providers[i]);
	CHECK(!provider_find("router"));
	arena_free(&a);
}
