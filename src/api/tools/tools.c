/* tools.c - the tools of a tenant: what they take, how they are called, and their secrets.
 *
 * A tool is checked as a whole whenever it changes: its schema is one that
 * will be checked, and its config names only arguments that the schema has.
 * What is stored of a config holds masks; the values of its headers are
 * sealed beside it, and go to no other origin than they were given for. */
#include "api/tools/tools.h"

#include <string.h>

#include "call/operation.h"
#include "search/search.h"
#include "base/fold.h"
#include "base/json.h"
#include "outside/sql_tool.h"
#include "sessions/builtin_tools.h"
#include "store/listing.h"

enum { STANDING_MAX = 10000, SCHEMAS_MAX = 1 << 20 };

#define NO_ARGUMENTS "{\"type\":\"object\",\"properties\":{}}"
static const char sql_input[] = SQL_TOOL_INPUT;

struct tool_row {
	const char *tenant_id, *id, *name, *name_folded;
	int kind;
	const char *description;
	bool requires_approval, person_only, repeat_safe, is_seed;
	int grantable_by;
	struct moment created_at, updated_at;
	const char *sealed;
	struct json input_schema, config;
};

FIELDS(tool_row) = {
	FIELD(tool_row, tenant_id),
	FIELD(tool_row, id),
	FIELD(tool_row, name),
	FIELD(tool_row, name_folded, .derived = true),
	FIELD(tool_row, kind, .words = &ToolKind_words),
	FIELD(tool_row, description),
	FIELD(tool_row, requires_approval),
	FIELD(tool_row, person_only),
	FIELD(tool_row, repeat_safe),
	FIELD(tool_row, is_seed),
	FIELD(tool_row, grantable_by, .words = &ToolGranter_words),
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
	LIST_OF(TOOL_LIST),
	TOOL_ROW,
	TOOL_INSERT,
	TOOL_UPDATE,
	TOOL_REMOVE,
	TOOL_FROM_AGENTS,
	TOOL_FROM_BUNDLES,
	TOOL_GRANTER,
	TOOL_NAMED,
	TOOL_SERVERS,
};

static const struct statement sql[] = {
	LISTING(TOOL_LIST, "tool_list", &ToolRead_schema, "{t.*}", LIST_FROM, "t.id"),
	[TOOL_ROW] = { "tool_row", "select {*} from tools where tenant_id = $1 and id = $2",
		.row = &tool_row_schema },
	[TOOL_INSERT] = { "tool_insert", "insert into tools ({*}) values ({$})",
		.row = &tool_row_schema },
	[TOOL_UPDATE] = { "tool_update",
		"update tools set {=} where tenant_id = :tenant_id and id = :id",
		.row = &tool_row_schema },
	[TOOL_REMOVE] = { "tool_remove", "delete from tools where tenant_id = $1 and id = $2" },
	[TOOL_FROM_AGENTS] = { "tool_from_agents",
		"delete from agent_tools where tenant_id = $1 and tool_id = $2" },
	[TOOL_FROM_BUNDLES] = { "tool_from_bundles",
		"delete from tool_bundle_tools where tenant_id = $1 and tool_id = $2" },
	[TOOL_GRANTER] = { "tool_granter",
		"select case grantable_by when 'members' then 1 else 0 end from tools "
		"where tenant_id = $1 and id = $2" },
	[TOOL_NAMED] = { "tool_named",
		"select count(*) from tools where tenant_id = $1 and name = $2" },
	[TOOL_SERVERS] = { "tool_servers",
		"select {*} from tools where tenant_id = $1 and kind = 'mcp' order by id limit $2",
		.row = &tool_row_schema },
};
STATEMENT_SET(tool_sql, sql);

int tool_grantable(struct call *c, const char *tool_id)
{
	int64_t by_members = -1;
	int err = db_int(
		c->db, &sql[TOOL_GRANTER], &by_members, ARGS(T(c->caller.tenant_id), T(tool_id)));

	if (err == ERR_NOT_FOUND || (!err && by_members < 0))
		return call_fail(c, ERR_NOT_FOUND, "There is no such tool.");
	if (err || by_members)
		return err;
	return caller_also(&c->caller, c->arena, PERM_TOOLS_WRITE, &c->problem);
}

static int find_tool_by(struct call *c, const char *id, struct tool_row *ret)
{
	int err = db_one(c->db, c->arena, &sql[TOOL_ROW], ret, ARGS(T(c->caller.tenant_id), T(id)));

	return err == ERR_NOT_FOUND ? call_fail(c, err, "There is no such tool.") : err;
}

static int find_tool(struct call *c, struct tool_row *ret)
{
	return find_tool_by(c, call_param(c, "tool_id"), ret);
}

static int tool_name_taken(struct call *c, int err, const char *name)
{
	if (err != ERR_DUPLICATE)
		return err;
	return call_fail(c, ERR_TAKEN, "This tenant has a tool named %s already.", name);
}

/* NULL if it has none. */
static const struct json_node *config_of(struct call *c, const struct tool_row *row)
{
	return row->config.text
		       ? json_tree(c->arena, row->config.text, strlen(row->config.text), NULL, NULL)
		       : NULL;
}

/* ---- is it sound? ---- */

void tool_input_read(struct call *c, const char *text, struct tool_input *ret)
{
	*ret = (struct tool_input){ .text = text };
	if (text)
		ret->schema = json_schema_compile(c->arena, text, strlen(text), &ret->faults);
}

/* "/properties/city" as "input_schema/properties/city". */
static struct json_schema *read_input_schema(
	struct call *c, const char *text, const struct tool_input *prepared)
{
	struct tool_input here;
	const struct tool_input *in = prepared;
	struct json_schema *s;

	/* One that the program brings. */
	if (!in || !in->text || strcmp(in->text, text) != 0) {
		tool_input_read(c, text, &here);
		in = &here;
	}
	s = in->schema;
	for (size_t i = 0; i < in->faults.count; i++)
		call_field(c, arena_printf(c->arena, "input_schema%s", in->faults.list[i].path),
			"schema", "%s", in->faults.list[i].sentence);
	if (s && !json_schema_is_type(s, "object"))
		call_field(c, "input_schema", "type",
			"must have the type object: arguments have names");
	return s;
}

static enum egress tool_egress_of(const struct call *c)
{
	return c->app->settings.allow_private_addresses ? EGRESS_ANY : EGRESS_PUBLIC;
}

/* What one takes of which that is not said. */
static const char *input_otherwise(struct call *c, const struct tool_row *row)
{
	const struct json_node *config = row->kind == TOOL_SQL ? config_of(c, row) : NULL;

	return config && !json_tree_text(config, "statement") ? sql_input : NO_ARGUMENTS;
}

/* The values of the stored headers; NULL if there are none. */
static const char *open_secrets(struct call *c, const struct tool_row *row)
{
	return row && *row->sealed ? vault_open_text(c->app->vault, c->arena, row->id, row->sealed)
				   : NULL;
}

static bool stays_there(struct call *c, const struct tool_row *before, const char *url)
{
	const struct json_node *old = before ? config_of(c, before) : NULL;
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
	row->sealed = !config->header_count ? ""
		      : old && strcmp(old, secrets) == 0
			      ? before->sealed
			      : vault_seal(c->app->vault, c->arena, SEALED_TOOL, row->id, secrets,
					strlen(secrets));
	if (!row->sealed)
		return ERR_KEY;
	row->config.text = tool_config_shown(c->arena, row->config.text);
	return 0;
}

/* With a statement of its own an sql tool takes what the places of that need, and without one it takes any. */
static void check_sql(struct call *c, const struct tool_row *row, const struct tool_config *config)
{
	if (row->kind != TOOL_SQL)
		return;
	if (!config->statement && row->input_schema.text &&
		strcmp(row->input_schema.text, sql_input) != 0)
		call_field(c, "input_schema", "combination",
			"is set by the program where config has no statement");
}

/* Checks the whole, and parts what is shown from what is sealed.  `before` is NULL for a new one. */
static int settle_tool(struct call *c, struct tool_row *row, const struct tool_row *before,
	const struct tool_input *prepared)
{
	struct json_schema *input = row->input_schema.text
					    ? read_input_schema(c, row->input_schema.text, prepared)
					    : NULL;
	struct tool_config config = { .header_count = 0 };

	if (row->kind != TOOL_BUILTIN && !row->config.text && !problem_names(&c->problem, "config"))
		call_field(c, "config", "required", "is required for this kind of tool");
	/* without a schema the places are not judged, but all else is */
	if (row->kind != TOOL_BUILTIN && row->config.text &&
		!tool_config_read(c->arena, (enum tool_kind)row->kind, row->config.text,
			tool_egress_of(c), input, &config, &c->problem)) {
		tool_config_keep(c->arena, &config, open_secrets(c, before),
			stays_there(c, before, config.url), &c->problem);
		check_sql(c, row, &config);
	}
	if (c->problem.err)
		return c->problem.err;
	if (row->kind != TOOL_BUILTIN)
		return seal_secrets(c, row, before, &config);
	row->sealed = "";
	return 0;
}

/* Nobody has said who may give it: what holds a secret is lent by those who put it there. */
static void choose_granter(struct tool_row *row)
{
	row->grantable_by = row->kind == TOOL_BUILTIN || (row->kind != TOOL_SQL && !*row->sealed)
				    ? ToolGranter_members
				    : ToolGranter_admins;
}

/* A word that must be a person's is one that is asked for; and what may change a database is asked about. */
static void check_approval(struct call *c, const struct tool_row *row)
{
	const struct json_node *config = row->kind == TOOL_SQL ? config_of(c, row) : NULL,
			       *reads = config ? json_tree_member(config, "read_only", 9) : NULL;

	if (row->person_only && !row->requires_approval)
		call_field(c, "person_only", "combination", "goes with requires_approval only");
	if (reads && reads->type == JSON_BOOL && !reads->flag && !row->requires_approval)
		call_field(c, "requires_approval", "combination",
			"must be true where config.read_only is false");
}

/* What is built in is as the program has it. */
static void take_builtin(const struct builtin_tool *tool, struct tool_row *row)
{
	row->config.text = "{}";
	row->sealed = "";
	row->input_schema.text = tool->input_schema;
	row->repeat_safe = tool->repeat_safe;
	row->requires_approval |=
		tool->asks; /* to be switched off, if at all, by a change of its own */
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

static void begin_tool_row(struct arena *a, const char *tenant_id, const struct ToolCreate *in,
	int64_t now, struct tool_row *ret)
{
	struct id id = id_new(NULL);

	schema_init(&tool_row_schema, a, ret);
	schema_copy(&ToolCreate_schema, in, &tool_row_schema, ret);
	ret->id = arena_strdup(a, id.text);
	ret->tenant_id = tenant_id;
	ret->name_folded = ret->name ? fold(a, ret->name) : NULL;
	ret->repeat_safe = in->repeat_safe > 0;
	ret->is_seed = false;
	ret->created_at.us = ret->updated_at.us = now;
}

/* Stores it, and enters it where it is found. */
static int insert_tool(struct db *db, struct arena *a, const struct tool_row *row)
{
	int err = db_put(db, &sql[TOOL_INSERT], row);

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
	begin_tool_row(a, tenant_id, &in, now, &row);
	row.is_seed = true;
	take_builtin(tool, &row);
	choose_granter(&row);
	*ret_id = row.id;
	return insert_tool(db, a, &row);
}

LIST_OPERATION(listTools, tool_query, ToolRead)
{
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

/* The row of a new one, if nothing is wrong with it; of what the tables refuse nothing is said again. */
static int judge_tool(struct call *c, const struct ToolCreate *in, const struct tool_input *input,
	struct tool_row *ret)
{
	begin_tool_row(c->arena, c->caller.tenant_id, in, c->now, ret);
	if (ret->kind == TOOL_BUILTIN)
		settle_builtin(c, in, ret);
	else if (!ret->description && !problem_names(&c->problem, "description"))
		call_field(c, "description", "required", "is required for this kind of tool");
	if (!ret->input_schema.text && !problem_names(&c->problem, "input_schema"))
		ret->input_schema.text = input_otherwise(c, ret);
	check_approval(c, ret);
	return settle_tool(c, ret, NULL, input);
}

CHECK_STEP(createTool, ToolCreate)
{
	struct tool_row row;

	/* What it must be like depends on its kind, and of a built-in one on its name. */
	if (in->kind >= 0 && (in->kind != TOOL_BUILTIN || in->name))
		judge_tool(c, in, NULL, &row);
}

int tool_make(struct call *c, const struct ToolCreate *in, const struct tool_input *input,
	struct ToolRead *ret)
{
	struct tool_row row;
	int err = judge_tool(c, in, input, &row);

	if (!err && in->grantable_by < 0)
		choose_granter(&row);
	if (!err)
		err = tool_name_taken(c, insert_tool(c->db, c->arena, &row), row.name);
	if (!err)
		schema_copy(&tool_row_schema, &row, &ToolRead_schema, ret);
	return err;
}

BODY_STEP(createTool, prepare, ToolCreate)
{
	struct tool_input *input = arena_new(c->arena, struct tool_input);

	tool_input_read(c, in->input_schema.text, input);
	c->own = input;
	return 0;
}

OPERATION(
	createTool, ToolCreate, ToolRead, .check = createTool_check, .prepare = createTool_prepare)
{
	int err = tool_make(c, in, c->own, out);

	if (err)
		return err;
	c->audit.meta = arena_printf(c->arena, "{\"name\":\"%s\",\"kind\":\"%s\"}", out->name,
		ToolKind_words.list[out->kind]);
	return 0;
}

OPERATION(readTool, NONE, ToolRead)
{
	struct tool_row row;
	int err = find_tool(c, &row);

	if (!err)
		schema_copy(&tool_row_schema, &row, &ToolRead_schema, out);
	return err;
}

static bool present_field(const struct ToolUpdate *in, const char *name)
{
	const struct field *f = schema_field(&ToolUpdate_schema, name, strlen(name));

	return in->present >> (f - ToolUpdate_schema.fields) & 1;
}

/* Of what is built in only the description, the approval and who may give it can be changed. */
static void check_builtin_update(struct call *c, const struct ToolUpdate *in)
{
	static const char *const fixed[] = { "name", "input_schema", "repeat_safe", "config" };

	for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
		if (present_field(in, fixed[i]))
			call_field(c, fixed[i], "combination",
				"cannot be changed: the tool is built in");
	}
}

/* A config is checked against the schema that stands: which that is, is looked up first, for reading a schema
 * may take longer than the writer has time. */
BODY_STEP(updateTool, look, ToolUpdate)
{
	struct tool_row row;
	int err;

	c->own = (void *)in->input_schema.text;
	if (in->input_schema.text || !in->config.text)
		return 0;
	err = find_tool(c, &row);
	if (!err && row.kind != TOOL_BUILTIN)
		c->own = (void *)row.input_schema.text;
	return err;
}

static int prepare_update(struct call *c)
{
	struct tool_input *input = arena_new(c->arena, struct tool_input);

	tool_input_read(c, c->own, input);
	c->own = input;
	return 0;
}

/* What was prepared is what is stored now. */
static int settle_update(struct call *c, struct tool_row *after, const struct tool_row *before)
{
	const struct tool_input *input = c->own;

	if (after->input_schema.text != sql_input &&
		(!input->text || strcmp(input->text, after->input_schema.text) != 0))
		return call_fail(c, ERR_CONFLICT,
			"The tool's input_schema was changed at the same time; read the tool and try again.");
	return settle_tool(c, after, before, input);
}

/* The row as it will be; what is wrong with it is in the problem.  `input` is NULL where nothing was prepared,
 * because the body is refused already. */
static struct tool_row patch_tool_row(struct call *c, const struct ToolUpdate *in,
	const struct tool_row *before, const struct tool_input *input)
{
	struct tool_row after;

	call_merge(c, CHANGE(tool_row, before, &after));
	after.name_folded = fold(c->arena, after.name);
	if (in->config.text && !in->input_schema.text && input_otherwise(c, &after) == sql_input)
		after.input_schema.text = sql_input;
	if (after.kind == TOOL_BUILTIN)
		check_builtin_update(c, in);
	else if (in->config.text || in->input_schema.text)
		(void)(input ? settle_update(c, &after, before)
			     : settle_tool(c, &after, before, NULL));
	check_approval(c, &after);
	return after;
}

CHECK_STEP(updateTool, ToolUpdate)
{
	struct tool_row before;

	if (find_tool(c, &before) == 0)
		patch_tool_row(c, in, &before, NULL);
}

OPERATION(updateTool, ToolUpdate, ToolRead, .check = updateTool_check, .look = updateTool_look,
	.prepare = prepare_update)
{
	struct tool_row before, after;
	int err = find_tool(c, &before);

	if (err)
		return err;
	after = patch_tool_row(c, in, &before, c->own);
	if (*after.sealed && !*before.sealed && !present_field(in, "grantable_by"))
		after.grantable_by = ToolGranter_admins;
	if (c->problem.err)
		return c->problem.err;
	err = tool_name_taken(c,
		call_update(c, CHANGE(tool_row, &before, &after), &sql[TOOL_UPDATE]), after.name);
	return err ? err
		   : search_refresh(c->db, c->arena, after.tenant_id, MentionType_tool, after.id);
}

/* The agents and bundles that hold it lose it in the same moment. */
int tool_drop(struct call *c, const char *id, const char **ret_meta)
{
	struct tool_row row;
	int64_t agents = 0, bundles = 0;
	int err = find_tool_by(c, id, &row);

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
	*ret_meta = arena_printf(c->arena, "{\"name\":\"%s\",\"agents\":%lld,\"bundles\":%lld}",
		row.name, (long long)agents, (long long)bundles);
	return err;
}

OPERATION(deleteTool, NONE, NONE)
{
	return tool_drop(c, call_param(c, "tool_id"), &c->audit.meta);
}

/* ---- those of a server ---- */

int tool_standing_of(struct call *c, const char *url, struct list *ret)
{
	struct tool_standing *standing;
	const struct tool_row *row;
	struct list rows;
	int err = db_all(c->db, c->arena, &sql[TOOL_SERVERS], &rows, STANDING_MAX,
		ARGS(T(c->caller.tenant_id), N(STANDING_MAX)));

	if (err)
		return err;
	row = rows.at;
	standing = arena_array(c->arena, struct tool_standing, rows.count + 1);
	*ret = (struct list){ .at = standing };
	for (size_t i = 0; i < rows.count; i++) {
		const struct json_node *config = config_of(c, &row[i]);
		const char *there = config ? json_tree_text(config, "url") : NULL;
		const char *tool = config ? json_tree_text(config, "tool") : NULL;

		if (there && tool && strcmp(there, url) == 0)
			standing[ret->count++] =
				(struct tool_standing){ row[i].id, row[i].name, tool };
	}
	return 0;
}

/* How long it may take was set by people, and is not the server's. */
static const char *config_kept(struct call *c, const char *config, const struct tool_row *before)
{
	const struct json_node *old = config_of(c, before);
	const struct json_node *limit = old ? json_tree_member(old, "timeout_s", 9) : NULL;

	if (!limit || limit->type != JSON_NUMBER)
		return config;
	return arena_printf(c->arena, "%.*s,\"timeout_s\":%.0f}", (int)strlen(config) - 1, config,
		limit->number);
}

static bool same_json(const char *a, const char *b)
{
	struct buf x, y;
	bool same;

	buf_init(&x, SCHEMAS_MAX);
	buf_init(&y, SCHEMAS_MAX);
	json_write_compact(&x, a, strlen(a));
	json_write_compact(&y, b, strlen(b));
	same = !x.overflow && x.len == y.len && (!x.len || memcmp(x.at, y.at, x.len) == 0);
	buf_free(&x);
	buf_free(&y);
	return same;
}

int tool_renew(struct call *c, const char *id, const struct ToolCreate *in,
	const struct tool_input *input, struct ToolRead *ret, bool *ret_changed)
{
	struct tool_row before, after;
	int err = find_tool_by(c, id, &before);

	*ret_changed = false;
	if (err)
		return err;
	after = before;
	after.description = in->description;
	after.input_schema = in->input_schema;
	if (in->config.text)
		after.config.text = config_kept(c, in->config.text, &before);
	err = settle_tool(c, &after, &before, input);
	if (err)
		return err;
	if (same_json(before.input_schema.text, after.input_schema.text))
		after.input_schema = before.input_schema;
	*ret_changed = strcmp(before.description, after.description) != 0 ||
		       strcmp(before.input_schema.text, after.input_schema.text) != 0 ||
		       strcmp(before.config.text, after.config.text) != 0 ||
		       strcmp(before.sealed, after.sealed) != 0;
	after.updated_at.us = c->now;
	if (*ret_changed)
		err = db_put(c->db, &sql[TOOL_UPDATE], &after);
	schema_copy(&tool_row_schema, &after, &ToolRead_schema, ret);
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
RESOURCE(tools, routes, NULL, &tool_sql);
