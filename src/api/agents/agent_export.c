/* agent_export.c - GET .../export: the agent of the path as a bundle, to be kept or imported elsewhere. */
#include "api/agents/agent_export.h"
#include "api/agents/agent_row.h"
#include "call/operation.h"

struct agent_export_query {
	bool sessions, memories;
};

FIELDS(agent_export_query) = {
	FIELD(agent_export_query, sessions, .preset = "false",
		.doc = "True takes along what was said, in the sessions that the caller sees: the newest 1000, and 20000 messages."),
	FIELD(agent_export_query, memories, .preset = "false",
		.doc = "True takes along what the agent keeps between sessions and shares with everybody."),
};
SCHEMA(agent_export_query, .doc = "What a bundle holds besides the agent itself.");

QUERY_OPERATION(
	exportAgent, agent_export_query, NONE, .gives = "application/zip", .long_read = true)
{
	const struct caller *me = &c->caller;
	const struct agent_exporter who = { .db = c->db,
		.a = c->arena,
		.vault = c->app->vault,
		.tenant_id = me->tenant_id,
		.agent_id = me->agent_id,
		.user_id = me->user_id,
		.sees_private_skills = me->tenant & PERM(SKILLS_WRITE),
		.all_sessions = me->all_sessions,
		.sessions = in->sessions && me->agent & PERM(SESSION_READ),
		.memories = in->memories,
		.p = &c->problem };
	struct agent_bundle bundle;
	struct agent_row row;
	int err = agent_row_read(c, &row);

	if (!err)
		err = agent_export_read(&who, &bundle);
	if (!err)
		err = bundle_write(&c->x->reply.body, c->arena, &bundle, &c->problem);
	if (err)
		return err;
	call_attach(c, arena_printf(c->arena, "%s.zip", row.slug));
	return 0;
}

static const struct route routes[] = {
	{ METHOD_GET, "/tenant/{tenant_id}/agents/{agent_id}/export", &exportAgent,
		PERM_AGENT_WRITE, 200, .tag = "Agents", .finds_agent = true,
		.doc = "The agent as a bundle, without ids and secrets. The same agent gives the same "
		       "bytes, and an import of them the same agent." },
};
RESOURCE(agent_export, routes, NULL);
