/* repo_refs.c - the branches and tags of an agent's repository, and which of them its code is pinned to. */
#include "api/agents/agent_extras.h"
#include "api/agents/agent_row.h"
#include "api/agents/agents.h"
#include "api/repos/repo_call.h"

static int read_refs(struct call *c, struct bare *b, void *ctx)
{
	struct AgentRepoRefs *out = ctx;
	bool branches = false, tags = false;
	int err = bare_refs(b, BARE_BRANCHES, c->arena, &out->branches, &branches, &c->problem);

	if (!err)
		err = bare_refs(b, BARE_TAGS, c->arena, &out->tags, &tags, &c->problem);
	out->complete = !err && branches && tags;
	return err;
}

/* Both lists are empty then, and say so. */
static int no_refs(struct call *c, const char *why, void *ctx)
{
	(void)why;
	*(struct AgentRepoRefs *)ctx =
		(struct AgentRepoRefs){ .branches = { arena_alloc(c->arena, 1), 0 },
			.tags = { arena_alloc(c->arena, 1), 0 } };
	return 0;
}

OPERATION(listAgentRepoRefs, NONE, AgentRepoRefs)
{
	struct repo_read what = { .read = read_refs, .missing = no_refs, .ctx = out };
	int err = repo_find(c->db, c->arena, c->caller.tenant_id, c->caller.agent_id,
		RepoPurpose_code, &what.row);

	if (err == ERR_NOT_FOUND)
		return no_refs(c, NULL, out);
	return err ? err : repo_read_later(c, &what);
}

static int look_at_pin(struct call *c)
{
	struct repository *row = c->own = arena_new(c->arena, struct repository);
	int err = repo_find(
		c->db, c->arena, c->caller.tenant_id, c->caller.agent_id, RepoPurpose_code, row);

	return err == ERR_NOT_FOUND ? call_field(c, "code_ref", "unknown",
					      "cannot be chosen: this agent has no repository")
				    : err;
}

/* The one name is looked for, however many there are. */
BODY_STEP(setAgentCodeRef, prepare, AgentCodeRefUpdate)
{
	struct bare *b = NULL;
	bool has = false;
	int err = repo_open(c, c->own, &b);

	if (!err)
		err = bare_has_ref(b, in->code_ref, &has, c->arena, &c->problem);
	bare_close(b);
	if (!err && !has)
		return call_field(c, "code_ref", "unknown",
			"is neither a branch nor a tag of the agent's repository");
	return err;
}

/* The agent, so that its ETag is the same here and there. */
OPERATION(readAgentCodeRef, NONE, AgentRead)
{
	return agent_show(c, out);
}

OPERATION(setAgentCodeRef, AgentCodeRefUpdate, AgentRead, .on_disk = true, .look = look_at_pin,
	.prepare = setAgentCodeRef_prepare)
{
	struct agent_row before, after;
	int err = agent_row_read(c, &before);

	if (err)
		return err;
	call_merge(c, CHANGE(agent_row, &before, &after));
	return agent_row_change(c, &before, &after);
}

#define A "/tenant/{tenant_id}/agents/{agent_id}"

static const struct route routes[] = {
	{ METHOD_GET, A "/repo/refs", &listAgentRepoRefs, PERM_AGENT_READ, 200,
		.tag = "Repositories",
		.doc = "The branches and tags of the agent's repository. Without a repository, or while it "
		       "cannot be read, both are empty and not complete." },
	{ METHOD_GET, A "/code-ref", &readAgentCodeRef, PERM_AGENT_READ, 200, .tag = "Repositories",
		.finds_agent = true,
		.doc = "The agent, with the branch or tag that its code is pinned to." },
	{ METHOD_PATCH, A "/code-ref", &setAgentCodeRef, PERM_AGENT_WRITE, 200, "agent.code_ref",
		.tag = "Repositories", .finds_agent = true,
		.doc = "Pin the agent's code to a branch or tag of its repository." },
};
RESOURCE(repo_refs, routes, NULL);
