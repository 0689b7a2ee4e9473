/* converge.h - a repository is looked at, which notes where its main branch stands, and the prompts of the agent are brought in line
 * with it where they are to follow it: the job "repo.converge". */
#pragma once
#include "queue/runner.h"
#include "repos/projection.h"
#include "repos/proposal.h"
#include "repos/repo.h"

/* In the transaction at hand: the main branch may have moved. */
int repo_look_add(struct db *db, struct arena *a, const struct repository *row, int64_t now);
/* The same where it is known where that stands, or the mode was changed.  Does nothing where prompts do not follow. */
int repo_converge_add(struct db *db, struct arena *a, const struct repository *row, int64_t now);

/* In the transaction at hand: a prompt was changed here.  What waited for a decision about it is no more, and the repository is
 * looked at again. */
int repo_prompts_changed(
	struct db *db, struct arena *a, const char *tenant_id, const char *agent_id, int64_t now);

/* For the runner's table; what is pointed to may be filled in later. */
struct repo_converger {
	struct store *const *store;
	struct repos *const *repos;
	struct pool *const *disk;
};
struct job_kind repo_converge_kind(const struct repo_converger *c);

/* ---- its steps, one after the other ---- */

struct convergence {
	struct repository row;
	struct prompt_texts live; /* as they were when the row was read */
	struct prompt_bases bases;
	struct prompt_refusals refused;
	char tip[BARE_ID_LEN + 1];
	struct prompt_reading files[PROMPT_FILES];
	struct PromptProposalRead wanted; /* where people decide: what they are asked */
	const char *failed;		  /* why it could not be read */
};

/* Reads what there is; ERR_NOT_FOUND if there is no repository. */
int converge_load(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	struct convergence *v);
/* Reads the files; it waits for the disk. */
int converge_read(const struct repos *r, struct arena *a, struct convergence *v);
/* Writes what is pending, or asks for it; and only where the live text is still the one that was read.  ERR_CONFLICT, and nothing is
 * written: somebody else has looked at the repository since it was loaded. */
int converge_apply(struct db *db, struct arena *a, const struct convergence *v, int64_t now);
extern const struct statement_set converge_sql;
