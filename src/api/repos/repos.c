/* repos.c - an agent is given a repository of its own, with its prompts in it or as a copy of another one, and lets go of it.
 *
 * It is made here, or as a project on the host that the settings name: then what is kept here is a mirror of it. */
#include "api/agents/agent_row.h"
#include "api/agents/agents.h"
#include "api/repos/repo_on_host.h"
#include "api/service.h"
#include "base/clock.h"
#include "repos/converge.h"
#include "repos/prompt_base.h"
#include "repos/proposal.h"

#define STANDS "This agent has a repository already."

static int none_stands(struct call *c)
{
	struct repository row;
	int err = repo_find(
		c->db, c->arena, c->caller.tenant_id, c->caller.agent_id, RepoPurpose_code, &row);

	return err == ERR_NOT_FOUND ? 0 : err ? err : call_fail(c, ERR_CONFLICT, STANDS);
}

struct AgentRepoCreate {
	const char *import_url, *token;
	int projection;
};
FIELDS(AgentRepoCreate) = {
	FIELD(AgentRepoCreate, import_url, .nullable = true, BOUNDS(1, REPO_URL_MAX),
		.example = "\"https://git.example.org/team/prompts.git\"",
		.doc = "A repository that this one begins as a copy of: its branches and tags. Without it, the "
		       "agent's prompts are its first commit."),
	FIELD(AgentRepoCreate, token, .nullable = true, .secret = true, BOUNDS(1, REPO_TOKEN_MAX),
		.example = "\"a-token-of-that-host\"",
		.doc = "What that one is read with: a token, or a name and a password with a colon between. It "
		       "is not kept."),
	FIELD(AgentRepoCreate, projection, .words = &RepoProjection_words, .otherwise = "\"off\"",
		.doc = "Whether prompts follow the repository from the beginning."),
};
static SCHEMA(AgentRepoCreate, .doc = "Makes the repository of an agent.");

CHECK_STEP(createAgentRepo, AgentRepoCreate)
{
	repo_url_check(c, "import_url", in->import_url);
	repo_token_check(c, in->token);
	if (in->token && !in->import_url && !problem_names(&c->problem, "import_url"))
		call_field(c, "token", "unused", "is only of use with import_url");
}

/* What is carried from one step to the next. */
struct repo_new {
	struct repo_making making;
	struct repo_project project;
};

/* A copy waits for another host and for git, as does a project. */
BODY_STEP(createAgentRepo, look, AgentRepoCreate)
{
	struct repo_new *n = c->own = arena_new(c->arena, struct repo_new);
	struct repo_making *m = &n->making;
	struct agent_row agent;
	int err;

	createAgentRepo_check_typed(c, in);
	if (c->problem.err)
		return c->problem.err;
	err = none_stands(c);
	if (!err)
		err = agent_row_read(c, &agent);
	if (err)
		return err;
	m->prompts = (struct prompt_texts){ { agent.description_prompt,
		agent.bootstrap_instructions, agent.initial_greeting } };
	m->name = agent.name;
	m->email = arena_printf(c->arena, "%s@lodge.internal", agent.slug);
	if (in->import_url)
		c->elsewhere = c->app->remotes;
	return repo_project_look(c, agent.slug, RepoPurpose_code, &n->project);
}

BODY_STEP(createAgentRepo, prepare, AgentRepoCreate)
{
	struct repo_new *n = c->own;

	if (n->project.host.kind)
		return repo_make_on_host(c, &n->making, &n->project, in->import_url, in->token);
	return in->import_url ? repo_make_copy(c, &n->making, in->import_url, in->token)
			      : repo_make_first(c, &n->making);
}

/* A project on another host is taken over when somebody asks again. */
static void discard_repo(struct call *c)
{
	const struct repo_new *n = c->own;

	if (n && *n->making.id.text)
		repo_forget(service_of(c->app)->repos, c->arena, n->making.id.text);
}

/* The row, and where it is cloned from.  A project is looked at like every repository of another host from now on. */
static int put_row(
	struct call *c, const struct repo_project *p, struct repository *row, const char **ret_url)
{
	struct agent_row agent;
	int err;

	if (p->host.kind) {
		err = repo_project_put(c, p, row);
		*ret_url = row->url;
		return err ? err : mirror_begin(c->db, c->arena, row, c->now);
	}
	err = repo_add(c->db, row);
	if (!err)
		err = agent_row_read(c, &agent);
	return err ? err
		   : repo_url_of(c->db, c->arena, c->app->settings.public_url, row->tenant_id,
			     agent.slug, RepoPurpose_code, ret_url);
}

/* What a copy has in the files of prompts was never the same as they. */
static int put_bases(struct call *c, const struct repo_making *m)
{
	int err = 0;

	for (int i = 0; !err && i < PROMPT_FILES; i++)
		if (m->same[i])
			err = prompt_base_put(c->db, c->caller.tenant_id, c->caller.agent_id, i,
				m->prompts.of[i], m->tip, c->now);
	return err;
}

OPERATION(createAgentRepo, AgentRepoCreate, AgentRead, .body_optional = true, .on_disk = true,
	.check = createAgentRepo_check, .look = createAgentRepo_look,
	.prepare = createAgentRepo_prepare, .discard = discard_repo)
{
	const struct repo_new *n = c->own;
	const struct repo_making *m = &n->making;
	const struct caller *who = &c->caller;
	struct repository row = { .tenant_id = who->tenant_id,
		.id = m->id.text,
		.agent_id = who->agent_id,
		.purpose = RepoPurpose_code,
		.host = RepoHost_embedded,
		.projection = in->projection,
		.tip = m->tip,
		.observed_at = c->now,
		.next_attempt_at = NIL,
		.size_bytes = m->size_bytes,
		.created_at = c->now,
		.updated_at = c->now };
	const char *url = NULL;
	int err = none_stands(c);

	if (!err)
		err = put_row(c, &n->project, &row, &url);
	if (!err)
		err = put_bases(c, m);
	if (!err && (in->import_url || m->taken_over))
		err = repo_converge_add(c->db, c->arena, &row, c->now);
	if (!err)
		err = repo_shown_at(c, url);
	c->audit.resource_id = row.id;
	c->took = !err;
	c->location = arena_printf(c->arena, "/tenant/%s/agents/%s", who->tenant_id, who->agent_id);
	return err;
}

OPERATION(deleteAgentRepo, NONE, AgentRead)
{
	struct repository row;
	int err = repo_here(c, &row);

	if (!err)
		err = repo_let_go(c, &row);
	if (!err)
		err = prompt_bases_drop(c->db, row.tenant_id, row.agent_id);
	if (!err)
		err = proposal_withdraw(c->db, c->arena, row.tenant_id, row.agent_id, c->now);
	if (!err)
		err = prompt_refusals_drop(c->db, row.tenant_id, row.agent_id);
	if (!err)
		err = repo_shown_at(c, NULL);
	c->audit.resource_id = row.id;
	return err;
}

struct AgentRepoRead {
	const char *id;
	int host, projection;
	const char *url, *web_url, *tip;
	struct moment observed_at;
	const char *last_error;
	struct moment next_attempt_at;
	bool has_token;
	int64_t size_bytes;
	struct moment created_at;
};
FIELDS(AgentRepoRead) = {
	FIELD(AgentRepoRead, id, .required = true, .id = true, .doc = "The repository."),
	FIELD(AgentRepoRead, host, .required = true, .words = &RepoHost_words,
		.doc = "Who keeps it."),
	FIELD(AgentRepoRead, projection, .required = true, .words = &RepoProjection_words,
		.doc = "Whether prompts follow it."),
	FIELD(AgentRepoRead, url, .required = true,
		.example = "\"https://lodge.example.org/git/demo/support-desk.git\"",
		.doc = "Address to clone it from, over HTTP."),
	FIELD(AgentRepoRead, web_url, .required = true, .nullable = true, .example = "null",
		.doc = "Where people look at it; null where that is not known."),
	FIELD(AgentRepoRead, tip, .required = true, .nullable = true,
		.example = "\"9fceb02d0ae598e95dc970b74767f19372d61af8\"",
		.doc = "The commit of its main branch, when that was last looked at."),
	FIELD(AgentRepoRead, observed_at, .required = true, .nullable = true,
		.doc = "When it was last looked at."),
	FIELD(AgentRepoRead, last_error, .required = true, .nullable = true, .example = "null",
		.doc = "Why it could not be looked at since then; null if it could."),
	FIELD(AgentRepoRead, next_attempt_at, .required = true, .nullable = true, .example = "null",
		.doc = "When another host is asked again whether it has moved; null of our own, and while it is "
		       "fetched."),
	FIELD(AgentRepoRead, has_token, .required = true,
		.doc = "Whether a token for another host is kept. It is shown to nobody."),
	FIELD(AgentRepoRead, size_bytes, .required = true, .doc = "What it had on the disk then."),
	FIELD(AgentRepoRead, created_at, .required = true, .doc = "When it was made."),
};
static SCHEMA(AgentRepoRead, .doc = "The repository of an agent.");

OPERATION(readAgentRepo, NONE, AgentRepoRead)
{
	struct repo_secrets secrets;
	struct repository row;
	struct agent_row agent;
	bool has_token, lost;
	int err = agent_row_read(c, &agent);

	if (!err)
		err = repo_here(c, &row);
	if (err)
		return err;
	has_token = !repo_secrets_open(c->app->vault, c->arena, &row, &secrets) && secrets.token;
	lost = (row.host == RepoHost_embedded || row.refs_sha256) &&
	       !repo_is_there(service_of(c->app)->repos, c->arena, row.id);
	*out = (struct AgentRepoRead){ .id = row.id,
		.host = row.host,
		.projection = row.projection,
		.url = agent.repo_url,
		.web_url = row.web_url,
		.tip = row.tip,
		.observed_at = { row.observed_at },
		.last_error = lost ? REPO_LOST : row.last_error,
		.next_attempt_at = { row.next_attempt_at },
		.has_token = has_token,
		.size_bytes = row.size_bytes,
		.created_at = { row.created_at } };
	return 0;
}

#define REPO "/tenant/{tenant_id}/agents/{agent_id}/repo"

static const struct route routes[] = {
	{ METHOD_POST, REPO, &createAgentRepo, PERM_AGENT_WRITE, 201, "agent.repo.create",
		.tag = "Repositories", .finds_agent = true, .patient = true,
		.doc = "Give the agent a git repository of its own, with its prompts in it or as a copy of another." },
	{ METHOD_GET, REPO, &readAgentRepo, PERM_AGENT_READ, 200, .tag = "Repositories",
		.finds_agent = true, .doc = "Read what the agent's repository is, and how it is." },
	{ METHOD_DELETE, REPO, &deleteAgentRepo, PERM_AGENT_WRITE, 200, "agent.repo.delete",
		.tag = "Repositories", .finds_agent = true,
		.doc = "Let go of the agent's repository. One of our own is kept for 30 days, and then removed; of "
		       "another host the mirror and the token go at once, and what is on the host stays." },
};
RESOURCE(repos, routes, NULL);
