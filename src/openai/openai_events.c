/* openai_events.c - see openai_events.h. */
#include "openai/openai_events.h"
#include "openai/openai_shapes.h"

#include "base/check.h"

/* No answer of a model is longer. */
enum { SAID_MAX = 32 << 20, ITEM_MAX = 64 << 20 };

/* ---- of a run ---- */

FIELDS(ThreadTextDelta) = {
	FIELD(ThreadTextDelta, index, .required = true, .example = "0", .doc = "Always 0."),
	FIELD(ThreadTextDelta, type, .required = true, .constant = "text", .doc = "Always text."),
	FIELD(ThreadTextDelta, text, .required = true, .of = &ThreadText_schema,
		.doc = "What is added."),
};
SCHEMA(ThreadTextDelta, .doc = "More of a part of a message.");

FIELDS(ThreadContentDelta) = {
	FIELD(ThreadContentDelta, content, .required = true, .item = OBJECT,
		.of = &ThreadTextDelta_schema, .doc = "One."),
};
SCHEMA(ThreadContentDelta, .doc = "What is added to a message.");

FIELDS(ThreadMessageDelta) = {
	FIELD(ThreadMessageDelta, id, .required = true, .doc = "The message."),
	FIELD(ThreadMessageDelta, object, .required = true, .constant = "thread.message.delta",
		.doc = "Always thread.message.delta."),
	FIELD(ThreadMessageDelta, delta, .required = true, .of = &ThreadContentDelta_schema,
		.doc = "What is added."),
};
SCHEMA(ThreadMessageDelta, .doc = "More of a message that is being written.");

FIELDS(RunCallsDelta) = {
	FIELD(RunCallsDelta, type, .required = true, .constant = "tool_calls",
		.doc = "Always tool_calls."),
	FIELD(RunCallsDelta, tool_calls, .of = &RunStepCallDelta_schema, .required = true,
		.array = true, .ceiling = ITEM_MAX,
		.example =
			"[{\"id\":\"call_1\",\"type\":\"function\",\"function\":{\"name\":\"add\","
			"\"arguments\":\"{}\",\"output\":null},\"index\":0}]",
		.doc = "The calls, as the step shows them, with their index."),
};
SCHEMA(RunCallsDelta, .doc = "Calls of a step.");

FIELDS(RunDetailsDelta) = {
	FIELD(RunDetailsDelta, step_details, .required = true, .of = &RunCallsDelta_schema,
		.doc = "The calls."),
};
SCHEMA(RunDetailsDelta, .doc = "What is added to a step.");

FIELDS(RunStepDelta) = {
	FIELD(RunStepDelta, id, .required = true, .doc = "The step."),
	FIELD(RunStepDelta, object, .required = true, .constant = "thread.run.step.delta",
		.doc = "Always thread.run.step.delta."),
	FIELD(RunStepDelta, delta, .required = true, .of = &RunDetailsDelta_schema,
		.doc = "What is added."),
};
SCHEMA(RunStepDelta, .doc = "More of a step that is under way.");

#define SAID(S, member, words) \
	FIELD(S, member, .required = true, .ceiling = SAID_MAX, .example = "\"\"", .doc = (words))
#define NO_LOGPROBS(S)                                                               \
	FIELD(S, logprobs, .shape = &nothing_shape, .required = true, .array = true, \
		.example = "[]", .doc = "Always empty.")

/* ---- the events of a response ---- */

#define OF_A_RESPONSE(S)                                                             \
	FIELD(S, type, .required = true, .event = true, .doc = "The event's name."), \
		FIELD(S, sequence_number, .required = true, .doc = "From 0, without a gap.")
#define ITEM_INDEX(S) FIELD(S, output_index, .required = true, .doc = "The item's place in output.")
#define OF_AN_ITEM(S) \
	OF_A_RESPONSE(S), FIELD(S, item_id, .required = true, .doc = "The item."), ITEM_INDEX(S)
#define OF_A_PART(S) \
	OF_AN_ITEM(S), FIELD(S, content_index, .required = true, .example = "0", .doc = "Always 0.")

FIELDS(ResponseEvent) = {
	OF_A_RESPONSE(ResponseEvent),
	FIELD(ResponseEvent, response, .required = true, .of = &ResponseObject_schema,
		.doc = "The response as it now stands."),
};
SCHEMA(ResponseEvent, .doc = "A response as it now stands.");

FIELDS(ResponseItemEvent) = {
	OF_A_RESPONSE(ResponseItemEvent),
	ITEM_INDEX(ResponseItemEvent),
	FIELD(ResponseItemEvent, item, .shape = &response_item_shape, .required = true,
		.ceiling = ITEM_MAX,
		.doc = "The item: by its type a ResponseMessage, a ResponseReasoning, a "
		       "ResponseFunctionCall, a ResponseApprovalRequest, or one of the provider's own."),
};
SCHEMA(ResponseItemEvent, .doc = "An item of a response as it now stands.");

FIELDS(ResponsePartEvent) = {
	OF_A_PART(ResponsePartEvent),
	FIELD(ResponsePartEvent, part, .shape = &response_part_shape, .required = true,
		.ceiling = ITEM_MAX, .example = "{}",
		.doc = "The part as it now stands: a ResponseText or a ResponseRefusal."),
};
SCHEMA(ResponsePartEvent, .doc = "The part of a message as it now stands.");

FIELDS(ResponseTextDelta) = {
	OF_A_PART(ResponseTextDelta),
	NO_LOGPROBS(ResponseTextDelta),
	SAID(ResponseTextDelta, delta, "What is added."),
};
SCHEMA(ResponseTextDelta, .doc = "More of a text.");

FIELDS(ResponseTextDone) = {
	OF_A_PART(ResponseTextDone),
	NO_LOGPROBS(ResponseTextDone),
	SAID(ResponseTextDone, text, "All of it."),
};
SCHEMA(ResponseTextDone, .doc = "A text, whole.");

FIELDS(ResponseRefusalDelta) = {
	OF_A_PART(ResponseRefusalDelta),
	SAID(ResponseRefusalDelta, delta, "What is added."),
};
SCHEMA(ResponseRefusalDelta, .doc = "More of a refusal.");

FIELDS(ResponseRefusalDone) = {
	OF_A_PART(ResponseRefusalDone),
	SAID(ResponseRefusalDone, refusal, "All of it."),
};
SCHEMA(ResponseRefusalDone, .doc = "A refusal, whole.");

#define OF_A_SUMMARY(S) \
	OF_AN_ITEM(S), FIELD(S, summary_index, .required = true, .example = "0", .doc = "Always 0.")

FIELDS(ResponseSummaryPartEvent) = {
	OF_A_SUMMARY(ResponseSummaryPartEvent),
	FIELD(ResponseSummaryPartEvent, part, .required = true, .of = &ResponseSummaryText_schema,
		.doc = "The part as it now stands."),
};
SCHEMA(ResponseSummaryPartEvent, .doc = "The part of a thought as it now stands.");

FIELDS(ResponseSummaryDelta) = {
	OF_A_SUMMARY(ResponseSummaryDelta),
	SAID(ResponseSummaryDelta, delta, "What is added."),
};
SCHEMA(ResponseSummaryDelta, .doc = "More of a thought.");

FIELDS(ResponseSummaryDone) = {
	OF_A_SUMMARY(ResponseSummaryDone),
	SAID(ResponseSummaryDone, text, "All of it."),
};
SCHEMA(ResponseSummaryDone, .doc = "A thought, whole.");

FIELDS(ResponseArgumentsDelta) = {
	OF_AN_ITEM(ResponseArgumentsDelta),
	SAID(ResponseArgumentsDelta, delta, "What is added."),
};
SCHEMA(ResponseArgumentsDelta, .doc = "More of the arguments of a call.");

FIELDS(ResponseArgumentsDone) = {
	OF_AN_ITEM(ResponseArgumentsDone),
	FIELD(ResponseArgumentsDone, name, .required = true, .example = "\"add\"",
		.doc = "The caller's function."),
	SAID(ResponseArgumentsDone, arguments, "All of them, as JSON text."),
};
SCHEMA(ResponseArgumentsDone, .doc = "The arguments of a call, whole.");

/* ---- of a chat completion ---- */

#define LEFT_OUT .left_out = true, .nullable = true

FIELDS(ChatCompletionFunctionDelta) = {
	FIELD(ChatCompletionFunctionDelta, name, LEFT_OUT, .example = "\"add\"",
		.doc = "The function; only with the first piece of a call."),
	SAID(ChatCompletionFunctionDelta, arguments, "What is added to its arguments."),
};
SCHEMA(ChatCompletionFunctionDelta, .doc = "More of what a call passes to its function.");

FIELDS(ChatCompletionCallDelta) = {
	FIELD(ChatCompletionCallDelta, index, .required = true, .example = "0",
		.doc = "Which call."),
	FIELD(ChatCompletionCallDelta, id, LEFT_OUT, .example = "\"call_1\"",
		.doc = "Its id; only with its first piece."),
	FIELD(ChatCompletionCallDelta, type, LEFT_OUT, .example = "\"function\"",
		.doc = "function; only with its first piece."),
	FIELD(ChatCompletionCallDelta, function, .required = true,
		.of = &ChatCompletionFunctionDelta_schema, .doc = "What is added."),
	FIELD(ChatCompletionCallDelta, extra_content, .open = true, LEFT_OUT, .ceiling = ITEM_MAX,
		.example = "null",
		.doc = "What its provider gave along and wants back with the call."),
};
SCHEMA(ChatCompletionCallDelta, .doc = "More of a call.");

FIELDS(ChatCompletionDelta) = {
	FIELD(ChatCompletionDelta, role, LEFT_OUT, .example = "\"assistant\"",
		.doc = "assistant; only in the first piece."),
	FIELD(ChatCompletionDelta, content, LEFT_OUT, .ceiling = SAID_MAX, .example = "\" way\"",
		.doc = "What is added to what it says."),
	FIELD(ChatCompletionDelta, refusal, LEFT_OUT, .ceiling = SAID_MAX, .example = "null",
		.doc = "What is added to why it does not answer."),
	FIELD(ChatCompletionDelta, reasoning_content, LEFT_OUT, .ceiling = SAID_MAX,
		.example = "null", .doc = "What is added to what it thought, where it tells."),
	FIELD(ChatCompletionDelta, tool_calls, LEFT_OUT, .item = OBJECT,
		.of = &ChatCompletionCallDelta_schema, .doc = "One, where it calls functions."),
};
SCHEMA(ChatCompletionDelta, .doc = "More of an answer.");

FIELDS(ChatCompletionPiece) = {
	FIELD(ChatCompletionPiece, index, .required = true, .example = "0", .doc = "Always 0."),
	FIELD(ChatCompletionPiece, delta, .required = true, .of = &ChatCompletionDelta_schema,
		.doc = "What is added."),
	FIELD(ChatCompletionPiece, logprobs, .open = true, .required = true, .nullable = true,
		.example = "null", .doc = "As the provider gives them, where they were asked for."),
	FIELD(ChatCompletionPiece, finish_reason, .required = true, .nullable = true,
		.example = "null",
		.doc = "At the end: stop, length, tool_calls or content_filter."),
};
SCHEMA(ChatCompletionPiece, .doc = "A piece of the answer.");

FIELDS(ChatCompletionChunk) = {
	FIELD(ChatCompletionChunk, id, .required = true,
		.example = "\"chatcmpl-c0ho6fbjz4rk8ltejr9ixk2uu\"", .doc = "Of this call."),
	FIELD(ChatCompletionChunk, object, .required = true, .constant = "chat.completion.chunk",
		.doc = "Always chat.completion.chunk."),
	FIELD(ChatCompletionChunk, created, .required = true, .example = "1794729436",
		.doc = "In seconds since 1970."),
	FIELD(ChatCompletionChunk, model, .required = true, .example = "\"agent:assistant\"",
		.doc = "What was asked: an agent or a model."),
	FIELD(ChatCompletionChunk, choices, .required = true, .item = OBJECT,
		.of = &ChatCompletionPiece_schema, .doc = "One; none beside the usage."),
	FIELD(ChatCompletionChunk, usage, LEFT_OUT, .of = &ChatCompletionUsage_schema,
		.example = "null",
		.doc = "With include_usage: what was used, in a last chunk; null in those before."),
};
SCHEMA(ChatCompletionChunk, .doc = "A piece of the answer of an agent or a model.");

/* ---- speech and transcriptions ---- */

FIELDS(SpeechEvent) = {
	FIELD(SpeechEvent, type, .required = true, .example = "\"speech.audio.delta\"",
		.doc = "speech.audio.delta, and at the end speech.audio.done."),
	FIELD(SpeechEvent, audio, .example = "\"SUQz\"", .doc = "More of the sound, in base64."),
	FIELD(SpeechEvent, usage, .open = true, .example = "null", .nullable = true,
		.doc = "At the end: {input_tokens, output_tokens, total_tokens}."),
};
SCHEMA(SpeechEvent, .doc = "A piece of a text that is spoken.");

FIELDS(TranscriptEvent) = {
	FIELD(TranscriptEvent, type, .required = true, .example = "\"transcript.text.delta\"",
		.doc = "transcript.text.delta or transcript.text.segment, and at the end "
		       "transcript.text.done."),
	FIELD(TranscriptEvent, delta, .example = "\"Good morning\"", .doc = "More of the text."),
	FIELD(TranscriptEvent, text, .example = "\"Good morning.\"",
		.doc = "At the end: all of it."),
	FIELD(TranscriptEvent, usage, .open = true, .example = "null", .nullable = true,
		.doc = "At the end: {type, seconds}, or {type, input_tokens, output_tokens, "
		       "total_tokens}."),
};
SCHEMA(TranscriptEvent, .doc = "A piece of what was heard.");

/* ---- all of them ---- */

enum { OF_RUN = 1, OF_RESPONSE = 2, OF_CHAT = 4, OF_SPEECH = 8, OF_TRANSCRIPT = 16 };

#define DONE "[DONE]"

const struct stream_event openai_events[OPENAI_EVENT_COUNT] = {
#define X(name, word, type, text) \
	[OPENAI_EVENT_##name] = { word, &type##_schema, .streams = OF_RUN, .doc = text },
	RUN_EVENTS(X)
#undef X
#define X(name, word, type, text) \
	[OPENAI_EVENT_##name] = { word, &type##_schema, .streams = OF_RESPONSE, .doc = text },
		RESPONSE_EVENTS(X)
#undef X
			[OPENAI_EVENT_ERROR] = { "error", &OpenAIProblem_schema,
				.streams = OF_RUN | OF_RESPONSE,
				.doc = "The stream cannot go on; nothing follows." },
	[OPENAI_EVENT_DONE] = { "done", .literal = DONE, .streams = OF_RUN,
		.doc = "The run rests; nothing follows." },
	[OPENAI_EVENT_CHUNK] = { EVENT_UNNAMED, &ChatCompletionChunk_schema, .streams = OF_CHAT,
		.unnamed = true, .doc = "More of the answer." },
	[OPENAI_EVENT_CHUNK_ERROR] = { EVENT_UNNAMED, &OpenAIProblem_schema, .streams = OF_CHAT,
		.unnamed = true, .doc = "The answer broke off; nothing follows." },
	[OPENAI_EVENT_CHUNK_DONE] = { EVENT_UNNAMED, .literal = DONE, .streams = OF_CHAT,
		.unnamed = true, .doc = "The answer is whole; nothing follows." },
	[OPENAI_EVENT_SPEECH] = { EVENT_UNNAMED, &SpeechEvent_schema, .streams = OF_SPEECH,
		.unnamed = true, .doc = "More of the sound, or its end." },
	[OPENAI_EVENT_TRANSCRIPT] = { EVENT_UNNAMED, &TranscriptEvent_schema,
		.streams = OF_TRANSCRIPT, .unnamed = true, .doc = "More of the text, or its end." },
	[OPENAI_EVENT_BROKEN_OFF] = { EVENT_UNNAMED, &OpenAIProblem_schema,
		.streams = OF_SPEECH | OF_TRANSCRIPT, .unnamed = true,
		.doc = "It broke off; nothing follows." },
};

#define STREAM_OF(of, ...)                                                                    \
	{                                                                                     \
		.table = openai_events, .count = OPENAI_EVENT_COUNT, .bit = (of), __VA_ARGS__ \
	}
const struct event_stream run_event_stream = STREAM_OF(OF_RUN, .title = "RunStreamEvent"),
			  response_event_stream = STREAM_OF(
				  OF_RESPONSE, .title = "ResponseStreamEvent", .by = "type"),
			  chat_event_stream =
				  STREAM_OF(OF_CHAT, .title = "ChatCompletionStreamEvent"),
			  speech_event_stream = STREAM_OF(OF_SPEECH, .title = "SpeechStreamEvent"),
			  transcript_event_stream =
				  STREAM_OF(OF_TRANSCRIPT, .title = "TranscriptStreamEvent");

void openai_event_write(
	struct buf *out, enum openai_event event, const struct schema *s, const void *object)
{
	INVARIANT(openai_events[event].data == s);
	stream_event_write(out, &openai_events[event], object);
}

void openai_event_problem(struct buf *out, const struct problem *p)
{
	stream_event_begin(out, &openai_events[OPENAI_EVENT_ERROR]);
	openai_problem(out, p);
	stream_event_end(out);
}
