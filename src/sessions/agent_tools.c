/* agent_tools.c - see agent_tools.h. */
#include "sessions/agent_tools.h"

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

static const struct statement sql[] = {
	{ "agent_tools_held",
		"select t.id, t.name, t.kind, t.description, t.input_schema, t.requires_approval, "
		"t.repeat_safe, t.config, t.sealed, g.id as grant_id, "
		"nullif(g.configuration, '') as configuration "
		"from tools t left join agent_tools g on g.tenant_id = $1 and g.agent_id = $2 "
		"and g.tool_id = t.id where t.tenant_id = $1 and (g.is_enabled = 1 or (g.id is null "
		"and exists (select 1 from agent_tool_bundles h join tool_bundle_tools b "
		"on b.tenant_id = $1 and b.bundle_id = h.bundle_id and b.tool_id = t.id "
		"where h.tenant_id = $1 and h.agent_id = $2))) order by t.name, t.id limit $3",
		.row = &held_tool_schema },
};
STATEMENT_SET(agent_tools_sql, sql);

int agent_tools_held(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	struct list *ret)
{
	int err = db_all(db, a, &sql[0], ret, AGENT_TOOLS_MAX + 1,
		ARGS(T(tenant_id), T(agent_id), N(AGENT_TOOLS_MAX + 1)));

	return !err && ret->count > AGENT_TOOLS_MAX ? ERR_CONFLICT : err;
}
