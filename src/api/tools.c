/* tools.c - the tools of a tenant: what they take, how they are called, and their secrets.
 *
 * A tool is checked as a whole whenever it changes: its schema is one that
 * will be checked, and its config names only arguments that the schema has.
 * What is stored of a config holds masks; the values of its headers are
 * sealed beside it, and go to no other origin than they were given for. */
#include "api/tools.h"

#include <string.h>

#include "api/api.h"
#include "api/search.h"
#include "base/fold.h"
#include "outside/tool_config.h"
#include "sessions/builtin_tools.h"
#include "store/listing.h"

#define NO_ARGUMENTS "{\"type\":\"object\",\"properties\":{}}"

struct tool_row {
	const char *tenant_id, *id, *name, *name_folded;
	int kind;
	const char *description;
	bool requires_approval, repeat_safe, is_seed;
	struct moment created_at, updated_at;
	const char *sealed;
	struct json input_schema, config;
};

FIELDS(tool_row) = {
	FIELD(tool_row, tenant_id),
	FIELD(tool_row, id),
	FIELD(tool_row, name),
	FIELD(tool_row, name_folded),
	FIELD(tool_row, kind, .words = &ToolKind_words),
	FIELD(tool_row, description),
	FIELD(tool_row, requires_approval),
	FIELD(tool_row, repeat_safe),
	FIELD(tool_row, is_seed),
	FIELD(tool_row, created_at),
	FIELD(tool_row, updated_at),
	FIELD(tool_row, sealed, .secret = true),
	FIELD(tool_row, input_schema),
	FIELD(tool_row, config),
};
static SCHEMA(tool_row, .internal = true);

struct tool_query {
	const char *q;
	int kind;
};

FIELDS(tool_query) = {
	FIELD(tool_query, q, .nullable = true, BOUNDS(1, 255),
		.doc = "Only tools whose name contains this, whatever the case."),
	FIELD(tool_query, kind, .nullable = true, .words = &ToolKind_words,
		.doc = "Only tools of this kind."),
};
static SCHEMA(tool_query, .doc = "Filters of the list of tools.");

/* $2 kind, $3 pattern */
#define LIST_FROM                                                                       \
	"tools t where t.tenant_id = $1 and (cast($2 as text) is null or t.kind = $2) " \
	"and (cast($3 as text) is null or t.name_folded like $3 escape '!')"

enum {
	TOOL_LIST,
	TOOL_ROW = TOOL_LIST + LIST_SORTS,
	TOOL_INSERT,
	TOOL_UPDATE,
	TOOL_REMOVE,
	TOOL_FROM_AGENTS,
	TOOL_FROM_BUNDLES,
	TOOL_KNOWN,
	TOOL_NAMED,
};

static const struct statement sql[] = {
	LIST_STATEMENTS("tool_list", &ToolRead_schema, "{t.*}", LIST_FROM, "t.id", "4", "5"),
	[TOOL_ROW] = { "tool_row", "select {*} from tools where tenant_id = $1 and id = $2",
		.row = &tool_row_schema },
	[TOOL_INSERT] = { "tool_insert", "insert into tools ({*}) values ({$})",
		.row = &tool_row_schema },
	[TOOL_UPDATE] = { "tool_update",
		"update tools set {=} where tenant_id = {$tenant_id} and id = {$id}",
		.row = &tool_row_schema },
	[TOOL_REMOVE] = { "tool_remove", "delete from tools where tenant_id = $1 and id = $2" },
	[TOOL_FROM_AGENTS] = { "tool_from_agents",
		"delete from agent_tools where tenant_id = $1 and tool_id = $2" },
	[TOOL_FROM_BUNDLES] = { "tool_from_bundles",
		"delete from tool_bundle_tools where tenant_id = $1 and tool_id = $2" },
	[TOOL_KNOWN] = { "tool_known",
		"select count(*) from tools where tenant_id = $1 and id = $2" },
	[TOOL_NAMED] = { "tool_named",
		"select count(*) from tools where tenant_id = $1 and name = $2" },
};
STATEMENT_SET(tool_sql, sql);

int tool_known(struct call *c, const char *tool_id)
{
	int64_t known = 0;
	int err = db_int(c->db, &sql[TOOL_KNOWN], &known, ARGS(T(c->caller.tenant_id), T(tool_id)));

	return !err && !known ? call_fail(c, ERR_NOT_FOUND, "There is no such tool.") : err;
}

static int find_tool(struct call *c, struct tool_row *ret)
{
	int err = db_one(c->db, c->arena, &sql[TOOL_ROW], ret,
		ARGS(T(c->caller.tenant_id), T(call_param(c, "tool_id"))));

	return err == ERR_NOT_FOUND ? call_fail(c, err, "There is no such tool.") : err;
}

static int name_taken(struct call *c, int err, const char *name)
{
	if (err != ERR_DUPLICATE)
		return err;
	return call_fail(c, ERR_TAKEN, "This tenant has a tool named %s already.", name);
}

/* ---- is it sound? ---- */

/* "/properties/city" as "input_schema/properties/city". */
static struct json_schema *read_schema(struct call *c, const char *text)
{
	struct json_violations faults;
	struct json_schema *s = json_schema_compile(c->arena, text, strlen(text), &faults);

	for (size_t i = 0; i < faults.count; i++)
		call_field(c, arena_printf(c->arena, "input_schema%s", faults.list[i].path),
			"schema", "%s", faults.list[i].sentence);
	if (s && !json_schema_is_type(s, "object"))
		call_field(c, "input_schema", "type",
			"must have the type object: arguments have names");
	return s;
}

static enum reach reach_of(const struct call *c)
{
	return c->app->settings.allow_private_addresses ? REACH_ANY : REACH_PUBLIC;
}

/* The values of the stored headers; NULL if there are none. */
static const char *open_secrets(struct call *c, const struct tool_row *row)
{
	return row && *row->sealed ? vault_open_text(c->app->vault, c->arena, row->id, row->sealed)
				   : NULL;
}

static bool stays_there(struct call *c, const struct tool_row *before, const char *url)
{
	const struct json_node *old = before ? json_tree(c->arena, before->config.text,
						       strlen(before->config.text), NULL, NULL)
					     : NULL;
	const char *old_url = old ? json_tree_text(old, "url") : NULL;

	return old_url && url && tool_config_same_origin(c->arena, url, old_url);
}

/* Seals them, unless they are what is sealed already. */
static int seal_secrets(struct call *c, struct tool_row *row, const struct tool_row *before,
	const struct tool_config *config)
{
	const char *old = open_secrets(c, before), *secrets = tool_config_secrets(c->arena, config);

	if (!secrets)
		return call_field(
			c, "config.headers", "too_long", "are larger than 300 KiB together");
	row->sealed =
		!config->header_count ? ""
		: old && strcmp(old, secrets) == 0
			? before->sealed
			: vault_seal(c->app->vault, c->arena, row->id, secrets, strlen(secrets));
	row->config.text = tool_config_shown(c->arena, row->config.text);
	return 0;
}

/* Checks the whole, and parts what is shown from what is sealed.  `before` is NULL for a new one. */
static int settle(struct call *c, struct tool_row *row, const struct tool_row *before)
{
	struct json_schema *input = read_schema(c, row->input_schema.text);
	struct tool_config config = { .header_count = 0 };

	if (row->kind != TOOL_BUILTIN && !row->config.text)
		call_field(c, "config", "required", "is required for this kind of tool");
	/* without a schema the places are not judged, but all else is */
	if (row->kind != TOOL_BUILTIN && row->config.text &&
		!tool_config_read(c->arena, (enum tool_kind)row->kind, row->config.text,
			reach_of(c), input, &config, &c->problem))
		tool_config_keep(c->arena, &config, open_secrets(c, before),
			stays_there(c, before, config.url), &c->problem);
	if (c->problem.err)
		return c->problem.err;
	if (row->kind != TOOL_BUILTIN)
		return seal_secrets(c, row, before, &config);
	row->sealed = "";
	return 0;
}

/* What is built in is as the program has it. */
static void take_builtin(const struct builtin_tool *tool, struct tool_row *row)
{
	row->config.text = "{}";
	row->sealed = "";
	row->input_schema.text = tool->input_schema;
	row->repeat_safe = tool->repeat_safe;
	if (!row->description)
		row->description = tool->description;
}

static void settle_builtin(struct call *c, const struct ToolCreate *in, struct tool_row *row)
{
	const struct builtin_tool *tool = builtin_tool(in->name);
	const char *names = "";

	for (size_t i = 0; i < builtin_tool_count; i++)
		names = arena_printf(
			c->arena, "%s%s%s", names, i ? ", " : "", builtin_tools[i].name);
	if (!tool)
		call_field(c, "name", "choice", "must be one of the tools that are built in: %s",
			names);
	if (in->input_schema.text)
		call_field(
			c, "input_schema", "combination", "is set by the program for kind builtin");
	if (in->repeat_safe >= 0)
		call_field(
			c, "repeat_safe", "combination", "is set by the program for kind builtin");
	if (in->config.text)
		call_field(c, "config", "combination", "is not for kind builtin");
	row->input_schema.text = NO_ARGUMENTS;
	if (tool)
		take_builtin(tool, row);
}

/* ---- the operations ---- */

static void begin(struct arena *a, const char *tenant_id, const struct ToolCreate *in, int64_t now,
	struct tool_row *ret)
{
	struct id id = id_new(NULL);

	schema_init(&tool_row_schema, a, ret);
	schema_copy(&ToolCreate_schema, in, &tool_row_schema, ret);
	ret->id = arena_strdup(a, id.text);
	ret->tenant_id = tenant_id;
	ret->name_folded = fold(a, ret->name);
	ret->repeat_safe = in->repeat_safe > 0;
	ret->is_seed = false;
	ret->created_at.us = ret->updated_at.us = now;
}

/* Stores it, and enters it where it is found. */
static int insert(struct db *db, struct arena *a, const struct tool_row *row)
{
	int err = db_put(db, a, &sql[TOOL_INSERT], row);

	return err ? err : search_refresh(db, a, row->tenant_id, MentionType_tool, row->id);
}

int tool_make_builtin(struct db *db, struct arena *a, const char *tenant_id,
	const struct builtin_tool *tool, int64_t now, const char **ret_id)
{
	struct ToolCreate in;
	struct tool_row row;

	schema_init(&ToolCreate_schema, a, &in);
	in.name = tool->name;
	in.kind = TOOL_BUILTIN;
	begin(a, tenant_id, &in, now, &row);
	row.is_seed = true;
	take_builtin(tool, &row);
	*ret_id = row.id;
	return insert(db, a, &row);
}

OPERATION(listTools, .list = true, .reply = &ToolRead_schema, .query = &tool_query_schema)
{
	const struct tool_query *in = c->query;

	return call_list(c, &sql[TOOL_LIST],
		ARGS(T(c->caller.tenant_id), T(in->kind < 0 ? NULL : ToolKind_words.list[in->kind]),
			T(in->q ? fold_pattern(c->arena, in->q) : NULL)));
}

int tool_named(struct call *c, const char *name, bool *ret)
{
	int64_t count = 0;
	int err = db_int(c->db, &sql[TOOL_NAMED], &count, ARGS(T(c->caller.tenant_id), T(name)));

	*ret = count > 0;
	return err;
}

int tool_make(struct call *c, const struct ToolCreate *in, struct ToolRead *ret)
{
	struct tool_row row;
	int err;

	begin(c->arena, c->caller.tenant_id, in, c->now, &row);
	if (row.kind == TOOL_BUILTIN)
		settle_builtin(c, in, &row);
	else if (!row.description)
		call_field(c, "description", "required", "is required for this kind of tool");
	if (!row.input_schema.text)
		row.input_schema.text = NO_ARGUMENTS;
	err = settle(c, &row, NULL);
	if (!err)
		err = name_taken(c, insert(c->db, c->arena, &row), row.name);
	if (!err)
		schema_copy(&tool_row_schema, &row, &ToolRead_schema, ret);
	return err;
}

OPERATION(createTool, .body = &ToolCreate_schema, .reply = &ToolRead_schema)
{
	struct ToolRead *out = c->reply;
	int err = tool_make(c, c->body, out);

	if (err)
		return err;
	c->audit.resource_id = out->id;
	c->audit.meta = arena_printf(c->arena, "{\"name\":\"%s\",\"kind\":\"%s\"}", out->name,
		ToolKind_words.list[out->kind]);
	c->location = arena_printf(c->arena, "/tenant/%s/tools/%s", out->tenant_id, out->id);
	return 0;
}

OPERATION(readTool, .reply = &ToolRead_schema)
{
	struct tool_row row;
	int err = find_tool(c, &row);

	if (!err)
		schema_copy(&tool_row_schema, &row, &ToolRead_schema, c->reply);
	return err;
}

/* Of what is built in only the description and the approval can be changed. */
static void check_builtin_update(struct call *c, const struct ToolUpdate *in)
{
	static const char *const fixed[] = { "name", "input_schema", "repeat_safe", "config" };

	for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
		const struct field *f =
			schema_field(&ToolUpdate_schema, fixed[i], strlen(fixed[i]));

		if (in->got >> (f - ToolUpdate_schema.fields) & 1)
			call_field(c, fixed[i], "combination",
				"cannot be changed: the tool is built in");
	}
}

OPERATION(updateTool, .body = &ToolUpdate_schema, .reply = &ToolRead_schema)
{
	const struct ToolUpdate *in = c->body;
	struct tool_row before, after;
	int err = find_tool(c, &before);

	if (err)
		return err;
	after = before;
	schema_patch(&ToolUpdate_schema, in, &tool_row_schema, &after);
	after.name_folded = fold(c->arena, after.name);
	if (after.kind == TOOL_BUILTIN)
		check_builtin_update(c, in);
	else if (in->config.text || in->input_schema.text)
		settle(c, &after, &before);
	if (c->problem.err)
		return c->problem.err;
	call_changed(c, &tool_row_schema, &before, &after);
	after.updated_at.us = c->now > before.updated_at.us ? c->now : before.updated_at.us + 1;
	err = name_taken(c, db_put(c->db, c->arena, &sql[TOOL_UPDATE], &after), after.name);
	if (!err)
		err = search_refresh(c->db, c->arena, after.tenant_id, MentionType_tool, after.id);
	schema_copy(&tool_row_schema, &after, &ToolRead_schema, c->reply);
	c->audit.resource_id = after.id;
	return err;
}

/* The agents and bundles that hold it lose it in the same moment. */
OPERATION(deleteTool)
{
	struct tool_row row;
	int64_t agents = 0, bundles = 0;
	int err = find_tool(c, &row);

	if (err)
		return err;
	err = search_remove(c->db, c->arena, row.tenant_id, MentionType_tool, row.id);
	if (!err)
		err = db_run(
			c->db, &sql[TOOL_FROM_AGENTS], &agents, ARGS(T(row.tenant_id), T(row.id)));
	if (!err)
		err = db_run(c->db, &sql[TOOL_FROM_BUNDLES], &bundles,
			ARGS(T(row.tenant_id), T(row.id)));
	if (!err)
		err = db_run(c->db, &sql[TOOL_REMOVE], NULL, ARGS(T(row.tenant_id), T(row.id)));
	c->audit.resource_id = row.id;
	c->audit.meta = arena_printf(c->arena, "{\"name\":\"%s\",\"agents\":%lld,\"bundles\":%lld}",
		row.name, (long long)agents, (long long)bundles);
	return err;
}

#define TOOLS "/tenant/{tenant_id}/tools"

static const struct route routes[] = {
	{ METHOD_GET, TOOLS, &listTools, PERM_TENANT_READ, 200, .tag = "Tools",
		.doc = "List the tools of the tenant, newest first." },
	{ METHOD_POST, TOOLS, &createTool, PERM_TOOLS_WRITE, 201, "tool.create", .tag = "Tools",
		.doc = "Make a tool; the values of its headers are sealed and not shown again." },
	{ METHOD_GET, TOOLS "/{tool_id}", &readTool, PERM_TENANT_READ, 200, .tag = "Tools",
		.doc = "Read a tool." },
	{ METHOD_PATCH, TOOLS "/{tool_id}", &updateTool, PERM_TOOLS_WRITE, 200, "tool.update",
		.tag = "Tools", .doc = "Change the fields that are sent." },
	{ METHOD_DELETE, TOOLS "/{tool_id}", &deleteTool, PERM_TOOLS_WRITE, 204, "tool.delete",
		.tag = "Tools",
		.doc = "Delete a tool; agents and bundles that hold it lose it at once." },
};
RESOURCE(tools, routes, tools_schemas);
