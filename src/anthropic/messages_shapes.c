/* messages_shapes.c - what messages of Anthropic's API are made of: blocks, sources, tools.  For the document; see
 * messages_shapes.h. */
#include "anthropic/messages_shapes.h"

#define ALWAYS(word) TOLD(TEXT, type, .required = true, .constant = word, .doc = "Always " word ".")
#define CACHED                                                                             \
	TOLD(OBJECT, cache_control, .nullable = true, .of = &AnthropicCacheControl_schema, \
		.doc = "Up to where the provider is to cache.")

FIELDS(AnthropicCacheControl) = {
	ALWAYS("ephemeral"),
	TOLD(TEXT, ttl, .nullable = true, .doc = "5m or 1h."),
};
static TOLD_SCHEMA(AnthropicCacheControl, .doc = "That the provider is to cache.");

/* ---- what a model says ---- */

FIELDS(AnthropicTextBlock) = {
	ALWAYS("text"),
	TOLD(TEXT, text, .required = true, .doc = "What is said."),
	TOLD(JSON, citations, .nullable = true, .array = true, .open = true,
		.doc = "What it rests on, as the provider gives it."),
};
static TOLD_SCHEMA(AnthropicTextBlock, .doc = "A text.");

FIELDS(AnthropicThinkingBlock) = {
	ALWAYS("thinking"),
	TOLD(TEXT, thinking, .required = true, .doc = "What the model thought."),
	TOLD(TEXT, signature, .required = true, .doc = "What the provider wants back with it."),
};
static TOLD_SCHEMA(AnthropicThinkingBlock, .doc = "A thought.");

FIELDS(AnthropicRedactedBlock) = {
	ALWAYS("redacted_thinking"),
	TOLD(TEXT, data, .required = true, .doc = "The thought, sealed by the provider."),
};
static TOLD_SCHEMA(AnthropicRedactedBlock, .doc = "A thought that is not shown.");

FIELDS(AnthropicToolUseBlock) = {
	ALWAYS("tool_use"),
	TOLD(TEXT, id, .required = true, .doc = "The call, as its result names it."),
	TOLD(TEXT, name, .required = true, .doc = "The caller's tool."),
	TOLD(JSON, input, .required = true, .open = true, .doc = "What it is given."),
};
static TOLD_SCHEMA(AnthropicToolUseBlock, .doc = "A call of a tool of the caller's.");

const struct shape anthropic_block_shape = { "AnthropicContentBlock",
	"A block of an answer: one of these, or one that only its provider knows.",
	OBJECTS(&AnthropicTextBlock_schema, &AnthropicThinkingBlock_schema,
		&AnthropicRedactedBlock_schema, &AnthropicToolUseBlock_schema),
	.by = "type", .other = true };

FIELDS(AnthropicTextDelta) = {
	ALWAYS("text_delta"),
	TOLD(TEXT, text, .required = true, .doc = "What is added."),
};
static TOLD_SCHEMA(AnthropicTextDelta, .doc = "More of a text.");

FIELDS(AnthropicThinkingDelta) = {
	ALWAYS("thinking_delta"),
	TOLD(TEXT, thinking, .required = true, .doc = "What is added."),
};
static TOLD_SCHEMA(AnthropicThinkingDelta, .doc = "More of a thought.");

FIELDS(AnthropicSignatureDelta) = {
	ALWAYS("signature_delta"),
	TOLD(TEXT, signature, .required = true, .doc = "What the provider wants back."),
};
static TOLD_SCHEMA(AnthropicSignatureDelta, .doc = "The end of a thought.");

FIELDS(AnthropicInputDelta) = {
	ALWAYS("input_json_delta"),
	TOLD(TEXT, partial_json, .required = true, .doc = "What is added, of JSON text."),
};
static TOLD_SCHEMA(AnthropicInputDelta, .doc = "More of what a tool is given.");

FIELDS(AnthropicCitationsDelta) = {
	ALWAYS("citations_delta"),
	TOLD(JSON, citation, .required = true, .open = true, .doc = "As the provider gives it."),
};
static TOLD_SCHEMA(AnthropicCitationsDelta, .doc = "What a text rests on.");

const struct shape anthropic_delta_shape = { "AnthropicDelta",
	"More of a block: one of these, or one that only its provider knows.",
	OBJECTS(&AnthropicTextDelta_schema, &AnthropicThinkingDelta_schema,
		&AnthropicSignatureDelta_schema, &AnthropicInputDelta_schema,
		&AnthropicCitationsDelta_schema),
	.by = "type", .other = true };

/* ---- what a model is asked ---- */

FIELDS(AnthropicTextParam) = {
	ALWAYS("text"),
	TOLD(TEXT, text, .required = true, .doc = "What is said."),
	CACHED,
	TOLD(JSON, citations, .nullable = true, .any = true, .open = true,
		.doc = "As the provider gave them."),
};
static TOLD_SCHEMA(AnthropicTextParam, .doc = "A text.");

FIELDS(AnthropicSource) = {
	TOLD(TEXT, type, .required = true, .doc = "base64, url, text, content or file."),
	TOLD(TEXT, media_type, .nullable = true, .doc = "What kind of data it is."),
	TOLD(TEXT, data, .nullable = true, .doc = "The data: in base64, or the text."),
	TOLD(TEXT, url, .nullable = true, .doc = "Where it is."),
	TOLD(TEXT, file_id, .nullable = true, .doc = "A file that the provider keeps."),
	TOLD(JSON, content, .nullable = true, .any = true, .open = true, .doc = "Blocks."),
};
static TOLD_SCHEMA(AnthropicSource, .doc = "Where a picture or a document is.");

FIELDS(AnthropicImageParam) = {
	ALWAYS("image"),
	TOLD(OBJECT, source, .required = true, .of = &AnthropicSource_schema,
		.doc = "The picture."),
	CACHED,
};
static TOLD_SCHEMA(AnthropicImageParam, .doc = "A picture.");

FIELDS(AnthropicDocumentParam) = {
	ALWAYS("document"),
	TOLD(OBJECT, source, .required = true, .of = &AnthropicSource_schema,
		.doc = "The document."),
	TOLD(TEXT, title, .nullable = true, .doc = "What it is called."),
	TOLD(TEXT, context, .nullable = true, .doc = "What the model should know of it."),
	TOLD(JSON, citations, .nullable = true, .open = true, .doc = "{enabled}."),
	CACHED,
};
static TOLD_SCHEMA(AnthropicDocumentParam, .doc = "A document.");

FIELDS(AnthropicThinkingParam) = {
	ALWAYS("thinking"),
	TOLD(TEXT, thinking, .required = true, .doc = "What the model thought."),
	TOLD(TEXT, signature, .required = true, .doc = "As it was given."),
};
static TOLD_SCHEMA(AnthropicThinkingParam, .doc = "A thought, given back.");

FIELDS(AnthropicToolUseParam) = {
	ALWAYS("tool_use"),
	TOLD(TEXT, id, .required = true, .doc = "The call."),
	TOLD(TEXT, name, .required = true, .doc = "The caller's tool."),
	TOLD(JSON, input, .required = true, .any = true, .open = true, .doc = "What it was given."),
	CACHED,
};
static TOLD_SCHEMA(AnthropicToolUseParam, .doc = "A call that a model made.");

static const struct shape result_block_shape = { "AnthropicResultBlock",
	"What a tool gave: one of these, or one that only its provider knows.",
	OBJECTS(&AnthropicTextParam_schema, &AnthropicImageParam_schema,
		&AnthropicDocumentParam_schema),
	.by = "type", .other = true };
static const struct shape result_shape = { .text = true, .items = &result_block_shape };

FIELDS(AnthropicToolResultParam) = {
	ALWAYS("tool_result"),
	TOLD(TEXT, tool_use_id, .required = true, .doc = "The call."),
	TOLD(JSON, content, .nullable = true, .any = true, .shape = &result_shape,
		.doc = "What the tool gave: a text, or blocks."),
	TOLD(FLAG, is_error, .nullable = true, .doc = "True: it failed."),
	CACHED,
};
static TOLD_SCHEMA(AnthropicToolResultParam, .doc = "What a tool of the caller's gave.");

static const struct shape block_param_shape = { "AnthropicBlockParam",
	"A block of a message: one of these, or one that only its provider knows.",
	OBJECTS(&AnthropicTextParam_schema, &AnthropicImageParam_schema,
		&AnthropicDocumentParam_schema, &AnthropicThinkingParam_schema,
		&AnthropicRedactedBlock_schema, &AnthropicToolUseParam_schema,
		&AnthropicToolResultParam_schema),
	.by = "type", .other = true };
static const struct shape content_shape = { .text = true, .items = &block_param_shape };

static const struct words anthropic_role_words = { .list = (const char *const[]){
							   "user", "assistant", "system", NULL } };

FIELDS(AnthropicMessageParam) = {
	TOLD(CHOICE, role, .required = true, .words = &anthropic_role_words, .doc = "Who says it."),
	TOLD(JSON, content, .required = true, .any = true, .shape = &content_shape,
		.doc = "A text, or blocks."),
};
TOLD_SCHEMA(AnthropicMessageParam, .doc = "A message of a conversation.");

static const struct shape text_param_shape = { OBJECTS(&AnthropicTextParam_schema) };
const struct shape anthropic_system_shape = { .text = true, .items = &text_param_shape };

/* ---- options ---- */

FIELDS(AnthropicToolParam) = {
	TOLD(TEXT, type, .nullable = true, .constant = "custom", .doc = "custom, or left out."),
	TOLD(TEXT, name, .required = true, .doc = "What the model calls it by."),
	TOLD(TEXT, description, .nullable = true, .doc = "What it does, for the model."),
	TOLD(JSON, input_schema, .required = true, .open = true,
		.doc = "What it takes, as JSON Schema."),
	TOLD(FLAG, strict, .nullable = true, .doc = "True: calls keep to the schema exactly."),
	CACHED,
};
static TOLD_SCHEMA(AnthropicToolParam, .doc = "A tool that the caller runs.");

const struct shape anthropic_tool_shape = { "AnthropicTool",
	"A tool of the caller's, or one of Anthropic's own by its type.",
	OBJECTS(&AnthropicToolParam_schema), .by = "type", .other = true };

FIELDS(AnthropicToolChoice) = {
	TOLD(TEXT, type, .required = true, .doc = "auto, any, none or tool."),
	TOLD(TEXT, name, .nullable = true, .doc = "With tool: which."),
	TOLD(FLAG, disable_parallel_tool_use, .nullable = true, .doc = "True: one call at a time."),
};
TOLD_SCHEMA(AnthropicToolChoice, .doc = "Whether the model calls tools, and which.");

FIELDS(AnthropicThinking) = {
	TOLD(TEXT, type, .required = true, .doc = "enabled, adaptive or disabled."),
	TOLD(INTEGER, budget_tokens, .nullable = true, .doc = "With enabled: how much."),
	TOLD(TEXT, display, .nullable = true, .doc = "Passed on to models of the kind anthropic."),
};
TOLD_SCHEMA(AnthropicThinking, .doc = "Whether the model thinks first.");

FIELDS(AnthropicOutputFormat) = {
	ALWAYS("json_schema"),
	TOLD(JSON, schema, .required = true, .open = true, .doc = "The JSON Schema."),
};
static TOLD_SCHEMA(AnthropicOutputFormat, .doc = "JSON of a given schema.");

FIELDS(AnthropicOutputConfig) = {
	TOLD(TEXT, effort, .nullable = true, .doc = "low, medium, high or max."),
	TOLD(OBJECT, format, .nullable = true, .of = &AnthropicOutputFormat_schema,
		.doc = "In which form the model answers."),
};
TOLD_SCHEMA(AnthropicOutputConfig, .doc = "How the model answers.");

FIELDS(AnthropicMetadata) = {
	TOLD(TEXT, user_id, .nullable = true, .doc = "Who uses it, for the provider."),
};
TOLD_SCHEMA(AnthropicMetadata, .doc = "What the provider is told besides.");
