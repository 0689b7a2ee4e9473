/* agent_tools.c - see agent_tools.h. */
#include "sessions/agent_tools.h"

#include <string.h>

#include "sessions/builtin_tools.h"

FIELDS(held_tool) = {
	FIELD(held_tool, id),
	FIELD(held_tool, name),
	FIELD(held_tool, kind),
	FIELD(held_tool, description),
	FIELD(held_tool, input_schema),
	FIELD(held_tool, requires_approval),
	FIELD(held_tool, repeat_safe),
	FIELD(held_tool, config),
	FIELD(held_tool, sealed),
	FIELD(held_tool, grant_id, .nullable = true),
	FIELD(held_tool, configuration, .nullable = true),
};
static SCHEMA(held_tool, .internal = true);

#define COLUMNS                                                                      \
	"t.id, t.name, t.kind, t.description, t.input_schema, t.requires_approval, " \
	"t.repeat_safe, t.config, t.sealed, g.id as grant_id, "                      \
	"nullif(g.configuration, '') as configuration "
/* $1 tenant, $2 agent */
#define HELD                                                                                  \
	"from tools t left join agent_tools g on g.tenant_id = $1 and g.agent_id = $2 "       \
	"and g.tool_id = t.id where t.tenant_id = $1 and (g.is_enabled = 1 or (g.id is null " \
	"and exists (select 1 from agent_tool_bundles h join tool_bundle_tools b "            \
	"on b.tenant_id = $1 and b.bundle_id = h.bundle_id and b.tool_id = t.id "             \
	"where h.tenant_id = $1 and h.agent_id = $2)))"

enum { TOOLS_HELD, TOOL_NOW };

static const struct statement sql[] = {
	[TOOLS_HELD] = { "agent_tools_held",
		"select " COLUMNS HELD " order by t.name, t.id limit $3",
		.row = &held_tool_schema },
	[TOOL_NOW] = { "agent_tools_now", "select " COLUMNS HELD " and t.id = $3",
		.row = &held_tool_schema },
};
STATEMENT_SET(agent_tools_sql, sql);

/* What is built in takes what the program says, also where its row is older. */
static void take_own_schema(struct held_tool *held)
{
	const struct builtin_tool *b =
		strcmp(held->kind, "builtin") == 0 ? builtin_tool(held->name) : NULL;

	if (b)
		held->input_schema = b->input_schema;
}

int agent_tools_held(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	struct list *ret)
{
	int err = db_all(db, a, &sql[TOOLS_HELD], ret, AGENT_TOOLS_MAX + 1,
		ARGS(T(tenant_id), T(agent_id), N(AGENT_TOOLS_MAX + 1)));
	struct held_tool *held = ret->at;

	for (size_t i = 0; !err && i < ret->count; i++)
		take_own_schema(&held[i]);
	return !err && ret->count > AGENT_TOOLS_MAX ? ERR_CONFLICT : err;
}

int agent_tools_now(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	const char *tool_id, struct held_tool *ret)
{
	int err;

	*ret = (struct held_tool){ 0 };
	err = db_one(db, a, &sql[TOOL_NOW], ret, ARGS(T(tenant_id), T(agent_id), T(tool_id)));
	if (!err)
		take_own_schema(ret);
	return err;
}
