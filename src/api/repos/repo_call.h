/* repo_call.h - what operations on an agent's repository have in common: finding it, and reading it off the loop. */
#pragma once
#include "call/operation.h"
#include "git/bare.h"
#include "repos/repo.h"

#define REPO_NONE "This agent has no repository."

/* The repository of the agent of the path; ERR_NOT_FOUND with a sentence. */
int repo_here(struct call *c, struct repository *ret);

/* It is the agent's no more: one of our own is kept for a while, of another host nothing is.  409 with a sentence. */
int repo_let_go(struct call *c, const struct repository *row);
/* What the agent shows of it, and the reply. */
int repo_shown_at(struct call *c, const char *url);

/* A read that waits for the disk: `read` runs on a thread for disks, with the repository open, and fills what the operation
 * gave it; then the reply is written.  It is the last thing that an `apply` does.  With `missing`, which says what is told where
 * the files cannot be read, that is no error. */
struct repo_read {
	struct repository row;
	int (*read)(struct call *c, struct bare *b, void *ctx);
	int (*missing)(struct call *c, const char *why, void *ctx); /* or NULL */
	void *ctx;
	struct pool *elsewhere; /* where `read` waits for more than the disk; or NULL */
};
int repo_read_later(struct call *c, const struct repo_read *what);
/* Opens it, on such a thread. */
int repo_open(struct call *c, const struct repository *row, struct bare **ret);

/* The commit that the query names, or else the agent's code_ref; 404 with a sentence. */
int repo_commit_asked(struct call *c, struct bare *b, const char *ref, char ret[BARE_ID_LEN + 1]);
/* Of the query: 422 if the path is none. */
int repo_path_asked(struct call *c, const char *path);

/* A commit as people see it. */
struct AgentPromptCommitRead;
void repo_commit_show(struct arena *a, const struct repository *row,
	const struct bare_change *change, struct AgentPromptCommitRead *ret);
