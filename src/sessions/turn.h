/* turn.h - what the files of a turn share; nobody else includes it.
 *
 *   begin -> load -> model -> answer (quick tools run within) -> load ... -> over
 *                                -> tools -> results -> load ...
 *                                -> waiting for people or subtasks: over, and begun again later
 *
 * A turn is one job's work in a session.  Every arrow is a commit, or nothing
 * that a commit needs to know.  It is handed from thread to thread and
 * belongs to one at a time; what others may reach for meanwhile is under its
 * lock. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>

#include "broker/collect.h"
#include "broker/run.h"
#include "sessions/pen.h"
#include "sessions/readers.h"
#include "sessions/sessions.h"

struct sessions {
	struct sessions_settings settings;
	struct broker *broker;
	struct tool_pool *tools;
	struct readers *readers; /* NULL: the store reads */
	pthread_mutex_t lock;	 /* over the next three; taken before a turn's */
	pthread_cond_t fewer;
	struct turn *first;
	size_t count;
	_Atomic uint64_t turns, answers, tool_calls, failed;
};

/* A tool as the model is offered it. */
struct offer {
	const char *alias;	      /* the name it goes by with models */
	const struct held_tool *held; /* NULL: whoever started the run runs it */
	const char *name, *description, *parameters;
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
	const char *instructions, *additional_instructions, *model_id, *tools, *tool_choice;
	int64_t max_tokens;
	double temperature, top_p;
};

/* A call of a tool on its way. */
struct errand {
	struct errand *next;
	struct turn *turn;
	char call[ID_LEN + 1]; /* session_calls.id */
	struct arena arena;
	struct tool_answer answer;
	struct tool_work *work;
	bool over;   /* the answer is there */
	bool stored; /* and committed */
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
	const struct offer *offer; /* NULL: there is no such tool */
	const char *fault;	   /* why it cannot be made, for the model; or NULL */
};

/* What follows once a step is committed. */
enum turn_next { TURN_LOAD, TURN_TOOLS, TURN_OVER };

struct turn {
	struct work work;  /* first: the steps, one at a time */
	struct work flush; /* what has been heard of an answer, into the store */
	struct turn *next, *prev;
	struct sessions *s;
	struct job *job;
	struct arena arena; /* as long as the turn */
	struct arena step;  /* of the step under way */
	struct arena mind;  /* of the model call under way */
	char run_id[ID_LEN + 1];
	int (*act)(struct turn *t, struct db *db);
	enum turn_next then;
	struct departure *departures;
	struct problem problem; /* of the step */
	bool resumed;		/* the first step of the job */

	/* Of the run, as the last step left them. */
	const char *agent_id, *user_id;
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
	struct plan plan;
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

	/* The write under way wrote something: its own business, away from what is under the lock. */
	int64_t wrote;
	_Atomic bool stopping; /* the service stops */
	pthread_mutex_t lock;  /* over all below */
	int holds;
	bool cancelled; /* nobody wants the result */
	bool left;	/* its last step is done */
	bool stepping;	/* a step is under way, or its consequences */
	struct errand *errands;
	struct run *run; /* NULL: none under way */
	struct collected heard;
	bool hearing; /* `heard` is open */
	struct {
		int number;		     /* which model call it is */
		bool busy;		     /* a write is under way */
		bool over;		     /* nothing more is heard */
		bool begun;		     /* the message has its row */
		bool flood;		     /* there is no end to it */
		size_t heard;		     /* bytes of all kinds */
		size_t sent;		     /* bytes of the escaped text that are in the store */
		size_t to;		     /* and will be behind the write under way */
		const char *escaped, *plain; /* what it writes */
		struct arena arena, scratch;
		int64_t last_ms;
	} flow;
	/* Written by its end, read behind it. */
	struct {
		bool failed, refused, cancelled, begun;
		struct fault fault;
		struct problem problem;
		size_t index;
		const struct candidate *candidate;
		struct usage usage;
	} end;
};

/* sessions.c */
void turn_hold(struct turn *t);
void turn_let_go(struct turn *t);

/* turn.c */
void turn_begin(struct turn *t);
void turn_step(struct turn *t, int (*act)(struct turn *t, struct db *db), enum transaction mode);
/* Inside a step: the pen on the session, if the job and the run are still the turn's.  *ret_mine false:
 * they are not, the job is taken off, and the step returns what this returned. */
int turn_pen(struct turn *t, struct db *db, struct pen *p, bool *ret_mine);
/* These four end a step and close its pen.  The session has ended ... */
int turn_end(struct turn *t, struct pen *p, int session_state, int run_state, const char *code,
	const char *error);
int turn_fail(struct turn *t, struct pen *p, const char *code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* ... or it waits for somebody, without a job ... */
int turn_rest(struct turn *t, struct pen *p);
/* ... or the job goes back, for t->retry_at. */
int turn_put_back(struct turn *t, struct pen *p);
/* Steps that do no more than that. */
void turn_fail_step(struct turn *t, const char *code, const char *text);
void turn_put_back_step(struct turn *t, int64_t retry_at, const char *why);
void turn_refused(struct turn *t, const struct problem *p);

/* turn_calls.c */
/* The heart: what the stored rows want next.  `calls` are those of the last message that has any; new
 * ones are stored on the way.  Closes the pen. */
int turn_advance(struct turn *t, struct pen *p, struct list *calls);

/* turn_tools.c */
void turn_depart(struct turn *t);
bool turn_has_errands(struct turn *t);
int turn_result_store(struct pen *p, struct call_row *c, const struct tool_answer *answer);

/* turn_model.c */
void turn_ask(struct turn *t);

/* turn_answer.c */
/* What was heard, looked at before it is stored. */
void turn_weigh(struct turn *t);
int turn_act_answer(struct turn *t, struct db *db);

/* prompt.c */
int wish_read(struct arena *a, const char *options, struct wish *w);
/* The name that a tool goes by with models. */
const char *prompt_alias(struct arena *a, const char *name);
int prompt_kit(struct turn *t, struct db *db);
const struct offer *prompt_offer(const struct turn *t, const char *alias);
const struct offer *prompt_offer_named(const struct turn *t, const char *name);
/* The chat and the plan of the next call into t->mind; t->problem says why there is none. */
int turn_act_load(struct turn *t, struct db *db);

/* prompt_messages.c */
void prompt_messages(struct list *messages, struct chat *chat);
/* The chat that asks for a summary of the first so many, and how many they are; 0: nothing can go. */
size_t prompt_summary(struct turn *t, const struct list *messages, const char *before,
	int64_t window, struct chat *chat);

/* subtask.c */
/* Opens the child and moves the call, or gives the call a result that says why not. */
int subtask_open(struct turn *t, struct pen *p, struct call_row *c);
