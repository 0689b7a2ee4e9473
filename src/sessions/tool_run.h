/* tool_run.h - has a tool do its work, whatever its kind, within limits.
 *
 * A tool either looks only at the store and is run inside a transaction, or
 * it takes its time and is run on threads of their own, where one tenant's
 * hanging tools do not hold up another's.  A tool that fails answers all the
 * same: with a sentence for the model.  Answers over the limit are cut, with a
 * note to the model, and handed over whole beside it. */
#pragma once
#include "outside/address.h"
#include "sessions/agent_tools.h"

enum {
	TOOL_OUTPUT_MAX = 32 << 10, /* bytes that the model is given */
	TOOL_WHOLE_MAX = 8 << 20,   /* bytes that are kept in the session's files */
	TOOL_ARGUMENTS_MAX = 256 << 10,
};

struct tool_asked {
	const char *tenant_id, *agent_id, *session_id;
	const char *user_id; /* who drives the agent, or NULL */
	/* as whom it acts, where nobody drives it too, and the key that cuts down what they may; of a quick tool */
	const char *as_user_id, *as_key_id, *run_id;
	uint64_t
		held; /* permissions on the agent of the one as whom it acts (access/permission.h) */
	bool all_sessions;   /* that one sees all of its sessions */
	const char *call_id; /* an id (id.h), unique for ever: what a repeat is recognised by */
	const struct held_tool *tool;
	const char *arguments; /* as the model said them; checked again by whoever runs the tool */
	struct vault
		*vault; /* with which a quick tool opens what was sealed for it; NULL: nothing is */
	int most_s;	/* it may take, whatever its config says; 0: what its config says */
	int64_t now;
};

struct tool_answer {
	bool failed;	   /* the text says why, to the model */
	const char *text;  /* plain; at most TOOL_OUTPUT_MAX bytes with its note */
	const char *whole; /* what was cut, or NULL */
	size_t whole_len;
	const char *content_type; /* of `whole` */
};

/* NULL if the arguments suit the tool; else a sentence for the model that says what does not.  Whoever
 * runs a tool asks this first, however often it was asked before: between an answer and its calls lie
 * approvals, restarts and changes of the tool. */
const char *tool_check(struct arena *a, const struct held_tool *tool, const char *arguments);
/* The same for several calls, which have so many steps of their schemas together. */
const char *tool_check_within(
	struct arena *a, const struct held_tool *tool, const char *arguments, size_t *left);

/* True for those that look only at the store (or at nothing). */
bool tool_is_quick(const struct held_tool *tool);
/* In the caller's transaction, which may also write (memory_write).  Fills *ret; an error is the store's. */
int tool_run_quick(
	struct db *db, struct arena *a, const struct tool_asked *in, struct tool_answer *ret);

struct pool;
struct tool_pool;
struct tool_pool_settings {
	struct vault *vault;
	enum egress egress;
	size_t threads_most; /* 0: 128 */
};
struct tool_pool *tool_pool_new(const struct tool_pool_settings *settings);
/* Its threads, for what else waits for hosts that a tenant names. */
struct pool *tool_pool_threads(struct tool_pool *p);
/* Ends what is under way as failed, and waits for it. */
void tool_pool_free(struct tool_pool *p);

struct tool_work; /* one call under way */
/* done() is called once, on one of the pool's threads; the answer lives as long as that call.  Everything
 * in *in is copied.  ERR_BUSY if too much is under way for this tenant or at all. */
int tool_run_start(struct tool_pool *p, const struct tool_asked *in,
	void (*done)(void *data, const struct tool_answer *answer), void *data,
	struct tool_work **ret);
/* Its answer is no longer wanted: done() comes soon, as failed.  Before done() is called. */
void tool_run_cancel(struct tool_work *w);
