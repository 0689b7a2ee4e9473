/* session.h - what can be done to a session, each inside the caller's transaction.
 *
 * A session is a conversation with an agent that does not depend on anybody's
 * connection.  A run is one setting to work of the agent in it: from what was
 * said to the answer.  These functions write rows, events and jobs together,
 * so that what is committed is what will happen. */
#pragma once
#include "access/caller.h"
#include "base/error.h"
#include "sessions/session_media.h"
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
	SESSION_WAITING_MAX = 32,     /* runs of others that wait for the one under way */
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
	bool greets; /* the agent's initial_greeting is its first message */
	int64_t now;
};

/* The row, its directory entry, its first event; no message yet and nothing runs.  *ret_id lives in the arena.  ERR_NOT_FOUND without the agent;
 * ERR_CONFLICT, ERR_THROTTLED with a sentence (plan, sessions a day). */
int session_open(struct db *db, struct arena *a, const struct session_new *in, const char **ret_id,
	struct problem *p);

/* What was said up to a message, in a new session of the same agent; nothing runs in it yet. */
struct session_branch_asked {
	const char *tenant_id, *session_id, *message_id;
	const char *user_id; /* whose it is */
	const char *origin;
	int64_t now;
};
/* ERR_NOT_FOUND, and ERR_CONFLICT where the message is in the middle of a step, with a sentence; else as session_open(). */
int session_branch(struct db *db, struct arena *a, const struct session_branch_asked *in,
	const char **ret_id, struct problem *p);

/* A conversation that was held elsewhere. */
struct session_past_message {
	const char *role, *content;
	const char *calls;   /* a JSON list of MessageCall (session_events.h); NULL: none */
	const char *call_id; /* the call that it answers; NULL */
	int64_t said_at;     /* NIL: not known */
};
struct session_past {
	const char *tenant_id, *agent_id, *created_by_id, *origin;
	const char *title;	    /* NULL: named by its first words */
	int64_t begun_at, ended_at; /* NIL: not known */
	const struct session_past_message *messages;
	size_t count;
	int64_t now;
};
/* The whole of it as a new session, in which nothing runs; else as session_open(). */
int session_take_over(struct db *db, struct arena *a, const struct session_past *in,
	const char **ret_id, struct problem *p);

/* As whom something is said or begun: a person, with the key they used, or an integration. */
struct session_actor {
	const char *user_id; /* NULL: no person */
	const char *key_id;  /* NULL: a login */
	const char *hook_id; /* NULL: no integration */
};

struct session_words {
	const char *id; /* NULL: one is made */
	const char *tenant_id, *session_id;
	const char *
		author_id; /* the person whose words they are, whatever the role; NULL: no person */
	struct session_actor by;
	const char *role;     /* user, or assistant for what a program puts into its mouth */
	const char *content;  /* plain text */
	const char *metadata; /* a JSON object; NULL: {} */
	const char *thoughts; /* what was thought before it, as messages keep it; NULL: nothing */
	const struct session_parts *parts; /* to be kept with it; NULL: none */
	struct list kept; /* struct MessagePart whose bytes are files of the session already */
	int64_t said_at;  /* 0: now */
	int64_t now;
};

/* A message into the session; nothing is set to work.  A run under way hears it if it is its own actor's;
 * another's message waits for a run that is begun after it. */
int session_say(struct db *db, struct arena *a, const struct session_words *in, const char **ret_id,
	struct problem *p);

/* A step that was made before the session began: what was said with calls of tools, or what one of them gave. */
struct session_step {
	const char *tenant_id, *session_id;
	const char *author_id; /* the person who brought it */
	const char *content;   /* plain text */
	const char *calls;    /* a JSON list of MessageCall (session_events.h); NULL with call_id */
	const char *thoughts; /* as messages keep them; NULL: none */
	const char *call_id;  /* the call that `content` is the result of; NULL with calls */
	const struct session_parts *parts; /* of that result; NULL: none */
	int64_t now;
};
int session_recall(
	struct db *db, struct arena *a, const struct session_step *in, struct problem *p);

/* What a run is asked for besides the agent's settings; each may be NULL. */
struct run_options {
	const char *instructions;	     /* in place of the agent's own prompt */
	const char *additional_instructions; /* after it */
	const char *model_id;		     /* in place of the agent's chain */
	const char *tools; /* a JSON list of functions that the caller runs: {name, description,
				  * parameters, strict}; calls of them wait for session_answer() */
	const char *
		forward; /* a JSON object of members of a chat completion that go to providers which
			      * know them, such as prompt_cache_key */
	const char *effort;	   /* reasoning_effort, a word */
	bool one_call;		   /* no two calls of tools at once */
	int64_t max_prompt_tokens; /* 0: as much as the model's window takes */
	int64_t last_messages;	   /* of those before the run only so many are read; 0: all */
	const char *tool_choice;   /* as in chat completions, JSON text */
	int64_t max_tokens;	   /* 0: not said */
	double temperature, top_p; /* NAN: not said */
	const char *metadata;	   /* a JSON object */
	/* How it gets to work, where it is not a person who asked and was admitted. */
	bool queued; /* it takes one of the agent's rate when there is room: see broker/room.h */
	bool background; /* nobody waits for it: what people set off comes first */
	bool any_hour;	 /* the agent's working hours do not count */
	unsigned
		refuses; /* what it does not wait for, but fails, and what it does not do: RUN_REFUSES_... */
};

enum {
	RUN_REFUSES_HOURS = 1,
	RUN_REFUSES_BUDGET = 2,
	/* A stranger's words set it to work: no tool is called without a person's word but those that neither change, send,
	 * spend nor look at what others said (builtin_tools.h).  What it gives away as subtasks is under the same rule. */
	RUN_REFUSES_UNASKED = 4,
};

/* Sets the agent to work, with the rights of `as`.  If it is at work already: ERR_CONFLICT, unless `join`.
 * Then what was said is heard by the run under way if that is the same actor's, and *ret_run_id is that one;
 * else it has a run of its own, which begins when those before it have ended. */
int session_start(struct db *db, struct arena *a, const char *tenant_id, const char *session_id,
	const struct session_actor *as, const struct run_options *options, bool join, int64_t now,
	const char **ret_run_id, struct problem *p);

/* By whose rights a session ends: another person's subtask on an agent where they may not write goes on. */
struct session_ender {
	/* 0 and *ret_may, or an error of the store; created_by_id may be NULL. */
	int (*may)(void *data, const char *agent_id, const char *created_by_id, bool *ret_may);
	/* Told of each subtask that ends with its session. */
	int (*along)(void *data, const char *session_id, const char *agent_id,
		const char *parent_session_id);
	void *data;
};

/* Ends what runs and what waits, subtasks included as far as `by` may (NULL: all); what is under way elsewhere is
 * told.  ERR_CONFLICT if nothing runs. */
int session_cancel(struct db *db, struct arena *a, const char *tenant_id, const char *session_id,
	const struct session_ender *by, int64_t now, struct problem *p);

/* Ends one run and what it gave away: the one under way, and the next that waits begins, or one that waits.
 * ERR_NOT_FOUND, ERR_CONFLICT if it is over, with a sentence. */
int session_cancel_run(struct db *db, struct arena *a, const char *tenant_id,
	const char *session_id, const char *run_id, const struct session_ender *by, int64_t now,
	struct problem *p);

/* The title that first words give: them, cut at a word; NULL: they give none. */
const char *session_title_of(struct arena *a, const char *text);

/* The same as session_cancel() for some sessions of an agent, so that it can go: a session that waits for one of them
 * goes on.  *ret_count is how many there were; none is left when it is 0. */
enum { SESSION_CANCEL_PAGE = 50 };
int session_cancel_agent(struct db *db, struct arena *a, const char *tenant_id,
	const char *agent_id, int64_t now, int64_t *ret_count);

/* Whose word on a call it is. */
struct session_judge {
	const char *user_id;
	bool signed_in; /* by a login of their own, not by a key */
};

/* A person's decision.  ERR_NOT_FOUND, ERR_CONFLICT if it is decided already, ERR_FORBIDDEN if the tool is one
 * whose calls need a person who is signed in. */
int session_decide(struct db *db, struct arena *a, const char *tenant_id, const char *session_id,
	const char *approval_id, const struct session_judge *judge, bool approved, int64_t now,
	struct problem *p);

/* The result of a call that whoever began the run runs (run_options.tools); call_id is the model's.  The run
 * goes on once none is missing.  ERR_FORBIDDEN from anybody else: it would be heard with their rights. */
int session_answer(struct db *db, struct arena *a, const char *tenant_id, const char *session_id,
	const char *user_id, const char *call_id, const char *output,
	const struct session_parts *parts, int64_t now, struct problem *p);

/* True, in a statement with `sessions s` in it, of what mail did not begin, and of what this user takes part in. */
#define SESSION_UNMAILED(user)                                                                       \
	"(not " SESSION_BY_MAIL(                                                                     \
		"s") " or exists (select 1 from session_people w "                                   \
		     "where w.tenant_id = s.tenant_id and w.session_id = s.id and w.user_id = " user \
		     "))"

/* Called in the transaction that gives a session its title or another: for the index that finds it.  Set
 * once, before anything runs. */
void session_on_title(
	int (*fn)(struct db *db, struct arena *a, const char *tenant_id, const char *session_id));

/* Called in the transaction in which a run of a session that mail began has ended well, when all else of it is written.  Set
 * once, before anything runs. */
void session_on_answer(int (*fn)(struct db *db, struct arena *a, const char *tenant_id,
	const char *session_id, const char *run_id, int64_t now));

extern const struct statement_set session_sql, session_branch_sql, session_owner_sql,
	session_past_sql;
