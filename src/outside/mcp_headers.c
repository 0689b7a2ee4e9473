/* mcp_headers.c - what of a request to an MCP server goes into headers, too: names and marked arguments.
 * See mcp_read.h; the rules are those of the protocol's revision 2026-07-28. */
#include <string.h>
#include <strings.h>

#include "base/json_schema.h"
#include "base/json_tree.h"
#include "outside/mcp_read.h"

#define TOKEN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-!#$%&'*+^`|~"
#define MARK "x-mcp-header"

enum { MARK_MAX = 100 };

struct marks {
	struct arena *arena;
	struct fetch_header list[MCP_PARAMS_MAX];
	const char *names[MCP_PARAMS_MAX];
	size_t count, named;
	const char *fault;
};

static void mark_fault(struct marks *m, const char *why)
{
	if (!m->fault)
		m->fault = why;
}

static bool is_primitive(const struct json_node *type)
{
	static const char *const known[] = { "string", "integer", "boolean" };

	if (!type || type->type != JSON_STRING)
		return false;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(type->text, known[i]) == 0)
			return true;
	return false;
}

/* The value as text; NULL: there is none to send. */
static const char *value_text(struct marks *m, const struct json_node *value)
{
	if (!value)
		return NULL;
	switch (value->type) {
	case JSON_STRING:
		return mcp_header_value(m->arena, value->text, value->len);
	case JSON_BOOL:
		return value->flag ? "true" : "false";
	case JSON_NUMBER:
		return arena_printf(m->arena, "%.0f", value->number);
	default:
		return NULL;
	}
}

/* One mark, on the property that the value belongs to. */
static void take_mark(struct marks *m, const struct json_node *schema, const struct json_node *mark,
	const struct json_node *value)
{
	const char *text;

	if (mark->type != JSON_STRING || !mark->len || mark->len > MARK_MAX ||
		strspn(mark->text, TOKEN) != mark->len) {
		mark_fault(m, "has an " MARK " that is not the name of a header");
		return;
	}
	if (!is_primitive(json_tree_member(schema, "type", 4))) {
		mark_fault(m,
			"has an " MARK " on something else than a string, an integer or a boolean");
		return;
	}
	for (size_t i = 0; i < m->named; i++)
		if (strcasecmp(m->names[i], mark->text) == 0)
			mark_fault(m, "has the same " MARK " twice");
	if (m->named == MCP_PARAMS_MAX) {
		mark_fault(m, "has too many " MARK "s");
		return;
	}
	m->names[m->named++] = mark->text;
	text = value_text(m, value);
	if (text)
		m->list[m->count++] =
			(struct fetch_header){ arena_printf(m->arena, "Mcp-Param-%s", mark->text),
				text };
}

static bool holds_data(const char *keyword)
{
	static const char *const list[] = { "const", "enum", "default", "examples", NULL };

	for (const char *const *p = list; *p; p++)
		if (strcmp(*p, keyword) == 0)
			return true;
	return false;
}

/* `named`: reached from the top through `properties` alone. */
static void walk_marks(struct marks *m, const struct json_node *schema, bool named, bool top,
	const struct json_node *value)
{ /* NOLINT(misc-no-recursion): depth is bounded by the reader */
	const struct json_node *mark = json_tree_member(schema, MARK, strlen(MARK));

	if (schema->type == JSON_ARRAY)
		for (size_t i = 0; i < schema->count; i++)
			walk_marks(m, schema->items[i], false, false, NULL);
	if (schema->type != JSON_OBJECT)
		return;
	if (mark && (!named || top))
		mark_fault(m, "has an " MARK " where no argument is named");
	else if (mark)
		take_mark(m, schema, mark, value);
	for (size_t i = 0; i < schema->count; i++) {
		const struct json_member *k = &schema->members[i];
		bool names = strcmp(k->name, "properties") == 0 ||
			     strcmp(k->name, "patternProperties") == 0 ||
			     strcmp(k->name, "$defs") == 0 || strcmp(k->name, "definitions") == 0;
		bool here = named && strcmp(k->name, "properties") == 0;

		if (holds_data(k->name) || strcmp(k->name, MARK) == 0)
			continue;
		if (!names || k->value->type != JSON_OBJECT) {
			walk_marks(m, k->value, false, false, NULL);
			continue;
		}
		for (size_t n = 0; n < k->value->count; n++) {
			const struct json_member *p = &k->value->members[n];

			walk_marks(m, p->value, here, false,
				here && value ? json_tree_member(value, p->name, p->len) : NULL);
		}
	}
}

const char *mcp_param_headers(struct arena *a, const char *schema, const char *arguments,
	struct fetch_header *list, size_t *ret_count)
{
	struct marks m = { .arena = a };
	const struct json_node *root, *values;

	if (ret_count)
		*ret_count = 0;
	if (strlen(schema) > JSON_SCHEMA_TEXT_MAX)
		return "has an input schema of more than 64 KiB";
	if (!strstr(schema, MARK))
		return NULL;
	root = json_tree(a, schema, strlen(schema), NULL, NULL);
	values = arguments ? json_tree(a, arguments, strlen(arguments), NULL, NULL) : NULL;
	if (root)
		walk_marks(&m, root, true, true, values);
	if (!m.fault && list && ret_count) {
		memcpy(list, m.list, m.count * sizeof *list);
		*ret_count = m.count;
	}
	return m.fault;
}
