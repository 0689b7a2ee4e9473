/* repo_refs.c - the branches and tags of an agent's repository, and which of them its code is pinned to.
 *
 * Of another host the mirror tells them for a minute after it was held against
 * the host; after that the host itself is asked, off the loop. */
#include <string.h>

#include "api/agents/agent_extras.h"
#include "api/agents/agent_row.h"
#include "api/agents/agents.h"
#include "api/repos/repo_remote.h"

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

/* ---- of another host ---- */

struct refs_asked {
	struct remote remote;
	struct AgentRepoRefs *out;
};

static struct list names_of(struct arena *a, const struct ls_refs *refs, const char *prefix)
{
	const char **names = arena_array(a, const char *, refs->count + 1);
	size_t len = strlen(prefix), count = 0;

	for (size_t i = 0; i < refs->count; i++)
		if (strncmp(refs->at[i].name, prefix, len) == 0)
			names[count++] = refs->at[i].name + len;
	return (struct list){ names, count };
}

/* As the host has them now; while it does not answer, as the mirror has them, which may not be all. */
static int ask_for_refs(struct call *c, struct bare *b, void *ctx)
{
	struct refs_asked *asked = ctx;
	struct ls_refs refs;
	int err;

	if (!remote_refs_list(&asked->remote, c->arena, &refs).end) {
		*asked->out = (struct AgentRepoRefs){ .branches = names_of(
							      c->arena, &refs, "refs/heads/"),
			.tags = names_of(c->arena, &refs, "refs/tags/"),
			.complete = refs.complete };
		return 0;
	}
	err = read_refs(c, b, asked->out);
	asked->out->complete = false;
	return err;
}

static int no_refs_asked(struct call *c, const char *why, void *ctx)
{
	return no_refs(c, why, ((struct refs_asked *)ctx)->out);
}

/* A host that did not answer is asked when its time has come, and not by everybody who looks. */
static int read_mirrored_refs(struct call *c, struct bare *b, void *ctx)
{
	struct refs_asked *asked = ctx;
	int err = read_refs(c, b, asked->out);

	asked->out->complete = false;
	return err;
}

static int mirrored_refs(struct call *c, struct repo_read *what, struct AgentRepoRefs *out)
{
	struct refs_asked *asked = arena_new(c->arena, struct refs_asked);
	int err = what->row.failures ? 0 : repo_remote(c, &what->row, &asked->remote);

	if (err)
		return err;
	asked->out = out;
	what->ctx = asked;
	what->missing = no_refs_asked;
	what->read = what->row.failures ? read_mirrored_refs : ask_for_refs;
	what->elsewhere = what->row.failures ? NULL : c->app->tools;
	return 0;
}

OPERATION(listAgentRepoRefs, NONE, AgentRepoRefs)
{
	struct repo_read what = { .read = read_refs, .missing = no_refs, .ctx = out };
	int err = repo_find(c->db, c->arena, c->caller.tenant_id, c->caller.agent_id,
		RepoPurpose_code, &what.row);

	if (err == ERR_NOT_FOUND)
		return no_refs(c, NULL, out);
	if (!err && what.row.host != RepoHost_embedded &&
		!(mirror_is_fresh(&what.row, c->now) && what.row.complete && !what.row.failures))
		err = mirrored_refs(c, &what, out);
	return err ? err : repo_read_later(c, &what);
}

struct pinning {
	struct repository row;
	struct remote remote;
};

static int look_at_pin(struct call *c)
{
	struct pinning *pin = c->own = arena_new(c->arena, struct pinning);
	struct agent_row agent;
	int err = agent_row_read(c, &agent);

	if (err)
		return err;
	err = repo_find(c->db, c->arena, c->caller.tenant_id, c->caller.agent_id, RepoPurpose_code,
		&pin->row);
	if (err == ERR_NOT_FOUND)
		return call_field(
			c, "code_ref", "unknown", "cannot be chosen: this agent has no repository");
	if (!err && pin->row.host != RepoHost_embedded) {
		c->elsewhere = c->app->tools;
		err = repo_remote(c, &pin->row, &pin->remote);
	}
	return err;
}

static int unknown_pin(struct call *c)
{
	return call_field(c, "code_ref", "unknown",
		"is neither a branch nor a tag of the agent's repository");
}

/* The host itself, by the one name. */
static int ask_for_pin(struct call *c, const struct pinning *pin, const char *name)
{
	struct remote_ref found;
	struct remote_said said = remote_ref_exact(&pin->remote, c->arena, name, &found);

	if (said.end)
		return call_fail(c, ERR_UPSTREAM, "%s", said.why);
	return found.is_branch || found.is_tag ? 0 : unknown_pin(c);
}

/* The one name is looked for, however many there are. */
BODY_STEP(setAgentCodeRef, prepare, AgentCodeRefUpdate)
{
	const struct pinning *pin = c->own;
	bool here = pin->row.host == RepoHost_embedded, fresh = mirror_is_fresh(&pin->row, c->now),
	     has = false;
	struct bare *b = NULL;
	int err = 0;

	if (here || fresh) {
		err = repo_open(c, &pin->row, &b);
		if (!err)
			err = bare_has_ref(b, in->code_ref, &has, c->arena, &c->problem);
		bare_close(b);
	}
	if (err || has)
		return err;
	if (here || (fresh && pin->row.complete && !pin->row.failures))
		return unknown_pin(c);
	return ask_for_pin(c, pin, in->code_ref);
}

/* The agent, so that its ETag is the same here and there. */
OPERATION(readAgentCodeRef, NONE, AgentRead)
{
	return agent_show(c, out);
}

OPERATION(setAgentCodeRef, AgentCodeRefUpdate, AgentRead, .on_disk = true, .unseals = true,
	.look = look_at_pin, .prepare = setAgentCodeRef_prepare)
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
		       "cannot be read, both are empty and not complete; of another host that does not answer they "
		       "are what was last seen, and not complete." },
	{ METHOD_GET, A "/code-ref", &readAgentCodeRef, PERM_AGENT_READ, 200, .tag = "Repositories",
		.finds_agent = true,
		.doc = "The agent, with the branch or tag that its code is pinned to." },
	{ METHOD_PATCH, A "/code-ref", &setAgentCodeRef, PERM_AGENT_WRITE, 200, "agent.code_ref",
		.tag = "Repositories", .finds_agent = true,
		.doc = "Pin the agent's code to a branch or tag of its repository." },
};
RESOURCE(repo_refs, routes, NULL);
