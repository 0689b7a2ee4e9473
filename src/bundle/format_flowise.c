/* format_flowise.c - Flowise: one flow, or the export of a whole installation, of which the first flow is taken.
 *
 * A graph has no counterpart here.  What its nodes say to models, which model
 * they ask and which tools they hold is taken over; the rest is named. */
#include <string.h>

#include "bundle/format_parts.h"

static const char *const flow_lists[] = { "AgentFlowV2", "AgentFlow", "ChatFlow", "AssistantFlow",
	NULL };

static bool is_list(const struct json_node *n)
{
	return n && n->type == JSON_ARRAY;
}

static bool is_flow(const struct json_node *n)
{
	const struct json_node *nodes = bundle_at(n, "nodes");

	return is_list(nodes) && nodes->count && is_list(bundle_at(n, "edges")) &&
	       bundle_at(nodes->items[0], "data");
}

static const struct json_node *first_flow(const struct json_node *n)
{
	for (size_t i = 0; flow_lists[i]; i++) {
		const struct json_node *list = bundle_at(n, flow_lists[i]);

		if (is_list(list) && list->count && bundle_text(list->items[0], "flowData"))
			return list->items[0];
	}
	return NULL;
}

bool flowise_sniff(const struct bundle_reading *r)
{
	return r->json && (is_flow(r->json) || first_flow(r->json));
}

/* Messages of a node of the second kind of agent flows. */
static void read_node_messages(struct bundle_reading *r, const struct json_node *list)
{
	for (size_t i = 0; is_list(list) && i < list->count; i++) {
		const char *role = bundle_text(list->items[i], "role");

		if (role && (strcmp(role, "system") == 0 || strcmp(role, "developer") == 0))
			bundle_add_prompt(r, bundle_text(list->items[i], "content"));
	}
}

static void read_node_tools(struct bundle_reading *r, const struct json_node *list)
{
	for (size_t i = 0; is_list(list) && i < list->count; i++)
		bundle_add_tool(r, bundle_text(list->items[i], "agentSelectedTool"));
}

static void read_node(struct bundle_reading *r, const struct json_node *data)
{
	const char *category = bundle_text(data, "category"), *name = bundle_text(data, "name");
	const struct json_node *in = bundle_at(data, "inputs");
	const char *custom = bundle_text(in, "selectedTool");

	bundle_add_prompt(r, bundle_text(in, "systemMessage"));
	bundle_add_prompt(r, bundle_text(in, "systemMessagePrompt"));
	read_node_messages(r, bundle_at(in, "agentMessages"));
	read_node_messages(r, bundle_at(in, "llmMessages"));
	read_node_tools(r, bundle_at(in, "agentTools"));
	bundle_add_model(r, bundle_text(in, "agentModelConfig.modelName"));
	bundle_add_model(r, bundle_text(in, "llmModelConfig.modelName"));
	if (category && strcmp(category, "Chat Models") == 0)
		bundle_add_model(r, bundle_text(in, "modelName"));
	if (category && strncmp(category, "Tools", 5) == 0)
		bundle_add_tool(r, custom ? custom : name);
	if (category && (strncmp(category, "Vector Stores", 13) == 0 ||
				strncmp(category, "Document Loaders", 16) == 0))
		bundle_warn(r, "The node %s stays behind: there is no such store here.",
			name ? name : category);
	bundle_drop(r, data, "credential", "Credentials of nodes stay behind.");
}

/* ---- messages ---- */

static const char *chat_of(const struct json_node *m)
{
	const char *session = bundle_text(m, "sessionId"), *chat = bundle_text(m, "chatId");

	return session ? session : chat ? chat : "";
}

/* Those of the flow, a session for each chat, in the order of the file. */
static void read_chats(struct bundle_reading *r, const struct json_node *list, const char *flow_id)
{
	const char *chats[BUNDLE_SESSIONS_MAX];
	size_t count = 0;

	for (size_t i = 0; is_list(list) && i < list->count; i++) {
		const struct json_node *m = list->items[i];
		const char *role = bundle_text(m, "role"), *text = bundle_text(m, "content"),
			   *flow = bundle_text(m, "chatflowid");
		struct bundle_session *s = NULL;
		struct BundleMessage *to;
		size_t at = 0;

		if (!role || !text || (flow && flow_id && strcmp(flow, flow_id) != 0))
			continue;
		while (at < count && strcmp(chats[at], chat_of(m)) != 0)
			at++;
		if (at == count) {
			if (!bundle_add_session(r, NULL, bundle_time(m, "createdDate")))
				return;
			chats[count++] = chat_of(m);
		}
		s = (struct bundle_session *)r->out->sessions.at + at;
		to = bundle_add_message(r, s,
			strcmp(role, "userMessage") == 0 ? BUNDLE_USER : BUNDLE_ASSISTANT, text);
		if (!to)
			return;
		to->created_at.us = bundle_time(m, "createdDate");
	}
}

static void tell_other_flows(struct bundle_reading *r, const struct json_node *taken)
{
	for (size_t i = 0; flow_lists[i]; i++) {
		const struct json_node *list = bundle_at(r->json, flow_lists[i]);

		for (size_t k = 0; is_list(list) && k < list->count; k++)
			if (list->items[k] != taken)
				bundle_warn(r,
					"The flow \"%s\" stays behind: an import makes one agent, the first.",
					bundle_text(list->items[k], "name")
						? bundle_text(list->items[k], "name")
						: "");
	}
	bundle_drop(r, r->json, "Variable", "Variables may be secrets and stay behind.");
	bundle_drop(r, r->json, "DocumentStore", "Document stores stay behind.");
	bundle_drop(r, r->json, "Tool",
		"The code of custom tools stays behind; tools are matched by their names.");
}

int flowise_read(struct bundle_reading *r)
{
	const struct json_node *row = first_flow(r->json), *flow = r->json, *nodes;
	const char *text = row ? bundle_text(row, "flowData") : NULL, *fault = NULL;

	if (text) {
		flow = json_tree(r->a, text, strlen(text), &fault, NULL);
		if (!flow || !is_flow(flow))
			return problem_field(r->p, r->a, "flowData", "syntax", "is no flow%s%s",
				fault ? ": " : "", fault ? fault : "");
		bundle_tell_nuls(r, flow);
		r->out->name = bundle_text(row, "name");
		tell_other_flows(r, row);
	} else {
		r->out->name = bundle_text(flow, "name");
	}
	nodes = bundle_at(flow, "nodes");
	for (size_t i = 0; i < nodes->count; i++)
		read_node(r, bundle_at(nodes->items[i], "data"));
	bundle_join_prompts(r);
	if (nodes->count > 1)
		bundle_warn(r,
			"The graph of the flow stays behind: its prompts became one prompt, its models a chain.");
	if (row)
		read_chats(r, bundle_at(r->json, "ChatMessage"), bundle_text(row, "id"));
	return 0;
}
