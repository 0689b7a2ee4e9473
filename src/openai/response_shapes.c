/* response_shapes.c - what responses are made of; see openai_shapes.h.  The items of their output are written by tables with
 * structs, in openai_events.c. */
#include "openai/openai_events.h"
#include "openai/openai_shapes.h"

#define ALWAYS(word) TOLD(TEXT, type, .required = true, .constant = word, .doc = "Always " word ".")
#define ITEM_ID TOLD(TEXT, id, .nullable = true, .doc = "The item.")
#define ITEM_STATUS TOLD(TEXT, status, .nullable = true, .doc = "How far it had come.")

/* ---- the output ---- */

FIELDS(ResponseFailure) = {
	TOLD(TEXT, code, .required = true, .doc = "What went wrong, for programs."),
	TOLD(TEXT, message, .required = true, .doc = "What went wrong, for people."),
};
TOLD_SCHEMA(ResponseFailure, .doc = "Why a response failed.");

FIELDS(ResponseShortfall) = {
	TOLD(TEXT, reason, .required = true, .doc = "max_output_tokens or content_filter."),
};
TOLD_SCHEMA(ResponseShortfall, .doc = "Why a response is incomplete.");

FIELDS(ResponseInputDetails) = {
	TOLD(INTEGER, cached_tokens, .required = true, .doc = "Read from the provider's cache."),
};
static TOLD_SCHEMA(ResponseInputDetails, .doc = "Of the tokens that were read.");

FIELDS(ResponseOutputDetails) = {
	TOLD(INTEGER, reasoning_tokens, .required = true, .doc = "Thought, and not said."),
};
static TOLD_SCHEMA(ResponseOutputDetails, .doc = "Of the tokens that were written.");

FIELDS(ResponseUsage) = {
	TOLD(INTEGER, input_tokens, .required = true, .doc = "Tokens that were read."),
	TOLD(OBJECT, input_tokens_details, .required = true, .of = &ResponseInputDetails_schema,
		.doc = "Of those."),
	TOLD(INTEGER, output_tokens, .required = true, .doc = "Tokens that were written."),
	TOLD(OBJECT, output_tokens_details, .required = true, .of = &ResponseOutputDetails_schema,
		.doc = "Of those."),
	TOLD(INTEGER, total_tokens, .required = true, .doc = "Both."),
};
TOLD_SCHEMA(ResponseUsage, .doc = "What was used.");

/* ---- the input ---- */

FIELDS(ResponseInputText) = {
	ALWAYS("input_text"),
	TOLD(TEXT, text, .required = true, .doc = "What is said."),
};
static TOLD_SCHEMA(ResponseInputText, .doc = "A text as part of a message.");

FIELDS(ResponseInputImage) = {
	ALWAYS("input_image"),
	TOLD(TEXT, image_url, .nullable = true,
		.doc = "An address, or data: with the picture itself."),
	TOLD(TEXT, file_id, .nullable = true, .doc = "A file that the provider keeps."),
	TOLD(TEXT, detail, .nullable = true, .doc = "auto, low or high."),
};
static TOLD_SCHEMA(ResponseInputImage, .doc = "A picture as part of a message.");

FIELDS(ResponseInputFile) = {
	ALWAYS("input_file"),
	TOLD(TEXT, file_data, .nullable = true, .doc = "data: with the file itself, in base64."),
	TOLD(TEXT, file_url, .nullable = true, .doc = "Its address."),
	TOLD(TEXT, filename, .nullable = true, .doc = "What it is called."),
	TOLD(TEXT, file_id, .nullable = true, .doc = "A file that the provider keeps."),
};
static TOLD_SCHEMA(ResponseInputFile, .doc = "A file as part of a message.");

FIELDS(ResponseSaidText) = {
	ALWAYS("output_text"),
	TOLD(TEXT, text, .required = true, .doc = "What was said."),
	TOLD(JSON, annotations, .nullable = true, .array = true, .open = true,
		.doc = "As the provider gave them."),
	TOLD(JSON, logprobs, .nullable = true, .array = true, .open = true,
		.doc = "As the provider gave them."),
};
static TOLD_SCHEMA(ResponseSaidText, .doc = "A text of an assistant's message that is sent back.");

FIELDS(ResponseSaidRefusal) = {
	ALWAYS("refusal"),
	TOLD(TEXT, refusal, .required = true, .doc = "Why the model did not answer."),
};
static TOLD_SCHEMA(ResponseSaidRefusal, .doc = "A refusal that is sent back.");

static const struct shape input_part_shape = { "ResponseInputPart",
	"A part of a message: one of these, or one that only its provider knows.",
	OBJECTS(&ResponseInputText_schema, &ResponseInputImage_schema, &ResponseInputFile_schema,
		&ResponseSaidText_schema, &ResponseSaidRefusal_schema),
	.by = "type", .other = true };
const struct shape response_content_shape = { .text = true, .items = &input_part_shape };

static const struct words input_role_words = { .list = (const char *const[]){ "user", "assistant",
						       "system", "developer", NULL } };

FIELDS(ResponseInputMessage) = {
	TOLD(TEXT, type, .constant = "message", .doc = "message, or left out."),
	ITEM_ID,
	ITEM_STATUS,
	TOLD(CHOICE, role, .required = true, .words = &input_role_words, .doc = "Who says it."),
	TOLD(JSON, content, .required = true, .any = true, .shape = &response_content_shape,
		.doc = "A text, or parts."),
	TOLD(TEXT, phase, .nullable = true, .doc = "As the provider gave it."),
};
static TOLD_SCHEMA(ResponseInputMessage, .doc = "A message.");

FIELDS(ResponseInputCall) = {
	ALWAYS("function_call"),
	ITEM_ID,
	ITEM_STATUS,
	TOLD(TEXT, call_id, .required = true, .doc = "The call, as its output names it."),
	TOLD(TEXT, name, .required = true, .doc = "The caller's function."),
	TOLD(TEXT, arguments, .required = true, .doc = "What it was given, as JSON text."),
	TOLD(JSON, extra_content, .nullable = true, .open = true,
		.doc = "What its provider gave along and wants back with the call."),
	TOLD(TEXT, namespace, .nullable = true, .doc = "Where the function is."),
};
static TOLD_SCHEMA(ResponseInputCall, .doc = "A call that a model made.");

FIELDS(ResponseCallOutput) = {
	ALWAYS("function_call_output"),
	ITEM_ID,
	ITEM_STATUS,
	TOLD(TEXT, call_id, .required = true, .doc = "The call."),
	TOLD(JSON, output, .required = true, .any = true, .shape = &response_content_shape,
		.doc = "What the function gave: a text, or parts."),
};
static TOLD_SCHEMA(ResponseCallOutput, .doc = "What a function of the caller's gave.");

FIELDS(ResponseInputReasoning) = {
	ALWAYS("reasoning"),
	ITEM_ID,
	ITEM_STATUS,
	TOLD(LIST, summary, .nullable = true, .item = OBJECT, .of = &ResponseSummaryText_schema,
		.doc = "What it thought."),
	TOLD(JSON, content, .nullable = true, .array = true, .open = true,
		.doc = "As the provider gave it."),
	TOLD(TEXT, encrypted_content, .nullable = true,
		.doc = "What the model wants back, sealed by its provider."),
};
static TOLD_SCHEMA(ResponseInputReasoning, .doc = "What a model thought, sent back.");

FIELDS(ResponseItemReference) = {
	ALWAYS("item_reference"),
	TOLD(TEXT, id, .required = true, .doc = "The item."),
};
static TOLD_SCHEMA(ResponseItemReference, .doc = "An item of an earlier response.");

FIELDS(ResponseApprovalAnswer) = {
	ALWAYS("mcp_approval_response"),
	ITEM_ID,
	TOLD(TEXT, approval_request_id, .required = true, .doc = "The request."),
	TOLD(FLAG, approve, .required = true, .doc = "Whether the call may be made."),
	TOLD(TEXT, reason, .nullable = true, .doc = "Why, or why not."),
};
static TOLD_SCHEMA(ResponseApprovalAnswer, .doc = "A person's word on a call.");

const struct shape response_input_item_shape = { "ResponseInputItem",
	"An item of the input: one of these, or one that only its provider knows.",
	OBJECTS(&ResponseInputMessage_schema, &ResponseInputCall_schema, &ResponseCallOutput_schema,
		&ResponseInputReasoning_schema, &ResponseItemReference_schema,
		&ResponseApprovalAnswer_schema),
	.by = "type", .other = true };
const struct shape response_input_shape = { .text = true, .items = &response_input_item_shape };

/* ---- options ---- */

FIELDS(ResponseConversation) = {
	TOLD(TEXT, id, .required = true, .doc = "The conversation."),
};
TOLD_SCHEMA(ResponseConversation, .doc = "A conversation, by its id.");
const struct shape response_conversation_shape = { .text = true,
	OBJECTS(&ResponseConversation_schema) };

FIELDS(ResponseFunction) = {
	ALWAYS("function"),
	TOLD(TEXT, name, .required = true, .doc = "What the model calls it by."),
	TOLD(TEXT, description, .nullable = true, .doc = "What it does, for the model."),
	TOLD(JSON, parameters, .nullable = true, .open = true,
		.doc = "What it takes, as JSON Schema."),
	TOLD(FLAG, strict, .nullable = true, .doc = "True: calls keep to the schema exactly."),
};
static TOLD_SCHEMA(ResponseFunction, .doc = "A function that the caller runs.");

const struct shape response_tool_shape = { "ResponseTool",
	"A function of the caller's, or a tool that only its provider knows.",
	OBJECTS(&ResponseFunction_schema), .by = "type", .other = true };

FIELDS(ResponseFunctionNamed) = {
	ALWAYS("function"),
	TOLD(TEXT, name, .required = true, .doc = "Which of them."),
};
static TOLD_SCHEMA(ResponseFunctionNamed, .doc = "The one function that the model must call.");

static const struct words choice_words = { .list = (const char *const[]){
						   "auto", "none", "required", NULL } };
const struct shape response_tool_choice_shape = { "ResponseToolChoice",
	"Whether the model calls functions, and which.", .words = &choice_words,
	OBJECTS(&ResponseFunctionNamed_schema), .by = "type", .other = true };

FIELDS(ResponsePlainFormat) = { ALWAYS("text") };
static TOLD_SCHEMA(ResponsePlainFormat, .doc = "Plain text.");

FIELDS(ResponseObjectFormat) = { ALWAYS("json_object") };
static TOLD_SCHEMA(ResponseObjectFormat, .doc = "Any JSON object.");

FIELDS(ResponseSchemaFormat) = {
	ALWAYS("json_schema"),
	TOLD(TEXT, name, .required = true, .doc = "What the schema is called."),
	TOLD(TEXT, description, .nullable = true, .doc = "What it is for, for the model."),
	TOLD(JSON, schema, .required = true, .open = true, .doc = "The JSON Schema."),
	TOLD(FLAG, strict, .nullable = true, .doc = "True: the answer keeps to it exactly."),
};
static TOLD_SCHEMA(ResponseSchemaFormat, .doc = "JSON of a given schema.");

static const struct shape format_shape = { "ResponseFormat", "In which form a model answers.",
	OBJECTS(&ResponsePlainFormat_schema, &ResponseObjectFormat_schema,
		&ResponseSchemaFormat_schema),
	.by = "type" };

FIELDS(ResponseTextOptions) = {
	TOLD(JSON, format, .nullable = true, .shape = &format_shape, .doc = "In which form."),
	TOLD(TEXT, verbosity, .nullable = true, .doc = "low, medium or high."),
};
TOLD_SCHEMA(ResponseTextOptions, .doc = "How the answer is written.");

FIELDS(ResponseReasoningOptions) = {
	TOLD(TEXT, effort, .nullable = true,
		.doc = "none, minimal, low, medium, high, xhigh or max."),
	TOLD(TEXT, summary, .nullable = true, .doc = "auto, concise or detailed."),
	TOLD(TEXT, generate_summary, .nullable = true, .doc = "The older name of summary."),
};
TOLD_SCHEMA(ResponseReasoningOptions, .doc = "How a model thinks.");

FIELDS(ResponseStreamOptions) = {
	TOLD(FLAG, include_obfuscation, .nullable = true,
		.doc = "Overlooked: nothing is obfuscated here."),
};
TOLD_SCHEMA(ResponseStreamOptions, .doc = "How an answer is streamed.");
