/* turn.h - what the files of a turn share; nobody else includes it.
 *
 *   begin -> load -> model -> answer (quick tools run within) -> load ... -> over
 *                                -> tools -> results -> load ...
 *                                -> waiting for people or subtasks: over, and begun again later
 *
 * A turn is one job's work in a session.  Every arrow is a commit, or nothing
 * that a commit needs to know.  It is handed from thread to thread and
 * belongs to one at a time, its owner; what others may reach for meanwhile is under its
 * lock.  Where it stands, how much of an answer is stored and where each call
 * of a tool is are machines of states, each with a table of its moves
 * (turn_state.c); a move that is not in the table ends the process. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>

#include "base/check.h"
#include "broker/collect.h"
#include "broker/completion.h"
#include "sessions/actor.h"
#include "sessions/session_tx.h"
#include "sessions/sessions.h"
#include "store/pool.h"

struct sessions {
	struct sessions_settings settings;
	struct broker *broker;
	struct tool_pool *tools;
	struct pool *reading;  /* NULL: the store reads */
	struct bucket *bucket; /* where large files are; NULL: in the store */
	struct pool *disk;
	pthread_mutex_t lock; /* over the next three; taken before a turn's */
	pthread_cond_t fewer;
	struct turn *first;
	size_t count;
	_Atomic uint64_t turns, answers, tool_calls, failed;
	_Atomic int64_t hold_max_us;
};

/* A tool as the model is offered it.  Two may have one name, that of the agent and one that a client
 * brought: which it was is known by the alias in an answer, and after that by the call's tool_id. */
struct offer {
	const char *alias;	      /* the name it goes by with models */
	const struct held_tool *held; /* NULL: whoever started the run runs it */
	const char *name, *description, *parameters;
	tri strict; /* of a client's, if it said */
};

/* What the agent brings along; read once a turn. */
struct kit {
	bool loaded;
	const char *system; /* its words before all others */
	int64_t warn_at;    /* iterations; NIL: never */
	struct offer *offers;
	size_t count;
};

/* What a run was asked for besides (struct run_options), as stored. */
struct wish {
	const char *instructions, *additional_instructions, *model_id, *tools, *tool_choice,
		*forward, *effort;
	bool any_hour, one_call;
	int64_t max_tokens, max_prompt_tokens, last_messages;
	double temperature, top_p;
};

/* Where a call of a tool is. */
enum errand_state {
	ERRAND_AWAY,
	ERRAND_BACK,   /* the answer is there */
	ERRAND_STORED, /* and committed */
	ERRAND_STATES
};

/* A call of a tool on its way. */
struct errand {
	struct errand *next;
	struct turn *turn;
	char call[ID_LEN + 1]; /* session_calls.id */
	struct arena arena;
	struct tool_answer answer;
	struct tool_work *work;
	enum errand_state state; /* under the turn's lock */
};

/* A call that a committed step has decided to make. */
struct departure {
	struct departure *next;
	const struct call_row *call;
	const struct held_tool *tool;
};

/* A call as the model's answer has it, looked at before anything is stored. */
struct wanted {
	const char *call_id, *name, *arguments;
	const char *extra;	   /* what the provider wants back with it, JSON text; or NULL */
	const struct offer *offer; /* NULL: there is no such tool */
	const char *fault;	   /* why it cannot be made, for the model; or NULL */
};

/* What follows once a step is committed. */
enum turn_next { TURN_LOAD, TURN_TOOLS, TURN_ANSWER, TURN_OVER };

/* What it is at. */
enum turn_stage {
	TURN_AT_STEP,  /* a step, or what follows from one */
	TURN_AT_MODEL, /* a call of a model is under way */
	TURN_AT_TOOLS, /* nothing but calls of tools: whichever is back first begins a step */
	TURN_LEFT,     /* its last step is done */
	TURN_STAGES
};

/* An answer on its way into the store, of which pieces are written one at a time. */
enum flow_state {
	FLOW_NONE,    /* no model was asked yet */
	FLOW_HEARING, /* and nothing is being written */
	FLOW_WRITING,
	FLOW_ENDING, /* all is heard, and a piece is being written */
	FLOW_OVER,   /* all is heard, and nothing is being written */
	FLOW_STATES
};

/* How much of what was heard has been told. */
struct flow_marks {
	size_t text;		    /* bytes of the escaped text */
	size_t thought, thought_at; /* which thought, and how many bytes of it */
	size_t calls
		[SESSION_CALLS_MAX]; /* bytes of the arguments of each, and one: 0 is not begun */
};

/* How a call of a model ended. */
enum answer_end {
	ANSWER_WHOLE,
	ANSWER_FAILED,	  /* as `fault` says */
	ANSWER_REFUSED,	  /* before it was sent, as `problem` says */
	ANSWER_CANCELLED, /* nobody wants it, or the service stops */
};

struct turn {
	struct work work;	  /* first: the steps, one at a time */
	struct work flush;	  /* what has been heard of an answer, into the store */
	struct turn *next, *prev; /* under the lock of the sessions */

	/* Set when it is made, and read by all. */
	struct sessions *s;
	struct job *job;
	char run_id[ID_LEN + 1];

	/* Its owner's, from here to `wrote`. */
	struct arena arena; /* as long as the turn */
	struct arena step;  /* of the step under way */
	struct arena mind;  /* of the model call under way */
	int (*act)(struct turn *t, struct db *db);
	enum turn_next then;
	struct departure *departures;
	struct problem problem;	    /* of the step */
	struct bucket_carry *carry; /* what it needs of the bucket; NULL: nothing so far */

	/* Of the run, as the last step left them. */
	const char *agent_id;
	const char *user_id; /* who drives it, or NULL */
	const char *acts_as; /* whose rights it has */
	struct actor actor;  /* as the step under way found it */
	int64_t refuses;     /* RUN_REFUSES_... */
	struct wish wish;
	int64_t iterations;
	struct kit kit;

	/* What a step that is run again must find as it was. */
	struct turn_marks {
		char answer_id[ID_LEN + 1];
		size_t first;
		bool cut;
		int summaries;
	} before;

	/* The model call under way. */
	char answer_id[ID_LEN + 1];
	struct chat chat;
	struct chat *
		bare; /* the same for models that do not take its images and files; NULL: it has none */
	struct candidates candidates;
	size_t first; /* candidates before this one broke off */
	bool cut;     /* the last answer reached the limit of tokens */
	int summaries;
	const char
		*summary_up_to; /* what is asked for is a summary of the messages up to this one */
	struct wanted *wanted;
	size_t wanted_count;
	const char *content; /* of the answer, plain */

	const char *fail_code, *fail_text; /* for the step that ends it as failed */
	int verdict;			   /* for the runner */
	int64_t retry_at; /* 0: as soon as somebody takes the job, and this was no failure */
	bool retry_free;  /* it was none either way */

	/* The flush's: the write under way wrote something. */
	bool wrote;
	_Atomic bool stopping; /* the service stops */
	pthread_mutex_t lock;  /* over all below */
	int holds;
	bool cancelled; /* nobody wants the result; from any thread, at any time */
	enum turn_stage stage;
	struct errand *errands;
	struct completion *run; /* NULL: none under way */
	struct collected heard; /* open from the first model call on */
	const char *maker;	/* the kind of provider that answers, once it does */
	struct {
		enum flow_state state;
		int number;		   /* which model call it is */
		bool begun;		   /* the message has its row */
		bool flood;		   /* there is no end to it */
		size_t heard;		   /* bytes of all kinds */
		struct flow_marks sent;	   /* what of it is in the store */
		struct flow_marks to;	   /* and will be after the write under way */
		struct DeltaEvent *pieces; /* what it writes */
		size_t piece_count;
		const char *plain; /* the text among them */
		struct arena arena, scratch;
		int64_t last_ms;
	} flow;
	/* Written by its end, read after it. */
	struct {
		enum answer_end how;
		bool begun; /* something of an answer was heard */
		struct fault fault;
		struct problem problem;
		size_t index;
		const struct candidate *candidate;
		struct usage usage;
		int64_t cost_pd;
		struct failed_attempt failed[CANDIDATES_MAX]; /* that others were asked after */
		size_t failed_count;
	} end;
};

/* sessions.c */
/* The process stops, and others go on with the session. */
bool turn_is_handed_over(const struct turn *t);
void turn_hold(struct turn *t);
void turn_let_go(struct turn *t);

/* turn_state.c: with the lock. */
void turn_move(struct turn *t, enum turn_stage to);
void turn_flow(struct turn *t, enum flow_state to);
void errand_move(struct errand *e, enum errand_state to);

/* turn.c */
/* Its first step.  Of a job that is condemned, it is the only one: the session fails with the reason. */
void turn_begin(struct turn *t);
void turn_step(struct turn *t, int (*act)(struct turn *t, struct db *db), enum transaction mode);
/* The same step once more, as if for the first time. */
void turn_again(struct turn *t);
/* What is done between two commits: at once, or when a test lets it. */
void turn_go(struct turn *t, void (*go)(void *turn));
/* Inside a step: the session transaction on the session, if the job and the run are still the turn's.  *ret_mine false:
 * they are not, the job is taken off, and the step returns what this returned. */
int turn_tx(struct turn *t, struct db *db, struct session_tx *p, bool *ret_mine);
/* These four end a step and close its session transaction.  The session has ended ... */
int turn_end(struct turn *t, struct session_tx *p, int session_state, int run_state,
	const char *code, const char *error);
int turn_fail(struct turn *t, struct session_tx *p, const char *code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* ... or it waits for somebody, without a job ... */
int turn_rest(struct turn *t, struct session_tx *p);
/* ... or the job goes back, for t->retry_at. */
int turn_requeue(struct turn *t, struct session_tx *p);
/* Steps that do no more than that. */
void turn_fail_step(struct turn *t, const char *code, const char *text);
void turn_requeue_step(struct turn *t, int64_t retry_at, const char *why);
void turn_refused(struct turn *t, const struct problem *p);

/* turn_wait.c */
/* A run that was queued is admitted; *ret_waits true: there is no room yet, and the step is over. */
int turn_admit(struct turn *t, struct session_tx *p, bool *ret_waits);
/* What was waited for is there. */
int turn_waited(struct turn *t, struct session_tx *p);
/* t->problem, if others wait for the money that the planned call would take. */
int turn_after_others(struct turn *t, struct db *db);
/* For what a call was refused for want of, if that is something to wait for; true: it does. */
bool turn_waits(struct turn *t, const struct problem *p);

/* turn_calls.c */
/* The heart: what the stored rows want next.  `calls` are those of the last message that has any; new
 * ones are stored on the way.  Closes the session transaction. */
int turn_advance(struct turn *t, struct session_tx *p, struct list *calls);

/* turn_tools.c */
void turn_depart(void *turn);
bool turn_has_errands(struct turn *t);
/* ERR_BRING: see turn_bring.c.  Without a carry the store keeps what was cut. */
int turn_result_store(struct session_tx *p, struct call_row *c, const struct tool_answer *answer,
	struct bucket_carry *carry);

/* turn_bring.c */
/* For the step under way: what it needs of the bucket; NULL: there is none. */
struct bucket_carry *turn_carry(struct turn *t);
void turn_carry_end(struct turn *t);
/* After a step that said ERR_BRING. */
void turn_bring(struct turn *t);

/* turn_model.c */
void turn_ask(void *turn);

/* turn_pieces.c */
/* What was heard after these marks, as events in the arena; the marks are then where it ends.  With the lock while more is heard. */
size_t turn_pieces(
	struct turn *t, struct arena *a, struct flow_marks *marks, struct DeltaEvent **ret);

/* turn_answer.c */
/* What was heard, looked at before it is stored.  Calls are held against schemas of their makers, which
 * takes as long as those want: never on the thread that writes. */
int turn_act_weigh(struct turn *t, struct db *db);
int turn_act_answer(struct turn *t, struct db *db);

/* prompt.c */
int wish_read(struct arena *a, const char *options, struct wish *w);
/* The name that a tool goes by with models. */
const char *prompt_alias(struct arena *a, const char *name);
int prompt_kit(struct turn *t, struct db *db);
/* A session that begins is given the agent's bootstrap_instructions if none was before it. */
int prompt_claim_bootstrap(struct turn *t, struct session_tx *p);
const struct offer *prompt_offer(const struct turn *t, const char *alias);
/* The agent's own tool of this id.  Names do not do: a client may bring a function of the same one. */
const struct offer *prompt_offer_held(const struct turn *t, const char *tool_id);
/* The chat and the candidates of the next call into t->mind; t->problem says why there is none. */
int turn_act_load(struct turn *t, struct db *db);

/* prompt_messages.c */
/* A call that came to nothing. */
struct failed_call {
	const char *message_id, *call_id;
};
/* `failed`: those of the messages, in their order; `media`: their images and files, struct media, or NULL to tell of them
 * only. */
void prompt_messages(struct list *messages, const struct list *failed, const struct list *media,
	struct chat *chat);
/* The chat that asks for a summary of the first so many, and how many they are; 0: nothing can go. */
size_t prompt_summary(struct turn *t, const struct list *messages, const char *before,
	int64_t window, struct chat *chat);

/* prompt_media.c */
struct media {
	const char *file_id;
	struct slice base64; /* absent: the file is gone */
};
bool prompt_has_parts(const struct list *messages);
/* As many as one request may hold, the newest first. */
int prompt_media_load(struct turn *t, struct db *db, const struct list *messages, struct list *ret);
/* A text with what stands in it. */
void prompt_put_parts(struct chat *chat, struct chat_message *to, const char *text,
	const struct list *parts, const struct list *media);

/* subtask.c */
/* Opens the child and moves the call, or gives the call a result that says why not. */
int subtask_open(struct session_tx *p, const struct held_tool *tool, struct call_row *c);
