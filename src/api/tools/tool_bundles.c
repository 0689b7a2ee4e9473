/* tool_bundles.c - tools that are given together, and the agents that have them.
 *
 * A bundle is the same for everybody who has it: a tool put into it or taken
 * out of it comes or goes for all of its agents at once. */
#include <string.h>

#include "call/operation.h"
#include "api/tools/tools.h"
#include "base/fold.h"
#include "store/listing.h"
#include "store/row.h"

enum { BUNDLE_TOOLS_MAX = 200 }; /* as ToolBundleCreate has it */

struct bundle_row {
	const char *tenant_id, *id, *name, *name_folded, *slug, *description;
	struct moment created_at, updated_at;
};

FIELDS(bundle_row) = {
	FIELD(bundle_row, tenant_id),
	FIELD(bundle_row, id),
	FIELD(bundle_row, name),
	FIELD(bundle_row, name_folded, .derived = true),
	FIELD(bundle_row, slug),
	FIELD(bundle_row, description, .nullable = true),
	FIELD(bundle_row, created_at),
	FIELD(bundle_row, updated_at),
};
static SCHEMA(bundle_row, .internal = true);

/* What an agent has: the grant and the bundle side by side. */
struct held_row {
	const char *bundle_id, *granted_by_user_id;
	struct moment created_at;
};

FIELDS(held_row) = {
	FIELD(held_row, bundle_id),
	FIELD(held_row, granted_by_user_id, .nullable = true),
	FIELD(held_row, created_at),
};
static SCHEMA(held_row, .internal = true);

struct bundle_query {
	const char *q;
};

FIELDS(bundle_query) = {
	FIELD(bundle_query, q, .nullable = true, BOUNDS(1, 255),
		.doc = "Only bundles whose name or slug contains this, whatever the case."),
};
static SCHEMA(bundle_query, .doc = "Filter of the list of bundles.");

#define LIST_FROM                                                              \
	"tool_bundles b where b.tenant_id = $1 and (cast($2 as text) is null " \
	"or b.name_folded like $2 escape '!' or b.slug like $2 escape '!')"
#define HELD_FROM "agent_tool_bundles h where h.tenant_id = $1 and h.agent_id = $2"

enum {
	LIST_OF(BUNDLE_LIST),
	LIST_OF(HELD_LIST),
	HELD_READ,
	HELD_INSERT,
	HELD_REMOVE,
	HELD_REMOVE_ALL,
	BUNDLE_ROW,
	BUNDLE_INSERT,
	BUNDLE_UPDATE,
	BUNDLE_REMOVE,
	BUNDLE_TOOLS,
	BUNDLE_ADD_TOOL,
	TOOL_THERE,
	BUNDLE_CLEAR,
	BUNDLE_ADMINS,
};

struct bundle_grant {
	const char *tenant_id, *agent_id, *bundle_id, *granted_by_user_id;
	int64_t created_at;
};

FIELDS(bundle_grant) = {
	ROW_FIELDS(bundle_grant, tenant_id, agent_id, bundle_id, created_at),
	ROW_NULLABLE(bundle_grant, granted_by_user_id),
};
static SCHEMA(bundle_grant, .internal = true);

static const struct statement sql[] = {
	LISTING(BUNDLE_LIST, "tool_bundle_list", &ToolBundleRead_schema, "{b.*}", LIST_FROM,
		"b.id"),
	LISTING(HELD_LIST, "agent_tool_bundle_list", &held_row_schema, "{h.*}", HELD_FROM,
		"h.bundle_id"),
	[HELD_READ] = { "agent_tool_bundle_read",
		"select {h.*} from " HELD_FROM " and h.bundle_id = $3", .row = &held_row_schema },
	[HELD_INSERT] = { "agent_tool_bundle_insert",
		"insert into agent_tool_bundles ({*}) values ({$})", .row = &bundle_grant_schema },
	[HELD_REMOVE] = { "agent_tool_bundle_remove",
		"delete from agent_tool_bundles "
		"where tenant_id = $1 and agent_id = $2 and bundle_id = $3" },
	[HELD_REMOVE_ALL] = { "agent_tool_bundle_remove_all",
		"delete from agent_tool_bundles where tenant_id = $1 and bundle_id = $2" },
	[BUNDLE_ROW] = { "tool_bundle_row",
		"select {*} from tool_bundles where tenant_id = $1 and id = $2",
		.row = &bundle_row_schema },
	[BUNDLE_INSERT] = { "tool_bundle_insert", "insert into tool_bundles ({*}) values ({$})",
		.row = &bundle_row_schema },
	[BUNDLE_UPDATE] = { "tool_bundle_update",
		"update tool_bundles set {=} where tenant_id = :tenant_id and id = :id",
		.row = &bundle_row_schema },
	[BUNDLE_REMOVE] = { "tool_bundle_remove",
		"delete from tool_bundles where tenant_id = $1 and id = $2" },
	[BUNDLE_TOOLS] = { "tool_bundle_tools",
		"select t.id, t.name from tool_bundle_tools x join tools t on t.tenant_id = $1 "
		"and t.id = x.tool_id where x.tenant_id = $1 and x.bundle_id = $2 order by t.name",
		.row = &ToolBundleTool_schema },
	[BUNDLE_ADD_TOOL] = { "tool_bundle_add_tool",
		"insert into tool_bundle_tools (tenant_id, bundle_id, tool_id) "
		"select t.tenant_id, $2, t.id from tools t where t.tenant_id = $1 and t.id = $3" },
	[TOOL_THERE] = { "tool_bundle_tool_there",
		"select count(*) from tools where tenant_id = $1 and id = $2" },
	[BUNDLE_CLEAR] = { "tool_bundle_clear",
		"delete from tool_bundle_tools where tenant_id = $1 and bundle_id = $2" },
	[BUNDLE_ADMINS] = { "tool_bundle_admins",
		"select count(*) from tool_bundle_tools x join tools t on t.tenant_id = $1 "
		"and t.id = x.tool_id where x.tenant_id = $1 and x.bundle_id = $2 "
		"and t.grantable_by = 'admins'" },
};
STATEMENT_SET(tool_bundle_sql, sql);

static int fill_tools(struct call *c, struct ToolBundleRead *bundle)
{
	return db_all(c->db, c->arena, &sql[BUNDLE_TOOLS], &bundle->tools, BUNDLE_TOOLS_MAX,
		ARGS(T(c->caller.tenant_id), T(bundle->id)));
}

static int find_bundle(struct call *c, const char *id, struct bundle_row *ret)
{
	int err =
		db_one(c->db, c->arena, &sql[BUNDLE_ROW], ret, ARGS(T(c->caller.tenant_id), T(id)));

	return err == ERR_NOT_FOUND ? call_fail(c, err, "There is no such bundle of tools.") : err;
}

static int show_bundle(struct call *c, const struct bundle_row *row, struct ToolBundleRead *out)
{
	schema_copy(&bundle_row_schema, row, &ToolBundleRead_schema, out);
	return fill_tools(c, out);
}

static int bundle_slug_taken(struct call *c, int err, const char *slug)
{
	if (err != ERR_DUPLICATE)
		return err;
	return call_fail(c, ERR_TAKEN, "This tenant has a bundle with the slug %s already.", slug);
}

static int put_bundle(struct db *db, struct arena *a, const char *tenant_id,
	const struct ToolBundleCreate *in, int64_t now, struct bundle_row *ret)
{
	struct id id = id_new(NULL);

	*ret = (struct bundle_row){ .tenant_id = tenant_id,
		.id = arena_strdup(a, id.text),
		.name = in->name,
		.name_folded = fold(a, in->name),
		.slug = in->slug,
		.description = in->description,
		.created_at = { now },
		.updated_at = { now } };
	return db_put(db, &sql[BUNDLE_INSERT], ret);
}

/* *ret_added is 0 if the tenant has no such tool. */
static int put_tool(struct db *db, const char *tenant_id, const char *bundle_id,
	const char *tool_id, int64_t *ret_added)
{
	return db_run(
		db, &sql[BUNDLE_ADD_TOOL], ret_added, ARGS(T(tenant_id), T(bundle_id), T(tool_id)));
}

int tool_bundle_make(struct db *db, struct arena *a, const char *tenant_id,
	const struct ToolBundleCreate *in, int64_t now, const char **ret_id)
{
	const char *const *tools = in->tools.at;
	struct bundle_row row;
	int64_t added = 1;
	int err = put_bundle(db, a, tenant_id, in, now, &row);

	*ret_id = row.id;
	for (size_t i = 0; !err && added && i < in->tools.count; i++)
		err = put_tool(db, tenant_id, row.id, tools[i], &added);
	return !err && !added ? ERR_NOT_FOUND : err;
}

int tool_bundle_give(struct db *db, const char *tenant_id, const char *agent_id,
	const char *bundle_id, const char *user_id, int64_t now)
{
	return db_put(db, &sql[HELD_INSERT],
		&(struct bundle_grant){ .tenant_id = tenant_id,
			.agent_id = agent_id,
			.bundle_id = bundle_id,
			.granted_by_user_id = user_id,
			.created_at = now });
}

static void name_unknown(struct call *c, size_t i)
{
	call_field(c, arena_printf(c->arena, "tools[%zu]", i), "unknown",
		"is not a tool of this tenant");
}

static void check_bundle_tools(struct call *c, const struct list *tools)
{
	const char *const *id = tools->at;

	for (size_t i = 0; id && i < tools->count; i++) {
		int64_t there = 0;

		if (id[i] &&
			!db_int(c->db, &sql[TOOL_THERE], &there,
				ARGS(T(c->caller.tenant_id), T(id[i]))) &&
			!there)
			name_unknown(c, i);
	}
}

/* Each must be a tool of the tenant; every one that is not is named. */
static int add_bundle_tools(struct call *c, const char *bundle_id, const struct list *tools)
{
	int err = 0;

	for (size_t i = 0; !err && i < tools->count; i++) {
		int64_t added = 0;

		err = put_tool(c->db, c->caller.tenant_id, bundle_id,
			((const char *const *)tools->at)[i], &added);
		if (!err && !added)
			name_unknown(c, i);
	}
	return err ? err : c->problem.err;
}

LIST_OPERATION(listToolBundles, bundle_query, ToolBundleRead)
{
	struct ToolBundleRead *row;
	int err = call_list(c, &sql[BUNDLE_LIST],
		ARGS(T(c->caller.tenant_id), T(in->q ? fold_pattern(c->arena, in->q) : NULL)));

	row = c->items.at;
	for (size_t i = 0; !err && i < c->items.count; i++)
		err = fill_tools(c, &row[i]);
	return err;
}

CHECK_STEP(createToolBundle, ToolBundleCreate)
{
	check_bundle_tools(c, &in->tools);
}

OPERATION(createToolBundle, ToolBundleCreate, ToolBundleRead, .check = createToolBundle_check)
{
	struct bundle_row row;
	int err = put_bundle(c->db, c->arena, c->caller.tenant_id, in, c->now, &row);

	err = bundle_slug_taken(c, err, in->slug);

	if (!err)
		err = add_bundle_tools(c, row.id, &in->tools);
	if (!err)
		err = show_bundle(c, &row, out);
	c->audit.meta = arena_printf(
		c->arena, "{\"slug\":\"%s\",\"tools\":%zu}", row.slug, in->tools.count);
	return err;
}

OPERATION(readToolBundle, NONE, ToolBundleRead)
{
	struct bundle_row row;
	int err = find_bundle(c, call_param(c, "bundle_id"), &row);

	return err ? err : show_bundle(c, &row, out);
}

CHECK_STEP(updateToolBundle, ToolBundleUpdate)
{
	check_bundle_tools(c, &in->tools);
}

OPERATION(updateToolBundle, ToolBundleUpdate, ToolBundleRead, .check = updateToolBundle_check)
{
	struct ToolBundleRead was;
	struct bundle_row before, after;
	int err = find_bundle(c, call_param(c, "bundle_id"), &before);

	if (!err)
		err = show_bundle(c, &before, &was);
	if (err)
		return err;
	call_merge(c, CHANGE(bundle_row, &before, &after));
	after.name_folded = fold(c->arena, after.name);
	err = bundle_slug_taken(c,
		call_update(c, CHANGE(bundle_row, &before, &after), &sql[BUNDLE_UPDATE]),
		after.slug);
	if (!err && in->tools.at)
		err = db_run(
			c->db, &sql[BUNDLE_CLEAR], NULL, ARGS(T(c->caller.tenant_id), T(after.id)));
	if (!err && in->tools.at)
		err = add_bundle_tools(c, after.id, &in->tools);
	if (!err)
		err = show_bundle(c, &after, out);
	if (err)
		return err;
	was.updated_at = out->updated_at;		    /* goes without saying */
	call_changed(c, &ToolBundleRead_schema, &was, out); /* its tools too */
	return 0;
}

/* The agents that have it lose it, and the tools that came only with it, in the same moment. */
OPERATION(deleteToolBundle, NONE, NONE)
{
	struct bundle_row row;
	int64_t agents = 0;
	int err = find_bundle(c, call_param(c, "bundle_id"), &row);

	if (!err)
		err = db_run(c->db, &sql[HELD_REMOVE_ALL], &agents,
			ARGS(T(c->caller.tenant_id), T(row.id)));
	if (!err)
		err = db_run(
			c->db, &sql[BUNDLE_REMOVE], NULL, ARGS(T(c->caller.tenant_id), T(row.id)));
	if (err)
		return err;
	c->audit.meta = arena_printf(
		c->arena, "{\"slug\":\"%s\",\"agents\":%lld}", row.slug, (long long)agents);
	return 0;
}

/* ---- what an agent has ---- */

static int show_held(struct call *c, const struct held_row *row, struct AgentToolBundleRead *out)
{
	struct bundle_row bundle;
	int err = find_bundle(c, row->bundle_id, &bundle);

	out->bundle = arena_new(c->arena, struct ToolBundleRead);
	out->granted_by_user_id = row->granted_by_user_id;
	out->created_at = row->created_at;
	return err ? err : show_bundle(c, &bundle, out->bundle);
}

LIST_OPERATION(listAgentToolBundles, NONE, AgentToolBundleRead, .key = "bundle_id")
{
	struct AgentToolBundleRead *out;
	const struct held_row *rows;
	int err =
		call_list(c, &sql[HELD_LIST], ARGS(T(c->caller.tenant_id), T(c->caller.agent_id)));

	if (err)
		return err;
	rows = c->items.at;
	out = arena_array(c->arena, struct AgentToolBundleRead, c->items.count + 1);
	for (size_t i = 0; !err && i < c->items.count; i++)
		err = show_held(c, &rows[i], &out[i]);
	c->items.at = out;
	return err;
}

/* A bundle is as free to give as the least free of its tools. */
static int check_grantable(struct call *c, const char *bundle_id)
{
	int64_t for_admins = 0;
	int err = db_int(c->db, &sql[BUNDLE_ADMINS], &for_admins,
		ARGS(T(c->caller.tenant_id), T(bundle_id)));

	return err || !for_admins
		       ? err
		       : caller_also(&c->caller, c->arena, PERM_TOOLS_WRITE, &c->problem);
}

OPERATION(grantAgentToolBundle, AgentToolBundleGrantCreate, AgentToolBundleRead, .may_stand = true)
{
	const struct caller *who = &c->caller;
	struct bundle_row bundle;
	struct held_row row;
	int err = find_bundle(c, in->bundle_id, &bundle);

	if (!err)
		err = check_grantable(c, in->bundle_id);
	if (err)
		return err;
	err = db_one(c->db, c->arena, &sql[HELD_READ], &row,
		ARGS(T(who->tenant_id), T(who->agent_id), T(in->bundle_id)));
	c->standing = !err;
	if (err == ERR_NOT_FOUND) {
		row = (struct held_row){ in->bundle_id, who->user_id, { c->now } };
		err = tool_bundle_give(
			c->db, who->tenant_id, who->agent_id, in->bundle_id, who->user_id, c->now);
	}
	c->audit.resource_id = in->bundle_id;
	c->audit.meta = arena_printf(c->arena, "{\"slug\":\"%s\",\"standing\":%s}", bundle.slug,
		c->standing ? "true" : "false");
	c->location = arena_printf(c->arena, "/tenant/%s/agents/%s/tool-bundles/%s", who->tenant_id,
		who->agent_id, in->bundle_id);
	return err ? err : show_held(c, &row, out);
}

OPERATION(revokeAgentToolBundle, NONE, NONE)
{
	const char *bundle_id = call_param(c, "bundle_id");
	int64_t removed = 0;
	int err = db_run(c->db, &sql[HELD_REMOVE], &removed,
		ARGS(T(c->caller.tenant_id), T(c->caller.agent_id), T(bundle_id)));

	if (err || removed)
		return err;
	return call_fail(c, ERR_NOT_FOUND, "The agent does not have this bundle of tools.");
}

#define BUNDLES "/tenant/{tenant_id}/tool-bundles"
#define A "/tenant/{tenant_id}/agents/{agent_id}/tool-bundles"

static const struct route routes[] = {
	{ METHOD_GET, BUNDLES, &listToolBundles, PERM_TENANT_READ, 200, .tag = "Tools",
		.doc = "List the bundles of tools, newest first." },
	{ METHOD_POST, BUNDLES, &createToolBundle, PERM_TOOLS_WRITE, 201, "tool_bundle.create",
		.tag = "Tools", .doc = "Make a bundle of tools." },
	{ METHOD_GET, BUNDLES "/{bundle_id}", &readToolBundle, PERM_TENANT_READ, 200,
		.tag = "Tools", .doc = "Read a bundle of tools." },
	{ METHOD_PATCH, BUNDLES "/{bundle_id}", &updateToolBundle, PERM_TOOLS_WRITE, 200,
		"tool_bundle.update", .tag = "Tools",
		.doc = "Change a bundle; the agents that have it follow at once." },
	{ METHOD_DELETE, BUNDLES "/{bundle_id}", &deleteToolBundle, PERM_TOOLS_WRITE, 204,
		"tool_bundle.delete", .tag = "Tools",
		.doc = "Delete a bundle and take it from every agent; its tools stay." },
	{ METHOD_GET, A, &listAgentToolBundles, PERM_AGENT_READ, 200, .tag = "Tools",
		.doc = "List the bundles the agent has, newest bundle first." },
	{ METHOD_POST, A, &grantAgentToolBundle, PERM_AGENT_TOOLS_WRITE, 201,
		"agent_tool_bundle.grant", .tag = "Tools",
		.doc = "Give the agent a bundle of tools; one that holds a tool grantable by admins "
		       "needs tools:write besides." },
	{ METHOD_DELETE, A "/{bundle_id}", &revokeAgentToolBundle, PERM_AGENT_TOOLS_WRITE, 204,
		"agent_tool_bundle.revoke", .tag = "Tools",
		.doc = "Take the bundle from the agent." },
};
RESOURCE(tool_bundles, routes, NULL, &tool_bundle_sql);
