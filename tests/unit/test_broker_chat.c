/* test_broker_chat.c - chat-completions bodies: what is understood, what is refused and how, and the
 * body that goes out as it came. */
#include "broker_fixture.h"

#include <stdlib.h>

#include "base/error.h"

static const char full[] =
	"{\"model\":\"big\",\"messages\":["
	"{\"role\":\"developer\",\"content\":\"Be\\n\\u00e9 brief\"},"
	"{\"role\":\"user\",\"name\":\"ann\",\"content\":[{\"type\":\"text\",\"text\":\"Look\",\"cache_control\":{\"type\":\"ephemeral\"}},"
	"{\"type\":\"image_url\",\"image_url\":{\"url\":\"https://x/y.png\",\"detail\":\"low\"}},"
	"{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,AAAA\"}},"
	"{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"\"}}]},"
	"{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c.1\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":1}\"}}]},"
	"{\"role\":\"tool\",\"tool_call_id\":\"c.1\",\"content\":\"42\"},"
	"{\"role\":\"user\",\"content\":\"And?\"}],"
	"\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"description\":\"d\",\"parameters\":{\"type\":\"object\"},\"strict\":true}}],"
	"\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"f\"}},\"parallel_tool_calls\":false,"
	"\"max_completion_tokens\":77,\"temperature\":0.5,\"top_p\":1,\"stop\":[\"a\",\"\\n\"],\"stream\":true,"
	"\"stream_options\":{\"include_usage\":true},\"seed\":7,\"reasoning_effort\":\"high\","
	"\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"n\",\"schema\":{\"type\":\"object\"},\"strict\":true}},"
	"\"user\":\"u1\",\"n\":1,\"frequency_penalty\":null}";

static bool says(struct slice s, const char *text)
{
	if (text_is(s, text))
		return true;
	test_fail(__FILE__, __LINE__, "it says \"%.*s\", not \"%s\"", (int)s.len, s.at, text);
	return false;
}

TEST(broker_chat_reads_every_member)
{
	struct arena a = { 0 };
	struct chat_error e;
	struct chat_message *m;
	struct chat_field *f;
	struct chat c;

	CHECK_INT(chat_read(&c, &a, full, sizeof full - 1, &e), 0);
	CHECK_STR(e.message, "");
	says(c.model, "big");
	m = c.messages;
	CHECK_INT(m->role, CHAT_SYSTEM);
	says(m->parts->text, "Be\\n\\u00e9 brief");
	CHECK(m->parts->text.at > full && m->parts->text.at < full + sizeof full);
	m = m->next;
	says(m->name, "ann");
	says(m->parts->cache, "{\"type\":\"ephemeral\"}");
	CHECK_INT(m->parts->next->kind, PART_IMAGE_URL);
	says(m->parts->next->detail, "low");
	CHECK_INT(m->parts->next->next->kind, PART_IMAGE_DATA);
	says(m->parts->next->next->media, "image/png");
	says(m->parts->next->next->text, "AAAA");
	CHECK_INT(m->parts->next->next->next->kind, PART_OTHER);
	m = m->next;
	CHECK_INT(m->role, CHAT_ASSISTANT);
	CHECK(!m->parts);
	says(m->calls->arguments, "{\\\"a\\\":1}");
	m = m->next;
	CHECK_INT(m->role, CHAT_TOOL);
	says(m->call_id, "c.1");
	says(c.tools->parameters, "{\"type\":\"object\"}");
	CHECK(c.tools->strict && c.tools->has_strict);
	CHECK_INT(c.tool_choice, CHOICE_NAMED);
	says(c.tool_chosen, "f");
	CHECK_INT(c.parallel_calls, 0);
	CHECK_INT(c.max_tokens, 77);
	CHECK(c.temperature == 0.5 && c.top_p == 1);
	says(c.stop->next->text, "\\n");
	CHECK(c.stream && c.include_usage && c.has_seed && c.seed == 7);
	CHECK_INT(c.effort, EFFORT_HIGH);
	CHECK_INT(c.format, FORMAT_SCHEMA);
	says(c.format_schema, "{\"type\":\"object\"}");
	f = c.fields;
	while (f->understood)
		f = f->next;
	says(f->name, "user");
	says(f->raw, "\"u1\"");
	CHECK(chat_has_images(&c));
	CHECK(chat_tokens(&c) > 2400 && chat_tokens(&c) < 2500);
	arena_free(&a);
}

#define USER "\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]"

static const struct {
	const char *body, *param, *part;
	int err;
} wrong[] = {
	{ "", "", "parse", ERR_BAD_JSON },
	{ "[]", "", "object", ERR_INVALID },
	{ "{\"model\":\"m\"," USER, "", "parse", ERR_BAD_JSON },
	{ "{\"model\":\"m\"," USER "} x", "", "after", ERR_BAD_JSON },
	{ "{\"model\":\"m\",\"model\":\"m\"," USER "}", "", "twice", ERR_BAD_JSON },
	{ "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"\xff\"}]}", "", "UTF-8",
		ERR_BAD_JSON },
	{ "{" USER "}", "model", "model", ERR_INVALID },
	{ "{\"model\":\"\"," USER "}", "model", "model", ERR_INVALID },
	{ "{\"model\":3," USER "}", "model", "expected a string, but got a number", ERR_INVALID },
	{ "{\"model\":\"m\"}", "messages", "Missing", ERR_INVALID },
	{ "{\"model\":\"m\",\"messages\":null}", "messages", "array", ERR_INVALID },
	{ "{\"model\":\"m\",\"messages\":[]}", "messages", "at least one", ERR_INVALID },
	{ "{\"model\":\"m\",\"messages\":[3]}", "messages[0]", "object", ERR_INVALID },
	{ "{\"model\":\"m\",\"messages\":[{\"content\":\"a\"}]}", "messages[0].role", "system",
		ERR_INVALID },
	{ "{\"model\":\"m\",\"messages\":[{\"role\":\"king\",\"content\":\"a\"}]}",
		"messages[0].role", "system", ERR_INVALID },
	{ "{\"model\":\"m\",\"messages\":[{\"role\":\"user\"}]}", "messages[0].content", "Missing",
		ERR_INVALID },
	{ "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":7}]}",
		"messages[0].content", "parts", ERR_INVALID },
	{ "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":[{\"text\":\"a\"}]}]}",
		"messages[0].content[0]", "type", ERR_INVALID },
	{ "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\"}]}]}",
		"messages[0].content[0]", "image_url", ERR_INVALID },
	{ "{\"model\":\"m\",\"messages\":[{\"role\":\"tool\",\"content\":\"a\"}]}",
		"messages[0].tool_call_id", "Missing", ERR_INVALID },
	{ "{\"model\":\"m\",\"messages\":[{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"a\"}]}]}",
		"messages[0].tool_calls[0]", "name", ERR_INVALID },
	{ "{\"model\":\"m\"," USER ",\"temperature\":\"x\"}", "temperature", "number",
		ERR_INVALID },
	{ "{\"model\":\"m\"," USER ",\"temperature\":2.1}", "temperature", "between", ERR_INVALID },
	{ "{\"model\":\"m\"," USER ",\"max_tokens\":0}", "max_tokens", "between", ERR_INVALID },
	{ "{\"model\":\"m\"," USER ",\"max_tokens\":1.5}", "max_tokens", "integer", ERR_INVALID },
	{ "{\"model\":\"m\"," USER ",\"n\":2}", "n", "one choice", ERR_INVALID },
	{ "{\"model\":\"m\"," USER ",\"stream\":\"yes\"}", "stream", "boolean", ERR_INVALID },
	{ "{\"model\":\"m\"," USER ",\"stop\":[1]}", "stop[]", "string", ERR_INVALID },
	{ "{\"model\":\"m\"," USER ",\"tools\":[{\"typo\":\"web\"}]}", "tools[0]", "type",
		ERR_INVALID },
	{ "{\"model\":\"m\"," USER ",\"tools\":[{\"type\":\"function\",\"function\":{}}]}",
		"tools[0]", "name", ERR_INVALID },
	{ "{\"model\":\"m\"," USER ",\"tool_choice\":\"maybe\"}", "tool_choice", "auto",
		ERR_INVALID },
	{ "{\"model\":\"m\"," USER ",\"reasoning_effort\":\"huge\"}", "reasoning_effort", "low",
		ERR_INVALID },
	{ "{\"model\":\"m\"," USER ",\"response_format\":{\"type\":\"xml\"}}",
		"response_format.type", "json_object", ERR_INVALID },
	{ "{\"model\":\"m\"," USER ",\"response_format\":{\"type\":\"json_schema\"}}",
		"response_format.json_schema", "schema", ERR_INVALID },
	/* Two names for one thing, and one that ends early. */
	{ "{\"model\":\"m\"," USER ",\"N\":2}", "n", "one choice", ERR_INVALID },
	{ "{\"model\":\"m\"," USER ",\"Max_Tokens\":9}", "max_tokens", "spelled", ERR_INVALID },
	{ "{\"model\":\"m\"," USER ",\"maxTokens\":9}", "max_tokens", "spelled", ERR_INVALID },
	{ "{\"model\":\"m\"," USER ",\"num_return_sequences\":2}", "num_return_sequences",
		"one choice", ERR_INVALID },
	{ "{\"model\":\"m\"," USER ",\"model\\u0000\":\"n\"}", "", "U+0000", ERR_BAD_JSON },
	{ "{\"model\":\"m\",\"messages\":[{\"role\":\"user\\u0000x\",\"content\":\"a\"}]}", "",
		"U+0000", ERR_BAD_JSON },
};

TEST(broker_chat_refuses_as_openai_does)
{
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct arena a = { 0 };
		struct chat_error e;
		struct chat c;

		test_step("%s", wrong[i].body);
		CHECK_INT(
			chat_read(&c, &a, wrong[i].body, strlen(wrong[i].body), &e), wrong[i].err);
		CHECK_STR(e.param, wrong[i].param);
		CHECK(strstr(e.message, wrong[i].part));
		arena_free(&a);
	}
}

/* No beginning of a body is a body, and none is read beyond its end. */
TEST(broker_chat_cut_anywhere_is_refused)
{
	for (size_t len = 0; len < sizeof full - 1; len++) {
		struct arena a = { 0 };
		struct chat_error e;
		struct chat c;
		char *copy = malloc(len + 1);

		memcpy(copy, full, len);
		test_step("cut at %zu", len);
		CHECK(chat_read(&c, &a, copy, len, &e) < 0);
		CHECK(*e.message);
		free(copy);
		arena_free(&a);
	}
}

static void check_splice(const char *body, const struct target *t, const char *wanted)
{
	struct arena a = { 0 };
	struct chat_error e;
	struct buf b;
	struct chat c;

	test_step("%s", body);
	CHECK_INT(chat_read(&c, &a, body, strlen(body), &e), 0);
	buf_init(&b, 1 << 20);
	CHECK(chat_splices(&c));
	provider_openai.write(&c, t, &b);
	buf_putc(&b, '\0');
	CHECK_STR(b.at, wanted);
	buf_free(&b);
	arena_free(&a);
}

TEST(broker_chat_in_openais_shape_goes_out_as_it_came)
{
	const struct target t = { .model = "re\"al", .base_url = "http://x/v1" };
	const struct target less = { .model = "real", .base_url = "http://x/v1", .max_tokens = 9 };
	const struct target self = { .model = "real", .max_tokens = 9 };

	check_splice("{\"model\":\"m\"," USER "}", &t, "{\"model\":\"re\\\"al\"," USER "}");
	check_splice(" { \"odd\" : [1, 2e5],\n" USER " , \"model\" : \"m\" } ", &t,
		"{\"odd\":[1, 2e5]," USER ",\"model\":\"re\\\"al\"}");
	check_splice("{\"model\":\"m\",\"stream\":true," USER "}", &t,
		"{\"model\":\"re\\\"al\",\"stream\":true," USER
		",\"stream_options\":{\"include_usage\":true}}");
	check_splice("{\"model\":\"m\",\"stream\":true,\"stream_options\":null," USER "}", &t,
		"{\"model\":\"re\\\"al\",\"stream\":true,\"stream_options\":{\"include_usage\":true}," USER
		"}");
	check_splice("{\"stream_options\":{ },\"model\":\"m\",\"stream\":true," USER "}", &t,
		"{\"stream_options\":{\"include_usage\":true},\"model\":\"re\\\"al\",\"stream\":true," USER
		"}");
	check_splice("{\"stream_options\":{\"x\":1},\"model\":\"m\",\"stream\":true," USER "}", &t,
		"{\"stream_options\":{\"include_usage\":true,\"x\":1},\"model\":\"re\\\"al\",\"stream\":true," USER
		"}");
	check_splice(
		"{\"stream_options\":{\"include_usage\":false},\"model\":\"m\",\"stream\":true," USER
		"}",
		&t,
		"{\"stream_options\":{\"include_usage\":true},\"model\":\"re\\\"al\",\"stream\":true," USER
		"}");
	check_splice(
		"{\"stream_options\":{\"include_usage\":null},\"model\":\"m\",\"stream\":true," USER
		"}",
		&t,
		"{\"stream_options\":{\"include_usage\":true},\"model\":\"re\\\"al\",\"stream\":true," USER
		"}");
	check_splice("{\"model\":\"m\",\"max_tokens\":50," USER "}", &less,
		"{\"max_tokens\":9,\"model\":\"real\"," USER "}");
	check_splice("{\"model\":\"m\",\"max_tokens\":5," USER "}", &less,
		"{\"max_tokens\":5,\"model\":\"real\"," USER "}");
	check_splice("{\"max_completion_tokens\":null,\"model\":\"m\"," USER "}", &less,
		"{\"max_tokens\":9,\"model\":\"real\"," USER "}");
	/* Of two limits one holds, and is the only one sent, by the name that is known there. */
	check_splice("{\"max_tokens\":100000,\"model\":\"m\",\"max_completion_tokens\":3," USER "}",
		&less, "{\"max_tokens\":3,\"model\":\"real\"," USER "}");
	check_splice("{\"max_completion_tokens\":7,\"max_tokens\":2,\"model\":\"m\"," USER "}",
		&self, "{\"max_completion_tokens\":7,\"model\":\"real\"," USER "}");
	check_splice("{\"service_tier\":\"priority\",\"model\":\"m\",\"n_predict\":7," USER
		     ",\"n\": 1,\"modalities\":[ \"text\" ]}",
		&t, "{\"model\":\"re\\\"al\"," USER ",\"n\":1,\"modalities\":[ \"text\" ]}");
	check_splice("{\"model\":\"m\"," USER "}", &less,
		"{\"max_tokens\":9,\"model\":\"real\"," USER "}");
	check_splice("{\"model\":\"m\"," USER "}", &self,
		"{\"max_completion_tokens\":9,\"model\":\"real\"," USER "}");
}

TEST(broker_text_is_escaped_and_decoded_alike)
{
	static const char bytes[] = "a\"b\\\n\xc3\xa9\0z\xff\xe4\xbd";
	struct arena a = { 0 };
	struct slice s = text_escape(&a, bytes, sizeof bytes - 1);
	size_t len;
	const char *back = text_decode(&a, s, &len);

	CHECK_STR(s.at, "a\\\"b\\\\\\n\xc3\xa9\\u0000z\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	CHECK_INT(len, 18);
	CHECK(memcmp(back, "a\"b\\\n\xc3\xa9\0z\xef\xbf\xbd", 12) == 0);
	CHECK_STR(text_plain(&a, s),
		"a\"b\\\n\xc3\xa9\xef\xbf\xbdz\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	CHECK_STR(text_plain(&a, (struct slice){ 0 }), "");
	CHECK_INT(text_escape(&a, "", 0).len, 0);
	test_step("a value without U+0000, which an escaped backslash only looks like");
	s = text_without_nul(&a, SLICE("{\"a\":\"\\u0000\\\\u0000\\\\\\u0000\"}"));
	CHECK_STR(s.at, "{\"a\":\"\\ufffd\\\\u0000\\\\\\ufffd\"}");
	CHECK_INT(text_without_nul(&a, SLICE("[\"\\")).len, 3);
	arena_free(&a);
}
