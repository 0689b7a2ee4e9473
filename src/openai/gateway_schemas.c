/* gateway_schemas.c - what chat completions take and give, for the document.  The bodies themselves pass
 * through the broker as text (broker/chat_read.c, broker/openai_out.c); a test holds these tables against
 * what it reads and writes. */
#include "openai/gateway.h"
#include "openai/openai_shapes.h"

enum { BODY_MAX = 32 << 20, TOKENS_MAX = INT32_MAX };

FIELDS(ChatCompletionCreate) = {
	FIELD(ChatCompletionCreate, model, .required = true, .example = "\"agent:assistant\"",
		.doc = "agent: and an agent's slug, an agent's id, or a model's slug."),
	FIELD(ChatCompletionCreate, messages, .of = &ChatMessage_schema, .required = true,
		.array = true, .ceiling = BODY_MAX,
		.example = "[{\"role\":\"user\",\"content\":\"Where is my parcel?\"}]",
		.doc = "What was said: {role, content}, with tool_calls and tool_call_id where tools "
		       "were called. Content is a text, or parts of text and images."),
	FIELD(ChatCompletionCreate, stream, .nullable = true, .example = "false",
		.doc = "True for server-sent events while the model speaks, the last of them "
		       "[DONE]."),
	FIELD(ChatCompletionCreate, stream_options, .of = &ChatStreamOptions_schema,
		.nullable = true, .example = "null",
		.doc = "{include_usage}: the usage stands before the end of a stream."),
	FIELD(ChatCompletionCreate, max_completion_tokens, .nullable = true, BOUNDS(1, TOKENS_MAX),
		.example = "1024", .doc = "The most that the model may write."),
	FIELD(ChatCompletionCreate, max_tokens, .nullable = true, BOUNDS(1, TOKENS_MAX),
		.example = "null", .doc = "The older name; of the two the newer holds."),
	FIELD(ChatCompletionCreate, temperature, .nullable = true, BOUNDS(0, 2), .example = "null",
		.doc = "How freely it chooses its words."),
	FIELD(ChatCompletionCreate, top_p, .nullable = true, BOUNDS(0, 1), .example = "null",
		.doc = "The share of likely words it chooses among."),
	FIELD(ChatCompletionCreate, n, .nullable = true, BOUNDS(1, 1), .example = "null",
		.doc = "One choice is given."),
	FIELD(ChatCompletionCreate, stop, .shape = &text_or_texts_shape, .nullable = true,
		.any = true, .example = "null", .doc = "A text, or texts, where it stops."),
	FIELD(ChatCompletionCreate, tools, .shape = &chat_tool_shape, .nullable = true,
		.array = true, .ceiling = BODY_MAX, .example = "null",
		.doc = "Functions that the caller runs."),
	FIELD(ChatCompletionCreate, tool_choice, .shape = &chat_tool_choice_shape, .nullable = true,
		.any = true, .example = "null", .doc = "auto, none, required, or one function."),
	FIELD(ChatCompletionCreate, parallel_tool_calls, .nullable = true, .example = "null",
		.doc = "Whether several may be called at once."),
	FIELD(ChatCompletionCreate, response_format, .shape = &chat_format_shape, .nullable = true,
		.example = "null",
		.doc = "{type}: text, json_object, or json_schema with its json_schema."),
	FIELD(ChatCompletionCreate, reasoning_effort, .nullable = true, .example = "null",
		.doc = "none, minimal, low, medium, high, xhigh or max."),
	FIELD(ChatCompletionCreate, seed, .nullable = true, .example = "null",
		.doc = "For answers that are alike, where the provider can."),
};
SCHEMA(ChatCompletionCreate,
	.doc = "A conversation to go on with. What is not listed is passed on to providers of the same "
	       "kind.");

FIELDS(ChatCompletionMessage) = {
	FIELD(ChatCompletionMessage, role, .required = true, .constant = "assistant",
		.doc = "Always assistant."),
	FIELD(ChatCompletionMessage, content, .required = true, .nullable = true,
		.example = "\"It is on its way.\"",
		.doc = "What it says; null where it only calls functions."),
	FIELD(ChatCompletionMessage, refusal, .required = true, .nullable = true, .example = "null",
		.doc = "Always null."),
	FIELD(ChatCompletionMessage, reasoning_content, .example = "\"I look it up first.\"",
		.doc = "What it thought, where it tells."),
	FIELD(ChatCompletionMessage, tool_calls, .of = &ChatToolCall_schema, .array = true,
		.example = "[]",
		.doc = "The functions it calls: {id, type, function: {name, arguments}}."),
};
SCHEMA(ChatCompletionMessage, .doc = "What the model said.");

FIELDS(ChatCompletionChoice) = {
	FIELD(ChatCompletionChoice, index, .required = true, .example = "0", .doc = "Always 0."),
	FIELD(ChatCompletionChoice, message, .required = true, .of = &ChatCompletionMessage_schema,
		.doc = "What the model said."),
	FIELD(ChatCompletionChoice, logprobs, .open = true, .required = true, .nullable = true,
		.example = "null", .doc = "As the provider gives them, where they were asked for."),
	FIELD(ChatCompletionChoice, finish_reason, .required = true, .example = "\"stop\"",
		.doc = "stop, length, tool_calls or content_filter."),
};
SCHEMA(ChatCompletionChoice, .doc = "The answer.");

FIELDS(ChatCompletionUsage) = {
	FIELD(ChatCompletionUsage, prompt_tokens, .required = true, .example = "7",
		.doc = "Tokens of what was asked."),
	FIELD(ChatCompletionUsage, completion_tokens, .required = true, .example = "4",
		.doc = "Tokens of the answer."),
	FIELD(ChatCompletionUsage, total_tokens, .required = true, .example = "11", .doc = "Both."),
	FIELD(ChatCompletionUsage, prompt_tokens_details, .of = &ChatPromptDetails_schema,
		.required = true, .doc = "{cached_tokens, cache_write_tokens}."),
	FIELD(ChatCompletionUsage, completion_tokens_details, .of = &ChatCompletionDetails_schema,
		.required = true, .doc = "{reasoning_tokens}."),
};
SCHEMA(ChatCompletionUsage, .doc = "What was used.");

FIELDS(ChatCompletion) = {
	FIELD(ChatCompletion, id, .required = true,
		.example = "\"chatcmpl-c0ho6fbjz4rk8ltejr9ixk2uu\"", .doc = "Of this call."),
	FIELD(ChatCompletion, object, .required = true, .constant = "chat.completion",
		.doc = "Always chat.completion."),
	FIELD(ChatCompletion, created, .required = true, .example = "1794729436",
		.doc = "In seconds since 1970."),
	FIELD(ChatCompletion, model, .required = true, .example = "\"agent:assistant\"",
		.doc = "What was asked: an agent or a model."),
	FIELD(ChatCompletion, choices, .required = true, .item = OBJECT,
		.of = &ChatCompletionChoice_schema, .doc = "One."),
	FIELD(ChatCompletion, usage, .required = true, .of = &ChatCompletionUsage_schema,
		.doc = "What was used."),
};
SCHEMA(ChatCompletion, .doc = "The answer of an agent or a model.");
