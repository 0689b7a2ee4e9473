/* agent_clone.c - a copy of an agent under a new name.
 *
 * Settings are copied, and whatever hangs on the agent by the rows of
 * copies[]; what it did and what is secret stays behind: sessions, messages,
 * roles, favourites, integrations.  The copy's slug comes from its name. */
#include <stdio.h>
#include <string.h>

#include "api/agent_row.h"
#include "api/agents.h"
#include "api/api.h"
#include "api/plans.h"

enum { SLUG_MAX = 64, NUMBER_MAX = 1 << 20 };

static const struct statement slug_statements[] = {
	{ "slug_taken", "select count(*) from agents where tenant_id = $1 and slug = $2" },
};
STATEMENT_SET(clone_sql, slug_statements);

/* What hangs on an agent and goes with a copy of it, a row a table.
 * $1 tenant, $2 the agent, $3 its copy. */
static const struct statement copies[] = {
	{ "chat_configs",
		"insert into chat_configs (tenant_id, agent_id, chat_rph_limit, chat_rpm_limit, "
		"working_hours_days, working_hours_enabled, working_hours_start, working_hours_end, "
		"working_hours_tz) select tenant_id, $3, chat_rph_limit, chat_rpm_limit, "
		"working_hours_days, working_hours_enabled, working_hours_start, working_hours_end, "
		"working_hours_tz from chat_configs where tenant_id = $1 and agent_id = $2" },
	/* with their times, which order those of one priority */
	{ "agent_models",
		"insert into agent_models (tenant_id, agent_id, model_id, access, priority, created_at) "
		"select tenant_id, $3, model_id, access, priority, created_at from agent_models "
		"where tenant_id = $1 and agent_id = $2" },
	/* Without their configurations, which may hold secrets. */
	{ "agent_skills",
		"insert into agent_skills (tenant_id, agent_id, skill_id, skill_tenant_id, id, is_enabled, "
		"created_at) select tenant_id, $3, skill_id, skill_tenant_id, $3 || skill_id, is_enabled, "
		"created_at from agent_skills where tenant_id = $1 and agent_id = $2" },
	{ "agent_skill_permissions",
		"insert into agent_skill_permissions (tenant_id, agent_id, skill_id, skill_tenant_id, "
		"action, allowed, created_at) select tenant_id, $3, skill_id, skill_tenant_id, action, "
		"allowed, created_at from agent_skill_permissions where tenant_id = $1 and agent_id = $2" },
	{ "agent_tools",
		"insert into agent_tools (tenant_id, agent_id, tool_id, id, is_enabled, created_at, "
		"updated_at, configuration) select tenant_id, $3, tool_id, $3 || tool_id, is_enabled, "
		"created_at, updated_at, '' from agent_tools where tenant_id = $1 and agent_id = $2" },
	{ "agent_tool_bundles",
		"insert into agent_tool_bundles (tenant_id, agent_id, bundle_id, granted_by_user_id, "
		"created_at) select tenant_id, $3, bundle_id, granted_by_user_id, created_at "
		"from agent_tool_bundles where tenant_id = $1 and agent_id = $2" },
};
STATEMENT_SET(copy_sql, copies);

/* Letters and digits in lower case, with one hyphen for whatever lies between them. */
static void slug_fold(const char *name, char out[SLUG_MAX + 1])
{
	size_t n = 0;

	for (const char *p = name; *p && n < SLUG_MAX; p++) {
		char lower = (char)(*p >= 'A' && *p <= 'Z' ? *p - 'A' + 'a' : *p);

		if ((lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9'))
			out[n++] = lower;
		else if (n && out[n - 1] != '-')
			out[n++] = '-';
	}
	n -= n && out[n - 1] == '-';
	out[n] = '\0';
	if (!n)
		strcpy(out, "agent");
}

/* The slug with its number; the first has none.  It is cut where it would grow too long. */
static const char *slug_numbered(struct arena *a, const char *slug, int number)
{
	char end[16] = "";
	int room;

	if (number > 1)
		snprintf(end, sizeof end, "-%d", number);
	room = SLUG_MAX - (int)strlen(end);
	if ((int)strlen(slug) < room)
		room = (int)strlen(slug);
	while (room > 1 && slug[room - 1] == '-')
		room--;
	return arena_printf(a, "%.*s%s", room, slug, end);
}

static int slug_taken(struct call *c, const char *slug, int number, bool *ret)
{
	int64_t count = 0;
	int err = db_int(c->db, &slug_statements[0], &count,
		ARGS(T(c->caller.tenant_id), T(slug_numbered(c->arena, slug, number))));

	*ret = count > 0;
	return err;
}

/* A number that is free behind one that is taken: found by doubling, then by halving, so that the
 * thousandth copy costs twenty questions. */
static int slug_free(struct call *c, const char *slug, int *ret_number)
{
	int taken = 0, free = 1, err;
	bool is_taken;

	while (!(err = slug_taken(c, slug, free, &is_taken)) && is_taken) {
		taken = free;
		free *= 2;
		if (free > NUMBER_MAX)
			return call_fail(c, ERR_CONFLICT,
				"There are too many agents of this name; choose another.");
	}
	while (!err && free - taken > 1) {
		int middle = taken + (free - taken) / 2;

		err = slug_taken(c, slug, middle, &is_taken);
		*(is_taken ? &taken : &free) = middle;
	}
	*ret_number = free;
	return err;
}

OPERATION(cloneAgent, .body = &AgentClone_schema, .reply = &AgentRead_schema)
{
	const struct AgentClone *in = c->body;
	const char *source = c->caller.agent_id;
	char slug[SLUG_MAX + 1];
	struct agent_maker who = agent_maker_of(c);
	struct agent_row row;
	int number = 1, err = plan_admits_agent(c);

	slug_fold(in->name, slug);
	if (!err)
		err = agent_row_read(c, &row);
	if (!err)
		err = slug_free(c, slug, &number);
	if (err)
		return err;
	row.name = in->name;
	row.slug = slug_numbered(c->arena, slug, number);
	row.is_seed = row.meeting_managed = false;
	row.avatar_sha256 = row.created_by_agent_id = NULL;
	err = agent_row_enter(c->db, c->arena, &who, &row);
	if (err == ERR_DUPLICATE) /* somebody was quicker since we asked: from the beginning */
		return ERR_RETRY;
	for (size_t i = 0; !err && i < sizeof copies / sizeof *copies; i++)
		err = db_run(c->db, &copies[i], NULL, ARGS(T(row.tenant_id), T(source), T(row.id)));
	if (err)
		return err;
	agent_row_tell(c, &row);
	c->audit.meta = arena_printf(c->arena, "{\"source_id\":\"%s\"}", source);
	return 0;
}

static const struct route routes[] = {
	{ METHOD_POST, "/agents/{source_id}/clone", &cloneAgent, PERM_AGENT_READ, 201,
		"agent.clone", .tag = "Agents", .agent = "source_id", .also = PERM_AGENTS_CREATE,
		.doc = "Copy an agent with its settings, without its history and secrets; the caller "
		       "becomes the copy's OWNER." },
};
RESOURCE(agent_clone, routes, NULL);
