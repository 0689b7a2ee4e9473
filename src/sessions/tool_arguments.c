/* tool_arguments.c - see tool_arguments.h. */
#include "sessions/tool_arguments.h"

#include <math.h>
#include <string.h>

struct tool_arguments tool_arguments_open(struct arena *a, const char *text)
{
	struct tool_arguments out = { .arena = a };
	const char *why = NULL;

	out.tree = json_tree(a, text, strlen(text), &why, NULL);
	if (!out.tree)
		out.fault = arena_printf(a, "The arguments are not JSON: %s.", why);
	else if (out.tree->type != JSON_OBJECT)
		out.fault = "The arguments must be a JSON object.";
	if (out.fault)
		out.tree = NULL;
	return out;
}

/* Null is not there, too. */
static const struct json_node *find_tool_argument(const struct tool_arguments *in, const char *name)
{
	const struct json_node *n =
		in->tree ? json_tree_member(in->tree, name, strlen(name)) : NULL;

	return n && n->type != JSON_NULL ? n : NULL;
}

static void fail_tool_argument(struct tool_arguments *in, const char *name, const char *what)
{
	if (!in->fault)
		in->fault = arena_printf(in->arena, "The argument %s %s.", name, what);
}

const char *tool_argument_text_maybe(struct tool_arguments *in, const char *name, size_t most)
{
	const struct json_node *n = find_tool_argument(in, name);

	if (!n)
		return NULL;
	if (n->type != JSON_STRING)
		fail_tool_argument(in, name, "must be a text");
	else if (n->len > most)
		fail_tool_argument(in, name,
			arena_printf(in->arena, "has %zu bytes; %zu are the most", n->len, most));
	else if (memchr(n->text, '\0', n->len))
		fail_tool_argument(in, name, "holds a NUL, which cannot be kept");
	else
		return n->len ? n->text : NULL;
	return NULL;
}

const char *tool_argument_text(struct tool_arguments *in, const char *name, size_t most)
{
	const char *text = tool_argument_text_maybe(in, name, most);

	if (!text)
		fail_tool_argument(in, name, "is missing");
	return text ? text : "";
}

void tool_argument_texts(struct tool_arguments *in, const char *name, size_t most,
	size_t most_bytes, struct list *ret)
{
	const struct json_node *n = find_tool_argument(in, name);
	size_t count = n && n->type == JSON_ARRAY ? n->count : 0;
	const char **out = arena_array(in->arena, const char *, count + 1);

	if (n && (n->type != JSON_ARRAY || count > most)) {
		fail_tool_argument(in, name,
			arena_printf(in->arena, "must be a list of at most %zu texts", most));
		count = 0;
	}
	for (size_t i = 0; i < count; i++) {
		const struct json_node *item = n->items[i];
		bool sound = item->type == JSON_STRING && item->len && item->len <= most_bytes &&
			     !memchr(item->text, '\0', item->len);

		if (!sound)
			fail_tool_argument(in, name, "holds something that is no such text");
		out[i] = sound ? item->text : "";
	}
	*ret = (struct list){ out, count };
}

bool tool_argument_flag(struct tool_arguments *in, const char *name)
{
	const struct json_node *n = find_tool_argument(in, name);

	if (n && n->type != JSON_BOOL)
		fail_tool_argument(in, name, "must be true or false");
	return n && n->type == JSON_BOOL && n->flag;
}

int64_t tool_argument_number(
	struct tool_arguments *in, const char *name, int64_t absent, int64_t least, int64_t most)
{
	const struct json_node *n = find_tool_argument(in, name);

	if (!n)
		return absent;
	/* Compared before it is a whole number: not every double fits one. */
	if (n->type != JSON_NUMBER || n->number != floor(n->number) || n->number < (double)least ||
		n->number > (double)most) {
		fail_tool_argument(in, name,
			arena_printf(in->arena, "must be a whole number from %lld to %lld",
				(long long)least, (long long)most));
		return absent;
	}
	return (int64_t)n->number;
}
