/* skillset.h - which skills an agent may use now, and whether it may write one.
 *
 * An agent uses a skill when four things hold together: the skill was granted
 * to it, the grant is enabled, no permission row forbids the action `use`,
 * and the skill is there for the agent's tenant, being its own or another's
 * that is public.  A permission row that allows changes nothing by itself: it
 * grants nothing.  A grant of another tenant's skill that is public no longer
 * stays, and counts again when the skill does. */
#pragma once
#include "base/arena.h"
#include "base/error.h"
#include "store/store.h"

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
