/* thread_shapes.c - what messages, runs and steps are made of; see openai_shapes.h. */
#include "openai/openai_events.h"
#include "openai/openai_shapes.h"

#define ALWAYS(word) TOLD(TEXT, type, .required = true, .constant = word, .doc = "Always " word ".")

enum { SAID_MAX = 32 << 20, ITEM_MAX = 64 << 20 };
FIELDS(ThreadText) = {
	FIELD(ThreadText, value, .required = true, .ceiling = SAID_MAX,
		.example = "\" on its way\"", .doc = "What is said."),
	FIELD(ThreadText, annotations, .shape = &nothing_shape, .required = true, .array = true,
		.example = "[]", .doc = "Always empty."),
};
SCHEMA(ThreadText, .doc = "A piece of text.");

FIELDS(ThreadTextPart) = {
	ALWAYS("text"),
	TOLD(OBJECT, text, .required = true, .of = &ThreadText_schema, .doc = "What is said."),
};
TOLD_SCHEMA(ThreadTextPart, .doc = "A part of a message.");

FIELDS(ThreadInputText) = {
	ALWAYS("text"),
	TOLD(TEXT, text, .required = true, .doc = "What is said."),
};
static TOLD_SCHEMA(ThreadInputText, .doc = "A part of a message to be put into a thread.");

FIELDS(ThreadImageAddress) = {
	TOLD(TEXT, url, .required = true, .doc = "Its address, or data: with the picture itself."),
	TOLD(TEXT, detail, .nullable = true, .doc = "auto, low or high."),
};
static TOLD_SCHEMA(ThreadImageAddress, .doc = "Where a picture is.");

FIELDS(ThreadImageUrl) = {
	ALWAYS("image_url"),
	TOLD(OBJECT, image_url, .required = true, .of = &ThreadImageAddress_schema,
		.doc = "The picture."),
};
static TOLD_SCHEMA(ThreadImageUrl, .doc = "A picture as part of a message.");

FIELDS(ThreadImageKept) = {
	TOLD(TEXT, file_id, .required = true, .doc = "The file of the session that holds it."),
	TOLD(TEXT, detail, .nullable = true, .doc = "auto, low or high."),
};
static TOLD_SCHEMA(ThreadImageKept, .doc = "A picture that is kept here.");

FIELDS(ThreadImageFile) = {
	ALWAYS("image_file"),
	TOLD(OBJECT, image_file, .required = true, .of = &ThreadImageKept_schema,
		.doc = "The picture."),
};
static TOLD_SCHEMA(ThreadImageFile, .doc = "A picture that came as data, as part of a message.");

const struct shape thread_said_shape = { OBJECTS(&ThreadTextPart_schema, &ThreadImageFile_schema,
						 &ThreadImageUrl_schema),
	.by = "type" };

static const struct shape input_part_shape = {
	OBJECTS(&ThreadInputText_schema, &ThreadImageUrl_schema), .by = "type"
};
const struct shape thread_content_shape = { .text = true, .items = &input_part_shape };

FIELDS(RunError) = {
	TOLD(TEXT, code, .required = true,
		.doc = "server_error, rate_limit_exceeded or invalid_prompt."),
	TOLD(TEXT, message, .required = true, .doc = "What went wrong, for people."),
};
TOLD_SCHEMA(RunError, .doc = "Why a run or a step failed.");

FIELDS(RunActionCalls) = {
	TOLD(LIST, tool_calls, .required = true, .item = OBJECT, .of = &ChatToolCall_schema,
		.doc = "The calls that wait."),
};
static TOLD_SCHEMA(RunActionCalls, .doc = "Whose outputs are to be given.");

FIELDS(RunRequiredAction) = {
	ALWAYS("submit_tool_outputs"),
	TOLD(OBJECT, submit_tool_outputs, .required = true, .of = &RunActionCalls_schema,
		.doc = "The calls that wait."),
};
TOLD_SCHEMA(RunRequiredAction, .doc = "What a run waits for.");

FIELDS(RunUsage) = {
	TOLD(INTEGER, prompt_tokens, .required = true, .doc = "Tokens that were read."),
	TOLD(INTEGER, completion_tokens, .required = true, .doc = "Tokens that were written."),
	TOLD(INTEGER, total_tokens, .required = true, .doc = "Both."),
};
TOLD_SCHEMA(RunUsage, .doc = "What was used.");

FIELDS(RunTruncation) = {
	TOLD(TEXT, type, .required = true, .doc = "auto or last_messages."),
	TOLD(INTEGER, last_messages, .nullable = true,
		.doc = "How many messages from before the run are read."),
};
TOLD_SCHEMA(RunTruncation, .doc = "How much of a thread a run reads.");

/* ---- steps ---- */

FIELDS(RunStepFunction) = {
	TOLD(TEXT, name, .required = true, .doc = "The function, or the agent's tool."),
	TOLD(TEXT, arguments, .required = true, .doc = "What it was given, as JSON text."),
	TOLD(TEXT, output, .required = true, .nullable = true,
		.doc = "What it gave; null before that."),
};
static TOLD_SCHEMA(RunStepFunction, .doc = "What was called, and what it gave.");

#define STEP_CALL                                                                       \
	TOLD(TEXT, id, .required = true, .doc = "The call."), ALWAYS("function"),       \
		TOLD(OBJECT, function, .required = true, .of = &RunStepFunction_schema, \
			.doc = "The call itself.")

FIELDS(RunStepCall) = { STEP_CALL };
static TOLD_SCHEMA(RunStepCall, .doc = "A call in a step.");

FIELDS(RunStepCallDelta) = {
	STEP_CALL,
	TOLD(INTEGER, index, .required = true, .doc = "Which call of its step."),
};
TOLD_SCHEMA(RunStepCallDelta, .doc = "A call of a step that is under way.");

FIELDS(RunStepMessage) = {
	TOLD(TEXT, message_id, .required = true, .doc = "The message."),
};
static TOLD_SCHEMA(RunStepMessage, .doc = "A message that a step wrote.");

FIELDS(RunStepWrites) = {
	ALWAYS("message_creation"),
	TOLD(OBJECT, message_creation, .required = true, .of = &RunStepMessage_schema,
		.doc = "The message."),
};
static TOLD_SCHEMA(RunStepWrites, .doc = "A step that wrote a message.");

FIELDS(RunStepCalls) = {
	ALWAYS("tool_calls"),
	TOLD(LIST, tool_calls, .required = true, .item = OBJECT, .of = &RunStepCall_schema,
		.doc = "The calls."),
};
static TOLD_SCHEMA(RunStepCalls, .doc = "A step that called tools.");

const struct shape run_step_shape = { "RunStepDetails", "What a step did.",
	OBJECTS(&RunStepWrites_schema, &RunStepCalls_schema), .by = "type" };
