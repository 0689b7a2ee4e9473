/* messages_schemas.c - the tables of messages.h. */
#include "anthropic/messages.h"
#include "anthropic/messages_shapes.h"

#include "contract/anthropic_fault.h"

enum { BODY_MAX = 32 << 20, TOKENS_MAX = INT32_MAX };

#define A_CONVERSATION "[{\"role\":\"user\",\"content\":\"Where is my parcel?\"}]"
#define MODEL_DOC "agent: and an agent's slug, an agent's id, or a model's slug."

FIELDS(AnthropicMessageCreate) = {
	FIELD(AnthropicMessageCreate, model, .required = true, .example = "\"agent:assistant\"",
		.doc = MODEL_DOC),
	FIELD(AnthropicMessageCreate, max_tokens, .required = true, BOUNDS(1, TOKENS_MAX),
		.example = "1024", .doc = "The most that the model may write."),
	FIELD(AnthropicMessageCreate, messages, .of = &AnthropicMessageParam_schema,
		.required = true, .array = true, .ceiling = BODY_MAX, .example = A_CONVERSATION,
		.doc = "What was said: {role, content}. Content is a text, or blocks: text, image, "
		       "document, thinking, redacted_thinking, tool_use, tool_result and others of "
		       "Anthropic's."),
	FIELD(AnthropicMessageCreate, system, .shape = &anthropic_system_shape, .nullable = true,
		.any = true, .example = "null",
		.doc = "What goes before them: a text, or blocks of text."),
	FIELD(AnthropicMessageCreate, stream, .nullable = true, .example = "false",
		.doc = "True for server-sent events while the model speaks."),
	FIELD(AnthropicMessageCreate, temperature, .nullable = true, BOUNDS(0, 1),
		.example = "null", .doc = "How freely it chooses its words."),
	FIELD(AnthropicMessageCreate, top_p, .nullable = true, BOUNDS(0, 1), .example = "null",
		.doc = "The share of likely words it chooses among."),
	FIELD(AnthropicMessageCreate, top_k, .nullable = true, .example = "null",
		.doc = "How many words it chooses among; for models of the kind anthropic."),
	FIELD(AnthropicMessageCreate, stop_sequences, .nullable = true, .item = TEXT,
		.example = "null", .doc = "Texts where it stops."),
	FIELD(AnthropicMessageCreate, tools, .shape = &anthropic_tool_shape, .nullable = true,
		.array = true, .ceiling = BODY_MAX, .example = "null",
		.doc = "Tools that the caller runs: {name, description, input_schema}; those with a type "
		       "of Anthropic's own go to models of the kind anthropic."),
	FIELD(AnthropicMessageCreate, tool_choice, .of = &AnthropicToolChoice_schema,
		.nullable = true, .example = "null",
		.doc = "{type}: auto, any, none, or tool with its name; disable_parallel_tool_use."),
	FIELD(AnthropicMessageCreate, thinking, .of = &AnthropicThinking_schema, .nullable = true,
		.example = "null",
		.doc = "{type}: enabled with budget_tokens, adaptive or disabled."),
	FIELD(AnthropicMessageCreate, output_config, .of = &AnthropicOutputConfig_schema,
		.nullable = true, .example = "null", .doc = "{effort, format}."),
	FIELD(AnthropicMessageCreate, metadata, .of = &AnthropicMetadata_schema, .nullable = true,
		.example = "null", .doc = "{user_id}; for models of the kind anthropic."),
};
SCHEMA(AnthropicMessageCreate,
	.doc = "A conversation to go on with. What is not listed is passed on to models of the kind "
	       "anthropic.");

FIELDS(AnthropicTokensAsked) = {
	FIELD(AnthropicTokensAsked, model, .required = true, .example = "\"agent:assistant\"",
		.doc = MODEL_DOC),
	FIELD(AnthropicTokensAsked, messages, .of = &AnthropicMessageParam_schema, .required = true,
		.array = true, .ceiling = BODY_MAX, .example = A_CONVERSATION,
		.doc = "What was said."),
	FIELD(AnthropicTokensAsked, system, .shape = &anthropic_system_shape, .nullable = true,
		.any = true, .example = "null", .doc = "What goes before it."),
	FIELD(AnthropicTokensAsked, tools, .shape = &anthropic_tool_shape, .nullable = true,
		.array = true, .ceiling = BODY_MAX, .example = "null",
		.doc = "Tools that may be called."),
	FIELD(AnthropicTokensAsked, tool_choice, .of = &AnthropicToolChoice_schema,
		.nullable = true, .example = "null", .doc = "Which of them."),
	FIELD(AnthropicTokensAsked, thinking, .of = &AnthropicThinking_schema, .nullable = true,
		.example = "null", .doc = "Whether the model thinks first."),
};
SCHEMA(AnthropicTokensAsked, .doc = "A conversation whose tokens are to be counted.");

FIELDS(AnthropicTokens) = {
	FIELD(AnthropicTokens, input_tokens, .required = true, .example = "12",
		.doc = "What a model would read, as this service reckons it before it asks one."),
};
SCHEMA(AnthropicTokens, .doc = "The size of a conversation.");

FIELDS(AnthropicCacheCreation) = {
	FIELD(AnthropicCacheCreation, ephemeral_5m_input_tokens, .required = true, .example = "0",
		.doc = "Written for five minutes."),
	FIELD(AnthropicCacheCreation, ephemeral_1h_input_tokens, .required = true, .example = "0",
		.doc = "Always 0."),
};
SCHEMA(AnthropicCacheCreation, .doc = "What was written into the provider's cache.");

FIELDS(AnthropicOutputDetails) = {
	FIELD(AnthropicOutputDetails, thinking_tokens, .required = true, .example = "0",
		.doc = "Thought, and not said."),
};
SCHEMA(AnthropicOutputDetails, .doc = "What an answer consists of.");

FIELDS(AnthropicUsage) = {
	FIELD(AnthropicUsage, input_tokens, .required = true, .example = "12",
		.doc = "Tokens that were read, and neither from the cache nor into it."),
	FIELD(AnthropicUsage, cache_creation_input_tokens, .required = true, .example = "0",
		.doc = "Tokens that were read, and written into the provider's cache."),
	FIELD(AnthropicUsage, cache_read_input_tokens, .required = true, .example = "0",
		.doc = "Tokens that were read from that cache."),
	FIELD(AnthropicUsage, cache_creation, .required = true,
		.of = &AnthropicCacheCreation_schema, .doc = "Of those that were written."),
	FIELD(AnthropicUsage, output_tokens, .required = true, .example = "6",
		.doc = "Tokens of the answer."),
	FIELD(AnthropicUsage, output_tokens_details, .required = true,
		.of = &AnthropicOutputDetails_schema, .doc = "Of those."),
	FIELD(AnthropicUsage, server_tool_use, .shape = &nothing_shape, .required = true,
		.nullable = true, .example = "null", .doc = "Always null."),
	FIELD(AnthropicUsage, service_tier, .required = true, .constant = "standard",
		.doc = "Always standard."),
};
SCHEMA(AnthropicUsage, .doc = "What was used.");

#define STOP_REASON                                                                             \
	.required = true, .nullable = true, .example = "\"end_turn\"",                          \
	.doc = "end_turn, max_tokens, stop_sequence, tool_use, refusal, pause_turn or another " \
	       "word of the provider's; null before the end."
#define STOP_SEQUENCE                                          \
	.required = true, .nullable = true, .example = "null", \
	.doc = "The text where it stopped, where the provider says."

FIELDS(AnthropicMessage) = {
	FIELD(AnthropicMessage, id, .required = true,
		.example = "\"msg_c0ho6fbjz4rk8ltejr9ixk2uu\"", .doc = "Of this call."),
	FIELD(AnthropicMessage, type, .required = true, .constant = "message",
		.doc = "Always message."),
	FIELD(AnthropicMessage, role, .required = true, .constant = "assistant",
		.doc = "Always assistant."),
	FIELD(AnthropicMessage, model, .required = true, .example = "\"agent:assistant\"",
		.doc = "What was asked: an agent or a model."),
	FIELD(AnthropicMessage, content, .shape = &anthropic_block_shape, .required = true,
		.array = true, .ceiling = BODY_MAX,
		.example = "[{\"type\":\"text\",\"text\":\"It is on its way.\"}]",
		.doc = "Blocks: text, thinking, redacted_thinking, tool_use, and those of tools that "
		       "the provider runs."),
	FIELD(AnthropicMessage, stop_reason, STOP_REASON),
	FIELD(AnthropicMessage, stop_sequence, STOP_SEQUENCE),
	FIELD(AnthropicMessage, usage, .required = true, .of = &AnthropicUsage_schema,
		.doc = "What was used."),
};
SCHEMA(AnthropicMessage, .doc = "The answer of an agent or a model.");

/* ---- the events ---- */

#define ALWAYS(word) .required = true, .constant = word, .doc = "Always " word "."
#define BLOCK_NUMBER .required = true, .example = "0", .doc = "The block, counted from 0."

FIELDS(AnthropicMessageStart) = {
	FIELD(AnthropicMessageStart, type, ALWAYS("message_start")),
	FIELD(AnthropicMessageStart, message, .required = true, .of = &AnthropicMessage_schema,
		.doc = "Without content yet, and with what is known of its usage."),
};
SCHEMA(AnthropicMessageStart, .doc = "The model begins.");

FIELDS(AnthropicBlockStart) = {
	FIELD(AnthropicBlockStart, type, ALWAYS("content_block_start")),
	FIELD(AnthropicBlockStart, index, BLOCK_NUMBER),
	FIELD(AnthropicBlockStart, content_block, .shape = &anthropic_block_shape, .required = true,
		.example = "{\"type\":\"text\",\"text\":\"\"}", .doc = "How it begins."),
};
SCHEMA(AnthropicBlockStart, .doc = "A block begins.");

FIELDS(AnthropicBlockDelta) = {
	FIELD(AnthropicBlockDelta, type, ALWAYS("content_block_delta")),
	FIELD(AnthropicBlockDelta, index, BLOCK_NUMBER),
	FIELD(AnthropicBlockDelta, delta, .shape = &anthropic_delta_shape, .required = true,
		.example = "{\"type\":\"text_delta\",\"text\":\"It is\"}",
		.doc = "text_delta, thinking_delta, signature_delta, input_json_delta or "
		       "citations_delta."),
};
SCHEMA(AnthropicBlockDelta, .doc = "More of a block.");

FIELDS(AnthropicBlockStop) = {
	FIELD(AnthropicBlockStop, type, ALWAYS("content_block_stop")),
	FIELD(AnthropicBlockStop, index, BLOCK_NUMBER),
};
SCHEMA(AnthropicBlockStop, .doc = "A block is whole.");

FIELDS(AnthropicStop) = {
	FIELD(AnthropicStop, stop_reason, STOP_REASON),
	FIELD(AnthropicStop, stop_sequence, STOP_SEQUENCE),
};
SCHEMA(AnthropicStop, .doc = "Why it ended.");

FIELDS(AnthropicMessageDelta) = {
	FIELD(AnthropicMessageDelta, type, ALWAYS("message_delta")),
	FIELD(AnthropicMessageDelta, delta, .required = true, .of = &AnthropicStop_schema,
		.doc = "Why it ended."),
	FIELD(AnthropicMessageDelta, usage, .required = true, .of = &AnthropicUsage_schema,
		.doc = "What was used, by the last word."),
};
SCHEMA(AnthropicMessageDelta, .doc = "The message is whole.");

FIELDS(AnthropicMessageStop) = {
	FIELD(AnthropicMessageStop, type, ALWAYS("message_stop")),
};
SCHEMA(AnthropicMessageStop, .doc = "Nothing follows.");

FIELDS(AnthropicPing) = {
	FIELD(AnthropicPing, type, ALWAYS("ping")),
};
SCHEMA(AnthropicPing, .doc = "A sign of life.");

const struct stream_event message_events[MESSAGE_EVENT_COUNT] = {
	[MESSAGE_EVENT_START] = { "message_start", &AnthropicMessageStart_schema, .streams = 1,
		.doc = "The model begins." },
	[MESSAGE_EVENT_PING] = { "ping", &AnthropicPing_schema, .streams = 1,
		.doc = "A sign of life." },
	[MESSAGE_EVENT_BLOCK_START] = { "content_block_start", &AnthropicBlockStart_schema,
		.streams = 1, .doc = "A block begins." },
	[MESSAGE_EVENT_BLOCK_DELTA] = { "content_block_delta", &AnthropicBlockDelta_schema,
		.streams = 1, .doc = "More of a block." },
	[MESSAGE_EVENT_BLOCK_STOP] = { "content_block_stop", &AnthropicBlockStop_schema,
		.streams = 1, .doc = "A block is whole." },
	[MESSAGE_EVENT_DELTA] = { "message_delta", &AnthropicMessageDelta_schema, .streams = 1,
		.doc = "Why it ended, and what was used." },
	[MESSAGE_EVENT_STOP] = { "message_stop", &AnthropicMessageStop_schema, .streams = 1,
		.doc = "The answer is whole; nothing follows." },
	[MESSAGE_EVENT_ERROR] = { "error", &AnthropicProblem_schema, .streams = 1,
		.doc = "The answer broke off; nothing follows." },
};
const struct event_stream message_event_stream = {
	.title = "AnthropicStreamEvent",
	.by = "type",
	.table = message_events,
	.count = MESSAGE_EVENT_COUNT,
	.bit = 1,
};
