/* skills.c - the skill resource: listing, making, reading, changing and removing skills.
 *
 * A public skill is seen from every tenant, under that tenant's own path, and
 * changed only from the one whose it is. */
#include "api/skills.h"

#include <string.h>

#include "api/api.h"
#include "api/skill_store.h"
#include "base/fold.h"
#include "sessions/skillset.h"
#include "store/listing.h"

struct skill_query {
	const char *q;
	int visibility;
	const char *agent_id;
};

FIELDS(skill_query) = {
	FIELD(skill_query, q, .nullable = true, BOUNDS(1, 255),
		.doc = "Only skills whose name, slug or description contains this, whatever the "
		       "case."),
	FIELD(skill_query, visibility, .nullable = true, .words = &SkillVisibility_words,
		.doc = "Only skills with this visibility."),
	FIELD(skill_query, agent_id, .nullable = true, .id = true,
		.doc = "Only skills that were given to this agent."),
};
SCHEMA(skill_query, .doc = "Filters of the list of skills.");

/* $4 pattern, $5 visibility, $6 agent */
#define LIST_FROM                                                                   \
	"skills s where " SKILLS_SEEN                                               \
	"and (cast($4 as text) is null or s.name_folded like $4 escape '!' "        \
	"or s.slug like $4 escape '!' or s.description_folded like $4 escape '!') " \
	"and (cast($5 as text) is null or s.visibility = $5) "                      \
	"and (cast($6 as text) is null or exists (select 1 from agent_skills g "    \
	"where g.tenant_id = $1 and g.agent_id = $6 and g.skill_id = s.id))"

static const struct statement sql[] = {
	LIST_STATEMENTS("skill_list", &SkillListRead_schema, "{s.*}", LIST_FROM, "s.id", "7", "8",
		.across = "public skills of other tenants are seen too"),
};
STATEMENT_SET(skill_sql, sql);

/* The agent by which to filter; one that the caller does not see has no skills. */
static int filter_agent(struct call *c, const char *agent_id, const char **ret)
{
	struct caller who = c->caller;
	struct place place = { .tenant_id = who.tenant_id, .agent_id = agent_id };
	struct problem ignored = { 0 };
	int err = 0;

	if (agent_id)
		err = caller_permit(
			&who, c->db, c->arena, PERM_AGENT_READ, &place, false, &ignored);
	*ret = err ? "" : agent_id;
	return err == ERR_NOT_FOUND || err == ERR_FORBIDDEN ? 0 : err;
}

OPERATION(listSkills, .list = true, .reply = &SkillListRead_schema, .query = &skill_query_schema)
{
	const struct skill_query *in = c->query;
	const char *visibility =
		in->visibility < 0 ? NULL : SkillVisibility_words.list[in->visibility];
	const char *pattern = in->q ? fold_pattern(c->arena, in->q) : NULL, *agent_id;
	int err = filter_agent(c, in->agent_id, &agent_id);

	return err ? err
		   : call_list(c, sql,
			     ARGS(SKILLS_SEEN_BY(c), T(pattern), T(visibility), T(agent_id)));
}

/* An agent writes only what its settings allow. */
static int check_author(struct call *c, const struct SkillCreate *in)
{
	int err = 0;

	if (in->created_by_agent_id)
		err = skillset_may_author(c->db, c->arena, c->caller.tenant_id,
			in->created_by_agent_id, in->visibility != SkillVisibility_private,
			&c->problem);
	if (err == ERR_NOT_FOUND)
		return call_field(
			c, "created_by_agent_id", "not_found", "is not an agent of this tenant");
	return err;
}

OPERATION(createSkill, .body = &SkillCreate_schema, .reply = &SkillRead_schema)
{
	const struct SkillCreate *in = c->body;
	struct skill_row row;
	int err = skill_check(
		&c->problem, c->arena, in->description, &in->metadata, &in->allowed_tools);

	if (!err)
		err = check_author(c, in);
	if (err)
		return err;
	err = skill_make(c->db, c->arena, c->caller.tenant_id, c->caller.user_id, in, false, &row);
	err = skill_taken(&c->problem, c->arena, err, in->slug);
	c->audit.resource_id = row.id;
	c->audit.agent_id = row.created_by_agent_id;
	schema_copy(&skill_row_schema, &row, &SkillRead_schema, c->reply);
	c->location = arena_printf(c->arena, "/tenant/%s/skills/%s", row.tenant_id, row.id);
	return err;
}

OPERATION(readSkill, .reply = &SkillRead_schema)
{
	return skill_find(c, call_param(c, "skill_id"), c->reply);
}

OPERATION(updateSkill, .body = &SkillUpdate_schema, .reply = &SkillRead_schema)
{
	const struct SkillUpdate *in = c->body;
	struct SkillRead before = { 0 }, *after = c->reply;
	struct skill_row row;
	int err = skill_own(c, call_param(c, "skill_id"), &row);

	if (!err)
		err = skill_check(
			&c->problem, c->arena, in->description, &in->metadata, &in->allowed_tools);
	if (err)
		return err;
	schema_copy(&skill_row_schema, &row, &SkillRead_schema, &before);
	schema_patch(&SkillUpdate_schema, in, &skill_row_schema, &row);
	schema_copy(&skill_row_schema, &row, &SkillRead_schema, after);
	call_changed(c, &SkillRead_schema, &before, after);
	c->audit.resource_id = row.id;
	err = skill_taken(
		&c->problem, c->arena, skill_update(c->db, c->arena, &row, c->now), row.slug);
	after->updated_at = row.updated_at;
	return err;
}

OPERATION(deleteSkill)
{
	struct skill_row row;
	int err = skill_own(c, call_param(c, "skill_id"), &row);

	if (err)
		return err;
	c->audit.resource_id = row.id;
	c->audit.meta = arena_printf(c->arena, "{\"slug\":\"%s\"}", row.slug);
	return skill_remove(c->db, c->arena, row.tenant_id, row.id);
}

#define SKILLS "/tenant/{tenant_id}/skills"

static const struct route routes[] = {
	{ METHOD_GET, SKILLS, &listSkills, PERM_TENANT_READ, 200, .tag = "Skills",
		.doc = "List the skills the caller can see, newest first: the tenant's own, and those "
		       "other tenants have made public." },
	{ METHOD_POST, SKILLS, &createSkill, PERM_SKILLS_WRITE, 201, "skill.create",
		.tag = "Skills", .doc = "Make a skill." },
	{ METHOD_GET, SKILLS "/{skill_id}", &readSkill, PERM_TENANT_READ, 200, .tag = "Skills",
		.doc = "Read a skill." },
	{ METHOD_PATCH, SKILLS "/{skill_id}", &updateSkill, PERM_SKILLS_WRITE, 200, "skill.update",
		.tag = "Skills", .doc = "Change the fields that are sent; null clears." },
	{ METHOD_DELETE, SKILLS "/{skill_id}", &deleteSkill, PERM_SKILLS_WRITE, 204, "skill.delete",
		.tag = "Skills",
		.doc = "Delete a skill with its files, grants, configurations and permissions." },
};
RESOURCE(skills, routes, skills_schemas);
