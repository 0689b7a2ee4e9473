/* response_item_schemas.c - the items of a response's output, and their parts; see openai_events.h. */
#include "openai/openai_events.h"
#include "openai/openai_shapes.h"

enum { SAID_MAX = 32 << 20, ITEM_MAX = 64 << 20 };

#define SAID(S, member, words) \
	FIELD(S, member, .required = true, .ceiling = SAID_MAX, .example = "\"\"", .doc = (words))
#define NO_LOGPROBS(S)                                                               \
	FIELD(S, logprobs, .shape = &nothing_shape, .required = true, .array = true, \
		.example = "[]", .doc = "Always empty.")

FIELDS(ResponseText) = {
	FIELD(ResponseText, type, .required = true, .constant = "output_text",
		.doc = "Always output_text."),
	FIELD(ResponseText, annotations, .shape = &nothing_shape, .required = true, .array = true,
		.example = "[]", .doc = "Always empty."),
	NO_LOGPROBS(ResponseText),
	SAID(ResponseText, text, "What is said."),
};
SCHEMA(ResponseText, .doc = "The part of a message.");

FIELDS(ResponseMessage) = {
	FIELD(ResponseMessage, id, .required = true, .doc = "The item."),
	FIELD(ResponseMessage, type, .required = true, .constant = "message",
		.doc = "Always message."),
	FIELD(ResponseMessage, status, .required = true, .example = "\"completed\"",
		.doc = "in_progress, completed or incomplete."),
	FIELD(ResponseMessage, role, .required = true, .constant = "assistant",
		.doc = "Always assistant."),
	FIELD(ResponseMessage, content, .shape = &response_part_shape, .required = true,
		.array = true, .ceiling = ITEM_MAX, .example = "[]",
		.doc = "One part, or none yet: by its type a ResponseText or a ResponseRefusal."),
};
SCHEMA(ResponseMessage, .doc = "An item: a message.");

FIELDS(ResponseFunctionCall) = {
	FIELD(ResponseFunctionCall, id, .required = true, .doc = "The item."),
	FIELD(ResponseFunctionCall, type, .required = true, .constant = "function_call",
		.doc = "Always function_call."),
	FIELD(ResponseFunctionCall, status, .required = true, .example = "\"completed\"",
		.doc = "in_progress or completed."),
	FIELD(ResponseFunctionCall, call_id, .required = true, .example = "\"call_1\"",
		.doc = "The call, as its output names it."),
	FIELD(ResponseFunctionCall, name, .required = true, .example = "\"add\"",
		.doc = "The caller's function."),
	SAID(ResponseFunctionCall, arguments, "What it is given, as JSON text."),
	FIELD(ResponseFunctionCall, extra_content, .open = true, .left_out = true, .nullable = true,
		.ceiling = ITEM_MAX, .example = "null",
		.doc = "What its provider gave along and wants back with the call."),
	FIELD(ResponseFunctionCall, namespace, .left_out = true, .nullable = true,
		.example = "null",
		.doc = "Where the function is, if it was offered in a namespace."),
};
SCHEMA(ResponseFunctionCall, .doc = "An item: a call of a function of the caller's.");

FIELDS(ResponseRefusal) = {
	FIELD(ResponseRefusal, type, .required = true, .constant = "refusal",
		.doc = "Always refusal."),
	SAID(ResponseRefusal, refusal, "Why the model does not answer."),
};
SCHEMA(ResponseRefusal, .doc = "The part of a message that refuses.");

FIELDS(ResponseSummaryText) = {
	FIELD(ResponseSummaryText, type, .required = true, .constant = "summary_text",
		.doc = "Always summary_text."),
	SAID(ResponseSummaryText, text, "What it thought."),
};
SCHEMA(ResponseSummaryText, .doc = "What a model thought, as far as it tells.");

FIELDS(ResponseReasoning) = {
	FIELD(ResponseReasoning, id, .required = true, .doc = "The item."),
	FIELD(ResponseReasoning, type, .required = true, .constant = "reasoning",
		.doc = "Always reasoning."),
	FIELD(ResponseReasoning, summary, .required = true, .item = OBJECT,
		.of = &ResponseSummaryText_schema, .doc = "One part, or none."),
	FIELD(ResponseReasoning, encrypted_content, .left_out = true, .nullable = true,
		.ceiling = ITEM_MAX, .example = "null",
		.doc = "What the model wants back, sealed by its provider."),
};
SCHEMA(ResponseReasoning, .doc = "An item: what a model thought.");

FIELDS(ResponseApprovalRequest) = {
	FIELD(ResponseApprovalRequest, id, .required = true, .doc = "The approval."),
	FIELD(ResponseApprovalRequest, type, .required = true, .constant = "mcp_approval_request",
		.doc = "Always mcp_approval_request."),
	FIELD(ResponseApprovalRequest, server_label, .required = true, .constant = "lodge",
		.doc = "Always lodge."),
	FIELD(ResponseApprovalRequest, name, .required = true, .example = "\"refund\"",
		.doc = "The agent's tool."),
	SAID(ResponseApprovalRequest, arguments, "What it would be given, as JSON text."),
};
SCHEMA(ResponseApprovalRequest, .doc = "An item: a call that needs a person's word.");

const struct shape response_part_shape = { "ResponseContentPart", "A part of a message.",
	OBJECTS(&ResponseText_schema, &ResponseRefusal_schema), .by = "type" };
const struct shape response_item_shape = { "ResponseOutputItem",
	"An item of the output: one of these, or one that only its provider knows.",
	OBJECTS(&ResponseMessage_schema, &ResponseReasoning_schema, &ResponseFunctionCall_schema,
		&ResponseApprovalRequest_schema),
	.by = "type", .other = true };
