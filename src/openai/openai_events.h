/* openai_events.h - what the streams of OpenAI's protocol tell: a struct and a table each, and the one table of all
 * their events with the streams that carry them.
 *
 * A writer hands OPENAI_EVENT() the struct.  Only the pieces of a chat completion are written elsewhere
 * (broker/openai_out.c), because text passes through there as it came; a test holds its bytes against these
 * tables. */
#pragma once
#include "contract/event.h"
#include "contract/openai_fault.h"
#include "openai/gateway.h"
#include "openai/responses.h"
#include "openai/threads.h"

/* ---- of a run ---- */

struct ThreadText {
	const char *value;
	struct json annotations;
};
SCHEMA_DECLARED(ThreadText);

struct ThreadTextDelta {
	int64_t index;
	const char *type;
	const struct ThreadText *text;
};
SCHEMA_DECLARED(ThreadTextDelta);

struct ThreadContentDelta {
	struct list content;
};
SCHEMA_DECLARED(ThreadContentDelta);

struct ThreadMessageDelta {
	const char *id, *object;
	const struct ThreadContentDelta *delta;
};
SCHEMA_DECLARED(ThreadMessageDelta);

struct RunCallsDelta {
	const char *type;
	struct json tool_calls;
};
SCHEMA_DECLARED(RunCallsDelta);

struct RunDetailsDelta {
	const struct RunCallsDelta *step_details;
};
SCHEMA_DECLARED(RunDetailsDelta);

struct RunStepDelta {
	const char *id, *object;
	const struct RunDetailsDelta *delta;
};
SCHEMA_DECLARED(RunStepDelta);

/* ---- of a response ---- */

/* The items of its output. */
struct ResponseText {
	const char *type;
	struct json annotations, logprobs;
	const char *text;
};
SCHEMA_DECLARED(ResponseText);

struct ResponseMessage {
	const char *id, *type, *status, *role;
	struct json content;
};
SCHEMA_DECLARED(ResponseMessage);

struct ResponseFunctionCall {
	const char *id, *type, *status, *call_id, *name, *arguments;
	struct json extra_content;
	const char *namespace;
};
SCHEMA_DECLARED(ResponseFunctionCall);

struct ResponseRefusal {
	const char *type, *refusal;
};
SCHEMA_DECLARED(ResponseRefusal);

struct ResponseSummaryText {
	const char *type, *text;
};
SCHEMA_DECLARED(ResponseSummaryText);

struct ResponseReasoning {
	const char *id, *type;
	struct list summary;
	const char *encrypted_content;
};
SCHEMA_DECLARED(ResponseReasoning);

struct ResponseApprovalRequest {
	const char *id, *type, *server_label, *name, *arguments;
};
SCHEMA_DECLARED(ResponseApprovalRequest);

#define RESPONSE_EVENT_MEMBERS \
	const char *type;      \
	int64_t sequence_number
#define RESPONSE_ITEM_MEMBERS   \
	RESPONSE_EVENT_MEMBERS; \
	const char *item_id;    \
	int64_t output_index

struct ResponseEvent {
	RESPONSE_EVENT_MEMBERS;
	const struct ResponseObject *response;
};
SCHEMA_DECLARED(ResponseEvent);

struct ResponseItemEvent {
	RESPONSE_EVENT_MEMBERS;
	int64_t output_index;
	struct json item;
};
SCHEMA_DECLARED(ResponseItemEvent);

struct ResponsePartEvent {
	RESPONSE_ITEM_MEMBERS;
	int64_t content_index;
	struct json part;
};
SCHEMA_DECLARED(ResponsePartEvent);

struct ResponseTextDelta {
	RESPONSE_ITEM_MEMBERS;
	int64_t content_index;
	struct json logprobs;
	const char *delta;
};
SCHEMA_DECLARED(ResponseTextDelta);

struct ResponseTextDone {
	RESPONSE_ITEM_MEMBERS;
	int64_t content_index;
	struct json logprobs;
	const char *text;
};
SCHEMA_DECLARED(ResponseTextDone);

struct ResponseArgumentsDelta {
	RESPONSE_ITEM_MEMBERS;
	const char *delta;
};
SCHEMA_DECLARED(ResponseArgumentsDelta);

struct ResponseArgumentsDone {
	RESPONSE_ITEM_MEMBERS;
	const char *name, *arguments;
};
SCHEMA_DECLARED(ResponseArgumentsDone);

struct ResponseRefusalDelta {
	RESPONSE_ITEM_MEMBERS;
	int64_t content_index;
	const char *delta;
};
SCHEMA_DECLARED(ResponseRefusalDelta);

struct ResponseRefusalDone {
	RESPONSE_ITEM_MEMBERS;
	int64_t content_index;
	const char *refusal;
};
SCHEMA_DECLARED(ResponseRefusalDone);

struct ResponseSummaryPartEvent {
	RESPONSE_ITEM_MEMBERS;
	int64_t summary_index;
	const struct ResponseSummaryText *part;
};
SCHEMA_DECLARED(ResponseSummaryPartEvent);

struct ResponseSummaryDelta {
	RESPONSE_ITEM_MEMBERS;
	int64_t summary_index;
	const char *delta;
};
SCHEMA_DECLARED(ResponseSummaryDelta);

struct ResponseSummaryDone {
	RESPONSE_ITEM_MEMBERS;
	int64_t summary_index;
	const char *text;
};
SCHEMA_DECLARED(ResponseSummaryDone);

/* ---- of a chat completion ---- */

struct ChatCompletionFunctionDelta {
	const char *name, *arguments;
};
SCHEMA_DECLARED(ChatCompletionFunctionDelta);

struct ChatCompletionCallDelta {
	int64_t index;
	const char *id, *type;
	const struct ChatCompletionFunctionDelta *function;
	struct json extra_content;
};
SCHEMA_DECLARED(ChatCompletionCallDelta);

struct ChatCompletionDelta {
	const char *role, *content, *refusal, *reasoning_content;
	struct list tool_calls;
};
SCHEMA_DECLARED(ChatCompletionDelta);

struct ChatCompletionPiece {
	int64_t index;
	const struct ChatCompletionDelta *delta;
	struct json logprobs;
	const char *finish_reason;
};
SCHEMA_DECLARED(ChatCompletionPiece);

struct ChatCompletionChunk {
	const char *id, *object;
	int64_t created;
	const char *model;
	struct list choices;
	const struct ChatCompletionUsage *usage;
};
SCHEMA_DECLARED(ChatCompletionChunk);

/* ---- speech and transcriptions: they pass through as they came, and these tables are for the document ---- */

struct SpeechEvent {
	const char *type, *audio;
	struct json usage;
};
SCHEMA_DECLARED(SpeechEvent);

struct TranscriptEvent {
	const char *type, *delta, *text;
	struct json usage;
};
SCHEMA_DECLARED(TranscriptEvent);

/* ---- all of them ---- */

/* constant, name, schema of its data, what it tells */
#define RUN_EVENTS(X)                                                                           \
	X(THREAD_CREATED, "thread.created", ThreadObject, "The run made its thread.")           \
	X(RUN_CREATED, "thread.run.created", RunObject, "The run was made.")                    \
	X(RUN_QUEUED, "thread.run.queued", RunObject, "It waits for its turn.")                 \
	X(RUN_IN_PROGRESS, "thread.run.in_progress", RunObject, "The agent is at work.")        \
	X(RUN_REQUIRES_ACTION, "thread.run.requires_action", RunObject,                         \
		"It waits for the caller's functions, or for approval.")                        \
	X(RUN_COMPLETED, "thread.run.completed", RunObject, "The agent is done.")               \
	X(RUN_INCOMPLETE, "thread.run.incomplete", RunObject, "An answer reached its bound.")   \
	X(RUN_FAILED, "thread.run.failed", RunObject, "It failed; last_error says why.")        \
	X(RUN_CANCELLED, "thread.run.cancelled", RunObject, "Somebody ended it.")               \
	X(STEP_CREATED, "thread.run.step.created", RunStepObject, "A step begins.")             \
	X(STEP_IN_PROGRESS, "thread.run.step.in_progress", RunStepObject, "It is under way.")   \
	X(STEP_DELTA, "thread.run.step.delta", RunStepDelta, "The calls of a step.")            \
	X(STEP_COMPLETED, "thread.run.step.completed", RunStepObject, "It is done.")            \
	X(STEP_FAILED, "thread.run.step.failed", RunStepObject, "It failed with its run.")      \
	X(STEP_CANCELLED, "thread.run.step.cancelled", RunStepObject, "It ended with its run.") \
	X(THREAD_MESSAGE_CREATED, "thread.message.created", ThreadMessageObject,                \
		"A message begins.")                                                            \
	X(THREAD_MESSAGE_IN_PROGRESS, "thread.message.in_progress", ThreadMessageObject,        \
		"It is being written.")                                                         \
	X(THREAD_MESSAGE_DELTA, "thread.message.delta", ThreadMessageDelta,                     \
		"More of the message that is being written.")                                   \
	X(THREAD_MESSAGE_COMPLETED, "thread.message.completed", ThreadMessageObject,            \
		"The message, whole.")                                                          \
	X(THREAD_MESSAGE_INCOMPLETE, "thread.message.incomplete", ThreadMessageObject,          \
		"It was broken off; what is written in its place is another message.")

#define RESPONSE_EVENTS(X)                                                                       \
	X(RESPONSE_CREATED, "response.created", ResponseEvent, "The response was made.")         \
	X(RESPONSE_IN_PROGRESS, "response.in_progress", ResponseEvent, "It is being written.")   \
	X(RESPONSE_COMPLETED, "response.completed", ResponseEvent, "The response, whole.")       \
	X(RESPONSE_INCOMPLETE, "response.incomplete", ResponseEvent, "It reached a bound.")      \
	X(RESPONSE_FAILED, "response.failed", ResponseEvent, "It failed, or was cancelled.")     \
	X(ITEM_ADDED, "response.output_item.added", ResponseItemEvent, "An item begins.")        \
	X(ITEM_DONE, "response.output_item.done", ResponseItemEvent, "The item, whole.")         \
	X(PART_ADDED, "response.content_part.added", ResponsePartEvent,                          \
		"A part of a message begins.")                                                   \
	X(PART_DONE, "response.content_part.done", ResponsePartEvent, "The part, whole.")        \
	X(TEXT_DELTA, "response.output_text.delta", ResponseTextDelta,                           \
		"More of the text that is being written.")                                       \
	X(TEXT_DONE, "response.output_text.done", ResponseTextDone, "The text, whole.")          \
	X(REFUSAL_DELTA, "response.refusal.delta", ResponseRefusalDelta,                         \
		"More of why the model does not answer.")                                        \
	X(REFUSAL_DONE, "response.refusal.done", ResponseRefusalDone, "The refusal, whole.")     \
	X(SUMMARY_PART_ADDED, "response.reasoning_summary_part.added", ResponseSummaryPartEvent, \
		"What the model thinks begins to be told.")                                      \
	X(SUMMARY_PART_DONE, "response.reasoning_summary_part.done", ResponseSummaryPartEvent,   \
		"The thought, whole.")                                                           \
	X(SUMMARY_DELTA, "response.reasoning_summary_text.delta", ResponseSummaryDelta,          \
		"More of what the model thinks.")                                                \
	X(SUMMARY_DONE, "response.reasoning_summary_text.done", ResponseSummaryDone,             \
		"The text of the thought, whole.")                                               \
	X(ARGUMENTS_DELTA, "response.function_call_arguments.delta", ResponseArgumentsDelta,     \
		"More of the arguments of a call.")                                              \
	X(ARGUMENTS_DONE, "response.function_call_arguments.done", ResponseArgumentsDone,        \
		"The arguments, whole.")

enum openai_event {
#define X(name, word, type, doc) OPENAI_EVENT_##name,
	RUN_EVENTS(X) RESPONSE_EVENTS(X)
#undef X
		OPENAI_EVENT_ERROR,
	OPENAI_EVENT_DONE,
	OPENAI_EVENT_CHUNK,
	OPENAI_EVENT_CHUNK_ERROR,
	OPENAI_EVENT_CHUNK_DONE,
	OPENAI_EVENT_SPEECH,
	OPENAI_EVENT_TRANSCRIPT,
	OPENAI_EVENT_BROKEN_OFF,
	OPENAI_EVENT_COUNT
};

extern const struct stream_event openai_events[OPENAI_EVENT_COUNT];
extern const struct event_stream run_event_stream, response_event_stream, chat_event_stream,
	speech_event_stream, transcript_event_stream;

/* Writes the event; `object` is a struct of the type, which must be the event's. */
#define OPENAI_EVENT(out, event, type, object) \
	openai_event_write(out, event, &type##_schema, (const struct type *){ object })
void openai_event_write(
	struct buf *out, enum openai_event event, const struct schema *s, const void *object);
/* That something went wrong, after the stream has begun. */
void openai_event_problem(struct buf *out, const struct problem *p);
