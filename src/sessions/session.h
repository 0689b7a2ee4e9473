/* session.h - what can be done to a session, each inside the caller's transaction.
 *
 * A session is a conversation with an agent that does not depend on anybody's
 * connection.  A run is one setting to work of the agent in it: from what was
 * said to the answer.  These functions write rows, events and jobs together,
 * so that what is committed is what will happen. */
#pragma once
#include "base/error.h"
#include "store/store.h"

enum {
	SESSION_MESSAGE_MAX = 1 << 20, /* bytes of a message a person or program sends */
	SESSION_ANSWER_MAX =
		1 << 20,	   /* bytes of a model's answer, its calls and thoughts included */
	SESSION_DEPTH_MAX = 4,	   /* a subtask's subtask's ... */
	SESSION_SUBTASKS_MAX = 16, /* of one session, at a time */
	SESSION_ITERATIONS_MAX = 200, /* calls to a model in one run */
	SESSION_CALLS_MAX = 64,	      /* of tools, in one message */
	SESSION_BAD_CALLS_MAX = 5,    /* messages in a row with none but impossible calls */
	SESSION_SAME_CALLS_MAX = 10,  /* the same call with the same arguments in one run */
};

struct session_new {
	const char *id; /* NULL: one is made */
	const char *tenant_id, *agent_id;
	const char *created_by_id; /* NULL: no person */
	const char *origin;	   /* user, webhook, mail, subtask, api, benchmark */
	const char *title;	   /* NULL: named later */
	const char *metadata;	   /* a JSON object; NULL: {} */
	const char *parent_session_id, *parent_call_id; /* a subtask's; NULL */
	int depth;
	int64_t now;
};

/* The row, its directory entry, its first event; no message yet and nothing runs.  The agent's greeting,
 * if it has one and a person begins (origin user), is its first message.  *ret_id lives in the arena.  ERR_NOT_FOUND without the agent;
 * ERR_CONFLICT, ERR_THROTTLED with a sentence (plan, sessions a day). */
int session_open(struct db *db, struct arena *a, const struct session_new *in, const char **ret_id,
	struct problem *p);

struct session_words {
	const char *id; /* NULL: one is made */
	const char *tenant_id, *session_id;
	const char *author_id; /* NULL: no person */
	const char *role;      /* user, or assistant for what a program puts into its mouth */
	const char *content;   /* plain text */
	const char *metadata;  /* a JSON object; NULL: {} */
	int64_t now;
};

/* A message into the session; nothing is set to work. */
int session_say(struct db *db, struct arena *a, const struct session_words *in, const char **ret_id,
	struct problem *p);

/* What a run is asked for besides the agent's settings; each may be NULL. */
struct run_options {
	const char *instructions;	     /* in place of the agent's own prompt */
	const char *additional_instructions; /* behind it */
	const char *model_id;		     /* in place of the agent's chain */
	const char *tools; /* a JSON list of functions that the caller runs: {name, description,
				  * parameters}; calls of them wait for session_answer() */
	const char *tool_choice;   /* as in chat completions, JSON text */
	int64_t max_tokens;	   /* 0: not said */
	double temperature, top_p; /* NAN: not said */
	const char *metadata;	   /* a JSON object */
};

/* Sets the agent to work.  If it is at work already: ERR_CONFLICT, unless `join`, in which case what was
 * said is heard by the run under way and *ret_run_id is that one. */
int session_start(struct db *db, struct arena *a, const char *tenant_id, const char *session_id,
	const char *user_id, const struct run_options *options, bool join, int64_t now,
	const char **ret_run_id, struct problem *p);

/* Ends what runs, subtasks included; what is under way elsewhere is told.  ERR_CONFLICT if nothing runs. */
int session_cancel(struct db *db, struct arena *a, const char *tenant_id, const char *session_id,
	int64_t now, struct problem *p);

/* The same for every session of an agent, so that it can go: a session that waits for one of them goes on. */
int session_cancel_agent(
	struct db *db, struct arena *a, const char *tenant_id, const char *agent_id, int64_t now);

/* A person's decision.  ERR_NOT_FOUND, or ERR_CONFLICT if it is decided already. */
int session_decide(struct db *db, struct arena *a, const char *tenant_id, const char *session_id,
	const char *approval_id, const char *user_id, bool approved, int64_t now,
	struct problem *p);

/* The result of a call that the caller itself runs (run_options.tools); call_id is the model's.  The run
 * goes on once none is missing. */
int session_answer(struct db *db, struct arena *a, const char *tenant_id, const char *session_id,
	const char *call_id, const char *output, int64_t now, struct problem *p);

/* Called in the transaction that gives a session its title or another: for the index that finds it.  Set
 * once, before anything runs. */
void session_on_title(
	int (*fn)(struct db *db, struct arena *a, const char *tenant_id, const char *session_id));

extern const struct statement_set session_sql;
