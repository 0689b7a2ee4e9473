/* responses_schemas.c - the tables of responses in OpenAI's shape. */
#include "openai/responses.h"
#include "openai/openai_shapes.h"

#define AS_ASKED .nullable = true, .any = true, .doc = "As asked for."

FIELDS(ResponseObject) = {
	FIELD(ResponseObject, id, .required = true, .doc = "Its id."),
	FIELD(ResponseObject, object, .constant = "response", .doc = "Always response."),
	FIELD(ResponseObject, created_at, .required = true, .doc = "In seconds since 1970."),
	FIELD(ResponseObject, status, .required = true,
		.doc = "queued, in_progress, completed, incomplete, failed or cancelled."),
	FIELD(ResponseObject, background, .required = true, .doc = "As asked for."),
	FIELD(ResponseObject, completed_at, .nullable = true,
		.doc = "In seconds since 1970; null until then."),
	FIELD(ResponseObject, error, .of = &ResponseFailure_schema, .nullable = true,
		.doc = "{code, message} of one that failed."),
	FIELD(ResponseObject, incomplete_details, .of = &ResponseShortfall_schema, .nullable = true,
		.doc = "{reason} of one that is incomplete."),
	FIELD(ResponseObject, instructions, .shape = &text_shape, AS_ASKED),
	FIELD(ResponseObject, max_output_tokens, .shape = &integer_shape, AS_ASKED),
	FIELD(ResponseObject, metadata, .shape = &pairs_shape, .doc = "Free pairs of text."),
	FIELD(ResponseObject, model, .required = true,
		.doc = "What was asked: an agent or a model."),
	FIELD(ResponseObject, output, .shape = &response_item_shape, .array = true,
		.doc = "Messages, calls of the caller's functions, and requests for approval."),
	FIELD(ResponseObject, parallel_tool_calls, .required = true, .doc = "As asked for."),
	FIELD(ResponseObject, previous_response_id, .nullable = true,
		.doc = "The response that it goes on from."),
	FIELD(ResponseObject, conversation, .of = &ResponseConversation_schema, .nullable = true,
		.doc = "The conversation that it goes on from."),
	FIELD(ResponseObject, reasoning, .of = &ResponseReasoningOptions_schema, .nullable = true,
		.doc = "As asked for."),
	FIELD(ResponseObject, store, .required = true, .doc = "As asked for."),
	FIELD(ResponseObject, temperature, .shape = &number_shape, AS_ASKED),
	FIELD(ResponseObject, text, .of = &ResponseTextOptions_schema, .doc = "As asked for."),
	FIELD(ResponseObject, tool_choice, .shape = &response_tool_choice_shape, AS_ASKED),
	FIELD(ResponseObject, tools, .shape = &response_tool_shape, .array = true,
		.doc = "The caller's functions."),
	FIELD(ResponseObject, top_p, .shape = &number_shape, AS_ASKED),
	FIELD(ResponseObject, truncation, .required = true, .doc = "As asked for, or disabled."),
	FIELD(ResponseObject, usage, .of = &ResponseUsage_schema, .nullable = true,
		.doc = "{input_tokens, output_tokens, total_tokens} and their details, at the end."),
	FIELD(ResponseObject, user, .nullable = true, .doc = "As asked for."),
	FIELD(ResponseObject, prompt_cache_key, .shape = &text_shape, AS_ASKED),
	FIELD(ResponseObject, safety_identifier, .shape = &text_shape, AS_ASKED),
	FIELD(ResponseObject, service_tier, .shape = &text_shape, .nullable = true, .any = true,
		.doc = "As asked for, where it went to the provider."),
	FIELD(ResponseObject, top_logprobs, .shape = &integer_shape, AS_ASKED),
	FIELD(ResponseObject, max_tool_calls, .shape = &integer_shape, AS_ASKED),
};
SCHEMA(ResponseObject, .doc = "The answer of an agent or a model.");

FIELDS(ResponseItemList) = {
	FIELD(ResponseItemList, object, .constant = "list", .doc = "Always list."),
	FIELD(ResponseItemList, data, .shape = &response_input_item_shape, .array = true,
		.doc = "The items on this page."),
	FIELD(ResponseItemList, first_id, .nullable = true, .doc = "The first on this page."),
	FIELD(ResponseItemList, last_id, .nullable = true,
		.doc = "The last on this page; pass it as after to read on."),
	FIELD(ResponseItemList, has_more, .required = true,
		.doc = "True when there is more after last_id."),
};
SCHEMA(ResponseItemList, .doc = "What a response was given.");

enum { INPUT_MAX = 30 << 20, TOKENS_ASKED_MAX = 1000000000 };

#define FORWARDED(member, what, words)                                     \
	FIELD(ResponseCreate, member, what, .nullable = true, .any = true, \
		.doc = words " Passed on to providers that know it.")

FIELDS(ResponseCreate) = {
	FIELD(ResponseCreate, model, .required = true, BOUNDS(1, 255),
		.example = "\"agent:helper\"",
		.doc = "agent: and an agent's slug, an agent's id, or a model's slug."),
	FIELD(ResponseCreate, input, .shape = &response_input_shape, .nullable = true, .any = true,
		.ceiling = INPUT_MAX,
		.doc = "A text, or items: messages, function_call_output, mcp_approval_response."),
	FIELD(ResponseCreate, instructions, .nullable = true, .prompt = true,
		.doc = "A system message; for an agent, after its own prompt."),
	FIELD(ResponseCreate, previous_response_id, .nullable = true, BOUNDS(1, 64),
		.doc = "Goes on from that response; of an agent, from the last one of its session."),
	FIELD(ResponseCreate, tools, .shape = &response_tool_shape, .nullable = true, .array = true,
		.doc = "Functions that the caller runs itself: {type: function, name, parameters}. Tools of "
		       "other kinds go to providers that speak responses; elsewhere they are left out, "
		       "and the header Lodge-Dropped names them."),
	FIELD(ResponseCreate, tool_choice, .shape = &response_tool_choice_shape, .nullable = true,
		.any = true, .doc = "none, auto, required, or {type: function, name}."),
	FIELD(ResponseCreate, stream, .nullable = true, .doc = "Answer with a stream of events."),
	FIELD(ResponseCreate, store, .nullable = true,
		.doc = "False: it cannot be read or gone on from later."),
	FIELD(ResponseCreate, background, .nullable = true,
		.doc = "Answer at once; the agent works on. Only for agents."),
	FIELD(ResponseCreate, metadata, .shape = &pairs_shape, .nullable = true,
		.doc = "Up to 16 pairs of text."),
	FIELD(ResponseCreate, max_output_tokens, .nullable = true, BOUNDS(1, TOKENS_ASKED_MAX),
		.doc = "The most that each call to a model may write."),
	FIELD(ResponseCreate, temperature, .nullable = true, BOUNDS(0, 2), .doc = "For this one."),
	FIELD(ResponseCreate, top_p, .nullable = true, BOUNDS(0, 1), .doc = "For this one."),
	FIELD(ResponseCreate, parallel_tool_calls, .nullable = true,
		.doc = "Whether a model may call several functions at once."),
	FIELD(ResponseCreate, text, .of = &ResponseTextOptions_schema, .nullable = true,
		.doc = "{format}; an agent answers in text."),
	FIELD(ResponseCreate, reasoning, .of = &ResponseReasoningOptions_schema, .nullable = true,
		.doc = "{effort, summary}, for a model."),
	FIELD(ResponseCreate, conversation, .shape = &response_conversation_shape, .nullable = true,
		.any = true,
		.doc = "The id of a conversation, or {id}: the response goes on from its items, and "
		       "what is asked and answered joins them."),
	FIELD(ResponseCreate, truncation, .nullable = true, BOUNDS(1, 32),
		.doc = "auto or disabled, for providers that know it; a session keeps itself inside "
		       "its model's window."),
	FIELD(ResponseCreate, user, .nullable = true, BOUNDS(0, 512), .doc = "Kept and shown."),
	FORWARDED(include, .shape = &texts_shape,
		"What the output is to hold besides, such as "
		"reasoning.encrypted_content."),
	FORWARDED(prompt_cache_key, .shape = &text_shape, "Which requests share a cache."),
	FORWARDED(prompt_cache_options, .open = true, "How the provider is to cache."),
	FORWARDED(
		prompt_cache_retention, .shape = &text_shape, "How long the provider is to cache."),
	FORWARDED(
		safety_identifier, .shape = &text_shape, "Who uses it, for the provider's safety."),
	FORWARDED(service_tier, .shape = &text_shape,
		"auto or default; another has a price of its own and is left out, "
		"which Lodge-Dropped says."),
	FORWARDED(top_logprobs, .shape = &integer_shape,
		"How many likely tokens are to be told with each."),
	FORWARDED(max_tool_calls, .shape = &integer_shape,
		"The most calls of the provider's own tools."),
	FORWARDED(
		context_management, .open = true, "How the provider is to shorten what it reads."),
	FIELD(ResponseCreate, stream_options, .of = &ResponseStreamOptions_schema, .nullable = true,
		.any = true, .doc = "Overlooked: nothing is obfuscated here."),
	FIELD(ResponseCreate, prompt, .shape = &nothing_shape, .nullable = true, .any = true,
		.doc = "Must be null: a prompt that is stored at the provider cannot be reckoned."),
	FIELD(ResponseCreate, moderation, .shape = &nothing_shape, .nullable = true, .any = true,
		.doc = "Must be null: it has a price of its own."),
};
SCHEMA(ResponseCreate, .doc = "A response to be made.");
