/* agent_tools.c - the tools an agent has by itself, with its own settings for each.
 *
 * The settings may hold secrets: they are sealed in the store, shown only to
 * those who may change them, and not part of the audit log. */
#include <string.h>

#include "api/api.h"
#include "api/tools.h"
#include "store/listing.h"

struct agent_tool_row {
	const char *tenant_id, *agent_id, *tool_id, *id;
	bool is_enabled;
	struct moment created_at, updated_at;
	struct json configuration; /* sealed in the store, opened by open_row() */
};

FIELDS(agent_tool_row) = {
	FIELD(agent_tool_row, tenant_id),
	FIELD(agent_tool_row, agent_id),
	FIELD(agent_tool_row, tool_id),
	FIELD(agent_tool_row, id),
	FIELD(agent_tool_row, is_enabled),
	FIELD(agent_tool_row, created_at),
	FIELD(agent_tool_row, updated_at),
	FIELD(agent_tool_row, configuration, .secret = true),
};
static SCHEMA(agent_tool_row, .internal = true);

/* In AgentToolUpdate's `got`. */
enum { CONFIGURATION_BIT = 1 << 1 };

#define LIST_FROM "agent_tools g where g.tenant_id = $1 and g.agent_id = $2"

enum { GRANT_LIST, GRANT_ROW = GRANT_LIST + LIST_SORTS, GRANT_INSERT, GRANT_UPDATE, GRANT_REMOVE };

static const struct statement sql[] = {
	LIST_STATEMENTS("agent_tool_list", &agent_tool_row_schema, "{g.*}", LIST_FROM, "g.tool_id",
		"3", "4"),
	[GRANT_ROW] = { "agent_tool_row", "select {g.*} from " LIST_FROM " and g.tool_id = $3",
		.row = &agent_tool_row_schema },
	[GRANT_INSERT] = { "agent_tool_insert", "insert into agent_tools ({*}) values ({$})",
		.row = &agent_tool_row_schema },
	[GRANT_UPDATE] = { "agent_tool_update",
		"update agent_tools set {=} where tenant_id = {$tenant_id} "
		"and agent_id = {$agent_id} and tool_id = {$tool_id} and id = {$id}",
		.row = &agent_tool_row_schema },
	[GRANT_REMOVE] = { "agent_tool_remove",
		"delete from agent_tools where tenant_id = $1 and agent_id = $2 and tool_id = $3" },
};
STATEMENT_SET(agent_tool_sql, sql);

/* A copied grant has none yet. */
static int open_row(struct call *c, struct agent_tool_row *row)
{
	if (!*row->configuration.text) {
		row->configuration.text = "{}";
		return 0;
	}
	row->configuration.text =
		vault_open_text(c->app->vault, c->arena, row->id, row->configuration.text);
	if (row->configuration.text)
		return 0;
	return call_fail(c, ERR_INTERNAL,
		"The settings of the tool %s were sealed with a key that is not here any more; "
		"grant it anew.",
		row->tool_id);
}

/* Stores the row with its settings sealed. */
static int put_row(struct call *c, int statement, const struct agent_tool_row *row)
{
	struct agent_tool_row sealed = *row;
	const char *text = row->configuration.text;

	sealed.configuration.text =
		vault_seal(c->app->vault, c->arena, row->id, text, strlen(text));
	return db_put(c->db, c->arena, &sql[statement], &sealed);
}

/* ERR_NOT_FOUND without a sentence if the agent does not have it. */
static int find_row(struct call *c, const char *tool_id, struct agent_tool_row *ret)
{
	int err = db_one(c->db, c->arena, &sql[GRANT_ROW], ret,
		ARGS(T(c->caller.tenant_id), T(c->caller.agent_id), T(tool_id)));

	return err ? err : open_row(c, ret);
}

static int not_held(struct call *c, int err)
{
	if (err != ERR_NOT_FOUND)
		return err;
	return call_fail(c, err, "The agent does not have this tool by itself.");
}

OPERATION(listAgentTools, .list = true, .key = "tool_id", .reply = &AgentToolRead_schema)
{
	struct agent_tool_row *rows;
	struct AgentToolRead *out;
	int err =
		call_list(c, &sql[GRANT_LIST], ARGS(T(c->caller.tenant_id), T(c->caller.agent_id)));

	if (err)
		return err;
	rows = c->items.at;
	out = arena_array(c->arena, struct AgentToolRead, c->items.count + 1);
	for (size_t i = 0; !err && i < c->items.count; i++) {
		err = open_row(c, &rows[i]);
		schema_copy(&agent_tool_row_schema, &rows[i], &AgentToolRead_schema, &out[i]);
	}
	c->items.at = out;
	return err;
}

OPERATION(grantAgentTool, .body = &AgentToolGrant_schema, .reply = &AgentToolRead_schema)
{
	const struct AgentToolGrant *in = c->body;
	struct agent_tool_row row;
	int err = tool_known(c, in->tool_id);

	if (!err)
		err = find_row(c, in->tool_id, &row);
	c->standing = !err;
	if (err == ERR_NOT_FOUND && !c->problem.err) {
		const struct id id = id_new(NULL);

		row = (struct agent_tool_row){ .tenant_id = c->caller.tenant_id,
			.agent_id = c->caller.agent_id,
			.tool_id = in->tool_id,
			.id = arena_strdup(c->arena, id.text),
			.is_enabled = in->is_enabled,
			.created_at = { c->now },
			.updated_at = { c->now },
			.configuration = {
				in->configuration.text ? in->configuration.text : "{}" } };
		err = put_row(c, GRANT_INSERT, &row);
	}
	if (err)
		return err;
	schema_copy(&agent_tool_row_schema, &row, &AgentToolRead_schema, c->reply);
	c->audit.resource_id = in->tool_id;
	c->audit.meta = arena_printf(c->arena, "{\"is_enabled\":%s,\"standing\":%s}",
		row.is_enabled ? "true" : "false", c->standing ? "true" : "false");
	c->location = arena_printf(c->arena, "/tenant/%s/agents/%s/tools/%s", row.tenant_id,
		row.agent_id, row.tool_id);
	return 0;
}

OPERATION(updateAgentTool, .body = &AgentToolUpdate_schema, .reply = &AgentToolRead_schema)
{
	const struct AgentToolUpdate *in = c->body;
	struct agent_tool_row before, after;
	int err = not_held(c, find_row(c, call_param(c, "tool_id"), &before));

	if (err)
		return err;
	after = before;
	schema_patch(&AgentToolUpdate_schema, in, &agent_tool_row_schema, &after);
	if (in->got & CONFIGURATION_BIT && !in->configuration.text)
		after.configuration.text = "{}";
	call_changed(c, &agent_tool_row_schema, &before, &after);
	after.updated_at.us = c->now > before.updated_at.us ? c->now : before.updated_at.us + 1;
	schema_copy(&agent_tool_row_schema, &after, &AgentToolRead_schema, c->reply);
	c->audit.resource_id = after.tool_id;
	return put_row(c, GRANT_UPDATE, &after);
}

OPERATION(revokeAgentTool)
{
	const char *tool_id = call_param(c, "tool_id");
	int64_t removed = 0;
	int err = db_run(c->db, &sql[GRANT_REMOVE], &removed,
		ARGS(T(c->caller.tenant_id), T(c->caller.agent_id), T(tool_id)));

	c->audit.resource_id = tool_id;
	return err || removed ? err : not_held(c, ERR_NOT_FOUND);
}

#define A "/tenant/{tenant_id}/agents/{agent_id}/tools"

static const struct route routes[] = {
	{ METHOD_GET, A, &listAgentTools, PERM_AGENT_TOOLS_WRITE, 200, .tag = "Tools",
		.doc = "List the tools the agent has by itself, newest tool first." },
	{ METHOD_POST, A, &grantAgentTool, PERM_AGENT_TOOLS_WRITE, 201, "agent_tool.grant",
		.tag = "Tools", .doc = "Give the agent a tool; one that it has stays as it is." },
	{ METHOD_PATCH, A "/{tool_id}", &updateAgentTool, PERM_AGENT_TOOLS_WRITE, 200,
		"agent_tool.update", .tag = "Tools",
		.doc = "Switch a tool of the agent on or off, or change its settings." },
	{ METHOD_DELETE, A "/{tool_id}", &revokeAgentTool, PERM_AGENT_TOOLS_WRITE, 204,
		"agent_tool.revoke", .tag = "Tools",
		.doc = "Take the tool from the agent; it may still come with a bundle." },
};
RESOURCE(agent_tools, routes, NULL);
