/* seed.h - what a new tenant begins with, so that it is useful at once: agents, skills and tools.
 *
 * The catalogue is data (seed_texts.c).  Its rows are the tenant's own from
 * the moment they are made: they can be changed and deleted like any others,
 * and nothing brings them back. */
#pragma once
#include "store/store.h"

enum { SEED_EVERYDAY, SEED_RESEARCH, SEED_MAIL, SEED_BUNDLES };
enum { SEED_SUMMARISE, SEED_PLAIN_WRITING, SEED_TABLES, SEED_ANSWERS, SEED_SKILLS };
enum { SEED_AGENTS = 3, SEED_BUNDLE_TOOLS_MAX = 16 };

struct seed_agent {
	const char *name, *slug;
	int kind;
	const char *description, *description_prompt, *initial_greeting;
	unsigned bundles, skills; /* 1 << SEED_EVERYDAY and so on */
};

struct seed_skill {
	const char *name, *slug, *description, *instructions;
};

struct seed_bundle {
	const char *name, *slug, *description;
	const char
		*tools[SEED_BUNDLE_TOOLS_MAX + 1]; /* names of what is built in; NULL at the end */
};

/* The first are made where a plan has no room for all. */
extern const struct seed_agent seed_agents[SEED_AGENTS];
extern const struct seed_skill seed_skills[SEED_SKILLS];
extern const struct seed_bundle seed_bundles[SEED_BUNDLES];

/* Makes all of it in a tenant that has none of it yet, for the user who owns it; of the agents as many
 * as the tenant's plan admits. */
int seed_tenant(struct db *db, struct arena *a, const char *tenant_id, const char *owner_id);
