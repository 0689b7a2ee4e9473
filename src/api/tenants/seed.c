/* seed.c - see seed.h.  Every row is made by the functions that the operations use. */
#include "api/tenants/seed.h"

#include <string.h>

#include "api/agents/agent_row.h"
#include "api/agents/agents.h"
#include "api/plans/plans.h"
#include "api/skills/skill_store.h"
#include "api/tools/tools.h"
#include "base/clock.h"
#include "sessions/builtin_tools.h"

/* Where the rows go, and the ids of those that others hold. */
struct sowing {
	struct db *db;
	struct arena *a;
	const char *tenant_id, *owner_id;
	int64_t now;
	const char **tools; /* as builtin_tools */
	const char *bundles[SEED_BUNDLES], *skills[SEED_SKILLS];
};

static const char *tool_id(const struct sowing *s, const char *name)
{
	for (size_t i = 0; i < builtin_tool_count; i++)
		if (strcmp(builtin_tools[i].name, name) == 0)
			return s->tools[i];
	return "";
}

static int sow_tools(struct sowing *s)
{
	int err = 0;

	s->tools = arena_array(s->a, const char *, builtin_tool_count);
	for (size_t i = 0; !err && i < builtin_tool_count; i++)
		err = tool_make_builtin(
			s->db, s->a, s->tenant_id, &builtin_tools[i], s->now, &s->tools[i]);
	return err;
}

static int sow_bundle(struct sowing *s, int which)
{
	const struct seed_bundle *seed = &seed_bundles[which];
	const char *ids[SEED_BUNDLE_TOOLS_MAX];
	struct ToolBundleCreate in = { seed->name, seed->slug, seed->description, { ids, 0 } };

	for (; seed->tools[in.tools.count]; in.tools.count++)
		ids[in.tools.count] = tool_id(s, seed->tools[in.tools.count]);
	return tool_bundle_make(s->db, s->a, s->tenant_id, &in, s->now, &s->bundles[which]);
}

static int sow_skill(struct sowing *s, int which)
{
	const struct seed_skill *seed = &seed_skills[which];
	struct SkillCreate in;
	struct skill_row row;
	int err;

	schema_init(&SkillCreate_schema, s->a, &in);
	in.name = seed->name;
	in.slug = seed->slug;
	in.description = seed->description;
	in.instructions = seed->instructions;
	in.license = "Apache-2.0";
	in.visibility = SkillVisibility_tenant;
	err = skill_make(s->db, s->a, s->tenant_id, s->owner_id, &in, true, &row);
	s->skills[which] = row.id;
	return err;
}

/* What suits the agent. */
static int equip_seed_agent(struct sowing *s, const struct seed_agent *seed, const char *agent_id)
{
	int err = 0;

	for (int i = 0; !err && i < SEED_BUNDLES; i++)
		if (seed->bundles >> i & 1)
			err = tool_bundle_give(
				s->db, s->tenant_id, agent_id, s->bundles[i], s->owner_id, s->now);
	for (int i = 0; !err && i < SEED_SKILLS; i++)
		if (seed->skills >> i & 1)
			err = agent_skill_give(s->db, s->a,
				&(struct skill_grant){ s->tenant_id, agent_id, s->skills[i],
					s->tenant_id, true, s->now });
	return err;
}

static int sow_agent(struct sowing *s, const struct seed_agent *seed)
{
	const struct agent_maker who = { s->tenant_id, s->owner_id, .owns = true };
	struct AgentCreate in;
	struct agent_row row;
	int err;

	schema_init(&AgentCreate_schema, s->a, &in);
	in.name = seed->name;
	in.slug = seed->slug;
	in.kind = seed->kind;
	in.description = seed->description;
	in.description_prompt = seed->description_prompt;
	in.initial_greeting = seed->initial_greeting;
	err = agent_row_make(s->db, s->a, &who, &in, true, &row);
	return err ? err : equip_seed_agent(s, seed, row.id);
}

int seed_tenant(struct db *db, struct arena *a, const char *tenant_id, const char *owner_id)
{
	struct sowing s = { db, a, tenant_id, owner_id, .now = clock_now_us() };
	int64_t room = 0;
	int err = plan_agents_left(db, a, tenant_id, &room);

	if (!err)
		err = sow_tools(&s);
	for (int i = 0; !err && i < SEED_BUNDLES; i++)
		err = sow_bundle(&s, i);
	for (int i = 0; !err && i < SEED_SKILLS; i++)
		err = sow_skill(&s, i);
	for (int i = 0; !err && i < SEED_AGENTS && i < room; i++)
		err = sow_agent(&s, &seed_agents[i]);
	return err;
}
