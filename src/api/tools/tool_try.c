/* tool_try.c - a tool called once by a person, to see that it works before an agent has it.
 *
 * It is called as an agent would call it: the same check of its arguments, the
 * same rules for addresses, the same masks over secrets that come back.  What
 * works only inside a session (memories, skills, subtasks) cannot be tried.
 * Where each call needs a person's word, trying it is that word. */
#include <string.h>

#include "call/operation.h"
#include "api/tools/tools.h"
#include "base/clock.h"
#include "outside/tool_config.h"
#include "sessions/builtin_tools.h"
#include "sessions/tool_outside.h"
#include "store/row.h"

enum { TRY_S = 15 /* a tool may take, whatever its config says: somebody waits */ };

struct tried_tool {
	const char *id, *name, *kind, *input_schema, *config, *sealed;
	bool person_only;
};

FIELDS(tried_tool) = {
	ROW_FIELDS(tried_tool, id, name, kind, input_schema, config, sealed, person_only),
};
static SCHEMA(tried_tool, .internal = true);

enum { TRIED_TOOL };

static const struct statement sql[] = {
	[TRIED_TOOL] = { "tried_tool", "select {*} from tools where tenant_id = $1 and id = $2",
		.row = &tried_tool_schema },
};
STATEMENT_SET(tool_try_sql, sql);

/* From one step to the next. */
struct trial {
	struct held_tool tool;
	struct ToolTryResult result;
};

static int check_tried(struct call *c, const struct tried_tool *row)
{
	const struct builtin_tool *b =
		strcmp(row->kind, "builtin") == 0 ? builtin_tool(row->name) : NULL;

	if (b && !b->alone)
		return call_fail(c, ERR_CONFLICT,
			"The tool %s works only inside a session of an agent, and cannot be tried.",
			row->name);
	if (row->person_only && c->caller.kind != CREDENTIAL_LOGIN)
		return call_fail(c, ERR_FORBIDDEN,
			"Calls of %s are decided by a person who is signed in, not with an API key.",
			row->name);
	return 0;
}

BODY_STEP(tryTool, look, ToolTry)
{
	struct trial *trial = arena_new(c->arena, struct trial);
	struct tried_tool row;
	int err = db_one(c->db, c->arena, &sql[TRIED_TOOL], &row,
		ARGS(T(c->caller.tenant_id), T(call_param(c, "tool_id"))));

	if (err == ERR_NOT_FOUND)
		return call_fail(c, err, "There is no such tool.");
	if (!err)
		err = check_tried(c, &row);
	trial->tool = (struct held_tool){ .id = row.id,
		.name = row.name,
		.kind = row.kind,
		.input_schema = row.input_schema,
		.config = row.config,
		.sealed = row.sealed };
	c->own = trial;
	return err;
}

/* On a thread of tools.  What is opened of its secrets goes with the arena. */
BODY_STEP(tryTool, prepare, ToolTry)
{
	struct trial *trial = c->own;
	struct id call_id = id_new(NULL);
	const struct tool_outside outside = { .vault = c->app->vault,
		.egress = c->app->settings.allow_private_addresses ? EGRESS_ANY : EGRESS_PUBLIC };
	const struct tool_asked asked = { .tenant_id = c->caller.tenant_id,
		.user_id = c->caller.user_id,
		.call_id = call_id.text,
		.tool = &trial->tool,
		.arguments = in->arguments.text ? in->arguments.text : "{}",
		.most_s = TRY_S,
		.now = c->now };
	struct tool_answer answer = { .text = "" };
	int64_t began = clock_mono_ms();
	struct arena a = { 0 };
	int err = 0;

	if (tool_is_quick(&trial->tool))
		err = tool_run_quick(NULL, &a, &asked, &answer);
	else
		tool_outside_run(&outside, &a, &asked, &c->work.withdrawn, &answer);
	trial->result = (struct ToolTryResult){ .failed = answer.failed,
		.text = arena_strdup(c->arena, answer.text),
		.was_cut = answer.whole != NULL,
		.duration_ms = clock_mono_ms() - began };
	arena_wipe(&a);
	return err;
}

/* What it was given may be secret, and is not in the audit log. */
OPERATION(tryTool, ToolTry, ToolTryResult, .asks_tools = true, .look = tryTool_look,
	.prepare = tryTool_prepare)
{
	const struct trial *trial = c->own;

	*out = trial->result;
	c->audit.meta = arena_printf(c->arena,
		"{\"name\":\"%s\",\"failed\":%s,\"duration_ms\":%lld}", trial->tool.name,
		out->failed ? "true" : "false", (long long)out->duration_ms);
	return 0;
}

static const struct route routes[] = {
	{ METHOD_POST, "/tenant/{tenant_id}/tools/{tool_id}/try", &tryTool, PERM_TOOLS_WRITE, 200,
		"tool.try", .tag = "Tools",
		.doc = "Call a tool once, as an agent would, and see what it answers; what it does is done." },
};
RESOURCE(tool_try, routes, NULL, &tool_try_sql);
