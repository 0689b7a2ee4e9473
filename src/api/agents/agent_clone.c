/* agent_clone.c - a copy of an agent under a new name.
 *
 * Settings are copied, and whatever hangs on the agent by the rows of
 * copies[], tools and skills with their settings where the caller may have
 * them; what it did and what else is secret stays behind: sessions, messages,
 * roles, favourites, integrations.  The copy's slug comes from its name. */
#include <string.h>

#include "api/agents/agent_row.h"
#include "api/agents/agents.h"
#include "call/operation.h"
#include "api/plans/plans.h"
#include "repos/repo.h"
#include "store/row.h"

enum { GRANTS_MOST = 10000 };

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
	{ "agent_skill_permissions",
		"insert into agent_skill_permissions (tenant_id, agent_id, skill_id, skill_tenant_id, "
		"action, allowed, created_at) select tenant_id, $3, skill_id, skill_tenant_id, action, "
		"allowed, created_at from agent_skill_permissions where tenant_id = $1 and agent_id = $2" },
};
STATEMENT_SET(copy_sql, copies);

/* A tool that the agent has by itself, with what decides how it goes into the copy. */
struct tool_grant {
	const char *tool_id, *id;
	bool is_enabled, by_members;
	int64_t created_at, updated_at;
	const char *configuration; /* sealed under id; "" for none */
};

FIELDS(tool_grant) = {
	FIELD(tool_grant, tool_id),
	FIELD(tool_grant, id),
	FIELD(tool_grant, is_enabled),
	FIELD(tool_grant, by_members),
	FIELD(tool_grant, created_at),
	FIELD(tool_grant, updated_at),
	FIELD(tool_grant, configuration, .secret = true),
};
static SCHEMA(tool_grant, .internal = true);

struct tool_copy {
	const char *tenant_id, *agent_id, *tool_id, *id, *configuration;
	bool is_enabled;
	int64_t created_at, updated_at;
};

FIELDS(tool_copy) = {
	ROW_FIELDS(tool_copy, tenant_id, agent_id, tool_id, id, configuration, is_enabled,
		created_at, updated_at),
};
static SCHEMA(tool_copy, .internal = true);

enum { TOOLS_OF, TOOL_COPY, BUNDLES_COPY };

static const struct statement tool_copies[] = {
	[TOOLS_OF] = { "clone_tools",
		"select g.tool_id, g.id, g.is_enabled, case t.grantable_by when 'members' then 1 "
		"else 0 end as by_members, g.created_at, g.updated_at, g.configuration "
		"from agent_tools g join tools t on t.tenant_id = $1 and t.id = g.tool_id "
		"where g.tenant_id = $1 and g.agent_id = $2 order by g.tool_id",
		.row = &tool_grant_schema },
	[TOOL_COPY] = { "clone_tool", "insert into agent_tools ({*}) values ({$})",
		.row = &tool_copy_schema },
	/* $4: also those that hold a tool which only administrators give */
	[BUNDLES_COPY] = { "clone_bundles",
		"insert into agent_tool_bundles (tenant_id, agent_id, bundle_id, granted_by_user_id, "
		"created_at) select tenant_id, $3, bundle_id, granted_by_user_id, created_at "
		"from agent_tool_bundles h where tenant_id = $1 and agent_id = $2 and ($4 = 1 "
		"or not exists (select 1 from tool_bundle_tools b join tools t on t.tenant_id = $1 "
		"and t.id = b.tool_id where b.tenant_id = $1 and b.bundle_id = h.bundle_id "
		"and t.grantable_by = 'admins'))" },
};
STATEMENT_SET(clone_tool_sql, tool_copies);

/* Settings of a grant, sealed under the copy's id.  *may_have false: the copy goes without them, and so
 * switched off, because the caller may not read them, or nobody can. */
static int copy_settings(struct call *c, enum sealed_place place, const char *from_id,
	const char *sealed, const char *to_id, bool reads, bool *may_have, const char **ret)
{
	const char *text = !sealed || !*sealed
				   ? "{}"
				   : vault_open_text(c->app->vault, c->arena, from_id, sealed);

	*ret = NULL;
	if (text && strcmp(text, "{}") == 0)
		return 0;
	*may_have &= text && reads;
	if (!*may_have)
		return 0;
	*ret = vault_seal(c->app->vault, c->arena, place, to_id, text, strlen(text));
	return *ret ? 0 : ERR_KEY;
}

/* The settings may pin an argument: a copy has the tool with them, or has it switched off.  They are read by
 * those who may change the agent's tools, and a tool for administrators is given by these alone. */
static int copy_tool(
	struct call *c, const struct tool_grant *g, const char *copy_id, bool admin, bool reads)
{
	const char *id = arena_printf(c->arena, "%s%s", copy_id, g->tool_id), *sealed;
	bool may = admin || g->by_members;
	int err = copy_settings(
		c, SEALED_TOOL_CONFIG, g->id, g->configuration, id, reads, &may, &sealed);

	if (err)
		return err;
	return db_put(c->db, &tool_copies[TOOL_COPY],
		&(struct tool_copy){ .tenant_id = c->caller.tenant_id,
			.agent_id = copy_id,
			.tool_id = g->tool_id,
			.id = id,
			.configuration = sealed ? sealed : "",
			.is_enabled = g->is_enabled && may,
			.created_at = g->created_at,
			.updated_at = g->updated_at });
}

static int copy_tools(struct call *c, const char *source, const char *copy_id)
{
	const struct caller *who = &c->caller;
	bool admin = who->tenant & PERM(TOOLS_WRITE), reads = who->agent & PERM(AGENT_TOOLS_WRITE);
	struct list rows;
	int err = db_all(c->db, c->arena, &tool_copies[TOOLS_OF], &rows, GRANTS_MOST,
		ARGS(T(who->tenant_id), T(source)));

	for (size_t i = 0; !err && i < rows.count; i++)
		err = copy_tool(c, (const struct tool_grant *)rows.at + i, copy_id, admin, reads);
	return err ? err
		   : db_run(c->db, &tool_copies[BUNDLES_COPY], NULL,
			     ARGS(T(who->tenant_id), T(source), T(copy_id), N(admin)));
}

/* ---- skills ---- */

/* A skill that was given to the agent. */
struct skill_held {
	const char *skill_id, *skill_tenant_id, *id, *digest;
	bool is_enabled;
	int64_t created_at;
	const char *config_sealed; /* under id */
};

FIELDS(skill_held) = {
	FIELD(skill_held, skill_id),
	FIELD(skill_held, skill_tenant_id),
	FIELD(skill_held, id),
	FIELD(skill_held, digest, .nullable = true),
	FIELD(skill_held, is_enabled),
	FIELD(skill_held, created_at),
	FIELD(skill_held, config_sealed, .nullable = true, .secret = true),
};
static SCHEMA(skill_held, .internal = true);

struct skill_copy {
	const char *tenant_id, *agent_id, *skill_id, *skill_tenant_id, *id, *digest, *config_sealed;
	bool is_enabled;
	int64_t created_at;
};

FIELDS(skill_copy) = {
	ROW_FIELDS(skill_copy, tenant_id, agent_id, skill_id, skill_tenant_id, id, is_enabled,
		created_at),
	ROW_NULLABLE(skill_copy, digest, config_sealed),
};
static SCHEMA(skill_copy, .internal = true);

enum { SKILLS_OF, SKILL_COPY };

static const struct statement skill_copies[] = {
	[SKILLS_OF] = { "clone_skills",
		"select {*} from agent_skills where tenant_id = $1 and agent_id = $2 order by skill_id",
		.row = &skill_held_schema },
	[SKILL_COPY] = { "clone_skill", "insert into agent_skills ({*}) values ({$})",
		.row = &skill_copy_schema },
};
STATEMENT_SET(clone_skill_sql, skill_copies);

/* Without its settings a skill would go on under others than it was given for. */
static int copy_skill(struct call *c, const struct skill_held *g, const char *copy_id, bool reads)
{
	const char *id = arena_printf(c->arena, "%s%s", copy_id, g->skill_id), *sealed;
	bool may = true;
	int err = copy_settings(
		c, SEALED_SKILL_CONFIG, g->id, g->config_sealed, id, reads, &may, &sealed);

	if (err)
		return err;
	return db_put(c->db, &skill_copies[SKILL_COPY],
		&(struct skill_copy){ .tenant_id = c->caller.tenant_id,
			.agent_id = copy_id,
			.skill_id = g->skill_id,
			.skill_tenant_id = g->skill_tenant_id,
			.id = id,
			.digest = g->digest,
			.config_sealed = sealed,
			.is_enabled = g->is_enabled && may,
			.created_at = g->created_at });
}

static int copy_skills(struct call *c, const char *source, const char *copy_id)
{
	bool reads = c->caller.agent & PERM(AGENT_SKILLS_WRITE);
	struct list rows;
	int err = db_all(c->db, c->arena, &skill_copies[SKILLS_OF], &rows, GRANTS_MOST,
		ARGS(T(c->caller.tenant_id), T(source)));

	for (size_t i = 0; !err && i < rows.count; i++)
		err = copy_skill(c, (const struct skill_held *)rows.at + i, copy_id, reads);
	return err;
}

OPERATION(cloneAgent, AgentClone, AgentRead)
{
	const char *source = c->caller.agent_id;
	struct agent_maker who = agent_maker_of(c);
	struct agent_row row;
	const char *slug = NULL;
	int err = plan_admits_agent(c);

	if (!err)
		err = agent_row_read(c, &row);
	if (!err && row.is_admin_only)
		err = agent_shut_permit(c, caller_cut(&c->caller, PERM(AGENT_ROLES_WRITE)));
	if (!err)
		err = agent_slug_free(c->db, c->arena, c->caller.tenant_id,
			agent_slug_of(c->arena, in->name), &slug, &c->problem);
	if (err)
		return err;
	row.name = in->name;
	row.slug = slug;
	row.is_seed = row.meeting_managed = false;
	row.avatar_sha256 = row.created_by_agent_id = row.repo_url = NULL;
	row.code_ref = REPO_MAIN; /* what it was pinned to is the other's */
	err = agent_row_enter(c->db, c->arena, &who, &row);
	if (err == ERR_DUPLICATE) /* somebody was quicker since we asked: from the beginning */
		return ERR_RETRY;
	for (size_t i = 0; !err && i < sizeof copies / sizeof *copies; i++)
		err = db_run(c->db, &copies[i], NULL, ARGS(T(row.tenant_id), T(source), T(row.id)));
	if (!err)
		err = copy_tools(c, source, row.id);
	if (!err)
		err = copy_skills(c, source, row.id);
	if (err)
		return err;
	agent_row_tell(c, &row, out);
	c->location = arena_printf(c->arena, "/tenant/%s/agents/%s", row.tenant_id, row.id);
	c->audit.meta = arena_printf(c->arena, "{\"source_id\":\"%s\"}", source);
	return 0;
}

static const struct route routes[] = {
	{ METHOD_POST, "/agents/{source_id}/clone", &cloneAgent, PERM_AGENT_READ, 201,
		"agent.clone", .tag = "Agents", .agent = "source_id", .also = PERM_AGENTS_CREATE,
		.doc = "Copy an agent with its settings, without its history and secrets; the caller "
		       "becomes the copy's OWNER." },
};
RESOURCE(agent_clone, routes, NULL, &copy_sql, &clone_tool_sql, &clone_skill_sql);
