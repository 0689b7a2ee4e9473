/* repo_bind.c - which repository an agent has and how its prompts follow it: another one on another host takes the place of the
 * one it had, with a token to read it.
 *
 * The host is asked for its refs before anything is changed, so that an address
 * or a token that is wrong is told to whoever gives it.  The mirror is fetched
 * by a job afterwards. */
#include <string.h>

#include "api/agents/agent_row.h"
#include "api/agents/agents.h"
#include "api/repos/repo_remote.h"
#include "api/service.h"
#include "base/same.h"
#include "outside/tool_config.h"
#include "repos/converge.h"
#include "repos/prompt_base.h"
#include "repos/proposal.h"
#include "repos/repo_mark.h"

struct AgentRepoUpdate {
	uint64_t present;
	int projection;
	const char *url, *token;
};
FIELDS(AgentRepoUpdate) = {
	FIELD(AgentRepoUpdate, projection, .words = &RepoProjection_words,
		.doc = "Whether prompts follow the repository; propose and auto begin at once."),
	FIELD(AgentRepoUpdate, url, BOUNDS(1, REPO_URL_MAX),
		.example = "\"https://git.example.org/team/prompts.git\"",
		.doc = "A repository on another host that takes the place of the present one: its address, as it "
		       "is cloned by HTTPS."),
	FIELD(AgentRepoUpdate, token, .nullable = true, .secret = true, BOUNDS(1, REPO_TOKEN_MAX),
		.example = "\"a-token-of-that-host\"",
		.doc = "What it is read with, and written where a prompt is committed: a token, or a name and a "
		       "password with a colon between; null: none. It is kept for this address alone."),
};
static SCHEMA(AgentRepoUpdate, .partial = true,
	.doc = "Binds a repository on another host, or changes how prompts follow the one that is there.");

/* What is carried from one step to the next. */
struct binding {
	bool stands, asks;     /* there is one; the host is to be asked */
	struct repository row; /* the one that stands */
	const char *url, *token;
	struct id id; /* of a new one */
	bool complete;
};

CHECK_STEP(updateAgentRepo, AgentRepoUpdate)
{
	repo_url_check(c, "url", in->url);
	repo_token_check(c, in->token);
}

/* A token that is kept goes nowhere but where it was given for. */
static int token_to_use(struct call *c, const struct AgentRepoUpdate *in, struct binding *b)
{
	struct repo_secrets secrets = { 0 };

	b->token = in->token;
	if (schema_present(&AgentRepoUpdate_schema, in, "token") || !b->stands || !b->row.url ||
		!tool_config_same_origin(c->arena, b->row.url, b->url))
		return 0;
	if (repo_secrets_open(c->app->vault, c->arena, &b->row, &secrets))
		return call_field(c, "token", "required",
			"is required: the one that is stored cannot be opened with the present master key");
	b->token = secrets.token;
	return 0;
}

BODY_STEP(updateAgentRepo, look, AgentRepoUpdate)
{
	struct binding *b = c->own = arena_new(c->arena, struct binding);
	bool token = schema_present(&AgentRepoUpdate_schema, in, "token");
	int err;

	updateAgentRepo_check_typed(c, in);
	if (c->problem.err)
		return c->problem.err;
	err = repo_find(c->db, c->arena, c->caller.tenant_id, c->caller.agent_id, RepoPurpose_code,
		&b->row);
	b->stands = !err;
	if (err && (err != ERR_NOT_FOUND || !in->url))
		return err == ERR_NOT_FOUND ? call_fail(c, err, REPO_NONE) : err;
	if (token && !in->url && !b->row.url)
		return call_field(
			c, "token", "unused", "is of no use: the repository is this service's own");
	b->url = in->url ? in->url : b->row.url;
	b->asks = in->url || token;
	c->elsewhere = b->asks ? c->app->tools : NULL;
	return b->asks ? token_to_use(c, in, b) : 0;
}

BODY_STEP(updateAgentRepo, prepare, AgentRepoUpdate)
{
	struct repos *repos = service_of(c->app)->repos;
	struct binding *b = c->own;
	const char *moved = NULL;
	struct remote remote = { .url = b->url,
		.egress = repo_egress(c),
		.stop = &c->work.withdrawn,
		.ret_url = &moved };
	struct remote_said said;
	struct ls_refs refs;
	int err;

	if (!b->asks)
		return 0;
	/* Without one of its own, a project that was made here goes by the operator's again. */
	remote_set_token(&remote, c->arena,
		in->url ? b->token
			: repo_token(&(struct repo_secrets){ .token = b->token }, &b->row,
				  service_of(c->app)->host));
	said = remote_refs_list(&remote, c->arena, &refs);
	if (said.end)
		return repo_remote_fault(c, &said, "url");
	b->url = moved;
	if (!in->url)
		return 0;
	b->id = id_new(NULL);
	err = repo_make(repos, c->arena, b->id.text, &c->problem);
	if (err)
		repo_forget(repos, c->arena, b->id.text);
	return err;
}

static void discard_binding(struct call *c)
{
	const struct binding *b = c->own;

	if (b && *b->id.text)
		repo_forget(service_of(c->app)->repos, c->arena, b->id.text);
}

/* The former one is let go of as if it had been deleted. */
static int bind_new(struct call *c, const struct AgentRepoUpdate *in, const struct binding *b,
	const struct repository *before, struct repository *ret)
{
	const struct caller *who = &c->caller;
	int err = 0;

	*ret = (struct repository){ .tenant_id = who->tenant_id,
		.id = b->id.text,
		.agent_id = who->agent_id,
		.purpose = RepoPurpose_code,
		.host = RepoHost_git,
		.projection = in->projection >= 0 ? in->projection
			      : before		  ? before->projection
						  : RepoProjection_off,
		.observed_at = NIL,
		.next_attempt_at = NIL,
		.created_at = c->now,
		.updated_at = c->now,
		.url = b->url };
	if (before)
		err = repo_let_go(c, before);
	if (!err)
		err = prompt_bases_drop(c->db, who->tenant_id, who->agent_id);
	if (!err)
		err = proposal_withdraw(c->db, c->arena, who->tenant_id, who->agent_id, c->now);
	if (!err)
		err = prompt_refusals_drop(c->db, who->tenant_id, who->agent_id);
	if (!err)
		err = repo_secrets_seal(
			c->app->vault, c->arena, ret, &(struct repo_secrets){ .token = b->token });
	if (!err)
		err = repo_add(c->db, ret);
	if (!err)
		err = mirror_begin(c->db, c->arena, ret, c->now);
	return err ? err : repo_shown_at(c, ret->url);
}

static int change_token(struct call *c, const struct binding *b, struct repository *row)
{
	struct repo_secrets secrets = { 0 };

	repo_secrets_open(
		c->app->vault, c->arena, row, &secrets); /* one that is gone is replaced */
	secrets.token = b->token;
	return repo_secrets_seal(c->app->vault, c->arena, row, &secrets);
}

/* What `look` saw may have gone meanwhile. */
static int find_again(struct call *c, const struct binding *b, struct repository *ret)
{
	int err = repo_find(
		c->db, c->arena, c->caller.tenant_id, c->caller.agent_id, RepoPurpose_code, ret);

	if (err && err != ERR_NOT_FOUND)
		return err;
	if (!err != b->stands || (!err && strcmp(ret->id, b->row.id) != 0))
		return call_fail(
			c, ERR_CONFLICT, "The repository was changed meanwhile: look at it again.");
	return 0;
}

OPERATION(updateAgentRepo, AgentRepoUpdate, AgentRead, .on_disk = true, .unseals = true,
	.check = updateAgentRepo_check, .look = updateAgentRepo_look,
	.prepare = updateAgentRepo_prepare, .discard = discard_binding)
{
	const struct binding *b = c->own;
	struct repository before, after;
	int err = find_again(c, b, &before);

	if (err)
		return err;
	if (in->url) {
		struct repository none = { .tenant_id = NULL };

		err = bind_new(c, in, b, b->stands ? &before : NULL, &after);
		call_changed_too(c, &repository_schema, b->stands ? &before : &none, &after);
		c->audit.resource_id = after.id;
		c->took = !err;
		return err;
	}
	after = before;
	if (in->projection >= 0)
		after.projection = in->projection;
	after.updated_at = c->now;
	if (b->asks) { /* and it answered: what was wrong with it before does not put off the next look */
		after.last_error = NULL;
		after.failures = 0;
		err = change_token(c, b, &after);
	}
	call_changed(c, &repository_schema, &before, &after);
	if (!err)
		err = repo_change(c->db, &after);
	if (!err && after.projection != before.projection)
		err = proposal_withdraw(c->db, c->arena, after.tenant_id, after.agent_id, c->now);
	if (!err && b->asks)
		err = mirror_wake(c->db, &after, c->now);
	if (!err)
		err = repo_converge_add(c->db, c->arena, &after, c->now);
	c->audit.resource_id = after.id;
	return err ? err : agent_show(c, out);
}

#define REPO "/tenant/{tenant_id}/agents/{agent_id}/repo"

static const struct route routes[] = {
	{ METHOD_PATCH, REPO, &updateAgentRepo, PERM_AGENT_WRITE, 200, "agent.repo.update",
		.tag = "Repositories", .finds_agent = true,
		.doc = "Bind a repository on another host, or say whether the agent's prompts follow the one it has." },
};
RESOURCE(repo_bind, routes, NULL);
