/* chat_shapes.c - what chat completions are made of; see openai_shapes.h. */
#include "openai/openai_shapes.h"

#define ALWAYS(word) TOLD(TEXT, type, .required = true, .constant = word, .doc = "Always " word ".")

/* ---- messages ---- */

FIELDS(ChatTextPart) = {
	ALWAYS("text"),
	TOLD(TEXT, text, .required = true, .doc = "What is said."),
	TOLD(JSON, cache_control, .nullable = true, .open = true,
		.doc = "Passed on to providers that cache what comes before."),
};
static TOLD_SCHEMA(ChatTextPart, .doc = "A text as part of a message.");

FIELDS(ChatImage) = {
	TOLD(TEXT, url, .required = true, .example = "\"https://example.org/parcel.png\"",
		.doc = "An address, or data: with the picture itself."),
	TOLD(TEXT, detail, .nullable = true, .doc = "auto, low or high."),
};
static TOLD_SCHEMA(ChatImage, .doc = "Where a picture is.");

FIELDS(ChatImagePart) = {
	ALWAYS("image_url"),
	TOLD(OBJECT, image_url, .required = true, .of = &ChatImage_schema, .doc = "The picture."),
};
static TOLD_SCHEMA(ChatImagePart, .doc = "A picture as part of a message.");

FIELDS(ChatAudio) = {
	TOLD(TEXT, data, .required = true, .doc = "The sound, in base64."),
	TOLD(TEXT, format, .required = true, .doc = "wav or mp3."),
};
static TOLD_SCHEMA(ChatAudio, .doc = "A sound.");

FIELDS(ChatAudioPart) = {
	ALWAYS("input_audio"),
	TOLD(OBJECT, input_audio, .required = true, .of = &ChatAudio_schema, .doc = "The sound."),
};
static TOLD_SCHEMA(ChatAudioPart, .doc = "A sound as part of a message.");

FIELDS(ChatFile) = {
	TOLD(TEXT, file_data, .nullable = true, .doc = "data: with the file itself, in base64."),
	TOLD(TEXT, filename, .nullable = true, .doc = "What it is called."),
	TOLD(TEXT, file_id, .nullable = true, .doc = "A file that the provider keeps."),
};
static TOLD_SCHEMA(ChatFile, .doc = "A file.");

FIELDS(ChatFilePart) = {
	ALWAYS("file"),
	TOLD(OBJECT, file, .required = true, .of = &ChatFile_schema, .doc = "The file."),
};
static TOLD_SCHEMA(ChatFilePart, .doc = "A file as part of a message.");

FIELDS(ChatRefusalPart) = {
	ALWAYS("refusal"),
	TOLD(TEXT, refusal, .required = true, .doc = "Why the model did not answer."),
};
static TOLD_SCHEMA(ChatRefusalPart, .doc = "A refusal as part of an assistant's message.");

static const struct shape part_shape = { "ChatContentPart", "A part of a message.",
	OBJECTS(&ChatTextPart_schema, &ChatImagePart_schema, &ChatAudioPart_schema,
		&ChatFilePart_schema, &ChatRefusalPart_schema),
	.by = "type" };
static const struct shape content_shape = { .text = true, .items = &part_shape };

FIELDS(ChatFunctionCall) = {
	TOLD(TEXT, name, .required = true, .doc = "The function."),
	TOLD(TEXT, arguments, .required = true, .doc = "What it is given, as JSON text."),
};
static TOLD_SCHEMA(ChatFunctionCall, .doc = "What is called, and with what.");

FIELDS(ChatToolCall) = {
	TOLD(TEXT, id, .required = true, .doc = "The call, as its result names it."),
	ALWAYS("function"),
	TOLD(OBJECT, function, .required = true, .of = &ChatFunctionCall_schema,
		.doc = "What is called."),
	TOLD(JSON, extra_content, .nullable = true, .open = true,
		.doc = "What its provider gave along and wants back with the call."),
};
TOLD_SCHEMA(ChatToolCall, .doc = "A call of a function of the caller's.");

static const struct words chat_role_words = { .list = (const char *const[]){ "developer", "system",
						      "user", "assistant", "tool", "function",
						      NULL } };

FIELDS(ChatMessage) = {
	TOLD(CHOICE, role, .required = true, .words = &chat_role_words, .doc = "Who says it."),
	TOLD(JSON, content, .nullable = true, .any = true, .shape = &content_shape,
		.doc = "A text, or parts; null where functions are only called."),
	TOLD(TEXT, name, .nullable = true, .doc = "Which of several that speak in this role."),
	TOLD(LIST, tool_calls, .nullable = true, .item = OBJECT, .of = &ChatToolCall_schema,
		.doc = "The functions that an assistant called."),
	TOLD(TEXT, tool_call_id, .nullable = true, .doc = "The call whose result this is."),
	TOLD(TEXT, refusal, .nullable = true, .doc = "Why an assistant did not answer."),
	TOLD(TEXT, reasoning_content, .nullable = true, .doc = "What an assistant thought."),
};
TOLD_SCHEMA(ChatMessage, .doc = "A message of a conversation.");

/* ---- functions ---- */

FIELDS(ChatFunction) = {
	TOLD(TEXT, name, .required = true, .doc = "What the model calls it by."),
	TOLD(TEXT, description, .nullable = true, .doc = "What it does, for the model."),
	TOLD(JSON, parameters, .nullable = true, .open = true,
		.doc = "What it takes, as JSON Schema."),
	TOLD(FLAG, strict, .nullable = true, .doc = "True: calls keep to the schema exactly."),
};
static TOLD_SCHEMA(ChatFunction, .doc = "A function that the caller runs.");

FIELDS(ChatTool) = {
	ALWAYS("function"),
	TOLD(OBJECT, function, .required = true, .of = &ChatFunction_schema,
		.doc = "The function."),
};
static TOLD_SCHEMA(ChatTool, .doc = "A function that the model may call.");

const struct shape chat_tool_shape = { "ChatToolOffered",
	"A function of the caller's, or a tool that only its provider knows.",
	OBJECTS(&ChatTool_schema), .by = "type", .other = true };

FIELDS(ChatFunctionName) = {
	TOLD(TEXT, name, .required = true, .doc = "The function."),
};
static TOLD_SCHEMA(ChatFunctionName, .doc = "A function by its name.");

FIELDS(ChatToolNamed) = {
	ALWAYS("function"),
	TOLD(OBJECT, function, .required = true, .of = &ChatFunctionName_schema,
		.doc = "Which of them."),
};
static TOLD_SCHEMA(ChatToolNamed, .doc = "The one function that the model must call.");

static const struct words choice_words = { .list = (const char *const[]){
						   "auto", "none", "required", NULL } };
const struct shape chat_tool_choice_shape = { "ChatToolChoice",
	"Whether the model calls functions, and which.", .words = &choice_words,
	OBJECTS(&ChatToolNamed_schema), .by = "type", .other = true };

/* ---- the rest ---- */

FIELDS(TextFormat) = { ALWAYS("text") };
static TOLD_SCHEMA(TextFormat, .doc = "Plain text.");

FIELDS(JsonObjectFormat) = { ALWAYS("json_object") };
static TOLD_SCHEMA(JsonObjectFormat, .doc = "Any JSON object.");

FIELDS(ChatJsonSchema) = {
	TOLD(TEXT, name, .required = true, .doc = "What the schema is called."),
	TOLD(TEXT, description, .nullable = true, .doc = "What it is for, for the model."),
	TOLD(JSON, schema, .nullable = true, .open = true, .doc = "The JSON Schema."),
	TOLD(FLAG, strict, .nullable = true, .doc = "True: the answer keeps to it exactly."),
};
static TOLD_SCHEMA(ChatJsonSchema, .doc = "A schema that an answer keeps to.");

FIELDS(ChatSchemaFormat) = {
	ALWAYS("json_schema"),
	TOLD(OBJECT, json_schema, .required = true, .of = &ChatJsonSchema_schema,
		.doc = "The schema."),
};
static TOLD_SCHEMA(ChatSchemaFormat, .doc = "JSON of a given schema.");

const struct shape chat_format_shape = { "ChatFormat", "In which form a model answers.",
	OBJECTS(&TextFormat_schema, &JsonObjectFormat_schema, &ChatSchemaFormat_schema),
	.by = "type" };

static const struct words auto_words = { .list = (const char *const[]){ "auto", NULL } };
const struct shape text_format_shape = { .words = &auto_words, OBJECTS(&TextFormat_schema) };

FIELDS(ChatStreamOptions) = {
	TOLD(FLAG, include_usage, .nullable = true,
		.doc = "True: the usage stands before the end of a stream."),
	TOLD(FLAG, include_obfuscation, .nullable = true,
		.doc = "Overlooked: nothing is obfuscated here."),
};
TOLD_SCHEMA(ChatStreamOptions, .doc = "How an answer is streamed.");

FIELDS(ChatPromptDetails) = {
	TOLD(INTEGER, cached_tokens, .required = true, .doc = "Read from the provider's cache."),
	TOLD(INTEGER, cache_write_tokens, .required = true, .doc = "Written into it."),
};
TOLD_SCHEMA(ChatPromptDetails, .doc = "Of the tokens of what was asked.");

FIELDS(ChatCompletionDetails) = {
	TOLD(INTEGER, reasoning_tokens, .required = true, .doc = "Thought, and not said."),
};
TOLD_SCHEMA(ChatCompletionDetails, .doc = "Of the tokens of the answer.");
