/* format_letta.c - Letta's agent files: version 2 (lists of agents, blocks, tools that name each other) and version 1
 * (one flat agent).
 *
 * The Python of tools is looked at by nobody, and the values of environment variables, which are often secrets,
 * are not taken. */
#include <stdlib.h>
#include <string.h>

#include "bundle/format_parts.h"

static bool is_second(const struct json_node *n)
{
	const struct json_node *agents = bundle_at(n, "agents");

	return agents && agents->type == JSON_ARRAY && agents->count &&
	       (bundle_at(n, "blocks") || bundle_at(n, "tools")) &&
	       bundle_at(agents->items[0], "name");
}

static bool is_first(const struct json_node *n)
{
	return bundle_at(n, "agent_type") && bundle_at(n, "core_memory") &&
	       bundle_at(n, "llm_config");
}

bool letta_sniff(const struct bundle_reading *r)
{
	return r->json && (is_second(r->json) || is_first(r->json));
}

/* The texts of a content that is a text or a list of parts. */
static const char *content_of(struct bundle_reading *r, const struct json_node *m)
{
	const struct json_node *content = bundle_at(m, "content");
	const char *text = bundle_text(m, "content");
	struct buf b;

	if (!content)
		return bundle_text(m, "text");
	if (text)
		return text;
	buf_init(&b, BUNDLE_PACKED_MAX);
	for (size_t i = 0; content->type == JSON_ARRAY && i < content->count; i++) {
		const char *part = bundle_text(content->items[i], "text");

		if (part)
			bundle_glue(&b, "\n", part);
	}
	return bundle_glued(r, &b);
}

/* Letta wraps what people say into an object of its own. */
static const char *unwrapped(struct bundle_reading *r, const char *text)
{
	const struct json_node *n;
	const char *said;

	if (!text || text[0] != '{')
		return text;
	n = json_tree(r->a, text, strlen(text), NULL, NULL);
	said = n ? bundle_text(n, "message") : NULL;
	return said ? said : text;
}

static void read_calls(
	struct bundle_reading *r, const struct json_node *m, struct BundleMessage *to)
{
	const struct json_node *calls = bundle_at(m, "tool_calls");

	for (size_t i = 0; calls && calls->type == JSON_ARRAY && i < calls->count; i++)
		bundle_add_call(r, to, bundle_text(calls->items[i], "id"),
			bundle_text(calls->items[i], "function.name"),
			bundle_text(calls->items[i], "function.arguments"));
}

static int role_of(const char *role)
{
	if (!role || strcmp(role, "system") == 0)
		return -1; /* the prompt again, compiled */
	if (strcmp(role, "user") == 0)
		return BUNDLE_USER;
	return strcmp(role, "tool") == 0 ? BUNDLE_TOOL : BUNDLE_ASSISTANT;
}

static void read_messages(struct bundle_reading *r, const struct json_node *agent)
{
	const struct json_node *list = bundle_at(agent, "messages");
	struct bundle_session *s = NULL;

	for (size_t i = 0; list && list->type == JSON_ARRAY && i < list->count; i++) {
		const struct json_node *m = list->items[i];
		int role = role_of(bundle_text(m, "role"));
		const char *content = content_of(r, m);
		struct BundleMessage *to;

		if (role < 0)
			continue;
		if (!s)
			s = bundle_add_session(r, NULL, bundle_time(m, "created_at"));
		to = s ? bundle_add_message(r, s, role,
				 role == BUNDLE_ASSISTANT ? content : unwrapped(r, content))
		       : NULL;
		if (!to)
			break;
		to->created_at.us = bundle_time(m, "created_at");
		to->tool_call_id = role == BUNDLE_TOOL ? bundle_text(m, "tool_call_id") : NULL;
		if (role == BUNDLE_ASSISTANT)
			read_calls(r, m, to);
	}
	if (s)
		bundle_mend_calls(r, s);
}

static void read_block(struct bundle_reading *r, const struct json_node *block)
{
	const char *label = bundle_text(block, "label"), *value = bundle_text(block, "value");

	if (value)
		bundle_add_memory(r, label ? arena_printf(r->a, "%s: %s", label, value) : value,
			bundle_time(block, "created_at"));
}

static int by_id(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Those of the file's list that the agent names; of version 1 its own. */
static void each_named(struct bundle_reading *r, const struct json_node *list,
	const struct json_node *ids,
	void (*each)(struct bundle_reading *, const struct json_node *))
{
	size_t count = ids && ids->type == JSON_ARRAY ? ids->count : 0, named = 0;
	const char **id = arena_array(r->a, const char *, count + 1);

	for (size_t i = 0; i < count; i++)
		if (ids->items[i]->type == JSON_STRING)
			id[named++] = ids->items[i]->text;
	qsort(id, named, sizeof *id, by_id);
	for (size_t i = 0; list && list->type == JSON_ARRAY && i < list->count; i++) {
		const char *own = bundle_text(list->items[i], "id");

		if (!ids || (own && bsearch(&own, id, named, sizeof *id, by_id)))
			each(r, list->items[i]);
	}
}

static void read_letta_tool(struct bundle_reading *r, const struct json_node *tool)
{
	bundle_add_tool(r, bundle_text(tool, "name"));
}

static void read_agent(struct bundle_reading *r, const struct json_node *agent)
{
	struct agent_bundle *b = r->out;

	b->name = bundle_text(agent, "name");
	b->description = bundle_text(agent, "description");
	b->prompt = bundle_text(agent, "system");
	b->one_model = true;
	bundle_add_model(r, bundle_text(agent, "llm_config.handle"));
	bundle_add_model(r, bundle_text(agent, "llm_config.model"));
	bundle_add_model(r, bundle_text(agent, "model"));
	bundle_drop(r, agent, "tool_rules",
		"Letta's tool_rules have no counterpart here and stay behind.");
	bundle_drop(r, agent, "tool_exec_environment_variables",
		"Environment variables of tools may be secrets and stay behind.");
	bundle_drop(r, agent, "multi_agent_group", "The group of agents stays behind.");
}

static void tell_left(struct bundle_reading *r)
{
	const struct json_node *agents = bundle_at(r->json, "agents");

	for (size_t i = 1; i < agents->count; i++)
		bundle_warn(r,
			"The agent \"%s\" stays behind: an import makes one agent, the first.",
			bundle_has(agents->items[i], "name") ? bundle_text(agents->items[i], "name")
							     : "");
	bundle_drop(r, r->json, "groups", "Groups of agents stay behind.");
	bundle_drop(r, r->json, "mcp_servers",
		"MCP servers stay behind: connect them as tools of the tenant.");
	bundle_drop(r, r->json, "sources", "Data sources and their embeddings stay behind.");
	bundle_drop(r, r->json, "files", "Files of data sources stay behind.");
}

int letta_read(struct bundle_reading *r)
{
	const struct json_node *agent = r->json;
	bool second = is_second(r->json);
	const struct json_node *none = NULL, *blocks, *tools;

	if (second)
		agent = bundle_at(r->json, "agents")->items[0];
	read_agent(r, agent);
	blocks = second ? bundle_at(r->json, "blocks") : bundle_at(agent, "core_memory");
	tools = bundle_at(second ? r->json : agent, "tools");
	each_named(r, blocks, second ? bundle_at(agent, "block_ids") : none, read_block);
	each_named(r, tools, second ? bundle_at(agent, "tool_ids") : none, read_letta_tool);
	read_messages(r, agent);
	if (second)
		tell_left(r);
	return 0;
}
