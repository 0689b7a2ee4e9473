/* agent_tools.h - which tools an agent holds now.
 *
 * Directly and enabled, or through a bundle; a direct grant that is disabled
 * wins over every bundle.  What is sealed stays sealed here. */
#pragma once
#include "store/store.h"

enum { AGENT_TOOLS_MAX = 500 }; /* more than any model is offered at once */

struct held_tool {
	const char *id, *name, *kind, *description, *input_schema;
	bool requires_approval, repeat_safe;
	const char *config; /* with masks */
	const char *sealed; /* the values of its headers, under `id`; "" for none */
	const char *grant_id, *configuration; /* sealed under grant_id; NULL through a bundle */
	bool implied; /* nobody gave it to the agent: it comes with its skills, and has no row */
};

/* In the order of their names: struct held_tool.  ERR_CONFLICT if there are more than AGENT_TOOLS_MAX. */
int agent_tools_held(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	struct list *ret);

/* This one as it is at this moment, with what is set of it for the agent; ERR_NOT_FOUND if the agent does not hold it. */
int agent_tools_now(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	const char *tool_id, struct held_tool *ret);

extern const struct statement_set agent_tools_sql;
