/* repos.c - an agent is given a repository of its own, with its prompts in it, and lets go of it.
 *
 * The folder is made before the row that names it: a process that dies in
 * between leaves a folder that nobody names, which is removed a day later. */
#include <string.h>

#include "api/agents/agent_row.h"
#include "api/agents/agents.h"
#include "api/repos/repo_call.h"
#include "api/service.h"
#include "base/clock.h"
#include "repos/converge.h"
#include "repos/prompt_base.h"
#include "repos/prompt_file.h"
#include "repos/proposal.h"

#define STANDS "This agent has a repository already."

/* What is carried from one step to the next. */
struct repo_making {
	struct prompt_texts prompts; /* as they went into it */
	const char *name, *email;
	struct id id;
	char tip[BARE_ID_LEN + 1];
	int64_t size_bytes;
};

static int none_stands(struct call *c)
{
	struct repository row;
	int err = repo_find(
		c->db, c->arena, c->caller.tenant_id, c->caller.agent_id, RepoPurpose_code, &row);

	return err == ERR_NOT_FOUND ? 0 : err ? err : call_fail(c, ERR_CONFLICT, STANDS);
}

static int look_to_make(struct call *c)
{
	struct repo_making *m = c->own = arena_new(c->arena, struct repo_making);
	struct agent_row agent;
	int err = none_stands(c);

	if (!err)
		err = agent_row_read(c, &agent);
	if (err)
		return err;
	m->prompts = (struct prompt_texts){ { agent.description_prompt,
		agent.bootstrap_instructions, agent.initial_greeting } };
	m->name = agent.name;
	m->email = arena_printf(c->arena, "%s@lodge.internal", agent.slug);
	return 0;
}

static int make_repo(struct call *c)
{
	struct repo_making *m = c->own;
	struct repos *repos = service_of(c->app)->repos;
	struct bare_file files[PROMPT_FILES];
	struct bare *b = NULL;
	const char *path;
	size_t count = 0;
	int err;

	m->id = id_new(NULL);
	path = repo_path(repos, c->arena, m->id.text);
	for (int i = 0; i < PROMPT_FILES; i++)
		if (m->prompts.of[i] && *m->prompts.of[i]) {
			const char *bytes = prompt_file_bytes(c->arena, m->prompts.of[i]);

			files[count++] =
				(struct bare_file){ prompt_files[i].path, bytes, strlen(bytes) };
		}
	err = bare_make(path, REPO_MAIN, c->arena, &c->problem);
	if (!err)
		err = bare_open(&b, path, c->arena, &c->problem);
	if (!err)
		err = bare_commit(b,
			&(struct bare_committing){ .branch = REPO_MAIN,
				.files = files,
				.count = count,
				.name = m->name,
				.email = m->email,
				.message = "Begin with the prompts of the agent\n",
				.at = c->now / SECOND_US },
			m->tip, c->arena, &c->problem);
	bare_close(b);
	m->size_bytes = err ? 0 : repo_size(repos, c->arena, m->id.text);
	return err;
}

/* What the agent shows of it, and the reply. */
static int change_url(struct call *c, const char *url)
{
	struct agent_row before, after;
	int err = agent_row_read(c, &before);

	if (err)
		return err;
	after = before;
	after.repo_url = url;
	return agent_row_change(c, &before, &after);
}

struct AgentRepoCreate {
	int projection;
};
FIELDS(AgentRepoCreate) = {
	FIELD(AgentRepoCreate, projection, .words = &RepoProjection_words, .otherwise = "\"off\"",
		.doc = "Whether prompts follow the repository from the beginning."),
};
static SCHEMA(AgentRepoCreate, .doc = "Makes the repository of an agent.");

OPERATION(createAgentRepo, AgentRepoCreate, AgentRead, .body_optional = true, .on_disk = true,
	.look = look_to_make, .prepare = make_repo)
{
	const struct repo_making *m = c->own;
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
	struct agent_row agent;
	const char *url = NULL;
	int err = none_stands(c);

	if (!err)
		err = repo_add(c->db, &row);
	if (!err)
		err = agent_row_read(c, &agent);
	if (!err)
		err = repo_url_of(c->db, c->arena, c->app->settings.public_url, who->tenant_id,
			agent.slug, RepoPurpose_code, &url);
	for (int i = 0; !err && i < PROMPT_FILES; i++)
		if (m->prompts.of[i] && *m->prompts.of[i])
			err = prompt_base_put(c->db, who->tenant_id, who->agent_id, i,
				m->prompts.of[i], m->tip, c->now);
	if (!err)
		err = change_url(c, url);
	c->audit.resource_id = row.id;
	c->location = arena_printf(c->arena, "/tenant/%s/agents/%s", who->tenant_id, who->agent_id);
	return err;
}

OPERATION(deleteAgentRepo, NONE, AgentRead)
{
	struct repository row;
	int err = repo_here(c, &row);

	if (!err)
		err = repo_release(c->db, &row, c->now + REPO_KEPT_US, c->now);
	if (err == ERR_CONFLICT)
		return call_fail(c, err,
			"Of this agent %d repositories are kept already that were let go of within 30 days.",
			REPO_RELEASED_MAX);
	if (!err)
		err = prompt_bases_drop(c->db, row.tenant_id, row.agent_id);
	if (!err)
		err = proposal_withdraw(c->db, c->arena, row.tenant_id, row.agent_id, c->now);
	if (!err)
		err = prompt_refusals_drop(c->db, row.tenant_id, row.agent_id);
	if (!err)
		err = change_url(c, NULL);
	c->audit.resource_id = row.id;
	return err;
}

struct AgentRepoRead {
	const char *id;
	int host, projection;
	const char *url, *tip;
	struct moment observed_at;
	const char *last_error;
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
	FIELD(AgentRepoRead, tip, .required = true, .nullable = true,
		.example = "\"9fceb02d0ae598e95dc970b74767f19372d61af8\"",
		.doc = "The commit of its main branch, when that was last looked at."),
	FIELD(AgentRepoRead, observed_at, .required = true, .nullable = true,
		.doc = "When it was last looked at."),
	FIELD(AgentRepoRead, last_error, .required = true, .nullable = true, .example = "null",
		.doc = "Why it could not be looked at since then; null if it could."),
	FIELD(AgentRepoRead, size_bytes, .required = true, .doc = "What it had on the disk then."),
	FIELD(AgentRepoRead, created_at, .required = true, .doc = "When it was made."),
};
static SCHEMA(AgentRepoRead, .doc = "The repository of an agent.");

OPERATION(readAgentRepo, NONE, AgentRepoRead)
{
	struct repository row;
	struct agent_row agent;
	int err = agent_row_read(c, &agent);

	if (!err)
		err = repo_here(c, &row);
	if (err)
		return err;
	*out = (struct AgentRepoRead){ .id = row.id,
		.host = row.host,
		.projection = row.projection,
		.url = agent.repo_url,
		.tip = row.tip,
		.observed_at = { row.observed_at },
		.last_error = row.last_error,
		.size_bytes = row.size_bytes,
		.created_at = { row.created_at } };
	return 0;
}

struct AgentRepoUpdate {
	uint64_t present;
	int projection;
};
FIELDS(AgentRepoUpdate) = {
	FIELD(AgentRepoUpdate, projection, .words = &RepoProjection_words,
		.doc = "Whether prompts follow the repository; propose and auto begin at once."),
};
static SCHEMA(
	AgentRepoUpdate, .partial = true, .doc = "Changes how prompts follow the repository.");

OPERATION(updateAgentRepo, AgentRepoUpdate, AgentRead)
{
	struct repository before, after;
	int err = repo_here(c, &before);

	if (err)
		return err;
	after = before;
	if (in->projection >= 0)
		after.projection = in->projection;
	after.updated_at = c->now;
	call_changed(c, &repository_schema, &before, &after);
	err = repo_change(c->db, &after);
	if (!err && after.projection != before.projection)
		err = proposal_withdraw(c->db, c->arena, after.tenant_id, after.agent_id, c->now);
	if (!err)
		err = repo_converge_add(c->db, c->arena, &after, c->now);
	c->audit.resource_id = after.id;
	return err ? err : agent_show(c, out);
}

#define REPO "/tenant/{tenant_id}/agents/{agent_id}/repo"

static const struct route routes[] = {
	{ METHOD_POST, REPO, &createAgentRepo, PERM_AGENT_WRITE, 201, "agent.repo.create",
		.tag = "Repositories", .finds_agent = true,
		.doc = "Give the agent a git repository of its own, with its prompts in it." },
	{ METHOD_GET, REPO, &readAgentRepo, PERM_AGENT_READ, 200, .tag = "Repositories",
		.finds_agent = true, .doc = "Read what the agent's repository is, and how it is." },
	{ METHOD_PATCH, REPO, &updateAgentRepo, PERM_AGENT_WRITE, 200, "agent.repo.update",
		.tag = "Repositories", .finds_agent = true,
		.doc = "Say whether the agent's prompts follow its repository." },
	{ METHOD_DELETE, REPO, &deleteAgentRepo, PERM_AGENT_WRITE, 200, "agent.repo.delete",
		.tag = "Repositories", .finds_agent = true,
		.doc = "Let go of the agent's repository. It is kept for 30 days, and then removed." },
};
RESOURCE(repos, routes, NULL);
