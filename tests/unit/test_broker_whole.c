/* test_broker_whole.c - nothing of a request or a reply is lost on its way through a provider's shape: files, sound,
 * tools of other kinds, what a model gave along and wants back. */
#include <stdlib.h>
#include <string.h>

#include "broker/openai_out.h"
#include "broker/provider.h"
#include "broker_fixture.h"
#include "t.h"

#define ASKED(parts, more) \
	"{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":[" parts "]}]" more "}"
#define PDF                                                                                     \
	"{\"type\":\"file\",\"file\":{\"filename\":\"a.pdf\",\"file_data\":\"data:application/" \
	"pdf;base64,QUJD\"}}"
#define PLAIN "{\"type\":\"file\",\"file\":{\"file_data\":\"data:text/plain;base64,aMOp\"}}"
#define SOUND "{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"UklG\",\"format\":\"wav\"}}"

static const char *written(struct arena *a, const struct provider *p, const char *body)
{
	struct chat_error e;
	struct chat c;
	struct buf b;

	CHECK_INT(chat_read(&c, a, body, strlen(body), &e), 0);
	buf_init(&b, 1 << 20);
	p->write(&c, &(struct target){ .model = "up" }, &b);
	return arena_take(a, &b);
}

TEST(files_and_sound_reach_each_provider_that_takes_them)
{
	static const struct {
		const struct provider *to;
		const char *part, *found;
	} cases[] = {
		{ &provider_openai, PDF, PDF },
		{ &provider_openai, SOUND, SOUND },
		{ &provider_openai_responses, PDF,
			"{\"type\":\"input_file\",\"filename\":\"a.pdf\",\"file_data\":\"data:application/"
			"pdf;base64,QUJD\"}" },
		{ &provider_openai_responses, SOUND, SOUND },
		{ &provider_anthropic, PDF,
			"{\"type\":\"document\",\"source\":{\"type\":\"base64\",\"media_type\":\"application/"
			"pdf\",\"data\":\"QUJD\"},\"title\":\"a.pdf\"}" },
		{ &provider_anthropic, PLAIN,
			"{\"type\":\"document\",\"source\":{\"type\":\"text\",\"media_type\":\"text/"
			"plain\",\"data\":\"h\u00e9\"}}" },
	};
	struct arena a = { 0 };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *body = arena_printf(&a, ASKED("%s", ""), cases[i].part);

		test_step("%s to %s", cases[i].part, cases[i].to->name);
		CHECK(strstr(written(&a, cases[i].to, body), cases[i].found) != NULL);
	}
	arena_free(&a);
}

TEST(what_a_provider_does_not_take_is_known_before_it_is_asked)
{
	struct arena a = { 0 };
	struct chat_error e;
	struct chat c;
	const char *body = ASKED("{\"type\":\"text\",\"text\":\"x\"}," SOUND, "");

	CHECK_INT(chat_read(&c, &a, body, strlen(body), &e), 0);
	CHECK_INT(chat_needs(&c), CHAT_AUDIO);
	CHECK(!(provider_anthropic.takes & CHAT_AUDIO));
	CHECK_STR(chat_need_place(&c, &a, CHAT_AUDIO), "messages[0].content[1]");
	arena_free(&a);
}

TEST(tools_that_are_no_functions_go_where_they_are_known)
{
	static const char body[] = ASKED("{\"type\":\"text\",\"text\":\"x\"}",
		",\"tools\":[{\"type\":\"custom\",\"custom\":{\"name\":\"patch\"}},"
		"{\"type\":\"function\",\"function\":{\"name\":\"add\"}}]");
	struct arena a = { 0 };
	struct chat_error e;
	struct chat c;

	CHECK(strstr(written(&a, &provider_openai, body), "\"custom\":{\"name\":\"patch\"}"));
	CHECK(!strstr(written(&a, &provider_anthropic, body), "patch"));
	CHECK(!strstr(written(&a, &provider_openai_responses, body), "patch"));
	CHECK(strstr(written(&a, &provider_openai_responses, body), "\"name\":\"add\""));
	CHECK_INT(chat_read(&c, &a, body, strlen(body), &e), 0);
	CHECK_STR(chat_left_out(&c, &a, "anthropic"), "custom");
	CHECK(chat_left_out(&c, &a, "openai") == NULL);
	CHECK(c.tools && !c.tools->next);
	arena_free(&a);
}

/* A reply of OpenAI's shape, as the openai package reads it from us. */
static const char *passed_on(struct arena *a, bool stream, const char *bytes)
{
	struct reply *r = calloc(1, sizeof *r);
	struct openai_out o;
	struct buf b;

	buf_init(&b, 1 << 20);
	openai_out_open(&o,
		&(struct openai_out_asked){ .id = "i", .model = SLICE("m"), .stream = stream }, &b);
	reply_open(r, &(struct reply_asked){ .provider = &provider_openai,
			      .sink = { openai_out_take, &o },
			      .tag = "t",
			      .streamed = false });
	reply_head(r, 200, "application/json", NULL);
	reply_feed(r, bytes, strlen(bytes));
	reply_end(r);
	reply_close(r);
	free(r);
	openai_out_close(&o);
	return arena_take(a, &b);
}

#define REPLY(message)                                                                                         \
	"{\"id\":\"x\",\"model\":\"m\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\"," message \
	"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":1}}"

TEST(refusals_and_what_comes_along_with_calls_are_passed_on)
{
	static const char refused[] = REPLY("\"content\":null,\"refusal\":\"No.\"");
	static const char signed_call[] = REPLY(
		"\"content\":null,\"tool_calls\":[{\"id\":\"c\",\"type\":\"function\",\"function\":{"
		"\"name\":\"add\",\"arguments\":\"{}\"},\"extra_content\":{\"google\":{"
		"\"thought_signature\":\"sig\"}}}]");
	struct arena a = { 0 };

	for (int stream = 0; stream < 2; stream++) {
		test_step(stream ? "streamed" : "whole");
		CHECK(strstr(passed_on(&a, stream, refused), "\"refusal\":\"No.\"") != NULL);
		CHECK(strstr(passed_on(&a, stream, refused), "\"content\":\"No.\"") == NULL);
		CHECK(strstr(passed_on(&a, stream, signed_call),
			      "\"extra_content\":{\"google\":{\"thought_signature\":\"sig\"}}") !=
			NULL);
	}
	arena_free(&a);
}
