/* skillset.c - see skillset.h. */
#include "sessions/skillset.h"

FIELDS(usable_skill) = {
	FIELD(usable_skill, id),
	FIELD(usable_skill, tenant_id),
	FIELD(usable_skill, name),
	FIELD(usable_skill, slug),
	FIELD(usable_skill, description),
	FIELD(usable_skill, allowed_tools, .item = TEXT),
};
static SCHEMA(usable_skill, .internal = true);

FIELDS(chosen_skill) = {
	FIELD(chosen_skill, id),
	FIELD(chosen_skill, tenant_id),
	FIELD(chosen_skill, digest, .nullable = true),
	FIELD(chosen_skill, slug),
	FIELD(chosen_skill, metadata),
	FIELD(chosen_skill, instructions),
	FIELD(chosen_skill, grant_id),
	FIELD(chosen_skill, config_sealed, .nullable = true),
};
static SCHEMA(chosen_skill, .internal = true);

struct author {
	bool can_author_skills, widely;
};

FIELDS(author) = {
	FIELD(author, can_author_skills),
	FIELD(author, widely),
};
static SCHEMA(author, .internal = true);

/* The text that the agent holds, or the skill's own. */
#define PINNED(column) "coalesce(v." column ", s." column ") as " column

/* $1 tenant, $2 agent */
#define USABLE                                                                                   \
	" from agent_skills g join skills s on s.tenant_id = g.skill_tenant_id "                 \
	"and s.id = g.skill_id left join skill_versions v on v.tenant_id = g.skill_tenant_id "   \
	"and v.skill_id = g.skill_id and v.digest = g.digest "                                   \
	"where g.tenant_id = $1 and g.agent_id = $2 and g.is_enabled = 1 "                       \
	"and (g.digest is null or v.digest is not null) "                                        \
	"and (s.tenant_id = $1 or (s.visibility = 'public' and exists (select 1 from tenants t " \
	"where t.id = s.tenant_id and t.status <> 'closed'))) "                                  \
	"and not exists (select 1 from agent_skill_permissions p where p.tenant_id = $1 "        \
	"and p.agent_id = $2 and p.skill_id = g.skill_id and p.action = 'use' and p.allowed = 0) "

enum { SKILLS_USABLE, SKILL_CHOOSE, AUTHOR_READ };

static const struct statement sql[] = {
	[SKILLS_USABLE] = { "skills_usable",
		"select s.id, s.tenant_id, " PINNED("name") ", " PINNED("slug") ", " PINNED(
			"description") ", " PINNED("allowed_tools") USABLE "order by 4, 1",
		.row = &usable_skill_schema },
	[SKILL_CHOOSE] = { "skill_choose",
		"select s.id, s.tenant_id, g.digest, " PINNED("slug") ", " PINNED(
			"metadata") ", " PINNED("instructions") ", g.id as grant_id, g.config_sealed" USABLE
								"and g.skill_id = $3",
		.row = &chosen_skill_schema },
	[AUTHOR_READ] = { "skill_author",
		"select can_author_skills, case skill_visibility_scope when 'tenant_allowed' then 1 "
		"else 0 end as widely from agents where tenant_id = $1 and id = $2",
		.row = &author_schema },
};
STATEMENT_SET(skillset_sql, sql);

int skillset_usable(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	struct list *ret)
{
	return db_all(
		db, a, &sql[SKILLS_USABLE], ret, SKILLSET_MAX, ARGS(T(tenant_id), T(agent_id)));
}

int skillset_choose(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	const char *skill_id, struct chosen_skill *ret)
{
	return db_one(db, a, &sql[SKILL_CHOOSE], ret, ARGS(T(tenant_id), T(agent_id), T(skill_id)));
}

int skillset_may_author(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	bool wider_than_private, struct problem *p)
{
	struct author agent;
	int err = db_one(db, a, &sql[AUTHOR_READ], &agent, ARGS(T(tenant_id), T(agent_id)));

	if (err)
		return err;
	if (!agent.can_author_skills)
		return problem_set(p, a, ERR_CONFLICT,
			"This agent may not write skills; its can_author_skills is off.");
	if (wider_than_private && !agent.widely)
		return problem_set(p, a, ERR_CONFLICT,
			"This agent writes only private skills; its skill_visibility_scope is "
			"private_only.");
	return 0;
}
