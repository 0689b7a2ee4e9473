/* repo_hook.c - a host says that somebody has pushed to a repository of its own that an agent has: it is looked at at once, and
 * nothing else comes of it.
 *
 * Nothing of what the host writes is read but its signature, so that a repeat
 * does no more than the first.  Who does not know the secret is not told whether
 * there is such a repository. */
#include "api/repos/repo_remote.h"
#include "outside/webhook.h"

enum { BODY_MAX = 1 << 20 };

#define UNVERIFIED "This could not be verified."

struct AgentRepoHook {
	const char *url, *secret;
};
FIELDS(AgentRepoHook) = {
	FIELD(AgentRepoHook, url, .required = true,
		.example =
			"\"https://lodge.example.org/hooks/repositories/ckz6v0u1q000001l5h3g7f2aa\"",
		.doc = "Where the host is to tell of pushes."),
	FIELD(AgentRepoHook, secret, .required = true, .example = "\"4f1c0c2b9d\"",
		.doc = "With which it signs them, or that it sends along. It is shown this once."),
};
static SCHEMA(
	AgentRepoHook, .doc = "Where and how a host tells of pushes to an agent's repository.");

OPERATION(createAgentRepoHook, NONE, AgentRepoHook, .unseals = true)
{
	struct repo_secrets secrets;
	struct repository row;
	int err = repo_here(c, &row);

	if (err)
		return err;
	if (row.host == RepoHost_embedded)
		return call_fail(c, ERR_CONFLICT,
			"The repository is this service's own, and needs nobody to tell of pushes.");
	err = repo_secrets_open(c->app->vault, c->arena, &row, &secrets);
	if (err)
		return call_fail(c, err,
			"The token of this repository cannot be opened with the present master key: give it anew.");
	secrets.hook = out->secret = repo_hook_secret(c->arena);
	row.updated_at = c->now;
	err = repo_secrets_seal(c->app->vault, c->arena, &row, &secrets);
	if (!err)
		err = repo_change(c->db, &row);
	out->url = repo_hook_url(c, row.id);
	c->audit.resource_id = row.id;
	c->location =
		arena_printf(c->arena, "/tenant/%s/agents/%s/repo", row.tenant_id, row.agent_id);
	return err;
}

/* ---- from the host ---- */

static const char *hook_header(const void *ctx, const char *name, size_t *ret_count)
{
	*ret_count = http_header_count(ctx, name);
	return http_header(ctx, name);
}

static const struct webhook_provider gitea = { .name = "gitea",
	.title = "Gitea",
	.scheme = SIGNS_BODY,
	.signature = "x-gitea-signature",
	.prefix = "" };

/* As the header says whose it is. */
static const struct webhook_provider *provider_of(const struct http_request *r)
{
	if (http_header(r, "x-gitea-signature"))
		return &gitea;
	return &webhook_providers[http_header(r, "x-hub-signature-256") ? WEBHOOK_GITHUB
									: WEBHOOK_GITLAB];
}

static bool is_signed(struct call *c, const struct repository *row)
{
	struct webhook_in in = { .body = c->raw_len ? c->raw : "",
		.len = c->raw_len,
		.header = hook_header,
		.ctx = &c->x->request,
		.now_us = c->now };
	struct repo_secrets secrets;

	return !repo_secrets_open(c->app->vault, c->arena, row, &secrets) && secrets.hook &&
	       webhook_verify(provider_of(&c->x->request), c->arena, &in,
		       (const char *const[]){ secrets.hook }, 1);
}

static int look_at_push(struct call *c)
{
	struct repository *row = c->own = arena_new(c->arena, struct repository);
	int err = mirror_find(c->db, c->arena, call_param(c, "repository_id"), row);

	if (err && err != ERR_NOT_FOUND)
		return err;
	if (err || !is_signed(c, row))
		return call_fail(c, ERR_UNAUTHENTICATED, UNVERIFIED);
	return 0;
}

OPERATION(receivePush, NONE, NONE, .harmless = true,
	.takes = (const char *const[]){ "application/json", "*/*", NULL }, .look = look_at_push)
{
	c->nothing = true;
	return mirror_wake(c->db, c->own, c->now);
}

static const struct route routes[] = {
	{ METHOD_POST, "/tenant/{tenant_id}/agents/{agent_id}/repo/push-hook", &createAgentRepoHook,
		PERM_AGENT_WRITE, 201, "agent.repo.hook", .tag = "Repositories",
		.finds_agent = true,
		.doc = "Make a secret with which a host tells of pushes, in the place of the one before." },
	{ METHOD_POST, "/hooks/repositories/{repository_id}", &receivePush, PERM_PUBLIC, 204,
		.unaudited = "it is only looked at earlier", .as_printed = true,
		.max_body = BODY_MAX, .tag = "Webhooks",
		.doc = "A host says that somebody has pushed: GitLab, Gitea, Forgejo or GitHub, with their own "
		       "signatures." },
};
RESOURCE(repo_hook, routes, NULL);
