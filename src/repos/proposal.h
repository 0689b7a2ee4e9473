/* proposal.h - what a repository would make of an agent's prompts, where people decide on it: at most one of an agent waits.
 *
 * A proposal holds what the prompts were and what they would become, by digest:
 * it is only done as long as both still are so.  One that was decided is kept
 * for a while, to be looked at.  What became of it is moved here alone. */
#pragma once
#include "repos/prompt_file.h"
#include "repos/repo.h"

enum ProposalStatus {
	ProposalStatus_pending,
	ProposalStatus_approved,
	ProposalStatus_rejected,
	ProposalStatus_superseded,
	ProposalStatus_withdrawn,
};
extern const struct words ProposalStatus_words;

enum {
	PROPOSAL_DIFF_MAX = 128 * 1024, /* bytes that are shown of one file */
	PROPOSALS_KEPT = 50,		/* of one agent, that are decided */
};

struct PromptProposalFile {
	const char *file, *field;
	const char *was_sha256, *sha256; /* of the prompt then, and of the file's text */
	const char *diff;		 /* or NULL */
	bool diff_cut;
};
SCHEMA_DECLARED(PromptProposalFile);

struct PromptProposalRead {
	const char *id, *agent_id, *commit_id, *title, *author_name;
	int status;
	struct list fields; /* const char * */
	struct list files;  /* struct PromptProposalFile */
	struct moment created_at, decided_at;
	const char *decided_by_id, *decided_by_name;
};
SCHEMA_DECLARED(PromptProposalRead);

/* The same in a list, without what it would change. */
struct PromptProposalRow {
	const char *id, *agent_id, *commit_id, *title, *author_name;
	int status;
	struct list fields;
	struct moment created_at, decided_at;
	const char *decided_by_id, *decided_by_name;
};
SCHEMA_DECLARED(PromptProposalRow);

/* The digests of texts that were not wanted; "": none was. */
struct prompt_refusals {
	char of[PROMPT_FILES][65];
};

int prompt_refusals_read(
	struct db *db, const char *tenant_id, const char *agent_id, struct prompt_refusals *ret);
/* With the repository. */
int prompt_refusals_drop(struct db *db, const char *tenant_id, const char *agent_id);

/* The one that waits; ERR_NOT_FOUND. */
int proposal_pending(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	struct PromptProposalRead *ret);
/* By its id; ERR_NOT_FOUND. */
int proposal_read(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	const char *id, struct PromptProposalRead *ret);
/* This is what is to be decided now (without files: nothing).  One that waits and says the same stays; another is superseded, or
 * withdrawn where there is nothing. */
int proposal_put(struct db *db, struct arena *a, const char *tenant_id,
	struct PromptProposalRead *wanted, int64_t now);
/* Nothing waits any more. */
int proposal_withdraw(
	struct db *db, struct arena *a, const char *tenant_id, const char *agent_id, int64_t now);
/* What became of one that waits.  Of one that is rejected the texts are remembered. */
int proposal_decide(struct db *db, const char *tenant_id, struct PromptProposalRead *r,
	enum ProposalStatus status, const char *user_id, int64_t now);
extern const struct statement_set proposal_sql;
