/* agent_settings.c - single settings of an agent that have a path of their own: its budget, what it
 * may do with skills, who marked it as a favourite, and what it is joined to. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/agent_extras.h"
#include "api/agent_row.h"
#include "api/agents.h"
#include "api/api.h"
#include "api/skills.h"
#include "store/listing.h"

struct integration_row {
	const char *id, *provider, *label;
	bool is_active;
	struct moment last_event_at;
};

FIELDS(integration_row) = {
	FIELD(integration_row, id),
	FIELD(integration_row, provider),
	FIELD(integration_row, label),
	FIELD(integration_row, is_active),
	FIELD(integration_row, last_event_at, .nullable = true),
};
static SCHEMA(integration_row, .internal = true);

enum {
	INTEGRATION_LIST,
	FAVORITE_ADD = INTEGRATION_LIST + LIST_SORTS,
	FAVORITE_REMOVE,
};

static const struct statement sql[] = {
	LIST_STATEMENTS("agent_integration_list", &integration_row_schema, "{i.*}",
		"integrations i where i.tenant_id = $1 and i.agent_id = $2 and i.skill_id is null",
		"i.id", "3", "4"),
	[FAVORITE_ADD] = { "favorite_add",
		"insert into favorites (tenant_id, user_id, agent_id, created_at) "
		"values ($1, $2, $3, $4) on conflict (tenant_id, user_id, agent_id) do nothing" },
	[FAVORITE_REMOVE] = { "favorite_remove",
		"delete from favorites where tenant_id = $1 and user_id = $2 and agent_id = $3" },
};
STATEMENT_SET(agent_settings_sql, sql);

/* Dollars as a caller typed them, in picodollars: by way of their shortest decimal digits, so that 0.1
 * is a tenth.  False if they are finer than a picodollar.  The number is at least 0 and within the
 * ceiling of its field, so that it fits. */
static bool picodollars(double usd, int64_t *ret)
{
	enum { PICO_DIGITS = 12 };
	char text[40];
	int64_t n = 0;
	int power;

	for (int digits = 14; digits <= 16; digits++) {
		snprintf(text, sizeof text, "%.*e", digits, fabs(usd));
		if (strtod(text, NULL) == fabs(usd))
			break;
	}
	/* of the digit before the point */
	power = (int)strtol(strchr(text, 'e') + 1, NULL, 10) + PICO_DIGITS;
	for (const char *p = text; *p != 'e'; p++) {
		if (*p == '.')
			continue;
		if (power < 0 && *p != '0')
			return false;
		if (power >= 0)
			n = n * 10 + (*p - '0');
		power--;
	}
	while (power-- >= 0)
		n *= 10;
	*ret = n;
	return true;
}

/* The number that was typed: the one nearest to the decimal text. */
static double dollars(int64_t pd)
{
	char text[40];

	if (pd == NIL)
		return NAN;
	snprintf(text, sizeof text, "%llde-12", (long long)pd);
	return strtod(text, NULL);
}

OPERATION(readAgentBudget, .reply = &AgentBudgetRead_schema)
{
	struct AgentBudgetRead *out = c->reply;
	struct agent_row row;
	int err = agent_row_read(c, &row);

	out->hourly_limit_usd = err ? NAN : dollars(row.hourly_limit_pd);
	return err;
}

OPERATION(updateAgentBudget, .body = &AgentBudgetUpdate_schema, .reply = &AgentBudgetRead_schema)
{
	const struct AgentBudgetUpdate *in = c->body;
	struct AgentBudgetRead *out = c->reply;
	struct agent_row before, after;
	int err = agent_row_read(c, &before);

	if (err)
		return err;
	after = before;
	if (in->got && isnan(in->hourly_limit_usd))
		after.hourly_limit_pd = NIL;
	else if (in->got && !picodollars(in->hourly_limit_usd, &after.hourly_limit_pd))
		return call_field(c, "hourly_limit_usd", "too_fine",
			"must be a whole number of picodollars: at most 12 digits behind the point");
	out->hourly_limit_usd = dollars(after.hourly_limit_pd);
	return agent_row_change(c, &before, &after);
}

OPERATION(setAgentCanAuthorSkills, .body = &AgentCanAuthorSkillsUpdate_schema,
	.reply = &AgentRead_schema)
{
	const struct AgentCanAuthorSkillsUpdate *in = c->body;
	struct agent_row before, after;
	int err = agent_row_read(c, &before);

	if (err)
		return err;
	after = before;
	after.can_author_skills = in->can_author_skills;
	err = agent_row_change(c, &before, &after);
	schema_copy(&agent_row_schema, &after, &AgentRead_schema, c->reply);
	return err;
}

OPERATION(setAgentSkillVisibilityScope, .body = &AgentSkillVisibilityScopeUpdate_schema,
	.reply = &AgentSkillVisibilityScopeUpdate_schema)
{
	const struct AgentSkillVisibilityScopeUpdate *in = c->body;
	struct AgentSkillVisibilityScopeUpdate *out = c->reply;
	struct agent_row before, after;
	int err = agent_row_read(c, &before);

	if (err)
		return err;
	after = before;
	after.skill_visibility_scope = out->skill_visibility_scope = in->skill_visibility_scope;
	return agent_row_change(c, &before, &after);
}

OPERATION(setAgentFavorite, .reply = &AgentFavoriteRead_schema)
{
	const struct caller *who = &c->caller;
	struct AgentFavoriteRead *out = c->reply;
	int64_t added = 0;
	int err = db_run(c->db, &sql[FAVORITE_ADD], &added,
		ARGS(T(who->tenant_id), T(who->user_id), T(who->agent_id), N(c->now)));

	c->standing = !added;
	c->audit.resource_id = out->agent_id = who->agent_id;
	out->user_id = who->user_id;
	return err;
}

OPERATION(removeAgentFavorite)
{
	const struct caller *who = &c->caller;
	int64_t removed = 0;
	int err = db_run(c->db, &sql[FAVORITE_REMOVE], &removed,
		ARGS(T(who->tenant_id), T(who->user_id), T(who->agent_id)));

	c->audit.resource_id = who->agent_id;
	return err || removed
		       ? err
		       : call_fail(c, ERR_NOT_FOUND, "This agent is not a favourite of yours.");
}

/* Pages go by the integration's id, which the reply does not show. */
OPERATION(listAgentIntegrations, .list = true, .reply = &AgentIntegrationRead_schema)
{
	const struct integration_row *row;
	struct AgentIntegrationRead *shown;
	int err = call_list(
		c, &sql[INTEGRATION_LIST], ARGS(T(c->caller.tenant_id), T(c->caller.agent_id)));

	if (err)
		return err;
	row = c->items.at;
	shown = arena_array(c->arena, struct AgentIntegrationRead, c->items.count + 1);
	for (size_t i = 0; i < c->items.count; i++) {
		schema_copy(
			&integration_row_schema, &row[i], &AgentIntegrationRead_schema, &shown[i]);
		/* a service that never sent a verified event may not even know the address */
		shown[i].connected = row[i].is_active && row[i].last_event_at.us != NIL;
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
RESOURCE(agent_settings, routes, NULL);
