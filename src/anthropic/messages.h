/* messages.h - what Anthropic's Messages API takes and gives; for the document, because the bodies pass through as text
 * (messages_read.c, messages_out.c), which a test holds against these tables. */
#pragma once
#include "contract/event.h"
#include "contract/schema.h"

struct AnthropicMessageCreate {
	const char *model;
	int64_t max_tokens;
	struct json messages, system;
	tri stream;
	double temperature, top_p;
	int64_t top_k;
	struct list stop_sequences;
	struct json tools, tool_choice, thinking, output_config, metadata;
};
SCHEMA_DECLARED(AnthropicMessageCreate);

struct AnthropicTokensAsked {
	const char *model;
	struct json messages, system, tools, tool_choice, thinking;
};
SCHEMA_DECLARED(AnthropicTokensAsked);

struct AnthropicTokens {
	int64_t input_tokens;
};
SCHEMA_DECLARED(AnthropicTokens);

struct AnthropicCacheCreation {
	int64_t ephemeral_5m_input_tokens, ephemeral_1h_input_tokens;
};
SCHEMA_DECLARED(AnthropicCacheCreation);

struct AnthropicOutputDetails {
	int64_t thinking_tokens;
};
SCHEMA_DECLARED(AnthropicOutputDetails);

struct AnthropicUsage {
	int64_t input_tokens, cache_creation_input_tokens, cache_read_input_tokens;
	const struct AnthropicCacheCreation *cache_creation;
	int64_t output_tokens;
	const struct AnthropicOutputDetails *output_tokens_details;
	struct json server_tool_use;
	const char *service_tier;
};
SCHEMA_DECLARED(AnthropicUsage);

struct AnthropicMessage {
	const char *id, *type, *role, *model;
	struct json content;
	const char *stop_reason, *stop_sequence;
	const struct AnthropicUsage *usage;
};
SCHEMA_DECLARED(AnthropicMessage);

/* ---- the events of a stream ---- */

struct AnthropicMessageStart {
	const char *type;
	const struct AnthropicMessage *message;
};
SCHEMA_DECLARED(AnthropicMessageStart);

struct AnthropicBlockStart {
	const char *type;
	int64_t index;
	struct json content_block;
};
SCHEMA_DECLARED(AnthropicBlockStart);

struct AnthropicBlockDelta {
	const char *type;
	int64_t index;
	struct json delta;
};
SCHEMA_DECLARED(AnthropicBlockDelta);

struct AnthropicBlockStop {
	const char *type;
	int64_t index;
};
SCHEMA_DECLARED(AnthropicBlockStop);

struct AnthropicStop {
	const char *stop_reason, *stop_sequence;
};
SCHEMA_DECLARED(AnthropicStop);

struct AnthropicMessageDelta {
	const char *type;
	const struct AnthropicStop *delta;
	const struct AnthropicUsage *usage;
};
SCHEMA_DECLARED(AnthropicMessageDelta);

struct AnthropicMessageStop {
	const char *type;
};
SCHEMA_DECLARED(AnthropicMessageStop);

struct AnthropicPing {
	const char *type;
};
SCHEMA_DECLARED(AnthropicPing);

enum {
	MESSAGE_EVENT_START,
	MESSAGE_EVENT_PING,
	MESSAGE_EVENT_BLOCK_START,
	MESSAGE_EVENT_BLOCK_DELTA,
	MESSAGE_EVENT_BLOCK_STOP,
	MESSAGE_EVENT_DELTA,
	MESSAGE_EVENT_STOP,
	MESSAGE_EVENT_ERROR,
	MESSAGE_EVENT_COUNT
};
extern const struct stream_event message_events[MESSAGE_EVENT_COUNT];
extern const struct event_stream message_event_stream;
