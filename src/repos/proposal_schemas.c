/* proposal_schemas.c - proposals as people see them; see proposal.h. */
#include "repos/proposal.h"

const struct words ProposalStatus_words = {
	.title = "ProposalStatus",
	.list = (const char *const[]){ [ProposalStatus_pending] = "pending",
		[ProposalStatus_approved] = "approved",
		[ProposalStatus_rejected] = "rejected",
		[ProposalStatus_superseded] = "superseded",
		[ProposalStatus_withdrawn] = "withdrawn",
		NULL },
	.doc = "What became of a proposal: superseded by what was pushed later; withdrawn where there was nothing more to decide.",
};

FIELDS(PromptProposalFile) = {
	FIELD(PromptProposalFile, file, .required = true,
		.example = "\"prompts/description_prompt.md\"", .doc = "Path in the repository."),
	FIELD(PromptProposalFile, field, .required = true, .example = "\"description_prompt\"",
		.doc = "The agent's field that the file would fill."),
	FIELD(PromptProposalFile, was_sha256, .required = true,
		.doc = "Digest of the prompt as it was."),
	FIELD(PromptProposalFile, sha256, .required = true,
		.doc = "Digest of the file's text, which the prompt would become."),
	FIELD(PromptProposalFile, diff, .required = true, .nullable = true,
		.example = "\"@@ -1 +1 @@\\n-Be kind.\\n+Be brief.\\n\"",
		.doc = "How they differ, as git shows it; null where they have too many lines to be compared."),
	FIELD(PromptProposalFile, diff_cut, .required = true,
		.doc = "True when not all of that is shown: read the commit instead."),
};
SCHEMA(PromptProposalFile, .doc = "What a proposal would make of one prompt.");

#define FIRST(S)                                                                           \
	FIELD(S, id, .required = true, .id = true, .doc = "The proposal."),                \
		FIELD(S, agent_id, .required = true, .id = true, .doc = "Whose prompts."), \
		FIELD(S, commit_id, .required = true,                                      \
			.example = "\"9fceb02d0ae598e95dc970b74767f19372d61af8\"",         \
			.doc = "The commit of the main branch when it was made."),         \
		FIELD(S, title, .required = true, .example = "\"Shorter answers\"",        \
			.doc = "The first line of what the commit says."),                 \
		FIELD(S, author_name, .required = true, .nullable = true,                  \
			.example = "\"Ada Example\"",                                      \
			.doc = "Who wrote the commit, as git has it."),                    \
		FIELD(S, status, .required = true, .words = &ProposalStatus_words,         \
			.doc = "Whether it is decided, and how."),                         \
		FIELD(S, fields, .required = true, .item = TEXT,                           \
			.example = "[\"description_prompt\"]",                             \
			.doc = "The prompts that it would change.")

#define LAST(S)                                                                                  \
	FIELD(S, created_at, .required = true, .doc = "When it was made."),                      \
		FIELD(S, decided_at, .required = true, .nullable = true, .example = "null",      \
			.doc = "When it was decided, or came to nothing; null while it waits."), \
		FIELD(S, decided_by_id, .required = true, .nullable = true, .id = true,          \
			.example = "null", .doc = "Who decided; null where nobody has."),        \
		FIELD(S, decided_by_name, .computed = true, .left_out = true, .nullable = true,  \
			.example = "\"Ada Example\"",                                            \
			.doc = "What they are called; left out where nobody has decided.")

FIELDS(PromptProposalRead) = {
	FIRST(PromptProposalRead),
	FIELD(PromptProposalRead, files, .required = true, .item = OBJECT,
		.of = &PromptProposalFile_schema, .doc = "What it would make of each."),
	LAST(PromptProposalRead),
};
SCHEMA(PromptProposalRead, .doc = "What the repository would make of an agent's prompts.");

FIELDS(PromptProposalRow) = { FIRST(PromptProposalRow), LAST(PromptProposalRow) };
SCHEMA(PromptProposalRow, .doc = "A proposal in a list.");
