/* proposals.c - what a repository would make of an agent's prompts, where people decide on it: what waits, what became of it, and
 * the decision.
 *
 * What is approved is written only as it was shown: while the prompt is what it
 * was, and the file on the main branch still has the text.  Otherwise it is
 * superseded, and asked anew. */
#include <string.h>

#include "api/agents/agent_row.h"
#include "api/repos/repo_call.h"
#include "api/sessions/session_rows.h"
#include "repos/converge.h"
#include "store/listing.h"

#define COLUMNS \
	"{p.*}, (select u.name from users u where u.id = p.decided_by_id) as decided_by_name"
#define OF_AGENT "prompt_proposals p where p.tenant_id = $1 and p.agent_id = $2"
/* $1 tenant, $2 user, $3 whether the credential decides at all, $4 whether the caller holds OWNER on all */
#define OF_TENANT                                                                              \
	"prompt_proposals p join agents a on a.tenant_id = p.tenant_id and a.id = p.agent_id " \
	"where p.tenant_id = $1 and p.status = 'pending' and $3 = 1 and ($4 = 1 or " DECIDES(  \
		"$2") ")"

enum { LIST_OF(AGENT_LIST), LIST_OF(TENANT_LIST) };

static const struct statement sql[] = {
	LISTING(AGENT_LIST, "proposal_list", &PromptProposalRow_schema, COLUMNS, OF_AGENT, "p.id"),
	LISTING(TENANT_LIST, "proposal_tenant_list", &PromptProposalRow_schema, COLUMNS, OF_TENANT,
		"p.id"),
};
STATEMENT_SET(proposal_api_sql, sql);

LIST_OPERATION(listPromptProposals, NONE, PromptProposalRow)
{
	return call_list(c, &sql[AGENT_LIST], ARGS(T(c->caller.tenant_id), T(c->caller.agent_id)));
}

LIST_OPERATION(listWaitingProposals, NONE, PromptProposalRow)
{
	const struct caller *who = &c->caller;

	return call_list(c, &sql[TENANT_LIST],
		ARGS(T(who->tenant_id), T(who->user_id), N(caller_cut(who, PERM(AGENT_WRITE)) != 0),
			N(caller_holds_all(who))));
}

static int read_asked(struct call *c, struct PromptProposalRead *ret)
{
	int err = proposal_read(c->db, c->arena, c->caller.tenant_id, c->caller.agent_id,
		call_param(c, "proposal_id"), ret);

	return err == ERR_NOT_FOUND ? call_fail(c, err, "There is no such proposal.") : err;
}

OPERATION(readPromptProposal, NONE, PromptProposalRead)
{
	return read_asked(c, out);
}

/* ---- the decision ---- */

struct PromptProposalDecision {
	bool approved;
};
FIELDS(PromptProposalDecision) = {
	FIELD(PromptProposalDecision, approved, .required = true, .example = "true",
		.doc = "True: the texts of the files become the prompts. False: they do not, and are not asked "
		       "about again until a file changes."),
};
static SCHEMA(PromptProposalDecision, .doc = "A word on a proposal.");

/* What stands in the repository when it is decided; of the prompts that the proposal is about. */
struct deciding {
	struct repository row;
	bool gone; /* there is no repository any more */
	char tip[BARE_ID_LEN + 1];
	struct prompt_reading files[PROMPT_FILES];
};

static int read_pending(struct call *c, struct PromptProposalRead *ret)
{
	int err = read_asked(c, ret);

	return !err && ret->status != ProposalStatus_pending
		       ? call_fail(c, ERR_CONFLICT, "This proposal is %s already.",
				 ProposalStatus_words.list[ret->status])
		       : err;
}

static int decidePromptProposal_look(struct call *c)
{
	struct deciding *d = c->own = arena_new(c->arena, struct deciding);
	struct PromptProposalRead r;
	int err = read_pending(c, &r);

	if (!err)
		err = repo_find(c->db, c->arena, c->caller.tenant_id, c->caller.agent_id,
			RepoPurpose_code, &d->row);
	d->gone = err == ERR_NOT_FOUND && !c->problem.err;
	return d->gone ? 0 : err;
}

BODY_STEP(decidePromptProposal, prepare, PromptProposalDecision)
{
	struct deciding *d = c->own;
	struct bare *b = NULL;
	int err;

	if (!in->approved || d->gone)
		return 0;
	err = repo_open(c, &d->row, &b);
	if (!err)
		err = bare_tip(b, REPO_MAIN, d->tip, c->arena, &c->problem);
	for (int i = 0; !err && i < PROMPT_FILES; i++)
		err = projection_read(b, d->tip, i, &d->files[i], c->arena, &c->problem);
	bare_close(b);
	return err == ERR_NOT_FOUND ? 0 : err; /* no branch: no file */
}

static int file_of(const struct PromptProposalFile *f)
{
	return prompt_file_of(f->file);
}

static bool still_so(
	const struct deciding *d, const struct agent_row *agent, const struct PromptProposalRead *r)
{
	const struct PromptProposalFile *f = r->files.at;
	const char *live[PROMPT_FILES] = { agent->description_prompt, agent->bootstrap_instructions,
		agent->initial_greeting };

	for (size_t i = 0; i < r->files.count; i++) {
		int file = file_of(&f[i]);
		char was[65], is[65];

		if (file < 0 || d->files[file].side != PROMPT_READ)
			return false;
		prompt_digest(live[file], was);
		prompt_digest(d->files[file].text, is);
		if (strcmp(was, f[i].was_sha256) != 0 || strcmp(is, f[i].sha256) != 0)
			return false;
	}
	return true;
}

/* It is noted although the answer is a refusal, and what stands now is asked about. */
static int ask_anew(struct call *c, struct deciding *d, struct PromptProposalRead *r)
{
	int err = proposal_decide(
		c->db, c->caller.tenant_id, r, ProposalStatus_superseded, NULL, c->now);

	if (!err && !d->gone)
		err = repo_converge_add(c->db, c->arena, &d->row, c->now);
	if (!err)
		call_fail(c, ERR_CONFLICT,
			"The prompt or its file was changed since this was asked: what stands now is asked anew.");
	return err;
}

static int write_prompts(struct call *c, const struct deciding *d, const struct agent_row *before,
	const struct PromptProposalRead *r)
{
	const struct PromptProposalFile *f = r->files.at;
	struct agent_row after = *before;
	const char **fields[PROMPT_FILES] = { &after.description_prompt,
		&after.bootstrap_instructions, &after.initial_greeting };
	int err;

	for (size_t i = 0; i < r->files.count; i++) {
		const char *text = d->files[file_of(&f[i])].text;

		*fields[file_of(&f[i])] = *text ? text : NULL;
	}
	err = agent_row_change(c, before, &after);
	for (size_t i = 0; !err && i < r->files.count; i++)
		err = prompt_base_put(c->db, c->caller.tenant_id, c->caller.agent_id,
			file_of(&f[i]), d->files[file_of(&f[i])].text, d->tip, c->now);
	for (size_t i = 0; !err && i < r->files.count; i++)
		err = call_audit_also(c, (struct audit_entry){ .action = "agent.prompt.project",
						 .tenant_id = c->caller.tenant_id,
						 .agent_id = c->caller.agent_id,
						 .resource_id = d->row.id,
						 .meta = arena_printf(c->arena,
							 "{\"field\":\"%s\",\"commit_id\":\"%s\"}",
							 f[i].field, d->tip) });
	return err;
}

OPERATION(decidePromptProposal, PromptProposalDecision, PromptProposalRead, .on_disk = true,
	.look = decidePromptProposal_look, .prepare = decidePromptProposal_prepare)
{
	struct deciding *d = c->own;
	const struct caller *who = &c->caller;
	struct agent_row agent;
	int err = read_pending(c, out);

	if (!err)
		err = agent_row_read(c, &agent);
	if (err)
		return err;
	if (in->approved && (d->gone || !still_so(d, &agent, out)))
		err = ask_anew(c, d, out);
	else
		err = proposal_decide(c->db, who->tenant_id, out,
			in->approved ? ProposalStatus_approved : ProposalStatus_rejected,
			who->user_id, c->now);
	if (!err && out->status == ProposalStatus_approved)
		err = write_prompts(c, d, &agent, out);
	if (err)
		return err;
	c->audit.resource_id = out->id;
	c->audit.meta = arena_printf(c->arena, "{\"commit_id\":\"%s\",\"status\":\"%s\"}",
		out->commit_id, ProposalStatus_words.list[out->status]);
	return out->status == ProposalStatus_superseded ? 0 : read_asked(c, out);
}

#define PROPOSALS "/tenant/{tenant_id}/agents/{agent_id}/prompt-proposals"

static const struct route routes[] = {
	{ METHOD_GET, PROPOSALS, &listPromptProposals, PERM_AGENT_READ, 200, .tag = "Repositories",
		.doc = "List what the repository would have made of the agent's prompts, newest first: the one that "
		       "waits, and the last 50 that are decided." },
	{ METHOD_GET, PROPOSALS "/{proposal_id}", &readPromptProposal, PERM_AGENT_READ, 200,
		.tag = "Repositories",
		.doc = "Read a proposal, with the difference that it would make to each prompt." },
	{ METHOD_POST, PROPOSALS "/{proposal_id}", &decidePromptProposal, PERM_AGENT_WRITE, 200,
		"agent.prompt.decide", .tag = "Repositories", .finds_agent = true,
		.doc = "Approve a proposal, which writes the prompts, or reject it. 409 if it is decided already, or "
		       "if a prompt or its file was changed since." },
	{ METHOD_GET, "/tenant/{tenant_id}/prompt-proposals", &listWaitingProposals,
		PERM_TENANT_READ, 200, .tag = "Repositories",
		.doc = "List what waits for a word of the caller's about prompts, of all agents that they may change, "
		       "newest first." },
};
RESOURCE(proposals, routes, NULL, &proposal_api_sql);
