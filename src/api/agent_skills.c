/* agent_skills.c - what an agent has and may do with skills: grants, configurations, permissions.
 *
 * A skill can be given that whoever gives it can see.  How grants and
 * permissions act together is written in sessions/skillset.h.  A
 * configuration is sealed before it is stored, and nothing here puts it
 * anywhere but into the reply to those who may write it. */
#include <string.h>

#include "api/api.h"
#include "api/skill_store.h"
#include "sessions/skillset.h"
#include "store/listing.h"

struct grant_row {
	const char *id, *skill_tenant_id, *config_sealed;
};

FIELDS(grant_row) = {
	FIELD(grant_row, id),
	FIELD(grant_row, skill_tenant_id),
	FIELD(grant_row, config_sealed, .nullable = true),
};
static SCHEMA(grant_row, .internal = true);

#define GRANT_COLUMNS                                          \
	"g.agent_id, g.skill_id, g.is_enabled, g.created_at, " \
	"case when g.config_sealed is null then 0 else 1 end as has_config"
#define GRANTS_FROM "agent_skills g where g.tenant_id = $1 and g.agent_id = $2"
#define PERMISSIONS_FROM "agent_skill_permissions p where p.tenant_id = $1 and p.agent_id = $2"

enum {
	GRANT_LIST,
	PERMISSION_LIST = GRANT_LIST + LIST_SORTS,
	GRANT_READ = PERMISSION_LIST + LIST_SORTS,
	GRANT_COUNT,
	GRANT_INSERT,
	GRANT_ENABLE,
	GRANT_REMOVE,
	CONFIG_READ,
	CONFIG_SET,
	PERMISSIONS_ALL,
	PERMISSIONS_REMOVE,
	PERMISSION_INSERT,
};

static const struct statement sql[] = {
	LIST_STATEMENTS("agent_skill_list", &AgentSkillRead_schema, GRANT_COLUMNS, GRANTS_FROM,
		"g.skill_id", "3", "4"),
	LIST_STATEMENTS("skill_permission_list", &AgentSkillPermissionRead_schema, "{p.*}",
		PERMISSIONS_FROM, "p.skill_id", "3", "4"),
	[GRANT_READ] = { "agent_skill_read",
		"select " GRANT_COLUMNS " from " GRANTS_FROM " and g.skill_id = $3",
		.row = &AgentSkillRead_schema },
	[GRANT_COUNT] = { "agent_skill_held", "select count(*) from " GRANTS_FROM },
	[GRANT_INSERT] = { "agent_skill_insert",
		"insert into agent_skills (tenant_id, agent_id, skill_id, skill_tenant_id, id, "
		"is_enabled, created_at) values ($1, $2, $3, $4, $5, $6, $7)" },
	[GRANT_ENABLE] = { "agent_skill_enable",
		"update agent_skills set is_enabled = $4 "
		"where tenant_id = $1 and agent_id = $2 and skill_id = $3" },
	[GRANT_REMOVE] = { "agent_skill_remove",
		"delete from agent_skills where tenant_id = $1 and agent_id = $2 and skill_id = $3" },
	[CONFIG_READ] = { "agent_skill_config",
		"select g.id, g.skill_tenant_id, g.config_sealed from " GRANTS_FROM
		" and g.skill_id = $3",
		.row = &grant_row_schema },
	[CONFIG_SET] = { "agent_skill_configure",
		"update agent_skills set config_sealed = $4 "
		"where tenant_id = $1 and agent_id = $2 and skill_id = $3" },
	[PERMISSIONS_ALL] = { "skill_permissions_all", "select {p.*} from " PERMISSIONS_FROM,
		.row = &AgentSkillPermissionRead_schema },
	[PERMISSIONS_REMOVE] = { "skill_permissions_remove",
		"delete from agent_skill_permissions where tenant_id = $1 and agent_id = $2" },
	[PERMISSION_INSERT] = { "skill_permission_insert",
		"insert into agent_skill_permissions (tenant_id, agent_id, skill_id, "
		"skill_tenant_id, action, allowed, created_at) values ($1, $2, $3, $4, $5, $6, $7)" },
};
STATEMENT_SET(agent_skill_sql, sql);

/* The grant of the path, or of a body, by `statement` into `row`. */
static int find_grant(struct call *c, int statement, const char *skill_id, void *row)
{
	return db_one(c->db, c->arena, &sql[statement], row,
		ARGS(T(c->caller.tenant_id), T(c->caller.agent_id), T(skill_id)));
}

static int no_grant(struct call *c, int err)
{
	if (err != ERR_NOT_FOUND)
		return err;
	return call_fail(c, err, "This skill was not given to the agent.");
}

static void note(struct call *c, const char *skill_id, const char *more)
{
	c->audit.resource_id = skill_id;
	c->audit.meta = more;
}

OPERATION(listAgentSkills, .list = true, .key = "skill_id", .reply = &AgentSkillRead_schema)
{
	return call_list(c, &sql[GRANT_LIST], ARGS(T(c->caller.tenant_id), T(c->caller.agent_id)));
}

/* One more than an agent may hold is refused: all that it has is shown to a model. */
static int check_room(struct call *c)
{
	int64_t held = 0;
	int err = db_int(c->db, &sql[GRANT_COUNT], &held,
		ARGS(T(c->caller.tenant_id), T(c->caller.agent_id)));

	if (!err && held >= SKILLSET_MAX)
		return call_fail(c, ERR_CONFLICT,
			"This agent has %d skills, the most there may be.", SKILLSET_MAX);
	return err;
}

int agent_skill_give(struct db *db, const struct skill_grant *g)
{
	struct id id = id_new(NULL);

	return db_run(db, &sql[GRANT_INSERT], NULL,
		ARGS(T(g->tenant_id), T(g->agent_id), T(g->skill_id), T(g->skill_tenant_id),
			T(id.text), N(g->is_enabled), N(g->created_us)));
}

OPERATION(grantAgentSkill, .body = &AgentSkillGrant_schema, .reply = &AgentSkillRead_schema)
{
	const struct AgentSkillGrant *in = c->body;
	const struct caller *who = &c->caller;
	const char *owner;
	int err = find_grant(c, GRANT_READ, in->skill_id, c->reply);

	note(c, in->skill_id, NULL);
	c->standing = !err;
	if (err != ERR_NOT_FOUND)
		return err;
	err = skill_seen(c, in->skill_id, &owner);
	if (!err && !owner)
		return call_field(c, "skill_id", "not_found", "is not a skill you can see");
	if (!err)
		err = check_room(c);
	if (!err)
		err = agent_skill_give(
			c->db, &(struct skill_grant){ who->tenant_id, who->agent_id, in->skill_id,
				       owner, in->is_enabled, c->now });
	c->location = arena_printf(c->arena, "/tenant/%s/agents/%s/skills/%s", who->tenant_id,
		who->agent_id, in->skill_id);
	return err ? err : find_grant(c, GRANT_READ, in->skill_id, c->reply);
}

OPERATION(updateAgentSkill, .body = &AgentSkillUpdate_schema, .reply = &AgentSkillRead_schema)
{
	const char *skill_id = call_param(c, "skill_id");
	struct AgentSkillRead before, *after = c->reply;
	int err = no_grant(c, find_grant(c, GRANT_READ, skill_id, after));

	if (err)
		return err;
	before = *after;
	schema_patch(&AgentSkillUpdate_schema, c->body, &AgentSkillRead_schema, after);
	call_changed(c, &AgentSkillRead_schema, &before, after);
	c->audit.resource_id = skill_id;
	return db_run(c->db, &sql[GRANT_ENABLE], NULL,
		ARGS(T(c->caller.tenant_id), T(c->caller.agent_id), T(skill_id),
			N(after->is_enabled)));
}

OPERATION(revokeAgentSkill)
{
	const char *skill_id = call_param(c, "skill_id");
	int64_t removed = 0;
	int err = db_run(c->db, &sql[GRANT_REMOVE], &removed,
		ARGS(T(c->caller.tenant_id), T(c->caller.agent_id), T(skill_id)));

	note(c, skill_id, NULL);
	return err || removed ? err : no_grant(c, ERR_NOT_FOUND);
}

/* ---- configuration ---- */

OPERATION(readAgentSkillConfig, .reply = &AgentSkillConfigRead_schema)
{
	struct AgentSkillConfigRead *out = c->reply;
	struct grant_row grant;
	const char *plain;
	size_t len = 0;
	int err;

	out->agent_id = c->caller.agent_id;
	out->skill_id = call_param(c, "skill_id");
	err = no_grant(c, find_grant(c, CONFIG_READ, out->skill_id, &grant));
	if (err || !grant.config_sealed)
		return err;
	plain = vault_open(c->app->vault, c->arena, grant.id, grant.config_sealed, &len);
	if (!plain)
		return call_fail(c, ERR_INTERNAL,
			"The configuration was sealed with a key that is no longer known.");
	out->config.text = arena_strndup(c->arena, plain, len);
	return 0;
}

OPERATION(setAgentSkillConfig, .body = &AgentSkillConfigUpdate_schema,
	.reply = &AgentSkillConfigRead_schema)
{
	const struct AgentSkillConfigUpdate *in = c->body;
	struct AgentSkillConfigRead *out = c->reply;
	struct grant_row grant;
	const char *sealed = NULL;
	int err;

	out->agent_id = c->caller.agent_id;
	out->skill_id = call_param(c, "skill_id");
	out->config = in->config;
	err = no_grant(c, find_grant(c, CONFIG_READ, out->skill_id, &grant));
	if (err)
		return err;
	if (in->config.text)
		sealed = vault_seal(c->app->vault, c->arena, grant.id, in->config.text,
			strlen(in->config.text));
	note(c, out->skill_id, sealed ? "{\"config\":\"set\"}" : "{\"config\":\"cleared\"}");
	return db_run(c->db, &sql[CONFIG_SET], NULL,
		ARGS(T(c->caller.tenant_id), T(c->caller.agent_id), T(out->skill_id), T(sealed)));
}

/* ---- permissions ---- */

OPERATION(listAgentSkillPermissions, .list = true, .key = "skill_id",
	.reply = &AgentSkillPermissionRead_schema)
{
	return call_list(
		c, &sql[PERMISSION_LIST], ARGS(T(c->caller.tenant_id), T(c->caller.agent_id)));
}

/* Since when the entry has stood as it is. */
static int64_t standing_since(
	const struct call *c, const struct list *before, const struct AgentSkillPermissionEntry *e)
{
	const struct AgentSkillPermissionRead *row = before->at;

	for (size_t i = 0; i < before->count; i++)
		if (strcmp(row[i].skill_id, e->skill_id) == 0 && row[i].allowed == e->allowed)
			return row[i].created_at.us;
	return c->now;
}

/* Whose skill it is, NULL if it is neither one the caller can see nor one the agent has: a skill that
 * its owner has made private must stay forbidden when the list is sent back. */
static int skill_known(struct call *c, const char *skill_id, const char **ret_owner)
{
	struct grant_row row;
	int err = skill_seen(c, skill_id, ret_owner);

	if (err || *ret_owner)
		return err;
	err = find_grant(c, CONFIG_READ, skill_id, &row);
	*ret_owner = err ? NULL : row.skill_tenant_id;
	return err == ERR_NOT_FOUND ? 0 : err;
}

/* Every entry once, its action known, its skill too; whose skill each is goes into `owners`. */
static int check_entries(struct call *c, const struct list *entries, const char **owners)
{
	const struct AgentSkillPermissionEntry *e = entries->at;
	int err = 0;

	for (size_t i = 0; !err && i < entries->count; i++) {
		const char *field = arena_printf(c->arena, "permissions[%zu].skill_id", i);
		bool twice = false;

		for (size_t k = 0; k < i && !twice; k++)
			twice = strcmp(e[i].skill_id, e[k].skill_id) == 0;
		if (strcmp(e[i].action, "use") != 0)
			call_field(c, arena_printf(c->arena, "permissions[%zu].action", i),
				"choice", "must be use, the only action there is");
		err = skill_known(c, e[i].skill_id, &owners[i]);
		if (twice)
			call_field(c, field, "repeated", "is in the list already");
		else if (!err && !owners[i])
			call_field(c, field, "not_found", "is not a skill you can see");
	}
	return err ? err : c->problem.err;
}

OPERATION(setAgentSkillPermissions, .list = true, .key = "skill_id",
	.body = &AgentSkillPermissionUpdate_schema, .reply = &AgentSkillPermissionRead_schema)
{
	const struct AgentSkillPermissionUpdate *in = c->body;
	const struct AgentSkillPermissionEntry *e = in->permissions.at;
	const struct caller *who = &c->caller;
	const char **owners = arena_array(c->arena, const char *, in->permissions.count + 1);
	struct list before;
	int err = check_entries(c, &in->permissions, owners);

	if (!err)
		err = db_all(c->db, c->arena, &sql[PERMISSIONS_ALL], &before, CEILING_LIST,
			ARGS(T(who->tenant_id), T(who->agent_id)));
	if (!err)
		err = db_run(c->db, &sql[PERMISSIONS_REMOVE], NULL,
			ARGS(T(who->tenant_id), T(who->agent_id)));
	for (size_t i = 0; !err && i < in->permissions.count; i++)
		err = db_run(c->db, &sql[PERMISSION_INSERT], NULL,
			ARGS(T(who->tenant_id), T(who->agent_id), T(e[i].skill_id), T(owners[i]),
				T(e[i].action), N(e[i].allowed),
				N(standing_since(c, &before, &e[i]))));
	if (err)
		return err;
	note(c, who->agent_id,
		arena_printf(c->arena, "{\"before\":%zu,\"after\":%zu}", before.count,
			in->permissions.count));
	return listAgentSkillPermissions_apply(c);
}

#define A "/tenant/{tenant_id}/agents/{agent_id}/skills"

static const struct route routes[] = {
	{ METHOD_GET, A, &listAgentSkills, PERM_AGENT_READ, 200, .tag = "Skills of an agent",
		.doc = "List the skills given to the agent, newest skill first." },
	{ METHOD_POST, A, &grantAgentSkill, PERM_AGENT_SKILLS_WRITE, 201, "agent_skill.grant",
		.tag = "Skills of an agent",
		.doc = "Give the agent a skill that the caller can see." },
	{ METHOD_PATCH, A "/{skill_id}", &updateAgentSkill, PERM_AGENT_SKILLS_WRITE, 200,
		"agent_skill.update", .tag = "Skills of an agent",
		.doc = "Switch a skill of the agent on or off." },
	{ METHOD_DELETE, A "/{skill_id}", &revokeAgentSkill, PERM_AGENT_SKILLS_WRITE, 204,
		"agent_skill.revoke", .tag = "Skills of an agent",
		.doc = "Take a skill from the agent, with its configuration." },
	{ METHOD_GET, A "/{skill_id}/config", &readAgentSkillConfig, PERM_AGENT_SKILLS_WRITE, 200,
		.tag = "Skills of an agent",
		.doc = "Read the agent's configuration of the skill, opened." },
	{ METHOD_PATCH, A "/{skill_id}/config", &setAgentSkillConfig, PERM_AGENT_SKILLS_WRITE, 200,
		"agent_skill.config", .tag = "Skills of an agent",
		.doc = "Replace the agent's configuration of the skill; null or absent clears it." },
	{ METHOD_GET, A "/permissions", &listAgentSkillPermissions, PERM_AGENT_SKILLS_WRITE, 200,
		.tag = "Skills of an agent",
		.doc = "List the agent's permissions on skills, newest skill first." },
	{ METHOD_PUT, A "/permissions", &setAgentSkillPermissions, PERM_AGENT_SKILLS_WRITE, 200,
		"agent_skill.permissions", .tag = "Skills of an agent",
		.doc = "Replace all of the agent's permissions on skills." },
};
RESOURCE(agent_skills, routes, NULL);
