/* agent_tools.c - the tools an agent has by itself, with its own settings for each.
 *
 * The settings may hold secrets: they are sealed in the store, shown only to
 * those who may change them, and not part of the audit log. */
#include <string.h>

#include "call/operation.h"
#include "api/tools/tools.h"
#include "base/json.h"
#include "base/json_schema.h"
#include "base/json_tree.h"
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

enum {
	LIST_OF(GRANT_LIST),
	GRANT_ROW,
	GRANT_INSERT,
	GRANT_UPDATE,
	GRANT_REMOVE,
	GRANT_BUNDLED,
	TOOL_INPUT,
};

static const struct statement sql[] = {
	LISTING(GRANT_LIST, "agent_tool_list", &agent_tool_row_schema, "{g.*}", LIST_FROM,
		"g.tool_id"),
	[GRANT_ROW] = { "agent_tool_row", "select {g.*} from " LIST_FROM " and g.tool_id = $3",
		.row = &agent_tool_row_schema },
	[GRANT_INSERT] = { "agent_tool_insert", "insert into agent_tools ({*}) values ({$})",
		.row = &agent_tool_row_schema },
	[GRANT_UPDATE] = { "agent_tool_update",
		"update agent_tools set {=} where tenant_id = :tenant_id "
		"and agent_id = :agent_id and tool_id = :tool_id and id = :id",
		.row = &agent_tool_row_schema },
	[GRANT_REMOVE] = { "agent_tool_remove",
		"delete from agent_tools where tenant_id = $1 and agent_id = $2 and tool_id = $3" },
	[GRANT_BUNDLED] = { "agent_tool_bundled",
		"select count(*) from agent_tool_bundles h join tool_bundle_tools b "
		"on b.tenant_id = $1 and b.bundle_id = h.bundle_id and b.tool_id = $3 "
		"where h.tenant_id = $1 and h.agent_id = $2" },
	[TOOL_INPUT] = { "agent_tool_input",
		"select input_schema as value from tools where tenant_id = $1 and id = $2",
		.row = &one_text_schema },
};
STATEMENT_SET(agent_tool_sql, sql);

/* What a grant shows whose settings cannot be opened; known by its address. */
static const char unopened[] = "{}";

/* A copied grant has none yet. */
static void open_row(struct call *c, struct agent_tool_row *row)
{
	const char *sealed = row->configuration.text;

	row->configuration.text =
		*sealed ? vault_open_text(c->app->vault, c->arena, row->id, sealed) : "{}";
	if (!row->configuration.text)
		row->configuration.text = unopened;
}

/* Stores the row with its settings sealed. */
static int put_row(struct call *c, int statement, const struct agent_tool_row *row)
{
	struct agent_tool_row sealed = *row;
	const char *text = row->configuration.text;

	if (text == unopened)
		return call_fail(c, ERR_SECRET,
			"What is set of the tool %s for this agent cannot be opened with the present master key: send "
			"its configuration anew.",
			row->tool_id);
	sealed.configuration.text = vault_seal(
		c->app->vault, c->arena, SEALED_TOOL_CONFIG, row->id, text, strlen(text));
	if (!sealed.configuration.text)
		return ERR_KEY;
	return db_put(c->db, &sql[statement], &sealed);
}

/* Those of the settings that are arguments of the tool, as an object. */
static const char *arguments_among(
	struct arena *a, const struct json_schema *schema, const struct json_node *given)
{
	struct buf b;
	const char *text;

	buf_init(&b, CEILING_JSON * 2);
	buf_putc(&b, '{');
	for (size_t i = 0; given->type == JSON_OBJECT && i < given->count; i++) {
		const struct json_member *m = &given->members[i];

		if (!json_schema_has_property(schema, m->name, m->len))
			continue;
		if (b.len > 1)
			buf_putc(&b, ',');
		json_write_string(&b, m->name, m->len);
		buf_putc(&b, ':');
		json_tree_write(&b, m->value);
	}
	buf_putc(&b, '}');
	text = b.overflow ? NULL : arena_strndup(a, b.at, b.len);
	buf_free(&b);
	return text;
}

/* What is set must be what the tool takes: a call would fail by it, and nobody who calls could mend it.  What
 * is wrong with the whole (that others are missing) is the model's to add. */
static int check_settings(struct call *c, const char *tool_id, const char *configuration)
{
	struct json_violations faults = { 0 };
	struct one_text input = { 0 };
	const struct json_node *given;
	struct json_schema *schema;
	const char *text;
	int err = db_one(c->db, c->arena, &sql[TOOL_INPUT], &input,
		ARGS(T(c->caller.tenant_id), T(tool_id)));

	if (err)
		return err;
	given = json_tree(c->arena, configuration, strlen(configuration), NULL, NULL);
	schema = json_schema_compile(c->arena, input.value, strlen(input.value), &faults);
	text = given && schema ? arguments_among(c->arena, schema, given) : NULL;
	if (!text || json_schema_check(schema, c->arena, text, strlen(text), &faults))
		return 0;
	for (size_t i = 0; i < faults.count; i++)
		if (faults.list[i].path[0])
			call_field(c,
				arena_printf(c->arena, "configuration%s", faults.list[i].path),
				"schema", "%s", faults.list[i].sentence);
	return c->problem.err;
}

/* ERR_NOT_FOUND without a sentence if the agent does not have it. */
static int find_row(struct call *c, const char *tool_id, struct agent_tool_row *ret)
{
	int err = db_one(c->db, c->arena, &sql[GRANT_ROW], ret,
		ARGS(T(c->caller.tenant_id), T(c->caller.agent_id), T(tool_id)));

	if (!err)
		open_row(c, ret);
	return err;
}

static int not_held(struct call *c, int err)
{
	if (err != ERR_NOT_FOUND)
		return err;
	return call_fail(c, err, "The agent does not have this tool by itself.");
}

LIST_OPERATION(listAgentTools, NONE, AgentToolRead, .key = "tool_id")
{
	struct agent_tool_row *rows;
	struct AgentToolRead *out;
	int err =
		call_list(c, &sql[GRANT_LIST], ARGS(T(c->caller.tenant_id), T(c->caller.agent_id)));

	if (err)
		return err;
	rows = c->items.at;
	out = arena_array(c->arena, struct AgentToolRead, c->items.count + 1);
	for (size_t i = 0; i < c->items.count; i++) {
		open_row(c, &rows[i]);
		schema_copy(&agent_tool_row_schema, &rows[i], &AgentToolRead_schema, &out[i]);
	}
	c->items.at = out;
	return 0;
}

CHECK_STEP(grantAgentTool, AgentToolGrant)
{
	if (in->tool_id && in->configuration.text)
		check_settings(c, in->tool_id, in->configuration.text);
}

OPERATION(grantAgentTool, AgentToolGrant, AgentToolRead, .key = "tool_id", .may_stand = true,
	.check = grantAgentTool_check)
{
	struct agent_tool_row row;
	int err = tool_grantable(c, in->tool_id);

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
		err = check_settings(c, in->tool_id, row.configuration.text);
		if (!err)
			err = put_row(c, GRANT_INSERT, &row);
	}
	if (err)
		return err;
	schema_copy(&agent_tool_row_schema, &row, &AgentToolRead_schema, out);
	c->audit.meta = arena_printf(c->arena, "{\"is_enabled\":%s,\"standing\":%s}",
		row.is_enabled ? "true" : "false", c->standing ? "true" : "false");
	return 0;
}

OPERATION(readAgentTool, NONE, AgentToolRead)
{
	struct agent_tool_row row;
	int err = not_held(c, find_row(c, call_param(c, "tool_id"), &row));

	if (!err)
		schema_copy(&agent_tool_row_schema, &row, &AgentToolRead_schema, out);
	return err;
}

CHECK_STEP(updateAgentTool, AgentToolUpdate)
{
	struct agent_tool_row row;

	if (in->configuration.text && !find_row(c, call_param(c, "tool_id"), &row))
		check_settings(c, row.tool_id, in->configuration.text);
}

OPERATION(updateAgentTool, AgentToolUpdate, AgentToolRead, .check = updateAgentTool_check)
{
	struct agent_tool_row before, after;
	int err = not_held(c, find_row(c, call_param(c, "tool_id"), &before));

	if (err)
		return err;
	call_merge(c, CHANGE(agent_tool_row, &before, &after));
	/* Switching it off takes nothing that was not there; all else is giving it anew. */
	if (after.is_enabled || in->present & CONFIGURATION_BIT)
		err = tool_grantable(c, after.tool_id);
	if (in->present & CONFIGURATION_BIT && !in->configuration.text)
		after.configuration.text = "{}";
	if (!err && in->present & CONFIGURATION_BIT)
		err = check_settings(c, after.tool_id, after.configuration.text);
	if (err)
		return err;
	err = call_update(c, CHANGE(agent_tool_row, &before, &after), NULL);
	return err ? err : put_row(c, GRANT_UPDATE, &after);
}

OPERATION(revokeAgentTool, NONE, NONE)
{
	const char *tool_id = call_param(c, "tool_id");
	int64_t removed = 0, bundled = 0;
	int err = db_int(c->db, &sql[GRANT_BUNDLED], &bundled,
		ARGS(T(c->caller.tenant_id), T(c->caller.agent_id), T(tool_id)));

	/* Without its own grant, which may pin arguments or be switched off, it comes by the bundle. */
	if (!err && bundled)
		err = tool_grantable(c, tool_id);
	if (!err)
		err = db_run(c->db, &sql[GRANT_REMOVE], &removed,
			ARGS(T(c->caller.tenant_id), T(c->caller.agent_id), T(tool_id)));

	return err || removed ? err : not_held(c, ERR_NOT_FOUND);
}

#define A "/tenant/{tenant_id}/agents/{agent_id}/tools"

static const struct route routes[] = {
	{ METHOD_GET, A, &listAgentTools, PERM_AGENT_TOOLS_WRITE, 200, .tag = "Tools",
		.doc = "List the tools the agent has by itself, newest tool first." },
	{ METHOD_POST, A, &grantAgentTool, PERM_AGENT_TOOLS_WRITE, 201, "agent_tool.grant",
		.tag = "Tools",
		.doc = "Give the agent a tool; one that it has stays as it is. A tool that is "
		       "grantable by admins needs tools:write besides." },
	{ METHOD_GET, A "/{tool_id}", &readAgentTool, PERM_AGENT_TOOLS_WRITE, 200, .tag = "Tools",
		.doc = "Read a tool that the agent has by itself." },
	{ METHOD_PATCH, A "/{tool_id}", &updateAgentTool, PERM_AGENT_TOOLS_WRITE, 200,
		"agent_tool.update", .tag = "Tools",
		.doc = "Switch a tool of the agent on or off, or change its settings." },
	{ METHOD_DELETE, A "/{tool_id}", &revokeAgentTool, PERM_AGENT_TOOLS_WRITE, 204,
		"agent_tool.revoke", .tag = "Tools",
		.doc = "Take the tool from the agent; it may still come with a bundle." },
};
RESOURCE(agent_tools, routes, NULL, &agent_tool_sql);
