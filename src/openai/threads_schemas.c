/* threads_schemas.c - the tables of threads, messages, runs and steps in OpenAI's shape. */
#include "openai/threads.h"
#include "openai/openai_shapes.h"

#define OBJECT_ID(S) FIELD(S, id, .required = true, .doc = "Its id.")
#define SECONDS(S, member, words) \
	FIELD(S, member, .nullable = true, .doc = words ", in seconds since 1970; or null.")
#define METADATA(S) FIELD(S, metadata, .shape = &pairs_shape, .doc = "Free pairs of text.")
#define PAGE(S, of_)                                                                    \
	FIELD(S, object, .constant = "list", .doc = "Always list."),                    \
		FIELD(S, data, .required = true, .item = OBJECT, .of = &of_##_schema,   \
			.doc = "Those on this page."),                                  \
		FIELD(S, first_id, .nullable = true, .doc = "The first on this page."), \
		FIELD(S, last_id, .nullable = true,                                     \
			.doc = "The last on this page; pass it as after to read on."),  \
		FIELD(S, has_more, .required = true,                                    \
			.doc = "True when there is more after last_id.")

FIELDS(ThreadObject) = {
	OBJECT_ID(ThreadObject),
	FIELD(ThreadObject, object, .constant = "thread", .doc = "Always thread."),
	FIELD(ThreadObject, created_at, .required = true, .doc = "In seconds since 1970."),
	METADATA(ThreadObject),
	FIELD(ThreadObject, tool_resources, .shape = &nothing_shape, .nullable = true,
		.doc = "Always null."),
};
SCHEMA(ThreadObject, .doc = "A session, in the shape of a thread.");

FIELDS(ThreadMessageObject) = {
	OBJECT_ID(ThreadMessageObject),
	FIELD(ThreadMessageObject, object, .constant = "thread.message",
		.doc = "Always thread.message."),
	FIELD(ThreadMessageObject, created_at, .required = true, .doc = "In seconds since 1970."),
	FIELD(ThreadMessageObject, thread_id, .required = true, .doc = "The thread it is in."),
	FIELD(ThreadMessageObject, status, .required = true,
		.doc = "in_progress while it is being written, then completed or incomplete."),
	FIELD(ThreadMessageObject, incomplete_details, .of = &ResponseShortfall_schema,
		.nullable = true, .doc = "{reason} of a message that broke off."),
	SECONDS(ThreadMessageObject, completed_at, "When it was complete"),
	SECONDS(ThreadMessageObject, incomplete_at, "When it broke off"),
	FIELD(ThreadMessageObject, role, .required = true, .doc = "user or assistant."),
	FIELD(ThreadMessageObject, content, .shape = &thread_said_shape, .array = true,
		.doc = "Parts {type: text, text: {value, annotations}}, and images."),
	FIELD(ThreadMessageObject, assistant_id, .nullable = true,
		.doc = "The agent that wrote it."),
	FIELD(ThreadMessageObject, run_id, .nullable = true, .doc = "The run it was written in."),
	FIELD(ThreadMessageObject, attachments, .shape = &nothing_shape, .array = true,
		.doc = "Always empty."),
	METADATA(ThreadMessageObject),
};
SCHEMA(ThreadMessageObject, .doc = "A message of a thread.");

FIELDS(ThreadMessageList) = { PAGE(ThreadMessageList, ThreadMessageObject) };
SCHEMA(ThreadMessageList, .doc = "A page of messages.");

FIELDS(RunObject) = {
	OBJECT_ID(RunObject),
	FIELD(RunObject, object, .constant = "thread.run", .doc = "Always thread.run."),
	FIELD(RunObject, created_at, .required = true, .doc = "In seconds since 1970."),
	FIELD(RunObject, thread_id, .required = true, .doc = "The thread it runs in."),
	FIELD(RunObject, assistant_id, .required = true, .doc = "The agent that is at work."),
	FIELD(RunObject, status, .required = true,
		.doc = "queued, in_progress, requires_action, completed, failed or cancelled."),
	FIELD(RunObject, required_action, .of = &RunRequiredAction_schema, .nullable = true,
		.doc = "The calls that wait: of functions that the caller runs, and of the agent's own "
		       "tools that wait for approval."),
	FIELD(RunObject, last_error, .of = &RunError_schema, .nullable = true,
		.doc = "{code, message} of a run that failed."),
	FIELD(RunObject, expires_at, .nullable = true,
		.doc = "Always null: a run waits as long as it must."),
	SECONDS(RunObject, started_at, "When it began"),
	SECONDS(RunObject, cancelled_at, "When it was cancelled"),
	SECONDS(RunObject, failed_at, "When it failed"),
	SECONDS(RunObject, completed_at, "When it was done"),
	FIELD(RunObject, incomplete_details, .shape = &nothing_shape, .nullable = true,
		.doc = "Always null."),
	FIELD(RunObject, model, .required = true,
		.doc = "The model that was asked for, or lodge-agent."),
	FIELD(RunObject, instructions, .required = true, .prompt = true,
		.doc = "In place of the agent's own prompt, if any were given."),
	FIELD(RunObject, tools, .shape = &chat_tool_shape, .array = true,
		.doc = "Functions that the caller runs itself."),
	METADATA(RunObject),
	FIELD(RunObject, usage, .of = &RunUsage_schema, .nullable = true,
		.doc = "{prompt_tokens, completion_tokens, total_tokens} once it has ended."),
	FIELD(RunObject, temperature, .shape = &number_shape, .nullable = true, .any = true,
		.doc = "As asked for."),
	FIELD(RunObject, top_p, .shape = &number_shape, .nullable = true, .any = true,
		.doc = "As asked for."),
	FIELD(RunObject, max_prompt_tokens, .shape = &integer_shape, .nullable = true, .any = true,
		.doc = "As asked for."),
	FIELD(RunObject, max_completion_tokens, .shape = &integer_shape, .nullable = true,
		.any = true, .doc = "As asked for."),
	FIELD(RunObject, truncation_strategy, .of = &RunTruncation_schema, .nullable = true,
		.doc = "As asked for."),
	FIELD(RunObject, tool_choice, .shape = &chat_tool_choice_shape, .nullable = true,
		.any = true, .doc = "As asked for."),
	FIELD(RunObject, parallel_tool_calls, .required = true, .doc = "As asked for."),
	FIELD(RunObject, response_format, .shape = &text_format_shape, .nullable = true,
		.any = true, .doc = "As asked for."),
};
SCHEMA(RunObject, .doc = "One setting to work of an agent in a thread.");

FIELDS(RunList) = { PAGE(RunList, RunObject) };
SCHEMA(RunList, .doc = "A page of runs.");

FIELDS(RunStepObject) = {
	OBJECT_ID(RunStepObject),
	FIELD(RunStepObject, object, .constant = "thread.run.step",
		.doc = "Always thread.run.step."),
	FIELD(RunStepObject, created_at, .required = true, .doc = "In seconds since 1970."),
	FIELD(RunStepObject, run_id, .required = true, .doc = "The run it is part of."),
	FIELD(RunStepObject, assistant_id, .required = true, .doc = "The agent that is at work."),
	FIELD(RunStepObject, thread_id, .required = true, .doc = "The thread it runs in."),
	FIELD(RunStepObject, type, .required = true, .doc = "message_creation or tool_calls."),
	FIELD(RunStepObject, status, .required = true,
		.doc = "in_progress, completed, failed or cancelled."),
	SECONDS(RunStepObject, cancelled_at, "When it was cancelled"),
	SECONDS(RunStepObject, completed_at, "When it was done"),
	FIELD(RunStepObject, expired_at, .nullable = true, .doc = "Always null."),
	SECONDS(RunStepObject, failed_at, "When it failed"),
	FIELD(RunStepObject, last_error, .of = &RunError_schema, .nullable = true,
		.doc = "{code, message} of a step that failed."),
	FIELD(RunStepObject, step_details,
		.example =
			"{\"type\":\"message_creation\",\"message_creation\":{\"message_id\":\"cm5x8k2q90a7d3f6h1j4n8p2r\"}}",
		.shape = &run_step_shape, .required = true,
		.doc = "{type, message_creation: {message_id}} or {type, tool_calls}."),
	FIELD(RunStepObject, usage, .of = &RunUsage_schema, .nullable = true,
		.doc = "Tokens of the call to the model that made it."),
	METADATA(RunStepObject),
};
SCHEMA(RunStepObject, .doc = "A message, or calls of tools, in a run.");

FIELDS(RunStepList) = { PAGE(RunStepList, RunStepObject) };
SCHEMA(RunStepList, .doc = "A page of steps.");

/* ---- what is asked for ---- */

enum {
	CONTENT_MAX = 4 << 20,
	SHOWN_MAX = 16 << 20,
	MESSAGES_MAX = 128,
	TOKENS_ASKED_MAX = 1000000000
};

const struct words thread_role_words = { .list = (const char *const[]){
						 "user", "assistant", NULL } };

FIELDS(ThreadMessageCreate) = {
	FIELD(ThreadMessageCreate, role, .required = true, .words = &thread_role_words,
		.doc = "Who is to have said it."),
	FIELD(ThreadMessageCreate, content, .shape = &thread_content_shape, .required = true,
		.any = true, .ceiling = SHOWN_MAX, .example = "\"Hello\"",
		.doc = "A text, or parts {type: text, text} and {type: image_url, image_url: {url}}."),
	FIELD(ThreadMessageCreate, attachments, .shape = &nothing_shape, .nullable = true,
		.array = true, .doc = "Must be empty: files of a provider are not known here."),
	FIELD(ThreadMessageCreate, metadata, .shape = &pairs_shape, .nullable = true,
		.doc = "Up to 16 pairs of text."),
};
SCHEMA(ThreadMessageCreate, .doc = "A message to be put into a thread.");

FIELDS(ThreadCreate) = {
	FIELD(ThreadCreate, messages, .nullable = true, .item = OBJECT,
		.of = &ThreadMessageCreate_schema, .max = MESSAGES_MAX,
		.doc = "What it is to begin with."),
	FIELD(ThreadCreate, metadata, .shape = &pairs_shape, .nullable = true,
		.doc = "Up to 16 pairs of text."),
};
SCHEMA(ThreadCreate, .doc = "A thread to be made.");

FIELDS(RunCreate) = {
	FIELD(RunCreate, assistant_id, .required = true, .id = true,
		.doc = "The agent to set to work."),
	FIELD(RunCreate, model, .nullable = true, BOUNDS(1, 255),
		.doc = "A model's slug in place of the agent's chain; lodge-agent and null leave it."),
	FIELD(RunCreate, instructions, .nullable = true, .prompt = true,
		.doc = "In place of the agent's own prompt."),
	FIELD(RunCreate, additional_instructions, .nullable = true, .prompt = true,
		.doc = "After it."),
	FIELD(RunCreate, additional_messages, .nullable = true, .item = OBJECT,
		.of = &ThreadMessageCreate_schema, .max = MESSAGES_MAX,
		.doc = "Put into the thread first."),
	FIELD(RunCreate, tools, .shape = &chat_tool_shape, .nullable = true, .array = true,
		.doc = "Functions that the caller runs itself, in place of the assistant's."),
	FIELD(RunCreate, metadata, .shape = &pairs_shape, .nullable = true,
		.doc = "Up to 16 pairs of text."),
	FIELD(RunCreate, temperature, .nullable = true, BOUNDS(0, 2), .doc = "For this run."),
	FIELD(RunCreate, top_p, .nullable = true, BOUNDS(0, 1), .doc = "For this run."),
	FIELD(RunCreate, stream, .nullable = true, .doc = "Answer with a stream of events."),
	FIELD(RunCreate, max_prompt_tokens, .nullable = true, BOUNDS(1, TOKENS_ASKED_MAX),
		.doc = "What is older is summed up where a model would read more than this."),
	FIELD(RunCreate, max_completion_tokens, .nullable = true, BOUNDS(1, TOKENS_ASKED_MAX),
		.doc = "The most that each call to a model may write."),
	FIELD(RunCreate, truncation_strategy, .of = &RunTruncation_schema, .nullable = true,
		.doc = "{type: auto}, or {type: last_messages, last_messages: N}: of what was said "
		       "before the run only so many messages are read."),
	FIELD(RunCreate, tool_choice, .shape = &chat_tool_choice_shape, .nullable = true,
		.any = true, .doc = "none, auto, required, or {type: function, function: {name}}."),
	FIELD(RunCreate, parallel_tool_calls, .nullable = true,
		.doc = "False: the model is asked for one call at a time."),
	FIELD(RunCreate, response_format, .shape = &text_format_shape, .nullable = true,
		.any = true, .doc = "auto, or {type: text}: answers are plain text."),
	FIELD(RunCreate, thread, .nullable = true, .of = &ThreadCreate_schema,
		.doc = "The thread to be made, where the run makes one."),
};
SCHEMA(RunCreate, .doc = "A run to be started.");

FIELDS(RunToolOutput) = {
	FIELD(RunToolOutput, tool_call_id, .required = true, BOUNDS(1, 256),
		.doc = "The call's id."),
	FIELD(RunToolOutput, output, .otherwise = "\"\"", .ceiling = CONTENT_MAX,
		.doc = "What the function gave; approve or deny for a call that waits for approval."),
};
SCHEMA(RunToolOutput, .doc = "The result of one call.");

FIELDS(RunToolOutputs) = {
	FIELD(RunToolOutputs, tool_outputs, .required = true, .item = OBJECT,
		.of = &RunToolOutput_schema, BOUNDS(1, 128), .doc = "One for each call."),
	FIELD(RunToolOutputs, stream, .nullable = true, .doc = "Answer with a stream of events."),
};
SCHEMA(RunToolOutputs, .doc = "What the caller's functions gave.");
