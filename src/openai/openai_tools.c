/* openai_tools.c - see openai_tools.h. */
#include "openai/openai_tools.h"

#include <string.h>

#include "openai/openai_page.h"
#include "base/few.h"
#include "base/json.h"

enum { NAME_MAX_LEN = 64, LIST_MAX = 512 << 10 };

static bool name_is_good(const char *name)
{
	size_t len = strlen(name);

	return len >= 1 && len <= NAME_MAX_LEN &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
		       len;
}

struct reading {
	struct call *c;
	const char *field;
	enum tool_shape shape;
	const char *names[OPENAI_TOOLS_MAX];
	size_t count, index;
	struct buf out;
};

static bool is_known(const struct reading *in, const char *name)
{
	for (size_t i = 0; i < in->count; i++)
		if (strcmp(in->names[i], name) == 0)
			return true;
	return false;
}

static void write_member(struct reading *in, const char *function, const char *name)
{
	const char *value = openai_member(in->c->arena, function, name);

	if (value)
		buf_printf(&in->out, ",\"%s\":%s", name, value);
}

static int refuse_openai_tool(struct reading *in, const char *what)
{
	return call_field(in->c,
		arena_printf(in->c->arena, "%s[%zu]%s", in->field, in->index,
			in->shape == TOOL_NESTED ? ".function" : ""),
		"format", "%s", what);
}

static int read_openai_tool(struct reading *in, const char *tool)
{
	struct arena *a = in->c->arena;
	const char *type = openai_text(a, tool, "type"), *name, *parameters;
	const char *function = in->shape == TOOL_NESTED ? openai_member(a, tool, "function") : tool;

	if (in->count == OPENAI_TOOLS_MAX)
		return call_field(in->c, in->field, "too_long", "must have at most %d items",
			OPENAI_TOOLS_MAX);
	if (type && *type && strcmp(type, "function") != 0 && in->shape == TOOL_FLAT)
		return 0;
	if (!type || strcmp(type, "function") != 0)
		return call_field(in->c, arena_printf(a, "%s[%zu].type", in->field, in->index),
			"choice",
			"must be function: what else an agent can do is set on the agent itself");
	name = openai_text(a, function, "name");
	if (!name || !name_is_good(name))
		return refuse_openai_tool(
			in, "must have a name of 1 to 64 letters, digits, _ and -");
	if (is_known(in, name))
		return refuse_openai_tool(in, "has a name that came before");
	parameters = openai_member(a, function, "parameters");
	if (parameters && *parameters != '{')
		return refuse_openai_tool(in, "must have an object as parameters");
	in->names[in->count] = name;
	buf_printf(&in->out, "%s{\"name\":\"%s\"", in->count++ ? "," : "", name);
	write_member(in, function, "description");
	write_member(in, function, "parameters");
	write_member(in, function, "strict");
	buf_putc(&in->out, '}');
	return 0;
}

int openai_tools(struct call *c, const char *field, const char *list, enum tool_shape shape,
	const char **ret)
{
	struct reading in = { .c = c, .field = field, .shape = shape };
	struct json_reader r;
	const char *tool;
	size_t len;
	int err = 0;

	*ret = NULL;
	if (!list)
		return 0;
	buf_init(&in.out, LIST_MAX);
	buf_putc(&in.out, '[');
	json_open(&r, c->arena, list, strlen(list));
	json_enter_array(&r);
	for (; !err && json_next_item(&r) && json_skip(&r, &tool, &len); in.index++)
		err = read_openai_tool(&in, arena_strndup(c->arena, tool, len));
	buf_putc(&in.out, ']');
	if (!err && in.out.overflow)
		err = call_field(c, field, "too_long", "must be at most %d bytes", LIST_MAX);
	if (!err && in.count)
		*ret = arena_strndup(c->arena, in.out.at, in.out.len);
	buf_free(&in.out);
	return err;
}

const char *openai_tools_passed_over(struct arena *a, const char *list)
{
	struct few passed = { 0 };
	struct json_reader r;
	const char *tool;
	size_t len;

	if (!list)
		return NULL;
	json_open(&r, a, list, strlen(list));
	json_enter_array(&r);
	while (json_next_item(&r) && json_skip(&r, &tool, &len)) {
		const char *type = openai_text(a, arena_strndup(a, tool, len), "type");

		if (type && strcmp(type, "function") != 0)
			few_add(&passed, type, strlen(type));
	}
	return few_text(&passed, a);
}

int openai_choice(struct call *c, const char *json, enum tool_shape shape, const char **ret_name)
{
	static const char *const words[] = { "\"none\"", "\"auto\"", "\"required\"" };
	bool object = json && *json == '{';
	const char *type = object ? openai_text(c->arena, json, "type") : NULL;
	const char *function =
		object && shape == TOOL_NESTED ? openai_member(c->arena, json, "function") : json;

	*ret_name = NULL;
	for (size_t i = 0; json && i < sizeof words / sizeof *words; i++)
		if (strcmp(json, words[i]) == 0)
			return 0;
	if (type && strcmp(type, "function") == 0 && function && *function == '{')
		*ret_name = openai_text(c->arena, function, "name");
	if (type && *type && strcmp(type, "function") != 0 && shape == TOOL_FLAT)
		return 0;
	return !json || *ret_name ? 0
				  : call_field(c, "tool_choice", "choice",
					    "must be none, auto, required, or name a function");
}

int openai_format(struct call *c, const char *field, const char *json)
{
	const char *type = json && *json == '{' ? openai_text(c->arena, json, "type") : NULL;

	if (!json || strcmp(json, "\"auto\"") == 0 || (type && strcmp(type, "text") == 0))
		return 0;
	return call_field(c, field, "choice",
		"must be text: an agent's answers are plain text; "
		"for another format call a model through chat completions");
}
