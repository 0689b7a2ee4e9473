/* openai_shapes.h - what stands inside of the bodies of OpenAI's protocol where a table holds only text: messages, parts, items,
 * tools, formats.  For the document; what reads and writes them is in broker/ and in the other files of this room, and every answer
 * and every event that a test sees is held against the document. */
#pragma once
#include "contract/shape.h"

/* ---- chat completions: chat_shapes.c ---- */

SCHEMA_DECLARED(ChatToolCall);
SCHEMA_DECLARED(ChatMessage);
SCHEMA_DECLARED(ChatStreamOptions);
SCHEMA_DECLARED(ChatPromptDetails);
SCHEMA_DECLARED(ChatCompletionDetails);
extern const struct shape chat_tool_shape, chat_tool_choice_shape, chat_format_shape;

/* ---- responses: response_shapes.c ---- */

SCHEMA_DECLARED(ResponseFailure);
SCHEMA_DECLARED(ResponseShortfall);
SCHEMA_DECLARED(ResponseUsage);
SCHEMA_DECLARED(ResponseTextOptions);
SCHEMA_DECLARED(ResponseReasoningOptions);
SCHEMA_DECLARED(ResponseStreamOptions);
SCHEMA_DECLARED(ResponseConversation);
extern const struct shape response_input_shape, response_input_item_shape, response_item_shape,
	response_part_shape, response_tool_shape, response_tool_choice_shape,
	response_content_shape, response_conversation_shape;

/* ---- threads and runs: thread_shapes.c ---- */

SCHEMA_DECLARED(RunError);
SCHEMA_DECLARED(RunRequiredAction);
SCHEMA_DECLARED(RunUsage);
SCHEMA_DECLARED(RunTruncation);
SCHEMA_DECLARED(RunStepCallDelta);
SCHEMA_DECLARED(ThreadTextPart);
extern const struct shape run_step_shape, thread_content_shape, thread_said_shape,
	text_format_shape;
