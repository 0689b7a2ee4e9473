/* agent_skills.c - what an agent has and may do with skills: grants, configurations, permissions.
 *
 * A skill can be given that whoever gives it can see.  How grants and
 * permissions act together is written in sessions/skillset.h.  A
 * configuration is sealed before it is stored, and nothing here puts it
 * anywhere but into the reply to those who may write it. */
#include <string.h>

#include "call/operation.h"
#include "api/erasure/gone.h"
#include "api/skills/skill_store.h"
#include "sessions/skillset.h"
#include "store/listing.h"
#include "store/row.h"

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
	LIST_OF(GRANT_LIST),
	LIST_OF(PERMISSION_LIST),
	GRANT_READ,
	GRANT_COUNT,
	GRANT_INSERT,
	GRANT_ENABLE,
	GRANT_HOOKS,
	GRANT_REMOVE,
	CONFIG_READ,
	CONFIG_SET,
	PERMISSIONS_ALL,
	PERMISSIONS_REMOVE,
	PERMISSION_INSERT,
};

struct skill_grant_row {
	const char *tenant_id, *agent_id, *skill_id, *skill_tenant_id, *id, *digest;
	bool is_enabled;
	int64_t created_at;
};

FIELDS(skill_grant_row) = {
	ROW_FIELDS(skill_grant_row, tenant_id, agent_id, skill_id, skill_tenant_id, id, is_enabled,
		created_at),
	ROW_NULLABLE(skill_grant_row, digest),
};
static SCHEMA(skill_grant_row, .internal = true);

struct skill_permission_row {
	const char *tenant_id, *agent_id, *skill_id, *skill_tenant_id, *action;
	bool allowed;
	int64_t created_at;
};

FIELDS(skill_permission_row) = {
	ROW_FIELDS(skill_permission_row, tenant_id, agent_id, skill_id, skill_tenant_id, action,
		allowed, created_at),
};
static SCHEMA(skill_permission_row, .internal = true);

static const struct statement sql[] = {
	LISTING(GRANT_LIST, "agent_skill_list", &AgentSkillRead_schema, GRANT_COLUMNS, GRANTS_FROM,
		"g.skill_id"),
	LISTING(PERMISSION_LIST, "skill_permission_list", &AgentSkillPermissionRead_schema, "{p.*}",
		PERMISSIONS_FROM, "p.skill_id"),
	[GRANT_READ] = { "agent_skill_read",
		"select " GRANT_COLUMNS " from " GRANTS_FROM " and g.skill_id = $3",
		.row = &AgentSkillRead_schema },
	[GRANT_COUNT] = { "agent_skill_held", "select count(*) from " GRANTS_FROM },
	[GRANT_INSERT] = { "agent_skill_insert", "insert into agent_skills ({*}) values ({$})",
		.row = &skill_grant_row_schema },
	[GRANT_ENABLE] = { "agent_skill_enable",
		"update agent_skills set is_enabled = $4 "
		"where tenant_id = $1 and agent_id = $2 and skill_id = $3" },
	[GRANT_HOOKS] = { "agent_skill_hooks_gone",
		"update integration_rows set " INTEGRATION_GONE
		" where tenant_id = $1 and agent_id = $2 and skill_id = $4" },
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
		"insert into agent_skill_permissions ({*}) values ({$})",
		.row = &skill_permission_row_schema },
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

LIST_OPERATION(listAgentSkills, NONE, AgentSkillRead, .key = "skill_id")
{
	return call_list(c, &sql[GRANT_LIST], ARGS(T(c->caller.tenant_id), T(c->caller.agent_id)));
}

/* One more than an agent may hold is refused: all that it has is shown to a model. */
static int check_skill_room(struct call *c)
{
	int64_t held = 0;
	int err = db_int(c->db, &sql[GRANT_COUNT], &held,
		ARGS(T(c->caller.tenant_id), T(c->caller.agent_id)));

	if (!err && held >= SKILLSET_MAX)
		return call_fail(c, ERR_CONFLICT,
			"This agent has %d skills, the most there may be.", SKILLSET_MAX);
	return err;
}

/* Another tenant's skill is held as it stands now. */
int agent_skill_give(struct db *db, struct arena *a, const struct skill_grant *g)
{
	struct id id = id_new(NULL);
	const char *digest = NULL;
	int err = 0;

	if (strcmp(g->skill_tenant_id, g->tenant_id) != 0)
		err = skill_version_keep(db, a, g->skill_tenant_id, g->skill_id, g->tenant_id,
			g->created_us, &digest);
	if (err)
		return err;
	return db_put(db, &sql[GRANT_INSERT],
		&(struct skill_grant_row){ .tenant_id = g->tenant_id,
			.agent_id = g->agent_id,
			.skill_id = g->skill_id,
			.skill_tenant_id = g->skill_tenant_id,
			.id = id.text,
			.digest = digest,
			.is_enabled = g->is_enabled,
			.created_at = g->created_us });
}

static int name_unseen(struct call *c)
{
	return call_field(c, "skill_id", "not_found", "is not a skill you can see");
}

CHECK_STEP(grantAgentSkill, AgentSkillGrant)
{
	const char *owner = NULL;

	if (in->skill_id && !skill_seen(c, in->skill_id, &owner) && !owner)
		name_unseen(c);
}

OPERATION(grantAgentSkill, AgentSkillGrant, AgentSkillRead, .key = "skill_id", .may_stand = true,
	.check = grantAgentSkill_check)
{
	const struct caller *who = &c->caller;
	const char *owner;
	int err = find_grant(c, GRANT_READ, in->skill_id, out);

	c->standing = !err;
	if (err != ERR_NOT_FOUND)
		return err;
	err = skill_seen(c, in->skill_id, &owner);
	if (!err && !owner)
		return name_unseen(c);
	if (!err)
		err = check_skill_room(c);
	if (!err)
		err = agent_skill_give(c->db, c->arena,
			&(struct skill_grant){ who->tenant_id, who->agent_id, in->skill_id, owner,
				in->is_enabled, c->now });
	return err ? err : find_grant(c, GRANT_READ, in->skill_id, out);
}

OPERATION(readAgentSkill, NONE, AgentSkillRead)
{
	return no_grant(c, find_grant(c, GRANT_READ, call_param(c, "skill_id"), out));
}

OPERATION(updateAgentSkill, AgentSkillUpdate, AgentSkillRead)
{
	const char *skill_id = call_param(c, "skill_id");
	struct AgentSkillRead before;
	int err = no_grant(c, find_grant(c, GRANT_READ, skill_id, &before));

	if (err)
		return err;
	call_merge(c, CHANGE(AgentSkillRead, &before, out));
	err = call_update(c, CHANGE(AgentSkillRead, &before, out), NULL);
	return err ? err
		   : db_run(c->db, &sql[GRANT_ENABLE], NULL,
			     ARGS(T(c->caller.tenant_id), T(c->caller.agent_id), T(skill_id),
				     N(out->is_enabled)));
}

OPERATION(revokeAgentSkill, NONE, NONE)
{
	const char *skill_id = call_param(c, "skill_id");
	struct grant_row grant;
	int err = no_grant(c, find_grant(c, CONFIG_READ, skill_id, &grant));

	if (!err) /* its webhooks, with their logs */
		err = db_run(c->db, &sql[GRANT_HOOKS], NULL,
			ARGS(T(c->caller.tenant_id), T(c->caller.agent_id), N(c->now),
				T(skill_id)));
	if (!err)
		err = db_run(c->db, &sql[GRANT_REMOVE], NULL,
			ARGS(T(c->caller.tenant_id), T(c->caller.agent_id), T(skill_id)));
	if (!err)
		c->afterwards = gone_submit;
	return err ? err : skill_versions_tidy(c->db, grant.skill_tenant_id, skill_id);
}

/* ---- configuration ---- */

OPERATION(readAgentSkillConfig, NONE, AgentSkillConfigRead, .unseals = true)
{
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
		return call_fail(c, ERR_SECRET,
			"The configuration of this skill cannot be opened with the present master key: set it anew.");
	out->config.text = arena_strndup(c->arena, plain, len);
	return 0;
}

OPERATION(setAgentSkillConfig, AgentSkillConfigUpdate, AgentSkillConfigRead)
{
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
		sealed = vault_seal(c->app->vault, c->arena, SEALED_SKILL_CONFIG, grant.id,
			in->config.text, strlen(in->config.text));
	if (in->config.text && !sealed)
		return ERR_KEY;
	c->audit.meta = sealed ? "{\"config\":\"set\"}" : "{\"config\":\"cleared\"}";
	return db_run(c->db, &sql[CONFIG_SET], NULL,
		ARGS(T(c->caller.tenant_id), T(c->caller.agent_id), T(out->skill_id), T(sealed)));
}

/* ---- permissions ---- */

LIST_OPERATION(listAgentSkillPermissions, NONE, AgentSkillPermissionRead, .key = "skill_id")
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

	for (size_t i = 0; e && !err && i < entries->count; i++) {
		const char *field = arena_printf(c->arena, "permissions[%zu].skill_id", i);
		bool twice = false;

		for (size_t k = 0; k < i && !twice; k++)
			twice = e[i].skill_id && e[k].skill_id &&
				strcmp(e[i].skill_id, e[k].skill_id) == 0;
		if (e[i].action && strcmp(e[i].action, "use") != 0)
			call_field(c, arena_printf(c->arena, "permissions[%zu].action", i),
				"choice", "must be use, the only action there is");
		if (!e[i].skill_id)
			continue;
		err = skill_known(c, e[i].skill_id, &owners[i]);
		if (twice)
			call_field(c, field, "repeated", "is in the list already");
		else if (!err && !owners[i])
			call_field(c, field, "not_found", "is not a skill you can see");
	}
	return err ? err : c->problem.err;
}

CHECK_STEP(setAgentSkillPermissions, AgentSkillPermissionUpdate)
{
	check_entries(c, &in->permissions,
		arena_array(c->arena, const char *, in->permissions.count + 1));
}

enum { PERMISSIONS_NOTED = 32 * 1024 };

/* What was said of the skill: "true", "false", or "null" for nothing. */
static const char *said_of(const struct list *entries, const char *skill_id)
{
	const struct AgentSkillPermissionEntry *e = entries->at;

	for (size_t i = 0; i < entries->count; i++)
		if (strcmp(e[i].skill_id, skill_id) == 0)
			return e[i].allowed ? "true" : "false";
	return "null";
}

static void note_permissions(
	struct buf *b, const struct list *of, const struct list *from, const struct list *to)
{
	const struct AgentSkillPermissionEntry *e = of->at;

	for (size_t i = 0; i < of->count; i++) {
		const char *was = said_of(from, e[i].skill_id), *is = said_of(to, e[i].skill_id);

		/* What stands in both lists is told of once, by the first. */
		if (strcmp(was, is) != 0 && (of == from || strcmp(was, "null") == 0))
			buf_printf(b, "%s\"%s\":{\"from\":%s,\"to\":%s}", b->len > 1 ? "," : "",
				e[i].skill_id, was, is);
	}
}

/* For the audit log: each skill of which something else is said now; how many, where that is too long. */
static const char *permissions_changed(
	struct call *c, const struct list *before, const struct list *now)
{
	const struct AgentSkillPermissionRead *row = before->at;
	struct AgentSkillPermissionEntry *e =
		arena_array(c->arena, struct AgentSkillPermissionEntry, before->count + 1);
	const struct list was = { e, before->count };
	struct buf b;

	for (size_t i = 0; i < before->count; i++)
		e[i] = (struct AgentSkillPermissionEntry){ .skill_id = row[i].skill_id,
			.allowed = row[i].allowed };
	buf_init(&b, PERMISSIONS_NOTED);
	buf_putc(&b, '{');
	note_permissions(&b, &was, &was, now);
	note_permissions(&b, now, &was, now);
	buf_putc(&b, '}');
	if (!b.overflow)
		return arena_take(c->arena, &b);
	buf_free(&b);
	return arena_printf(c->arena, "{\"before\":%zu,\"after\":%zu}", before->count, now->count);
}

REPLACE_OPERATION(setAgentSkillPermissions, AgentSkillPermissionUpdate, AgentSkillPermissionRead,
	.key = "skill_id", .check = setAgentSkillPermissions_check)
{
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
		err = db_put(c->db, &sql[PERMISSION_INSERT],
			&(struct skill_permission_row){ .tenant_id = who->tenant_id,
				.agent_id = who->agent_id,
				.skill_id = e[i].skill_id,
				.skill_tenant_id = owners[i],
				.action = e[i].action,
				.allowed = e[i].allowed,
				.created_at = standing_since(c, &before, &e[i]) });
	if (err)
		return err;
	c->audit.meta = permissions_changed(c, &before, &in->permissions);
	return listAgentSkillPermissions_apply(c);
}

#define A "/tenant/{tenant_id}/agents/{agent_id}/skills"

static const struct route routes[] = {
	{ METHOD_GET, A, &listAgentSkills, PERM_AGENT_READ, 200, .tag = "Skills of an agent",
		.doc = "List the skills given to the agent, newest skill first." },
	{ METHOD_POST, A, &grantAgentSkill, PERM_AGENT_SKILLS_WRITE, 201, "agent_skill.grant",
		.tag = "Skills of an agent",
		.doc = "Give the agent a skill that the caller can see." },
	{ METHOD_GET, A "/{skill_id}", &readAgentSkill, PERM_AGENT_READ, 200,
		.tag = "Skills of an agent", .doc = "Read a skill of the agent." },
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
		"agent.skill_permissions", .tag = "Skills of an agent",
		.doc = "Replace all of the agent's permissions on skills." },
};
RESOURCE(agent_skills, routes, NULL, &agent_skill_sql);
