/* skills.c - the skill resource: listing, making, reading, changing and removing skills.
 *
 * A public skill is seen from every tenant, under that tenant's own path, and
 * changed only from the one whose it is. */
#include "api/skills/skills.h"

#include <string.h>

#include "call/operation.h"
#include "api/erasure/gone.h"
#include "api/skills/skill_store.h"
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

#define LIST_FROM                                                                               \
	"skills s where " SKILLS_SEEN                                                           \
	"and (cast(:pattern as text) is null or s.name_folded like :pattern escape '!' "        \
	"or s.slug like :pattern escape '!' or s.description_folded like :pattern escape '!') " \
	"and (cast(:visibility as text) is null or s.visibility = :visibility) "                \
	"and (cast(:agent_id as text) is null or exists (select 1 from agent_skills g "         \
	"where g.tenant_id = :tenant_id and g.agent_id = :agent_id and g.skill_id = s.id))"

enum { LIST_OF(SKILL_LIST) };

static const struct statement sql[] = {
	LISTING(SKILL_LIST, "skill_list", &SkillListRead_schema, "{s.*}", LIST_FROM, "s.id",
		.args = &skill_search_schema,
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

LIST_OPERATION(listSkills, skill_query, SkillListRead)
{
	struct skill_search s = skill_search_of(c, NULL);
	struct SkillListRead *row;
	int err = filter_agent(c, in->agent_id, &s.agent_id);

	s.pattern = in->q ? fold_pattern(c->arena, in->q) : NULL;
	s.visibility = in->visibility;
	if (!err)
		err = call_list(c, &sql[SKILL_LIST], BY_NAME(skill_search, &s));
	row = c->items.at;
	for (size_t i = 0; !err && i < c->items.count; i++)
		if (strcmp(row[i].tenant_id, s.tenant_id) != 0)
			row[i].created_by_id = row[i].created_by_agent_id = NULL;
	return err;
}

int skill_rows_seen(
	struct call *c, const char *after, size_t most, struct list *ret, bool *ret_more)
{
	const struct skill_search s = skill_search_of(c, NULL);
	const struct db_page page = { .rows = most + 1, .bytes = CALL_PAGE_BYTES, .after = after };
	int err = db_page(c->db, c->arena, &sql[after ? SKILL_LIST_AFTER : SKILL_LIST_PAGE], ret,
		&page, ret_more, BY_NAME(skill_search, &s));

	if (!err && ret->count > most) {
		ret->count = most;
		*ret_more = true;
	}
	return err;
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

CHECK_STEP(createSkill, SkillCreate)
{
	skill_check(&c->problem, c->arena, in->description, &in->metadata, &in->allowed_tools);
}

OPERATION(createSkill, SkillCreate, SkillRead, .check = createSkill_check)
{
	struct skill_row row;
	int err = skill_check(
		&c->problem, c->arena, in->description, &in->metadata, &in->allowed_tools);

	if (!err)
		err = check_author(c, in);
	if (err)
		return err;
	err = skill_make(c->db, c->arena, c->caller.tenant_id, c->caller.user_id, in, false, &row);
	err = skill_taken(&c->problem, c->arena, err, in->slug);
	c->audit.agent_id = row.created_by_agent_id;
	skill_told(c, &row);
	schema_copy(&skill_row_schema, &row, &SkillRead_schema, out);
	return err;
}

OPERATION(readSkill, NONE, SkillRead)
{
	return skill_find(c, call_param(c, "skill_id"), out);
}

CHECK_STEP(updateSkill, SkillUpdate)
{
	skill_check(&c->problem, c->arena, in->description, &in->metadata, &in->allowed_tools);
}

OPERATION(updateSkill, SkillUpdate, SkillRead, .check = updateSkill_check)
{
	struct skill_row before, after;
	int err = skill_own(c, call_param(c, "skill_id"), &before);

	if (!err)
		err = skill_check(
			&c->problem, c->arena, in->description, &in->metadata, &in->allowed_tools);
	if (err)
		return err;
	call_merge(c, CHANGE(skill_row, &before, &after));
	if (c->audit.owner_id)
		skill_told(c, &after);
	err = call_update(c, CHANGE(skill_row, &before, &after), NULL);
	return err ? err
		   : skill_taken(&c->problem, c->arena, skill_write(c->db, c->arena, &after),
			     after.slug);
}

OPERATION(deleteSkill, NONE, NONE)
{
	struct skill_row row;
	int err = skill_own(c, call_param(c, "skill_id"), &row);

	if (err)
		return err;
	c->audit.meta = arena_printf(c->arena, "{\"slug\":\"%s\"}", row.slug);
	c->afterwards = gone_submit;
	return skill_remove(c->db, c->arena, row.tenant_id, row.id, c->now);
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
RESOURCE(skills, routes, NULL, &skill_sql);
