/* responses.h - OpenAI-style responses: an answer of an agent, which is a run of a session, or of a model, which
 * is one call to it.  What the two have in common is here; response_agent.c and response_model.c are the two. */
#pragma once
#include "openai/gateway.h"
#include "openai/openai_page.h"

struct ResponseObject {
	const char *id, *object;
	int64_t created_at;
	const char *status;
	bool background;
	int64_t completed_at;
	struct json error, incomplete_details, instructions, max_output_tokens, metadata;
	const char *model;
	struct json output;
	bool parallel_tool_calls;
	const char *previous_response_id;
	struct json conversation, reasoning;
	bool store;
	struct json temperature, text, tool_choice, tools, top_p;
	const char *truncation;
	struct json usage;
	const char *user;
	struct json prompt_cache_key, safety_identifier, service_tier, top_logprobs, max_tool_calls;
};
SCHEMA_DECLARED(ResponseObject);

struct ResponseItemList {
	const char *object;
	struct json data;
	const char *first_id, *last_id;
	bool has_more;
};
SCHEMA_DECLARED(ResponseItemList);

struct ResponseCreate {
	const char *model;
	struct json input;
	const char *instructions, *previous_response_id;
	struct json tools, tool_choice;
	tri stream, store, background;
	struct json metadata;
	int64_t max_output_tokens;
	double temperature, top_p;
	tri parallel_tool_calls;
	struct json text, reasoning, conversation;
	const char *truncation, *user;
	struct json include, prompt_cache_key, prompt_cache_options, prompt_cache_retention,
		safety_identifier, service_tier, top_logprobs, max_tool_calls, context_management,
		stream_options, prompt, moderation;
};
SCHEMA_DECLARED(ResponseCreate);

/* ---- items ---- */

enum item_kind {
	ITEM_MESSAGE,
	ITEM_CALL,
	ITEM_OUTPUT,
	ITEM_APPROVAL,
	ITEM_THOUGHT,
	ITEM_OTHER, /* of a provider's own: for providers that speak responses */
};

/* One thing that was said, called or answered. */
struct response_item {
	enum item_kind kind;
	const char *field; /* where it stood, as in "input[0]" */
	const char *role;  /* ITEM_MESSAGE: user, assistant, system */
	const char
		*text; /* its words; ITEM_OUTPUT: the result; ITEM_THOUGHT: what was told of it */
	const char *sealed;  /* ITEM_THOUGHT: what its model wants back, or NULL */
	const char *extra;   /* ITEM_CALL: extra_content as JSON text, or NULL */
	const char *raw;     /* the item as it came, without its id */
	const char *content; /* JSON text of its parts, where some are no text; else NULL */
	const char *call_id; /* ITEM_CALL, ITEM_OUTPUT; ITEM_APPROVAL: what is decided */
	const char *name, *arguments;
	bool approves;
};

/* Reads the input of a request, or items that were stored.  *ret are struct response_item; *ret_json, unless
 * NULL, is the same as a list with ids made from `tag`.  Otherwise what is wrong is refused under `name`. */
int response_items_read(struct call *c, const char *name, const char *json, const char *tag,
	struct list *ret, const char **ret_json);

/* The input with each item_reference replaced by what it names, if that is the caller's to read: an item of a response, or of
 * the conversation unless that is NULL. */
struct conversation;
int response_refer(
	struct call *c, const struct conversation *v, const char *json, const char **ret);

/* ---- a response as it is stored ---- */

struct response_row {
	const char *tenant_id, *id, *created_by_id, *agent_id, *session_id, *run_id, *previous_id,
		*after_id, *status;
	int64_t created_at, completed_at;
	const char *model, *metadata, *asked, *usage, *error, *input, *output;
};
SCHEMA_DECLARED(response_row);

/* The conversation that a request names, or NULL. */
const char *response_conversation(struct arena *a, const struct ResponseCreate *in);
/* The request as a row: everything but status, items and usage. */
int response_row_new(struct call *c, const struct ResponseCreate *in, struct response_row *ret);
int response_row_add(struct db *db, const struct response_row *row);
/* Of one whose run goes on under another response: what it has so far is all it will have. */
int response_row_settle(struct db *db, const struct response_row *row);
/* ERR_NOT_FOUND if there is none. */
int response_row_read(struct db *db, struct arena *a, const char *tenant_id, const char *id,
	struct response_row *ret);
/* The response of the caller's with this id: 404 in one form for all that is not for them. */
int response_find(struct call *c, const char *id, int permission, struct response_row *ret);
/* The id of the newest response in the session. */
int response_newest(struct call *c, const char *session_id, const char **ret_id);
void response_show(struct arena *a, const struct response_row *row, struct ResponseObject *out);

/* ---- what a model has said so far, as items and as events ---- */

enum { RESPONSE_CALLS_MAX = 128 };

enum response_writing { WRITING_NOTHING, WRITING_TEXT, WRITING_REFUSAL, WRITING_THOUGHT };

/* Items have their place from their beginning; ids name the response, so that one can be found by them. */
struct response_out {
	struct buf *events; /* NULL: nobody listens */
	const char *tag;    /* the response's id */
	char **items;	    /* by place, JSON text; NULL: not whole yet */
	size_t count, room;
	enum response_writing writing; /* of the message or thought under way */
	struct buf text;
	char item_id[96];
	size_t index;
	size_t calls[RESPONSE_CALLS_MAX]; /* the places of calls under way, by their number */
	int64_t sequence;
};

void response_out_open(struct response_out *o, struct buf *events, const char *tag);
void response_out_close(struct response_out *o);
/* response.created and .in_progress; `whole` is the response as it is. */
void response_out_begin(struct response_out *o, const struct ResponseObject *whole);
void response_out_text(struct response_out *o, const char *text, bool refusal);
/* Ends the message being written; `text` is all of it, or NULL if what came is all; `content`, if it is not NULL, its
 * parts as JSON text. */
void response_out_text_end(
	struct response_out *o, const char *text, const char *content, bool complete);
void response_out_thought(struct response_out *o, const char *text);
/* Ends the thought being written, or tells one that is not shown, with what the model wants back or NULL. */
void response_out_thought_end(struct response_out *o, const char *sealed);
/* A call by its number: its beginning, more of its arguments, and all of it. */
struct response_call {
	const char *call_id, *name, *arguments;
	const char *extra; /* extra_content as JSON text, or NULL */
	const char *namespace;
};
void response_out_call_begin(struct response_out *o, int number, const struct response_call *call);
void response_out_arguments(struct response_out *o, int number, const char *more);
void response_out_call_end(struct response_out *o, int number, const struct response_call *call);
void response_out_approval(
	struct response_out *o, const char *id, const char *name, const char *arguments);
/* An item of the provider's own, whole, as JSON text of an object. */
void response_out_item(struct response_out *o, struct arena *a, const char *item);
/* The items so far, as a JSON list. */
const char *response_out_items(struct response_out *o, struct arena *a);
/* response.completed, .incomplete or .failed, by its status. */
void response_out_end(struct response_out *o, const struct ResponseObject *whole);

const char *response_usage(
	struct arena *a, int64_t input, int64_t cached, int64_t output, int64_t reasoning);

/* ---- the two kinds ---- */

struct chat;

/* encrypted_content for what a model of this kind wants back of a thought. */
const char *response_seal(struct arena *a, const char *maker, const char *sealed, bool redacted);
/* The other way round: who sealed it, and the kind of provider that it is for. */
const char *response_unseal(const char *encrypted, const char **ret_maker, bool *ret_redacted);
/* What a model is asked: the request and the responses before it, in `chat`; its input goes into the row.  RESPONSE_ASIDE: there is
 * so much that the call steps aside first (call_step_aside). */
enum { RESPONSE_ASIDE = 1 };
int response_chat(struct call *c, const struct ResponseCreate *in, struct response_row *row,
	struct chat *chat);
/* The members that a chat completion has too and that go to providers as they are, as a JSON object; those with a
 * price of their own are left out. */
const char *response_forwarded(struct call *c, const struct ResponseCreate *in);
/* From `look`: plans the call and has the answer follow. */
int response_model_start(
	struct call *c, const struct ResponseCreate *in, const struct gateway_named *named);
/* From `apply`: sets the agent to work and has the answer follow. */
int response_agent_start(struct call *c, const struct ResponseCreate *in,
	const struct gateway_named *named, struct ResponseObject *out);
/* Fills in what the run has come to. */
int response_agent_fill(struct db *db, struct arena *a, struct response_row *row);
/* The caller's functions among the calls of a message.  Which they are was written down with the answer: an
 * agent's own tool may have the same name. */
struct response_begun {
	char ids[RESPONSE_CALLS_MAX][201];
	size_t count;
};
/* The number of the call that has this id, or -1; the next number, or -1 if it cannot have one. */
int response_begun_find(const struct response_begun *b, const char *call_id);
int response_begun_add(struct response_begun *b, const char *call_id);
/* `begun`: those of them that were told as they came; none are after it. */
void response_run_calls(
	struct response_out *o, struct arena *a, const char *calls, struct response_begun *begun);
/* What was thought, as messages keep it. */
void response_run_thoughts(struct response_out *o, struct arena *a, const char *thoughts);
/* struct waiting_call (run_view.h). */
void response_run_approvals(struct response_out *o, const struct list *waiting);
/* The run's state as the response's; `words` are struct run_word. */
struct RunObject;
void response_run_conclude(struct arena *a, const struct RunObject *run, const struct list *words,
	struct response_row *row);

/* ---- what an agent is told ---- */

/* Is there a result or a decision among them? */
bool response_answers_calls(const struct list *items);
/* All but the calls, which a session that waits for their results has. */
struct list response_without_calls(struct arena *a, const struct list *items);
/* Refused if a result is of no call that stands before it, or the last of them a decision that nobody waits for. */
int response_answers_known(struct call *c, const struct list *items);
/* The run of the agent that the caller began and that waits for just these results or decisions, found by the ids of
 * the calls: *ret_run, row->session_id, and in *said the items that it has not heard.  NULL: none waits. */
int response_waiting(struct call *c, struct response_row *row, const struct list *items,
	const char **ret_run, struct list *said);
/* What the response has that the run was last shown in, before it goes on under another. */
int response_settle_last(struct call *c, const char *session_id, const char *run_id);
/* Where the agent answers in a conversation: row->session_id, NULL if it has none yet; *ret_run if a run waits there
 * for what is brought; *said is what it has not heard, with what others said there meanwhile. */
int response_join(struct call *c, struct response_row *row, struct conversation *v,
	const struct list *items, const char **ret_run, struct list *said);
/* The messages of users that are new: clients that keep a conversation themselves send all of it each time, and what
 * stands before an answer was counted with it. */
int64_t response_words_brought(const struct list *items);
/* Words, results and decisions into the session; what is said as the system joins the instructions. */
int response_hear(struct call *c, const struct response_row *row, const struct list *items,
	const char **instructions);

extern const struct statement_set response_sql, response_history_sql;
