/* agent_settings.c - single settings of an agent that have a path of their own: its budget, what it
 * may do with skills, who marked it as a favourite, and what it is joined to. */
#include <string.h>

#include "access/sealed.h"
#include "api/agents/agent_extras.h"
#include "api/agents/agent_row.h"
#include "api/agents/agents.h"
#include "call/operation.h"
#include "api/skills/skills.h"
#include "queue/jobs.h"
#include "store/listing.h"

struct agent_integration_row {
	const char *id, *provider, *label;
	bool is_active;
	struct moment last_event_at;
	const char *sealed;
};

FIELDS(agent_integration_row) = {
	FIELD(agent_integration_row, id),
	FIELD(agent_integration_row, provider),
	FIELD(agent_integration_row, label),
	FIELD(agent_integration_row, is_active),
	FIELD(agent_integration_row, last_event_at, .nullable = true),
	FIELD(agent_integration_row, sealed, .secret = true),
};
static SCHEMA(agent_integration_row, .internal = true);

enum {
	LIST_OF(INTEGRATION_LIST),
	FAVORITE_ADD,
	FAVORITE_REMOVE,
};

static const struct statement sql[] = {
	LISTING(INTEGRATION_LIST, "agent_integration_list", &agent_integration_row_schema, "{i.*}",
		"integrations i where i.tenant_id = $1 and i.agent_id = $2 and i.skill_id is null",
		"i.id"),
	[FAVORITE_ADD] = { "favorite_add",
		"insert into favorites (tenant_id, user_id, agent_id, created_at) "
		"values ($1, $2, $3, $4) on conflict (tenant_id, user_id, agent_id) do nothing" },
	[FAVORITE_REMOVE] = { "favorite_remove",
		"delete from favorites where tenant_id = $1 and user_id = $2 and agent_id = $3" },
};
STATEMENT_SET(agent_settings_sql, sql);

OPERATION(readAgentBudget, NONE, AgentBudgetRead)
{
	struct agent_row row;
	int err = agent_row_read(c, &row);

	if (err)
		return err;
	out->hourly_limit_usd = row.hourly_limit_usd;
	return 0;
}

OPERATION(updateAgentBudget, AgentBudgetUpdate, AgentBudgetRead)
{
	struct agent_row before, after;
	int err = agent_row_read(c, &before);

	if (err)
		return err;
	after = before;
	schema_patch(&AgentBudgetUpdate_schema, in, &agent_row_schema, &after);
	out->hourly_limit_usd = after.hourly_limit_usd;
	err = agent_row_change(c, &before, &after);
	return err ? err : jobs_wake(c->db, c->caller.tenant_id, after.id, c->now);
}

OPERATION(setAgentCanAuthorSkills, AgentCanAuthorSkillsUpdate, AgentRead)
{
	struct agent_row before, after;
	int err = agent_row_read(c, &before);

	if (err)
		return err;
	call_merge(c, CHANGE(agent_row, &before, &after));
	return agent_row_change(c, &before, &after);
}

OPERATION(setAgentSkillVisibilityScope, AgentSkillVisibilityScopeUpdate,
	AgentSkillVisibilityScopeUpdate)
{
	struct agent_row before, after;
	int err = agent_row_read(c, &before);

	if (err)
		return err;
	call_merge(c, CHANGE(agent_row, &before, &after));
	return agent_row_change(c, &before, &after);
}

OPERATION(setAgentFavorite, NONE, AgentFavoriteRead, .may_stand = true)
{
	const struct caller *who = &c->caller;
	int64_t added = 0;
	int err = db_run(c->db, &sql[FAVORITE_ADD], &added,
		ARGS(T(who->tenant_id), T(who->user_id), T(who->agent_id), N(c->now)));

	c->standing = !added;
	out->agent_id = who->agent_id;
	out->user_id = c->audit.owner_id = who->user_id;
	return err;
}

OPERATION(removeAgentFavorite, NONE, NONE)
{
	const struct caller *who = &c->caller;
	int64_t removed = 0;
	int err = db_run(c->db, &sql[FAVORITE_REMOVE], &removed,
		ARGS(T(who->tenant_id), T(who->user_id), T(who->agent_id)));

	c->audit.owner_id = who->user_id;
	return err || removed
		       ? err
		       : call_fail(c, ERR_NOT_FOUND, "This agent is not a favourite of yours.");
}

/* Pages go by the integration's id, which the reply does not show. */
LIST_OPERATION(listAgentIntegrations, NONE, AgentIntegrationRead)
{
	const struct agent_integration_row *row;
	struct AgentIntegrationRead *shown;
	int err = call_list(
		c, &sql[INTEGRATION_LIST], ARGS(T(c->caller.tenant_id), T(c->caller.agent_id)));

	if (err)
		return err;
	row = c->items.at;
	shown = arena_array(c->arena, struct AgentIntegrationRead, c->items.count + 1);
	for (size_t i = 0; i < c->items.count; i++) {
		schema_copy(&agent_integration_row_schema, &row[i], &AgentIntegrationRead_schema,
			&shown[i]);
		/* a service that never sent a verified event may not even know the address */
		shown[i].connected = row[i].is_active && row[i].last_event_at.us != NIL &&
				     strcmp(row[i].sealed, SEALED_GONE) != 0;
	}
	c->items.at = shown;
	return 0;
}

#define A "/tenant/{tenant_id}/agents/{agent_id}"

static const struct route routes[] = {
	{ METHOD_GET, A "/budget", &readAgentBudget, PERM_AGENT_READ, 200, .tag = "Agents",
		.finds_agent = true, .doc = "Read what the agent may spend." },
	{ METHOD_PUT, A "/budget", &updateAgentBudget, PERM_AGENT_BUDGET_WRITE, 200, "agent.budget",
		.tag = "Agents", .finds_agent = true,
		.doc = "Set what the agent may spend in any 60 minutes; null lifts the limit." },
	{ METHOD_PUT, A "/can-author-skills", &setAgentCanAuthorSkills, PERM_AGENT_WRITE, 200,
		"agent.can_author_skills", .tag = "Agents", .finds_agent = true,
		.doc = "Let the agent write skills, or stop it." },
	{ METHOD_PUT, A "/skill-visibility-scope", &setAgentSkillVisibilityScope, PERM_AGENT_WRITE,
		200, "agent.skill_visibility_scope", .tag = "Agents", .finds_agent = true,
		.doc = "Say whether the skills the agent writes stay private or may be public." },
	{ METHOD_PUT, A "/favorite", &setAgentFavorite, PERM_AGENT_READ, 201, "agent.favorite",
		.tag = "Agents", .doc = "Mark the agent as a favourite of the caller's." },
	{ METHOD_DELETE, A "/favorite", &removeAgentFavorite, PERM_AGENT_READ, 204,
		"agent.unfavorite", .tag = "Agents",
		.doc = "Take the caller's mark off the agent." },
	{ METHOD_GET, A "/integrations", &listAgentIntegrations, PERM_AGENT_READ, 200,
		.tag = "Agents", .doc = "List the outside services the agent is joined to." },
};
RESOURCE(agent_settings, routes, NULL, &agent_settings_sql);
