/* skillset.h - which skills an agent may use now, and whether it may write one.
 *
 * An agent uses a skill when four things hold together: the skill was granted
 * to it, the grant is enabled, no permission row forbids the action `use`,
 * and the skill is there for the agent's tenant, being its own or another's
 * that is public.  A permission row that allows changes nothing by itself: it
 * grants nothing.  A grant of another tenant's skill that is public no longer
 * stays, and counts again when the skill does.  What it reads is the text that
 * the grant is pinned to, or else the skill's own. */
#pragma once
#include "base/arena.h"
#include "base/error.h"
#include "store/store.h"

/* In a statement: the agent may use the skill now. */
#define SKILL_USED(tenant, agent, skill)                                                             \
	"exists (select 1 from agent_skills g join skills s on s.tenant_id = g.skill_tenant_id "     \
	"and s.id = g.skill_id where g.tenant_id = " tenant " and g.agent_id = " agent               \
	" and g.skill_id = " skill " and g.is_enabled = 1 and (s.tenant_id = " tenant                \
	" or (s.visibility = 'public' and exists (select 1 from tenants o where o.id = s.tenant_id " \
	"and o.status <> 'closed'))) and not exists (select 1 from agent_skill_permissions n "       \
	"where n.tenant_id = " tenant " and n.agent_id = " agent " and n.skill_id = " skill          \
	" and n.action = 'use' and n.allowed = 0))"

enum { SKILLSET_MAX = 200 }; /* skills one agent may hold */

/* What the model is shown of a skill before it chooses one. */
struct usable_skill {
	const char *id, *tenant_id; /* the tenant whose skill it is */
	const char *name, *slug, *description;
	struct list allowed_tools;
};

/* All that the agent may use now, by slug. */
int skillset_usable(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	struct list *ret);

/* A skill once it is chosen. */
struct chosen_skill {
	const char *id, *tenant_id, *slug, *instructions;
	const char *digest;	   /* of the text it is pinned to; NULL: it follows the skill */
	const char *metadata;	   /* a JSON object of texts */
	const char *grant_id;	   /* the context of the seal */
	const char *config_sealed; /* NULL: none is set */
};

/* ERR_NOT_FOUND if the agent may not use it now. */
int skillset_choose(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	const char *skill_id, struct chosen_skill *ret);

/* May the agent write a skill, private or wider?  ERR_NOT_FOUND without such an agent, ERR_CONFLICT with
 * a sentence if its settings are against it. */
int skillset_may_author(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	bool wider_than_private, struct problem *p);

extern const struct statement_set skillset_sql;
