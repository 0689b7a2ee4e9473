/* threads.h - sessions in the shape of OpenAI's threads: messages, runs, and the steps of a run.
 *
 * A thread begins as a row of its own, with no agent.  Its first run makes it
 * a session of the same id with that run's agent, and from then on it is that
 * session.  So every session is a thread, and not every thread a session. */
#pragma once
#include "openai/openai_page.h"

/* ---- what is shown ---- */

struct ThreadObject {
	const char *id, *object;
	int64_t created_at;
	struct json metadata, tool_resources;
};
SCHEMA_DECLARED(ThreadObject);

struct ThreadMessageObject {
	const char *id, *object;
	int64_t created_at;
	const char *thread_id, *status;
	struct json incomplete_details;
	int64_t completed_at, incomplete_at;
	const char *role;
	struct json content;
	const char *assistant_id, *run_id;
	struct json attachments, metadata;
};
SCHEMA_DECLARED(ThreadMessageObject);

struct ThreadMessageList {
	const char *object;
	struct list data;
	const char *first_id, *last_id;
	bool has_more;
};
SCHEMA_DECLARED(ThreadMessageList);

struct RunObject {
	const char *id, *object;
	int64_t created_at;
	const char *thread_id, *assistant_id, *status;
	struct json required_action, last_error;
	int64_t expires_at, started_at, cancelled_at, failed_at, completed_at;
	struct json incomplete_details;
	const char *model, *instructions;
	struct json tools, metadata, usage, temperature, top_p, max_prompt_tokens,
		max_completion_tokens, truncation_strategy, tool_choice;
	bool parallel_tool_calls;
	struct json response_format;
};
SCHEMA_DECLARED(RunObject);

struct RunList {
	const char *object;
	struct list data;
	const char *first_id, *last_id;
	bool has_more;
};
SCHEMA_DECLARED(RunList);

struct RunStepObject {
	const char *id, *object;
	int64_t created_at;
	const char *run_id, *assistant_id, *thread_id, *type, *status;
	int64_t cancelled_at, completed_at, expired_at, failed_at;
	struct json last_error, step_details, usage, metadata;
};
SCHEMA_DECLARED(RunStepObject);

struct RunStepList {
	const char *object;
	struct list data;
	const char *first_id, *last_id;
	bool has_more;
};
SCHEMA_DECLARED(RunStepList);

/* ---- what is asked for ---- */

enum thread_role { THREAD_USER, THREAD_ASSISTANT };
extern const struct words thread_role_words;

struct ThreadMessageCreate {
	int role;
	struct json content, attachments, metadata;
};
SCHEMA_DECLARED(ThreadMessageCreate);

struct ThreadCreate {
	struct list messages;
	struct json metadata;
};
SCHEMA_DECLARED(ThreadCreate);

struct RunCreate {
	const char *assistant_id, *model, *instructions, *additional_instructions;
	struct list additional_messages;
	struct json tools, metadata;
	double temperature, top_p;
	tri stream;
	int64_t max_prompt_tokens, max_completion_tokens;
	struct json truncation_strategy, tool_choice;
	tri parallel_tool_calls;
	struct json response_format;
	const struct ThreadCreate *thread; /* of a run that makes its thread */
};
SCHEMA_DECLARED(RunCreate);

struct RunToolOutput {
	const char *tool_call_id, *output;
};
SCHEMA_DECLARED(RunToolOutput);

struct RunToolOutputs {
	struct list tool_outputs;
	tri stream;
};
SCHEMA_DECLARED(RunToolOutputs);

/* ---- what the files of this resource share ---- */

/* A thread, in whichever state it is. */
struct thread {
	const char *id;
	const char *agent_id; /* NULL: nobody works in it yet */
	const char *created_by_id, *metadata, *status;
	const char *run_id; /* the run under way, or the last; NULL: none yet */
	int64_t created_at, last_event_id;
};

/* The thread of the path, if the caller holds the permission there: on the agent of the session that it is, or
 * else by being who made it (or holding OWNER on all).  404 in one form for all that is not for them. */
int thread_find(struct call *c, int permission, struct thread *ret);
/* The same by its id. */
int thread_find_id(struct call *c, const char *id, int permission, struct thread *ret);
/* Makes one of the tenant's, with these messages; `in` may be NULL. */
int thread_make(
	struct call *c, const struct ThreadCreate *in, const char *field, struct thread *ret);
void thread_show(const struct thread *t, struct ThreadObject *out);
/* Makes the thread a session of this agent, with the messages it has. */
int thread_begin(struct call *c, struct thread *t, const char *agent_id);
/* 400 with a sentence if a run is under way there. */
int thread_at_rest(struct call *c, const struct thread *t, const char *what);
/* A message into the thread, in whichever state it is; `field` is where it stands in the body. */
int thread_say(struct call *c, const struct thread *t, const struct ThreadMessageCreate *in,
	const char *field, const char **ret_id);

/* How many messages of users a run would hear first: those that lie in the thread since the last one, and these. */
int thread_brings(struct call *c, const struct thread *t, const struct list *more, int64_t *ret);

/* For the audit row of what was asked for with messages: a member that says how many of each role the caller wrote;
 * NULL: none. */
const char *thread_words_noted(struct call *c, const struct list *messages);

/* The thread as it now stands. */
int thread_refresh(struct call *c, struct thread *t);

/* A message as it is stored. */
struct thread_said {
	const char *id, *author_id, *role, *status, *run_id, *metadata, *content, *tool_calls;
	int64_t created_at;
	struct list parts; /* struct MessagePart */
};
void thread_message_view(struct arena *a, const char *thread_id, const char *agent_id,
	const struct thread_said *m, struct ThreadMessageObject *out);

extern const struct statement_set thread_find_sql, thread_sql, thread_message_sql;
