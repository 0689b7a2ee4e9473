/* tool_run.c - checking a call, and running what looks only at the store; see tool_run.h. */
#include "sessions/tool_run.h"

#include <string.h>

#include "base/json_schema.h"
#include "sessions/builtin_run.h"
#include "sessions/builtin_tools.h"
#include "sessions/tool_text.h"

/* ---- do the arguments suit the tool? ---- */

enum { FAULTS_SHOWN = 8 };

/* "/days" as "the argument /days"; "" as "the arguments". */
static const char *violations_told(struct arena *a, const struct json_violations *v)
{
	const char *out = "The arguments do not suit the tool:";
	size_t shown = v->count < FAULTS_SHOWN ? v->count : FAULTS_SHOWN;

	for (size_t i = 0; i < shown; i++)
		out = arena_printf(a, "%s%s %s %s", out, i ? ";" : "",
			*v->list[i].path ? v->list[i].path : "the whole", v->list[i].sentence);
	if (v->count + v->unlisted > shown)
		return arena_printf(a, "%s; and %zu more.", out, v->count + v->unlisted - shown);
	return arena_printf(a, "%s.", out);
}

/* What is built in is checked by the program's own schema, whatever a row says. */
static const char *schema_of(const struct held_tool *tool)
{
	const struct builtin_tool *b =
		strcmp(tool->kind, "builtin") == 0 ? builtin_tool(tool->name) : NULL;

	return b ? b->input_schema : tool->input_schema;
}

const char *tool_check(struct arena *a, const struct held_tool *tool, const char *arguments)
{
	return tool_check_within(a, tool, arguments, &(size_t){ JSON_SCHEMA_STEPS_MAX });
}

const char *tool_check_within(
	struct arena *a, const struct held_tool *tool, const char *arguments, size_t *left)
{
	const char *input = schema_of(tool);
	size_t len = strlen(arguments);
	struct json_violations faults;
	struct json_schema *schema;
	struct json_reader r;
	bool whole;

	if (len > TOOL_ARGUMENTS_MAX)
		return arena_printf(a, "The arguments have %zu bytes; %d are the most.", len,
			TOOL_ARGUMENTS_MAX);
	json_open(&r, a, arguments, len);
	if (json_peek(&r) != JSON_OBJECT && !r.fault)
		return "The arguments must be a JSON object.";
	whole = json_skip(&r, NULL, NULL) && json_end(&r);
	if (!whole)
		return arena_printf(a, "The arguments are not JSON: %s, at byte %zu.",
			r.fault ? r.fault : "something follows the object", r.fault_at);
	schema = json_schema_compile(a, input, strlen(input), &faults);
	if (!schema)
		return "This tool cannot be called: its input_schema is not one that can be checked.";
	if (json_schema_check_within(schema, a, arguments, len, left, &faults))
		return NULL;
	return violations_told(a, &faults);
}

/* ---- what is built in ---- */

bool tool_is_quick(const struct held_tool *tool)
{
	return strcmp(tool->kind, "builtin") == 0 && builtin_run_of(tool->name) != NULL;
}

int tool_run_quick(
	struct db *db, struct arena *a, const struct tool_asked *in, struct tool_answer *ret)
{
	builtin_fn *run = builtin_run_of(in->tool->name);
	struct builtin_call call = { .db = db, .arena = a, .asked = in, .answer = ret };
	const char *fault;

	*ret = (struct tool_answer){ .text = "" };
	if (!tool_is_quick(in->tool)) {
		tool_answer_fail(
			a, ret, "The tool %s is not one that is run here.", in->tool->name);
		return 0;
	}
	fault = tool_check(a, in->tool, in->arguments);
	if (fault) {
		tool_answer_fail(a, ret, "%s", fault);
		return 0;
	}
	call.in = tool_arguments_open(a, in->arguments);
	return run(&call);
}
