/* messages_shapes.h - what stands inside of messages of Anthropic's API where a table holds only text; for the document.  What reads
 * and writes them is messages_blocks.c and messages_out.c, and every answer and event that a test sees is held against the
 * document. */
#pragma once
#include "contract/shape.h"

extern const struct shape anthropic_block_shape, anthropic_delta_shape; /* of answers */
extern const struct shape anthropic_system_shape, anthropic_tool_shape; /* of requests */
SCHEMA_DECLARED(AnthropicMessageParam);
SCHEMA_DECLARED(AnthropicToolChoice);
SCHEMA_DECLARED(AnthropicThinking);
SCHEMA_DECLARED(AnthropicOutputConfig);
SCHEMA_DECLARED(AnthropicMetadata);
