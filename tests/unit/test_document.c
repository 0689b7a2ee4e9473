/* test_document.c - that the check which every answer and event passes through refuses what is not published: a member, an
 * event, a block that its schema does not know. */
#include "document.h"

#include "fixture.h"

static const char *refused_by(const char *name, const char *text)
{
	json_t *schema = json_object_get(
		json_object_get(json_object_get(document(), "components"), "schemas"), name);
	json_t *v = json_loads(text, JSON_DECODE_ANY, NULL);
	const char *why;

	CHECK(schema);
	CHECK(v);
	why = document_refuses(schema, v);
	json_decref(v);
	return why;
}

#define REFUSED(name, text) CHECK(refused_by(name, text) != NULL)
#define TAKEN(name, text)                                         \
	do {                                                      \
		const char *why = refused_by(name, text);         \
		if (why)                                          \
			test_fail(__FILE__, __LINE__, "%s", why); \
	} while (0)

#define DELTA(type, more)                                                                      \
	"{\"type\":\"" type "\",\"sequence_number\":1,\"item_id\":\"i\",\"output_index\":0,\"" \
	"content_index\":0,\"logprobs\":[],\"delta\":\"x\"" more "}"

TEST(document_refuses_what_is_not_published)
{
	test_step("an event as it is written, and with a member more, less, or another name");
	TAKEN("ResponseStreamEvent", DELTA("response.output_text.delta", ""));
	REFUSED("ResponseStreamEvent", DELTA("response.output_text.delta", ",\"new\":1"));
	REFUSED("ResponseStreamEvent", DELTA("response.output_text.news", ""));
	REFUSED("ResponseStreamEvent", "{\"type\":\"response.output_text.delta\"}");

	test_step("what the data of Anthropic's events holds");
	TAKEN("AnthropicStreamEvent", "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":"
				      "{\"type\":\"text_delta\",\"text\":\"x\"}}");
	REFUSED("AnthropicStreamEvent", "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":"
					"{\"type\":\"text_delta\",\"text\":\"x\",\"more\":1}}");
	REFUSED("AnthropicStreamEvent",
		"{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{}}");

	test_step("a chunk, its end, and neither");
	TAKEN("ChatCompletionStreamEvent", "\"[DONE]\"");
	REFUSED("ChatCompletionStreamEvent", "\"[OVER]\"");
	REFUSED("ChatCompletionStreamEvent", "{\"id\":\"c\",\"object\":\"chat.completion.chunk\"}");

	test_step(
		"what only its provider knows is let through, and what we know is not by that way");
	TAKEN("ResponseOutputItem", "{\"type\":\"web_search_call\",\"anything\":[1]}");
	REFUSED("ResponseOutputItem", "{\"type\":\"message\",\"anything\":[1]}");
}
