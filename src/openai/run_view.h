/* run_view.h - runs and their steps as OpenAI's clients see them, read from the session they are part of. */
#pragma once
#include "openai/threads.h"

/* Whose run, and where. */
struct run_place {
	const char *tenant_id, *session_id, *run_id;
};

/* ERR_NOT_FOUND if there is none. */
int run_view_read(
	struct db *db, struct arena *a, const struct run_place *at, struct RunObject *ret);
/* A page of them. */
int run_view_page(
	struct call *c, const struct OpenAIPage *in, const struct thread *t, struct RunList *ret);

/* What a run was asked for, to be shown again: its own words and, where it has none, the assistant's. */
struct run_asked_for {
	const char *model, *instructions, *tools, *temperature, *top_p, *max_prompt_tokens,
		*max_completion_tokens, *truncation_strategy, *tool_choice;
	bool parallel_tool_calls;
	const char *metadata;
};
/* JSON text of each member, NULL for none; model and instructions are plain. */
int run_view_note(
	struct db *db, struct arena *a, const struct run_place *at, const struct run_asked_for *in);
int run_view_retag(struct db *db, const struct run_place *at, const char *metadata);

/* True for the states in which a run goes on only if somebody else does something, or not at all. */
bool run_rests(const char *status);

/* A call that waits for the caller's result, or for approval (then approval_id is its). */
struct waiting_call {
	const char *call_id, *name, *arguments, *state, *approval_id;
};
int run_view_waiting(struct db *db, struct arena *a, const struct run_place *at, struct list *ret);

/* What was written in a run after a message, oldest first: struct run_word. */
struct run_word {
	const char *id, *role, *status, *content, *tool_calls, *tool_call_id, *thoughts;
	int64_t prompt_tokens, completion_tokens, created_at;
};
int run_view_words(struct db *db, struct arena *a, const struct run_place *at, const char *after_id,
	struct list *ret);

/* One step, and how it is written: whoever streams and whoever reads shows the same. */
struct step_view {
	const struct RunObject *run;
	const char *message_id;
	bool calls; /* it is the calls of the message, not its words */
	int64_t created_at;
	const char *status;
	int64_t at;			/* when it ended; NIL: it has not */
	const char *tool_calls;		/* of the message, as the session keeps them */
	const struct run_word *results; /* of tools; `calls` */
	size_t result_count;
	int64_t prompt_tokens, completion_tokens; /* NIL: not shown */
};
void run_view_step(struct arena *a, const struct step_view *in, struct RunStepObject *ret);
/* The calls as a step shows them; `index` numbers them, as deltas do. */
const char *run_view_calls(struct arena *a, const char *tool_calls, const struct run_word *results,
	size_t result_count, bool index);

extern const struct statement_set run_view_sql;
