/* gateway.h - what the two halves of the OpenAI-style gateway share: whose tenant it is, and what a
 * name under `model` means. */
#pragma once
#include "call/call.h"

struct OpenAIModel {
	const char *id, *object;
	int64_t created;
	const char *owned_by;
};
SCHEMA_DECLARED(OpenAIModel);

struct OpenAIModelList {
	const char *object;
	struct list data;
};
SCHEMA_DECLARED(OpenAIModelList);

/* What chat completions take and give; for the document, because the bodies pass through as text. */
struct ChatCompletionCreate {
	const char *model;
	struct json messages;
	tri stream;
	struct json stream_options;
	int64_t max_completion_tokens, max_tokens;
	double temperature, top_p;
	int64_t n;
	struct json stop, tools, tool_choice;
	tri parallel_tool_calls;
	struct json response_format;
	const char *reasoning_effort;
	int64_t seed;
};
SCHEMA_DECLARED(ChatCompletionCreate);

struct ChatCompletionMessage {
	const char *role, *content, *refusal, *reasoning_content;
	struct json tool_calls;
};
SCHEMA_DECLARED(ChatCompletionMessage);

struct ChatCompletionChoice {
	int64_t index;
	const struct ChatCompletionMessage *message;
	struct json logprobs;
	const char *finish_reason;
};
SCHEMA_DECLARED(ChatCompletionChoice);

struct ChatCompletionUsage {
	int64_t prompt_tokens, completion_tokens, total_tokens;
	struct json prompt_tokens_details, completion_tokens_details;
};
SCHEMA_DECLARED(ChatCompletionUsage);

struct ChatCompletion {
	const char *id, *object;
	int64_t created;
	const char *model;
	struct list choices;
	const struct ChatCompletionUsage *usage;
};
SCHEMA_DECLARED(ChatCompletion);

/* What `model` names: an agent (by its id or agent:SLUG), or a model by its slug. */
struct gateway_named {
	const char *agent_id; /* NULL: it is a model */
	const char *model_id;
	const char *description_prompt; /* the agent's, as the next */
	const char *voice;
};

/* Have the calls that are asked for on a loop be carried there. */
void gateway_loop_begins(struct app *app, struct http_loop *loop);
void gateway_loop_ends(struct app *app, struct http_loop *loop);
/* The tenant of the request into c->caller: an API key's own; for a login the one that the header
 * OpenAI-Organization names by id or slug, or its only one.  A key that names another is refused. */
int gateway_tenant(struct call *c);
/* The same for who only looks, for which a key needs tenant:read. */
int gateway_tenant_read(struct call *c);
/* True for those who may call models without an agent: members, with a key that may write sessions. */
bool gateway_calls_models(const struct caller *who);
/* Finds what is named and checks that the caller holds the permission on it if it is an agent, or may
 * call it if it is a model; 404 `model_not_found` in one form for all
 * that is not for them. */
int gateway_find(struct call *c, const char *model, int permission, struct gateway_named *ret);
/* What a chat names, with an agent's own words before the caller's, and the models it may go to. */
struct chat;
struct candidates;
int gateway_candidates(
	struct call *c, struct chat *chat, struct gateway_named *named, struct candidates *ret);
/* All that can be called by who asks, agents first, as struct OpenAIModel; and one of them by its name. */
int gateway_list(struct call *c, struct list *ret);
int gateway_one(struct call *c, const char *model, struct OpenAIModel *ret);
/* That 404. */
int gateway_unknown(struct call *c, const char *model);
