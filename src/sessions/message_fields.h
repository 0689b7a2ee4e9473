/* message_fields.h - the shape of a message, written once: what everybody who is shown a message is shown of it.
 *
 * A reply adds who its author is by name and what became of it; an event has
 * its calls as the model's message made them.  Both are these rows. */
#pragma once
#include "contract/schema.h"
#include "sessions/session_media.h"

enum MessageRole { MessageRole_user, MessageRole_assistant, MessageRole_tool, MessageRole_system };
extern const struct words MessageRole_words;

enum MessageStatus { MessageStatus_streaming, MessageStatus_complete, MessageStatus_failed };
extern const struct words MessageStatus_words;

/* `calls` is the type of its calls: struct list, or struct json for their text as it is stored. */
#define MESSAGE_MEMBERS(calls)                                                           \
	const char *id, *session_id;                                                     \
	int role, status;                                                                \
	const char *content;                                                             \
	calls tool_calls;                                                                \
	const char *tool_call_id, *model_id;                                             \
	int64_t prompt_tokens, completion_tokens, cache_read_tokens, cache_write_tokens; \
	struct money cost_usd;                                                           \
	struct moment created_at;                                                        \
	const char *author_id;                                                           \
	struct list parts

/* `most` bytes of content, and of calls that are JSON; 0: the common ceilings.  What follows says what the calls
 * are. */
#define MESSAGE_FIELDS(S, most, ...)                                                             \
	FIELD(S, id, .required = true, .id = true, .doc = "The message."),                       \
		FIELD(S, session_id, .required = true, .id = true,                               \
			.doc = "The session it belongs to."),                                    \
		FIELD(S, role, .required = true, .words = &MessageRole_words,                    \
			.doc = "Who wrote it."),                                                 \
		FIELD(S, status, .required = true, .words = &MessageStatus_words,                \
			.example = "\"complete\"",                                               \
			.doc = "streaming while it is being written; content then holds what "   \
			       "there is so far."),                                              \
		FIELD(S, content, .required = true, .prompt = true, .ceiling = (most),           \
			.example = "\"Where is my order?\"", .doc = "The text."),                \
		FIELD(S, tool_calls, .required = true, .ceiling = (most), __VA_ARGS__,           \
			.example = "[]",                                                         \
			.doc = "Tools the model asked for with this message; empty if none."),   \
		FIELD(S, tool_call_id, .required = true, .nullable = true, .example = "null",    \
			.doc = "The call that a tool's message answers; null for other roles."), \
		FIELD(S, model_id, .required = true, .nullable = true, .id = true,               \
			.example = "null", .doc = "The model that wrote it; null if none did."), \
		FIELD(S, prompt_tokens, .required = true, .example = "0",                        \
			.doc = "Input of the model call that came from no cache."),              \
		FIELD(S, completion_tokens, .required = true, .example = "0",                    \
			.doc = "Tokens the model wrote."),                                       \
		FIELD(S, cache_read_tokens, .required = true, .example = "0",                    \
			.doc = "Input read from the provider's cache."),                         \
		FIELD(S, cache_write_tokens, .required = true, .example = "0",                   \
			.doc = "Input written to the provider's cache."),                        \
		FIELD(S, cost_usd, .column = "cost_pd", .required = true, .example = "0",        \
			.doc = "What the model call cost."),                                     \
		FIELD(S, created_at, .required = true, .doc = "When the message was begun."),    \
		FIELD(S, author_id, .nullable = true, .id = true,                                \
			.doc = "The person who wrote it, whatever its role; null: a model, a "   \
			       "tool or a webhook did."),                                        \
		FIELD(S, parts, .left_out = true, .nullable = true, .item = OBJECT,              \
			.of = &MessagePart_schema, .example = "null",                            \
			.doc = "Images, files and sounds in it; left out where it is text "      \
			       "alone.")
